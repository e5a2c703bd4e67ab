"""Answers to questions of which people tick several options."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._limits import along
from .._typing import AnyArray, Floats
from ..mechanisms import Mechanism
from ..mechanisms._sets_law import SetsLaw, law_of_sets
from ..privacy import Guarantee
from ..reports import Counted
from ..results import Binomial, BoundedSum, Debiasing, Estimate, Fieller, IntervalRule, Normal, SeparateChange
from ._answer_forms import Found
from ._answers import Answer, answer_like, estimate_fields
from ._group_weights import GroupWeights


def planned_options(mechanism: Mechanism, shares: Floats) -> Floats:
    """Return the variance of the estimated share of an option, times the number of people, for some shares."""
    law = law_of_sets(mechanism)
    return np.array([float(np.ravel(law.line.variance(share))[0]) for share in shares]) / law.asked


@dataclass(frozen=True, eq=False)
class OptionShares(Found):
    """Unbiased shares of the people who tick each option, and of those who do not answer.

    The arrays have one entry per option, and one more for no answer if the question is optional. They may have a first axis for
    groups of people; n has one entry per group then.

    Attributes
    ----------
    labels : tuple
        Labels of the options.
    optional : bool
    value, variance : ndarray, shape (k,) or (k + 1,)
    with_missing : ndarray, shape (k,), or None
        Covariances with the share of no answer, if the question is optional.
    n : int
        Number of people who were asked.
    guarantee : privacy.Guarantee
    step : Any
        Change of a share when one more report supports an option.
    law : SetsLaw
    counts : ndarray or None
        State of the reports, from which the numbers of ticks follow; None for several groups of people together.
    binomial : Binomial or None
        Counts of which each share is a function; None for several groups of people together.
    """

    labels: tuple[Any, ...]
    optional: bool
    value: Floats
    variance: Floats
    with_missing: Floats | None
    n: Any
    guarantee: Guarantee
    step: Any
    law: SetsLaw
    counts: AnyArray | None
    binomial: Binomial | None

    @classmethod
    def of(cls, labels: tuple[Any, ...], optional: bool, mechanism: Mechanism, counted: Counted) -> OptionShares:
        """Return the shares from the counts of reports by a mechanism."""
        law, n = law_of_sets(mechanism), counted.n
        (counts,) = counted.states
        hits, trials = law.hits(counts, n)
        with np.errstate(invalid="ignore"):
            value = np.asarray(law.line(hits / trials), np.float64)
        seen = np.clip(np.where(trials > 0, value, 0.5), 0, 1)
        with np.errstate(divide="ignore"):
            variance = np.asarray(law.line.variance(seen) / trials)
        with_missing = None
        if optional:
            joint = law.covariance(seen[..., :-1], seen[..., -1:], np.zeros(1), with_missing=True)
            with_missing = np.asarray(joint / along(n, 1))
        line = law.line
        return cls(
            labels,
            optional,
            value,
            variance,
            with_missing,
            n,
            mechanism.guarantee,
            np.abs(line.one - line.zero) / np.maximum(trials, 1),
            law,
            counts,
            Binomial(hits, trials, line),
        )

    def weighted(self, weights: GroupWeights) -> OptionShares:
        """Return the shares in a population from those of groups of people."""
        with_missing = None
        if self.with_missing is not None:
            with_missing = weights.covariance(self.with_missing, self.value[:, :-1], self.value[:, -1:])
        return replace(
            self,
            value=weights.weights @ self.value,
            variance=weights.covariance(self.variance, self.value, self.value),
            with_missing=with_missing,
            n=int(np.sum(self.n)),
            step=np.max(weights.weights[:, np.newaxis] * self.step, axis=0),
            counts=None,
            binomial=None,
        )

    @property
    def numbers(self) -> int:
        """How many numbers are reported."""
        return len(self.labels) + self.optional

    def answer(self, numbers: int) -> OptionsAnswer:
        """Return the answer; `numbers` are reported by the whole survey."""
        missing = None
        if self.optional:
            fields = estimate_fields(self._estimate(np.s_[..., -1]))
            missing = Answer(**fields, _numbers=numbers)
            weights = np.eye(len(self.labels))
            found = self.ratios(self.value[..., :-1], self.variance[..., :-1], weights)
        else:
            found = self._estimate(np.s_[...])
        return OptionsAnswer(
            **estimate_fields(found), labels=self.labels, missing=missing, _numbers=numbers, _options=self
        )

    def _estimate(self, which: Any) -> Estimate[Any]:
        """Return some of the shares among all people."""
        value, variance = self.value[which], self.variance[which]
        step = np.broadcast_to(self.step, self.value.shape)[which]
        rule: IntervalRule
        if self.binomial is not None:
            ends = self.binomial.debiasing.zero, self.binomial.debiasing.one, self.binomial.n
            zero, one, trials = (np.broadcast_to(end, self.value.shape)[which] for end in ends)
            line: Any = Debiasing(zero, one)
            rule = Binomial(self.binomial.hits[which], trials, line)
        else:
            rule = BoundedSum(step, step)
        return Estimate(value, np.sqrt(variance), self.n, self.guarantee, None, rule)

    def ratios(self, numerator: Any, variance: Any, weights: Floats) -> Estimate[Any]:
        """Return weighted sums of the shares of the options among the people who answered.

        Parameters
        ----------
        numerator, variance : ndarray, shape (..., m), or floats
            The sums among all people and their variances.
        weights : ndarray, shape (m, k), or (k,) for one sum
            Weights of the options in each sum.
        """
        assert self.with_missing is not None
        last = np.s_[..., -1:] if weights.ndim > 1 else np.s_[..., -1]
        shape = np.shape(numerator)
        denominator, vd = np.broadcast_to(1 - self.value[last], shape), np.broadcast_to(self.variance[last], shape)
        c = -(self.with_missing @ weights.T)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = numerator / denominator
            stderr = np.sqrt(np.maximum(variance - 2 * value * c + value**2 * vd, 0)) / np.abs(denominator)
        step: Any = np.broadcast_to(np.max(self.step, axis=-1, keepdims=weights.ndim > 1), shape)
        ends = np.minimum(weights.min(axis=-1), 0.0), weights.max(axis=-1)
        # A report supports each option, and "no answer", once or not at all.
        change = SeparateChange(step * np.abs(weights).sum(axis=-1), step)
        known = None if self.binomial is None else change  # liars would choose a group with a large weight
        rule = Fieller(numerator, denominator, variance, vd, c, *ends, step, change=known)
        return Estimate(value, stderr, self.n, self.guarantee, None, rule)

    def difference(self, first: int, second: int) -> Estimate[Any]:
        """Return the difference of the shares of two options, with the largest variance that it can have.

        How many people tick both is not known, and matters for the covariance of two shares of the same reports.
        """
        a, b = (float(self.value[option]) for option in (first, second))
        ends = np.array([max(0.0, a + b - 1), min(a, b)]).clip(0, 1)  # of the share of people who tick both
        seen_a, seen_b = np.clip([a, b], 0, 1)
        if self.binomial is None:
            covariance = -float(np.sqrt(self.variance[first] * self.variance[second]))
        else:
            covariance = float(np.min(self.law.covariance(seen_a, seen_b, ends))) / self.n
        variance = float(self.variance[first] + self.variance[second]) - 2 * covariance
        if self.optional:
            weights = np.zeros(len(self.labels))
            weights[[first, second]] = 1, -1
            return self.ratios(a - b, variance, weights)
        step = float(np.max(self.step))
        return Estimate(a - b, np.sqrt(variance), self.n, self.guarantee, None, BoundedSum(step, step))


@dataclass(frozen=True, eq=False, repr=False)
class OptionsAnswer(Answer):
    """The shares of the people who tick each option; they do not add up to 1.

    Attributes
    ----------
    labels : tuple
        The options.
    missing : Answer or None
        Share of people without an answer, for optional questions. The other shares are then those among people who answered.

    Examples
    --------
    >>> from ldpfast.survey import Several, Survey
    >>> survey = Survey({"apps": Several(["mail", "maps", "games"], most=2, optional=True)}, 4.0)
    >>> answer = survey.run({"apps": ["mail;maps", "mail", None, ""] * 10_000}, rng=1)["apps"]
    >>> low, high = answer.difference("mail", "maps").interval()
    >>> low < 1 / 3 < high
    True
    """

    _options: OptionShares | None = None

    @property
    def entries(self) -> list[str]:
        """Label of every option, or of every pair of options."""
        return [
            " and ".join(map(str, label)) if isinstance(label, tuple) else str(label) for label in self.labels or ()
        ]

    @property
    def sizes(self) -> Answer:
        """Distribution of the number of options that a person ticks, with one entry for 0, 1, ... `most`.

        Among the people who answered, if the question is optional.

        Raises
        ------
        ValueError
            If the reports do not tell: the mechanism for a large `most` does not, and neither do weighted answers.
        """
        options = self._reports("the numbers of ticks")
        value, covariance = options.law.sizes(options.counts, options.n)  # type: ignore[arg-type]
        found = Estimate(
            value, np.sqrt(covariance.diagonal()), options.n, self.guarantee, covariance, Normal.of_sum(options.n)
        )
        return answer_like(found, self, labels=tuple(range(len(value))))

    def difference(self, first: Any, second: Any) -> Answer:
        """Return the difference of the shares of two options.

        Parameters
        ----------
        first, second : label
            Two different options.

        Returns
        -------
        difference : Answer
            The share of `first` minus that of `second`, among the people who answered if the question is optional. Its
            standard error is that of the population, with these shares, in which it is largest: how many people tick
            both is not known.

        Raises
        ------
        ValueError
            If they are not two options; if nobody was asked.
        """
        labels = list(self.labels or ())
        for name, label in (("first", first), ("second", second)):
            if label not in labels:
                raise ValueError(f"{name} must be one of the options {', '.join(map(repr, labels))}, got {label!r}")
        if first == second:
            raise ValueError(f"first and second must be different options, got {first!r} twice")
        if self._options is None or not self.n:
            raise ValueError("a difference needs at least 1 report, got n = 0")
        found = self._options.difference(labels.index(first), labels.index(second))
        return answer_like(found, self, range=(-1.0, 1.0), _quantity="difference")

    def _reports(self, what: str) -> OptionShares:
        if self._options is None or not self.n:
            raise ValueError(f"{what} need at least 1 report, got n = 0")
        if self._options.counts is None:
            raise ValueError(f"{what} follow from the reports of one group of people, got a weighted answer")
        return self._options
