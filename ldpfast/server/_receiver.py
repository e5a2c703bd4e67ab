"""Checks of reports as they come in, and the thread that stores them.

The requests that arrive in one round of the event loop are checked together, because a check costs as much for one report as
for a hundred. All reports that wait are stored in one transaction, whose commit is on the disk before any of them is
acknowledged.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from sqlalchemy.exc import SQLAlchemyError

from ..reports import recipe_of
from ..survey._survey_tally import MESSAGE_FAULTS, faults_of
from ._message_ages import MessageAges
from ._reports import Reports, Status, places_of
from ._server_plan import SurveyOccasion
from ._store import FOLDED, Store
from ._wave_schedule import WaveSchedule
from ._wire import Incoming

LOG = logging.getLogger("uvicorn.error")
TOGETHER = 20_000  # reports in one transaction
# The writer gathers requests for one transaction, because few large ones write less to the disk.
QUIET_SECONDS = 0.005  # without a new request, which end it
MAX_GATHERING_SECONDS = 0.1
MAX_WAITING = 100_000  # reports that wait for the disk
FOLD_SECONDS = 10.0
SCHEDULE_SECONDS = 1.0  # between two looks at the clock
FINGERPRINT = slice(1, 9)  # of a message
REASONS = {Status.CONFLICT: "conflict", Status.CLOSED: "closed"}  # of refused reports that are valid


class UnavailableError(Exception):
    """The database cannot store reports now, or too many of them wait: nothing was acknowledged."""


@dataclass(frozen=True)
class Outcome:
    """What became of the reports of a request.

    Attributes
    ----------
    accepted, duplicate : int
        Number of new reports, and of those that were stored before.
    refused : dict
        Reason of each refused report by its place.
    """

    accepted: int
    duplicate: int
    refused: dict[int, str]

    def to_dict(self) -> dict[str, Any]:
        """Return the answer to the client."""
        refused = [{"index": index, "reason": reason} for index, reason in sorted(self.refused.items())]
        return {"accepted": self.accepted, "duplicate": self.duplicate, "refused": refused}


@dataclass(frozen=True, eq=False)
class _Request:
    incoming: Incoming
    answer: asyncio.Future[Outcome]


@dataclass(frozen=True, eq=False)
class _Job:
    requests: int
    size: int  # reports of the requests, with those that are refused
    reports: Reports
    refused: Counter[str]
    done: Callable[[list[Status] | UnavailableError], None]


class Receiver:
    """Receives reports for a store.

    Parameters
    ----------
    store : Store
    folds : bool
        Whether messages are folded into counts from time to time.
    schedule : WaveSchedule, optional
        What opens and closes the waves of the store.
    ages : MessageAges, optional
        What folds messages after a stated time; `folds` is then False.
    """

    def __init__(
        self,
        store: Store,
        folds: bool = True,
        schedule: WaveSchedule | None = None,
        ages: MessageAges | None = None,
    ) -> None:
        self.store, self.folds = store, folds
        self._schedule = schedule
        self._by_time = [one for one in (schedule, ages) if one is not None]
        self._labels = {group.encode(): group for group in store.plan.groups} or {b"": ""}
        # The requests of this round of each event loop.
        self._arrived: dict[asyncio.AbstractEventLoop, list[_Request]] = {}
        self._is_closed = False
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._waiting = 0
        self._unfolded = 1  # perhaps there are some from before
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._write, name="ldpfast-writer", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Whether reports are stored."""
        return self._thread.is_alive()

    @property
    def waiting(self) -> int:
        """Number of reports that wait for the disk."""
        return self._waiting

    def close(self) -> None:
        """Store everything that waits, and end the thread. Requests that are not checked yet are sent away."""
        with self._lock:
            self._is_closed = True
            self._jobs.put(None)
        self._thread.join()

    # Checks -----------------------------------------------------------------------------------------------------------

    def check(self, incoming: Incoming) -> tuple[list[int], Reports, dict[int, str]]:
        """Return the places and the reports that are valid, and the reasons why others are refused, by their places.

        Raises
        ------
        UnavailableError
            If waves must be opened first.
        """
        # Reports to one survey are checked together: first whether it is received now, then what the messages hold.
        occasions, reasons = self._received()
        refused = dict(incoming.faults)
        labels = incoming.labels
        messages = incoming.messages
        unknown = set(labels) - self._labels.keys()
        if unknown:
            refused = {place: "group" for place, label in enumerate(labels) if label in unknown} | refused
        fingerprints = [message[FINGERPRINT] for message in messages]
        for fingerprint, members in places_of(fingerprints).items():
            members = [place for place in members if place not in refused] if refused else members
            occasion = occasions.get(fingerprint)
            if occasion is None:
                is_over = fingerprint in self.store.closed
                refused |= dict.fromkeys(members, reasons.get(fingerprint, "closed" if is_over else "fingerprint"))
                continue
            faults = faults_of(recipe_of(occasion.survey), [messages[place] for place in members])
            refused |= {members[i]: MESSAGE_FAULTS[faults[i]] for i in np.flatnonzero(faults).tolist()}
        places = [place for place in range(len(messages)) if place not in refused]
        reports = Reports(
            [occasions[fingerprints[place]] for place in places],
            [incoming.ids[place] for place in places],
            [self._labels[labels[place]] for place in places],
            [messages[place] for place in places],
        )
        return places, reports, refused

    def _received(self) -> tuple[dict[bytes, SurveyOccasion], dict[bytes, str]]:
        """Return what is received now, and why other surveys of the plan are not, by fingerprint.

        Raises
        ------
        UnavailableError
            If waves must be opened first.
        """
        plan, schedule = self.store.plan, self._schedule
        if schedule is None:
            return plan.occasions(), {}
        now = schedule.now()
        if not schedule.is_ready(plan, now):
            raise UnavailableError("waves are being opened")
        received, reasons = {}, {}
        for fingerprint, occasion in plan.occasions().items():
            reason = schedule.refusal(occasion.number, now)
            if reason is None:
                received[fingerprint] = occasion
            else:
                reasons[fingerprint] = reason
        return received, reasons

    async def receive(self, incoming: Incoming) -> Outcome:
        """Check and store the reports of a request.

        Raises
        ------
        UnavailableError
            If they were not stored.
        """
        with self._lock:
            if self._waiting + len(incoming) > MAX_WAITING:
                raise UnavailableError("too many reports wait")
            self._waiting += len(incoming)
        loop = asyncio.get_running_loop()
        request = _Request(incoming, loop.create_future())
        arrived = self._arrived.setdefault(loop, [])
        arrived.append(request)
        if len(arrived) == 1:
            loop.call_soon(self._submit_round, loop)
        return await request.answer

    def _submit_round(self, loop: asyncio.AbstractEventLoop) -> None:
        """Submit the requests that have arrived, in parts that are not larger than a transaction."""
        part: list[_Request] = []
        size = 0
        for request in self._arrived.pop(loop):
            if part and size + len(request.incoming) > TOGETHER:
                self._submit(loop, part, size)
                part, size = [], 0
            part.append(request)
            size += len(request.incoming)
        self._submit(loop, part, size)

    def _submit(self, loop: asyncio.AbstractEventLoop, requests: list[_Request], size: int) -> None:
        """Check the reports of requests, and give them to the thread."""
        try:
            places, reports, refused = self.check(Incoming.joined([request.incoming for request in requests]))

            def done(result: list[Status] | UnavailableError) -> None:
                loop.call_soon_threadsafe(_answer, requests, places, refused, result)

            job = _Job(len(requests), size, reports, Counter(refused.values()), done)
            with self._lock:
                if self._is_closed or not self.is_alive:
                    raise UnavailableError("the server does not store reports any more")
                self._jobs.put(job)
        except Exception as error:
            self._release(size)
            _fail(requests, error)

    def _release(self, size: int) -> None:
        """Make room for other reports."""
        with self._lock:
            self._waiting -= size

    # The thread -------------------------------------------------------------------------------------------------------

    @property
    def _idle_seconds(self) -> float | None:
        """Seconds without a request after which there is other work; None if there is none."""
        return SCHEDULE_SECONDS if self._by_time else FOLD_SECONDS if self.folds else None

    def _write(self) -> None:
        last_fold = time.monotonic()
        is_open, are_many = True, False  # one client alone does not wait for others
        while is_open:
            jobs: list[_Job] = []
            size = 0
            try:
                first = self._jobs.get(timeout=self._idle_seconds)
                deadline = time.monotonic() + MAX_GATHERING_SECONDS
                while True:
                    if first is None:
                        is_open = False
                        break
                    jobs.append(first)
                    size += first.size
                    if size >= TOGETHER or time.monotonic() > deadline:
                        break
                    first = self._jobs.get(timeout=QUIET_SECONDS) if are_many else self._jobs.get_nowait()
            except queue.Empty:
                pass
            for one in self._by_time:
                one.advance()  # before the answers: a wave that is refused as closed is closed for good then
            if jobs:
                are_many = sum(job.requests for job in jobs) > 1
                self._store(jobs)
            is_late = time.monotonic() - last_fold > FOLD_SECONDS
            if self.folds and self._unfolded and (is_late or self._unfolded >= FOLDED or not is_open):
                self._fold()
                last_fold = time.monotonic()

    def _store(self, jobs: Sequence[_Job]) -> None:
        """Store the reports of several requests, and tell what became of them."""
        reports = Reports.joined([job.reports for job in jobs])
        refused = sum((job.refused for job in jobs), Counter[str]())
        try:
            with self.store.write() as connection:
                statuses = self.store.add(connection, reports)
                refused += Counter({reason: statuses.count(status) for status, reason in REASONS.items()})
                self.store.add_refusals(connection, refused)
        except Exception as error:  # whatever it is, nothing was acknowledged
            is_known = isinstance(error, SQLAlchemyError)
            failure = UnavailableError("the database cannot be written" if is_known else type(error).__name__)
            results: list[list[Status] | UnavailableError] = [failure] * len(jobs)
        else:
            self._unfolded += statuses.count(Status.ACCEPTED)
            ends = accumulate((len(job.reports) for job in jobs), initial=0)
            results = [statuses[start:stop] for start, stop in pairwise(ends)]
        self._release(sum(job.size for job in jobs))
        for job, result in zip(jobs, results, strict=True):
            job.done(result)

    def _fold(self) -> None:
        """Fold messages into counts. A failure changes nothing, and is tried again later."""
        try:
            while count := self.store.fold():
                self._unfolded = max(1, self._unfolded - count)
                if not self._jobs.empty():
                    return
            self._unfolded = 0
        except Exception as error:  # reports are stored all the same
            LOG.error("messages cannot be folded into counts: %s", type(error).__name__)


