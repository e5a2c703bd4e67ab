"""The data of a regression: known covariates, weights and clusters of people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._frames import Groups, whole_column
from .._typing import AnyArray, Floats

CONST = "const"  # name of the column of ones
INDEPENDENT = 1e-10  # smallest eigenvalue of the correlations of independent columns


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
    """

    x: AnyArray
    names: tuple[str, ...]
    intercept: bool

    @classmethod
    def of(cls, x: Any, intercept: bool) -> Rows:
        """Return the rows of an array or of a data frame.

        Raises
        ------
        TypeError, ValueError
            If they are not finite numbers in rows.
        """
        columns = getattr(x, "columns", None)
        values = np.asarray(_check.floats("X", _check.array("X", np.asarray(x))))
        if values.ndim != 2 or not values.size:
            raise ValueError(f"X must have shape (n, columns) with n >= 1, got shape {values.shape}")
        names = [f"x{i + 1}" for i in range(values.shape[1])] if columns is None else [*map(str, columns)]
        if not np.isfinite(values).all():
            bad = names[int(np.flatnonzero(~np.isfinite(values).all(axis=0))[0])]
            raise ValueError(f"X must be finite numbers without missing values, column {bad!r} is not")
        return cls(values, (*[CONST] * intercept, *names), intercept)

    def __len__(self) -> int:
        return len(self.x)

    def block(self, start: int, stop: int) -> Floats:
        """Return some rows as float64, with the column of ones."""
        rows = np.asarray(self.x[start:stop], np.float64)
        return np.column_stack([np.ones(len(rows)), rows]) if self.intercept else rows

    def require_independent(self) -> None:
        """Raise if a column is a linear function of others."""
        size = len(self.names)
        gram = np.zeros((size, size))
        for start in range(0, len(self), 1 << 16):
            part = self.block(start, start + (1 << 16))
            gram += part.T @ part
        scale = np.sqrt(np.diag(gram))
        if not scale.all():
            raise ValueError(f"X must have columns that are not all 0, got {self.names[int(np.argmin(scale))]!r}")
        values, vectors = np.linalg.eigh(gram / np.outer(scale, scale))
        if values[0] < INDEPENDENT * size:
            listed = [name for name, part in zip(self.names, vectors[:, 0], strict=True) if abs(part) > 0.1]
            raise ValueError(
                f"X must have linearly independent columns, got {', '.join(map(repr, listed))}"
                + " (const is added by intercept=True)" * self.intercept
            )

    @property
    def spread(self) -> Floats:
        """Standard deviation of each column; 1 for that of ones."""
        spread = np.asarray(self.x, np.float64).std(axis=0)
        return np.concatenate(
            [[1.0] * self.intercept, np.where(spread > 0, spread, np.abs(self.x[0]) + (self.x[0] == 0))]
        )


def read_weights(weights: ArrayLike | None, n: int) -> Floats | None:
    """Return weights of n people.

    Raises
    ------
    TypeError, ValueError
        If they are not n numbers >= 0 with a positive sum.
    """
    if weights is None:
        return None
    given = _check.numbers("weights", _check.array("weights", weights))
    if given.shape != (n,):
        raise ValueError(f"weights must have shape ({n},), one for each row, got shape {given.shape}")
    if (given < 0).any() or not given.any():
        raise ValueError(f"weights must be >= 0 with a positive sum, got {given.min():g}")
    return given


def read_clusters(clusters: Any, n: int) -> NDArray[np.uint32] | None:
    """Return the number of the cluster of each of n people.

    Raises
    ------
    TypeError, ValueError
        If there is not one value for each person, or only one cluster.
    """
    if clusters is None:
        return None
    groups = Groups(None)
    numbers = groups.numbers(whole_column("clusters", clusters))
    if len(numbers) != n or len(groups.values) < 2:
        raise ValueError(
            f"clusters must have one value for each of {n} rows, and at least 2 different ones, got {len(numbers)} values, "
            f"{len(groups.values)} of them different"
        )
    return numbers
