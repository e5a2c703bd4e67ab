"""The key stream: AES-256 against the published vectors, subkeys, record blocks, and keys."""

from __future__ import annotations

import ast
import copy
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpfast

from ..support import aes
from ..support.cases import each
from ..support.internals import kernels
from ..support.internals.kernels import StreamId, stream
from ..support.keys import FIXED_KEY, KEY


def words_of(key, stream_id, block, groups):
    out = np.zeros(256 * groups, np.uint32)
    stream.raw(key, stream_id, block, out)
    return out


@pytest.fixture(params=kernels.aes_forms())
def aes_form(request):
    """Each implementation of AES that this machine has."""
    before = kernels.aes_form()
    kernels.set_aes_form(request.param)
    yield request.param
    kernels.set_aes_form(before)


# AES-256 --------------------------------------------------------------------------------------------------------------

# SP 800-38A, F.5.5: the inputs are the counter f0f1...feff and the three after it, read as a big-endian number.
SP_KEY = bytes.fromhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
SP_BLOCKS = {
    "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff": "0bdf7df1591716335e9a8b15c860c502",
    "f0f1f2f3f4f5f6f7f8f9fafbfcfdff00": "5a6e699d536119065433863c8f657b94",
    "f0f1f2f3f4f5f6f7f8f9fafbfcfdff01": "1bc12c9c01610d5d0d8bd6a3378eca62",
    "f0f1f2f3f4f5f6f7f8f9fafbfcfdff02": "2956e1c8693536b1bee99c73a31576b6",
}
VECTORS = {
    "FIPS 197, C.3": (FIXED_KEY, "00112233445566778899aabbccddeeff", "8ea2b7ca516745bfeafc49904b496089"),
    **{f"SP 800-38A, F.5.5, {block[-4:]}": (SP_KEY, block, output) for block, output in SP_BLOCKS.items()},
}


@pytest.mark.claim("Random words come from AES-256 in counter mode.", "Randomness")
@each("name", VECTORS)
def test_encryption_equals_the_published_vectors(aes_form, name):
    key, block, expected = VECTORS[name]
    assert stream.encrypt(key, bytes.fromhex(block), 1).hex() == expected
    assert aes.encrypt(key, bytes.fromhex(block)).hex() == expected


@each("blocks", [0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 200])
def test_all_implementations_agree(aes_form, blocks):
    """Random keys and inputs, and counters that wrap; lengths around those that are encrypted together."""
    rng = np.random.default_rng(blocks)
    for first in (0, 1, 2**32 - 5, int(rng.integers(2**32))):
        key, rest = rng.bytes(32), rng.bytes(12)
        inputs = [((first + i) % 2**32).to_bytes(4, "little") + rest for i in range(blocks)]
        expected = b"".join(aes.encrypt(key, value) for value in inputs)
        assert stream.encrypt(key, first.to_bytes(4, "little") + rest, blocks) == expected


def test_the_slow_implementation_is_always_available():
    assert kernels.aes_forms()[0] == "portable"
    assert kernels.aes_form() == kernels.aes_forms()[-1]
    assert set(kernels.aes_forms()) <= {"portable", "armv8", "aes-ni", "vaes-256", "vaes-512"}
    with pytest.raises(ValueError, match=r"^implementation of AES must be one of "):
        kernels.set_aes_form("chacha")


# Streams --------------------------------------------------------------------------------------------------------------


@each(
    "stream_id, block, groups",
    [(0, 0, 1), (20, 1, 3), (2**32 - 1, 2**64 - 1, 2), (8, 2**32, 1), (8, 2**32 - 1, 1), (3, 4095, 1), (3, 4096, 1)],
)
def test_bytes_are_in_the_order_of_the_counter(aes_form, stream_id, block, groups):
    expected = b"".join(aes.stream_block(KEY, stream_id, block, counter) for counter in range(64 * groups))
    assert words_of(KEY, stream_id, block, groups).tobytes() == expected


def test_a_long_stream_changes_its_subkey(aes_form):
    """A segment has 2^11 counters, which are 32 groups."""
    data = words_of(KEY, 9, 5, 100).tobytes()
    for counter in (0, 2047, 2048, 2049, 4095, 4096, 6399):
        assert data[16 * counter : 16 * counter + 16] == aes.stream_block(KEY, 9, 5, counter)


