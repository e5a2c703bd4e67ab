"""Pictures and files of the experiments, and their names, sources and claims."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from experiments import studies as package
from experiments.demo.curve import Curve
from experiments.studies import _study, central, jkmw_protocols

from ...support.labels import has_unit

pytestmark = pytest.mark.long

pytest.importorskip("statsmodels")
figure = pytest.importorskip("matplotlib.figure")
console = pytest.importorskip("rich.console")


@pytest.mark.parametrize("name", package.EXPERIMENTS)
def test_pictures_have_titles_labels_and_legends(studies, name):
    page = figure.Figure(figsize=studies[name].size, layout="constrained")
    studies[name].draw(page)
    assert len(page.axes) >= 2
    for ax in page.axes:
        assert ax.get_title()
        assert has_unit(ax.get_xlabel())
        assert has_unit(ax.get_ylabel())
        assert ax.get_legend() is not None or page.legends


def test_gaussian_means_save_two_pictures_and_the_coverage(studies, tmp_path):
    picture, numbers, errors = jkmw_protocols.EXPERIMENT.save(studies["jkmw-protocols"], tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {picture.name, numbers.name, errors.name}
    assert errors.read_bytes().startswith(b"\x89PNG")
    with numbers.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * len(jkmw_protocols.METHODS)
    for row in rows:
        values = np.array(row["errors"].split(), float)
        assert float(row["median"]) == pytest.approx(np.median(values), rel=1e-2)
        assert 0 <= float(row["warned"]) <= 1
        assert 0 < float(row["coverage"]) <= 1


def test_the_picture_of_the_central_model_is_a_small_file(studies, tmp_path):
    picture, numbers = central.EXPERIMENT.save(studies["central"], tmp_path)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size < 120_000
    with numbers.open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 2 * 2 * len(central.MEDIANS + central.MEANS)


def test_rows_of_prices_contain_the_number_of_records(studies):
    for row in studies["price"].rows():
        assert row["n"] == (100 if row["problem"].startswith("central_range, n 100, ") else 100_000)


@pytest.mark.parametrize("name", package.EXPERIMENTS)
def test_every_experiment_is_the_module_of_its_name_and_has_a_claim(name):
    experiment = package.experiment(name)
    assert experiment.name == name
    assert experiment.run.__module__ == f"experiments.studies.{name.replace('-', '_')}"
    assert experiment.claim.endswith(".")
    assert ". " not in experiment.claim  # one sentence
    assert "\n" not in experiment.claim


def test_the_name_of_an_experiment_of_a_paper_is_the_paper_and_the_place():
    """The name has the number of the figure, table or theorem that the source has, and papers are not mixed up."""
    for name in package.EXPERIMENTS:
        source = package.experiment(name).source
        papers = [first for first in _study.PAPERS if name.startswith(first + "-")]
        assert [text for text in _study.PAPERS.values() if text in source] == [_study.PAPERS[first] for first in papers]
        for first in papers:
            assert name.removeprefix(first + "-").replace("-", " ") in source.removeprefix(_study.PAPERS[first])


def test_every_paper_has_an_experiment():
    for first in _study.PAPERS:
        assert any(name.startswith(first + "-") for name in package.EXPERIMENTS)


class Tiny(_study.Study):
    """Two errors at each of two places."""

    size = (3.0, 3.0)
    verdict = "one is less than two"
    holds = True

    def curves(self):
        yield Curve({"method": "m"}, "n", (10.0, 1000.0), (np.array([1.0, 3.0]), np.array([0.5, 0.5])))

    def draw(self, figure):
        (curve,) = self.curves()
        curve.draw(figure.subplots(), ("#000000", "o", "-"), "m", of_mean=True)


def test_statistics_of_a_curve_follow_the_definitions():
    (curve,) = Tiny().curves()
    np.testing.assert_array_equal(curve.mean, [2, 0.5])
    np.testing.assert_allclose(curve.stderr, [1, 0])
    np.testing.assert_allclose(curve.band, [[1.1, 0.5], [2.9, 0.5]])
    assert _study.slope((1, 10, 100), np.array([5, 0.5, 0.05])) == pytest.approx(-1)


def test_files_contain_every_error(tmp_path):
    experiment = _study.Experiment("tiny", "nowhere", "One is less than two.", lambda rng, full: Tiny())
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
def test_reproduce_prints_the_verdict_and_the_paths(tmp_path, monkeypatch, holds):
    seen = []

    def run(rng, full):
        seen.append((rng, full))
        return Tiny()

    monkeypatch.setattr(Tiny, "holds", holds)
    monkeypatch.setattr(package, "experiment", lambda name: _study.Experiment(name, "a paper", "A claim.", run))
    text = io.StringIO()
    page = console.Console(file=text, width=40)
    assert package.reproduce(["a", "b"], tmp_path, None, True, page) is holds
    assert package.reproduce(["a"], tmp_path, 3, False, page) is holds
    assert seen[:2] == [(None, True)] * 2
    assert seen[2][0].integers(10**9) == np.random.default_rng(3).integers(10**9)
    lines = text.getvalue().splitlines()
    assert lines[0].startswith("a: reproduced in" if holds else "a: NOT reproduced in")
    assert lines[1].strip() == Tiny.verdict
    assert lines[2].split() == [str(tmp_path / "a.png"), str(tmp_path / "a.csv")]
    assert {path.name for path in tmp_path.iterdir()} == {"a.png", "a.csv", "b.png", "b.csv"}
