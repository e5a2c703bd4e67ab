"""Stochastic gradient descent in numba."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ldpfast import _coins
from ldpfast._typing import AnyArray
from ldpfast.bench._case import EPSILON, Case, Task
from ldpfast.bench._checks import left_out

from .numba_privatize import normals
from .numba_tools import fill, fresh_seed, njit, stream
from .numpy_descent import median_step

BATCH_ROWS = 1 << 11  # people whose coins are drawn together


@njit(nogil=True)
def median_walk(x: Any, seed: Any, keep: Any, lower: Any, upper: Any, base_step: Any, any_time: Any, start: Any) -> Any:
    """Run a descent for the median; return sums over the positions after the first `start`.

    With u the signed distance of a position from the middle, the sums are of u, u^2, u^3 and u^4 over all positions, and of
    1, u and u^2 over the positions with answer 1. The step size is `base_step`, divided by sqrt(i) if `any_time`.
    """
    words, flip, step = (
        np.empty(BATCH_ROWS // 2, np.uint64),
        np.empty(BATCH_ROWS, np.uint8),
        np.full(BATCH_ROWS, base_step),
    )
    word = words.view(np.uint32)
    origin = (lower + upper) / 2
    at = origin
    u1, u2, u3, u4, y0, y1, y2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    done = 0
    while done < x.size:
        if done == start:
            u1, u2, u3, u4, y0, y1, y2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        now = min(BATCH_ROWS, x.size - done, start - done if done < start else BATCH_ROWS)
        fill(words, stream(seed, done))
        for i in range(now):
            flip[i] = np.uint8(word[i] >= keep)
        if any_time:
            for i in range(now):
                step[i] = base_step / np.sqrt(np.float64(done + i + 1))
        for i in range(now):
            above, below = min(at + step[i], upper), max(at - step[i], lower)
            bit = (x[done + i] >= at) ^ (flip[i] != 0)
            u = at - origin
            square, yes = u * u, 1.0 if bit else 0.0
            u1 += u
            u2 += square
            u3 += u * square
            u4 += square * square
            y0 += yes
            y1 += yes * u
            y2 += yes * square
            at = above if bit else below
        done += now
    return np.array([u1, u2, u3, u4, y0, y1, y2])


def median_case(case: Case) -> Task:
    """Return a call that estimates a median."""
    model, n, start = case.mechanism, len(case.x), left_out(len(case.x))
    keep, any_time = np.uint32(_coins.response(2, EPSILON).keep), model.horizon is None
    base_step = median_step(model, n)

    def call() -> tuple[float, int]:
        sums = median_walk(case.x, fresh_seed(), keep, model.lower, model.upper, base_step, any_time, start)
        return (model.lower + model.upper) / 2 + sums[0] / (n - start), n

    return call


@njit(nogil=True, fastmath=True)
def logistic_walk(x: Any, y: Any, rates: Any, seed: Any, p: Any, start: Any) -> Any:
    """Run a descent for logistic regression; return sums over the positions after the first `start`.

    With S(s) the sum of the first s such positions, the rows are the last S, and the sums of S, S^2 and s S over all s.
    """
    scale, heads, projection = p
    n, dim = x.shape
    rows = BATCH_ROWS // 8
    normal, coins = np.empty((rows * dim + 1) // 2 * 2, np.float32), np.empty(2 * rows, np.uint64)
    row, position, sums = np.empty((rows, dim), np.float32), np.zeros(dim), np.zeros((4, dim))
    done, counted = 0, 0
    while done < n:
        if done == start:
            sums[:] = 0
            counted = 0
        now = min(rows, n - done, start - done if done < start else rows)
        part = stream(seed, done)
        normals(normal, part)
        fill(coins, stream(part, 3))
        for i in range(now):
            for j in range(dim):
                row[i, j] = np.float32(x[done + i, j])
        for i in range(now):
            u, v = normal[i * dim : (i + 1) * dim], row[i]
            uu, uv, vv = np.float32(0), np.float32(0), np.float32(0)
            for j in range(dim):
                uu += u[j] * u[j]
                uv += u[j] * v[j]
                vv += v[j] * v[j]
            z = 0.0
            for j in range(dim):
                z += position[j] * np.float64(v[j])
            norm = math.sqrt(vv)
            slope = (1 / (1 + math.exp(-z / max(norm, 1.0))) - y[done + i]) * min(norm, 1.0)
            minus = slope * uv < 0
            minus ^= (coins[2 * i] >> np.uint64(11)) * 2.0**-53 >= (1 + abs(slope)) / 2
            minus ^= (coins[2 * i + 1] >> np.uint64(11)) * 2.0**-53 >= heads
            factor = rates[done + i] * (-scale if minus else scale) / math.sqrt(uu)
            square = 0.0
            for j in range(dim):
                position[j] -= factor * np.float64(u[j])
                square += position[j] * position[j]
            if square > projection * projection:
                for j in range(dim):
                    position[j] *= projection / math.sqrt(square)
            counted += 1
            for j in range(dim):
                s = sums[0, j] + position[j]
                sums[0, j] = s
                sums[1, j] += s
                sums[2, j] += s * s
                sums[3, j] += counted * s
        done += now
    return sums


def logistic_case(case: Case) -> Task:
    """Return a call that fits a logistic regression."""
    model, n, start = case.mechanism, len(case.x), left_out(len(case.x))
    p = math.sqrt(model.variance * model.dim), float(_coins.binary(EPSILON).p), model.projection

    def call() -> tuple[AnyArray, int]:
        rates = model.eta0 * np.arange(1, n + 1) ** -model.exponent
        return logistic_walk(case.x, case.y, rates, fresh_seed(), p, start)[0] / (n - start), n

    return call
