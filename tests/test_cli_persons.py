"""Personal keys and waves on the command line."""

from __future__ import annotations

import json

import numpy as np
import pyarrow.parquet
import pytest

import ldpfast as ldp
from ldpfast.cli import main
from ldpfast.survey import Survey, YesNo

from .support.command_line import error_line

SECRET = bytes(range(32))
N = 500


@pytest.fixture
def study(tmp_path):
    """Return a function that runs privatize, for a survey with two waves."""
    (tmp_path / "data.csv").write_text("id,smokes\n" + "".join(f"{i},{'yes' if i % 3 else 'no'}\n" for i in range(N)))
    (tmp_path / "key").write_bytes(SECRET)
    (tmp_path / "hex").write_text(SECRET.hex() + "\n")
    survey = Survey({"smokes": YesNo()}, 1.0, series="weeks", waves=2)
    (tmp_path / "panel.toml").write_text(survey.to_toml())
    (tmp_path / "plain.toml").write_text(Survey({"smokes": YesNo()}, 1.0).to_toml())

    def run(*options, toml="panel.toml", output="reports.parquet"):
        names = [str(tmp_path / option) if option in ("key", "hex") else option for option in options]
        return ["privatize", str(tmp_path / toml), str(tmp_path / "data.csv"), "-o", str(tmp_path / output), *names]

    return run


def test_waves_and_persons_are_those_of_python(study, tmp_path, capsys):
    survey = Survey({"smokes": YesNo()}, 1.0, series="weeks", waves=2)
    people, rows = {"smokes": np.arange(N) % 3 > 0}, 0
    for wave in (1, 2):
        for key in ("key", "hex"):
            assert main(study("--person", "id", "--key-file", key, "--wave", str(wave), output=f"{key}.parquet")) == 0
        expected = survey.in_wave(wave).privatize(people, rng=ldp.PersonKeys(SECRET, list(map(str, range(N)))))
        for key in ("key", "hex"):
            assert pyarrow.parquet.read_table(tmp_path / f"{key}.parquet").equals(expected)
        rows += expected.num_rows
    assert rows == N
    assert "survey " + survey.in_wave(2).fingerprint in capsys.readouterr().out


@pytest.mark.claim(
    "There is a warning if a second run over the same people replaces the first output.", "Files and commands"
)
def test_a_second_run_without_keys_warns(study, capsys):
    assert main(study(toml="plain.toml")) == 0
    assert capsys.readouterr().err == ""
    assert main(study(toml="plain.toml")) == 0
    assert "the losses of both add up" in capsys.readouterr().err
    assert main(study("--person", "id", "--key-file", "key", toml="plain.toml")) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "options, message",
    [
        (["--person", "id"], "--person and --key-file must be given together"),
        (["--key-file", "key"], "--person and --key-file must be given together"),
        (["--person", "id", "--key-file", "key"], "--wave must be given for a survey with 2 waves"),
        (["--wave", "1"], "--person and --key-file must be given for a wave"),
        (["--wave", "3", "--person", "id", "--key-file", "key"], "wave must be"),
        (["--wave", "1", "--person", "id", "--key-file", "key", "--seed", "1"], "--seed must be left out"),
        (["--wave", "1", "--person", "name", "--key-file", "key"], "'name'"),
    ],
)
def test_mistakes_are_named(study, capsys, options, message):
    assert message in error_line(capsys, *study(*options))


def test_other_files_are_no_secret(study, capsys, tmp_path):
    (tmp_path / "key").write_text("password")
    assert "must hold 32 bytes or 64 hexadecimal digits" in error_line(
        capsys, *study("--wave", "1", "--person", "id", "--key-file", "key")
    )


# Groups ---------------------------------------------------------------------------------------------------------------


def test_groups_of_files_are_those_of_python(tmp_path, capsys):
    path = tmp_path / "people.csv"
    rows = [(i % 3 == 0, "NS"[i % 2], "ab"[i % 5 == 0]) for i in range(4000)]
    path.write_text("smokes,region,site\n" + "".join(f"{'yes' if a else 'no'},{b},{c}\n" for a, b, c in rows))
    command = ["estimate", str(path), "--column", "smokes", "--categories", "no,yes", "--epsilon", "2", "--seed", "3"]
    survey = Survey({"smokes": ldp.survey.Choice(["no", "yes"])}, 2.0)
    columns = {name: [row[i] for row in rows] for i, name in enumerate(("smokes", "region", "site"))}
    people = {**columns, "smokes": np.where(columns["smokes"], "yes", "no")}
    for by in (["region"], ["region", "site"]):
        options = [text for name in by for text in ("--by", name)]
        expected = survey.run(people, by=by[0] if len(by) == 1 else by, rng=np.random.default_rng(3))
        assert main([*command, *options, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)["groups"]
        assert [part["group"] for part in found] == [list(key) if len(by) > 1 else key for key in expected]
        for part, result in zip(found, expected.values(), strict=True):
            assert part["answers"]["smokes"]["value"] == result["smokes"].value.tolist()
            assert part["n"] == result.n
        assert main([*command, *options]) == 0
        text = capsys.readouterr().out
        assert all(f"{result['smokes'].value[1]:.3f}" in text for result in expected.values())
        assert "n = 4,000, total epsilon" in text
    assert main([*command, "--by", "region", "--plot", str(tmp_path / "a.png")]) == 0
    assert (tmp_path / "a.png").stat().st_size > 1000
