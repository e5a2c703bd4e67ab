"""What every question promises: all ways from records to a result give the same result, bit for bit.

One path of code for every kind of question: mechanisms, problems, surveys and rounds of a repeated question. Reports that
`privatize` returns are counted by `update`, and everything else is compared with that.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import json
import pickle
import struct
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from types import MethodType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldpfast as ldp
from ldpfast.reports import Aggregator, GroupedAggregator, Question, recipe_of
from ldpfast.results import People
from ldpfast.survey import Choice, Histogram, Mean, Repeated, YesNo

from .cards import EXAMPLES
from .support.aggregation import batches_of, counted_of
from .support.cases import each
from .support.examples import mean_of_decoded
from .support.internals.shared import conduct, job_counts, schemas
from .support.keys import SEED
from .support.one_shot import PROBLEMS
from .support.surveys import SURVEYS, people

pytestmark = [
    pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning"),
    pytest.mark.filterwarnings("ignore::ldpfast.DoubtfulWarning"),
]

SECRET = bytes(range(32))
NAME = "x"  # of a question in personal keys, and of the column of its records
GROUPS = np.array(["b", "c", "a"])


# Kinds of questions ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A question with the records of `n` people, in one form for all kinds.

    Attributes
    ----------
    question : Question
    draw : callable
        Returns the records of a number of people.
    n : int
    only_personal : bool
        Whether personal keys are the only source of randomness.
    """

    question: Any
    draw: Callable[[int], Any]
    n: int = 40
    only_personal: bool = False

    @functools.cached_property
    def x(self) -> Any:
        return self.draw(self.n)

    @property
    def is_table(self) -> bool:
        return isinstance(self.question, ldp.Survey)

    def rows(self, chosen: Any) -> Any:
        """Return the records of some people."""
        return {name: column[chosen] for name, column in self.x.items()} if self.is_table else self.x[chosen]

    def rng(self, source: str, chosen: Any = slice(None)) -> Any:
        """Return a seed, or the personal keys of some people."""
        if source == "seed":
            return SEED
        return ldp.PersonKeys(SECRET, np.arange(self.n)[chosen], question=None if self.is_table else NAME)

    def privatize(self, source: str, chosen: Any = slice(None)) -> Any:
        return self.question.privatize(self.rows(chosen), rng=self.rng(source, chosen))

    def collect(self, source: str, chosen: Any = slice(None), by: Any = None) -> Any:
        x, groups = self.rows(chosen), by
        if by is not None and self.is_table:
            x, groups = {**x, "group": by}, "group"
        return self.question.collect(x, by=groups, rng=self.rng(source, chosen))

    def of_rows(self, reports: Any, chosen: Any) -> Any:
        """Return some of the reports."""
        return reports.take(np.arange(len(reports))[chosen]) if self.is_table else reports[chosen]

    def counted(self, *reports: Any) -> Aggregator:
        return functools.reduce(Aggregator.update, reports, self.question.aggregator())

    def messages(self, reports: Any) -> list[bytes]:
        """Return the messages of reports, of a survey as docs/clients.md defines them."""
        if not self.is_table:
            return [self.question.message(report) for report in reports]
        head = b"\x01" + bytes.fromhex(self.question.fingerprint)
        parts = [[] for _ in range(len(reports))]
        for number, name in enumerate(self.question.mechanisms):
            for row, report in enumerate(reports.column(name).to_pylist()):
                parts[row].append(b"" if report is None else number.to_bytes(2, "little") + report)
        return [head + b"".join(part) for part in parts]

    def arrow(self, reports: Any) -> Any:
        return reports if self.is_table else self.question.to_arrow(reports)

    def table(self, chosen: Any, by: Any) -> dict[str, Any]:
        """Return the records of some people as a partition for an engine, with their identifiers and groups."""
        others = {"id": np.arange(self.n)[chosen], "group": by[chosen]}
        if self.is_table:
            return {**self.rows(chosen), **others}
        x = self.rows(chosen)
        return {NAME: pa.FixedSizeListArray.from_arrays(x.ravel(), x.shape[1]) if x.ndim > 1 else x, **others}


