"""Comparisons of the distributions of a number: a band of the difference of two, and a test whether several are equal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._typing import Floats
from .._warnings import warn
from ..estimation import DistributionEstimate
from ..estimation._cell_limits import FEWEST_TAIL, CellsEstimate, largest_noise
from ..estimation.protocols import FEW_REPORTS
from ..results import SmallSampleWarning, TestResult
from ..results._differences import hypotenuse

MARGIN = 3.5  # standard errors at which margins are compared with normal ones, near those of the largest of all ends


def band_of_difference(
    a: DistributionEstimate, b: DistributionEstimate, confidence: float, liars: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Return limits of the difference of two distribution functions at the lower end and at the ends of all cells but the last.

    At the lower end the share of the records that are equal to it can be anything up to that of the first cell. `liars` are the
    largest numbers of forged reports of both.
    """
    from scipy.special import ndtr

    first, second = _with_same_cells([a, b])
    errors = [part.of_all_ends.stderr for part in (first, second)]
    drawn = _noise([first, second], errors)
    standard = np.abs(drawn[0] - drawn[1]) / _at_least(np.hypot(*errors))[:, np.newaxis]
    single = float(ndtr(-largest_noise(standard.max(axis=0), max(1, first.k - 1), confidence)))
    value, other = (part.of_all_ends.with_liars(own) for part, own in zip((first, second), liars, strict=True))
    low_a, high_a, low_b, high_b = (part.limit(side, single) for part in (value, other) for side in (-1, 1))
    raw = value.value - other.value
    shift = value.shift + other.shift  # forged reports are no noise: what they change is added
    low = raw - shift - hypotenuse(value.value - low_a - value.shift, high_b - other.value - other.shift)
    high = raw + shift + hypotenuse(high_a - value.value - value.shift, other.value - low_b - other.shift)
    shown = np.cumsum(first.shares)[:-1] - np.cumsum(second.shares)[:-1]
    if a.contains_start:
        low, high = np.append(-np.abs(high_b[:1]), low), np.append(np.abs(high_a[:1]), high)
    else:
        low, high = np.append(0.0, low), np.append(0.0, high)
    shown = np.append(0.0, shown)
    return np.clip(np.minimum(low, shown), -1, 1), np.clip(np.maximum(high, shown), -1, 1)


def equality(answers: Sequence[DistributionEstimate]) -> TestResult:
    """Test whether several distributions are equal, of different people.

    The statistic is the largest distance of a distribution function from the common one at an end of a cell, in standard
    errors.
    """
    from scipy.special import ndtr

    found = _with_same_cells(answers)
    n, numbers = sum(answer.n for answer in answers), max(1, found[0].k - 1)
    if min(answer.n for answer in answers) < FEW_REPORTS:
        warn(f"n = {n} is too small for a test of distributions to be reliable", SmallSampleWarning)
    errors = [_errors(part) for part in found]
    observed = float(_largest([part.of_all_ends.value[:, np.newaxis] for part in found], errors)[0])
    drawn = _largest(_noise(found, errors), errors)
    share = float(np.mean(drawn >= observed))
    bonferroni = 2 * numbers * (len(found) if len(found) > 2 else 1) * float(ndtr(-observed))
    pvalue = min(1.0, bonferroni, max(share, FEWEST_TAIL))  # few draws are beyond: then by Bonferroni's inequality
    return TestResult(observed, pvalue, "two-sided", 0.0, n, method="largest distance")


def _with_same_cells(answers: Sequence[DistributionEstimate]) -> list[CellsEstimate]:
    """Return the linear estimates of distributions of the same cells."""
    if any(not np.array_equal(answer.ends, answers[0].ends) for answer in answers):
        raise ValueError("answers must be to questions with the same cells, got others")
    return [answer._linear for answer in answers]


def _errors(part: CellsEstimate) -> Floats:
    """Return standard errors at the ends, so large that normal margins are not below those for few large steps of reports."""
    from scipy.special import ndtr

    found, tail = part.of_all_ends, float(ndtr(-MARGIN))
    return np.maximum(found.limit(1, tail) - found.value, found.value - found.limit(-1, tail)) / MARGIN


def _noise(parts: Sequence[CellsEstimate], errors: Sequence[Floats]) -> list[Floats]:
    """Return independent draws of the noise of several estimates, shape (ends, draws) each."""
    return [part.draws(seed) * own[:, np.newaxis] for seed, (part, own) in enumerate(zip(parts, errors, strict=True))]


def _largest(values: Sequence[Floats], errors: Sequence[Floats]) -> Floats:
    """Return the largest distance from the common distribution function, in standard errors, for each column."""
    weights = [1 / np.square(_at_least(own))[:, np.newaxis] for own in errors]
    total = np.sum(weights, axis=0)
    common = np.sum([weight * value for weight, value in zip(weights, values, strict=True)], axis=0) / total
    distances = [
        np.abs(value - common) / np.sqrt(_at_least(1 / weight - 1 / total))
        for weight, value in zip(weights, values, strict=True)
    ]
    return np.asarray(np.max(distances, axis=(0, 1)))


def _at_least(x: Floats) -> Floats:
    return np.maximum(x, 1e-150)
