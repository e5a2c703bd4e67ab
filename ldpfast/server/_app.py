"""The calls of the server."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import math
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, generate_latest
from sqlalchemy.exc import SQLAlchemyError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from .. import _check
from ..reports import recipe_of
from ..survey import Survey
from ..survey._calendar import moment_text
from . import _page
from ._access import COOKIE, Tokens, session_of
from ._alerts import AlertRules, AlertWatch
from ._loss import sentences
from ._message_ages import MessageAges, kept_seconds
from ._page_states import PageState, PageStates, UnknownGroupError
from ._receiver import LOG, Receiver, UnavailableError
from ._request_parameters import OCCASION, divided_by, number_of, occasion_of, pool_of, require_known, tokens_of
from ._requests import KnownHosts, Worker, body_of
from ._results import Primary, ResultCache, Results, arrow_of, csv_of, trend_plot
from ._series_results import SeriesResults
from ._server_plan import ServerPlan, SurveyOccasion, checked_questions, texts_of
from ._store import Store, Summary
from ._wave_schedule import WaveSchedule
from ._wire import FRAMES, JSON_LINES, BodyError, Incoming, TooManyError, read_frames, read_json_lines
from ._withdrawal import REASON as WITHDRAWN

MAX_REPORTS = 10_000
RETRY_SECONDS = 2
LARGE_BODY = 1 << 14  # bodies that are read in another thread
LOCAL = ("127.0.0.1", "localhost", "[::1]")
HEADERS = {
    "content-security-policy": "default-src 'none'; img-src 'self'; style-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}

Handler = Callable[[Request], Awaitable[Response]]


def create_app(
    surveys: Survey | Sequence[Survey],
    url: str = "sqlite:///reports.db",
    *,
    waves: int | Sequence[int] | None = None,
    groups: Sequence[str] | None = None,
    primary: Sequence[str] | None = None,
    alerts: Mapping[str, Any] | None = None,
    tokens: Tokens | None = None,
    reads_need_token: bool = True,
    origins: Sequence[str] = (),
    hosts: Sequence[str] = LOCAL,
    folds: bool = True,
    fold_after: str | timedelta | None = None,
    clock: Callable[[], float] = time.time,
) -> Starlette:
    """Return the ASGI application of a server, for one survey and its versions.

    Parameters
    ----------
    surveys : Survey or sequence of Survey
        Versions of one survey (`Survey.revise`), or rounds of a repeated one (`RepeatedSurvey.in_round`), of which the last is
        the current one. All questions must be optional, because clients never refuse a value.
    url : str, default "sqlite:///reports.db"
        Database for SQLAlchemy: a file of SQLite, or "postgresql+psycopg://...".
    waves : int or sequence of int, optional
        Open waves of a survey with waves; the last is the current one. Reports of others are refused. They must be left out for
        a survey with a calendar, which opens and closes them.
    groups : sequence of str, optional
        Labels of groups, one of which comes with every report. They are public and not protected.
    primary : sequence of str, optional
        Names of the few questions that the study is about, chosen before there are reports. The page shows them first, and
        comparisons correct for them among themselves (`survey.compare`).
    alerts : mapping, optional
        For a survey with a calendar, in whose waves different people answer: each closed wave is compared with those before.
        Entries: "questions" (by default the primary ones), "false_alarms" (largest probability of an alert in any wave if
        nothing changes, 0.05 by default) and "webhook", an address that gets each alert as JSON.
    tokens : Tokens, optional
        Who may read and write. By default everybody may send reports, and one new token, ``app.state.tokens.read[0]``, reads.
        Other tokens may be put into ``app.state.tokens`` while the server runs.
    reads_need_token : bool, default True
        Whether reading needs a token. Only behind a Unix socket that other users cannot open, it may be left out.
    origins : sequence of str, optional
        Origins of web pages whose scripts may send reports, such as "https://survey.example.org".
    hosts : sequence of str
        Values of the header Host that are accepted.
    folds : bool, default True
        Whether messages are folded into counts, and deleted, a few seconds after they were stored.
    fold_after : str or timedelta, optional
        Time for which messages are kept before that, such as "30 days". The database then has times, some of them in this time.
    clock : callable, default time.time
        What a calendar is compared with, and the time of what the page shows: it returns the seconds since the epoch.

    Returns
    -------
    app : starlette.applications.Starlette
        For uvicorn or another ASGI server, in one process per database of SQLite.

    Raises
    ------
    TypeError, ValueError
        If the surveys are not versions of one series; if waves, groups, primary questions, alerts, `fold_after` or `url` are
        not valid.

    Examples
    --------
    >>> import tempfile
    >>> from ldpfast.server import create_app
    >>> from ldpfast.survey import Survey, YesNo
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     app = create_app(Survey({"smokes": YesNo(optional=True)}, 1.0), f"sqlite:///{folder}/reports.db")
    ...     app.state.store.close()
    >>> sorted({route.path for route in app.routes})[:3]
    ['/', '/comparison', '/estimates']
    """
    # The order matters: the database is opened and compared with the plan before routes exist, so that a server that answers
    # requests has all its counts.
    now = math.floor(clock())
    plan = ServerPlan.of(surveys, waves, groups, now)
    first = checked_questions("primary", primary, plan.versions[-1])
    rules = AlertRules.of(alerts, first, plan.versions[-1])
    _check.flag("reads_need_token", reads_need_token)
    kept = kept_seconds(fold_after)
    if kept is not None and not _check.flag("folds", folds):
        raise ValueError(f"folds must be True with fold_after, got fold_after={fold_after!r}")
    store = Store(plan, url)
    closed, received = store.closed_waves(), range(0) if plan.calendar is None else plan.calendar.received(now)
    for number in {occasion.number: None for occasion in closed if occasion.number in received}:
        text = "wave %d of %s is open by the calendar, but was closed for good: its reports are refused"
        LOG.warning(text, number, plan.versions[0].series)
    for occasion in closed if plan.calendar is None else ():
        store.close()
        raise ValueError(
            f"{occasion.unit}s must be open, got {occasion.number}, which was closed for good"
            if occasion.unit
            else "surveys must be open, got one that was closed for good"
        )
    if plan.calendar is not None and plan.calendar.received(now).start > plan.calendar.last and not store.summary().n:
        store.close()
        raise ValueError(
            f"calendar must not be over before the first report, got a last wave that closed at "
            f"{moment_text(plan.calendar.closes(plan.calendar.last))}"
        )
    store.load()
    for one, n in store.summary().others.items():
        shown = "shown, but not received" if one.occasion is not None else "neither shown nor counted without its file"
        LOG.warning("the server was not started with %s, which are %s", one.text(n), shown)
    watch = None if rules is None else AlertWatch(store, rules)
    tell = None if watch is None else watch.closed
    schedule = None if plan.calendar is None else WaveSchedule(store, plan.calendar, clock, tell)
    server = _Server(store, reads_need_token, _check.flag("folds", folds), schedule, first, watch, clock, kept)
    middleware = [Middleware(KnownHosts, allowed_hosts=list(hosts), www_redirect=False)]
    if origins:
        middleware.append(
            Middleware(
                CORSMiddleware,
                allow_origins=list(origins),
                allow_methods=["GET", "POST"],
                allow_headers=["authorization", "content-type"],
                max_age=3600,
            )
        )
    routes = [
        Route("/survey", server.survey),
        Route("/survey/{version}", server.survey),
        Route("/reports", server.reports, methods=["POST"]),
        Route("/estimates", server.reading(server.estimates)),
        Route("/comparison", server.reading(server.comparison)),
        Route("/", server.page),
        Route("/login", server.login, methods=["POST"]),
        Route("/style.css", server.style),
        Route("/plot.svg", server.reading(server.plot)),
        Route("/trend.svg", server.reading(server.trend)),
        Route("/repeats", server.reading(server.repeats)),
        Route("/metrics", server.reading(server.metrics)),
        Route("/health", server.health),
    ]
    app = Starlette(
        routes=routes, middleware=middleware, lifespan=server.lifespan, exception_handlers={HTTPException: _error}
    )
    app.router.redirect_slashes = False
    app.state.tokens, app.state.store = tokens or Tokens.fresh(), store
    app.state.schedule, app.state.health = schedule, server.health
    app.state.watch = watch
    return app


class _Server:
    """The handlers of all calls."""

    def __init__(
        self,
        store: Store,
        reads_need_token: bool,
        folds: bool,
        schedule: WaveSchedule | None,
        primary: tuple[str, ...],
        watch: AlertWatch | None,
        clock: Callable[[], float],
        kept: int | None,
    ) -> None:
        self.store, self._schedule = store, schedule
        self._primary, self._watch = primary, watch
        self._reads_need_token, self._folds = reads_need_token, folds and kept is None
        self._ages = None if kept is None else MessageAges(store, kept, clock)
        self._receiver: Receiver | None = None
        self._results = ResultCache(store)
        self._worker = Worker(self._results.release)
        self._states = PageStates(store, self._results, self._worker, clock)
        self._described: dict[bytes, tuple[bytes, str]] = {}
        self._describing = asyncio.Lock()
        self._registry = CollectorRegistry()
        seen = Counter("ldpfast_reports", "Reports by what became of them", ["status"], registry=self._registry)
        self._seen = {status: seen.labels(status) for status in ("accepted", "duplicate", "refused")}
        self._refused = Counter("ldpfast_refused", "Refused reports by reason", ["reason"], registry=self._registry)
        self._busy = Counter("ldpfast_unavailable", "Requests that were not stored", registry=self._registry)
        self._waiting = Gauge("ldpfast_waiting_reports", "Reports that wait for the disk", registry=self._registry)
        self._unfolded = Gauge("ldpfast_unfolded_messages", "Messages that are not folded yet", registry=self._registry)
        self._alerted = Gauge("ldpfast_alerts", "Answers that changed in the last closed wave", registry=self._registry)
        self._repeated = Gauge(
            "ldpfast_repeated_reports", "Reports equal to others, at /repeats", registry=self._registry
        )
        self._stored = Gauge("ldpfast_stored_reports", "Reports of all surveys", registry=self._registry)

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Catch up with the calendar, and start the thread that stores reports; at the end, store what waits."""
        if self._schedule is not None:
            await run_in_threadpool(self._schedule.advance)
        self._receiver = Receiver(self.store, self._folds, self._schedule, self._ages)
        try:
            yield
        finally:
            await run_in_threadpool(self._receiver.close)
            if self._watch is not None:
                await run_in_threadpool(self._watch.close)
            await run_in_threadpool(self._worker.close)
            self.store.close()

    @property
    def plan(self) -> ServerPlan:
        """The surveys that are received now."""
        return self.store.plan

    # Reports ----------------------------------------------------------------------------------------------------------

    async def survey(self, request: Request) -> Response:
        """Return what a client needs: the same for everybody, so that it can be cached."""
        text, wave = request.path_params.get("version"), request.query_params.get("wave")
        plan = self.plan
        version = plan.versions[-1] if text is None else plan.version(number_of(text))
        survey = None if version is None else plan.now(version, None if wave is None else number_of(wave))
        if survey is None:
            raise HTTPException(404, "there is no such version, or this wave is not open")
        body, tag = await self._description(plan, survey)
        headers = {**HEADERS, "cache-control": "public, max-age=60", "etag": tag}
        if tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(body, media_type="application/json", headers=headers)

    async def _description(self, plan: ServerPlan, survey: Survey) -> tuple[bytes, str]:
        """Return what clients need of a survey of a plan. Large tables take a while."""
        key = recipe_of(survey).head
        async with self._describing:  # once, although many clients ask when a wave opens
            if key not in self._described:
                found = await run_in_threadpool(_described, survey, plan)
                known = {recipe_of(one).head for one in plan.open}
                kept = {one: text for one, text in self._described.items() if one in known}
                self._described = {**kept, key: found}
            return self._described[key]

    async def reports(self, request: Request) -> Response:
        """Store the reports of a body, and say what became of each."""
        if not tokens_of(request).may_write(request.headers.get("authorization")):
            raise HTTPException(401, "a token for writing is needed", {"www-authenticate": "Bearer"})
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        readers = {JSON_LINES: read_json_lines, "application/json": read_json_lines, FRAMES: read_frames}
        if kind not in readers:
            raise HTTPException(415, f"the content type must be {JSON_LINES} or {FRAMES}")
        body = await body_of(request)
        read: Callable[[bytes, int], Incoming] = readers[kind]
        is_large = len(body) >= LARGE_BODY
        try:
            incoming = await run_in_threadpool(read, body, MAX_REPORTS) if is_large else read(body, MAX_REPORTS)
        except BodyError as error:
            raise HTTPException(400, str(error)) from None
        except TooManyError:
            raise HTTPException(413, f"a request must have at most {MAX_REPORTS} reports") from None
        assert self._receiver is not None
        try:
            outcome = await self._receiver.receive(incoming)
        except UnavailableError as error:
            self._busy.inc()
            raise HTTPException(503, str(error), {"retry-after": str(RETRY_SECONDS)}) from None
        self._seen["accepted"].inc(outcome.accepted)
        self._seen["duplicate"].inc(outcome.duplicate)
        self._seen["refused"].inc(len(outcome.refused))
        for reason in outcome.refused.values():
            self._refused.labels(reason).inc()
        return JSONResponse(outcome.to_dict(), headers=HEADERS)

    # Reading ----------------------------------------------------------------------------------------------------------

    def _may_read(self, request: Request) -> bool:
        if not self._reads_need_token:
            return True
        return tokens_of(request).may_read(request.headers.get("authorization"), request.cookies.get(COOKIE))

    def reading(self, handler: Handler) -> Handler:
        """Return a handler that needs a token for reading."""

        async def guarded(request: Request) -> Response:
            if not self._may_read(request):
                raise HTTPException(401, "a token for reading is needed", {"www-authenticate": "Bearer"})
            return await handler(request)

        return guarded

    def _occasion(self, request: Request) -> SurveyOccasion:
        """Return the survey that a request asks for: by default the newest version with reports, in the current wave."""
        known, given = self.store.occasions(), occasion_of(request)
        version = given.pop("version")
        if given == {"wave": None, "round": None}:
            given = SurveyOccasion.of(self.plan.current).described()
        found = [one for one in known if one.described() == given and version in (None, one.survey.revision)]
        if not found:
            raise HTTPException(404, "there is no such wave, round or version")
        if len(found) > 1:
            n = self.store.summary().n
            found = [one for one in found if n.get(one.fingerprint)] or found
        return found[-1]

    async def estimates(self, request: Request) -> Response:
        """Return the estimates as JSON, CSV or Arrow."""
        require_known(request, "by", "pool", *OCCASION)
        unit, grouped = divided_by(request, "group", "wave", "round")
        together, accept = pool_of(request), request.headers.get("accept", "")
        if together is not None and (unit == "round" or (unit, together) == ("wave", "waves")):
            raise HTTPException(400, f"pool must be {'left out' if unit == 'round' else 'versions'} with by={unit}")

        def columns(gone: threading.Event) -> tuple[dict[str, list[Any]], set[str]]:
            if unit:
                series = self._series(unit)
                return series.columns(gone, grouped, together is not None), series.texts
            results = self._pooled(request, together)
            return results.columns(grouped, gone), texts_of(results.occasion.survey)

        def described(gone: threading.Event) -> Any:
            if unit:
                return {f"{unit}s": self._series(unit).to_dict(gone, grouped, together is not None)}
            return self._pooled(request, together).to_dict(grouped, gone)

        if "text/csv" in accept:
            text = await self._worker.compute(request, lambda gone: csv_of(*columns(gone)))
            return Response(text, media_type="text/csv", headers=HEADERS)
        if "application/vnd.apache.arrow.stream" in accept:
            data = await self._worker.compute(request, lambda gone: arrow_of(columns(gone)[0]))
            return Response(data, media_type="application/vnd.apache.arrow.stream", headers=HEADERS)
        return JSONResponse(await self._worker.compute(request, described), headers=HEADERS)

    def _series(self, unit: str) -> SeriesResults:
        """Return the results of all waves or rounds that have reports."""
        found = [one for one in self.store.answered() if one.unit == unit]
        if not found:
            raise HTTPException(404, f"there is no {unit} with reports")
        return SeriesResults(self._results, found)

    def _pooled(self, request: Request, together: str | None) -> Results:
        """Return the results of the survey that a request asks for; of all versions of its wave, or of all waves, together."""
        if together == "waves":
            try:
                return self._series("wave").pooled()
            except ValueError as error:
                raise HTTPException(400, str(error)) from None
        occasion = self._occasion(request)
        if together is None:
            return self._results.of(occasion)
        if occasion.unit != "wave" or "version" in request.query_params:
            raise HTTPException(400, "pool must be left out with version, and without waves")
        versions = [one for one in self.store.answered() if one.key == occasion.key]
        return self._results.of(*(versions or [occasion]))

    async def comparison(self, request: Request) -> Response:
        """Return the differences of groups or of waves as JSON."""
        require_known(request, "by", "pool", "reference", "primary", *OCCASION)
        unit, grouped = divided_by(request, "group", "wave")
        if grouped == bool(unit):
            raise HTTPException(400, "by must be one of group, wave")
        together = pool_of(request)
        if unit and together == "waves":
            raise HTTPException(400, f"pool must be versions with by={unit}")
        reference = request.query_params.get("reference")
        primary = Primary(tuple(request.query_params.getlist("primary")), self._primary)

        def rows(gone: threading.Event) -> list[dict[str, Any]]:
            compared = self._series(unit) if unit else self._pooled(request, together)
            try:
                return compared.compared(reference, primary, gone)
            except ValueError as error:
                raise HTTPException(400, str(error)) from None

        found = await self._worker.compute(request, rows)
        return JSONResponse({"by": unit or "group", "confidence": 0.95, "rows": found}, headers=HEADERS)

    async def page(self, request: Request) -> Response:
        """Return the page, or the one that asks for a token."""
        if not self._may_read(request):
            return HTMLResponse(_page.login(False), 401, headers=HEADERS)
        label, checked = request.query_params.get("group"), self._states.checked
        try:
            found = await run_in_threadpool(lambda: (checked(self._occasion(request), label), self.store.summary()))
            occasion, summary = found
            n, withdrawn = summary.n.get(occasion.fingerprint, 0), summary.refused.get(WITHDRAWN, 0)
            state = await self._states.newest(occasion, label, n, withdrawn)
        except UnknownGroupError as error:
            raise HTTPException(404, str(error)) from None
        page = await run_in_threadpool(self._dashboard, occasion, label, state, summary)
        return HTMLResponse(page, headers=HEADERS)

    def _dashboard(self, occasion: SurveyOccasion, label: str | None, state: PageState | None, summary: Summary) -> str:
        """Return the page with a state of the answers, and with the numbers of reports at this moment."""
        occasions = self.store.occasions()
        waves = {one.entry for one in occasions if summary.n.get(one.fingerprint)}
        is_open = self.plan.occasions()
        asked = [one.survey for one in occasions if summary.n.get(one.fingerprint) or one.fingerprint in is_open]
        losses = sentences(asked, summary.unknown)
        shown = _page.Shown(occasion, label, state, state is not None and self._states.is_recent(state))
        return _page.dashboard(shown, occasions, summary, len(waves) > 1, losses, self._primary, self._alerts())

    def _alerts(self) -> list[str]:
        """Return the alerts of the last closed wave in words."""
        return [] if self._watch is None else [alert.text() for alert in self._watch.current]

    async def login(self, request: Request) -> Response:
        """Give the cookie of the page to whoever has a token."""
        try:
            fields = parse_qs((await body_of(request)).decode(), max_num_fields=2)
        except ValueError:
            raise HTTPException(400, "the form cannot be read") from None
        token = fields.get("token", [""])[0].strip()
        if not token or not tokens_of(request).may_read(f"Bearer {token}", None):
            return HTMLResponse(_page.login(True), 401, headers=HEADERS)
        response = RedirectResponse("./", 303, headers=HEADERS)
        secure = request.url.hostname not in (*LOCAL, "::1")  # others come through a proxy with TLS
        # Without a path the cookie is for the folder of the call, wherever a proxy shows it.
        response.set_cookie(COOKIE, session_of(token), path=None, httponly=True, samesite="strict", secure=secure)
        return response

    async def style(self, _: Request) -> Response:
        """Return the style of the page."""
        return Response(_page.STYLE, media_type="text/css", headers={**HEADERS, "cache-control": "max-age=3600"})

    async def plot(self, request: Request) -> Response:
        """Return the plot of the answers."""
        return _picture(await self._worker.compute(request, lambda _: self._results.of(self._occasion(request)).plot()))

    async def trend(self, request: Request) -> Response:
        """Return the plot of all waves."""
        return _picture(await self._worker.compute(request, self._trend))

    def _trend(self, gone: threading.Event) -> bytes | None:
        waves = SeriesResults(self._results, self.store.answered()).waves(gone)
        found = {results.occasion.title: results.result() for results in waves}
        return trend_plot({title: result for title, result in found.items() if result is not None})

    # Operators --------------------------------------------------------------------------------------------------------

    async def metrics(self, _: Request) -> Response:
        """Return numbers for Prometheus."""
        summary = await run_in_threadpool(self.store.summary)
        self._unfolded.set(summary.pending)
        self._stored.set(sum(summary.n.values()) + summary.unknown)
        self._alerted.set(len(self._alerts()))
        self._waiting.set(0 if self._receiver is None else self._receiver.waiting)
        return Response(generate_latest(self._registry), headers={**HEADERS, "content-type": CONTENT_TYPE_LATEST})

    async def repeats(self, request: Request) -> Response:
        """Return how many reports are equal to others under other ids, of each wave or survey whose ids are stored."""
        found = await self._worker.compute(request, lambda _: self.store.repeats())
        self._repeated.set(sum(one.repeated for _, one in found))
        rows = [{**occasion.described(), **one.to_dict()} for occasion, one in found]
        return JSONResponse({"repeats": rows}, headers=HEADERS)

    async def health(self, _: Request) -> Response:
        """Return whether reports are stored: the database can be written, and the thread that does it lives."""
        try:
            await run_in_threadpool(self.store.touch)
        except SQLAlchemyError:
            return JSONResponse({"status": "unavailable"}, 503, headers=HEADERS)
        is_alive = self._receiver is not None and self._receiver.is_alive
        return JSONResponse({"status": "ok" if is_alive else "unavailable"}, 200 if is_alive else 503, headers=HEADERS)


def _described(survey: Survey, plan: ServerPlan) -> tuple[bytes, str]:
    """Return what clients need of a survey as JSON, and its tag for caches."""
    data: dict[str, Any] = {
        "fingerprint": survey.fingerprint,
        "schema": survey.client_schema(),
        "table": base64.b64encode(survey.client_table()).decode(),
        **SurveyOccasion.of(survey).described(),
        "version": survey.revision,
        "groups": list(plan.groups),
    }
    data |= {} if plan.calendar is None else {"calendar": plan.calendar.to_dict()}
    body = json.dumps(data, ensure_ascii=False).encode()
    return body, f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def _picture(data: bytes | None) -> Response:
    if data is None:
        raise HTTPException(404, "there are no reports to draw")
    return Response(data, media_type="image/svg+xml", headers=HEADERS)


async def _error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers = {**HEADERS, **(error.headers or {})}
    return JSONResponse({"error": error.detail}, error.status_code, headers=headers)
