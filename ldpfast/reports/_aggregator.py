"""The server's state: counts of reports that can be merged, saved and estimated."""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .. import _check
from .._described import from_dict as described
from .._envelope import as_bytes, seal, unseal
from .._registry import class_of_state
from .._schema import first_difference, read_integer
from .._typing import AnyArray
from ..results import Estimate, People, new_count
from ._batches import new_names, read_batches
from ._labels import is_binary

if TYPE_CHECKING:
    from ._format import Statistic
    from ._question import Question

MAGIC = b"LDPFAST\x04"  # the last byte is the version of the layout
MAX_REPORTS = 1 << 62  # so that 64-bit counts cannot overflow
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

    def __init__(self, question: Question[Any]) -> None:
        self.question = question
        self.n = 0
        self._states: list[AnyArray] = [np.zeros(*layout) for layout in question.state_layouts]
        self._batches: set[str] = set()
        self._refused: Counter[str] = Counter()
        self._people = People.of(new_count())

    @classmethod
    def of_states(cls, question: Question[Any], states: Sequence[AnyArray], n: Any) -> Self:
        """Return an aggregator with the states of n reports, which it keeps; n is an array for states of several groups."""
        aggregator = cls.__new__(cls)
        aggregator.question, aggregator.n = question, n
        aggregator._states, aggregator._batches, aggregator._refused = list(states), set(), Counter()
        aggregator._people = People.of(new_count())
        return aggregator

    @property
    def refused(self) -> dict[str, int]:
        """Number of messages that ``update(errors="skip")`` has left out, by reason."""
        return {reason: self._refused[reason] for reason in REASONS if self._refused[reason]}

    @property
    def counts(self) -> AnyArray:
        """Number of reports with each bit or code, as a copy, where the reports of the question are counted."""
        counts: AnyArray = self.question.counts(self._states)
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
        if self.n == 0:
            raise ValueError("an estimate needs at least 1 report, got n = 0")
        found: Any = self.question.conclude(self, **options)
        people = self._people.on(self.question.occasion)
        return found._of_people(people) if hasattr(found, "_of_people") else found

    def decoded_mean(self, statistic: Statistic | None = None) -> Estimate[Any]:
        """Return the mean of the decoded reports, of which there is at least one, for questions with one format of reports.

        Parameters
        ----------
        statistic : Statistic, optional
            What the decoded reports estimate. The default is the question.
        """
        question: Any = self.question
        statistic = statistic or question
        mean: Estimate[Any] = question.report.mean(statistic, self._states[0], self.n)
        question.report.warn_if_doubtful(statistic, self._states[0], mean)
        return mean

    def update(self, reports: Any, *, batch: str | None = None, errors: str = "raise") -> Self:
        """Add reports.

        Parameters
        ----------
        reports : array_like, sequence of bytes, Arrow binary array, or Arrow table
            Many reports as `privatize` returns them, or a single one. Reports in an array carry no label, and reports of
            another question can be counted without an error. Messages and tables say which question they answer. Anything
            that exports an Arrow stream is read in pieces.
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
            another fingerprint; if a batch of this name was already counted. The aggregator is then unchanged.
        """
        names = new_names(self._batches, batch)
        if _check.choice("errors", errors, ("raise", "skip")) == "skip":
            self._update_valid(reports)
        else:
            states, n = self.question.count(reports)
            self.add(states, n)
        self._batches |= names
        return self

    def _update_valid(self, messages: Any) -> None:
        """Add those messages that answer the question, and count the others."""
        if is_binary(messages):
            messages = messages.to_pylist()
        if not isinstance(messages, list | tuple):
            raise TypeError(f'reports must be a list of messages with errors="skip", got {type(messages).__name__}')
        bytes_only = [bytes(m) for m in messages if isinstance(m, bytes | bytearray | memoryview)]
        kept, refused = self.question.valid_messages(bytes_only)
        refused["type"] += len(messages) - len(bytes_only)
        counted = [self.question.count(part) for part in kept]
        for states, n in counted:
            self.add(states, n)
        self._refused += refused

    def name_batch(self, batch: str) -> Self:
        """Remember the name of the batch that this aggregator holds; see `update`."""
        self._batches |= new_names(self._batches, batch)
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
        require_equal(self.question, other.question)
        common = self._batches & other._batches
        if common:
            raise ValueError(f"other must hold no batch that was already counted, got {len(common)} of them")
        self.add(other._states, other.n)
        self._batches |= other._batches
        self._refused += other._refused
        self._people = self._people.joined(other._people)
        return self

    def add(self, states: Sequence[AnyArray], n: int) -> Self:
        """Add the states of n reports of the question."""
        if self.n + n >= MAX_REPORTS:
            raise ValueError(f"an aggregator must hold fewer than 2^62 reports, got {self.n + n}")
        self.question.combine(self._states, states)
        self.n += n
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
        header = {"n": self.n, "schema": self.question.schema(), "batches": sorted(self._batches)}
        if self.refused:
            header["refused"] = self.refused
        return seal(MAGIC, header, packed_states(self._states))

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
        header, payload = unseal(MAGIC, "an aggregator", data)
        if set(header) - {"refused"} != {"n", "schema", "batches"}:
            raise ValueError("data must be the bytes of an aggregator: the header is not that of one")
        try:
            n, batches = read_integer(header["n"]), read_batches(header["batches"])
            refused = read_refused(header.get("refused", {}))
        except ValueError as error:
            raise ValueError(f"data must be the bytes of an aggregator: {error}") from error
        question = read_question(header["schema"])
        aggregator = Aggregator.of_states(question, unpacked_states(question, (), payload), n)
        aggregator._batches, aggregator._refused = batches, refused
        if not 0 <= n < MAX_REPORTS or not question.is_possible(aggregator._states, n):
            raise ValueError(f"data must hold a state that n = {n} reports can have")
        return aggregator

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Aggregator):
            return NotImplemented
        same = self.question == other.question and self.n == other.n and self._batches == other._batches
        return same and self.refused == other.refused and all(map(np.array_equal, self._states, other._states))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Aggregator of {self.question!r}: n = {self.n}>"