def _fail(requests: Sequence[_Request], error: Exception) -> None:
    """Tell requests that nothing was stored. Those whose clients have gone wait no more."""
    for request in requests:
        if not request.answer.done():
            request.answer.set_exception(error)


def _answer(
    requests: Sequence[_Request],
    places: list[int],
    refused: dict[int, str],
    result: list[Status] | UnavailableError,
) -> None:
    """Tell each request what became of its reports.

    Parameters
    ----------
    requests : sequence of _Request
    places : list of int
        Places of the valid reports among those of all requests.
    refused : dict of int to str
        Reasons of the others by their places.
    result : list of Status or UnavailableError
        Statuses of the valid reports, or why nothing was stored.
    """
    if isinstance(result, UnavailableError):
        return _fail(requests, result)
    starts = list(accumulate((len(request.incoming) for request in requests), initial=0))
    reasons: list[dict[int, str]] = [{} for _ in requests]
    refused = refused | {
        place: REASONS[status] for place, status in zip(places, result, strict=True) if status in REASONS
    }
    for place, reason in refused.items():
        i = bisect_right(starts, place) - 1
        reasons[i][place - starts[i]] = reason
    for request, (start, stop), own in zip(requests, pairwise(starts), reasons, strict=True):
        if not request.answer.done():
            part = result[bisect_left(places, start) : bisect_left(places, stop)]
            request.answer.set_result(Outcome(part.count(Status.ACCEPTED), part.count(Status.DUPLICATE), own))
    return None
