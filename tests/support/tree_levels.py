"""Levels of a tree, and a window: decoded numbers of all codes, and a reference of the kernel in Python integers."""

from __future__ import annotations

import numpy as np

from .internals.mechanisms import tree_level, tree_sets
from .internals.shared import finite_field
from .reference import Words
from .set_responses import ProjectiveReference, word_below


def decoded_codes(level):
    """Return the numbers that each code of a level is decoded as, shape (codes, nodes)."""
    if not isinstance(level, tree_sets.SetLevel):
        return np.array([level.decode(one) for one in np.eye(level.codes, dtype=np.int64)])
    decoded = (level.matches(np.arange(level.nodes)).T - float(level.moments.support)) / float(level.gap)
    for code in {0, level.codes // 2, level.codes - 1}:  # by the method of the level
        one = np.zeros(level.codes, np.int64)
        one[code] = 1
        np.testing.assert_allclose(level.decode(one), decoded[code], rtol=1e-9, atol=1e-12)
    return decoded


def codes_of_set(level, symbol, is_outside):
    """Return the codes of a set, or all others, in the order of their numbers for a draw."""
    if not isinstance(level, tree_level.TreeLevel):  # a window
        inside = range(symbol, symbol + level.width)
    elif isinstance(level, tree_level.ResponseLevel):
        inside = [symbol]
    elif isinstance(level, tree_level.HadamardLevel):
        node, minus = (symbol >> 1, symbol & 1) if level.signed else (symbol, 0)
        odd = [((code & (node | level.half)).bit_count() + minus) % 2 == 1 for code in range(level.codes)]
        # The draw has the lower bits.
        return sorted((c for c in range(level.codes) if odd[c] == is_outside), key=lambda code: code % level.half)
    else:
        inside = np.flatnonzero(level.matches(np.array([symbol]))[0]).tolist()
    return [code for code in range(level.codes) if code not in inside] if is_outside else list(inside)


def heads_of(level):
    return level.coin.keep if isinstance(level, tree_level.ResponseLevel) else level.coin.heads


def coded_reports(mechanism, stream, key, block, x):
    """Return the reports of records: the word of the coin, then one whose lowest bits are the slot and the others the code.

    A number of slots that is no power of two has a word of its own.
    """
    law, words, reports = mechanism._recipe.law, Words(key, stream, block), []
    slots = len(law.slots)
    bits = slots.bit_length() - 1 if slots & (slots - 1) == 0 else 0
    for record in map(int, x):
        coin, word = words.word(), words.word()
        number = law.slots[word % (1 << bits) if bits else word_below(words, slots)]
        level, rest = law.levels[number], word >> bits
        symbol, tails = record // level.span, coin >= heads_of(level)
        if isinstance(level, tree_sets.ProjectiveLevel):
            twin = ProjectiveReference(finite_field.field(level.space.order), level.space.length)
            n, code = twin.draws(tails), lambda draw: twin.report(int(level.points[symbol]), tails, draw)  # noqa: B023
        else:
            codes = codes_of_set(level, symbol, tails)
            n, code = len(codes), codes.__getitem__
        draw, low = divmod(rest * n, 1 << 64 - bits)
        assert low >= n  # else another word may be needed
        reports.append(law.first_codes[number] + code(draw))
    return reports
