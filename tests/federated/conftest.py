"""Tests with Flower and NVFlare, which `make federated` installs. Without ``--federated`` they are not collected."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ["FLWR_TELEMETRY_ENABLED"] = "0"
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the tests of this folder unless ``--federated`` is given."""
    return True if collection_path.name.startswith("test_") and not config.getoption("--federated") else None
