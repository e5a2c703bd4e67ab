"""Send reports to a server of ldpfast, with the standard library alone."""

from __future__ import annotations

import base64
import http.client
import json
import random
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from . import _check
from .survey import Report

__all__ = ["SendError", "send"]

TOGETHER = 1000  # reports in one request
FIRST_PAUSE, MAX_PAUSE = 0.5, 30.0  # seconds
AGAIN = (408, 425, 429, 500, 502, 503, 504)  # statuses after which the same request is sent again


class SendError(OSError):
    """Reports that the server has not confirmed. Send the same ones again later.

    Examples
    --------
    >>> from ldpfast.client import SendError
    >>> issubclass(SendError, OSError)
    True
    """


@dataclass(frozen=True)
class Sent:
    """What the server says about reports.

    Attributes
    ----------
    accepted : int
        Number of reports that it has stored now.
    duplicate : int
        Number of reports that it had stored before.
    refused : dict
        Reason of each refused report by its place: it will be refused again.

    Examples
    --------
    >>> from ldpfast.client import Sent
    >>> Sent(accepted=2, duplicate=1, refused={})
    Sent(accepted=2, duplicate=1, refused={})
    """

    accepted: int
    duplicate: int
    refused: dict[int, str]


def send(
    url: str,
    reports: Report | Iterable[Report],
    *,
    group: str | None = None,
    token: str | None = None,
    attempts: int = 5,
    timeout: float = 30.0,
) -> Sent:
    """Send reports to a server, again and again until it has confirmed them.

    Parameters
    ----------
    url : str
        Address of the server, such as "https://survey.example.org".
    reports : Report or iterable of Report
        Results of `SurveyClient.report`. A report that is sent again must have the same id and message.
    group : str, optional
        Label of the group of the people, if the server has declared groups.
    token : str, optional
        Token for writing, if the server needs one.
    attempts : int, default 5
        Number of times that a request is sent, with longer and longer pauses.
    timeout : float, default 30.0
        Seconds after which a request counts as lost.

    Returns
    -------
    sent : Sent

    Raises
    ------
    TypeError, ValueError
        If `reports` are not reports; if the server refuses the request as a whole, for instance because of the token.
    SendError
        If it has not confirmed the reports after all attempts. Some of them may be stored: send the same ones again.

    Examples
    --------
    >>> from ldpfast.client import SendError, send
    >>> from ldpfast.survey import Survey, YesNo
    >>> report = Survey({"smokes": YesNo(optional=True)}, 1.0).client().report({"smokes": True})
    >>> try:
    ...     send("http://localhost:1", report, attempts=1)
    ... except SendError as error:
    ...     print(type(error).__name__)
    SendError
    """
    if urlsplit(url).scheme not in ("http", "https"):
        raise ValueError(f"url must begin with http:// or https://, got {url!r}")
    listed = [reports] if isinstance(reports, Report) else list(reports)
    for report in listed:
        if not isinstance(report, Report):
            raise TypeError(f"reports must be results of SurveyClient.report, got {type(report).__name__}")
    count, seconds = _check.integer("attempts", attempts, 1), _check.positive("timeout", timeout)
    total = Sent(0, 0, {})
    for start in range(0, len(listed), TOGETHER):
        part = listed[start : start + TOGETHER]
        answer = _post(f"{url.rstrip('/')}/reports", _body(part, group), len(part), token, count, seconds)
        refused = {start + one["index"]: one["reason"] for one in answer["refused"]}
        total = Sent(
            total.accepted + answer["accepted"], total.duplicate + answer["duplicate"], {**total.refused, **refused}
        )
    return total


def _body(reports: Sequence[Report], group: str | None) -> bytes:
    shared = {} if group is None else {"group": group}
    lines = (
        json.dumps({"id": report.id.hex(), "message": base64.b64encode(report.message).decode(), **shared})
        for report in reports
    )
    return "\n".join(lines).encode()


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect, which would send the token to another place, and lose the body."""

    def redirect_request(self, *_: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirect)


def _is_answer(found: Any, count: int) -> bool:
    """Return whether an answer says what became of a number of reports."""
    try:
        refused = [(int(one["index"]), str(one["reason"])) for one in found["refused"]]
        return int(found["accepted"]) + int(found["duplicate"]) + len(refused) == count
    except (KeyError, TypeError, ValueError):
        return False


def _post(url: str, body: bytes, size: int, token: str | None, attempts: int, timeout: float) -> dict[str, Any]:
    headers = {"content-type": "application/x-ndjson"}
    if token is not None:
        headers["authorization"] = f"Bearer {token}"
    request = urllib.request.Request(url, body, headers, method="POST")
    pause, reason = FIRST_PAUSE, ""
    for attempt in range(attempts):
        if attempt:
            time.sleep(pause * (0.5 + random.random() / 2))  # so that not all clients come back at once
            pause = min(2 * pause, MAX_PAUSE)
        try:
            with _OPENER.open(request, timeout=timeout) as response:
                found = json.load(response)
            if _is_answer(found, size):
                return dict(found)
            reason = "the answer is not that of a server of ldpfast"
        except urllib.error.HTTPError as error:
            with error:
                reason = f"status {error.code}: {_detail(error)}"
                if error.code not in AGAIN:
                    raise ValueError(f"the server refuses the request, {reason}") from None
                pause = min(max(pause, _seconds(error.headers.get("retry-after"))), MAX_PAUSE)
        except (http.client.HTTPException, OSError, RecursionError, ValueError) as error:
            reason = str(error) or type(error).__name__
    raise SendError(f"{url} has not confirmed the reports after {attempts} attempts: {reason}")


def _detail(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.loads(error.read(2000))["error"])
    except (KeyError, TypeError, ValueError):
        return error.reason


def _seconds(text: str | None) -> float:
    return float(text) if text is not None and text.isascii() and text.isdigit() else 0.0
