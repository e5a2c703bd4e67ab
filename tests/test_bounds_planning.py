"""Planning: numbers of people and epsilons that are just enough, tables of mechanisms, and the command `plan`."""

from __future__ import annotations

import json
import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpfast as ldp
from ldpfast import _extras, bounds, estimation
from ldpfast.bounds import _planning
from ldpfast.cli import main

from .test_cli import failure

TARGETS = {
    "mean_1d": {"moment": 2.5},
    "median": {"radius": 2.0},
    "mean_l2": {"dim": 12},
    "sparse_mean": {"dim": 30},
    "multinomial": {"k": 6},
    "logistic": {"dim": 2},
    "density": {"smoothness": 1.5},
    "gaussian_mean": {"sigma": 1.0, "mu_bound": 5.0},
    "central_mean": {"dim": 3, "moment": 3, "privacy": "pure"},
    "central_support": {"t": 2.0},
    "central_density": {"dim": 2},
    "central_ges": {"delta": 0.0, "ges": 1.0},
}
LOCAL = [name for name in TARGETS if not name.startswith("central")]

# Enough and not more --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("problem", TARGETS)
@pytest.mark.parametrize("side", ["upper", "lower"])
@pytest.mark.parametrize("share", [0.9, 0.1, 0.01])
def test_the_number_of_people_is_just_enough(problem, side, share):
    function, fixed = getattr(bounds, problem), {**TARGETS[problem], "epsilon": 0.8}
    error = share * getattr(function(n=1, **fixed), side)
    n = bounds.sample_size(function, error, side=side, **fixed)
    assert isinstance(n, int)
    assert getattr(function(n=n, **fixed), side) <= error
    if n > 1:
        assert getattr(function(n=n - 1, **fixed), side) > error


@given(st.sampled_from(sorted(TARGETS)), st.floats(0.002, 1.0), st.floats(0.05, 1.0))
def test_round_trips_of_people_and_epsilon(problem, share, epsilon):
    """The epsilon that n people need for what they reach with epsilon is not larger, and reaches it."""
    function, fixed = getattr(bounds, problem), TARGETS[problem]
    error = share * function(n=1, epsilon=0.05, **fixed).upper
    try:
        n = bounds.sample_size(function, error, epsilon=epsilon, **fixed)
    except ValueError as refusal:
        assert "error must be reachable" in str(refusal)  # noqa: PT017
        return
    found = bounds.epsilon_for(function, error, n=n, **fixed)
    assert found <= epsilon * (1 + 1e-8)
    assert function(n=n, epsilon=found, **fixed).upper <= error
    if found > 1e-8:
        assert function(n=n, epsilon=found * (1 - 1e-6), **fixed).upper > error


def test_confidence():
    """Markov's inequality; the tail of a half-width; a normal interval."""
    one = bounds.sample_size(bounds.mean_l2, 0.01, confidence=0.9, dim=4, epsilon=1.0)
    assert one == bounds.sample_size(bounds.mean_l2, 0.001, dim=4, epsilon=1.0)
    width = bounds.sample_size(bounds.gaussian_mean, 0.1, confidence=0.8, epsilon=1.0, sigma=1.0)
    assert width == bounds.sample_size(bounds.gaussian_mean, 0.1, beta=0.2, epsilon=1.0, sigma=1.0)
    bit = ldp.SignBit(-1, 1, 1.0)
    plain, interval = bounds.sample_size(bit, 0.01), bounds.sample_size(bit, 0.01, confidence=0.95)
    assert plain == math.ceil(float(bit.variance(0.0)) / 0.01**2)
    assert interval / plain == pytest.approx(1.959964**2, rel=1e-3)


