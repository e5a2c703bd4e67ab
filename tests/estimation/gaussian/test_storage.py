"""Saved states of `GaussianMean`, and damaged bytes."""

from __future__ import annotations

import hashlib
import json
import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpfast as ldp
from ldpfast.estimation import GaussianMean

from ...support.cases import each
from ...support.errors import raises
from ...support.gaussian import KNOWN, STAGES, answer_all, answer_round, assert_same_gaussian, make, quiet, stages

pytestmark = pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning", "ignore::ldpfast.DoubtfulWarning")


@each("stage", STAGES)
def test_bytes_restore_the_server_at_every_stage(options, stage):
    """A restored server continues like the original, to the same estimate."""
    server = dict(stages(options)).get(stage)
    if server is None:
        return
    data = server.to_bytes()
    for form in (data, bytearray(data), memoryview(data)):
        twin = GaussianMean.from_bytes(form)
        assert twin.to_bytes() == data
        assert (twin.round, twin.n, repr(twin)) == (server.round, server.n, repr(server))
    for one in (server, twin):
        if one.round == 0:
            answer_round(one)
            if one.rounds == 2:
                one.close_round()
        if one.round < one.rounds:
            answer_round(one, 300, seed=4)
    assert twin.to_bytes() == server.to_bytes()
    assert_same_gaussian(quiet(twin.estimate), quiet(server.estimate))


def test_foreign_and_damaged_bytes_are_errors():
    data = answer_all(make(KNOWN)).to_bytes()
    for other in (None, 1, "text", [1, 2]):
        with raises(TypeError, f"data must be bytes, got {type(other).__name__}"):
            GaussianMean.from_bytes(other)
    foreign = "data must be the bytes of a GaussianMean: the magic number is wrong"
    for wrong in (b"", ldp.Warner(1.0).aggregator().to_bytes(), b"\0" * 100):
        with raises(ValueError, foreign):
            GaussianMean.from_bytes(wrong)
    for wrong, version in ((b"LDPNORM", "nothing"), (b"LDPNORM\x01" + data[8:], "1"), (b"LDPNORM\x03" + data[8:], "3")):
        with raises(ValueError, f"data must be of layout version 2, got {version}"):
            GaussianMean.from_bytes(wrong)
    damaged = "data must be the bytes of a GaussianMean: they are damaged or cut off"
    for wrong in (data[:20], *(part for cut in (1, 16, 100) for part in (data[:-cut], data + b"\0" * cut))):
        with raises(ValueError, damaged):
            GaussianMean.from_bytes(wrong)


@given(st.data())
def test_any_changed_byte_is_an_error(data):
    whole = bytearray(answer_round(make(KNOWN, epsilon=4.0, mu_bound=4.0), 50).to_bytes())
    whole[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(ValueError, match=r"^data must be (the bytes of|of layout version)"):
        GaussianMean.from_bytes(bytes(whole))


def unpacked(data):
    """The header and the groups."""
    (size,) = struct.unpack_from("<Q", data, 8)
    return json.loads(data[16 : 16 + size]), data[16 + size : -16]


def packed(described, groups):
    """Bytes with a valid checksum, for any header and groups."""
    text = described if isinstance(described, bytes) else json.dumps(described).encode()
    body = struct.pack("<8sQ", b"LDPNORM\x02", len(text)) + text + groups
    return body + hashlib.blake2b(body, digest_size=16).digest()


def with_parameter(name, value):
    return lambda described, groups: ({**described, "parameters": {**described["parameters"], name: value}}, groups)


def with_entry(name, value):
    return lambda described, groups: ({**described, name: value}, groups)


def without(name):
    return lambda described, groups: ({key: value for key, value in described.items() if key != name}, groups)


def with_sizes(change):
    return lambda described, groups: ({**described, "sizes": change(described["sizes"])}, groups)


def foreign_group(described, groups):
    """The first group is an aggregator of another mechanism."""
    (first, *sizes), *later = described["sizes"]
    other = ldp.Warner(1.0).aggregator().to_bytes()
    return {**described, "sizes": [[len(other), *sizes], *later]}, other + groups[first:]


def swapped_groups(described, groups):
    (first, other, *sizes), *later = described["sizes"]
    swapped = groups[first : first + other] + groups[:first] + groups[first + other :]
    return {**described, "sizes": [[other, first, *sizes], *later]}, swapped


CRAFTED = {
    "no JSON": lambda described, groups: (b"{", groups),
    "no dict": lambda described, groups: ([1], groups),
    **{f"no {name}": without(name) for name in ("parameters", "round", "located", "sizes")},
    **{f"round {value!r}": with_entry("round", value) for value in (2.5, -1, 7, "0", None)},
    "nothing located": with_entry("located", None),
    "half located": with_entry("located", [0.0]),
    "a word located": with_entry("located", ["a", 1.0, []]),
    "NaN located": with_entry("located", [math.nan, 1.0, []]),
    "another center": lambda described, groups: (
        {**described, "located": [described["located"][0] + 1e-3, *described["located"][1:]]},
        groups,
    ),
    "another scale": lambda described, groups: (
        {**described, "located": [described["located"][0], described["located"][1] * 1.001, []]},
        groups,
    ),
    "no sizes at all": with_entry("sizes", []),
    "sizes no list": with_entry("sizes", 5),
    "sizes below zero": with_entry("sizes", [[-1]]),
    "a round too few": with_sizes(lambda sizes: sizes[:1]),
    "a round too many": with_sizes(lambda sizes: [*sizes, sizes[1]]),
    "a group too few": with_sizes(lambda sizes: [sizes[0][:-1], sizes[1]]),
    "no parameters at all": with_entry("parameters", None),
    "bad epsilon": with_parameter("epsilon", -1),
    "other epsilon": with_parameter("epsilon", 2.0),
    "other sigma": with_parameter("sigma", 1.0),
    "unknown parameter": with_parameter("other", 1),
    "bytes left over": lambda described, groups: (described, groups + b"\0"),
    "bytes missing": lambda described, groups: (described, groups[:-1]),
    "a foreign group": foreign_group,
    "groups in another order": swapped_groups,
}


@each("change", CRAFTED.values(), ids=CRAFTED)
def test_crafted_bytes_are_errors(change):
    """With a valid checksum the error is still a ValueError, and there is no server in an impossible state."""
    described, groups = unpacked(answer_all(make(KNOWN, epsilon=4.0, mu_bound=4.0)).to_bytes())
    assert GaussianMean.from_bytes(packed(described, groups)).n > 0
    with pytest.raises(ValueError, match=r"^data must be "):
        GaussianMean.from_bytes(packed(*change(described, groups)))


@pytest.mark.parametrize(
    "server",
    [
        GaussianMean(1.0, sigma=2.0, mu_bound=100),
        GaussianMean(1.0, sigma_bounds=(0.5, 8.0), mu_bound=100, rounds=1, n=5000),
        GaussianMean(1.0, sigma=2.0, mu_bound=100, rounds=1, method="paper"),
    ],
    ids=repr,
)
def test_descriptions_survive_json_and_have_fingerprints(server):
    again = GaussianMean.from_dict(json.loads(json.dumps(server.to_dict())))
    assert repr(again) == repr(server)
    assert again.fingerprint == server.fingerprint
    assert GaussianMean(1.5, sigma=2.0, mu_bound=100).fingerprint != server.fingerprint
    assert ldp.Aggregator.from_bytes(server.to_bytes()).fingerprint == server.fingerprint
