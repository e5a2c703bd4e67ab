"""Properties of all mechanisms, checked on the list of examples."""

from __future__ import annotations

import copy
import itertools
import json
import math
import pickle
import warnings
from decimal import Decimal

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import mechanisms
from ldpfast.domains import Ball, Categories, Interval
from ldpfast.estimation import SeriesDensity, VectorMean
from ldpfast.mechanisms import _single
from ldpfast.mechanisms._likelihood_question import Examples
from ldpfast.reports import SampledSigns

from ..cards import CARDS, KINDS, MECHANISMS, card_of
from ..support.cases import each, each_example, each_kind
from ..support.examples import Example, assert_same, assert_same_estimate, mean_of_decoded, records_of
from ..support.internals import kernels
from ..support.internals.kernels import Stream
from ..support.internals.mechanisms import record_recipe
from ..support.internals.shared import thread_pool
from ..support.keys import KEY, SEED
from ..support.statistics import ALPHA, assert_counts

FAR_ROWS = [  # kernels of vectors with a Euclidean norm
    ldp.L2Ball(3, 1.0),
    ldp.LaplaceVector(3, 20.0, radius=1e18, norm="l2"),
    ldp.LaplaceVector(3, 20.0, radius=0.9, norm="l2"),
    ldp.RankCodebook(3, 4.0),
    ldp.RankedSigns(3, 4.0, radius=0.9),
    ldp.RotatedSigns(3, 4.0, rotation=7),
]
CATEGORIES = [mechanism for mechanism in MECHANISMS if isinstance(mechanism.domain, Categories)]
NUMBERS = [m for m in MECHANISMS if m.domain.clips and not m.domain.reads_columns]  # and vectors


def report_shape(mechanism, n):
    return (n, *card_of(mechanism).report_shape(mechanism))


def decoded_shape(mechanism, n):
    return (n, *card_of(mechanism).decoded_shape(mechanism))


def assert_reports_equal_to(mechanism, expected, x, **options):
    assert_same(mechanism.privatize(x, rng=5, **options), expected)


# Shapes and dtypes ----------------------------------------------------------------------------------------------------


@each_example
def test_reports_have_the_documented_shape_and_dtype(example, mechanism, records):
    reports = mechanism.privatize(records)
    assert reports.shape == report_shape(mechanism, len(records))
    assert reports.dtype == card_of(mechanism).report_dtype(mechanism, np.dtype(example.dtype))
    assert reports.flags.c_contiguous


@each_example
def test_decoded_reports_have_one_row_per_record(mechanism, records):
    reports = mechanism.privatize(records)
    decoded = mechanism.decode(reports)
    assert decoded.shape == decoded_shape(mechanism, len(records))
    assert decoded.dtype == (np.float32 if reports.dtype == np.float32 else np.float64)
    assert np.isfinite(decoded).all()


@each_example
def test_variance_has_the_shape_of_the_decoded_reports(mechanism, records):
    variance = mechanism.variance(records)
    assert variance.shape == decoded_shape(mechanism, len(records))
    assert variance.dtype == np.float64
    assert (variance > 0).all()


@each_example
def test_a_single_record_has_one_dimension_less(mechanism, records):
    """All results equal those of a batch of one."""
    report, batch = mechanism.privatize(records[0], rng=5), mechanism.privatize(records[:1], rng=5)
    assert report.shape == report_shape(mechanism, 1)[1:]
    assert_same(report, batch[0])
    assert_same(mechanism.decode(report), mechanism.decode(batch)[0])
    assert_same(mechanism.variance(records[0]), mechanism.variance(records[:1])[0])
    assert_same_estimate(mechanism.estimate(report), mechanism.estimate(batch))
    assert_same_estimate(mechanism.run(records[0], rng=5), mechanism.estimate(batch))


@each_example
def test_no_records_give_no_reports(mechanism, records):
    reports = mechanism.privatize(records[:0])
    assert reports.shape == report_shape(mechanism, 0)
    assert mechanism.decode(reports).shape == decoded_shape(mechanism, 0)
    assert mechanism.variance(records[:0]).shape == decoded_shape(mechanism, 0)
    assert mechanism.aggregator().update(reports).n == 0


@each_example
def test_no_records_give_no_estimate(mechanism, records):
    with pytest.raises(ValueError, match=r"^an estimate needs at least 1 report, got n = 0$"):
        mechanism.run(records[:0])


@each_example
def test_collect_counts_the_reports(mechanism, records):
    expected = mechanism.aggregator().update(mechanism.privatize(records, rng=5))
    assert mechanism.collect(records, rng=5) == expected
    assert mechanism.collect(records[:0], rng=5) == mechanism.aggregator()
    keys = ldp.PersonKeys(bytes(32), np.arange(len(records)), question="q")
    assert mechanism.collect(records, rng=keys) == mechanism.aggregator().update(mechanism.privatize(records, rng=keys))


@pytest.mark.claim("All reports of a mechanism have the same length, `report_bytes`.", "Privacy of reports")
@each_example
def test_report_bytes_is_the_size_of_a_report(example, mechanism, records):
    reports = mechanism.privatize(records.astype(np.float64) if records.dtype.kind == "f" else records)
    assert mechanism.report_bytes * len(records) == reports.nbytes


# Forms of input -------------------------------------------------------------------------------------------------------


def forms(x):
    """Yield the same records in different memory layouts."""
    spaced = np.zeros((2 * len(x), *x.shape[1:]), x.dtype)
    spaced[::2] = x
    wide = np.zeros((*x.shape, 3), x.dtype)
    wide[..., 1] = x
    read_only = x.copy()
    read_only.flags.writeable = False
    unaligned = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(x.dtype).reshape(x.shape)
    yield "every other row", spaced[::2]
    yield "one field of several", wide[..., 1]
    yield "negative strides", np.ascontiguousarray(np.flip(x))[(slice(None, None, -1),) * x.ndim]
    yield "Fortran order", np.asfortranarray(x)
    yield "big-endian", x.astype(x.dtype.newbyteorder(">"))
    yield "read-only", read_only
    yield "unaligned", unaligned


