"""The demonstration: questions, estimates, the claim on 27 answers, tables and figure."""

from __future__ import annotations

import io

import numpy as np
import pytest

import ldpfast as ldp
from experiments.demo import demo, drug_use, surveys, whole_surveys

from ...support.labels import has_unit
from ...support.statistics import assert_counts, normal_margin

pytestmark = pytest.mark.long

pytest.importorskip("statsmodels")
figure = pytest.importorskip("matplotlib.figure")
console = pytest.importorskip("rich.console")


@pytest.fixture(scope="module")
def comparisons() -> list[surveys.Comparison]:
    return surveys.run(np.random.default_rng(1))


@pytest.fixture(scope="module")
def measured() -> drug_use.DrugErrors:
    return drug_use.measure(np.random.default_rng(2), sizes=(20_000, 200_000), repetitions=(10, 40))


def test_the_questions_have_the_statistics_of_the_surveys():
    limitation, visits, health, affair, marriage = surveys.questions()
    assert [len(q.records) for q in surveys.questions()] == [20_190] * 3 + [6_366] * 2
    assert 0.118 < limitation.columns.mean() < 0.119
    assert visits.columns.max() == visits.upper == 20
    assert health.columns.sum(axis=0).tolist() == [11_019, 7_309, 1_560, 302]
    assert np.count_nonzero(affair.records) == 2_053
    assert marriage.columns.sum(axis=0).tolist() == [99, 348, 993, 2_242, 2_684]


def test_every_estimate_is_near_the_true_value(comparisons):
    """Normal limits. Detects a bias of ten standard errors."""
    margin = normal_margin(2 * sum(np.size(c.truth) for c in comparisons))
    for c in comparisons:
        value, low, high = c.ours()
        assert (abs(value - c.truth) < margin * np.atleast_1d(c.estimate.stderr)).all()
        assert (low < value).all()
        assert (value < high).all()
        noisy = np.array([e.stderr for e in c.laplace])
        assert (abs(c.theirs()[0] - c.truth) < margin * noisy).all()


@pytest.mark.claim(
    "At every epsilon, each interval of the demonstration is shorter than the one with Laplace noise.", "Estimates"
)
def test_every_interval_is_shorter_than_with_laplace_noise(comparisons):
    """As the caption of the figure says, which has the same seed. The largest ratio of the lengths is 0.83."""
    for c in comparisons:
        (_, low, high), (_, noisy_low, noisy_high) = c.ours(), c.theirs()
        assert (high - low < 0.9 * (noisy_high - noisy_low)).all()


def test_every_record_has_the_stated_guarantee(comparisons):
    for c in comparisons:
        assert c.estimate.epsilon <= c.epsilon
        spent = [e.epsilon for e in c.laplace]
        assert (2 if c.question.answers else 1) * max(spent) <= c.epsilon  # a change of answer changes two columns
    assert surveys.counts(comparisons) == {surveys.RAND: 3, surveys.FAIR: 2}
    for epsilon in surveys.EPSILONS:
        assert surveys.total(comparisons, surveys.RAND, epsilon).epsilon == pytest.approx(3 * epsilon, rel=1e-4)
        assert surveys.total(comparisons, surveys.FAIR, epsilon).epsilon == pytest.approx(2 * epsilon, rel=1e-4)


def test_the_population_is_reproducible():
    """Its shares of users agree with the study. Detects an error of 0.4 percentage points of one of 27 drugs."""
    people = drug_use.population()
    assert people.shape == (959_715, 4)
    np.testing.assert_array_equal(people, drug_use.population())
    users = np.unpackbits(people, axis=1, count=27).sum(axis=0)
    assert_counts(users, len(people), drug_use.DRUG_FREQ, detects=0.004)


def test_the_error_is_at_most_a_sixth_of_that_of_laplace_noise(measured):
    """The ratio is 8.4 with a standard deviation of 0.5: each error averages 27 x 40 squares."""
    assert measured.ratio >= 6
    assert measured.verdict.endswith("(at least 6: yes)")
    for method, others in (
        (drug_use.PLAIN, drug_use.CENTERED),
        (drug_use.CENTERED, drug_use.CUBE),
        (drug_use.CUBE, drug_use.LAPLACE),
    ):
        for mine, theirs in zip(measured.errors[method], measured.errors[others], strict=True):
            assert mine.max() < theirs.min()


