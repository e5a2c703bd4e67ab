"""Keys and the key stream: the one source of randomness, against the published vectors."""

from __future__ import annotations

import copy
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldpfast import _random
from ldpfast._core import stream
from ldpfast._random import Randomness, open_stream

from .support import reference

RFC_KEY = bytes(range(32))
ZERO_KEY = bytes(32)


def key_of(source):
    return bytes(memoryview(source))


def raw(key, use, block, groups):
    out = np.zeros(256 * groups, np.uint32)
    stream.raw(key, use, block, out)
    return out


def chacha_block(key, nonce, counter):
    """The 64 bytes of RFC 8439 for 12 bytes of nonce, as the library lays them out: purpose, then record block.

    One block with counter 16 g + l is lane l of group g: its word w is at 256 g + 16 w + l.
    """
    use, low, high = np.frombuffer(nonce, "<u4").tolist()
    group, lane = divmod(counter, 16)
    words = raw(key, use, low | high << 32, group + 1)[256 * group :].reshape(16, 16)[:, lane]
    return words.astype("<u4").tobytes()


# RFC 8439 -------------------------------------------------------------------------------------------------------------

VECTORS = {
    "2.3.2": (
        RFC_KEY,
        "000000090000004a00000000",
        1,
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
        "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e",
    ),
    "A.1 #1": (
        ZERO_KEY,
        "00" * 12,
        0,
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
        "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586",
    ),
    "A.1 #2": (
        ZERO_KEY,
        "00" * 12,
        1,
        "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
        "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f",
    ),
    "A.1 #3": (
        bytes(31) + b"\1",
        "00" * 12,
        1,
        "3aeb5224ecf849929b9d828db1ced4dd832025e8018b8160b82284f3c949aa5a"
        "8eca00bbb4a73bdad192b5c42f73f2fd4e273644c8b36125a64addeb006c13a0",
    ),
    "A.1 #4": (
        b"\0\xff" + bytes(30),
        "00" * 12,
        2,
        "72d54dfbf12ec44b362692df94137f328fea8da73990265ec1bbbea1ae9af0ca"
        "13b25aa26cb4a648cb9b9d1be65b2c0924a66c54d545ec1b7374f4872e99f096",
    ),
    "A.1 #5": (
        ZERO_KEY,
        "00" * 11 + "02",
        0,
        "c2c64d378cd536374ae204b9ef933fcd1a8b2288b3dfa49672ab765b54ee27c7"
        "8a970e0e955c14f3a88e741b97c286f75f8fc299e8148362fa198a39531bed6d",
    ),
}


@pytest.mark.parametrize("name", VECTORS)
def test_blocks_are_those_of_rfc_8439(isa, name):
    key, nonce, counter, expected = VECTORS[name]
    assert chacha_block(key, bytes.fromhex(nonce), counter).hex() == expected


def test_the_encryption_example_of_rfc_8439(isa):
    """Section 2.4.2: two blocks, counters 1 and 2, over the sunscreen text."""
    text = b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it."
    cipher = bytes.fromhex(
        "6e2e359a2568f98041ba0728dd0d6981e97e7aec1d4360c20a27afccfd9fae0b"
        "f91b65c5524733ab8f593dabcd62b3571639d624e65152ab8f530c359f0861d8"
        "07ca0dbf500d6a6156a38e088a22b65e52bc514d16ccf806818ce91ab7793736"
        "5af90bbf74a35be6b40b8eedf2785e42874d"
    )
    nonce = bytes.fromhex("000000000000004a00000000")
    keystream = chacha_block(RFC_KEY, nonce, 1) + chacha_block(RFC_KEY, nonce, 2)
    assert bytes(a ^ b for a, b in zip(text, keystream, strict=False)) == cipher


