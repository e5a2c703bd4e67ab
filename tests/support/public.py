"""The public names of the package, and an instance of every public class."""

from __future__ import annotations

import inspect
import re
import runpy
import warnings
from datetime import date
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

import ldpfast as ldp
from ldpfast import (
    analysis,
    bench,
    bounds,
    central,
    client,
    designs,
    domains,
    estimation,
    flower,
    mechanisms,
    nvflare,
    privacy,
    reports,
    results,
    survey,
)
from ldpfast.estimation.protocols import Sequential
from ldpfast.files import FileTable
from ldpfast.privacy import TwoLevel

from ..cards import KINDS
from ..cards.questions import QUESTION_CARDS
from .internals.mechanisms import smoothed_bins

NOT_PUBLIC = re.compile(r"\.(_|cli\b)")
FOUND = [ldp.__name__, *(info.name for info in walk_packages(ldp.__path__, "ldpfast."))]
MODULES: list[ModuleType] = [
    module
    for module in (import_module(name) for name in FOUND if not NOT_PUBLIC.search(name))
    if hasattr(module, "__all__")
]

NAMES = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "_extensions" / "public_names.py"))
# Classes that users get, and do not make, by the full name of what has or returns them.
RESULTS: dict[str, tuple[str, ...]] = NAMES["RESULTS"]


def names_of(module: ModuleType) -> list[str]:
    """Return the public names of a module, without modules."""
    return [
        name for name in module.__all__ if not name.startswith("__") and not inspect.ismodule(getattr(module, name))
    ]


def public_objects() -> dict[str, Any]:
    """Return all public classes and functions by their module and name, each once."""
    found: dict[int, tuple[str, Any]] = {}
    for module in MODULES:
        for name in names_of(module):
            value = getattr(module, name)
            if inspect.isclass(value) or inspect.isroutine(value):
                found.setdefault(id(value), (f"{module.__name__.removeprefix('ldpfast.')}.{name}", value))
    return dict(found.values())


def object_of(full_name: str) -> Any:
    """Return what has a name such as "ldpfast.estimation.Frequencies"."""
    module, _, name = full_name.rpartition(".")
    return getattr(import_module(module), name)


def result_classes(module: ModuleType | None = None) -> dict[str, type]:
    """Return the classes that users get, and do not make, by their names without ldpfast; all, or those of a module."""
    names = [name for names in RESULTS.values() for name in names]
    chosen = [name for name in names if module is None or name.rpartition(".")[0] == module.__name__]
    return {name.removeprefix("ldpfast."): object_of(name) for name in chosen}


def names_with_results(module: ModuleType) -> list[str]:
    """Return the public names of a module, and the classes of results that can be imported from it."""
    return [*names_of(module), *(name.rpartition(".")[2] for name in result_classes(module))]


def regressions() -> list[Any]:
    """Return fitted regressions, a summary, effects, and counts for quantiles."""
    x, mechanism = np.arange(400) % 2, mechanisms.SignBit(0, 1, 1.0)
    logit = analysis.RandomizedLogit(designs.warner(0.8)).fit(x[:, np.newaxis], np.arange(400) % 3 == 0)
    probit, cloglog = (
        model(designs.warner(0.8)).fit(x[:, np.newaxis], np.arange(400) % 3 == 0)
        for model in (analysis.RandomizedProbit, analysis.RandomizedCloglog)
    )
    linear = analysis.RandomizedLinear(mechanism).fit(x[:, np.newaxis], mechanism.privatize(x, rng=1))
    predictor = analysis.RandomizedPredictor(designs.warner(0.8))
    predictor.fit(x[:, np.newaxis], np.arange(400) % 3 == 0, np.sin(np.arange(400)))
    counted = estimation.ConditionalQuantiles([0.5]).update(np.arange(400) % 2, np.arange(400) % 3 == 0, rates=0.2)
    treated, others = np.arange(1200) % 2 > 0, np.random.default_rng(1).binomial(3, 0.4, 1200)
    listed = analysis.ListExperiment(3, constrained=True)
    listed.fit(np.empty((1200, 0)), others + (treated & (np.arange(1200) % 4 > 1)), treated=treated)
    return [logit, probit, cloglog, linear, logit.summary(), logit.marginal_effects(), predictor, listed, counted]


