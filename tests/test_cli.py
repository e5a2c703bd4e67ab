"""The command line."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import ldpfast as ldp
from ldpfast.cli import _checkout, _output, main
from ldpfast.files import FileTable
from ldpfast.survey import Choice, Cross, Mean, Survey, Text, YesNo

from .support.checkout import import_from_checkout
from .support.command_line import error_line
from .support.extras import remove_extras

pytest.importorskip("rich")
ROOT = Path(__file__).parent.parent
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
    questions = ldp.Survey({"visits": Mean(0, 10)}, 1.0)
    expected = questions.run({"visits": np.arange(3000) % 11}, rng=np.random.default_rng(5))
    assert found == {
        **expected.to_dict(),
        "files": [str(survey)],
        "mechanisms": {"visits": "RandomizedResponse(k=2, epsilon=1.0)"},
    }


def test_a_smaller_confidence_gives_a_narrower_interval(capsys, array):
    main(["estimate", str(array), *NUMERIC, "--json", "--seed", "5", "--confidence", "0.5"])
    narrow = json.loads(capsys.readouterr().out)
    main(["estimate", str(array), *NUMERIC, "--json", "--seed", "5"])
    wide = json.loads(capsys.readouterr().out)
    narrow, wide = narrow["answers"]["array.npy"], wide["answers"]["array.npy"]
    assert narrow["confidence"] == 0.5
    assert wide["interval"][0] < narrow["interval"][0] < narrow["interval"][1] < wide["interval"][1]
    main(["estimate", str(array), *NUMERIC, "--json", "--seed", "5", "--confidence", "0.5", "--simultaneous"])
    assert json.loads(capsys.readouterr().out)["answers"]["array.npy"] == narrow  # one number only


def test_categories_are_estimated_by_label(capsys, survey):
    arguments = ["estimate", str(survey), "--column", "answer", "--epsilon", "4", "--categories", 'yes,no,"a, b"']
    main([*arguments, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["mechanisms"] == {"answer": "RandomizedResponse(k=3, epsilon=4.0)"}
    found = found["answers"]["answer"]
    assert found["labels"] == ["yes", "no", "a, b"]
    for value, (low, high) in zip(found["value"], zip(*found["interval"], strict=True), strict=True):
        assert low < value < high
        assert abs(value - 1 / 3) < 0.1
    main(arguments)
    out = capsys.readouterr().out
    assert all(word in out for word in ("yes", "no", "a, b", "95 % interval", "n = 3,000"))


def test_the_table_names_file_and_mechanism(capsys, array):
    assert main(["estimate", str(array), "--epsilon", "4", "--lower=-1e1", "--upper", "10", "--clip"]) == 0
    out, err = capsys.readouterr()
    assert "array.npy" in out
    assert "Window(lower=-10.0, upper=10.0, epsilon=4.0, outputs=256)" in out
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
        (
            ["--epsilon", "1", "--categories", "a,b", "--clip"],
            "--clip must be left out where --categories is given, unless --missing is category",
        ),
        (["--epsilon", "-1", "--lower", "0", "--upper", "1"], "--epsilon must be a finite number > 0, got -1.0"),
        (["--epsilon", "x", "--lower", "0", "--upper", "1"], "argument --epsilon: invalid float value: 'x'"),
        (["--epsilon", "1", "--lower", "1", "--upper", "0"], "lower and upper must be finite with lower < upper"),
        (["--lower", "0", "--upper", "1"], "--epsilon must be given for files of records"),
        ([*NUMERIC, "--confidence", "1"], "--confidence must be in (0, 1), got 1.0"),
        ([*NUMERIC, "--column", "x"], "column must be left out for an array of shape (3000,), got 'x'"),
        ([*NUMERIC, "--seed", "-1"], "--seed must be an integer >= 0, got -1"),
        (["--epsilon", "1", "--lower", "0", "--upper", "9"], "; record 11 of "),
        ([*NUMERIC, "--json", "--table"], "--table must be left out where --json is given"),
        ([*NUMERIC, "--column", "a", "--column", "a"], "--column must name different columns, got a, a"),
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
    monkeypatch.setitem(sys.modules, "ldpfast.bench._report", SimpleNamespace(report=lambda *a: called.append(a) or 3))
    assert main(["bench", "--seconds", "2", "--json", "out.json"]) == 3
    numpy_case = import_from_checkout("benchmarks.rivals.numpy_cases").numpy_case
    assert called == [(2.0, "out.json", False, numpy_case)]
    monkeypatch.setattr(_checkout, "load", lambda module: None)
    assert main(["bench"]) == 3
    assert called[1] == (50.0, None, False, None)


def test_demo_passes_its_arguments(monkeypatch, tmp_path, capsys):
    called = []
    monkeypatch.setattr(import_from_checkout("experiments.demo"), "demo", lambda *a: called.append(a))
    assert main(["demo"]) == 0
    assert main(["demo", "--seed", "4", "--output", str(tmp_path / "a.png")]) == 0
    assert called[0][:2] == (Path("ldpfast-demo.png"), None)
    assert called[1][0] == tmp_path / "a.png"
    assert isinstance(called[1][1], np.random.Generator)
    message = error_line(capsys, "demo", "--output", tmp_path / "absent" / "a.png")
    assert message.startswith("--output must be in an existing directory, got ")


def test_a_missing_extra_is_named_in_the_message(capsys, monkeypatch, array):
    remove_extras(monkeypatch)
    assert error_line(capsys, "demo") == ("rich is not installed: run pip install statsmodels matplotlib rich")
    assert error_line(capsys, "estimate", array, *NUMERIC) == ("rich is not installed: run pip install pyarrow rich")
    assert main(["estimate", str(array), *NUMERIC, "--json"]) == 0


@pytest.mark.long
def test_the_package_runs_as_a_module(array):
    command = [sys.executable, "-m", "ldpfast", "estimate", str(array), *NUMERIC]
    good = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    assert json.loads(good.stdout)["n"] == 3000
    assert good.stderr == ""
    bad = subprocess.run([*command, "--column", "x"], capture_output=True, text=True, check=False)
    assert bad.returncode == 2
    assert bad.stderr.startswith("ldpfast: error: column must be left out")
    assert "Traceback" not in bad.stderr


@pytest.mark.parametrize("scale, shown", [(1e-3, "0.0012"), (1.0, "1.2"), (1e3, "1234")])
def test_the_table_shows_two_digits_of_the_standard_error(scale, shown):
    assert _output.shown(0.0, 1.234 * scale, -1.0, 1.0)[1] == shown
    assert _output.shown(0.5, float("inf"), 0.0, 1.0) == ("0.500", "inf", "0.000 to 1.000")


def test_an_interrupt_prints_one_line(capsys, monkeypatch, array):
    def interrupted(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ldp.Survey, "run", interrupted)
    with pytest.raises(SystemExit) as stop:
        main(["estimate", str(array), *NUMERIC, "--json"])
    assert stop.value.code == 130
    assert capsys.readouterr().err == "ldpfast: interrupted\n"


# Surveys --------------------------------------------------------------------------------------------------------------

TOML = """
epsilon = 4.0
answers = 2

