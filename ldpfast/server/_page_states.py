"""What the page shows: states of the answers, which are computed in the background, because that can take long.

A request waits for a moment, so that the page of a small survey has all reports. After that it gets the last state that was
computed, with its time, or none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass

from ._held_surveys import has_group
from ._requests import Worker
from ._results import ResultCache, ShownAnswers
from ._server_plan import SurveyOccasion
from ._store import Store

PATIENCE_SECONDS = 0.5  # of a request, so that the page is there within a second
RECENT_SECONDS = 60.0  # for which the page does not ask for a newer state by itself


class UnknownGroupError(LookupError):
    """A group that nobody is in."""


@dataclass(frozen=True)
class PageState:
    """The answers of all people or of one group at a time.

    Attributes
    ----------
    time : float
        When the reports were counted, in seconds since the epoch.
    n : int
        Number of reports of all groups.
    n_by_label : dict
        Numbers of reports by the labels of groups.
    answers : ShownAnswers or None
        None without reports.
    withdrawn : int
        Number of reports to all surveys that had been withdrawn.
    """

    time: float
    n: int
    n_by_label: Mapping[str, int]
    answers: ShownAnswers | None
    withdrawn: int

    def is_newest(self, n: int, withdrawn: int) -> bool:
        """Return whether it has all of `n` reports, of which `withdrawn` others were withdrawn."""
        return (self.n, self.withdrawn) == (n, withdrawn)


Key = tuple[bytes, str | None]  # fingerprint of the survey, and label of a group


class PageStates:
    """The last state of each page, which event loops use, one at a time.

    Parameters
    ----------
    store : Store
    results : ResultCache
        Used in the thread of the worker only.
    worker : Worker
    clock : callable
        It returns the seconds since the epoch.
    """

    def __init__(self, store: Store, results: ResultCache, worker: Worker, clock: Callable[[], float]) -> None:
        self._store, self._clock = store, clock
        self._results, self._worker = results, worker
        self._states: dict[Key, PageState] = {}
        # At most one for each page. It stays here until a request has seen how it ended, so that no error is lost.
        self._under_way: dict[Key, Future[PageState | None]] = {}

    def checked(self, occasion: SurveyOccasion, label: str | None) -> SurveyOccasion:
        """Return a survey, of which the page of a group is asked for, in another thread.

        Without this, who reads could start as many computations as there are texts, each of which stays here.

        Raises
        ------
        UnknownGroupError
            If there is no such group.
        """
        if label is not None and label not in self._store.plan.groups:
            with self._store.read() as connection:
                if not has_group(connection, occasion.fingerprint, label):
                    raise UnknownGroupError("there is no such group")
        return occasion

    async def newest(self, occasion: SurveyOccasion, label: str | None, n: int, withdrawn: int) -> PageState | None:
        """Return the state with all `n` reports to a survey if it is there soon, else the last one; None if there is none yet.

        `withdrawn` is the number of reports that were withdrawn.

        Raises
        ------
        UnknownGroupError
            If there are no reports of the group.
        """
        key = (occasion.fingerprint, label)
        self._take(key)
        known = self._states.get(key)
        if known is not None and known.is_newest(n, withdrawn):
            return known
        if key not in self._under_way:
            self._under_way[key] = self._worker.start(lambda: self._computed(occasion, label))
        waiting = asyncio.wrap_future(self._under_way[key])
        waiting.add_done_callback(lambda future: future.cancelled() or future.exception())  # `_take` raises it
        await asyncio.wait({waiting}, timeout=PATIENCE_SECONDS)
        self._take(key)
        return self._states.get(key)

    def is_recent(self, state: PageState) -> bool:
        """Return whether a state was computed lately."""
        return self._clock() - state.time < RECENT_SECONDS

    def _take(self, key: Key) -> None:
        """Keep the state that was computed for a page, if it is ready."""
        future = self._under_way.get(key)
        if future is None or not future.done():
            return
        del self._under_way[key]
        state = future.result()
        if state is None:
            raise UnknownGroupError("there is no such group")
        self._states[key] = state

    def _computed(self, occasion: SurveyOccasion, label: str | None) -> PageState | None:
        time = self._clock()
        found = self._results.of(occasion)
        if label is not None and label not in found.n_by_label:
            return None
        return PageState(time, found.n, dict(found.n_by_label), found.answers(label), self._results.withdrawn)