@each_example
def test_the_layout_of_the_input_does_not_matter(mechanism, records):
    expected, variance = mechanism.privatize(records, rng=5), mechanism.variance(records)
    estimate = mechanism.run(records, rng=5)
    for name, x in forms(records):
        np.testing.assert_array_equal(x, records, err_msg=name)
        assert_reports_equal_to(mechanism, expected, x)
        assert_same(mechanism.variance(x), variance)
        assert_same_estimate(mechanism.run(x, rng=5), estimate)


@each_example
def test_calls_do_not_change_the_records(mechanism, records):
    for _, x in forms(records):
        before = x.tobytes()
        mechanism.privatize(x)
        mechanism.run(x)
        mechanism.variance(x)
        assert x.tobytes() == before


@each("mechanism", CATEGORIES, ids=repr)
@each("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", ">i4"])
def test_categories_may_have_any_integer_dtype(mechanism, dtype):
    x = np.minimum(records_of(mechanism, 50), 127)
    expected = mechanism.privatize(x, rng=5)
    assert_reports_equal_to(mechanism, expected, x.astype(dtype))
    assert_same_estimate(mechanism.run(x.astype(dtype), rng=5), mechanism.estimate(expected))


@each("mechanism", CATEGORIES, ids=repr)
def test_categories_may_be_lists_and_python_integers(mechanism):
    x = records_of(mechanism, 9)
    assert_reports_equal_to(mechanism, mechanism.privatize(x, rng=5), x.tolist())
    assert_reports_equal_to(mechanism, mechanism.privatize(x[0], rng=5), int(x[0]))
    assert mechanism.privatize([]).shape[0] == 0


def test_binary_records_may_be_booleans():
    x = np.arange(100) % 3 == 0
    mechanism = ldp.Warner(1.0)
    expected = mechanism.privatize(x.astype(np.uint8), rng=5)
    assert_reports_equal_to(mechanism, expected, x)
    assert_reports_equal_to(mechanism, expected, x.tolist())
    assert mechanism.privatize(True) in (0, 1)


@each("mechanism", NUMBERS, ids=repr)
def test_half_precision_is_taken_as_float32_and_integers_as_float64(mechanism):
    halves = records_of(mechanism, 9).astype(np.float16)
    assert_reports_equal_to(
        mechanism, mechanism.privatize(halves.astype(np.float32), rng=5, clip=True), halves, clip=True
    )
    integers = halves.astype(np.int32)
    assert_reports_equal_to(
        mechanism, mechanism.privatize(integers.astype(np.float64), rng=5, clip=True), integers, clip=True
    )


@each("mechanism", NUMBERS, ids=repr)
def test_lists_of_numbers_are_float64(mechanism):
    x = records_of(mechanism, 3)
    assert_reports_equal_to(mechanism, mechanism.privatize(x, rng=5), x.tolist())


# out= -----------------------------------------------------------------------------------------------------------------


def outputs(reports):
    """Yield arrays of the shape and dtype of `reports` in different memory layouts."""
    spaced = np.zeros((2 * len(reports), *reports.shape[1:]), reports.dtype)
    yield np.zeros_like(reports)
    yield spaced[::2]
    yield np.zeros_like(reports)[(slice(None, None, -1),) * reports.ndim]
    yield np.zeros_like(reports, order="F")


@each_example
def test_out_is_filled_and_returned(mechanism, records):
    expected = mechanism.privatize(records, rng=5)
    for out in outputs(expected):
        assert mechanism.privatize(records, rng=5, out=out) is out
        np.testing.assert_array_equal(out, expected)


@each_example
def test_memory_around_out_is_not_changed(mechanism, records):
    expected = mechanism.privatize(records, rng=5)
    around = np.full((2 * len(records), *expected.shape[1:]), 77, expected.dtype)
    mechanism.privatize(records, rng=5, out=around[::2])
    assert (around[1::2] == 77).all()
    around[...] = 77
    mechanism.privatize(records, rng=5, out=around[3 : 3 + len(records)])
    assert (around[:3] == 77).all()
    assert (around[3 + len(records) :] == 77).all()


def test_out_may_be_a_memory_map(kind, tmp_path):
    x = kind.records(50)
    expected = kind.mechanism.privatize(x, rng=5)
    out = np.lib.format.open_memmap(tmp_path / "reports.npy", "w+", expected.dtype, expected.shape)
    assert kind.mechanism.privatize(x, rng=5, out=out) is out
    out.flush()
    assert_same(np.load(tmp_path / "reports.npy"), expected)


@each_example
def test_out_may_hold_a_single_report(mechanism, records):
    expected = mechanism.privatize(records[0], rng=5)
    out = np.zeros(expected.shape, expected.dtype)
    assert mechanism.privatize(records[0], rng=5, out=out) is out
    assert_same(out, expected)


@each("mechanism", [m for m in MECHANISMS if card_of(m).in_place(m)], ids=repr)
def test_out_may_be_the_records_themselves(mechanism):
    """Reports must not overwrite records that have not been read yet."""
    x = records_of(mechanism, 50)
    expected = mechanism.privatize(x, rng=5)
    assert_same(mechanism.privatize(x, rng=5, out=x), expected)


