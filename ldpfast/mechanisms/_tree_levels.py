"""Choice of the responses of the levels of a tree over ordered bins."""

from __future__ import annotations

import math
from functools import lru_cache

from .. import _coins
from ._projective_space import Geometry, geometries
from ._subset_selection import best_size
from ._tree_level import HadamardLevel, ResponseLevel, TreeLevel
from ._tree_sets import ProjectiveLevel, SubsetLevel, line_moments

POINTS_PER_NODE = 8  # at most, of the projective space of a large level
SMALL_SPACE = 1 << 17  # points that every level may have
MAX_SUBSETS = 1 << 16  # codes of a level with subset selection
MAX_MEMBERSHIPS = 1 << 22  # times nodes: size of a table
SMALLEST_EPSILON = 1e-12  # of levels with sets; below, doubles lose the difference of their probabilities
MIN_GAIN = 0.99  # of variance, for which a level has projective geometry response


def tree_sizes(k: int, branching: int) -> list[int]:
    """Return the numbers of nodes of the levels, from the root to the k bins. Only the last node of a level has fewer bins."""
    sizes = [k]
    while sizes[0] > 1:
        sizes.insert(0, -(-sizes[0] // branching))
    return sizes


def tree_levels(k: int, epsilon: float, branching: int, method: str) -> list[TreeLevel]:
    """Return the levels of the tree, each with the response of the smallest variance.

    Haar coefficients have k-ary or Hadamard response.
    """
    sizes, signed = tree_sizes(k, branching), method == "haar"
    levels = []
    for depth in range(1, len(sizes)):
        symbols, span = sizes[depth], branching ** (len(sizes) - 1 - depth)
        nodes = sizes[depth - 1] if signed else symbols
        levels.append(_best_level(nodes, symbols, span, signed, epsilon))
    return levels


@lru_cache(maxsize=1024)
def _best_level(nodes: int, symbols: int, span: int, signed: bool, epsilon: float) -> TreeLevel:
    """Return the level with the smallest variance if all nodes are equally frequent."""
    odds = math.exp(min(epsilon, 100.0))
    # Second moments of k-ary and of Hadamard response, times the same factor.
    response, hadamard = (odds + symbols - 1) * (1 + signed + (odds - 1) / nodes), (odds + 1) ** 2
    if not signed and nodes > 2 and epsilon > SMALLEST_EPSILON:
        size = best_size(nodes, epsilon)
        if size > 1 and _has_few_subsets(nodes, size):
            coin = _coins.of_set(epsilon, math.comb(nodes - 1, size - 1), math.comb(nodes, size))
            return SubsetLevel(nodes, symbols, span, signed, coin, size)
        space, variance = _best_space(nodes, odds)
        if space is not None and variance * (odds - 1) ** 2 < MIN_GAIN * min(response, hadamard):
            coin = _coins.of_set(epsilon, space.hyperplane, space.points)
            return ProjectiveLevel(nodes, symbols, span, signed, coin, space)
    if response <= hadamard:
        return ResponseLevel(nodes, symbols, span, signed, _coins.response(symbols, epsilon, wide=True))
    return HadamardLevel(nodes, symbols, span, signed, _coins.binary(epsilon))


def _has_few_subsets(nodes: int, size: int) -> bool:
    """Return whether the tables of all sets of a size are small."""
    if math.comb(nodes, 2) > MAX_SUBSETS:  # larger binomial coefficients may have millions of digits
        return False
    subsets = math.comb(nodes, size)
    return subsets <= MAX_SUBSETS and nodes * subsets <= MAX_MEMBERSHIPS


def _best_space(nodes: int, odds: float) -> tuple[Geometry | None, float]:
    """Return the space with the smallest variance of a level, and that variance; None if all spaces are too large."""
    best, least = None, math.inf
    for space in geometries(nodes, max(SMALL_SPACE, POINTS_PER_NODE * nodes)):
        if space.length == 2:
            continue  # k-ary response
        inside = odds / (odds * space.hyperplane + space.points - space.hyperplane)
        moments = line_moments(space, inside, inside / odds)
        if (variance := moments.base + moments.slope / nodes) < least:
            best, least = space, variance
    return best, least