def test_errors_follow_the_formulas(measured):
    """The variances of a report are B^2 and 2 (27 / epsilon)^2.

    A mean of m >= 270 squares differs from its expectation by a fraction of sqrt(2 / m) times the normal margin.
    """
    variances = {
        drug_use.CUBE: ldp.LinfBall(27, 0.5).scale ** 2,
        drug_use.CENTERED: ldp.LinfBall(27, 0.5, radius=0.5).scale ** 2,
        drug_use.LAPLACE: 2 * (27 / 0.5) ** 2,
    }
    margin = normal_margin(len(variances) * len(measured.sizes))
    for method, variance in variances.items():
        for n, errors in zip(measured.sizes, measured.errors[method], strict=True):
            assert errors.mean() == pytest.approx(variance / n, rel=margin * np.sqrt(2 / (27 * len(errors))))


def test_a_claim_that_does_not_hold_is_reported():
    errors = {method: [np.ones(3)] for method in drug_use.STYLE}
    assert drug_use.DrugErrors((drug_use.REFERENCE_SIZE,), errors).verdict.endswith("(at least 6: NO)")


def test_demo_prints_tables_and_saves_one_picture(tmp_path, monkeypatch, comparisons, measured):
    monkeypatch.setattr(surveys, "run", lambda rng: comparisons)
    monkeypatch.setattr(drug_use, "measure", lambda rng: measured)
    text = io.StringIO()
    picture = tmp_path / "demo.png"
    demo(picture, None, console.Console(file=text, width=80))
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert [p.name for p in tmp_path.iterdir()] == ["demo.png"]
    shown = text.getvalue()
    titles = {q.text for q in surveys.questions()}
    assert all(title in shown for title in titles)
    assert measured.verdict in shown
    assert str(picture) in shown
    assert max(map(len, shown.splitlines()[:-1])) <= 80
    assert "..." not in shown
    assert "…" not in shown


def test_the_picture_has_titles_labels_and_legends(comparisons, measured):
    page = figure.Figure()
    axes = page.subplots(2, 3).ravel()
    surveys.draw(comparisons, axes[:5])
    drug_use.draw(measured, axes[5])
    for ax in axes:
        assert ax.get_title()
        assert has_unit(ax.get_xlabel())
        assert has_unit(ax.get_ylabel())
        assert ax.get_legend() is not None


# Whole surveys --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wholes():
    return whole_surveys.run(np.random.default_rng(1))


def test_the_answers_of_whole_surveys_are_near_the_truth(wholes):
    assert [whole.name for whole in wholes] == [surveys.RAND, surveys.FAIR]
    for whole in wholes:
        assert whole.result.guarantee.epsilon <= 2
        for name, answer in whole.result.items():
            error = np.abs(np.ravel(answer.value) - whole.truth(name))
            assert (error <= 5 * np.ravel(answer.stderr)).all()
        _, answer, truth = whole.conditional()
        low, high = answer.interval(0.999999)
        assert ((low <= truth) & (truth <= high)).all()


def test_true_values_are_those_of_the_data(wholes):
    rand, fair = wholes
    data = surveys.records(surveys.FAIR)
    had, rating = data["affairs"] > 0, data["rate_marriage"]
    assert fair.truth("affair") == pytest.approx([had.mean()])
    assert fair.truth("marriage") == pytest.approx([(rating == r).mean() for r in range(1, 6)])
    assert fair.conditional()[2] == pytest.approx([had[rating == r].mean() for r in range(1, 6)])
    assert rand.truth("visits") == pytest.approx([rand.people["visits"].mean()])
    assert rand.truth("health").sum() == pytest.approx(1)


def test_the_panel_of_a_whole_survey_has_title_labels_and_legend(wholes):
    ax = figure.Figure().add_subplot()
    whole_surveys.draw(wholes[1], ax)
    assert "total epsilon of 2" in ax.get_title()
    assert ax.get_xlabel() == "subgroup (category)"
    assert ax.get_legend() is not None
