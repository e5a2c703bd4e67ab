"""The promise of a survey in words: odds from the integers of the coins, what the text says, and its three forms."""

from __future__ import annotations

import itertools
import math
import re
from fractions import Fraction
from html.parser import HTMLParser

import numpy as np
import pytest
from markdown_it import MarkdownIt

from ldpfast.cli import main
from ldpfast.survey import Choice, Cross, Histogram, Mean, Number, Repeated, Survey, YesNo

BOTH = {"smoker": YesNo(optional=True), "way": Choice(["foot", "car"], optional=True)}
FULL = {
    **BOTH,
    "visits": Mean(0, 20, optional=True),
    "age": Histogram([0, 30, 60], optional=True),
    "income": Number(0, 9000, optional=True),
    "together": Cross("smoker", "way"),
}


def rows(mechanism):
    """Return the exact probabilities of the reports of a mechanism whose coins are integers over 2^32 or 2^64."""
    return [[Fraction(float(p)) for p in row] for row in mechanism.channel().matrix]


def largest_posterior(tables, before):
    """Return the largest probability of one of two records after any reports, by enumeration, where it was `before`."""
    worst = Fraction(0)
    for first, second in itertools.permutations(range(len(tables[0])), 2):
        for reports in itertools.product(range(len(tables[0][0])), repeat=len(tables)):
            one, other = (
                math.prod(
                    (table[record][report] for table, report in zip(tables, reports, strict=True)), start=Fraction(1)
                )
                for record in (first, second)
            )
            worst = max(worst, before * one / (before * one + (1 - before) * other))
    return worst


@pytest.mark.claim(
    "Odds of `Survey.explain` bound every posterior, by enumeration of the reports.", "Surveys and ledgers"
)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0, 4.0, 8.0])
def test_the_odds_are_those_of_the_integers_of_the_coins(epsilon):
    """Everything a person sends in two waves with one answer each: the same question twice. Rounded up by less than one."""
    survey = Survey({"smoker": YesNo(optional=True)}, epsilon, waves=3, turns=2)
    text = survey.explain()
    (table,) = map(rows, survey.mechanisms.values())
    people = int(re.search(r"of ([\d,]+) become", list(text.odds.columns)[1])[1].replace(",", ""))
    assert list(text.losses) == [
        "one of your answers",
        "everything that is sent for you in one wave",
        "everything that is sent for you in all 3 waves",
    ]
    for tables, line in (([table], 0), ([table], 1), ([table, table], 2)):
        for column, before in ((1, Fraction(1, 2)), (2, Fraction(1, 100))):
            stated = int(list(text.odds.columns.values())[column][line].replace(",", ""))
            assert stated - 1 < people * largest_posterior(tables, before) <= stated
        loss = sum(
            math.log(max(Fraction(a, b) for row in each for a, b in itertools.product(row, row))) for each in tables
        )
        assert list(text.losses.values())[line] == pytest.approx(loss, rel=1e-12)
        unit = max(math.log((largest + Fraction(1, 1 << 32)) / largest) for largest in map(max, *tables[:1]))
        assert unit > 1e-11 * loss  # of a coin: a loss with it would be told apart


@pytest.mark.parametrize("answers", [1, 2, 6])
def test_losses_of_surveys_without_waves(answers):
    survey = Survey(FULL, 3.0, answers=answers)
    losses = survey.explain().losses
    each = max(mechanism.epsilon_realized for mechanism in survey.mechanisms.values())
    assert losses["everything that is sent for you"] == survey.guarantee.epsilon <= 3
    assert losses.get("one of your answers") == (None if answers == 1 else each)


def test_losses_of_open_ended_surveys_add_up_over_periods():
    survey = Survey(BOTH, 1.0, waves=4, open_ended=True)
    text = survey.explain()
    assert list(text.losses.values()) == [survey.guarantee.epsilon] * 2 + [survey.loss([], waves=8).worst]
    assert list(text.losses)[1:] == [
        f"everything that is sent for you in {when}" for when in ("one period of 4 waves", "2 periods")
    ]
    shown = repr(text)
    assert "The study goes on: what can be found out adds up with every period" in shown
    assert "has 4 waves in each period, and goes on. You are asked in one of them" in shown
    assert re.search("right for at most [0-9]+ of 100 after 2 periods, and for more if I take part longer", shown)


def test_people_who_are_asked_in_all_waves_are_told_so():
    survey = Survey(BOTH, 1.0, waves=3, turns=3)
    assert "The study has 3 waves. You are asked in all of them." in repr(survey.explain())


