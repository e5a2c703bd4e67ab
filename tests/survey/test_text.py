"""Questions whose answers are strings that nobody listed."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import ldpfast as ldp
from ldpfast.estimation import HeavyHitters
from ldpfast.files import FileTable
from ldpfast.mechanisms import simulate
from ldpfast.survey import (
    Choice,
    Coded,
    Cross,
    Repeated,
    Survey,
    Text,
    TextAnswer,
    YesNo,
    compare,
    pool,
    poststratify,
)

from ..support.cases import each
from ..support.internals.kernels import Column
from ..support.internals.survey import column_of
from ..support.statistics import assert_counts, assert_coverage, least_count

LETTERS = "abcdefghij"
WORDS = np.array(["ab", "cad", "fed", "jig", "h"], object)
SHARES = [0.4, 0.25, 0.2, 0.1, 0.05]
SMALL = {"n": 20_000, "buckets": 1 << 10, "functions": 8}


def people(n: int = 20_000, seed: int = 1, missing: float = 0.0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    words = WORDS[rng.choice(5, n, p=SHARES)]
    words[rng.random(n) < missing] = None
    return {"word": words, "smokes": rng.random(n) < 0.3}


SURVEY = Survey({"word": Text(3, LETTERS, **SMALL), "smokes": YesNo()}, 4.0)
OPTIONAL = Survey({"word": Text(3, LETTERS, optional=True, **SMALL), "smokes": YesNo(optional=True)}, 4.0)


# The channel ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_the_exact_channel_of_a_tiny_question(epsilon):
    """All reports of all strings: ratios are at most exp(epsilon), and the coin has the largest one."""
    question = Text(2, "ab", buckets=3, functions=2, n=10, optional=True)
    survey = Survey({"word": question}, epsilon)
    mechanism = survey.mechanisms["word"]
    rows, _ = column_of(question).domain.records(["", "a", "b", "aa", "ab", "ba", "bb"])
    law = mechanism._recipe.law.probabilities(rows)
    assert np.allclose(law.sum(axis=1), 1)
    assert law.shape[1] == mechanism.report.k
    ratio = (law.max(axis=0) / law.min(axis=0)).max()
    assert ratio == pytest.approx(math.exp(mechanism.epsilon_realized), rel=1e-12)
    assert mechanism.epsilon_realized <= epsilon
    coin = [list(map(Fraction, row)) for row in mechanism.response._recipe.law.rows()]
    worst = max(max(column) / min(column) for column in zip(*coin, strict=True))
    assert worst <= Fraction(math.exp(epsilon))


@pytest.mark.parametrize("answers", [1, "all"])
def test_reports_have_the_distribution_of_the_channel(answers):
    question = Text(2, "ab", buckets=3, functions=2, n=10)
    survey = Survey({"word": question, "smokes": YesNo()}, 2.0, answers=answers)
    n = 400_000
    table = survey.privatize({"word": ["ba"] * n, "smokes": np.ones(n, np.bool_)}, rng=3)
    mechanism = survey.mechanisms["word"]
    codes = reports_of(table, mechanism)
    law = mechanism._recipe.law.probabilities(column_of(question).domain.records(["ba"])[0])[0]
    assert_counts(np.bincount(codes, minlength=len(law)), len(codes), law, detects=0.01)


def reports_of(table, mechanism):
    """Return the codes of those who were asked."""
    packed = np.frombuffer(b"".join(table["word"].drop_null().to_pylist()), np.uint8)
    return mechanism.report.unpack(packed.reshape(-1, mechanism.report.nbytes))


# The answer -----------------------------------------------------------------------------------------------------------


def test_the_answer_is_that_of_heavy_hitters_for_the_people_who_were_asked():
    """The twin counts the reports of the question alone, and searches by the estimator itself."""
    table = SURVEY.privatize(people(), rng=7)
    answer = SURVEY.aggregator().update(table).estimate()["word"]
    problem = HeavyHitters(4.0, max_bytes=3, alphabet=LETTERS, **SMALL)
    assert problem.mechanism == SURVEY.mechanisms["word"]
    found = problem.aggregator().update(reports_of(table, problem.mechanism)).estimate()
    assert isinstance(answer, TextAnswer)
    assert answer.labels == found.strings == ("ab", "cad", "fed", "jig", "h")
    assert np.array_equal(answer.value, found.value)
    assert np.array_equal(answer.stderr, found.stderr)
    assert (answer.n, answer.smallest_share, answer.missing) == (found.n, found.smallest_share, None)
    assert answer.interval(0.9)[0] == pytest.approx(np.clip(found.interval(0.9)[0], 0, 1))
    numbers = max(1, found.compared) + column_of(SURVEY.questions["smokes"]).numbers
    low, _ = answer.interval(0.95, simultaneous=True)
    assert low == pytest.approx(np.clip(found.interval(1 - 0.05 / numbers)[0], 0, 1))


def test_no_answer_is_the_empty_string():
    """Its share is not among those of the strings, and the shares are among all people."""
    result = OPTIONAL.run(people(missing=0.5), rng=2)
    answer = result["word"]
    assert answer.labels[:2] == ("ab", "cad")
    assert "" not in answer.labels
    low, high = answer.missing.interval(0.999)
    assert low < 0.5 < high
    low, high = answer.interval(0.999)
    assert low[0] < 0.2 < high[0]
    frame = people(missing=0.5)
    frame["word"] = np.where(pd.isna(frame["word"]), "", frame["word"])
    same = OPTIONAL.run(frame, rng=2)
    assert np.array_equal(same["word"].value, answer.value)
    assert result.table()["answer"][: len(answer.labels) + 1] == [*answer.labels, "no answer"]


def test_the_empty_string_is_a_string_of_a_question_that_must_be_answered():
    result = SURVEY.run({**people(), "word": [""] * 20_000}, rng=1)
    assert result["word"].labels == ("",)
    assert result.table()["answer"][0] == "(empty text)"


def test_texts_have_no_anytime_limits():
    result = SURVEY.run(people(), rng=1)
    assert list(result.anytime_interval()) == ["smokes"]
    with pytest.raises(ValueError, match="anytime limits exist for"):
        result["word"].anytime_interval()


def test_shares_of_strings_that_are_named_later():
    answer = SURVEY.run(people(60_000), rng=5)["word"]
    shares = answer.shares(["h", "ab", "aaa"])
    low, high = shares.interval(0.999)
    assert (low < [0.05, 0.4, 0.0]).all()
    assert (high > [0.05, 0.4, 0.0]).all()
    with pytest.raises(ValueError, match="strings must be"):
        answer.shares(["toolong"])


def test_the_result_is_printed_with_what_can_be_found():
    result = OPTIONAL.run(people(missing=0.1), rng=1)
    note = f"word: {result['word'].note}"
    assert "of people was found with probability 0.95" in note
    assert repr(result).splitlines()[-1] == note
    assert note in result._repr_html_()
    described = json.loads(json.dumps(result.to_dict()))["answers"]["word"]
    assert described["labels"] == list(result["word"].labels)
    assert described["smallest_share"] == result["word"].smallest_share
    assert (described["complete"], described["doubts"]) == (True, [])
    cut = replace(result["word"], steps=(replace(result["word"].steps[0], raised=True),), doubts=("forged",))
    assert (cut.to_dict()["complete"], cut.to_dict()["doubts"], cut.note) == (False, ["forged"], "forged")


@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
def test_nothing_is_found_among_few_people(tmp_path):
    with pytest.warns(ldp.SmallSampleWarning, match="too small to find any string"):
        result = OPTIONAL.run(people(60), rng=1)
    answer = result["word"]
    assert (answer.labels, answer.value.shape, answer.smallest_share) == ((), (0,), math.inf)
    assert "too few people, or functions and buckets, to find any text" in repr(result)
    assert answer.to_dict()["smallest_share"] is None
    assert result.table()["question"].count("word") == 1  # no answer
    result.plot(tmp_path / "empty.png")
    assert (tmp_path / "empty.png").stat().st_size > 0


def test_groups_in_which_nothing_was_found_are_drawn(tmp_path):
    survey = Survey({"word": Text(3, LETTERS, **SMALL)}, 4.0)
    rare = ["".join(letters) for letters in itertools.product(LETTERS, repeat=3)]
    page = survey.run({"word": rare, "region": ["N", "S"] * 500}, by="region", rng=1).plot(tmp_path / "a.png")
    assert [text.get_text() for text in page.axes[0].texts] == ["nothing was found"]
    results = survey.run({"word": ["ab"] * 20_000, "region": ["N", "S"] * 10_000}, by="region", rng=1)
    with pytest.raises(ValueError, match="must have a question whose answers are declared"):
        poststratify(results, {"N": 0.5, "S": 0.5})


def test_too_few_functions_and_buckets_promise_no_share():
    """Candidates that share all buckets with a text, or all but one, can be taken for it."""
    question = Text(3, LETTERS, n=4000, buckets=16, functions=2)
    assert question.problem(6.0).plan().smallest_share == math.inf
    with pytest.warns(
        ldp.SmallSampleWarning, match="2 functions of 16 buckets are too few to tell 1111 candidates apart"
    ):
        answer = Survey({"word": question}, 6.0).run({"word": ["cad"] * 4000}, rng=1)["word"]
    assert answer.smallest_share == math.inf
    assert "too few people, or functions and buckets" in answer.note


@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
def test_a_question_that_nobody_was_asked_has_no_answer():
    survey = Survey({"word": Text(3, LETTERS, **SMALL), "smokes": YesNo()}, 4.0, weights={"word": 1, "smokes": 1000})
    result = survey.run(people(40), rng=1)
    assert result["word"].n == 0
    assert result["word"].labels == ()
    with pytest.raises(ValueError, match="must have at least 1 report about whole texts"):
        result["word"].shares("ab")


# Columns --------------------------------------------------------------------------------------------------------------

NAMES = ["ab", "cad", None, "h", "ab"]


@each(
    "column",
    [
        NAMES,
        np.array(NAMES, object),
        pd.Series(NAMES),
        pd.Series(NAMES, dtype="string"),
        pd.Categorical(NAMES),
        pd.Series(NAMES, dtype="category"),
        pa.array(NAMES),
        pa.array(NAMES, pa.large_string()),
        pa.array(NAMES).dictionary_encode(),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2, 0], pa.uint8()), pa.array(["ab", "cad", "h"])),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 3, 2, 0], pa.int8()), pa.array(["ab", "cad", "h", None])),
        pa.chunked_array(
            [pa.array(["x", *NAMES[:2]]).dictionary_encode()[1:], pa.array(NAMES[2:]).dictionary_encode()]
        ),
        pa.array(NAMES, pa.string_view()),
        pa.array([None if name is None else name.encode() for name in NAMES]),
        pa.chunked_array([NAMES[:2], NAMES[2:]]),
        pa.array(["x", *NAMES])[1:],
    ],
    ids=lambda column: type(column).__name__,
)
def test_columns_of_every_type_have_the_same_reports(column):
    smokes = [True, False, None, True, True]
    expected = OPTIONAL.privatize({"word": NAMES, "smokes": smokes}, rng=1)
    assert OPTIONAL.privatize({"word": column, "smokes": smokes}, rng=1).equals(expected)
    required = Survey({"word": Text(3, LETTERS, **SMALL)}, 4.0)
    with pytest.raises(ValueError, match=r"column 'word' must hold .*; row 2 has no value, which needs optional=True"):
        required.privatize({"word": column})


@each("column", [[None] * 4, [math.nan] * 4, np.full(4, math.nan), pd.Series([math.nan] * 4), pa.nulls(4)])
def test_a_column_without_values_is_missing(column):
    frame = {"word": column, "smokes": [True] * 4}
    assert OPTIONAL.privatize(frame, rng=1).equals(OPTIONAL.privatize({**frame, "word": [""] * 4}, rng=1))


@pytest.mark.parametrize("column", [np.array(["ab", "cad"]), np.array([b"ab", b"cad"])], ids=["text", "bytes"])
def test_arrays_of_numpy_have_the_reports_of_lists(column):
    frame = {"word": column, "smokes": [True, False]}
    assert SURVEY.privatize(frame, rng=1).equals(SURVEY.privatize({**frame, "word": ["ab", "cad"]}, rng=1))


@each("column", [[1, 2], [1.5, 2.0], [True, False], pd.Categorical([1, 2]), pa.array([1, 2]).dictionary_encode()])
def test_other_types_are_refused(column):
    with pytest.raises(
        TypeError, match="column 'word' must hold strings of at most 3 characters of the alphabet, got type"
    ):
        SURVEY.privatize({"word": column, "smokes": [True, False]})
    with pytest.raises(TypeError, match="got symbols of labels"):
        SURVEY.privatize({"word": Coded(np.array([0, 0], np.int32)), "smokes": [True, False]})


@each("word", ["abcd", "x", "a\0", "É", "\ud800"])
def test_invalid_texts_are_refused_with_their_row_or_changed(word):
    column = np.array(["ab"] * 5000, object)
    column[4321] = word
    frame = {"word": column, "smokes": np.ones(5000, np.bool_)}
    with pytest.raises((ValueError, TypeError), match="column 'word' must hold") as caught:
        SURVEY.privatize(frame)
    assert word not in str(caught.value)
    if word != "\ud800":  # which Arrow has no text for
        assert "row 4321 is longer, or has other characters. clip=True changes it" in str(caught.value)
        with pytest.warns(ldp.ClippedWarning, match=r"texts were cut, .*: 1 of 5000 .* in column 'word'"):
            SURVEY.collect(frame, clip=True)


def test_a_missing_text_is_an_error_in_spite_of_clip():
    with pytest.raises(ValueError, match="row 1 has no value, which needs optional=True"):
        SURVEY.privatize({"word": ["ab", None], "smokes": [True, False]}, clip=True)


@each("value", [None, 5, math.nan, True, ["ab"], "abcdefgh", "xyz", "\ud800x", b"\xff", object(), ""])
def test_a_client_never_refuses_a_value(value):
    message = OPTIONAL.client(bytes(32), 7).answer({"word": value})
    assert OPTIONAL.aggregator().update([message]).n == 1
    instead = value if isinstance(value, str | bytes) else ""
    assert message == OPTIONAL.client(bytes(32), 7).answer({"word": instead})
    assert OPTIONAL.client(bytes(32), 7).answer({"word": "abcdefgh"}) == OPTIONAL.client(bytes(32), 7).answer(
        {"word": "abc"}
    )


def test_personal_keys_give_the_same_report_in_tables_and_clients():
    n = 300
    frame, keys = people(n, missing=0.2), ldp.PersonKeys(bytes(range(32)), np.arange(n))
    table = OPTIONAL.privatize(frame, rng=keys)
    assert table.equals(OPTIONAL.privatize(frame, rng=keys))
    for i in range(0, n, 7):
        record = {"word": frame["word"][i], "smokes": bool(frame["smokes"][i])}
        assert OPTIONAL.message(table.slice(i, 1)) == OPTIONAL.client(bytes(range(32)), i).answer(record)
    assert OPTIONAL.collect(frame, rng=keys) == OPTIONAL.aggregator().update(table)


def test_coins_depend_on_the_prefixes_and_not_on_the_error_of_the_search():
    """With other prefixes the same coins would choose among others, so that two reports could show the string."""
    same = Survey({**SURVEY.questions, "word": Text(3, LETTERS, **SMALL, false_discovery=0.2)}, 4.0)
    assert same._recipe.descriptions == SURVEY._recipe.descriptions
    more = Survey({**SURVEY.questions, "word": Text(3, LETTERS, **{**SMALL, "n": 10**9})}, 4.0)
    salted = Survey({**SURVEY.questions, "word": Text(3, LETTERS, salt="2", **SMALL)}, 4.0)
    digests = {survey._recipe.descriptions[0] for survey in (SURVEY, more, salted)}
    assert len(digests) == 3


# Other parts of a survey ----------------------------------------------------------------------------------------------


def test_groups_have_texts_of_their_own():
    frame = people(60_000)
    frame["region"] = np.repeat(["N", "S"], 30_000)
    frame["word"][30_000:] = "bee"
    results = SURVEY.run(frame, by="region", rng=1)
    assert results["N"]["word"].labels[0] == "ab"
    assert results["S"]["word"].labels == ("bee",)
    table = results.table()
    rows = [(g, a) for g, q, a in zip(table["group"], table["question"], table["answer"], strict=True) if q == "word"]
    assert rows == [("N", label) for label in results["N"]["word"].labels] + [("S", "bee")]
    with pytest.warns(UserWarning, match="questions are left out: 'word'"):
        weighted = poststratify(results, {"N": 0.5, "S": 0.5})
    assert list(weighted) == ["smokes"]
    with pytest.warns(UserWarning, match=r"cannot be compared without bias, so that questions are left out: 'word'"):
        comparison = compare(results)
    assert comparison.table["question"] == ["smokes"]
    with pytest.raises(ValueError, match="a question in common whose answers are declared"):
        compare({name: result["word"] for name, result in results.items()})


def test_the_counts_of_all_groups_are_bounded():
    survey = Survey({"word": Text(20, n=10**6)}, 4.0)
    frame = {"word": ["a"] * 100, "group": np.arange(100)}
    with pytest.raises(
        ValueError, match=r"by must divide people into at most \d+ groups, because the counts .* got 100"
    ):
        survey.collect(frame, by="group")


def test_waves_of_a_panel_are_pooled():
    survey = Survey({"word": Text(3, LETTERS, **SMALL)}, 4.0, series="words", waves=2)
    keys = ldp.PersonKeys(bytes(32), np.arange(20_000))
    counted = [survey.in_wave(wave).collect(people(), rng=keys) for wave in (1, 2)]
    assert pool(counted)["word"].labels[:3] == ("ab", "cad", "fed")
    assert pool(counted).n == 20_000


def test_files_and_descriptions(tmp_path):
    text = OPTIONAL.to_toml()
    assert Survey.from_toml(text) == OPTIONAL
    assert Survey.from_dict(OPTIONAL.to_dict()) == OPTIONAL
    frame = people(2000, missing=0.2)
    table = pa.table({"word": pa.array(frame["word"]), "smokes": frame["smokes"]})
    from pyarrow import csv, feather, parquet

    csv.write_csv(table, tmp_path / "p.csv")
    parquet.write_table(table, tmp_path / "p.parquet")
    feather.write_feather(table, tmp_path / "p.feather")
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    expected = OPTIONAL.collect(frame, rng=4)
    for name in ("p.csv", "p.parquet", "p.feather", "p.jsonl"):
        read = FileTable([tmp_path / name], OPTIONAL.column_questions)
        assert OPTIONAL.collect(read, rng=4) == expected, name


def test_words_of_files_that_stand_for_missing_values_elsewhere_are_texts(tmp_path):
    (tmp_path / "p.csv").write_text('word\nNA\nnull\n""\n  ab \n')
    survey = Survey({"word": Text(4, optional=True, n=10_000, buckets=64, functions=2)}, 4.0)
    read = FileTable([tmp_path / "p.csv"], survey.column_questions)
    (piece,) = read.pieces(["word"])
    assert piece.columns["word"].to_pylist() == ["NA", "null", None, "ab"]


def test_a_column_is_not_read_as_a_text_and_as_categories(tmp_path):
    (tmp_path / "p.csv").write_text("a\nx\n")
    questions = {"a": Text(4), "b": Choice(["x", "y"], column="a")}
    with pytest.raises(ValueError, match="column 'a' must answer questions of one kind"):
        FileTable([tmp_path / "p.csv"], questions)


def test_simulated_counts_have_the_words():
    frame = people(5000)
    counted = simulate(SURVEY, frame, 60_000, rng=1)
    assert counted.n == 60_000
    assert counted.estimate()["word"].labels[:3] == ("ab", "cad", "fed")


def test_plans_have_the_standard_error_of_a_share_of_one_percent():
    plan = SURVEY.plan(40_000)
    others = ["".join(pair) for pair in itertools.product(LETTERS, LETTERS)]
    words = np.repeat(np.array(others, object), 400)
    answer = SURVEY.run({"word": words, "smokes": [True] * 40_000}, rng=1)["word"]
    assert plan.stderr[0, 0] == pytest.approx(answer.shares("ab").stderr[0], rel=0.1)
    assert plan.units[0] == "share"
    assert "a text of at most 3 characters" in column_of(SURVEY.questions["word"]).answer_text()


def test_a_revised_survey_keeps_the_reports_of_a_text():
    keys = ldp.PersonKeys(bytes(32), np.arange(500))
    first = Survey({"word": Text(3, LETTERS, **SMALL), "smokes": YesNo()}, 4.0, series="words")
    second = first.revise(remove=["smokes"], add={"drinks": YesNo(column="smokes")})
    a, b = (survey.privatize(people(500), rng=keys) for survey in (first, second))
    both = [(x, y) for x, y in zip(a["word"].to_pylist(), b["word"].to_pylist(), strict=True) if x and y]
    assert len(both) > 100
    assert all(x == y for x, y in both)


@each(
    "arguments, options, message",
    [
        ((0,), {}, "max_bytes must be"),
        ((256,), {}, "max_bytes must be"),
        ((3, "aa"), {}, "alphabet must have"),
        ((3,), {"buckets": 1}, "buckets must be"),
        ((3,), {"functions": 1}, "functions must be"),
        ((3,), {"salt": 1}, "salt must be a text"),
        ((3,), {"n": 0}, "n must be"),
        ((3,), {"false_discovery": 1.0}, "false_discovery must be"),
        ((3,), {"optional": 1}, "optional must be"),
        ((3,), {"column": ""}, "column must be"),
    ],
)
def test_bad_arguments(arguments, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        Text(*arguments, **options)


def test_texts_are_refused_where_there_is_no_estimate():
    word = Text(3, LETTERS, **SMALL)
    with pytest.raises(ValueError, match="must combine questions with declared answers, got the Text 'word'"):
        Survey({"word": word, "smokes": YesNo(), "both": Cross("word", "smokes")}, 4.0)
    with pytest.raises(ValueError, match="texts, sets of options and pairs have no permanent answers"):
        Repeated(SURVEY, round=2.0, rounds=3)
    with pytest.raises(TypeError, match="question must be a YesNo, Choice, Mean, Histogram or Survey, got Text"):
        Repeated(word, permanent=4.0, round=2.0, rounds=3)
    with pytest.raises(
        ValueError, match="question 'word' cannot be asked with epsilon / answers: max_bytes must be smaller"
    ):
        Survey({"word": Text(255)}, 4.0)
    answer = SURVEY.run(people(), rng=1)["word"]
    with pytest.raises(ValueError, match="must have shares of"):
        answer.goodness_of_fit([0.5, 0.5])


def test_columns_have_their_rows():
    column = column_of(Text(3, LETTERS, **SMALL)).read("word", pa.array(["ab", "cad"]))
    assert column.strings(0, 2).tolist() == [[1, 2, 0, 0], [3, 1, 4, 0]]
    with pytest.raises(ValueError, match="no such rows"):
        column.strings(1, 2)
    with pytest.raises(ValueError, match="no such numbers"):
        column.numbers(0, 1)
    with pytest.raises(ValueError, match="at most 512 in a row"):
        Column("uint8", bytes(16), None, 0, 3, row_bytes=1 << 62)


def test_texts_of_people_are_printed_as_labels(tmp_path):
    """Control characters are escaped, and a text cannot be taken for a label of the table."""
    printed = {"\x1b[31m": "\\x1b[31m", "a\nb": "a\\nb", "no answer": "'no answer'", "(empty text)": "'(empty text)'"}
    alphabet = "".join(sorted({*"".join(printed)}))
    survey = Survey({"word": Text(12, alphabet, optional=True, n=400, buckets=64, functions=10)}, 8.0)
    people = [text for i, text in enumerate(printed) for _ in range(3000 - 500 * i)] + [None] * 500
    result = survey.run({"word": people}, rng=1)
    assert result["word"].labels == tuple(printed)
    assert result.table()["answer"] == [*printed.values(), "no answer"]
    assert len(repr(result).splitlines()) == 8
    result.plot(tmp_path / "a.svg")
    ElementTree.parse(tmp_path / "a.svg")


def test_shares_of_named_texts_are_of_the_people_of_the_answer():
    counted = SURVEY.collect(people(), rng=1)
    first, other = counted.estimate()["word"], SURVEY.run(people(), rng=3)["word"]
    assert first.shares("ab").guarantee == first._whole_guarantee
    both = SURVEY.collect(people(), rng=2).merge(counted).estimate()["word"]
    with pytest.raises(ValueError, match="estimates must be of different people"):
        both.shares("ab") - first.shares("ab")
    with pytest.raises(ValueError, match="estimates must be of different people"):
        other.shares("ab") - first.shares("ab")  # surveys without a name are one series


def test_indices_outside_of_a_dictionary_are_refused():
    for index in (-2, 2, 9):
        codes = pa.array([0, index], pa.int32())
        column = pa.DictionaryArray.from_arrays(codes, pa.array(["ab", "cad"]), safe=False)
        with pytest.raises(ValueError, match="column 'word' must have indices of its dictionary"):
            OPTIONAL.privatize({"word": column, "smokes": [True, False]})


def test_bytes_that_are_no_text_are_refused_or_changed_with_every_alphabet():
    column = pa.Array.from_buffers(pa.string(), 2, pa.array([b"a", b"\xff"]).buffers())
    for alphabet in ("ab", "aé"):
        survey = Survey({"word": Text(3, alphabet, optional=True, **SMALL)}, 4.0)
        with pytest.raises(ValueError, match="row 1 is longer, or has other characters"):
            survey.privatize({"word": column})
        expected = survey.privatize({"word": ["a", "a"]}, rng=1)
        assert survey.privatize({"word": column}, rng=1, clip=True).equals(expected)


@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
def test_without_reports_about_whole_texts_there_is_no_estimate():
    survey = Survey({"word": Text(3, LETTERS, optional=True, **SMALL)}, 4.0)
    results = [survey.run({"word": ["ab"]}, rng=seed)["word"] for seed in range(12)]
    prefixes = [answer for answer in results if not answer.missing.n]
    assert 0 < len(prefixes) < 12
    assert prefixes[0].missing.interval() == (0.0, 1.0)
    with pytest.raises(ValueError, match="at least 1 report about whole texts"):
        prefixes[0].shares("ab")


# Many runs ------------------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("n, buckets, functions", [(10**6, 256, 4), (10**8, 512, 8)])
def test_intervals_cover_where_collisions_are_most_of_the_error(n, buckets, functions):
    """Most strings collide with none, and all shares are then too small by what is subtracted for collisions."""
    runs, covered, found = 100, 0, 0
    words = ["ab"] * 50 + ["c"] * 30 + ["cab"] * 10 + [None] * 10
    for run in range(runs):
        question = Text(3, "abc", optional=True, n=10**6, buckets=buckets, functions=functions, salt=str(run))
        survey = Survey({"word": question}, 4.0)
        answer = simulate(survey, {"word": words}, n, rng=run).estimate()["word"]
        low, high = answer.missing.interval()
        covered += low <= 0.1 <= high
        low, high = answer.shares(["ab", "bb"]).interval(simultaneous=True)
        found += bool((low <= [0.5, 0]).all() and (high >= [0.5, 0]).all())
        low, high = answer.interval()
        assert (low <= answer.value).all()
        assert (answer.value <= high).all()
    assert_coverage([covered, found], runs, 0.95, detects=0.7)


@pytest.mark.claim(
    "The texts of a survey have valid intervals, and are false with probability at most 0.05.", "Strings"
)
@pytest.mark.long
@pytest.mark.parametrize("answers", [1, "all"])
def test_false_texts_misses_and_coverage(answers):
    """With other hash functions in every run; intervals are simultaneous for everything that the survey reports."""
    runs, words = 300, [*WORDS, None]
    shares = np.array([0.3, 0.2, 0.2, 0.1, 0.05, 0.15])
    rng = np.random.default_rng(20261126)
    false = missed = asked = covered = empty = 0
    for run in range(runs):
        question = Text(3, LETTERS, optional=True, salt=str(run), **SMALL)
        survey = Survey({"word": question, "smokes": YesNo(optional=True)}, 4.0, answers=answers)
        column = np.array(words, object)[rng.choice(6, 20_000, p=shares)]
        answer = survey.run({"word": column, "smokes": np.ones(20_000, np.bool_)}, rng=rng)["word"]
        true = [dict(zip(words, shares, strict=True)).get(label, 0.0) for label in answer.labels]
        low, high = answer.interval(simultaneous=True)
        covered += bool(((low <= true) & (true <= high)).all())
        low, high = answer.missing.interval()
        empty += bool(low <= 0.15 <= high)
        false += any(label not in words for label in answer.labels)
        frequent = [word for word, share in zip(words[:5], shares, strict=False) if share >= answer.smallest_share]
        asked += len(frequent)
        missed += sum(word not in answer.labels for word in frequent)
    assert asked >= runs
    assert false <= runs - least_count(runs, 0.95)
    assert missed <= asked - least_count(asked, 0.95)
    assert_coverage(covered, runs, 0.95, detects=0.83)
    assert_coverage(empty, runs, 0.95, detects=0.83)
