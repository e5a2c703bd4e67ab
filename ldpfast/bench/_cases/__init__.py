"""Cases of all tasks, by name. Each is built by a function of the scale: 1 for the full number of records."""

from __future__ import annotations

from collections.abc import Callable

from .._case import Case
from . import beyond, central, estimation, mechanisms, survey

CASES: dict[str, Callable[[float], Case]] = {
    **mechanisms.CASES,
    **beyond.CASES,
    **estimation.CASES,
    **survey.CASES,
    **central.CASES,
}
