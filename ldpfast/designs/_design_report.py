"""A design as one page of HTML, for an ethics committee that decides about the study."""

from __future__ import annotations

import html
import math
import os
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from .. import _check
from .._html_page import PRINTED, html_page, scrolled
from .._odds import belief_text, times_text
from .._table import html_table

ROUNDING = 1e-9  # of a number of people
NOT_COVERED = (
    "Whether somebody took part is visible.",
    "The interviewer must not see the device, such as the die, or learn the answer to a second question in another way.",
    "A person who is asked again loses more: each answer counts.",
    "People who do not follow the instruction change the estimate. Shares of them can be assumed in the analysis.",
)


@dataclass(frozen=True, eq=False)
class DesignReport:
    """A page about a design for an ethics committee. It is made by `Design.report`.

    Attributes
    ----------
    html : str
        The page, without external resources.
    n : int
        Number of people with which the prevalence has the standard error that the study needs.
    after : dict
        Probability that the true answer of a person is yes after each answer, if it is the prevalence before.

    Examples
    --------
    >>> from ldpfast import designs
    >>> report = designs.crosswise(0.25).report("Have you ever evaded taxes?", prevalence=0.1, stderr=0.02)
    >>> report.n, {answer: round(share, 3) for answer, share in report.after.items()}
    (2100, {'different': 0.25, 'same': 0.036})
    """

    html: str
    n: int
    after: dict[str, float]

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file.

        Parameters
        ----------
        path : str or path-like
            File with the suffix .html; one that exists is replaced.

        Returns
        -------
        path : pathlib.Path

        Raises
        ------
        ValueError
            If the suffix is another one.
        """
        file = Path(path)
        if file.suffix != ".html":
            raise ValueError(f"path must end in .html, got {str(path)!r}")
        file.write_text(self.html, encoding="utf-8")
        return file

    def _repr_html_(self) -> str:
        shares = {f"says {answer}": [_percent(share)] for answer, share in self.after.items()}
        note = f"n = {self.n:,}; `html` is the page, and `write` makes a file of it"
        return html_table({"": ["yes is true: after"], **shares}, ("",), note)

    def __repr__(self) -> str:
        return f"<DesignReport, n = {self.n:,}, {len(self.html):,} characters of HTML>"


def design_report(design: Any, question: Any, prevalence: Any, stderr: Any, title: Any) -> DesignReport:
    """Return the page about a design of the class `Design`."""
    # The sections follow the questions of a committee: the wording, what an answer says, the largest loss, the number of
    # people, and what is not covered.
    for name, text in (("question", question), ("title", title)):
        if not isinstance(text, str):
            raise TypeError(f"{name} must be a text, got {type(text).__name__}")
    if not question.strip():
        raise ValueError("question must be the text of the sensitive question, got an empty text")
    before = _check.probability("prevalence", prevalence)
    error = _check.probability("stderr", stderr)
    n = design.sample_size(before, error)
    after = _after(design, before)
    first, second = design.answers
    heading = title or "A sensitive question with randomized answers"
    parts = [
        "<h2>What people are asked</h2>",
        f"<blockquote><p>{html.escape(question)}</p><p>{html.escape(design.instruction)}</p></blockquote>",
        f"<p>The person says {_quoted(first)} or {_quoted(second)}. Only this is written down; what "
        "decided about the answer is known to the person alone.</p>",
        "<h2>What an interviewer learns</h2>",
        "<p>The probabilities of the answers are exact. The last rows are for a person of whom yes is believed to be true with "
        f"a probability of {_percent(before)} before the interview, which is the expected prevalence.</p>",
        scrolled(_answers_table(design, before, after)),
        "<h2>Largest risk for a person</h2>",
        f"<p>Of the people who say {_quoted(second)}, {_percent(after[second])} have the attribute; of those who say "
        f"{_quoted(first)}, {_percent(after[first])}.</p>",
        *_risk(design),
        "<h2>Number of people</h2>",
        f"<p>The study needs the prevalence with a standard error of {error:.4g}, which is a 95 % interval of about "
        f"&plusmn;{100 * 1.96 * error:.3g} percentage points. Protection costs people:</p>",
        scrolled(_people_table(before, error, n)),
        "<h2>What this does not cover</h2>",
        "<ul>" + "".join(f"<li>{html.escape(text)}</li>" for text in NOT_COVERED) + "</ul>",
        f"<p>Design: {html.escape(design.name)}; {html.escape(design.reference)}.</p>",
    ]
    return DesignReport(html_page(heading, parts, PRINTED), n, after)


def _after(design: Any, before: float) -> dict[str, float]:
    """Return the probabilities of yes after each answer, from that before."""
    no, yes = design.channel.rows
    found = {}
    for answer, of_no, of_yes in zip(design.answers, no, yes, strict=True):
        joint = before * of_yes / sum(yes), (1 - before) * of_no / sum(no)
        found[answer] = joint[0] / sum(joint) if sum(joint) else math.nan
    return found


def _answers_table(design: Any, before: float, after: dict[str, float]) -> str:
    no, yes = design.channel.rows
    columns = {
        "": ["probability if yes is true", "probability if no is true", "yes is true: before", "yes is true: after"]
    }
    for answer, of_no, of_yes in zip(design.answers, no, yes, strict=True):
        parts = Fraction(of_yes, sum(yes)), Fraction(of_no, sum(no)), before, after[answer]
        columns[f"says {answer}"] = [_percent(part) for part in parts]
    return html_table(columns, ("",))


def _risk(design: Any) -> list[str]:
    """Return what is promised to each person, or which answer reveals the truth."""
    no, yes = design.channel.rows
    revealing = [
        f"The answer {_quoted(answer)} proves that the true answer is {truth}."
        for place, answer in enumerate(design.answers)
        for truth, own, other in (("yes", yes, no), ("no", no, yes))
        if own[place] and not other[place]
    ]
    if revealing:
        return [
            f"<blockquote><p><strong>{' '.join(revealing)}</strong> Epsilon is infinite: there is no limit of what an answer "
            "reveals.</p></blockquote>"
        ]
    epsilon = design.epsilon
    return [
        f"<blockquote><p>Whatever is true of a person, the answer is at most {times_text(epsilon)} times as likely as if the "
        f"other were true (epsilon = {epsilon:.4g}). An observer who believes something of a person with a probability of 50 % "
        f"believes it with at most {belief_text(epsilon)} afterwards, whatever else the observer knows.</p></blockquote>"
    ]


def _people_table(before: float, error: float, n: int) -> str:
    alone = math.ceil(before * (1 - before) / error**2 - ROUNDING)
    columns = {
        "way to ask": ["this design", "direct question, if everybody told the truth"],
        "people": [f"{n:,}", f"{alone:,}"],
    }
    return html_table(columns, ("way to ask",))


def _percent(share: Any) -> str:
    return f"{100 * float(share):.3g}\N{NO-BREAK SPACE}%"


def _quoted(answer: str) -> str:
    return f"&ldquo;{html.escape(answer)}&rdquo;"