def test_a_large_loss_is_not_called_a_change_that_cannot_be_undone():
    for epsilon, is_large in ((2.0, False), (8.0, True), (30.0, True)):
        shown = repr(Survey(BOTH, epsilon).explain())
        assert ("For one person they are a weak protection" in shown) is is_large
        assert ("For one person they cannot be undone" in shown) is not is_large


def test_ranges_have_all_their_digits():
    shown = repr(Survey({"income": Mean(-0.5, 1_234_567, optional=True)}, 1.0).explain())
    assert "a number from -0.5 to 1,234,567 |" in shown


def test_an_address_of_several_lines_is_one_line():
    shown = Survey(BOTH, 1.0).explain(contact="Institute\n  Street 5\nOslo").to_markdown()
    assert "Contact: Institute Street 5 Oslo" in shown


def test_numbers_of_people_are_such_that_some_guesses_are_wrong():
    for epsilon in np.geomspace(0.01, 12, 60):
        odds = Survey({"smoker": YesNo(optional=True)}, epsilon).explain().odds
        people, right = (
            int(x.replace(",", "")) for x in (list(odds.columns)[1].split()[2], list(odds.columns.values())[1][0])
        )
        assert people / 2 < right <= people - 1
        assert people == 100 or right > people * 0.98


def test_what_is_sent_has_the_shares_of_the_coins():
    survey = Survey(FULL, 3.0)
    blocks = dict(survey.explain().sections)["What is sent"]
    sent = dict(zip(*blocks[1].columns.values(), strict=True))
    own, other = (survey.mechanisms["smoker"].channel().matrix[0, place] for place in (0, 1))
    people = int(re.search("of ([0-9,]+) people", sent["smoker"])[1].replace(",", ""))
    true, false = (f"{round(people * share):,}" for share in (own, other))
    assert (
        sent["smoker"] == f"the true answer for about {true} of {people:,} people, each other answer for about {false}"
    )
    assert sent["visits"].startswith('"low", "high" or "no answer", drawn at random')
    assert sent["income"] == "a pattern that is drawn at random, and that can be sent for every other answer as well"
    joint = survey.mechanisms["together"].channel().matrix[0, :2]  # one cell of a table, and no pattern
    true, false = (f"{round(people * share):,}" for share in joint)
    assert (
        sent["together"]
        == f"the true answer for about {true} of {people:,} people, each other answer for about {false}"
    )
    rounded = Survey({**FULL, "together": Cross("smoker", "visits")}, 3.0).explain()
    assert dict(rounded.sections)["What is sent"][1]["what is sent"][-1] == sent["income"]
    only = Survey({"a": YesNo(), "b": Mean(0, 1)}, 1.0).explain(holder="The interviewer")
    first, second = dict(only.sections)["What is sent"][1]["what is sent"]
    assert ", the other answer for about" in first
    assert second.startswith('"low" or "high", drawn')


def test_the_text_has_what_the_study_says_and_what_the_promise_excludes():
    text = Survey(BOTH, 2.0, waves=2).explain(
        controller="Institute of Health", contact="a@b.org", purpose="Plan trains."
    )
    shown = text.to_markdown()
    for part in (
        "Purpose of the study: Plan trains.",
        "Your true answers stay on your device.",
        "Institute of Health stores what is sent",
        "Contact: a@b.org",
        "It can be seen that you took part, and in which wave",
        "whether or not you take part",
        "such a guess is right for 50 of 100 people like you",
        "the best possible guess is right for at most 89 of 100",
        "a guess about me that was right for 50 of 100 people becomes right for at most 89 of 100",
        "it holds for at most 7 of 100 people for whom the same was sent",
        "epsilon = 2 for all answers of a person in all waves",
        "You are asked one of them, drawn at random without looking at the answers.",
    ):
        assert part in shown
    assert "Before you use" not in shown
    assert text.notes == ("Show it to those who are responsible for data protection: it is no legal advice.",)
    plain = Survey(BOTH, 8.0).explain()
    assert "Who is responsible" not in dict(plain.sections)
    assert plain.notes[1:] == (
        "It does not state: controller, contact, purpose.",
        "The loss is large: the best guess is right for 9,997 of 10,000 people. Do not call the answers anonymous or hidden; "
        "ask fewer questions, or choose a smaller epsilon.",
    )
    assert "Before you use this text:\n- Show it" in repr(plain)


