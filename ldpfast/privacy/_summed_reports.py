"""Privacy of the sum of the reports of many people: what secure aggregation reveals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check, _coins
from ._directed_rounding import Floats, float_or_array
from ._guarantee import Guarantee
from ._loss_grid import ComposedLosses, LossGrid, reach
from ._shuffled_counts import ERROR, binomial
from ._shuffling import shuffled, shuffled_delta

MAX_PEOPLE = 1 << 20  # more people have at least the privacy of this many
GROUPS = 64  # of the number of people who have a category
INTERVALS = 512  # of the losses
SPARE = 1e-5  # share of delta for rare sums
LEAST_SPARE = 1e-30  # the same where delta is not given


def summed(mechanism: Any, n: int, delta: float) -> Guarantee:
    """Return the guarantee of the sum of n reports, if nobody sees the reports.

    Parameters
    ----------
    mechanism : Mechanism, or what else `shuffled` takes
        Any one with a guarantee of single reports: not `SecureSum`, which states that of its sums itself. The sum of reports
        is the number of ones of each category (`UnaryEncoding`), the number of reports of each code, or the sum of what reports
        are decoded as.
    n : int
        Number of honest people in the sum, at least 1. People who may collude with the server do not count.
    delta : float
        In [0, 1).

    Returns
    -------
    guarantee : Guarantee
        With definition "approximate": the smallest epsilon that is found for `delta`, rounded up, and at most the epsilon of
        one report. Neighboring datasets differ in the record of one person, which is replaced.

    Raises
    ------
    TypeError, ValueError
        As for `shuffled`.

    Privacy
    -------
    It holds against those who see the sum only, and for all records of all people. A secure aggregator that refuses or
    redraws reports with too many ones, as a protection against dishonest clients, makes bits dependent: add ``(1 + e^epsilon)
    n`` times the probability of such a report to `delta`.

    Notes
    -----
    Numbers of codes are all that shuffled reports tell, so for codes it is `shuffled`. Other sums, such as those of vectors,
    are functions of the shuffled reports, and have the same guarantee; a frame or a rotation that reports share is public. It
    is no composition of the coordinates of `LinfBall`, which are dependent. In unary encoding the record of a person has an
    effect on two numbers, those of the old and of the new category, which are independent. Each is compared for every
    possible number of other people who have the category. With more than 64 people, these numbers are in groups, each with
    the noise that all its members have. See docs/proofs/sums.md. Less than a second for a million people; more are counted as
    2^20.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> from ldpfast.privacy import summed
    >>> round(summed(ldp.UnaryEncoding(128, 4.0), 100_000, 1e-9).epsilon, 3)
    0.052
    """
    bits = _bit_probabilities(mechanism)
    if bits is None:
        return shuffled(mechanism, n, delta)
    p, q = bits
    n = _check.integer("n", n, 1)
    target = float(_check.within("delta", _check.real("delta", delta), 0, 1, "[)"))
    largest = float(mechanism.epsilon_realized)
    epsilon = largest
    if target > 0:
        epsilon = _losses(p, q, n, SPARE * target).epsilon(target, largest)
    return Guarantee("approximate", epsilon, target)


def summed_delta(mechanism: Any, n: int, epsilon: ArrayLike) -> Any:
    """Return the delta of the sum of n reports at a given epsilon.

    Parameters
    ----------
    mechanism, n
        As for `summed`.
    epsilon : array_like
        At least 0.

    Returns
    -------
    delta : float or ndarray
        Of the shape of `epsilon`, rounded up; at least 1e-30 below the epsilon of one report, and 0 from there on.

    Raises
    ------
    TypeError, ValueError
        As for `summed`; if `epsilon` is negative or not finite.

    Privacy
    -------
    As for `summed`.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> from ldpfast.privacy import summed_delta
    >>> bool(summed_delta(ldp.UnaryEncoding(128, 1.0), 10_000, 0.1) < 1e-8)
    True
    """
    bits = _bit_probabilities(mechanism)
    if bits is None:
        return shuffled_delta(mechanism, n, epsilon)
    p, q = bits
    n = _check.integer("n", n, 1)
    epsilons = _check.within("epsilon", epsilon, 0, math.inf, "[)")
    losses = _losses(p, q, n, LEAST_SPARE)
    largest = float(mechanism.epsilon_realized)
    deltas = [losses.delta(float(e)) if e < largest else 0.0 for e in epsilons.flat]
    return float_or_array(np.array(deltas).reshape(epsilons.shape))


def _bit_probabilities(mechanism: Any) -> tuple[Fraction, Fraction] | None:
    """Return the probabilities of a one for the record's category and for another one; None if reports are not such bits."""
    found: tuple[Fraction, Fraction] | None = getattr(mechanism, "bit_probabilities", None)
    return found


