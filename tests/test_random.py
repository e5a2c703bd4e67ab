"""The argument `rng`, the randomness of objects with state, and words for mechanisms in Python."""

from __future__ import annotations

import copy
import os
import pickle

import numpy as np
import pytest

import ldpfast as ldp

from .support import reference
from .support.cases import each
from .support.internals.kernels import StreamId, stream
from .support.internals.shared import Randomness, Words, open_stream
from .support.keys import KEY, key_of_seed, rng_name
from .support.process import run_python


def key_of(source):
    return bytes(memoryview(source))


# rng ------------------------------------------------------------------------------------------------------------------


@each("seed", [0, 1, 20240611, 2**64 - 1, 2**64, 2**200])
def test_an_int_stands_for_its_seed_sequence(seed):
    expected = key_of_seed(seed)
    assert key_of(open_stream(seed)) == expected
    assert key_of(open_stream(np.random.SeedSequence(seed))) == expected
    assert len(expected) == 32


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint8, np.uint64])
def test_numpy_integers_are_seeds(kind):
    assert key_of(open_stream(kind(100))) == key_of(open_stream(100))


def test_a_seed_sequence_is_not_changed():
    sequence = np.random.SeedSequence(3, spawn_key=(1,))
    assert key_of(open_stream(sequence)) == key_of(open_stream(sequence)) != key_of(open_stream(3))
    assert sequence.n_children_spawned == 0


@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.Philox, np.random.MT19937, np.random.SFC64])
def test_the_key_of_a_generator_is_its_next_32_bytes(bits):
    same = np.random.Generator(bits(5))
    generator, bit_generator = np.random.Generator(bits(5)), bits(5)
    for _ in range(3):
        expected = same.bytes(32)
        assert key_of(open_stream(generator)) == expected
        assert key_of(open_stream(bit_generator)) == expected


def test_without_rng_every_key_is_fresh():
    assert len({key_of(open_stream(None)) for _ in range(100)}) == 100
    assert len({key_of(stream.Stream()) for _ in range(100)}) == 100


@pytest.mark.claim("A seeded global generator does not make reports predictable.", "Randomness")
def test_fresh_keys_do_not_depend_on_the_global_generator():
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


def first_stream(randomness: Randomness, rng):
    """Return the stream of a first call, which succeeds."""
    opened = randomness.stream(rng)
    randomness.keep(rng, opened)
    return opened


@pytest.mark.claim("Every call has a fresh key.", "Randomness")
def test_without_rng_every_call_has_a_fresh_stream():
    randomness = Randomness()
    assert len({key_of(randomness.stream(None)) for _ in range(100)}) == 100


@pytest.mark.parametrize(
    "mechanism, x",
    [(ldp.L2Ball(64, 1.0), np.zeros(64)), (ldp.UnaryEncoding(128, 0.1), 3)],
)
def test_without_rng_every_single_record_has_a_fresh_key(mechanism, x):
    assert len({mechanism.privatize(x).tobytes() for _ in range(200)}) == 200


@pytest.mark.parametrize(
    "rng", [7, np.random.SeedSequence(7), np.random.default_rng(7), np.random.PCG64(7)], ids=rng_name
)
def test_one_key_is_used_from_the_first_call_on(rng):
    """A generator is used only once, because its next key would differ."""
    randomness = Randomness()
    randomness.stream(None)
    first = first_stream(randomness, rng)
    assert first.take(3) == 0
    assert randomness.stream(rng) is first
    assert randomness.stream(rng).take(1) == 3


@each("other", [None, 8, -7, 7.0, np.random.SeedSequence(7), np.random.default_rng(7)], ids=rng_name)
def test_another_rng_is_rejected(other):
    for rng in (7, np.random.default_rng(7)):
        randomness = Randomness()
        stream_ = first_stream(randomness, rng)
        with pytest.raises(ValueError, match=r"^rng must stay what it was when it was first given to this object$"):
            randomness.stream(other)
        assert randomness.stream(rng) is stream_


def test_equal_ints_are_the_same_rng():
    randomness = Randomness()
    assert first_stream(randomness, 2**80) is randomness.stream(int("1" + "0" * 80, 2))


def test_equal_numpy_integers_are_the_same_rng():
    randomness = Randomness()
    assert first_stream(randomness, np.int64(7)) is randomness.stream(np.int64(7))


def test_a_rejected_rng_is_not_kept():
    randomness = Randomness()
    for wrong in (-1, 1.5, "7", True):
        with pytest.raises((TypeError, ValueError), match=r"^rng must be "):
            randomness.stream(wrong)
    assert key_of(randomness.stream(7)) == key_of(open_stream(7))


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))])
def test_a_copy_continues_with_the_blocks_of_a_seed(duplicate):
    randomness = Randomness()
    first_stream(randomness, 7).take(5)
    other = duplicate(randomness)
    assert key_of(other.stream(7)) == key_of(open_stream(7))
    assert other.stream(7).take(1) == randomness.stream(7).take(1) == 5
    assert other.stream(7) is not randomness.stream(7)


