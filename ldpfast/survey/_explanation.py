"""The promise of a survey in words, for the people who are asked and for those who ask them."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .._html_page import html_page, page_table, paragraph
from .._markdown import escaped_markdown
from .._odds import largest_belief, people_for, right_guesses, round_up, times_text
from .._table import Table, printable
from ..mechanisms import Mechanism, RandomizedResponse
from ..reports import recipe_of
from ._answer_forms import AnswerForm
from ._client_table import required_questions
from ._columns import QuestionColumn
from ._survey_facts import PERIODS, SurveyFacts, how_many, turns_of

BEFORE_USE = "Before you use this text"
TITLE = "How your answers are protected"
EVEN, RARE = 0.5, 0.01  # beliefs before a report
LARGE_BELIEF = 0.95  # from which on a study is told that the loss is large

Block = str | tuple[str, ...] | Table  # a paragraph, a list or a table


@dataclass(frozen=True)
class Explanation:
    """The promise of a survey in words; the result of `Survey.explain`. ``print`` shows it as text.

    Attributes
    ----------
    title : str
    losses : dict of str to float
        Privacy loss, as an epsilon, by what somebody sees: one answer, one wave, everything.
    sections : tuple of (str, tuple)
        Headings with what follows them: paragraphs (str), lists (tuple of str) and tables (`Table`).
    notes : tuple of str
        What the study should do before it uses the text. Not part of the text.

    Examples
    --------
    >>> from ldpfast.survey import Survey, YesNo
    >>> text = Survey({"smoker": YesNo(optional=True)}, 2.0).explain(controller="Institute of Health")
    >>> text.odds["50 of 100 become at most"]
    ['89']
    >>> [heading for heading, _ in text.sections][:3]
    ['In short', 'What you are asked', 'What is sent']
    """

    title: str
    losses: dict[str, float]
    sections: tuple[tuple[str, tuple[Block, ...]], ...]
    notes: tuple[str, ...] = ()

    @property
    def odds(self) -> Table:
        """Of how many people a guess is right, before and after somebody sees what is sent, rounded up.

        One row for each of `losses`. The columns have a guess that is right for half of the people before, and one that is
        right for 1 of 100; then how many times as likely a report can be under one record as under another. All rows count the
        same number of people: 100, or more where the best guess would be wrong for fewer than 2 of them.
        """
        people = people_for(max(self.losses.values()))
        columns = {
            f"{round(people * before):,} of {people:,} become at most": [
                f"{right_guesses(epsilon, people, before):,}" for epsilon in self.losses.values()
            ]
            for before in (EVEN, RARE)
        }
        likely = [f"{times_text(epsilon)} times" for epsilon in self.losses.values()]
        return Table({"what somebody sees": list(self.losses), **columns, "at most as likely": likely})

    def to_markdown(self) -> str:
        """Return the text as Markdown.

        Returns
        -------
        text : str
            Without the notes. Names of questions and labels are escaped.
        """
        return self._text(escaped_markdown)

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the text as a page of HTML without external resources.

        Parameters
        ----------
        path : str or Path, optional
            File to write.

        Returns
        -------
        page : str
            Without the notes. It fits on phones and on paper.
        """
        page = html_page(self.title, [_section_html(*section) for section in self.sections])
        if path is not None:
            Path(path).write_text(page, encoding="utf-8")
        return page

    def _text(self, shown: Callable[[str], str]) -> str:
        parts = [f"# {shown(self.title)}"]
        for heading, blocks in self.sections:
            parts += [f"## {shown(heading)}", *(_block_text(block, shown) for block in blocks)]
        return "\n\n".join(parts) + "\n"

    def __repr__(self) -> str:
        return self._text(str) + self._notes

    def _repr_markdown_(self) -> str:
        return self.to_markdown() + self._notes

    @property
    def _notes(self) -> str:
        listed = "\n".join(f"- {note}" for note in self.notes)
        return f"\n{BEFORE_USE}:\n{listed}" if self.notes else ""


