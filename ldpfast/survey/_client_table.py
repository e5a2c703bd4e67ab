"""The table of a survey for clients in other languages: what they need to make messages. docs/clients.md has every byte."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from .. import _schema
from .._core.person import cmac
from ..mechanisms import Mechanism, RandomizedResponse, SubsetSelection, UnaryEncoding
from ..mechanisms._subset_selection import first_density
from ..reports import MESSAGE_VERSION
from ._questions import ColumnQuestion

if TYPE_CHECKING:
    from ._survey import Survey

MAGIC = b"LDPCLNT\x03"  # whose last byte is the version of the table
RANDOMIZED_RESPONSE, SYMMETRIC_UNARY, OPTIMIZED_UNARY, SUBSET_SELECTION = 1, 2, 3, 4
CHECKSUM_BYTES = 16
_HEADER = struct.Struct("<8sB3xI32sHHHH32s")
_PANEL = struct.Struct("<32sHHI")
_PART, _QUESTION = struct.Struct("<II16s"), struct.Struct("<H2xBBHII3QII32s")


def check_optional(questions: dict[str, ColumnQuestion]) -> None:
    """Raise unless every question may be without an answer.

    Raises
    ------
    ValueError
        With the names of the others.
    """
    required = [name for name, question in questions.items() if not question.optional]
    if required:
        raise ValueError(
            "every question must be optional for a client, which cannot refuse a missing value; "
            f"not optional: {', '.join(map(repr, required))}"
        )


def client_table(survey: Survey) -> bytes:
    """Return the table of a survey whose questions are all optional."""
    layout = survey._layout
    declared = list(layout.declared.values())
    thresholds = layout.thresholds.astype("<u4").tobytes() if survey.answers == 1 else b""
    start = _HEADER.size + len(declared) * _PART.size + len(layout.items) * _QUESTION.size + len(thresholds)
    parts, questions, rest = [], [], bytearray()
    for question in declared:
        encoding, numbers, more = question.client_part(start + len(rest))
        parts.append(_PART.pack(encoding, question.k, numbers))
        rest += more
    asked = zip(layout.items, layout.places, layout.weights, layout.descriptions, strict=True)
    for item, places, weight, description in asked:
        name, (kind, bits, shift, *integers) = item.name.encode(), _coin_of(survey.mechanisms[item.name])
        numbers, at = struct.pack(f"<{len(places)}H", *places), start + len(rest)
        sizes = (len(places), kind, bits, shift, at + len(numbers), len(name))
        questions.append(_QUESTION.pack(*sizes, *integers, weight, at, description))
        rest += numbers + name
    panel, wave, turns = survey._series.panel, survey._series.wave, b""
    if panel is not None and wave is not None:
        turns = _PANEL.pack(survey._series.digest, panel.turns, panel.open_ended, wave)
    size = start + len(rest) + len(turns) + CHECKSUM_BYTES
    digest = _schema.digest(survey.schema())
    waves = 0 if panel is None else panel.waves
    numbers_of = (len(declared), len(layout.items), survey.answers, waves)
    header = _HEADER.pack(MAGIC, MESSAGE_VERSION, size, digest, *numbers_of, layout.series)
    body = b"".join([header, *parts, *questions, thresholds, rest, turns])
    return body + cmac(bytes(32), body)


def _coin_of(mechanism: Mechanism) -> tuple[int, ...]:
    """Return number, bits, shift and three integers of a mechanism. Optional questions have no other mechanisms."""
    coin: Any = mechanism._coin
    if isinstance(mechanism, RandomizedResponse):
        direct = coin.keep - coin.words_per_symbol
        return RANDOMIZED_RESPONSE, coin.bits, coin.shift, direct, coin.words_per_symbol, coin.reciprocal
    if isinstance(mechanism, UnaryEncoding):
        kind = OPTIMIZED_UNARY if mechanism.method == "optimized" else SYMMETRIC_UNARY
        return kind, 64, 0, coin.other, 0, 0
    if isinstance(mechanism, SubsetSelection):
        return SUBSET_SELECTION, 64, 0, coin.heads, coin.size, first_density(mechanism.k - 1, coin.size)
    raise TypeError(
        f"a client must answer by randomized response, subset selection or unary encoding, got {type(mechanism).__name__}"
    )
