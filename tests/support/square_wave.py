"""Square Wave with EM and smoothing, the estimator of distributions that others use (Li et al., SIGMOD 2020).

Reports are floats, and the noise is neither exact nor cryptographic: for comparisons of accuracy only.
"""

from __future__ import annotations

import math

import numpy as np

STEPS = 10_000  # at most, of EM
ENOUGH = 1e-3  # change of the logarithm of the likelihood at which EM with smoothing stops
KERNEL = (0.25, 0.5, 0.25)


def half_width(epsilon: float) -> float:
    """Return the half-width b of the wave for numbers in [0, 1]."""
    odds = math.exp(epsilon)
    return (epsilon * odds - odds + 1) / (2 * odds * (odds - 1 - epsilon))


def reports(x: np.ndarray, epsilon: float, rng: np.random.Generator) -> np.ndarray:
    """Return reports in [-b, 1 + b]: within b of the number with the density e^epsilon / (2 b e^epsilon + 1)."""
    odds, b = math.exp(epsilon), half_width(epsilon)
    near = rng.random(len(x)) < 2 * b * odds / (2 * b * odds + 1)
    u = rng.random(len(x))
    far = np.where(u < x, u - b, u + b)  # uniform on [-b, 1 + b] without the wave, which has the length 1
    return np.where(near, x + (2 * u - 1) * b, far)


def transition(epsilon: float, k: int) -> np.ndarray:
    """Return the probabilities of k equal bins of the reports for numbers that are uniform in k equal cells, shape (k, k)."""
    odds, b = math.exp(epsilon), half_width(epsilon)
    cells, bins = np.linspace(0, 1, k + 1), np.linspace(-b, 1 + b, k + 1)

    def twice(z: np.ndarray) -> np.ndarray:  # the second antiderivative of the wave
        return (np.maximum(z + b, 0) ** 2 - np.maximum(z - b, 0) ** 2) / 2

    corners = twice(bins[:, np.newaxis] - cells)
    wave = k * -np.diff(np.diff(corners, axis=0), axis=1)
    return (np.diff(bins)[:, np.newaxis] + (odds - 1) * wave) / (2 * b * odds + 1)


def shares(x: np.ndarray, epsilon: float, rng: np.random.Generator, k: int = 256) -> np.ndarray:
    """Return the estimated shares of k cells of [0, 1], by EM with a smoothing step."""
    matrix, b = transition(epsilon, k), half_width(epsilon)
    counts = np.histogram(reports(x, epsilon, rng), np.linspace(-b, 1 + b, k + 1))[0]
    theta, before = np.full(k, 1 / k), -math.inf
    for _ in range(STEPS):
        mixed = matrix @ theta
        value = float(counts @ np.log(mixed))
        if abs(value - before) < ENOUGH:
            break
        theta = theta * (matrix.T @ (counts / mixed))
        padded = np.concatenate([theta[:1], theta, theta[-1:]])
        theta = np.convolve(padded, KERNEL, "valid")
        theta, before = theta / theta.sum(), value
    return theta