def _block_text(block: Block, shown: Callable[[str], str]) -> str:
    """Return a block as Markdown; `shown` escapes a text."""
    if isinstance(block, str):
        return shown(block)
    if isinstance(block, tuple):
        return "\n".join(f"- {shown(item)}" for item in block)
    cells = [[shown(str(cell)) for cell in row] for row in zip(*block.columns.values(), strict=True)]
    rows = [[*map(shown, block.columns)], ["---"] * len(block.columns), *cells]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _section_html(heading: str, blocks: tuple[Block, ...]) -> str:
    parts = [f"<h2>{html.escape(heading)}</h2>"]
    for block in blocks:
        if isinstance(block, str):
            parts.append(paragraph(block))
        elif isinstance(block, tuple):
            parts.append(f"<ul>{''.join(f'<li>{html.escape(item)}</li>' for item in block)}</ul>")
        else:
            parts.append(page_table(block.columns, tuple(block.columns)))
    return "".join(parts)


# The text -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StudyDetails:
    """What a survey does not know about a study; the arguments of `Survey.explain`."""

    controller: str | None
    contact: str | None
    purpose: str | None
    holder: str | None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None and (not isinstance(value, str) or not value.strip()):
                raise TypeError(f"{name} must be a text that is not empty, or None, got {value!r}")
            if value is not None:
                object.__setattr__(self, name, " ".join(value.split()))  # an address may have several lines


def explain(survey: SurveyFacts, study: StudyDetails) -> Explanation:
    """Return the promise of a survey in words."""
    required = required_questions(survey.recipe.declared)
    if study.holder is None and required:
        raise ValueError(
            "every question must be optional for devices, which cannot refuse a missing value, or holder must say who holds "
            f"the true answers; not optional: {', '.join(map(repr, required))}"
        )
    losses = survey.losses
    sections = (
        ("In short", _summary(losses, study)),
        ("What you are asked", _questions(survey)),
        ("What is sent", _sent(survey, study, people_for(max(losses.values())))),
        ("What somebody can find out about you", _odds(losses, study)),
        ("What is stored", _stored(study)),
        ("What the promise does not cover", (_not_covered(survey, study),)),
        ("Your choice", _choice(survey, study)),
        ("Who is responsible", _responsible(study)),
        ("For experts", _method(survey)),
    )
    return Explanation(
        TITLE, losses, tuple((heading, blocks) for heading, blocks in sections if blocks), _notes(losses, study)
    )


def _summary(losses: dict[str, float], study: StudyDetails) -> tuple[Block, ...]:
    purpose = [] if study.purpose is None else [f"Purpose of the study: {study.purpose.rstrip('.')}."]
    if study.holder is None:
        first = "Your device changes your answers at random before it sends anything. Your true answers stay on your device."
    else:
        first = (
            f"You tell your answers to {study.holder}. They are changed at random before anybody else sees anything. "
            f"{study.holder} knows your true answers; the promise below is against everybody else."
        )
    one = "they cannot be undone: what is sent for you could have come from any other answers."
    if _is_large(losses):
        one = (
            "they are a weak protection: what is sent for you could have come from any other answers, but that can be much "
            "less likely. The numbers are below."
        )
    return (
        *purpose,
        first,
        f"The random changes of many people cancel out, so that the study learns something about groups. For one person {one}",
    )