MECHANISMS = [
    (ldp.Warner(0.7), np.array([0, 1])),
    (ldp.RandomizedResponse(5, 0.7), np.arange(5)),
    (ldp.UnaryEncoding(5, 0.7, "optimized"), np.arange(5)),
    (ldp.Bins((0.0, 1.0), 0.7), np.array([-1.0, 0.5, 2.0])),
    (ldp.Residue(1.0, 0.0, 4, 0.7), np.arange(4.0)),
    (ldp.SignBit(-1, 3, 0.7), np.array([-1.0, 3.0])),
    (ldp.Laplace(-1, 3, 0.7), np.array([-1.0, 3.0])),
    (ldp.LinfBall(3, 0.7, 2.0), np.array([[-2.0] * 3, [2.0] * 3])),
    (ldp.L2Ball(3, 0.7, 2.0), np.array([[-2.0, 0, 0], [2.0, 0, 0]])),
    (ldp.LaplaceVector(3, 0.7, 2.0), np.array([[-2.0, 0, 0], [2.0, 0, 0]])),
    (ldp.mechanisms.LaplaceOneHot(3, 0.7), np.arange(3)),
]


@pytest.mark.parametrize("mechanism, records", MECHANISMS, ids=lambda value: type(value).__name__)
def test_the_worst_population_of_a_mechanism(mechanism, records):
    """Of populations that mix two extremes: the variance of decoded reports, by the law of total variance, is at most the one
    used, and that of some population is within 2 %."""
    kinds = np.eye(len(records)) if records.ndim == 1 and records.dtype.kind == "i" and len(records) > 2 else None
    told, best = _planning.worst_variance(mechanism), 0.0
    symbols = isinstance(mechanism, ldp.Bins | ldp.Residue)
    variances = np.asarray(mechanism.variance(records)).reshape(len(records), -1)
    means = (
        np.eye(variances.shape[1]) if kinds is not None or symbols else records.reshape(len(records), -1).astype(float)
    )
    for share in np.linspace(0, 1, 101):
        for a in range(len(records)):
            for b in range(len(records)):
                within = share * variances[a] + (1 - share) * variances[b]
                between = share * (1 - share) * (means[a] - means[b]) ** 2
                total = (within + between).max()
                assert total <= told * (1 + 1e-9)
                best = max(best, total)
    assert best > 0.98 * told
    n = bounds.sample_size(mechanism, 0.05)
    assert math.sqrt(told / n) <= 0.05 < math.sqrt(told / (n - 1))
    epsilon = bounds.epsilon_for(mechanism, 0.05, n=2 * n)
    assert epsilon < mechanism.epsilon
    same = bounds.epsilon_for(mechanism, 0.05, n=n)
    assert same == pytest.approx(mechanism.epsilon, rel=0.01)


# Tables ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("problem", LOCAL)
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 6.0])
def test_no_mechanism_is_better_than_possible(problem, epsilon):
    n = 200_000
    table = bounds.compare(problem, n, epsilon, **TARGETS[problem])
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
    proved = [row.error for row in table.rows if row.kind != "limit"]
    if proved:  # the upper bound is that of the best of them, up to coins and whole numbers, or an answer without data
        assert table.bound.upper <= min(proved) * (1 + 1e-3)


def test_errors_of_the_table_are_those_of_the_library():
    n, a = 50_000, 1.0
    rows = {row.mechanism: row for row in bounds.compare("multinomial", n, a, k=5).rows}
    for name, method in (("RandomizedResponse", "k-ary"), ("UnaryEncoding(optimized)", "optimized")):
        mechanism = estimation.Frequencies(5, a, method).mechanism
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
    plan = estimation.TruncatedMean(a, 3, 1.0, n, "paper", "laplace").mean_squared_error()
    assert rows["TruncatedMean(rule='paper', noise='laplace')"].error == plan.total


def test_mechanisms_without_coins_are_left_out():
    assert len(bounds.compare("multinomial", 1000, 1.0, k=4).rows) == 4
    with pytest.raises(ValueError, match="epsilon"):
        bounds.compare("mean_l2", 1000, 200.0, dim=3)
    names = [row.mechanism for row in bounds.compare("gaussian_mean", 10_000, 1.0, sigma=1.0).rows]
    assert names == ["GaussianMean(robust)"]  # too few people for the published search