def answers_of(question: Any, n: int) -> np.ndarray:
    """Return random answers to a question of a survey."""
    rng = np.random.default_rng(7)
    if isinstance(question, YesNo):
        return rng.random(n) < 0.5
    if isinstance(question, Choice):
        return np.array(question.labels)[rng.integers(0, len(question.labels), n)]
    lower, upper = (
        question.edges[:: len(question.edges) - 1]
        if isinstance(question, Histogram)
        else (question.lower, question.upper)
    )
    return rng.uniform(lower, upper, n)


def rounds() -> dict[str, Any]:
    asked: list[Any] = [YesNo(), Choice(["a", "b", "c"], optional=True), Mean(0, 10), Histogram([0, 1, 2, 5])]
    return {
        f"round {number} of {type(question).__name__}": Repeated(question, permanent=3.0, round=1.0, rounds=9).in_round(
            number
        )
        for number, question in enumerate(asked)
    }


def drawn(draw: Any, n: int) -> Any:
    return draw(np.random.default_rng(3), n)


CASES = {
    **{
        str(example): Case(example.mechanism, example.records)
        for example in EXAMPLES
        if getattr(example.mechanism, "k", 0) != 1 << 16  # 70,000 categories have the same reports
    },
    **{f"problem {name}": Case(problem, functools.partial(drawn, draw)) for name, (problem, draw) in PROBLEMS.items()},
    **{f"survey {name}": Case(survey, people, 300) for name, survey in SURVEYS.items()},
    **{
        name: Case(asked, functools.partial(answers_of, asked.repeated.question), 40, True)
        for name, asked in rounds().items()
    },
    **{
        f"round of survey {name}": Case(
            Repeated(SURVEYS[name], round=SURVEYS[name].epsilon / 2, rounds=9).in_round(2), people, 300, True
        )
        for name in ("one", "three")
    },
}
# One question of each class, for what does not depend on the format of reports or the parameters, and all surveys.
KINDS = [
    name
    for i, (name, case) in enumerate(CASES.items())
    if case.is_table or type(case.question) not in [type(other.question) for other in list(CASES.values())[:i]]
]
SOURCES = [(name, source) for name, case in CASES.items() for source in ("seed", "keys")[case.only_personal :]]


# Comparison -----------------------------------------------------------------------------------------------------------


