"""Records with special values, of every dtype and layout: a result without a warning of NumPy, or an error about `x`.

The tests turn warnings into errors. With `clip=True`, numbers of every value must give a result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import estimation
from ldpfast.estimation import (
    CountMeanSketch,
    GaussianMean,
    GradientDescent,
    HeavyHitters,
    HistogramDensity,
    MedianSGD,
    Problem,
    SeriesDensity,
    SparseMean,
    TruncatedMean,
    VectorMean,
)

from ..cards import KINDS
from ..support.cases import each
from ..support.one_shot import PROBLEMS

pytestmark = [
    pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning"),
    pytest.mark.filterwarnings("ignore::ldpfast.ClippedWarning"),
]

# Intervals at the limits of the parameters, and of single precision.
INTERVALS = {
    "wide": (-1e100, 1e100),
    "far": (1e99, 1e100),
    "narrow": (0.0, 1e-100),
    "subnormal32": (0.0, 1e-44),
    "largest32": (-3e38, 3e38),
    "near": (1.0, 1.0 + 1e-9),
}
ON_INTERVALS: dict[str, Callable[[float, float], object]] = {
    "series": lambda lower, upper: SeriesDensity(1.0, n_terms=5, lower=lower, upper=upper),
    "histogram": lambda lower, upper: HistogramDensity(1.0, bins=5, lower=lower, upper=upper),
    "histogram laplace": lambda lower, upper: HistogramDensity(1.0, bins=5, lower=lower, upper=upper, noise="laplace"),
    "box": lambda lower, upper: VectorMean(2, 1.0, norm="linf", lower=lower, upper=upper),
    "SignBit": lambda lower, upper: ldp.SignBit(lower, upper, 1.0),
    "Laplace": lambda lower, upper: ldp.Laplace(lower, upper, 1.0),
    "Bins": lambda lower, upper: ldp.Bins([lower, upper], 1.0),
}
WITH_RADIUS: dict[str, Callable[[float], object]] = {
    "l2": lambda radius: VectorMean(3, 1.0, norm="l2", radius=radius),
    "linf": lambda radius: VectorMean(3, 1.0, norm="linf", radius=radius),
    "sparse": lambda radius: SparseMean(20, 1.0, radius=radius),
    "truncated": lambda radius: TruncatedMean(1.0, moment=2, radius=radius, n=900),
    "truncated sign-bit": lambda radius: TruncatedMean(
        1.0, moment=2, radius=radius, n=900, method="optimal", noise="sign-bit"
    ),
}
QUESTIONS = {
    **{name: problem for name, (problem, _) in PROBLEMS.items()},
    **{f"{name} {ends}": make(*INTERVALS[ends]) for name, make in ON_INTERVALS.items() for ends in INTERVALS},
    **{f"{name} {radius:g}": make(radius) for name, make in WITH_RADIUS.items() for radius in (1e-18, 1e18)},
    **{str(kind): kind.mechanism for kind in KINDS if not kind.mechanism.domain.reads_columns},
}

FLOATS = ("float16", "float32", "float64", ">f8")
INTEGERS = ("int8", "uint8", ">i2", "uint16", "int32", "uint32", "int64", "uint64")
VALUES = {
    "1e308": [1e308, -1e308],
    "largest": [np.finfo(np.float64).max, -np.finfo(np.float64).max],
    "largest32": [3.4028234e38, -3.4028234e38],
    "subnormal": [5e-324, -1e-310],
    "subnormal32": [1e-45, -1e-39],
    "zeros": [-0.0, 0.0],
    "inf": [np.inf, -np.inf],
    "nan": [np.nan, -np.nan],
    "mixed": [0.25, np.nan, -np.inf, 5e-324, -0.0, 1e308],
}
SIGNALING = {2: (np.uint16, 0x7C01), 4: (np.uint32, 0x7F800001), 8: (np.uint64, 0x7FF0000000000001)}


def cast(values: object, dtype: str) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.asarray(values, np.float64).astype(dtype)


def signaling(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Return signaling NaN, of which arithmetic and conversions warn."""
    word, bits = SIGNALING[np.dtype(dtype).itemsize]
    return np.full(shape, bits, np.dtype(word).newbyteorder(np.dtype(dtype).byteorder)).view(dtype)


def arrays(shape: tuple[int, ...], dtype: str) -> Iterator[tuple[str, np.ndarray]]:
    """Yield arrays with special values or layouts, with their names."""
    kind = np.dtype(dtype).kind
    if kind == "f":
        for name, values in VALUES.items():
            yield name, cast(np.resize(values, shape), dtype)
        yield "signaling", signaling(shape, dtype)
        one = cast(np.resize([0.25], shape), dtype)
        one[-1:] = signaling(one[-1:].shape, dtype)
        yield "one signaling", one
        small = cast(np.resize([0.25, 0.5], shape), dtype)
        far = cast(np.resize([0.25, 1e308], shape), dtype)
    else:
        ends = np.iinfo(dtype)
        yield "ends", np.resize(np.array([ends.min, ends.max], dtype), shape)
        small = np.resize(np.array([0, 1], dtype), shape)
        far = np.resize(np.array([0, ends.max], dtype), shape)
    yield "small", small
    yield "empty", small[:0]
    frozen = small.copy()
    frozen.flags.writeable = False
    yield "read-only", frozen
    for name, x in (("small", small), ("far", far)):
        wide = np.repeat(x, 2, axis=-1)
        yield f"{name} strided", wide[..., ::2]
        yield f"{name} reversed", x[::-1]
        yield f"{name} Fortran", np.asfortranarray(x)
        yield f"{name} unaligned", np.frombuffer(b"\0" + x.tobytes(), x.dtype, offset=1).reshape(shape)


