"""Requests: hosts that are answered, bodies that are read, and results that are computed while their client waits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

MAX_BODY = 4 << 20
MAX_DISCARDED = 64 << 20  # of a larger body, so that the client can read the answer
BODY_SECONDS = 30
WATCH_SECONDS = 0.2  # after which it is seen whether a client that waits for a result has gone
GONE = 499  # status that nobody reads
PLAIN = {"accept-encoding": "identity"}  # what a client may send instead (RFC 9110, section 12.5.3)

Value = TypeVar("Value")


class KnownHosts(TrustedHostMiddleware):
    """Refuses requests for other host names, except for the health: probes ask by address."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "").removeprefix(scope.get("root_path", ""))
        if scope["type"] == "http" and path == "/health":
            await self.app(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


async def body_of(request: Request) -> bytes:
    """Return the body of a request, if it is not compressed, too large or too slow."""
    encodings = ",".join(request.headers.getlist("content-encoding")).split(",")
    if any(name.strip().lower() not in ("", "identity") for name in encodings):
        raise HTTPException(415, "the content encoding must be identity: compressed bodies are not read", PLAIN)
    parts, size = [], 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                size += len(part)
                if size <= MAX_BODY:
                    parts.append(part)
                elif size > MAX_DISCARDED:
                    break
    except ClientDisconnect:
        raise HTTPException(400, "the body has ended too early") from None
    except TimeoutError:
        raise HTTPException(408, f"a body must arrive within {BODY_SECONDS} seconds") from None
    if size > MAX_BODY:
        raise HTTPException(413, f"a body must have at most {MAX_BODY} bytes")
    return b"".join(parts)


class Worker:
    """A thread that computes results, one after the other, while clients wait for them or in the background.

    Parameters
    ----------
    done : callable
        What is called in the thread after each result.
    """

    def __init__(self, done: Callable[[], None]) -> None:
        self._done = done
        self._thread = ThreadPoolExecutor(1, "ldpfast-results")

    async def compute(self, request: Request, work: Callable[[threading.Event], Value]) -> Value:
        """Return what a function gives. If the client goes, the event that it takes is set, or it never begins."""
        gone = threading.Event()
        future = asyncio.wrap_future(self.start(lambda: work(gone)))
        try:
            while not (await asyncio.wait({future}, timeout=WATCH_SECONDS))[0]:
                if await request.is_disconnected():
                    raise HTTPException(GONE, "the client has gone")
            return future.result()
        finally:
            gone.set()
            future.cancel()

    def start(self, work: Callable[[], Value]) -> Future[Value]:
        """Compute what a function gives, whether or not anybody waits for it."""

        def run() -> Value:
            try:
                return work()
            finally:
                self._done()

        return self._thread.submit(run)

    def close(self) -> None:
        """End the thread, after what it is doing."""
        self._thread.shutdown(cancel_futures=True)