def reference_block(key, use, block, counter):
    """ChaCha20 as the RFC writes it."""
    start = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574, *np.frombuffer(key, "<u4").tolist()]
    start += [counter, use, block & 0xFFFFFFFF, block >> 32]
    s = list(start)

    def quarter(a, b, c, d):
        for x, y, z, shift in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            s[x] = (s[x] + s[y]) & 0xFFFFFFFF
            v = s[z] ^ s[x]
            s[z] = (v << shift | v >> (32 - shift)) & 0xFFFFFFFF

    for _ in range(10):
        for i in range(4):
            quarter(i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return [(a + b) & 0xFFFFFFFF for a, b in zip(s, start, strict=True)]


@pytest.mark.parametrize("groups", [1, 2, 3, 5])
@pytest.mark.parametrize("use, block", [(0, 0), (20, 1), (2**32 - 1, 2**64 - 1), (8, 2**32), (8, 2**32 - 1)])
def test_groups_are_interleaved_word_by_word(isa, use, block, groups):
    """Narrow vectors make a group in parts: every lane of every group must be where the wide ones put it."""
    words = raw(RFC_KEY, use, block, groups).reshape(groups, 16, 16)
    for counter in range(16 * groups):
        assert words[counter // 16, :, counter % 16].tolist() == reference_block(RFC_KEY, use, block, counter)


def test_purposes_and_blocks_have_streams_of_their_own():
    seen = [raw(RFC_KEY, use, block, 1).tobytes() for use in range(4) for block in (0, 1, 2**32, 2**63)]
    assert len(set(seen)) == len(seen)


def test_no_two_uses_have_one_purpose():
    """Laplace noise has three: digits, carries, rounding."""
    uses = [number + i for name, number in reference.PURPOSE.items() for i in range(3 if "Laplace" in name else 1)]
    assert len(set(uses)) == len(uses)
    assert 0 not in uses


def test_a_stream_ends_before_its_counter_wraps():
    """2^32 ChaCha blocks of 16 to a group: past that, the first words would come again."""
    assert not stream.exhausts(RFC_KEY, 0)
    assert not stream.exhausts(RFC_KEY, 2**28 - 1)
    assert stream.exhausts(RFC_KEY, 2**28)


@pytest.mark.parametrize("size", [0, 16, 31, 33, 64])
def test_a_key_has_32_bytes(size):
    with pytest.raises(ValueError, match=r"^a key has 32 bytes$"):
        stream.Stream(bytes(size))
    with pytest.raises(ValueError, match=r"^a key has 32 bytes$"):
        stream.raw(bytes(size), 0, 0, np.zeros(256, np.uint32))


# Stream ---------------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 2**40) | st.integers(0, 5), max_size=50))
def test_no_block_is_handed_out_twice(takes):
    source, end = stream.Stream(RFC_KEY), 0
    for blocks in takes:
        first = source.take(blocks)
        assert first == end
        end = first + blocks


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_blocks_run_out(first, second):
    source = stream.Stream(RFC_KEY)
    assert source.take(first) == 0
    if first + second < 2**64:
        assert source.take(second) == first
    else:
        with pytest.raises(OverflowError, match=r"^the record blocks of this key are used up$"):
            source.take(second)
        assert source.take(0) == first


@pytest.mark.parametrize("blocks", [-1, 2**64])
def test_numbers_of_blocks_that_do_not_exist(blocks):
    with pytest.raises(OverflowError):
        stream.Stream(RFC_KEY).take(blocks)


def test_a_stream_is_never_pickled_or_copied():
    """A key on a disk or in two workers is no secret, or used twice."""
    source = stream.Stream()
    for duplicate in (copy.copy, copy.deepcopy, *(lambda s, p=p: pickle.dumps(s, p) for p in range(6))):
        with pytest.raises(TypeError, match=r"^a stream holds a secret key and cannot be pickled or copied$"):
            duplicate(source)


def test_a_stream_shows_its_32_bytes_read_only():
    view = memoryview(stream.Stream(RFC_KEY))
    assert view.readonly
    assert view.nbytes == 32
    assert bytes(view) == RFC_KEY


def test_a_stream_does_not_say_its_key():
    source = stream.Stream(RFC_KEY)
    for text in (repr(source), str(source)):
        assert "\\x01" not in text
        assert "0102" not in text
    assert not hasattr(source, "__dict__")
    assert not [name for name in dir(source) if "key" in name]


# rng ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 20240611, 2**64 - 1, 2**64, 2**200])
def test_an_int_means_its_seed_sequence(seed):
    expected = np.random.SeedSequence(seed).generate_state(8, np.uint32).astype("<u4").tobytes()
    assert key_of(open_stream(seed)) == expected
    assert key_of(open_stream(np.random.SeedSequence(seed))) == expected
    assert len(expected) == 32


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint8, np.uint64])
def test_integers_of_numpy_are_ints(kind):
    assert key_of(open_stream(kind(100))) == key_of(open_stream(100))


def test_a_seed_sequence_is_not_used_up():
    sequence = np.random.SeedSequence(3, spawn_key=(1,))
    assert key_of(open_stream(sequence)) == key_of(open_stream(sequence)) != key_of(open_stream(3))
    assert sequence.n_children_spawned == 0


