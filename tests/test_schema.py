"""Schemas: canonical JSON, descriptions that survive JSON, fingerprints and differences."""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import json
import math
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpfast as ldp
from ldpfast.domains import Categories
from ldpfast.estimation import Frequencies, VectorMean
from ldpfast.reports import Codes, recipe_of

from .cards import KINDS
from .support.cases import each
from .support.errors import raises
from .support.internals.shared import Described, from_dict, schemas
from .support.one_shot import PROBLEMS
from .support.public import instances

# Numbers of RFC 8785, appendix B, by their bits.
NUMBERS = {
    0x0000000000000000: "0",
    0x8000000000000000: "0",
    0x0000000000000001: "5e-324",
    0x8000000000000001: "-5e-324",
    0x7FEFFFFFFFFFFFFF: "1.7976931348623157e+308",
    0xFFEFFFFFFFFFFFFF: "-1.7976931348623157e+308",
    0x4340000000000000: "9007199254740992",
    0xC340000000000000: "-9007199254740992",
    0x4430000000000000: "295147905179352830000",
    0x44B52D02C7E14AF5: "9.999999999999997e+22",
    0x44B52D02C7E14AF6: "1e+23",
    0x44B52D02C7E14AF7: "1.0000000000000001e+23",
    0x444B1AE4D6E2EF4E: "999999999999999700000",
    0x444B1AE4D6E2EF4F: "999999999999999900000",
    0x444B1AE4D6E2EF50: "1e+21",
    0x3EB0C6F7A0B5ED8C: "9.999999999999997e-7",
    0x3EB0C6F7A0B5ED8D: "0.000001",
    0x41B3DE4355555553: "333333333.3333332",
    0x41B3DE4355555554: "333333333.33333325",
    0x41B3DE4355555555: "333333333.3333333",
    0x41B3DE4355555556: "333333333.3333334",
    0x41B3DE4355555557: "333333333.33333343",
    0xBECBF647612F3696: "-0.0000033333333333333333",
    0x43143FF3C1CB0959: "1424953923781206.2",
}

DESCRIBED = {str(kind): kind.mechanism for kind in KINDS} | {name: problem for name, (problem, _) in PROBLEMS.items()}


@each("bits, text", NUMBERS.items(), ids=NUMBERS.values())
def test_numbers_are_written_as_in_the_standard(bits, text):
    number = float(np.array(bits, np.uint64).view(np.float64))
    assert schemas.canonical_json(number) == text.encode()
    assert float(json.loads(text)) == number


def test_text_and_objects_are_written_as_in_the_standard():
    """The examples of RFC 8785, sections 3.2.2 and 3.2.3: keys in the order of their UTF-16 code units."""
    value = {"string": '€$\x0f\nA\'B"\\\\"/', "literals": [None, True, False]}
    assert schemas.canonical_json(value) == (
        '{"literals":[null,true,false],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'.encode()
    )
    keys = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\x80": 6, "\xf6": 7}
    assert list(json.loads(schemas.canonical_json(keys)).values()) == [2, 4, 6, 7, 1, 5, 3]
    assert schemas.canonical_json([2**53, 2**53 + 1, -(2**64)]) == (
        b'[9007199254740992,"0x20000000000001","-0x10000000000000000"]'
    )
    assert schemas.read_integer("0x20000000000001") == 2**53 + 1


def test_numbers_of_numpy_have_the_text_of_their_value():
    class Verbose(float):
        def __repr__(self):
            return "one and a half"

    for number in (1.5, np.float64(1.5), Verbose(1.5)):
        assert schemas.canonical_json([number]) == b"[1.5]"


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(codec="utf-8")),
        st.lists,
    )
)
def test_canonical_json_is_json(value):
    text = schemas.canonical_json(value)
    assert schemas.read_json(text) == value
    assert schemas.canonical_json(schemas.read_json(text)) == text


def test_text_with_an_unpaired_surrogate_is_refused():
    with pytest.raises(ValueError, match=r"^a schema must hold valid Unicode text, got "):
        schemas.canonical_json("\ud800")


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_not_finite_are_refused(bad):
    with raises(ValueError, f"a schema must hold finite numbers, got {bad!r}"):
        schemas.canonical_json([bad])


def test_other_types_are_refused():
    with raises(TypeError, "a schema must hold strings, numbers, booleans, lists and dicts, got set"):
        schemas.canonical_json({"a": set()})
    with pytest.raises(TypeError, match=r"to be saved, got object$"):
        Frequencies([object(), object()], 1.0).to_dict()


# Descriptions ---------------------------------------------------------------------------------------------------------


@each("described", DESCRIBED.values(), ids=DESCRIBED)
def test_descriptions_survive_json(described):
    text = schemas.canonical_json(described.to_dict())
    twin = from_dict(schemas.read_json(text))
    assert twin == described
    assert type(described).from_dict(schemas.read_json(text)) == described
    assert twin.fingerprint == described.fingerprint
    assert twin.schema() == described.schema()


