"""Weights of groups of people: post-stratification and raking of the results of a survey."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._frames import group_columns
from .._labels import numbers_by_label
from .._typing import Floats
from .._warnings import warn
from ..reports import Counted, Counts, GroupedResults
from ..results import DoubtfulWarning
from ._conclude import conclude
from ._group_weights import GroupWeights
from ._result import SurveyResult
from ._survey_recipe import SurveyRecipe

if TYPE_CHECKING:
    pass

TOLERANCE = 0.01  # relative difference of totals that are rounded
MAX_ROUNDS = 100_000
CONVERGED = 1e-10  # largest difference of a margin
MAX_LISTED = 5
MAX_PEOPLE = 1e15
MAX_COMBINATIONS = 1 << 20


def poststratify(results: GroupedResults, population: Mapping[Any, float]) -> SurveyResult:
    """Weight the results of groups of people by the known shares of the groups in a population (post-stratification).

    People who answer are seldom like the population: some groups take part less. Where the shares of the groups are known, for
    instance from a census, the weighted result corrects this, under the assumption that within a group those who take part are
    like those who do not.

    Parameters
    ----------
    results : GroupedResults
        Result of ``Survey.run(by=)``, or of ``estimate()`` of the aggregators of groups.
    population : mapping, series or table
        Number of people, or share, of every group in the population, by the groups: a mapping, a series of pandas, or a table
        such as ``value_counts`` makes. The groups of several columns are tuples. Fractions that are all at most 1 are shares.

    Returns
    -------
    result : SurveyResult
        Answers of the population. The standard errors include the weights; the limits follow `results.BoundedSum`, with the
        largest weight of a report.

    Raises
    ------
    TypeError, ValueError
        If `results` are not the results of a survey, or are pooled; if `population` does not have the same groups, or holds
        other than finite numbers >= 0, or shares that do not add up to 1; if a group has no answers to a question.

    Notes
    -----
    A share or a mean of all people is the sum of w_g a_g over groups g with shares w_g and answers a_g, and its variance the
    sum of w_g^2 times the variance of a_g. An answer to an optional question is a quotient of two such sums: it describes the
    people of the population who would answer. Weights cost no privacy, because the groups are public.

    References
    ----------
    .. [1] D. Holt, T. M. F. Smith, "Post stratification", Journal of the Royal Statistical Society A, 1979.

    Examples
    --------
    >>> from ldpfast.survey import Survey, YesNo, poststratify
    >>> survey = Survey({"smokes": YesNo()}, epsilon=4.0)
    >>> people = {"smokes": [True] * 8000 + [False] * 2000, "age": ["young"] * 8000 + ["old"] * 2000}
    >>> result = poststratify(survey.run(people, by="age", rng=1), {"young": 0.5, "old": 0.5})
    >>> round(result["smokes"].value, 1)
    0.5
    """
    counts = _read(results)
    names = list(results)
    shares, _ = _shares_of("population", _numbers_of("population", population), names)
    return _weighted(counts, GroupWeights(names, shares, counts.n))


def rake(results: GroupedResults, margins: Mapping[str, Mapping[Any, float]]) -> SurveyResult:
    """Weight the results of groups of people so that several margins agree with those of a population (raking).

    Where only the shares by age and those by region are known, but not those of both together, the groups of a survey get the
    weights that are nearest to their numbers of people and agree with all margins (iterative proportional fitting).

    Parameters
    ----------
    results : GroupedResults
        Result of ``Survey.run(by=[...])`` for the names of several public columns.
    margins : mapping
        For every column, the number of people, or the share, of each of its values in the population, as for `poststratify`.

    Returns
    -------
    result : SurveyResult
        Answers of the population. The standard errors include the weights, and that these depend on the sample.

    Raises
    ------
    TypeError, ValueError
        As for `poststratify`; if `margins` are not of the columns that divide the people, or have different totals; if no
        weights of the groups agree with all margins.

    Warns
    -----
    DoubtfulWarning
        If nobody of a combination of values took part: the people of other groups stand for these.

    Notes
    -----
    The assumption is that the chance to take part is a product of one factor for each margin. To the variance of
    `poststratify` that of the weights is added (linearization [2]_): the sum of w_g^2 / n_g times e_g^2 over groups g with n_g
    people, where e_g is what a sum of one term for each margin does not explain of the answer of the group. It is estimated
    from noisy answers, and so rather too large.

    References
    ----------
    .. [1] W. E. Deming, F. F. Stephan, "On a least squares adjustment of a sampled frequency table when the expected marginal
       totals are known", Annals of Mathematical Statistics, 1940.
    .. [2] J.-C. Deville, C.-E. Sarndal, O. Sautory, "Generalized raking procedures in survey sampling", JASA, 1993.

    Examples
    --------
    >>> from ldpfast.survey import Survey, YesNo, rake
    >>> survey = Survey({"smokes": YesNo()}, epsilon=4.0)
    >>> people = {"smokes": [True] * 8000 + [False] * 2000, "age": ["young"] * 8000 + ["old"] * 2000}
    >>> results = survey.run({**people, "region": ["N", "S"] * 5000}, by=["age", "region"], rng=1)
    >>> result = rake(results, {"age": {"young": 50_000, "old": 50_000}, "region": {"N": 60_000, "S": 40_000}})
    >>> round(result["smokes"].value, 1)
    0.5
    """
    counts = _read(results)
    if not isinstance(margins, Mapping):
        raise TypeError(f"margins must be a mapping, got {type(margins).__name__}")
    columns = group_columns(results.by)
    if set(margins) != set(columns):
        raise ValueError(
            f"margins must be of the columns that divide the people, {', '.join(map(repr, columns))}, got "
            f"{', '.join(map(repr, margins)) or 'none'}"
        )
    names = list(results)
    keys = names if isinstance(results.by, tuple) else [(name,) for name in names]
    targets = []
    places = []
    totals = []
    given = {column: _numbers_of(f"margins[{column!r}]", margins[column]) for column in columns}
    for axis, column in enumerate(columns):
        values = list(dict.fromkeys(key[axis] for key in keys))
        shares, total = _shares_of(f"margins[{column!r}]", given[column], values)
        targets.append(shares)
        totals.append(total)
        places.append(np.array([values.index(key[axis]) for key in keys]))
    if max(totals) > min(totals) * (1 + TOLERANCE):
        raise ValueError(f"margins must have the same total, got {min(totals):g} and {max(totals):g}")
    _warn_missing([list(given[column]) for column in columns], set(keys))
    weights = _fitted(counts.n / counts.n.sum(), targets, places)
    design = None  # of one column: its shares are the weights
    if len(columns) > 1:
        design = np.concatenate([np.eye(len(t))[p] for t, p in zip(targets, places, strict=True)], axis=1)
    return _weighted(counts, GroupWeights(names, weights, counts.n, design))


def _warn_missing(values: list[list[Any]], present: set[tuple[Any, ...]]) -> None:
    """Warn about combinations of values of which nobody took part."""
    missing = [
        group for group in itertools.islice(itertools.product(*values), MAX_COMBINATIONS) if group not in present
    ]
    if missing:
        listed = ", ".join(map(repr, missing[:MAX_LISTED])) + (", ..." if len(missing) > MAX_LISTED else "")
        warn(
            f"nobody of some groups took part, whose people other groups then stand for: {listed}. If these exist in the "
            "population, join values of a column",
            DoubtfulWarning,
        )


def _fitted(weights: Floats, targets: list[Floats], places: list[NDArray[np.intp]]) -> Floats:
    """Return the shares of groups that agree with margins, by iterative proportional fitting.

    Parameters
    ----------
    weights : ndarray, shape (groups,)
        Shares to start from.
    targets : list of ndarray
        Shares of the values of each column.
    places : list of ndarray of int, shape (groups,)
        The value of each group in each column.
    """
    for _ in range(MAX_ROUNDS):
        for target, place in zip(targets, places, strict=True):
            sums = np.bincount(place, weights, len(target))
            weights = weights * np.divide(target, sums, out=np.zeros(len(target)), where=sums > 0)[place]
        pairs = zip(targets, places, strict=True)
        if all(np.abs(np.bincount(place, weights, len(target)) - target).max() <= CONVERGED for target, place in pairs):
            return weights
    raise ValueError(
        "margins must be possible with the groups of the survey, got some that no weights agree with: join values of a column "
        "that few people have"
    )


def _read(results: Any) -> Counts:
    """Return the counts of a survey behind results of groups, in their order and without groups of nobody."""
    if not isinstance(results, GroupedResults):
        raise TypeError(f"results must be the result of run(by=) of a survey, got {type(results).__name__}")
    counts = results.counts
    if not isinstance(counts.recipe, SurveyRecipe):
        raise TypeError(f"results must be those of a survey, got those of a {type(counts.question).__name__}")
    if any(results.options.values()):
        raise ValueError("results must not be pooled, got pooled=True")
    return counts


def _numbers_of(name: str, given: Any) -> dict[Any, Any]:
    """Return numbers by group."""
    pairs = numbers_by_label(name, given)
    if pairs is None:
        raise TypeError(
            f"{name} must be a mapping, a series of pandas or a table of counts, got {type(given).__name__}"
        )
    numbers = dict(pairs)
    if len(numbers) < len(pairs):
        raise ValueError(f"{name} must have each group once, got one more than once")
    return numbers


def _shares_of(name: str, numbers: Mapping[Any, float], groups: list[Hashable]) -> tuple[Floats, float]:
    """Return the shares of groups from numbers of people or shares, in the order of the groups, and their total."""
    extra, missing = [g for g in numbers if g not in groups], [g for g in groups if g not in numbers]
    if missing:
        raise ValueError(f"{name} must have every group of the results, got none for {missing[0]!r}")
    if any(numbers[g] for g in extra):
        raise ValueError(
            f"{name} must have groups of which people took part, got {extra[0]!r}: join it with another one in both"
        )
    found = _check.numbers(name, [numbers[g] for g in groups])
    if found.ndim > 1:
        raise ValueError(f"{name} must have one number for each group, got an array")
    if (found < 0).any() or not found.any():
        raise ValueError(f"{name} must be numbers >= 0 with a positive sum, got {found.min():g}")
    if found.max() > MAX_PEOPLE:
        raise ValueError(f"{name} must be numbers of people of at most {MAX_PEOPLE:g}, got {found.max():g}")
    total = float(found.sum())
    if (found % 1).any() and found.max() <= 1 and abs(total - 1) > TOLERANCE:
        raise ValueError(f"{name} must be numbers of people, or shares that add up to 1, got the sum {total:g}")
    return found / total, total


def _weighted(counts: Counts, weights: GroupWeights) -> SurveyResult:
    """Return the result of a survey with weights of the groups."""
    recipe = counts.recipe
    people = counts.people.on(recipe.occasion)
    return conclude(recipe, Counted(counts.states, counts.n), False, weights)._of_people(people)
