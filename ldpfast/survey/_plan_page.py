"""The plan of a survey as one page of HTML, for a committee that decides about the study."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._html_page import html_page, page_table, paragraph, pictures
from .._odds import belief_text, people_for, right_guesses, round_up, times_text
from .._plots import BLACK, draw_grid, figure, text_of
from ..reports import recipe_of
from ._client_table import required_questions
from ._survey_facts import how_many, listed_questions, turns_of
from ._survey_plan import QUANTILES, SurveyPlan, curve, places_of_units

if TYPE_CHECKING:
    from .._typing import Floats
    from ._survey import Survey

EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)  # of a plan without a choice of epsilon
# Numbers of people in pictures: the ends, times n, and how many.
FEWEST = 0.1
MOST = 10.0
POINTS = 25
MAX_CURVES = 6  # of a picture, with the one without privacy
MAX_PICTURES = 12
LONGEST_NAMES = 40  # characters of the names of questions with the same curve
NORMAL = 1.96  # standard errors on each side of an interval with 95 %


def plan_page(surveys: Sequence[Survey], plans: Sequence[SurveyPlan], title: str) -> str:
    """Return the plan of a survey as one page without external resources.

    Parameters
    ----------
    surveys : sequence of Survey
        The survey, or the same survey with several values of epsilon between which the committee chooses.
    plans : sequence of SurveyPlan
        A plan of each, with a comparison, for the same number of people.
    title : str
        Title of the page.
    """
    # The sections follow the questions of a committee: what is asked, what is promised, how precise, and what is not covered.
    plan = plans[0]
    parts = [
        paragraph(
            f"{_with_number(len(plan.names), 'question')} to {_with_number(_people(plan), 'person', 'people')}. "
            f"{_answers_text(surveys)}"
        ),
        "<h2>What people are asked</h2>",
        *_questions(surveys),
        "<h2>The promise to each person</h2>",
        *_promise(surveys),
        "<h2>How precise the results will be</h2>",
        *_precision(surveys, plans),
        *_waves(surveys, plans),
        "<h2>Pictures</h2>",
        *_pictures(surveys, plans),
        "<h2>Differences between two groups</h2>",
        *_differences(surveys, plans),
        "<h2>What this does not cover</h2>",
        _not_covered(surveys[0]),
        "<h2>For the reviewer of the method</h2>",
        *_mechanisms(surveys),
    ]
    return html_page(title, parts)


# Questions and promise ------------------------------------------------------------------------------------------------


def _people(plan: SurveyPlan) -> int:
    """Return the number of all people, in all waves together."""
    return plan.n if plan.waves is None else plan.waves.people


def _with_number(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _answers_text(surveys: Sequence[Survey]) -> str:
    asked = len(surveys[0].mechanisms)
    numbers = [survey.answers for survey in surveys]
    if len(set(numbers)) == 1:
        return f"Each person answers {how_many(numbers[0], asked)}." if asked > 1 else ""
    listed = "; ".join(
        f"with epsilon {survey.epsilon:g}, {number if number < asked else 'all'}"
        for survey, number in zip(surveys, numbers, strict=True)
    )
    return f"Each person answers some of them, drawn at random without looking at the answers: {listed}."


def _questions(surveys: Sequence[Survey]) -> Iterator[str]:
    """Yield the table of the questions, and a warning where some of them cannot be asked by devices."""
    listed = [listed_questions(survey.questions, recipe_of(survey)) for survey in surveys]
    columns: dict[str, list[Any]] = {"question": [], "answer": [], "may be left out": [], "how often asked": []}
    for same in zip(*listed, strict=True):
        question, parts = same[0], [100 * float(each.share) for each in same]
        fewest, most = (f"{limit:.3g}" for limit in (min(parts), max(parts)))
        often = f"{fewest}{f' to {most}' * (fewest != most)} % of people"
        columns["question"].append(question.name)
        columns["answer"].append(question.answer)
        columns["may be left out"].append({True: "yes", False: "no", None: ""}[question.optional])
        columns["how often asked"].append(often if question.share else "with others only")
    yield page_table(columns, ("question", "answer", "may be left out"))
    required = required_questions(recipe_of(surveys[0]).declared)
    if required:
        yield paragraph(
            "Devices need optional questions: a device must not refuse a missing answer, so this survey cannot be sent to "
            f"devices. Not optional: {', '.join(required)}. Somebody who holds the answers of all people can randomize them; "
            "the promise below is then against everybody else.",
            "warning",
        )


def _promise(surveys: Sequence[Survey]) -> Iterator[str]:
    """Yield the promise in words, and with several epsilons the table of their ratios and odds."""
    waves = _all_waves(surveys[0])
    together = f"for all answers of a person{waves} together"
    yield paragraph(
        "Each answer is changed at random before it is sent. What is sent could have come from any other answers as well. "
        "How much more likely it is for the true answers is limited:"
    )
    epsilons = [survey.guarantee.epsilon for survey in surveys]
    if len(surveys) == 1:
        (epsilon,) = epsilons
        people = people_for(epsilon)
        yield (
            "<blockquote>Whatever a person answers, and whatever an observer knows already, what is sent is at most "
            f"{times_text(epsilon)} times as likely as with any other answers (epsilon = {round_up(epsilon, 4):g}, "
            f"{together}). An observer who thinks that somebody has a certain property with a probability of 50 % thinks "
            f"so with at most {belief_text(epsilon)} afterwards: instead of {people // 2:,} of {people:,} such guesses, "
            f"at most {right_guesses(epsilon, people):,} are right.</blockquote>"
        )
    else:
        columns = {
            "epsilon": [f"{round_up(epsilon, 4):g}" for epsilon in epsilons],
            "largest ratio of probabilities": [*map(times_text, epsilons)],
            "a belief of 50 % becomes at most": [*map(belief_text, epsilons)],
        }
        yield page_table(columns, ())
        yield paragraph(f"Epsilon is {together}.")
    if surveys[0].open_ended:
        yield paragraph(
            "The survey goes on: in every further period a person loses as much again, and the losses add up."
        )


def _all_waves(survey: Survey) -> str:
    """Return what all answers of a person are in, for a survey with waves."""
    return "" if survey.waves is None else " in all waves of a period" if survey.open_ended else " in all waves"


def _not_covered(survey: Survey) -> str:
    points = [
        "Whether somebody took part is visible.",
        "A person who answers another survey, or this one again, loses more; the losses add up.",
        "The device of the person knows the answers. What else it stores or sends is not covered.",
        "Possible answers and ranges must be public knowledge, not taken from the data.",
        "What the results say about a group is also true of its members who did not take part.",
    ]
    if survey.waves is not None:
        points[1:1] = ["In which wave somebody was asked is visible.", "The promise is for one answer to each wave."]
    return f"<ul>{''.join(f'<li>{point}</li>' for point in points)}</ul>"


# Precision ------------------------------------------------------------------------------------------------------------


def _precision(surveys: Sequence[Survey], plans: Sequence[SurveyPlan]) -> Iterator[str]:
    """Yield the standard errors, what they assume, and with one epsilon those of quantiles."""
    plan = plans[0]
    columns = _named(plan)
    if len(surveys) == 1:
        columns["standard error"] = plan.expected.tolist()
        columns["95 % interval, about +-"] = [
            "" if unit.startswith("median") else NORMAL * error  # whose intervals are not normal
            for unit, error in zip(plan.units, plan.expected.tolist(), strict=True)
        ]
    else:
        columns |= _by_epsilon(surveys, [other.expected for other in plans])
    assert plan.nonprivate is not None
    columns["without privacy"] = plan.nonprivate.tolist()
    yield page_table(columns)
    yield paragraph(_assumptions(plan))
    if len(surveys) == 1 and plan.quantiles is not None:
        yield page_table(plan.quantiles.columns, note=QUANTILES)


def _named(plan: SurveyPlan) -> dict[str, list[Any]]:
    """Return the columns of the questions and their units."""
    return {"question": list(plan.names), "unit": list(plan.units)}


def _by_epsilon(surveys: Sequence[Survey], numbers: Sequence[NDArray[Any]]) -> dict[str, list[Any]]:
    """Return a column of numbers for each epsilon; "none" where no mechanism, or no number of people, is enough."""
    return {f"epsilon {survey.epsilon:g}": _finite(each) for survey, each in zip(surveys, numbers, strict=True)}


def _finite(numbers: NDArray[Any]) -> list[Any]:
    return [number if math.isfinite(number) else "none" for number in numbers.tolist()]


def _assumptions(plan: SurveyPlan) -> str:
    """Return for which answers the standard errors hold."""
    assumed = list(zip(plan.names, plan.assumed, strict=True))
    known = [name for name, each in assumed if each == "as expected"]
    texts = [name for name, each in assumed if each.startswith("a string")]
    medians = [name for name, each in assumed if each.startswith("the median")]
    note = "No standard error is larger, whatever people answer"
    if known:
        note += f", except for {', '.join(known)}: there it is for the answers that are expected"
    if texts:
        note += f"; for the texts of {', '.join(texts)} it is for a text that 1 % of people have"
    if medians:
        note += f"; for the numbers of {', '.join(medians)} it is for the median of a uniform distribution"
    wave = "" if plan.waves is None else " All are of one wave."
    return f"{note}.{wave} {_response_text(plan)} Without privacy, everybody answers all questions."


def _response_text(plan: SurveyPlan) -> str:
    """Return how many people are assumed to answer."""
    if all(rate == 1 for rate in plan.response):
        return "All people are assumed to answer; if fewer do, standard errors are larger."
    if len(set(plan.response)) == 1:
        return f"{100 * plan.response[0]:g} % of the people who are asked are assumed to answer."
    rates = ", ".join(f"{100 * rate:g} % {name}" for name, rate in zip(plan.names, plan.response, strict=True))
    return f"Of the people who are asked, so many are assumed to answer: {rates}."


def _waves(surveys: Sequence[Survey], plans: Sequence[SurveyPlan]) -> Iterator[str]:
    """Yield what is known about the waves of a survey; nothing for a survey without waves."""
    survey, first = surveys[0], plans[0].waves
    if first is None:
        return
    yield "<h2>Waves</h2>"
    assert survey.waves is not None
    yield paragraph(
        f"The survey has {survey.waves} waves{' in each period' * survey.open_ended}. Each of the {first.people:,} people "
        f"answers in {turns_of(survey.turns, survey.waves)}, so that a wave has {plans[0].n:,} people. Precision and "
        "differences on this page are those of one wave, and the promise is for all waves"
        f"{' of a period' * survey.open_ended} together."
    )
    waves = [plan.waves for plan in plans if plan.waves is not None]
    numbers = {
        "one wave": [each.stderr for each in waves],
        "difference of two waves": [each.difference for each in waves],
        "all waves together": [each.pooled for each in waves if each.pooled is not None],
        "one wave, if everybody answered with a part of epsilon": [each.split for each in waves],
    }
    if len(surveys) == 1:
        yield page_table(_named(plans[0]) | {name: _finite(each[0]) for name, each in numbers.items() if each})
        return
    for name, each in numbers.items():
        if each and name != "one wave":  # which is above
            yield f"<h3>Standard errors: {name}</h3>"
            yield page_table(_named(plans[0]) | _by_epsilon(surveys, each))


def _differences(surveys: Sequence[Survey], plans: Sequence[SurveyPlan]) -> Iterator[str]:
    """Yield the smallest differences that are found, and the people that wanted ones need."""
    plan, found = plans[0], [each.comparison for each in plans if each.comparison is not None]
    first, is_one = found[0], len(surveys) == 1
    of_wave = " of one wave" * (plan.waves is not None)
    yield paragraph(
        f"The people{of_wave} are divided into two groups of equal size. The table has the smallest difference that a test at "
        f"level {first.alpha:g} finds with probability {first.power:g}; smaller ones are likely to be missed. It is one of a "
        "share of yes, of a mean, of a median, or of the share of one label while the others change by equal parts of it."
    )
    columns, smallest = _named(plan), [each.smallest for each in found]
    yield page_table(
        columns | ({"smallest difference": _finite(smallest[0])} if is_one else _by_epsilon(surveys, smallest))
    )
    if first.differences:
        wanted: dict[str, list[Any]] = {
            "question": list(first.differences),
            "difference": list(first.differences.values()),
        }
        for survey, each in zip(surveys, found, strict=True):
            ending = "" if is_one else f", epsilon {survey.epsilon:g}"
            wanted[f"people{of_wave}{ending}"] = [f"{each.needed[name]:,}" for name in first.differences]
            if survey.waves is not None:
                wanted[f"people of all waves{ending}"] = [
                    f"{-(-each.needed[name] * survey.waves // survey.turns):,}" for name in first.differences
                ]
        yield "<h3>People that wanted differences need</h3>"
        yield page_table(wanted, ("question",))


# Pictures -------------------------------------------------------------------------------------------------------------


def _pictures(surveys: Sequence[Survey], plans: Sequence[SurveyPlan]) -> Iterator[str]:
    """Yield the standard errors against the number of people, in pictures with few curves."""
    plan = plans[0]
    of_wave = " of one wave" * (plan.waves is not None)
    drawn = list(_curves(surveys, plans))
    shown = drawn[:MAX_PICTURES]
    left = f" {len(drawn) - len(shown)} more pictures are left out; the tables have all numbers." * (
        len(drawn) > len(shown)
    )
    worst = ", for the question with the largest one" * (len(surveys) > 1)
    yield paragraph(
        f"Standard errors against the number of people{of_wave}{worst}. The dashed line is without privacy, where everybody "
        "answers all questions, for the question with the largest one. The vertical line is the planned number of people. "
        f"Both axes are logarithmic.{left}"
    )
    n = plan.n * np.geomspace(FEWEST, MOST, POINTS)
    yield pictures(
        (_drawn(plan.n, n, unit, curves), f"Standard error ({unit}) of {', '.join(curves)}") for unit, curves in shown
    )


Curves = dict[str, tuple[float, float]]  # standard error with n people, and the part of it that does not fall, by label


def _curves(surveys: Sequence[Survey], plans: Sequence[SurveyPlan]) -> Iterator[tuple[str, Curves]]:
    """Yield the unit and the curves of each picture; the last curve is without privacy."""
    plan = plans[0]
    assert plan.nonprivate is not None
    for unit, places in places_of_units(plan.units).items():
        of_epsilons = len(surveys) > 1
        found = (
            _curves_of_epsilons(surveys, plans, places)
            if of_epsilons
            else _curves_of_questions(surveys[0], plan, places)
        )
        for curves, members in found:
            yield unit, {**curves, "without privacy": (float(plan.nonprivate[members].max()), 0.0)}


def _curves_of_epsilons(
    surveys: Sequence[Survey], plans: Sequence[SurveyPlan], places: list[int]
) -> Iterator[tuple[Curves, list[int]]]:
    """Yield one curve for each epsilon, of the question with the largest standard error, and the places of all questions."""
    curves = {}
    for survey, plan in zip(surveys, plans, strict=True):
        worst = places[int(np.argmax(plan.expected[places]))]
        curves[f"epsilon {survey.epsilon:g}"] = float(plan.expected[worst]), _fixed(survey, worst)
    yield curves, places


def _curves_of_questions(survey: Survey, plan: SurveyPlan, places: list[int]) -> Iterator[tuple[Curves, list[int]]]:
    """Yield the curves of a few questions and their places; questions with the same standard errors have one curve."""
    same: dict[tuple[str, float], list[int]] = {}
    for place in places:
        same.setdefault((f"{plan.expected[place]:.3g}", _fixed(survey, place)), []).append(place)
    groups = list(same.values())
    for start in range(0, len(groups), MAX_CURVES - 1):
        some = groups[start : start + MAX_CURVES - 1]
        curves = {
            _names([plan.names[place] for place in group]): (
                float(plan.expected[group].max()),
                _fixed(survey, group[0]),
            )
            for group in some
        }
        yield curves, [place for group in some for place in group]


def _fixed(survey: Survey, place: int) -> float:
    """Return the part of the standard error of a question that does not fall with the number of people."""
    return math.sqrt(recipe_of(survey).items[place].form.collision_variance)


def _names(names: list[str]) -> str:
    """Return the label of a curve that several questions have."""
    text = ", ".join(names)
    return text if len(names) == 1 or len(text) <= LONGEST_NAMES else f"{names[0]} and {len(names) - 1} more"


def _drawn(planned: int, n: Floats, unit: str, curves: Curves) -> Any:
    """Return a figure with one panel."""
    page = figure(4.6, 2.7 + 0.19 * len(curves))
    ax = page.subplots()
    for at, (label, (error, fixed)) in enumerate(curves.items()):
        is_last = at == len(curves) - 1
        style = {"color": BLACK, "linestyle": (0, (5, 5)), "linewidth": 0.9} if is_last else curve(at)
        ax.plot(n, np.sqrt((error**2 - fixed**2) * planned / n + fixed**2), label=text_of(label), **style)
    ax.axvline(planned, color="0.5", linewidth=0.8)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.xaxis.set_major_formatter(lambda number, _: f"{number:,.15g}")
    ax.yaxis.set_major_formatter(lambda number, _: f"{number:g}")
    ax.set_xlabel("number of people")
    ax.set_title(f"standard error ({unit})", fontsize=10, loc="left")
    draw_grid(ax)
    page.legend(fontsize=9, loc="outside lower left", frameon=False)
    return page


# Method ---------------------------------------------------------------------------------------------------------------


def _mechanisms(surveys: Sequence[Survey]) -> Iterator[str]:
    """Yield the mechanisms of the answers."""
    survey = surveys[0]
    columns: dict[str, list[Any]] = {"question": [], "mechanism": [], "bytes": []}
    for name, mechanism in survey.mechanisms.items():
        columns["question"].append(name)
        columns["mechanism"].append(repr(mechanism))
        columns["bytes"].append(str(mechanism.report.nbytes))
    yield paragraph(
        "Each answer is privatized by the mechanism below, in the local model of differential privacy. The probabilities are "
        "integers over a power of two, rounded toward more privacy, and the random numbers are cryptographic."
    )
    if len(surveys) > 1:
        yield paragraph(f"With epsilon {survey.epsilon:g}; other values have other parameters.")
    yield page_table(columns, ("question", "mechanism"))
