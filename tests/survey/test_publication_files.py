"""Files of publications, the command line, and the tutorial as a study from its page alone."""

from __future__ import annotations

import csv
import shlex

import numpy as np
import pytest

from ldpfast.cli import main
from ldpfast.survey import Choice, Cross, Mean, Survey, Text, YesNo

from ..support.cases import each
from ..support.errors import raises
from ..support.publications import WAYS, people_of, tutorial

# Files ----------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def publication():
    questions = {"=1+1": Choice(["=2+3", "<b>"]), "a/b": YesNo(), "A b": YesNo(), "both": Cross("a/b", "A b")}
    people = {"=1+1": ["=2+3", "<b>"] * 1000, "a/b": [True] * 2000, "A b": [True, False] * 1000}
    return Survey(questions, 4.0).run(people, rng=1).publish(title="<Health>")


def test_csv(publication, tmp_path):
    publication.to_csv(tmp_path / "new" / "folder")
    files = {path.name for path in (tmp_path / "new" / "folder").iterdir()}
    tables = {"1-1.csv", "a-b.csv", "a-b-2.csv", "both.csv"}
    assert files == {"figures.csv", "quality.csv", "notes.txt", *tables}
    with (tmp_path / "new" / "folder" / "figures.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    frame = publication.to_frame()
    assert list(rows[0])[:3] == ["STRUCTURE", "STRUCTURE_ID", "ACTION"]
    assert [row["OBS_VALUE"] for row in rows] == [("" if x != x else str(x)) for x in frame["OBS_VALUE"].tolist()]
    assert {row["OBS_STATUS"] for row in rows} == {"A", "Q"}


def test_a_file_is_no_folder(publication, tmp_path):
    (tmp_path / "file").write_text("kept")
    with raises(ValueError, f"folder must be a directory, got the file {str(tmp_path / 'file')!r}"):
        publication.to_csv(tmp_path / "file")


def test_excel_has_texts_that_are_no_formulas(publication, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    publication.to_excel(tmp_path / "tables.xlsx")
    book = openpyxl.load_workbook(tmp_path / "tables.xlsx")
    assert book.sheetnames == ["About", "quality", "figures", "=1+1", "a b", "A b 2", "both"]
    cell = book["=1+1"]["A2"]
    assert (cell.value, cell.data_type) == ("=2+3", "s")
    table = publication.tables["both"]
    found = [[x.value for x in row] for row in book["both"].iter_rows(min_row=2, max_col=3)]
    assert found == [[a, b, None if x != x else x] for a, b, x in zip(*list(table.columns.values())[:3], strict=True)]
    with raises(ValueError, "path must be the name of a file with the suffix .xlsx, got 'tables.xls'"):
        publication.to_excel("tables.xls")


def test_html_is_one_escaped_page_with_all_rows(tmp_path):
    n = 3000
    people = {"x": ["<b>", "c"] * (n // 2), "town": np.arange(n) % 100}
    publication = (
        Survey({"x": Choice(["<b>", "c"])}, 4.0).run(people, by="town", rng=1).publish(suppress=None, title="<i>")
    )
    publication.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.count("<tr>") - page.count("<thead>") == 1 + 202
    assert "<title>&lt;i&gt;</title>" in page
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert "http" not in page
    assert "src=" not in page


def test_shares_are_in_percent_and_means_are_not(tmp_path):
    survey = Survey({"sleep": Mean(0, 12), "smokes": YesNo()}, 4.0)
    published = survey.run({"sleep": [7.0] * 2000, "smokes": [True, False] * 1000}, rng=1).publish()
    published.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    mean, shares = (page.partition(f"<h2>{name}</h2>")[2].partition("</table>")[0] for name in ("sleep", "smokes"))
    assert "%" not in mean
    for column in ("share", "stderr", "low", "high"):
        assert f">{100 * published.tables['smokes'][column][0]:.1f} %<" in shares


def test_labels_that_are_numbers_are_shown_as_they_are(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    people = {"x": ["a", "b"] * 600, "year": [2025, 2026] * 600, "is new": [True, True, False] * 400}
    publication = Survey({"x": Choice(["a", "b"])}, 4.0).run(people, by=["year", "is new"], rng=1).publish()
    publication.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert ">2025<" in page
    assert ">True<" in page
    assert "2,025" not in page
    publication.to_excel(tmp_path / "tables.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "tables.xlsx")["x"]
    assert [(sheet[at].value, sheet[at].number_format) for at in ("A2", "B2")] == [
        (2025, "General"),
        (False, "General"),
    ]


@each("name", ["all", "_T"])
def test_groups_and_labels_are_not_mistaken_for_all_together(name):
    survey = Survey({"x": Choice([name, "b"])}, 4.0)
    results = survey.run({"x": [name, "b"] * 500, "town": ["a", name] * 500}, by="town", rng=1)
    with raises(ValueError, f"groups must not be 'all' or '_T', which stand for all together, got {name!r}"):
        results.publish()
    if name == "_T":
        with raises(ValueError, "labels must not be '_T', which stands for all together, got a label of 'x'"):
            results["a"].publish()


def test_limits_of_people_contain_their_number_in_every_form():
    """The population of a group is no multiple of the base."""
    people = {"x": ["a"] * 1000, "town": np.arange(1000) % 7}
    results = Survey({"x": Choice(["a", "b"])}, 4.0).run(people, by="town", rng=1)
    for population, base in ((1_234_567, 1), (123_456, 1000)):
        frame = results.publish(population=population, round=base, suppress=None).to_frame()
        assert ((frame["LOWER"] <= frame["OBS_VALUE"]) & (frame["OBS_VALUE"] <= frame["UPPER"])).all()


def test_names_of_columns_never_hide_each_other():
    people = {"people": ["x", "y"] * 500, "share": [True, False] * 500, "STDERR": [True] * 1000}
    survey = Survey({"people": Choice(list("xy")), "share": YesNo(), "n": Cross("people", "share")}, 4.0)
    publication = survey.run(people, by="STDERR", rng=1).publish()
    names = ["STDERR", "question people", "question share", "people", "share", "stderr", "low", "high", "n"]
    assert list(publication.tables["n"].columns) == names
    assert "group STDERR" in publication.to_frame().columns


def test_the_command_line_writes_csv_and_publications(tmp_path, capsys):
    survey = Survey({"way": Choice(WAYS), "smoker": YesNo()}, 4.0)
    state = tmp_path / "state.ldp"
    state.write_bytes(survey.collect(people_of(2000), rng=1).to_bytes())
    assert main(["estimate", str(state), "--csv"]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    table = survey.run(people_of(2000), rng=1).table()
    assert {name: [row[name] for row in rows] for name in rows[0]} == {
        k: [*map(str, v)] for k, v in table.columns.items()
    }
    for name in ("page.html", "folder"):
        assert main(["estimate", str(state), "--csv", "--publish", str(tmp_path / name)]) == 0
    assert (tmp_path / "page.html").read_text().startswith("<!DOCTYPE html>")
    assert (tmp_path / "folder" / "way.csv").exists()
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main(["estimate", str(state), "--csv", "--json"])
    assert "--csv must be left out where --json is given" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["estimate", str(state), "--publish", str(tmp_path / "tables.csv")])
    assert "--publish must be a file with the suffix .xlsx or .html, or a folder, got '.csv'" in capsys.readouterr().err
    assert not (tmp_path / "tables.csv").exists()


@pytest.mark.claim("Texts of people are no formulas in CSV of publications and of the command line.", "Estimates")
def test_texts_of_people_are_no_formulas_in_csv(tmp_path, capsys):
    """Declared labels stay as they are."""
    survey = Survey({"name": Text(2, "=+b", n=4000), "way": Choice(["-", "=1"])}, 8.0)
    people = {"name": ["=b", "+", "b="] * 1000, "way": ["-", "=1", "-"] * 1000}
    collected = survey.collect(people, rng=1)
    collected.estimate().publish().to_csv(tmp_path)
    for file, key in (("name.csv", "name"), ("figures.csv", "name")):
        with (tmp_path / file).open(newline="", encoding="utf-8") as lines:
            assert {row[key] for row in csv.DictReader(lines)} - {"_T"} == {"'=b", "'+", "b="}
    (tmp_path / "state.ldp").write_bytes(collected.to_bytes())
    assert main(["estimate", str(tmp_path / "state.ldp"), "--csv"]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert {row["answer"] for row in rows if row["question"] == "name"} == {"'=b", "'+", "b="}
    assert {row["answer"] for row in rows if row["question"] == "way"} == {"-", "=1"}


# The tutorial ---------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_tutorial_repeats_a_study_in_thirty_lines(tmp_path, monkeypatch, capsys):
    """Committee page, calibration to age by sex and region, comparison of two years, tables, quality and Excel."""
    monkeypatch.chdir(tmp_path)
    pytest.importorskip("openpyxl")
    (plan, people, years, tables, quality, files, _), command = tutorial()
    lines = [line for block in (plan, years, tables, quality, files) for line in block.splitlines() if line.strip()]
    assert len(lines) <= 30
    variables: dict[str, object] = {}
    for block in (plan, people, years, tables, quality, files):
        exec(compile(block, "publication", "exec", dont_inherit=True), variables)
        if block is plan:
            program, *arguments = shlex.split(command)
            assert program == "ldpfast"
            assert main(arguments) == 0
    assert {path.name for path in tmp_path.iterdir()} >= {"committee.html", "health-2026.xlsx", "health-2026.html"}
    frame = variables["publication"].to_frame()
    shares = frame[frame["UNIT_MEASURE"] == "PS"]
    whole = shares.groupby("TABLE")["OBS_VALUE"].sum()
    assert (whole == 83_000_000).all()
    assert (shares["OBS_VALUE"] % 1000 == 0).all()
    cross = shares[(shares["smokes"] != "_T") & (shares["health"] != "_T")]
    assert cross.groupby("smokes")["OBS_VALUE"].sum().to_dict() == {
        row["smokes"]: row["OBS_VALUE"] for _, row in shares[shares["TABLE"] == "smokes"].iterrows()
    }
