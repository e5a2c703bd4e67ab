"""The data of a regression: known covariates of people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import _check
from .._typing import AnyArray, Floats

CONST = "const"  # name of the column of ones
INDEPENDENT = 1e-10  # smallest eigenvalue of the correlations of independent columns, divided by their number
ROWS = 1 << 14  # rows that are in memory as float64 at a time


@dataclass(frozen=True, eq=False)
class Rows:
    """Covariates of people.

    Attributes
    ----------
    x : ndarray of float32 or float64, shape (n, columns)
    names : tuple of str
        Names of the coefficients, the intercept first.
    intercept : bool
        Whether a column of ones is put before those of `x`.
    shift, scale : ndarray, shape (columns,), or None
        What is subtracted from each column, and by what it is then divided.
    """

    x: AnyArray
    names: tuple[str, ...]
    intercept: bool
    shift: Floats | None = None
    scale: Floats | None = None

    @classmethod
    def of(cls, x: Any, intercept: bool, names: tuple[str, ...] | None = None) -> Rows:
        """Return the rows of an array.

        Parameters
        ----------
        x : array_like, shape (n, columns)
        intercept : bool
        names : tuple of str, optional
            Names of the columns; x1, x2, ... by default.

        Raises
        ------
        TypeError, ValueError
            If they are not finite numbers in rows.
        """
        if isinstance(x, np.ma.MaskedArray):
            raise TypeError("X must not be a masked array: leave out rows with missing values")
        plain = _check.array("X", x)
        plain = plain.astype(np.float64) if plain.dtype == np.bool_ else plain
        values = np.asarray(_check.floats("X", plain))
        columns = values.shape[1] if values.ndim == 2 else 0
        listed = names if names is not None else tuple(f"x{place + 1}" for place in range(columns))
        if values.ndim != 2 or not len(values) or not values.shape[1] + intercept:
            raise ValueError(f"X must have shape (n, columns) with n >= 1, got shape {values.shape}")
        finite = np.ones(values.shape[1], np.bool_)
        for start in range(0, len(values), ROWS):
            finite &= np.isfinite(values[start : start + ROWS]).all(axis=0)
        if not finite.all():
            raise ValueError(
                f"X must be finite numbers without missing values, column {listed[int(np.argmin(finite))]!r} is not"
            )
        if values.dtype != np.float32:
            values = values.astype(np.float64, copy=False)
        return cls(values, (*[CONST] * intercept, *listed), intercept)

    def __len__(self) -> int:
        return len(self.x)

    def parts(self, start: int = 0, stop: int | None = None) -> Iterator[slice]:
        """Yield slices of the rows that fit into memory as float64."""
        stop = len(self) if stop is None else stop
        for first in range(start, stop, ROWS):
            yield slice(first, min(first + ROWS, stop))

    def block(self, part: slice) -> Floats:
        """Return some rows as float64, with the column of ones."""
        rows = np.asarray(self.x[part], np.float64)
        if self.shift is not None:
            shift, scale = self.standardization
            rows = (rows - shift) / scale
        return np.column_stack([np.ones(len(rows)), rows]) if self.intercept else rows

    @property
    def standardization(self) -> tuple[Floats, Floats]:
        """The arrays `shift` and `scale`, which are 0 and 1 if they are None."""
        if self.shift is None or self.scale is None:
            return np.zeros(self.x.shape[1]), np.ones(self.x.shape[1])
        return self.shift, self.scale

    def standardized(self) -> Rows:
        """Return the rows with columns of size 1, and with mean 0 if there is an intercept.

        Fits do not depend on the units and the origin of a column then, such as the year 2020.

        Raises
        ------
        ValueError
            If a column is a linear function of others.
        """
        n, columns = self.x.shape
        shift = np.zeros(columns)
        if self.intercept:
            shift = sum(np.asarray(self.x[part], np.float64).sum(axis=0) for part in self.parts()) / n
        squares = sum(np.square(np.asarray(self.x[part], np.float64) - shift).sum(axis=0) for part in self.parts())
        scale = np.sqrt(np.asarray(squares) / n)
        constant = scale <= 1e-12 * np.abs(shift)
        if constant.any():
            name = self.names[self.intercept :][int(np.argmax(constant))]
            raise ValueError(
                f"X must have columns that are not constant, got {name!r}"
                + (": const is there already" if self.intercept and not (shift == 0).all() else "")
            )
        found = replace(self, shift=shift, scale=scale)
        gram = sum(block.T @ block for block in map(found.block, self.parts())) / n
        values, vectors = np.linalg.eigh(np.asarray(gram))
        if values[0] < INDEPENDENT * columns:
            names = [name for name, part in zip(self.names, vectors[:, 0], strict=True) if abs(part) > 0.1]
            raise ValueError(f"X must have linearly independent columns, got {', '.join(map(repr, names))}")
        return found

    def like(self, other: Rows) -> Rows:
        """Return the rows, standardized as others."""
        return replace(self, shift=other.shift, scale=other.scale)

    @property
    def to_units(self) -> Floats:
        """The matrix by which coefficients of standardized rows become those of the columns in their own units."""
        assert self.shift is not None
        assert self.scale is not None
        slopes = np.diag(1 / self.scale)
        if not self.intercept:
            return slopes
        size = len(self.names)
        matrix = np.eye(size)
        matrix[1:, 1:], matrix[0, 1:] = slopes, -self.shift / self.scale
        return matrix
