"""The commands demo and reproduce: where they find the experiments; arguments and list of reproduce."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from experiments import studies as package
from ldpfast.cli import _checkout, main

from ...support.command_line import error_line
from ...support.extras import remove_extras
from ...support.process import run_python

pytest.importorskip("rich")
ROOT = Path(__file__).parents[3]
PROJECT = '[project]\nname = "ldpfast"\n'


@pytest.fixture
def installed(monkeypatch, tmp_path) -> Path:
    """The current directory, which is empty, in a process that has not imported the experiments and has no checkout."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "experiments"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(_checkout, "SOURCE", tmp_path / "site-packages")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_a_checkout_the_error_names_the_repository(capsys, installed):
    repository = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Repository"]
    for arguments in (
        ["demo"],
        ["demo", "--output", "a.png"],
        ["reproduce"],
        ["reproduce", "price"],
        ["reproduce", "--list"],
    ):
        assert error_line(capsys, *arguments) == (
            f"{arguments[0]} must be run in a checkout, which has the experiments: run git clone {repository} && cd ldpfast && "
            f"ldpfast {arguments[0]}; got the directory {str(installed)!r}"
        )
    assert "experiments" not in sys.modules
    with pytest.raises(SystemExit):
        main(["reproduce", "--help"])
    assert repository in capsys.readouterr().out


@pytest.mark.parametrize(
    "project",
    [
        None,
        '[project]\nname = "other"\n',
        "[project]\n",
        "project = 3\n",
        "not TOML",
        '[tool]\nname = "ldpfast"\n',
        b"\xff",
    ],
)
def test_experiments_of_another_project_are_not_imported(capsys, installed, project):
    (installed / "experiments").mkdir()
    (installed / "experiments" / "__init__.py").write_text("raise AssertionError('imported')\n")
    if project is not None:
        (installed / "pyproject.toml").write_bytes(project if isinstance(project, bytes) else project.encode())
    assert error_line(capsys, "reproduce").startswith("reproduce must be run in a checkout, ")


def test_a_checkout_without_experiments_is_reported(capsys, installed):
    (installed / "pyproject.toml").write_text(PROJECT)
    assert error_line(capsys, "reproduce").startswith("reproduce must be run in a checkout, ")


@pytest.mark.parametrize("place", ["cwd", "SOURCE"])
def test_the_studies_of_a_checkout_are_imported_without_a_change_of_the_path(monkeypatch, installed, place):
    """The package itself comes from where it was imported before."""
    checkout = installed / "checkout"
    checkout.mkdir()
    (checkout / "pyproject.toml").write_text(PROJECT)
    (checkout / "experiments").symlink_to(ROOT / "experiments")
    (checkout / "ldpfast").mkdir()
    (checkout / "ldpfast" / "__init__.py").write_text("raise AssertionError('imported')\n")
    path = list(sys.path)
    if place == "cwd":
        monkeypatch.chdir(checkout)
    else:
        monkeypatch.setattr(_checkout, "SOURCE", checkout)
    found = _checkout.load("experiments.studies")
    assert found is not None
    assert Path(found.__file__) == checkout / "experiments" / "studies" / "__init__.py"
    assert found.EXPERIMENTS == package.EXPERIMENTS
    assert _checkout.load("experiments.studies") is found
    assert sys.path == path


@pytest.mark.parametrize("directory", ["checkout", "elsewhere"])
@pytest.mark.long
def test_the_command_runs_in_a_checkout_and_not_elsewhere(tmp_path, directory):
    """In a fresh process, as `make figures` runs it."""
    code = f"""
import os, pathlib
from ldpfast.cli import _checkout, main
_checkout.SOURCE = pathlib.Path({str(tmp_path)!r})
os.chdir({str(ROOT if directory == "checkout" else tmp_path)!r})
raise SystemExit(main(["reproduce", "price", "--list"]))
"""
    result = run_python(code, PYTHONSAFEPATH="1", COLUMNS="120")
    if directory == "checkout":
        assert result.returncode == 0, result.stderr
        assert "price" in result.stdout
    else:
        assert result.returncode == 2
        assert result.stderr.startswith("ldpfast: error: reproduce must be run in a checkout, ")


@pytest.mark.long
def test_the_studies_run_as_a_module(tmp_path):
    """The package that is imported already is used in any directory."""
    code = f"""
import os, runpy, sys
sys.path.append({str(ROOT)!r})
sys.argv = ["experiments.studies", "price", "--list"]
os.chdir({str(tmp_path)!r})
runpy.run_module("experiments.studies", run_name="__main__")
"""
    result = run_python(code, PYTHONSAFEPATH="1", COLUMNS="120")
    assert result.returncode == 0, result.stderr
    assert "price" in result.stdout


def test_other_commands_import_no_experiments_or_benchmarks():
    code = f"""
import os, sys
from ldpfast.cli import main
os.chdir({str(ROOT)!r})
main(["plan", "multinomial", "--k", "4", "--n", "1000", "--epsilon", "1"])
import ldpfast.bench
assert [name for name in sys.modules if name.partition(".")[0] in ("experiments", "benchmarks")] == []
"""
    result = run_python(code)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("chosen", [(), ("price", "djw-figure-1")])
def test_the_list_has_names_sources_and_claims_and_runs_nothing(monkeypatch, capsys, tmp_path, chosen):
    def started(*arguments):
        raise AssertionError(f"started: {arguments}")

    monkeypatch.setattr(package, "reproduce", started)
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["reproduce", *chosen, "--list", "--output", str(tmp_path / "absent")]) == 0
    assert not (tmp_path / "absent").exists()
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 100
    start = {side: lines[1].index(side) for side in ("name", "paper and place", "claim")}
    ends = [*list(start.values())[1:], None]
    columns = [" ".join(line[a:b].strip() for line in lines).split() for a, b in zip(start.values(), ends, strict=True)]
    experiments = [package.experiment(name) for name in chosen or package.EXPERIMENTS]
    expected = ([getattr(experiment, name) for experiment in experiments] for name in ("name", "source", "claim"))
    for column, texts in zip(columns, expected, strict=True):
        assert " ".join(texts) in " ".join(column)


def test_the_list_reports_a_missing_extra(monkeypatch, capsys):
    remove_extras(monkeypatch)
    assert "rich is not installed" in error_line(capsys, "reproduce", "--list")


def test_the_command_reproduce_passes_its_arguments(monkeypatch, tmp_path, capsys):
    called = []
    monkeypatch.setattr(package, "reproduce", lambda *a: called.append(a) or (a[1].is_dir() and a[2] != 7))
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce"]) == 0
    names = ["price", "djw-corollary-7", "price"]
    assert main(["reproduce", *names, "--full", "--seed", "7", "--output", "a/b"]) == 1
    assert [a[:4] for a in called] == [
        (package.EXPERIMENTS, Path("figures"), None, False),
        (("price", "djw-corollary-7"), Path("a/b"), 7, True),
    ]
    for arguments, message in (
        (["price", "guess"], "NAME must be one of djw-figure-1, "),
        (["--seed", "-1"], "--seed must be an integer >= 0"),
    ):
        assert error_line(capsys, "reproduce", *arguments).startswith(message)
    assert len(called) == 2
