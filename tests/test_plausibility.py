"""Tests whether reports can come from their mechanism: exact on small cases, false alarms, and forgeries that must be found."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

import ldpfast as ldp
from ldpfast.estimation import Frequencies
from ldpfast.mechanisms import (
    DistributionResponse,
    Gradient,
    SetCube,
    SetSelection,
    SketchResponse,
    TreeResponse,
    ViewResponse,
    WholeSets,
)
from ldpfast.reports import recipe_of
from ldpfast.survey import Choice, Number, Several, Survey, Text, YesNo

from .support.cases import each
from .support.statistics import ALPHA

GENERATOR = np.random.default_rng(20240611)


def all_reports(mechanism) -> np.ndarray:
    """Return all reports of a mechanism for categories, in the order of the columns of its channel."""
    outputs = mechanism.channel().matrix.shape[1]
    if isinstance(mechanism, ldp.UnaryEncoding):
        return np.arange(outputs, dtype=np.uint8)[:, np.newaxis]
    return np.arange(outputs, dtype=mechanism.report.dtype(np.dtype(np.float64)))


def kinds_by_report(mechanism, reports) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the kinds of each report, and the probabilities of the kinds."""
    law = recipe_of(mechanism).law
    found = [law.kinds_of(reports[i : i + 1]) for i in range(len(reports))]
    return np.array([kinds.counts for kinds in found]), found[0].probabilities


KINDS = {
    "number of ones": ldp.UnaryEncoding(4, 1.0),
    "number of ones, optimized": ldp.UnaryEncoding(5, 1.0, method="optimized"),
    "levels of a tree": TreeResponse(16, 2.0),
    "levels of a distribution": DistributionResponse(32, 1.0),
}


@pytest.mark.claim(
    "The kinds of reports that plausibility counts have the same probabilities for all records.", "Estimates"
)
@each("name", KINDS)
def test_the_kinds_of_reports_have_the_same_probabilities_for_all_records(name):
    """By enumeration: a coin that is off by 2^-40 would be seen."""
    mechanism = KINDS[name]
    kinds, probabilities = kinds_by_report(mechanism, all_reports(mechanism))
    expected = np.tile(probabilities, (len(mechanism.channel().matrix), 1))
    np.testing.assert_allclose(mechanism.channel().matrix @ kinds, expected, rtol=0, atol=1e-13)


def test_the_questions_of_a_view_have_the_same_probabilities_for_all_records():
    mechanism = ViewResponse([2, 2, 2, 2, 3], 1.0)
    reports = mechanism.privatize(np.zeros((20_000, 5), np.uint8), rng=1)
    kinds = recipe_of(mechanism).law.kinds_of(reports)
    margin = stats.norm.isf(ALPHA / 2 / len(kinds.counts)) * np.sqrt(20_000 * kinds.probabilities)
    assert (np.abs(kinds.counts - 20_000 * kinds.probabilities) <= margin).all()


SMALL = {
    "categories": ldp.RandomizedResponse(5, 1.0),
    "bits": ldp.UnaryEncoding(5, 1.0),
    "bits, optimized": ldp.UnaryEncoding(5, 1.0, method="optimized"),
    "sets": ldp.HadamardResponse(5, 1.0),
    "levels": TreeResponse(16, 1.0),
    "signs": ldp.LinfBall(6, 1.0),
    "signs, thin": ldp.LinfBall(6, 1.0, ties="thin"),
    "sampled signs": ldp.SampledCube(5, 4.0, sampled=3),
    "sampled signs, few agreements": ldp.SampledCube(5, 0.1, sampled=5, threshold=4),
    "options, signs": SetCube(4, 3, 1.0),
    "options, sets": SetSelection(6, 2, 1.0, optional=True),
    "options, codes": WholeSets(3, 2, 2.0),
}


@each("name", SMALL)
def test_no_report_has_a_larger_probability_than_the_entropy_says(name):
    mechanism = SMALL[name]
    largest = recipe_of(mechanism).law.largest_probability()
    exact = mechanism.channel().matrix.max()
    assert exact <= largest * (1 + 1e-12)
    assert largest <= exact * (4 if isinstance(mechanism, ldp.LinfBall) else 1 + 1e-12)


def test_the_largest_probability_of_a_set_is_that_of_its_coin():
    """All sets of the size with the true category are equally probable."""
    mechanism = ldp.SubsetSelection(6, 1.0, size=2)
    reports = mechanism.privatize(np.zeros(40_000, np.uint8), rng=1)
    _, counts = np.unique(reports, return_counts=True)
    p = recipe_of(mechanism).law.largest_probability()
    assert p == pytest.approx(mechanism.debiasing.probabilities[0] / 5, rel=1e-12)
    assert stats.binom.cdf(counts.max(), 40_000, p) > ALPHA
    assert stats.binom.sf(counts.max() - 1, 40_000, p) > ALPHA


