"""The page for a committee: waves, several epsilons, curves that are right for every number of people, and a warning."""

from __future__ import annotations

import html
import math
import re

import numpy as np
import pytest

from ldpfast.cli import main
from ldpfast.survey import Choice, Mean, Survey, Text, YesNo

QUESTIONS = {"smoker": YesNo(optional=True), "visits": Mean(0, 20, optional=True)}


def page_of(survey, folder, *options, epsilon=True):
    """Return the page that the command writes for a survey, with 20,000 people."""
    path, page = folder / "study.toml", folder / "plan.html"
    text = survey.to_toml()
    path.write_text(text if epsilon else re.sub("epsilon = .*", "", text))
    assert main(["plan", str(path), "--n", "20000", *options, "--html", str(page)]) == 0
    return page.read_text()


def rows_of(page, heading):
    """Return the cells of the first table after a heading."""
    after = page[page.index(f">{heading}<") :]
    table = after[: after.index("</table>")]
    rows = [re.findall("<t[dh][^>]*>(.*?)</t[dh]>", row) for row in re.findall("<tr>(.*?)</tr>", table)]
    return [[html.unescape(cell) for cell in row] for row in rows]


def pictures_of(page):
    """Return of each picture the first and last points of its curves, in its own coordinates, by the texts of the legend."""
    found = []
    for picture in re.findall("<figure.*?</figure>", page, re.DOTALL):
        body, legend = picture.split('-legend_1">')
        curves = re.findall(r'<path d="M ([\d.]+) ([\d.]+) \n(?:L [^"]* \n)?L ([\d.]+) ([\d.]+) \n" clip-path', body)
        colored = [curve for curve in curves if curve[1] != curve[3] and curve[0] != curve[2]]  # neither grid nor mark
        labels = re.findall("<text [^>]*>(.*?)</text>", legend)
        assert len(colored) == len(labels)
        found.append({label: [*map(float, curve)] for label, curve in zip(labels, colored, strict=True)})
    return found


def test_epsilon_is_rounded_up(tmp_path):
    """A committee must not read a promise that is stronger than the survey keeps."""
    assert "(epsilon = 2.719, for all" in page_of(Survey({"smoker": YesNo(optional=True)}, 2.71828), tmp_path)


def test_people_who_answer_in_all_waves(tmp_path):
    page = page_of(Survey(QUESTIONS, 2.0, waves=2, turns=2), tmp_path)
    assert "answers in all of them, so that a wave has 20,000 people" in page


def test_a_survey_for_devices_has_no_warning_and_others_name_the_questions(tmp_path):
    survey = Survey(QUESTIONS, 2.0)
    assert "Devices need optional questions" not in page_of(survey, tmp_path)
    page = page_of(Survey({**QUESTIONS, "way": Choice(3), "<i>": YesNo()}, 2.0), tmp_path)
    assert "Devices need optional questions" in page
    assert "Not optional: way, &lt;i&gt;." in page
    with pytest.raises(ValueError, match="every question must be optional for a client"):
        Survey({**QUESTIONS, "way": Choice(3)}, 2.0).client()


@pytest.mark.parametrize("turns, open_ended", [(1, False), (2, False), (1, True)])
def test_waves_with_one_epsilon(tmp_path, turns, open_ended):
    survey = Survey(QUESTIONS, 2.0, waves=4, turns=turns, open_ended=open_ended)
    page = page_of(survey, tmp_path, "--compare", "smoker=0.1", "--response", "0.7")
    plan = survey.plan(20_000, compare={"smoker": 0.1}, response=0.7)
    columns = [plan.expected, plan.waves.difference, plan.waves.pooled, plan.waves.split]
    shown = np.array([row[2:] for row in rows_of(page, "Waves")[1:]], float)
    np.testing.assert_allclose(shown.T, [column for column in columns if column is not None], rtol=1e-3)
    assert [row[2] for row in rows_of(page, "How precise the results will be")[1:]] == [
        f"{x:.4g}" for x in plan.expected
    ]
    needed = plan.comparison.needed["smoker"]
    everyone = math.ceil(needed * 4 / turns)
    assert rows_of(page, "People that wanted differences need") == [
        ["question", "difference", "people of one wave", "people of all waves"],
        ["smoker", "0.1", f"{needed:,}", f"{everyone:,}"],
    ]
    assert survey.plan(compare={"smoker": 0.1}, response=0.7).waves.people == everyone
    together = "in all waves of a period together" if open_ended else "in all waves together"
    assert f"(epsilon = {survey.guarantee.epsilon:.4g}, for all answers of a person {together})" in page
    assert ("in every further period a person loses as much again" in page) == open_ended
    assert f"so that a wave has {20_000 * turns // 4:,} people" in page


def test_waves_with_several_epsilons(tmp_path):
    """Each table of the section has the numbers of all epsilons."""
    survey = Survey(QUESTIONS, 2.0, waves=3)
    page = page_of(survey, tmp_path, "--compare", "visits=2", epsilon=False)
    plans = [Survey(QUESTIONS, e, waves=3).plan(20_000, compare={"visits": 2.0}) for e in (0.5, 1.0, 2.0, 4.0, 8.0)]
    for heading, numbers in {
        "Standard errors: difference of two waves": [plan.waves.difference for plan in plans],
        "Standard errors: all waves together": [plan.waves.pooled for plan in plans],
        "Standard errors: one wave, if everybody answered with a part of epsilon": [plan.waves.split for plan in plans],
        "Differences between two groups": [plan.comparison.smallest for plan in plans],
    }.items():
        head, *rows = rows_of(page, heading)
        assert head == ["question", "unit", *(f"epsilon {e:g}" for e in (0.5, 1, 2, 4, 8))]
        assert [row[2:] for row in rows] == [[f"{x:.4g}" for x in row] for row in np.array(numbers).T]
    (row,) = rows_of(page, "People that wanted differences need")[1:]
    needed = [plan.comparison.needed["visits"] for plan in plans]
    assert row[2::2] == [f"{people:,}" for people in needed]
    assert row[3::2] == [f"{3 * people:,}" for people in needed]


