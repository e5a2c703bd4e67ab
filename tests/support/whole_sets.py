"""Reference implementation of randomized response of whole sets."""

from __future__ import annotations

from functools import cache
from itertools import combinations

from .reference import Words, respond


@cache
def all_sets(k: int, most: int) -> tuple[tuple[int, ...], ...]:
    """Return the sets of at most `most` of k options by size, then by the options from the largest on: the order of codes."""
    return tuple(
        chosen
        for size in range(most + 1)
        for chosen in sorted(combinations(range(k), size), key=lambda options: options[::-1])
    )


def codes(k: int, most: int, sets: list[frozenset[int] | None]) -> list[int]:
    """Return the codes of sets; a missing set is the last one."""
    place = _places(k, most)
    return [len(place) if chosen is None else place[chosen] for chosen in sets]


@cache
def _places(k: int, most: int) -> dict[frozenset[int], int]:
    return {frozenset(chosen): code for code, chosen in enumerate(all_sets(k, most))}


def reports(coin, key: bytes, block: int, symbols: list[int]) -> list[int]:
    """Return the responses to the codes of a block of records."""
    words = Words(key, "WHOLE_SETS", block)
    return [respond(coin, words, symbol) for symbol in symbols]