def test_directions_in_a_cap_have_no_orthant_with_a_larger_probability():
    """The cap about a diagonal is in one orthant nearly always, and its density is the largest one."""
    mechanism = ldp.PrivUnit(3, 6.0)
    reports = mechanism.privatize(np.full((40_000, 3), 1 / 3**0.5), rng=1)
    largest = recipe_of(mechanism).law.largest_probability()
    share = np.mean((reports > 0).all(axis=1))
    assert 0.9 < share <= largest
    assert recipe_of(ldp.PrivUnit(100, 4.0)).entropy > 90
    assert recipe_of(ldp.PrivUnit(1, 4.0)).entropy < 0.03


@each(
    "question, entropy",
    [
        (ldp.UnaryEncoding(10_000, 1.0), 1000),
        (ldp.SubsetSelection(10_000, 1.0), 1000),
        (ldp.SampledCube(4000, 1.0, sampled=4000), 1000),
        (ldp.LinfBall(1, 1.0), 0),
    ],
)
def test_the_entropy_is_a_finite_bound_where_probabilities_are_below_all_doubles(question, entropy):
    found = recipe_of(question).entropy
    assert (found, np.signbit(found)) == (entropy, False)


GRADIENT = Gradient("logistic", np.zeros(60), 1.0, norm="linf")
COPIED = {
    "sampled signs": (ldp.SampledCube(300, 1.0, sampled=40), np.zeros((500, 300))),
    "directions in a cap": (ldp.PrivUnit(100, 2.0), np.full((500, 100), 0.1)),
    "gradients": (GRADIENT, np.tile([*np.zeros(60), 1.0], (500, 1))),
    "signs of options": (SetCube(200, 100, 12.0), np.arange(100_000).reshape(500, 200) % 3 == 0),
    "options": (SetSelection(300, 3, 1.0), np.arange(150_000).reshape(500, 300) % 300 == 7),
}


@each("name", COPIED)
def test_one_copy_of_a_long_report_is_found(name):
    mechanism, records = COPIED[name]
    reports = mechanism.privatize(records, rng=1)
    assert mechanism.plausibility(reports).pvalue > 0.01
    reports[3] = reports[400]
    found = mechanism.plausibility(reports)
    assert (found.repeated, found.pvalue < 1e-6) == (1, True)


def test_a_copied_message_about_many_options_is_found():
    survey = Survey({"asked": Several([f"option {i}" for i in range(60)])}, 1.0)
    table = survey.privatize({"asked": [["option 3"], []] * 200}, rng=1)
    messages = [survey.message(table.slice(i, 1)) for i in range(20)]
    assert survey.plausibility(table)["asked"].pvalue > 0.01
    assert survey.plausibility(messages + messages[:1] * 12)["asked"].pvalue < 1e-6


@pytest.mark.claim("The p-values of plausibility hold for every number of reports and every population.", "Estimates")
@each("mechanism", [ldp.UnaryEncoding(2, 1.0), ldp.RandomizedResponse(3, 2.0), ldp.HadamardResponse(3, 2.0)])
def test_the_p_values_of_three_people_are_exact(mechanism):
    """All reports of three people, for all records: no p-value is too small too often."""
    channel, reports = mechanism.channel().matrix, all_reports(mechanism)
    sets = list(itertools.product(range(len(reports)), repeat=3))
    pvalues = np.array([mechanism.plausibility(reports[list(rows)]).pvalue for rows in sets])
    for records in itertools.combinations_with_replacement(range(len(channel)), 3):
        probability = np.array([np.prod(channel[records, rows]) for rows in sets])
        for level in np.unique(pvalues):
            assert probability[pvalues <= level].sum() <= level + 1e-12


HONEST = {
    "bits": (ldp.UnaryEncoding(20, 1.0), lambda n, rng: rng.integers(0, 2, n)),
    "bits of many categories": (ldp.UnaryEncoding(200, 1.0, method="optimized"), lambda n, rng: np.full(n, 7)),
    "sets": (ldp.SubsetSelection(40, 1.0), lambda n, rng: rng.integers(0, 3, n)),
    "codes of sets": (ldp.HadamardResponse(10, 1.0), lambda n, rng: np.full(n, 3)),
    "categories": (ldp.RandomizedResponse(10, 1.0), lambda n, rng: np.full(n, 3)),
    "flags": (ldp.Warner(1.0), lambda n, rng: np.ones(n, np.uint8)),
    "levels": (DistributionResponse(32, 1.0), lambda n, rng: rng.integers(0, 4, n)),
    "hashes": (SketchResponse(2.0, max_bytes=2, buckets=16, functions=4), lambda n, rng: ["a"] * n),
    "views": (ViewResponse([2, 2, 3], 1.0), lambda n, rng: np.tile([1, 0, 2], (n, 1))),
    "sampled signs": (ldp.SampledCube(8, 1.0), lambda n, rng: np.ones((n, 8))),
    "signs": (ldp.LinfBall(30, 1.0), lambda n, rng: np.ones((n, 30))),
    "vectors": (ldp.L2Ball(3, 1.0), lambda n, rng: np.tile([0.5, 0.5, 0.5], (n, 1))),
    "seeds": (ldp.RankCodebook(4, 1.0), lambda n, rng: np.zeros((n, 4))),
    "numbers": (ldp.SignBit(0, 1, 1.0), lambda n, rng: np.ones(n)),
    "inner numbers": (ldp.Window(0, 1, 1.0), lambda n, rng: np.full(n, 0.5)),
    "noise": (ldp.Laplace(0, 1, 1.0), lambda n, rng: np.full(n, 0.5)),
}


