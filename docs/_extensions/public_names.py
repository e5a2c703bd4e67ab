"""Public names of the package, each with the module whose page has it."""

from __future__ import annotations

import re
from importlib import import_module
from inspect import isclass, ismodule, isroutine
from types import ModuleType

# A name that several modules have is on the page of the first of them.
MODULES = (
    "ldpfast.mechanisms",
    "ldpfast.designs",
    "ldpfast.analysis",
    "ldpfast.estimation",
    "ldpfast.survey",
    "ldpfast.privacy",
    "ldpfast.bounds",
    "ldpfast.bounds.methods",
    "ldpfast.central",
    "ldpfast.results",
    "ldpfast.reports",
    "ldpfast.domains",
    "ldpfast.files",
    "ldpfast.client",
    "ldpfast.server",
    "ldpfast.dask",
    "ldpfast.spark",
    "ldpfast.flower",
    "ldpfast.nvflare",
    "ldpfast.bench",
    "ldpfast",
)

# Classes that users get, and do not make: results, and abstract bases. Each is on the page of one thing that has or returns it.
RESULTS: dict[str, tuple[str, ...]] = {
    "ldpfast.mechanisms.Mechanism": ("ldpfast.reports.Question", "ldpfast.domains.Domain", "ldpfast.reports.Format"),
    "ldpfast.mechanisms.Aggregator": ("ldpfast.reports.GroupedAggregator", "ldpfast.reports.GroupedResults"),
    "ldpfast.designs.warner": (
        "ldpfast.designs.Design",
        "ldpfast.designs.DesignReport",
        "ldpfast.designs.SampledPrevalence",
        "ldpfast.designs.SensitivityBounds",
    ),
    "ldpfast.designs.cheating_detection": ("ldpfast.designs.TwoGroupEstimate",),
    "ldpfast.designs.list_experiment": ("ldpfast.designs.ListDesign",),
    "ldpfast.analysis.RandomizedLogit": ("ldpfast.analysis.RegressionSummary", "ldpfast.analysis.MarginalEffects"),
    "ldpfast.estimation.CountMeanSketch": ("ldpfast.estimation.SketchEstimate", "ldpfast.mechanisms.SketchResponse"),
    "ldpfast.estimation.Distribution": (
        "ldpfast.estimation.DistributionEstimate",
        "ldpfast.estimation.DistributionValue",
        "ldpfast.mechanisms.DistributionResponse",
    ),
    "ldpfast.estimation.Frequencies": ("ldpfast.estimation.FrequencyEstimate", "ldpfast.estimation.Problem"),
    "ldpfast.estimation.GaussianMean": ("ldpfast.estimation.GaussianEstimate", "ldpfast.estimation.Plan"),
    "ldpfast.estimation.HeavyHitters": (
        "ldpfast.estimation.HeavyHittersEstimate",
        "ldpfast.estimation.HeavyHittersPlan",
        "ldpfast.estimation.SearchStep",
    ),
    "ldpfast.estimation.HistogramDensity": (
        "ldpfast.estimation.HistogramEstimate",
        "ldpfast.estimation.DensityEstimate",
        "ldpfast.estimation.ProjectedDensity",
    ),
    "ldpfast.estimation.MedianSGD": ("ldpfast.estimation.protocols.Sequential",),
    "ldpfast.estimation.RangeQueries": ("ldpfast.estimation.RangeEstimate", "ldpfast.mechanisms.TreeResponse"),
    "ldpfast.estimation.SeriesDensity": ("ldpfast.estimation.SeriesEstimate",),
    "ldpfast.estimation.SparseMean": ("ldpfast.estimation.SparseEstimate",),
    "ldpfast.estimation.TruncatedMean": ("ldpfast.estimation.MeanSquaredError",),
    "ldpfast.estimation.VectorMean": ("ldpfast.estimation.VectorEstimate", "ldpfast.estimation.Region"),
    "ldpfast.survey.Survey": (
        "ldpfast.survey.SurveyResult",
        "ldpfast.survey.Publication",
        "ldpfast.survey.SurveyPlan",
        "ldpfast.survey.Explanation",
        "ldpfast.survey.SurveyClient",
        "ldpfast.survey.Report",
        "ldpfast.survey.Loss",
        "ldpfast.survey.Table",
    ),
    "ldpfast.survey.Choice": ("ldpfast.survey.Answer",),
    "ldpfast.survey.Cross": ("ldpfast.survey.CrossAnswer",),
    "ldpfast.survey.Histogram": ("ldpfast.survey.HistogramAnswer",),
    "ldpfast.survey.Number": ("ldpfast.survey.NumberAnswer",),
    "ldpfast.survey.Text": ("ldpfast.survey.TextAnswer",),
    "ldpfast.survey.Repeated": (
        "ldpfast.survey.RepeatedSurvey",
        "ldpfast.survey.RepeatedRound",
        "ldpfast.survey.SurveyRound",
        "ldpfast.survey.RepeatedClient",
    ),
    "ldpfast.survey.compare": ("ldpfast.survey.SurveyComparison",),
    "ldpfast.bounds.mean_1d": ("ldpfast.bounds.Bound",),
    "ldpfast.bounds.compare": ("ldpfast.bounds.Comparison",),
    "ldpfast.central.counts": ("ldpfast.central.CountsEstimate",),
    "ldpfast.central.histogram_density": ("ldpfast.central.CubeHistogram",),
    "ldpfast.central.mean": ("ldpfast.central.MeanEstimate",),
    "ldpfast.central.quantile": ("ldpfast.central.QuantileEstimate",),
    "ldpfast.results.Estimate": (
        "ldpfast.results.LabeledEstimate",
        "ldpfast.results.TestResult",
        "ldpfast.results.Plausibility",
        "ldpfast.results.BoundedSum",
    ),
    "ldpfast.client.send": ("ldpfast.client.Sent",),
    "ldpfast.bench.throughput": ("ldpfast.bench.Throughput",),
}


def names_of(module: ModuleType) -> list[str]:
    """Return the names in ``__all__``, without modules."""
    return [name for name in module.__all__ if not ismodule(getattr(module, name)) and not name.startswith("__")]


def public_names() -> dict[str, dict[str, list[str]]]:
    """Return the classes, functions, constants and borrowed names of each public module.

    A borrowed name is the full name of a class or a function that is on the page of another module.
    """
    home: dict[int, str] = {}
    found: dict[str, dict[str, list[str]]] = {}
    for module_name in MODULES:
        module = import_module(module_name)
        kinds: dict[str, list[str]] = {"classes": [], "functions": [], "constants": [], "borrowed": []}
        for name in names_of(module):
            value = getattr(module, name)
            if not (isclass(value) or isroutine(value)):
                kinds["constants"].append(name)
            elif id(value) in home:
                kinds["borrowed"].append(home[id(value)])
            else:
                home[id(value)] = f"{module_name}.{name}"
                kinds["classes" if isclass(value) else "functions"].append(name)
        found[module_name] = kinds
    return found


# Public names that can change in a minor release, as docs/versioning.md says.
PROVISIONAL = re.compile(
    r"ldpfast\.(bounds\.methods\.(\w+_contraction|tensorized_\w+|mutual_information|tv_of_releases)|privacy\.convert|central\.\w+)"
)


def is_provisional(name: str) -> bool:
    """Return whether the full name of a class or a function is provisional."""
    return bool(PROVISIONAL.fullmatch(name))
