"""The plan of a survey as one page of HTML, for a committee that decides about the study."""

from __future__ import annotations

import html
import io
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._extras import optional
from .._html_page import belief_text, html_page, scrolled, times_text
from .._plots import BLACK, text_of
from .._table import Table, html_table
from ..reports import recipe_of
from ._cross import Cross
from ._pairs import Pairs
from ._survey_plan import QUANTILES, SurveyPlan, curve, finish_panel, panels_of_units

if TYPE_CHECKING:
    from ._survey import Survey

EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)  # of a plan without a choice of epsilon
# Numbers of people in pictures: the ends, times n, and how many.
FEWEST = 0.1
MOST = 10.0
POINTS = 25


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
    survey, plan = surveys[0], plans[0]
    of_wave = " of one wave" * (plan.waves is not None)
    parts = [
        f"<h1>{html.escape(title)}</h1>",
        f"<p>{_with_number(len(plan.names), 'question')} to {_with_number(_people(plan), 'person', 'people')}. "
        f"{_answers_text(survey)}</p>",
        "<h2>What people are asked</h2>",
        scrolled(_questions_table(survey)),
        "<h2>The promise to each person</h2>",
        *_promise(surveys),
        "<h2>How precise the results will be</h2>",
        *_precision(surveys, plans),
        *_waves(survey, plan),
        "<h2>Pictures</h2>",
        f"<p>Largest standard errors against the number of people{of_wave}"
        f"{' for the question with the largest one' * (len(surveys) > 1)}. Dashed lines are without privacy, where everybody "
        "answers all questions. Both axes are logarithmic.</p>",
        _picture(surveys, plans),
        "<h2>Differences between two groups</h2>",
        *_differences(surveys, plans),
        "<h2>What this does not cover</h2>",
        "<ul><li>Whether somebody took part is visible.</li>"
        "<li>A person who answers another survey, or this one again, loses more; the losses add up.</li>"
        "<li>The device of the person knows the answers. What else it stores or sends is not covered.</li>"
        "<li>Possible answers and ranges must be public knowledge, not taken from the data.</li></ul>",
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


def _answers_text(survey: Survey) -> str:
    asked = len(survey.mechanisms)
    if survey.answers == asked:
        return "Each person answers all of them." if asked > 1 else ""
    some = "one of them" if survey.answers == 1 else f"{survey.answers} of them"
    return f"Each person answers {some}, which is drawn at random without looking at the answers."


def _questions_table(survey: Survey) -> str:
    columns: dict[str, list[str]] = {"question": [], "answer": [], "may be left out": [], "how often asked": []}
    shares = {
        item.name: item.weight * survey.answers if survey.answers == 1 else None for item in recipe_of(survey).items
    }
    for name, question in survey.questions.items():
        share = shares.get(name, 0)
        if isinstance(question, Cross):
            text, is_optional = f"the questions {' and '.join(question.parts)} together", ""
        elif isinstance(question, Pairs):
            text = f"some of the questions {', '.join(question.parts)}, drawn at random, together"
            is_optional = ""
        else:
            column = recipe_of(survey).declared[name]
            text, is_optional = column.answer_text(), "yes" if column.optional else "no"
        part = survey.answers / len(survey.mechanisms) if share is None else float(share)
        columns["question"].append(name)
        columns["answer"].append(text)
        columns["may be left out"].append(is_optional)
        columns["how often asked"].append(f"{100 * part:.3g} % of people" if part else "with others only")
    return html_table(columns, ("question", "answer", "may be left out"))


def _promise(surveys: Sequence[Survey]) -> list[str]:
    epsilon = max(survey.guarantee.epsilon for survey in surveys)
    text = [
        "<p>Each device changes the answer at random before it sends anything, and nobody ever holds the true answers. "
        "What it sends could have come from any other answers as well. How much more likely it is for the true answers "
        "is limited:</p>"
    ]
    if len(surveys) == 1:
        text.append(
            f"<blockquote>Whatever a person answers, and whatever an observer knows already, what is sent is at most "
            f"{times_text(epsilon)} times as likely as with any other answers (epsilon = {epsilon:.4g}, for all answers "
            "of a person together). An observer who thinks that somebody has a certain property with a probability of 50 % "
            f"thinks so with at most {belief_text(epsilon)} afterwards.</blockquote>"
        )
        return text
    epsilons = [survey.guarantee.epsilon for survey in surveys]
    columns = {
        "epsilon": [f"{epsilon:.4g}" for epsilon in epsilons],
        "largest ratio of probabilities": [times_text(epsilon) for epsilon in epsilons],
        "a belief of 50 % becomes at most": [belief_text(epsilon) for epsilon in epsilons],
    }
    return [*text, scrolled(html_table(columns)), "<p>Epsilon is for all answers of a person together.</p>"]


# Precision ------------------------------------------------------------------------------------------------------------


def _precision(surveys: Sequence[Survey], plans: Sequence[SurveyPlan]) -> list[str]:
    plan = plans[0]
    columns: dict[str, list[Any]] = {"question": list(plan.names), "unit": list(plan.units)}
    if len(surveys) == 1:
        columns["standard error"] = plan.expected.tolist()
        columns["95 % interval, +-"] = [
            "" if unit.startswith("median") else 1.96 * error  # whose intervals are not normal
            for unit, error in zip(plan.units, plan.expected.tolist(), strict=True)
        ]
    else:
        for survey, other in zip(surveys, plans, strict=True):
            columns[f"epsilon {survey.epsilon:g}"] = other.expected.tolist()
    assert plan.nonprivate is not None
    columns["without privacy"] = plan.nonprivate.tolist()
    known = [name for name, assumed in zip(plan.names, plan.assumed, strict=True) if assumed == "as expected"]
    note = "No standard error is larger, whatever people answer"
    if known:
        note += f", but for the questions {', '.join(known)}: theirs are for the answers that are expected"
    texts = [name for name, assumed in zip(plan.names, plan.assumed, strict=True) if assumed.startswith("a string")]
    if texts:
        note += f"; those of the texts {', '.join(texts)} are for a text that 1 % of people have"
    medians = [name for name, assumed in zip(plan.names, plan.assumed, strict=True) if assumed.startswith("the median")]
    if medians:
        note += f"; those of the numbers {', '.join(medians)} are for the median of a uniform distribution"
    note += f". {_response_text(plan)} Without privacy, everybody answers all questions."
    quantiles = [] if len(surveys) > 1 or plan.quantiles is None else [scrolled(plan.quantiles._html(QUANTILES))]
    return [scrolled(Table(columns)._html()), f"<p>{html.escape(note)}</p>", *quantiles]


def _response_text(plan: SurveyPlan) -> str:
    """Return how many people are assumed to answer."""
    if all(rate == 1 for rate in plan.response):
        return "All people are assumed to answer; if fewer do, standard errors are larger."
    if len(set(plan.response)) == 1:
        return f"{100 * plan.response[0]:g} % of the people who are asked are assumed to answer."
    rates = ", ".join(f"{100 * rate:g} % {name}" for name, rate in zip(plan.names, plan.response, strict=True))
    return f"Of the people who are asked, so many are assumed to answer: {rates}."


def _waves(survey: Survey, plan: SurveyPlan) -> list[str]:
    """Return what is known about the waves of a survey, as paragraphs and a table; nothing for a survey without waves."""
    if plan.waves is None:
        return []
    waves, turns = survey.waves, survey.turns
    turn = "one of them" if turns == 1 else f"{turns} of them"
    text = (
        f"<p>The survey has {waves} waves{' in each period' * bool(survey.open_ended)}. Each of the "
        f"{plan.waves.people:,} people answers in {turn}, drawn at random, so that a wave has {plan.n:,} people. Precision and "
        "differences on this page are those of one wave, and the promise is for all waves"
        f"{' of a period' * bool(survey.open_ended)} together.</p>"
    )
    columns: dict[str, list[Any]] = {"question": list(plan.names), "unit": list(plan.units)}
    columns["one wave"] = plan.waves.stderr.tolist()
    columns["difference of two waves"] = plan.waves.difference.tolist()
    if plan.waves.pooled is not None:
        columns["all waves together"] = plan.waves.pooled.tolist()
    columns["one wave, if everybody answered with a part of epsilon"] = plan.waves.split.tolist()
    return ["<h2>Waves</h2>", text, scrolled(Table(columns)._html())]


def _differences(surveys: Sequence[Survey], plans: Sequence[SurveyPlan]) -> list[str]:
    first = plans[0].comparison
    assert first is not None
    of_wave = " of one wave" * (plans[0].waves is not None)
    text = (
        f"<p>If the people{of_wave} are divided into two groups of equal size, a test at level {first.alpha:g} finds "
        f"the following differences with probability {first.power:g}. Smaller ones are likely to be missed. The difference is "
        "one of a share of yes, of a mean, of a median, or of the share of one label while the others change by equal parts of "
        "it.</p>"
    )
    columns: dict[str, list[Any]] = {"question": list(plans[0].names), "unit": list(plans[0].units)}
    for survey, plan in zip(surveys, plans, strict=True):
        assert plan.comparison is not None
        ending = "" if len(surveys) == 1 else f", epsilon {survey.epsilon:g}"
        columns[f"smallest difference{ending}"] = plan.comparison.smallest.tolist()
    if first.differences:
        columns["wanted"] = [first.differences.get(name, "") for name in plans[0].names]
        for survey, plan in zip(surveys, plans, strict=True):
            assert plan.comparison is not None
            ending = "" if len(surveys) == 1 else f", epsilon {survey.epsilon:g}"
            needed = plan.comparison.needed
            columns[f"people needed{ending}"] = [f"{needed[name]:,}" if name in needed else "" for name in plan.names]
    return [text, scrolled(Table(columns)._html())]


def _picture(surveys: Sequence[Survey], plans: Sequence[SurveyPlan]) -> str:
    """Return a picture of the standard errors against the number of people, one panel per unit, as SVG."""
    n = plans[0].n * np.geomspace(FEWEST, MOST, POINTS)
    scale = math.sqrt(plans[0].n) / np.sqrt(n)
    page, panels = panels_of_units(plans[0].units)
    for ax, (unit, places) in panels:
        if len(surveys) == 1:
            errors = {text_of(plans[0].names[place]): plans[0].expected[place] for place in places}
        else:
            pairs = zip(surveys, plans, strict=True)
            errors = {f"epsilon {survey.epsilon:g}": plan.expected[places].max() for survey, plan in pairs}
        for at, (label, error) in enumerate(errors.items()):
            ax.plot(n, error * scale, label=label, **curve(at))
        assert plans[0].nonprivate is not None
        without = {float(plans[0].nonprivate[place]) for place in places}
        for error in sorted(without):
            ax.plot(n, error * scale, color=BLACK, linestyle=(0, (5, 5)), linewidth=0.8)
        ax.axvline(plans[0].n, color="0.5", linewidth=0.8)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlabel("number of people")
        finish_panel(ax, unit)
    file = io.StringIO()
    with optional("matplotlib", "plot").rc_context({"svg.hashsalt": "ldpfast", "svg.fonttype": "none"}):
        page.savefig(file, format="svg", metadata={"Date": None})
    picture = file.getvalue()
    return scrolled(picture[picture.index("<svg") :])


def _mechanisms(surveys: Sequence[Survey]) -> list[str]:
    columns: dict[str, list[str]] = {"question": [], "mechanism": [], "bytes": []}
    survey = surveys[0]
    for name, mechanism in survey.mechanisms.items():
        columns["question"].append(name)
        columns["mechanism"].append(repr(mechanism))
        columns["bytes"].append(str(mechanism.report.nbytes))
    intro = (
        "<p>Each answer is privatized by the mechanism below, in the local model of differential privacy. The probabilities "
        "are integers over a power of two, rounded toward more privacy, and the random numbers are cryptographic.</p>"
    )
    which = "" if len(surveys) == 1 else f"<p>With epsilon {survey.epsilon:g}; other values have other parameters.</p>"
    return [intro, which, scrolled(html_table(columns, ("question", "mechanism")))]