@each("name", HONEST)
def test_honest_reports_are_seldom_called_implausible(name):
    """30 collections of 300 people, most with the records that are nearest to a forgery; 9 alarms at 5 % have p = 1e-5."""
    mechanism, records = HONEST[name]
    rng = np.random.default_rng(3)
    found = [mechanism.plausibility(mechanism.privatize(records(300, rng), rng=rng)) for _ in range(30)]
    assert sum(one.pvalue <= 0.05 for one in found) <= 8
    assert sum(one.improbable for one in found) == 0
    assert min(one.pvalue for one in found) > 1e-4


def forged(mechanism, honest: np.ndarray, name: str, share: float) -> np.ndarray:
    """Return reports of which a share is forged."""
    count = int(share * len(honest))
    false = honest[:count]
    if name == "ones":
        false = np.full_like(false, 255)
        false[:, -1] &= (1 << ((mechanism.k - 1) % 8 + 1)) - 1
    elif name == "constant":
        false = np.repeat(honest[:1], count, axis=0)
    elif name == "random":
        bits = GENERATOR.integers(0, 2, (count, mechanism.k), dtype=np.uint8)
        false = np.packbits(bits, axis=1, bitorder="little")
    elif name == "value":  # the bit of one category, and no other
        false = np.zeros_like(false)
        false[:, 0] = 8
    return np.concatenate([false, honest[count:]])


BITS = ldp.UnaryEncoding(60, 1.0, method="optimized")


@each("name", ["ones", "constant", "random", "value"])
@each("share", [0.05, 0.3])
def test_typical_forgeries_of_bits_are_found(name, share):
    honest = BITS.privatize(GENERATOR.integers(0, 60, 4000), rng=1)
    assert BITS.plausibility(honest).pvalue > 0.01
    found = BITS.plausibility(forged(BITS, honest, name, share))
    assert found.pvalue < 1e-9
    assert found.tests["kinds"].pvalue < 1e-9 or name == "constant"
    if name == "ones":
        assert found.improbable == int(share * 4000)


OTHERS = {
    "sets": (ldp.SubsetSelection(40, 1.0), GENERATOR.integers(0, 40, 4000), "repeats"),
    "codes of sets": (ldp.HadamardResponse(30, 1.0), GENERATOR.integers(0, 30, 4000), "codes"),
    "levels": (DistributionResponse(64, 1.0), GENERATOR.integers(0, 64, 4000), "codes"),
    "hashes": (SketchResponse(4.0, max_bytes=1, buckets=16), ["a", "b"] * 2000, "kinds"),
    "views": (ViewResponse([2] * 8, 1.0), GENERATOR.integers(0, 2, (4000, 8)), "kinds"),
    "sampled signs": (ldp.SampledCube(8, 1.0), GENERATOR.choice([-1.0, 1.0], (4000, 8)), "kinds"),
    "signs": (ldp.LinfBall(60, 1.0), np.zeros((4000, 60)), "repeats"),
    "seeds": (ldp.RankedSigns(20, 1.0), np.zeros((4000, 20)), "repeats"),
}


@each("name", OTHERS)
def test_one_report_of_many_people_is_found(name):
    mechanism, records, test = OTHERS[name]
    reports = mechanism.privatize(records, rng=1)
    before = mechanism.plausibility(reports)
    assert before.pvalue > 0.01
    reports[:600] = reports[0]
    after = mechanism.plausibility(reports)
    assert after.pvalue < 1e-9
    assert after.tests[test].pvalue < 1e-9
    assert after.repeated >= before.repeated


def test_two_equal_reports_are_enough_where_reports_have_much_entropy():
    mechanism = ldp.SubsetSelection(200, 1.0)
    reports = mechanism.privatize(np.arange(1000) % 200, rng=1)
    reports[5] = reports[900]
    found = mechanism.plausibility(reports)
    assert (found.repeated, found.pvalue < 1e-30) == (1, True)
    assert found.entropy > 100


