"""Arithmetic of finite fields: small ones by tables, larger ones of prime order modulo the prime.

The element with number a is the polynomial whose coefficients are the digits of a to the base p, the characteristic.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ._typing import AnyArray

MAX_TABLE = 64  # elements of a field whose sums and products are in tables
MAX_PRIME = 8191


@dataclass(frozen=True, eq=False)
class FiniteField:
    """The field with `order` elements, at most 64, by tables.

    Attributes
    ----------
    order : int
        A power of a prime.
    sum, product : ndarray of uint8, shape (order, order)
        Tables of the sums and products of two elements.
    """

    order: int
    sum: NDArray[np.uint8]
    product: NDArray[np.uint8]

    def add(self, a: AnyArray, b: AnyArray) -> AnyArray:
        return np.asarray(self.sum[a, b])

    def multiply(self, a: AnyArray, b: AnyArray) -> AnyArray:
        return np.asarray(self.product[a, b])

    def negative(self, a: AnyArray) -> AnyArray:
        """Return the elements whose sums with a are 0."""
        return np.asarray((self.sum == 0).argmax(axis=1)[a])

    def inverse(self, a: AnyArray) -> AnyArray:
        """Return the elements whose products with a are 1; they are meaningless for 0."""
        return np.asarray((self.product == 1).argmax(axis=1)[a])


@dataclass(frozen=True, eq=False)
class PrimeField:
    """The integers modulo the prime `order`, at most 8191."""

    order: int

    def add(self, a: AnyArray, b: AnyArray) -> AnyArray:
        return np.asarray((a + b) % self.order)

    def multiply(self, a: AnyArray, b: AnyArray) -> AnyArray:
        return np.asarray(a * b % self.order)

    def negative(self, a: AnyArray) -> AnyArray:
        """Return the elements whose sums with a are 0."""
        return np.asarray(-a % self.order)

    def inverse(self, a: AnyArray) -> AnyArray:
        """Return the elements whose products with a are 1; they are meaningless for 0."""
        power = a
        inverse = np.ones_like(a)
        left = self.order - 2
        while left:
            inverse = self.multiply(inverse, power) if left & 1 else inverse
            power, left = self.multiply(power, power), left >> 1
        return np.asarray(inverse)


AnyField = FiniteField | PrimeField


@lru_cache(maxsize=1)
def orders() -> tuple[int, ...]:
    """Return the orders of the fields here: all prime powers up to 64, and all primes from there to 8191."""
    sieve = np.ones(MAX_PRIME + 1, bool)
    for d in range(2, math.isqrt(MAX_PRIME) + 1):
        sieve[d * d :: d] = False
    small = (q for q in range(2, MAX_TABLE + 1) if _prime_power(q))
    return (*small, *(np.flatnonzero(sieve[MAX_TABLE + 1 :]) + MAX_TABLE + 1).tolist())


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


def is_prime(order: int) -> bool:
    """Return whether the order of a field is a prime."""
    return _prime_power(order) == (order, 1)


def field(order: int) -> AnyField:
    """Return the field with `order` elements, which must be one of `orders`."""
    if order not in orders():
        raise ValueError(
            f"order must be a prime power of at most {MAX_TABLE} or a prime of at most {MAX_PRIME}, got {order}"
        )
    return PrimeField(order) if order > MAX_TABLE else table_field(order)


@lru_cache(maxsize=64)
def table_field(order: int) -> FiniteField:
    """Return the field with `order` <= 64 elements, by tables.

    For a degree above 1, the modulus is the first polynomial for which no product of two nonzero elements is zero.
    """
    prime_power = _prime_power(order) if order <= MAX_TABLE else None
    if prime_power is None:
        raise ValueError(f"order must be a prime power of at most {MAX_TABLE}, got {order}")
    p, degree = prime_power
    for code in range(order):
        products = _table(p, degree, _digits(code, p, degree))
        if products[1:, 1:].all():
            break
    digits = np.array([_digits(a, p, degree) for a in range(order)])
    sums = ((digits[:, np.newaxis] + digits) % p @ p ** np.arange(degree)).astype(np.uint8)
    return FiniteField(order, sums, products)
