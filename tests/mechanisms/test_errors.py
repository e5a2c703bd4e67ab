"""Invalid input of mechanisms and their estimates: the error, its message, and no side effects."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpfast as ldp
from ldpfast import mechanisms
from ldpfast.domains import Ball, Categories, Interval, Reals

from ..cards import CARDS
from ..support.cases import each
from ..support.errors import CLIP_HINT, logged_text, raises, state_of_record

NAN, INF = float("nan"), float("inf")

WARNER = ldp.Warner(1.0)
KARY = ldp.RandomizedResponse(4, 1.0)
BINS = ldp.Bins([-1.0, 1.0], 1.0)
SIGN = ldp.SignBit(-1.0, 3.0, 1.0)
BALL = ldp.L2Ball(3, 1.0, radius=2.0)
BAD_RECORDS = [mechanism for card in CARDS.values() for mechanism in card.bad_records]
CATEGORIES = [mechanism for mechanism in BAD_RECORDS if isinstance(mechanism.domain, Categories)]
INTERVALS = [mechanism for mechanism in BAD_RECORDS if isinstance(mechanism.domain, Interval)]
NUMBERS = [mechanism for mechanism in BAD_RECORDS if isinstance(mechanism.domain, Interval | Reals)]
ROWS = [mechanism for mechanism in BAD_RECORDS if isinstance(mechanism.domain, Ball)]
EUCLIDEAN = {type(mechanism): mechanism for mechanism in ROWS if mechanism.domain.norm == "l2"}.values()
# `SampledCube` reads the sampled coordinates of a row only.
WHOLE_ROWS = {type(mechanism): mechanism for mechanism in ROWS if type(mechanism) is not ldp.SampledCube}.values()


def error_message(call, *arguments):
    """Return the message of a ValueError, or None if there is none."""
    try:
        call(*arguments)
    except ValueError as error:
        return str(error)
    return None


def kind_name(value):
    return type(value).__name__


# Parameters -----------------------------------------------------------------------------------------------------------

MAKERS = {name: make for card in CARDS.values() for name, make in card.makers.items()}
each_make = each("make", MAKERS.values(), ids=MAKERS)


@each("epsilon", [0, -0.5, 0.0, -0.0, np.float32(-1)])
@each_make
def test_epsilon_must_be_positive(make, epsilon):
    with raises(ValueError, f"epsilon must be a finite number > 0, got {epsilon!r}"):
        make(epsilon)


@each("epsilon", [NAN, INF, -INF])
@each_make
def test_epsilon_must_be_finite(make, epsilon):
    with raises(ValueError, f"epsilon must be a finite number, got {epsilon!r}"):
        make(epsilon)


@each("epsilon", ["1", b"1", None, True, np.True_, 1j, [1.0], np.array([1.0, 2.0]), {}, ldp])
@each_make
def test_epsilon_must_be_a_number(make, epsilon):
    with raises(TypeError, f"epsilon must be a number, got {kind_name(epsilon)}"):
        make(epsilon)


@each_make
def test_an_integer_beyond_the_doubles_is_not_a_finite_number(make):
    with pytest.raises(ValueError, match=r"^epsilon must be a finite number"):
        make(10**400)


@each("epsilon", [5e-324, 1e-300, 1e-40, 1e7, 1e300, 1e308])
@each_make
def test_epsilon_must_be_certifiable(make, epsilon):
    if epsilon > 1 and make is MAKERS["Window"]:  # rounded down to that of words of 32 bits
        assert make(epsilon).epsilon_realized <= 20.8
        return
    limits = "within what exact coins can certify, got {!r}: "
    if make is MAKERS["PrivUnit"]:  # it has no exact coins
        limits = "in [1e-06, 40], where doubles hold the shape of the cap, got {!r}"
    with pytest.raises(ValueError, match=re.escape(f"epsilon must be {limits.format(epsilon)}")):
        make(epsilon)


@each("make, largest", [case for card in CARDS.values() for case in card.largest_epsilons])
def test_the_largest_epsilon_is_the_documented_one(make, largest):
    assert 0.97 * largest < make(largest).epsilon_realized <= largest
    with pytest.raises(ValueError, match=r"got .*: too large for "):
        make(largest + 0.1)


@pytest.mark.parametrize("kind", [ldp.RandomizedResponse, ldp.UnaryEncoding])
def test_the_number_of_categories_is_an_integer_of_at_least_two(kind):
    for k in (1, 0, -3, np.int8(1)):
        with raises(ValueError, f"k must be an integer in [2, {1 << 40}], got {k}"):
            kind(k, 1.0)
    for k in (2.0, "2", None, np.float64(3), [3]):
        with raises(TypeError, f"k must be an integer, got {kind_name(k)}"):
            kind(k, 1.0)
    for k in (True, np.True_):
        with raises(TypeError, "k must be an integer, got bool"):
            kind(k, 1.0)


@pytest.mark.parametrize("kind", [ldp.LinfBall, ldp.L2Ball, ldp.LaplaceVector])
def test_dim_and_radius_of_a_ball_are_checked(kind):
    for dim in (0, -1):
        with raises(ValueError, f"dim must be an integer in [1, {1 << 34}], got {dim}"):
            kind(dim, 1.0)
    with raises(TypeError, "dim must be an integer, got float"):
        kind(3.0, 1.0)
    for radius in (0, -1.0):
        with raises(ValueError, f"radius must be a finite number > 0, got {radius!r}"):
            kind(3, 1.0, radius=radius)
    for radius in (NAN, INF):
        with raises(ValueError, f"radius must be a finite number, got {radius!r}"):
            kind(3, 1.0, radius=radius)
    for radius in (1e-31, 1e31):
        with raises(
            ValueError, f"radius must be in [1e-18, 1e18], where single precision holds the reports, got {radius!r}"
        ):
            kind(3, 1.0, radius=radius)
    with raises(TypeError, "radius must be a number, got str"):
        kind(3, 1.0, radius="1")


@each("word", ["Keep", "", None, 3, ["keep"]])
def test_options_must_be_one_of_the_allowed_words(word):
    with raises(ValueError, f"ties must be one of 'keep', 'thin', got {word!r}"):
        ldp.LinfBall(3, 1.0, ties=word)
    with raises(ValueError, f"method must be one of 'symmetric', 'optimized', got {word!r}"):
        ldp.UnaryEncoding(3, 1.0, method=word)
    with raises(ValueError, f"norm must be one of 'l2', 'linf', got {word!r}"):
        ldp.LaplaceVector(3, 1.0, norm=word)


def test_width_offset_and_modulus_are_checked():
    with raises(ValueError, "width must be a finite number > 0, got 0.0"):
        ldp.Residue(0.0, 0.0, 4, 1.0)
    with raises(ValueError, "width must be a finite number, got inf"):
        ldp.Residue(INF, 0.0, 4, 1.0)
    for width in (1e-301, 1e301):
        with raises(ValueError, f"width must be in [1e-300, 1e300], got {width}"):
            ldp.Residue(width, 0.0, 4, 1.0)
    with raises(ValueError, "offset must be a finite number, got nan"):
        ldp.Residue(1.0, NAN, 4, 1.0)
    for modulus in (1, 257):
        with raises(ValueError, f"modulus must be an integer in [2, 256], got {modulus}"):
            ldp.Residue(1.0, 0.0, modulus, 1.0)
    with raises(TypeError, "modulus must be an integer, got float"):
        ldp.Residue(1.0, 0.0, 4.0, 1.0)


def test_cuts_are_ascending_finite_numbers():
    for cuts in ([1.0, 1.0], [2.0, 1.0], [0.0, 2.0, 1.0]):
        with raises(ValueError, f"cuts must be strictly ascending, got {tuple(cuts)!r}"):
            ldp.Bins(cuts, 1.0)
    for count in (0, 256):
        with raises(ValueError, f"cuts must be between 1 and 255 numbers, got {count}"):
            ldp.Bins(range(count), 1.0)
    for cut in (NAN, INF):
        with raises(ValueError, f"cuts must be a finite number, got {cut!r}"):
            ldp.Bins([0.0, cut], 1.0)
    for cuts, kind in (("ab", "str"), (None, "NoneType"), (["a"], "str"), ([[1.0, 2.0]], "list")):
        with raises(TypeError, f"cuts must be numbers, got {kind}"):
            ldp.Bins(cuts, 1.0)


@pytest.mark.parametrize("kind", [ldp.SignBit, ldp.Laplace])
def test_lower_and_upper_are_checked(kind):
    for lower, upper in ((1.0, 1.0), (2, 1)):
        with raises(ValueError, f"lower and upper must be finite with lower < upper, got {lower!r} and {upper!r}"):
            kind(lower, upper, 1.0)
    for lower, upper in ((-1e308, 1e308), (0.0, 1e101), (0.0, 1e-310)):
        message = "lower and upper must be within 1e100 of zero and 1e-100 apart"
        with raises(ValueError, f"{message}, got {lower!r} and {upper!r}"):
            kind(lower, upper, 1.0)
    with raises(ValueError, "lower must be a finite number, got nan"):
        kind(NAN, 1.0, 1.0)
    with raises(ValueError, "upper must be a finite number, got inf"):
        kind(0.0, INF, 1.0)
    with raises(TypeError, "lower must be a number, got str"):
        kind("0", 1.0, 1.0)


@each("kind", [ldp.SignBit, ldp.Laplace])
@each("epsilon", [1e-12, 1.0, 40.0])
@each("upper", [1e-99, 1e99, 1e155, 1e300, 1.7e308])
def test_a_huge_interval_is_refused_or_gives_finite_estimates(kind, upper, epsilon):
    """Squares and decoded values must not overflow if the parameters are accepted."""
    message = error_message(kind, 0.0, upper, epsilon)
    if message is not None:
        assert message.startswith("lower and upper must be ")
        return
    mechanism = kind(0.0, upper, epsilon)
    estimate = mechanism.run(np.full(50, upper / 2), rng=1)
    assert np.isfinite([estimate.value, estimate.stderr, *estimate.interval()]).all()


def test_a_grid_that_doubles_cannot_represent_is_refused():
    message = "lower and upper must be closer to zero for doubles to hold the grid, got 1e+20 and 1.000000000000001e+20"
    with raises(ValueError, message):
        ldp.Laplace(1e20, 1e20 + 1e5, 1.0)


def test_from_dict_rejects_what_describes_no_mechanism():
    with raises(TypeError, "data must be a dict, got list"):
        ldp.Mechanism.from_dict([])
    kinds = {name for name in mechanisms.__all__ if name[0].isupper()} - {
        "Aggregator",
        "Layers",
        "Mechanism",
        "Query",
        "SecureSum",
    }
    for name in (None, "Mechanism", "ResponseMechanism", "warner", ["Warner"]):
        message = error_message(ldp.Mechanism.from_dict, {"mechanism": name, "epsilon": 1.0})
        found = re.fullmatch(rf"data must name a mechanism, one of (.*), got {re.escape(repr(name))}", message)
        names = found[1].split(", ")
        assert names == sorted(names)
        assert kinds <= set(names)  # and mechanisms of other tests
        assert not {"Mechanism", "ResponseMechanism"} & set(names)
    with raises(ValueError, "data must hold epsilon, k for RandomizedResponse, got epsilon"):
        ldp.Mechanism.from_dict({"mechanism": "RandomizedResponse", "epsilon": 1.0})
    with raises(ValueError, "data must hold epsilon for Warner, got epsilon, k"):
        ldp.Mechanism.from_dict({"mechanism": "Warner", "epsilon": 1.0, "k": 2})
    with raises(ValueError, "epsilon must be a finite number > 0, got -1.0"):
        ldp.Mechanism.from_dict({"mechanism": "Warner", "epsilon": -1.0})


# Records --------------------------------------------------------------------------------------------------------------

CALLS = ["privatize", "run", "variance"]


each_call = each("call", CALLS)


@each(
    "mechanism, dtype",
    [
        (mechanism, dtype)
        for mechanism in CATEGORIES
        for dtype in ("int8", "int64", "uint8", "uint16", "uint64", ">i2")
        if np.iinfo(dtype).max >= mechanism.domain.k  # otherwise every value is a category
    ],
    ids=repr,
)
@each_call
def test_categories_out_of_range_are_rejected(call, mechanism, dtype):
    """Invalid categories must not become valid ones by a cast that wraps around."""
    k = mechanism.domain.k
    worst = np.iinfo(dtype).max
    x = np.zeros(9, dtype)
    x[[2, 5, 6]] = worst, min(k, worst), worst
    with raises(ValueError, f"x must be integers in [0, k) with k={k}; index 2 is outside (3 of 9 are)"):
        getattr(mechanism, call)(x)
    if np.dtype(dtype).kind == "i":
        x[[2, 5, 6]] = 0, -1, -k
        with raises(ValueError, f"x must be integers in [0, k) with k={k}; index 5 is outside (2 of 9 are)"):
            getattr(mechanism, call)(x)
        with raises(ValueError, f"x must be integers in [0, k) with k={k}; index 0 is outside (1 of 1 are)"):
            getattr(mechanism, call)(x[5])


@each("dtype", ["uint8", "int64"])
@each_call
def test_the_index_of_an_invalid_record_is_that_in_the_whole_array(call, dtype):
    """`run` reads the array in pieces."""
    x = np.zeros(300_000, dtype)
    x[[250_000, 290_000]] = 7
    with raises(ValueError, "x must be integers in [0, k) with k=4; index 250000 is outside (2 of 300000 are)"):
        getattr(KARY, call)(x)


@each("dtype", ["float32", "float64"])
@each("bad", [NAN, INF, -INF])
@each("mechanism", NUMBERS, ids=repr)
@each_call
def test_numbers_that_are_not_finite_are_rejected(call, mechanism, bad, dtype):
    x = np.full(300, 0.5, dtype)
    x[[17, 200]] = bad
    state, hint = state_of_record(bad), "" if call == "variance" else CLIP_HINT
    with raises(ValueError, f"x must be {mechanism.domain.describe()}; index 17 is {state} (2 of 300 are){hint}"):
        getattr(mechanism, call)(x)


@each("mechanism", INTERVALS, ids=repr)
@each("place", ["just below", "just above", "far below", "far above"])
@each_call
def test_numbers_out_of_the_interval_are_rejected(call, mechanism, place):
    lower, upper = mechanism.domain.range
    bad = {"just below": np.nextafter(lower, -INF), "just above": np.nextafter(upper, INF), "far below": -1e300}
    x = np.linspace(lower, upper, 30)  # the ends are inside
    getattr(mechanism, call)(x)
    x[[7, 9, 29]] = bad.get(place, 1e300)
    hint, what = "" if call == "variance" else CLIP_HINT, f"numbers in [lower, upper] = [{lower!r}, {upper!r}]"
    with raises(ValueError, f"x must be {what}; index 7 is outside (3 of 30 are){hint}"):
        getattr(mechanism, call)(x)


@each("dtype", ["float32", "float64"])
@each("bad", [NAN, INF, -INF, 2.5, -2.5])
@each("mechanism", ROWS, ids=repr)
@each_call
def test_rows_out_of_the_ball_are_rejected(call, mechanism, bad, dtype):
    x = np.zeros((40, 3), dtype)
    x[11, 2] = x[30, 0] = x[30, 1] = bad
    what, state = f"rows of {mechanism.domain.norm} norm at most radius = 2.0", state_of_record(bad)
    hint = "" if call == "variance" else CLIP_HINT
    with raises(ValueError, f"x must be {what}; index 11 is {state} (2 of 40 are){hint}"):
        getattr(mechanism, call)(x)
    with raises(ValueError, f"x must be {what}; index 0 is {state} (1 of 1 are){hint}"):
        getattr(mechanism, call)(x[11])


@each("example", WHOLE_ROWS, ids=kind_name)
@each("dtype", ["float32", "float64"])
@each("dim", [3, 64, 130])
@each("size", [1.01, 1.5, 2.0, 100.0])
def test_rows_that_are_a_little_too_long_are_rejected(example, dtype, dim, size):
    """With the radius 1, in long arrays, whose records the kernels check; at the first and the last coordinate."""
    mechanism = replace(example, dim=dim, epsilon=4.0, radius=1.0)
    for place in (0, dim - 1):
        x = np.zeros((600, dim), dtype)
        x[417, place] = -size
        with pytest.raises(ValueError, match="index 417 is outside"):
            mechanism.privatize(x, rng=1)
        with pytest.raises(ValueError, match="index 417 is outside"):
            mechanism.run(x)


@each("example", EUCLIDEAN, ids=kind_name)
@each("dtype", ["float32", "float64"])
def test_norms_are_limited_to_the_last_digits(example, dtype):
    """The tolerance of Euclidean norms is 8 sqrt(3) = 13.9 unit roundoffs in three dimensions."""
    unit = np.finfo(dtype).eps / 2
    mechanism = replace(example, dim=3, epsilon=4.0, radius=1.0)
    for size, is_record in ((1 + 12 * unit, True), (1 + 16 * unit, False)):
        x = np.zeros((600, 3), dtype)
        x[417, 1] = size
        if is_record:
            mechanism.privatize(x, rng=1)
        else:
            with pytest.raises(ValueError, match="index 417 is outside"):
                mechanism.privatize(x, rng=1)


def test_vectors_of_any_dimension_fill_a_block():
    """Dimensions at which the number of rows of a block becomes 1."""
    for dim in (8191, 8192, 8193):
        assert ldp.LaplaceVector(dim, 4.0).privatize(np.zeros((3, dim)), rng=1).shape == (3, dim)
    assert [ldp.LinfBall(dim, 1.0)._recipe.blocks(5) for dim in (16384, 32768, 32769, 100_000)] == [3, 5, 5, 5]


def test_missing_and_other_invalid_records_are_told_apart():
    what = "x must be numbers in [lower, upper] = [0.0, 1.0]"
    for x, text in (
        ([0.5, NAN, 2.0], f"{what}; index 1 is NaN (2 of 3 are invalid, 1 of them NaN){CLIP_HINT}"),
        ([-1.0, NAN, NAN], f"{what}; index 0 is outside (3 of 3 are invalid, 2 of them NaN){CLIP_HINT}"),
    ):
        with raises(ValueError, text):
            ldp.SignBit(0.0, 1.0, 1.0).privatize(x)
    with raises(ValueError, "x must be integers in [0, k) with k=2; index 0 is outside (1 of 1 are)"):
        ldp.Warner(1.0).privatize(2)  # categories are not clipped


@each("dtype", ["float32", "float64"])
@each("dim", [1, 3, 17, 100, 1000])
def test_a_row_on_the_boundary_of_the_ball_is_accepted_or_rejected_with_its_index(dim, dtype):
    """Two computations of a norm may differ in the last bit, but the message must name the row."""
    mechanism, rng = ldp.L2Ball(dim, 1.0), np.random.default_rng(dim)
    edge = 1 + 4 * np.finfo(dtype).eps * dim**0.5
    for _ in range(300):
        row = rng.standard_normal(dim)
        row = (row * (edge / np.linalg.norm(row))).astype(dtype)
        message = error_message(mechanism.privatize, row)
        assert message is None or message.endswith("; index 0 is outside (1 of 1 are)" + CLIP_HINT)


@each("dtype", ["float32", "float64"])
@each("dim", [1, 3, 100, 5000])
def test_normalized_rows_are_valid_despite_rounding(dim, dtype):
    x = np.random.default_rng(dim).standard_normal((20, dim)).astype(dtype)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    ldp.L2Ball(dim, 1.0).privatize(x)
    ldp.LaplaceVector(dim, 1.0).privatize(x)


@each("dtype", ["complex128", "U3", "S3", "datetime64[s]", "bool", "longdouble", "V4"])
@each_call
def test_dtypes_that_are_not_numbers_are_rejected(call, dtype):
    x = np.zeros(3, dtype)
    for mechanism in NUMBERS + ROWS:
        with raises(TypeError, f"x must be real numbers (float32, float64 or integers), got dtype {x.dtype}"):
            getattr(mechanism, call)(x)
    for mechanism in CATEGORIES:
        if dtype == "bool" and mechanism.domain.k == 2:
            continue
        with raises(TypeError, f"x must be integers, got dtype {x.dtype}"):
            getattr(mechanism, call)(x)


@each_call
def test_objects_that_are_not_numbers_are_rejected(call):
    """Objects are read as what they hold (tests/test_objects.py)."""
    x = np.array([0.5, "0.5", {}], object)
    for mechanism in BAD_RECORDS:
        with pytest.raises(TypeError, match=r"^x must be (real numbers|integers)"):
            getattr(mechanism, call)(x)


@each("dtype", ["float16", "float32", "float64"])
@each_call
def test_floats_are_not_categories(call, dtype):
    for mechanism in CATEGORIES:
        with raises(TypeError, f"x must be integers, got dtype {dtype}"):
            getattr(mechanism, call)(np.zeros(3, dtype))


@each("x", [[[1.0], [1.0, 2.0]], [1.0, [2.0]]])
@each_call
def test_ragged_records_are_rejected(call, x):
    for mechanism in (KARY, BINS, BALL):
        with raises(TypeError, "x must be an array of numbers, got list"):
            getattr(mechanism, call)(x)


@each_call
def test_masked_records_are_rejected(call):
    """Otherwise masked values would be used."""
    with raises(TypeError, "x must not be a masked array"):
        getattr(SIGN, call)(np.ma.masked_array([0.0, 1.0], [True, False]))


@each_call
def test_records_of_another_shape_are_rejected(call):
    for mechanism in CATEGORIES + NUMBERS:
        x = np.zeros((5, 3), np.uint8)
        with raises(ValueError, "x must have shape (n,), or () for one record, got shape (5, 3)"):
            getattr(mechanism, call)(x)
    for mechanism in ROWS:
        for shape in ((), (2, 3, 3)):
            with raises(ValueError, f"x must have shape (n, dim), or (dim,) for one record, got shape {shape}"):
                getattr(mechanism, call)(np.zeros(shape))


@each("shape", [(4,), (5, 4), (0, 4), (5, 0), (0,)])
@each_call
def test_rows_of_another_dimension_are_rejected(call, shape):
    for mechanism in ROWS:
        with raises(ValueError, f"x must have dim=3 in its last axis, got shape {shape}"):
            getattr(mechanism, call)(np.zeros(shape))


# rng and out ----------------------------------------------------------------------------------------------------------


@each("rng", ["1", 1.0, True, np.True_, [1], np.random, np.random.RandomState(1), b"0" * 32])
def test_rng_of_another_type_is_rejected(rng):
    message = f"rng must be None, an int, a SeedSequence, a Generator or a BitGenerator, got {kind_name(rng)}"
    for mechanism, x in ((WARNER, [1]), (BALL, np.zeros((1, 3)))):
        with raises(TypeError, message):
            mechanism.privatize(x, rng=rng)
        with raises(TypeError, message):
            mechanism.run(x, rng=rng)


@pytest.mark.parametrize("rng", [-1, np.int64(-7)])
def test_a_negative_rng_is_rejected(rng):
    with raises(ValueError, f"rng must be >= 0 where it is an int, got {rng}"):
        WARNER.privatize([1], rng=rng)


def test_out_of_another_type_is_rejected():
    for out in ([0, 0], memoryview(bytearray(2)), 3):
        with raises(TypeError, f"out must be an ndarray, or an array on the CPU with __dlpack__, got {kind_name(out)}"):
            WARNER.privatize([0, 1], out=out)


def test_out_of_another_shape_or_dtype_is_rejected():
    for out in (np.zeros(3, np.uint8), np.zeros((2, 1), np.uint8), np.zeros(2, np.int8), np.zeros(2, bool)):
        message = f"out must have shape (2,) and dtype uint8, got shape {out.shape} and dtype {out.dtype}"
        with raises(ValueError, message):
            WARNER.privatize([0, 1], out=out)
        assert not out.any()
    with raises(ValueError, "out must have shape () and dtype uint8, got shape (1,) and dtype uint8"):
        WARNER.privatize(1, out=np.zeros(1, np.uint8))
    with raises(ValueError, "out must have shape (1, 3) and dtype float32, got shape (1, 3) and dtype float64"):
        BALL.privatize(np.zeros((1, 3), np.float32), out=np.zeros((1, 3)))


def test_a_read_only_out_is_rejected():
    out = np.zeros(2, np.uint8)
    out.flags.writeable = False
    with raises(ValueError, "out must be writeable, got a read-only array"):
        WARNER.privatize([0, 1], out=out)


def invalid_records(mechanism):
    """Yield arrays of records with an invalid one at the second or third place."""
    if mechanism in CATEGORIES:
        yield from (np.array([1, 0, mechanism.domain.k]), np.array([0, mechanism.domain.k, 1], np.uint16))
        yield np.array([0, -1, 1])
    elif mechanism in NUMBERS:
        yield from (np.array([0, x, 1]) for x in ([NAN, INF, 9.0] if mechanism in INTERVALS else [NAN, INF]))
    else:
        yield from (np.array([[0, 0, 0], [1, x, 1], [0, 1, 0]]) for x in (NAN, 3.0))


INVALID_RECORDS = [(mechanism, x) for mechanism in BAD_RECORDS for x in invalid_records(mechanism)]


@pytest.mark.claim("Errors are raised before the first random number and before anything is written.", "Bad input")
@each("mechanism, x", INVALID_RECORDS, ids=lambda v: repr(v) if isinstance(v, ldp.Mechanism) else "")
def test_invalid_records_change_neither_out_nor_the_generator(mechanism, x):
    out = mechanism.privatize(np.zeros_like(x, dtype=x.dtype if x.dtype.kind in "iu" else float), rng=3)
    before = out.tobytes()
    rng = np.random.default_rng(1)
    for options in ({"out": out, "rng": rng}, {"out": out[::-1], "rng": rng}, {"out": out, "rng": -1}):
        with pytest.raises(ValueError, match=r"^(x|rng) must be "):
            mechanism.privatize(x, **options)
        assert out.tobytes() == before
    assert rng.bytes(8) == np.random.default_rng(1).bytes(8)


# Estimates ------------------------------------------------------------------------------------------------------------


def test_confidence_is_a_number_between_zero_and_one():
    estimate = WARNER.run([0, 1, 1], rng=1)
    for confidence in (0, 1, -0.5, 1.5, 0.0, 1.0):
        with raises(ValueError, f"confidence must be in (0, 1), got {confidence!r}"):
            estimate.interval(confidence)
    for confidence in (NAN, INF):
        with raises(ValueError, f"confidence must be a finite number, got {confidence!r}"):
            estimate.interval(confidence)
    for confidence in ("0.9", None, [0.9]):
        with raises(TypeError, f"confidence must be a number, got {kind_name(confidence)}"):
            estimate.interval(confidence)


# Records in messages --------------------------------------------------------------------------------------------------


def assert_not_in_messages(mechanism, x, digits):
    for call in CALLS:
        with pytest.raises((ValueError, TypeError)) as caught:
            getattr(mechanism, call)(x)
        assert digits not in logged_text(caught.value).replace(".", "")


@given(st.integers(100_000, 99_999_999), st.booleans(), st.integers(0, 4))
def test_no_message_contains_a_category(value, negative, place):
    x = [0, 1, 0, 1, 0]
    x[place] = -value if negative else value
    for mechanism in (*CATEGORIES, ldp.RandomizedResponse(70_000, 1.0)):
        for bad in (
            x,
            np.array(x),
            np.float64(x),
            [str(v) for v in x],
            x[place],
            [x],
            [*x, 10**30],
            [x, [1]],
            {value: 1},
        ):
            assert_not_in_messages(mechanism, bad, str(value))


@pytest.mark.claim("Error messages never name the value of a record.", "Bad input")
@given(st.integers(112_345, 987_654), st.integers(-4, 8), st.booleans(), st.integers(0, 2))
def test_no_message_contains_a_number(digits, power, negative, place):
    leading = str(digits)[:5]
    x = np.zeros(3)
    x[place] = digits * 10.0**power * (-1 if negative else 1)
    for mechanism in (*INTERVALS, *ROWS):
        for bad in (x, x.astype(np.float32), x.tolist(), x.astype(str), x.astype(complex), [*x, 10**30], [*x, [1]]):
            assert_not_in_messages(mechanism, bad, leading)
    for mechanism in (mechanism for mechanism in NUMBERS if mechanism not in INTERVALS):
        for bad in ([*x, NAN], x.astype(str), np.array([*x, "a"], object), [x, x], [x[place], [1.0]]):
            assert_not_in_messages(mechanism, bad, leading)
