"""Cases of `ldpfast.bench` that are implemented in numba."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldpfast import _coins
from ldpfast.bench._case import EPSILON, Case, Task
from ldpfast.mechanisms import UnaryEncoding

from .numba_count import count_chunk, run_linf_chunk, run_unary_chunk, series_chunk
from .numba_descent import logistic_case, median_case
from .numba_gaussian import gaussian_case
from .numba_privatize import (
    hadamard_chunk,
    l2_chunk,
    laplace_chunk,
    linf_chunk,
    residue_chunk,
    response_chunk,
    response_parameters,
    sign_bit_chunk,
    subset_chunk,
    unary_chunk,
    window_chunk,
)
from .numba_tools import ROWS, counter, drivers, looping, privatizer
from .numpy_mechanisms import HALF_RANGE, sign_threshold


def unary_threshold(mechanism: UnaryEncoding) -> int:
    """Return the number of words of 16 bits that set the bit of another category."""
    return round(mechanism.debiasing.probabilities[1] * 65536)


def numba_case(name: str, case: Case, threads: int) -> Task | None:
    """Return a call that performs the case in numba, or None if the case is not implemented."""
    mechanism: Any = case.mechanism
    n = len(case.x)
    heads = float(_coins.binary(EPSILON).p)
    if name.startswith("l2"):
        p: tuple[float, ...] = (1 / mechanism.radius, mechanism.scale, heads)
        return privatizer(l2_chunk, case, case.x.shape, np.float32, p, threads)
    if name.startswith("linf"):
        p = (HALF_RANGE / mechanism.radius, heads)
        return privatizer(linf_chunk, case, (n, mechanism.dim // 8), np.uint8, p, threads)
    if name.startswith("run-linf"):
        counts = counter(run_linf_chunk, case, 8192, mechanism.dim, (HALF_RANGE / mechanism.radius, heads), threads)
        return lambda: mechanism.debiasing(counts() / n)
    if name.startswith("median"):
        return median_case(case)
    if name == "gaussian":
        return gaussian_case(case, threads)
    if name.startswith("logistic"):
        return logistic_case(case)
    if name.startswith("frequencies"):
        counts = counter(run_unary_chunk, case, 4096, mechanism.k, (unary_threshold(mechanism), 1), threads)
        return lambda: mechanism.debiasing(counts() / n)
    if name.startswith("series"):
        lower, upper = mechanism.domain.range
        counts = counter(series_chunk, case, 1 << 17, 64, (HALF_RANGE, heads, lower, 1 / (upper - lower)), threads)
        return lambda: mechanism.mechanism.debiasing(counts().reshape(2, 32).sum(axis=0) / n)
    if name.startswith("unary"):
        p = (unary_threshold(mechanism), 0)
        rows = 32 * ROWS // mechanism.k
        return looping(drivers, unary_chunk, case, np.zeros((n, mechanism.k // 8), np.uint8), rows, p, threads)
    if name.startswith("count"):
        return counter(count_chunk, case, (8 << 20) // case.x.shape[1], 8 * case.x.shape[1], (0.0,), threads)
    if name.startswith("response"):
        coin = _coins.response(mechanism.k, EPSILON)
        return privatizer(response_chunk, case, (n,), np.uint8, response_parameters(coin), threads)
    if name.startswith("residue"):
        coin = _coins.response(mechanism.modulus, EPSILON)
        p = (*response_parameters(coin), 1 / mechanism.width, mechanism.offset, mechanism.modulus - 1)
        return privatizer(residue_chunk, case, (n,), np.uint8, p, threads)
    if name.startswith("sign-bit"):
        return privatizer(sign_bit_chunk, case, (n,), np.uint8, sign_threshold(mechanism), threads)
    if name.startswith("hadamard"):
        coin = mechanism._coin
        p = (mechanism.report.k - 1, int(coin.inside * coin.size * 2**32))
        return privatizer(hadamard_chunk, case, (n,), np.uint16, p, threads)
    if name.startswith("subset"):
        p = (mechanism.k, mechanism.size, mechanism._coin.heads >> 11)
        return looping(drivers, subset_chunk, case, np.zeros((n, mechanism.k // 8), np.uint8), 512, p, threads)
    if name == "window":
        coin, length = mechanism._coin, mechanism.upper - mechanism.lower
        p = (mechanism.lower, coin.steps / length, coin.steps - 1, coin.per, coin.width * coin.per, coin.each)
        p = (*p, coin.bit_words, coin.tails, (coin.heads - coin.tails) / coin.steps, coin.outputs)
        return privatizer(window_chunk, case, (n,), np.uint8, tuple(map(float, p)), threads)
    if name.startswith("laplace"):
        p = ((mechanism.upper - mechanism.lower) / mechanism.epsilon,)
        return privatizer(laplace_chunk, case, (n,), np.float64, p, threads)
    return None