def test_subkeys_differ_between_spans_and_segments():
    keys = {aes.subkey(KEY, span, segment) for span in (0, 1, 2, 2**52 - 1) for segment in (0, 1, 2, 2**21 - 1)}
    assert len(keys) == 16
    assert KEY not in keys


def test_a_span_and_segment_have_at_most_2_to_the_26_inputs():
    """A subkey serves 2^12 record blocks and 2^11 counters of each stream id, and a kernel uses at most 8 stream ids."""
    assert 8 << aes.SPAN_BITS + aes.SEGMENT_BITS <= 1 << 26


def test_streams_of_different_ids_and_blocks_differ():
    seen = [words_of(FIXED_KEY, number, block, 1).tobytes() for number in range(4) for block in (0, 1, 2**32, 2**63)]
    assert len(set(seen)) == len(seen)


STREAM_IDS = """
    RAW WARNER RANDOMIZED_RESPONSE RESIDUE BINS SIGN_BIT UNARY_BITS UNARY_OWN LINF_DIRECTION LINF_VERTEX
    LINF_SIGN LINF_TIE L2_DIRECTION L2_SIGN LAPLACE LAPLACE_TIES LAPLACE_ROUNDING
    LAPLACE_VECTOR LAPLACE_VECTOR_TIES LAPLACE_VECTOR_ROUNDING MEDIAN
    LAPLACE_ONE_HOT LAPLACE_ONE_HOT_TIES LAPLACE_ONE_HOT_ROUNDING
    LAPLACE_RESIDUE LAPLACE_RESIDUE_TIES LAPLACE_RESIDUE_ROUNDING DISCRETE_GAUSSIAN SELECTION
    LAPLACE_CENTRAL LAPLACE_CENTRAL_TIES LAPLACE_CENTRAL_ROUNDING
    SMOOTH_SENSITIVITY M_ESTIMATE CENTRAL_ROUNDING CENTRAL_BALL PYTHON SERIES GAUSSIAN_DIGITS
    SURVEY_KEYS SURVEY_ASSIGNMENT SURVEY_ROUNDING SURVEY_ROUNDING_SECOND MEDIAN_OFFSET
    HADAMARD_RESPONSE PROJECTIVE_RESPONSE SUBSET_BITS SUBSET_INDICES SUBSET_COINS WINDOW
    CUBE_COORDINATES CUBE_ROUNDING CUBE_SIGNS CUBE_MEMBERS CUBE_OTHERS
    CODEBOOK_SEEDS CODEBOOK_COINS CODEBOOK_DIRECTION FRAME_SEEDS FRAME_COINS
    SURVEY_ROUNDING_MORE SKETCH_PARTS SET_BITS SET_INDICES SET_COINS
    SET_CUBE_COORDINATES SET_CUBE_SIGNS SET_CUBE_MEMBERS SET_CUBE_OTHERS WHOLE_SETS VIEWS VIEW_COINS
    TREE DISTRIBUTION
    ROTATION ROTATED_ROWS ROTATED_SEEDS ROTATED_COINS SUBKEY
"""


def test_stream_ids_never_change():
    """A number that is given to another use would let two mechanisms share coins under one key. 10 is not used."""
    numbers = [*range(10), *range(11, 79), 2**31 - 1]
    expected = dict(zip(STREAM_IDS.split(), numbers, strict=True))
    assert {stream_id.name: stream_id.value for stream_id in StreamId} == expected


def test_stream_ids_are_unique():
    assert len({int(stream_id) for stream_id in StreamId}) == len(StreamId.__members__)