@each_example
def test_out_may_overlap_the_records(mechanism, records):
    expected = mechanism.privatize(records, rng=5)
    memory = np.zeros(records.nbytes + expected.nbytes + 8, np.uint8)
    for shift in (0, 8):
        x = memory[shift : shift + records.nbytes].view(records.dtype).reshape(records.shape)
        x[...] = records
        out = memory[: expected.nbytes].view(expected.dtype).reshape(expected.shape)
        assert_same(mechanism.privatize(x, rng=5, out=out), expected)


@each_example
def test_a_wrong_out_is_rejected_and_not_changed(mechanism, records):
    good = mechanism.privatize(records)
    read_only = np.zeros_like(good)
    read_only.flags.writeable = False
    wrong = [
        np.zeros(good.shape, np.complex64),
        np.zeros(good.shape, np.int8),
        np.zeros((len(good) + 1, *good.shape[1:]), good.dtype),
        np.zeros((*good.shape, 1), good.dtype),
        read_only,
    ]
    if good.dtype.itemsize > 1:
        wrong.append(np.zeros(good.shape, good.dtype.newbyteorder(">")))
    for out in wrong:
        with pytest.raises(ValueError, match=r"^out must "):
            mechanism.privatize(records, out=out)
        assert not out.any()


# Identity -------------------------------------------------------------------------------------------------------------


def test_mechanisms_with_different_parameters_differ():
    for a, b in itertools.combinations(MECHANISMS, 2):
        assert a != b
    assert len(set(MECHANISMS)) == len(MECHANISMS)
    assert ldp.Warner(1.0) != 1.0


def assert_equal_copy(mechanism, other):
    """Check that two mechanisms are equal and have the same coins."""
    assert type(other) is type(mechanism)
    assert other == mechanism
    assert hash(other) == hash(mechanism)
    assert other.epsilon_realized == mechanism.epsilon_realized
    x = records_of(mechanism, 5)
    assert_same(other.privatize(x, rng=5), mechanism.privatize(x, rng=5))


@each("mechanism", MECHANISMS, ids=repr)
def test_the_repr_can_be_evaluated(mechanism):
    names = {card.mechanism.__name__: card.mechanism for card in CARDS.values()}
    assert_equal_copy(mechanism, eval(repr(mechanism), {"__builtins__": {}, **names}))


@each("mechanism", MECHANISMS, ids=repr)
def test_json_pickle_and_copy_give_equal_mechanisms(mechanism):
    assert_equal_copy(mechanism, ldp.Mechanism.from_dict(mechanism.to_dict()))
    assert_equal_copy(mechanism, ldp.Mechanism.from_dict(json.loads(json.dumps(mechanism.to_dict()))))
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert_equal_copy(mechanism, pickle.loads(pickle.dumps(mechanism, protocol)))
    assert_equal_copy(mechanism, copy.copy(mechanism))
    assert_equal_copy(mechanism, copy.deepcopy(mechanism))


@pytest.mark.claim("Mechanisms are immutable.", "Privacy of reports")
@each("mechanism", MECHANISMS, ids=repr)
def test_mechanisms_are_frozen(mechanism):
    """Otherwise epsilon could change while the coins stay the same."""
    for name in (*mechanism.to_dict(), "epsilon_realized", "new"):
        with pytest.raises(AttributeError):
            setattr(mechanism, name, 2)
        with pytest.raises(AttributeError):
            delattr(mechanism, name)


def test_parameters_are_stored_as_plain_numbers():
    numpy_made = ldp.LinfBall(np.int64(3), np.float32(0.5), radius=np.float64(2), ties=np.str_("keep"))
    assert numpy_made == ldp.LinfBall(3, 0.5, radius=2.0)
    assert repr(numpy_made) == "LinfBall(dim=3, epsilon=0.5, radius=2.0, ties='keep')"
    assert json.loads(json.dumps(numpy_made.to_dict())) == numpy_made.to_dict()
    assert ldp.Bins(np.array([1, 2]), 1) == ldp.Bins([1.0, 2.0], 1.0) == ldp.Bins((1, 2), epsilon=1)
    assert ldp.Bins(3, 1) == ldp.Bins([3.0], 1.0)


def test_parameters_of_a_gradient_are_stored_as_plain_numbers():
    family, norm, noise = map(np.str_, ("linear", "linf", "laplace"))
    made = mechanisms.Gradient(
        family,
        np.zeros(2),
        np.float32(1),
        norm=norm,
        radius=np.float32(2),
        column=np.int8(1),
        residual=np.float32(3),
        noise=noise,
    )
    expected = mechanisms.Gradient(
        "linear", (0.0, 0.0), 1.0, norm="linf", radius=2.0, column=1.0, residual=3.0, noise="laplace"
    )
    assert made == expected
    assert repr(made) == repr(expected)
    assert json.dumps(made.to_dict()) == json.dumps(expected.to_dict())


@pytest.mark.claim("`epsilon_realized` of a mechanism is never above `epsilon`.", "Privacy of reports")
@each("mechanism", MECHANISMS, ids=repr)
def test_the_guarantee_is_the_realized_epsilon(mechanism):
    assert 0 < mechanism.epsilon_realized <= mechanism.epsilon
    assert mechanism.epsilon_realized > mechanism.epsilon * (1 - 1e-4)
    ideal = isinstance(mechanism, ldp.PrivUnit)
    assert mechanism.guarantee == ldp.privacy.Guarantee("local", mechanism.epsilon_realized, ideal=ideal)


@each("mechanism", MECHANISMS, ids=repr)
def test_a_channel_has_the_realized_epsilon_or_is_too_large(mechanism):
    if np.prod(decoded_shape(mechanism, 1)) <= card_of(mechanism).enumerated_up_to:
        assert mechanism.channel().epsilon() == mechanism.epsilon_realized
    else:
        with pytest.raises(ValueError, match=r"has too many reports to enumerate$"):
            mechanism.channel()


# Randomness -----------------------------------------------------------------------------------------------------------


