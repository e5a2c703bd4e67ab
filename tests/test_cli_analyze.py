"""The command analyze."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ldpfast import analysis, designs
from ldpfast.cli import main

from .support.command_line import error_line
from .support.extras import remove_extras

DESIGN = designs.crosswise("1/4")
FIRST = ["--outcome", "answer", "--design", "crosswise:0.25"]


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(1)
    n = 3000
    frame = pd.DataFrame({"age": rng.normal(45, 15, n).round(), "region": rng.choice(["N", "S", "W"], n)})
    has = rng.random(n) < 1 / (1 + np.exp(1.5 - 0.03 * (frame["age"] - 45)))
    frame["answer"] = np.where(has == (rng.random(n) < 0.25), "same", "different")
    frame["weight"], frame["village"] = rng.random(n).round(3), np.arange(n) // 30
    return frame


@pytest.fixture
def csv(tmp_path, people):
    people.to_csv(tmp_path / "data.csv", index=False)
    return str(tmp_path / "data.csv")


def run(capsys, *arguments):
    """Return what the command prints with --json."""
    assert main(["analyze", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_numbers_are_those_of_python(capsys, csv, people):
    more = ["--formula", "age + C(region)", "--weights", "weight", "--clusters", "village", "--by", "region"]
    found = run(capsys, csv, *FIRST, *more, "--confidence", "0.9")
    answers, weights = people["answer"].to_numpy(), people["weight"].to_numpy()
    for value in ("N", "S", "W"):
        chosen = people["region"].to_numpy() == value
        villages = people["village"].to_numpy()[chosen]
        expected = DESIGN.prevalence(answers[chosen], weights=weights[chosen], clusters=villages)
        part = found["prevalences"][f"prevalence, region = {value}"]
        assert part["estimate"] == pytest.approx(expected.value)
        assert part["interval"] == pytest.approx(expected.interval(0.9))
    columns = pd.DataFrame({"age": people["age"], "S": people["region"] == "S", "W": people["region"] == "W"})
    model = analysis.RandomizedLogit(DESIGN).fit(columns, answers, weights=weights, clusters=people["village"])
    assert found["coefficients"]["name"] == ["const", "age", "C(region)[T.S]", "C(region)[T.W]"]
    np.testing.assert_allclose(found["coefficients"]["estimate"], model.params, rtol=1e-6)
    np.testing.assert_allclose(found["coefficients"]["low"], model.interval(0.9)[0], rtol=1e-5)
    by_formula = analysis.RandomizedLogit(DESIGN).fit("answer ~ age + C(region)", people, weights=weights)
    effects = by_formula.marginal_effects()
    assert found["marginal_effects"]["name"] == ["age", "region: S - N", "region: W - N"]
    np.testing.assert_allclose(found["marginal_effects"]["estimate"], effects.value, rtol=1e-6)
    plain = run(capsys, csv, *FIRST, "--formula", "age")
    age = analysis.RandomizedLogit(DESIGN).fit(people[["age"]], answers)
    np.testing.assert_allclose(plain["marginal_effects"]["estimate"], age.marginal_effects().value, rtol=1e-6)
    assert (found["n"], plain["n"]) == (2998, 3000)  # two people have weight 0
    assert (found["left_out"], found["epsilon"]) == (0, DESIGN.epsilon)
    assert main(["analyze", csv, *FIRST, "--weights", "weight"]) == 0
    assert (
        "n = 2,998, 0 rows with missing values are left out\n2 rows of weight 0 do not count" in capsys.readouterr().out
    )


def test_samples_and_subgroups_of_several_columns_are_those_of_python(capsys, tmp_path, people):
    people["part"], people["villages"] = np.where(people["village"] < 60, "old", "new"), 80
    people["female"] = np.arange(len(people)) % 2
    people.to_csv(tmp_path / "strata.csv", index=False)
    names = {"weights": "weight", "clusters": "village", "strata": "part", "fpc": "villages"}
    options = [text for name, column in names.items() for text in (f"--{name}", column)]
    more = ["--formula", "age", "--by", "region", "--by", "female"]  # as of "estimate", or after one another
    found = run(capsys, str(tmp_path / "strata.csv"), *FIRST, *options, *more)
    sample = {name: people[column] for name, column in names.items()}
    expected = DESIGN.prevalence_by(people["answer"], people[["region", "female"]], **sample)
    assert len(found["prevalences"]) == 7
    for (region, female), estimate in expected.items():
        part = found["prevalences"][f"prevalence, region = {region}, female = {female}"]
        assert (part["estimate"], part["stderr"]) == pytest.approx((estimate.value, estimate.stderr))
    model = analysis.RandomizedLogit(DESIGN).fit("answer ~ age", people, **names)
    np.testing.assert_allclose(found["coefficients"]["stderr"], model.bse)


def test_an_attention_question_corrects_prevalences_and_the_model(capsys, people, tmp_path):
    people = people.copy()
    attentive, rng = np.arange(3000) % 5 > 0, np.random.default_rng(2)
    people.loc[~attentive, "answer"] = rng.choice(["same", "different"], 600)
    people["check"] = np.where(rng.random(3000) < np.where(attentive, 0.85, 0.5), "same", "different")
    path = str(tmp_path / "data.csv")
    people.to_csv(path, index=False)
    asked = [*FIRST, "--attention", "check", "--p-attention", "0.15"]
    found = run(
        capsys, path, *asked, "--formula", "age", "--weights", "weight", "--clusters", "village", "--by", "region"
    )
    weights, villages = people["weight"].to_numpy(), people["village"].to_numpy()
    given = {"p": 0.25, "p_attention": 0.15}
    for value in ("N", "S", "W"):
        part = people["region"].to_numpy() == value
        expected = designs.crosswise_with_attention(
            people["answer"][part], people["check"][part], **given, weights=weights[part], clusters=villages[part]
        )
        shown = found["prevalences"][f"prevalence, region = {value}"]
        assert shown["estimate"] == pytest.approx(expected.value)
        assert shown["interval"] == pytest.approx(expected.interval())
    model = analysis.RandomizedLogit(DESIGN, p_attention=0.15)
    model.fit("answer ~ age", people, attention="check", weights="weight", clusters="village")
    np.testing.assert_allclose(found["coefficients"]["estimate"], model.params, rtol=1e-6)
    np.testing.assert_allclose(found["attention"]["estimate"], model.attention.value, rtol=1e-6)
    assert main(["analyze", path, *asked, "--formula", "age"]) == 0
    assert "log-odds to be attentive" in capsys.readouterr().out
    assert "--fpc must be left out with" in error_line(capsys, "analyze", path, *asked, "--fpc", "weight")
    assert "must be given together" in error_line(capsys, "analyze", path, *asked[:-2])
    other = ["--outcome", "answer", "--design", "warner:0.7", *asked[-4:]]
    assert "--attention must be left out unless" in error_line(capsys, "analyze", path, *other)
    assert "the attention question 'check'" in error_line(capsys, "analyze", path, *asked, "--formula", "check")


def test_the_text_holds_the_tables(capsys, csv):
    assert main(["analyze", csv, *FIRST, "--formula", "age"]) == 0
    text = capsys.readouterr().out
    assert main(["analyze", csv, *FIRST, "--formula", "age + I(age > 40)"]) == 0
    assert "no marginal effects: formula must be smooth in 'age'" in capsys.readouterr().out
    for part in ("<Design crosswise(p=1/4)", "prevalence: ", "95 % interval", "log-odds of yes against no", "marginal"):
        assert part in text


@pytest.mark.parametrize("suffix", [".csv.gz", ".jsonl", ".parquet", ".feather"])
def test_every_format_gives_the_same(capsys, csv, people, tmp_path, suffix):
    path = str(tmp_path / f"data{suffix}")
    if suffix == ".jsonl":
        people.to_json(path, orient="records", lines=True)
    else:
        getattr(people, {".csv.gz": "to_csv", ".parquet": "to_parquet", ".feather": "to_feather"}[suffix])(path)
    more = [*FIRST, "--formula", "0 + age"]
    assert run(capsys, path, *more) == run(capsys, csv, *more)


def test_standard_input_is_csv(capsys, csv, monkeypatch):
    with open(csv, "rb") as file:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(file.read())))
    assert run(capsys, "-", *FIRST) == run(capsys, csv, *FIRST)


def test_rows_with_missing_values_are_refused_or_left_out(capsys, people, tmp_path):
    people = people.copy()
    people.loc[3, "age"], people.loc[9, "answer"], people.loc[11, "region"] = None, None, None
    path = str(tmp_path / "data.csv")
    people.to_csv(path, index=False)
    message = error_line(capsys, "analyze", path, *FIRST, "--formula", "age")
    assert "got 2 rows with some" in message
    assert "--missing drop" in message
    found = run(capsys, path, *FIRST, "--formula", "age", "--missing", "drop")
    assert (found["n"], found["left_out"]) == (2998, 2)
    assert run(capsys, path, *FIRST, "--missing", "drop")["left_out"] == 1  # of the columns in use


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([*FIRST, "--formula", "age + zz"], "--formula must name columns of the file"),
        ([*FIRST, "--formula", "age +"], "--formula must be covariates joined by +"),
        ([*FIRST, "--formula", "answer ~ age"], "--formula must hold covariates only"),
        ([*FIRST, "--formula", "age | region"], "--formula must hold covariates only"),
        ([*FIRST, "--formula", "answer"], "--formula must hold covariates only, got the outcome"),
        ([*FIRST, "--formula", "age[0:2]"], "--formula must be computable from the columns"),
        ([*FIRST, "--by", "state"], "--by must name columns of the file"),
        ([*FIRST, "--confidence", "95"], "--confidence must be"),
        (["--outcome", "answer", "--design", "rr:1"], "design must be one of warner:p, forced_response:yes,no"),
        (["--outcome", "answer", "--design", "crosswise"], "design must be crosswise:p"),
        (["--outcome", "answer", "--design", "kuk:1/2"], "design must be kuk:p1,p2"),
        (["--outcome", "answer", "--design", "warner:0.7"], "reports must be 'no' and 'yes'"),
    ],
)
def test_mistakes_are_named(capsys, csv, arguments, message):
    assert message in error_line(capsys, "analyze", csv, *arguments)


@pytest.mark.parametrize(
    "text, message",
    [
        ("answer,age\nsame,40,7\n", "whose rows all have the columns of the header"),
        ("answer,age,age\nsame,40,7\n", "got 'age' twice"),
        ("", "whose rows all have the columns of the header"),
        (
            "answer,age\n" + "same,40\n" * 9 + "same,unknown\n",
            "column 'age' of --formula must hold numbers or categories",
        ),
        ("answer,age,Intercept\n" + "same,40,1\n", "other names than that of the intercept"),
    ],
)
def test_files_with_faults_are_refused(capsys, tmp_path, text, message):
    path = tmp_path / "data.csv"
    path.write_text(text)
    formula = "age + Intercept" if "Intercept" in text else "age"
    assert message in error_line(capsys, "analyze", str(path), *FIRST, "--formula", formula)


def test_a_separator_at_the_end_of_rows_shifts_no_column(capsys, tmp_path, csv):
    header, *rows = Path(csv).read_text().splitlines()
    path = tmp_path / "trailing.csv"
    path.write_text("\n".join([header, *(f"{row}," for row in rows)]))
    assert run(capsys, str(path), *FIRST, "--formula", "age") == run(capsys, csv, *FIRST, "--formula", "age")


def test_other_encodings_are_refused_and_a_mark_of_the_order_of_bytes_is_read(capsys, tmp_path, csv):
    path = tmp_path / "marked.csv"
    path.write_text("\ufeff" + Path(csv).read_text(), encoding="utf-8")
    assert run(capsys, str(path), *FIRST) == run(capsys, csv, *FIRST)
    path.write_bytes("answer,Größe\nsame,1\n".encode("latin-1"))
    assert "must be a CSV file in UTF-8" in error_line(capsys, "analyze", str(path), *FIRST)


def test_an_infinite_epsilon_is_null_in_json(capsys, tmp_path):
    path = str(tmp_path / "data.csv")
    pd.DataFrame({"answer": [0, 1] * 50}).to_csv(path, index=False)
    assert run(capsys, path, "--outcome", "answer", "--design", "mangat:0.7")["epsilon"] is None


def test_files_of_other_kinds_and_missing_packages_are_named(capsys, csv, monkeypatch, tmp_path):
    other = tmp_path / "data.sav"
    other.write_text("x")
    assert "FILE must end in one of .csv" in error_line(capsys, "analyze", str(other), *FIRST)
    remove_extras(monkeypatch)
    assert "pip install formulaic pandas" in error_line(capsys, "analyze", csv, *FIRST, "--formula", "age")


NAMES = ("age.years", "C", "I", "log", "np", "home region", "a..b", ".dot", "Intercept.1", "class")


@pytest.fixture(scope="module")
def named(tmp_path_factory, people):
    """A file whose columns have names of R and of functions, with missing values, and the data without them."""
    people = people[:800]
    n = len(people)
    frame = pd.DataFrame({name: np.cos(np.arange(n) * (place + 1)) + 2 for place, name in enumerate(NAMES)})
    frame["home region"] = people["region"]
    frame["region.of.birth"], frame["civic"] = people["region"][::-1].to_numpy(), np.arange(n) % 7 < 3
    frame["answer"] = people["answer"]
    whole = frame.copy()
    frame["civic"] = frame["civic"].astype(object)
    frame.loc[3, "civic"] = frame.loc[5, "age.years"] = None
    path = tmp_path_factory.mktemp("named") / "data.csv"
    frame.to_csv(path, index=False)
    return str(path), whole.drop(index=[3, 5])


def test_columns_can_have_any_name(capsys, named):
    """Those of R with dots, those of functions, and those in backquotes."""
    path, data = named
    cases = {
        "age.years": {"age.years": data["age.years"]},
        "`age.years`": {"age.years": data["age.years"]},
        'Q("age.years") + civic': {"age.years": data["age.years"], "civic": data["civic"]},
        "C + I + log + np": {name: data[name] for name in ("C", "I", "log", "np")},
        "I(age.years ** 2)": {"I(age.years ** 2)": data["age.years"] ** 2},
        "np.log(np) + log(log)": {"np.log(np)": np.log(data["np"]), "log(log)": np.log(data["log"])},
        "C(region.of.birth) + C": {
            "C(region.of.birth)[T.S]": data["region.of.birth"] == "S",
            "C(region.of.birth)[T.W]": data["region.of.birth"] == "W",
            "C": data["C"],
        },
        "`home region`": {
            "`home region`[T.S]": data["home region"] == "S",
            "`home region`[T.W]": data["home region"] == "W",
        },
        "a..b + .dot + `class`": {"a..b": data["a..b"], ".dot": data[".dot"], "class": data["class"]},
        "age.years.clip(0, 2.5)": {"age.years.clip(0, 2.5)": data["age.years"].clip(0, 2.5)},
        "C:log": {"C:log": data["C"] * data["log"]},
    }
    for formula, columns in cases.items():
        found = run(capsys, path, *FIRST, "--formula", f"{formula} + civic + age.years", "--missing", "drop")
        columns = {**columns, "civic": data["civic"], "age.years": data["age.years"]}
        expected = analysis.RandomizedLogit(DESIGN).fit(pd.DataFrame(columns), data["answer"])
        coefficients = dict(zip(found["coefficients"]["name"], found["coefficients"]["estimate"], strict=True))
        assert set(coefficients) == set(expected.names), formula
        assert coefficients == pytest.approx(dict(zip(expected.names, expected.params.tolist(), strict=True)), abs=1e-8)
        assert "marginal_effects" in found, formula


def test_rows_are_dropped_before_a_formula_is_computed(capsys, named):
    """Polynomials and centered columns are those of the rows that are used."""
    path, data = named
    found = run(capsys, path, *FIRST, "--formula", "poly(age.years, 2) + center(I)", "--missing", "drop")
    assert found["n"] == len(data) + 1  # the row without civic, which the formula does not need, is there
    used = pd.read_csv(path).dropna(subset=["age.years"])
    age = used["age.years"].to_numpy()
    columns = pd.DataFrame({"a": age, "b": age**2, "c": used["I"].to_numpy() - used["I"].mean()})
    expected = analysis.RandomizedLogit(DESIGN).fit(columns, used["answer"].to_numpy())
    assert found["coefficients"]["estimate"][-1] == pytest.approx(expected.params[-1], abs=1e-7)
    assert found["coefficients"]["name"][1:] == ["poly(age.years, 2)[1]", "poly(age.years, 2)[2]", "center(I)"]
    message = error_line(capsys, "analyze", path, *FIRST, "--formula", "poly(age.years, 2)")
    assert message.startswith("columns must have no missing values, got 1 rows with some, first in 'age.years'")


def test_unknown_names_of_a_formula_are_told(capsys, named):
    path, _ = named
    cases = {"age.weeks": "age.weeks", "poly(weeks, 2)": "weeks", "`no such`": "no such", "C(C.d) + D.e": "D.e"}
    for formula, name in cases.items():
        message = error_line(capsys, "analyze", path, *FIRST, "--formula", formula)
        assert message.startswith("--formula must name columns of the file, which are age.years, C, I"), formula
        assert message.endswith(f"; got {name!r}"), formula
    message = error_line(capsys, "analyze", path, *FIRST, "--formula", "C(C.d)")
    assert message.startswith("--formula must be computable from the columns, got 'C(C.d)'")
    assert "column0_" not in message