def _questions(survey: SurveyFacts) -> tuple[Block, ...]:
    """Return what people are asked, as a table, and how many questions and waves each of them has."""
    listed = survey.listed
    table = Table(
        {
            "question": [printable(question.name) for question in listed],
            "answer": [printable(question.answer) for question in listed],
            "may be left out": [{True: "yes", False: "no", None: ""}[question.optional] for question in listed],
        }
    )
    blocks: list[Block] = [table]
    asked, panel = len(survey.mechanisms), survey.panel
    if asked > 1:
        blocks.append(f"You are asked {how_many(survey.recipe.answers, asked)}.")
    if panel is not None:
        period = " in each period, and goes on" * panel.open_ended
        blocks.append(
            f"The study has {panel.waves} waves{period}. You are asked in {turns_of(panel.turns, panel.waves)}."
        )
    if any(question.optional for question in listed):
        blocks.append(
            "To leave out a question is an answer as well, and is changed at random like all others: what is sent does not "
            "show whether you left it out."
        )
    return tuple(blocks)


def _sent(survey: SurveyFacts, study: StudyDetails, people: int) -> tuple[Block, ...]:
    """Return what is sent for each question, with shares from the integers of the coins."""
    items = survey.recipe.items
    rows = {item.name: _sent_text(survey.mechanisms[item.name], item.form, people) for item in items}
    table = Table({"question": [*map(printable, rows)], "what is sent": list(rows.values())})
    whose = "your device sends" if study.holder is None else "is sent for you"
    return (f"For each question that you are asked, this is what {whose}:", table)


def _sent_text(mechanism: Mechanism, form: AnswerForm, people: int) -> str:
    """Return what is sent for one question, in words."""
    is_column = isinstance(form, QuestionColumn)
    if not isinstance(mechanism, RandomizedResponse) or not form.has_symbols or (form.is_rounded and not is_column):
        return "a pattern that is drawn at random, and that can be sent for every other answer as well"
    if isinstance(form, QuestionColumn) and form.is_rounded:
        ends = '"low", "high" or "no answer"' if form.optional else '"low" or "high"'
        return f'{ends}, drawn at random: the larger the number, the more often "high"'
    coin = recipe_of(mechanism).coin
    own = coin.keep / 2**coin.bits
    other = (1 - own) / (mechanism.k - 1)
    others = "the other answer" if mechanism.k == 2 else "each other answer"
    true, false = (f"{round(people * share):,}" for share in (own, other))
    return f"the true answer for about {true} of {people:,} people, {others} for about {false}"


def _odds(losses: dict[str, float], study: StudyDetails) -> tuple[Block, ...]:
    """Return what somebody can find out, as numbers of right guesses; the table repeats it for parts of what is sent."""
    epsilon, people = list(losses.values())[-1], people_for(max(losses.values()))
    even, rare = (round(people * before) for before in (EVEN, RARE))
    table = Explanation(TITLE, losses, ()).odds
    known = "" if study.holder is None else f", apart from {study.holder},"
    return (
        f"Think of somebody{known} who wants to know one thing about you, such as one of your answers, and who thinks that "
        f"it is as likely as not. If you do not take part, such a guess is right for {even:,} of {people:,} people like you. "
        f"If you take part, and this person sees {list(losses)[-1]}, the best possible guess is right for at most "
        f"{right_guesses(epsilon, people):,} of {people:,}.",
        f"If the thing is rare, so that it holds for {rare:,} of {people:,} people like you, then it holds for at most "
        f"{right_guesses(epsilon, people, RARE):,} of {people:,} people for whom the same was sent.",
        table,
        "The last column says how many times as likely the same could be sent for you as for somebody with other answers. "
        "These limits hold whatever else this person knows, and whatever computers or methods there will be.",
    )


def _stored(study: StudyDetails) -> tuple[Block, ...]:
    who = "The study" if study.controller is None else study.controller
    return (
        f"{who} stores what is sent: which questions you were asked, and the changed answers. The promise holds for what is "
        "sent, so it does not matter for the promise how long it is stored, who gets it, and whether it is published or "
        "stolen.",
        "Names, addresses, accounts and times are not part of what is sent. If the study stores them beside it, they show "
        "who sent what, and the promise is what protects the answers.",
    )


