"""Finite fields: the axioms, exhaustively for every order with tables, and the arithmetic of large primes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from .support.cases import each
from .support.internals.shared import finite_field

ORDERS = [q for q in finite_field.orders() if q <= 64]
PRIMES = [q for q in range(2, 8192) if all(q % d for d in range(2, math.isqrt(q) + 1))]


def test_the_orders_are_the_prime_powers_up_to_64_and_the_larger_primes():
    small = sorted(p**e for p in PRIMES[:18] for e in range(1, 7) if p**e <= 64)
    assert (*small, *(p for p in PRIMES if p > 64)) == finite_field.orders()
    assert [q for q in finite_field.orders() if finite_field.is_prime(q)] == PRIMES


@each("q", ORDERS)
def test_the_axioms_of_a_field(q):
    field = finite_field.field(q)
    add, times, every = field.sum, field.product, np.arange(q)
    for table in (add, times):
        assert table.shape == (q, q)
        assert table.dtype == np.uint8
        np.testing.assert_array_equal(table, table.T)
        np.testing.assert_array_equal(table[table], table[every[:, None, None], table])  # associative
    np.testing.assert_array_equal(add[0], every)
    np.testing.assert_array_equal(times[1], every)
    np.testing.assert_array_equal(np.sort(add), np.tile(every, (q, 1)))
    np.testing.assert_array_equal(np.sort(times[1:]), np.tile(every, (q - 1, 1)))
    assert not times[0].any()
    a, b, c = every[:, None, None], every[:, None], every
    np.testing.assert_array_equal(times[a, add[b, c]], add[times[a, b], times[a, c]])  # distributive


@each("q", ORDERS)
def test_the_sum_adds_the_digits_to_the_base_of_the_characteristic(q):
    field = finite_field.field(q)
    p = next(p for p in PRIMES if q % p == 0)
    weights = p ** np.arange(round(math.log(q, p)))
    digits = np.arange(q)[:, None] // weights % p
    np.testing.assert_array_equal(field.sum, (digits[:, None] + digits) % p @ weights)


@each("q", [2, 9, 64, 67, 149, 8191])
def test_negatives_and_inverses(q):
    field, every = finite_field.field(q), np.arange(q)
    assert not field.add(every, field.negative(every)).any()
    assert (field.multiply(every[1:], field.inverse(every[1:])) == 1).all()


@each("order", [0, 6, 12, 36, 63, 65, 81, 128, 8189, 8209])
def test_other_orders_are_refused(order):
    with pytest.raises(ValueError, match="order must be a prime power of at most 64 or a prime of at most 8191, got"):
        finite_field.field(order)
