"""Alerts: answers in a closed wave that differ from those of the waves before, with few false alarms over all waves."""

from __future__ import annotations

import json
import logging
import math
import urllib.request
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from .. import _check
from ..reports import Aggregator, recipe_of
from ..survey import Survey, SurveyResult, compare
from ..survey._conclude import conclude_some
from ..survey._pool_waves import newest_of, pooled_counts
from ._server_plan import checked_questions
from ._store import Store

LOG = logging.getLogger("uvicorn.error")
KEYS = ("questions", "false_alarms", "webhook")
FALSE_ALARMS = 0.05
WEBHOOK_SECONDS = 10


@dataclass(frozen=True)
class AlertRules:
    """What is watched.

    Attributes
    ----------
    questions : tuple of str
    false_alarms : float
        Largest probability of an alert in any wave, if no answer ever changes.
    webhook : str or None
        Address that gets each alert as JSON.
    overlap : float
        Share of the people of a wave who can answer in another one as well; 0 if each person answers in one wave.
    waves : int or None
        Number of waves of the series; None if it goes on.
    period : int
        Number of waves in a row that ask different people, or in any two of which `overlap` holds.
    """

    questions: tuple[str, ...]
    false_alarms: float
    webhook: str | None
    overlap: float
    waves: int | None
    period: int

    @classmethod
    def of(cls, given: Mapping[str, Any] | None, primary: Sequence[str], survey: Survey) -> AlertRules | None:
        """Return the rules for a survey, after a check; None for None. By default the primary questions are watched.

        Raises
        ------
        TypeError, ValueError
            If the survey has no calendar; if an entry is not valid.
        """
        if given is None:
            return None
        if not isinstance(given, Mapping):
            raise TypeError(f"alerts must be a mapping, got {type(given).__name__}")
        _check.keywords("alerts", given, KEYS)
        if survey.calendar is None or survey.waves is None:
            raise ValueError("alerts need a survey with a calendar")
        questions = checked_questions("questions of alerts", given.get("questions", primary), survey)
        if not questions:
            raise ValueError("questions of alerts must be at least one, or primary ones in their place, got none")
        false_alarms = _check.probability("false_alarms", given.get("false_alarms", FALSE_ALARMS))
        webhook = given.get("webhook")
        if webhook is not None and not (isinstance(webhook, str) and webhook.startswith(("https://", "http://"))):
            raise ValueError(f"webhook must be an address that begins with https:// or http://, got {webhook!r}")
        overlap = (survey.turns - 1) / (survey.waves - 1)
        waves = None if survey.open_ended else survey.waves
        return cls(questions, false_alarms, webhook, overlap, waves, survey.waves)


@dataclass(frozen=True)
class Alert:
    """An answer that changed: the difference of a wave from the waves before, with its limits."""

    wave: int
    question: str
    answer: str
    difference: float
    low: float
    high: float

    def text(self) -> str:
        """Return the alert in words."""
        answer = f" ({self.answer})" if self.answer else ""
        return (
            f"wave {self.wave}: {self.question}{answer} changed by {self.difference:.3g} from the waves before "
            f"({self.low:.3g} to {self.high:.3g})"
        )


def alerts_of(counted: Mapping[int, Aggregator], rules: AlertRules) -> list[Alert]:
    """Return the alerts of all waves.

    Each wave is compared with the waves before it since the last alert of the question: with all of them together, or, if the
    same people answer in several waves, with the one that has most answers. Waves whose version asked another question under
    the same name are left out. In a series that goes on, people answer once in a period, and waves before it are left out.
    The probability of a false alarm is divided among the comparisons: equally, if the number of waves is known, otherwise as
    1/k^2 for the k-th one.

    Parameters
    ----------
    counted : mapping
        Counted reports by the number of the wave.
    rules : AlertRules
    """
    known: dict[tuple[int, ...], SurveyResult] = {}

    def answers(numbers: Sequence[int]) -> SurveyResult:
        """Return the answers of some waves together to the questions that are watched."""
        key = tuple(numbers)
        if key not in known:
            together = counts_of_versions([counted[number] for number in key])
            known[key] = conclude_some(recipe_of(together.question), together._counts.group(), rules.questions)
        return known[key]

    before: dict[str, list[int]] = {}
    found = []
    for place, wave in enumerate(sorted(counted)):
        part = 6 / (math.pi * max(place, 1)) ** 2 if rules.waves is None else 1 / (rules.waves - 1)
        level, now = rules.false_alarms * part / len(rules.questions), answers([wave])
        for question in rules.questions:
            if question not in now:
                continue
            asked = _asked(counted[wave], question)
            told = [number for number in before.get(question, ()) if number > wave - rules.period]
            earlier = [number for number in told if _asked(counted[number], question) == asked]
            changed: list[Alert] = []
            if earlier and rules.overlap:
                largest = max(earlier, key=lambda number: answers([number])[question].n)
                changed = _changed(wave, question, answers([largest]), now, level, rules.overlap)
            elif earlier:
                changed = _changed(wave, question, answers(earlier), now, level)
            found += changed
            before[question] = [wave] if changed else [*told, wave]
    return found


