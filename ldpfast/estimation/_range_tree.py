"""Least squares on a tree over ordered bins, and exact variances of ranges.

The people report different levels of the tree. The decoded report of one person has, for a node with the share f, the
second moment e + d f (`TreeLevel.base`, `TreeLevel.slope`), and for two nodes no common moment, up to a constant of the
level by which least squares multiplies 0. So a linear function with coefficients a of the numbers of a level with n
reports has the variance (sum of a^2 (e + d f) - (sum of a m)^2) / n, where m are the expectations of the numbers.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .. import _threads
from .._typing import Floats
from ..mechanisms._tree_level import TreeLevel
from ..mechanisms._tree_levels import tree_sizes

CHUNK = 1 << 16  # numbers per array in one step
NO_REPORT = 1e-12  # number of reports that a level without reports counts as: its variance is practically infinite


@dataclass(frozen=True, eq=False)
class Weights:
    """Functions of the shares of the bins with weights that change at one or two bins only.

    Function r has the weight sum over p of `left[p]` for the bins before `bins[p, r]`, and of `own[p, r]` for that bin.

    Attributes
    ----------
    bins : ndarray of int, shape (1, r) or (2, r)
        In ascending order along the first axis.
    own : ndarray, shape of `bins`
    left : ndarray, shape (1, 1) or (2, 1)
    """

    bins: NDArray[np.int64]
    own: Floats
    left: Floats

    @classmethod
    def single(cls, bins: NDArray[np.int64]) -> Weights:
        """Return the functions that are the share of one bin."""
        return cls(bins[np.newaxis], np.ones((1, len(bins))), np.zeros((1, 1)))

    @classmethod
    def prefixes(cls, high: NDArray[np.int64], k: int) -> Weights:
        """Return the functions that are the share of the bins in [0, high), 0 <= high <= k."""
        return cls(np.minimum(high, k - 1)[np.newaxis], 1.0 * (high == k)[np.newaxis], np.ones((1, 1)))

    @classmethod
    def ranges(cls, low: NDArray[np.int64], high: NDArray[np.int64], k: int) -> Weights:
        """Return the functions that are the share of the bins in [low, high), 0 <= low <= high <= k."""
        ends, sign = np.stack([low, high]), np.array([[-1.0], [1.0]])
        return cls(np.minimum(ends, k - 1), np.where(ends == k, sign, 0.0), sign)

    def part(self, start: int, stop: int) -> Weights:
        """Return some of the functions."""
        return Weights(self.bins[:, start:stop], self.own[:, start:stop], self.left)


class Tree(ABC):
    """Estimates of the shares of all nodes from the reports of all levels.

    Parameters
    ----------
    levels : sequence of TreeLevel
        Levels of the tree below the root, whose share is 1.
    branching : int
        Number of children of a node.
    numbers : list of ndarray
        Unbiased numbers of each level.
    counts : sequence of int
        Number of reports of each level.

    Attributes
    ----------
    sizes : list of int
        Number of nodes at each depth; the root has depth 0.
    shares : list of ndarray
        Unbiased shares of the nodes at each depth. Those of children add up to that of their parent.
    """

    shares: list[Floats]

    def __init__(
        self, levels: Sequence[TreeLevel], branching: int, numbers: Sequence[Floats], counts: Sequence[int]
    ) -> None:
        self.levels = levels
        self.branching = branching
        self.numbers = numbers
        self.sizes = tree_sizes(levels[-1].symbols, branching)
        self.counts = [max(NO_REPORT, count) for count in counts]
        # Amount by which one report of a level moves the number of its node.
        self.steps = [1 / (float(level.gap) * max(1, count)) for level, count in zip(levels, counts, strict=True)]
        self._solve()

    @abstractmethod
    def _solve(self) -> None:
        """Compute the shares of the nodes."""

    @abstractmethod
    def _variance_and_step(self, weights: Weights) -> Floats:
        """Return the variances of functions of the shares, and the largest steps of one report, shape (2, functions)."""

    def variance(self, weights: Weights) -> Floats:
        """Return the variances of functions of the shares: exact, if the estimated shares of the nodes were the true ones.

        The records are random draws from the population.
        """
        return np.asarray(self.variance_and_step(weights)[0])

    def variance_and_step(self, weights: Weights) -> Floats:
        """Return the variances of functions of the shares, and bounds on the steps by which a report moves them.

        A step is the largest coefficient of the share of a node in the reports of a level, over the number of these reports.

        Returns
        -------
        spread : ndarray, shape (2, functions)
        """
        count, functions = weights.bins.shape
        step = CHUNK // count

        def work(start: int, stop: int) -> list[Floats]:
            return [self._variance_and_step(weights.part(i, min(stop, i + step))) for i in range(start, stop, step)]

        parts = _threads.parallel_map(work, functions, step, count * len(self.levels) * functions)
        return np.concatenate([np.zeros((2, 0)), *itertools.chain(*parts)], axis=1)

    def _difference(self, moments: Floats, squares: Floats) -> Floats:
        """Return the moments minus the squares of means, at least the smallest value that is possible for true shares.

        The square is at most `TreeLevel.largest_square` times the moment on each level.
        """
        largest = max(level.largest_square for level in self.levels)
        return np.maximum(moments - squares, moments * (1 - largest))


class Hierarchy(Tree):
    """Generalized least squares for the shares of all nodes, with equal variances within a level.

    The best estimate of a node from its subtree is a weighted mean of its own number and of the sum of its children's
    estimates. From the root down, the difference between a node and that sum is then divided among the children.
    """

    def _solve(self) -> None:
        last = len(self.levels)
        variances = [level.variance / n for level, n in zip(self.levels, self.counts, strict=True)]
        # Of each node, by depth: the variance of its estimate from the subtree, the weight of its own number in this
        # estimate, and the sum of the variances of its children.
        empty: Floats = np.zeros(0)
        self.spread = [empty] * (last + 1)
        self.weight = [empty] * (last + 1)
        self.children = [empty] * last
        self.spread[last], self.weight[last] = np.full(self.sizes[last], variances[-1]), np.ones(self.sizes[last])
        estimates = [empty] * last + [self.numbers[-1]]
        for depth in range(last - 1, 0, -1):
            total = self.children[depth] = self._sums(self.spread[depth + 1])
            self.weight[depth] = total / (total + variances[depth - 1])
            self.spread[depth] = self.weight[depth] * variances[depth - 1]
            sums = self._sums(estimates[depth + 1])
            estimates[depth] = sums + self.weight[depth] * (self.numbers[depth - 1] - sums)
        self.children[0] = self._sums(self.spread[1])
        self.shares = [np.ones(1)]
        for depth in range(1, last + 1):
            missing = (self.shares[-1] - self._sums(estimates[depth])) / self.children[depth - 1]
            correction = np.repeat(missing, self.branching)[: self.sizes[depth]]
            self.shares.append(estimates[depth] + self.spread[depth] * correction)

    def _sums(self, values: Floats) -> Floats:
        """Return the sums over the children of each node."""
        return np.asarray(np.add.reduceat(values, np.arange(0, len(values), self.branching)))

    def variance_and_step(self, weights: Weights) -> Floats:
        if not hasattr(self, "before"):
            self._prepare()
        return super().variance_and_step(weights)

    def _prepare(self) -> None:
        """Compute what all functions need.

        `moment` is the second moment of the number of a node, divided by the reports of the level, and `inside` that of its
        estimate from the subtree. `passed` are the parts of the levels in the expectation of such an estimate, as a factor of
        the share of a complete node; `final` are these parts for the last node at each depth, which can be incomplete.
        `before` are the sums over the siblings before a node of `inside` and of the shares without that last node. `reach` are
        bounds on the steps by which a report moves the estimates of the nodes at each depth from their subtrees.
        """
        last = len(self.levels)
        self.moment = [np.zeros(1)]
        for level, n, share in zip(self.levels, self.counts, self.shares[1:], strict=True):
            self.moment.append((level.base + level.slope * np.clip(share, 0, 1)) / n)
        inside = [*self.moment]
        self.passed, self.final = np.zeros((last, last)), np.zeros((last, last))
        self.passed[-1, -1], self.final[-1, -1] = 1.0, self.shares[last][-1]
        self.reach = [0.0] * last + [self.steps[-1]]
        for depth in range(last - 1, 0, -1):
            weight = self.weight[depth]
            share = self.shares[depth + 1]
            i = depth - 1
            self.reach[depth] = max(weight.max() * self.steps[i], (1 - weight).max() * self.reach[depth + 1])
            inside[depth] = weight**2 * self.moment[depth] + (1 - weight) ** 2 * self._sums(inside[depth + 1])
            self.passed[i] = (1 - weight[0]) * self.passed[i + 1]
            self.passed[i, i] = weight[0]
            complete = share[(self.sizes[depth] - 1) * self.branching : -1].sum()
            self.final[i] = (1 - weight[-1]) * (complete * self.passed[i + 1] + self.final[i + 1])
            self.final[i, i] = weight[-1] * self.shares[depth][-1]
        self.before = [
            (self._before(moment), self._before(np.append(share[:-1], 0.0)))
            for moment, share in zip(inside, self.shares, strict=True)
        ]

    def _before(self, values: Floats) -> Floats:
        """Return the sums over the siblings before each node, in rows of branching + 1 entries per parent."""
        rows = np.zeros((-(-len(values) // self.branching), self.branching + 1))
        rows[:, 1:].flat[: len(values)] = values
        return np.cumsum(rows, axis=1).reshape(-1)

    def _variance_and_step(self, weights: Weights) -> Floats:
        last, b = len(self.levels), self.branching
        # The nodes that contain a bin of `weights`, by depth, and the mean weight of the bins of these nodes.
        nodes, mean = [weights.bins], [weights.own]
        for depth in range(last - 1, -1, -1):
            child, parent = nodes[0], nodes[0] // b
            before = weights.left * (child % b) * self.spread[depth + 1][0]
            mean.insert(0, (before + mean[0] * self.spread[depth + 1][child]) / self.children[depth][parent])
            nodes.insert(0, parent)
        count, functions = weights.bins.shape
        moments = np.zeros(functions)
        means = np.zeros((last, functions))
        steps = np.zeros(functions)
        full, final = np.zeros((last, functions)), np.zeros((last, functions))
        coefficient = np.zeros((count, functions))  # of the estimates of these nodes from their subtrees
        for depth in range(1, last + 1):
            inside, share = self.before[depth]
            inherited = coefficient * (1 - self.weight[depth - 1][nodes[depth - 1]]) if depth > 1 else coefficient
            coefficient = np.empty_like(inherited)
            for p in range(count):
                parent, at = nodes[depth - 1][p], nodes[depth][p]
                # Coefficients of the siblings behind the node `at`, of the node itself and of the siblings before it.
                behind = inherited[p] - mean[depth - 1][p]
                inner, ahead = behind + mean[depth][p], behind + weights.left[p]
                row = parent * (b + 1)
                first = row
                place = row + at - parent * b
                end = row + b
                is_new = True
                for q in {0, 1} - {p} if count == 2 else ():
                    same, node = nodes[depth - 1][q] == parent, nodes[depth][q]
                    outer = np.where(same, mean[depth - 1][q], 0)
                    behind, ahead = behind - outer, ahead - outer
                    inner = inner - outer + np.where(node == at, mean[depth][q], 0)
                    if q < p:  # the siblings up to the other node were counted with it
                        first = np.where(same, np.minimum(row + node - parent * b + 1, place), first)
                        is_new = node != at
                    else:  # the siblings behind the other node are counted with it
                        end = np.where(same, place + 1, end)
                        inner, ahead = inner + (same & (at < node)) * weights.left[q], ahead + same * weights.left[q]
                coefficient[p] = inner
                moments += ahead**2 * (inside[place] - inside[first]) + behind**2 * (inside[end] - inside[place + 1])
                full[depth - 1] += ahead * (share[place] - share[first]) + behind * (share[end] - share[place + 1])
                is_last = (parent == self.sizes[depth - 1] - 1) & (at < self.sizes[depth] - 1) & (end == row + b)
                final[depth - 1] += behind * is_last
                direct = inner * self.weight[depth][at] * is_new
                moments += direct**2 * self.moment[depth][at]
                is_before, is_behind = inside[place] > inside[first], inside[end] > inside[place + 1]
                siblings = np.maximum(np.abs(ahead) * is_before, np.abs(behind) * is_behind)
                largest = np.maximum(np.abs(direct) * self.steps[depth - 1], siblings * self.reach[depth])
                steps = np.maximum(steps, largest)
                means[depth - 1] += direct * self.shares[depth][at]
        means += self.passed.T @ full + self.final.T @ final
        squares = (means**2 / np.array(self.counts)[:, np.newaxis]).sum(axis=0)
        return np.stack([self._difference(moments, squares), steps])


class Haar(Tree):
    """Shares from Haar coefficients: the halves of a node are half of its share plus and minus half of its coefficient."""

    def _solve(self) -> None:
        self.shares = [np.ones(1)]
        for size, number in zip(self.sizes[1:], self.numbers, strict=True):
            whole = self.shares[-1]
            halves = np.column_stack([whole + number, whole - number]) / 2
            if size % 2:  # the right half of the last node has no bin
                halves[-1, 0] = whole[-1]
            self.shares.append(halves.reshape(-1)[:size])

    def _variance_and_step(self, weights: Weights) -> Floats:
        # The mean weight of the bins of the two halves of a node gives the factor of its coefficient.
        node, mean = weights.bins, weights.own
        count, functions = node.shape
        moments = np.zeros(functions)
        squares = np.zeros(functions)
        steps = np.zeros(functions)
        for depth in range(len(self.levels), 0, -1):
            level, n = self.levels[depth - 1], self.counts[depth - 1]
            is_right, parent = node % 2 == 1, node // 2
            left, right = np.where(is_right, weights.left, mean), np.where(is_right, mean, 0)
            alone = 2 * parent + 1 >= self.sizes[depth]
            factor = np.where(alone, 0, (left - right) / 2)
            if count == 2:
                same = parent[0] == parent[1]
                factor[0] += np.where(same, factor[1], 0)
                factor[1, same] = 0
            moment = level.base + level.slope * np.clip(self.shares[depth - 1][parent], 0, 1)
            moments += (factor**2 * moment).sum(axis=0) / n
            steps = np.maximum(steps, np.abs(factor).max(axis=0) * self.steps[depth - 1])
            squares += (factor * self.numbers[depth - 1][parent]).sum(axis=0) ** 2 / n
            node, mean = parent, np.where(alone, left, (left + right) / 2)
        return np.stack([self._difference(moments, squares), steps])


@dataclass(frozen=True)
class _Sums:
    """Sums over the bins of a node, for the mean variance of a range.

    Given the share of the node, the share of its bins before one of them is f times that share plus a random number with
    variance v. The last two attributes are the same for the sum of the bins' shares times their positions.

    Attributes
    ----------
    size : int
        Number of bins.
    spread : float
        Variance of the estimate of the node from its subtree.
    f, f2, v : float
        Sums of f, f^2 and v over the bins.
    position, variance : float
        Factor and variance.
    """

    size: int
    spread: float
    f: float = 0.0
    f2: float = 0.0
    v: float = 0.0
    position: float = 0.0
    variance: float = 0.0


def _joined(child: _Sums, count: int, last: _Sums) -> _Sums:
    """Return the sums of a node with `count` equal children and a last one, without a number of its own."""

    def each(name: str) -> Floats:
        return np.append(np.full(count, float(getattr(child, name))), getattr(last, name))

    size = each("size")
    u = each("spread")
    f = each("f")
    f2 = each("f2")
    before, total = np.cumsum(u) - u, u.sum()
    f_sum = (size * before + u * f).sum()
    f2_sum = (size * before**2 + 2 * before * u * f + u**2 * f2).sum()
    place = np.cumsum(size) - size + each("position")
    middle = (u * place).sum() / total
    return _Sums(
        count * child.size + last.size,
        total,
        f_sum / total,
        f2_sum / total**2,
        (each("v") + size * before + u * f2).sum() - f2_sum / total,
        middle,
        (each("variance") + u * (place - middle) ** 2).sum(),
    )


def mean_range_variance(levels: Sequence[TreeLevel], branching: int) -> float:
    """Return the variance of the share of a range of bins times the number of people, as the mean over all ranges.

    For least squares with equally many reports of all levels, if all nodes of a level are equally frequent. It takes
    O(branching log k) time, because all nodes of a level are equal but the last.
    """
    sizes = tree_sizes(levels[-1].symbols, branching)
    whole = last = _Sums(1, len(levels) * levels[-1].variance)
    for depth in range(len(levels) - 1, -1, -1):
        complete = (
            sizes[depth + 1] - 1 - (sizes[depth] - 1) * branching
        )  # children of the last node before the last one
        last = _joined(whole, complete, last)
        if depth:
            whole, variance = _joined(whole, branching - 1, whole), len(levels) * levels[depth - 1].variance
            whole, last = (
                replace(node, spread=node.spread * variance / (node.spread + variance)) for node in (whole, last)
            )
    k = last.size
    return float(((k + 1) * last.v - last.variance) * 2 / (k * (k + 1)))