def bits(value: Any) -> Any:
    """Return a result as built-in values that are equal if and only if all of its fields are equal in every bit."""
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, float):
        return struct.pack("<d", value)
    if isinstance(value, dict):
        return [(key, bits(item)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return [bits(item) for item in value]
    if isinstance(value, Question):
        return value.fingerprint
    if isinstance(value, MethodType):
        return value.__func__.__qualname__, bits(value.__self__)
    if isinstance(value, People):  # every aggregator has a name of its own
        return value.occasions, value.asked
    if is_dataclass(value):
        return type(value).__name__, [(f.name, bits(getattr(value, f.name))) for f in fields(value)]
    if hasattr(value, "__dict__") and not callable(value):
        return type(value).__name__, bits({k: v for k, v in vars(value).items() if not callable(v)})
    return value


def counts_of(aggregator: Aggregator) -> Any:
    """Return everything that an aggregator holds, except for its question, which takes long to write."""
    return aggregator.n, sorted(batches_of(aggregator)), bits(counted_of(aggregator).states)


def test_bits_see_every_difference():
    estimate = CASES["problem l2"].question.run(CASES["problem l2"].x, rng=1)
    assert bits(estimate) == bits(copy.deepcopy(estimate))
    for name in ("value", "stderr", "n"):
        other = copy.deepcopy(estimate)
        object.__setattr__(other, name, np.nextafter(getattr(other, name), np.inf))
        assert bits(estimate) != bits(other)


def assert_groups(found: Any, expected: dict[Any, Aggregator]) -> None:
    """Check that groups are in the expected order, and that each is the expected aggregator."""
    assert list(found) == list(expected)
    for value, aggregator in expected.items():
        assert found[value].question is found.question
        assert counts_of(found[value]) == counts_of(aggregator), value
    assert found.n == sum(aggregator.n for aggregator in expected.values())


def counted_apart(case: Case, reports: Any, by: np.ndarray) -> dict[Any, Aggregator]:
    """Return the aggregators of the groups of reports, each of which is counted by itself."""
    return {value: case.counted(case.of_rows(reports, by == value)) for value in dict.fromkeys(by.tolist())}


def groups_of(case: Case) -> np.ndarray:
    """Return the group of each person: all three occur, in another order than sorted."""
    return GROUPS[np.arange(case.n) % 7 % 3]


# All ways to a result -------------------------------------------------------------------------------------------------


@pytest.mark.claim(
    "Arrays, messages, tables, saved states and merged parts give the same estimate, bit for bit.", "Reproducibility"
)
@each("name, source", SOURCES, ids=str)
def test_every_way_gives_the_same_result(name, source):
    case = CASES[name]
    question, reports = case.question, case.privatize(source)
    counted, messages = case.counted(reports), case.messages(reports)
    part = slice(0, case.n // 3), slice(case.n // 3, None)
    half = case.counted(case.of_rows(reports, part[0]))
    expected = bits(question.estimate(reports))
    assert counted.n == case.n
    assert bits(question.run(case.x, rng=case.rng(source))) == expected
    for aggregator in (
        case.collect(source),
        case.counted(messages),
        case.counted(pa.array(messages, pa.binary())),
        case.counted(messages[:3], messages[3:]),
        case.counted(case.arrow(reports)),
        ldp.load(counted.to_bytes()),
        pickle.loads(pickle.dumps(counted)),
        copy.copy(counted),
        half.merge(case.counted(case.of_rows(reports, part[1]))),
        question.aggregator().merge(counted),
    ):
        assert counts_of(aggregator) == counts_of(counted)
        assert aggregator == counted
        assert aggregator.question == question
    assert ldp.load(counted.to_bytes()).to_bytes() == case.collect(source).to_bytes()
    assert bits(question.estimate(messages)) == expected
    assert bits(question.estimate(case.arrow(reports))) == expected
    assert bits(question.estimate(aggregator)) == expected


@each("name", [name for name, case in CASES.items() if isinstance(case.question, ldp.Mechanism)])
def test_counted_reports_have_the_mean_of_the_decoded_ones(name):
    """The other tests compare counts with counts; here they are compared with reports one by one."""
    case = CASES[name]
    mean = mean_of_decoded(case.question, case.question.decode(case.privatize("seed")))
    size = case.question.decode(case.privatize("seed", slice(0, 1))).max()
    found = recipe_of(case.question).mean(counted_of(case.collect("seed"))).value
    np.testing.assert_allclose(found, mean, rtol=1e-9, atol=1e-6 * abs(size))


@each("name", [name for name, case in CASES.items() if case.is_table])
def test_counts_of_a_survey_are_those_of_its_columns(name):
    case = CASES[name]
    source = "keys" if case.only_personal else "seed"
    reports, survey = case.privatize(source), case.question
    answered, pairs, *states = counted_of(case.collect(source)).states
    asked = np.array([reports.column(item).is_valid().to_numpy() for item in survey.mechanisms])
    assert answered.tolist() == asked.sum(axis=1).tolist()
    assert pairs.tolist() == [int((asked[a] & asked[b]).sum()) for a, b in recipe_of(survey).pairs]
    for (item, mechanism), state in zip(survey.mechanisms.items(), states, strict=True):
        rows = b"".join(reports.column(item).drop_null().to_pylist())
        packed = np.frombuffer(rows, np.uint8).reshape(-1, mechanism.report.nbytes)
        assert (counted_of(mechanism.aggregator().update(mechanism.report.unpack(packed))).states[0] == state).all()


@each("name, source", SOURCES, ids=str)
def test_nobody_gives_an_empty_aggregator(name, source):
    case = CASES[name]
    nobody = slice(0, 0)
    empty = case.question.aggregator()
    assert case.collect(source, nobody) == empty
    assert counts_of(case.counted(case.privatize(source, nobody), [])) == counts_of(empty)
    assert ldp.load(empty.to_bytes()) == empty
    groups = case.collect(source, nobody, np.array([], str))
    assert list(ldp.load(groups.to_bytes())) == list(groups) == []
    for call in (empty.estimate, lambda: case.question.estimate(empty), lambda: case.question.estimate([])):
        with pytest.raises(ValueError, match=r"^an estimate needs at least 1 report, got n = 0$"):
            call()


@each("name", [name for name, case in CASES.items() if not case.is_table and not case.only_personal])
def test_a_single_record_is_a_batch_of_one(name):
    case = CASES[name]
    question, one = case.question, case.x[0]
    batch = case.privatize("seed", slice(0, 1))
    assert bits(question.privatize(one, rng=SEED)) == bits(batch[0])
    assert question.message(batch[0]) == question.message(batch)
    for aggregator in (question.collect(one, rng=SEED), case.counted(batch[0]), case.counted(question.message(batch))):
        assert aggregator.to_bytes() == case.counted(batch).to_bytes()
    own = case.rng("keys", slice(0, 1))
    assert bits(question.privatize(one, rng=own)) == bits(case.privatize("keys")[0])


@each("name", [name for name, case in CASES.items() if not case.is_table and case.x.dtype.kind == "f"])
def test_equal_numbers_of_both_dtypes_have_equal_reports_with_personal_keys(name):
    case = CASES[name]
    single = case.x.astype(np.float32)
    case = Case(case.question, lambda n: np.clip(single, -1e6, 1e6), case.n)
    twin = Case(case.question, lambda n: case.x.astype(np.float64), case.n)
    try:
        reports = case.privatize("keys")
    except ValueError:  # rounding left the domain
        return
    assert bits(reports) == bits(twin.privatize("keys"))
    assert case.collect("keys").to_bytes() == twin.collect("keys").to_bytes()
    assert case.collect("keys", by=groups_of(case)).to_bytes() == twin.collect("keys", by=groups_of(case)).to_bytes()


@each("name", [name for name, case in CASES.items() if case.is_table or case.only_personal])
def test_columns_of_both_dtypes_have_equal_reports_with_personal_keys(name):
    case = CASES[name]
    columns = case.x if case.is_table else {NAME: case.x}
    single = {k: v.astype(np.float32) if v.dtype.kind == "f" else v for k, v in columns.items()}
    double = {k: v.astype(np.float64) if v.dtype.kind == "f" else v for k, v in single.items()}
    found = [
        Case(case.question, lambda n, x=x: x if case.is_table else x[NAME], case.n).collect("keys").to_bytes()
        for x in (single, double)
    ]
    assert found[0] == found[1]


# Groups ---------------------------------------------------------------------------------------------------------------


@each("name, source", SOURCES, ids=str)
def test_groups_are_counted_apart(name, source):
    case, by = CASES[name], groups_of(CASES[name])
    grouped = case.collect(source, by=by)
    assert list(grouped) == GROUPS.tolist()
    expected = counted_apart(case, case.privatize(source), by)
    assert_groups(grouped, expected)
    ascending = {value: expected[value] for value in sorted(expected)}  # of a saved state
    restored = ((ldp.load(grouped.to_bytes()), ascending), (pickle.loads(pickle.dumps(grouped)), expected))
    for again, ordered in (*restored, (copy.copy(grouped), expected)):
        assert_groups(again, ordered)
        assert again.question == case.question
    assert again == grouped
    assert ldp.load(grouped.to_bytes()).to_bytes() == grouped.to_bytes()
    results = grouped.estimate()
    assert list(results) == sorted(expected)
    for value, counted in expected.items():
        assert bits(results[value]) == bits(counted.estimate())


@each("name, source", SOURCES, ids=str)
def test_groups_of_two_parts_are_merged(name, source):
    """The parts have their groups in different orders, and each has one that the other lacks."""
    case, by = CASES[name], groups_of(CASES[name])
    first, second = slice(0, case.n // 2), slice(case.n // 2, None)
    by[first][by[first] == "a"], by[second][by[second] == "b"] = "c", "d"
    by[second] = by[second][::-1].copy()
    parts = [(chosen, by[chosen]) for chosen in (first, second)]
    one, other = (case.collect(source, chosen, groups) for chosen, groups in parts)
    before = dict(other)
    expected: dict[Any, Aggregator] = {}
    for chosen, groups in parts:
        for value, counted in counted_apart(case, case.privatize(source, chosen), groups).items():
            expected.setdefault(value, case.question.aggregator()).merge(counted)
    assert_groups(one.merge(other), expected)
    assert_groups(other, before)
    assert list(expected) == list(dict.fromkeys(by.tolist()))
    assert set(expected) == {*"abcd"}
    if source == "keys":
        assert_groups(one, dict(case.collect(source, by=by)))


@each("name", KINDS)
def test_batches_are_counted_once(name):
    case, by = CASES[name], groups_of(CASES[name])
    reports = case.privatize("keys")
    counted = case.question.aggregator().update(reports, batch="one")
    grouped = case.collect("keys", by=by).name_batch("one")
    for again in (counted, ldp.load(counted.to_bytes()), pickle.loads(pickle.dumps(counted)), grouped["b"]):
        before = again.to_bytes()
        with pytest.raises(ValueError, match=r"^batch must be new, got 'one', which was already counted$"):
            again.update(reports, batch="one")
        with pytest.raises(ValueError, match=r"^other must hold no batch that was already counted, got 1 of them$"):
            again.merge(case.question.aggregator().update(reports, batch="one"))
        assert again.to_bytes() == before
    for same in (grouped, ldp.load(grouped.to_bytes())):
        before = same.to_bytes()
        with pytest.raises(ValueError, match=r"^other must hold no batch that was already counted, got 1 of them$"):
            same.merge(case.collect("keys", by=by).name_batch("one"))
        for call in (
            functools.partial(same.merge, case.collect("keys", by=by), batch="one"),
            functools.partial(same.name_batch, "one"),
        ):
            with pytest.raises(ValueError, match=r"^batch must be new, got 'one', which was already counted$"):
                call()
        assert same.to_bytes() == before
    merged = case.collect("keys", by=by).merge(grouped, batch="two")
    assert merged.n == 2 * case.n
    for batch in ("one", "two"):
        with pytest.raises(ValueError, match=r"^batch must be new"):
            merged.name_batch(batch)


# Engines --------------------------------------------------------------------------------------------------------------


@each("name", KINDS)
def test_tasks_of_an_engine_give_the_same_bytes(name):
    case, by = CASES[name], groups_of(CASES[name])
    cuts = [slice(0, 5), slice(5, 5), slice(5, case.n // 2), slice(case.n // 2, None)]
    grouped = case.collect("keys", by=by)
    grouped.by = "group"  # an array has no name
    expected = {None: case.collect("keys").to_bytes(), "group": grouped.to_bytes()}
    for column, wanted in expected.items():
        job = conduct.new_job(
            case.question, column=None if case.is_table else NAME, by=column, person="id", key=SECRET, clip=False
        )
        counts = [job.collect(case.table(chosen, by), number) for number, chosen in enumerate(cuts)]
        assert [part["error"] for part in counts] == [None] * len(cuts)
        tree = job_counts.merge([job_counts.merge(counts[2:]), job_counts.merge(counts[:2])])
        assert job.finish(tree).to_bytes() == wanted
    messages = [m for number, chosen in enumerate(cuts) for m in job.messages(case.table(chosen, by), number)]
    assert case.counted(pa.chunked_array(messages, pa.binary())).to_bytes() == expected[None]


# Wrong states ---------------------------------------------------------------------------------------------------------


def forged(data: bytes, change: Callable[[dict[str, Any]], Any], payload: Callable[[bytes], bytes] = bytes) -> bytes:
    """Return saved bytes with another header and payload, and a valid checksum."""
    magic, length = struct.unpack_from("<8sQ", data)
    header = json.loads(data[16 : 16 + length])
    change(header)
    text = schemas.canonical_json(header)
    body = struct.pack("<8sQ", magic, len(text)) + text + payload(data[16 + length : -16])
    return body + hashlib.blake2b(body, digest_size=16).digest()


@functools.cache
def questions() -> dict[str, Any]:
    """Return all questions by their fingerprints."""
    return {case.question.fingerprint: case.question for case in CASES.values()}


def others_of(question: Any) -> list[Any]:
    """Return other questions, one of which is of the same class if there are two."""
    different = [other for other in questions().values() if other is not question and other != question]
    same = [other for other in different if type(other) is type(question)]
    return [*same[:1], different[0]]


@each("name", KINDS)
def test_states_of_other_questions_are_refused(name):
    case, by = CASES[name], groups_of(CASES[name])
    counted, grouped = case.collect("keys"), case.collect("keys", by=by)
    before = counted.to_bytes(), grouped.to_bytes()
    for other in others_of(case.question):
        groups = GroupedAggregator.of({"b": other.aggregator()})
        for call in (
            functools.partial(counted.merge, other.aggregator()),
            functools.partial(case.question.estimate, other.aggregator()),
            functools.partial(grouped.merge, groups),
        ):
            with pytest.raises(ValueError, match=r"^other must aggregate answers to the same question: "):
                call()
    for call in (lambda: counted.merge(grouped), lambda: grouped.merge(counted), lambda: grouped.merge(dict(grouped))):
        with pytest.raises(TypeError, match=r"^other must be a"):
            call()
    for same in (counted, grouped):
        with pytest.raises(ValueError, match=r"^other must be another aggregator"):
            same.merge(same)
    assert (counted.to_bytes(), grouped.to_bytes()) == before


@each("name", KINDS)
def test_reports_of_other_questions_are_refused(name):
    case = CASES[name]
    reports = case.privatize("keys", slice(0, 4))
    messages, table = case.messages(reports), case.arrow(reports)
    counted = case.counted(reports)
    before = counted.to_bytes()
    asked = others_of(case.question)[0]
    other = bytes.fromhex(asked.fingerprint)
    label = "ldpfast" if case.is_table else "question"
    place = table.column_names.index(label)
    labels = pa.array([other, *table.column(label).to_pylist()[1:]], pa.binary(8))
    for wrong in (
        [*messages[:3], messages[3][:1] + other + messages[3][9:]],
        [*messages[:3], b"\x02" + messages[3][1:]],
        [*messages[:3], messages[3][:-1]],
        [*messages[:3], messages[3][:10] + b"\xff" + messages[3][11:]],
        table.set_column(place, table.schema.field(label), labels),
        table.replace_schema_metadata(None),
        table.replace_schema_metadata({"ldpfast": schemas.canonical_json(asked.schema())}),
    ):
        with pytest.raises(ValueError, match=r"^reports must "):
            counted.update(wrong, batch="refused")
    assert counted.to_bytes() == before


@each("name", KINDS)
def test_wrong_bytes_are_refused(name):
    case = CASES[name]
    counted, grouped = case.collect("keys"), case.collect("keys", by=groups_of(case))
    for data in (counted.to_bytes(), grouped.to_bytes()):
        is_grouped = data[:7] == b"LDPGRUP"
        for place in np.linspace(0, len(data) - 1, 7).astype(int):
            with pytest.raises(ValueError, match=r"^data must "):
                ldp.load(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
            with pytest.raises(ValueError, match=r"^data must "):
                ldp.load(data[:place])
        assert ldp.load(forged(data, lambda header: None)).to_bytes() == data
        first = grouped["b"] if is_grouped else counted
        nobody = [0] if any(state.any() for state in counted_of(first).states) else []  # numbers can have the sum 0
        for n in (*nobody, -1, 1 << 62, "0x7fffffffffffffff", 0.5, None):
            numbers = [n] + [4] * (len(grouped) - 1) if is_grouped else n
            with pytest.raises(ValueError, match=r"^data must "):
                ldp.load(forged(data, lambda header, n=numbers: header.update(n=n)))
        for payload in (
            lambda state: b"\x7f" * len(state),
            lambda state: state[:-1],
            lambda state: state + state,
            lambda state: b"",
        ):
            with pytest.raises(ValueError, match=r"^data must "):
                ldp.load(forged(data, lambda header: None, payload))
        for change in ({"schema": {}}, {"schema": None}, {"batches": ["a"]}, {"batches": None}, {"more": 1}):
            with pytest.raises(ValueError, match=r"^data must "):
                ldp.load(forged(data, lambda header, change=change: header.update(change)))
    for groups in (["b", "b", "a"], ["b", "c"], [["b"], {}, "a"], "bca", None, [{"tuple": 3}, "c", "a"]):
        with pytest.raises(ValueError, match=r"^data must "):
            ldp.load(forged(grouped.to_bytes(), lambda header, groups=groups: header.update(groups=groups)))
