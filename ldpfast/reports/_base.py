"""Base classes of report formats and aggregators."""

from __future__ import annotations

import copy
import hashlib
import math
import re
from abc import ABC, abstractmethod
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check, _threads
from .._described import class_of_state
from .._described import from_dict as described
from .._envelope import as_bytes, seal, unseal
from .._schema import first_difference, read_integer
from .._typing import AnyArray, Floats
from ..privacy import Guarantee
from ..results import AnyDebiasing, Estimate, warn_outside

MAGIC = b"LDPFAST\x03"  # the last byte is the version of the layout
MAX_REPORTS = 1 << 62  # so that 64-bit counts cannot overflow
_BATCH = re.compile("[0-9a-f]{32}")  # result of `hash_of_batch`


class Format(ABC):
    """The layout of the reports of a mechanism, and of the state that counts them.

    Attributes
    ----------
    aggregator : type of Aggregator
        Class of the aggregators of this format.
    seeded : bool
        Whether a report holds a public seed, so that only decoded reports can be compared.
    """

    aggregator: type[Aggregator]
    seeded = False

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """Shape of one report."""

    @abstractmethod
    def dtype(self, records: np.dtype[Any]) -> np.dtype[Any]:
        """Return the dtype of the reports of records of a given dtype."""

    @property
    @abstractmethod
    def bits(self) -> int:
        """Size in bits of the report of a double precision record, without padding."""

    @property
    def nbytes(self) -> int:
        """Size in bytes of the report of a double precision record."""
        size: int = self.dtype(np.dtype(np.float64)).itemsize
        return int(np.prod(self.shape, dtype=np.int64)) * size

    @property
    @abstractmethod
    def state_layout(self) -> tuple[tuple[int, ...], type[np.integer[Any]]]:
        """Shape and dtype of the state that `tally` adds to."""

    def new_state(self) -> AnyArray:
        """Return the state of zero reports."""
        return np.zeros(*self.state_layout)

    @abstractmethod
    def tally(self, reports: AnyArray, state: AnyArray) -> None:
        """Add valid, contiguous reports to a state, in place."""

    def tally_valid(self, reports: AnyArray, state: AnyArray) -> bool:
        """Add contiguous reports to a state, in place, if their values are valid, and return whether they are.

        Otherwise the state has no meaning. A format can check and count in one pass over the memory.
        """
        if reports.size and self.invalidity(reports) is not None:
            return False
        self.tally(reports, state)
        return True

    @abstractmethod
    def decode(self, reports: AnyArray, debiasing: AnyDebiasing | None) -> Floats:
        """Return the unbiased numbers of valid reports, one row per report."""

    @abstractmethod
    def invalidity(self, reports: AnyArray) -> str | None:
        """Return the end of a message "reports must ..." for invalid values, or None if all values are valid."""

    def pack(self, reports: AnyArray) -> NDArray[np.uint8]:
        """Return valid reports as bytes, little-endian, shape (n, size)."""
        little = np.ascontiguousarray(reports.astype(reports.dtype.newbyteorder("<"), copy=False))
        return little.reshape(len(reports), math.prod(self.shape)).view(np.uint8)

    def unpack(self, packed: NDArray[np.uint8]) -> AnyArray:
        """Return the reports that `pack` turned into bytes. Their values are not checked."""
        count = math.prod(self.shape)
        for records in (np.float64, np.float32):
            dtype = self.dtype(np.dtype(records))
            if packed.shape[1] == count * dtype.itemsize:
                little = np.ascontiguousarray(packed).view(dtype.newbyteorder("<"))
                return little.astype(dtype, copy=False).reshape(-1, *self.shape)
        raise ValueError(f"reports must have {self.nbytes} bytes each, got {packed.shape[1]}")

    def validate(self, reports: ArrayLike) -> AnyArray:
        """Return contiguous reports along the first axis, after a check that they are valid.

        Parameters
        ----------
        reports : array_like
            Many reports, or a single one.

        Returns
        -------
        reports : ndarray

        Raises
        ------
        TypeError, ValueError
            If they are not reports of this format.
        """
        array = self.arrange(reports)
        self.require_valid(array)
        return array

    def arrange(self, reports: ArrayLike) -> AnyArray:
        """Do as `validate`, but leave the values unchecked."""
        array = _check.array("reports", reports)
        wanted = self.dtype(array.dtype.newbyteorder("="))
        if array.dtype.newbyteorder("=") != wanted:
            raise TypeError(f"reports must have dtype {wanted}, got dtype {array.dtype}")
        if array.ndim == len(self.shape):
            array = array[np.newaxis]
        if array.shape[1:] != self.shape:
            expected = ", ".join(["n", *map(str, self.shape)]) + ("," if not self.shape else "")
            raise ValueError(f"reports must have shape ({expected}), got shape {np.shape(reports)}")
        return _check.laid_out(array)

    def require_valid(self, reports: AnyArray) -> None:
        """Raise an error if contiguous reports have invalid values."""
        wrong = self.invalidity(reports) if reports.size else None
        if wrong is not None:
            raise ValueError(f"reports must {wrong}")


