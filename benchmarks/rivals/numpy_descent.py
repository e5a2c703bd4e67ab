"""Stochastic gradient descent in NumPy: vectorized coins and sums, and sequential steps."""

from __future__ import annotations

import math

import numpy as np

from ldpfast import _coins
from ldpfast._typing import AnyArray
from ldpfast.bench._case import Task
from ldpfast.bench._checks import left_out
from ldpfast.estimation import GradientDescent, MedianSGD
from ldpfast.mechanisms import L2Ball

from .numpy_mechanisms import CHUNK, NumpyNormals, Words


def median_step(model: MedianSGD, n: int) -> float:
    """Return the size of every step among n people, or of the first if the horizon is unknown: step i has it / sqrt(i)."""
    width = float(model.upper - model.lower)
    return width / math.sqrt(2) if model.horizon is None else width / (2 * math.sqrt(n))


def numpy_median(model: MedianSGD, x: AnyArray) -> Task:
    """Return a call that estimates a median by descent.

    The steps are plain Python, which is faster than NumPy for single numbers; the sums of the interval are NumPy.
    """
    words, keep, n = Words(), np.uint32(_coins.response(2, model.epsilon).keep), len(x)
    lower, upper = model.lower, model.upper

    def run() -> tuple[float, int]:
        step_sizes = np.full(n, median_step(model, n))
        if model.horizon is None:
            step_sizes /= np.sqrt(np.arange(1, n + 1))
        flips = (words(n, np.uint32) >= keep).tolist()
        positions, bits, position = [], [], (lower + upper) / 2
        for value, flip, step in zip(x.tolist(), flips, step_sizes.tolist(), strict=True):
            positions.append(position)
            if (value >= position) != flip:
                bits.append(1.0)
                position += step
                if position > upper:
                    position = upper
            else:
                bits.append(0.0)
                position -= step
                if position < lower:
                    position = lower
        kept = np.array(positions[left_out(n) :])
        powers = np.vander(kept - kept[0], 5)
        sums = np.concatenate([powers.sum(axis=0), np.array(bits[left_out(n) :]) @ powers[:, 2:]])
        return float(kept[0] + sums[3] / len(kept)), n

    return run


def numpy_logistic(model: GradientDescent, ball: L2Ball, x: AnyArray, y: AnyArray) -> Task:
    """Return a call that fits a logistic regression by descent.

    A step is two inner products and a sum. The quantities that do not depend on the position are vectorized.
    """
    words, (n, dim) = Words(), x.shape
    rows = CHUNK // dim
    normals, p = NumpyNormals(words, rows * dim), float(_coins.binary(ball.epsilon).p)
    moved = np.empty((rows + 1, dim))
    squared_radius = model.projection**2

    def run() -> tuple[AnyArray, int]:
        sums, start = np.zeros((4, dim)), left_out(n)
        moved[0] = 0
        for row in range(0, n, rows):
            now = min(rows, n - row)
            u, v = normals()[: now * dim].reshape(now, dim), x[row : row + now].astype(np.float32)
            norm = np.sqrt(np.vecdot(v, v))
            v *= np.minimum(1, ball.radius / norm)[:, None]
            inner, norm = np.vecdot(u, v).tolist(), np.minimum(norm / ball.radius, 1).tolist()
            rates = model.eta0 * np.arange(row + 1, row + now + 1) ** -model.exponent
            u, v = u * (rates * ball.scale / np.sqrt(np.vecdot(u, u)))[:, None], v.astype(np.float64)
            rounding = (2 * words.generator.random(now) - 1).tolist()
            tails, labels = (words.generator.random(now) >= p).tolist(), y[row : row + now].tolist()
            for i in range(now):
                here, there = moved[i], moved[i + 1]
                slope = 1 / (1 + math.exp(-here.dot(v[i]))) - labels[i]
                minus = (slope * inner[i] < 0) ^ (rounding[i] >= abs(slope) * norm[i]) ^ tails[i]
                (np.add if minus else np.subtract)(here, u[i], out=there)
                squared_length = there.dot(there)
                if squared_length > squared_radius:
                    there *= math.sqrt(squared_radius / squared_length)
            first = max(0, start - row)
            if first < now:
                s = np.cumsum(moved[1 + first : now + 1], axis=0)
                s += sums[0]
                sums[0] = s[-1]
                sums[1] += s.sum(axis=0)
                sums[2] += np.square(s).sum(axis=0)
                sums[3] += np.arange(row + first + 1 - start, row + now + 1 - start) @ s
            moved[0] = moved[now]
        mean: AnyArray = sums[0] / (n - start)
        return mean, n

    return run
