"""The cards of all mechanisms, one file each, and the lists of the shared tests, which are made from them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from ._card import Card as Card


def _read() -> dict[str, Card]:
    """Return the card of every file of this folder by its stem. Files with an underscore are helpers."""
    stems = sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))
    return {stem: import_module(f".{stem}", __name__).CARD for stem in stems}


CARDS = _read()


def card_of(mechanism: Any) -> Card:
    """Return the card of the class of a mechanism."""
    return next(card for card in CARDS.values() if card.mechanism is type(mechanism))
