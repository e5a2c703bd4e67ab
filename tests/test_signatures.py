"""The rules for public names, checked on the signature of everything in the public lists.

An exception is in a table here, with its reason. An exception that is no longer needed is an error, too.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import bounds, central, designs, domains, estimation, mechanisms, privacy, reports, results, survey

from .support.cases import each
from .support.process import run_python
from .support.public import names_with_results

MODULES = (
    *(
        ldp,
        mechanisms,
        designs,
        estimation,
        bounds,
        bounds.methods,
        privacy,
        central,
        survey,
        domains,
        results,
        reports,
    ),
)
FORMULAS_OF = ("privacy", "bounds", "bounds.methods")
ROOT = Path(__file__).parent.parent


class Call(NamedTuple):
    """A function, a constructor or a method, with its parameters."""

    name: str
    module: str
    parameters: dict[str, inspect.Parameter]

    @property
    def positional(self) -> list[str]:
        """Parameters that can be given by position."""
        return [name for name, p in self.parameters.items() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]

    @property
    def required(self) -> list[str]:
        return [name for name, p in self.parameters.items() if p.default is p.empty]


def parameters_of(thing: Any) -> dict[str, inspect.Parameter]:
    try:
        found = inspect.signature(thing).parameters
    except ValueError:  # warnings
        return {}
    return {name: p for name, p in found.items() if name not in ("self", "cls")}


def methods_of(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods of a class that the package defines, inherited ones included."""
    for name in dir(kind):
        method = getattr(kind, name)
        if (
            not name.startswith("_")
            and inspect.isroutine(method)
            and "ldpfast" in str(getattr(method, "__module__", ""))
        ):
            yield name, method


def calls() -> dict[str, Call]:
    """Return everything that users call, by its name."""
    found: dict[str, Call] = {}
    for module in MODULES:
        for name in names_with_results(module):
            thing = getattr(module, name)
            if not callable(thing):
                continue
            home = module.__name__.removeprefix("ldpfast").removeprefix(".")
            full = f"{home}.{name}".removeprefix(".")
            found[full] = Call(full, home, parameters_of(thing))
            if inspect.isclass(thing):
                for method, function in methods_of(thing):
                    found[f"{full}.{method}"] = Call(f"{full}.{method}", home, parameters_of(function))
    return found


CALLS = calls()


def test_the_walk_finds_functions_classes_and_methods():
    assert {"estimation.median", "mechanisms.Bins", "mechanisms.Bins.privatize", "privacy.Channel.epsilon"} <= set(
        CALLS
    )
    assert len(CALLS) > 500


# Positions ------------------------------------------------------------------------------------------------------------

# Quantities of formulas, in their order; other leading parameters are subjects, see below.
QUANTITIES = (("n",), ("dim", "k"), ("epsilon",), ("delta",))
# Parameters of `privacy` and `bounds` that lead without being a quantity: what the function is about.
SUBJECTS = {
    "sigma": "noise of a Gaussian mechanism, where there is no epsilon",
    "source": "definition that is converted",
    "target": "definition to which a level is converted; bound or mechanism of a study",
    "level": "parameter of the definition that is converted",
    "epsilons": "losses that are composed",
    "mechanism": "mechanism that is audited, summed, or composed",
    "rounds": "how many rounds are composed",
    "mechanism_or_epsilon": "what is shuffled",
    "x": "first input of an audit",
    "x_prime": "second input of an audit",
    "matrix": "rows of a channel",
    "guarantee": "guarantee that is converted",
    "guarantees": "guarantees that are composed",
    "size": "size of a group",
    "definition": "definition of a guarantee",
    "problem": "problem that is compared",
    "error": "error of a study",
    "effect": "difference that a test is to find",
}


# Classes of results, whose fields are not arguments that users give.
RECORDS = {
    name
    for name, call in CALLS.items()
    if name.rpartition(".")[2] in ("Bound", "Comparison", "MeanSquaredError", "Plan", "Region", "ProjectedDensity")
    or {"value", "stderr", "n"} <= set(call.parameters)
}


def test_everything_after_epsilon_is_keyword_only():
    wrong = []
    for call in CALLS.values():
        if "epsilon" in call.positional and call.name not in RECORDS:
            after = call.positional[call.positional.index("epsilon") + 1 :]
            formula = call.module in FORMULAS_OF
            wrong += [f"{call.name}({name})" for name in after if not (formula and name == "delta")]
    assert wrong == []


