"""What must be true of the counts and answers of servers, whatever goes wrong, and the surveys of `simulated_study`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Any

from ldpfast.survey import Calendar, Choice, Survey

from .internals.server import Outcome, SurveyOccasion

HOUR, WEEK = 3600, 7 * 86_400
WAVES, OPTIONS = 3, 12
GROUPS = ("a", "b", DEVICE := "device")
CLOSED, CONFLICT, BAD_VALUE, BAD_GROUP = "closed", "conflict", "value", "group"
UNSURE = {"early", "fingerprint"}  # reasons that can pass
CALENDAR = Calendar(date(2027, 1, 4), "1 week", grace="12 hours")


@cache
def versions(has_calendar: bool) -> tuple[Survey, Survey]:
    """Return the two versions of the survey, with waves of a calendar or without waves.

    Their first question has as many options as there are reports in a group, so that the counts tell which were counted.
    """
    time: dict[str, Any] = {"waves": WAVES, "turns": WAVES, "calendar": CALENDAR} if has_calendar else {}
    first = Survey({"q": Choice([str(i) for i in range(OPTIONS)], optional=True)}, 24.0, series="study", **time)
    return first, first.revise(add={"r": Choice(["yes", "no"], optional=True)})


@cache
def occasions(has_calendar: bool) -> tuple[tuple[SurveyOccasion, ...], ...]:
    """Return what people are asked, by version, wave by wave."""
    waves = range(1, WAVES + 1)
    return tuple(
        tuple(SurveyOccasion.of(one.in_wave(wave)) for wave in waves) if has_calendar else (SurveyOccasion.of(one),)
        for one in versions(has_calendar)
    )


@dataclass(frozen=True)
class Message:
    """A message to a server.

    Attributes
    ----------
    key : bytes
        What a report counts once for; see `SurveyOccasion.key`.
    fingerprint : bytes
    group : str
    id, data : bytes
    cell : tuple
        Numbers of the question and of the symbol, which no other message of the group has.
    fault : str
        Reason why the message alone is refused; empty if it is valid.
    """

    key: bytes
    fingerprint: bytes
    group: str
    id: bytes
    data: bytes
    cell: tuple[int, int]
    fault: str = ""

    @property
    def report(self) -> tuple[bytes, bytes]:
        """What counts once."""
        return self.key, self.id


class Truth:
    """What must be true of counts and answers, whatever goes wrong.

    Every acknowledged message is counted exactly once, and any other at most once. Of messages with the same id, one counts. A
    refusal is final: a message that was refused for good is never acknowledged, and is not counted afterwards.
    """

    def __init__(self) -> None:
        self._messages: dict[tuple[bytes, str, tuple[int, int]], Message] = {}
        self._stored: dict[tuple[bytes, bytes], Message] = {}
        self._acknowledged: set[Message] = set()
        self._refused: set[Message] = set()
        self._on_the_way: Counter[Message] = Counter()  # sent, and not answered
        self._lost: set[Message] = set()  # without an answer: it may be stored
        self._unsettled: set[Message] = set()  # acknowledged, and any of its answers may be the first

    def add(self, message: Message) -> None:
        """Take notice of a message that may be sent."""
        if not message.fault:
            place = message.fingerprint, message.group, message.cell
            assert self._messages.setdefault(place, message) == message, "two messages must have different cells"

    def send(self, messages: list[Message]) -> None:
        """Take notice that messages are on the way."""
        self._on_the_way.update(messages)

    def lose(self, messages: list[Message]) -> None:
        """Take notice that nobody will know an answer."""
        self._on_the_way.subtract(messages)
        self._lost.update(messages)

    def fail(self, messages: list[Message]) -> None:
        """Take notice of the answer that nothing was stored."""
        self._on_the_way.subtract(messages)

    def answer(self, messages: list[Message], outcome: Outcome, is_closed: bool) -> None:
        """Check the answer to messages, of a server that has closed the waves that are over or could not."""
        self._on_the_way.subtract(messages)
        new, unsure = 0, 0
        for place, message in enumerate(messages):
            reason = outcome.refused.get(place)
            if reason is not None:
                self._refuse(message, reason, is_closed)
                continue
            assert not message.fault, f"a message with a fault is acknowledged: {message}"
            assert message not in self._refused, f"a message that was refused for good is acknowledged: {message}"
            before = self._stored.get(message.report)
            assert before in (None, message), f"two messages with one id are acknowledged: {message}"
            if before is None and self._may_be_stored(message):
                self._unsettled.add(message)
            unsure += message in self._unsettled
            new += before is None and message not in self._unsettled
            self._stored[message.report] = message
            self._acknowledged.add(message)
        assert new <= outcome.accepted <= new + unsure, f"{outcome} must have {new} to {new + unsure} new reports"
        assert outcome.accepted + outcome.duplicate + len(outcome.refused) == len(messages)

    def _refuse(self, message: Message, reason: str, is_closed: bool) -> None:
        if reason == CONFLICT:
            assert self._stored.get(message.report) != message, f"a stored message is its own conflict: {message}"
            self._lost.discard(message)
        expected = {CLOSED, *UNSURE, message.fault or CONFLICT}
        assert reason in expected, f"{message} is refused as {reason}"
        if reason not in UNSURE and (reason != CLOSED or is_closed):
            self._refused.add(message)

    def _may_be_stored(self, message: Message) -> bool:
        return message in self._lost or self._on_the_way[message] > 0

    def check_numbers(self, numbers: dict[tuple[bytes, str], int]) -> None:
        """Check the numbers of reports, by fingerprint and group."""
        for place in {message[:2] for message in self._messages} | numbers.keys():
            own = [message for key, message in self._messages.items() if key[:2] == place]
            least = sum(self._stored.get(message.report) == message for message in own)
            most = least + sum(message.report not in self._stored and self._may_be_stored(message) for message in own)
            assert least <= numbers.get(place, 0) <= most, f"{place}: {numbers.get(place, 0)} must be {least} to {most}"

    def check_counts(self, counts: dict[tuple[bytes, str, tuple[int, int]], int], is_quiet: bool) -> None:
        """Check how often each message is counted. If nothing waits in a server, learn which of the others were stored."""
        for place in self._messages.keys() | counts.keys():
            message, count = self._messages.get(place), counts.get(place, 0)
            assert message is not None or count == 0, f"{place} was never sent, and counted {count} times"
            if message is None:
                continue
            stored = self._stored.get(message.report)
            if stored is not None:
                assert count == (stored == message), f"{message} is counted {count} times, stored is {stored}"
            else:
                assert count <= self._may_be_stored(message), f"{message} is counted {count} times"
        found = [message for place, message in self._messages.items() if counts.get(place, 0)]
        assert len({message.report for message in found}) == len(found), "two messages with one id are counted"
        if is_quiet:
            self._stored |= {message.report: message for message in found}
            self._lost.clear()

    @property
    def unanswered(self) -> list[Message]:
        """Messages that were neither acknowledged nor refused for good."""
        return [one for one in self._messages.values() if one not in self._acknowledged | self._refused]
