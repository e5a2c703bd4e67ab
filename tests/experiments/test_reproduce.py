"""The experiments of the papers, small: stand-ins, formulas, claims, pictures, files and the command."""

from __future__ import annotations

import csv
import io
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import cli, experiments
from ldpfast.experiments import (
    _study,
    central,
    curves,
    density,
    drugs,
    gaussian,
    logistic,
    price,
    salaries,
    salary_mean,
    salary_median,
    surveys,
)

pytest.importorskip("statsmodels")
figure = pytest.importorskip("matplotlib.figure")
console = pytest.importorskip("rich.console")


# What people are drawn from -------------------------------------------------------------------------------------------


def test_the_salaries_are_what_the_paper_says():
    values = salaries.salaries().values
    assert len(values) == 252_540
    assert round(values.mean()) == 39_531
    assert round(float(np.median(values))) == 24_968
    assert np.count_nonzero(values > 1e6) == 14
    assert np.count_nonzero((values > 2e6) & (values < 3e6)) == 2
    assert values.max() < 3e6
    assert values.min() > 0
    assert (np.diff(values) >= 0).all()


def test_risk_and_moments_of_a_population():
    people = salaries.Population("made", np.array([0.0, 1.0, 4.0, 9.0]), 1.0)
    guesses = np.array([-1.0, 0.0, 2.5, 4.0, 20.0])
    direct = np.abs(guesses[:, np.newaxis] - people.values).mean(axis=1)
    np.testing.assert_allclose(people.risk(guesses), direct, rtol=1e-12)
    assert people.gap(np.array(people.median)) == 0
    assert people.moment(3.0) == pytest.approx(np.mean(people.values**3) ** (1 / 3), rel=1e-12)


def test_the_real_populations():
    assert salaries.visits().mean == pytest.approx(2.86, abs=0.01)
    assert salaries.diseases().median == pytest.approx(10.58, abs=0.01)
    answers = np.unpackbits(drugs.real_population(), axis=1, count=27)
    assert answers.shape == (6_366, 27)
    assert (answers.sum(axis=1) == len(drugs.CHOICES)).all()  # each question has one answer
    assert np.bincount(surveys.own_health()).tolist() == [11_019, 7_309, 1_560, 302]


def test_documents_are_in_the_ball_and_always_the_same():
    made = logistic.documents(3_000, 20, 0.1, 4, 6)
    again = logistic.documents(3_000, 20, 0.1, 4, 6)
    np.testing.assert_array_equal(made.x, again.x)
    np.testing.assert_array_equal(made.y, again.y)
    assert set(np.unique(made.x)) == {0.0, np.float32(0.5)}
    assert np.linalg.norm(made.x, axis=1).max() <= 1
    assert 0.45 < made.y.mean() < 0.55
    patients = logistic.patients()
    assert patients.x.shape == (20_190, 10)
    assert np.linalg.norm(patients.x, axis=1).max() <= 1 + 1e-6
    assert 0.49 < patients.y.mean() < 0.51


def test_the_true_density():
    assert density.density(density.POINTS).min() > 0
    assert density.density(density.POINTS).mean() == pytest.approx(1, abs=1e-12)
    terms = np.arange(1, density.TERMS + 1)
    assert np.sum(terms**4 * density.coefficients() ** 2) == pytest.approx(density.sobolev_radius() ** 2)
    n = 100_000
    people = density.sample(n, np.random.default_rng(1))
    cosine = np.sqrt(2) * np.cos(2 * np.pi * people)
    # A mean of numbers in [-sqrt 2, sqrt 2]: Hoeffding, a chance of 1e-9.
    assert cosine.mean() == pytest.approx(density.coefficients()[0], abs=2 * np.sqrt(2 * np.log(2e9) / (2 * n)))


# Formulas -------------------------------------------------------------------------------------------------------------


