"""Base class of report formats."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check, _threads
from .._limits import along
from .._typing import AnyArray, Floats
from ..privacy import Guarantee
from ..results import AnyDebiasing, Binomial, Debiasing, Estimate, line_of, warn_outside

DECODED_NUMBERS = 1 << 17  # that are decoded together


@dataclass(frozen=True)
class Decoding:
    """What decoded reports are: the map from reports to unbiased numbers, and what is known about their mean.

    Attributes
    ----------
    debiasing : Debiasing, MatrixDebiasing, NumberDebiasing, SupportDebiasing or None
        Map from reports to unbiased numbers; None for formats whose reports are unbiased numbers.
    value_range : tuple of float
        Interval that holds each coordinate of the expected decoded report.
    guarantee : privacy.Guarantee
    """

    debiasing: AnyDebiasing | None
    value_range: tuple[float, float]
    guarantee: Guarantee

    @property
    def line(self) -> Debiasing:
        """Debiasing of one bit, or of one count."""
        line = line_of(self.debiasing)
        if line is None:
            raise TypeError(f"decoded reports must be linear in bits, got the debiasing {self.debiasing!r}")
        return line


class Format(ABC):
    """The layout of reports, of the state that counts them, and the mean of the decoded reports.

    A state is one array. The methods `merge` and `is_possible` allow leading axes: states of several groups of people.

    Attributes
    ----------
    seeded : bool
        Whether a report holds a public seed, so that only decoded reports can be compared.
    is_code : bool
        Whether a report is one code, so that the reports of many people are known from the numbers of their codes.
    """

    seeded: ClassVar[bool] = False
    is_code: ClassVar[bool] = False

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """Shape of one report."""

    @abstractmethod
    def dtype(self, records: np.dtype[Any]) -> np.dtype[Any]:
        """Return the dtype of the reports of records of a given dtype."""

    @cached_property
    def number(self) -> tuple[type[Any], bool] | None:
        """NumPy type of a scalar report and whether it is a code; None for arrays and reports of several fields."""
        dtype = self.dtype(np.dtype(np.float64))
        is_number = not self.shape and dtype.kind in "uf" and dtype == self.dtype(np.dtype(np.float32))
        return (dtype.type, dtype.kind == "u") if is_number else None

    @property
    @abstractmethod
    def bits(self) -> int:
        """Size in bits of the report of a double precision record, without padding."""

    @property
    def nbytes(self) -> int:
        """Size in bytes of the report of a double precision record."""
        size: int = self.dtype(np.dtype(np.float64)).itemsize
        return math.prod(self.shape) * size

    @property
    def seed_bits(self) -> int:
        """Size in bits of the public seed of a report, 0 without one."""
        return 64 if self.seeded else 0

    @property
    @abstractmethod
    def state_layout(self) -> tuple[tuple[int, ...], type[np.integer[Any]]]:
        """Shape and dtype of the state that `tally` adds to."""

    def new_state(self) -> AnyArray:
        """Return the state of zero reports."""
        return np.zeros(*self.state_layout)

    @abstractmethod
    def merge(self, state: AnyArray, other: AnyArray) -> None:
        """Add one state to another, in place."""

    @abstractmethod
    def is_possible(self, state: AnyArray, n: int) -> bool:
        """Return whether n reports can have this state."""

    @abstractmethod
    def mean(self, decoding: Decoding, state: AnyArray, n: int) -> Estimate[Any]:
        """Return the mean of n >= 1 decoded reports, without warnings."""

    def warn_if_doubtful(self, decoding: Decoding, state: AnyArray, mean: Estimate[Any]) -> None:
        """Warn if the mean is outside the range of the parameter by more than noise explains."""
        warn_outside(mean, decoding.value_range)

    def counts(self, state: AnyArray) -> AnyArray:
        """Return the counts that a state holds, as a copy.

        Raises
        ------
        AttributeError
            If the state holds sums.
        """
        raise AttributeError("counts exist only where reports are counted; these are added up")

    def tallied(self, reports: AnyArray) -> AnyArray:
        """Return the state of arranged reports, on all threads.

        Raises
        ------
        ValueError
            If a report is not valid.
        """

        def tally(start: int, stop: int) -> AnyArray:
            state: AnyArray = self.new_state()
            if not self.tally_valid(reports[start:stop], state):
                self.require_valid(reports)
            return state

        states = _threads.parallel_map(tally, len(reports), 1, self.work_of(reports))
        total, *others = states
        for state in others:
            self.merge(total, state)
        return total

    def work_of(self, reports: AnyArray) -> int:
        """Return the work to count or decode reports, in values of about half a nanosecond, which decides about threads."""
        return reports.nbytes // 16

    @abstractmethod
    def tally(self, reports: AnyArray, state: AnyArray) -> None:
        """Add valid, contiguous reports to a state, in place."""

    def tally_groups(self, reports: AnyArray, members: AnyArray, states: AnyArray) -> NDArray[np.int64]:
        """Add valid reports to the states of their groups, in place, and return the number of reports of each group.

        Parameters
        ----------
        reports : ndarray
            Result of `arrange`.
        members : ndarray of unsigned integers, shape (n,)
            Number of the group of each report.
        states : ndarray
            One state per group.
        """
        order = np.argsort(members, kind="stable")
        cuts = np.searchsorted(members[order], np.arange(len(states) + 1))
        ordered = np.ascontiguousarray(reports[order])
        for group in np.flatnonzero(np.diff(cuts)).tolist():
            self.tally(ordered[cuts[group] : cuts[group + 1]], states[group])
        return np.diff(cuts).astype(np.int64)

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

    def decode_to(self, reports: AnyArray, debiasing: AnyDebiasing | None, rows: AnyArray) -> None:
        """Write the unbiased numbers of valid reports to `rows`, on all threads and with little memory besides."""
        step = max(1, DECODED_NUMBERS * len(reports) // max(1, rows.size))

        def write(start: int, stop: int) -> None:
            for at in range(start, stop, step):
                end = min(stop, at + step)
                rows[at:end] = self.decode(reports[at:end], debiasing)

        _threads.parallel_map(write, len(reports), 1, max(rows.size, self.work_of(reports)))

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
        if wanted == np.uint64 and array.dtype == np.int64:  # the same bits, for libraries without unsigned integers
            array = array.view(np.uint64)
        if array.dtype.newbyteorder("=") != wanted:
            raise TypeError(f"reports must have dtype {wanted}, got dtype {array.dtype}")
        if array.ndim == len(self.shape):
            array = array[np.newaxis]
        if array.shape[1:] != self.shape:
            expected = ", ".join(["n", *map(str, self.shape)]) + ("," if not self.shape else "")
            raise ValueError(f"reports must have shape ({expected}), got shape {np.shape(reports)}")
        return _check.laid_out(array)

    def are_valid(self, reports: AnyArray) -> NDArray[np.bool_]:
        """Return which of contiguous reports have valid values."""
        valid, parts = np.ones(len(reports), np.bool_), [(0, len(reports))]
        while parts:
            start, stop = parts.pop()
            if start == stop or self.invalidity(reports[start:stop]) is None:
                continue
            if stop - start == 1:
                valid[start] = False
            else:
                middle = (start + stop) // 2
                parts += [(start, middle), (middle, stop)]
        return valid

    def require_valid(self, reports: AnyArray) -> None:
        """Raise an error if contiguous reports have invalid values."""
        wrong = self.invalidity(reports) if reports.size else None
        if wrong is not None:
            raise ValueError(f"reports must {wrong}")


class CountFormat(Format):
    """Format whose state is 64-bit counts.

    By default each count that is debiased is binomial, so that intervals are Clopper-Pearson intervals.
    """

    def counts(self, state: AnyArray) -> NDArray[np.int64]:
        """Return the number of reports with each bit or code, as a copy."""
        return state.copy()

    def merge(self, state: AnyArray, other: AnyArray) -> None:
        state += other

    def is_possible(self, state: AnyArray, n: int) -> bool:
        return bool((state >= 0).all() and (state <= n).all())

    def hits(self, state: AnyArray, debiasing: AnyDebiasing | None) -> NDArray[np.int64]:
        """Return the counts that are debiased."""
        return state

    def covariance(self, state: AnyArray, n: int, debiasing: AnyDebiasing | None) -> Floats | None:
        """Return the covariance matrix of the estimate, or None."""
        return None

    def mean(self, decoding: Decoding, state: AnyArray, n: Any) -> Estimate[Any]:
        line, span = decoding.line, decoding.value_range
        hits = self.hits(state, decoding.debiasing).copy()
        total = along(n, hits.ndim - np.ndim(n))
        value = line(hits / total)
        # The variance at the possible mean nearest to the estimate is never zero, even for one report.
        stderr = np.sqrt(line.variance(np.clip(value, *span)) / total)
        rule = Binomial(hits, total, line)
        if hits.ndim == 0:
            return Estimate(float(value), float(stderr), n, decoding.guarantee, None, rule, _span=span)
        covariance = None if np.ndim(n) else self.covariance(state, n, decoding.debiasing)
        return Estimate(value, stderr, n, decoding.guarantee, covariance, rule, _span=span)
