"""Estimated shares that add up to 1, with their covariance under a hypothesis: what tests of distributions compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ..estimation import project_simplex
from ._covariance import Covariance, block
from ._shares import Shares

LEAST_EXPECTED = 5.0  # reports of a symbol from which on a sum of squares is nearly chi-square
REPORTS_PER_SYMBOL = 5
WEIGHTED_PER_SYMBOL = 50  # with weights, whose covariances are estimated without the hypothesis


@dataclass(frozen=True, eq=False)
class ComparedShares:
    """The shares of some symbols among the people who have one of them.

    Attributes
    ----------
    shares : Shares
        Shares of all symbols of a question.
    symbols : ndarray of intp
        The symbols that are compared: all of them, or those without "no answer".
    """

    shares: Shares
    symbols: NDArray[np.intp]

    @property
    def n(self) -> int:
        """Number of reports."""
        return int(self.shares.n)

    @property
    def is_part(self) -> bool:
        """Whether some symbols are left out."""
        return bool(len(self.symbols) < self.shares.value.shape[-1])

    @property
    def total(self) -> float:
        """Estimated share of the people who have one of the symbols."""
        return float(self.shares.value[self.symbols].sum()) if self.is_part else 1.0

    @property
    def total_stderr(self) -> float:
        """Standard error of `total`."""
        if not self.is_part:
            return 0.0
        covariance = self.shares.covariance
        sums = np.array([vector[self.symbols].sum() for vector in covariance.vectors])
        return float(np.sqrt(max(covariance.diagonal[self.symbols].sum() + sums @ covariance.middle @ sums, 0.0)))

    def whole(self, share: Floats) -> Floats:
        """Return the shares of all symbols of the question, where those among the compared ones are given."""
        found = project_simplex(self.shares.value)
        if not self.is_part:
            return share
        found[self.symbols] = share * found[self.symbols].sum()
        return np.asarray(found / found.sum())

    def covariance(self, share: Floats) -> Covariance:
        """Return the covariance of `values`, for given true shares of the compared symbols."""
        response = self.shares.response
        covariance = self.shares.covariance if response is None else response.covariance(self.whole(share), self.n)
        if self.is_part:
            return self._among(covariance, share)
        if response is None or response.ones is not None:
            return covariance
        # The shares of unary encoding do not add up to 1: generalized least squares.
        return covariance.of_sum_one()

    def values(self, seen: Floats, share: Floats) -> Floats:
        """Return the shares of the compared symbols, which add up to 1, from estimates of all shares, shape (..., k)."""
        if self.is_part:
            part = seen[..., self.symbols]
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.asarray(part / part.sum(axis=-1, keepdims=True))
        response = self.shares.response
        if response is None or response.ones is not None:
            return seen
        spread = response.covariance(share, self.n).with_sum
        return np.asarray(seen + np.multiply.outer(1 - seen.sum(axis=-1), spread / spread.sum()))

    def has_few(self, share: Floats) -> bool:
        """Return whether there are too few reports for a chi-square distribution of a sum of squares."""
        response = self.shares.response
        if self.shares.people_per_symbol is not None:
            return self.shares.people_per_symbol < WEIGHTED_PER_SYMBOL
        if response is None:
            return self.n < REPORTS_PER_SYMBOL * len(share)
        expected = self.n * (response.moments.support + response.moments.gap * float(self.whole(share).min()))
        return bool(expected < LEAST_EXPECTED or self.n < REPORTS_PER_SYMBOL * len(share))

    def _among(self, covariance: Covariance, share: Floats) -> Covariance:
        """Return the covariance of the shares among the compared symbols (delta method), times no factor of the symbols."""
        own, size = covariance.diagonal[self.symbols], self.total
        vectors = [vector[self.symbols] for vector in covariance.vectors]
        vectors = [vector - share * vector.sum() for vector in vectors]
        middle = block(covariance.middle, np.array([[0.0, -1.0], [-1.0, own.sum()]]))
        return Covariance(own / size**2, (*vectors, own, share), middle / size**2)


@dataclass(frozen=True, eq=False)
class Precision:
    """The inverse of a covariance of shares that add up to 1, for differences of such shares.

    A multiple of 1 1^T is added, which makes the matrix regular and changes no product with a difference. The formula of
    Woodbury takes O(k) time.
    """

    diagonal: Floats
    vectors: Floats
    inner: Floats

    @classmethod
    def of(cls, covariance: Covariance) -> Precision:
        """Return the inverse of a covariance."""
        vectors = np.stack([*covariance.vectors, np.ones(len(covariance.diagonal))], axis=-1)
        middle = block(covariance.middle, np.array([[covariance.diagonal.mean()]]))
        scaled = vectors / covariance.diagonal[:, np.newaxis]
        inner = np.linalg.solve(np.eye(len(middle)) + middle @ (vectors.T @ scaled), middle)
        return cls(1 / covariance.diagonal, scaled, np.asarray(inner, np.float64))

    def times(self, x: Floats) -> Floats:
        """Return the product with vectors, shape (..., k)."""
        return np.asarray(x * self.diagonal - (x @ self.vectors) @ self.inner.T @ self.vectors.T)

    def squared(self, x: Floats) -> Floats:
        """Return the squared lengths of vectors, shape (..., k)."""
        return np.asarray((x * self.times(x)).sum(axis=-1))


def common(precisions: list[Precision], values: list[Floats]) -> Floats:
    """Return the shares that fit several estimates best, weighted by their precisions; shape of one of `values`."""
    right = sum(precision.times(value) for precision, value in zip(precisions, values, strict=True))
    diagonal = sum(precision.diagonal for precision in precisions)
    vectors = np.concatenate([precision.vectors for precision in precisions], axis=-1)
    middle = precisions[0].inner
    for precision in precisions[1:]:
        middle = block(middle, precision.inner)
    # The sum of the precisions is diag(diagonal) - vectors middle vectors^T.
    scaled = vectors / np.asarray(diagonal)[:, np.newaxis]
    inner = np.linalg.solve(np.eye(len(middle)) - middle @ (vectors.T @ scaled), middle)
    solved = right / diagonal
    return np.asarray(solved + (solved @ vectors) @ inner.T @ scaled.T)


def distribution(answer: Any) -> ComparedShares:
    """Return the distribution of an answer over its labels."""
    return ComparedShares(answer._shares, answer._symbols())
