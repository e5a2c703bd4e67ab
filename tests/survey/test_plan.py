"""Plans of comparisons: smallest differences, numbers of people, and the page for a committee."""

from __future__ import annotations

import json
import math
import re
import warnings
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from scipy import stats

import ldpfast as ldp
from ldpfast import bounds
from ldpfast._limits import clopper_pearson
from ldpfast.cli import main
from ldpfast.estimation import HeavyHitters
from ldpfast.results import detectable_distance
from ldpfast.survey import Choice, Cross, Histogram, Mean, Survey, Text, YesNo, k_sample, two_sample

from ..support.cases import each
from ..support.internals.survey import Shares, questions
from ..support.statistics import hoeffding_radius
from ..support.surveys import shares_of

QUESTIONS = {"smoker": YesNo(), "way": Choice(["foot", "car", "train"]), "visits": Mean(0, 20)}


def test_the_distance_gives_the_power_of_the_normal_test():
    for alpha, power in ((0.05, 0.8), (0.01, 0.99), (0.2, 0.3)):
        d, z = detectable_distance(1, alpha, power), stats.norm.isf(alpha / 2)
        assert stats.norm.sf(z - d) + stats.norm.cdf(-z - d) == pytest.approx(power, abs=1e-9)
        nc = detectable_distance(7, alpha, power) ** 2
        assert stats.ncx2.sf(stats.chi2.isf(alpha, 7), 7, nc) == pytest.approx(power, abs=1e-9)
    with pytest.raises(ValueError, match=r"power must be above alpha = 0.5, got 0.5"):
        detectable_distance(1, 0.5, 0.5)


def test_a_plan_of_a_comparison_is_consistent():
    """The smallest difference at the number of people that a difference needs is this difference."""
    survey = Survey(QUESTIONS, 2.0)
    n = survey.plan(compare={"smoker": 0.05, "visits": 1.5}).comparison.needed
    for name, difference in (("smoker", 0.05), ("visits", 1.5)):
        at = survey.plan(n[name], compare=True)
        place = at.names.index(name)
        assert at.comparison.smallest[place] == pytest.approx(difference, rel=1e-3)
        assert at.comparison.smallest[place] <= difference
        assert survey.plan(n[name] - 1, compare=True).comparison.smallest[place] > difference
    plan = survey.plan(compare={"smoker": 0.05, "visits": 1.5})
    assert plan.n == max(n.values())
    assert plan.table["people needed"] == [n["smoker"], None, n["visits"]]
    assert "found with probability 0.8 by a test at level 0.05" in repr(plan)
    assert "people needed" in plan._repr_html_()
    assert plan.to_dict()["power"] == 0.8
    assert json.dumps(plan.to_dict())
    assert survey.plan(100).comparison is None


@pytest.mark.claim("A planned study finds the planned difference with the planned probability.", "Estimates")
@pytest.mark.long
@pytest.mark.parametrize("name, difference", [("smoker", 0.06), ("visits", 1.2)])
def test_a_planned_difference_is_found_with_the_planned_probability(name, difference):
    """Misses powers that are off by 0.08."""
    question = QUESTIONS[name]
    survey = Survey({name: question}, 2.0)
    n = survey.plan(compare={name: difference}, power=0.7).n
    length = questions.column_of(question).length
    found = []
    for seed in range(400):
        counts = (
            ldp.simulate(survey.mechanisms[name], [0.5 - half, 0.5 + half], n // 2, rng=2 * seed + (half > 0))
            for half in (difference / length / 2, -difference / length / 2)
        )
        a, b = (questions.column_of(question).answer(shares_of(count), 1) for count in counts)
        found.append((a - b).test().pvalue < 0.05)
    assert abs(np.mean(found) - 0.7) <= hoeffding_radius(400, 1e-3)


MECHANISMS = [
    ldp.RandomizedResponse(4, 2.0),
    ldp.SubsetSelection(4, 0.5),
    ldp.UnaryEncoding(4, 1.0),
    ldp.HadamardResponse(4, 1.0),
    ldp.FiniteChannel([[5, 1, 1, 1], [1, 5, 1, 1], [1, 1, 5, 1], [1, 1, 1, 5]]),
]
BEFORE, AFTER = np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.4, 0.25, 0.2, 0.15])


