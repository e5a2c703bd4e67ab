"""Exact error messages."""

from __future__ import annotations

import re
import traceback

import pytest


def raises(kind: type[Exception], message: str):
    """Expect an error with exactly this message."""
    return pytest.raises(kind, match=f"^{re.escape(message)}$")


def logged_text(error: BaseException) -> str:
    """Text of an error and its causes as a log shows it, without source lines."""
    causes = (cause for cause in (error.__cause__, error.__context__) if cause is not None)
    return "".join([*traceback.format_exception_only(error), *map(logged_text, causes)])
