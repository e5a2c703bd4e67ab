"""A question of one column that is defined outside of the package: everything that surveys do works with it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pytest

import ldpfast as ldp
from ldpfast.files import FileTable
from ldpfast.survey import ColumnQuestion, Cross, Repeated, Survey, SymbolColumn, YesNo, compare


class RatingColumn(SymbolColumn):
    """Grades, whose answer is one number: the mean grade."""

    scalar = True
    quantity = "mean"

    @property
    def label_weights(self):
        return np.arange(len(self.labels), dtype=float)

    @property
    def range(self):
        return 1.0, float(len(self.labels))

    def describe(self):
        return f"grades from 1 to {len(self.labels)}"


@dataclass(frozen=True)
class Rating(ColumnQuestion):
    """A grade from 1 to `best`. The answer is the mean grade."""

    best: int
    optional: bool = field(default=False, kw_only=True)
    column: str | None = field(default=None, kw_only=True)

    def __post_init__(self):
        self._hold(RatingColumn, labels=tuple(range(1, self.best + 1)))


N = 20_000
GRADES = np.arange(N) % 5 + 1
PEOPLE = {"service": GRADES, "again": GRADES > 3, "region": np.array(["N", "S"])[np.arange(N) % 2]}
QUESTIONS = {"service": Rating(5, optional=True), "again": YesNo(optional=True), "both": Cross("service", "again")}
SURVEY = Survey(QUESTIONS, 8.0)


def test_the_mean_grade_is_estimated_with_an_interval():
    low, high = SURVEY.run(PEOPLE, rng=1)["service"].interval(0.9999)
    assert low < 3.0 < high
    assert high - low < 0.3


def test_its_shares_of_symbols_are_unbiased_and_its_loss_is_exact():
    """The mechanism is that of any question with six symbols, whose channel is enumerated elsewhere."""
    assert SURVEY.mechanisms["service"] == ldp.mechanisms.for_categories(6, 8.0)
    assert SURVEY.mechanisms["service"].channel().epsilon() == SURVEY.mechanisms["service"].epsilon_realized <= 8.0


def test_it_is_described_saved_and_read():
    assert Survey.from_dict(SURVEY.to_dict()) == SURVEY
    assert Survey.from_toml(SURVEY.to_toml()).fingerprint == SURVEY.fingerprint
    counted = SURVEY.collect(PEOPLE, rng=1)
    assert ldp.load(counted.to_bytes()).merge(counted).n == 2 * N
    assert 'type = "Rating"' in SURVEY.to_toml()


def test_clients_keys_groups_and_files_know_it(tmp_path):
    client = SURVEY.client(bytes(32), 7)
    assert client.answer({"service": 4, "again": True}) == client.answer({"again": True, "service": np.int64(4)})
    keys = ldp.PersonKeys(bytes(32), np.arange(N))
    assert SURVEY.collect(PEOPLE, rng=keys) == SURVEY.collect(pa.table(PEOPLE), rng=keys)
    regions = SURVEY.run(PEOPLE, by="region", rng=2)
    assert len(compare(regions).table["question"]) > 2
    (tmp_path / "t.csv").write_text("service,again\n3,yes\n,no\n" + "5,yes\n" * 8)
    assert SURVEY.run(FileTable([tmp_path / "t.csv"], SURVEY.column_questions), rng=1).n == 10


def test_it_is_planned_crossed_and_repeated():
    assert SURVEY.plan(1000).units[0] == "mean in [1, 5]"
    means = SURVEY.run(PEOPLE, rng=3)["both"].given("again")
    assert means.value == pytest.approx([2.0, 4.5], abs=0.5)
    weekly = Repeated(QUESTIONS["service"], permanent=6.0, round=5.0, rounds=4).in_round(1)
    found = weekly.run(GRADES, rng=ldp.PersonKeys(bytes(32), np.arange(N), question="service"))
    assert found.value == pytest.approx(3.0, abs=0.2)


def test_grades_outside_are_refused():
    with pytest.raises(ValueError, match=r"^column 'service' must hold grades from 1 to 5; row 1 holds another value$"):
        SURVEY.run({"service": [5, 6], "again": [True, True]}, rng=1)
