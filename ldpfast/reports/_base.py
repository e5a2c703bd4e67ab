"""Base classes of report formats and aggregators."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import _check, _threads
from .._envelope import seal, unseal
from .._typing import AnyArray, Floats
from ..privacy import Guarantee
from ..results import AnyDebiasing, Estimate

MAGIC = b"LDPFAST\x02"  # the last byte is the version of the layout
MOST_REPORTS = 1 << 62  # so that 64-bit counts cannot overflow


class Format(ABC):
    """The layout of the reports of a mechanism, and of the state that counts them.

    Attributes
    ----------
    aggregator : type of Aggregator
        Class of the aggregators of this format.
    """

    aggregator: type[Aggregator]

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

    @abstractmethod
    def decode(self, reports: AnyArray, debiasing: AnyDebiasing | None) -> Floats:
        """Return the unbiased numbers of valid reports, one row per report."""

    @abstractmethod
    def invalidity(self, reports: AnyArray) -> str | None:
        """Return the end of a message "reports must ..." for invalid values, or None if all values are valid."""

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
        array = _check.array("reports", reports)
        wanted = self.dtype(array.dtype.newbyteorder("="))
        if array.dtype.newbyteorder("=") != wanted:
            raise TypeError(f"reports must have dtype {wanted}, got dtype {array.dtype}")
        if array.ndim == len(self.shape):
            array = array[np.newaxis]
        if array.shape[1:] != self.shape:
            expected = ", ".join(["n", *map(str, self.shape)]) + ("," if not self.shape else "")
            raise ValueError(f"reports must have shape ({expected}), got shape {np.shape(reports)}")
        array = _check.laid_out(array)
        wrong = self.invalidity(array) if array.size else None
        if wrong is not None:
            raise ValueError(f"reports must {wrong}")
        return array


class Source(Protocol):
    """The mechanism that made the reports of an aggregator. Aggregators only compare, print and describe it."""

    def to_dict(self) -> dict[str, Any]: ...


class Aggregator(ABC):
    """Mergeable sufficient statistics of reports.

    `Mechanism.aggregator` makes one. `update` is not thread-safe: use one aggregator per thread, then `merge`.

    Parameters
    ----------
    source : Mechanism
        Mechanism that made the reports.
    report : Format
        Format of the reports.
    debiasing : Debiasing or None
        Map from shares to estimates, for counted reports.
    span : tuple of float
        Smallest and largest possible mean of a decoded coordinate.
    guarantee : privacy.Guarantee
        Privacy guarantee of each person.

    Attributes
    ----------
    n : int
        Number of reports so far.
    """

    def __init__(
        self,
        source: Source,
        report: Format,
        debiasing: AnyDebiasing | None,
        span: tuple[float, float],
        guarantee: Guarantee,
    ) -> None:
        self.source = source
        self.report = report
        self.debiasing = debiasing
        self.span = span
        self.guarantee = guarantee
        self.n = 0
        self._state = report.new_state()

    @abstractmethod
    def _is_possible(self) -> bool:
        """Return whether n reports can have this state."""

    @abstractmethod
    def _combine(self, state: AnyArray, other: AnyArray) -> None:
        """Add one state to another, in place."""

    @abstractmethod
    def estimate(self) -> Estimate[Any]:
        """Return the unbiased estimate from all reports so far.

        Returns
        -------
        estimate : Estimate

        Raises
        ------
        ValueError
            If there are no reports yet.
        """

    def update(self, reports: ArrayLike) -> Self:
        """Add reports.

        Parameters
        ----------
        reports : array_like
            Many reports as `Mechanism.privatize` returns them, or a single one.

        Returns
        -------
        self : Aggregator

        Raises
        ------
        TypeError, ValueError
            If they are not reports of this mechanism: wrong dtype or width, nonzero padding bits, or invalid values.
            The aggregator is then unchanged.
        """
        accepted = self.report.validate(reports)

        def tally(start: int, stop: int) -> AnyArray:
            state: AnyArray = self.report.new_state()
            self.report.tally(accepted[start:stop], state)
            return state

        return self._add(_threads.parallel_map(tally, len(accepted), 1, accepted.nbytes // 16), len(accepted))

    def merge(self, other: Aggregator) -> Self:
        """Add the reports of another aggregator of the same mechanism.

        Parameters
        ----------
        other : Aggregator
            Aggregator of the same mechanism. It stays unchanged.

        Returns
        -------
        self : Aggregator

        Raises
        ------
        TypeError, ValueError
            If `other` is not an aggregator, or is one of another mechanism.
        """
        if not isinstance(other, Aggregator):
            raise TypeError(f"other must be an Aggregator, got {type(other).__name__}")
        if other.source != self.source:
            raise ValueError(f"other must aggregate the same mechanism: {self.source!r}, got {other.source!r}")
        return self._add([other._state], other.n)

    def _add(self, states: list[AnyArray], n: int) -> Self:
        """Add the states of n reports."""
        if self.n + n >= MOST_REPORTS:
            raise ValueError(f"an aggregator must hold fewer than 2^62 reports, got {self.n + n}")
        for state in states:
            self._combine(self._state, state)
        self.n += n
        return self

    def _require_reports(self) -> int:
        if self.n == 0:
            raise ValueError("an estimate needs at least 1 report, got n = 0")
        return self.n

    def to_bytes(self) -> bytes:
        """Return the mechanism, n and the state as bytes, with a checksum. Equal aggregators give equal bytes.

        Returns
        -------
        data : bytes
        """
        state = np.ascontiguousarray(self._state).astype(self._state.dtype.newbyteorder("<"), copy=False).tobytes()
        return seal(MAGIC, {"n": self.n, "source": self.source.to_dict()}, state)

    @staticmethod
    def from_bytes(data: bytes) -> Aggregator:
        """Return the aggregator that `to_bytes` saved.

        Parameters
        ----------
        data : bytes
            Result of `to_bytes`.

        Returns
        -------
        aggregator : Aggregator

        Raises
        ------
        TypeError, ValueError
            If `data` is not bytes; if it is damaged, of another object, or of another version; if no reports can have
            this state.
        """
        header, payload = unseal(MAGIC, "an aggregator", data)
        if set(header) != {"n", "source"} or not isinstance(header["n"], int) or isinstance(header["n"], bool):
            raise ValueError("data must be the bytes of an aggregator: the header is not that of one")
        n = header["n"]
        try:
            make, report = _reader(header["source"])
        except (RecursionError, OverflowError, TypeError, ValueError) as error:
            raise ValueError(f"data must name a mechanism of this version: {error}") from error
        shape, dtype = report.state_layout
        expected = math.prod(shape) * np.dtype(dtype).itemsize
        if len(payload) != expected:  # before memory is allocated for the state
            raise ValueError(f"data must hold a state of {expected} bytes, got {len(payload)}")
        aggregator = make()
        aggregator.n = n
        aggregator._state[...] = np.frombuffer(payload, aggregator._state.dtype.newbyteorder("<")).reshape(shape)
        if not 0 <= n < MOST_REPORTS or not aggregator._is_possible():
            raise ValueError(f"data must hold a state that n = {n} reports can have")
        return aggregator

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Aggregator):
            return NotImplemented
        return self.source == other.source and self.n == other.n and bool(np.array_equal(self._state, other._state))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.source!r}: n = {self.n}>"


Reader = Callable[[dict[str, Any]], tuple[Callable[[], Aggregator], Format]]


def _no_reader(described: dict[str, Any]) -> tuple[Callable[[], Aggregator], Format]:
    raise ValueError("no mechanisms are registered, ldpfast.mechanisms was not imported")


_reader: Reader = _no_reader


def set_reader(reader: Reader) -> None:
    """Set the function that makes an empty aggregator from the description of a source.

    `ldpfast.mechanisms`, which has the registry of mechanisms, calls it.

    Parameters
    ----------
    reader : callable
        Takes what `Source.to_dict` returned; returns a function that makes an empty aggregator, and its report format.
    """
    global _reader
    _reader = reader