LABELS = [
    ["a", "b"],
    [1, 2.5],
    [True, False],
    [None, "yes"],
    [b"a", b"b"],
    [("a", 1), ("a", 2)],
    [datetime.date(2026, 1, 2), datetime.date(2026, 1, 3)],
    [datetime.datetime(2026, 1, 2, 3, 4, 5, 6), datetime.datetime(2027, 1, 1)],
    [Decimal("1.10"), Decimal("1.2")],
    np.array(["x", "y"]),
    np.array([1, 2], np.int32),
]


@each("labels", LABELS, ids=str)
def test_labels_of_all_types_survive_a_saved_state(labels):
    problem = Frequencies(labels, 1.0)
    state = problem.aggregator().update(problem.privatize([problem.k[0], problem.k[1]], rng=1))
    twin = ldp.Aggregator.from_bytes(state.to_bytes())
    assert twin == state
    assert twin.question == problem
    assert [type(label) for label in twin.question.k] == [type(label) for label in problem.k]
    assert problem.estimate(twin).n == 2


def test_what_does_not_describe_an_object_is_refused():
    for data, message in (
        ({"problem": "Future"}, "data must name a problem, one of CountMeanSketch, Distribution, "),
        ({}, "data must name a mechanism, one of Bins, "),
        ({"problem": "VectorMean", "dim": 2}, "data must hold dim, epsilon, "),
        (
            {"mechanism": "Warner", "epsilon": {"regex": "x"}},
            "a label must be of a known type, one of integer, tuple, ",
        ),
    ):
        with pytest.raises(ValueError, match="^" + message):
            from_dict(data)
    with pytest.raises(ValueError, match=r"^data must describe a VectorMean, got a Frequencies$"):
        ldp.estimation.VectorMean.from_dict(Frequencies(2, 1.0).to_dict())


# Fingerprints ---------------------------------------------------------------------------------------------------------


def test_the_fingerprint_is_the_start_of_the_digest():
    """Known values: they may only change together with `_schema.VERSION`."""
    mechanism = ldp.Warner(1.0)
    text = '{"asks":{"epsilon":1,"mechanism":"Warner"},"coins":{"bits":64,"k":2,"keep":%s,"words_per_symbol":%s},"version":1}'
    coin = recipe_of(mechanism).coin
    text %= f'"{coin.keep:#x}"', f'"{coin.words_per_symbol:#x}"'
    assert schemas.canonical_json(mechanism.schema()).decode() == text
    assert mechanism.fingerprint == hashlib.sha256(text.encode()).hexdigest()[:16] == "e7b9fd4bd3cfb732"
    assert Frequencies(["no", "yes"], 1.0).fingerprint == "53347bfdebad33da"


def changed(value):
    """Return another valid value of a parameter, or None if there is no simple one."""
    if isinstance(value, bool):
        return not value
    if value == ():
        return None
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value * 1.01 if value else -0.5
    if isinstance(value, tuple) and all(isinstance(item, str) for item in value):
        return (*value[1:], value[0])
    if isinstance(value, tuple) and all(isinstance(item, tuple) for item in value):  # the rows of a channel
        return value[::-1]
    return None


@pytest.mark.claim("The fingerprint in messages changes if any public parameter changes.", "Saved states")
@each("described", DESCRIBED.values(), ids=DESCRIBED)
def test_a_fingerprint_changes_when_any_parameter_changes(described):
    seen = {described.fingerprint}
    for name in described._parameter_names():
        value = changed(getattr(described, name))
        if value is not None:
            try:
                again = {"mechanism": "auto"} if isinstance(described, VectorMean) else {}
                other = type(described)(**{**described._parameters(), name: value, **again})
            except (TypeError, ValueError):  # not a valid combination
                continue
            assert other.fingerprint not in seen
            assert schemas.first_difference(described.schema(), other.schema()).startswith(name)
            seen.add(other.fingerprint)
    assert len(seen) > 1


@each("described", DESCRIBED.values(), ids=DESCRIBED)
def test_coins_of_another_version_are_refused(described, monkeypatch):
    """A state whose coins or schema version differ from those of this package is not read as if they were equal."""
    data = described.aggregator().to_bytes()
    monkeypatch.setattr(schemas, "VERSION", 2)
    with pytest.raises(ValueError, match=r"^data must be of this version of .*: version is 2, got 1$"):
        ldp.Aggregator.from_bytes(data)
    monkeypatch.undo()
    schema = described.schema()
    for name in schema["coins"]:
        monkeypatch.setattr(schemas, "integers", lambda coin, name=name: {**schema["coins"], name: 1})
        with pytest.raises(ValueError, match=rf"^data must be of this version of .*: coins\.{name} is 1, got "):
            ldp.Aggregator.from_bytes(data)


