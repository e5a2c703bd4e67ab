"""Hash functions of strings: the published values of SipHash, the polynomials in Python's integers, and their distribution."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from ldpfast.mechanisms import SketchResponse

from ..support.cases import each
from ..support.internals.kernels import strings
from ..support.statistics import assert_counts

PRIME = 2**61 - 1
KEY = np.arange(16, dtype=np.uint8).view("<u8").astype(np.uint64)
# "SipHash: a fast short-input PRF", reference implementation, vectors_sip64: messages 00, 00 01, ... of 0 to 8 and of 15 bytes.
PUBLISHED = [
    "310e0edd47db6f72", "fd67dc93c539f874", "5a4fa9d909806c0d", "2d7efbd796666785", "b7877127e09427cf", "8da699cd64557618",
    "cee3fe586e46c9cb", "37d1018bf50002ab", "6224939a79f5f593",
]  # fmt: skip


def sip_hash(key: np.ndarray, data: bytes) -> int:
    """Return SipHash-2-4 in Python."""
    mask = 2**64 - 1
    k = [int(word) for word in key]
    v = [k[0] ^ 0x736F6D6570736575, k[1] ^ 0x646F72616E646F6D, k[0] ^ 0x6C7967656E657261, k[1] ^ 0x7465646279746573]

    def rotate(x: int, b: int) -> int:
        return (x << b | x >> (64 - b)) & mask

    def rounds(count: int) -> None:
        for _ in range(count):
            v[0], v[2] = (v[0] + v[1]) & mask, (v[2] + v[3]) & mask
            v[1], v[3] = rotate(v[1], 13) ^ v[0], rotate(v[3], 16) ^ v[2]
            v[0] = rotate(v[0], 32)
            v[2], v[0] = (v[2] + v[1]) & mask, (v[0] + v[3]) & mask
            v[1], v[3] = rotate(v[1], 17) ^ v[2], rotate(v[3], 21) ^ v[0]
            v[2] = rotate(v[2], 32)

    padded = data + bytes(-(len(data) + 1) % 8) + bytes([len(data) % 256])
    for start in range(0, len(padded), 8):
        word = int.from_bytes(padded[start : start + 8], "little")
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def bucket(key: np.ndarray, row: bytes, coefficients: list[int], buckets: int) -> int:
    """Return the bucket of a row in Python."""
    x = sip_hash(key, row) % PRIME
    a, b, c = coefficients
    return ((a * x * x + b * x + c) % PRIME) * buckets >> 61


def test_the_published_values():
    for length, expected in enumerate(PUBLISHED):
        assert strings.sip_hash(KEY, bytes(range(length))).to_bytes(8, "little").hex() == expected
    assert strings.sip_hash(KEY, bytes(range(15))) == 0xA129CA6149BE45E5


def test_products_in_the_field():
    edges = [0, 1, 2, PRIME - 1, PRIME - 2, 2**32, 2**32 - 1, 2**60, 2**29 - 1]
    draw = random.Random(1)
    pairs = [*itertools.product(edges, edges), *((draw.randrange(PRIME), draw.randrange(PRIME)) for _ in range(5000))]
    assert all(strings.product(a, b) == a * b % PRIME for a, b in pairs)


@each("buckets", [1, 2, 1000, 1 << 16, (1 << 24) - 3, 1 << 24])
@each("length", [1, 7, 8, 20, 255])
def test_buckets_are_those_of_python(buckets, length):
    rng = np.random.default_rng([buckets, length])
    key = rng.integers(0, 2**64, 2, dtype=np.uint64)
    coefficients = rng.integers(0, PRIME, (5, 3), dtype=np.uint64)
    coefficients[0] = PRIME - 1
    rows = rng.integers(0, 256, (20, length + 1), dtype=np.uint8)
    rows[0] = 0
    found = strings.Hashes(key, coefficients, buckets, length).buckets(rows)
    expected = [[bucket(key, row[:length].tobytes(), [*map(int, c)], buckets) for c in coefficients] for row in rows]
    np.testing.assert_array_equal(found, expected)


def test_bad_hash_functions_are_refused():
    good = np.zeros((2, 3), np.uint64)
    for key, coefficients, buckets, length in [
        (KEY[:1], good, 4, 4), (KEY, good[:, :2].copy(), 4, 4), (KEY, good + np.uint64(PRIME), 4, 4), (KEY, good, 0, 4),
        (KEY, good, (1 << 24) + 1, 4), (KEY, good, 4, 0), (KEY, good, 4, 257), (KEY, np.zeros((65, 3), np.uint64), 4, 4),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match="must"):
            strings.Hashes(key, coefficients, buckets, length)


def test_functions_of_different_salts_parts_and_numbers_are_different():
    seen = set()
    words = [f"w{i}" for i in range(40)]
    for salt in ("", "2"):
        mechanism = SketchResponse(1.0, max_bytes=4, prefixes=(2, 4), buckets=1000, functions=3, salt=salt)
        for hashes in mechanism._hashes:
            seen |= {tuple(column) for column in hashes.buckets(mechanism.domain.records(words)[0]).T}
    assert len(seen) == 2 * 3 * 3


def test_buckets_are_uniform_and_three_strings_are_independent():
    """Over salts: each of the 27 combinations of the buckets of three strings has the same probability."""
    functions, buckets = 64, 3
    counts = np.zeros((buckets,) * 3, np.int64)
    for salt in range(150):
        mechanism = SketchResponse(1.0, max_bytes=8, buckets=buckets, functions=functions, salt=str(salt))
        found = mechanism._hashes[0].buckets(mechanism.domain.records(["new", "words", "neu"])[0])
        np.add.at(counts, tuple(found.astype(int)), 1)
    for count in counts.ravel().tolist():
        assert_counts(count, 150 * functions, 1 / 27, detects=0.02)


def test_the_functions_of_a_problem_never_change():
    """Reports in the field depend on them."""
    mechanism = SketchResponse(2.0, max_bytes=20, prefixes=(3, 20))
    rows = mechanism.domain.records(["new", "caf\u00e9"])[0]
    found = [hashes.buckets(rows)[:, :2].tolist() for hashes in mechanism._hashes]
    assert found == [
        [[262132, 195813], [201559, 243628]],
        [[26636, 178083], [12618, 244584]],
        [[251526, 90409], [69788, 14007]],
    ]