def test_the_series_is_as_good_as_its_formula():
    """k B^2 of the unclipped mechanism, and no noise at all for infinite n."""
    kept, left = np.split(density.coefficients() ** 2, [4])
    scale = ldp.LinfBall(4, 1.0, np.sqrt(2)).scale
    assert density.exact_risk(1_000, 4) == pytest.approx((4 * scale**2 - kept.sum()) / 1_000 + left.sum(), rel=1e-12)
    assert density.exact_risk(10**15, 4) == pytest.approx(left.sum(), rel=1e-6)


def test_sizes_are_those_of_the_terms():
    assert [density._terms(density.size_for(terms)) for terms in density.FULL_AIMED] == list(density.FULL_AIMED)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_theory_lines_are_the_exact_variances(epsilon):
    """Variance of the report given the record, which the mechanism knows, and variance of the records."""
    mean = curves.mean_of("made", np.array([0.0, 1.0, 1.0, 4.0]), 0.0, 5.0)
    for method, mechanism in ((curves.NOISE, ldp.Laplace), (curves.BITS, ldp.SignBit)):
        exact = mechanism(0.0, 5.0, epsilon).variance(mean.people).mean() + mean.people.var()
        assert mean.methods[method].variance(epsilon) == pytest.approx(exact, rel=2e-6)  # the grid of the noise
    people = np.array([0, 0, 1, 2, 2, 2], np.uint8)
    shares = curves.shares_of("made", people, 3)
    spread = 1 - np.sum(shares.truth**2)
    for method, mechanism in ((curves.BITS, ldp.UnaryEncoding), (curves.KARY, ldp.RandomizedResponse)):
        exact = mechanism(3, epsilon).variance(people).sum(axis=1).mean() + spread
        assert shares.methods[method].variance(epsilon) == pytest.approx(exact, rel=1e-6)
    histogram = curves.histogram_of("made", people.astype(np.float64), 0.0, 3.0, 3)
    np.testing.assert_array_equal(histogram.truth, shares.truth)
    unary = shares.methods[curves.BITS].variance(epsilon)
    assert histogram.methods[curves.BITS].variance(epsilon) == pytest.approx(unary, rel=1e-12)


def test_steps_without_privacy():
    """Against a loop that is easy to read."""
    samples = np.random.default_rng(1).exponential(size=(3, 50))
    found = salary_median.plain_steps(samples, np.array([2.0, 8.0]), (10, 50))
    for u, upper in enumerate((2.0, 8.0)):
        for r in range(3):
            guess, guesses = upper / 2, []
            for i, x in enumerate(samples[r], start=1):
                guesses.append(guess)
                guess = min(max(guess + upper / np.sqrt(2 * i) * (1 if x >= guess else -1), 0), upper)
            assert found[0][u, r] == pytest.approx(np.mean(guesses[:10]), rel=1e-12)
            assert found[1][u, r] == pytest.approx(np.mean(guesses), rel=1e-12)


def test_maximum_likelihood():
    """The gradient of the penalised likelihood vanishes."""
    made = logistic.documents(3_000, 20, 0.1, 4, 6)
    theta = logistic.maximum_likelihood(made.x, made.y, np.zeros(20))
    gradient = made.x.T @ (1 / (1 + np.exp(-made.x @ theta)) - made.y) + 20 / logistic.LENGTH**2 * theta
    assert np.abs(gradient).max() < 0.05
    assert logistic.held_out_error(theta, made.x, made.y) < 0.45


def test_the_search_of_the_picture_halves_what_is_left():
    """Widths double, shares sum to one, each pair lies in the one above, and the mean is in the last, or next to it."""
    found = gaussian.search(np.random.default_rng(1))
    np.testing.assert_allclose(found.widths, gaussian.SHOWN_SIGMA * 2.0 ** np.arange(len(found.kept))[::-1])
    np.testing.assert_allclose(found.shares.sum(axis=1), 1, rtol=1e-12)
    low = -2
    for kept in found.kept:
        assert low <= kept <= low + 2
        low = 2 * kept
    assert found.end >= gaussian.SHOWN_BOUND
    assert abs(found.found - gaussian.SHOWN_MEAN) < 2 * gaussian.SHOWN_SIGMA


