"""Estimated shares of the symbols of a question, with their covariance, and what follows from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from .._limits import along
from .._typing import AnyArray, Floats
from ..estimation import project_simplex
from ..mechanisms import Mechanism
from ..mechanisms._moments import Moments
from ..privacy import Guarantee
from ..reports import Bits, Codes, Counted, Format, recipe_of
from ..results import (
    MAX_COVARIANCES,
    Binomial,
    BoundedSum,
    CodeCounts,
    Debiasing,
    Estimate,
    Fieller,
    IntervalRule,
    Normal,
)
from ._covariance import Covariance
from ._mechanisms import SymbolMechanism
from ._weighted_sums import Cells, SymbolChange, WeightedSums


def _rows(sums: WeightedSums, k: int, shape: tuple[int, ...]) -> Floats:
    """Return the weights of the symbols in sums of a shape, shape (sums, k)."""
    weights = sums.of(np.eye(k))  # the first axis is the symbol
    weights = np.broadcast_to(weights.reshape(k, *weights.shape[1:]), (k, *shape))
    return np.asarray(weights.reshape(k, -1).T)


def _ones_of(report: Format) -> int | None:
    """Return how many symbols every report supports; None if their number differs."""
    if isinstance(report, Codes):
        return 1
    assert isinstance(report, Bits)
    return report.ones


@dataclass(frozen=True, eq=False)
class Response:
    """The distribution of the reports to a question, as far as estimates depend on it.

    Attributes
    ----------
    moments : Moments
        Second moments of the decoded report of one symbol.
    ones : int or None
        How many symbols every report supports: 1 for k-ary response, more for subset selection; None if it differs. Shares add
        up to 1 unless it differs.
    cells : int
        Number of symbols that are counted together: 1, or the number of cells behind a share in the margin of a table.
    """

    moments: Moments[float]
    ones: int | None
    cells: int = 1

    @classmethod
    def of(cls, k: int, line: Debiasing, report: Format) -> Response:
        """Return the distribution of reports with k symbols in a format."""
        p, q = line.probabilities
        ones = _ones_of(report)
        return cls(Moments.of_bits(p, q) if ones is None else Moments.of_sets(k, ones, p), ones)

    def covariance(self, share: Floats, n: Any) -> Covariance:
        """Return the covariance of estimates from n people who are drawn from a population with some shares."""
        moments, people = self.moments, along(n, 1)
        diagonal = (self.cells * moments.base + moments.slope * share) / people
        middle = np.array([[moments.pair, moments.pair_slope], [moments.pair_slope, -1.0]]) / along(n, 2)
        return Covariance(diagonal, (np.full(share.shape[-1], float(self.cells)), share), middle)


@dataclass(frozen=True, eq=False)
class Shares:
    """Unbiased shares of k symbols, and their covariance.

    All arrays may have a first axis for groups of people; n and step have one entry per group then.

    Attributes
    ----------
    value : ndarray, shape (k,)
    n : int
        Number of answers.
    covariance : Covariance
    guarantee : privacy.Guarantee
    response : Response or None
        The distribution of the reports; None for shares from several sources.
    binomial : Binomial or None
        The counts, if every share is a function of one.
    step : float
        Change of a share when one more report supports its symbol; 0 if it is not known.
    mechanism : Mechanism or None
        The mechanism of the reports, if the symbols are its records.
    people_per_symbol : float or None
        For weighted shares: number of people per symbol who would tell as much without weights.
    """

    value: Floats
    n: Any
    covariance: Covariance
    guarantee: Guarantee
    response: Response | None = None
    binomial: Binomial | None = None
    step: Any = 0.0
    mechanism: Mechanism | None = None
    people_per_symbol: float | None = None

    @classmethod
    def of(cls, mechanism: Mechanism, counted: Counted) -> Self:
        """Return the shares from the counts of k-ary response, subset selection or unary encoding."""
        estimate = recipe_of(mechanism).mean(counted)
        rule = estimate.rule
        people = estimate.n
        value = np.asarray(estimate.value)
        assert isinstance(rule, Binomial)
        line = rule.debiasing
        k = value.shape[-1]
        n = along(people, 1)
        response = Response.of(k, line, mechanism.report)
        if response.ones is None:
            p, q = line.probabilities
            seen = np.clip(q + (p - q) * np.clip(value, 0, 1), 0.5 / n, 1 - 0.5 / n)
        else:  # half a report is added for each symbol, so that no variance is zero
            seen = (rule.hits + 0.5) / (n + 0.5 * k / response.ones)
        share = line(np.asarray(seen, np.float64))
        if response.ones != 1:  # few reports have shares that no population can have
            share = project_simplex(share)
        covariance = response.covariance(share, people)
        step = (line.one - line.zero) / people
        return cls(value, people, covariance, estimate.guarantee, response, rule, step, mechanism)

    @classmethod
    def expected(cls, mechanism: SymbolMechanism, share: Floats) -> Self:
        """Return given shares, with the covariance of one decoded report of a person who is drawn from them."""
        response = Response.of(len(share), mechanism.debiasing, mechanism.report)
        return cls(share, 1, response.covariance(share, 1), mechanism.guarantee, response)

    @property
    def counts(self) -> AnyArray:
        """Number of reports that support each symbol, where every share is a function of one count."""
        assert self.binomial is not None
        return self.binomial.hits

    def decoded(self, counts: AnyArray) -> Floats:
        """Return the shares from other counts of as many reports, shape (..., k)."""
        assert self.binomial is not None
        return np.asarray(self.binomial.debiasing(counts / self.n))

    @property
    def _adds_up(self) -> bool:
        """Whether all shares are functions of counts that add up to n."""
        return self.response is not None and self.response.ones == 1

    def linear(self, sums: WeightedSums) -> Estimate[Any]:
        """Return sums of the shares.

        Parameters
        ----------
        sums : WeightedSums

        Returns
        -------
        estimate : Estimate
            The limits are Clopper-Pearson limits if every sum depends on one count only, else those of `BoundedSum`; normal
            for shares from several sources.
        """
        stderr = np.sqrt(np.maximum(self.covariance.of(sums, sums), 0))
        rule = self._binomial(sums) or self._bounded(sums)
        value = sums.start + sums.of(self.value)
        return Estimate(value, stderr, self.n, self.guarantee, self._matrix(value, sums), rule)

    def _bounded(self, sums: WeightedSums) -> IntervalRule:
        """Return the rule for sums of the shares: each supported symbol of a report is a step."""
        if not np.any(self.step):
            return Normal.of_sum(self.n)
        step = along(self.step, sums.ndim) * max(abs(sums.lowest), abs(sums.highest))
        change = self._change(sums)
        return BoundedSum(step, step, change=None if change is None else change(np.array(1.0), np.array(0.0)))

    def _change(self, sums: WeightedSums, given: WeightedSums | None = None) -> SymbolChange | None:
        """Return the change of sums, or of quotients, by another report; None for shares from several sources or with weights.

        Liars would choose the source or the group in which a report counts most.
        """
        if self.response is None or not np.any(self.step):
            return None
        k, response = self.value.shape[-1], self.response
        return SymbolChange.of(sums, given, k, response.cells, response.ones, along(self.step, sums.ndim))

    def _binomial(self, sums: WeightedSums) -> Binomial | None:
        """Return the rule for sums that are functions of one binomial count each; None if there are others.

        If the counts add up to n, a sum with weights has two different ones, one for some of all symbols and one for the
        others. Otherwise it has one symbol.
        """
        if self.binomial is None:
            return None
        k, line = self.value.shape[-1], self.binomial.debiasing
        size = sums.of_highest(np.ones(k))
        if sums.weights is None:
            if not self._adds_up and (size != 1).any():
                return None
        elif not self._adds_up or len(sums.weights) != k or len(np.unique(sums.weights)) != 2:
            return None
        scale = sums.highest - sums.lowest
        zero = sums.start + sums.lowest + scale * size * line.zero
        scaled: Any = Debiasing(zero, zero + scale * (line.one - line.zero))
        return Binomial(sums.of_highest(self.binomial.hits), along(self.n, sums.ndim), scaled)

    def ratio(self, sums: WeightedSums, given: WeightedSums) -> Estimate[Any]:
        """Return quotients of sums of the shares.

        Parameters
        ----------
        sums, given : WeightedSums
            The numerators, and the denominators without weights, which sum at least the same symbols.

        Returns
        -------
        estimate : Estimate
            With the shape of the numerators and Fieller's limits.
        """
        numerator, denominator = sums.of(self.value), given.of(self.value)
        vn, vd, c = (self.covariance.of(*pair) for pair in ((sums, sums), (given, given), (sums, given)))
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.asarray(numerator / denominator)
            stderr = np.sqrt(np.maximum(vn - 2 * value * c + value**2 * vd, 0)) / np.abs(denominator)
        ratio = (numerator, denominator, vn, vd, c)
        if np.any(self.step):
            weights = sums.lowest, sums.highest, along(self.step, sums.ndim)
            codes, change = self._codes(value, sums, given), self._change(sums, given)
            rule = Fieller(*ratio, *weights, start=sums.start, codes=codes, change=change)
        else:
            rule = Fieller(*ratio, needed=Normal.of_sum(self.n).needed, start=sums.start)
        matrix = self._matrix(value, sums, given)
        return Estimate(sums.start + value, stderr, self.n, self.guarantee, matrix, rule)

    def _matrix(self, value: Any, sums: WeightedSums, given: WeightedSums | None = None) -> Floats | None:
        """Return the covariance matrix of sums, or of their quotients by the delta method; None for a number or many ones."""
        k = self.value.shape[-1]
        if np.ndim(self.n) or np.ndim(value) == 0 or max(np.size(value), k) > MAX_COVARIANCES:
            return None
        slopes = _rows(sums, k, np.shape(value))
        if given is not None:
            ratio = np.where(np.isfinite(value), value, 0.0)
            denominators = np.broadcast_to(given.of(self.value), np.shape(value)).ravel()
            slopes = slopes - ratio.ravel()[:, np.newaxis] * _rows(given, k, np.shape(value))
            with np.errstate(divide="ignore", invalid="ignore"):
                slopes = slopes / denominators[:, np.newaxis]
        return np.asarray(slopes @ self.covariance.matrix @ slopes.T)

    def _codes(self, value: Any, sums: WeightedSums, given: WeightedSums) -> CodeCounts | None:
        """Return what the codes of the reports add to quotients; None if reports are not the codes of one group."""
        if not self._adds_up or self.binomial is None or np.ndim(self.n):
            return None
        line = self.binomial.debiasing
        k = self.value.shape[-1]
        shape = np.shape(value)
        if len(self.binomial.hits) != k:
            return None
        top, bottom = (_rows(part, k, shape) for part in (sums, given))
        decoded = (
            line.zero * part.sum(axis=-1, keepdims=True) + (line.one - line.zero) * part for part in (top, bottom)
        )
        return CodeCounts(self.binomial.hits, *(part.reshape(*shape, k) for part in decoded))

    def margin(self, shape: Sequence[int], axes: Sequence[int]) -> Shares:
        """Return the joint shares of some of several variables, where the symbols are the cells of a table.

        Parameters
        ----------
        shape : sequence of int
            Numbers of symbols of the variables.
        axes : sequence of int
            The variables that stay, in the order of the result.
        """
        cells = math.prod(size for axis, size in enumerate(shape) if axis not in axes)
        total = Cells.of_table(shape, axes, shape).total().of

        def add(numbers: AnyArray) -> AnyArray:
            return np.asarray(total(numbers).reshape(*numbers.shape[:-1], -1))

        response = self.response and replace(self.response, cells=cells * self.response.cells)
        rule = None
        if self._adds_up and self.binomial is not None:
            line = self.binomial.debiasing
            scaled = Debiasing(cells * line.zero, cells * line.zero + line.one - line.zero)
            rule = Binomial(add(self.binomial.hits), along(self.n, 1), scaled)
        covariance = self.covariance.summed(add)
        return Shares(add(self.value), self.n, covariance, self.guarantee, response, rule, self.step)