# Abstract bases, protocols and warnings: nobody makes an instance of them to look at it.
WITHOUT_INSTANCES = {
    mechanisms.Mechanism,
    domains.Domain,
    estimation.DensityEstimate,
    estimation.Problem,
    Sequential,
    reports.Format,
    reports.Question,
    results.ClippedWarning,
    results.DoubtfulWarning,
    results.SmallSampleWarning,
}


def _fitted(model: Any, responses: Any) -> Any:
    """Return a regression that is fitted to a few rows, without its warnings."""
    rows = np.random.default_rng(1).uniform(-0.5, 0.5, (500, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(rows, responses)


@cache
def instances() -> list[Any]:
    """Return at least one instance of every public class that is not in `WITHOUT_INSTANCES`."""
    rng = np.random.default_rng(1)
    numbers, vectors, bits = rng.uniform(0, 1, 500), rng.uniform(-0.4, 0.4, (500, 3)), np.arange(500) % 2
    problems: list[Any] = [
        estimation.Frequencies(["a", "<b>", "$c$"], 1.0),
        estimation.HistogramDensity(1.0, bins=4),
        estimation.RangeQueries(16, 1.0),
        estimation.SeriesDensity(1.0, n_terms=4),
        estimation.SparseMean(3, 1.0, radius=1.0),
        estimation.TruncatedMean(1.0, moment=2.0, radius=1.0, n=500),
        estimation.VectorMean(3, 1.0),
        estimation.HeavyHitters(2.0, max_bytes=2, alphabet="<ab", n=500, buckets=16),
        estimation.CountMeanSketch(2.0, max_bytes=3, buckets=16),
        estimation.Distribution(0, 1, 1.0),
    ]
    protocols: list[Any] = [
        estimation.GaussianMean(1.0, sigma=1.0, mu_bound=10.0),
        estimation.GradientDescent("logistic", 2, 1.0),
        estimation.MedianSGD(1.0, lower=0, upper=1),
        estimation.NewtonStep("logistic", 2, 1.0, n=1000),
    ]
    binary = ldp.Warner(1.0)
    gaussian = estimation.GaussianMean(1.0, sigma_bounds=(0.5, 2.0), mu_bound=10.0)
    strings = ["a", "<b"] * 250
    answers = (
        ["a", "<b>", "a", "$c$"] * 125, numbers, bits * 15, numbers, vectors, numbers, vectors, strings, strings, numbers
    )  # fmt: skip
    estimates = [problem.run(x, rng=1) for problem, x in zip(problems, answers, strict=True)]
    labels: Any = survey.Choice(["a", "<b>"], optional=True)
    asked = survey.Survey({"x": labels, "bins": survey.Histogram([0, 0.5, 1]), "both": survey.Cross("x", "bins")}, 3.0)
    found = asked.run({"x": ["a", "<b>"] * 250, "bins": numbers}, rng=1)
    words = survey.Survey({"word": survey.Text(2, "<ab", optional=True, n=500, buckets=16)}, 4.0)
    named = words.run({"word": strings}, rng=1)
    distribution = survey.Survey({"x": survey.Number(0, 1, cells=20)}, 3.0).run({"x": numbers}, rng=1)["x"]
    grouped = binary.collect([True, False] * 50, by=["a", "<b>"] * 50, rng=1)
    sides = asked.run({"x": ["a", "<b>"] * 250, "bins": numbers, "side": ["<l>", "r"] * 250}, by="side", rng=1)
    repeated = survey.Repeated(survey.YesNo(optional=True), permanent=3.0, round=1.0, rounds=3)
    compared = bounds.compare("multinomial", 1000, 1.0, k=5)
    models = (estimation.LinearRegression, estimation.LogisticRegression, estimation.PoissonRegression)
    return [
        grouped,
        grouped.estimate(),
        grouped.estimate()["a"] - grouped.estimate()["<b>"],
        grouped.estimate()["a"].test(0.5),
        survey.compare(sides),
        distribution,
        *(kind.mechanism for kind in KINDS),
        *(kind.mechanism.report for kind in KINDS),
        *(kind.mechanism.domain for kind in KINDS),
        *(kind.mechanism.aggregator() for kind in KINDS),
        *(kind.mechanism.run(kind.records(50), rng=1) for kind in KINDS),
        *problems,
        *(problem.mechanism.domain for problem in problems),
        *estimates,
        *protocols,
        mechanisms.Layers({"<b>": np.zeros(2)}),
        flower.PrivatizeMod(8.0, rounds=10),
        flower.PrivateStrategy(SimpleNamespace(**{**dict.fromkeys(flower.NEEDED), "fraction_evaluate": 0}), 8.0),
        nvflare.PrivatizeFilter(8.0, rounds=10),
        nvflare.ReportAggregator(8.0),
        mechanisms.SecureSum(10, 4.0, delta=1e-6, honest=10, rotation=1),
        ldp.PersonKeys(bytes(32), [1, 2], question="q"),
        ldp.Query(0, binary),
        FileTable(["people.csv"], {}),
        bench.Throughput(1.0, 1.0, 1.0, 1.0, 1),
        gaussian.simulate(100_000, 3.0, 1.0, rng=1),
        gaussian.plan(1000),
        problems[7].plan(),
        estimates[7].steps[0],
        bounds.mean_l2(1000, 3, 1.0),
        bounds.mean_l2([10, 100], 3, 1.0),
        bounds.mean_l2([[10, 100]], 3, 1.0),
        compared,
        compared.best,
        designs.warner(0.7),
        designs.warner(0.7).prevalence([0, 1] * 50),
        designs.ReplicateWeights(np.ones((10, 3)), "bootstrap"),
        designs.list_experiment(3),
        designs.warner(0.7).report("Is it true?", prevalence=0.1, stderr=0.05),
        designs.warner(0.7).sensitivity([0, 1, 1] * 20),
        designs.cheating_detection([0, 1, 1] * 20, [1, 1, 1, 0] * 20, p=(0.2, 0.6)),
        survey.Ledger({}),
        survey.Calendar(date(2027, 1, 4), "1 week", 8),
        survey.Report(bytes(16), b"message"),
        client.SendError("reports are not confirmed"),
        client.Sent(accepted=2, duplicate=1, refused={}),
        survey.Repeated(asked, round=1.0, rounds=3),
        survey.Repeated(asked, round=1.0, rounds=3).in_round(1),
        asked.loss(),
        designs.BitChannel(3, 0.75, 0.25),
        analysis.LabelClassifier(designs.warner(0.7)),
        *regressions(),
        central.counts({"x": [True, False] * 8}, {"x": survey.YesNo()}, epsilon=1.0, rng=1),
        central.histogram_density(numbers, epsilon=1.0, rng=1),
        central.histogram_density(vectors, epsilon=1.0, bins=2, rng=1),
        *(
            central.Custom(lambda x, at: np.tanh(x - at), -1.0, 1.0),
            central.Huber(1.0),
            central.Logistic(1.0),
            central.ArithmeticMean(),
        ),
        *(central.Quantile(0.5), central.TrimmedMean(0.1)),
        central.mean(vectors, epsilon=1.0, moment=2.0, radius=1.0, rng=1),
        central.quantile(numbers, 0.5, epsilon=1.0, lower=0, upper=1, rng=1),
        *(domains.Box([0, 0], [1, 2]), domains.Labels(2, labels=("a", "<b>"))),
        problems[5].mean_squared_error(),
        estimates[1].project(),
        estimates[6].region(),
        estimates[-1].cdf([0.2, 0.5]),
        *(model() for model in models),
        *(_fitted(model(random_state=1), bits) for model in models),
        binary.channel(),
        ldp.RandomizedResponse(100, 1.0).channel(),
        privacy.Channel([[0.5, 0.5], [0.25, 0.75]]),
        binary.guarantee,
        binary.plausibility(np.array([0, 1], np.uint8)),
        results.Debiasing(-1.0, 2.0),
        TwoLevel.of_sets(3, size=1, outputs=10, difference=1),
        smoothed_bins.SmoothedBins([0.5], 1.0, spacing=1.0),
        ldp.ProjectiveGeometryResponse(16, 1.0).debiasing,
        *(results.MatrixDebiasing(np.eye(2)), results.NumberDebiasing(np.arange(2.0))),
        results.Binomial(np.array([3, 4]), 10, results.Debiasing(-1.0, 2.0)),
        results.BoundedSum(0.1, 0.2),
        found.publish(title="<b>"),
        *(asked, found, *found.values(), found.table(), asked.plan(100, compare=True), asked.aggregator()),
        asked.explain(holder="The clinic"),
        *asked.questions.values(),
        *(question for card in QUESTION_CARDS.values() for question in card.questions.values()),
        *(words, named, *named.values(), *words.questions.values()),
        *(repeated, repeated.in_round(0), repeated.client(bytes(32), 1, question="q")),
        survey.Survey({"x": labels}, 1.0).client(),
    ]
