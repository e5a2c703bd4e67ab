"""Events of reports and their probabilities, for the coins of `power`."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ldpfast.mechanisms import Mechanism

Count = Callable[[np.ndarray], int]


def logistic(t: float) -> float:
    return 1 / (1 + math.exp(-t))


def response(k: int, epsilon: float) -> float:
    """Return the probability of the true answer of k-ary randomized response."""
    return math.exp(epsilon) / (math.exp(epsilon) + k - 1)


def of_set(size: int, outputs: int, epsilon: float) -> float:
    """Return the probability of a set, all of whose codes have e^epsilon times the probability of the others."""
    return math.exp(epsilon) * size / (math.exp(epsilon) * size + outputs - size)


def equal_to(code: int) -> Count:
    return lambda reports: np.count_nonzero(reports == code)


def in_set(mechanism: Mechanism, record: int) -> Count:
    """Return a function that counts reports among the codes that are most probable for the record."""
    row = mechanism.channel().matrix[record]
    inside = row > (row.min() + row.max()) / 2
    return lambda reports: np.count_nonzero(inside[reports])


def ones(byte_masks: list[int]) -> Count:
    """Return a function that counts the ones of packed bits in some positions of each byte of a row."""
    masks = np.array(byte_masks, np.uint8)
    return lambda reports: int(np.bitwise_count(reports & masks).sum(dtype=np.int64))


def at_least_ones(least: int) -> Count:
    return lambda reports: np.count_nonzero(np.bitwise_count(reports).sum(axis=1) >= least)


def is_positive(vectors: np.ndarray) -> int:
    """Count vectors whose first coordinate is positive."""
    return np.count_nonzero(vectors[:, 0] > 0)


LAPLACE_FLIP = math.log((math.e + 1) / 2)  # exceeded by standard Laplace noise with probability 1 / (e + 1)
