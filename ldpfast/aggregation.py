"""Streaming, mergeable sums of reports: integers only, so that any order on any number of machines gives the same bytes.

The report format of a mechanism chooses the aggregator: packed bits and codes are counted, real numbers are added as
128-bit integers. Floating point enters when the estimate is asked for.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _threads
from ._core import bits, codes, sums
from .results import Binomial, Estimate, Normal

if TYPE_CHECKING:
    from .mechanisms import Mechanism
    from .mechanisms._reports import Bits, Codes, Grid, Vectors

MAGIC = b"LDPFAST\x01"  # the last byte is the version of the layout
HEADER = struct.Struct("<8sQQ")  # magic, length of the mechanism's JSON, n
DIGEST_BYTES = 16
COVARIANCE_LIMIT = 256  # coordinates
FEW_REPORTS = 30
MOST_REPORTS = 1 << 62  # no count comes near the end of 64 bits


class Aggregator(ABC):
    """Mergeable sufficient statistics of the reports of one mechanism.

    Made by `Mechanism.aggregator`. Not safe to update from several threads at once: give each its own and merge.

    Attributes
    ----------
    mechanism : Mechanism
        The mechanism that made the reports.
    n : int
        Number of reports so far.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.n = 0
        self._state = self._zeros()

    @staticmethod
    @abstractmethod
    def _layout(mechanism: Mechanism) -> tuple[tuple[int, ...], type[np.integer[Any]]]:
        """Shape and dtype of a state."""

    @abstractmethod
    def _possible(self) -> bool:
        """Whether the state can be that of n reports."""

    def _zeros(self) -> NDArray[Any]:
        """An empty state."""
        return np.zeros(*self._layout(self.mechanism))

    @abstractmethod
    def _tally(self, reports: NDArray[Any], state: NDArray[Any]) -> None:
        """Add checked, contiguous reports to a state."""

    @abstractmethod
    def _combine(self, state: NDArray[Any], other: NDArray[Any]) -> None:
        """Add one state to another, in place."""

    @abstractmethod
    def estimate(self) -> Estimate:
        """The unbiased estimate from all reports so far.

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
            As `Mechanism.privatize` returns them: many, or a single one.

        Returns
        -------
        self : Aggregator

        Raises
        ------
        TypeError, ValueError
            If they are not reports of this mechanism: wrong dtype or width, padding bits that are set, impossible values.
            The aggregator is then as it was.
        """
        accepted = self.mechanism.report.validate(reports)
        return self._add([self._tallied(accepted)], len(accepted))

    def merge(self, other: Aggregator) -> Self:
        """Add the reports of another aggregator of the same mechanism.

        Parameters
        ----------
        other : Aggregator
            Is left as it is.

        Returns
        -------
        self : Aggregator

        Raises
        ------
        TypeError, ValueError
            If `other` is no aggregator, or of another mechanism; the message names the difference.
        """
        if not isinstance(other, Aggregator):
            raise TypeError(f"other must be an Aggregator, got {type(other).__name__}")
        if other.mechanism != self.mechanism:
            raise ValueError(f"other must aggregate the same mechanism: {self.mechanism!r}, got {other.mechanism!r}")
        return self._add([other._state], other.n)

    def _tallied(self, reports: NDArray[Any]) -> NDArray[Any]:
        """A state of its own for checked reports, counted by all threads."""

        def tally(start: int, stop: int) -> NDArray[Any]:
            state = self._zeros()
            self._tally(reports[start:stop], state)
            return state

        parts = _threads.deal(tally, len(reports), 1, reports.nbytes // 16)
        for part in parts[1:]:
            self._combine(parts[0], part)
        return parts[0]

    def _add(self, states: list[NDArray[Any]], n: int) -> Self:
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
        """The mechanism, n and the state, with a checksum. Equal statistics give equal bytes.

        Returns
        -------
        data : bytes
        """
        mechanism = json.dumps(self.mechanism.to_dict(), sort_keys=True, separators=(",", ":")).encode()
        state = np.ascontiguousarray(self._state).astype(self._state.dtype.newbyteorder("<"), copy=False).tobytes()
        body = HEADER.pack(MAGIC, len(mechanism), self.n) + mechanism + state
        return body + hashlib.blake2b(body, digest_size=DIGEST_BYTES).digest()

    @staticmethod
    def from_bytes(data: bytes) -> Aggregator:
        """The aggregator that `to_bytes` wrote.

        Parameters
        ----------
        data : bytes

        Returns
        -------
        aggregator : Aggregator

        Raises
        ------
        TypeError, ValueError
            If `data` are not bytes; if they are damaged, foreign, or of another version.
        """
        from .mechanisms import Mechanism

        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(f"data must be bytes, got {type(data).__name__}")
        data = bytes(data)
        if data[:7] != MAGIC[:7]:
            raise ValueError("data must be the bytes of an aggregator: they do not start like one")
        if data[:8] != MAGIC:
            raise ValueError(
                f"data must be of layout version {MAGIC[7]}, got {data[7] if len(data) > 7 else 'nothing'}"
            )
        body, digest = data[:-DIGEST_BYTES], data[-DIGEST_BYTES:]
        if len(body) < HEADER.size or hashlib.blake2b(body, digest_size=DIGEST_BYTES).digest() != digest:
            raise ValueError("data must be the whole bytes of an aggregator: they are damaged or cut off")
        _, length, n = HEADER.unpack_from(body)
        text, raw = body[HEADER.size : HEADER.size + length], body[HEADER.size + length :]
        try:
            mechanism = Mechanism.from_dict(json.loads(text))
        except (RecursionError, OverflowError, TypeError, ValueError) as error:  # of the JSON, or of the mechanism
            raise ValueError(f"data must name a mechanism of this version: {error}") from error
        shape, dtype = mechanism.report.aggregator._layout(mechanism)
        expected = math.prod(shape) * np.dtype(dtype).itemsize
        if len(raw) != expected:  # before room is made for it
            raise ValueError(f"data must hold a state of {expected} bytes, got {len(raw)}")
        aggregator = mechanism.aggregator()
        aggregator.n = n
        aggregator._state[...] = np.frombuffer(raw, aggregator._state.dtype.newbyteorder("<")).reshape(shape)
        if n >= MOST_REPORTS or not aggregator._possible():
            raise ValueError(f"data must hold a state that n = {n} reports can have")
        return aggregator

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Aggregator):
            return NotImplemented
        return (
            self.mechanism == other.mechanism and self.n == other.n and bool(np.array_equal(self._state, other._state))
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.mechanism!r}: n = {self.n}>"