@pytest.mark.claim(
    "The same seed gives the same reports, and no seed gives other reports in every call.", "Reproducibility"
)
@each_example
def test_the_same_seed_gives_the_same_reports_and_another_seed_others(example, mechanism):
    """For every example, the 2000 reports of two keys are all equal with probability below 0.9^2000."""
    x = example.records(max(20, 2000 // getattr(mechanism, "dim", 1)))
    reports = mechanism.privatize(x, rng=1)
    assert_same(mechanism.privatize(x, rng=1), reports)
    assert mechanism.privatize(x, rng=2).tobytes() != reports.tobytes()
    assert mechanism.privatize(x).tobytes() != mechanism.privatize(x).tobytes()


@each_kind
def test_seeds_are_seed_sequences(kind):
    x = kind.records(20)
    expected = kind.mechanism.privatize(x, rng=7)
    for rng in (np.random.SeedSequence(7), np.int32(7), np.uint64(7)):
        assert_same(kind.mechanism.privatize(x, rng=rng), expected)


@each("call", ["privatize", "run"])
@each_kind
def test_a_generator_is_advanced_by_32_bytes(kind, call):
    for wrap in (np.random.Generator, lambda bits: bits):
        used, same = np.random.PCG64(3), np.random.Generator(np.random.PCG64(3))
        getattr(kind.mechanism, call)(kind.records(20), rng=wrap(used))
        same.bytes(32)
        assert np.random.Generator(used).bytes(64) == same.bytes(64)


@each_kind
def test_a_generator_gives_other_reports_on_the_next_call(kind):
    x, rng = kind.records(2000), np.random.default_rng(3)
    assert kind.mechanism.privatize(x, rng=rng).tobytes() != kind.mechanism.privatize(x, rng=rng).tobytes()


FLIPS = {name: (card.mechanism, flip) for card in CARDS.values() for name, flip in card.flips.items()}
PAIRS = [(a, b) for a, b in itertools.combinations(FLIPS, 2) if FLIPS[a][0] is not FLIPS[b][0]]


@pytest.mark.claim("Two mechanisms with one seed share no coin.", "Randomness")
@each("pair", PAIRS, ids="-".join)
def test_two_mechanisms_with_one_seed_share_no_coin(pair):
    """Independent reports at epsilon = 1 agree with probability p^2 + q^2; with shared coins nearly all would agree.

    Detects a shift of 6 percentage points.
    """
    n = 4096
    a, b = (np.ravel(FLIPS[name][1](n)).astype(bool) for name in pair)
    p = math.e / (1 + math.e)
    expected = [p**2 + (1 - p) ** 2, 1 - p, 1 - p]
    assert_counts([(a == b).sum(), a.sum(), b.sum()], n, expected, detects=0.06)


# run, threads, instruction sets ---------------------------------------------------------------------------------------


@pytest.mark.claim("`run(x)` equals `estimate(privatize(x))`, bit for bit.", "Reproducibility")
@each_example
def test_run_equals_estimate_of_privatize_over_many_pieces(example, mechanism, monkeypatch):
    """Each piece of `run` continues with the next record block of the key."""
    monkeypatch.setattr(record_recipe, "PIECE_BYTES", 1)
    x = example.records(example.blocks(3))
    assert_same_estimate(mechanism.run(x, rng=5), mechanism.estimate(mechanism.privatize(x, rng=5)))


@each_example
def test_run_equals_estimate_of_privatize_over_many_blocks(example, mechanism):
    x = example.records(example.blocks(9))
    assert_same_estimate(mechanism.run(x, rng=5), mechanism.estimate(mechanism.privatize(x, rng=5)))


LARGE = [Example(ldp.Warner(1.0)), Example(ldp.Laplace(0.0, 1.0, 1.0)), Example(ldp.LinfBall(64, 1.0), "float32")]
LARGE += [Example(ldp.L2Ball(100, 1.0), "float32"), Example(ldp.UnaryEncoding(13, 1.0))]


@pytest.mark.parametrize("example", LARGE, ids=str)
def test_run_reads_memory_maps_of_several_pieces(example, mechanism, tmp_path):
    row = example.records(1).nbytes
    x = example.records(int(2.7 * 2**20) // row)
    assert x.nbytes > 2 * record_recipe.PIECE_BYTES
    np.save(tmp_path / "x.npy", x)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    expected = mechanism.estimate(mechanism.privatize(x, rng=5))
    assert_same_estimate(mechanism.run(mapped, rng=5), expected)
    assert_same_estimate(mechanism.run(x, rng=5), expected)
    assert_same(mechanism.privatize(mapped[:1000], rng=5), mechanism.privatize(x[:1000], rng=5))


@pytest.mark.parametrize("example", LARGE, ids=str)
def test_run_reads_memory_maps_of_any_layout(example, mechanism, tmp_path):
    x = example.records(3000)
    spaced = np.repeat(x.astype(x.dtype.newbyteorder(">")), 2, axis=0)
    spaced.tofile(tmp_path / "x.bin")
    mapped = np.memmap(tmp_path / "x.bin", spaced.dtype, "r", shape=spaced.shape)[::2]
    assert_same_estimate(mechanism.run(mapped, rng=5), mechanism.run(x, rng=5))


@pytest.mark.claim("Reports are the same, bit for bit, with any number of threads.", "Reproducibility")
@each_example
def test_the_number_of_threads_and_of_pieces_changes_nothing(example, mechanism, threads, monkeypatch):
    monkeypatch.setattr(record_recipe, "PIECE_BYTES", 1)
    x = example.records(example.blocks(7))
    reports, estimate = mechanism.privatize(x, rng=5), mechanism.run(x, rng=5)
    aggregated = mechanism.aggregator().update(reports).to_bytes()
    monkeypatch.setattr(thread_pool, "_threads", 1)
    assert_same(reports, mechanism.privatize(x, rng=5))
    monkeypatch.setattr(thread_pool, "SMALL", 1 << 62)  # all records in one piece
    assert_same(reports, mechanism.privatize(x, rng=5))
    assert_same_estimate(estimate, mechanism.estimate(reports))
    assert aggregated == mechanism.aggregator().update(reports).to_bytes()


@pytest.mark.claim("Reports are the same, bit for bit, on every instruction set.", "Reproducibility")
@pytest.mark.parametrize("isa", [isa for isa in kernels.isas() if isa != "plain"], indirect=True)
@each_example
def test_the_instruction_set_changes_nothing(example, mechanism, isa):
    """Each set has the reports of "plain". The sizes are not multiples of the width of a vector."""
    x = example.records(min(example.blocks(2), 20_001))
    reports, estimate = mechanism.privatize(x, rng=5), mechanism.run(x, rng=5)
    assert kernels.isa() == isa
    kernels.set_isa("plain")
    assert_same(reports, mechanism.privatize(x, rng=5))
    assert_same_estimate(estimate, mechanism.run(x, rng=5))
    assert_same_estimate(estimate, mechanism.estimate(reports))


@each_example
def test_the_estimate_is_the_mean_of_the_decoded_reports(example, mechanism):
    """Reports of vectors are rounded to multiples of a step of at most bound 2^-30, so the mean has an error of half a step."""
    x = example.records(60)
    reports = mechanism.privatize(x, rng=5)
    decoded = mechanism.decode(reports)
    step = getattr(mechanism.report, "bound", 0.0) * 2.0**-30
    tolerance = step + 1e-12 * (1 + np.abs(decoded).max())
    expected = mean_of_decoded(mechanism, decoded)
    np.testing.assert_allclose(mechanism.estimate(reports).value, expected, rtol=0, atol=tolerance)


@each_example
def test_the_value_lies_in_its_interval(mechanism, records):
    report = mechanism.report
    copies = 3 if not isinstance(report, SampledSigns) else math.ceil(3 * report.dim / report.sampled)
    estimate = mechanism.run(np.concatenate([records] * copies), rng=5)
    low, high = estimate.interval()
    assert (low <= estimate.value).all() if np.ndim(low) else low <= estimate.value
    assert np.all(estimate.value <= high)
    if not isinstance(mechanism, mechanisms.SketchResponse):  # most of whose codes are in no report
        assert np.all(np.asarray(estimate.stderr) > 0)


@pytest.mark.parametrize(
    "mechanism",
    [m for m in MECHANISMS if isinstance(m, mechanisms.Gradient) and not isinstance(m.ball, ldp.L2Ball)],
    ids=repr,
)
def test_one_gradient_has_the_standard_error_of_its_ball(mechanism):
    estimate = mechanism.run(records_of(mechanism, 1), rng=5)
    assert np.isfinite(estimate.stderr).all()
    assert (estimate.stderr > 0).all()


# clip=True ------------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::ldpfast.ClippedWarning")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("mechanism", [ldp.SignBit(-1, 3, 1.0), ldp.Laplace(-1, 3, 1.0)], ids=repr)
def test_clip_projects_numbers_on_the_interval(mechanism, dtype):
    x = np.array([-np.inf, -1e30, -1.5, np.nan, 0.25, 3.5, 1e30, np.inf] * 300, dtype)
    clean = np.where(np.isnan(x), 1, np.clip(x, -1, 3)).astype(dtype)
    assert_reports_equal_to(mechanism, mechanism.privatize(clean, rng=5), x, clip=True)
    assert_same_estimate(mechanism.run(x, rng=5, clip=True), mechanism.run(clean, rng=5))


@pytest.mark.filterwarnings("ignore::ldpfast.ClippedWarning")
@each("dtype", ["float32", "float64"])
@each("ties", ["keep", "thin"])
@each("dim", [1, 8, 27, 100])
def test_clip_projects_coordinates_on_the_cube(dim, ties, dtype):
    mechanism = ldp.LinfBall(dim, 1.0, radius=2.0, ties=ties)
    x = np.resize(np.array([-np.inf, -1e30, -2.5, np.nan, 0.25, 3.5, 1e30, np.inf], dtype), (200, dim))
    clean = np.where(np.isnan(x), 0, np.clip(x, -2, 2)).astype(dtype)
    assert_reports_equal_to(mechanism, mechanism.privatize(clean, rng=5), x, clip=True)
    assert_same_estimate(mechanism.run(x, rng=5, clip=True), mechanism.run(clean, rng=5))


@pytest.mark.filterwarnings("ignore:.* had NaN:ldpfast.ClippedWarning")
@each(
    "example",
    [kind for kind in KINDS if kind.mechanism.domain.clips and not kind.mechanism.domain.reads_columns],
    ids=str,
)
def test_clipped_records_have_the_reports_of_the_nearest_valid_records(example):
    """Domain and kernel agree about the nearest record. Directions agree up to rounding of the projected rows."""
    mechanism, n = example.mechanism, 400
    x = example.records(n)
    far = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, 7.0, -7.0, -0.0], x.dtype)
    if x.ndim == 2:
        x[:, -1] = np.resize(far, n)
    else:
        x[:] = np.resize(far, n)
    nearest = mechanism.domain.clip(x)
    assert mechanism.domain.first_invalid(nearest) < 0 or isinstance(mechanism.domain, Examples)
    found, expected = mechanism.privatize(x, rng=5, clip=True), mechanism.privatize(nearest, rng=5, clip=True)
    if found.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    else:
        assert_same(found, expected)


@pytest.mark.filterwarnings("ignore::ldpfast.ClippedWarning")
@each("dtype", ["float32", "float64"])
@each("dim", [1, 2, 33])
def test_clip_projects_rows_on_the_ball(dim, dtype):
    """Powers of two keep the direction exactly, so the reports are those of the projected rows."""
    mechanism = ldp.L2Ball(dim, 1.0)
    inside = records_of(mechanism, 200, dtype=dtype)
    surface = (inside / np.linalg.norm(inside.astype(float), axis=1, keepdims=True)).astype(dtype)
    expected = mechanism.privatize(surface, rng=5, clip=True)
    for factor in (2, 1024):
        assert_reports_equal_to(mechanism, expected, surface * np.dtype(dtype).type(factor), clip=True)


@pytest.mark.filterwarnings("ignore:.* had NaN:ldpfast.ClippedWarning")
@each("dtype", ["float32", "float64"])
@each("dim", [1, 2, 33])
def test_clip_maps_rows_with_nan_to_the_center_of_the_ball(dim, dtype):
    """The report of the center has mean zero for all values of the other coordinates of the row."""
    mechanism, n = ldp.L2Ball(dim, 20.0), 20_000
    x = np.zeros((n, dim), dtype)
    x[:, 0] = 1.0
    x[:, -1] = np.nan
    shift = mechanism.decode(mechanism.privatize(x, rng=5, clip=True)).mean(axis=0)
    t = mechanism.scale * math.sqrt(2 * math.log(2 * dim / ALPHA) / n)  # Hoeffding, |report| <= scale
    assert np.abs(shift).max() < t


@pytest.mark.filterwarnings("ignore:.* had NaN:ldpfast.ClippedWarning")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_clip_accepts_infinite_and_huge_rows_of_the_ball(dtype):
    mechanism = ldp.L2Ball(3, 1.0)
    x = np.array([[np.inf, 0, 0], [-np.inf, np.inf, 1], [np.finfo(dtype).max] * 3, [np.nan] * 3] * 20, dtype)
    reports = mechanism.privatize(x, rng=5, clip=True)
    np.testing.assert_allclose(np.linalg.norm(reports, axis=1), mechanism.scale, rtol=1e-5)


@pytest.mark.claim("With clip=True a report depends on its own record alone.", "Privacy of reports")
@pytest.mark.filterwarnings("ignore:.* had NaN:ldpfast.ClippedWarning")
@each("dtype", ["float32", "float64"])
@each("mechanism", FAR_ROWS, ids=repr)
def test_a_report_of_a_far_row_does_not_depend_on_other_rows(mechanism, dtype):
    """NaN in another row changes no report, for rows of any size: their numbers are limited to 2^40 radii in every case."""
    n, radius = 64, mechanism.domain.radius
    signs = np.random.default_rng(3).choice([-1.0, 1.0], (n, mechanism.domain.dim))
    for size in (1e3, 2.0**40 * (1 - 1e-7), 2.0**40 * (1 + 1e-7), 1e13, 1e17, 1e30, 1e150):
        if size * radius > float(np.finfo(dtype).max):
            continue
        x = (signs * size * radius).astype(dtype)
        x[:, 1:] /= 50
        alone = mechanism.privatize(x, rng=SEED, clip=True)
        missing = x.copy()
        missing[-1] = np.nan
        assert_same(mechanism.privatize(missing, rng=SEED, clip=True)[:-1], alone[:-1])
        limited = np.clip(x, -(2.0**40) * radius, 2.0**40 * radius)
        assert_same(mechanism.privatize(limited, rng=SEED, clip=True), alone)


@pytest.mark.filterwarnings("ignore::ldpfast.ClippedWarning")
@pytest.mark.parametrize("norm", ["l2", "linf"])
def test_clip_projects_rows_of_the_laplace_baseline(norm):
    """At epsilon = 60 the noise is far below the effect of a missing projection.

    The variance per coordinate is at most 2 (D / epsilon)^2 with D = 4. The tails are geometric, so the mean of 400 reports
    has an error of more than 25 standard errors with probability far below ALPHA.
    """
    mechanism, n = ldp.LaplaceVector(2, 60.0, radius=1.0, norm=norm), 400
    for row in ([3.0, 0.3], [-5.0, np.nan], [np.inf, 0.0], [0.0, -1e30], [np.nan, np.nan]):
        filled = np.clip(np.nan_to_num(row, nan=0.0, posinf=1e30, neginf=-1e30), -1e30, 1e30)
        if norm == "linf":
            expected = np.clip(filled, -1, 1)
        elif np.isnan(row).any():
            continue  # the center of the row and that of the coordinate are both allowed
        else:
            expected = filled / max(1.0, np.linalg.norm(filled))
        value = mechanism.run(np.tile(row, (n, 1)), rng=5, clip=True).value
        np.testing.assert_allclose(value, expected, rtol=0, atol=25 * math.sqrt(2) * 4 / 60 / math.sqrt(n))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_clip_maps_nan_and_infinities_to_the_documented_symbols(dtype):
    bins = ldp.Bins([-1.0, 0.0, 1.0], 1.0)
    x = np.array([np.nan, -np.inf, np.inf] * 100, dtype)
    clean = np.array([-5, -5, 5] * 100, dtype)
    assert_reports_equal_to(bins, bins.privatize(clean, rng=5), x, clip=True)
    residue = ldp.Residue(1.0, 0.0, 3, 1.0)
    far = [0.0, float(-(2**51) % 3), float(2**51 % 3)]  # cells beyond 2^51 count as cell 2^51
    assert_reports_equal_to(residue, residue.privatize(np.array(far * 100, dtype), rng=5), x, clip=True)


@pytest.mark.filterwarnings("ignore::ldpfast.ClippedWarning")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "mechanism",
    [ldp.Residue(1e37, 0.0, 100, 9.0), ldp.Residue(1e300, 0.0, 7, 9.0), ldp.Bins([-1e305, -1e50, 0, 1e50, 1e305], 9.0)],
    ids=repr,
)
def test_infinities_count_as_the_largest_numbers_of_the_dtype(mechanism, dtype):
    x = np.array([-np.inf, np.inf] * 100, dtype)
    largest = np.nan_to_num(x)
    assert_reports_equal_to(mechanism, mechanism.privatize(largest, rng=5), x, clip=True)


