"""Yes-or-no questions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .._typing import Floats
from ._questions import ColumnQuestion
from ._symbol_columns import SymbolColumn

# Texts in files that stand for no and yes.
NO, YES = (
    tuple(dict.fromkeys(spelling for text in texts for spelling in (text, text.capitalize(), text.upper())))
    for texts in (("false", "no", "0", "f", "n"), ("true", "yes", "1", "t", "y"))
)


@dataclass(frozen=True)
class YesNo(ColumnQuestion):
    """A yes-or-no question. The answer is the share of yes.

    Parameters
    ----------
    optional : bool, default False
        Whether an answer may be missing. The share is then that among people who answered.
    column : str, optional
        Name of the column; the default is the name of the question. Cells are booleans, or 0 and 1.

    Raises
    ------
    TypeError
        If an argument has a wrong type.

    Examples
    --------
    >>> from ldpfast.survey import YesNo
    >>> YesNo().labels, YesNo(optional=True).k
    (('no', 'yes'), 3)
    """

    optional: bool = field(default=False, kw_only=True)
    column: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        self._hold(YesNoColumn, labels=("no", "yes"))


class YesNoColumn(SymbolColumn):
    """Booleans, or 0 and 1, whose answer is one number: the share of yes."""

    scalar: ClassVar[bool] = True

    @property
    def label_weights(self) -> Floats:
        return np.array([0.0, 1.0])

    @property
    def cells(self) -> tuple[Any, ...]:
        return False, True

    def describe(self) -> str:
        return "booleans, or 0 and 1"

    def spellings(self) -> list[tuple[str, ...]]:
        return [NO, YES]