@pytest.mark.parametrize(
    "call, error, message",
    [
        (
            lambda: bounds.sample_size(bounds.median, 0, epsilon=1, radius=1),
            ValueError,
            "^error must be a finite number > 0",
        ),
        (
            lambda: bounds.sample_size(3, 0.1),
            TypeError,
            "^target must be a function of bounds or a mechanism, got int$",
        ),
        (
            lambda: bounds.sample_size(bounds.median, 0.1, confidence=1, epsilon=1, radius=1),
            ValueError,
            "^confidence must be",
        ),
        (lambda: bounds.sample_size(bounds.median, 0.1, epsilon=1), TypeError, "radius"),
        (
            lambda: bounds.sample_size(bounds.median, 1e-12, epsilon=1e-6, radius=1),
            ValueError,
            "^error must be reachable with",
        ),
        (
            lambda: bounds.sample_size(bounds.median, 0.1, epsilon=[[1], [2]], radius=1),
            ValueError,
            "^the arguments beside n",
        ),
        (
            lambda: bounds.sample_size(bounds.median, 0.1, side="best", epsilon=1, radius=1),
            ValueError,
            "^side must be one of",
        ),
        (
            lambda: bounds.sample_size(ldp.Warner(1), 0.1, radius=1),
            TypeError,
            "takes no further arguments, got 'radius'$",
        ),
        (
            lambda: bounds.epsilon_for(bounds.median, 0.1, n=10, radius=1),
            ValueError,
            "^error must be reachable with epsilon <= 44",
        ),
        (lambda: bounds.epsilon_for(bounds.median, 0.1, n=0, radius=1), ValueError, "^n must be an integer"),
        (lambda: bounds.compare("mode", 10, 1), ValueError, "^problem must be one of 'mean_1d', 'median'"),
        (
            lambda: bounds.compare("median", 10, [1, 2], radius=1),
            ValueError,
            "^the arguments must be numbers, not arrays$",
        ),
        (lambda: bounds.compare("median", 10.5, 1, radius=1), TypeError, "^n must be an integer, got float$"),
    ],
)
def test_bad_plans(call, error, message):
    with pytest.raises(error, match=message):
        call()


# The command ----------------------------------------------------------------------------------------------------------


