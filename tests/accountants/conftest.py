"""Comparisons with other libraries, which `make accountants` installs. Without ``--accountants`` they are not collected."""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the tests of this folder unless ``--accountants`` is given."""
    return True if collection_path.name.startswith("test_") and not config.getoption("--accountants") else None
