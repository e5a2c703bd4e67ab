"""The command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import cli, experiments
from ldpfast.cli import main
from ldpfast.files import estimate_column

from .support.command_line import error_line
from .support.extras import remove_extras

pytest.importorskip("rich")
NUMERIC = ["--epsilon", "1", "--lower", "0", "--upper", "10"]


@pytest.fixture
def survey(tmp_path) -> Path:
    pytest.importorskip("pyarrow")
    path = tmp_path / "survey.csv"
    rows = (f"{i % 11},{('yes', 'no', 'a, b')[i % 3]!r}\n".replace("'", '"') for i in range(3000))
    path.write_text("visits,answer\n" + "".join(rows))
    return path


@pytest.fixture
def array(tmp_path) -> Path:
    path = tmp_path / "array.npy"
    np.save(path, np.arange(3000) % 11)
    return path


# The command estimate -------------------------------------------------------------------------------------------------


def test_json_equals_the_estimate_from_python(capsys, survey):
    assert main(["estimate", str(survey), "--column", "visits", *NUMERIC, "--json", "--seed", "5"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert err == ""
    expected = estimate_column(survey, "visits", ldp.SignBit(0, 10, 1), rng=np.random.default_rng(5))
    assert found == {
        **expected.to_dict(),
        "file": str(survey),
        "column": "visits",
        "mechanism": "SignBit(lower=0.0, upper=10.0, epsilon=1.0)",
    }


def test_a_smaller_confidence_gives_a_narrower_interval(capsys, array):
    main(["estimate", str(array), *NUMERIC, "--json", "--seed", "5", "--confidence", "0.5"])
    narrow = json.loads(capsys.readouterr().out)
    main(["estimate", str(array), *NUMERIC, "--json", "--seed", "5"])
    wide = json.loads(capsys.readouterr().out)
    assert narrow["confidence"] == 0.5
    assert wide["interval"][0] < narrow["interval"][0] < narrow["interval"][1] < wide["interval"][1]


def test_categories_are_estimated_by_label(capsys, survey):
    arguments = ["estimate", str(survey), "--column", "answer", "--epsilon", "4", "--categories", 'yes,no,"a, b"']
    main([*arguments, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["categories"] == ["yes", "no", "a, b"]
    assert found["mechanism"] == "RandomizedResponse(k=3, epsilon=4.0)"
    for value, (low, high) in zip(found["value"], zip(*found["interval"], strict=True), strict=True):
        assert low < value < high
        assert abs(value - 1 / 3) < 0.1
    main(arguments)
    out = capsys.readouterr().out
    assert all(word in out for word in ("yes", "no", "a, b", "95 % interval", "n = 3,000"))


def test_the_table_names_file_and_mechanism(capsys, array):
    assert main(["estimate", str(array), "--epsilon", "4", "--lower=-1e1", "--upper", "10", "--clip"]) == 0
    out, err = capsys.readouterr()
    assert "mean of array.npy" in out
    assert "Laplace(lower=-10.0, upper=10.0, epsilon=4.0)" in out
    assert err == ""


def test_progress_is_shown_on_a_terminal_but_not_with_json(capsys, array, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    main(["estimate", str(array), *NUMERIC])
    assert "array.npy" in capsys.readouterr().err
    main(["estimate", str(array), *NUMERIC, "--json"])
    assert capsys.readouterr().err == ""


def test_runs_differ_without_a_seed_and_agree_with_one(capsys, array):
    def run(*more: str) -> str:
        main(["estimate", str(array), *NUMERIC, "--json", *more])
        return capsys.readouterr().out

    assert len({run() for _ in range(4)}) > 1
    assert run("--seed", "3") == run("--seed", "3")


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--epsilon", "1"], "either --lower and --upper, or --categories must be given"),
        (["--epsilon", "1", "--lower", "0"], "either --lower and --upper, or --categories must be given"),
        ([*NUMERIC, "--categories", "a,b"], "--lower and --upper must be left out where --categories is given"),
        (["--epsilon", "1", "--categories", "a"], "--categories must be at least 2 different labels"),
        (["--epsilon", "1", "--categories", "a,a"], "--categories must be at least 2 different labels"),
        (["--epsilon", "1", "--categories", "a,,b"], "--categories must be at least 2 different labels"),
        (["--epsilon", "1", "--categories", ""], "--categories must be at least 2 different labels"),
        (["--epsilon", "1", "--categories", "a,b", "--clip"], "clip must be False for categories"),
        (["--epsilon", "-1", "--lower", "0", "--upper", "1"], "epsilon must be a finite number > 0, got -1.0"),
        (["--epsilon", "x", "--lower", "0", "--upper", "1"], "argument --epsilon: invalid float value: 'x'"),
        (["--epsilon", "1", "--lower", "1", "--upper", "0"], "lower and upper must be finite with lower < upper"),
        (["--lower", "0", "--upper", "1"], "the following arguments are required: --epsilon"),
        ([*NUMERIC, "--confidence", "1"], "confidence must be in (0, 1), got 1.0"),
        ([*NUMERIC, "--column", "x"], "column must be left out for an array of shape (3000,), got 'x'"),
        ([*NUMERIC, "--seed", "-1"], "--seed must be an integer >= 0, got -1"),
        (["--epsilon", "1", "--lower", "0", "--upper", "9"], "; index 10 of "),
    ],
)
def test_invalid_arguments_of_estimate(capsys, array, arguments, message):
    assert message in error_line(capsys, "estimate", array, *arguments)


def test_files_that_cannot_be_estimated(capsys, tmp_path, survey):
    assert "No such file or directory" in error_line(capsys, "estimate", tmp_path / "absent.npy", *NUMERIC)
    assert "must end in one of" in error_line(capsys, "estimate", tmp_path / "absent.txt", *NUMERIC)
    assert "not found" in error_line(capsys, "estimate", survey, "--column", "x", *NUMERIC)
    message = error_line(capsys, "estimate", survey, "--column", "answer", *NUMERIC)
    assert message == f"column 'answer' must hold numbers; line 2 of {survey} holds text"


def test_the_help_says_that_errors_are_outside_the_guarantee(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["estimate", "--help"])
    assert caught.value.code == 0
    assert "outside the guarantee" in " ".join(capsys.readouterr().out.split())


# All commands ---------------------------------------------------------------------------------------------------------


def test_missing_and_unknown_commands_and_version(capsys):
    assert "required: COMMAND" in error_line(capsys)
    assert "invalid choice: 'guess'" in error_line(capsys, "guess")
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"ldpfast {ldp.__version__}\n"


def test_bench_passes_its_arguments(monkeypatch):
    called = []
    monkeypatch.setitem(sys.modules, "ldpfast.bench", SimpleNamespace(report=lambda *a: called.append(a) or 3))
    assert main(["bench", "--seconds", "2", "--json", "out.json"]) == 3
    assert called == [(2.0, "out.json", False)]


def test_demo_passes_its_arguments(monkeypatch, tmp_path, capsys):
    called = []
    monkeypatch.setattr(experiments, "demo", lambda *a: called.append(a))
    assert main(["demo"]) == 0
    assert main(["demo", "--seed", "4", "--output", str(tmp_path / "a.png")]) == 0
    assert called[0][:2] == (Path("ldpfast-demo.png"), None)
    assert called[1][0] == tmp_path / "a.png"
    assert isinstance(called[1][1], np.random.Generator)
    message = error_line(capsys, "demo", "--output", tmp_path / "absent" / "a.png")
    assert message.startswith("--output must be in an existing directory, got ")


def test_a_missing_extra_is_named_in_the_message(capsys, monkeypatch, array):
    remove_extras(monkeypatch)
    assert error_line(capsys, "demo") == "rich is not installed: install statsmodels, matplotlib and rich"
    assert error_line(capsys, "estimate", array, *NUMERIC) == "rich is not installed: install pyarrow and rich"
    assert main(["estimate", str(array), *NUMERIC, "--json"]) == 0


def test_the_package_runs_as_a_module(array):
    command = [sys.executable, "-m", "ldpfast", "estimate", str(array), *NUMERIC]
    good = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    assert json.loads(good.stdout)["n"] == 3000
    assert good.stderr == ""
    bad = subprocess.run([*command, "--column", "x"], capture_output=True, text=True, check=False)
    assert bad.returncode == 2
    assert bad.stderr.startswith("ldpfast: error: column must be left out")
    assert "Traceback" not in bad.stderr


def test_the_table_shows_two_digits_of_the_standard_error(capsys):
    for scale, shown in ((1e-3, "0.0012"), (1.0, "1.2"), (1e3, "1234")):
        estimate = ldp.Estimate(0.0, 1.234 * scale, 10, ldp.Warner(1.0).guarantee)
        cli._print(estimate, ["x"], (-1.0, 1.0), 0.95, ldp.Warner(1.0))
        assert f" {shown} " in capsys.readouterr().out


def test_an_interrupt_prints_one_line(capsys, monkeypatch, array):
    def interrupted(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "estimate_column", interrupted)
    with pytest.raises(SystemExit) as stop:
        main(["estimate", str(array), *NUMERIC, "--json"])
    assert stop.value.code == 130
    assert capsys.readouterr().err == "ldpfast: interrupted\n"
