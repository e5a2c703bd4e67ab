"""Arithmetic of small finite fields, by tables.

The element with number a is the polynomial whose coefficients are the digits of a to the base p, the characteristic.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

MAX_ELEMENTS = 64


@dataclass(frozen=True, eq=False)
class FiniteField:
    """The field with `order` = p^degree elements.

    Attributes
    ----------
    order, characteristic, degree : int
    sum, product : ndarray of uint8, shape (order, order)
        Tables of the sums and products of two elements.
    dual : ndarray of int64, shape (order,)
        Entry a has the digits trace(a x^j), j = 0, ..., degree - 1, to the base p. So the trace of a b is the sum of the
        products of the digits of ``dual[a]`` and of b, modulo p.
    """

    order: int
    characteristic: int
    degree: int
    sum: NDArray[np.uint8]
    product: NDArray[np.uint8]
    dual: NDArray[np.int64]


def orders() -> list[int]:
    """Return the orders of all fields with at most 64 elements."""
    return [q for q in range(2, MAX_ELEMENTS + 1) if _prime_power(q)]


def _prime_power(q: int) -> tuple[int, int] | None:
    """Return p and e with p prime and p^e = q, or None."""
    p = next(d for d in range(2, q + 1) if q % d == 0)
    degree, rest = 0, q
    while rest % p == 0:
        degree, rest = degree + 1, rest // p
    return (p, degree) if rest == 1 else None


def _digits(a: int, p: int, degree: int) -> list[int]:
    return [a // p**j % p for j in range(degree)]


def _times(a: list[int], b: list[int], modulus: list[int], p: int) -> list[int]:
    """Return the product of two polynomials modulo x^e - sum of modulus[j] x^j, as coefficients modulo p."""
    degree = len(modulus)
    result = [0] * (2 * degree - 1)
    for i, j in product(range(degree), repeat=2):
        result[i + j] += a[i] * b[j]
    for top in range(2 * degree - 2, degree - 1, -1):
        for j in range(degree):
            result[top - degree + j] += result[top] * modulus[j]
    return [c % p for c in result[:degree]]


def _table(p: int, degree: int, modulus: list[int]) -> NDArray[np.uint8]:
    q = p**degree
    rows = [_digits(a, p, degree) for a in range(q)]
    weights = [p**j for j in range(degree)]
    return np.array(
        [[sum(c * w for c, w in zip(_times(a, b, modulus, p), weights, strict=True)) for b in rows] for a in rows],
        np.uint8,
    )


@lru_cache(maxsize=64)
def field(order: int) -> FiniteField:
    """Return the field with `order` elements, which must be one of `orders`.

    For a degree above 1, the modulus is the first polynomial for which no product of two nonzero elements is zero.
    """
    prime_power = _prime_power(order)
    if prime_power is None or order > MAX_ELEMENTS:
        raise ValueError(f"order must be a prime power of at most {MAX_ELEMENTS}, got {order}")
    p, degree = prime_power
    for code in range(order):
        products = _table(p, degree, _digits(code, p, degree))
        if products[1:, 1:].all():
            break
    digits = np.array([_digits(a, p, degree) for a in range(order)])
    weights = p ** np.arange(degree)
    sums = ((digits[:, np.newaxis] + digits) % p @ weights).astype(np.uint8)
    trace, power = np.zeros(order, np.int64), np.arange(order)
    for _ in range(degree):  # trace(a) = a + a^p + a^(p^2) + ...
        trace = sums[trace, power].astype(np.int64)
        raised = power
        for _ in range(p - 1):
            raised = products[raised, power].astype(np.int64)
        power = raised
    dual = np.array([sum(int(trace[products[a, p**j]]) * p**j for j in range(degree)) for a in range(order)])
    return FiniteField(order, p, degree, sums, products, dual)
