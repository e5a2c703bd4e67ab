"""Channels with two reports: the exact divergence of the shuffled reports, for the worst records of the other people.

Shuffled bits are a number of ones. If m of the n - 1 others have the record with probability p of a one, and the rest that with
q < p, their number of ones C has the law of Bin(m, p) + Bin(n - 1 - m, q), and the divergence of order e is

    H = (p - e q) P(C = s) - (e - 1) P(C > s),

at the s with the largest value. Everything here is a bound from above, over all m, all s and both orders. Records of others
between both are mixtures (docs/proofs/shuffling.md, section "Two reports").
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ._directed_rounding import UNIT, Floats

FEW = 256  # people whose numbers of ones are enumerated for all records of the others
GROUPS = 4096  # of records of the others, above
REACH = 60.0  # probabilities outside a window are about e^-60
NEGLIGIBLE = 1e-22  # size of a value of a characteristic function that is left out
LEAST = 1e-300  # added to a divergence for underflow
MAX_NODES = 4096  # of the inverse transform of a characteristic function


Bit = tuple[float, float]  # probabilities of a one and of a zero, each rounded from the exact one


@dataclass(frozen=True)
class TwoOutcomes:
    """The probabilities of a one for the two extreme records, p > q, both in (0, 1)."""

    p: Fraction
    q: Fraction

    def _orders(self) -> set[tuple[Bit, Bit]]:
        """Return the bits of both records for both orders of them: in the other order, zeros are counted."""
        first, second = ((float(rate), float(1 - rate)) for rate in (self.p, self.q))
        return {(first, second), (second[::-1], first[::-1])}

    def delta(self, n: int, epsilon: float, groups: int = GROUPS) -> float:
        """Return an upper bound on the divergence of n shuffled bits, exact but for groups of records and rounding."""
        order = math.exp(epsilon) * (1 - 8 * UNIT)
        if n <= FEW:
            return min(1.0, max(_enumerated(p, q, n, order) for p, q in self._orders()))
        edges = np.unique(np.linspace(0, n, groups + 1).astype(np.int64))
        first, last = edges[:-1], edges[1:] - 1  # the members of a group have at least this noise in common
        return min(1.0, max(_by_transform(p, q, first, n - 1 - last, max(order, 1.0)) for p, q in self._orders()))

    def near(self, n: int, epsilon: float) -> float:
        """Return about the largest divergence, over a few numbers of others with each record."""
        if n <= FEW:
            return self.delta(n, epsilon)
        few = np.arange(5)
        some = np.unique(np.concatenate([few, np.linspace(0, n - 1, 33).astype(np.int64), n - 1 - few]))
        return min(1.0, max(_by_transform(p, q, some, n - 1 - some, math.exp(epsilon)) for p, q in self._orders()))


@lru_cache(maxsize=64)
def _ones(p: Bit, q: Bit, others: int) -> Floats:
    """Return the probabilities of the numbers of ones of the others, one row for each number of them with probability p.

    All terms are positive, so that the relative error is at most a few units for each person.
    """

    def powers(bit: Bit) -> list[Floats]:
        found = [np.ones(1)]
        for _ in range(others):
            found.append(np.convolve(found[-1], bit[::-1]))
        return found

    own, rest = powers(p), powers(q)
    return np.array([np.convolve(own[m], rest[others - m]) for m in range(others + 1)])


def _enumerated(p: Bit, q: Bit, n: int, order: float) -> float:
    """Return the largest divergence over all records of the others, by sums of the positive parts."""
    ones = _ones(p, q, n - 1)
    slack = 1 + 16 * n * UNIT
    mine, theirs = (np.zeros((len(ones), n + 1)) for _ in range(2))
    for rows, (one, zero) in ((mine, p), (theirs, q)):
        rows[:, :-1] = ones * zero
        rows[:, 1:] += ones * one
    return float(np.maximum(mine * slack - order * theirs / slack, 0.0).sum(axis=1).max()) * slack


def _by_transform(p: Bit, q: Bit, some: NDArray[np.int64], rest: NDArray[np.int64], order: float) -> float:
    """Return the largest bound over pairs of numbers of other people with the probabilities p and q.

    With e^tilt = 1 + (e - 1) / (p - e q), the best s is the mode of the law of C, tilted by e^(tilt C): it is one of the two
    integers next to the mean (Darroch 1964). With the characteristic function f of the tilted law, the inverse transform on N
    nodes is, up to the factor E e^(tilt (C - s)),

        H = (p - e q) / N sum_k f(t_k) e^(-i s t_k) (1 - (e^tilt - 1) / (e^(tilt + i t_k) - 1)).

    Nodes are left out where f is negligible. N is larger than the window that holds all but e^-60 of the tilted law.
    """
    gain = p[0] - order * q[0]
    if gain <= 0:
        return 0.0
    gain = gain + 8 * UNIT * (p[0] + order * q[0])
    tilt = math.log1p((order - 1) / gain)
    ones, others = (_tilted(bit, tilt) for bit in (p, q))
    mean = some * ones[0] + rest * others[0]
    variance = some * math.prod(ones) + rest * math.prod(others)
    log_moment = some * math.log1p(p[0] * math.expm1(tilt)) + rest * math.log1p(q[0] * math.expm1(tilt))
    widest = math.sqrt(float(variance.max()))
    window = 2 * math.ceil(REACH + math.sqrt(2 * REACH) * widest) + 4  # Bernstein's inequality
    decay = REACH / tilt if tilt > 0 else math.inf  # e^(-tilt (c - s)) is negligible beyond
    if decay > max(4 * window, MAX_NODES):  # the tails would need too many nodes: the bound without them
        return gain * _largest_probability(p, q, some, rest)
    length = int(window + math.ceil(decay))
    nodes = np.arange(1, length // 2 + 1)
    angle = 2 * math.pi * nodes / length
    sine = np.sin(angle / 2) ** 2
    sizes = 0.5 * float(variance.min()) * -4 * sine  # |f|^2 <= exp(-4 v sin^2(t / 2))
    kept = sizes > math.log(NEGLIGIBLE)
    nodes, angle = nodes[kept], angle[kept]
    circle = np.exp(1j * angle)
    factor = 1 - math.expm1(tilt) / (math.exp(tilt) * circle - 1)
    logs = np.stack([_log_sizes(bit, circle, sine[kept]) for bit in (ones, others)])
    turn = np.stack([np.arctan2(one * circle.imag, zero + one * circle.real) for one, zero in (ones, others)])
    twice = np.where(2 * nodes == length, 1.0, 2.0) / length
    people = np.stack([some, rest], axis=1).astype(np.float64)
    sizes = np.exp(people @ logs) * (np.abs(factor) * twice)
    s = np.floor(mean)
    turns = people @ turn - np.multiply.outer(s, angle) + np.angle(factor)
    value = np.maximum((sizes * np.cos(turns)).sum(axis=1), np.exp(-tilt) * (sizes * np.cos(turns - angle)).sum(axis=1))
    # phases have an error of a few units of the numbers of people times the angle
    error = 16 * UNIT * (8 * sizes.sum(axis=1) + (mean + s + some + rest) * (sizes @ angle))
    error += 2 * NEGLIGIBLE + 4 * math.exp(-REACH)
    scale = np.exp(np.minimum(log_moment - tilt * s + 64 * UNIT * (some + rest + s) * (tilt + 1), 700.0))
    return float(((value + error) * scale).max()) * gain + LEAST


def _tilted(bit: Bit, tilt: float) -> Bit:
    """Return the probabilities of a one and of a zero in proportion to those of a bit, times e^tilt for a one."""
    one, zero = bit[0] * math.exp(tilt), bit[1]
    return one / (one + zero), zero / (one + zero)


def _log_sizes(bit: Bit, circle: NDArray[np.complex128], sine: Floats) -> Floats:
    """Return the logarithms of the sizes of the characteristic function of a bit, accurate near 1 and near 0."""
    one, zero = bit
    less = 4 * one * zero * sine
    direct = np.log(np.maximum(np.abs(zero + one * circle), 1e-300))
    return np.where(less < 0.5, np.log1p(-np.minimum(less, 0.5)) / 2, direct)


def _largest_probability(p: Bit, q: Bit, some: NDArray[np.int64], rest: NDArray[np.int64]) -> float:
    """Return a bound on the probability of every number of ones.

    It is at most the mean of the size of the characteristic function, which is at most exp(-v (1 - cos t)) for the variance v.
    """
    from scipy.special import ive

    variance = float((some * (p[0] * p[1]) + rest * (q[0] * q[1])).min())
    return float(ive(0, variance * (1 - 1e-9))) * (1 + 1e-9)
