"""Tables without negative cells that agree with each other: weighted least squares with the known covariance.

Arrays have a first axis for groups of people. A table of M cells is `start + basis @ coordinates`, so that every point of the
coordinates is a set of tables whose sums are right and whose common margins are equal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import null_space

from .._typing import Floats

FLOOR = 1e-9  # smallest variance of a direction, as a part of the largest one
RELAXED = 1.6  # of the steps of the projection; between 1 and 2
MAX_STEPS = 20_000
STEPS_OF_A_PRICE = (
    200  # after which the price changes, so that both kinds of tables approach each other as fast as they move
)
LARGEST_CHANGE = 10.0  # of a price
SMALLEST = 1e-6  # ratio of both, for which a price changes
EXACT = 1e-10  # largest negative share that is set to 0
QUICK = 2e-3  # the same in simulations, in standard errors


@dataclass(frozen=True, eq=False)
class Tables:
    """All tables with some sums and common margins.

    Attributes
    ----------
    start : ndarray, shape (cells,)
    basis : ndarray, shape (cells, coordinates)
        Orthonormal columns.
    """

    start: Floats
    basis: Floats

    @classmethod
    def of(cls, equations: Floats, right: Floats) -> Tables:
        """Return the tables whose cells satisfy linear equations."""
        start = np.linalg.lstsq(equations, right, rcond=None)[0]
        return cls(np.asarray(start), np.asarray(null_space(equations)))

    def cells(self, coordinates: Floats) -> Floats:
        """Return the cells of tables, shape (..., cells, draws), from coordinates of shape (..., coordinates, draws)."""
        return np.asarray(self.start[:, np.newaxis] + self.basis @ coordinates)

    def fit(self, value: Floats, covariance: Floats, weighed: Floats, design: Floats) -> TableFit:
        """Return the tables that agree best with estimates of sums of their cells (generalized least squares).

        Parameters
        ----------
        value : ndarray, shape (groups, sums)
        covariance : ndarray, shape (groups, sums, sums)
            Covariance of the estimates.
        weighed : ndarray, shape (groups, sums, sums)
            The matrix whose inverse has the weights: the covariance, plus what makes it regular.
        design : ndarray, shape (sums, cells)
        """
        size, vectors = np.linalg.eigh(weighed)
        size = np.maximum(size, FLOOR * size[:, -1:])
        weights = (vectors / size[:, np.newaxis]) @ vectors.swapaxes(-1, -2)
        slope = design @ self.basis
        curvature = slope.T @ weights @ slope
        gain = np.linalg.solve(curvature, slope.T @ weights)
        rest = (value - design @ self.start)[..., np.newaxis]
        return TableFit(self, gain @ rest, gain @ covariance @ gain.swapaxes(-1, -2), curvature)


@dataclass(frozen=True, eq=False)
class TableFit:
    """Tables that agree best with estimates, with negative cells.

    Attributes
    ----------
    tables : Tables
    coordinates : ndarray, shape (groups, coordinates, 1)
    covariance : ndarray, shape (groups, coordinates, coordinates)
        Covariance of the coordinates.
    curvature : ndarray, shape (groups, coordinates, coordinates)
        Weights of the squared distance.
    """

    tables: Tables
    coordinates: Floats
    covariance: Floats
    curvature: Floats

    @property
    def cells(self) -> Floats:
        """Cells of all groups, shape (groups, cells)."""
        return self.tables.cells(self.coordinates)[..., 0]

    @property
    def quick(self) -> float:
        """Tolerance of the projection of simulated surveys."""
        sizes = np.trace(self.covariance, axis1=-2, axis2=-1)  # the basis is orthonormal
        return max(EXACT, QUICK * float(np.sqrt(sizes.min() / len(self.tables.basis))))

    def _positive(self, coordinates: Floats) -> Floats:
        """Return tables with slightly negative cells, moved to equal cells until none is negative.

        No groups without negative cells have a sum with one.
        """
        equal = self.tables.start[:, np.newaxis]  # the coordinates are 0
        below = np.maximum(-self.tables.cells(coordinates), 0.0)
        return np.asarray(coordinates * (1 - (below / (equal + below)).max(axis=-2, keepdims=True)))

    def drawn(self, around: Floats, generator: np.random.Generator, draws: int) -> Floats:
        """Return coordinates with normal errors of the known covariance, shape (groups, coordinates, draws)."""
        size, vectors = np.linalg.eigh(self.covariance)
        root = vectors * np.sqrt(np.maximum(size, 0.0))[:, np.newaxis]
        return np.asarray(around + root @ generator.standard_normal((*root.shape[:2], draws)))

    def nearest(
        self,
        coordinates: Floats,
        shares: Floats | None = None,
        total: Floats | None = None,
        tolerance: float = EXACT,
    ) -> Floats:
        """Return the coordinates of the nearest tables without negative cells.

        Parameters
        ----------
        coordinates : ndarray, shape (groups, coordinates, draws)
        shares : ndarray, shape (groups,), optional
            Shares of the groups; with `total`, the sum of the tables times shares is the total.
        total : ndarray, shape (coordinates, draws), optional
            Coordinates of the table of all groups, which has no negative cells.
        tolerance : float
            Largest negative share that is left.

        Notes
        -----
        A quadratic program for each draw, all at once by the alternating direction method of multipliers: steps of least
        squares under the equations, and steps that cut at 0, with a price for their difference. Every point of the first kind
        satisfies the equations.
        """
        cells = self.tables.cells(coordinates)
        right = cells.min(axis=(0, 1), initial=0.0) >= 0
        if shares is not None and total is not None:
            right &= np.abs(np.tensordot(shares, coordinates, 1) - total).max(axis=0, initial=0.0) <= tolerance
        if right.any():  # these draws stay as they are
            found = coordinates.copy()
            if not right.all():
                rest = coordinates[..., ~right]
                found[..., ~right] = self.nearest(rest, shares, None if total is None else total[:, ~right], tolerance)
            return found
        basis, start = self.tables.basis, self.tables.start[:, np.newaxis]
        size = np.linalg.eigvalsh(self.curvature)
        price = np.sqrt(size[:, 0] * size[:, -1])[:, np.newaxis, np.newaxis]
        pull = self.curvature @ coordinates
        cut, rest = np.maximum(cells, 0.0), np.zeros_like(cells)
        apart = after = 1.0  # largest differences of both kinds of tables, and of two steps
        for number in range(MAX_STEPS):
            if number % STEPS_OF_A_PRICE == 0:
                # Cells that the total keeps near 0 would hardly move at a price that is too low.
                change = np.clip(np.sqrt(apart / max(after, SMALLEST * apart)), 1 / LARGEST_CHANGE, LARGEST_CHANGE)
                price, rest = price * change, rest / change
                step = np.linalg.inv(self.curvature + price * np.eye(basis.shape[1]))
                if shares is not None:
                    joint = np.linalg.inv(np.tensordot(np.square(shares), step, 1))
                    moved = shares[:, np.newaxis, np.newaxis] * (step @ joint)
            found = step @ (pull + price * (basis.T @ (cut - rest - start)))
            if shares is not None and total is not None:
                found = found + moved @ (total - np.tensordot(shares, found, 1))
            cells = self.tables.cells(found)
            ahead = RELAXED * cells + (1 - RELAXED) * cut + rest
            before, cut = cut, np.maximum(ahead, 0.0)
            rest = ahead - cut
            apart, after = np.abs(cells - cut).max(), np.abs(cut - before).max()
            if max(apart, after) <= tolerance:
                return np.asarray(found if shares is not None else self._positive(found))
        raise RuntimeError(f"the projection has not converged after {MAX_STEPS} steps")
