"""Exact error messages."""

from __future__ import annotations

import math
import re
import traceback

import pytest

CLIP_HINT = ". clip=True moves records to the nearest valid one, and NaN to the center"


def state_of_record(bad: float) -> str:
    """Return what messages call an invalid number."""
    return "NaN" if math.isnan(bad) else "outside"


def raises(kind: type[Exception], message: str):
    """Return a context that expects an error with exactly this message."""
    return pytest.raises(kind, match=f"^{re.escape(message)}$")


def logged_text(error: BaseException) -> str:
    """Return the text of an error and its causes as in a log, without source lines."""
    causes = (cause for cause in (error.__cause__, error.__context__) if cause is not None)
    return "".join([*traceback.format_exception_only(error), *map(logged_text, causes)])