@each("mechanism", MECHANISMS, ids=repr)
def test_a_single_record_without_rng_takes_a_short_path_to_the_same_report(mechanism, monkeypatch):
    """With the key of the seed in place of a fresh one, in the forms that have the short path and in those that do not."""
    record = records_of(mechanism, 1)[0]
    expected = mechanism.privatize(record, rng=SEED)
    monkeypatch.setattr(_single, "FRESH", Stream(KEY))
    monkeypatch.setattr(record_recipe, "open_stream", lambda rng: Stream(KEY))
    plain = record.tolist()
    for form in (record, plain, np.array(plain, record.dtype)):
        for clip in (False, True) if mechanism.domain.clips else (False,):
            made = mechanism.privatize(form, clip=clip)
            assert type(made) is type(expected)
            assert_same(np.asarray(made), np.asarray(expected))


SCALARS = [
    mechanism
    for mechanism in MECHANISMS
    if mechanism.domain.width is None
    and card_of(mechanism).kernel
    and not card_of(mechanism).inner  # clients do not call these for one record
    and mechanism.domain.first_invalid(np.array([1])) < 0
]


@each("mechanism", SCALARS, ids=repr)
def test_scalars_of_every_type_take_the_short_path(mechanism, monkeypatch):
    """A scalar of NumPy costs as much as a number of Python, and has the report of an array of its type."""
    numbers = [1, *(np.dtype(code).type(1) for code in "bBhHiIlLqQ")]
    numbers += [True, np.True_] if isinstance(mechanism, ldp.Warner) else []
    numbers += [0.5, np.float64(0.5), np.float32(0.5)] if mechanism.domain.clips else []
    expected = [mechanism.privatize(np.array([number]), rng=SEED)[0] for number in numbers]
    monkeypatch.setattr(_single, "FRESH", Stream(KEY))
    for number, report in zip(numbers, expected, strict=True):
        made = mechanism._recipe.single(number, False)
        assert made is not None
        assert type(made) is type(report)
        assert_same(np.asarray(made), np.asarray(report))
    outside = [-9, 7.5, math.nan, -math.inf, np.float32(9), np.float64(1e300)] if mechanism.domain.clips else []
    for number in outside:
        expected = mechanism.privatize(np.array([number]), rng=SEED, clip=True)[0]
        made = mechanism._recipe.single(number, True)
        assert type(made) is type(expected)
        assert made == expected
        if mechanism.domain.first_invalid(np.array([float(number)])) == 0:
            assert mechanism._recipe.single(number, False) is None
    other = [np.timedelta64(1, "s"), np.longdouble(1), np.complex128(1), Decimal(1), "1"]
    other += [] if isinstance(mechanism, ldp.Warner) else [True, np.True_]
    for thing in other:
        assert mechanism._recipe.single(thing, False) is None
        with pytest.raises(TypeError):
            mechanism.privatize(thing)