class CountAggregator(Aggregator):
    """64-bit counts; each of them is binomial, so intervals are Clopper-Pearson."""

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many reports have each bit, or each code (a copy)."""
        return self._state.copy()

    @staticmethod
    def _layout(mechanism: Mechanism) -> tuple[tuple[int, ...], type[np.integer[Any]]]:
        return (cast("Bits | Codes", mechanism.report).k,), np.int64

    def _possible(self) -> bool:
        return bool((self._state >= 0).all() and (self._state <= self.n).all())

    def _combine(self, state: NDArray[Any], other: NDArray[Any]) -> None:
        state += other

    def _hits(self) -> NDArray[np.int64]:
        return self._state

    def estimate(self) -> Estimate:
        n, mechanism = self._require_reports(), self.mechanism
        hits, debiasing = self._hits().copy(), mechanism.debiasing
        value = debiasing(hits / n)
        # The variance of a decoded bit at the possible mean nearest to the estimate: never zero, even for one report.
        stderr = np.sqrt(debiasing.variance(np.clip(value, *mechanism.domain.range)) / n)
        rule = Binomial(hits, n, debiasing)
        if hits.ndim == 0:
            return Estimate(float(value), float(stderr), n, mechanism.guarantee, None, rule)
        return Estimate(value, stderr, n, mechanism.guarantee, self._covariance(n), rule)

    def _covariance(self, n: int) -> NDArray[np.float64] | None:
        return None


class BitCounts(CountAggregator):
    """Counts of packed bits, by positional population count."""

    def _tally(self, reports: NDArray[Any], state: NDArray[Any]) -> None:
        bits.tally(reports, state)


class CodeCounts(CountAggregator):
    """A histogram of codes; of flags (one bit per report) the number of ones is the statistic."""

    def _tally(self, reports: NDArray[Any], state: NDArray[Any]) -> None:
        codes.tally(reports, state)

    def _possible(self) -> bool:
        return super()._possible() and int(self._state.sum()) == self.n

    def _hits(self) -> NDArray[np.int64]:
        return self._state if cast("Codes", self.mechanism.report).onehot else self._state[1]

    def _covariance(self, n: int) -> NDArray[np.float64] | None:
        if len(self._state) > COVARIANCE_LIMIT:
            return None
        share, debiasing = self._state / n, self.mechanism.debiasing
        return (debiasing.one - debiasing.zero) ** 2 * (np.diag(share) - np.outer(share, share)) / n


class ExactSums(Aggregator):
    """128-bit integer sums, one row (low word, high word) per quantity."""

    def _combine(self, state: NDArray[Any], other: NDArray[Any]) -> None:
        low = state[:, 0] + other[:, 0]
        state[:, 1] += other[:, 1] + (low < other[:, 0])
        state[:, 0] = low

    def _floats(self, rows: slice) -> NDArray[np.float64]:
        """Sums as doubles: sign and magnitude first, for the low word of a small negative number is large."""
        low, high = self._state[rows, 0], self._state[rows, 1]
        negative = high >> np.uint64(63) == 1
        low, high = np.where(negative, ~low + np.uint64(1), low), np.where(negative, ~high + (low == 0), high)
        return np.where(negative, -1.0, 1.0) * (high.astype(np.float64) * 2.0**64 + low.astype(np.float64))

    @staticmethod
    def _layout(mechanism: Mechanism) -> tuple[tuple[int, ...], type[np.integer[Any]]]:
        return (cast("Grid | Vectors", mechanism.report).sums, 2), np.uint64


class VectorSums(ExactSums):
    """Sums of vectors of a known length, in steps of bound 2^-40; their noise does not depend on the record."""

    def _tally(self, reports: NDArray[Any], state: NDArray[Any]) -> None:
        report = cast("Vectors", self.mechanism.report)
        sums.add_vectors(reports, report.dim, report.bound, state)

    def _possible(self) -> bool:
        return bool((np.abs(self._floats(slice(None))) <= self.n * 2.0**40 * (1 + 1e-3)).all())

    def estimate(self) -> Estimate:
        n, report = self._require_reports(), cast("Vectors", self.mechanism.report)
        value = self._floats(slice(None)) * (report.bound * 2.0**-40 / n)
        stderr = np.full(report.dim, np.sqrt(report.bound**2 / report.dim / n))
        return Estimate(value, stderr, n, self.mechanism.guarantee, None, Normal())


class GridSums(ExactSums):
    """Sums of j and j^2 of reports lower + grid (j + 1/2)."""

    def _tally(self, reports: NDArray[Any], state: NDArray[Any]) -> None:
        report = cast("Grid", self.mechanism.report)
        sums.add_grid(reports, report.dim, report.lower, report.grid, state)

    def _possible(self) -> bool:
        report = cast("Grid", self.mechanism.report)
        total, square = self._floats(slice(0, report.dim)), self._floats(slice(report.dim, None))
        # Squares of integers up to 2^47 and, by Cauchy and Schwarz, sum^2 <= n sum of squares.
        return bool((square <= self.n * 2.0**94).all() and (total**2 <= self.n * square * (1 + 1e-9)).all())

    def estimate(self) -> Estimate:
        n, report = self._require_reports(), cast("Grid", self.mechanism.report)
        mean, square = self._floats(slice(0, report.dim)) / n, self._floats(slice(report.dim, None)) / n
        value = report.lower + report.grid * (mean + 0.5)
        # The sample variance, but not below that of the noise alone; few reports say nothing about the spread of the
        # records, which is taken at its widest then.
        sample = np.maximum(square - mean * mean, 0) * (n / max(n - 1, 1))
        lower, upper = self.mechanism.domain.range
        widest = (upper - lower) ** 2 / 4 if n < FEW_REPORTS else 0.0
        variance = np.maximum(report.grid**2 * sample, report.noise_variance + widest)
        stderr = np.sqrt(variance / n)
        if report.scalar:
            return Estimate(float(value[0]), float(stderr[0]), n, self.mechanism.guarantee, None, Normal())
        return Estimate(value, stderr, n, self.mechanism.guarantee, None, Normal())
