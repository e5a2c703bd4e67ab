"""The loss of a table for clients: a twin of the one in C, from channels that are written down as fractions.

A channel has a row of probabilities for each symbol or bucket. Where it is small, the probabilities of all reports are counted
by what the kernels do with a draw, with the tables of a field as they are, so that tables that are no field are seen as well.
"""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, product
from typing import Any

from .client_tables import read

WORD = 1 << 64
ENUMERABLE = 4096  # reports of one symbol, at most
RESPONSES, SKETCHES, SETS, VIEWS, LEVELS = (1, 5, 6, 11), (6, 7, 8), (9, 10, 11), 12, 13
Channel = list[dict[Any, Fraction]]


class Asked:
    """A question that is asked, with the integers of its coins."""

    def __init__(self, table: dict, number: int) -> None:
        places, self.more, self.kind, self.bits, self.threshold, self.name, *integers, _, _ = table["questions"][number]
        self.first, self.second, _ = integers
        self.k = math.prod(table["parts"][place][1] for place in places)
        if self.kind in SKETCHES:
            (_, self.k, _, self.codes, self.order, self.length, *_), self.field, _ = self.more
        if self.kind in SETS:
            self.parts = [table["parts"][place] for place in places]
            self.own = math.prod(map(width, self.parts))  # positions of a record
            self.options = self.k - self.own - 1  # of a single part
        if self.kind == VIEWS:
            self.sizes = [table["parts"][place][1] for place in places]
        if self.kind == 11:
            self.k = sum(math.comb(self.options, size) for size in range(self.own + 1)) + 1

    @property
    def ratio(self) -> Fraction:
        """Largest ratio of two probabilities of one report, by formulas."""
        words = 1 << self.bits
        if self.kind == VIEWS:
            return max(1 + Fraction(k * kept, WORD - kept) for k, _, kept in self.more)
        if self.kind == LEVELS:
            odds = [Fraction(heads * others, (WORD - heads) * size) for _, _, heads, size, others, *_ in self.more]
            return max(max(one, 1 / one) for one in odds)
        if self.kind in RESPONSES:
            return Fraction(self.first + self.second, self.second)
        if self.kind in (2, 3):
            return Fraction(WORD - self.first, self.first) ** (2 if self.kind == 2 else 1)
        odds = Fraction(self.first, words - self.first)
        if self.kind in (9, 10):
            inside, outside = self._sides()
            odds *= Fraction(outside, inside)
        if self.kind == 4:
            odds *= Fraction(self.k - self.second, self.second)
        if self.kind == 8:
            power = self.order ** (self.length - 1)
            odds *= power / Fraction(power - 1, self.order - 1)
        return max(odds, 1 / odds)

    @property
    def is_small(self) -> bool:
        """Whether the channel can be enumerated."""
        if self.kind == VIEWS:
            reports = math.comb(len(self.sizes), self.threshold) * self.more[-1][0]
            return reports * self.k <= ENUMERABLE
        if self.kind == LEVELS:
            return self.k * sum(size + others for _, _, _, size, others, *_ in self.more) <= ENUMERABLE
        sizes = {2: 1 << min(self.k, 64), 3: 1 << min(self.k, 64), 7: self.codes if self.kind == 7 else 0}
        sizes[4] = math.comb(self.k, self.second) if self.kind == 4 and self.k < 40 else ENUMERABLE
        if self.kind in (9, 10):
            sizes[9] = sizes[10] = ENUMERABLE
            if self.k < 14:
                reports = (
                    math.comb(self.k, self.second)
                    if self.kind == 9
                    else math.comb(self.options + 1, self.second) << self.second
                )
                sizes[9] = sizes[10] = len(self.records()) * reports // self.k
        sizes[8] = self.codes if self.kind == 8 else 0
        return self.k * sizes.get(self.kind, self.k) <= ENUMERABLE

    def channel(self) -> Channel:
        """Return the probability of every report for every symbol."""
        k, words = self.k, 1 << self.bits
        if self.kind in RESPONSES:
            rest = Fraction(self.second, words)
            return [{y: rest + Fraction(self.first, words) * (x == y) for y in range(k)} for x in range(k)]
        if self.kind in (2, 3):
            other = Fraction(self.first, WORD)
            own = 1 - other if self.kind == 2 else Fraction(1, 2)
            chance = {x: [own if i == x else other for i in range(k)] for x in range(k)}
            return [
                {
                    bits: math.prod(p if bit else 1 - p for p, bit in zip(chance[x], bits, strict=True))
                    for bits in product((0, 1), repeat=k)
                }
                for x in range(k)
            ]
        heads = Fraction(self.first, words)
        if self.kind == 4:
            inside, outside = heads / math.comb(k - 1, self.second - 1), (1 - heads) / math.comb(k - 1, self.second)
            sets = list(combinations(range(k), self.second))
            return [{chosen: inside if x in chosen else outside for chosen in sets} for x in range(k)]
        if self.kind in (9, 10):
            return self._sets(heads)
        if self.kind == VIEWS:
            return [self._views(record) for record in product(*map(range, self.sizes))]
        if self.kind == LEVELS:
            return [self._levels(x) for x in range(k)]
        draw = self._hadamard if self.kind == 7 else self._projective
        rows = []
        for x in range(k):
            row: dict[Any, Fraction] = {}
            for weight, codes in zip((heads, 1 - heads), draw(x), strict=True):
                for code, times in codes.items():
                    row[code] = row.get(code, Fraction()) + weight * times / codes.total()
            rows.append(row)
        return rows

    def _views(self, record: tuple[int, ...]) -> dict[Any, Fraction]:
        """Return the probabilities of views with the answers to their questions."""
        row = {}
        views = list(combinations(range(len(record)), self.threshold))
        for view in views:
            k = math.prod(self.sizes[place] for place in view)
            kept = Fraction(next(words for symbols, _, words in self.more if symbols >= k), WORD)
            for answers in product(*(range(self.sizes[place]) for place in view)):
                is_true = answers == tuple(record[place] for place in view)
                row[view, answers] = (kept * is_true + (1 - kept) / k) / len(views)
        return row

    def _levels(self, x: int) -> dict[Any, Fraction]:
        """Return the probabilities of the codes of levels: the first one has the slots of eight that the others leave."""
        row: dict[Any, Fraction] = {}
        for number, level in enumerate(self.more):
            share = Fraction(1 if number else 9 - len(self.more), 8)
            heads = Fraction(level[2], WORD)
            for weight, codes in zip((heads, 1 - heads), level_codes(level, self.k, x // level[1]), strict=True):
                for code, times in codes.items():
                    row[number, code] = row.get((number, code), Fraction()) + share * weight * times / codes.total()
        return row

    def _sides(self) -> tuple[int, int]:
        """Return the numbers of reports with at least `threshold` hits, and of others."""
        if self.kind == 10:
            hits = [math.comb(self.second, hits) for hits in range(self.second + 1)]
        else:
            others = self.k - self.own
            hits = [
                math.comb(self.own, c) * math.comb(others, self.second - c)
                for c in range(min(self.own, self.second) + 1)
            ]
        return sum(hits[self.threshold :]), sum(hits[: self.threshold])

    def records(self) -> list[tuple[int, ...]]:
        """Return the positions of all records: all sets of the parts, and all of their symbols."""
        found: list[tuple[int, ...]] = [(0,)]
        for part in self.parts:
            found = [tuple(a * part[1] + b for a in before for b in own) for before in found for own in rows_of(part)]
        return found

    def _sets(self, heads: Fraction) -> Channel:
        """Return the probabilities of sets of positions, or of signed coordinates, by their hits of a record."""
        inside, outside = self._sides()
        k, size, rows = self.k, self.second, []
        for record in self.records():
            if self.kind == 9:
                common = {report: len(set(record) & set(report)) for report in combinations(range(k), size)}
                total = 1
            else:
                marked = {position if position < self.options else self.options for position in record} & {
                    *range(self.options),
                    *([self.options] if k - 1 in record else []),
                }
                coordinates = list(combinations(range(self.options + 1), size))
                common = {
                    (chosen, signs): sum((c in marked) == s for c, s in zip(chosen, signs, strict=True))
                    for chosen in coordinates
                    for signs in product((False, True), repeat=size)
                }
                total = len(coordinates)
            one, other = heads / (inside * total), (1 - heads) / (outside * total)
            rows.append({report: one if hits >= self.threshold else other for report, hits in common.items()})
        return rows

    def _hadamard(self, x: int) -> list[Counter]:
        """Return how often each code is reported, with heads and with tails, over all codes that can be drawn."""
        row, found = x + 1, [Counter(), Counter()]
        for tails, code in product((0, 1), range(self.codes)):
            odd = (code & row).bit_count() % 2
            found[tails][code ^ (row & -row if odd != tails else 0)] += 1
        return found

    def _projective(self, x: int) -> list[Counter]:
        return projective_codes(self.order, self.length, self.field, x)


def projective_codes(q: int, length: int, field: Any, x: int) -> list[Counter]:
    """Return how often each point is reported, with heads and with tails, over all points and vectors that can be drawn."""
    last, first = length - 1, [(q**i - 1) // (q - 1) for i in range(length + 1)]
    if field:
        total, times, negative, inverse = (table.tolist() for table in field)
    else:
        total = [[(a + b) % q for b in range(q)] for a in range(q)]
        times = [[a * b % q for b in range(q)] for a in range(q)]
        negative, inverse = [-a % q for a in range(q)], [pow(a, q - 2, q) for a in range(q)]

    def digits(value: int, n: int) -> list[int]:
        return [value // q**i % q for i in range(n)]

    def elements(point: int, n: int) -> list[int]:
        r = max(i for i in range(n) if first[i] <= point)
        return [*digits(point - first[r], r), 1, *[0] * (n - r - 1)]

    vector = elements(x, length)
    r = max(i for i, a in enumerate(vector) if a)
    found = [Counter(), Counter()]
    for goal, draws in ((0, first[last]), (1, q**last)):
        for draw in range(draws):
            z = digits(draw, last) if goal else elements(draw, last)
            others = 0
            for i in range(r):
                others = total[others][times[vector[i]][z[i]]]
            z.insert(r, total[goal][negative[others]])
            top = max((i for i, a in enumerate(z) if a), default=-1)
            factor = inverse[z[top]]
            found[goal][first[top] + sum(times[factor][z[i]] * q**i for i in range(top))] += 1
    return found


def level_codes(level: tuple, k: int, node: int) -> list[Counter]:
    """Return how often each code of a level is reported by a node, with heads and with tails, over all draws."""
    kind, span, _, size, others, one, two, field, points = level
    if kind >= 3:
        return projective_codes(one, two, field, points[node])
    sides = range(size), range(others)
    if kind == 0:
        return [Counter(node + draw for draw in sides[0]), Counter(d + size * (d >= node) for d in sides[1])]
    if kind == 2:
        return [Counter(d + size * ((d & node).bit_count() % 2 != tails) for d in sides[tails]) for tails in (0, 1)]
    ranks: tuple[list[int], list[int]] = ([], [])
    for rank, chosen in enumerate(combinations(range(-(-k // span)), one)):
        ranks[node not in chosen].append(rank)
    return [Counter(side[draw] for draw in draws) for side, draws in zip(ranks, sides, strict=True)]


def width(part: tuple) -> int:
    """Return the number of positions of a record in a declared question."""
    encoding, _, numbers = part
    return numbers[1] if encoding == 5 else math.comb(numbers[1], 2) if encoding == 6 else 1


def rows_of(part: tuple) -> list[tuple[int, ...]]:
    """Return the positions of all answers to a declared question, that of no answer too."""
    encoding, k, numbers = part
    if encoding not in (5, 6):
        return [(symbol,) for symbol in range(k)]
    (options, most), own, found = numbers, width(part), []
    elements = k - own - 1
    pairs = {pair: number for number, pair in enumerate(combinations(range(options), 2))}
    for size in range(most + 1):
        for ticks in combinations(range(options), size):
            chosen = [pairs[pair] for pair in combinations(ticks, 2)] if encoding == 6 else list(ticks)
            found.append((*chosen, *range(elements, elements + own - len(chosen))))
    return [*found, (*range(elements, elements + own - 1), k - 1)]


def ratio_of(channel: Channel) -> Fraction | float:
    """Return the largest ratio of two probabilities of one report; infinity if a report excludes a symbol."""
    worst = Fraction(1)
    for report in set().union(*channel):
        chances = [row.get(report, Fraction()) for row in channel]
        if max(chances) > 0:
            if min(chances) == 0:
                return math.inf
            worst = max(worst, max(chances) / min(chances))
    return worst


def log(ratio: Fraction | float) -> Decimal:
    """Return a logarithm with 60 digits."""
    if ratio == math.inf:
        return Decimal("Infinity")
    with localcontext(prec=80):
        return (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()


def loss_of(table: bytes, *, enumerated: bool = False) -> Decimal:
    """Return the loss of a person by the table: of the answers that lose most, in all turns.

    Equal names have equal keys, so that nothing bounds what their reports say together. With `enumerated`, channels of small
    questions are written down.
    """
    found = read(table)
    asked = [Asked(found, i) for i in range(len(found["questions"]))]
    if len({question.name for question in asked}) < len(asked):
        return Decimal("Infinity")
    turns = found["turns"][1] if found["waves"] not in (0, 0xFFFF) else 1
    losses = [log(ratio_of(one.channel()) if enumerated and one.is_small else one.ratio) for one in asked]
    with localcontext(prec=80):
        return turns * sum(sorted(losses)[-found["answers"] :])