class Source(Protocol):
    """What the reports of an aggregator answer, as an aggregator sees it; `Question` is the base class."""

    report: Format

    @property
    def debiasing(self) -> AnyDebiasing | None: ...

    @property
    def value_range(self) -> tuple[float, float]: ...

    @property
    def guarantee(self) -> Guarantee: ...

    def schema(self) -> dict[str, Any]: ...

    def aggregator(self) -> Aggregator: ...

    def read(self, reports: Any) -> ArrayLike: ...

    def conclude(self, counted: Aggregator) -> Any: ...


class Aggregator(ABC):
    """Mergeable sufficient statistics of reports.

    The method `aggregator` of what is asked makes one. `update` is not thread-safe: use one aggregator per thread, then
    `merge`.

    Parameters
    ----------
    source : Mechanism, Problem or survey.RepeatedRound
        What the reports answer.

    Attributes
    ----------
    n : int
        Number of reports so far.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> mechanism = ldp.RandomizedResponse(3, 2.0)
    >>> server = mechanism.aggregator().update(mechanism.privatize([0, 1, 1, 2] * 25, rng=1))
    >>> other = ldp.Aggregator.from_bytes(mechanism.aggregator().update(mechanism.privatize([2, 2], rng=2)).to_bytes())
    >>> server.merge(other).n
    102
    >>> server.estimate().value.shape
    (3,)
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.report = source.report
        self.debiasing = source.debiasing
        self.span = source.value_range
        self.guarantee = source.guarantee
        self.n = 0
        self._state = self.report.new_state()
        self._batches: set[str] = set()

    @abstractmethod
    def _is_possible(self) -> bool:
        """Return whether n reports can have this state."""

    @abstractmethod
    def _combine(self, state: AnyArray, other: AnyArray) -> None:
        """Add one state to another, in place."""

    @abstractmethod
    def _estimate(self) -> Estimate[Any]:
        """Return the mean of the decoded reports, of which there is at least one, without warnings."""

    def _warn_about_range(self, estimate: Estimate[Any]) -> None:
        """Warn if the mean is outside the range of the parameter by more than noise explains."""
        warn_outside(estimate, self.span)

    def _decoded_mean(self) -> Estimate[Any]:
        """Return the mean of the decoded reports, of which there is at least one."""
        found = self._estimate()
        self._warn_about_range(found)
        return found

    def estimate(self) -> Any:
        """Return the estimate from all reports so far, as the question concludes it.

        Returns
        -------
        estimate : Estimate
            The result of ``source.estimate``, however the reports came here: counted, merged, restored from a saved state or
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
        return self.source.conclude(self)

    def update(self, reports: ArrayLike, *, batch: str | None = None) -> Self:
        """Add reports.

        Parameters
        ----------
        reports : array_like, sequence of bytes, or Arrow table
            Many reports as `Mechanism.privatize` returns them, or a single one: they carry no label, and reports of another
            question can be counted without an error. Messages (`Mechanism.message`) and tables (`Mechanism.to_arrow`)
            say which question they answer.
        batch : str, optional
            Name of the batch, for instance of the file that held it. A name is accepted once, also after `merge` and in
            a saved state, so that a job that is run again cannot count a file twice. 16 bytes of memory.

        Returns
        -------
        self : Aggregator

        Raises
        ------
        TypeError, ValueError
            If they are not reports of this mechanism: wrong dtype or width, nonzero padding bits, or values that no
            record gives; if a batch of this name was already counted. The aggregator is then unchanged.
        """
        names = set() if batch is None else {hash_of_batch(batch)}
        if names & self._batches:
            raise ValueError(f"batch must be new, got {batch!r}, which was already counted")
        given = self.report.arrange(self.source.read(reports))

        def tally(start: int, stop: int) -> AnyArray | None:
            state: AnyArray = self.report.new_state()
            return state if self.report.tally_valid(given[start:stop], state) else None

        states = _threads.parallel_map(tally, len(given), 1, given.nbytes // 16)
        counted = [state for state in states if state is not None]
        if len(counted) < len(states):
            self.report.require_valid(given)
        self._add(counted, len(given))
        self._batches |= names
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
        difference = "" if other.source == self.source else self._difference(other)
        if difference:
            raise ValueError(f"other must aggregate answers to the same question: {difference}")
        common = self._batches & other._batches
        if common:
            raise ValueError(f"other must hold no batch that was already counted, got {len(common)} of them")
        self._add([other._state], other.n)
        self._batches |= other._batches
        return self

    def _difference(self, other: Aggregator) -> str:
        """Return the first difference of the questions; labels that cannot be saved can only be shown."""
        try:
            return first_difference(self.source.schema(), other.source.schema())
        except (TypeError, ValueError):
            return f"it is {self.source!r}, got {other.source!r}"

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    def _add(self, states: list[AnyArray], n: int) -> Self:
        """Add the states of n reports."""
        if self.n + n >= MAX_REPORTS:
            raise ValueError(f"an aggregator must hold fewer than 2^62 reports, got {self.n + n}")
        for state in states:
            self._combine(self._state, state)
        self.n += n
        return self

    def to_bytes(self) -> bytes:
        """Return the schema of the question, n, the names of batches and the state as bytes, with a checksum.

        Equal aggregators give equal bytes.

        Returns
        -------
        data : bytes
        """
        state = np.ascontiguousarray(self._state).astype(self._state.dtype.newbyteorder("<"), copy=False).tobytes()
        header = {"n": self.n, "schema": self.source.schema(), "batches": sorted(self._batches)}
        return seal(MAGIC, header, state)

    @staticmethod
    def from_bytes(data: bytes) -> Any:
        """Return the aggregator, or the server of a survey or a protocol, that its `to_bytes` saved.

        Parameters
        ----------
        data : bytes
            Result of `to_bytes`.

        Returns
        -------
        aggregator : Aggregator, survey.SurveyAggregator, MedianSGD, GradientDescent or GaussianMean

        Raises
        ------
        TypeError, ValueError
            If `data` is not bytes; if it is damaged, of another object, or of another version; if no reports can have
            this state.
        """
        other = class_of_state(as_bytes(data)[:7])
        if other is not None:
            return other.from_bytes(data)
        header, payload = unseal(MAGIC, "an aggregator", data)
        if set(header) != {"n", "schema", "batches"} or not isinstance(header["schema"], dict):
            raise ValueError("data must be the bytes of an aggregator: the header is not that of one")
        try:
            n, batches = read_integer(header["n"]), read_batches(header["batches"])
        except ValueError as error:
            raise ValueError(f"data must be the bytes of an aggregator: {error}") from error
        try:
            source = described(header["schema"].get("asks"))
            difference = first_difference(source.schema(), header["schema"])
        except (RecursionError, OverflowError, TypeError, ValueError) as error:
            raise ValueError(f"data must describe a mechanism or problem of this version: {error}") from error
        if difference:
            raise ValueError(f"data must be of this version of {source!r}: {difference}")
        report = getattr(source, "report", None)
        if not isinstance(report, Format):
            raise ValueError(
                f"data must describe a mechanism or problem of this version: got a {type(source).__name__}"
            )
        shape, dtype = report.state_layout
        expected = math.prod(shape) * np.dtype(dtype).itemsize
        if len(payload) != expected:  # before memory is allocated for the state
            raise ValueError(f"data must hold a state of {expected} bytes, got {len(payload)}")
        aggregator: Aggregator = source.aggregator()
        aggregator.n = n
        aggregator._batches = batches
        aggregator._state[...] = np.frombuffer(payload, aggregator._state.dtype.newbyteorder("<")).reshape(shape)
        if not 0 <= n < MAX_REPORTS or not aggregator._is_possible():
            raise ValueError(f"data must hold a state that n = {n} reports can have")
        return aggregator

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Aggregator):
            return NotImplemented
        same = self.source == other.source and self.n == other.n and self._batches == other._batches
        return same and bool(np.array_equal(self._state, other._state))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.source!r}: n = {self.n}>"


def hash_of_batch(name: str) -> str:
    """Return what is stored of the name of a batch.

    Examples
    --------
    >>> from ldpfast.reports import hash_of_batch
    >>> hash_of_batch("monday")
    'd618fb157a4b382e92fcd4a830c5fa8a'
    """
    if not isinstance(name, str):
        raise TypeError(f"batch must be a str, got {type(name).__name__}")
    return hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:32]


def read_batches(value: Any) -> set[str]:
    """Return what a saved state holds of the names of batches.

    Examples
    --------
    >>> from ldpfast.reports import hash_of_batch, read_batches
    >>> read_batches([hash_of_batch("monday")]) == {hash_of_batch("monday")}
    True
    """
    if not isinstance(value, list) or not all(isinstance(name, str) and _BATCH.fullmatch(name) for name in value):
        raise ValueError("the batches are not a list of 32 hexadecimal digits each")
    return set(value)
