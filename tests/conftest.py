"""Shared fixtures and options."""

from __future__ import annotations

import gc
import os
import sys

import pytest
from hypothesis import HealthCheck, settings

import ldpfast as ldp

from .cards import EXAMPLES, KINDS
from .support.examples import Example
from .support.internals import kernels
from .support.internals.shared import thread_pool

settings.register_profile(
    "ldpfast", derandomize=True, deadline=None, max_examples=40, suppress_health_check=list(HealthCheck)
)
settings.load_profile("ldpfast")
os.environ.setdefault("MPLBACKEND", "Agg")  # plots need no screen


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--slow", action="store_true", help="also run the tests marked slow: minutes, coverage of intervals"
    )
    parser.addoption(
        "--long",
        action="store_true",
        help="also run the tests marked long: seconds each, what other targets check, too",
    )
    parser.addoption("--engines", action="store_true", help="also run the tests of Dask, Spark and other engines")
    parser.addoption("--federated", action="store_true", help="also run the tests of Flower and NVFlare")
    parser.addoption("--accountants", action="store_true", help="also compare with dp-accounting and OpenDP")
    parser.addoption("--fault-seed", type=int, help="replay this seed in tests/server/test_fault_simulation.py")
    parser.addoption(
        "--fault-studies", type=int, default=10_000, help="number of studies with faults that --long simulates"
    )
    parser.addoption("--site", help="also run the tests of the documentation site in this folder (`make docs`)")
    parser.addoption("--browser", help="Chromium, for the tests of the site that need a browser")


def pytest_configure() -> None:
    """Do not search for garbage while tests are collected: hardly any object is deleted, and each search visits all of them."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Search for garbage from now on, but not among modules and tests, which stay until the end."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests marked slow or long unless ``--slow`` or ``--long`` is given."""
    left_out = {name for name in ("slow", "long") if not config.getoption(f"--{name}")}
    deselected = [item for item in items if left_out & {marker.name for marker in item.iter_markers()}]
    config.hook.pytest_deselected(items=deselected)
    kept = set(items) - set(deselected)
    items[:] = [item for item in items if item in kept]


@pytest.fixture(autouse=True)
def _close_figures():
    """Close the figures of a test, for matplotlib warns of many open ones."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(params=EXAMPLES, ids=str)
def example(request: pytest.FixtureRequest) -> Example:
    """Every mechanism, with several parameters."""
    return request.param


@pytest.fixture(params=KINDS, ids=str)
def kind(request: pytest.FixtureRequest) -> Example:
    """One mechanism of each kind."""
    return request.param


@pytest.fixture
def mechanism(example: Example) -> ldp.Mechanism:
    return example.mechanism


@pytest.fixture(params=kernels.isas())
def isa(request: pytest.FixtureRequest):
    """Each instruction set that this machine supports, for all compiled modules."""
    before = kernels.isa()
    kernels.set_isa(request.param)
    yield request.param
    kernels.set_isa(before)


@pytest.fixture(params=[1, 7])
def threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    """Several numbers of threads, which are used even for small inputs."""
    before = ldp.get_num_threads()
    monkeypatch.setattr(thread_pool, "SMALL", 1)
    ldp.set_num_threads(request.param)
    yield request.param
    ldp.set_num_threads(before)