def _asked(counted: Aggregator, question: str) -> bytes | None:
    """Return how the newest version of a wave asks a question: if another one asks it otherwise, answers differ for that."""
    layout = recipe_of(counted.question)
    return dict(zip(layout.names, layout.descriptions, strict=True)).get(question)


def _changed(
    wave: int, question: str, before: SurveyResult, now: SurveyResult, level: float, overlap: float = 0.0
) -> list[Alert]:
    """Return the answers to a question that differ at a level for all of them together; none if too few people answered.

    With an overlap r, a person can have a report in both results. Their coins are independent, so that the covariance is at
    most r times the product of the standard errors, whatever the person answers, and the variance of the difference at most
    1 + r times that of different people. So the margins are wider by the root of 1 + r.
    """
    pair = {"before": {question: before[question]}, "now": {question: now[question]}}
    comparison, wider = compare(pair, confidence=1 - level), math.sqrt(1 + overlap)
    ((key, found),) = comparison.differences.items()
    if found._needed:  # reports; limits from fewer are not reliable
        return []
    value, limits = np.asarray(found.value), comparison._limits[key]  # without p-values, which cost more
    low, high = found._bounds(tuple(value + wider * (limit - value) for limit in limits))
    rows = zip(found.labels, *(np.ravel(column).tolist() for column in (value, low, high)), strict=True)
    return [Alert(wave, question, *row) for row in rows if row[2] > 0 or row[3] < 0]


def counts_of_versions(counted: Sequence[Aggregator]) -> Aggregator:
    """Return the counts of different people together: of several waves, or of the versions in one, for the newest version."""
    return pooled_counts(counted, newest_of(one.question for one in counted))


class AlertWatch:
    """Looks for alerts when waves are closed, in a thread of its own.

    Parameters
    ----------
    store : Store
    rules : AlertRules
    post : callable, optional
        Sends an alert to an address.

    Attributes
    ----------
    current : tuple of Alert
        Those of the last closed wave.
    """

    def __init__(self, store: Store, rules: AlertRules, post: Callable[[str, Alert], None] | None = None) -> None:
        self._store, self._rules = store, rules
        self._post = post or post_json
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="alerts")
        self.current: tuple[Alert, ...] = ()

    def closed(self, waves: Sequence[int], last: int) -> Future[None]:
        """Look at all waves up to the last closed one; what is found in those that have just been closed is told."""
        return self._thread.submit(self._look, list(waves), last)

    def wait(self) -> None:
        """Wait until what was begun is done."""
        self._thread.submit(int).result()

    def close(self) -> None:
        """Finish what was begun."""
        self._thread.shutdown()

    def _look(self, waves: list[int], last: int) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = alerts_of(self._counted(last), self._rules)
        except Exception:
            LOG.exception("alerts could not be computed")
            return
        self.current = tuple(alert for alert in found if alert.wave == last)
        for alert in found:
            if alert.wave in waves:
                LOG.warning("alert: %s", alert.text())
                self._send(alert)

    def _counted(self, last: int) -> dict[int, Aggregator]:
        """Return the counted reports of each wave, to all versions together: a person answers one of them."""
        found: dict[int, list[Aggregator]] = {}
        for occasion in self._store.answered():
            number = occasion.number
            if number is not None and number <= last:
                versions = found.setdefault(number, [])
                versions.append(occasion.counted(self._store.counts(occasion.fingerprint).values()))
        return {number: counts_of_versions(versions) for number, versions in found.items()}

    def _send(self, alert: Alert) -> None:
        if self._rules.webhook is None:
            return
        try:
            self._post(self._rules.webhook, alert)
        except Exception as error:
            host = urlsplit(self._rules.webhook).hostname  # the rest of an address can be as secret as a token
            LOG.error("an alert could not be sent to %s: %s", host, type(error).__name__)


def post_json(address: str, alert: Alert) -> None:
    """Send an alert as JSON."""
    data = json.dumps({"text": alert.text(), **asdict(alert)}).encode()
    request = urllib.request.Request(address, data, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=WEBHOOK_SECONDS):
        pass