# States as bytes, and the questions that they name --------------------------------------------------------------------


def packed_states(states: Sequence[AnyArray]) -> bytes:
    """Return arrays of integers as bytes, little-endian, one after the other."""
    return b"".join(
        np.ascontiguousarray(state).astype(state.dtype.newbyteorder("<"), copy=False).tobytes() for state in states
    )


def unpacked_states(question: Question[Any], groups: tuple[int, ...], payload: bytes) -> list[AnyArray]:
    """Return the states of a question that `packed_states` saved, with the leading axes `groups`.

    Raises
    ------
    ValueError
        If the payload has another size, before memory is allocated for the states.
    """
    layouts = [((*groups, *shape), np.dtype(dtype)) for shape, dtype in question.state_layouts]
    sizes = [math.prod(shape) * dtype.itemsize for shape, dtype in layouts]
    if len(payload) != sum(sizes):
        raise ValueError(f"data must hold a state of {sum(sizes)} bytes, got {len(payload)}")
    states, start = [], 0
    for (shape, dtype), size in zip(layouts, sizes, strict=True):
        state = np.frombuffer(payload[start : start + size], dtype.newbyteorder("<")).astype(dtype)
        states.append(state.reshape(shape))
        start += size
    return states


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


def read_question(schema: Any) -> Any:
    """Return the question that a schema in a saved state describes.

    Raises
    ------
    ValueError
        If it is no question, or another one in this version of the package.
    """
    if not isinstance(schema, dict):
        raise ValueError("data must be the bytes of an aggregator: the header is not that of one")
    try:
        question = described(schema.get("asks"))
        difference = first_difference(question.schema(), schema)
    except (RecursionError, OverflowError, TypeError, ValueError, LookupError) as error:
        raise ValueError(f"data must describe a question of this version: {error}") from error
    if difference:
        raise ValueError(f"data must be of this version of {question!r}: {difference}")
    if not hasattr(question, "state_layouts"):
        raise ValueError(f"data must describe a question of this version: got a {type(question).__name__}")
    return question


def require_equal(question: Question[Any], other: Question[Any]) -> None:
    """Raise unless two questions are equal, with the first difference; labels that cannot be saved can only be shown."""
    if other == question:
        return
    try:
        difference = first_difference(question.schema(), other.schema())
    except (TypeError, ValueError):
        difference = f"it is {question!r}, got {other!r}"
    if difference:
        raise ValueError(f"other must aggregate answers to the same question: {difference}")
