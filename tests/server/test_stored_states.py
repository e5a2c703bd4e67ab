"""States of many counts in a database: short ones are written, and those of earlier versions are read."""

from __future__ import annotations

import sqlalchemy as sa

from ldpfast.reports import recipe_of
from ldpfast.survey import Survey, Text

from ..support.aggregation import plain_bytes
from ..support.internals.server import ServerPlan, Store
from .test_message_ages import add

WORDS = ["home", "work", "bus", "train"]
SURVEY = Survey({"word": Text(4, "abcdefghijklmnopqrstuvwxyz", n=5000, optional=True)}, 9.0)
KEY = recipe_of(SURVEY).head[1:]


def opened(folder):
    return Store(ServerPlan.of(SURVEY, None, None), f"sqlite:///{folder}/reports.db")


def reports_of(n):
    client = SURVEY.client()
    return [client.report({"word": WORDS[i % 4]}) for i in range(n)]


def stored(folder):
    return sum(path.stat().st_size for path in folder.glob("reports.db*"))


def test_folding_again_and_again_does_not_write_all_counts_each_time(tmp_path):
    """The log of SQLite has each state that was written since it began."""
    reports, store = reports_of(40), opened(tmp_path)
    for start in range(0, 40, 4):
        add(store, reports[start : start + 4])
        assert store.fold() == 4
    assert len(plain_bytes(SURVEY.aggregator())) > 2_000_000
    assert stored(tmp_path) < 600_000  # 10 states of 4 pages, and indexes
    store.close()
    assert stored(tmp_path) < 100_000
    store = opened(tmp_path)
    assert store.counts(KEY)[""] == SURVEY.aggregator().update([report.message for report in reports])
    store.close()


def test_a_state_that_an_earlier_version_wrote_is_read_and_goes_on(tmp_path):
    reports, store = reports_of(30), opened(tmp_path)
    add(store, reports[:20])
    store.fold()
    counted = store.counts(KEY)[""]
    with store.write() as connection:
        connection.execute(sa.text("UPDATE states SET state = :state"), {"state": plain_bytes(counted)})
    assert store.counts(KEY)[""] == counted
    add(store, reports[20:])
    store.fold()
    expected = SURVEY.aggregator().update([report.message for report in reports])
    assert store.counts(KEY)[""] == expected
    with store.read() as connection:
        assert bytes(connection.scalar(sa.text("SELECT state FROM states"))) == expected.to_bytes()
    store.close()
