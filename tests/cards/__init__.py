"""The cards of all mechanisms, one file each, and the lists of the shared tests, which are made from them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from ldpfast.mechanisms import Mechanism

from ..support.examples import Example
from ._card import Card as Card
from ._card import ChannelRow as ChannelRow
from ._card import Coin as Coin
from ._card import Keyed as Keyed
from ._card import Noise as Noise
from ._card import Sample as Sample
from ._card import Simulated as Simulated


def _read() -> dict[str, Card]:
    """Return the card of every file of this folder by its stem. Files with an underscore are helpers."""
    stems = sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))
    return {stem: import_module(f".{stem}", __name__).CARD for stem in stems}


CARDS = _read()

# All mechanisms, with several parameters and records of one or two dtypes.
EXAMPLES: list[Example] = [example for card in CARDS.values() for example in card.examples]
MECHANISMS: list[Mechanism] = list(dict.fromkeys(example.mechanism for example in EXAMPLES))

# One or two of each kind, for tests that do not depend on the parameters.
KINDS: list[Example] = [example for card in CARDS.values() for example in card.kinds]

_OUTSIDE: dict[type[Mechanism], Card] = {}


def card_of(mechanism: Any) -> Card:
    """Return the card of the class of a mechanism."""
    cards = {card.mechanism: card for card in CARDS.values()} | _OUTSIDE
    return cards[type(mechanism)]


@contextmanager
def added(card: Card) -> Iterator[None]:
    """Let `card_of` know a card outside of this folder, for shared tests that are called with its examples."""
    _OUTSIDE[card.mechanism] = card
    try:
        yield
    finally:
        del _OUTSIDE[card.mechanism]