def assert_consistent(estimate: ldp.Estimate) -> None:
    low, high = estimate.interval()
    assert np.isfinite(estimate.value).all()
    assert (np.asarray(estimate.stderr) >= 0).all()
    assert not np.isnan(low).any()
    assert (np.asarray(low) <= np.asarray(high)).all()
    assert estimate.to_dict()["n"] == estimate.n


def test_every_problem_about_numbers_is_in_the_table():
    public = {getattr(estimation, name) for name in estimation.__all__} - {Problem, CountMeanSketch, HeavyHitters}
    problems = {one for one in public if isinstance(one, type) and issubclass(one, Problem)}
    assert problems == {type(question) for question in QUESTIONS.values() if isinstance(question, Problem)}


def message(call: Callable[[], object], what: str) -> str:
    """Return the message of a TypeError or ValueError of a call, or "" if there is none. Anything else is a failure."""
    try:
        call()
    except (TypeError, ValueError) as error:
        return str(error)
    except Exception as error:
        raise AssertionError(f"{what}: {error!r}") from error
    return ""


@pytest.mark.long
@each("clip", [False, True], ids=["", "clip"])
@each("dtype", [*FLOATS, *INTEGERS])
@each("name", QUESTIONS)
def test_a_call_gives_a_result_without_a_warning_or_an_error_about_x(name, dtype, clip):
    question = QUESTIONS[name]
    dim, numbers = question.domain.width, question.domain.clips
    for what, x in arrays((6,) if dim is None else (6, dim), dtype):
        for call in (
            lambda: assert_consistent(question.run(x, clip=clip, rng=1)),  # noqa: B023
            lambda: assert_consistent(question.estimate(question.privatize(x, clip=clip, rng=1))),  # noqa: B023
            lambda: question.privatize(x[0] if len(x) else x, clip=clip),  # noqa: B023
        ):
            found = message(call, what)
            assert found.startswith(("x must ", "clip must ", "an estimate needs at least 1 report")) or not found, what
            assert not (found and clip and numbers and len(x)), f"{what}: {found}"


@each("dtype", [*FLOATS, *INTEGERS])
@each("kind", KINDS, ids=str)
def test_variances_have_no_warning_or_an_error_about_x(kind, dtype):
    dim = kind.mechanism.domain.width
    for what, x in arrays((6,) if dim is None else (6, dim), dtype):
        found = message(lambda: kind.mechanism.variance(x), what)  # noqa: B023
        assert found.startswith("x must ") or not found, what


@each("upper, inside", [(1e100, 0.0), (3e38, 1.0), (1e-44, 0.0)])
@each("make", [ON_INTERVALS["SignBit"], ON_INTERVALS["series"], ON_INTERVALS["box"]])
def test_interval_beyond_single_precision_holds_its_finite_numbers_only(make, upper, inside):
    question = make(-upper, upper)
    shape = (1,) if question.domain.width is None else (1, question.domain.width)
    question.privatize(np.full(shape, inside, np.float32))
    for bad, state in ((np.inf, "outside"), (-np.inf, "outside"), (np.nan, "NaN")):
        with pytest.raises(ValueError, match=rf"^x must be .*; index 0 is {state} \(1 of 1 are\)"):
            question.privatize(np.full(shape, bad, np.float32))


@pytest.mark.parametrize("lower, upper", [(1.0, 1.0 + 1e-9), (0.0, 1e-100), (-1e-42, 1e-42), (1e6, 1e6 + 0.125)])
def test_a_box_has_the_same_mean_in_single_and_double_precision(lower, upper):
    """The lower end of a narrow box far from zero, or of one that single precision cannot resolve."""
    box = VectorMean(1, 8.0, norm="linf", lower=lower, upper=upper)
    half = (upper - lower) / 2
    for dtype in (np.float32, np.float64):
        found = box.run(np.full((2000, 1), lower, dtype), rng=1)
        assert abs(found.value[0] - lower) < 0.1 * half


PROTOCOLS: dict[str, Callable[[np.ndarray], object]] = {
    "MedianSGD": lambda x: MedianSGD(1.0, lower=0.0, upper=1.0).run(x, rng=1),
    "MedianSGD spacing": lambda x: MedianSGD(1.0, lower=0.0, upper=1.0, spacing=0.5).run(x, rng=1),
    "GaussianMean": lambda x: GaussianMean(1.0, sigma=1.0, mu_bound=5.0, n=600).run(x, rng=1),
    "GradientDescent logistic": lambda x: GradientDescent("logistic", 1, 1.0).run(x[:, None], x, rng=1),
    "GradientDescent linear": lambda x: GradientDescent("linear", 1, 1.0, residual=1.0).run(x[:, None], x, rng=1),
    "GradientDescent poisson": lambda x: GradientDescent("poisson", 1, 1.0, residual=1.0).run(x[:, None], x, rng=1),
}


@pytest.mark.filterwarnings("ignore::ldpfast.DoubtfulWarning")
@each("dtype", [*FLOATS, *INTEGERS])
@each("name", PROTOCOLS)
def test_a_protocol_gives_a_result_without_a_warning_or_an_error_about_x(name, dtype):
    for what, x in arrays((600,), dtype):
        found = message(lambda: finite(PROTOCOLS[name](x)), what)  # noqa: B023
        assert found.startswith(("x must ", "x and y must ", "an estimate needs at least 1 ")) or not found, what


def finite(estimate: ldp.Estimate) -> None:
    assert np.isfinite(estimate.value).all()
