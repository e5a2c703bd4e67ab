"""Conditional hypothesis testing: how well two rows can be distinguished if the report is known to be in some set.

The parameter for a mass is the largest total variation between p(. | A) and q(. | A) over the sets A that have at least that
mass under both rows (R. F. Barber, J. C. Duchi, "Privacy and Statistical Risk: Formalisms and Minimax Bounds", 2014).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from ._directed_rounding import Floats

MAX_REPORTS = 14  # 2^14 sets
SMALL_MASS = 2.0**-400  # below, products of two masses underflow
SCALE = 2.0**500  # exact, and the square is finite
LEAST_MASS = 2.0**-900  # below, the limit for mass 0 is used: equal unless a probability is as small, and never below


def over_sets(p: Any, q: Any, total: int | None, mass: float) -> Fraction | float:
    """Return the parameter over sets of reports, by enumeration of all sets.

    For integers with the sum `total`, in arrays of objects, the result is an exact fraction. For doubles, `total` is None and
    the result is a double.
    """
    reports = len(p)
    members = (np.arange(1 << reports)[:, None] >> np.arange(reports) & 1).astype(p.dtype)
    mass_p, mass_q = members @ p, members @ q
    least = mass if total is None else Fraction(mass) * total
    kept = (mass_p > 0) & (mass_q > 0) & (mass_p >= least) & (mass_q >= least)
    members = members[kept]
    mass_p = mass_p[kept, None]
    mass_q = mass_q[kept, None]
    if total is None:
        return float(np.max((members * np.maximum(p / mass_p - q / mass_q, 0)).sum(axis=1), initial=0.0))
    above = (members * np.maximum(p * mass_q - q * mass_p, 0)).sum(axis=1)
    whole = (mass_p * mass_q)[:, 0]
    return max((Fraction(a, w) for a, w in zip(above.tolist(), whole.tolist(), strict=True)), default=Fraction(0))


def inherited(p: Floats, q: Floats, mass: float) -> float:
    """Return the parameter over sets of post-processed reports: weights w in [0, 1] of the reports instead of sets.

    With the reports sorted by p / q, the best w is 1 on a block of large ratios (the head) and on a block of small ratios (the
    tail), and a fraction at each of the two cuts. The smaller of the two masses is exactly `mass`, because scaling w does not
    change the value and moving its weight to the ends does not decrease it. For each pair of cut reports, the remaining w form
    a line, on which the value is a quotient of quadratics. The maximum is at one of its ends, at the point where both masses
    are `mass`, or at the root of the derivative. O(m^2) time.
    """
    if mass < LEAST_MASS:
        return _without_mass(p, q)
    if mass < SMALL_MASS:  # the value depends on quotients only
        p, q = p * SCALE, q * SCALE
        mass *= SCALE
    head, tail = float(p[q == 0].sum()), float(q[p == 0].sum())  # weights of 1 here never decrease the value
    if head >= mass and tail >= mass:
        return 1.0
    both = (p > 0) & (q > 0)
    with np.errstate(over="ignore"):
        order = np.argsort(-(p[both] / q[both]), kind="stable")
    p, q = p[both][order], q[both][order]
    before = np.zeros((2, len(p)))
    before[:, 1:] = np.cumsum([p, q], axis=1)[:, :-1]
    after = np.zeros((2, len(p)))
    after[:, :-1] = np.cumsum([p[::-1], q[::-1]], axis=1)[:, -2::-1]
    before[0] += head
    after[1] += tail
    cells = np.array([p, q])
    return max((_best_of_cut(cells, before, after, i, mass) for i in range(len(p))), default=0.0)


def _without_mass(p: Floats, q: Floats) -> float:
    """Return the parameter for mass 0, from the largest and the smallest loss."""
    p, q = p[(p > 0) | (q > 0)], q[(p > 0) | (q > 0)]
    if (p == 0).any() or (q == 0).any():
        return 1.0
    loss = np.log(p) - np.log(q)
    return math.tanh(float(loss.max() - loss.min()) / 4)


def _best_of_cut(cells: Floats, before: Floats, after: Floats, i: int, mass: float) -> float:
    """Return the largest value with the head cut in report i, over all reports j >= i for the cut of the tail.

    A point of the line is given by the fraction of one of the two cut reports, which determines the fraction of the other.
    Both parametrizations are used, because where one is inaccurate (a quotient of small numbers) the other is not. Only points
    with enough mass are used.
    """
    best = 0.0
    head, tail = np.broadcast_to(before[:, i : i + 1], after[:, i:].shape), after[:, i:]
    first, last = np.broadcast_to(cells[:, i : i + 1], tail.shape), cells[:, i:]
    for tight in (0, 1):  # the row whose mass is `mass`
        for theta, phi in _points(head, first, tail, last, tight, mass):
            best = max(best, _value(head + first * theta, tail + last * phi, mass, (theta, phi)))
        for phi, theta in _points(tail, last, head, first, tight, mass):
            best = max(best, _value(head + first * theta, tail + last * phi, mass, (theta, phi)))
    return min(best, 1.0)


def _points(
    own: Floats, cell: Floats, other: Floats, other_cell: Floats, tight: int, mass: float
) -> Iterator[tuple[Floats, Floats]]:
    """Yield fractions of the cut report of one side and of the other side for which row `tight` has mass `mass`.

    The mass of the other row is a + b f for the fraction f. The derivative of the value has the sign of a constant minus the
    square of this mass.
    """
    slack = 1 - tight
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        rest = mass - own[tight] - other[tight]
        low = np.maximum(0.0, (rest - other_cell[tight]) / cell[tight])
        high = np.minimum(1.0, rest / cell[tight])
        low[0] = 0.0  # both cuts are in one report, and the fractions add up to `high`
        if rest[0] > cell[tight, 0]:
            high[0] = -1.0
        a = own[slack] + other[slack] + rest * (other_cell[slack] / other_cell[tight])
        b = cell[slack] - other_cell[slack] * (cell[tight] / other_cell[tight])
        root = np.sqrt(mass / cell[tight]) * np.sqrt(cell[slack] * a - own[slack] * b)
        for fraction in (low, high, (mass - a) / b, (root - a) / b):
            kept = np.where(low <= high, np.clip(fraction, low, high), np.nan)
            yield kept, (rest - kept * cell[tight]) / other_cell[tight]


def _value(head: Floats, tail: Floats, mass: float, fractions: tuple[Floats, Floats]) -> float:
    """Return the largest total variation of head against tail, over points with enough mass and fractions in [0, 1]."""
    masses = head + tail
    allowed = masses.min(axis=0) >= mass * (1 - 1e-12)  # false for NaN
    for fraction in fractions:
        allowed &= (fraction >= -1e-12) & (fraction <= 1 + 1e-12)
    shares = head[:, allowed] / masses[:, allowed]
    return float(np.max(np.abs(shares[0] - shares[1]), initial=0.0))