def test_equal_short_reports_say_nothing():
    """Everybody sends one of two reports. That all of them send the same one is still improbable."""
    mechanism = ldp.Warner(1.0)
    found = mechanism.plausibility(mechanism.privatize(np.ones(1000, np.uint8), rng=1))
    assert (found.repeated, found.tests["repeats"].pvalue) == (998, 1.0)
    assert found.entropy == pytest.approx(-np.log2(mechanism.debiasing.probabilities[0]))
    assert mechanism.plausibility(np.ones(1000, np.uint8)).tests["repeats"].pvalue < 1e-100


def test_liars_who_run_the_mechanism_are_not_found():
    """All lie: nothing in their reports differs from those of people with the record."""
    found = BITS.plausibility(BITS.privatize(np.full(4000, 3), rng=1))
    assert found.pvalue > 0.01


def test_another_epsilon_is_found():
    reports = ldp.UnaryEncoding(60, 1.1, method="optimized").privatize(GENERATOR.integers(0, 60, 4000), rng=1)
    assert BITS.plausibility(reports).pvalue < 1e-9


@each(
    "mechanism, reports",
    [
        (ldp.SubsetSelection(10, 1.0, size=3), np.array([[0b1111, 0]], np.uint8)),
        (ldp.UnaryEncoding(10, 1.0), np.array([[0, 0b100]], np.uint8)),
        (ldp.RandomizedResponse(3, 1.0), np.array([3], np.uint8)),
        (ViewResponse([2, 2, 2], 1.0), np.array([[0b1111, 0, 0]], np.uint8)),
    ],
)
def test_impossible_reports_are_refused_when_they_are_collected(mechanism, reports):
    for call in (mechanism.plausibility, mechanism.estimate, mechanism.aggregator().update):
        with pytest.raises(ValueError, match="reports must"):
            call(reports)


def test_problems_and_messages_are_tested_as_arrays():
    problem = Frequencies(["car", "foot", "train"], 1.0)
    reports = problem.privatize(["car", "foot", "car"] * 50, rng=1)
    messages = [problem.message(report) for report in reports]
    expected = problem.plausibility(reports)
    for given in (messages, problem.to_arrow(reports)):
        found = problem.plausibility(given)
        assert (found.pvalue, found.n, found.repeated) == (expected.pvalue, 150, expected.repeated)


SURVEY = Survey(
    {"way": Choice([f"way {i}" for i in range(40)]), "smokes": YesNo(), "age": Number(0, 90), "word": Text(4)},
    4.0,
    answers=2,
)
PEOPLE = {
    "way": [f"way {i % 40}" for i in range(2000)],
    "smokes": [True, False] * 1000,
    "age": GENERATOR.uniform(0, 90, 2000),
    "word": ["a", "bb"] * 1000,
}


def test_surveys_are_tested_by_question_from_tables_and_messages():
    table = SURVEY.privatize(PEOPLE, rng=1)
    found = SURVEY.plausibility(table)
    assert set(found) == set(SURVEY.questions)
    assert min(one.pvalue for one in found.values()) > 0.001
    assert sum(one.n for one in found.values()) == 4000
    messages = [SURVEY.message(table.slice(i, 1)) for i in range(20)]
    of_messages, of_table = SURVEY.plausibility(messages), SURVEY.plausibility(table.slice(0, 20))
    assert sum(one.n for one in of_messages.values()) == 40
    assert {name: repr(one) for name, one in of_messages.items()} == {name: repr(one) for name, one in of_table.items()}


def test_a_message_that_is_sent_by_many_is_found_in_the_questions_that_it_answers():
    table = SURVEY.privatize(PEOPLE, rng=1)
    messages = [SURVEY.message(table.slice(i, 1)) for i in range(30)]
    found = SURVEY.plausibility([*messages, *[messages[7]] * 100])
    answered = [name for name in SURVEY.questions if table[name][7].as_py() is not None]
    assert len(answered) == 2
    assert {name for name, one in found.items() if one.pvalue < 1e-6} <= set(answered)
    assert min(found[name].pvalue for name in answered) < 1e-6


@each(
    "question, reports, error, text",
    [
        (BITS, np.zeros((0, 8), np.uint8), ValueError, "at least 1"),
        (BITS, BITS.aggregator(), TypeError, "reports must"),
        (BITS, [ldp.Warner(1.0).message(np.uint8(1))], ValueError, "reports must"),
        (SURVEY, [], ValueError, "at least 1"),
        (SURVEY, SURVEY.aggregator(), TypeError, "reports must"),
        (SURVEY, [b"no message"], ValueError, "reports must|message"),
    ],
)
def test_other_things_than_reports_are_refused(question, reports, error, text):
    with pytest.raises(error, match=text):
        question.plausibility(reports)
