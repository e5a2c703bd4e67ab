"""Numbers of NumPy, fractions and decimals are parameters wherever Python's numbers are, and make the same things."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import ldpfast as ldp
from ldpfast import bounds, central, estimation, privacy
from ldpfast.central._cube_histogram import best_bins
from ldpfast.reports import Aggregator
from ldpfast.survey import Cross, Histogram, Mean, Survey, SurveyRound, YesNo

from .cards.questions import QUESTION_CARDS
from .support.cases import each
from .support.internals.privacy import least_error, misses
from .support.internals.shared import Described, schemas
from .support.public import instances

FLOATS: dict[str, Callable[[float], Any]] = {
    "float64": np.float64,
    "float32": np.float32,
    "float16": np.float16,
    "longdouble": np.longdouble,
    "fraction": Fraction,
    "decimal": Decimal,
}
INTEGERS: dict[str, Callable[[int], Any]] = {"int64": np.int64, "uint8": np.uint8}
X = np.random.default_rng(1).uniform(0, 1, 400)
V = X.reshape(-1, 2) * 0.5
NORM = norm()
TINY = 2.0**-20
# Functions and classes with arguments that single precision represents, except where it is not possible.
CALLS = [
    (bounds.mean_1d, {"n": 1000.0, "epsilon": 0.5, "moment": 2.5, "radius": 1.5}),
    (bounds.mean_l2, {"n": 1000.0, "dim": 3.0, "epsilon": 0.5, "radius": 1.5}),
    (bounds.median, {"n": 1000.0, "epsilon": 0.5, "radius": 1.5}),
    (bounds.sparse_mean, {"n": 1000.0, "dim": 3.0, "epsilon": 0.5, "radius": 1.5}),
    (bounds.multinomial, {"n": 1000.0, "k": 3.0, "epsilon": 0.5}),
    (bounds.logistic, {"n": 1000.0, "dim": 3.0, "epsilon": 0.5, "radius": 1.5}),
    (bounds.density, {"n": 1000.0, "epsilon": 0.5, "smoothness": 2.0, "radius": 1.5}),
    (bounds.gaussian_mean, {"n": 1000000.0, "epsilon": 0.5, "sigma": 1.5, "beta": 0.125, "mu_bound": 8.0}),
    (bounds.central_mean, {"n": 1000.0, "dim": 3.0, "moment": 2.5, "radius": 1.5, "privacy": "pure", "epsilon": 0.5}),
    (
        bounds.central_mean,
        {
            "n": 1000.0,
            "dim": 3.0,
            "moment": 2.5,
            "radius": 1.5,
            "privacy": "approximate",
            "epsilon": 0.5,
            "delta": TINY,
        },
    ),
    (bounds.central_support, {"n": 1000.0, "epsilon": 0.125, "t": 0.5}),
    (bounds.central_density, {"n": 1000.0, "epsilon": 0.5, "dim": 2.0}),
    (bounds.central_range, {"n": 1000.0, "epsilon": 0.5, "low": 0.5, "high": 2.5}),
    (bounds.central_ges, {"n": 1000.0, "epsilon": 0.5, "delta": TINY, "ges": 1.5}),
    (bounds.methods.chi_square_contraction, {"epsilon": 0.5, "tv": 0.25}),
    (bounds.methods.hellinger_contraction, {"epsilon": 0.5, "tv": 0.25}),
    (bounds.methods.kl_contraction, {"epsilon": 0.5, "tv": 0.25}),
    (bounds.methods.tv_contraction, {"epsilon": 0.5, "tv": 0.25}),
    (bounds.methods.divergence_contraction, {"epsilon": 0.5, "divergence": 0.25}),
    (bounds.effective_sample_size, {"n": 100.0, "epsilon": 0.5}),
    (bounds.methods.mutual_information, {"epsilon": 0.5, "tv": [[0.0, 0.25], [0.25, 0.0]], "n": 4.0}),
    (bounds.methods.tensorized_kl, {"epsilon": 0.5, "tv": 0.25}),
    (bounds.methods.tensorized_tv, {"n": 4.0, "epsilon": 0.5, "tv": 0.25}),
    (bounds.methods.tv_of_releases, {"n": 4.0, "tv": 0.25, "epsilon": 0.5}),
    (bounds.methods.le_cam, {"p": [0.25, 0.75], "q": [0.5, 0.5], "n": 100.0, "epsilon": 0.5, "separation": 0.5}),
    (
        bounds.methods.fano,
        {"family": [[0.25, 0.75], [0.5, 0.5], [0.75, 0.25]], "n": 100.0, "epsilon": 0.5, "separation": 0.5},
    ),
    (bounds.methods.assouad, {"family": [[0.25, 0.75], [0.75, 0.25]], "n": 100.0, "epsilon": 0.5, "separation": 0.5}),
    (bounds.methods.packing, {"points": 10, "n": 20, "share": 0.5, "epsilon": 0.5}),
    (bounds.sample_size, {"target": bounds.mean_1d, "error": 0.125, "epsilon": 0.5, "moment": 2.5, "radius": 1.5}),
    (bounds.sample_size, {"target": ldp.Warner(1.0), "error": 0.125, "confidence": 0.875}),
    (bounds.epsilon_for, {"target": bounds.mean_1d, "error": 0.125, "n": 1000, "moment": 2.5, "radius": 1.5}),
    (bounds.compare, {"problem": "mean_1d", "n": 1000, "epsilon": 0.5, "moment": 2.5, "radius": 1.5}),
    (bounds.compare, {"problem": "multinomial", "n": 1000, "epsilon": 0.5, "k": 3}),
    (central.mean, {"x": X, "epsilon": 0.5, "moment": 2.5, "radius": 1.5, "rng": 1}),
    (central.mean, {"x": V, "epsilon": 0.5, "moment": 2.5, "radius": 1.5, "rng": 1}),
    (
        central.mean,
        {"x": X, "privacy": "approximate", "epsilon": 0.5, "delta": TINY, "moment": 2.5, "radius": 1.5, "rng": 1},
    ),
    (central.mean, {"x": X, "privacy": "smooth", "epsilon": 0.5, "moment": 2.5, "radius": 1.5, "rng": 1}),
    (central.mean, {"x": X, "privacy": "kl", "epsilon": 0.5, "moment": 2.5, "radius": 1.5, "rng": 1}),
    (central.mean, {"x": X, "privacy": "tv", "epsilon": 0.125, "moment": 2.5, "radius": 1.5, "method": 0.5, "rng": 1}),
    (central.quantile, {"x": X, "q": 0.25, "epsilon": 0.5, "lower": -0.5, "upper": 1.5, "rng": 1}),
    (
        central.quantile,
        {
            "x": X,
            "q": 0.25,
            "epsilon": 0.5,
            "lower": -0.5,
            "upper": 1.5,
            "method": "smooth-sensitivity",
            "delta": TINY,
            "rng": 1,
        },
    ),
    (central.median, {"x": X, "epsilon": 0.5, "lower": -0.5, "upper": 1.5, "rng": 1}),
    (
        central.trimmed_mean,
        {"x": X, "trim": 0.25, "epsilon": 0.5, "delta": TINY, "lower": -0.5, "upper": 1.5, "rng": 1},
    ),
    (central.m_estimate, {"x": X, "psi": "huber", "epsilon": 0.5, "lower": -0.5, "upper": 1.5, "rng": 1}),
    (
        central.m_estimate,
        {"x": X, "psi": "huber", "epsilon": 0.5, "lower": -0.5, "upper": 1.5, "rng": 1, "prior": "cauchy"},
    ),
    (
        central.m_estimate_sample_size,
        {
            "psi": "huber",
            "error": 0.125,
            "epsilon": 0.5,
            "slope": 0.5,
            "peak": 2.5,
            "lower": -0.5,
            "upper": 1.5,
            "confidence": 0.875,
        },
    ),
    (central.histogram_density, {"x": X, "epsilon": 0.5, "lipschitz": 1.5, "rng": 1}),
    (best_bins, {"n": 1000, "epsilon": 0.5, "dim": 1, "lipschitz": 1.5}),
    (central.calibrate, {"epsilon": 0.5, "delta": TINY, "scale": None}),
    (central.calibrate, {"epsilon": 0.5, "delta": TINY, "scale": 16.0}),
    (central.laplace_delta, {"epsilon": 0.5, "scale": 16.0, "beta": 2.0**-8}),
    (central.mean_error, {"n": 1000, "epsilon": 0.5, "deviation": 0.5, "sensitivity": 0.125, "confidence": 0.875}),
    (
        central.quantile_error,
        {"n": 1000, "epsilon": 0.5, "density": (0.5, 1.5), "lower": -0.5, "upper": 1.5, "confidence": 0.875},
    ),
    (
        central.smooth_sensitivity_error,
        {
            "n": 1000,
            "epsilon": 0.5,
            "delta": TINY,
            "sensitivity": 0.125,
            "lower": -0.5,
            "upper": 1.5,
            "confidence": 0.875,
        },
    ),
    (central.smooth_sensitivity_mean, {"x": X, "beta": 0.125, "lower": -0.5, "upper": 1.5}),
    (central.smooth_sensitivity_quantile, {"x": X, "q": 0.25, "beta": 0.125, "lower": -0.5, "upper": 1.5}),
    (central.smooth_sensitivity_trimmed_mean, {"x": X, "trim": 0.25, "beta": 0.125, "lower": -0.5, "upper": 1.5}),
    (central.influence, {"functional": "median", "distribution": NORM, "x": 0.5, "rho": 0.125}),
    (
        central.gross_error_sensitivity,
        {"functional": "trimmed-mean", "distribution": NORM, "rho": 0.125, "lower": -1.5, "upper": 2.5},
    ),
    (central.Custom, {"function": np.sin, "low": -1.5, "high": 1.5}),
    (central.Huber, {"c": 1.5}),
    (central.Logistic, {"scale": 1.5}),
    (central.Quantile, {"q": 0.25}),
    (central.TrimmedMean, {"trim": 0.25}),
    (privacy.composition_delta, {"epsilons": [0.5, 0.25], "epsilon": 0.5, "deltas": 0.0}),
    (privacy.composition_epsilon, {"epsilons": [0.5, 0.25], "delta": TINY}),
    (partial(privacy.convert, "concentrated", "approximate"), {"level": 0.125, "at": 0.5}),
    (partial(privacy.convert, "concentrated", "approximate", inverse=True), {"level": TINY, "at": 0.5}),
    (
        partial(privacy.convert, "approximate", "conditional-testing"),
        {"level": 0.5, "delta": TINY, "mass": 0.25},
    ),
    (partial(privacy.convert, "approximate", "approximate"), {"level": 0.5, "delta": TINY, "at": 0.25}),
    (partial(privacy.convert, "kl", "approximate"), {"level": 0.25, "at": 0.5}),
    (partial(privacy.convert, "tv", "approximate"), {"level": 0.25, "at": 0.5}),
    (privacy.disclosure_risk, {"epsilon": 0.5, "delta": TINY}),
    (partial(privacy.convert, "conditional-testing", "approximate"), {"level": 0.5, "mass": 0.25, "at": 2.0}),
    (partial(privacy.convert, "conditional-testing", "pure"), {"level": 0.5}),
    (partial(privacy.convert, "pure", "kl", inverse=True), {"level": 0.25}),
    (partial(privacy.convert, "approximate", "tv", inverse=True), {"level": 0.25, "delta": TINY}),
    (privacy.gaussian_delta, {"epsilon": 0.5, "sigma": 1.5, "sensitivity": 0.5}),
    (partial(privacy.convert, "gaussian", "kl"), {"level": 1.5, "sensitivity": 0.5}),
    (privacy.gaussian_sigma, {"epsilon": 0.5, "delta": TINY, "sensitivity": 0.5}),
    (partial(privacy.convert, "gaussian", "tv"), {"level": 1.5, "sensitivity": 0.5}),
    (partial(privacy.convert, "kl", "tv", inverse=True), {"level": 0.25}),
    (partial(privacy.convert, "pure", "kl"), {"level": 0.5}),
    (least_error, {"epsilon": 0.5, "delta": TINY}),
    (misses, {"false_alarms": 0.25, "epsilon": 0.5, "delta": TINY}),
    (privacy.shuffled, {"mechanism_or_epsilon": 0.5, "n": 100000, "delta": TINY}),
    (privacy.shuffled_delta, {"mechanism_or_epsilon": 0.5, "n": 100000, "epsilon": 0.25}),
    (partial(privacy.convert, "approximate", "tv"), {"level": 0.5, "delta": TINY}),
    (partial(privacy.convert, "kl", "tv"), {"level": 0.25}),
    (privacy.Guarantee, {"definition": "approximate", "epsilon": 0.5, "delta": 0.125}),
    (privacy.Channel, {"matrix": [[0.25, 0.75], [0.75, 0.25]]}),
    (estimation.truncated_mean, {"x": X, "epsilon": 0.5, "moment": 2.5, "radius": 1.5, "rng": 1}),
    (estimation.median, {"x": X, "epsilon": 0.5, "lower": -0.5, "upper": 1.5, "rng": 1}),
    (estimation.quantile, {"x": X, "q": 0.25, "epsilon": 0.5, "lower": -0.5, "upper": 1.5, "rng": 1}),
    (estimation.sparse_mean, {"x": V, "epsilon": 0.5, "radius": 1.5, "penalty": 0.125, "rng": 1}),
    (
        estimation.series_density,
        {"x": X, "epsilon": 0.5, "smoothness": 2.5, "radius": 1.5, "lower": -0.5, "upper": 1.5, "rng": 1},
    ),
    (estimation.histogram_density, {"x": X, "epsilon": 0.5, "bins": 4, "lower": -0.5, "upper": 1.5, "rng": 1}),
    (estimation.frequencies, {"x": np.arange(400) % 3, "k": 3, "epsilon": 0.5, "rng": 1}),
    *((card.question, card.arguments) for card in QUESTION_CARDS.values() if card.arguments),
]


def is_float(value: Any) -> bool:
    return isinstance(value, float) or (isinstance(value, list | tuple) and any(map(is_float, value)))


def converted(value: Any, kind: Callable[[Any], Any], of: type = float) -> Any:
    """Return a number, or the numbers of a sequence or mapping, in another type, where this type has them exactly."""
    if type(value) is of:
        try:
            with np.errstate(over="ignore"):
                other = kind(value)
        except OverflowError:
            return value
        return other if of(other) == value else value
    if isinstance(value, dict):
        return {name: converted(entry, kind, of) for name, entry in value.items()}
    return type(value)(converted(entry, kind, of) for entry in value) if type(value) in (list, tuple) else value


def shown(result: Any) -> str:
    """Return a result as text with all digits."""
    return repr(result) + (repr(result.to_dict()) if hasattr(result, "to_dict") else "")


@pytest.mark.long
@each("kind", FLOATS)
@each("call, arguments", CALLS, ids=lambda value: getattr(value, "__qualname__", ""))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_functions_return_the_same_for_every_type_of_number(call, arguments, kind):
    expected = shown(call(**arguments))
    for name, value in arguments.items():
        if is_float(value):
            assert shown(call(**{**arguments, name: converted(value, FLOATS[kind])})) == expected


DESCRIBED = [
    *(thing for thing in instances() if isinstance(thing, Described) and hasattr(thing, "epsilon")),
    Survey(
        {"a": YesNo(), "b": Mean(0.5, 2.5), "c": Histogram([0.5, 1.5, 2.5]), "d": Cross("a", "b")},
        1.5,
        weights={"a": 3.0, "b": 0.0, "d": 2.0**9},
    ),
]


def assert_same_thing(found: Described, expected: Described) -> None:
    """Check that two things are equal, print the same, and save the same; states and pickles of one restore the other."""
    compares = type(expected).__eq__ is not object.__eq__  # protocols are equal to themselves only
    if compares:
        assert found == expected
        assert hash(found) == hash(expected)
        assert repr(found) == repr(expected)
    assert json.dumps(found.to_dict()) == json.dumps(expected.to_dict())
    assert schemas.canonical_json(found.schema()) == schemas.canonical_json(expected.schema())
    for restored in (type(found).from_dict(json.loads(json.dumps(found.to_dict()))), pickle.loads(pickle.dumps(found))):
        assert restored.to_dict() == expected.to_dict()
    if hasattr(found, "aggregator"):
        state = found.aggregator().to_bytes()
        assert state == expected.aggregator().to_bytes()
        assert Aggregator.from_bytes(state) == expected.aggregator()
    if isinstance(found, Survey) and not isinstance(found, SurveyRound):
        assert found.to_toml() == expected.to_toml()
        assert Survey.from_toml(found.to_toml()) == expected


@each("kind", [*FLOATS, *INTEGERS])
@each("thing", DESCRIBED, ids=lambda thing: type(thing).__name__)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_is_asked_is_the_same_for_every_type_of_number(thing, kind):
    parameters, of = thing._parameters(), float if kind in FLOATS else int
    for name, value in parameters.items():
        other = converted(value, {**FLOATS, **INTEGERS}[kind], of)
        if name != "k":  # labels can be of any type
            assert_same_thing(type(thing)(**{**parameters, name: other}), thing)


@each("epsilon", [Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), np.float32("inf"), Fraction(10**400)])
def test_numbers_that_are_not_finite_are_refused(epsilon):
    with pytest.raises(ValueError, match="epsilon must be a finite number, got "):
        ldp.Warner(epsilon)
    with pytest.raises(ValueError, match="level must be"):
        privacy.convert("pure", "tv", epsilon)


@each(
    "epsilon",
    [
        *(True, np.True_, np.array(True), "1", np.str_("1"), np.array("1"), b"1", bytearray(b"1"), memoryview(b"1")),
        *(None, 1j, np.complex64(1), np.datetime64(1, "ns"), np.timedelta64(1, "ns"), np.void(b"1"), np.array([1.0])),
        *([1.0], {}),
    ],
)
def test_what_is_no_number_is_refused(epsilon):
    with pytest.raises(TypeError, match="epsilon must be a number, got "):
        ldp.Warner(epsilon)
