"""Conditional hypothesis testing: how well two rows can be told apart by somebody who knows that the report is in a set.

The level at a mass is the largest total variation between p(. | A) and q(. | A) over the sets A that have at least that mass
under both rows (R. F. Barber, J. C. Duchi, "Privacy and Statistical Risk: Formalisms and Minimax Bounds", 2014).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from ._numbers import Floats

MOST_REPORTS = 14  # 2^14 sets


def over_sets(p: Any, q: Any, total: int | None, mass: float) -> Fraction | float:
    """The level over sets of reports, by looking at all of them.

    Integers with the sum `total` in arrays of objects give the exact fraction; doubles (`total` None) a double.
    """
    reports = len(p)
    members = (np.arange(1 << reports)[:, None] >> np.arange(reports) & 1).astype(p.dtype)
    mass_p, mass_q = members @ p, members @ q
    least = mass if total is None else Fraction(mass) * total
    kept = (mass_p > 0) & (mass_q > 0) & (mass_p >= least) & (mass_q >= least)
    members, mass_p, mass_q = members[kept], mass_p[kept, None], mass_q[kept, None]
    above = (members * np.maximum(p * mass_q - q * mass_p, 0)).sum(axis=1)
    whole = (mass_p * mass_q)[:, 0]
    if total is None:
        return float(np.max(above / whole, initial=0.0))
    return max((Fraction(a, w) for a, w in zip(above.tolist(), whole.tolist(), strict=True)), default=Fraction(0))


def inherited(p: Floats, q: Floats, mass: float) -> float:
    """The level over sets of whatever is made of the report: weights w in [0, 1] in the place of sets.

    Sorted by p / q, the best w is 1 on a block of large ratios (the head) and on one of small ratios (the tail), with a
    fraction at each of the two cuts, and the smaller of the two masses is exactly `mass`: to scale w down changes nothing, to
    gather its weight at the ends only helps. For each pair of cut reports that leaves a line on which the value is a quotient
    of quadratics: its ends, the point where both masses are `mass`, and the root of the derivative. O(m^2).
    """
    if mass == 0:
        return _of_ratio(p, q)
    head, tail = float(p[q == 0].sum()), float(q[p == 0].sum())  # these always help
    if head >= mass and tail >= mass:
        return 1.0
    both = (p > 0) & (q > 0)
    order = np.argsort(-(p[both] / q[both]), kind="stable")
    p, q = p[both][order], q[both][order]
    before = np.zeros((2, len(p)))
    before[:, 1:] = np.cumsum([p, q], axis=1)[:, :-1]
    after = np.zeros((2, len(p)))
    after[:, :-1] = np.cumsum([p[::-1], q[::-1]], axis=1)[:, -2::-1]
    before[0] += head
    after[1] += tail
    cells = np.array([p, q])
    return max((_cut(cells, before, after, i, mass) for i in range(len(p))), default=0.0)


def _of_ratio(p: Floats, q: Floats) -> float:
    p, q = p[(p > 0) | (q > 0)], q[(p > 0) | (q > 0)]
    if (p == 0).any() or (q == 0).any():
        return 1.0
    loss = np.log(p) - np.log(q)
    return math.tanh(float(loss.max() - loss.min()) / 4)


def _cut(cells: Floats, before: Floats, after: Floats, i: int, mass: float) -> float:
    """The best value with the head cut in report i, over all reports j >= i for the cut of the tail."""
    best = 0.0
    starts, own = before[:, i], cells[:, i]
    ends, others = after[:, i:], cells[:, i:]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for tight in (0, 1):  # the row whose mass is `mass`
            slack = 1 - tight
            rest = mass - starts[tight] - ends[tight]
            low = np.maximum(0.0, (rest - others[tight]) / own[tight])
            high = np.minimum(1.0, rest / own[tight])
            low[0] = 0.0  # head and tail share the report: their fractions add up to `high`
            if rest[0] > own[tight]:
                high[0] = -1.0
            # The other row's mass is a + b theta, theta the fraction of report i in the head.
            a = starts[slack] + ends[slack] + rest * others[slack] / others[tight]
            b = own[slack] - others[slack] * own[tight] / others[tight]
            root = np.sqrt(mass * (own[slack] * a - starts[slack] * b) / own[tight])
            for theta in (low, high, (mass - a) / b, (root - a) / b):
                theta = np.clip(theta, low, high)
                phi = (rest - theta * own[tight]) / others[tight]
                heads = starts[:, None] + own[:, None] * theta
                masses = heads + ends + others * phi
                allowed = (low <= high) & (masses.min(axis=0) >= mass * (1 - 1e-12))
                value = np.abs(heads[0] / masses[0] - heads[1] / masses[1])
                best = max(best, float(np.max(value[allowed], initial=0.0)))
    return min(best, 1.0)