@each("alphabet", [None, "abc", "cab?", "aé"])
def test_single_texts_take_the_short_path(alphabet, monkeypatch):
    """A valid text has the report of a list; the general case reads all others, and alphabets that are not ASCII."""
    mechanism = ldp.mechanisms.SketchResponse(2.0, max_bytes=4, alphabet=alphabet, buckets=64, functions=4)
    texts = ["", "a", "abc", "cab?", "é", "éé", "ééa", "abcab", "a\0", "a\0b", "\ud800", "x"]
    expected = {text: mechanism.privatize([text], rng=SEED, clip=True)[0] for text in texts}
    monkeypatch.setattr(_single, "FRESH", Stream(KEY))
    monkeypatch.setattr(record_recipe, "open_stream", lambda rng: Stream(KEY))
    domain = mechanism.domain
    for text, report in expected.items():
        is_valid = not domain.invalid(domain.records([text])[0])[0]
        made = mechanism._recipe.single(text, False)
        assert (made is not None) == (is_valid and alphabet != "aé")
        assert mechanism.privatize(text, clip=True) == report
        if is_valid:
            assert type(mechanism.privatize(text)) is type(report)
            assert mechanism.privatize(text) == report
        else:
            with pytest.raises(ValueError, match="x must be"):
                mechanism.privatize(text)