def _not_covered(survey: SurveyFacts, study: StudyDetails) -> tuple[str, ...]:
    """Return what the promise does not cover, as a list."""
    seen = "that you took part" if survey.panel is None else "that you took part, and in which wave"
    points = [
        f"It can be seen {seen}, and which questions you were asked.",
        "If you answer other surveys, or this one again, what can be found out adds up.",
        "What the study finds out about a group is also believed of you if you belong to it, whether or not you take part.",
    ]
    if survey.panel is not None:
        points.append("The promise is for one answer to each wave in which you are asked.")
    if survey.is_endless:
        points.append("The study goes on: what can be found out adds up with every period in which you take part.")
    if study.holder is None:
        points.append("Your device knows your answers. What else it stores or sends is not covered.")
    else:
        points.append(f"{study.holder} knows your true answers. How they are kept there is not covered.")
    points.append(
        "The program that changes the answers must be the one that is described here, with sound random numbers."
    )
    return tuple(points)


def _choice(survey: SurveyFacts, study: StudyDetails) -> tuple[Block, ...]:
    """Return what consent means, and a text for it."""
    losses = survey.losses
    more = f" after {PERIODS} periods, and for more if I take part longer" * survey.is_endless
    epsilon, people = list(losses.values())[-1], people_for(max(losses.values()))
    who = "the study" if study.controller is None else study.controller
    return (
        "You decide whether to take part. What was sent cannot be changed back into your answers, and it can be found and "
        "deleted later only if the study stores a number of yours beside it.",
        "Consent:",
        (
            f"I take part by my own choice. I know that what is sent for me can be stored and published by {who}, and that a "
            f"guess about me that was right for {round(people * EVEN):,} of {people:,} people becomes right for at most "
            f"{right_guesses(epsilon, people):,} of {people:,}{more}. I have read what the promise does not cover.",
        ),
    )


def _responsible(study: StudyDetails) -> tuple[Block, ...]:
    named = (
        []
        if study.controller is None
        else [f"{study.controller} decides why and how the answers are used (the controller)."]
    )
    return (*named, *([] if study.contact is None else [f"Contact: {study.contact}"]))


def _method(survey: SurveyFacts) -> tuple[Block, ...]:
    """Return the guarantee and the mechanisms."""
    epsilon = survey.epsilon
    together = "" if survey.panel is None else f" in all waves{' of a period' * survey.is_endless}"
    table = Table(
        {
            "question": [*map(printable, survey.mechanisms)],
            "mechanism": [repr(mechanism) for mechanism in survey.mechanisms.values()],
            "epsilon": [f"{round_up(mechanism.epsilon_realized):g}" for mechanism in survey.mechanisms.values()],
        }
    )
    return (
        f"Local differential privacy with epsilon = {round_up(epsilon):g} for all answers of a person{together}, from the "
        "integers of the coins that are tossed, added up over the answers. An observer's odds for every property of a "
        f"person change by a factor of at most e^epsilon. Fingerprint of the survey: {survey.fingerprint}.",
        table,
    )


def _notes(losses: dict[str, float], study: StudyDetails) -> tuple[str, ...]:
    """Return what the study should do before it uses the text."""
    found = ["Show it to those who are responsible for data protection: it is no legal advice."]
    missing = [name for name in ("controller", "contact", "purpose") if getattr(study, name) is None]
    if missing:
        found.append(f"It does not state: {', '.join(missing)}.")
    if _is_large(losses):
        epsilon = max(losses.values())
        people = people_for(epsilon)
        found.append(
            f"The loss is large: the best guess is right for {right_guesses(epsilon, people):,} of {people:,} people. Do not "
            "call the answers anonymous or hidden; ask fewer questions, or choose a smaller epsilon."
        )
    return tuple(found)


def _is_large(losses: dict[str, float]) -> bool:
    """Return whether everything that is sent can leave little doubt."""
    return largest_belief(max(losses.values()), EVEN) > LARGE_BELIEF
