"""Weights of groups of people: post-stratification and calibration of the results of a survey."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._frames import group_columns
from .._labels import numbers_by_label
from .._typing import Floats
from .._warnings import warn
from ..reports import Counted, Counts, GroupedResults
from ..results import DoubtfulWarning
from ._calibration import METHODS, Calibration, read_bounds
from ._conclude import conclude
from ._group_weights import GroupWeights
from ._result import SurveyResult
from ._survey_recipe import SurveyRecipe

TOLERANCE = 0.01  # relative difference of totals that are rounded
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
        other than finite numbers >= 0, or shares that do not add up to 1; if some groups have no answers to every question.

    Warns
    -----
    DoubtfulWarning
        If some groups have no answers to a question, which is left out.

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


def calibrate(
    results: GroupedResults,
    margins: Any,
    *,
    method: str = "raking",
    bounds: tuple[float, float] | None = None,
) -> SurveyResult:
    """Weight the results of groups of people so that margins of one or several columns agree with those of a population.

    The shares of the groups become those that are nearest to their shares in the survey and agree with all margins. A
    question to which some groups have no answers is weighted with the other groups, if these agree with the margins, too.

    Parameters
    ----------
    results : GroupedResults
        Result of ``Survey.run(by=[...])`` for the names of public columns.
    margins : mapping or list of pairs
        By the name of a column that divides the people, or a tuple of several: the number of people, or the share, of each
        value in the population (a mapping, a series of pandas, or a table of counts). The values of several columns are
        tuples. Columns without a margin keep their shares as far as the others leave them.
    method : {"raking", "linear", "logit"}, optional
        The ratio of a share in the population to that in the survey is the exponential of a sum of terms, one for each margin
        ("raking"); the sum itself ("linear", generalized regression, whose weights can be negative); or a logistic function
        of it, within `bounds` ("logit").
    bounds : tuple of float, optional
        Smallest and largest ratio, around 1: required with "logit", allowed with "linear".

    Returns
    -------
    result : SurveyResult
        Answers of the population. The standard errors include the weights, and that these depend on the sample.

    Raises
    ------
    TypeError, ValueError
        If `results` are not the results of a survey, or are pooled; if `margins` name other columns than those that divide the
        people, have different totals, have other values than the results, or hold other than finite numbers >= 0, or shares
        that do not add up to 1; if `bounds` do not fit the method; if no weights of the groups agree with all margins.

    Warns
    -----
    DoubtfulWarning
        If nobody of a combination of values took part: the people of other groups stand for these. If some groups have no
        answers to a question: it is answered by the other groups, or left out. If some weights are negative.

    Notes
    -----
    With weights w_g of groups with n_g people, the variance of an answer is the sum of w_g^2 times those of the groups, plus
    that of the weights (linearization [1]_): the sum of w_g^2 / n_g times e_g^2, where e_g is what a sum of one term for each
    margin does not explain of the answer of the group. It is estimated from noisy answers, and so rather too large. Weights
    cost no privacy, because the groups are public.

    References
    ----------
    .. [1] J.-C. Deville, C.-E. Sarndal, "Calibration estimators in survey sampling", JASA, 1992.

    Examples
    --------
    >>> from ldpfast.survey import Survey, YesNo, calibrate
    >>> survey = Survey({"smokes": YesNo()}, epsilon=4.0)
    >>> people = {"smokes": [True] * 8000 + [False] * 2000, "age": ["young"] * 8000 + ["old"] * 2000}
    >>> people |= {"sex": ["f", "m"] * 5000, "region": list("NSSNS") * 2000}
    >>> results = survey.run(people, by=["age", "sex", "region"], rng=1)
    >>> by_age_and_sex = {("young", "f"): 0.3, ("young", "m"): 0.2, ("old", "f"): 0.25, ("old", "m"): 0.25}
    >>> result = calibrate(results, {("age", "sex"): by_age_and_sex, "region": {"N": 0.5, "S": 0.5}})
    >>> round(result["smokes"].value, 1)
    0.5
    """
    counts, method = _read(results), _check.choice("method", method, METHODS)
    return _calibrated(counts, results, margins, method, bounds)


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
    The assumption is that the chance to take part is a product of one factor for each margin. It is `calibrate` with the method
    "raking" and one margin for each column.

    References
    ----------
    .. [1] W. E. Deming, F. F. Stephan, "On a least squares adjustment of a sampled frequency table when the expected marginal
       totals are known", Annals of Mathematical Statistics, 1940.

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
    columns = _columns_of(results)
    if set(margins) != set(columns):
        raise ValueError(
            f"margins must be of the columns that divide the people, {', '.join(map(repr, columns))}, got "
            f"{', '.join(map(repr, margins)) or 'none'}"
        )
    return _calibrated(counts, results, margins, "raking", None)


def _calibrated(
    counts: Counts, results: GroupedResults, margins: Any, method: str, bounds: tuple[float, float] | None
) -> SurveyResult:
    """Return what `calibrate` does, for the counts of the results."""
    found = _read_margins(results, margins)
    calibration = Calibration(
        np.concatenate([np.eye(len(shares))[places] for shares, places in found], axis=1),
        np.concatenate([shares for shares, _ in found]),
        method,
        read_bounds(method, bounds),
    )
    weights = calibration.shares(counts.n)
    if weights is None:
        raise ValueError(
            "margins must be possible with the groups of the survey, got some that no weights agree with: join values of a "
            "column that few people have" + (", or use wider bounds" if bounds is not None else "")
        )
    if (weights < 0).any():
        warn("some groups have a negative weight: the methods 'raking' and 'logit' have none", DoubtfulWarning)
    return _weighted(counts, GroupWeights(list(results), weights, counts.n, calibration))


def _read_margins(results: GroupedResults, margins: Any) -> list[tuple[Floats, NDArray[np.intp]]]:
    """Return the shares of the values of each margin, and the value of each group."""
    pairs = list(margins.items()) if isinstance(margins, Mapping) else margins
    if not isinstance(pairs, list) or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        raise TypeError(
            f"margins must be a mapping, or a list of pairs of columns and numbers, got {type(margins).__name__}"
        )
    columns = _columns_of(results)
    groups = list(results) if isinstance(results.by, tuple) else [(name,) for name in results]
    found: list[tuple[Floats, NDArray[np.intp]]] = []
    totals: list[float] = []
    listed: list[tuple[list[int], list[tuple[Any, ...]]]] = []
    for key, given in pairs:
        chosen = key if isinstance(key, tuple) else (key,)
        if not chosen or any(name not in columns for name in chosen) or len(set(chosen)) < len(chosen):
            raise ValueError(
                f"margins must be of the columns that divide the people, {', '.join(map(repr, columns))}, got {key!r}"
            )
        # Each group has one value of the margin: a label of its column, or a tuple of labels.
        axes = [columns.index(name) for name in chosen]
        values = [tuple(group[axis] for axis in axes) if isinstance(key, tuple) else group[axes[0]] for group in groups]
        different = list(dict.fromkeys(values))
        numbers = _numbers_of(f"margins[{key!r}]", given)
        shares, total = _shares_of(f"margins[{key!r}]", numbers, different)
        places = {value: place for place, value in enumerate(different)}
        found.append((shares, np.array([places[value] for value in values])))
        totals.append(total)
        taking_part = [value for value in different if numbers[value]]
        listed.append((axes, [value if isinstance(key, tuple) else (value,) for value in taking_part]))
    if not found:
        raise ValueError("margins must hold at least one margin, got none")
    if max(totals) > min(totals) * (1 + TOLERANCE):
        raise ValueError(f"margins must have the same total, got {min(totals):g} and {max(totals):g}")
    _warn_missing(listed, groups)
    return found


def _warn_missing(margins: list[tuple[list[int], list[tuple[Any, ...]]]], groups: list[tuple[Any, ...]]) -> None:
    """Warn about combinations of values of margins of which nobody took part, from the columns and values of each margin."""
    axes = list(dict.fromkeys(axis for own, _ in margins for axis in own))
    present = {tuple(group[axis] for axis in axes) for group in groups}
    missing: dict[tuple[Any, ...], None] = {}
    for values in itertools.islice(itertools.product(*(values for _, values in margins)), MAX_COMBINATIONS):
        cells = [cell for (own, _), value in zip(margins, values, strict=True) for cell in zip(own, value, strict=True)]
        group = dict(cells)
        # Margins that share a column have one value of it.
        if all(group[axis] == label for axis, label in cells) and (one := tuple(group.values())) not in present:
            missing[one] = None
    if missing:
        listed = ", ".join(map(repr, list(missing)[:MAX_LISTED])) + (", ..." if len(missing) > MAX_LISTED else "")
        warn(
            f"nobody of some groups took part, whose people other groups then stand for: {listed}. If these exist in the "
            "population, join values of a column",
            DoubtfulWarning,
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


def _columns_of(results: GroupedResults) -> list[str]:
    """Return the names of the columns that divide people, which margins need."""
    if results.by is None:
        raise ValueError("results must be of groups by named columns, got by=None: poststratify needs no names")
    return group_columns(results.by)


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
    if extra and _check.numbers(name, [numbers[g] for g in extra]).any():
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
    result = conclude(recipe, Counted(counts.states, counts.n), False, weights)._of_people(people)
    return result._of_counts(counts, weights)
