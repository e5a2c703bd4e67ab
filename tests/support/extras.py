"""Environments without the optional dependencies."""

from __future__ import annotations

import pytest

from .internals.shared import extras


def remove_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every import of an optional dependency fail as if nothing were installed."""

    def missing(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name.partition(".")[0])

    monkeypatch.setattr(extras, "import_module", missing)
