"""The cases of `ldpfast.bench` in NumPy.

ldpfast and NumPy read the same array and write reports of the same format to allocated memory. The same check is applied to
both answers. The NumPy code is vectorized, processes chunks that fit in cache, uses single precision where this is accurate
enough, and draws from SFC64, NumPy's fastest generator, which is not cryptographic.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ldpfast import _coins
from ldpfast.bench._case import EPSILON, Case, Rival, Task
from ldpfast.bench._cases import beyond, central, survey
from ldpfast.bench._cases.estimation import FEW_NORMAL
from ldpfast.mechanisms import L2Ball

from . import numpy_beyond, numpy_central, numpy_descent, numpy_mechanisms
from .numpy_gaussian import numpy_gaussian
from .numpy_survey import numpy_survey

UNSAFE = "NumPy: unsafe noise in double precision"
FEW_OF_MEDIAN, FEW_OF_LOGISTIC = 1 << 16, 1 << 14  # people, of whom NumPy processes one after another


def numpy_case(name: str, case: Case) -> Rival:
    """Return the case with a name in NumPy."""
    return RIVALS[name](case)


def on_records(build: Callable[..., Task], case: Case) -> Rival:
    """Return a call that computes an answer from the records."""
    return Rival(build(case.mechanism, case.x), case.units)


def into_reports(build: Callable[..., Task], case: Case, note: str = "") -> Rival:
    """Return a call that privatizes the records into an array of reports."""
    report = case.mechanism.report
    out = np.zeros((len(case.x), *report.shape), report.dtype(case.x.dtype))
    return Rival(build(case.mechanism, case.x, out), case.units, note)


def count(case: Case) -> Rival:
    return Rival(numpy_mechanisms.numpy_count(case.x), case.units)


def response(case: Case) -> Rival:
    coin = _coins.response(case.mechanism.k, EPSILON)
    return Rival(numpy_mechanisms.numpy_response(coin, case.x, np.zeros_like(case.x)), case.units)


def residue(case: Case) -> Rival:
    coin, out = _coins.response(case.mechanism.modulus, EPSILON), np.zeros(len(case.x), np.uint8)
    return Rival(numpy_mechanisms.numpy_residue(case.mechanism, coin, case.x, out), case.units)


def codebook(case: Case) -> Rival:
    call = numpy_beyond.numpy_codebook(case.mechanism, case.x, np.zeros_like(case.x))
    return Rival(call, case.units, "NumPy: writes the direction, not a seed")


def decode_hadamard(case: Case) -> Rival:
    return Rival(partial(beyond.walsh_in_numpy, case.x), case.units)


def median(case: Case) -> Rival:
    few = min(len(case.x), FEW_OF_MEDIAN)
    call = numpy_descent.numpy_median(case.mechanism, case.x[:few])
    return Rival(call, few, f"NumPy column: plain Python, because steps are sequential, for {few:,} people")


def logistic(case: Case) -> Rival:
    model, few = case.mechanism, min(len(case.x), FEW_OF_LOGISTIC)
    assert case.y is not None
    call = numpy_descent.numpy_logistic(model, L2Ball(model.dim, EPSILON), case.x[:few], case.y[:few])
    return Rival(call, few, f"NumPy column: a loop over {few:,} people, because steps are sequential")


def gaussian(case: Case, note: str = "") -> Rival:
    few = min(len(case.x), FEW_NORMAL)
    return Rival(numpy_gaussian(case.mechanism, case.x[:few]), few, note)


def survey_12(case: Case) -> Rival:
    call = numpy_survey(case.mechanism, survey.table(case.units))
    return Rival(call, case.units, "NumPy: one question at a time, 64-bit numbers for coins")


def central_mean(case: Case) -> Rival:
    return Rival(numpy_central.numpy_mean(case.x, central.MEAN_RADIUS), case.units, UNSAFE)


def central_mean_rows(case: Case) -> Rival:
    return Rival(numpy_central.numpy_mean_rows(case.x, central.ROWS_RADIUS), case.units, UNSAFE)


def central_median(case: Case) -> Rival:
    return Rival(numpy_central.numpy_median(case.x, *central.MEDIAN_RANGE), case.units, UNSAFE)


def central_smooth(case: Case) -> Rival:
    return Rival(partial(central.smooth_in_numpy, case.x), case.units)


def central_gaussian(case: Case) -> Rival:
    return Rival(numpy_central.numpy_gaussian_integers(central.SIGMA, case.units), case.units, UNSAFE)


RIVALS: dict[str, Callable[[Case], Rival]] = {
    "l2-100": partial(into_reports, numpy_mechanisms.numpy_l2),
    "l2-1000": partial(into_reports, numpy_mechanisms.numpy_l2),
    "linf-128": partial(into_reports, numpy_mechanisms.numpy_linf),
    "linf-1024": partial(into_reports, numpy_mechanisms.numpy_linf),
    "unary-128": partial(into_reports, numpy_mechanisms.numpy_unary),
    "count-128": count,
    "tally-128": count,
    "count-1024": count,
    "tally-1024": count,
    "response-128": response,
    "laplace": partial(into_reports, numpy_mechanisms.numpy_laplace, note=UNSAFE),
    "run-linf-128": partial(on_records, numpy_mechanisms.numpy_run_linf),
    "residue-4": residue,
    "sign-bit": partial(into_reports, numpy_mechanisms.numpy_sign_bit, note="NumPy: coins with 32 bits"),
    "hadamard-1024": partial(into_reports, numpy_beyond.numpy_hadamard),
    "subset-128": partial(into_reports, numpy_beyond.numpy_subset),
    "window": partial(into_reports, numpy_beyond.numpy_window),
    "cube-1000": partial(into_reports, numpy_beyond.numpy_cube),
    "codebook-100": codebook,
    "rotated-1000000": partial(on_records, numpy_beyond.numpy_rotated),
    "decode-hadamard": decode_hadamard,
    "median": median,
    "median-any-time": median,
    "logistic-float32": logistic,
    "logistic-float64": logistic,
    "frequencies-1024": partial(on_records, numpy_mechanisms.numpy_frequencies),
    "series-32": partial(on_records, numpy_mechanisms.numpy_series),
    "gaussian": gaussian,
    "gaussian-simulated": partial(gaussian, note="counts are simulated; NumPy processes records"),
    "survey-12": survey_12,
    "central-mean": central_mean,
    "central-mean-100": central_mean_rows,
    "central-median": central_median,
    "central-smooth": central_smooth,
    "central-gaussian": central_gaussian,
}
