"""Fixtures of the tests of the built documentation site. They are collected only with ``--site``, which `make docs` gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..support.site import Page, read_pages


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out all files without a site, and those that need a browser without one."""
    if collection_path.suffix != ".py":
        return None
    wanted = config.getoption("--browser") if collection_path.stem == "test_browser" else config.getoption("--site")
    return None if wanted else True


@pytest.fixture(scope="session")
def site(request: pytest.FixtureRequest) -> Path:
    return Path(request.config.getoption("--site")).resolve()


@pytest.fixture(scope="session")
def pages(site: Path) -> dict[str, Page]:
    """All HTML pages of the site by their path."""
    return read_pages(site)
