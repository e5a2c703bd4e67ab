"""Questions with declared categories."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..domains import declared_categories
from ._answers import NO_ANSWER
from ._questions import ColumnQuestion
from ._symbol_columns import SymbolColumn

MAX_LABELS = 1 << 20


@dataclass(frozen=True)
class Choice(ColumnQuestion):
    """One of several declared categories. The answer is the shares of the categories.

    Parameters
    ----------
    categories : int or sequence
        The declared labels, at least 2, or their number if they are 0, 1, 2, ... They are never taken from the data.
    optional : bool, default False
        Whether an answer may be missing. The shares are then those among people who answered.
    column : str, optional
        Name of the column; the default is the name of the question.

    Raises
    ------
    TypeError, ValueError
        If `categories` is neither an integer >= 2 nor at least 2 different labels.

    Examples
    --------
    >>> from ldpfast.survey import Choice
    >>> Choice(["foot", "car"], optional=True).labels
    ('foot', 'car')
    """

    categories: Any
    optional: bool = field(default=False, kw_only=True)
    column: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        domain, labels = declared_categories("categories", self.categories)
        if domain.k > MAX_LABELS:
            raise ValueError(f"categories must be at most {MAX_LABELS}, got {domain.k}")
        if labels is not None and None in labels:
            raise ValueError("categories must not contain None, which is a missing value: use optional=True")
        if self.optional and labels is not None and NO_ANSWER in labels:
            raise ValueError(f"categories must not contain {NO_ANSWER!r} where the question is optional")
        self._set(categories=domain.k if labels is None else labels)
        self._hold(ChoiceColumn, labels=tuple(range(domain.k)) if labels is None else labels)


class ChoiceColumn(SymbolColumn):
    """Declared categories."""

    def describe(self) -> str:
        shown = ", ".join(map(repr, self.labels[:20]))
        return f"the declared categories {shown}" + (", ..." if len(self.labels) > 20 else "")