def test_populations_of_counts():
    """Exact medians of what is added up: against a large sample, and by hand."""
    made = central.Counts("made", np.array([0.0, 0.0, 1.0, 1.0, 1.0, 7.0]), -0.5, 7.5)
    assert made.median == pytest.approx(0.5 + 1 / 3)  # a third of the way from two records to five
    assert made.mean == pytest.approx(10 / 6)
    for people in (central.visits(), central.ratings()):
        sample = np.concatenate([people.sample(np.random.default_rng(seed)) for seed in range(20)])
        assert np.median(sample) == pytest.approx(people.median, abs=0.02)
        assert sample.mean() == pytest.approx(people.mean, abs=0.04)
        assert people.lower <= sample.min() <= sample.max() <= people.upper


# Claims, small --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def studies() -> dict[str, _study.Study]:
    """Every experiment with few repetitions and people, seeded."""
    rng = np.random.default_rng(1)
    small = salaries.Population("small", salaries.salaries().values[::10], 25_000.0)
    sizes = (2_000, 40_000, 60_000)
    words = logistic.documents(25_000, 20, 0.1, 4, 6)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", ldp.SmallSampleWarning)
        patch.setattr(density, "PEOPLE", 1)
        patch.setattr(density, "QUICK_REPETITIONS", (150, 150))
        patch.setattr(density, "BINS_REPETITIONS", 40)
        patch.setattr(curves, "AT_SIZE", 1_000)
        return {
            "drugs": drugs.DrugStudy(
                drugs.run(rng, (20_000,), (10, 10)),
                drugs.run(rng, (20_000,), (4, 4), drugs.real_population(), "real"),
            ),
            "salary-mean": salary_mean.MeanStudy(
                salary_mean.measure(small, rng, 20), salary_mean.measure(salaries.visits(), rng, 5)
            ),
            "salary-median": salary_median.MedianStudy(
                salary_median.measure(salaries.salaries(), salary_median.RADII, rng, 8, sizes),
                *salary_median.measure(salaries.diseases(), (4.0,), rng, 4, sizes),
            ),
            "logistic": logistic.LogisticStudy(dict.fromkeys(("words", "real"), logistic.measure(words, rng, 4))),
            "density": density.run(rng, False, (3, 5), (2_000, 5_000)),
            "price": price.run(rng),
            "curves": curves.CurveStudy(
                tuple(
                    (
                        curves.measure(made, "n", (300, 1_200), rng, 300),
                        curves.measure(real, "epsilon", (1, 2), rng, 300),
                    )
                    for made, real in curves.problems()
                )
            ),
            "gaussian": gaussian.GaussianStudy(
                tuple(gaussian.measure(method, 200_000, (1.0, 2.0), rng, 2) for method in gaussian.METHODS),
                gaussian.search(rng),
            ),
            "central": central.CentralStudy(
                tuple(
                    panel
                    for people in (central.visits(), central.ratings())
                    for panel in central.measure(people, (0.1, 1.0), rng, 100)
                )
            ),
        }


@pytest.mark.parametrize("name", experiments.EXPERIMENTS)
def test_every_claim_holds_and_is_said_in_one_line(studies, name):
    study = studies[name]
    assert study.holds, study.verdict
    assert "\n" not in study.verdict
    assert "NO" not in study.verdict.replace("NOT", "")


