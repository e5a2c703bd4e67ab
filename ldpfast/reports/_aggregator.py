"""The server's state: counts of reports that can be merged, saved and estimated."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Sequence
from typing import Any, Self

from .. import _check
from .._envelope import as_bytes
from .._registry import class_of_state
from .._schema import read_integer
from .._typing import AnyArray
from ._batches import carried_names, counted_twice, new_names, read_batches, warn_of_two_sources
from ._counts import MAX_REPORTS, Counts, read_question
from ._labeled_reports import is_binary
from ._recipe import Asked
from ._saved_counts import Magic, seal_counts, unseal_counts

MAGIC = Magic(b"LDPFAST\x04", b"LDPFAST\x05")
REASONS = ("type", "length", "version", "fingerprint", "question", "order", "value")  # for which messages are refused


class Aggregator:
    """Mergeable sufficient statistics of the answers to a question.

    The method `aggregator` of what is asked makes one. `update` is not thread-safe: use one aggregator per thread, then
    `merge`.

    Parameters
    ----------
    question : Mechanism, Problem, Survey or survey.RepeatedRound
        What the reports answer.

    Attributes
    ----------
    n : int
        Number of people so far.
    refused : dict of str to int
        Number of messages that ``update(errors="skip")`` has left out, by reason: "type", "length", "version", "fingerprint",
        "question", "order" or "value".

    Examples
    --------
    >>> import ldpfast as ldp
    >>> mechanism = ldp.RandomizedResponse(3, 2.0)
    >>> server = mechanism.aggregator().update(mechanism.privatize([0, 1, 1, 2] * 25, rng=1))
    >>> other = ldp.load(mechanism.aggregator().update(mechanism.privatize([2, 2], rng=2)).to_bytes())
    >>> server.merge(other).n
    102
    >>> server.estimate().value.shape
    (3,)
    """

    def __init__(self, question: Asked) -> None:
        self._counts = Counts(question)

    @classmethod
    def _of(cls, counts: Counts) -> Self:
        aggregator = cls.__new__(cls)
        aggregator._counts = counts
        return aggregator

    @property
    def question(self) -> Any:
        """What the reports answer."""
        return self._counts.question

    @property
    def n(self) -> int:
        """Number of people so far."""
        return int(self._counts.n[0])

    @property
    def refused(self) -> dict[str, int]:
        """Number of messages that ``update(errors="skip")`` has left out, by reason."""
        return {reason: self._counts.refused[reason] for reason in REASONS if self._counts.refused[reason]}

    @property
    def counts(self) -> AnyArray:
        """Number of reports with each bit or code, as a copy, where the reports of the question are counted."""
        counts: AnyArray = self._counts.recipe.counts(self._counts.group().states)
        return counts

    def estimate(self, **options: Any) -> Any:
        """Return the estimate from all reports so far, as the question concludes it.

        Parameters
        ----------
        **options
            Options of the question, such as ``pooled=True`` for a survey.

        Returns
        -------
        estimate : Estimate or survey.SurveyResult
            The result of ``question.estimate``, however the reports came here: counted, merged, restored from a saved state or
            received from the tasks of an engine.

        Raises
        ------
        ValueError
            If there are no reports yet.

        Warns
        -----
        SmallSampleWarning
            If there are too few reports for the interval of this question to be reliable.
        DoubtfulWarning
            If the reports contradict an assumption of the estimate.
        """
        return self._counts.conclude(**options)

    def update(self, reports: Any, *, batch: str | None = None, errors: str = "raise") -> Self:
        """Add reports.

        Parameters
        ----------
        reports : array_like, sequence of bytes, Arrow binary array, or Arrow table
            Many reports as `privatize` returns them, or a single one. Reports in an array carry no label, and reports of
            another question can be counted without an error. Messages and tables say which question they answer. Anything
            that exports an Arrow stream is read in pieces. A table that `ldpfast export` has written carries names of batches.
        batch : str, optional
            Name of the batch, for instance of the file that held it. A name is accepted once, also after `merge` and in
            a saved state, so that a job that is run again cannot count a file twice. 16 bytes of memory.
        errors : {"raise", "skip"}, default "raise"
            "skip" leaves out messages that do not answer this question, or are damaged, and counts them in `refused`. A list or
            an Arrow array of messages is required.

        Returns
        -------
        self : Aggregator

        Raises
        ------
        TypeError, ValueError
            If they do not answer this question: wrong dtype or width, nonzero padding bits, values that no record gives, or
            another fingerprint; if a batch of this name, or one that a table names, was already counted. The aggregator is
            then unchanged.
        """
        names, carried = new_names(self._counts.batches, batch), carried_names(reports)
        if twice := counted_twice(carried, self._counts.batches):
            raise ValueError(f"reports must hold no batch that was already counted, got {twice} of them")
        if _check.choice("errors", errors, ("raise", "skip")) == "skip":
            self._update_valid(reports)
        else:
            counted = self._counts.recipe.tally(reports)
            if self.n and counted[1] and not (isinstance(reports, list | tuple) or is_binary(reports)):
                warn_of_two_sources(self._counts.batches, carried)  # messages alone do not tell where they are from
            self._counts.merge_group(*counted)
        self._counts.batches |= names | carried
        return self

    def _update_valid(self, messages: Any) -> None:
        """Add those messages that answer the question, and count the others."""
        if is_binary(messages):
            messages = messages.to_pylist()
        if not isinstance(messages, list | tuple):
            raise TypeError(f'reports must be a list of messages with errors="skip", got {type(messages).__name__}')
        bytes_only = [bytes(m) for m in messages if isinstance(m, bytes | bytearray | memoryview)]
        recipe = self._counts.recipe
        kept, refused = recipe.valid_messages(bytes_only)
        refused["type"] += len(messages) - len(bytes_only)
        for counted in [recipe.tally(part) for part in kept]:
            self._counts.merge_group(*counted)
        self._counts.refused += refused

    def name_batch(self, batch: str) -> Self:
        """Remember the name of the batch that this aggregator holds; see `update`."""
        self._counts.name_batch(batch)
        return self

    def merge(self, other: Aggregator) -> Self:
        """Add the reports of another aggregator of the same question.

        Parameters
        ----------
        other : Aggregator
            Aggregator of an equal question. It stays unchanged.

        Returns
        -------
        self : Aggregator

        Raises
        ------
        TypeError, ValueError
            If `other` is not an aggregator, or its reports answer another question. If a batch was counted in both.
        """
        if not isinstance(other, Aggregator):
            raise TypeError(f"other must be an Aggregator, got {type(other).__name__}")
        if other is self:
            raise ValueError("other must be another aggregator: its reports would count twice")
        self._counts.merge(other._counts)
        return self

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    def anytime_interval(self, confidence: float = 0.95) -> Any:
        """Return limits of the estimate that hold for all numbers of reports at once: those of ``estimate()``.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level, in (0, 1).

        Returns
        -------
        low, high : float or ndarray
            As for `Estimate.anytime_interval`. For a survey, a dict of both limits by the names of the questions.

        Raises
        ------
        TypeError, ValueError
            As for `Estimate.anytime_interval`; if there are no reports.
        """
        return self.estimate().anytime_interval(confidence)

    def to_bytes(self) -> bytes:
        """Return the schema of the question, n, the names of batches and the state as bytes, with a checksum.

        Equal aggregators give equal bytes.

        Returns
        -------
        data : bytes
            `ldpfast.load` opens it.
        """
        header = {"n": self.n, "schema": self.question.schema(), "batches": sorted(self._counts.batches)}
        if self.refused:
            header["refused"] = self.refused
        return seal_counts(MAGIC, header, self._counts.states)

    @staticmethod
    def from_bytes(data: bytes) -> Any:
        """Return the aggregator, or the server of a protocol, that its `to_bytes` saved, as `ldpfast.load`.

        Parameters
        ----------
        data : bytes
            Result of `to_bytes`.

        Returns
        -------
        aggregator : Aggregator, GroupedAggregator, MedianSGD, GradientDescent or GaussianMean

        Raises
        ------
        TypeError, ValueError
            If `data` is not bytes; if it is damaged, of another object, or of another version; if no reports can have
            this state.
        """
        other = class_of_state(as_bytes(data)[:7])
        if other not in (None, Aggregator):
            return other.from_bytes(data)
        header, saved = unseal_counts(MAGIC, "an aggregator", data)
        if set(header) - {"refused"} != {"n", "schema", "batches"}:
            raise ValueError("data must be the bytes of an aggregator: the header is not that of one")
        try:
            n, batches = read_integer(header["n"]), read_batches(header["batches"])
            refused = read_refused(header.get("refused", {}))
        except ValueError as error:
            raise ValueError(f"data must be the bytes of an aggregator: {error}") from error
        question = read_question(header["schema"])
        if not 0 <= n < MAX_REPORTS:
            raise ValueError(f"data must hold a state that n = {n} reports can have")
        counts = Counts.read(question, [None], [n], saved)
        counts.batches, counts.refused = batches, refused
        if not counts.is_possible():
            raise ValueError(f"data must hold a state that n = {n} reports can have")
        return Aggregator._of(counts)

    def __eq__(self, other: object) -> bool:
        return self._counts == other._counts if isinstance(other, Aggregator) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Aggregator of {self.question!r}: n = {self.n}>"


def aggregator_with(question: Any, states: Sequence[AnyArray], n: int) -> Aggregator:
    """Return an aggregator with the counts of the reports of n people."""
    counts = Counts(question)
    counts.merge_group(states, n)
    return Aggregator._of(counts)


def read_refused(value: Any) -> Counter[str]:
    """Return the numbers of refused messages in a header, by reason.

    Raises
    ------
    ValueError
        If they are not such numbers.
    """
    if not isinstance(value, dict) or not set(value) <= set(REASONS):
        raise ValueError("the reasons of refused messages are not known")
    numbers = {reason: read_integer(number) for reason, number in value.items()}
    if min(numbers.values(), default=1) < 1:
        raise ValueError("numbers of refused messages must be positive")
    return Counter(numbers)
