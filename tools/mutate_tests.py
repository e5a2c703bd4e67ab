"""Pytest plugin of mutate.py: the order of the tests, a time limit for each, and a record of what ran.

The environment variable MUTATE_PLAN is the path of a JSON file: `durations` in seconds by test, the tests to run `first`,
the `stem` of the changed file, the folder `tree` of the package, the `record` to write, and the `memory` limit in bytes.
"""

import contextlib
import faulthandler
import json
import os
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PLAN: dict[str, Any] = json.loads(Path(os.environ["MUTATE_PLAN"]).read_text())
RECORD = Path(PLAN["record"])
DEVNULL = open(os.devnull, "w")  # noqa: SIM115 (open as long as the process runs)
SPENT: dict[str, float] = {}
SECONDS_OF_COLLECTION = 120


def pytest_configure() -> None:
    faulthandler.dump_traceback_later(
        SECONDS_OF_COLLECTION, exit=True, file=DEVNULL
    )  # modules of tests make mechanisms
    # Some systems do not let a process lower this limit.
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (PLAN["memory"], resource.getrlimit(resource.RLIMIT_AS)[1]))


def pytest_sessionstart() -> None:
    """Check that the package of the mutated tree is tested. An import that fails is left to the collection of tests."""
    import ldpfast

    if not Path(ldpfast.__file__).resolve().is_relative_to(Path(PLAN["tree"]).resolve()):
        pytest.exit(f"ldpfast is imported from {ldpfast.__file__}", returncode=99)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the tests: those that found errors in this file before, those named after it, and the fastest before the slowest."""
    first = {name: number for number, name in enumerate(PLAN["first"])}

    def key(item: pytest.Item) -> tuple[int, bool, float]:
        named = PLAN["stem"] in item.nodeid.replace("_", "").lower()
        return first.get(item.nodeid, len(first)), not named, PLAN["durations"].get(item.nodeid, 0.0)

    items.sort(key=key)
    faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """End the process if a test takes much longer than without the change. A signal cannot interrupt compiled code."""
    RECORD.write_text(item.nodeid)
    faulthandler.dump_traceback_later(10 + 10 * PLAN["durations"].get(item.nodeid, 5.0), exit=True, file=DEVNULL)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    SPENT[report.nodeid] = SPENT.get(report.nodeid, 0.0) + report.duration


def pytest_sessionfinish(exitstatus: int) -> None:
    if exitstatus == 0:
        RECORD.write_text(json.dumps(SPENT))
