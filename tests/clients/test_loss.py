"""The loss that a client computes from a table, the limit on it, and the fingerprint of a table."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import math
import random
import struct
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from ldpfast.mechanisms import UnaryEncoding
from ldpfast.reports import recipe_of
from ldpfast.survey import (
    Choice,
    Cross,
    Mean,
    Number,
    Pairs,
    Repeated,
    Several,
    Survey,
    Text,
    Together,
    YesNo,
    _columns,
)

from ..support.cases import each
from ..support.client_tables import closed, forged_table, read
from ..support.client_vectors import vectors
from ..support.clients import Client, amalgamate, load_library, open_table
from ..support.internals.shared import coin_integers, round_up
from ..support.table_loss import Asked, loss_of, ratio_of, width

DAMAGED, EPSILON, FINGERPRINT = 1, 9, 10
YES = {"smokes": YesNo(optional=True)}
PART, QUESTION = 32, 80


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    found = load_library(amalgamate(tmp_path_factory.mktemp("client")))
    found.ldpfast_epsilon.restype = ctypes.c_double
    return found


def in_c(library, table: bytes) -> float | None:
    """Return the loss that the client in C computes; None if it refuses the table."""
    client = Client()
    if open_table(library, client, table) != 0:
        return None
    return library.ldpfast_epsilon(ctypes.byref(client))


# Buckets and epsilon: with randomized response, projective spaces by tables and modulo a prime, and Hadamard response.
TEXTS = ((4, 8.0), (7, 1.0), (20, 1.5), (1 << 14, 5.0), (1 << 14, 0.1))


@functools.cache
def surveys() -> list[Survey]:
    """Return surveys with all mechanisms, and waves, rounds, and several answers."""
    questions = {
        **YES,
        "code": Choice(6, optional=True),
        "sleep": Mean(0, 12, optional=True),
        "both": Cross("smokes", "sleep"),
    }
    few = {"optional": True, "functions": 2, "n": 100}
    texts = [Survey({"a": Text(4, "abc", buckets=b, **few)}, e) for b, e in TEXTS]
    panel = Survey(questions, 4.0, series="weeks", waves=5, turns=3)
    weekly = Repeated(Survey(questions, 6.0, answers=2), round=3.0, rounds=4)
    plain = [Survey(questions, epsilon) for epsilon in (0.1, 1.0, 5.0, 20.0)]
    several = [Survey(questions, 4.0, answers=2), Survey(questions, 40.0, answers="all")]
    return [*plain, *several, *texts, panel.in_wave(2), weekly.in_round(1), *unary(), *sets(), *views(), *numbers()]


def sets() -> list[Survey]:
    """Return surveys with sets of options: by every mechanism, small enough to write their channels down."""
    few: dict = {"ticks": Several(4, most=2, optional=True), "pairs": Together("ticks"), **YES}
    few["both"] = Cross("ticks", "smokes")
    all_of = {"ticks": Several(4, optional=True)}
    return [*(Survey(few, epsilon) for epsilon in (0.5, 2.0, 4.0, 9.0)), *(Survey(all_of, e) for e in (0.5, 2.0, 4.0))]


def views() -> list[Survey]:
    """Return surveys with all tables of two questions: with a coin for each number of symbols, and with one for all views."""
    few = {**YES, "code": Choice(3, optional=True), "owns": YesNo(optional=True)}
    asked = {**few, "all": Pairs(*few)}
    found = [Survey(asked, epsilon, answers=2) for epsilon in (1.0, 4.0, 14.0)]
    return [*found, Survey({**few, "all": Pairs("smokes", "owns")}, 2.0, weights=dict.fromkeys(few, 0))]


def numbers() -> list[Survey]:
    """Return surveys with distributions of numbers: by k-ary response, sets, and projective spaces with tables of a field."""
    cells = ((2, 4.0), (6, 0.3), (8, 1.0), (5, 8.0), (19, 0.1), (19, 0.5))
    found = [Survey({"a": Number(0, 1, cells=k, optional=True)}, epsilon) for k, epsilon in cells]
    return [*found, Survey({**YES, "a": Number(0, 1, cells=7, optional=True)}, 3.0, answers=2)]


def unary() -> list[Survey]:
    """Return surveys by unary encoding, which no survey of today chooses."""
    found = []
    with pytest.MonkeyPatch.context() as patch:
        for method in ("symmetric", "optimized"):
            patch.setattr(_columns, "for_symbols", lambda k, e, m=method: UnaryEncoding(k, e, method=m))
            found.append(Survey({"code": Choice(6, optional=True), **YES}, 2.0))
    return found


# The loss -------------------------------------------------------------------------------------------------------------


def require_exact(library, asked: list[Survey]) -> None:
    """Check that the loss is that of the channels, rounded up, and at most the epsilon that the survey was made for."""
    for survey in asked:
        table = survey.client_table()
        found, exact = in_c(library, table), loss_of(table)
        assert exact <= Decimal(found)
        assert found <= survey.epsilon
        if survey.answers == 1:
            assert found == round_up(exact)


@pytest.mark.claim("The client in C computes the loss of a table from its integers, and never too small.", "Clients")
def test_the_loss_of_a_survey_is_that_of_its_channels(library):
    require_exact(library, surveys())
    kinds = {question[2] for survey in surveys() for question in read(survey.client_table())["questions"]}
    assert kinds == set(range(1, 14))


@pytest.mark.long
def test_the_loss_of_random_surveys_is_that_of_their_channels(library):
    require_exact(library, [survey for survey, _ in vectors()])


@pytest.mark.claim("The formulas of the loss of a table are those of its enumerated channels.", "Clients")
def test_the_formulas_are_those_of_the_enumerated_channels():
    """All coins of a grid, also those by which a report shows what the answer is not."""
    table, counted = {"parts": [(0, 3, ())], "questions": [None]}, Counter()
    cases = [(kind, 64, coin, 0, ()) for kind in (2, 3) for coin in (1, 5, 1 << 40, (1 << 63) - 1, 1 << 63)]
    cases += [(4, 64, coin, size, ()) for coin in (1, 1 << 60, 1 << 63, (1 << 64) - 1) for size in (1, 2)]
    cases += [(1, bits, (1 << bits) - 3 * words, words, ()) for bits in (32, 64) for words in (4, 60, 1 << 30)]
    spaces = [(2, 2), (2, 4), (3, 3), (5, 2), (7, 2), (5, 3)]
    for coin in (1, 1 << 50, 1 << 63, (1 << 64) - 1):
        for order, length in spaces:
            points = (order**length - 1) // (order - 1)
            sketch = (1, min(points, 9), 1, points, order, length, 0, 0), [], []
            cases.append((8, 64, coin, 0, sketch))
        cases += [(7, 64, coin, 0, ((1, k, 1, 1 << k.bit_length(), 0, 0, 0, 0), [], [])) for k in (2, 3, 6, 7)]
    cases += [(7, bits, (1 << bits) - 1, 0, ((1, 5, 1, 8, 0, 0, 0, 0), [], [])) for bits in (1, 3, 29, 32)]
    cases = [(*case, 0) for case in cases]
    set_cases = [
        (9, 64, coin, size, (), t) for coin in COINS for size in (1, 2, 3, 4) for t in range(1, min(size, 2) + 1)
    ]
    set_cases += [
        (10, 64, coin, size, (), t) for coin in COINS for size in (1, 2, 3, 5) for t in range(size // 2 + 1, size + 1)
    ]
    set_cases += [(11, 64, (1 << 64) - 12 * words, words, (), 0) for words in (1, 60, 1 << 50)]
    for kind, bits, first, second, more, threshold in [*cases, *set_cases]:
        table["parts"] = [(0, 3, ())] if kind < 9 else [(5, 7, (4, 2))]
        table["questions"][0] = ((0,), more, kind, bits, threshold, "a", first, second, 0, 1, b"")
        asked = Asked(table, 0)
        channel = asked.channel()
        assert {sum(row.values()) for row in channel} == {1}
        assert ratio_of(channel) == asked.ratio
        counted[kind] += 1
    assert set(counted) == {1, 2, 3, 4, 7, 8, 9, 10, 11}


@pytest.mark.long
@each("sizes, plain", [((3, 3), 2), ((3, 4, 3), 2), ((3, 4, 3), 3), ((3, 5, 4), 1), ((3, 3, 3, 3), 3)])
def test_the_formula_of_views_is_that_of_the_enumerated_channels(sizes, plain):
    """With one coin for all views, and with one for each number of symbols."""
    symbols = sorted({math.prod(view) for view in combinations(sizes, plain)})
    for chosen in (symbols, symbols[-1:]):
        for words in product(COINS, repeat=len(chosen)):
            coins = tuple((k, 0, kept) for k, kept in zip(chosen, words, strict=True))
            table = {"parts": [(0, k, ()) for k in sizes]}
            table["questions"] = [(tuple(range(len(sizes))), coins, 12, 64, plain, "a", len(coins), 0, 0, 1, b"")]
            asked = Asked(table, 0)
            channel = asked.channel()
            assert {sum(row.values()) for row in channel} == {1}
            assert ratio_of(channel) == asked.ratio


COINS = (1, 1 << 60, 1 << 63, (1 << 64) - 1)


@each("part", [(5, 6, (3, 2)), (6, 5, (3, 2)), (6, 10, (4, 3))])
def test_the_formula_of_set_selection_is_that_of_tables_and_of_pairs(part):
    """The number of the positions of a record is that of pairs, and in a table the product of those of its parts."""
    for symbols in ([], [(0, 2, ())]):
        asked = {"parts": [part, *symbols], "questions": [None]}
        for size, threshold in ((1, 1), (2, 1), (2, 2)):
            places = tuple(range(1 + len(symbols)))
            if threshold > math.prod(map(width, asked["parts"])):
                continue
            asked["questions"][0] = (places, (), 9, 64, threshold, "a", 1 << 60, size, 0, 1, b"")
            one = Asked(asked, 0)
            assert ratio_of(one.channel()) == one.ratio


def coins(source: random.Random, asked: Asked) -> tuple[int, int, int, int, int]:
    """Return bits, shift and integers by which a table is not damaged, with any loss."""
    bits, kind = 64, asked.kind
    first = min(max(1, source.getrandbits(64) >> source.randrange(64)), (1 << 64) - 1)
    if source.random() < 0.5:
        first = (1 << 64) - first
    if kind in (1, 5, 6, 11):
        bits = source.choice((32, 64)) if asked.k <= 256 else 64
        most = ((1 << bits) - 1) // asked.k
        words = max(4, min(most, source.getrandbits(bits) >> source.randrange(bits - 2)) // 2 * 2)
        if source.random() < 0.2:
            words = most + 2 - most % 2 + 2 * source.randrange(9)  # too many, so that `direct` is below 0, modulo 2^64
        coin = coin_integers.ResponseCoin(asked.k, bits, (1 << bits) - words * (asked.k - 1), words, 0.0)
        return bits, coin.shift, (coin.keep - words) % (1 << 64), words, coin.reciprocal
    if kind == 12:
        return 64, source.randrange(1, len(asked.sizes) + 1), len(asked.more), 0, 0
    if kind == 13:
        return 64, 0, len(asked.more), 0, 0
    if kind in (2, 3):
        return 64, 0, min(first, (1 << 64) - first), 0, 0
    if kind == 7:
        bits = source.choice((1, 7, 20, 32, 64))
        return bits, 0, max(1, first >> (64 - bits)), 0, 0
    if kind == 9:
        size = source.randrange(1, asked.k - asked.own + 1)
        return 64, source.randrange(1, min(size, asked.own) + 1), first, size, source.randrange(64)
    if kind == 10:
        size = source.randrange(1, asked.options + 2)
        return 64, source.randrange(size // 2 + 1, size + 1), first, size, 0
    return 64, 0, first, source.randrange(1, asked.k) if kind == 4 else 0, source.randrange(64) if kind == 4 else 0


@pytest.mark.claim(
    "No table with other integers and a new checksum has a larger loss than the client computes.", "Clients"
)
@pytest.mark.long
def test_no_forged_table_loses_more_than_computed(library):
    """Other coins, sizes, spaces and fields, and bytes anywhere; the channels of what is accepted are enumerated."""
    source, seen, refused = random.Random(20261128), Counter(), 0
    for survey in surveys():
        honest = survey.client_table()
        at = 88 + PART * len(recipe_of(survey).declared)
        for step in range(60):
            table = bytearray(honest)
            for number in range(len(recipe_of(survey).items)):
                place = at + QUESTION * number
                asked = Asked(read(honest), number)
                if step % 3 != 2:
                    bits, shift, *integers = coins(source, asked)
                    struct.pack_into("<BH", table, place + 5, bits, shift)
                    struct.pack_into("<3Q", table, place + 16, *integers)
                if asked.kind == 12 and step % 3 != 2:
                    forge_views(source, table, place, asked)
                if asked.kind == 13 and step % 3 != 2:
                    forge_levels(source, table, place, asked, is_other=step % 3 == 1)
                if step % 3 == 1 and asked.kind in (7, 8):
                    sketch = struct.unpack_from("<I", table, place + 44)[0] + 2
                    forge_space(source, table, sketch, asked)
            for _ in range(source.randrange(1, 4) if step % 3 == 2 else 0):
                table[source.randrange(50, len(table) - 16)] ^= 1 << source.randrange(8)
            forged = closed(table)
            found = in_c(library, forged)
            if found is None:
                refused += 1
                continue
            exact = loss_of(forged, enumerated=True)
            assert exact <= Decimal(found), (survey, step)
            seen.update((question[2], found > 2 * survey.epsilon) for question in read(forged)["questions"])
    assert refused > 100
    assert {kind for kind, is_larger in seen if is_larger} == set(range(1, 14))


def test_too_many_words_of_other_symbols_are_refused(library):
    """Of 32 bits, -2 would be left for the true symbol. That is 2^64 - 2 in a table, and 2^32 - 2 in the kernel."""
    words = (1 << 32) // 3 + 1
    coin = coin_integers.ResponseCoin(3, 32, (1 << 32) - 2 * words, words, 0.0)
    table = bytearray(Survey(YES, 1.0).client_table())
    struct.pack_into("<BH", table, 88 + PART + 5, 32, coin.shift)
    struct.pack_into("<3Q", table, 88 + PART + 16, (1 << 64) - 2, words, coin.reciprocal)
    assert in_c(library, closed(table)) is None


def forge_views(source: random.Random, table: bytearray, place: int, asked: Asked) -> None:
    """Change the coins of views, and sometimes their numbers of symbols, to those of another size of views."""
    at = struct.unpack_from("<I", table, place + 44)[0] + 2 * len(asked.sizes)
    largest = math.prod(sorted(asked.sizes)[-struct.unpack_from("<H", table, place + 6)[0] :])
    for number in range(len(asked.more)):
        struct.pack_into("<Q", table, at + 16 * number + 8, source.getrandbits(64) >> source.randrange(64) or 1)
    if source.random() < 0.9:
        struct.pack_into("<I", table, at + 16 * (len(asked.more) - 1), largest)


def forge_levels(source: random.Random, table: bytearray, place: int, asked: Asked, *, is_other: bool) -> None:
    """Change the coins of levels; and sometimes one of them to a level of another kind, whose numbers mostly fit together."""
    at = struct.unpack_from("<I", table, place + 44)[0] + 2
    last = len(asked.more) - 1
    for number, level in enumerate(asked.more):
        heads = max(1, source.getrandbits(64) >> source.randrange(64))
        struct.pack_into("<Q", table, at + 8, heads if source.random() < 0.7 else (1 << 64) - heads)
        if is_other and number == last and not level[-1]:
            struct.pack_into("<I", table, at, kind := source.randrange(5))
            nodes, members = asked.k, source.randrange(1, 4)
            space = source.choice(((2, 3), (3, 3), (2, 4), (6, 3)))
            points, power = (space[0] ** space[1] - 1) // (space[0] - 1), space[0] ** (space[1] - 1)
            half = 1 << (nodes - 1).bit_length() + source.randrange(2)
            sizes = [
                (source.randrange(1, 9), nodes - 1, 0, 0),
                (math.comb(nodes - 1, members - 1), math.comb(nodes - 1, members), members, 0),
                (half, half, 0, 0),
                (points - power, power, *space),
                (points - power, power, *space),
            ]
            struct.pack_into("<4I", table, at + 16, *sizes[kind])
        elif is_other and number == last and source.random() < 0.5:
            table[at + 32 + source.randrange(4 * asked.k)] = source.randrange(5)
        at += 32 + sum(part.size for part in level[-2]) + 4 * len(level[-1])


@each("kind", ["a window", "sets", "parities", "a prime", "a field"])
def test_the_formula_of_levels_is_that_of_the_enumerated_channels(kind):
    """Windows of several widths above a level of each kind, and nodes of one cell and of two."""
    field = [np.array(rows, np.uint8) for rows in ([[0, 1], [1, 0]], [[0, 0], [0, 1]], [0, 1], [0, 1])]
    counted = 0
    for k, span, size, coins_of in product((3, 6), (1, 2), (1, 3), product(COINS, repeat=2)):
        nodes = -(-k // span)
        half = 1 << (nodes - 1).bit_length()
        level = {
            "a window": (0, span, coins_of[1], 2, nodes - 1, 0, 0, (), ()),
            "sets": (1, span, coins_of[1], nodes - 1, math.comb(nodes - 1, 2), 2, 0, (), ()),
            "parities": (2, span, coins_of[1], half, half, 0, 0, (), ()),
            "a prime": (3, span, coins_of[1], 4, 9, 3, 3, (), (7, 0, 12, 3, 4, 9)),
            "a field": (4, span, coins_of[1], 3, 4, 2, 3, field, (6, 0, 4, 1, 3, 5)),
        }[kind]
        if kind == "sets" and nodes < 4:
            continue
        levels = [(0, 1, coins_of[0], size, k - 1, 0, 0, (), ()), level]
        table = {"parts": [(2, k, ())], "questions": [((0,), levels, 13, 64, 0, "a", 2, 0, 0, 1, b"")]}
        asked = Asked(table, 0)
        channel = asked.channel()
        assert {sum(row.values()) for row in channel} == {1}
        assert ratio_of(channel) == asked.ratio
        counted += 1
    assert counted >= 32


@pytest.mark.claim("One word more or less for the coin of a level changes the loss that a client computes.", "Clients")
def test_every_word_of_the_coin_of_a_level_counts(library):
    """With few words for tails, the difference is seen in a double; a larger loss is refused by the limit of the honest one."""
    for cells, epsilon in ((2, 40.0), (6, 40.0), (15, 40.0)):
        honest = Survey({"a": Number(0, 1, cells=cells, optional=True)}, epsilon).client_table()
        loss = in_c(library, honest)
        assert loss == round_up(loss_of(honest)) <= epsilon
        levels = Asked(read(honest), 0).more
        at = struct.unpack_from("<I", honest, 88 + PART + 44)[0] + 2
        largest = max(range(len(levels)), key=lambda i: Asked(alone(honest, levels[i]), 0).ratio)
        for number, change in product(range(len(levels)), (1, -1)):
            table = bytearray(honest)
            struct.pack_into("<Q", table, at + 32 * number + 8, levels[number][2] + change)
            found = in_c(library, closed(table))
            assert found == round_up(loss_of(closed(table)))
            if number == largest:
                assert (found > loss) == (change == 1)
                assert found != loss
                assert open_table(library, Client(), closed(table), loss) == (EPSILON if change == 1 else 0)


def alone(table: bytes, level: tuple) -> dict:
    """Return what a table says if its question had one level."""
    found = read(table)
    found["questions"][0] = (found["questions"][0][0], [level], *found["questions"][0][2:])
    return found


def forge_space(source: random.Random, table: bytearray, sketch: int, asked: Asked) -> None:
    """Change the space of a sketch: the number of codes, another order, prime or not, or the tables of its field."""
    if asked.field:
        place = sketch + 32 + source.randrange(2 * asked.order * (asked.order + 1))
        table[place] = source.randrange(asked.order)
    elif asked.kind == 7:
        buckets = source.randrange(2, 30)
        struct.pack_into("<I", table, sketch + 4, buckets)
        struct.pack_into("<I", table, sketch + 12, 1 << buckets.bit_length() + source.randrange(2))
    else:
        set_space(table, sketch, source.randrange(2, 20), source.randrange(2, 4))


def set_space(table: bytearray, sketch: int, order: int, length: int) -> None:
    """Write the numbers of a projective space, and of at most 7 buckets."""
    points = (order**length - 1) // (order - 1)
    struct.pack_into("<I", table, sketch + 4, min(points, 7))
    struct.pack_into("<3I", table, sketch + 12, points, order, length)


def test_spaces_over_what_is_no_field_are_refused(library):
    """Modulo 6, or with one wrong product, a report can exclude an answer whatever the coin is."""
    asked = {survey: Asked(read(survey.client_table()), 0) for survey in surveys()}
    modular, tabled = (
        next(survey for survey, one in asked.items() if one.kind == 8 and bool(one.field) == has_tables)
        for has_tables in (False, True)
    )
    worse = 0
    for order in range(2, 20):
        table = bytearray(modular.client_table())
        set_space(table, struct.unpack_from("<I", table, 88 + PART + 44)[0] + 2, order, 3)
        is_prime = all(order % i for i in range(2, order))
        assert (in_c(library, closed(table)) is not None) == is_prime
        one = Asked(read(closed(table)), 0)
        assert not is_prime or ratio_of(one.channel()) == one.ratio
        worse += ratio_of(one.channel()) > one.ratio
    assert worse == 10  # 4, 6, 8, 9, 10, ...
    honest = tabled.client_table()
    sketch, q = struct.unpack_from("<I", honest, 88 + PART + 44)[0] + 34, asked[tabled].order
    refused = Counter()
    for place in range(2 * q * (q + 1)):
        table = bytearray(honest)
        table[sketch + place] = (table[sketch + place] + 1) % q
        refused[in_c(library, closed(table)) is None] += 1
    assert refused == {True: 2 * q * (q + 1) - 1, False: 1}  # nothing is the inverse of 0, and it is not read


@each(
    "ratio",
    [
        Fraction(1),
        Fraction(2),
        Fraction(1 << 64),
        1 + Fraction(1, 1 << 60),
        Fraction((1 << 63) - 1, 1 << 62),
        Fraction(3, 2),
    ],
)
def test_logarithms_are_rounded_up_to_the_next_double(library, ratio):
    """By unary encoding, whose loss is the logarithm of a quotient of two integers with the sum 2^64."""
    other = max(1, math.ceil((1 << 64) / (1 + ratio)))
    survey = unary()[1]
    table = bytearray(survey.client_table())
    for number in range(2):
        struct.pack_into("<3Q", table, 88 + 2 * PART + QUESTION * number + 16, other, 0, 0)
    found, exact = in_c(library, closed(table)), loss_of(closed(table))
    assert found == round_up(exact)
    assert (found == 0) == (other == 1 << 63)


# The limit and the fingerprint ----------------------------------------------------------------------------------------


@pytest.mark.claim("A table with a larger loss than the program allows is refused in C.", "Clients")
def test_a_table_that_loses_more_than_the_limit_is_refused(library):
    honest, forged = forged_table()
    client = Client()
    assert open_table(library, client, forged, 2.0) == EPSILON
    assert (client.table, client.values, client.epsilon) == (None, 0, 0.0)
    assert open_table(library, client, honest, 2.0) == 0
    assert client.epsilon <= 2.0
    loss = in_c(library, forged)
    assert 29.9 < loss <= 30.0
    assert open_table(library, client, forged, loss) == 0
    assert open_table(library, client, forged, math.nextafter(loss, 0)) == EPSILON
    for limit in (0.0, -1.0, -math.inf, math.nan):
        assert open_table(library, client, honest, limit) == EPSILON
    assert open_table(library, client, honest, math.inf) == 0


def test_waves_and_rounds_count(library):
    """All turns, and the permanent answers, on which more and more rounds tell everything that they can."""
    questions = {**YES, "sleep": Mean(0, 12, optional=True)}
    for turns in (1, 2, 5):
        wave = Survey(questions, 2.0, series="weeks", waves=5, turns=turns).in_wave(3)
        assert 0.99 * 2.0 < in_c(library, wave.client_table()) <= 2.0
    asked = Repeated(Survey(questions, 4.0), round=1.0, rounds=9).in_round(2)
    assert asked.guarantee.epsilon <= 1.0 < 3.99 < in_c(library, asked.client_table()) <= 4.0
    several = Survey(questions, 6.0, answers=2)
    assert 5.99 < in_c(library, several.client_table()) <= 6.0


@pytest.mark.claim("A table with another fingerprint than the program expects is refused in C.", "Clients")
def test_another_table_than_that_of_the_fingerprint_is_refused(library):
    first = Survey({"smokes": YesNo(optional=True), "walks": YesNo(optional=True)}, 2.0)
    other = Survey({"walks": YesNo(optional=True), "smokes": YesNo(optional=True)}, 2.0)
    table, client = first.client_table(), Client()
    room = ctypes.create_string_buffer(32)
    for size in [*range(200), len(table)]:
        library.ldpfast_fingerprint(table, ctypes.c_size_t(size), room)
        assert room.raw == hashlib.sha256(table[:size]).digest()
    assert open_table(library, client, table, 2.0, room.raw) == 0
    assert open_table(library, client, other.client_table(), 2.0, room.raw) == FINGERPRINT
    assert (client.table, client.values) == (None, 0)
    copied = bytearray(other.client_table())
    copied[16:48] = table[16:48]  # that it has the same digest of a schema is no proof
    assert open_table(library, client, closed(copied), 2.0, room.raw) == FINGERPRINT
    assert open_table(library, client, closed(copied)[:-1], 2.0, room.raw) == DAMAGED
    copied[48:50] = bytes(2)  # no questions: the fingerprint is compared before the questions are read
    assert open_table(library, client, closed(copied), 2.0) == DAMAGED
    assert open_table(library, client, closed(copied), 2.0, room.raw) == FINGERPRINT
