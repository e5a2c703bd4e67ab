"""Servers and a ledger under crashes, full disks, wrong clocks, and messages that are late or sent again, from seeds.

A failure names its seed, which `pytest tests/server/test_fault_simulation.py --fault-seed=SEED` replays.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from unittest import mock

import pytest
from sqlalchemy.exc import SQLAlchemyError

from ldpfast.survey import Ledger

from ..support.internals.server import Receiver, Reports, Store, server_receiver, server_store
from ..support.modules import module_of
from ..support.simulated_servers import simulation_setup
from ..support.simulated_study import run_seed
from ..support.study_truth import CALENDAR

PARTS = 10  # tests among which the seeds are divided


def run_seeds(seeds, after_statement=None):
    """Run studies, and name the seed that fails."""
    with simulation_setup() as shared:
        for seed in seeds:
            try:
                run_seed(shared, seed, after_statement)
            except Exception as error:
                error.add_note(f"seed {seed}; to replay: pytest {os.path.relpath(__file__)} --fault-seed={seed}")
                raise


def test_a_study_with_faults_counts_what_it_acknowledges(pytestconfig):
    seed = pytestconfig.getoption("--fault-seed")
    run_seeds(range(50) if seed is None else [seed])


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_thousands_of_studies_with_faults_count_what_they_acknowledge(part, pytestconfig):
    run_seeds(range(part, pytestconfig.getoption("--fault-studies"), PARTS))


# Defects that are found ------------------------------------------------------------------------------------------------


def split(statement, cursor, executed):
    """Commit after a statement, and go on in another transaction."""
    if statement in executed:
        cursor.execute("COMMIT")
        cursor.execute("BEGIN IMMEDIATE")


def forget(cursor, executed):
    """Forget the ids of messages that are folded."""
    if "DELETE FROM batches" in executed:
        for table in ("recent_ids", "main.ids", "memory.ids"):
            cursor.execute(f"DELETE FROM {table}")


def answer_early(receiver, jobs, store=Receiver._store):
    """Answer before the commit."""
    add = receiver.store.add

    def answered(connection, reports):
        statuses = rest = add(connection, reports)
        for job in jobs:
            job.done(rest[: len(job.reports)])
            rest = rest[len(job.reports) :]
        return statuses

    with mock.patch.object(receiver.store, "add", answered):
        store(receiver, jobs)


@contextmanager
def write_anyway(store, write=Store.write):
    """Take a failure of the commit for a success."""
    with ExitStack() as stack:
        yield stack.enter_context(write(store))
        end = stack.pop_all()
    with suppress(SQLAlchemyError):
        end.close()


class LateFiles:
    """Writes a ledger when the next one is written."""

    def __init__(self):
        self._replace, self._waiting = module_of(Ledger).replace_text, []

    def __call__(self, path, text):
        self._waiting.append((path, text))
        if len(self._waiting) > 1:
            self._replace(*self._waiting.pop(0))


def replace_unsafely(path, text, *, in_place, content, folder):
    """Replace a file without what makes it safe."""
    target = str(path) if in_place else f"{path}-new"
    with os.fdopen(os.open(target, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "w") as file:
        file.write(text)
        if content:
            os.fsync(file.fileno())
    if not in_place:
        os.replace(target, path)
    if folder:
        number = os.open(path.parent, os.O_RDONLY)
        os.fsync(number)
        os.close(number)


LEDGER = module_of(Ledger), "replace_text"
STATEMENTS = {
    "messages are folded in one transaction and removed in another": partial(split, "DELETE FROM batches"),
    "ids are stored in one transaction and messages in another": partial(split, "INSERT INTO recent_ids"),
    "ids are forgotten when messages are folded": forget,
}
PATCHES = {
    "reports are acknowledged before the commit": (Receiver, "_store", answer_early),
    "a failed commit is acknowledged": (Store, "write", write_anyway),
    "what the clock refuses is received when it goes back": (
        server_receiver.WaveSchedule,
        "refusal",
        lambda self, wave, now: None if wave in CALENDAR.received(now) else "closed",
    ),
    "closed waves are received": (Store, "_closed", staticmethod(lambda *_: set())),
    "ids in the log are lost at a crash": (
        server_store.LoggedIds,
        "UNREAD",
        "SELECT occasion, data FROM recent_ids WHERE place < :last_read",
    ),
    "the answers of requests are exchanged": (
        Reports,
        "joined",
        classmethod(lambda _, parts, joined=Reports.joined: joined(parts[::-1])),
    ),
    "a ledger is written after the release": (*LEDGER, LateFiles()),
    "a ledger is written in place": (*LEDGER, partial(replace_unsafely, in_place=True, content=True, folder=True)),
    "the content of a ledger is not synchronized": (
        *LEDGER,
        partial(replace_unsafely, in_place=False, content=False, folder=True),
    ),
    "the folder of a ledger is not synchronized": (
        *LEDGER,
        partial(replace_unsafely, in_place=False, content=True, folder=False),
    ),
}


def seed_that_finds(after_statement=None):
    """Return the first seed whose study fails; None if all hold."""
    with simulation_setup() as shared:
        for seed in range(300):
            try:
                run_seed(shared, seed, after_statement)
            except (AssertionError, ValueError):
                return seed
    return None


@pytest.mark.long
@pytest.mark.parametrize("defect", STATEMENTS)
def test_a_defect_of_transactions_is_found(defect):
    assert seed_that_finds(STATEMENTS[defect]) is not None


@pytest.mark.long
@pytest.mark.parametrize("defect", PATCHES)
def test_a_defect_is_found(defect):
    with mock.patch.object(*PATCHES[defect]):
        assert seed_that_finds() is not None
