"""Estimated shares of the symbols of a question, and intervals for linear functions and ratios of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .._limits import along
from .._typing import Floats
from ..mechanisms import RandomizedResponse, UnaryEncoding
from ..privacy import Guarantee
from ..reports import Aggregator, Codes, ReportQuestion
from ..results import Binomial, BoundedSum, Debiasing, Estimate, IntervalRule, Normal

ITERATIONS = 20  # of the limits of a ratio, whose margins depend on the limits


@dataclass(frozen=True)
class Fieller:
    """Limits of a ratio N / D of two estimates: Fieller's confidence set, with the margins of `BoundedSum`.

    The set is {R : |N - R D| <= m(R)}, where m(R) is the margin of N - R D. For many reports it is z times its standard error.
    Where D cannot be distinguished from 0, no ratio is excluded, and the limits are infinite.

    Attributes
    ----------
    numerator, denominator : ndarray
        The estimates N and D.
    vn, vd, c : ndarray
        Their variances and their covariance.
    lowest, highest : ndarray
        Smallest and largest weights in the numerators of what the denominators count.
    hit : float
        Amount by which one report moves a share; 0 if it is not known, for normal margins.
    needed : int
        Number of reports that are needed if there are too few for normal margins, else 0.
    """

    numerator: Floats
    denominator: Floats
    vn: Floats
    vd: Floats
    c: Floats
    lowest: Any = 0.0
    highest: Any = 0.0
    hit: float = 0.0
    needed: int = 0

    def bounds(self, value: Floats, stderr: Floats, tail: float) -> tuple[Floats, Floats]:
        return self._limit(-1, tail), self._limit(1, tail)

    def _limit(self, sign: int, tail: float) -> Floats:
        """Return the lower limits (sign -1) or the upper ones (1), by iteration of the margin at the limit."""
        from scipy.special import ndtri

        z = np.full(np.shape(self.numerator), -ndtri(tail))
        limit = self._root(sign, z)
        for _ in range(ITERATIONS if np.any(self.hit) else 0):
            finite = np.where(np.isfinite(limit), limit, 0.0)
            step = self.hit * np.maximum(np.abs(self.lowest - finite), np.abs(self.highest - finite))
            stderr = np.sqrt(np.maximum(self.vn - 2 * finite * self.c + finite**2 * self.vd, np.finfo(float).tiny))
            margin = BoundedSum(step, step).bounds(np.zeros(np.shape(stderr)), stderr, tail)[1]
            limit = np.where(np.isfinite(limit), self._root(sign, margin / stderr), limit)
        return limit

    def _root(self, sign: int, z: Floats) -> Floats:
        """Return one end of the set {R : (N - R D)^2 <= z^2 Var(N - R D)}."""
        square = self.denominator**2 - z * z * self.vd
        linear = self.numerator * self.denominator - z * z * self.c
        constant = self.numerator**2 - z * z * self.vn
        bounded = square > 0
        safe = np.where(bounded, square, 1.0)
        root = np.sqrt(np.maximum(linear**2 - safe * constant, 0))
        return np.where(bounded, (linear + sign * root) / safe, sign * np.inf)


def _moments(gain: float, seen: Floats, share: Floats, n: Any, is_exact: bool) -> tuple[Floats, Floats]:
    """Return `diagonal` and `outer` of shares, from the probabilities of the codes or bits that were seen."""
    if is_exact:
        return gain**2 * seen / n, gain * seen / np.sqrt(n)
    return (gain**2 * seen * (1 - seen) + share**2) / n, share / np.sqrt(n)


def _sums(part: Any, rows: Any) -> Any:
    """Return the sums of numbers with one entry per symbol times the weights in the rows of an array."""
    return np.tensordot(part, rows, axes=(-1, -1))


@dataclass(frozen=True, eq=False)
class Shares:
    """Unbiased shares of k symbols, and their covariance diag(`diagonal`) - `outer` `outer`^T.

    All arrays may have a first axis for groups of people; n and hit have one entry per group then.

    Attributes
    ----------
    value : ndarray, shape (k,)
    n : int
        Number of answers.
    diagonal, outer : ndarray, shape (k,)
    guarantee : privacy.Guarantee
    binomial : Binomial or None
        The counts, if every share is a function of one.
    full : ndarray, shape (k, k), or None
        The covariance, where it has no such form.
    exact : bool
        Whether the shares are those of k-ary response: functions of counts that add up to n.
    hit : float
        Amount by which a hit in one report moves a share; 0 if it is not known.
    """

    value: Floats
    n: Any
    diagonal: Floats
    outer: Floats
    guarantee: Guarantee
    binomial: Binomial | None = None
    full: Floats | None = None
    exact: bool = False
    hit: Any = 0.0

    @classmethod
    def of(cls, aggregator: Aggregator) -> Self:
        """Return the shares that an aggregator of k-ary response or unary encoding has counted."""
        estimate, question = aggregator.decoded_mean(), aggregator.question
        assert isinstance(question, ReportQuestion)
        rule, people, value = estimate.rule, estimate.n, np.asarray(estimate.value)
        assert isinstance(rule, Binomial)
        n = along(people, 1)
        gain, seen = rule.debiasing.one - rule.debiasing.zero, rule.hits / n
        share, is_exact = np.clip(value, 0, 1), isinstance(question.report, Codes)
        if is_exact:
            # Half a report is added for each code, so that no variance is zero.
            seen = np.asarray((rule.hits + 0.5) / (n + 0.5 * value.shape[-1]), np.float64)
        else:
            seen = np.clip((share - rule.debiasing.zero) / gain, 0.5 / n, 1 - 0.5 / n)
        diagonal, outer = _moments(gain, seen, share, n, is_exact)
        return cls(value, people, diagonal, outer, estimate.guarantee, rule, exact=is_exact, hit=gain / people)

    @classmethod
    def expected(cls, mechanism: RandomizedResponse | UnaryEncoding, share: Floats) -> Self:
        """Return given shares, with the covariance of one decoded report of a person who is drawn from them."""
        line, is_exact = mechanism.debiasing, isinstance(mechanism, RandomizedResponse)
        gain = line.one - line.zero
        diagonal, outer = _moments(gain, (share - line.zero) / gain, share, 1, is_exact)
        return cls(share, 1, diagonal, outer, mechanism.guarantee, exact=is_exact)

    @property
    def covariance(self) -> Floats:
        """Covariance matrix, shape (k, k)."""
        return np.diag(self.diagonal) - np.outer(self.outer, self.outer) if self.full is None else self.full

    def _product(self, a: Floats, b: Floats) -> Floats:
        """Return a_i^T C b_i for the rows of two arrays, C the covariance."""
        if self.full is not None:
            return np.asarray(np.einsum("...j,jk,...k->...", a, self.full, b, optimize=True))
        return np.asarray(_sums(self.diagonal, a * b) - _sums(self.outer, a) * _sums(self.outer, b))

    def linear(self, rows: Floats) -> Estimate[Any]:
        """Return the sums of the shares times weights.

        Parameters
        ----------
        rows : ndarray, shape (..., k)
            Weights.

        Returns
        -------
        estimate : Estimate
            Of shape (...). The limits are Clopper-Pearson limits if every row depends on one share only, else those of
            `BoundedSum`; normal for shares from several sources.
        """
        value, stderr = _sums(self.value, rows), np.sqrt(np.maximum(self._product(rows, rows), 0))
        return Estimate(value, stderr, self.n, self.guarantee, None, self._binomial(rows) or self._bounded(rows, value))

    def _bounded(self, rows: Floats, value: Floats) -> IntervalRule:
        """Return the rule for sums of the shares times weights."""
        if not np.any(self.hit):
            return Normal.of_sum(self.n)
        n, hit = along(self.n, rows.ndim - 1), along(self.hit, rows.ndim - 1)
        if not self.exact or self.binomial is None:  # each of the bits of a report is a step
            step = hit * np.abs(rows).max(axis=-1)
            return BoundedSum(step, step)
        constant, gain = self.binomial.debiasing.zero * rows.sum(axis=-1), hit * n
        lowest, highest = (constant + gain * part for part in (rows.min(axis=-1), rows.max(axis=-1)))
        return BoundedSum.of_mean(value, lowest, highest, n)

    def _binomial(self, rows: Floats) -> Binomial | None:
        """Return the rule for rows that are functions of one binomial count each; None if there are others.

        A row with two different weights, one for some shares and one for the others, depends on one count if the counts add
        up to n. Otherwise it may have one weight only.
        """
        if self.binomial is None:
            return None
        base = rows.min(axis=-1, keepdims=True) if self.exact else np.zeros((*rows.shape[:-1], 1))
        scale = (rows - base).max(axis=-1)
        chosen = rows != base
        size = np.count_nonzero(chosen, axis=-1)
        same = (rows == np.where(chosen, base + scale[..., np.newaxis], base)).all()
        if not same or (scale < 0).any() or (not self.exact and (size > 1).any()):
            return None
        line, constant = self.binomial.debiasing, base[..., 0]
        zero = constant + scale * size * line.zero
        scaled: Any = Debiasing(zero, zero + scale * (line.one - line.zero))
        hits = _sums(self.binomial.hits, chosen.astype(np.int64))
        return Binomial(hits, along(self.n, rows.ndim - 1), scaled)

    def ratio(self, rows: Floats, given: Floats) -> Estimate[Any]:
        """Return quotients of sums of the shares times weights.

        Parameters
        ----------
        rows, given : ndarray, shape (..., k)
            Weights of the numerators and of the denominators.

        Returns
        -------
        estimate : Estimate
            Of shape (...), with Fieller's limits.
        """
        numerator, denominator = _sums(self.value, rows), _sums(self.value, given)
        vn, vd, c = self._product(rows, rows), self._product(given, given), self._product(rows, given)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.asarray(numerator / denominator)
            stderr = np.sqrt(np.maximum(vn - 2 * value * c + value**2 * vd, 0)) / np.abs(denominator)
        ratio = (numerator, denominator, vn, vd, c)
        if np.any(self.hit):
            lowest = np.where(given > 0, rows, np.inf).min(axis=-1)
            highest = np.where(given > 0, rows, -np.inf).max(axis=-1)
            rule = Fieller(*ratio, lowest, highest, along(self.hit, rows.ndim - 1))
        else:
            rule = Fieller(*ratio, needed=Normal.of_sum(self.n).needed)
        return Estimate(value, stderr, self.n, self.guarantee, None, rule)

    def margin(self, shape: tuple[int, int], axis: int) -> Shares:
        """Return the shares of one of two variables, where the symbols are pairs in rows of a table.

        Parameters
        ----------
        shape : tuple of int
            Numbers of symbols of the two variables.
        axis : int
            0 or 1, the variable.
        """

        def summed(part: Any) -> Any:
            return part.reshape(*part.shape[:-1], *shape).sum(axis=-1 - axis)

        value, diagonal, outer = map(summed, (self.value, self.diagonal, self.outer))
        rule = None
        if self.exact and self.binomial is not None:
            line, cells = self.binomial.debiasing, shape[1 - axis]
            rule = Binomial(
                summed(self.binomial.hits),
                along(self.n, 1),
                Debiasing(cells * line.zero, cells * line.zero + line.one - line.zero),
            )
        return Shares(value, self.n, diagonal, outer, self.guarantee, rule, exact=self.exact, hit=self.hit)

    def covariance_at(self, share: Floats) -> Floats:
        """Return the covariance if the shares were the given ones, for k-ary response; otherwise the estimated one."""
        if not self.exact or self.binomial is None:
            return self.covariance
        more, gain = share - self.value, self.binomial.debiasing.one - self.binomial.debiasing.zero
        outer = self.outer + more / np.sqrt(self.n)
        return np.diag(np.maximum(self.diagonal + gain * more / self.n, 0)) - np.outer(outer, outer)


def pooled(sources: list[Shares], together: Callable[[int, int], int]) -> Shares:
    """Return the shares of one variable from several estimates of them, by generalized least squares.

    Parameters
    ----------
    sources : list of Shares
        Estimates of the same shares, each from a sample of the same population.
    together : callable
        Function of the numbers of two sources that returns how many people are in both samples.

    Returns
    -------
    shares : Shares
        The weights are computed from the covariances, all at the same shares: otherwise a source that is low by accident would
        get more weight. The shares add up to 1. The number of people is exact for two sources, and a lower bound for more.
    """
    k, counts = len(sources[0].value), [source.n for source in sources]
    # Shares of k-ary response add up to 1, so that the last one tells nothing.
    sizes = [k - 1 if source.exact else k for source in sources]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    free = np.vstack([np.eye(k - 1), -np.ones(k - 1)])  # all shares from the first k - 1
    share = np.clip(sum(np.multiply(s.value, s.n) for s in sources) / sum(counts), 0, 1)
    plain = np.diag(share) - np.outer(share, share)
    covariance = np.zeros((starts[-1], starts[-1]))
    for i, a in enumerate(sources):
        for j in range(len(sources)):
            block = a.covariance_at(share) if i == j else plain * (together(i, j) / (counts[i] * counts[j]))
            covariance[starts[i] : starts[i + 1], starts[j] : starts[j + 1]] = block[: sizes[i], : sizes[j]]
    seen = np.concatenate([source.value[:size] for source, size in zip(sources, sizes, strict=True)])
    constant = np.zeros(k)
    constant[-1] = 1
    offset = np.concatenate([constant[:size] for size in sizes])
    design = np.vstack([free[:size] for size in sizes])
    weighted = np.linalg.solve(covariance, design)
    inverse = np.linalg.inv(design.T @ weighted)
    found = inverse @ (weighted.T @ (seen - offset))
    guarantee = max((source.guarantee for source in sources), key=lambda g: g.epsilon)
    full = free @ inverse @ free.T
    both = sum(together(i, j) for i, j in itertools.combinations(range(len(sources)), 2))
    people = max(*counts, sum(counts) - both)
    return Shares(constant + free @ found, people, np.zeros(k), np.zeros(k), guarantee, None, full)