@pytest.mark.long
def test_the_package_names_its_stream_ids():
    """No argument that is a stream id is a number, or a constant of a module that is a number; nor is one of kernels."""
    package = Path(ldpfast.__file__).parent
    modules = {path: ast.parse(path.read_text()) for path in package.rglob("*.py*") if path.suffix in (".py", ".pyi")}
    place = {}  # of the argument, by function
    for function in (node for module in modules.values() for node in ast.walk(module)):
        if isinstance(function, ast.FunctionDef):
            names = [argument.arg for argument in function.args.args if argument.arg != "self"]
            for name in {"stream_id", "stream_number"} & set(names):
                place[function.name] = names.index(name)
    assert {"raw", "words", "laplace", "ball_laplace"} <= set(place)
    given = 0
    for path, module in modules.items():
        assigned = [node for node in module.body if isinstance(node, ast.Assign) and has_integer(node.value)]
        numbers = {ast.unparse(target) for node in assigned for target in node.targets}
        for call in (node for node in ast.walk(module) if isinstance(node, ast.Call)):
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            index = place.get(name, len(call.args))
            for argument in call.args[index : index + 1]:
                assert not has_integer(argument), f"{path}:{call.lineno}"
                assert ast.unparse(argument).partition("[")[0] not in numbers, f"{path}:{call.lineno}"
                given += 1
    assert given >= 10
    number = re.compile(r"stream_open\([^,]+, (<stream_id>)?\d|reader_open\([^,]+,[^,]+, (<stream_id>)?\d")
    for path in (Path(__file__).parents[2] / "src").rglob("*.*"):
        assert path.suffix not in (".c", ".h", ".pyx") or not number.search(path.read_text()), path


def has_integer(node):
    """Return whether an expression is or contains an integer, other than as an index."""
    if isinstance(node, ast.Subscript):
        return has_integer(node.value)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int)
    return any(has_integer(child) for child in ast.iter_child_nodes(node))


@pytest.mark.claim("A stream ends before its counter wraps.", "Randomness")
def test_a_stream_is_exhausted_before_its_counter_wraps():
    """A stream has 2^32 AES blocks. After them the first words would be repeated."""
    assert not stream.exhausts(FIXED_KEY, 0)
    assert not stream.exhausts(FIXED_KEY, 2**32 - 1)
    assert stream.exhausts(FIXED_KEY, 2**32)


@each("size", [0, 16, 31, 33, 64])
def test_a_key_has_32_bytes(size):
    with pytest.raises(ValueError, match=r"^a key has 32 bytes$"):
        stream.Stream(bytes(size))
    with pytest.raises(ValueError, match=r"^a key has 32 bytes$"):
        stream.raw(bytes(size), 0, 0, np.zeros(256, np.uint32))


# Stream ---------------------------------------------------------------------------------------------------------------


@pytest.mark.claim("No block of random words is used twice.", "Randomness")
@given(st.lists(st.integers(0, 2**40) | st.integers(0, 5), max_size=50))
def test_take_never_returns_a_block_twice(takes):
    source, end = stream.Stream(FIXED_KEY), 0
    for blocks in takes:
        first = source.take(blocks)
        assert first == end
        end = first + blocks


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_take_raises_when_the_blocks_are_used_up(first, second):
    source = stream.Stream(FIXED_KEY)
    assert source.take(first) == 0
    if first + second < 2**64:
        assert source.take(second) == first
    else:
        with pytest.raises(OverflowError, match=r"^the record blocks of this key are used up$"):
            source.take(second)
        assert source.take(0) == first


@pytest.mark.parametrize("blocks, message", [(-1, "negative value"), (2**64, "too large to convert")])
def test_take_refuses_impossible_numbers_of_blocks(blocks, message):
    with pytest.raises(OverflowError, match=message):
        stream.Stream(FIXED_KEY).take(blocks)


@pytest.mark.claim("A key in use cannot be saved or copied.", "Randomness")
def test_a_stream_cannot_be_pickled_or_copied():
    """A key on a disk is not secret, and a key in two workers is used twice."""
    source = stream.Stream()
    for duplicate in (copy.copy, copy.deepcopy, *(lambda s, p=p: pickle.dumps(s, p) for p in range(6))):
        with pytest.raises(TypeError, match=r"^a stream holds a secret key and cannot be pickled or copied$"):
            duplicate(source)


def test_the_buffer_of_a_stream_is_its_key_and_read_only():
    view = memoryview(stream.Stream(FIXED_KEY))
    assert view.readonly
    assert view.nbytes == 32
    assert bytes(view) == FIXED_KEY


def test_the_repr_of_a_stream_does_not_contain_the_key():
    source = stream.Stream(FIXED_KEY)
    for text in (repr(source), str(source)):
        assert "\\x01" not in text
        assert "0102" not in text
    assert not hasattr(source, "__dict__")
    assert not [name for name in dir(source) if "key" in name]
