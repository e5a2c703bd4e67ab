"""Reading of the argument `design`, whatever says with which probabilities reports were made, and of such reports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..domains import Categories
from ..privacy import Channel
from ..reports import Codes
from ._finite_channel import FiniteChannel, require_table
from ._mechanism import Mechanism
from ._rounded_rows import read_rows


class AnswerChannel(ABC):
    """A channel from categories to codes that are answers with texts, such as a design of `ldpfast.designs`."""

    channel: FiniteChannel
    answers: tuple[str, ...]

    @abstractmethod
    def _codes(self, reports: ArrayLike) -> NDArray[np.intp]:
        """Return reports, which are texts of answers or numbers, as codes; raise TypeError or ValueError for others."""


def mechanism_of(design: Any) -> Any:
    """Return the mechanism that gives codes of categories by a design.

    Raises
    ------
    TypeError, ValueError
        If it is a mechanism with other reports or records, or no channel.
    """
    if isinstance(design, AnswerChannel):
        return design.channel
    if isinstance(design, Mechanism):
        if not isinstance(design.report, Codes) or not isinstance(design.domain, Categories):
            raise TypeError(f"design must be a mechanism from categories to codes, got a {type(design).__name__}")
        return design
    if isinstance(design, Channel):
        return mechanism_of(design.matrix.tolist() if design.integers is None else design.integers)
    if isinstance(design, Sequence | np.ndarray) and not isinstance(design, str):
        require_table(design, "design")
        rows: Any = read_rows(design)
        return FiniteChannel(rows)
    raise TypeError(
        "design must be a design of ldpfast.designs, a mechanism, a privacy.Channel or the rows of a channel, got "
        f"{type(design).__name__}"
    )


def codes_of(reports: ArrayLike, design: Any, mechanism: Any) -> NDArray[np.intp]:
    """Return reports by a design, which is a mechanism, as codes: integers, booleans, or the texts of an `AnswerChannel`.

    Raises
    ------
    TypeError, ValueError
        If they are not such reports, shape (n,) with n >= 1.
    """
    if isinstance(design, AnswerChannel):
        return design._codes(reports)
    codes = _whole(_check.array("reports", reports))
    largest = int(mechanism.report.k) - 1
    if codes.ndim != 1 or not len(codes):
        raise ValueError(f"reports must have shape (n,) with n >= 1, got shape {codes.shape}")
    if codes.min() < 0 or codes.max() > largest:
        bad = int(codes.min() if codes.min() < 0 else codes.max())
        raise ValueError(f"reports must be codes in [0, {largest}], got {bad}")
    return codes.astype(np.intp)


def labels_of_codes(design: Any, mechanism: Any) -> range | list[list[Any]]:
    """Return the labels that each code of a design, which is a mechanism, can have: its number, and its text if it has one."""
    if isinstance(design, AnswerChannel):
        return [[answer, code] for code, answer in enumerate(design.answers)]
    return range(int(mechanism.report.k))


def _whole(reports: NDArray[Any]) -> NDArray[Any]:
    """Return reports as integers or booleans; floats without a fraction are what pandas makes of a column with gaps."""
    if reports.dtype.kind == "f" and ((reports == np.floor(reports)) & (np.abs(reports) < _check.MAX_PEOPLE)).all():
        return reports.astype(np.int64)
    return _check.integers("reports", reports, booleans=True)
