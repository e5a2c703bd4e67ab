"""Tests with engines, which `make engines` installs. Without ``--engines`` they are not collected."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ldpfast as ldp
from ldpfast.reports import recipe_of

from ..support.surveys import SURVEYS, people

SECRET = bytes(range(32))
N = 20_000
WIDE_SURVEY = SURVEYS["all"]  # whose messages are so long that all people have different ones


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the tests of this folder unless ``--engines`` is given."""
    return True if collection_path.name.startswith("test_") and not config.getoption("--engines") else None


@pytest.fixture(scope="session")
def table() -> pd.DataFrame:
    """People who answer the surveys of the tests, with identifiers and heights."""
    return pd.DataFrame(
        {**people(N), "id": np.arange(N), "height": np.random.default_rng(5).normal(170, 7, N).round(1)}
    )


@pytest.fixture(scope="session", autouse=True)
def importable(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let other processes import the tests, but the package only from where this process has it."""
    folder = tmp_path_factory.mktemp("path")
    (folder / "tests").symlink_to(Path(__file__).parents[1])
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))


@pytest.fixture(scope="session")
def personal() -> ldp.PersonKeys:
    """The personal keys of the table, for a survey in one process."""
    return ldp.PersonKeys(SECRET, "id")


def messages_of_persons(table: pd.DataFrame) -> set[bytes]:
    """Return the messages of all people to the wide survey, in one process."""
    arrays = recipe_of(WIDE_SURVEY).messages(table, ldp.PersonKeys(SECRET, "id"), False)
    found = {message for array in arrays for message in array.to_pylist()}
    assert len(found) == N
    return found