# What cannot be described ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [
        [pd.Timestamp("2020-01-01 00:00:00.000000001"), pd.Timestamp("2020-01-01")],
        [pd.NaT, "a"],
        [Decimal("nan"), 2],
        [datetime.timedelta(1), datetime.timedelta(2)],
    ],
    ids=str,
)
def test_labels_that_cannot_be_read_back_are_not_saved(labels):
    """The error comes before a state is written; aggregators of such labels still tell them apart."""
    problem = Frequencies(labels, 1.0)
    with pytest.raises(TypeError, match=r"^parameters and labels must be .* to be saved, got "):
        problem.aggregator().to_bytes()
    other = Frequencies([*labels, "more"], 1.0)
    with pytest.raises(ValueError, match=r"^other must aggregate answers to the same question: it is "):
        problem.aggregator().merge(other.aggregator())


@pytest.mark.parametrize(
    "labels", [[np.datetime64(1, "ns"), np.datetime64(2, "ns")], np.array(["2020", "2021"], "M8[ns]")]
)
def test_dates_of_numpy_are_refused(labels):
    """Their Python values are integers."""
    with raises(TypeError, "k must list dates as datetime.date or datetime.datetime, got NumPy dates"):
        Frequencies(labels, 1.0)


@each("label", [{"decimal": "x"}, {"date": 5}, {"tuple": 5}, {"bytes": "zz"}, {"integer": "7g"}])
def test_damaged_labels_are_value_errors(label):
    described = {**Frequencies(["a", "b"], 1.0).to_dict(), "k": [label, 2]}
    with pytest.raises(ValueError, match=r"^a label of type \w+ must be valid, got "):
        from_dict(described)


# Mechanisms of users --------------------------------------------------------------------------------------------------


def define(rows, name="Defined"):
    """Return a class of mechanisms with a channel, as in a cell of a notebook."""

    def set_up(self):
        self.define(epsilon_realized=3.0, domain=Categories(2), report=Codes(2))

    namespace = {
        "__annotations__": {"weights": "tuple", "label": "str"},
        "label": "x",
        "__post_init__": set_up,
        "channel_rows": lambda self: rows,
        "__module__": __name__,
    }
    globals()[name] = dataclasses.dataclass(frozen=True, kw_only=True)(type(name, (ldp.Mechanism,), namespace))
    return globals()[name]


def test_the_fingerprint_contains_the_channel_of_a_custom_mechanism():
    """A class that is defined again replaces the one before, and another channel is another question."""
    before = define([[3, 1], [1, 3]])(weights=(3, 1))
    saved = before.aggregator().update(np.array([1, 0, 1], np.uint8)).to_bytes()
    again = define([[3, 1], [1, 3]])(weights=(3, 1))
    assert again.fingerprint == before.fingerprint
    restored = ldp.Aggregator.from_bytes(saved)
    assert restored.question == again
    assert again.aggregator().merge(restored).n == 3
    assert pickle.loads(pickle.dumps(restored.question)) == again
    changed = define([[1, 3], [3, 1]])(weights=(3, 1))
    assert changed.fingerprint != before.fingerprint
    with pytest.raises(ValueError, match=r"^data must be of this version of .*: coins\.channel is "):
        ldp.Aggregator.from_bytes(saved)
    with pytest.raises(ValueError, match=r"^other must .*: coins\.channel is "):
        changed.aggregator().merge(before.aggregator())
    with pytest.raises(ValueError, match=r"^reports must answer question 0 "):
        changed.aggregator().update([before.message(np.uint8(1))])


@pytest.mark.parametrize("change", [{"version": 99}, {"coins": {}}, {"more": 1}])
def test_load_refuses_schemas_of_other_versions(change):
    schema = ldp.Warner(1.0).schema()
    assert (
        ldp.load(schemas.canonical_json(schema)) == ldp.load(schemas.canonical_json(schema["asks"])) == ldp.Warner(1.0)
    )
    with pytest.raises(ValueError, match=r"^data must be of this version of Warner\(epsilon=1\.0\): "):
        ldp.load(schemas.canonical_json({**schema, **change}))


def test_load_opens_the_descriptions_of_everything():
    """Also where a parameter has the name of a kind, such as the round of a repeated survey."""
    described = [one for one in instances() if isinstance(one, Described)]
    assert len(described) > 30
    for one in described:
        for data in (one.to_dict(), one.schema()):
            found = ldp.load(schemas.canonical_json(data))
            assert type(found) is type(one)
            assert found.fingerprint == one.fingerprint


@each("depth", [300, 600, 900, 5000])
@each("name", ["epsilon", "more"])
def test_deep_json_is_an_error(name, depth):
    nested = b"[" * depth + b"]" * depth
    with pytest.raises((TypeError, ValueError), match="must"):
        ldp.load(b'{"version":1,"asks":{"mechanism":"Warner","' + name.encode() + b'":' + nested + b"}}")
