"""Comparison of the mechanisms for a problem."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import bounds, central, estimation

from ..support.cases import each
from ..support.modules import module_of
from ..support.problems import LOCAL_ARGUMENTS

inside = module_of(bounds.compare)


@pytest.mark.claim("No mechanism has a smaller error than the lower bound of its problem.", "Estimates")
@pytest.mark.long
@each("problem", LOCAL_ARGUMENTS)
@each("epsilon", [0.3, 1.0, 6.0])
def test_no_mechanism_is_below_the_lower_bound(problem, epsilon):
    n = 200_000
    table = bounds.compare(problem, n, epsilon, **LOCAL_ARGUMENTS[problem])
    errors = [row.error for row in table.rows]
    assert errors == sorted(errors)
    assert table.best is table.rows[0]
    for row in table.rows:
        assert 0 < row.efficiency <= 1
        assert row.efficiency == pytest.approx(table.bound.lower / row.error)
        assert row.bits >= 1
        assert row.mechanism in str(table)
    assert table.to_dict()["rows"][0] == vars(table.best)
    json.dumps(table.to_dict())
    proved = [row.error for row in table.rows if row.kind not in ("limit", "ideal") and "Rank" not in row.mechanism]
    if (
        proved
    ):  # the upper bound is that of the best of them, apart from coins and rounding, or of an answer without data
        assert table.bound.upper <= min(proved) * (1 + 1e-3)


def test_errors_are_those_of_the_mechanisms():
    n, a = 50_000, 1.0
    rows = {row.mechanism: row for row in bounds.compare("multinomial", n, a, k=5).rows}
    for name, method in (("RandomizedResponse", "k-ary"), ("UnaryEncoding(optimized)", "optimized")):
        mechanism = estimation.Frequencies(5, a, mechanism=method).mechanism
        exact = mechanism.variance(np.arange(5)).sum(axis=1).mean() + 1 - 1 / 5
        assert rows[name].error == pytest.approx(exact / n, rel=1e-9)
    assert rows["RandomizedResponse"].bits == 3
    assert rows["UnaryEncoding(optimized)"].bits == 5
    rows = {row.mechanism: row for row in bounds.compare("mean_1d", n, a, moment=math.inf, radius=2.0).rows}
    assert rows["SignBit"].error == pytest.approx(float(ldp.SignBit(-2, 2, a).variance(0.0)) / n)
    assert rows["SignBit"].bits == 1
    (row,) = bounds.compare("density", n, a, smoothness=2).rows
    series = estimation.SeriesDensity(a, n=n, smoothness=2.0)
    assert row.error == pytest.approx(series.terms * series.mechanism.scale**2 / n + (series.terms + 1.0) ** -4)
    rows = {row.mechanism: row for row in bounds.compare("mean_1d", n, a, moment=3).rows}
    plan = estimation.TruncatedMean(a, moment=3, radius=1.0, n=n, method="paper", noise="laplace").mean_squared_error()
    assert rows["TruncatedMean(method='paper', noise='laplace')"].error == plan.total


def test_mechanisms_without_coins_for_the_epsilon_are_left_out():
    assert len(bounds.compare("multinomial", 1000, 1.0, k=4).rows) == 7
    with pytest.raises(ValueError, match="epsilon"):
        bounds.compare("mean_l2", 1000, 200.0, dim=3)
    names = [row.mechanism for row in bounds.compare("gaussian_mean", 10_000, 1.0, sigma=1.0).rows]
    assert names == ["GaussianMean(robust)"]  # too few people for the published search


# Mechanisms of the caller ---------------------------------------------------------------------------------------------

OWN = [
    ("mean_1d", {"moment": math.inf, "radius": 2.0}, ldp.SignBit(-2, 2, 1.0), "SignBit"),
    ("mean_1d", {"moment": math.inf, "radius": 2.0}, ldp.Laplace(-2, 2, 1.0), "Laplace"),
    ("mean_l2", {"dim": 3, "radius": 2.0}, ldp.L2Ball(3, 1.0, radius=2.0), "L2Ball"),
    ("multinomial", {"k": 4}, ldp.RandomizedResponse(4, 1.0), "RandomizedResponse"),
    ("mean_1d", {"moment": math.inf, "radius": 2.0}, ldp.Window(-2, 2, 1.0, outputs=256), "Window"),
    (
        "mean_l2",
        {"dim": 3, "radius": 2.0},
        ldp.RankCodebook(3, 1.0, radius=2.0, vectors=64),
        "RankCodebook(vectors=64)",
    ),
    ("mean_l2", {"dim": 20_000, "radius": 2.0}, ldp.RankedSigns(20_000, 1.0, radius=2.0), "RankedSigns(signs=256)"),
    ("multinomial", {"k": 4}, ldp.SubsetSelection(4, 1.0), "SubsetSelection"),
    ("multinomial", {"k": 4}, ldp.HadamardResponse(4, 1.0), "HadamardResponse"),
    ("multinomial", {"k": 4}, ldp.ProjectiveGeometryResponse(4, 1.0), "ProjectiveGeometryResponse"),
    ("multinomial", {"k": 4}, ldp.UnaryEncoding(4, 1.0), "UnaryEncoding(symmetric)"),
    ("multinomial", {"k": 4}, ldp.UnaryEncoding(4, 1.0, method="optimized"), "UnaryEncoding(optimized)"),
    ("multinomial", {"k": 4}, ldp.mechanisms.LaplaceOneHot(4, 1.0), "LaplaceOneHot"),
]


@each("problem, fixed, mechanism, name", OWN, ids=[f"{row[0]}-{row[3]}" for row in OWN])
def test_a_mechanism_of_the_caller_has_the_error_of_the_same_mechanism_of_the_library(problem, fixed, mechanism, name):
    plain = bounds.compare(problem, 5000, 1.0, **fixed)
    table = bounds.compare(problem, 5000, 1.0, mechanisms=[mechanism], **fixed)
    rows = {row.mechanism: row for row in table.rows}
    assert len(table.rows) == len(plain.rows) + 1
    own, same = rows[repr(mechanism)], rows[name]
    assert own.error == pytest.approx(same.error, rel=1e-12)
    assert (own.kind, own.bits) == ("exact", same.bits)
    assert own.efficiency == pytest.approx(plain.bound.lower / own.error)
    assert [row.error for row in table.rows] == sorted(row.error for row in table.rows)


def test_mechanisms_of_the_caller_keep_their_epsilon():
    table = bounds.compare("multinomial", 5000, 1.0, k=4, mechanisms=[ldp.RandomizedResponse(4, 2.0)])
    assert table.best.mechanism == "RandomizedResponse(k=4, epsilon=2.0)"
    rows = {row.mechanism: row for row in bounds.compare("multinomial", 5000, 2.0, k=4).rows}
    assert table.best.error == rows["RandomizedResponse"].error
    assert table.bound.lower == bounds.multinomial(5000, 4, 1.0).lower


@each("privacy, epsilon, delta", [("pure", 0.5, 0.0), ("approximate", 0.5, 1e-6), ("kl", 0.1, 0.0)])
@each("moment", [2.0, math.inf])
def test_rows_of_the_central_mean_have_the_risk_of_the_release(privacy, epsilon, delta, moment):
    n, dim, radius = 500, 3, 2.0
    options = {"privacy": privacy, "epsilon": epsilon, "delta": delta, "moment": moment, "radius": radius}
    found = bounds.compare("central_mean", n, dim=dim, **options)
    names = {row.mechanism: row for row in found.rows}
    noises = ("grid", "l2") if privacy == "pure" else ("grid",)
    methods = ("optimal",) if math.isinf(moment) else ("optimal", "paper")
    assert set(names) == {f"central.mean(noise={noise!r}, method={method!r})" for noise in noises for method in methods}
    for noise in noises:
        for method in methods:
            row = names[f"central.mean(noise={noise!r}, method={method!r})"]
            release = central.mean(np.zeros((n, dim)), noise=noise, method=method, **options)
            assert row.error == release.risk
            assert (row.kind, row.bits) == ("bound", 0)
            assert 0 < row.efficiency <= 1


def test_the_row_of_the_central_density_has_the_risk_of_the_release():
    (row,) = bounds.compare("central_density", 400, 0.7, dim=2).rows
    release = central.histogram_density(np.full((400, 2), 0.5), epsilon=0.7)
    assert row.error == pytest.approx(release.risk, rel=1e-12)
    assert 0 < row.efficiency <= 1


@each("problem", ["median", "sparse_mean", "logistic", "density", "gaussian_mean"])
def test_problems_that_no_single_mechanism_solves_accept_no_mechanisms(problem):
    with pytest.raises(
        ValueError, match=rf"^mechanisms must be left out for '{problem}', which no single mechanism solves$"
    ):
        bounds.compare(problem, 1000, 1.0, mechanisms=[ldp.SignBit(-1, 1, 1.0)], **LOCAL_ARGUMENTS[problem])


def test_a_mean_with_a_finite_moment_accepts_no_mechanisms():
    with pytest.raises(ValueError, match=r"^moment must be infinite to compare a mechanism for bounded numbers$"):
        bounds.compare("mean_1d", 1000, 1.0, moment=3, mechanisms=[ldp.SignBit(-1, 1, 1.0)])


# Curves and bad input -------------------------------------------------------------------------------------------------


def test_curves_hold_the_errors_of_the_tables():
    """The error is NaN if a mechanism rejects the epsilon."""
    n, epsilon = np.array([1000.0, 2000.0, 3000.0]), np.array([0.5, 1.0, 200.0])
    found = inside.curves("multinomial", n, epsilon, k=4)
    for at in (0, 1):
        for row in bounds.compare("multinomial", int(n[at]), float(epsilon[at]), k=4).rows:
            assert found[row.mechanism][at] == row.error
    assert all(math.isnan(errors[2]) for errors in found.values())


@pytest.mark.parametrize(
    "call, error, message",
    [
        (
            lambda: bounds.compare("mode", 10, 1),
            ValueError,
            "^problem must be one of '.*'mean_1d'.*'median'.*, got 'mode'$",
        ),
        (
            lambda: bounds.compare("central_range", 10, 1),
            ValueError,
            "^problem must be one of .*, got 'central_range'$",
        ),
        (
            lambda: bounds.compare("median", 10, [1, 2], radius=1),
            ValueError,
            "^arguments must be numbers, got an array of shape",
        ),
        (lambda: bounds.compare("median", 10.5, 1, radius=1), TypeError, "^n must be an integer, got float$"),
    ],
)
def test_bad_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()


@each(
    "problem, arguments, mechanism",
    [
        ("multinomial", {"k": 4}, ldp.SignBit(0, 1, 2.0)),
        ("multinomial", {"k": 4}, ldp.RandomizedResponse(5, 1.0)),
        ("mean_1d", {"moment": math.inf}, ldp.SignBit(0, 10, 1.0)),
        ("mean_1d", {"moment": math.inf}, ldp.RandomizedResponse(3, 1.0)),
        ("mean_l2", {"dim": 3}, ldp.L2Ball(4, 1.0)),
        ("mean_l2", {"dim": 3}, ldp.L2Ball(3, 1.0, radius=2.0)),
    ],
)
def test_a_mechanism_for_other_records_is_an_error(problem, arguments, mechanism):
    with pytest.raises(ValueError, match=r"mechanisms must be for .*, got "):
        bounds.compare(problem, 1000, 1.0, mechanisms=[mechanism], **arguments)


def test_what_is_no_mechanism_is_an_error():
    with pytest.raises(TypeError, match="mechanisms must be Mechanism objects, got str"):
        bounds.compare("multinomial", 1000, 1.0, k=2, mechanisms=["Warner"])
