"""The command line, in this process and once as a module."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import _extras, cli, experiments
from ldpfast.cli import main
from ldpfast.files import estimate_column

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


def failure(capsys, *arguments: object) -> str:
    """The one line of a refusal, after checking status, form and silence on stdout."""
    with pytest.raises(SystemExit) as caught:
        main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    assert caught.value.code == 2
    assert out == ""
    assert err.startswith("ldpfast: error: ")
    assert err.count("\n") == 1
    return err.removeprefix("ldpfast: error: ").rstrip()


# estimate -------------------------------------------------------------------------------------------------------------


def test_estimate_json(capsys, survey):
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


def test_estimate_confidence(capsys, array):
    main(["estimate", str(array), *NUMERIC, "--json", "--seed", "5", "--confidence", "0.5"])
    narrow = json.loads(capsys.readouterr().out)
    main(["estimate", str(array), *NUMERIC, "--json", "--seed", "5"])
    wide = json.loads(capsys.readouterr().out)
    assert narrow["confidence"] == 0.5
    assert wide["interval"][0] < narrow["interval"][0] < narrow["interval"][1] < wide["interval"][1]


def test_estimate_categories(capsys, survey):
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


def test_estimate_table(capsys, array):
    assert main(["estimate", str(array), "--epsilon", "4", "--lower=-1e1", "--upper", "10", "--clip"]) == 0
    out, err = capsys.readouterr()
    assert "mean of array.npy" in out
    assert "Laplace(lower=-10.0, upper=10.0, epsilon=4.0)" in out
    assert err == ""


def test_the_bar_is_for_terminals_and_not_for_machines(capsys, array, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    main(["estimate", str(array), *NUMERIC])
    assert "array.npy" in capsys.readouterr().err
    main(["estimate", str(array), *NUMERIC, "--json"])
    assert capsys.readouterr().err == ""


def test_two_runs_differ_without_a_seed(capsys, array):
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
def test_bad_estimates(capsys, array, arguments, message):
    assert message in failure(capsys, "estimate", array, *arguments)


def test_bad_files(capsys, tmp_path, survey):
    assert "No such file or directory" in failure(capsys, "estimate", tmp_path / "absent.npy", *NUMERIC)
    assert "must end in one of" in failure(capsys, "estimate", tmp_path / "absent.txt", *NUMERIC)
    assert "it is not there" in failure(capsys, "estimate", survey, "--column", "x", *NUMERIC)
    message = failure(capsys, "estimate", survey, "--column", "answer", *NUMERIC)
    assert message == f"column 'answer' must hold numbers; line 2 of {survey} holds text"


def test_the_help_says_what_a_refusal_tells(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["estimate", "--help"])
    assert caught.value.code == 0
    assert "outside the guarantee" in " ".join(capsys.readouterr().out.split())


# The rest -------------------------------------------------------------------------------------------------------------


def test_commands(capsys):
    assert "required: COMMAND" in failure(capsys)
    assert "invalid choice: 'guess'" in failure(capsys, "guess")
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"ldpfast {ldp.__version__}\n"


def test_bench_is_called(monkeypatch):
    called = []
    monkeypatch.setitem(sys.modules, "ldpfast.bench", SimpleNamespace(report=lambda *a: called.append(a) or 3))
    assert main(["bench", "--seconds", "2", "--json", "out.json"]) == 3
    assert called == [(2.0, "out.json", False)]


def test_demo_is_called(monkeypatch, tmp_path, capsys):
    called = []
    monkeypatch.setattr(experiments, "demo", lambda *a: called.append(a))
    assert main(["demo"]) == 0
    assert main(["demo", "--seed", "4", "--output", str(tmp_path / "a.png")]) == 0
    assert called[0][:2] == (Path("ldpfast-demo.png"), None)
    assert called[1][0] == tmp_path / "a.png"
    assert isinstance(called[1][1], np.random.Generator)
    message = failure(capsys, "demo", "--output", tmp_path / "absent" / "a.png")
    assert message.startswith("--output must be in an existing directory, got ")


def test_an_absent_extra_is_named(capsys, monkeypatch, array):
    def absent(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name.split(".")[0])

    monkeypatch.setattr(_extras, "import_module", absent)
    assert failure(capsys, "demo") == 'rich is not installed: pip install "ldpfast[demo]"'
    assert failure(capsys, "estimate", array, *NUMERIC) == 'rich is not installed: pip install "ldpfast[files]"'
    assert main(["estimate", str(array), *NUMERIC, "--json"]) == 0


def test_as_a_module(array):
    command = [sys.executable, "-m", "ldpfast", "estimate", str(array), *NUMERIC]
    good = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    assert json.loads(good.stdout)["n"] == 3000
    assert good.stderr == ""
    bad = subprocess.run([*command, "--column", "x"], capture_output=True, text=True, check=False)
    assert bad.returncode == 2
    assert bad.stderr.startswith("ldpfast: error: column must be left out")
    assert "Traceback" not in bad.stderr


def test_decimals(capsys):
    """Two digits of the standard error, whatever its size."""
    for scale, shown in ((1e-3, "0.0012"), (1.0, "1.2"), (1e3, "1234")):
        estimate = ldp.Estimate(0.0, 1.234 * scale, 10, ldp.Warner(1.0).guarantee)
        cli._print(estimate, ["x"], (-1.0, 1.0), 0.95, ldp.Warner(1.0))
        assert f" {shown} " in capsys.readouterr().out


def test_an_interrupt_is_one_line(capsys, monkeypatch, array):
    def interrupted(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "estimate_column", interrupted)
    with pytest.raises(SystemExit) as stop:
        main(["estimate", str(array), *NUMERIC, "--json"])
    assert stop.value.code == 130
    assert capsys.readouterr().err == "ldpfast: interrupted\n"
