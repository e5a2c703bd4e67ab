"""What a request says: the parameters of its address, and the tokens of its application."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request

from ._access import Tokens

MAX_DIGITS, NO_NUMBER = 12, -1
REPEATED = ("by", "primary")  # parameters that a request can have several times
OCCASION = ("wave", "round", "version")  # parameters that choose what is estimated


def require_known(request: Request, *allowed: str) -> None:
    """Refuse other parameters and those that are given twice: who misspells one would get numbers of other people."""
    given = request.query_params
    for name in given:
        if name not in allowed:
            raise HTTPException(400, f"parameters must be of {', '.join(allowed)}, got {name!r}")
        if name not in REPEATED and len(given.getlist(name)) > 1:
            raise HTTPException(400, f"{name} must be given once")


def _require_no_occasion(request: Request, cause: str) -> None:
    """Refuse what chooses a wave, round or version beside a parameter that asks for all of them."""
    for name in OCCASION:
        if name in request.query_params:
            raise HTTPException(400, f"{name} must be left out with {cause}")


def divided_by(request: Request, *allowed: str) -> tuple[str, bool]:
    """Return by what the answers of a request are divided: "wave", "round" or "", and whether by groups."""
    by = request.query_params.getlist("by")
    units = [one for one in by if one != "group"]
    if not {*by} <= {*allowed} or len(units) > 1 or len(by) > len({*by}):
        raise HTTPException(400, f"by must be one of {', '.join(allowed)}")
    if units:
        _require_no_occasion(request, f"by={units[0]}")
    return "".join(units), "group" in by


def pool_of(request: Request) -> str | None:
    """Return what is pooled: "versions" of a wave, "waves", or None."""
    pool = request.query_params.get("pool")
    if pool not in (None, "versions", "waves"):
        raise HTTPException(400, "pool must be one of versions, waves")
    if pool == "waves":
        _require_no_occasion(request, "pool=waves")
    return pool


def occasion_of(request: Request) -> dict[str, int | None]:
    """Return the wave, round and version that a request asks for, None for what it does not name."""
    wanted: dict[str, int | None] = {}
    for name in OCCASION:
        text = request.query_params.get(name)
        wanted[name] = None if text is None else number_of(text)
        if wanted[name] == NO_NUMBER:
            raise HTTPException(400, f"{name} must be a number")
    return wanted


def number_of(text: str) -> int:
    """Return the number that a text is; `NO_NUMBER` for another text."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < MAX_DIGITS else NO_NUMBER


def tokens_of(request: Request) -> Tokens:
    """Return the tokens that are valid now; others may be put in their place while the server runs."""
    found = request.app.state.tokens
    assert isinstance(found, Tokens)
    return found