FORMULAS = [
    call
    for call in CALLS.values()
    if call.module in FORMULAS_OF and call.name.rpartition(".")[0] == call.module and call.name not in RECORDS
]


@each("call", FORMULAS, ids=lambda call: call.name)
def test_formulas_begin_with_n_dim_or_k_epsilon_and_delta(call):
    place = {name: i for i, names in enumerate(QUANTITIES) for name in names}
    assert [name for name in call.positional if name not in place and name not in SUBJECTS] == []
    places = [place[name] for name in call.positional if name in place]
    assert places == sorted(places)
    subjects = [i for i, name in enumerate(call.positional) if name in SUBJECTS]
    assert subjects == list(range(len(subjects))), "what a function is about comes first"


# Randomness and clipping ----------------------------------------------------------------------------------------------

RANDOM = ("privatize", "collect", "run", "privatize_pieces", "simulate")
# The methods of domains that check an argument of others.
POSITIONAL_CLIP = {name for name in CALLS if name.endswith(".check_clip")}
NO_CLIP = {
    **{
        f"{module}Query.privatize": "always clips: a client must not tell the server that its record is invalid"
        for module in ("", "mechanisms.")
    },
    "estimation.GradientDescent.run": "rows are always clipped to the radius, and scikit-learn refuses other numbers",
    "estimation.NewtonStep.run": "rows are always clipped to the radius, and scikit-learn refuses other numbers",
    "estimation.GaussianMean.simulate": "there are no records",
}


def privatizes(call: Call) -> bool:
    """Return whether a call makes reports: a method of some names, or a function of a problem."""
    owner, _, name = call.name.rpartition(".")
    return call.name in FUNCTIONS.values() or (owner in CALLS and name in RANDOM)


def test_calls_that_privatize_have_rng_and_clip():
    made = {name: call.parameters for name, call in CALLS.items() if privatizes(call)}
    assert {name for name, parameters in made.items() if "rng" not in parameters} == set()
    assert {name for name, parameters in made.items() if "clip" not in parameters} == set(NO_CLIP)


def test_rng_and_clip_are_keyword_only():
    for call in CALLS.values():
        for name, default in (("rng", None), ("clip", False)):
            if name in call.parameters and call.name not in POSITIONAL_CLIP:
                assert call.parameters[name].kind is inspect.Parameter.KEYWORD_ONLY, call.name
                assert call.parameters[name].default is default, call.name


def test_options_of_questions_are_keyword_only():
    found = [
        (name, parameter)
        for question in vars(ldp.survey).values()
        if inspect.isclass(question)
        for name, parameter in inspect.signature(question).parameters.items()
        if name in ("optional", "column", "resolution")
    ]
    assert len(found) > 10
    assert [name for name, parameter in found if parameter.kind is not inspect.Parameter.KEYWORD_ONLY] == []


# Words ----------------------------------------------------------------------------------------------------------------

# Words for the choice of an algorithm, and for numbers, that are not used.
OTHER_WORDS = {
    **dict.fromkeys(("variant", "mode", "decoder", "solver", "algorithm", "strategy"), "method"),
    **dict.fromkeys(("d", "dimension", "dims", "ndim", "features"), "dim"),
    **dict.fromkeys(("n_people", "people", "n_users", "n_records", "size_n"), "n"),
    **dict.fromkeys(("n_categories", "categories_count"), "k"),
    **dict.fromkeys(("eps", "noise_level", "random_state", "seed"), "epsilon or rng"),
    "rule": "method",
}
WORD_EXCEPTIONS = {
    ("features", "GradientDescent"): "columns of a row; dim is the number of coefficients, which include the intercept",
    ("features", "NewtonStep"): "columns of a row; dim is the number of coefficients, which include the intercept",
    ("rule", "RECORDS"): "the object that computes the limits of an estimate, which no user chooses",
    ("random_state", "LogisticRegression"): "estimators of scikit-learn have random_state in the place of rng",
    ("random_state", "LinearRegression"): "estimators of scikit-learn have random_state in the place of rng",
    ("random_state", "PoissonRegression"): "estimators of scikit-learn have random_state in the place of rng",
}


def test_one_word_for_each_thing():
    found = set()
    for call in CALLS.values():
        owner = "RECORDS" if call.name in RECORDS else call.name.rpartition(".")[2]
        found |= {(name, owner) for name in call.parameters if name in OTHER_WORDS}
    assert found == set(WORD_EXCEPTIONS), "use the words that OTHER_WORDS gives"


