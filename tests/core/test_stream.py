"""The key stream: ChaCha20 against the published vectors, record blocks, and keys."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldpfast._core import stream

from ..support import reference
from ..support.keys import RFC_KEY

ZERO_KEY = bytes(32)


def words_of(key, stream_id, block, groups):
    out = np.zeros(256 * groups, np.uint32)
    stream.raw(key, stream_id, block, out)
    return out


def chacha_block(key, nonce, counter):
    """Return the 64 bytes of RFC 8439 for a nonce of 12 bytes: stream id, then record block.

    The block with counter 16 g + l is lane l of group g. Its word w is word 256 g + 16 w + l of the stream.
    """
    stream_id, low, high = np.frombuffer(nonce, "<u4").tolist()
    group, lane = divmod(counter, 16)
    words = words_of(key, stream_id, low | high << 32, group + 1)[256 * group :].reshape(16, 16)[:, lane]
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
def test_blocks_equal_the_vectors_of_rfc_8439(isa, name):
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


def reference_block(key, stream_id, block, counter):
    """Return a block of ChaCha20 in the notation of the RFC."""
    start = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574, *np.frombuffer(key, "<u4").tolist()]
    start += [counter, stream_id, block & 0xFFFFFFFF, block >> 32]
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
@pytest.mark.parametrize("stream_id, block", [(0, 0), (20, 1), (2**32 - 1, 2**64 - 1), (8, 2**32), (8, 2**32 - 1)])
def test_groups_are_interleaved_word_by_word(isa, stream_id, block, groups):
    """Narrow vectors compute a group in parts; the order of the lanes does not depend on the width."""
    words = words_of(RFC_KEY, stream_id, block, groups).reshape(groups, 16, 16)
    for counter in range(16 * groups):
        assert words[counter // 16, :, counter % 16].tolist() == reference_block(RFC_KEY, stream_id, block, counter)


def test_streams_of_different_ids_and_blocks_differ():
    seen = [words_of(RFC_KEY, number, block, 1).tobytes() for number in range(4) for block in (0, 1, 2**32, 2**63)]
    assert len(set(seen)) == len(seen)


def test_stream_ids_are_unique():
    """Laplace noise has three streams: digits, carries and rounding."""
    ids = [number + i for name, number in reference.STREAM_IDS.items() for i in range(3 if "Laplace" in name else 1)]
    assert len(set(ids)) == len(ids)
    assert 0 not in ids


def test_a_stream_is_exhausted_before_its_counter_wraps():
    """A stream has 2^32 ChaCha blocks, 16 to a group. After them the first words would be repeated."""
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
def test_take_never_returns_a_block_twice(takes):
    source, end = stream.Stream(RFC_KEY), 0
    for blocks in takes:
        first = source.take(blocks)
        assert first == end
        end = first + blocks


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_take_raises_when_the_blocks_are_used_up(first, second):
    source = stream.Stream(RFC_KEY)
    assert source.take(first) == 0
    if first + second < 2**64:
        assert source.take(second) == first
    else:
        with pytest.raises(OverflowError, match=r"^the record blocks of this key are used up$"):
            source.take(second)
        assert source.take(0) == first


@pytest.mark.parametrize("blocks", [-1, 2**64])
def test_take_rejects_impossible_numbers_of_blocks(blocks):
    with pytest.raises(OverflowError):
        stream.Stream(RFC_KEY).take(blocks)


def test_a_stream_cannot_be_pickled_or_copied():
    """A key on a disk is not secret, and with a copied key two workers would draw the same coins."""
    source = stream.Stream()
    for duplicate in (copy.copy, copy.deepcopy, *(lambda s, p=p: pickle.dumps(s, p) for p in range(6))):
        with pytest.raises(TypeError, match=r"^a stream holds a secret key and cannot be pickled or copied$"):
            duplicate(source)


def test_the_buffer_of_a_stream_is_its_key_and_read_only():
    view = memoryview(stream.Stream(RFC_KEY))
    assert view.readonly
    assert view.nbytes == 32
    assert bytes(view) == RFC_KEY


def test_the_repr_of_a_stream_does_not_contain_the_key():
    source = stream.Stream(RFC_KEY)
    for text in (repr(source), str(source)):
        assert "\\x01" not in text
        assert "0102" not in text
    assert not hasattr(source, "__dict__")
    assert not [name for name in dir(source) if "key" in name]