def _losses(p: Fraction, q: Fraction, n: int, spare: float) -> ComposedLosses:
    """Return the losses of the numbers of ones of two categories: one that a person leaves, and one that she comes to."""
    ones = Ones.of(p, q, n, spare / 8)
    high = max(reach(curve, ones.largest, spare / 2) for curve in (ones.own, ones.other))
    left = LossGrid.of_curves(ones.own, ones.other, high, INTERVALS)
    return left.plus(LossGrid.of_curves(ones.other, ones.own, high, INTERVALS))


@dataclass(frozen=True)
class Ones:
    """Number of ones of a category if a person has it, with probabilities `mine`, or does not, with probabilities `theirs`.

    Each pair is for a group of possible numbers of other people who have the category, with the noise that they all have. The
    ratios of both, `losses`, increase with the number of ones.
    """

    groups: tuple[tuple[Floats, Floats, Floats, Floats, Floats], ...]  # losses, heads and tails of mine and of theirs
    limits: tuple[float, float]
    skipped: float

    @classmethod
    def of(cls, p: Fraction, q: Fraction, n: int, spare: float) -> Ones:
        n = min(n, MAX_PEOPLE)
        edges = np.unique(np.linspace(0, n, min(n, GROUPS) + 1).astype(np.int64))
        groups = []
        for first, last in zip(edges[:-1].tolist(), (edges[1:] - 1).tolist(), strict=True):
            ones = np.convolve(_window(first, float(p), spare), _window(n - 1 - last, float(q), spare))
            mine, theirs = (np.convolve(ones, [1 - float(r), float(r)]) for r in (p, q))
            some = (mine > 1e-290) & (theirs > 1e-290)
            mine, theirs = mine[some], theirs[some]
            groups.append(
                (
                    np.log(mine) - np.log(theirs),
                    np.append(0.0, np.cumsum(mine)),
                    np.append(0.0, np.cumsum(theirs)),
                    np.append(np.cumsum(mine[::-1])[::-1], 0.0),
                    np.append(np.cumsum(theirs[::-1])[::-1], 0.0),
                )
            )
        limits = _coins.log_up(p / q), _coins.log_up((1 - q) / (1 - p))
        return cls(tuple(groups), limits, 2 * spare + 1e-280)

    @property
    def largest(self) -> float:
        """Largest loss in either order."""
        return max(self.limits)

    def own(self, epsilon: float) -> float:
        """Return a bound on the divergence of the number of ones if the person has the category from that if not."""
        if epsilon >= self.limits[0]:
            return 0.0
        power = math.exp(epsilon)
        worst = 0.0
        for losses, _, _, mine, theirs in self.groups:
            at = np.searchsorted(losses, epsilon)
            worst = max(worst, float(mine[at] * (1 + 4 * ERROR) - power * theirs[at] * (1 - 4 * ERROR)))
        return worst + self.skipped

    def other(self, epsilon: float) -> float:
        """Return the same in the other order."""
        if epsilon >= self.limits[1]:
            return 0.0
        power = math.exp(epsilon)
        worst = 0.0
        for losses, mine, theirs, _, _ in self.groups:
            at = np.searchsorted(losses, -epsilon)
            worst = max(worst, float(theirs[at] * (1 + 4 * ERROR) - power * mine[at] * (1 - 4 * ERROR)))
        return worst + self.skipped


def _window(people: int, p: float, spare: float) -> Floats:
    """Return the probabilities of a binomial without its tails, of at most `spare` by Bernstein's inequality."""
    exponent = math.log(2 / spare)
    away = math.ceil(exponent / 3 + math.sqrt(exponent**2 / 9 + 2 * people * p * (1 - p) * exponent)) + 1
    low, high = max(0, math.floor(people * p) - away), min(people, math.ceil(people * p) + away)
    return binomial(np.arange(low, high + 1.0), np.float64(people), p)
