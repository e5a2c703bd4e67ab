"""Reports of devices, and reports of records that the operator already has: whoever is in both would count twice."""

from __future__ import annotations

import contextlib
import copy
import warnings

import pyarrow as pa
import pytest

import ldpfast as ldp
from ldpfast.cli import main
from ldpfast.reports import GroupedAggregator
from ldpfast.survey import Survey, YesNo

from ..support.internals.server import ServerPlan, Store
from .test_exports import add, opened

SURVEY = Survey({"smokes": YesNo(optional=True), "walks": YesNo(optional=True)}, 4.0, series="health")
TWICE = "whoever is in both counts twice"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with what two servers and two files of records give: states, and a table of messages."""
    folder = tmp_path_factory.mktemp("files")
    with contextlib.chdir(folder):
        make_files(folder)
    return folder


def make_files(tmp_path):
    (tmp_path / "survey.toml").write_text(SURVEY.to_toml())
    for name in ("one", "two"):
        url = f"sqlite:///{tmp_path}/{name}.db"
        store = Store(ServerPlan.of(SURVEY, None, None), url)
        add(store, 30, survey=SURVEY)
        store.close()
        for kind in ("ldp", "arrow"):
            assert main(["export", "survey.toml", "--database", url, "-o", f"{name}.{kind}"]) == 0
        (tmp_path / f"{name}.csv").write_text("smokes,walks\n" + "yes,no\nno,no\n" * (20 if name == "one" else 25))
        assert main(["privatize", "survey.toml", f"{name}.csv", "-o", f"{name}.parquet"]) == 0
        assert main(["aggregate", f"{name}.parquet", "-o", f"records-{name}.ldp"]) == 0


@pytest.mark.claim("A warning says that reports of devices and of records of the same survey are added.", "Server")
@pytest.mark.parametrize(
    "states, is_warned",
    [
        (["one.ldp", "records-one.ldp"], True),
        (["records-one.ldp", "one.ldp"], True),
        (["one.ldp", "two.ldp"], False),
        (["records-one.ldp", "records-two.ldp"], False),
        (["one.ldp", "two.ldp", "records-one.ldp"], True),
    ],
)
def test_states_of_both_are_merged_with_a_warning(files, tmp_path, capsys, states, is_warned):
    assert main(["merge", *(str(files / name) for name in states), "-o", str(tmp_path / "both.ldp")]) == 0
    assert (TWICE in capsys.readouterr().err) == is_warned
    found, n = opened(tmp_path / "both.ldp"), sum(opened(files / name).n for name in states)
    assert found.n == n
    if is_warned:  # what is mixed stays so
        with pytest.warns(ldp.DoubtfulWarning, match=TWICE):
            found.merge(SURVEY.aggregator().update(SURVEY.privatize({"smokes": [1], "walks": [0]})))


def test_tables_of_both_are_counted_with_a_warning(files):
    """In either order, and by groups. Messages without names do not tell where they are from, and nobody is in no reports."""
    devices, state = opened(files / "one.arrow"), opened(files / "one.ldp")
    records = SURVEY.privatize({"smokes": [True, False], "walks": [None, True]})
    with pytest.warns(ldp.DoubtfulWarning, match=TWICE):
        assert SURVEY.aggregator().update(records).update(devices).n == 32
    with pytest.warns(ldp.DoubtfulWarning, match=TWICE):
        assert copy.copy(state).update(records).n == 32
    counted = SURVEY.aggregator().update(records)
    with pytest.warns(ldp.DoubtfulWarning, match=TWICE):
        GroupedAggregator.of({"N": state}).merge(GroupedAggregator.of({"N": counted}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SURVEY.aggregator().update(devices).merge(opened(files / "two.ldp")).n == 60
        assert SURVEY.aggregator().merge(state).n == SURVEY.aggregator().update(devices).n == 30
        assert copy.copy(state).merge(SURVEY.aggregator()).n == copy.copy(state).update(records.slice(0, 0)).n == 30
        messages = [SURVEY.client().answer({"smokes": True})] * 2
        for sent in (messages, pa.array(messages)):
            assert copy.copy(state).update(sent).n == 32
        assert GroupedAggregator.of({"devices": state, "records": counted}).n == 32  # beside each other, not added


def test_records_of_another_series_are_not_added(files):
    other = Survey(SURVEY.questions, 4.0, series="records")
    with pytest.raises(ValueError, match="series"):
        opened(files / "one.ldp").merge(other.aggregator().update(other.privatize({"smokes": [1], "walks": [0]})))
