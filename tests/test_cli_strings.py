"""Heavy hitters on the command line: the strings of Python, and errors that name the option."""

from __future__ import annotations

import json

import numpy as np
import pytest

from ldpfast.cli import main
from ldpfast.estimation import HeavyHitters

WORDS = ["ab", "cd", "\u00e9", "ab"]


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "words.csv"
    path.write_text("word,age\n" + "".join(f"{WORDS[i % 4]},{i}\n" for i in range(40_000)), encoding="utf-8")
    return str(path)


def options(path, *more):
    return ["estimate", path, "--column", "word", "--heavy-hitters", "--max-bytes", "2", "--epsilon", "4", *more]


def test_the_strings_are_those_of_python(words, capsys):
    assert main(options(words, "--json", "--seed", "7", "--people", "40000", "--simultaneous")) == 0
    found = json.loads(capsys.readouterr().out)
    problem = HeavyHitters(4.0, max_bytes=2, n=40_000)
    expected = problem.run([WORDS[i % 4] for i in range(40_000)], rng=np.random.default_rng(7))
    assert found["n"] == 40_000
    assert set(found["categories"]) == set(expected.strings) == set(WORDS)
    assert found["smallest_share"] == pytest.approx(expected.smallest_share, rel=0.1)
    assert np.shape(found["interval"]) == (2, 3)


def test_the_table_and_the_figure(words, capsys, tmp_path):
    pytest.importorskip("matplotlib")
    assert main(options(words, "--alphabet", "abcd\u00e9", "--plot", str(tmp_path / "found.svg"))) == 0
    text = capsys.readouterr().out
    assert "\u00e9" in text
    assert "n = 40,000, epsilon = 4 per person; strings of at least 0.0" in text
    assert "share" in (tmp_path / "found.svg").read_text()


def test_too_long_strings_are_refused_or_cut(words, capsys):
    shorter = ("--max-bytes", "1", "--alphabet", "abcd\u00e9")
    with pytest.raises(SystemExit):
        main(options(words, *shorter))
    error = capsys.readouterr().err
    assert "index 0 is outside" in error
    assert "; --clip cuts strings that are too long" in error
    assert main(options(words, *shorter, "--clip", "--json")) == 0
    text = capsys.readouterr()
    assert "30000 of 40000 records (0.75 of all) were clipped to the domain" in text.err
    assert set(json.loads(text.out)["categories"]) == {"a", "c", "\u00e9"}


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda o: [*o, "--lower", "3"], "--lower must be left out with --heavy-hitters"),
        (lambda o: [*o, "--by", "age"], "--by must be left out with --heavy-hitters"),
        (lambda o: [*o, "--column", "age"], "--column must be given once with --heavy-hitters"),
        (lambda o: o[:-2], "--epsilon must be given with --heavy-hitters"),
        (lambda o: [*o[:5], *o[7:]], "--max-bytes must be given with --heavy-hitters"),
        (lambda o: [*o[:4], *o[5:], "--categories", "a,b"], "--max-bytes must be left out without --heavy-hitters"),
        (lambda o: [*o, "--people", "0"], "n must be an integer in"),
    ],
)
def test_options_that_do_not_fit(words, capsys, change, message):
    with pytest.raises(SystemExit):
        main(change(options(words)))
    assert message in capsys.readouterr().err
