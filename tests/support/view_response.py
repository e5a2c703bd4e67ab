"""Reference implementation of view response: slow and obvious, from the same random words."""

from __future__ import annotations

import math

from .reference import Words
from .set_responses import word_below
from .set_selection import digits


def view_of(design, questions: int, words: Words) -> tuple[int, list[int]]:
    """Return the kind of a view and its questions, in ascending order."""
    places = max(design.plain, design.flip)
    kind, *drawn = digits(words, [256 if design.flip else 1, *(questions - i for i in range(places))])
    flip = int(kind >= design.share)
    left, view = list(range(questions)), []
    for digit in drawn[: design.flip if flip else design.plain]:
        view.append(left.pop(digit))
    return flip, sorted(view)


def symbol_of(sizes, flip: int, view: list[int], record: list[int]) -> int:
    """Return the symbol of the answers of a record to a view."""
    answers = [min(record[i], sizes[i] - 1) for i in view]
    if flip:
        return sum((answer ^ answers[0]) << j for j, answer in enumerate(answers[1:]))
    symbol = 0
    for i, answer in zip(view[::-1], answers[::-1], strict=True):
        symbol = symbol * sizes[i] + answer
    return symbol


def response(coin, symbols: int, truth: int, words: Words) -> int:
    """Return the true symbol if a word is below the integer of the coin, else a uniform one. Both are drawn."""
    keeps = words.word() < (coin.keep - coin.words_per_symbol) << (64 - coin.bits)
    other = word_below(words, symbols)
    return truth if keeps else other


def coin_of(law, flip: int, view: list[int]):
    """Return the coin of a view: that of its number of symbols for plain views of two questions, else the only one."""
    if flip:
        return law.of_flip
    symbols = math.prod(law.sizes[i] for i in view) if law.design.plain == 2 else law.design.symbols(law.sizes)
    return law.by_symbols[symbols]


def packed(sizes, size: int, flip: int, view: list[int], symbol: int) -> bytes:
    """Return a report of `size` bytes as documented."""
    mask_bytes = -(-len(sizes) // 8)
    mask = sum(1 << i for i in view).to_bytes(mask_bytes, "little")
    return mask + bytes([flip]) + symbol.to_bytes(size - mask_bytes - 1, "little")


def reports(law, key: bytes, block: int, rows: list[list[int]], answer_key: bytes | None = None) -> list[bytes]:
    """Return the reports of a block of records."""
    views, coins, found = Words(key, "VIEWS", block), Words(answer_key or key, "VIEW_COINS", block), []
    for row in rows:
        flip, view = view_of(law.design, len(law.sizes), views)
        symbols = 1 << law.design.flip - 1 if flip else math.prod(law.sizes[i] for i in view)
        truth = symbol_of(law.sizes, flip, view, row)
        symbol = response(coin_of(law, flip, view), symbols, truth, coins)
        found.append(packed(law.sizes, law.report.nbytes, flip, view, symbol))
    return found


def tally(sizes, reports: list[bytes]) -> tuple[list[list[int]], list[list[int]]]:
    """Return the counts of pairs of answers of plain views, and of pairs of questions of flip views."""
    first = [sum(sizes[:i]) for i in range(len(sizes))]
    cells = [[0] * sum(sizes) for _ in range(sum(sizes))]
    pairs = [[0] * len(sizes) for _ in sizes]
    mask_bytes = -(-len(sizes) // 8)
    for report in reports:
        mask = int.from_bytes(report[:mask_bytes], "little")
        view = [i for i in range(len(sizes)) if mask >> i & 1]
        symbol = int.from_bytes(report[mask_bytes + 1 :], "little")
        if report[mask_bytes]:
            differs = [0, *(symbol >> j & 1 for j in range(len(view) - 1))]
            for a, i in enumerate(view):
                for b in range(a + 1, len(view)):
                    pairs[i][view[b]] += 1
                    pairs[view[b]][i] += differs[a] == differs[b]
            continue
        answers = []
        for i in view:
            symbol, answer = divmod(symbol, sizes[i])
            answers.append(first[i] + answer)
        for b, later in enumerate(answers):
            for earlier in answers[: b + 1]:
                cells[earlier][later] += 1
    return cells, pairs
