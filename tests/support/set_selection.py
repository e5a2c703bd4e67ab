"""Reference implementation of set selection: slow and obvious, from the same random words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .reference import Words
from .set_responses import adjusted, first_draw, indices_below, word_below

LISTED = 16  # members of a set that are drawn one by one


def digits(words: Words, bounds: list[int]) -> list[int]:
    """Return uniform integers below the bounds, as many from each word as their product allows."""
    batches: list[list[int]] = []
    product = 1
    for bound in bounds:
        if not batches or product > (1 << 62) // bound:
            batches.append([])
            product = 1
        batches[-1].append(bound)
        product *= bound
    found = []
    for batch in batches:
        while True:
            low, drawn = words.word(), []
            for bound in batch:
                high, low = divmod(low * bound, 1 << 64)
                drawn.append(high)
            if low >= (1 << 64) % int(np.prod(np.array(batch, object))):
                found += drawn
                break
    return found


def listed_members(words: Words, drawn: list[int], others: int) -> list[int]:
    """Return the drawn members, where repeated ones are drawn again, one after another."""
    if len(set(drawn)) == len(drawn):
        return drawn
    members: list[int] = []
    for member in drawn:
        while member in members:
            member = word_below(words, others)
        members.append(member)
    return members


def own_count(design, coin, coins: Words) -> tuple[int, list[int]]:
    """Return how many positions of the person are in the report, and the digits that say which."""
    heads = coins.word() < coin.heads
    m, t, bounds = design.own, design.threshold, [design.own - i for i in range(design.own)]
    below = design.up_to[t - 1]

    def numbered(number: int) -> int:
        return sum(number >= up_to for up_to in design.up_to[:m])

    if design.outputs < 1 << 32:
        drawn = digits(coins, [design.outputs - below, below, *bounds])
        inside, outside, choice = numbered(below + drawn[0]), numbered(drawn[1]), drawn[2:]
    else:
        if design.outputs <= 1 << 63:
            inside = numbered(below + word_below(coins, design.outputs - below))
            outside = numbered(word_below(coins, below))
        else:
            inside = next(c for c in counts_in_sets(design, coins) if c >= t)
            outside = next(c for c in counts_in_sets(design, coins) if c < t)
        choice = digits(coins, bounds)
    return (inside if heads else outside), choice


def counts_in_sets(design, coins: Words) -> Iterator[int]:
    """Yield numbers of the person's positions in uniform sets."""
    while True:
        count = 0
        for i in range(design.own):
            count += word_below(coins, design.positions - i) < design.size - count
        yield count


def set_reports(design, coin, density: int, key: bytes, block: int, rows: list[list[int]]) -> list[set[int]]:
    """Return the reports of a block of records, rows of ascending positions."""
    d, m, z = design.positions, design.own, design.size
    others, words = d - m, -(-d // 64)
    coins, source = Words(key, "SET_COINS", block, 1 << 16), Words(key, "SET_INDICES", block, 2048)
    indices, drawn = indices_below(source, others), np.zeros((len(rows), words), np.uint64)
    if z > LISTED:
        drawn = first_draw(key, block, words * len(rows), density, "SET_BITS").reshape(len(rows), words)
    reports = []
    for row, bits in zip(rows, drawn, strict=True):
        if z <= LISTED:
            members = listed_members(source, digits(source, [others] * z), others)
            leaving = members[: min(z, m)]
        else:
            ranks = digits(source, [z - i for i in range(min(z, m))])
            ones = np.unpackbits(bits.view(np.uint8), bitorder="little")[:others]
            members = sorted(adjusted(set(np.flatnonzero(ones).tolist()), z, indices))
            left = list(members)
            leaving = [left.pop(rank) for rank in ranks]
        count, choice = own_count(design, coin, coins)
        kept, waiting, own = set(members) - set(leaving[:count]), count, set()
        for position, digit in zip(row, choice, strict=True):
            if digit < waiting:
                own.add(position)
                waiting -= 1
        free = [position for position in range(d) if position not in row]
        reports.append({free[member] for member in kept} | own)
    return reports


def set_codes(design, coin, key: bytes, block: int, rows: list[list[int]]) -> list[int]:
    """Return the reports of a block of records for sets of one position."""
    coins, reports = Words(key, "SET_COINS", block), []
    for row in rows:
        heads, which = coins.word() < coin.heads, word_below(coins, design.own)
        other = word_below(coins, design.positions - design.own)
        free = [position for position in range(design.positions) if position not in row]
        reports.append(row[which] if heads else free[other])
    return reports
