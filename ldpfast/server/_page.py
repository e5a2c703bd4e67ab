"""The page for colleagues: estimates with intervals, the trend over waves, and numbers of reports. It needs no script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import quote

from ..survey._calendar import moment_text
from ._page_states import PageState
from ._server_plan import SurveyOccasion
from ._store import Summary
from ._withdrawal import REASON

STYLE = """
:root { color-scheme: light dark; font-family: system-ui, sans-serif; line-height: 1.5; }
body { margin: 0 auto; padding: 0 1rem 3rem; max-width: 60rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .75rem .25rem 0; text-align: left; border-bottom: 1px solid #8884; white-space: nowrap; }
td.number, th.number { text-align: right; }
img { max-width: max(100%, 54rem); height: auto; background: white; }
nav a { display: inline-block; padding: .5rem .75rem .5rem 0; }
summary { padding: .5rem 0; cursor: pointer; }
form { margin-top: 2rem; } input, button { font: inherit; padding: .5rem; max-width: 100%; }
:focus-visible { outline: 3px solid #36c; outline-offset: 2px; }
.note { color: light-dark(#555, #aaa); }
"""
LARGE = 40  # numbers of a question that is collapsed
FIRST_SECONDS, NEXT_SECONDS = 2, 10  # after which a browser asks again: for the first answers, and for newer ones
NUMBERS = ("estimate", "stderr", "low", "high", "n")


@dataclass(frozen=True)
class Shown:
    """What a page shows.

    Attributes
    ----------
    occasion : SurveyOccasion
    label : str or None
        Group; None for all people.
    state : PageState or None
        Its answers; None while they are computed for the first time.
    is_recent : bool
        Whether they were computed lately.
    """

    occasion: SurveyOccasion
    label: str | None
    state: PageState | None
    is_recent: bool

    @property
    def n_by_label(self) -> Mapping[str, int]:
        """Numbers of reports by the labels of groups."""
        return {} if self.state is None else self.state.n_by_label

    def refresh(self, n: int, withdrawn: int) -> int | None:
        """Return the seconds after which a browser should ask again, if there are `n` reports; None if it should not."""
        if self.state is None or (self.state.answers is None and n):
            return FIRST_SECONDS
        return None if self.is_recent or self.state.is_newest(n, withdrawn) else NEXT_SECONDS


def document(title: str, body: str, refresh: int | None = None) -> str:
    """Return a page with a title. `body` is HTML, whose links are relative: a proxy may show the page under a path."""
    again = "" if refresh is None else f'<meta http-equiv="refresh" content="{refresh}">'
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"{again}"
        f'<title>{escape(title)}</title><link rel="stylesheet" href="style.css"></head>\n'
        f"<body><main>{body}</main></body></html>\n"
    )


def login(failed: bool) -> str:
    """Return the page that asks for a token."""
    wrong = '<p role="alert">This token cannot read estimates.</p>' if failed else ""
    return document(
        "Estimates",
        f"""<h1>Estimates</h1>{wrong}
<form method="post" action="login"><label for="token">Token for reading</label><br>
<input id="token" name="token" type="password" autocomplete="current-password" required> <button>Show estimates</button></form>
<p class="note">The token is in the file that the server was started with.</p>""",
    )


def dashboard(
    shown: Shown,
    occasions: Sequence[SurveyOccasion],
    summary: Summary,
    has_trend: bool,
    losses: Sequence[str],
    primary: Sequence[str] = (),
    alerts: Sequence[str] = (),
) -> str:
    """Return the page with the answers to a survey, of all people or of one group; those to primary questions are first."""
    title, n = shown.occasion.survey.series or "Survey", summary.n.get(shown.occasion.fingerprint, 0)
    withdrawn = summary.refused.get(REASON, 0)
    parts = [f"<h1>{escape(title)}{_wave(shown.occasion)}</h1>", _choices(shown, occasions)]
    parts += [f'<p role="alert">{escape(alert)}</p>' for alert in alerts]
    of = "" if shown.label is None else f" of group {escape(shown.label)}"
    answers = None if shown.state is None else shown.state.answers
    if shown.state is None:
        soon = "This page shows them as soon as they are ready."
        parts.append(f"<h2>Answers{of}</h2><p role=status>Answers are being computed from {n:,} reports. {soon}</p>")
    elif answers is None and n == 0:
        parts.append("<p>There are no reports yet.</p>")
    else:
        parts += [f"<h2>Answers{of}</h2>", _time(shown.state, n, withdrawn)]
    if answers is not None:
        parts.append(_answers(answers.columns, primary))
        parts += [f'<p role="alert">{escape(warning)}</p>' for warning in answers.warnings]
        parts.append("<p class=note>Estimates with standard errors and 95 % intervals, each for one number.</p>")
        if shown.label is None:
            parts.append(_picture(f"plot.svg?{_query(shown.occasion)}", "Answers with their intervals"))
    if has_trend and shown.state is not None:
        parts += ["<h2>Trend</h2>", _picture("trend.svg", "Answers over the waves, with their intervals")]
    parts.append(f"<h2>Reports</h2><div class=scroll>{_reports(shown, occasions, summary)}</div>")
    parts.append(_others(summary))
    parts.append(_refused(summary))
    parts.append(_promise(losses))
    return document(title, "\n".join(parts), shown.refresh(n, withdrawn))


def _time(state: PageState, n: int, withdrawn: int) -> str:
    """Return when a state was computed, and how many reports have come, and were withdrawn, since then."""
    text = f"State of {moment_text(int(state.time))}: {state.n:,} reports."
    if n > state.n:
        text += f" {n - state.n:,} more have come since then, and are being added up; the pictures have all of them."
    if withdrawn > state.withdrawn:
        text += f" {withdrawn - state.withdrawn:,} were withdrawn since then, here or elsewhere: the answers are computed anew."
    return f"<p class=note role=status>{text}</p>"


def _picture(source: str, text: str) -> str:
    """Return a picture that is as wide as the page, and on a narrow screen wide enough to be read, by scrolling."""
    return f'<div class=scroll tabindex=0><img src="{source}" alt="{text}"></div>'


def _wave(occasion: SurveyOccasion) -> str:
    return f", {occasion.title}" if occasion.title else ""


def _query(occasion: SurveyOccasion) -> str:
    number = f"&amp;{occasion.unit}={occasion.number}" if occasion.unit else ""
    return f"version={occasion.survey.revision}{number}"


def _choices(shown: Shown, occasions: Sequence[SurveyOccasion]) -> str:
    """Return links to other waves and versions, and to groups."""
    links = []
    if len(occasions) > 1:
        for one in occasions:
            text = f"{one.title}{', ' * bool(one.title)}version {one.survey.revision}"
            current = ' aria-current="page"' if one is shown.occasion else ""
            links.append(f'<a href="?{_query(one)}"{current}>{text}</a>')
    if len(shown.n_by_label) > 1:
        links += [
            f'<a href="?{_query(shown.occasion)}&amp;group={quote(name, safe="")}">group {escape(name)}</a>'
            for name in shown.n_by_label
        ]
        if shown.label is not None:
            links.append(f'<a href="?{_query(shown.occasion)}">all groups</a>')
    return f'<nav aria-label="Waves and groups">{" ".join(links)}</nav>' if links else ""


def _answers(columns: Mapping[str, Sequence[Any]], primary: Sequence[str]) -> str:
    """Return the table of the answers, primary questions first, and below it those of large questions, which are collapsed."""
    places: dict[str, list[int]] = {}
    for place, question in enumerate(columns["question"]):
        places.setdefault(question, []).append(place)
    first = {question: i for i, question in enumerate(primary)}
    ordered = sorted(places, key=lambda question: first.get(question, len(first)))

    def table(questions: Sequence[str]) -> str:
        rows = [place for question in questions for place in places[question]]
        shown = {name: [values[row] for row in rows] for name, values in columns.items()}
        return f"<div class=scroll>{_table(shown)}</div>"

    small = [question for question in ordered if len(places[question]) <= LARGE]
    parts = [table(small)] if small else []
    for question in ordered:
        if len(places[question]) > LARGE:
            title = f"{escape(question)}: {len(places[question])} numbers"
            parts.append(f"<details><summary>{title}</summary>{table([question])}</details>")
    return "".join(parts)


def _table(columns: Mapping[str, Sequence[Any]]) -> str:
    def cell(name: str, value: Any) -> str:
        if value is None or value != value:
            return "<td></td>"
        if name in NUMBERS:
            return f'<td class="number">{escape(f"{value:,}" if isinstance(value, int) else f"{value:.4g}")}</td>'
        return f"<td>{escape(str(value))}</td>"

    head = "".join(
        f'<th scope="col"{" class=number" if name in NUMBERS else ""}>{escape(name)}</th>' for name in columns
    )
    rows = zip(*columns.values(), strict=True)
    body = "".join(
        f"<tr>{''.join(cell(name, value) for name, value in zip(columns, row, strict=True))}</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _reports(shown: Shown, occasions: Sequence[SurveyOccasion], summary: Summary) -> str:
    columns: dict[str, list[Any]] = {
        unit: [one.described()[unit] for one in occasions] for unit in ("wave", "round")
    } | {
        "version": [one.survey.revision for one in occasions],
        "survey": [one.survey.fingerprint for one in occasions],
        "n": [summary.n.get(one.fingerprint, 0) for one in occasions],
    }
    found = _table({name: column for name, column in columns.items() if set(column) != {None}})
    if len(shown.n_by_label) > 1:
        groups: dict[str, list[Any]] = {"group": list(shown.n_by_label), "n": list(shown.n_by_label.values())}
        found += _table(groups)
    return found


def _refused(summary: Summary) -> str:
    if not summary.refused:
        return "<p>No report was refused.</p>"
    rows: dict[str, list[Any]] = {"refused because of": list(summary.refused), "n": list(summary.refused.values())}
    return f"<div class=scroll>{_table(rows)}</div>"


def _others(summary: Summary) -> str:
    """Return the versions that the server was not started with, if the database holds reports to them."""
    if not summary.others:
        return ""
    listed = "".join(
        f"<li>{escape(one.text(n))}{'' if one.occasion else ', which cannot be shown without its file'}</li>"
        for one, n in summary.others.items()
    )
    return f"<p>This server was not started with all versions that the database has reports to:</p><ul>{listed}</ul>"


def _promise(losses: Sequence[str]) -> str:
    rows = "".join(f"<li>{escape(sentence)}</li>" for sentence in losses)
    return f"<h2>Privacy</h2><p>What a person loses:</p><ul>{rows}</ul><p>Groups are public and not protected.</p>"