def test_numbers_of_answers_that_depend_on_epsilon_are_all_stated(tmp_path):
    survey = Survey({f"q{i}": YesNo() for i in range(4)}, 2.0, answers="auto")
    text = survey.to_toml().replace(f"answers = {survey.answers}", 'answers = "auto"')
    path, page = tmp_path / "study.toml", tmp_path / "plan.html"
    path.write_text(re.sub("epsilon = .*", "", text))
    assert main(["plan", str(path), "--n", "1000", "--html", str(page)]) == 0
    numbers = [Survey.from_toml(text, epsilon=e).answers for e in (0.5, 1, 2, 4, 8)]
    assert len(set(numbers)) > 1
    stated = re.findall(r"with epsilon [\d.]+, (\d|all)", page.read_text())
    assert stated == [str(number) if number < 4 else "all" for number in numbers]
    assert (
        rows_of(page.read_text(), "What people are asked")[1][3]
        == f"{25 * min(numbers)} to {25 * max(numbers)} % of people"
    )


def test_what_no_study_finds_is_none(tmp_path):
    survey = Survey({"smoker": YesNo()}, 1.0)
    path, page = tmp_path / "study.toml", tmp_path / "plan.html"
    path.write_text(survey.to_toml())
    assert main(["plan", str(path), "--n", "4", "--html", str(page)]) == 0
    assert rows_of(page.read_text(), "Differences between two groups")[1] == ["smoker", "share", "none"]
    assert "inf" not in re.findall(">([^<>]*)</td>", page.read_text())


@pytest.mark.parametrize(
    "epsilon, times, belief",
    [(3.0, "20.1", "95.3 %"), (20.0, "485,165,196", "99.9999998 %"), (40.0, "e^39.992", "100 %")],
)
def test_the_promise_is_rounded_toward_more_loss(tmp_path, epsilon, times, belief):
    page = page_of(Survey({"smoker": YesNo(optional=True)}, epsilon), tmp_path)
    assert f"is at most {times} times as likely as with any other answers" in page
    assert f"thinks so with at most {belief} afterwards" in page


# Pictures -------------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_picture_has_at_most_six_curves(tmp_path):
    """Questions with the same standard error share a curve, and every question is in a legend."""
    names = [f"q{i}" for i in range(11)]
    different = {name: Choice(i + 2) for i, name in enumerate(names)}
    same = {f"same {i}": YesNo() for i in range(3)}
    found = pictures_of(page_of(Survey({**different, **same, "visits": Mean(0, 9)}, 2.0), tmp_path))
    assert len(found) == 4
    for curves in found:
        assert 2 <= len(curves) <= 6
        assert list(curves)[-1] == "without privacy"
    assert [label for curves in found for label in list(curves)[:-1]] == [
        "q0, same 0, same 1, same 2",
        *names[1:],
        "visits",
    ]
    several = pictures_of(page_of(Survey({"a": YesNo(), "b": Choice(5)}, 2.0), tmp_path, epsilon=False))
    assert [list(curves) for curves in several] == [
        [*(f"epsilon {e}" for e in ("0.5", "1", "2", "4", "8")), "without privacy"]
    ]


@pytest.mark.long
def test_pictures_beyond_the_twelfth_are_counted(tmp_path):
    page = page_of(Survey({f"q{i}": Mean(0, i + 1) for i in range(14)}, 2.0), tmp_path)
    assert page.count("<figure") == 12
    assert "2 more pictures are left out; the tables have all numbers." in page


def test_curves_are_the_standard_errors_of_other_numbers_of_people(tmp_path):
    """The error by collisions of texts does not fall with the number of people. The curve without privacy gives the scale."""
    survey = Survey({"word": Text(max_bytes=8)}, 4.0)
    path, page = tmp_path / "study.toml", tmp_path / "plan.html"
    path.write_text(survey.to_toml())
    assert main(["plan", str(path), "--n", "1e6", "--html", str(page)]) == 0
    (curves,) = pictures_of(page.read_text())
    x0, y0, x1, y1 = curves["without privacy"]
    first, second = (survey.plan(n).nonprivate[0] for n in (100_000, 10_000_000))
    scale = (y1 - y0) / math.log(second / first)
    left, start, right, end = curves["word"]
    assert (left, right) == (x0, x1)
    for n, y in ((100_000, start), (10_000_000, end)):
        assert first * math.exp((y - y0) / scale) == pytest.approx(survey.plan(n).expected[0], rel=1e-4)


def test_pictures_have_descriptions_and_different_identifiers(tmp_path):
    page = page_of(Survey({"<b>": YesNo(), "visits": Mean(0, 20)}, 2.0), tmp_path)
    identifiers = re.findall(r'\bid="([^"]+)"', page)
    assert len(identifiers) == len(set(identifiers)) > 20
    assert set(re.findall(r'(?:url\(#|href="#)([^)"]+)', page)) <= set(identifiers)
    assert re.findall('aria-label="([^"]+)"', page) == [
        "Standard error (share) of &lt;b&gt;, without privacy",
        "Standard error (mean in [0, 20]) of visits, without privacy",
    ]