def test_broken_claims_are_said(studies):
    """Each study with its methods swapped, or its errors turned upside down."""
    drug_use = studies["drugs"].stand_in
    swapped = {
        **drug_use.errors,
        drugs.CUBE: drug_use.errors[drugs.LAPLACE],
        drugs.LAPLACE: drug_use.errors[drugs.CUBE],
    }
    broken = replace(studies["drugs"], stand_in=replace(drug_use, errors=swapped))
    assert not broken.holds
    assert "NO" in broken.verdict

    mean = studies["salary-mean"]
    flat = {
        epsilon: replace(curve, errors=curve.errors[2:] + curve.errors[:2])
        for epsilon, curve in mean.salaries.by_epsilon.items()
    }
    best_first = {
        epsilon: replace(curve, errors=tuple(sorted(curve.errors, key=np.mean))) for epsilon, curve in flat.items()
    }
    broken = replace(mean, salaries=replace(mean.salaries, by_epsilon=best_first))
    assert not broken.holds
    assert "NO" in broken.verdict

    median = studies["salary-median"]
    worse = tuple(
        replace(p, guesses={**p.guesses, salary_median.SGD: p.guesses[salary_median.NAIVE]}) for p in median.salaries
    )
    assert not replace(median, salaries=worse).holds

    by_data = studies["logistic"].errors
    turned = {
        data: {**found, logistic.LAPLACE: found[logistic.HALF_SPACE], logistic.HALF_SPACE: found[logistic.LAPLACE]}
        for data, found in by_data.items()
    }
    broken = logistic.LogisticStudy(turned)
    assert not broken.holds
    assert "NO" in broken.verdict

    series = studies["density"]
    assert not replace(series, series_exact=series.series_exact / 2).holds

    sweep = studies["curves"].sweeps[0][0]
    wrong = replace(sweep, theory={method: 2 * line for method, line in sweep.theory.items()})
    assert not curves.CurveStudy(((wrong,),)).holds

    normal = studies["gaussian"]
    too_narrow = tuple(replace(found, coverage=found.coverage - 0.1) for found in normal.errors)
    assert not replace(normal, errors=too_narrow).holds
    other = {gaussian.PAPER: gaussian.ROBUST, gaussian.ROBUST: gaussian.PAPER}
    exchanged = tuple(
        replace(found, method=found.method._replace(variant=other.get(found.method.variant, found.method.variant)))
        for found in normal.errors
    )
    assert not replace(normal, errors=exchanged).holds

    trust = studies["central"]
    for one, other in (
        (central.EXPONENTIAL, central.STEPS),
        (central.NOISE, central.BITS),
        (central.EXPONENTIAL, central.SMOOTH),
    ):
        turned = {one: other, other: one}
        panels = tuple(
            replace(p, errors={turned.get(method, method): curve for method, curve in p.errors.items()})
            if one in p.errors
            else p
            for p in trust.panels
        )
        assert not replace(trust, panels=panels).holds

    cheap = studies["price"].prices[3]
    errors = {"too good": cheap.bound.lower / 2}
    broken = price.PriceStudy((studies["price"].prices[0], replace(cheap, mechanisms=errors)))
    assert not broken.holds
    assert broken.verdict.endswith("NO (mean_l2, dim 20)")
    for row in studies["price"].rows():  # the number of people is the one that was used
        assert row["n"] == (100 if row["problem"].startswith("central_range, n 100, ") else 100_000)


def test_private_steps_keep_their_bound(studies):
    for panel in studies["salary-median"].salaries:
        assert (panel.curve(salary_median.SGD).mean < panel.bound()).all()


# Pictures and files ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", experiments.EXPERIMENTS)
def test_pictures_name_everything(studies, name):
    page = figure.Figure(figsize=studies[name].size, layout="constrained")
    studies[name].draw(page)
    assert len(page.axes) >= 2
    for ax in page.axes:
        assert ax.get_title()
        assert ax.get_xlabel()
        assert ax.get_ylabel()
        assert ax.get_legend() is not None or page.legends