def plan(capsys, *arguments: object) -> str:
    assert main(["plan", *map(str, arguments)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_plan_finds_the_number_of_people(capsys):
    found = json.loads(plan(capsys, "mean_l2", "--dim", 10, "--error", 0.01, "--epsilon", 1, "--json"))
    assert found["n"] == bounds.sample_size(bounds.mean_l2, 0.01, dim=10, epsilon=1.0)
    assert found["least_n"] == bounds.sample_size(bounds.mean_l2, 0.01, side="lower", dim=10, epsilon=1.0)
    assert found["bound"] == bounds.mean_l2(found["n"], 10, 1.0).to_dict()
    assert found["mechanisms"] == bounds.compare("mean_l2", found["n"], 1.0, dim=10).to_dict()["rows"]
    assert found["effective_sample_size"] == bounds.effective_sample_size(found["n"], 1.0)
    assert found["arguments"] == {"dim": 10}


def test_plan_finds_epsilon(capsys):
    found = json.loads(plan(capsys, "median", "--radius", 2, "--error", 0.1, "--n", 10_000, "--json"))
    assert found["epsilon"] == bounds.epsilon_for(bounds.median, 0.1, n=10_000, radius=2.0)
    assert found["confidence"] is None


def test_plan_with_confidence(capsys):
    arguments = ["gaussian_mean", "--sigma", 2, "--error", 0.5, "--confidence", 0.9, "--epsilon", 2, "--json"]
    found = json.loads(plan(capsys, *arguments))
    assert found["n"] == bounds.sample_size(bounds.gaussian_mean, 0.5, epsilon=2.0, sigma=2.0, beta=1 - 0.9)
    assert found["arguments"]["beta"] == pytest.approx(0.1)
    found = json.loads(
        plan(capsys, "multinomial", "--k", 4, "--error", 0.1, "--confidence", 0.9, "--epsilon", 2, "--json")
    )
    assert found["least_n"] is None  # the lower bound is one of the mean error


def test_plan_prints_a_table(capsys):
    text = plan(capsys, "multinomial", "--k", 5, "--n", 10_000, "--epsilon", 1)
    for part in (
        "multinomial: k = 5",
        "n = 10,000, epsilon = 1",
        "squared error: at least",
        "RandomizedResponse",
        "efficiency",
    ):
        assert part in text
    assert max(map(len, text.splitlines())) <= 100
    asked = plan(capsys, "density", "--smoothness", 2, "--error", 0.01, "--epsilon", 1)
    assert "are enough for an integrated squared error of 0.01 on average" in asked
    assert "no procedure reaches it" in asked


@pytest.mark.parametrize("problem", _planning.PROBLEMS)
def test_every_problem_can_be_planned(capsys, tmp_path, problem):
    fixed = {**TARGETS, "central_range": {"low": 0, "high": 1}}[problem]
    arguments = [part for name, value in fixed.items() for part in ("--" + name.replace("_", "-"), value)]
    found = json.loads(plan(capsys, problem, *arguments, "--n", 5000, "--epsilon", 0.5, "--json"))
    assert found["problem"] == problem
    assert ("mechanisms" in found) == (not problem.startswith("central"))
    if problem.startswith("central"):
        assert "without privacy" in plan(capsys, problem, *arguments, "--n", 5000, "--epsilon", 0.5)


def test_plan_draws(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    for name, arguments in {
        "a": ["mean_1d", "--moment", "inf", "--n", 1000, "--epsilon", 1],
        "b": ["central_mean", "--dim", 2, "--moment", 3, "--privacy", "tv", "--n", 1000, "--epsilon", 0.1],
        "c": ["central_range", "--low", 0, "--high", 1, "--n", 10, "--epsilon", 0.1],
    }.items():
        path = tmp_path / f"{name}.png"
        plan(capsys, *arguments, "--figure", path, "--json")
        assert path.read_bytes().startswith(b"\x89PNG")
    assert json.loads(plan(capsys, "mean_1d", "--moment", "inf", "--n", 9, "--epsilon", 1, "--json"))["arguments"] == {
        "moment": "inf"
    }


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["median", "--radius", 1], "exactly two of --n, --epsilon and --error must be given"),
        (
            ["median", "--radius", 1, "--n", 9, "--epsilon", 1, "--error", 1],
            "exactly two of --n, --epsilon and --error must be",
        ),
        (["median", "--n", 9, "--epsilon", 1], "--radius must be given for median"),
        (["gaussian_mean", "--n", 9, "--epsilon", 1, "--sigma", 1, "--k", 3], "--k must be left out for gaussian_mean"),
        (["median", "--radius", 1, "--n", 9, "--epsilon", -1], "Corollary 2, needs epsilon > 0, got epsilon=-1"),
        (
            ["median", "--radius", 1, "--n", 9, "--epsilon", 1, "--confidence", 0.9],
            "--confidence must be left out without",
        ),
        (["mode"], "invalid choice: 'mode'"),
        (["mean_l2", "--dim", "x"], "argument --dim: invalid int value: 'x'"),
        (["median", "--radius", 1, "--error", 1e-9, "--epsilon", 1e-5], "error must be reachable with at most"),
        (["mean_1d", "--moment", 1, "--n", 9, "--epsilon", 1], "Corollary 1, needs a moment > 1, got moment=1"),
    ],
)
def test_bad_plans_on_the_command_line(capsys, arguments, message):
    assert message in failure(capsys, "plan", *arguments)


def test_a_picture_needs_its_directory_and_its_extra(capsys, tmp_path, monkeypatch):
    study = ["plan", "median", "--radius", 1, "--n", 9, "--epsilon", 1]
    message = failure(capsys, *study, "--figure", tmp_path / "absent" / "a.png")
    assert message.startswith("--figure must be in an existing directory, got ")

    def absent(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name.split(".")[0])

    monkeypatch.setattr(_extras, "import_module", absent)
    assert (
        failure(capsys, *study, "--figure", tmp_path / "a.png")
        == 'matplotlib is not installed: pip install "ldpfast[plot]"'
    )


def test_planning_is_without_scipy_and_compiled_code_where_it_can_be():
    """Bounds of two points need neither."""
    import subprocess

    code = "import sys, ldpfast; ldpfast.bounds.mean_1d(100, 1.0, 2); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "ldpfast.bounds" in loaded
    assert [
        name for name in loaded if name.startswith(("scipy", "matplotlib", "ldpfast._core", "ldpfast.mechanisms"))
    ] == []
