"""The cards of all questions of surveys, one file each."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from ._card import QuestionCard as QuestionCard


def _read() -> dict[str, QuestionCard]:
    """Return the card of every file of this folder by its stem. Files with an underscore are helpers."""
    stems = sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))
    return {stem: import_module(f".{stem}", __name__).CARD for stem in stems}


QUESTION_CARDS = _read()