def test_somebody_who_holds_the_answers_is_named():
    survey = Survey({"smoker": YesNo()}, 1.0)
    with pytest.raises(
        ValueError, match=r"must be optional for devices, .* or holder must say who .*; not optional: 'smoker'"
    ):
        survey.explain()
    shown = survey.explain(holder="The clinic").to_markdown()
    assert "You tell your answers to The clinic." in shown
    assert "The clinic knows your true answers. How they are kept there is not covered." in shown
    assert "device" not in shown


@pytest.mark.parametrize("arguments", [{"controller": ""}, {"contact": " "}, {"purpose": 3}, {"holder": b"x"}])
def test_arguments_that_are_no_texts_are_refused(arguments):
    (name,) = arguments
    with pytest.raises(TypeError, match=f"{name} must be a text that is not empty, or None, got"):
        Survey(BOTH, 1.0).explain(**arguments)


def test_surveys_of_a_wave_or_a_round_are_refused():
    """Their loss is a part of what a person loses."""
    for part in (Survey(BOTH, 1.0, waves=2).in_wave(1), Repeated(Survey(BOTH, 2.0), round=1.0, rounds=3).in_round(0)):
        with pytest.raises(ValueError, match="must be a whole one, which makes the promise"):
            part.explain()


# Forms ----------------------------------------------------------------------------------------------------------------

NASTY = ["<script>x</script>", "a|b", "*c*", "[d](http://e)", "f\\g", "`h`", "$i$", "&lt;", "\u202ej\x07"]


class Texts(HTMLParser):
    """The texts of the cells of all tables of a page, its tags, and those that stay open."""

    def __init__(self, page):
        super().__init__()
        self.cells, self.tags, self.open = [], set(), []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.open += [] if tag == "meta" else [tag]
        self.cells += [""] if tag == "td" else []

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "td":
            self.cells[-1] += data


def nasty():
    return Survey({name: Choice(NASTY[:3], optional=True) for name in NASTY if "\x07" not in name}, 1.0)


def test_the_page_escapes_names_and_loads_nothing(tmp_path):
    text = nasty().explain(controller="<b>", contact="<i>", purpose="<u>")
    page = text.to_html(tmp_path / "text.html")
    assert (tmp_path / "text.html").read_text(encoding="utf-8") == page
    found = Texts(page)
    assert found.open == []
    assert not found.tags & {"script", "b", "i", "u", "link", "img", "a"}
    assert set(NASTY[:8]) <= set(found.cells)
    assert "src=" not in page
    assert "@media print" in page


def test_the_page_has_all_questions_of_a_long_survey():
    survey = Survey({f"question {i}": YesNo(optional=True) for i in range(130)}, 1.0)
    cells = Texts(survey.explain().to_html()).cells
    assert all(cells.count(name) == 3 for name in survey.questions)  # asked, sent, mechanism


def test_notebooks_show_the_notes_below_the_text():
    text = nasty().explain()
    assert text._repr_markdown_().startswith(text.to_markdown())
    assert all(note in text._repr_markdown_() for note in text.notes)


def test_markdown_shows_names_as_they_are():
    """Read by a parser of Markdown, the cells are the names, with neither markup nor links in them."""
    markdown = MarkdownIt("commonmark").enable("table")
    text = nasty().explain(controller="*Institute*").to_markdown()
    found = Texts(markdown.render(text))
    assert set(NASTY[:8]) <= set(found.cells)
    assert not found.tags & {"script", "em", "code", "a"}


# The command ----------------------------------------------------------------------------------------------------------


def test_the_command_prints_markdown_and_notes_for_the_study(tmp_path, capsys):
    survey = Survey(BOTH, 2.0)
    path, page = tmp_path / "study.toml", tmp_path / "text.html"
    path.write_text(survey.to_toml())
    assert main(["explain", str(path), "--controller", "Institute", "--epsilon", "1"]) == 0
    printed = capsys.readouterr()
    text = Survey(BOTH, 1.0).explain(controller="Institute")
    assert printed.out == text.to_markdown()
    assert printed.err == "".join(f"Before you use this text: {note}\n" for note in text.notes)
    assert main(["explain", str(path), "--holder", "The clinic", "--html", str(page)]) == 0
    assert page.read_text() == survey.explain(holder="The clinic").to_html()
    assert capsys.readouterr().out == f"{page}\n"


def test_the_command_names_its_option(tmp_path, capsys):
    path = tmp_path / "study.toml"
    path.write_text(Survey({"smoker": YesNo()}, 2.0).to_toml())
    with pytest.raises(SystemExit):
        main(["explain", str(path)])
    assert "or --holder must say who holds the true answers; not optional: 'smoker'" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["explain", str(path), "--holder", "x", "--html", str(path)])
    assert "--html must be another file than the input" in capsys.readouterr().err
