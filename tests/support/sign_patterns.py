"""Exact probabilities of the patterns of ranked signs."""

from __future__ import annotations

from fractions import Fraction

from .internals.shared import coin_integers


def pattern_probabilities(coin) -> dict[tuple[int, ...], Fraction]:
    """Return the exact probability of every pattern of signs, from all outcomes of the words."""
    sampler, signs = coin_integers.sampler_of(coin.weights), len(coin.weights)
    order = sorted(range(signs), key=lambda rank: abs(coin.weights[rank]))
    found: dict[tuple[int, ...], Fraction] = {}
    for inside in (True, False):
        share = Fraction(coin.heads if inside else coin_integers.WORD - coin.heads, coin_integers.WORD)
        states = {(coin.least if inside else sum(sampler.sizes) + 1 - coin.least, (0,) * signs): share}
        for i in reversed(range(signs)):
            following: dict[tuple[int, tuple[int, ...]], Fraction] = {}
            for (left, pattern), probability in states.items():
                words = sampler.words[i][left]
                for member, part in ((True, words), (False, coin_integers.WORD - words)):
                    if part:
                        signed = list(pattern)
                        signed[order[i]] = int((member == inside) != (coin.weights[order[i]] < 0))
                        state = max(0, left - sampler.sizes[i] * member), tuple(signed)
                        following[state] = following.get(state, Fraction(0)) + probability * Fraction(
                            part, coin_integers.WORD
                        )
            states = following
        for (left, pattern), probability in states.items():
            assert left == 0
            found[pattern] = found.get(pattern, Fraction(0)) + probability
    return found
