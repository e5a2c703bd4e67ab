"""What a request says: the parameters of its address, and the tokens of its application."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request

from ._access import Tokens

MAX_DIGITS, NO_NUMBER = 12, -1


def divided_by(request: Request, *allowed: str) -> tuple[str, bool]:
    """Return by what the answers of a request are divided: "wave", "round" or "", and whether by groups."""
    by = request.query_params.getlist("by")
    units = [one for one in by if one != "group"]
    if not {*by} <= {*allowed} or len(units) > 1 or len(by) > len({*by}):
        raise HTTPException(400, f"by must be one of {', '.join(allowed)}")
    return "".join(units), "group" in by


def pool_of(request: Request) -> str | None:
    """Return what is pooled: "versions" of a wave, "waves", or None."""
    pool = request.query_params.get("pool")
    if pool not in (None, "versions", "waves"):
        raise HTTPException(400, "pool must be one of versions, waves")
    return pool


def number_of(text: str) -> int:
    """Return the number that a text is; `NO_NUMBER` for another text."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < MAX_DIGITS else NO_NUMBER


def tokens_of(request: Request) -> Tokens:
    """Return the tokens that are valid now; others may be put in their place while the server runs."""
    found = request.app.state.tokens
    assert isinstance(found, Tokens)
    return found
