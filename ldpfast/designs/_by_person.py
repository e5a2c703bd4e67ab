"""A design for each person: a die in one village, a coin in another, a direct question to a third group."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._frames import Groups, require_one_index, whole_column
from .._typing import AnyArray, Floats
from .._warnings import warn
from ..privacy import Guarantee
from ..results import DoubtfulWarning, People, StudentT, new_count
from ._design import DOUBTFUL, TRUTHS, Design, new_design
from ._replicate_weights import ReplicateWeights, table_of
from ._sample import Sample
from ._sampled_prevalence import SampledPrevalence, checked_weights, randomization_variances

STEPS = 200  # of a bisection, which ends earlier
DIRECT = new_design("direct", "Answer the question.", TRUTHS, Fraction(1), Fraction(0), "")


def groups_of_designs(designs: Any, chosen: Any, n: int) -> dict[Hashable, NDArray[np.bool_]]:
    """Return the people of each design that somebody has, in the order of the designs.

    Parameters
    ----------
    designs : mapping
        Its keys are the values of the column.
    chosen : array_like, shape (n,)
        The key of the design of each person.
    n : int
        Number of people.

    Raises
    ------
    TypeError, ValueError
        If there is no key for each person.
    """
    if not isinstance(designs, Mapping) or not designs:
        raise TypeError(f"designs must be a mapping of values of a column to designs, got {type(designs).__name__}")
    if chosen is None:
        raise TypeError("design must be given: the key of the design of each person, or the column of these")
    numbers, values = Groups("design").codes(whole_column("design", chosen))
    if len(numbers) != n:
        raise ValueError(f"design must have one value for each of {n} people, got {len(numbers)}")
    found: dict[Hashable, NDArray[np.bool_]] = {}
    places = {values[number]: number for number in np.unique(numbers).tolist()}
    unknown = [value for value in places if value is None or value not in designs]
    if unknown:
        raise ValueError(f"design must be one of {', '.join(map(repr, designs))}, got {unknown[0]!r}")
    for key in designs:
        if key in places:
            found[key] = np.asarray(numbers == places[key])
    return found


def least_private(guarantees: list[Guarantee]) -> Guarantee:
    """Return the guarantee of the person with the largest loss."""
    return max(guarantees, key=lambda guarantee: guarantee.epsilon)


@dataclass(frozen=True, eq=False)
class JointBinomial:
    """Limits of a share by the likelihood of the answers of several designs.

    They are where twice the log-likelihood has fallen by the square of the normal quantile.

    Attributes
    ----------
    hits, totals : ndarray, shape (designs,)
        Numbers of second answers, and of people.
    p, q : ndarray, shape (designs,)
        Probabilities of the second answer for people whose true answer is yes, and no.
    """

    hits: Floats
    totals: Floats
    p: Floats
    q: Floats
    by_coordinate: ClassVar[bool] = True
    has_tails: ClassVar[bool] = True

    @property
    def ends(self) -> tuple[float, float]:
        """The shares between which all answers have probabilities."""
        at = np.sort(np.stack([-self.q, 1 - self.q]) / (self.p - self.q), axis=0)
        return float(at[0].max()), float(at[1].min())

    def slope(self, share: float) -> float:
        """Return the derivative of the log-likelihood, which decreases; infinite at an end that is impossible."""
        seen = self.q + (self.p - self.q) * share
        total = 0.0
        for hits, n, p, line in zip(self.hits, self.totals, seen, self.p - self.q, strict=True):
            for count, chance, sign in ((hits, p, 1), (n - hits, 1 - p, -1)):
                if count:
                    total += sign * line * count / chance if chance > 0 else math.copysign(math.inf, sign * line)
        return float(total)

    def maximum(self) -> float:
        """Return the share with the largest likelihood, by bisection."""
        low, high = self.ends
        for _ in range(STEPS):
            middle = (low + high) / 2
            if middle in (low, high):
                break
            low, high = (middle, high) if self.slope(middle) > 0 else (low, middle)
        return (low + high) / 2

    def information(self, share: float) -> float:
        """Return the expected information, with half a person of each answer more so that it is not infinite."""
        seen = (self.totals * (self.q + (self.p - self.q) * share) + 0.5) / (self.totals + 1)
        return float(np.sum(self.totals * np.square(self.p - self.q) / (seen * (1 - seen))))

    def root(self, share: float, best: float) -> float:
        """Return the signed root of twice the difference of the log-likelihood from its maximum, which increases."""
        low, high = self.ends
        if not low <= share <= high:
            return math.copysign(math.inf, share - best)
        fallen = 2 * (self._value(best) - self._value(share))
        return math.copysign(math.sqrt(max(fallen, 0.0)), share - best)

    def _value(self, share: float) -> float:
        from scipy.special import xlogy

        seen = np.clip(self.q + (self.p - self.q) * share, 0.0, 1.0)
        return float(np.sum(xlogy(self.hits, seen) + xlogy(self.totals - self.hits, 1 - seen)))

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        from scipy.special import ndtri

        z = -float(ndtri(float(np.asarray(tail))))
        best = float(value)
        return np.asarray(self._limit(best, -z)), np.asarray(self._limit(best, z))

    def _limit(self, best: float, z: float) -> float:
        """Return the share whose signed root is a number; the end if none has it."""
        low, high = self.ends
        for _ in range(STEPS):
            middle = (low + high) / 2
            if middle in (low, high):
                break
            low, high = (middle, high) if self.root(middle, best) < z else (low, middle)
        return (low + high) / 2

    def tails(self, value: Floats, stderr: Floats, limit: Floats, side: int) -> Floats:
        from scipy.special import ndtr

        best = float(value)
        roots = [self.root(float(share), best) for share in np.ravel(limit)]
        return np.asarray(ndtr(-side * np.reshape(roots, np.shape(limit))))


def prevalence(
    data: Any,
    *,
    outcome: str,
    designs: Mapping[Any, Design | None],
    design: str,
    weights: ArrayLike | str | None = None,
    clusters: Any = None,
    strata: Any = None,
    fpc: Any = None,
    replicate_weights: ReplicateWeights | None = None,
    by_design: bool = False,
) -> Any:
    """Estimate the share of people whose true answer is yes, where people were asked by several designs.

    Parameters
    ----------
    data : data frame or mapping of columns
        One row per person.
    outcome : str
        Column of the answers: texts of the `Design.answers` of the person's design, or 0 and 1.
    designs : mapping
        Designs by the values of the column `design`; None is a direct question with the answers no and yes.
    design : str
        Column that names the design of each person.
    weights : array_like of float or str, optional
        Weights >= 0 of the people, or the column of these. People of weight 0 are not in the sample.
    clusters : array_like or str, optional
        Clusters that were drawn, or the column of these; at least two with positive weights.
    strata, fpc : array_like or str, optional
        As for `Design.prevalence`, or the columns of these.
    replicate_weights : ReplicateWeights, optional
        As for `Design.prevalence`, also with names of columns.
    by_design : bool, default False
        Whether a dict with one estimate for each design is returned.

    Returns
    -------
    prevalence : Estimate, or dict of Estimate
        The joint maximum of the likelihood, for people whose share of yes does not depend on the design. Limits are those of
        the likelihood ratio; with weights or clusters they have t quantiles and sandwich standard errors. With `by_design`,
        those of `Design.prevalence`, whose differences show whether answers depend on the design. The guarantee is that of the
        design with the largest loss.

    Raises
    ------
    TypeError, ValueError
        If a column does not exist, a value is missing, or is no answer or no design.

    Warns
    -----
    DoubtfulWarning
        If the estimate is below 0 or above 1 by more than chance explains.
    SmallSampleWarning
        As for `Design.prevalence`.

    Examples
    --------
    >>> from ldpfast import designs
    >>> data = {"mode": ["die"] * 600 + ["direct"] * 200, "said": ["yes"] * 200 + ["no"] * 400 + ["yes"] * 50 + ["no"] * 150}
    >>> asked = {"die": designs.forced_response("1/6", "1/6"), "direct": None}
    >>> print(designs.prevalence(data, outcome="said", designs=asked, design="mode"))
    0.250 +- 0.041 (95 %: 0.210 to 0.292, n = 800, epsilon = inf)
    >>> found = designs.prevalence(data, outcome="said", designs=asked, design="mode", by_design=True)
    >>> [round(estimate.value, 3) for estimate in found.values()]
    [0.25, 0.25]
    """
    # The answers of the people of each design become codes by that design. Estimates of single designs are those of different
    # people, unless these share clusters; the joint one has the likelihood of all codes.
    named = {
        "outcome": outcome,
        "design": design,
        "weights": weights,
        "clusters": clusters,
        "strata": strata,
        "fpc": fpc,
    }
    columns = {name: _column(data, name, value) for name, value in named.items()}
    replicates = replicate_weights
    if isinstance(replicates, ReplicateWeights):
        replicates = replicates.of_table(data)
    require_one_index({**columns, **table_of(replicates)})
    answers = _check.array("outcome", columns["outcome"])
    n = len(answers)
    groups = groups_of_designs(designs, columns["design"], n)
    chosen: dict[Hashable, Design] = {}
    for key in groups:
        one: Any = DIRECT if designs[key] is None else designs[key]
        if not isinstance(one, Design):
            raise TypeError(f"designs must hold designs or None, got a {type(one).__name__} for {key!r}")
        chosen[key] = one
    drawn = {name: columns[name] for name in ("clusters", "strata", "fpc")}
    sample = Sample.read(n, checked_weights(columns["weights"], n), **drawn, replicate_weights=replicates)
    codes = np.zeros(n, np.intp)
    for key, inside in groups.items():
        codes[inside] = chosen[key]._codes(answers[inside])
    if _check.flag("by_design", by_design):
        people = People.of(new_count())
        are_related = sample.has_linear_units or sample.replicates is not None
        return {
            key: chosen[key]
            ._of_sample(codes[inside], sample.part(inside))
            ._of_people(people if are_related else people.group(key))
            for key, inside in groups.items()
        }
    return _joint(list(chosen.values()), list(groups.values()), codes, sample)


def _joint(
    designs: list[Design], groups: list[NDArray[np.bool_]], codes: AnyArray, sample: Sample
) -> SampledPrevalence:
    """Return the share with the largest joint likelihood of codes."""
    p, q = (np.array([float(design.probabilities[place]) for design in designs]) for place in (0, 1))

    def rule_of(w: Floats) -> JointBinomial:
        hits = np.array([w[inside] @ codes[inside] for inside in groups])
        return JointBinomial(hits, np.array([w[inside].sum() for inside in groups]), p, q)

    w = sample.weights_of(slice(None))
    rule: Any = rule_of(w)
    value = rule.maximum()
    stderr = 1 / math.sqrt(rule.information(value))
    fields: dict[str, Any] = {}
    # In a sample that is not plain, the variance of the maximum is the variance of the sum of the scores over the squared
    # information. In a finite population the variance of the answers given the truths is added.
    if not sample.is_plain:
        sample.warn_few()
        scores = np.zeros(len(codes))
        information, added = 0.0, 0.0
        shares = np.broadcast_to(sample.fraction_of(slice(None)), len(codes))
        for inside, yes, no, weight, hit in zip(groups, p, q, rule.totals, rule.hits, strict=True):
            seen = min(max(no + (yes - no) * value, 1e-12), 1 - 1e-12)
            slopes = w[inside] * (yes - no) / (seen * (1 - seen))
            scores[inside] = slopes * (codes[inside] - seen)
            information += (yes - no) ** 2 * (hit / seen**2 + (weight - hit) / (1 - seen) ** 2)
            added += float(shares[inside] * np.square(slopes) @ randomization_variances(yes, no, codes[inside]))
        linear = [(slice(None), scores[:, np.newaxis] / information)]
        estimate = lambda weights: np.array([rule_of(weights).maximum()])  # noqa: E731
        variance = float(sample.covariance(linear, estimate, np.array([value]))[0, 0]) + added / information**2
        effect = variance * information * sample.n / float(w.sum())
        stderr, rule = math.sqrt(variance), StudentT(sample.freedom)
        fields = {"design_effect": effect, "freedom": sample.freedom}
    low, high = rule.bounds(np.asarray(value), np.asarray(stderr), DOUBTFUL)
    if high < 0 or low > 1:
        warn(
            f"the prevalence is {value:.3g}, beyond what chance explains: the designs may be other ones, or people did not "
            "follow the instruction",
            DoubtfulWarning,
        )
    guarantee = least_private([design.guarantee for design in designs])
    fields |= {"slopes": np.ones((1, 1)), "coefficients": np.array([[stderr**2]]), "_span": (0.0, 1.0)}
    return SampledPrevalence(value, stderr, sample.n, guarantee, None, rule, **fields)


def _column(data: Any, name: str, value: Any) -> Any:
    """Return a column of a table by its name; arrays and None unchanged."""
    if not isinstance(value, str):
        if name in ("outcome", "design"):
            raise TypeError(f"{name} must be the name of a column, got {type(value).__name__}")
        return value
    columns = data.columns if hasattr(data, "columns") else data if isinstance(data, Mapping) else None
    if columns is None:
        raise TypeError(f"data must be a data frame or a mapping of columns, got {type(data).__name__}")
    if value not in list(columns):
        raise ValueError(f"{name} must name a column of data, which has {', '.join(map(str, columns))}; got {value!r}")
    return data[value]
