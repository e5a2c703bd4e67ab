"""What the protocols share in which each query has one answer."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from ..mechanisms import Query


def one_answer(query: Any, current: Query, reports: ArrayLike) -> NDArray[Any]:
    """The one report that answers the current query, checked; any other query, and any other number of reports, is refused."""
    if not isinstance(query, Query):
        raise TypeError(f"query must be a Query, got {type(query).__name__}")
    if query != current:
        raise ValueError(
            f"query must be the current one, of serial number {current.serial}, got serial number {query.serial}"
        )
    accepted = current.mechanism.report.validate(reports)
    if len(accepted) != 1:
        raise ValueError(f"reports must be exactly one, for each query has one answer, got {len(accepted)}")
    return accepted
