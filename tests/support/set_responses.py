"""Reference implementations of the kernels whose report is a code in a set, or a set."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from ldpfast.reports import recipe_of

from .internals.shared import finite_field
from .reference import Words

PIECE = 256  # people whose codes are drawn before their coins


def word_below(words: Words, n: int) -> int:
    """Return a uniform integer in [0, n): the high half of n times a word. The low half decides about rejection."""
    while True:
        high, low = divmod(words.word() * n, 1 << 64)
        if low >= (1 << 64) % n:
            return high


# Hadamard response ----------------------------------------------------------------------------------------------------


def hadamard_code(truth: int, drawn: int, tails: int) -> int:
    """Return the drawn code if its parity with truth + 1 is `tails`, else with the lowest one of truth + 1 inverted."""
    mask = truth + 1
    if (drawn & mask).bit_count() % 2 == tails:
        return drawn
    return drawn ^ mask & -mask


def hadamard_reports(coin, key: bytes, block: int, x) -> list[int]:
    words, reports = Words(key, "HADAMARD_RESPONSE", block), []
    for start in range(0, len(x), PIECE):
        piece = [int(truth) for truth in x[start : start + PIECE]]
        drawn = words.take(len(piece), "<u4").tolist()
        words.next_block()
        if coin.bits < 32:  # the high bits are the coin
            coins = [word >> 32 - coin.bits for word in drawn]
        else:
            coins = words.take(len(piece), f"<u{coin.bits // 8}").tolist()
            words.next_block()
        for truth, code, word in zip(piece, drawn, coins, strict=True):
            reports.append(hadamard_code(truth, code % coin.outputs, int(word >= coin.heads)))
    return reports


# Projective geometry response -----------------------------------------------------------------------------------------


def all_points(order: int, length: int) -> list[tuple[int, ...]]:
    """Return the vectors whose last nonzero element is 1, by its position and then by the elements before it."""
    points = []
    for position in range(length):
        for elements in product(range(order), repeat=position):
            points.append((*reversed(elements), 1, *[0] * (length - 1 - position)))
    return points


def inner(field: finite_field.AnyField, a, b) -> int:
    """Return the inner product of two vectors."""
    total = 0
    for u, v in zip(a, b, strict=True):
        total = int(field.add(total, field.multiply(u, v)))
    return total


def normalized(field: finite_field.AnyField, vector) -> tuple[int, ...]:
    """Return the multiple of a vector whose last nonzero element is 1."""
    last = [element for element in vector if element][-1]
    factor = next(factor for factor in range(field.order) if field.multiply(last, factor) == 1)
    return tuple(int(field.multiply(factor, element)) for element in vector)


def projective_point(field: finite_field.AnyField, x: tuple[int, ...], drawn, product: int) -> tuple[int, ...]:
    """Return the point with the drawn elements, except where x has its last 1, and with a given product with x."""
    at = max(i for i, element in enumerate(x) if element)
    for element in range(field.order):
        z = (*drawn[:at], element, *drawn[at:])
        if inner(field, x, z) == product:
            return normalized(field, z)
    raise AssertionError("a field element is missing")


class ProjectiveReference:
    """Reference of the kernel for one space."""

    def __init__(self, field: finite_field.AnyField, length: int):
        self.field, self.length = field, length
        self.points = all_points(field.order, length)
        self.shorter = all_points(field.order, length - 1)
        self.number = {point: i for i, point in enumerate(self.points)}

    def vector(self, number: int) -> tuple[int, ...]:
        """Return the length - 1 digits of a number, the lowest first."""
        return tuple(number // self.field.order**i % self.field.order for i in range(self.length - 1))

    def report(self, truth: int, tails: bool, draw: int) -> int:
        drawn = self.vector(draw) if tails else self.shorter[draw]
        return self.number[projective_point(self.field, self.points[truth], drawn, int(tails))]

    def draws(self, tails: bool) -> int:
        """Return the number of values of the uniform integer."""
        return self.field.order ** (self.length - 1) if tails else len(self.shorter)

    def reports(self, heads: int, key: bytes, block: int, x) -> list[int]:
        words, reports = Words(key, "PROJECTIVE_RESPONSE", block), []
        for truth in x:
            tails = words.word() >= heads
            reports.append(self.report(int(truth), tails, word_below(words, self.draws(tails))))
        return reports


# Subset selection -----------------------------------------------------------------------------------------------------


def indices_below(words: Words, n: int) -> Iterator[int]:
    """Yield uniform integers in [0, n), two from each word, the low half first."""
    while True:
        word = words.word()
        for half in (word % (1 << 32), word >> 32):
            high, low = divmod(half * n, 1 << 32)
            if low >= (1 << 32) % n:
                yield high


def adjusted(members: set[int], size: int, indices: Iterator[int]) -> set[int]:
    """Return the set after uniform members were added or removed until it has a size."""
    members = set(members)
    while len(members) < size:
        members.add(next(indices))
    while len(members) > size:
        members.discard(next(indices))
    return members


def subset_report(others: set[int], truth: int, heads: bool, rank: int) -> set[int]:
    """Return the report from a set of other categories, numbered without the true one."""
    if heads:
        others = others - {sorted(others)[rank]}
    return {i + (i >= truth) for i in others} | ({truth} if heads else set())


def first_draw(key: bytes, block: int, words: int, density: int, stream: str = "SUBSET_BITS") -> np.ndarray:
    """Return words of independent bits with probability density / 64, by the binary digits of the density."""
    source, row = Words(key, stream, block), np.zeros(words, np.uint64)
    for digit in range(6):
        if density % (1 << digit + 1) == 0:
            continue  # nothing is drawn for zeros below the lowest one
        drawn = source.take(words, "<u8")
        source.next_block()
        row = row | drawn if density >> digit & 1 else row & drawn
    return row


def subset_reports(mechanism, density: int, key: bytes, block: int, x) -> list[set[int]]:
    k, size, heads = mechanism.k, mechanism.size, recipe_of(mechanism).coin.heads
    row_words = -(-k // 64)
    rows = first_draw(key, block, row_words * len(x), density).reshape(len(x), row_words)
    coins = Words(key, "SUBSET_COINS", block)
    indices = indices_below(Words(key, "SUBSET_INDICES", block, 2048), k - 1)
    reports = []
    for truth, row in zip(x, rows, strict=True):
        own, rank = coins.word() < heads, word_below(coins, size)
        bits = np.unpackbits(row.view(np.uint8), bitorder="little")[: k - 1]
        others = adjusted(set(np.flatnonzero(bits).tolist()), size, indices)
        reports.append(subset_report(others, int(truth), own, rank))
    return reports
