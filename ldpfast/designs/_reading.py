"""Reading of the argument `design`, whatever says with which probabilities reports were made, and of such reports."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..domains import Categories
from ..mechanisms import FiniteChannel, Mechanism
from ..mechanisms._finite_channel import require_table
from ..privacy import Channel
from ..reports import Codes
from . import _binary
from ._design import Design
from ._rounded_rows import read_rows

NAMED = {
    function.__name__: function
    for function in (
        _binary.warner,
        _binary.forced_response,
        _binary.unrelated_question,
        _binary.mangat,
        _binary.kuk,
        _binary.crosswise,
        _binary.triangular,
    )
}


def mechanism_of(design: Any) -> Any:
    """Return the mechanism that gives codes of categories by a design.

    Raises
    ------
    TypeError, ValueError
        If it is a mechanism with other reports or records, or no channel.
    """
    if isinstance(design, Design):
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


def named_design(text: str) -> Design:
    """Return the design that a text such as crosswise:0.25 or forced_response:1/6,1/6 names.

    Raises
    ------
    ValueError
        If it names none.
    """
    name, _, numbers = text.partition(":")
    function = NAMED.get(name.strip())
    forms = {name: f"{name}:{','.join(signature(each).parameters)}" for name, each in NAMED.items()}
    if function is None:
        raise ValueError(f"design must be one of {', '.join(forms.values())}, got {text!r}")
    given = [number.strip() for number in numbers.split(",")]
    if len(given) != len(signature(function).parameters) or not all(given):
        raise ValueError(f"design must be {forms[function.__name__]}, got {text!r}")
    return function(*given)


def codes_of(reports: ArrayLike, design: Any, mechanism: Any) -> NDArray[np.intp]:
    """Return reports by a design, which is a mechanism, as codes: integers, booleans, or the texts of a `Design`.

    Raises
    ------
    TypeError, ValueError
        If they are not such reports, shape (n,) with n >= 1.
    """
    if isinstance(design, Design):
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
    """Return the labels that each code of a design, which is a mechanism, can have: its number, and the text of a `Design`."""
    if isinstance(design, Design):
        return [[answer, code] for code, answer in enumerate(design.answers)]
    return range(int(mechanism.report.k))


def _whole(reports: NDArray[Any]) -> NDArray[Any]:
    """Return reports as integers or booleans; floats without a fraction are what pandas makes of a column with gaps."""
    if reports.dtype.kind == "f" and ((reports == np.floor(reports)) & (np.abs(reports) < _check.MAX_PEOPLE)).all():
        return reports.astype(np.int64)
    return _check.integers("reports", reports, booleans=True)