@each("mechanism", MECHANISMS, ids=lambda mechanism: type(mechanism).__name__)
def test_the_noncentrality_is_that_of_matrices(mechanism):
    """From the channel, by enumeration of the reports and a pseudo-inverse."""
    n = bounds.plan_test(mechanism, (BEFORE, AFTER), power=0.9)
    channel = mechanism.channel().matrix
    share = (BEFORE + AFTER) / 2
    if isinstance(mechanism, ldp.SubsetSelection | ldp.UnaryEncoding):
        bits = (np.arange(channel.shape[1])[:, np.newaxis] >> np.arange(4)) & 1
        packed, possible = np.packbits(bits.astype(np.uint8), axis=1, bitorder="little"), channel.sum(axis=0) > 0
        channel, decoded = channel[:, possible], mechanism.decode(packed[possible])
    else:
        decoded = mechanism.decode(np.arange(channel.shape[1], dtype=np.uint8))
    sigma = (decoded.T * (share @ channel)) @ decoded - np.outer(share, share)
    # The best linear combinations of shares that add up to 1: contrasts with the smallest variance.
    free = np.eye(4)[:, :3] - np.eye(4)[:, 3:]
    inverse = np.linalg.pinv(sigma, rcond=1e-9)
    if abs(np.ones(4) @ sigma @ np.ones(4)) > 1e-9:
        precision = free @ np.linalg.inv(np.linalg.inv(free.T @ inverse @ free)) @ free.T
        d = (AFTER - BEFORE)[:3]
        squared = d @ (free.T @ inverse @ free) @ d
        assert precision.shape == (4, 4)
    else:
        squared = (AFTER - BEFORE) @ inverse @ (AFTER - BEFORE)
    nc = squared * n / 4
    assert stats.ncx2.sf(stats.chi2.isf(0.05, 3), 3, nc) == pytest.approx(0.9, abs=2e-3)