def test_normal_records_have_two_pictures_and_the_shares_beside_the_errors(studies, tmp_path):
    picture, numbers, errors = gaussian.EXPERIMENT.save(studies["gaussian"], tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {picture.name, numbers.name, errors.name}
    assert errors.read_bytes().startswith(b"\x89PNG")
    with numbers.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * len(gaussian.METHODS)
    for row in rows:
        values = np.array(row["errors"].split(), float)
        assert float(row["median"]) == pytest.approx(np.median(values), rel=1e-2)
        assert 0 <= float(row["warned"]) <= 1
        assert 0 < float(row["coverage"]) <= 1


def test_the_picture_of_the_central_model_is_small(studies, tmp_path):
    picture, numbers = central.EXPERIMENT.save(studies["central"], tmp_path)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size < 120_000
    with numbers.open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 2 * 2 * len(central.MEDIANS + central.MEANS)


def test_names_are_modules():
    for name in experiments.EXPERIMENTS:
        found = experiments.experiment(name)
        assert found.name == name
        assert found.source
        assert found.run.__module__ == f"ldpfast.experiments.{name.replace('-', '_')}"


class Tiny(_study.Study):
    """Two errors at each of two places."""

    size = (3.0, 3.0)
    verdict = "one is less than two"
    holds = True

    def curves(self):
        yield _study.Curve({"method": "m"}, "n", (10.0, 1000.0), (np.array([1.0, 3.0]), np.array([0.5, 0.5])))

    def draw(self, figure):
        (curve,) = self.curves()
        curve.draw(figure.subplots(), ("#000000", "o", "-"), "m", of_mean=True)


def test_a_curve():
    (curve,) = Tiny().curves()
    np.testing.assert_array_equal(curve.mean, [2, 0.5])
    np.testing.assert_allclose(curve.stderr, [1, 0])
    np.testing.assert_allclose(curve.band, [[1.1, 0.5], [2.9, 0.5]])
    assert _study.slope((1, 10, 100), np.array([5, 0.5, 0.05])) == pytest.approx(-1)


def test_files_hold_the_raw_numbers(tmp_path):
    experiment = _study.Experiment("tiny", "nowhere", lambda rng, full: Tiny())
    picture, numbers = experiment.save(Tiny(), tmp_path)
    assert picture.read_bytes().startswith(b"\x89PNG")
    with numbers.open(newline="") as file:
        first, second = csv.DictReader(file)
    assert first == {
        "method": "m",
        "n": "10",
        "repetitions": "2",
        "mean": "2",
        "quantile_05": "1.1",
        "quantile_95": "2.9",
        "errors": "1 3",
    }
    assert second["errors"] == "0.5 0.5"


@pytest.mark.parametrize("holds", [True, False])
def test_reproduce_says_what_holds_and_where_the_files_are(tmp_path, monkeypatch, holds):
    seen = []

    def run(rng, full):
        seen.append((rng, full))
        return Tiny()

    monkeypatch.setattr(Tiny, "holds", holds)
    monkeypatch.setattr(experiments, "experiment", lambda name: _study.Experiment(name, "a paper", run))
    text = io.StringIO()
    page = console.Console(file=text, width=40)
    assert experiments.reproduce(["a", "b"], tmp_path, None, True, page) is holds
    assert experiments.reproduce(["a"], tmp_path, 3, False, page) is holds
    assert seen[:2] == [(None, True)] * 2
    assert seen[2][0].integers(10**9) == np.random.default_rng(3).integers(10**9)
    lines = text.getvalue().splitlines()
    assert lines[0].startswith("a: reproduced in" if holds else "a: NOT reproduced in")
    assert lines[1].strip() == Tiny.verdict
    assert lines[2].split() == [str(tmp_path / "a.png"), str(tmp_path / "a.csv")]
    assert {path.name for path in tmp_path.iterdir()} == {"a.png", "a.csv", "b.png", "b.csv"}


def test_the_command(monkeypatch, tmp_path, capsys):
    called = []
    monkeypatch.setattr(experiments, "reproduce", lambda *a: called.append(a) or (a[1].is_dir() and a[2] != 7))
    monkeypatch.chdir(tmp_path)
    assert cli.main(["reproduce"]) == 0
    assert cli.main(["reproduce", "density", "--full", "--seed", "7", "--output", "a/b"]) == 1
    assert [a[:4] for a in called] == [
        (experiments.EXPERIMENTS, Path("figures"), None, False),
        (("density",), Path("a/b"), 7, True),
    ]
    for arguments, message in (
        (["guess"], "invalid choice: 'guess'"),
        (["--seed", "-1"], "--seed must be an integer >= 0"),
    ):
        with pytest.raises(SystemExit) as caught:
            cli.main(["reproduce", *arguments])
        assert caught.value.code == 2
        assert message in capsys.readouterr().err
    assert len(called) == 2
