"""View response: the kernel against the reference, the exact channel, keys of persons, and the choice of the design."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.mechanisms import ViewResponse
from ldpfast.privacy import Channel
from ldpfast.reports import recipe_of

from ..support import view_response as reference
from ..support.cases import each
from ..support.errors import raises
from ..support.internals.kernels import privatize, stream
from ..support.internals.shared import person_keys
from ..support.keys import FIXED_KEY, KEY, SEED, STATISTICS_SEED
from ..support.modules import module_of
from ..support.statistics import assert_counts

ViewDesign = type(ViewResponse([2, 2], 1.0).design)
pairs_design = module_of(ViewDesign).pairs_design


def law(mechanism):
    return recipe_of(mechanism).law


def rows_of(sizes, n, seed=0):
    """Return n records, the first one of first answers and the second one of last answers."""
    rng = np.random.default_rng([seed, len(sizes)])
    found = rng.integers(0, sizes, (n, len(sizes)))
    found[0], found[1] = 0, np.array(sizes) - 1
    return found


# Reports --------------------------------------------------------------------------------------------------------------

SEVERAL = [
    ([2, 2], 1.0, 1025),
    ([2] * 4, 1.0, 100),
    ([2] * 9, 6.0, 60),  # symbols of more than a byte are possible, with plain views of six
    ([2] * 20, 0.5, 100),
    ([2] * 20, 1.0, 100),
    ([2] * 20, 4.0, 60),
    ([2] * 40, 12.0, 20),
    ([2] * 130, 1.0, 10),
    ([3] * 5, 1.0, 60),
    ([3] * 5, 4.0, 60),
    ([2, 3, 5, 2], 1.0, 100),
    ([2, 3, 5, 2], 5.0, 100),
    ([90, 60, 2], 1.0, 20),
    ([4, 100, 100], 2.0, 20),
]


@each("sizes, epsilon, n", SEVERAL)
def test_reports_and_counts_equal_the_reference(isa, sizes, epsilon, n):
    mechanism = ViewResponse(sizes, epsilon)
    records, expected = rows_of(sizes, n), []
    per_block = recipe_of(mechanism).kernel.rows
    for block in range(-(-n // per_block)):
        part = records[per_block * block : per_block * (block + 1)].tolist()
        expected += reference.reports(law(mechanism), KEY, block, part)
    reports = mechanism.privatize(records, rng=SEED)
    assert [row.tobytes() for row in reports] == expected
    assert mechanism.report.invalidity(reports) is None
    cells, pairs = mechanism.report.split(mechanism.aggregator().update(reports).counts)
    assert (cells.tolist(), pairs.tolist()) == reference.tally(sizes, expected)
    assert mechanism.collect(records, rng=SEED) == mechanism.aggregator().update(reports)


@each("sizes, epsilon, flip", [([2] * 4, 1.0, 0), ([2] * 4, 1.0, 1), ([2, 3, 5], 1.0, 0), ([3] * 4, 4.0, 0)])
def test_the_true_symbol_is_kept_exactly_below_the_integer_of_the_coin(isa, sizes, epsilon, flip):
    """The first word is the coin. With the word as the integer the symbol is random, with one unit more it is the true one."""
    mechanism, questions = ViewResponse(sizes, epsilon), len(sizes)
    design, word = mechanism.design, reference.Words(FIXED_KEY, "VIEW_COINS", 0).word()
    coins = reference.Words(FIXED_KEY, "VIEW_COINS", 0)
    coins.word()
    for view in combinations(range(questions), design.flip if flip else design.plain):
        symbols = 1 << design.flip - 1 if flip else math.prod(sizes[i] for i in view)
        coins.at = 8
        other = reference.word_below(coins, symbols)
        for direct, keeps in ((word, False), (word + 1, True)):
            numbers = sorted(set(sizes)) if design.plain == 2 else [0]
            places = [numbers.index(size) if len(numbers) > 1 else 0 for size in sizes]
            table = [[direct] * len(numbers)] * len(numbers)
            share = 256 if not design.flip else design.share
            kernel = privatize.ViewResponse(sizes, design.plain, design.flip, share, places, table, direct)
            for truth in range(symbols):
                report = reference.packed(sizes, mechanism.report_bytes, flip, list(view), truth)
                out = np.frombuffer(report, np.uint8).copy()[np.newaxis]
                kernel.respond_each(np.frombuffer(FIXED_KEY, np.uint8)[np.newaxis], out)
                kept = truth if keeps else other
                assert out.tobytes() == reference.packed(sizes, mechanism.report_bytes, flip, list(view), kept)


def test_views_have_at_most_16_questions():
    """A symbol has two bytes."""
    table, places = [[1 << 63]], [0] * 17
    for plain, flip in ((16, 0), (2, 16)):
        privatize.ViewResponse([2] * 17, plain, flip, 128, places, table, 1 << 63)
    for plain, flip in ((17, 0), (2, 17)):
        with pytest.raises(ValueError, match="the views do not fit the kernel"):
            privatize.ViewResponse([2] * 17, plain, flip, 128, places, table, 1 << 63)


def test_answers_that_are_too_large_are_the_last_ones(isa):
    """The kernel gives the report of a valid record, and says that a record is not valid."""
    sizes = [2, 3, 4, 2]
    kernel = recipe_of(ViewResponse(sizes, 1.0)).kernel
    bad = np.array([[2, 3, 4, 65535], [0, 9, 0, 1]] * 50, np.uint16)
    good = np.minimum(bad, np.array(sizes, np.uint16) - 1).astype(np.uint16)
    out = [np.empty((100, 3), np.uint8) for _ in range(2)]
    assert not kernel.privatize(stream.Stream(KEY), 0, bad, out[0])
    assert kernel.privatize(stream.Stream(KEY), 0, good, out[1])
    assert (out[0] == out[1]).all()


@pytest.mark.parametrize("sizes, epsilon", [([2] * 4, 1.0), ([2, 3, 3], 1.0)])
def test_all_reports_have_their_probability(isa, sizes, epsilon):
    """Detects errors of half a percentage point of a report."""
    mechanism, n = ViewResponse(sizes, epsilon), 300_000
    record = [size - 1 for size in sizes]
    reports = mechanism.privatize(np.tile(np.array(record, np.uint16), (n, 1)), rng=STATISTICS_SEED)
    codes, counts = np.unique(reports @ (256 ** np.arange(reports.shape[1])), return_counts=True)
    row = mechanism.channel().matrix[-1]
    assert len(row) == len(codes)
    assert_counts(counts, n, row, detects=0.005)


# The channel ----------------------------------------------------------------------------------------------------------

SMALL = [
    ViewResponse([2, 2], 1.0),
    ViewResponse([2] * 4, 0.5),
    ViewResponse([2] * 4, 1.0),
    ViewResponse([2] * 4, 2.0),
    ViewResponse([2] * 4, 4.0),
    ViewResponse([2] * 5, 1.0),
    ViewResponse([3, 3, 3], 1.0),
    ViewResponse([3, 2, 4], 1.0),
    ViewResponse([3, 2, 4], 5.0),
]


def exact(mechanism):
    """Return all records, the reports as (flip, view, symbol), and the channel in fractions, from the integers of the coins."""
    design, sizes = mechanism.design, mechanism.sizes
    listed = [(k, Fraction(keep - words, 1 << bits)) for k, bits, keep, words in mechanism._coin.coins]
    by_symbols, last = dict(listed[: -1 if design.flip else None]), listed[-1][1]
    reports, rows = [], []
    records = list(product(*(range(size) for size in sizes)))
    share = Fraction(design.share, 256)
    for flip, size, probability in ((0, design.plain, share), (1, design.flip, 1 - share)):
        views = list(combinations(range(len(sizes)), size)) if size else []
        for view in views:
            k = 1 << size - 1 if flip else math.prod(sizes[i] for i in view)
            kept = last if flip else by_symbols[k if design.plain == 2 else max(by_symbols)]
            for symbol in range(k):
                reports.append((flip, view, symbol))
                rows.append(
                    [
                        probability
                        / len(views)
                        * ((1 - kept) / k + kept * (reference.symbol_of(sizes, flip, list(view), x) == symbol))
                        for x in records
                    ]
                )
    return records, reports, [list(row) for row in zip(*rows, strict=True)]


@pytest.mark.claim(
    "The guarantee of the answers to many questions holds for all of them together.", "Privacy of reports"
)
@each("mechanism", SMALL, ids=repr)
def test_the_guarantee_is_that_of_the_integers(mechanism):
    """By enumeration of all records and reports. One unit less of the other symbols would exceed epsilon."""
    _, _, rows = exact(mechanism)
    assert all(sum(row) == 1 for row in rows)
    worst = max(max(column) / min(column) for column in zip(*rows, strict=True))
    assert worst <= Fraction(math.exp(mechanism.epsilon)) * (1 + Fraction(1, 2**50))
    assert Channel(rows).epsilon() == mechanism.epsilon_realized == mechanism.channel().epsilon()
    for k, bits, keep, words in mechanism._coin.coins:
        assert keep + (k - 1) * words == 1 << bits
        fewer = words - (2 if bits == 32 else 1)  # words of each other symbol, even for 32 bits
        assert math.log(Fraction((1 << bits) - (k - 1) * fewer, fewer)) > mechanism.epsilon


@each("mechanism", SMALL, ids=repr)
def test_decoded_reports_are_unbiased_with_their_variance(mechanism):
    records, reports, rows = exact(mechanism)
    packed = [
        reference.packed(mechanism.sizes, mechanism.report_bytes, flip, list(view), symbol)
        for flip, view, symbol in reports
    ]
    decoded = mechanism.decode(np.frombuffer(b"".join(packed), np.uint8).reshape(len(packed), -1))
    probability = np.array(rows, np.float64)
    truth = np.array(
        [[float(x[i] == a) for i, size in enumerate(mechanism.sizes) for a in range(size)] for x in records]
    )
    assert probability @ decoded == pytest.approx(truth, abs=1e-12)
    variance = probability @ decoded**2 - truth**2
    assert mechanism.variance(np.array(records)) == pytest.approx(variance, rel=1e-9)
    assert mechanism.worst_variance >= variance.max() - 1e-9


@each("mechanism", SMALL, ids=repr)
def test_levels_for_shuffling_are_those_of_the_views(mechanism):
    """The mean number of other people whose reports hide that of one of two records with no answer in common."""
    _, _, rows = exact(mechanism)
    levels = mechanism.two_level
    first, last = rows[0], rows[-1]
    odds = Fraction(levels.odds)
    assert odds == max(max(column) / min(column) for column in zip(*rows, strict=True))
    apart = sum(abs(a - b) for a, b in zip(first, last, strict=True)) / 2
    assert apart <= levels.affected * (odds - 1) / (odds + 1)  # the total variation that the levels have


def test_reports_of_other_views_are_refused():
    mechanism = ViewResponse([2] * 10, 1.0)
    report = mechanism.privatize([0] * 10, rng=1)
    mask, kind, symbol = report[:2], report[2], report[3]
    assert mask.tobytes() != bytes(2)
    size = 2 + int(kind)
    for wrong in (
        [0, 0, kind, symbol],
        [255, 0, kind, symbol],
        [0, 4, kind, symbol],
        [0, 0b1100_0001 if size == 3 else 0b0100_0001, kind, 0],  # questions that do not exist
        [*mask, 2, symbol],
        [*mask, kind, 4],
        [*mask, 1 - kind, symbol],
    ):
        bad = np.array(wrong, np.uint8)
        with raises(ValueError, "reports must be about 2 or 3 of 10 questions, with a possible symbol; row 0 is not"):
            mechanism.estimate(bad)
        with pytest.raises(ValueError, match="row 1 is not"):
            mechanism.decode(np.array([report, bad]))
        assert not mechanism.report.tally_valid(bad[np.newaxis], mechanism.report.new_state())


def test_counts_that_no_reports_give_are_refused():
    for mechanism in (ViewResponse([2] * 6, 1.0), ViewResponse([2, 3, 4], 1.0), ViewResponse([3] * 4, 4.0)):
        aggregator = mechanism.collect(rows_of(mechanism.sizes, 500), rng=1)
        state = aggregator.counts
        assert mechanism.report.is_possible(state, 500)
        for place in np.flatnonzero(state).tolist() + np.flatnonzero(state == 0)[:20].tolist():
            for step in (1, -1):
                changed = state.copy()
                changed[place] += step
                agreed = (
                    place >= mechanism.report.answers**2
                    and (place - mechanism.report.answers**2) // 6 > (place - mechanism.report.answers**2) % 6
                )
                if not agreed:  # numbers of equal answers are limited only by those of the reports
                    assert not mechanism.report.is_possible(changed, 500), (mechanism, place, step)
        assert not mechanism.report.is_possible(state, 501)
        large = state * (1 << 50)
        assert mechanism.report.is_possible(large, 500 << 50)


# Persons --------------------------------------------------------------------------------------------------------------


def test_only_what_a_person_is_asked_has_coins():
    """A changed answer changes the reports of the persons only who were asked it; the view of nobody changes."""
    mechanism, n = ViewResponse([2] * 12, 1.0), 2000
    keys = ldp.PersonKeys(bytes(range(32)), np.arange(n), question="q")
    records = rows_of(mechanism.sizes, n)
    before = mechanism.privatize(records, rng=keys)
    for question in (0, 7, 11):
        changed = records.copy()
        changed[:, question] ^= 1
        after = mechanism.privatize(changed, rng=keys)
        asked = before[:, question // 8] >> question % 8 & 1 == 1
        moved = (after != before).any(axis=1)
        assert (after[:, :3] == before[:, :3]).all()
        assert not moved[~asked].any()
        assert 0.7 < moved[asked].mean() < 0.85  # 1 - 2 q (p + q) = 0.77 for 4 symbols with different truths
    both = mechanism.privatize(1 - records, rng=keys)
    flip = before[:, 2] == 1
    assert (both[flip] == before[flip]).all()  # the symbol of a flip view is that of the opposite answers


def test_reports_with_personal_keys_equal_the_reference():
    mechanism = ViewResponse([2, 3, 2, 5], 1.0)
    records, secret = rows_of(mechanism.sizes, 50), bytes(range(32))
    keys = ldp.PersonKeys(secret, np.arange(50), question="q")
    reports = mechanism.privatize(records, rng=keys)
    own = keys.of(mechanism.schema(), 50)
    asked = own.derive(0, person_keys.no_value(50))
    for i, row in enumerate(records.tolist()):
        flip, view = reference.view_of(mechanism.design, 4, reference.Words(asked[i].tobytes(), "VIEWS", 0))
        truth = reference.symbol_of(mechanism.sizes, flip, view, row)
        true_report = np.frombuffer(reference.packed(mechanism.sizes, 3, flip, view, truth), np.uint8)[np.newaxis]
        key = own.derive(i, person_keys.string_fields(true_report))[0].tobytes()
        expected = reference.reports(law(mechanism), asked[i].tobytes(), 0, [row], key)
        assert reports[i].tobytes() == expected[0]


# The design -----------------------------------------------------------------------------------------------------------


def variances(design, questions, epsilon):
    """Return n times the mean variance of a cell with fair answers, from the probabilities of the views."""
    odds = math.exp(epsilon)
    c = (odds - 1) / (odds + 2**design.plain - 1)
    e = (odds - 1) / (odds + 2 ** max(0, design.flip - 1) - 1)
    share, pairs = design.share / 256, math.comb(questions, 2)
    one = share * design.plain / questions * c**2
    two = (share * math.comb(design.plain, 2) * c**2 + (1 - share) * math.comb(design.flip, 2) * e**2) / pairs
    return (2 / one + 1 / two) / 16


@pytest.mark.claim("All tables of 20 yes-or-no questions cost a quarter of those of one pair per person.", "Estimates")
def test_the_variance_of_a_cell_is_that_of_the_table():
    """With that of asking each person one of the pairs by k-ary response."""
    for questions, epsilon, design, expected, one_pair in (
        (10, 1.0, (2, 3, 0.60), 28.8, 93.5),
        (10, 2.0, (3, 4, 0.80), 6.6, 22.3),
        (10, 4.0, (4, 0, 1.00), 1.32, 9.7),
        (20, 0.5, (1, 2, 0.32), 421, 1829),
        (20, 1.0, (2, 3, 0.47), 93.3, 394),
        (20, 2.0, (3, 4, 0.63), 21.4, 94.2),
        (20, 4.0, (4, 5, 0.79), 4.26, 41.1),
        (40, 1.0, (2, 3, 0.36), 314, 1620),
        (40, 2.0, (3, 4, 0.48), 71.8, 387),
        (40, 4.0, (4, 5, 0.61), 14.3, 169),
    ):
        found = pairs_design(questions, epsilon)
        assert (found.plain, found.flip, round(found.share / 256, 2)) == design
        assert variances(found, questions, epsilon) == pytest.approx(expected, rel=5e-3)
        odds = math.exp(epsilon)
        response = math.comb(questions, 2) * 3 / 16 * ((odds + 3) / (odds - 1)) ** 2
        assert response == pytest.approx(one_pair, rel=5e-3)
        assert questions == 10 or variances(found, questions, epsilon) < response / 4


def test_no_other_design_is_better():
    for questions, epsilon in ((2, 1.0), (3, 1.0), (7, 3.0), (20, 1.0), (20, 8.0)):
        best = variances(pairs_design(questions, epsilon), questions, epsilon)
        for plain, flip in product(range(2, min(questions, 10) + 1), range(2, min(questions, 10) + 1)):
            for share in (1, 60, 121, 128, 200, 255):
                assert variances(ViewDesign(plain, flip, share), questions, epsilon) >= best * (1 - 1e-8)
            assert variances(ViewDesign(plain, 0, 256), questions, epsilon) >= best * (1 - 1e-8)


@each(
    "sizes, epsilon, plain",
    [([3] * 20, 1.0, 2), ([3] * 20, 2.0, 2), ([3] * 20, 4.0, 3), ([2] * 10 + [5] * 2, 1.0, 2), ([200] * 5, 6.0, 2)],
)
def test_the_design_for_other_numbers_of_answers(sizes, epsilon, plain):
    assert ViewResponse(sizes, epsilon).design == ViewDesign(plain, 0, 256)


@each("epsilon", [5e-324, 1e-300, 1e-20, 60.0, 1e300])
@each("sizes", [(5, 5), (2, 3, 7), (2, 2), (300, 200)])
def test_an_epsilon_that_no_coin_can_certify_is_refused(sizes, epsilon):
    with pytest.raises(ValueError, match=r"^epsilon must be within what exact coins can certify, got"):
        ViewResponse(sizes, epsilon)


def test_questions_that_do_not_fit_are_refused():
    with raises(TypeError, "sizes must be a sequence of integers, got int"):
        ViewResponse(4, 1.0)
    with pytest.raises(ValueError, match=r"^sizes must be an integer"):
        ViewResponse([2, 1], 1.0)
    most = "with at most 1024 answers together and 64 different numbers of answers"
    together = f"sizes must be those of 2 to 256 questions {most}"
    with raises(ValueError, f"{together}, got 1 questions with 2 answers"):
        ViewResponse([2], 1.0)
    with raises(ValueError, f"{together}, got 257 questions with 514 answers"):
        ViewResponse([2] * 257, 1.0)
    with raises(ValueError, "sizes must be at most 65536 for the product of any two, got 500"):
        ViewResponse([500, 400, 2], 1.0)
    with pytest.raises(
        ValueError, match=r"^x must be rows of 3 integers, each at least 0 and below its entry of sizes=\(2, 2, 3\)"
    ):
        ViewResponse([2, 2, 3], 1.0).privatize([[0, 1, 2], [0, 2, 2]])
    for dtype in (np.float32, np.float64):
        with raises(TypeError, f"x must be integers, got dtype {np.dtype(dtype)}"):
            ViewResponse([2, 2], 1.0).privatize(np.array([0, 1], dtype))
    with raises(ValueError, "clip must be False for rows of categories, got True"):
        ViewResponse([2, 2], 1.0).privatize([[0, 1]], clip=True)