[questions.visits]
type = "Mean"
lower = 0
upper = 10

[questions.answer]
type = "Choice"
categories = ["yes", "no", "a, b"]
optional = true

[questions."often"]
type = "Histogram"
edges = [0, 5, 11]
column = "visits"

[questions."visits and answer"]
type = "Cross"
a = "visits"
b = "answer"
"""


@pytest.fixture
def toml(tmp_path) -> Path:
    path = tmp_path / "survey.toml"
    path.write_text(TOML)
    return path


def test_a_survey_from_records_to_estimates(capsys, tmp_path, survey, toml):
    states = []
    for part in (1, 2):
        reports, state = tmp_path / f"reports-{part}.parquet", tmp_path / f"state-{part}.ldp"
        assert main(["privatize", str(toml), str(survey), "-o", str(reports)]) == 0
        assert main(["aggregate", str(reports), "-o", str(state)]) == 0
        states.append(str(state))
    whole = tmp_path / "whole.ldp"
    assert main(["merge", *states, "-o", str(whole)]) == 0
    assert "n = 6000" in capsys.readouterr().out
    figure = tmp_path / "figure.png"
    assert main(["estimate", str(whole), "--json", "--plot", str(figure), "--pooled"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["n"] == 6000
    assert abs(found["answers"]["visits"]["value"] - 5) < 1
    assert set(found["answers"]) == {"visits", "answer", "often", "visits and answer"}
    assert figure.stat().st_size > 1000
    assert main(["estimate", str(whole), "--simultaneous"]) == 0
    out = capsys.readouterr().out
    assert "visits and answer" in out
    assert "total epsilon = 4 per person" in out
    both = tmp_path / "both.ldp"
    main(["aggregate", str(tmp_path / "reports-1.parquet"), str(tmp_path / "reports-2.parquet"), "-o", str(both)])
    assert both.read_bytes() == whole.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_a_survey_and_records_give_estimates_in_one_step(capsys, tmp_path, survey, toml):
    assert main(["estimate", str(toml), str(survey), "--seed", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    described = Survey.from_toml(TOML)
    expected = described.run(FileTable([survey], described.column_questions), rng=np.random.default_rng(3))
    assert {name: answer["value"] for name, answer in found["answers"].items()} == {
        name: answer["value"] for name, answer in expected.to_dict()["answers"].items()
    }
    assert (found["n"], found["files"]) == (3000, [str(survey)])
    figure = tmp_path / "groups.png"
    options = ["--by", "answer", "--epsilon", "6", "--plot", str(figure)]
    assert main(["estimate", str(toml), str(survey), *options]) == 0
    out, err = capsys.readouterr()
    assert "by must be a public column" in err
    assert "total epsilon = 6 per person" in out
    assert figure.stat().st_size > 1000


def test_a_survey_before_records_has_its_own_errors(capsys, tmp_path, survey, toml):
    assert "got the survey alone" in error_line(capsys, "estimate", toml)
    for option in (["--column", "visits"], ["--lower", "0"], ["--upper", "1"], ["--categories", "a,b"]):
        message = f"{option[0]} must be left out with a survey in TOML, which has the questions"
        assert error_line(capsys, "estimate", toml, survey, *option) == message
    assert "--missing must be left out" in error_line(capsys, "estimate", toml, survey, "--missing", "category")
    waves = tmp_path / "waves.toml"
    waves.write_text("waves = 2\n" + TOML)
    assert "FILE must be a survey without waves" in error_line(capsys, "estimate", waves, survey)
    (tmp_path / "gap.csv").write_text("visits,answer\n,yes\n")
    message = error_line(capsys, "estimate", toml, tmp_path / "gap.csv")
    assert "`optional = true` in the survey accepts it" in message
    assert "or a survey in TOML before them" in error_line(capsys, "estimate", survey)


def test_the_answer_to_a_text_says_what_was_found(capsys, tmp_path):
    toml, data = tmp_path / "words.toml", tmp_path / "words.csv"
    question = Text(3, "abc", optional=True, n=5000, buckets=256, functions=8)
    toml.write_text(Survey({"word": question}, 4.0).to_toml())
    data.write_text("word\n" + "ab\nc\nab\n" * 2000)
    assert main(["estimate", str(toml), str(data), "--seed", "1"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"word +ab +0\.6\d", out)
    assert re.search(r"^word: every text of at least \S+ % of people was found with probability 0\.95$", out, re.M)
    reports, state = tmp_path / "r.parquet", tmp_path / "s.ldp"
    assert main(["privatize", str(toml), str(data), "-o", str(reports), "--seed", "1"]) == 0
    assert main(["aggregate", str(reports), "-o", str(state)]) == 0
    capsys.readouterr()
    assert main(["estimate", str(state), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["answers"]["word"]["labels"][0] == "ab"


def test_a_seed_makes_reports_reproducible(tmp_path, survey, toml):
    reports = [tmp_path / name for name in ("a.parquet", "b.parquet", "c.parquet")]
    for path, seed in zip(reports, ("1", "1", "2"), strict=True):
        main(["privatize", str(toml), str(survey), "-o", str(path), "--seed", seed])
    first, second, third = (pa.parquet.read_table(path) for path in reports)
    assert first.equals(second)
    assert not first.equals(third)


def test_several_columns_and_files_share_one_epsilon(capsys, tmp_path, survey):
    columns = ["--column", "a", "--column", "b"]
    paths = [tmp_path / "one.csv", tmp_path / "two.csv"]
    for path in paths:
        path.write_text("a,b,file\n" + f"2,4,{path.stem}\n" * 4000)
    assert main(["estimate", *map(str, paths), *columns, *NUMERIC, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["n"] == 8000
    assert found["guarantee"]["epsilon"] <= 1
    for name, truth in (("a", 2), ("b", 4)):
        answer = found["answers"][name]
        assert 3500 < answer["n"] < 4500
        assert abs(answer["value"] - truth) < 5 * answer["stderr"]


def test_missing_values_are_refused_or_a_category(capsys, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a\n" + '2\nNA\n""\n6\n' * 2000)
    message = error_line(capsys, "estimate", path, "--column", "a", *NUMERIC)
    assert message.endswith(f"line 3 of {path} has no value; --missing category accepts it")
    main(["estimate", str(path), "--column", "a", *NUMERIC, "--missing", "category", "--json"])
    answer = json.loads(capsys.readouterr().out)["answers"]["a"]
    assert abs(answer["value"] - 4) < 5 * answer["stderr"]
    assert abs(answer["missing"]["value"] - 0.5) < 5 * answer["missing"]["stderr"]


def test_warnings_are_one_line(capsys, tmp_path):
    np.save(tmp_path / "a.npy", np.array([5.0] * 99 + [11.0]))
    main(["estimate", str(tmp_path / "a.npy"), *NUMERIC, "--clip", "--json"])
    err = capsys.readouterr().err
    assert err == "ldpfast: warning: numbers were moved to the nearest end: 1 of 100 (0.01 of all) in column 'a.npy'\n"
    message = error_line(capsys, "estimate", tmp_path / "a.npy", *NUMERIC)
    assert message.endswith("is outside; --clip moves numbers to the nearest end")


def test_undeclared_categories_are_clipped_where_an_answer_may_be_missing(capsys, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("way\n" + "foot\ncar\n" * 50 + "boat\n")
    arguments = [
        "estimate",
        path,
        "--column",
        "way",
        "--epsilon",
        "9",
        "--categories",
        "foot,car",
        "--missing",
        "category",
    ]
    assert "line 102" in error_line(capsys, *arguments)
    main([*map(str, arguments), "--clip", "--json"])
    out, err = capsys.readouterr()
    assert 'undeclared categories count as "no answer": 1 of 101' in err
    assert json.loads(out)["n"] == 101


@pytest.mark.claim("A command that fails leaves no partial file.", "Files and commands")
def test_an_error_leaves_nothing_half_written(capsys, tmp_path, survey, toml):
    output = tmp_path / "reports.parquet"
    output.write_bytes(b"before")
    bad = tmp_path / "bad.csv"
    bad.write_text("visits,answer\n" + "3,yes\n" * 200_000 + "3,S3CR3T\n")
    message = error_line(capsys, "privatize", toml, bad, "-o", output)
    rule = "column 'answer' must hold the declared categories 'yes', 'no', 'a, b'"
    assert message == f"{rule}; line 200002 of {bad} holds another value"
    assert output.read_bytes() == b"before"
    assert "--output must be in an existing directory" in error_line(
        capsys, "privatize", toml, survey, "-o", tmp_path / "absent" / "x"
    )
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def names_of(path: Path) -> list[str | Path]:
    """Return several names of a file: other spellings of its path, a symbolic link and a hard link."""
    symbolic, hard = path.with_name(f"symbolic-{path.name}"), path.with_name(f"hard-{path.name}")
    symbolic.symlink_to(path)
    os.link(path, hard)
    spelling = f"{path.parent}/./../{path.parent.name}//{path.name}"
    return [path, spelling, os.path.relpath(path), symbolic, hard]


def test_an_output_that_is_an_input_is_refused(capsys, tmp_path, survey, toml, array):
    reports, state = tmp_path / "r.parquet", tmp_path / "s.ldp"
    main(["privatize", str(toml), str(survey), "-o", str(reports)])
    main(["aggregate", str(reports), "-o", str(state)])
    capsys.readouterr()
    commands = [
        (survey, ["privatize", toml, survey, "-o"]),
        (toml, ["privatize", toml, survey, "-o"]),
        (reports, ["aggregate", reports, "-o"]),
        (state, ["merge", state, "-o"]),
        (array, ["estimate", array, *NUMERIC, "--plot"]),
    ]
    for path, command in commands:
        before = path.read_bytes()
        for name in names_of(path):
            message = error_line(capsys, *command, name)
            assert message.endswith(f"must be another file than the input {str(path)!r}, got {str(Path(name))!r}")
        assert path.read_bytes() == before
    with survey.open() as stdin:
        command = [sys.executable, "-m", "ldpfast", "privatize", toml, "-", "-o", survey]
        found = subprocess.run(command, stdin=stdin, capture_output=True, text=True, check=False)
    assert found.stderr == f"ldpfast: error: --output must be another file than the input '-', got {str(survey)!r}\n"


def test_an_output_that_is_no_regular_file_is_refused(capsys, tmp_path, survey, toml):
    fifo, folder, loop = tmp_path / "fifo", tmp_path / "folder", tmp_path / "loop"
    os.mkfifo(fifo)
    folder.mkdir()
    loop.symlink_to(loop)
    (tmp_path / "null").symlink_to("/dev/null")
    for path in (fifo, folder, tmp_path / "null", "/dev/null", ""):
        message = error_line(capsys, "privatize", toml, survey, "-o", path)
        assert message.startswith("--output must be a regular file, not a directory, a device or a pipe, got ")
    assert "Too many levels of symbolic links" in error_line(capsys, "privatize", toml, survey, "-o", loop)
    assert error_line(capsys, "privatize", toml, survey, "-o", "-") == "--output must be the name of a file, got '-'"
    assert stat.S_ISFIFO(fifo.stat().st_mode)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_an_output_keeps_its_links_and_permissions(tmp_path, survey, toml):
    there, link, missing = tmp_path / "there.parquet", tmp_path / "link.parquet", tmp_path / "dangling.parquet"
    there.write_bytes(b"before")
    there.chmod(0o640)
    link.symlink_to(there.name)
    missing.symlink_to("new.parquet")
    for path, target in ((link, there), (missing, tmp_path / "new.parquet")):
        assert main(["privatize", str(toml), str(survey), "-o", str(path)]) == 0
        assert path.is_symlink()
        assert pa.parquet.read_table(target).num_rows == 3000
    assert stat.S_IMODE(there.stat().st_mode) == 0o640
    mask = os.umask(0o027)
    try:
        main(["privatize", str(toml), str(survey), "-o", str(tmp_path / "masked.parquet")])
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "masked.parquet").stat().st_mode) == 0o640


@pytest.mark.parametrize("name", ["SIGTERM", pytest.param("SIGHUP", marks=pytest.mark.long)])
@pytest.mark.parametrize("times", [3, pytest.param(1, marks=pytest.mark.long)])
def test_a_signal_removes_partial_files(tmp_path, toml, name, times):
    """The command waits for the end of its standard input when the signal comes."""
    output = tmp_path / "reports.parquet"
    output.write_bytes(b"before")
    command = [sys.executable, "-m", "ldpfast", "privatize", toml, "-", "-o", output]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(
        command, **streams, text=True, preexec_fn=lambda: signal.signal(getattr(signal, name), signal.SIG_DFL)
    ) as process:  # which may be ignored here, as under nohup
        process.stdin.write("visits,answer\n3,yes\n")
        process.stdin.flush()
        deadline = time.monotonic() + 300
        while not list(tmp_path.glob(".*")) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(list(tmp_path.glob(".*"))) == 1
        for _ in range(times):
            process.send_signal(getattr(signal, name))
        assert process.wait(300) == 128 + getattr(signal, name)
        # The interpreter prints an exception that is lost in a function that it was calling back just then.
        assert process.stderr.read().endswith(f"ldpfast: stopped by {name}\n")
    assert list(tmp_path.glob(".*")) == []
    assert output.read_bytes() == b"before"


def test_signals_have_their_handlers_again_after_a_command(capsys, array):
    handlers = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)]
    assert main(["estimate", str(array), *NUMERIC, "--json"]) == 0
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)] == handlers


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "jsonl", "parquet", "feather", "npy", "ldp", "toml"])
@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_an_input_that_is_no_regular_file_is_refused(capsys, tmp_path, survey, toml, suffix, make):
    path, output = tmp_path / f"input.{suffix}", tmp_path / "output"
    make(path)
    commands = [
        ["estimate", path, "--column", "x", *NUMERIC],
        ["privatize", toml, path, "-o", output],
        ["aggregate", path, "-o", output],
        ["merge", path, "-o", output],
        ["privatize", path, survey, "-o", output],
    ]
    if suffix == "ldp":
        commands = [["estimate", path], *commands[2:]]
    elif suffix == "toml":
        commands = commands[2:]
    for command in commands:
        assert error_line(capsys, *command) == f"path must be a regular file, got {str(path)!r}"
    assert not output.exists()


def test_input_that_is_nested_deeply_is_refused(capsys, tmp_path, survey, toml):
    deep = "[" * 100_000 + "]" * 100_000
    data, other = tmp_path / "deep.jsonl", tmp_path / "deep.toml"
    data.write_text(f'{{"x": {deep}}}\n')
    message = error_line(capsys, "estimate", data, "--column", "x", *NUMERIC)
    assert message == f"{data} must be a readable JSON Lines file: line 1 is not a JSON object"
    for depth in range(900, 1000, 7):  # some can be read, but not printed
        data.write_text(f'{{"x": {"[" * depth + "]" * depth}}}\n')
        message = error_line(capsys, "estimate", data, "--column", "x", "--epsilon", "1", "--categories", "a,b")
        assert "must hold categories; record 1 of " in message or "line 1 is not a JSON object" in message
    other.write_text(f"a = {deep}")
    message = error_line(capsys, "privatize", other, survey, "-o", tmp_path / "x.parquet")
    assert message == f"{other}: a survey must be TOML that is nested less deeply"
    table = pa.table({"x": [1]}).replace_schema_metadata({"ldpfast": deep})
    pa.parquet.write_table(table, tmp_path / "deep.parquet")
    message = error_line(capsys, "aggregate", tmp_path / "deep.parquet", "-o", tmp_path / "x.ldp")
    assert message.endswith("it must be a file of reports of a survey: JSON must be nested less deeply")


STREAMS = {
    "nobody reads": ("| true", "the standard output could not be written: Broken pipe"),
    "closed": (">&-", "the standard output must be open, because results are written to it"),
    "full": ("> /dev/full", "No space left on device"),
}


@pytest.mark.long
@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize(
    "arguments",
    [
        ["estimate", "array.npy", *NUMERIC],
        ["estimate", "array.npy", *NUMERIC, "--json"],
        ["plan", "multinomial", "--k", "4", "--n", "1000", "--epsilon", "1"],
        ["privatize", "survey.toml", "survey.csv", "-o", "reports.parquet"],
        ["reproduce", "--list"],
        ["--help"],
        ["--version"],
    ],
    ids=lambda arguments: f"{arguments[0]} {arguments[-1]}",
)
def test_results_that_cannot_be_written_are_one_line(tmp_path, survey, toml, array, arguments, stream):
    redirection, fault = STREAMS[stream]
    if stream == "full" and not Path("/dev/full").exists():
        pytest.skip("this system has no device that is always full")
    for name in ("experiments", "pyproject.toml"):  # `reproduce` runs in a checkout
        (tmp_path / name).symlink_to(ROOT / name)
    words = " ".join(arguments)
    # The reader of the pipe is gone before the command writes.
    program = f"sleep 0.3; exec '{sys.executable}' -m ldpfast {words}"
    script = f"({program}) {redirection}" if stream == "nobody reads" else f"{program} {redirection}"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    found = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {script}"],
        cwd=tmp_path,
        env={**environment, "PYTHONPATH": str(Path(ldp.__file__).parent.parent)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert found.returncode == 2
    assert found.stderr.startswith("ldpfast: error: ")
    assert found.stderr.endswith(f"{fault}\n")
    assert found.stderr.count("\n") == 1


@pytest.mark.long
def test_the_standard_input_or_the_standard_error_can_be_closed(tmp_path, array):
    program = f"'{sys.executable}' -m ldpfast estimate"
    numeric = " ".join(NUMERIC)
    environment = {**os.environ, "PYTHONPATH": str(Path(ldp.__file__).parent.parent)}

    def run(script: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )

    found = run(f"{program} - --column x {numeric} <&-")
    assert found.returncode == 2
    assert found.stderr == "ldpfast: error: - must be a readable CSV file: the standard input is closed\n"
    np.save(tmp_path / "outside.npy", np.array([5.0] * 99 + [11.0]))
    for options in ("", "--json"):
        found = run(f"{program} outside.npy {numeric} --clip {options} 2>&- <&-")  # without a place for the warning
        assert found.returncode == 0
        assert "warning" not in found.stdout
        assert "outside.npy" in found.stdout


def test_names_of_files_can_have_any_characters(capsys, tmp_path, survey, toml):
    """Spaces, line ends, the escape character, markup of rich, and bytes that are not UTF-8."""
    for name in ("a b", "a\nb", "\x1b[31mred", "[red]", "[bold", "-", "*", os.fsdecode(b"\xff\xfe")):
        data, output = tmp_path / f"{name}.csv", tmp_path / f"{name}.parquet"
        data.write_bytes(survey.read_bytes())
        assert main(["privatize", str(toml), str(data), "-o", str(output)]) == 0
        with output.open("rb") as file:  # pyarrow needs names that are Unicode
            assert pa.parquet.read_table(file).num_rows == 3000
        assert main(["estimate", str(data), "--column", "visits", *NUMERIC]) == 0
        assert main(["aggregate", str(output), "-o", str(tmp_path / f"{name}.ldp")]) == 0
        capsys.readouterr()
        message = error_line(capsys, "estimate", data, "--column", "answer", *NUMERIC)
        assert message.endswith("holds text")
        assert message.isprintable()


def test_names_of_files_are_not_markup_of_the_progress_bar(capsys, tmp_path, survey, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    folder = tmp_path / "[red]"
    folder.mkdir()
    path = folder / "[b].csv"
    path.write_bytes(survey.read_bytes())
    assert main(["estimate", str(path), "--column", "visits", *NUMERIC]) == 0
    assert "[b].csv" in capsys.readouterr().err


def test_a_state_that_is_merged_with_itself_is_refused(capsys, tmp_path):
    mechanism = ldp.Warner(2.0)
    states = [tmp_path / "a.ldp", tmp_path / "b.ldp"]
    for path in states:
        path.write_bytes(mechanism.aggregator().update(np.array([0, 1, 1], np.uint8)).to_bytes())
    whole = tmp_path / "whole.ldp"
    assert main(["merge", *map(str, states), "-o", str(whole)]) == 0  # equal by chance
    capsys.readouterr()
    link = tmp_path / "link.ldp"
    link.symlink_to(states[0])
    for path in (states[0], link):
        message = error_line(capsys, "merge", *states, path, "-o", tmp_path / "x.ldp")
        assert message == f"{path} must be another file than {states[0]}, got the same state again"
    assert not (tmp_path / "x.ldp").exists()


def test_copies_of_data_files_are_refused(capsys, tmp_path, survey, toml):
    copy = tmp_path / "copy.csv"
    copy.write_bytes(survey.read_bytes())
    fault = f"paths must be different files, got {str(copy)!r}, which has the same contents as {str(survey)!r}"
    assert error_line(capsys, "estimate", survey, copy, "--column", "visits", *NUMERIC) == fault
    assert error_line(capsys, "privatize", toml, survey, copy, "-o", tmp_path / "x.parquet") == fault
    assert not (tmp_path / "x.parquet").exists()


@pytest.mark.claim("The commands count a file of reports once, and only for its survey.", "Files and commands")
def test_reports_are_counted_once_and_only_for_their_survey(capsys, tmp_path, survey, toml):
    reports, copied, other = (tmp_path / name for name in ("r.parquet", "copy.parquet", "other.parquet"))
    state, foreign = tmp_path / "s.ldp", tmp_path / "f.ldp"
    main(["privatize", str(toml), str(survey), "-o", str(reports)])
    copied.write_bytes(reports.read_bytes())
    toml.write_text(TOML.replace("epsilon = 4.0", "epsilon = 4.5"))
    main(["privatize", str(toml), str(survey), "-o", str(other)])
    main(["aggregate", str(reports), "-o", str(state)])
    main(["aggregate", str(other), "-o", str(foreign)])
    capsys.readouterr()
    message = error_line(capsys, "aggregate", reports, copied, "-o", tmp_path / "x.ldp")
    assert message == f"{copied} must be a file that was not counted before, got the same reports again"
    message = error_line(capsys, "aggregate", reports, other, "-o", tmp_path / "x.ldp")
    assert message == f"{other}: reports must answer the same survey: epsilon is 4, got 4.5"
    message = error_line(capsys, "merge", state, foreign, "-o", tmp_path / "x.ldp")
    assert message == f"{foreign}: other must aggregate answers to the same question: epsilon is 4, got 4.5"
    message = error_line(capsys, "merge", state, state, "-o", tmp_path / "x.ldp")
    assert "no batch that was already counted" in message
    assert "must be a readable Parquet file" in error_line(capsys, "aggregate", survey, "-o", tmp_path / "x.ldp")
    assert "magic number is wrong" in error_line(capsys, "merge", survey, "-o", tmp_path / "x.ldp")
    assert "must be one saved state" in error_line(capsys, "estimate", state, foreign)
    assert "--epsilon must be left out" in error_line(capsys, "estimate", state, "--epsilon", "1")
    assert not (tmp_path / "x.ldp").exists()


def test_states_of_single_questions_are_estimated(capsys, tmp_path):
    mechanism = ldp.Warner(2.0)
    aggregator = mechanism.aggregator().update(mechanism.privatize(np.arange(4000) % 4 == 0))
    (tmp_path / "w.ldp").write_bytes(aggregator.to_bytes())
    assert main(["estimate", str(tmp_path / "w.ldp"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n"] == 4000
    assert "--plot must be left out" in error_line(capsys, "estimate", tmp_path / "w.ldp", "--plot", tmp_path / "a.png")


@pytest.mark.parametrize(
    "text, message",
    [
        ("epsilon = ", "a survey must be valid TOML"),
        (
            "epsilon = 1\nquestion = 3",
            "entries epsilon, answers, weights, series, waves, turns, open_ended, revision, wave, "
            "calendar, questions only, got 'question'",
        ),
        ("questions = {}", "an entry 'epsilon': a number"),
        ("epsilon = 1", "an entry 'questions': a table of questions"),
        ("epsilon = 1\n[questions.a]\ntype = 3", "question 'a' must have a type, one of Choice, Cross"),
        ("epsilon = 1\n[questions.a]\ntype = []", "question 'a' must have a type, one of Choice, Cross"),
        (
            'epsilon = 1\n[questions.a]\ntype = "Mean"\nlower = 0',
            "question 'a': missing 1 required positional argument: 'upper'",
        ),
        ('epsilon = 1\n[questions.a]\ntype = "Mean"\nlower = 1\nupper = 0', "question 'a': lower and upper must"),
        (
            'epsilon = 1\n[questions.a]\ntype = "YesNo"\nmore = 0',
            "question 'a': got an unexpected keyword argument 'more'",
        ),
    ],
)
def test_invalid_surveys_are_named(capsys, tmp_path, survey, text, message):
    path = tmp_path / "s.toml"
    path.write_text(text)
    assert message in error_line(capsys, "privatize", path, survey, "-o", tmp_path / "x.parquet")


def test_surveys_are_written_as_toml_and_read_again():
    survey = Survey(
        {
            "a": YesNo(optional=True),
            'b "quoted"': Choice(["x", "\\n", "\u2603", "\x7f"], column="c"),
            "n": Choice([1, 2, -3]),
            "d": Mean(0, 1e20),
            "x": Cross("a", "d"),
        },
        2.5,
        weights={"a": 0, "x": 2},
    )
    assert Survey.from_toml(survey.to_toml()) == survey
    assert Survey.from_toml(TOML).answers == 2
    with pytest.raises(TypeError, match="to be written as TOML, got bytes"):
        Survey({"a": Choice([b"y", b"x"])}, 1.0).to_toml()


@pytest.mark.parametrize(
    "text, value", [("1e6", 1_000_000), ("20000", 20_000), ("2.5e3", 2500), ("1" * 20, int("1" * 20))]
)
def test_counts_can_be_written_with_an_exponent(capsys, text, value):
    assert main(["plan", "multinomial", "--k", "4e0", "--n", text, "--epsilon", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n"] == value


@pytest.mark.parametrize("text", ["1e-3", "many", "1.5", "inf", "nan"])
def test_counts_must_be_whole(capsys, text):
    assert "must be a whole number, such as 20000 or 1e6" in error_line(capsys, "plan", "multinomial", "--n", text)
