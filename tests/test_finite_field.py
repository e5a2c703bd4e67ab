"""Finite fields: the axioms, exhaustively for every order, and the pairing of the Fourier transform."""

from __future__ import annotations

import numpy as np
import pytest

from ldpfast import _finite_field

from .support.cases import each

ORDERS = _finite_field.orders()
PRIMES = [q for q in range(2, 65) if all(q % d for d in range(2, q))]


def test_the_orders_are_the_prime_powers_up_to_64():
    assert sorted(p**e for p in PRIMES for e in range(1, 7) if p**e <= 64) == ORDERS


@each("q", ORDERS)
def test_the_axioms_of_a_field(q):
    field = _finite_field.field(q)
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
    field = _finite_field.field(q)
    p = field.characteristic
    assert (p in PRIMES, p**field.degree) == (True, q)
    weights = p ** np.arange(field.degree)
    digits = np.arange(q)[:, None] // weights % p
    np.testing.assert_array_equal(field.sum, (digits[:, None] + digits) % p @ weights)


@each("q", ORDERS)
def test_the_pairing_of_digits_is_a_trace_of_the_product(q):
    """It depends on the product alone, is additive, takes values below p, and vanishes for no factor but 0."""
    field = _finite_field.field(q)
    p, weights = field.characteristic, field.characteristic ** np.arange(field.degree)
    digits, dual = (values[:, None] // weights % p for values in (np.arange(q), field.dual))
    pairing = dual @ digits.T % p
    trace = pairing[1]
    np.testing.assert_array_equal(pairing, trace[field.product])
    np.testing.assert_array_equal(trace[field.sum], (trace[:, None] + trace) % p)
    assert np.bincount(trace, minlength=p).tolist() == [q // p] * p
    powers = np.arange(q)
    for _ in range(p - 1):
        powers = field.product[powers, np.arange(q)]
    np.testing.assert_array_equal(trace[powers], trace)  # the trace of a^p is that of a
    assert len(set(field.dual.tolist())) == q


@pytest.mark.parametrize("order", [6, 12, 36, 63, 65, 81, 127, 128])
def test_other_orders_are_refused(order):
    with pytest.raises(ValueError, match="order must be a prime power of at most 64, got"):
        _finite_field.field(order)