@pytest.mark.claim("Every single record has a key of its own.", "Randomness")
@each("mechanism", MECHANISMS, ids=repr)
def test_single_records_have_keys_of_their_own(mechanism):
    """128 reports of one record are not all equal. For a fair bit, this happens with probability 2^-127."""
    record = records_of(mechanism, 1)[0].tolist()
    assert len({np.asarray(mechanism.privatize(record)).tobytes() for _ in range(128)}) > 1


@each("mechanism", [m for m in MECHANISMS if m.domain.clips], ids=repr)
def test_clip_changes_nothing_inside_the_domain(mechanism):
    x = records_of(mechanism, 20)
    assert_reports_equal_to(mechanism, mechanism.privatize(x, rng=5), x, clip=True)
    assert_same_estimate(mechanism.run(x, rng=5, clip=True), mechanism.run(x, rng=5))


@each("mechanism", CATEGORIES, ids=repr)
@each("call", ["privatize", "run"])
def test_categories_refuse_clip_before_the_data_are_read(mechanism, call):
    """The error is the same for valid and invalid records. An error that depends on the record would itself be a report."""
    for x in ([0, 1], [-1], [10**9]):
        with pytest.raises(ValueError, match=r"^clip must be False for categories, got True$"):
            getattr(mechanism, call)(x, clip=True)