def test_nan_is_raised_or_centered():
    for call in CALLS.values():
        if "nan" in call.parameters:
            assert call.parameters["nan"].default == "raise"
            assert call.parameters["nan"].kind is inspect.Parameter.KEYWORD_ONLY


def test_the_values_of_nan():
    assert central.median([0.5, np.nan], epsilon=9.0, lower=0, upper=1, nan="center", rng=1).n == 2
    with pytest.raises(ValueError, match="nan must be one of 'raise', 'center', got 'centre'"):
        central.median([0.5], epsilon=1.0, lower=0, upper=1, nan="centre")


BRITISH = re.compile(
    r"centre|normalis|privatis|colour|behaviour|randomis|favour|optimis|minimis|maximis|summaris|recognis|organis"
    r"|generalis|initialis|serialis|utilis|neighbour|modell(?:ed|ing)|grey|analys(?:e|ed|ing)\b|licence|artefact"
)
# What other people wrote: names of their packages, and the output of their tools.
QUOTED = (
    "benchmarks/rivals/pure_ldp.py",
    "benchmarks/rivals/pure_ldp_strings.py",
    "benchmarks/rivals/diffprivlib.py",
    "tests/clients/test_c_client.py",
)


def test_american_spelling():
    """In names, options, messages and docstrings of the package, and in the documentation."""
    files = [
        *ROOT.glob("ldpfast/**/*.py"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("*.md"),
        *ROOT.glob("benchmarks/**/*.py"),
    ]
    for path in files:
        if path.name != "CHANGELOG.md" and str(path.relative_to(ROOT)) not in QUOTED:
            assert BRITISH.findall(path.read_text().lower()) == [], path


# Defaults -------------------------------------------------------------------------------------------------------------

# Options that mean the same in the local and in the central model: the calls that have them.
SHARED: dict[str, tuple[tuple[str, ...], ...]] = {
    "method": (("estimation.truncated_mean", "estimation.TruncatedMean", "central.mean"),),
    "lipschitz": (("estimation.histogram_density", "estimation.HistogramDensity", "central.histogram_density"),),
    "bins": (("estimation.histogram_density", "estimation.HistogramDensity", "central.histogram_density"),),
    "moment": (("estimation.truncated_mean", "estimation.TruncatedMean", "bounds.mean_1d"),),
    "radius": (("estimation.truncated_mean", "estimation.TruncatedMean"),),
    "lower": (("estimation.median", "estimation.quantile", "central.median", "central.quantile"),),
    "upper": (("estimation.median", "estimation.quantile", "central.median", "central.quantile"),),
    "nan": (
        ("central.mean", "central.median", "central.quantile", "central.trimmed_mean", "central.histogram_density"),
    ),
    "prior": (("central.median", "central.quantile", "central.m_estimate"),),
}
# Options with one default wherever they are.
EVERYWHERE = {"confidence": (0.95, None), "simultaneous": (False,), "clip": (False,), "rng": (None,), "nan": ("raise",)}
EVERYWHERE_EXCEPTIONS = {
    "estimation.DensityEstimate.plot": "the band of a density is for the whole curve",
    "estimation.DistributionEstimate.plot": "the band of the distribution function is for the whole curve",
    "estimation.HistogramEstimate.plot": "the band of a density is for the whole curve",
    "estimation.SeriesEstimate.plot": "the band of a density is for the whole curve",
    "survey.NumberAnswer.plot": "the band of the distribution function is for the whole curve",
}


@each("option", SHARED)
def test_shared_options_have_one_default(option):
    for group in SHARED[option]:
        assert len({repr(CALLS[name].parameters[option].default) for name in group}) == 1


def test_options_that_are_everywhere_have_one_default():
    wrong = set()
    for call in CALLS.values():
        for name, allowed in EVERYWHERE.items():
            if name in call.parameters and call.parameters[name].default not in (inspect.Parameter.empty, *allowed):
                wrong.add(call.name)
    assert wrong == set(EVERYWHERE_EXCEPTIONS)


# Functions and classes ------------------------------------------------------------------------------------------------

FUNCTIONS = {
    "Distribution": "estimation.distribution",
    "Frequencies": "estimation.frequencies",
    "GaussianMean": "estimation.gaussian_mean",
    "HeavyHitters": "estimation.heavy_hitters",
    "HistogramDensity": "estimation.histogram_density",
    "MedianSGD": "estimation.median",
    "RangeQueries": "estimation.range_queries",
    "SeriesDensity": "estimation.series_density",
    "SparseMean": "estimation.sparse_mean",
    "TruncatedMean": "estimation.truncated_mean",
    "VectorMean": "estimation.vector_mean",
    "": "estimation.quantile",  # MedianSGD as well, with q
}
CLASSES_WITHOUT_FUNCTION = {
    "CountMeanSketch": "the strings are named after the reports were collected",
    "GradientDescent": "the estimators of scikit-learn are its functions",
    "NewtonStep": "the estimators of scikit-learn are its functions",
}
FUNCTIONS_WITHOUT_CLASS = {
    "conditional_means": "a function of reports, not of records",
    "conditional_quantiles": "a function of reports, not of records",
    "from_sums": "a function of sums of reports",
    "joint": "a function of reports, not of records",
    "from_reports": "a function of reports, not of records",
    "naive_median": "a baseline: the median of the reports of `Laplace`, which have to be stored",
    "project_simplex": "a function of an estimate",
}


def test_every_problem_has_a_class_and_a_function():
    problems = {
        name
        for name in estimation.__all__
        if inspect.isclass(thing := getattr(estimation, name)) and hasattr(thing, "run") and not hasattr(thing, "fit")
    }
    assert problems == {*FUNCTIONS, *CLASSES_WITHOUT_FUNCTION} - {""}
    functions = {f"estimation.{name}" for name in estimation.__all__ if inspect.isfunction(getattr(estimation, name))}
    assert functions == {*FUNCTIONS.values(), *(f"estimation.{name}" for name in FUNCTIONS_WITHOUT_CLASS)}


X = np.random.default_rng(1).uniform(0, 1, 60_000)
ROWS = X.reshape(-1, 3) * 0.5
CASES: list[tuple[str, Any, dict[str, Any], dict[str, Any]]] = [
    ("distribution", X, {"lower": 0, "upper": 1, "epsilon": 1.0, "cells": 16}, {}),
    ("frequencies", (X * 4).astype(int), {"k": 4, "epsilon": 1.0, "project": True}, {}),
    ("gaussian_mean", X, {"epsilon": 1.0, "sigma": 0.3, "mu_bound": 9.0}, {"n": len(X)}),
    (
        "gaussian_mean",
        X,
        {"epsilon": 1.0, "sigma": 0.3, "mu_bound": 9.0, "rounds": 1, "method": "paper"},
        {"n": len(X)},
    ),
    ("histogram_density", X, {"epsilon": 1.0, "bins": 3}, {}),
    ("histogram_density", X, {"epsilon": 1.0, "lipschitz": 2.0}, {"n": len(X)}),
    ("median", X, {"epsilon": 1.0, "lower": 0, "upper": 1}, {"n": len(X)}),
    ("median", X, {"epsilon": 1.0, "lower": 0, "upper": 1, "spacing": 0.1}, {"n": len(X)}),
    ("range_queries", (X * 9).astype(int), {"k": 9, "epsilon": 1.0, "method": "haar"}, {}),
    ("series_density", X, {"epsilon": 1.0, "n_terms": 3}, {}),
    ("series_density", X, {"epsilon": 1.0, "radius": 2.0}, {"n": len(X)}),
    ("sparse_mean", ROWS, {"epsilon": 1.0, "radius": 1.0}, {"dim": 3}),
    ("truncated_mean", X, {"epsilon": 1.0, "moment": 3, "radius": 1.0, "method": "paper"}, {"n": len(X)}),
    ("vector_mean", ROWS, {"epsilon": 1.0, "norm": "linf", "lower": 0, "upper": 1}, {"dim": 3}),
]


@each("name, x, arguments, derived", CASES, ids=[case[0] for case in CASES])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_function_is_its_class_with_the_records_first(name, x, arguments, derived):
    kind = next(kind for kind, function in FUNCTIONS.items() if function == f"estimation.{name}")
    expected = getattr(estimation, kind)(**arguments, **derived).run(x, rng=7)
    found = getattr(estimation, name)(x, **arguments, rng=7)
    np.testing.assert_array_equal(found.value, expected.value)
    assert repr(found) == repr(expected)
    assert type(found) is type(expected)
    annotated = inspect.signature(getattr(estimation, name)).return_annotation
    assert annotated.partition("[")[0] == type(expected).__name__, "what a type checker reads"


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_quantile_is_the_quantile_of_the_class():
    server = estimation.MedianSGD(1.0, lower=0, upper=1, quantile=0.25, n=len(X))
    assert estimation.quantile(X, 0.25, 1.0, lower=0, upper=1, rng=7).value == server.run(X, rng=7).value


@each("name", [case[0] for case in CASES])
def test_signatures_and_docstrings_are_those_of_the_class(name):
    function = getattr(estimation, name)
    kind = getattr(estimation, next(kind for kind, found in FUNCTIONS.items() if found == f"estimation.{name}"))
    found, own = parameters_of(function), parameters_of(kind)
    assert next(iter(found)) == "x"
    for parameter in [*found][1:]:
        if parameter in own:
            assert found[parameter].default == own[parameter].default
            assert found[parameter].kind == own[parameter].kind
    assert set(own) - set(found) <= {"n", "dim", "quantile"}
    assert set(found) - set(own) <= {"x", "rng", "clip", "rounded"}
    for parameter in set(found) & set(own):
        assert found[parameter].annotation == own[parameter].annotation
    documented = re.search(r"Parameters\n +-+\n(.*?)\n\n", function.__doc__, re.DOTALL)
    assert documented
    lines = re.findall(r"^    (\w[\w, ]*?)(?: : .*)?$", documented[1], re.MULTILINE)
    names = [name for line in lines for name in line.split(", ")]
    assert names == list(found)


@each(
    "call",
    [
        lambda x, **options: estimation.MedianSGD(1.0, lower=0, upper=1).run(x, **options),
        lambda x, **options: estimation.median(x, 1.0, lower=0, upper=1, **options),
        lambda x, **options: estimation.gaussian_mean(x, 1.0, sigma=0.3, mu_bound=9.0, **options),
        lambda x, **options: estimation.gaussian_mean(x, 1.0, sigma=0.3, mu_bound=9.0, rounds=1, **options),
        lambda x, **options: estimation.truncated_mean(x, 1.0, moment=2, radius=1.0, **options),
    ],
)
@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning", "ignore::ldpfast.DoubtfulWarning")
def test_clip_replaces_numbers_that_are_not_finite(call):
    """NaN counts as the center; without clip it is an error. Valid records are not changed, and give no warning."""
    x = X.copy()
    x[[7, 59_000]] = np.nan
    with pytest.raises(ValueError, match="clip=True moves records to the nearest valid one, and NaN to the center"):
        call(x, rng=7)
    with pytest.warns(ldp.ClippedWarning, match=r"^2 of 60000 records"):
        found = call(x, rng=7, clip=True)
    assert found.n == len(x)
    with pytest.raises(TypeError, match="clip must be a bool, got int"):
        call(x, clip=1)
    assert call(X, rng=7, clip=True) == call(X, rng=7)


def test_the_baseline_clips_numbers_to_its_interval():
    x = X.copy()
    x[7] = np.nan
    with pytest.raises(ValueError, match="x must be finite numbers; index 7 is NaN"):
        estimation.naive_median(x, 1.0, lower=0, upper=1)
    assert estimation.naive_median(x, 1.0, lower=0, upper=1, rng=1, clip=True).n == len(x)


@pytest.mark.long
def test_functions_work_without_docstrings():
    code = "from ldpfast import estimation; print(estimation.median([0.2], 1.0, lower=0, upper=1).n, estimation.median.__doc__)"
    done = run_python(code, PYTHONOPTIMIZE="2", PYTHONWARNINGS="ignore")
    assert done.stdout == "1 None\n"


def test_wrong_arguments_of_a_function():
    with pytest.raises(TypeError, match=r"^median\(\) missing 1 required positional argument: 'epsilon'$"):
        estimation.median([1.0])
    with pytest.raises(TypeError, match=r"^median\(\) takes 2 positional arguments but 4 were given$"):
        estimation.median([1.0], 1.0, 0, 1)
    with pytest.raises(TypeError, match=r"^vector_mean\(\) got an unexpected keyword argument 'dim'$"):
        estimation.vector_mean([[1.0]], 1.0, dim=1)


# Lists ----------------------------------------------------------------------------------------------------------------

HELPERS = {
    results: (
        *("AnyDebiasing", "Binomial", "IntervalRule", "Normal", "NumberDebiasing", "RandomScaling", "SupportDebiasing"),
        *("random_scaling", "random_scaling_quantile"),
    ),
    mechanisms: ("LaplaceResidue", "SmoothedBins", "half_space_constant"),
    privacy: ("TwoLevel", "least_error", "misses"),
    bounds: ("Row",),
    central: ("best_bins",),
}


@each("module", HELPERS, ids=lambda module: module.__name__)
def test_helpers_are_not_in_the_public_lists(module):
    assert not set(HELPERS[module]) & set(module.__all__)