@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.Philox, np.random.MT19937, np.random.SFC64])
def test_a_generator_gives_its_next_32_bytes(bits):
    reference = np.random.Generator(bits(5))
    generator, bit_generator = np.random.Generator(bits(5)), bits(5)
    for _ in range(3):
        expected = reference.bytes(32)
        assert key_of(open_stream(generator)) == expected
        assert key_of(open_stream(bit_generator)) == expected


def test_no_rng_is_a_fresh_key_every_time():
    assert len({key_of(open_stream(None)) for _ in range(100)}) == 100
    assert len({key_of(stream.Stream()) for _ in range(100)}) == 100


def test_fresh_keys_do_not_come_from_numpy_or_python(monkeypatch):
    """A seeded global generator must not make reports predictable."""
    keys = []
    for _ in range(2):
        np.random.seed(1)
        keys.append(key_of(open_stream(None)))
    assert keys[0] != keys[1]


def test_every_stream_starts_at_block_zero():
    for rng in (None, 3, np.random.default_rng(3)):
        assert open_stream(rng).take(1) == 0


# Randomness of an object with state -----------------------------------------------------------------------------------


def kind_name(rng):
    return f"{type(rng).__name__} {rng}" if isinstance(rng, int | float) else type(rng).__name__


def first_stream(randomness: Randomness, rng):
    """That of a first call, which succeeds."""
    opened = randomness.stream(rng)
    randomness.keep(rng, opened)
    return opened


def test_without_rng_every_call_has_a_fresh_stream():
    randomness = Randomness()
    assert len({key_of(randomness.stream(None)) for _ in range(100)}) == 100


@pytest.mark.parametrize(
    "rng", [7, np.random.SeedSequence(7), np.random.default_rng(7), np.random.PCG64(7)], ids=kind_name
)
def test_one_key_from_first_use_on(rng):
    """Not even a generator, which could give another key, is asked twice."""
    randomness = Randomness()
    randomness.stream(None)
    first = first_stream(randomness, rng)
    assert first.take(3) == 0
    assert randomness.stream(rng) is first
    assert randomness.stream(rng).take(1) == 3


@pytest.mark.parametrize(
    "other", [None, 8, -7, 7.0, np.random.SeedSequence(7), np.random.default_rng(7)], ids=kind_name
)
def test_another_rng_is_refused(other):
    for rng in (7, np.random.default_rng(7)):
        randomness = Randomness()
        stream_ = first_stream(randomness, rng)
        with pytest.raises(ValueError, match=r"^rng must stay what it was when it was first given to this object$"):
            randomness.stream(other)
        assert randomness.stream(rng) is stream_


def test_equal_ints_are_one_rng():
    randomness = Randomness()
    assert first_stream(randomness, 2**80) is randomness.stream(int("1" + "0" * 80, 2))


def test_equal_integers_of_numpy_are_one_rng():
    randomness = Randomness()
    assert first_stream(randomness, np.int64(7)) is randomness.stream(np.int64(7))


def test_a_refused_rng_is_forgotten():
    randomness = Randomness()
    for wrong in (-1, 1.5, "7", True):
        with pytest.raises((TypeError, ValueError)):
            randomness.stream(wrong)
    assert key_of(randomness.stream(7)) == key_of(open_stream(7))


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))])
def test_a_copy_goes_on_with_the_blocks_of_a_seed(duplicate):
    randomness = Randomness()
    first_stream(randomness, 7).take(5)
    twin = duplicate(randomness)
    assert key_of(twin.stream(7)) == key_of(open_stream(7))
    assert twin.stream(7).take(1) == randomness.stream(7).take(1) == 5
    assert twin.stream(7) is not randomness.stream(7)


@pytest.mark.parametrize("rng", [None, np.random.default_rng(7), np.random.PCG64(7)], ids=kind_name)
def test_a_copy_has_no_key_that_cannot_be_derived(rng):
    randomness = Randomness()
    key = key_of(first_stream(randomness, rng))
    data = pickle.dumps(randomness)
    assert key not in data
    assert key_of(pickle.loads(data).stream(rng)) != key


def test_purposes_of_words_are_the_last_of_the_streams():
    """Two uses with one key share no word: each has a number of its own, beyond those of all kernels."""
    header = (Path(__file__).parent.parent / "src/kernels/chacha.h").read_text()
    numbers = [int(number) for number in re.findall(r"PURPOSE_\w+ = (\d+)", header)]
    first = int(re.search(r"PURPOSE_CENTRAL_WORDS = (\d+)", header)[1])
    assert numbers == sorted(set(numbers))
    assert numbers[-1] == first
    used = [_random.SMOOTH, _random.M_ESTIMATE, _random.ROUNDING, _random.IDEAL]
    assert used == list(range(first, first + 4))