@each("mechanism", [m for m in CATEGORIES if m.domain.k < np.iinfo(m.domain.dtype).max], ids=repr)
@each("n", [1, 40, 1000])
def test_the_first_code_beyond_the_last_is_refused(mechanism, n):
    """In the dtype of the kernel, which checks such records while it reads them."""
    for code in (mechanism.domain.k, mechanism.domain.k + 1):
        x = np.zeros(n, mechanism.domain.dtype)
        x[-1] = code
        for call in (mechanism.privatize, mechanism.run):
            with pytest.raises(ValueError, match=rf"index {n - 1} is outside"):
                call(x)


@each("clip", [0, 1, "no", None])
@each_kind
def test_clip_is_a_bool(kind, clip):
    mechanism, records = kind.mechanism, kind.records(3)
    for call in (mechanism.privatize, mechanism.run):
        with pytest.raises(TypeError, match=rf"^clip must be a bool, got {type(clip).__name__}$"):
            call(records, clip=clip)


def test_from_dict_of_a_class_returns_that_class():
    with pytest.raises(ValueError, match=r"^data must describe a SignBit, got a Warner$"):
        ldp.SignBit.from_dict(ldp.Warner(1.0).to_dict())
    assert ldp.Warner.from_dict(ldp.Warner(1.0).to_dict()) == ldp.Warner(1.0)


def test_arrays_of_an_estimate_are_read_only():
    estimate = ldp.RandomizedResponse(3, 1.0).run([0, 1, 2], rng=1)
    for array in (estimate.value, estimate.stderr, estimate.covariance):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


# Memory layout --------------------------------------------------------------------------------------------------------


@each("mechanism", MECHANISMS, ids=repr)
@each("n", [1, 5, 2500])
def test_the_layout_of_the_records_changes_nothing(mechanism, n):
    """Every second record, records in reverse, a column of a table, and the other byte order."""
    n = min(n, 300_000 // (mechanism.domain.width or 1))
    x = records_of(mechanism, n)
    expected, estimate = mechanism.privatize(x, rng=SEED), mechanism.run(x, rng=SEED)
    wide = np.empty((2 * n, *x.shape[1:]), x.dtype)
    wide[::2] = x
    table = np.empty((n, 3, *x.shape[1:]), x.dtype)
    table[:, 1] = x
    for layout in (wide[::2], x[::-1].copy()[::-1], table[:, 1], x.astype(x.dtype.newbyteorder())):
        assert_same(mechanism.privatize(layout, rng=SEED), expected)
        assert_same_estimate(mechanism.run(layout, rng=SEED), estimate)


@pytest.mark.parametrize("slots", [1, 7, 300])
def test_kernels_read_runs_of_records(slots):
    """The kernel of a number reads a table whose rows are contiguous, and refuses other layouts."""
    table = np.random.default_rng(slots).uniform(0, 1, (9000 // slots, slots + 5))
    mechanism = ldp.SignBit(0, 1, 1.0)
    kernel, out, plain = mechanism._recipe.kernel, *np.empty((2, table[:, 2 : slots + 2].size), np.uint8)
    assert kernel.privatize(KEY, 0, table[:, 2 : slots + 2], out)
    assert kernel.privatize(KEY, 0, np.ascontiguousarray(table[:, 2 : slots + 2]), plain)
    assert_same(out, plain)
    if slots > 1:
        with pytest.raises(ValueError, match="records must be contiguous in all axes but the first"):
            kernel.privatize(KEY, 0, table[:, 2 : slots + 2 : 2], out[: table[:, 2 : slots + 2 : 2].size])


# Warnings about clipped records ---------------------------------------------------------------------------------------

FAR = [0.5, math.nan, 7.0, 1.0, -math.inf]
NAN_TEXT, CLIPPED_TEXT = "had NaN, which counts as the center", "were clipped to the domain"
CLIPPING = [mechanism for card in CARDS.values() for mechanism in card.bad_records]
CLIPPING = [mechanism for mechanism in CLIPPING if isinstance(mechanism.domain, Interval | Ball)]


@each(
    "target, records",
    [
        *((mechanism, [[x, 0.0, 0.0] for x in FAR] if mechanism.domain.width else FAR) for mechanism in CLIPPING),
        (VectorMean(2, 1.0), [[0.0, x] for x in FAR]),
        (SeriesDensity(1.0, n_terms=3), FAR),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_run_warns_with_the_share_of_clipped_records(target, records):
    """`run` sees the data; clients, which call `privatize`, must not warn."""
    message = f"^1 of 5 records \\(0.2 of all\\) {NAN_TEXT}, and 2 of 5 records \\(0.4 of all\\) {CLIPPED_TEXT}: "
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ldp.SmallSampleWarning)
        with pytest.warns(ldp.ClippedWarning, match=message) as caught:
            target.run(records, clip=True)
        assert len([found for found in caught if found.category is ldp.ClippedWarning]) == 1
        assert caught[0].filename == __file__
        with pytest.warns(ldp.ClippedWarning, match=message):  # also with personal keys
            target.run(records, rng=ldp.PersonKeys(bytes(32), range(5), question="q"), clip=True)
        if np.ndim(records) == 1:
            target.privatize(records, clip=True)  # warnings are errors
        target.run([records[0]] * 5, clip=True)
        with pytest.warns(ldp.ClippedWarning, match=f"^60000 of 100000 records .* {CLIPPED_TEXT}"):
            target.run(np.array([records[0], records[2]])[(np.arange(100_000) % 5 < 3).astype(int)], clip=True)