@pytest.mark.long
def test_the_planned_number_of_people_has_the_power_of_the_test():
    """Misses powers that are off by 0.1."""
    mechanism = Survey({"q": Choice(4)}, 2.0).mechanisms["q"]
    n = bounds.plan_test(mechanism, (BEFORE, AFTER), power=0.6)
    found = []
    for seed in range(300):
        answers = [
            questions.column_of(Choice(4)).answer(
                shares_of(ldp.simulate(mechanism, share, n // 2, rng=2 * seed + i)), 1
            )
            for i, share in enumerate((BEFORE, AFTER))
        ]
        found.append(k_sample(answers).pvalue < 0.05)
    assert abs(np.mean(found) - 0.6) <= hoeffding_radius(300, 1e-3)


DESIGNS = [ldp.Warner(2.0), ldp.designs.unrelated_question(0.7, 0.1).channel, ldp.SignBit(0, 1, 2.0)]


@each("mechanism", DESIGNS)
@each("before, after", [(0.1, 0.2), (0.01, 0.5), (0.5, 0.1)])
@each("alternative", ["two-sided", "one-sided"])
def test_one_group_has_the_planned_power_by_enumeration(mechanism, before, after, alternative):
    """The exact binomial test of every number of hits; the plan is the smallest number from which on the power is reached."""
    if alternative == "one-sided":
        alternative = "greater" if after > before else "less"
    if isinstance(mechanism, ldp.SignBit):  # for means around the center
        after, before = 0.5 + (after - before) / 2, 0.5 - (after - before) / 2
        line = mechanism.debiasing
        null, other = ((mean - line.zero) / (line.one - line.zero) for mean in (before, after))
        n = bounds.plan_test(mechanism, abs(after - before), groups=1, alternative=alternative)
    else:
        null, other = (np.array([[1 - share, share] for share in (before, after)]) @ mechanism.channel().matrix)[:, 1]
        n = bounds.plan_test(mechanism, ([1 - before, before], [1 - after, after]), groups=1, alternative=alternative)

    def power(people):
        hits = np.arange(people + 1)
        sides = {"greater": stats.binom.sf(hits - 1, people, null), "less": stats.binom.cdf(hits, people, null)}
        pvalue = sides.get(alternative, 2 * np.minimum(*sides.values()))
        return stats.binom.pmf(hits, people, other)[pvalue <= 0.05].sum()

    assert power(n - 1) < 0.8
    assert min(power(people) for people in range(n, n + 40)) >= 0.8


def power_of_limits(mechanism, shares, n):
    """Power of the test of a difference of two shares or means by their limits, by enumeration of the counts of both groups."""
    line, half, hits = mechanism.debiasing, n // 2, np.arange(n // 2 + 1)
    value, (low, high) = line(hits / half), map(line, clopper_pearson(hits, half, 0.025))
    chances = [stats.binom.pmf(hits, half, (share - line.zero) / (line.one - line.zero)) for share in shares]
    difference = value[:, np.newaxis] - value
    below = np.hypot((value - low)[:, np.newaxis], high - value)
    above = np.hypot((high - value)[:, np.newaxis], value - low)
    return float(chances[0] @ ((difference > below) | (difference < -above)) @ chances[1])


@pytest.mark.claim("Small planned studies have at least the planned power, by enumeration.", "Estimates")
@each("epsilon", [1.0, 2.0, 4.0, 8.0])
@each("difference", [0.9, 0.5, 0.3])
@each("share", [None, 0.2])
def test_small_studies_have_the_planned_power_by_enumeration(epsilon, difference, share):
    """A share of yes, and a mean that is sent as one bit, for two groups around the worst or the expected share."""
    for question, length in ((YesNo(), 1.0), (Mean(0, 20), 20.0)):
        survey = Survey({"q": question}, epsilon)
        if not isinstance(survey.mechanisms["q"], ldp.RandomizedResponse):
            continue
        shares = None if share is None else {"q": share * length}
        if share is not None and difference > 0.8:
            continue
        n = survey.plan(compare={"q": difference * length}, shares=shares).n
        middle = 0.5 if share is None else max(share + difference / 2, difference / 2)
        ends = middle + difference / 2, middle - difference / 2
        assert 0.8 <= power_of_limits(survey.mechanisms["q"], ends, n) < 0.96
        assert n < 30 or power_of_limits(survey.mechanisms["q"], ends, round(0.75 * n)) < 0.8


POPULATIONS = {
    "labels": (Choice(6), 1.0, 0.12),
    "optional labels": (Choice(4, optional=True), 0.7, 0.3),
    "optional share": (YesNo(optional=True), 0.7, 0.3),
    "optional mean": (Mean(0, 1, optional=True), 0.7, 0.3),
}


@pytest.mark.long
@pytest.mark.parametrize("name", POPULATIONS)
def test_the_named_tests_have_the_planned_power(name):
    """One share differs, and the others by equal parts of it. Misses powers that are too small by 0.06."""
    question, response, difference = POPULATIONS[name]
    survey = Survey({"q": question}, 2.0)
    mechanism, runs, k = survey.mechanisms["q"], 400, len(question.labels)
    n = survey.plan(compare={"q": difference}, response=response).n
    found = []
    for seed in range(runs):
        answers = []
        for sign in (-1, 1):
            one = 0.5 + sign * difference / 2
            shares = np.append(np.full(k - 1, (1 - one) / (k - 1)), one) * response
            shares = np.append(shares, 1 - response) if question.optional else shares
            counted = ldp.simulate(mechanism, shares, n // 2, rng=2 * seed + (sign > 0))
            answers.append(questions.column_of(question).answer(shares_of(counted), 1))
        if k > 2:
            found.append(two_sample(*answers, rng=seed).pvalue < 0.05)
        else:  # the test rejects where the limits exclude 0
            low, high = (answers[0] - answers[1]).interval()
            found.append(low > 0 or high < 0)
    assert np.mean(found) >= 0.8 - 0.06
    assert np.mean(found) <= 0.93


def test_standard_errors_are_upper_bounds():
    """For all shares that are possible, for expected ones, and with nonresponse: the exact variance of the estimate."""
    asked = {"yes": YesNo(), "way": Choice(3), "optional": Choice(3, optional=True), "mean": Mean(0, 4, optional=True)}
    survey, rng = Survey(asked, 2.0), np.random.default_rng(7)
    plan = survey.plan(1000, response={"optional": 0.6, "mean": 0.9})
    largest = np.zeros(len(asked))
    for _ in range(200):
        for place, (name, question) in enumerate(asked.items()):
            share = rng.dirichlet(np.full(len(question.labels), rng.choice([0.1, 1.0, 100.0])))
            given = {"mean": 4 * share[-1], "yes": share[-1]}.get(name, share)
            expected = survey.plan(1000, shares={name: given}, response={"optional": 0.6, "mean": 0.9}).expected[place]
            rate = {"optional": 0.6, "mean": 0.9}.get(name, 1.0)
            symbols = np.append(share * rate, 1 - rate) if question.optional else share
            shares = Shares.expected(survey.mechanisms[name], symbols)
            answer = questions.column_of(question).answer(replace(shares, n=1), 1)
            exact = np.max(answer.stderr) / math.sqrt(1000 / len(asked))
            assert exact == pytest.approx(expected, rel=1e-9)
            assert exact <= plan.expected[place] * (1 + 1e-9)
            largest[place] = max(largest[place], exact)
    np.testing.assert_allclose(largest, plan.expected, rtol=0.02)
    half = survey.plan(1000, response=0.5)
    assert half.expected[0] == pytest.approx(survey.plan(500).expected[0], rel=1e-12)
    assert "50 % of people answer" in repr(half)
    assert half.to_dict()["response"] == [0.5] * 4
    assert plan.to_dict()["assumed"] == ["any answers"] * 4


def test_shares_can_be_given_in_several_forms():
    survey = Survey(QUESTIONS, 2.0)

    def expected(name, given):
        return survey.plan(1000, shares={name: given}).expected[survey.plan(1).names.index(name)]

    assert expected("way", [0.6, 0.3, 0.1]) == expected("way", {"train": 0.1, "car": 0.3, "foot": 0.6})
    assert expected("way", 0.2) < expected("way", [0.6, 0.3, 0.1]) <= expected("way", 0.6) <= expected("way", 1.0)
    assert expected("smoker", 0.2) == expected("smoker", [0.8, 0.2]) < expected("smoker", 0.5)
    assert expected("visits", 1.0) < expected("visits", 10)
    assert survey.plan(4, compare=True).comparison.smallest.tolist() == [math.inf] * 3


@pytest.mark.long
@pytest.mark.parametrize("null, other", [([0.9, 0.05, 0.03, 0.02], [0.25] * 4), ([0.25] * 4, [0.9, 0.05, 0.03, 0.02])])
def test_one_group_with_several_labels_has_the_planned_power(null, other):
    """The variances of the hypothesis and of the alternative differ much. Misses powers that are off by 0.08."""
    mechanism = Survey({"q": Choice(4)}, 1.0).mechanisms["q"]
    n = bounds.plan_test(mechanism, (null, other), groups=1)
    found = []
    for seed in range(400):
        answer = questions.column_of(Choice(4)).answer(shares_of(ldp.simulate(mechanism, other, n, rng=seed)), 1)
        found.append(answer.goodness_of_fit(null, rng=seed).pvalue < 0.05)
    assert abs(np.mean(found) - 0.8) <= 0.08


def test_one_group_needs_fewer_people():
    mechanism = ldp.RandomizedResponse(4, 2.0)
    one, two = (bounds.plan_test(mechanism, (BEFORE, AFTER), groups=groups) for groups in (1, 2))
    assert 3.5 < two / one < 4.5
    number = ldp.SignBit(0, 10, 1.0)
    assert bounds.plan_test(number, 0.5) == pytest.approx(4 * bounds.plan_test(number, 0.5, groups=1), rel=0.02)
    distance = (stats.norm.isf(0.025) + stats.norm.isf(0.2)) ** 2
    assert 1 < bounds.plan_test(number, 0.5, groups=1) / (number.worst_variance * distance / 0.25) < 1.02


@each(
    "call, kind, message",
    [
        (lambda: Survey(QUESTIONS, 1.0).plan(), ValueError, "n must be given unless compare has differences"),
        (lambda: Survey(QUESTIONS, 1.0).plan(10, compare={"age": 1}), ValueError, "got 'age'"),
        (lambda: Survey(QUESTIONS, 1.0).plan(10, compare={"visits": 0}), ValueError, r"compare\['visits'\] must be"),
        (
            lambda: Survey(QUESTIONS, 1.0).plan(compare={"smoker": 5}),
            ValueError,
            r"must be at most 1, the largest possible",
        ),
        (lambda: Survey(QUESTIONS, 1.0).plan(compare={"visits": 21}), ValueError, r"must be at most 20, the largest"),
        (
            lambda: Survey(QUESTIONS, 1.0).plan(compare={"smoker": 0.9}, shares={"smoker": 0.2}),
            ValueError,
            r"compare\['smoker'\] must be at most 0.8, the largest possible difference of two groups, got 0.9",
        ),
        (lambda: Survey(QUESTIONS, 1.0).plan(10, shares=0.5), TypeError, "shares must be a mapping from questions to"),
        (lambda: Survey(QUESTIONS, 1.0).plan(10, shares={"age": 1}), ValueError, "shares must be of the .* got 'age'"),
        (
            lambda: Survey(QUESTIONS, 1.0).plan(10, shares={"smoker": 2}),
            ValueError,
            r"shares\['smoker'\] must be in \[0",
        ),
        (
            lambda: Survey(QUESTIONS, 1.0).plan(10, shares={"way": [1, 0]}),
            ValueError,
            r"one number or 3 shares, got shape",
        ),
        (lambda: Survey(QUESTIONS, 1.0).plan(10, shares={"way": [1, 1, 0]}), ValueError, r"sum 1, got the sum 2.0"),
        (
            lambda: Survey(QUESTIONS, 1.0).plan(10, shares={"way": {"foot": 1}}),
            ValueError,
            r"have the labels foot, car, tr",
        ),
        (
            lambda: Survey(QUESTIONS, 1.0).plan(10, shares={"visits": [1, 2]}),
            ValueError,
            r"must be one number, got shape",
        ),
        (lambda: Survey(QUESTIONS, 1.0).plan(10, response=0), ValueError, r"response must be in \(0, 1\], got 0"),
        (lambda: Survey(QUESTIONS, 1.0).plan(10, response={"way": 2}), ValueError, r"response\['way'\] must be in"),
        (
            lambda: bounds.plan_test(MECHANISMS[0], (BEFORE, AFTER), alternative="less"),
            ValueError,
            "for 4 categories, got",
        ),
        (
            lambda: bounds.plan_test(MECHANISMS[0], (BEFORE, AFTER), alternative="up"),
            ValueError,
            "alternative must be one",
        ),
        (
            lambda: bounds.plan_test(ldp.Warner(1.0), ([0.9, 0.1], [0.8, 0.2]), alternative="less"),
            ValueError,
            "effect must have a share of category 1 that is less in the second group",
        ),
        (
            lambda: bounds.plan_test(Survey(QUESTIONS, 1.0), {"way": 0.1}, alternative="less"),
            ValueError,
            "alternative must be 'two-sided' for several labels, got 'less' for 'way'",
        ),
        (
            lambda: bounds.plan_test(ldp.SignBit(0, 1, 1.0), 1.5),
            ValueError,
            "at most the length of the range, 1, got 1.5",
        ),
        (lambda: bounds.plan_test(MECHANISMS[0], (BEFORE, AFTER), power=0.04), ValueError, "power must be above 0.05"),
        (lambda: Survey(QUESTIONS, 1.0).plan(10, compare=0.1), TypeError, "compare must be a bool or a mapping"),
        (lambda: Survey(QUESTIONS, 1.0).plan(10, compare=True, alpha=2), ValueError, "alpha must be"),
        (lambda: Survey({"a": YesNo()}, 1.0).plan(10, compare=True, alpha=2), ValueError, "alpha must be"),
        (
            lambda: Survey({"a": YesNo()}, 1.0).plan(compare={"a": 0.1}, power=0.01),
            ValueError,
            "power must be above alpha",
        ),
        (lambda: Survey(QUESTIONS, 1.0).plan(compare={"smoker": 1e-9}), ValueError, "people needed must be"),
        (lambda: bounds.plan_test("mean", 0.1), TypeError, "target must be a survey or a mechanism, got str"),
        (lambda: bounds.plan_test(Survey(QUESTIONS, 1.0), 0.1), TypeError, "effect must be a mapping"),
        (lambda: bounds.plan_test(Survey(QUESTIONS, 1.0), {"way": 0.1}, groups=1), ValueError, "groups must be 2"),
        (lambda: bounds.plan_test(MECHANISMS[0], 0.1), TypeError, "effect must be a pair of shares"),
        (lambda: bounds.plan_test(MECHANISMS[0], (BEFORE, BEFORE)), ValueError, "shares that differ"),
        (lambda: bounds.plan_test(MECHANISMS[0], (BEFORE, BEFORE[:3])), ValueError, r"must have shape \(4,\)"),
        (
            lambda: bounds.plan_test(MECHANISMS[0], (BEFORE, 2 * BEFORE)),
            ValueError,
            r"with the sum 1, got the sum 1\.9+8$",
        ),
        (lambda: bounds.plan_test(ldp.L2Ball(3, 1.0), 0.1), TypeError, "categories or of numbers, got L2Ball"),
        (lambda: bounds.plan_test(ldp.SignBit(0, 1, 1.0), -0.1), ValueError, "effect must be a finite number > 0"),
    ],
)
def test_bad_plans_are_refused(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


# The command ----------------------------------------------------------------------------------------------------------

TOML = """
[questions.smoker]
type = "YesNo"
optional = true
[questions."<b>way</b>"]
type = "Choice"
categories = ["foot & bike", "<script>alert(1)</script>", "train"]
[questions.visits]
type = "Mean"
lower = 0
upper = 20
[questions.age]
type = "Histogram"
edges = [18, 40, 60, 90]
[questions."visits by way"]
type = "Cross"
a = "visits"
b = "<b>way</b>"
more = ["age"]
"""


class Page(HTMLParser):
    """The tags and the texts of a page; raises where a tag is not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict]] = []
        self.texts: list[str] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.mark.long
@pytest.mark.parametrize("epsilon", [["--epsilon", "2"], []])
def test_the_page_for_a_committee(tmp_path, capsys, epsilon):
    """It has no external resources and no scripts, and escapes names and labels."""
    path, page = tmp_path / "study.toml", tmp_path / "plan.html"
    path.write_text(TOML)
    assert main(["plan", str(path), "--n", "20000", *epsilon, "--compare", "smoker=0.05", "--html", str(page)]) == 0
    printed = capsys.readouterr().out
    assert printed.count("people needed") == (1 if epsilon else 5)
    found = Page(page.read_text())
    tags = {tag for tag, _ in found.tags}
    assert {"h1", "table", "svg"} <= tags
    assert not tags & {"script", "link", "img", "iframe", "b"}
    links = [value for _, a in found.tags for key, value in a.items() if key in ("src", "href", "xlink:href")]
    assert all(value.startswith("#") for value in links)
    assert not re.search(r'(src|href|url)\s*[=(]\s*["\']?\s*https?:', page.read_text())
    text = " ".join(found.texts)
    for part in (
        "<b>way</b>",
        "<script>alert(1)</script>",
        "20,000 people",
        "drawn at random",
        "smallest difference",
        "0.05",
    ):
        assert part in text
    if epsilon:
        plan = Survey.from_toml(TOML, epsilon=2.0).plan(20_000, compare={"smoker": 0.05})
        assert "at most 7.39 times as likely" in text
        assert "at most 88.1 % afterwards" in text
        assert f"{plan.comparison.needed['smoker']:,}" in text
        for number in (*plan.expected, *plan.nonprivate, *plan.comparison.smallest):
            assert f"{number:.4g}" in text
    else:
        assert "99.97 %" in text
    before = page.read_bytes()
    assert main(["plan", str(path), "--n", "20000", *epsilon, "--compare", "smoker=0.05", "--html", str(page)]) == 0
    assert page.read_bytes() == before


def test_the_page_of_a_survey_with_waves_and_expectations(tmp_path, capsys):
    path, page = tmp_path / "study.toml", tmp_path / "plan.html"
    path.write_text('epsilon = 2.0\nwaves = 4\nseries = "s"\n' + TOML)
    survey = Survey.from_toml(path.read_text())
    options = ["--shares", "smoker=0.2", "--shares", "age=0.5,0.3,0.2", "--response", "0.8"]
    assert main(["plan", str(path), "--n", "20000", *options, "--html", str(page)]) == 0
    assert "of one wave, with 5,000 of 20,000 people" in capsys.readouterr().out
    plan = survey.plan(20_000, shares={"smoker": 0.2, "age": [0.5, 0.3, 0.2]}, response=0.8, compare=True)
    text = " ".join(Page(page.read_text()).texts)
    for part in (
        "to 20,000 people",
        "The survey has 4 waves. Each of the 20,000 people answers in one of them",
        "so that a wave has 5,000 people",
        "No standard error is larger, whatever people answer, except for smoker, age: there it is for the answers that are",
        "80 % of the people who are asked are assumed to answer.",
        "The people of one wave are divided",
    ):
        assert part in text
    for numbers in (plan.expected, plan.waves.difference, plan.waves.pooled, plan.waves.split):
        assert all(f"{number:.4g}" in text for number in numbers)
    assert main(["plan", str(path), "--n", "20000", "--html", str(page)]) == 0
    text = " ".join(Page(page.read_text()).texts)
    assert "whatever people answer. All are of one wave. All people are assumed to answer; if fewer do," in text


def test_plans_of_surveys_as_json_and_without_n(tmp_path, capsys):
    path = tmp_path / "study.toml"
    path.write_text("epsilon = 4.0\n" + TOML)
    assert main(["plan", str(path), "--compare", "visits=1", "--json", "--power", "0.9", "--alpha", "0.01"]) == 0
    found = json.loads(capsys.readouterr().out)
    survey = Survey.from_toml(path.read_text())
    assert found == {"epsilon": 4.0, **survey.plan(compare={"visits": 1.0}, power=0.9, alpha=0.01).to_dict()}
    assert main(["plan", str(path), "--n", "100", "--figure", str(tmp_path / "plan.svg")]) == 0
    assert "<svg" in (tmp_path / "plan.svg").read_text()


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["SURVEY"], "--n or --compare must be given for a survey"),
        (["SURVEY", "--n", "10", "--error", "1"], "--error must be left out for a survey"),
        (["SURVEY", "--n", "10", "--compare", "smoker"], "--compare must be QUESTION=DIFFERENCE"),
        (
            ["SURVEY", "--n", "10", "--shares", "smoker=a"],
            "--shares must be QUESTION=SHARES, such as smoker=0.2 or way=",
        ),
        (["SURVEY", "--n", "10", "--response", "2"], "response must be in (0, 1], got 2.0"),
        (["SURVEY", "--n", "10", "--html", "SURVEY"], "--html must be another file than the input"),
        (
            ["multinomial", "--k", "3", "--n", "10", "--epsilon", "1", "--html", "x"],
            "--html must be left out for multinomial",
        ),
        (["shares", "--n", "10"], "PROBLEM must be one of"),
    ],
)
def test_bad_commands(tmp_path, capsys, arguments, message):
    path = tmp_path / "study.toml"
    path.write_text("epsilon = 4.0\n" + TOML)
    with pytest.raises(SystemExit):
        main(["plan", *(str(path) if a == "SURVEY" else a for a in arguments)])
    assert message in capsys.readouterr().err


def test_labels_and_bins_are_described(tmp_path):
    survey = Survey({"many": Choice(list(range(40))), "age": Histogram([0, 1, 2]), "x": Cross("many", "age")}, 2.0)
    path = tmp_path / "study.toml"
    path.write_text(survey.to_toml())
    assert main(["plan", str(path), "--n", "1e5", "--html", str(tmp_path / "p.html")]) == 0
    text = (tmp_path / "p.html").read_text()
    assert "... (40 answers)" in text
    assert "a number from 0 to 2, in 2 bins" in text


def test_a_plan_says_from_which_share_texts_are_found():
    text = Text(4, "abcd", n=20_000)
    survey = Survey({"word": text, "smokes": YesNo()}, 4.0, weights={"word": 1, "smokes": 1})
    plan = survey.plan(20_000)
    problem = HeavyHitters(4.0, max_bytes=4, alphabet="abcd", n=20_000, buckets=text.buckets)
    expected = problem.plan(10_000).smallest_share  # half are asked
    assert plan.found == {"word": pytest.approx(expected, rel=1e-3)}
    assert f"texts of 'word' are found from {100 * expected:.2g} % of people on" in plan.note
    assert plan.to_dict()["found"] == plan.found
    assert survey.plan(20_000, response={"word": 0.5}).found["word"] > plan.found["word"]
    few = survey.plan(20)
    assert few.found == {"word": math.inf}
    assert few.to_dict()["found"] == {"word": None}
    assert "texts of 'word' are found by no share of people" in few.note
    assert Survey({"smokes": YesNo()}, 1.0).plan(100).found == {}


@pytest.mark.long
def test_texts_are_found_from_the_planned_share_on():
    """With probability 0.95; those that half as many people have are often missed."""
    survey = Survey({"word": Text(4, "abcd", n=20_000), "smokes": YesNo()}, 4.0)
    share, rng = survey.plan(20_000).found["word"], np.random.default_rng(1)

    def times_found(people, runs=20):
        words = np.array(["dddd", "cccc", "bbbb"] * 6667 + ["aaaa"])[:20_000].copy()
        words[:people] = "abca"
        asked = {"word": rng.permutation(words), "smokes": [True] * 20_000}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return sum("abca" in survey.run(asked, rng=seed)["word"].labels for seed in range(runs))

    assert times_found(math.ceil(20_000 * share)) >= 15  # with probability 0.9997
    assert times_found(int(20_000 * share / 2)) <= 15
