"""What a person loses who answers all surveys that a database holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context, Decimal
from functools import lru_cache

from .._coins import sum_up
from ..reports import recipe_of
from ..survey import Survey, SurveyRound


@dataclass(frozen=True)
class Losses:
    """Upper bounds of what a person loses who sends a report to each of several surveys.

    Attributes
    ----------
    report : float
        Largest loss by one report.
    ledger, secret : float
        Loss of all reports together, if one ledger of the person, or clients with the secret of the person, make them.
    changed : float or None
        For rounds, the loss with a ledger or a secret if the value of each question changes once.
    total : float
        Loss if nothing holds the reports together.
    count : int
        Number of the surveys.
    """

    report: float
    ledger: float
    secret: float
    changed: float | None
    total: float
    count: int


@lru_cache(maxsize=16)
def losses_of(surveys: tuple[Survey, ...]) -> Losses:
    """Return the losses of a person who answers surveys: versions, waves and rounds, of one or several series.

    Those of different series add up. A ledger belongs to one series.
    """
    series: defaultdict[bytes, list[Survey]] = defaultdict(list)
    for survey in surveys:
        series[recipe_of(survey).series.promise].append(survey)
    parts = [_of_series(members) for members in series.values()]
    changed = None
    if any(part.changed is not None for part in parts):
        changed = sum_up([part.secret if part.changed is None else part.changed for part in parts])
    return Losses(
        max(part.report for part in parts),
        sum_up([part.ledger for part in parts]),
        sum_up([part.secret for part in parts]),
        changed,
        sum_up([part.total for part in parts]),
        len(surveys),
    )


def _of_series(surveys: Sequence[Survey]) -> Losses:
    """Return the losses of a person who answers surveys of one series."""
    once = [survey.guarantee.epsilon for survey in surveys]
    largest, total = max(once), sum_up(once)
    changed = None
    rounds = [survey for survey in surveys if isinstance(survey, SurveyRound)]
    if rounds:
        ledger, secret, changed = _of_rounds(rounds)
    elif recipe_of(surveys[0]).series.panel is not None:
        ledger, secret = _of_waves(surveys)
    else:
        ledger, secret = largest, _of_versions(surveys, total)
    return Losses(largest, ledger, secret, changed, total, len(surveys))


def _of_versions(surveys: Sequence[Survey], total: float) -> float:
    """Return the loss with a secret and unchanged values: a question that stays is answered by the same report."""
    first, *others = surveys
    try:
        return min(total, first.loss(others).worst)
    except ValueError:  # too many orders, or other weights
        return total


def _of_waves(surveys: Sequence[Survey]) -> tuple[float, float]:
    """Return the losses with a ledger, which answers one version in each wave, and with a secret, which answers all of them."""
    panel = recipe_of(surveys[0]).series.panel
    assert panel is not None
    waves: defaultdict[int | None, list[float]] = defaultdict(list)
    for survey in surveys:
        waves[survey.wave].append(survey.guarantee.epsilon)
    found = []
    combine: Callable[[list[float]], float]
    for combine in (max, sum_up):
        losses = {wave: combine(members) for wave, members in waves.items() if wave is not None}
        if panel.open_ended:  # the turns of a person are in the same place of every period
            places: defaultdict[int, list[float]] = defaultdict(list)
            for wave, loss in losses.items():
                places[panel.place(wave)].append(loss)
            found.append(max(map(sum_up, places.values())))
        else:
            promised = max(replace(survey, wave=None).guarantee.epsilon for survey in surveys)
            turns = sorted(losses.values(), reverse=True)[: panel.turns]
            found.append(max(promised, sum_up(turns)))
    return found[0], found[1]


def _of_rounds(surveys: Sequence[SurveyRound]) -> tuple[float, float, float]:
    """Return the losses with a ledger, with a secret, and with either if the value of each question changes once.

    A ledger refuses a question that was revised between two rounds, and more rounds than it was promised. With a secret, such
    a question has another permanent answer, so that the losses of all versions add up, each over all rounds.
    """
    versions = dict.fromkeys(survey.repeated for survey in surveys)
    most = max(surveys[0].rounds, len({survey.number for survey in surveys}))
    ledger = max(version.loss().epsilon for version in versions)
    longer = [replace(version, rounds=most) for version in versions]
    secret, changed = (sum_up([version.loss(changes=count).epsilon for version in longer]) for count in (0, 1))
    return ledger, secret, changed


def sentences(surveys: Sequence[Survey], missing: int) -> list[str]:
    """Return what a person loses who answers surveys, each number with its condition.

    Parameters
    ----------
    surveys : sequence of Survey
        All that the reports of a database answer, and those that are open.
    missing : int
        Number of reports to surveys that are not known.
    """
    losses = losses_of(tuple(surveys))
    rounds = any(isinstance(survey, SurveyRound) for survey in surveys)
    waves = any(survey.waves is not None for survey in surveys)
    ledgers = len({recipe_of(survey).series.promise for survey in surveys})
    # Every sentence is one number with its condition, from the strictest condition (one ledger) to none at all.
    one = "one ledger" if ledgers == 1 else f"{ledgers} ledgers, one for each series"
    secret = "clients with the secret of the person"
    apart = "where nothing holds the reports of a person together (clients without ledger and secret, or with new ones)"
    values = "no value changes" if rounds else "each wave has one value" if waves else "the values stay the same"
    kinds = (
        "the survey" if losses.count == 1 else f"the {losses.count} surveys (versions, waves, rounds) of this database"
    )
    reports = f"by all reports of a person to {kinds}{_later(surveys[0]) if ledgers == 1 else ''}"
    if losses.count == 1 and not rounds and not waves:
        found = [f"{_epsilon(losses.report)} {reports}, if they come from {one}, or from {secret}, and {values}."]
    else:
        found = [
            f"{_epsilon(losses.report)} by a report.",
            f"{_epsilon(losses.ledger)} {reports}, if they come from {one}{f', and {values}' * rounds}.",
            f"{_epsilon(losses.secret)} if they come from {secret}, and {values}.",
        ]
    if losses.changed is not None:
        found.append(f"{_epsilon(losses.changed)} if the value of each question changes once; more for more changes.")
    if losses.count == 1:
        found.append(f"{_epsilon(losses.report)} for each report, {apart}.")
    else:
        each = f"{_epsilon(losses.report)} for each further report"
        found.append(f"{_epsilon(losses.total)} in sum for one report to each of them, {apart}, and {each}.")
    if missing:
        found.append(f"{missing:,} reports to versions that this server does not know are in none of these numbers.")
    return found


def _later(survey: Survey) -> str:
    """Return which other waves or rounds of the series of a survey are covered."""
    if isinstance(survey, SurveyRound):
        return f" and its other rounds, {survey.rounds} at most"
    if survey.open_ended:
        return f" so far, and {_epsilon(survey.guarantee.epsilon)} in each further period of {survey.waves} waves"
    return " and all other waves of the series" if survey.waves is not None else ""


def _epsilon(value: float) -> str:
    """Return a loss with four digits, rounded up."""
    return f"at most \u03b5 = {Decimal(value).normalize(Context(prec=4, rounding=ROUND_CEILING)):f}"
