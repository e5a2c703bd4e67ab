"""The command ``plan``."""

from __future__ import annotations

import json

import pytest

from ldpfast import bounds
from ldpfast.bounds import _registered_problem
from ldpfast.cli import main

from ..support.command_line import error_line
from ..support.extras import remove_extras
from ..support.problems import ARGUMENTS

ALL_ARGUMENTS = {**ARGUMENTS, "central_range": {"low": 0, "high": 1}}


def plan(capsys, *arguments: object) -> str:
    """A function that returns the output of the command."""
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
    assert found["least_n"] is None  # the lower bound is for the mean error


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
    with_error = plan(capsys, "density", "--smoothness", 2, "--error", 0.01, "--epsilon", 1)
    assert "are enough for an integrated squared error of 0.01 on average" in with_error
    assert "no procedure reaches it" in with_error


def test_every_problem_is_registered():
    assert set(_registered_problem.PROBLEMS) == set(ALL_ARGUMENTS)
    for name, problem in _registered_problem.PROBLEMS.items():
        assert problem.bound is getattr(bounds, name)


@pytest.mark.parametrize("problem", ALL_ARGUMENTS)
def test_every_problem_can_be_planned(capsys, problem):
    fixed = ALL_ARGUMENTS[problem]
    arguments = [part for name, value in fixed.items() for part in ("--" + name.replace("_", "-"), value)]
    found = json.loads(plan(capsys, problem, *arguments, "--n", 5000, "--epsilon", 0.5, "--json"))
    assert found["problem"] == problem
    assert ("mechanisms" in found) == (problem not in ("central_ges", "central_range", "central_support"))
    if problem.startswith("central"):
        assert "without privacy" in plan(capsys, problem, *arguments, "--n", 5000, "--epsilon", 0.5)


@pytest.mark.long
def test_plan_draws_a_figure(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    for name, arguments in {
        "a": ["mean_1d", "--moment", "inf", "--n", 1000, "--epsilon", 1],
        "b": ["central_mean", "--dim", 2, "--moment", 3, "--privacy", "tv", "--n", 1000, "--epsilon", 0.1],
        "c": ["central_range", "--low", 0, "--high", 1, "--n", 10, "--epsilon", 0.1],
    }.items():
        path = tmp_path / f"{name}.png"
        plan(capsys, *arguments, "--figure", path, "--json")
        assert path.read_bytes().startswith(b"\x89PNG")


def test_an_infinite_moment_is_a_string_in_json(capsys):
    found = json.loads(plan(capsys, "mean_1d", "--moment", "inf", "--n", 9, "--epsilon", 1, "--json"))
    assert found["arguments"] == {"moment": "inf"}


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
        (["mode"], "PROBLEM must be one of"),
        (["mean_l2", "--dim", "x"], "argument --dim: must be a whole number, such as 20000 or 1e6, got 'x'"),
        (["median", "--radius", 1, "--error", 1e-9, "--epsilon", 1e-5], "error must be reachable with at most"),
        (["mean_1d", "--moment", 1, "--n", 9, "--epsilon", 1], "Corollary 1, needs a moment > 1, got moment=1"),
    ],
)
def test_invalid_arguments(capsys, arguments, message):
    assert message in error_line(capsys, "plan", *arguments)


def test_a_figure_needs_an_existing_directory_and_matplotlib(capsys, tmp_path, monkeypatch):
    study = ["plan", "median", "--radius", 1, "--n", 9, "--epsilon", 1]
    message = error_line(capsys, *study, "--figure", tmp_path / "absent" / "a.png")
    assert message.startswith("--figure must be in an existing directory, got ")
    remove_extras(monkeypatch)
    assert (
        error_line(capsys, *study, "--figure", tmp_path / "a.png")
        == "matplotlib is not installed: run pip install matplotlib"
    )