@pytest.mark.parametrize("rng", [None, np.random.default_rng(7), np.random.PCG64(7)], ids=rng_name)
def test_a_copy_never_contains_a_key_that_cannot_be_derived_again(rng):
    randomness = Randomness()
    key = key_of(first_stream(randomness, rng))
    data = pickle.dumps(randomness)
    assert key not in data
    assert key_of(pickle.loads(data).stream(rng)) != key


# Words for Python -----------------------------------------------------------------------------------------------------


def test_words_of_a_block_are_those_of_the_stream_in_order():
    expected = reference.Words(KEY, StreamId.PYTHON, 3).take(1000, "<u8")
    words = Words(stream.Stream(KEY), 3)
    for start, stop in ((0, 1), (1, 1), (1, 128), (128, 300), (300, 1000)):
        np.testing.assert_array_equal(words.uint64(stop - start), expected[start:stop])


def test_words_of_a_block_do_not_change_the_blocks_of_the_stream():
    source = stream.Stream(KEY)
    source.take(5)
    Words(source, 0).uint64(10)
    assert source.take(1) == 5


@each("bound", [1, 2, 3, 1000, 1 << 32, (1 << 63) + 1, (1 << 64) - 1, 1 << 64])
def test_below_rejects_words_beyond_the_last_whole_interval(bound):
    """Rejected words are replaced by the next words of the block, in order, until none is rejected."""
    whole = (1 << 64) // bound * bound
    source = map(int, reference.Words(KEY, StreamId.PYTHON, 0).take(2000, "<u8"))
    expected = [next(source) for _ in range(300)]
    while rejected := [i for i, word in enumerate(expected) if word >= whole]:
        for i in rejected:
            expected[i] = next(source)
    words = Words(stream.Stream(KEY), 0)
    assert words.below(bound, 300).tolist() == [word % bound for word in expected]
    assert words.uint64(1).tolist() == [next(source)]


@pytest.mark.parametrize("bound", [3, 10, (1 << 63) + 1, (1 << 64) - 1])
def test_below_takes_the_last_word_of_a_whole_interval_and_none_beyond(bound, monkeypatch):
    last = (1 << 64) // bound * bound - 1
    drawn = iter([[last, last + 1, 0], [1]])
    words = Words(stream.Stream(KEY), 0)
    monkeypatch.setattr(words, "uint64", lambda n: np.array(next(drawn), np.uint64))
    assert words.below(bound, 3).tolist() == [bound - 1, 1, 0]


@pytest.mark.claim("A generator that a forked process shares with its parent is refused.", "Randomness")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_generator_is_refused_after_a_fork():
    """Both processes would use the same random numbers. An int is the same stream by request."""
    script = """
import os, numpy as np
from ldpfast.estimation import MedianSGD
def answer(server, rng):
    try:
        return server.run(np.zeros(10), rng=rng).n
    except ValueError as error:
        return str(error)
import warnings
warnings.simplefilter("ignore")
for rng in (np.random.default_rng(1), 7):
    server = MedianSGD(1.0, lower=-1, upper=1)
    answer(server, rng)
    child = os.fork()
    if child == 0:
        print(answer(server, rng), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
    print(answer(server, rng), flush=True)
"""
    assert run_python(script).stdout.splitlines() == [
        "rng must be None, an int or a SeedSequence in a forked process, got a generator",
        "20",
        "20",
        "20",
    ]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_pieces_of_a_survey_that_are_made_after_a_fork_share_no_coins():
    """With the same coins, the reports of two processes for different records would show the difference of the records."""
    script = """
import os, sys, numpy as np, pyarrow as pa
from ldpfast._frames import _pieces
from ldpfast.survey import Choice, Survey
_pieces.PIECE_ROWS = 1 << 13
survey = Survey({"q": Choice(64)}, 0.1)
batch = pa.record_batch({"q": pa.array(np.zeros(1 << 13, np.int64))})
for rng in (None, np.random.default_rng(1), 7):
    pieces = survey.privatize_pieces(pa.RecordBatchReader.from_batches(batch.schema, [batch] * 3), rng=rng)
    next(pieces), next(pieces)
    child = os.fork()
    if child:
        os.waitpid(child, 0)
    try:
        print(next(pieces)["q"].combine_chunks().buffers()[1].to_pybytes()[:800].hex(), flush=True)
    except ValueError as error:
        print(error, flush=True)
    if child == 0:
        os._exit(0)
"""
    fresh, other, refused, _, first, second = run_python(script).stdout.splitlines()
    assert fresh != other
    assert refused == "rng must be None, an int or a SeedSequence in a forked process, got a generator"
    assert first == second
