"""Mechanisms written in Python: methods of the base class, exact privacy and unbiased estimates."""

from __future__ import annotations

import copy
import itertools
import json
import math
import pickle
import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import bounds, privacy
from ldpfast.domains import Ball, Categories, Interval
from ldpfast.reports import Codes
from ldpfast.results import MatrixDebiasing

from ..support.cases import each
from ..support.documentation import python_blocks
from ..support.errors import CLIP_HINT, raises
from ..support.examples import assert_same, assert_same_estimate, records_of
from ..support.internals.kernels import stream
from ..support.internals.mechanisms import record_recipe
from ..support.internals.shared import Words, thread_pool
from ..support.keys import KEY, STATISTICS_SEED
from ..support.statistics import ALPHA, assert_counts, bernstein_radius

# Three mechanisms -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CustomCircle(ldp.Mechanism):
    """Response for k >= 4 categories on a circle, where the two neighbors are more probable than the other categories."""

    k: int
    epsilon: float

    def __post_init__(self) -> None:
        realized = privacy.Channel(self.channel_rows()).epsilon()
        self.define(epsilon_realized=realized, domain=Categories(self.k), report=Codes(self.k))

    def channel_rows(self):
        truth, neighbor = (int(1024 * math.exp(level)) for level in (self.epsilon, self.epsilon / 2))
        weights = [truth, neighbor, *[1024] * (self.k - 3), neighbor]
        return [[weights[(report - x) % self.k] for report in range(self.k)] for x in range(self.k)]


@dataclass(frozen=True)
class CustomForced(ldp.Mechanism):
    """Forced response: 1 or 0 for some of the equally likely outcomes, else the true answer."""

    one: int
    zero: int
    outcomes: int = 36

    def __post_init__(self) -> None:
        epsilon = privacy.Channel(self.channel_rows()).epsilon()
        self.define(epsilon=epsilon, epsilon_realized=epsilon, domain=Categories(2), report=Codes(2))

    def channel_rows(self):
        one, zero = Fraction(self.one, self.outcomes), Fraction(self.zero, self.outcomes)
        return [[1 - one, one], [zero, 1 - zero]]


TOTAL, STEPS = 1000, 1 << 30  # numbers of equally likely integers for a sign and for a rounding


@dataclass(frozen=True)
class CustomCoordinate(ldp.Mechanism):
    """The randomized sign of one random coordinate of a vector in a box [-radius, radius]^dim."""

    dim: int
    epsilon: float
    radius: float = 1.0

    def __post_init__(self) -> None:
        odds = math.exp(self.epsilon)
        heads = int(TOTAL * odds / (1 + odds))
        scale = self.dim * self.radius * TOTAL / (2 * heads - TOTAL)
        self.define(
            epsilon_realized=privacy.Channel([[heads, TOTAL - heads], [TOTAL - heads, heads]]).epsilon(),
            domain=Ball(self.dim, self.radius, "linf"),
            report=Codes(2 * self.dim),  # 2 j: coordinate j is negative; 2 j + 1: it is positive
            debiasing=MatrixDebiasing(np.kron(np.eye(self.dim), [[-scale], [scale]])),
            heads=heads,
            scale=scale,
        )

    def privatize_block(self, records, words):
        n = len(records)
        coordinates = words.below(self.dim, n).astype(np.int64)
        x = records[np.arange(n), coordinates].astype(np.float64)
        with np.errstate(invalid="ignore"):
            is_positive = words.below(STEPS, n) < (1 + x / self.radius) / 2 * STEPS
        is_kept = words.below(TOTAL, n) < self.heads
        return 2 * coordinates + (is_positive == is_kept)

    def report_variance(self, records):
        return self.scale**2 / self.dim - records.astype(np.float64) ** 2

    @property
    def worst_variance(self):
        return self.scale**2 / self.dim


MECHANISMS = [
    CustomCircle(4, 0.5),
    CustomCircle(7, 1.5),
    CustomForced(6, 3),
    CustomCoordinate(1, 2.0),
    CustomCoordinate(3, 1.0, 2.0),
]
FROM_CHANNEL = MECHANISMS[:3]
FROM_BLOCKS = MECHANISMS[3:]


each_mechanism = each("mechanism", MECHANISMS, ids=repr)


def given_words(*columns):
    """Return words whose calls of `below` return the given columns of integers in order."""
    remaining = iter(columns)

    def below(bound, n):
        column = np.asarray(next(remaining), np.uint64)
        assert len(column) == n
        assert column.max() < bound
        return column

    return SimpleNamespace(below=below)


def counts_of(mechanism, record):
    """Return, for each report, the number of equally probable words that give it for a record.

    The roundings of `CustomCoordinate` are eighths, which is exact for multiples of a quarter of the radius.
    """
    if isinstance(mechanism, CustomCoordinate):
        grid = np.array(list(itertools.product(range(mechanism.dim), range(8), range(TOTAL)))).T
        n, words = grid.shape[1], given_words(grid[0], grid[1] * (STEPS // 8), grid[2])
    else:
        rows = [[Fraction(entry) for entry in row] for row in mechanism._recipe.law.rows()]
        n = int(sum(rows[0]) * math.lcm(*(entry.denominator for row in rows for entry in row)))
        words = given_words(range(n))
    records = np.repeat(np.asarray(record)[np.newaxis], n, axis=0)
    reports = mechanism._recipe.kernel.privatize_block(records, words)
    return np.bincount(reports, minlength=mechanism.report.k)


def extreme_records(mechanism):
    """Return all categories, or all vertices of the box."""
    if isinstance(mechanism, CustomCoordinate):
        return mechanism.radius * np.array(list(itertools.product([-1.0, 1.0], repeat=mechanism.dim)))
    return np.arange(mechanism.domain.k)


# Exact properties -----------------------------------------------------------------------------------------------------


@each_mechanism
def test_the_largest_ratio_is_the_realized_epsilon(mechanism):
    """Exact ratios of the probabilities of a report for two records, by enumeration of all words."""
    counts = [counts_of(mechanism, record).tolist() for record in extreme_records(mechanism)]
    channel = privacy.Channel(counts)
    assert channel.epsilon() == mechanism.epsilon_realized <= mechanism.epsilon
    assert mechanism.epsilon_realized > mechanism.epsilon - 0.01
    worst = max(Fraction(max(column), min(column)) for column in zip(*counts, strict=True))
    if isinstance(mechanism, CustomCoordinate):
        assert worst == Fraction(mechanism.heads, TOTAL - mechanism.heads)
    assert math.log(worst) == pytest.approx(mechanism.epsilon_realized, rel=1e-15)
    assert mechanism.guarantee == privacy.Guarantee("local", mechanism.epsilon_realized)


@pytest.mark.parametrize("mechanism", FROM_CHANNEL, ids=repr)
def test_reports_are_drawn_exactly_with_the_given_probabilities(mechanism):
    rows, channel = mechanism._recipe.law.rows(), mechanism.channel()
    assert channel.epsilon() == mechanism.epsilon_realized
    for record, row in enumerate(rows):
        counts = counts_of(mechanism, record).tolist()
        assert [Fraction(count, sum(counts)) for count in counts] == [Fraction(entry) / sum(row) for entry in row]


@pytest.mark.parametrize("mechanism", FROM_BLOCKS, ids=repr)
def test_without_channel_rows_there_is_no_channel(mechanism):
    with raises(ValueError, f"{mechanism!r} has too many reports to enumerate"):
        mechanism.channel()


def inner_records(mechanism):
    """Return the extreme records, and records between them in quarters of the radius."""
    records = extreme_records(mechanism)
    if isinstance(mechanism, CustomCoordinate):
        inner = mechanism.radius * np.random.default_rng(1).integers(-4, 5, (5, mechanism.dim)) / 4
        records = np.concatenate([records, inner])
    return records


@each_mechanism
def test_decoded_reports_have_the_record_as_mean_and_the_stated_variance(mechanism):
    """Sums over all reports, with their exact probabilities."""
    records = inner_records(mechanism)
    decoded = mechanism.decode(np.arange(mechanism.report.k, dtype=mechanism.report.code))
    counts = np.array([counts_of(mechanism, record) for record in records])
    probabilities = counts / counts.sum(axis=1, keepdims=True)
    truth = records if isinstance(mechanism, CustomCoordinate) else np.eye(mechanism.domain.k)
    size = np.abs(decoded).max()
    np.testing.assert_allclose(probabilities @ decoded, truth, rtol=0, atol=1e-13 * size)
    variance = probabilities @ decoded**2 - truth**2
    np.testing.assert_allclose(mechanism.variance(records), variance, rtol=0, atol=1e-13 * size**2)


@pytest.mark.long
@each_mechanism
def test_worst_variance_bounds_the_variance_of_every_population(mechanism):
    """Variance of noise and sampling, for populations that are uniform on a pair of records."""
    decoded = mechanism.decode(np.arange(mechanism.report.k, dtype=mechanism.report.code))
    worst = 0.0
    for pair in itertools.combinations_with_replacement(inner_records(mechanism), 2):
        counts = sum(counts_of(mechanism, record) for record in pair)
        probabilities = counts / counts.sum()
        worst = max(worst, (probabilities @ decoded**2 - (probabilities @ decoded) ** 2).max())
    assert worst <= mechanism.worst_variance * (1 + 1e-12)
    assert worst >= mechanism.worst_variance - 0.25 - 1e-12


# Methods of the base class --------------------------------------------------------------------------------------------


@each_mechanism
def test_reports_have_the_dtype_and_shape_of_the_format(mechanism):
    x = records_of(mechanism, 50)
    reports = mechanism.privatize(x)
    assert (reports.dtype, reports.shape) == (np.uint8, (50,))
    assert reports.max() < mechanism.report.k
    assert_same(mechanism.report.validate(reports), reports)
    assert mechanism.privatize(x[0]).shape == ()
    assert mechanism.privatize(x[:0]).shape == (0,)
    assert mechanism.report_bits == math.ceil(math.log2(mechanism.report.k))
    out = np.empty(50, np.uint8)
    assert mechanism.privatize(x, rng=5, out=out) is out
    assert_same(out, mechanism.privatize(x, rng=5))


@each_mechanism
def test_the_same_seed_gives_the_same_reports_and_another_seed_others(mechanism):
    x = records_of(mechanism, 2000)
    reports = mechanism.privatize(x, rng=1)
    assert_same(mechanism.privatize(x, rng=1), reports)
    assert (mechanism.privatize(x, rng=2) != reports).any()
    assert (mechanism.privatize(x) != mechanism.privatize(x)).any()


@each_mechanism
def test_blocks_have_their_own_words(mechanism):
    rows = mechanism._recipe.kernel.rows
    reports = mechanism.privatize(np.repeat(records_of(mechanism, 1), 2 * rows, axis=0), rng=1)
    assert (reports[:rows] != reports[rows:]).any()


@each("piece_bytes", [1, record_recipe.PIECE_BYTES])
@each_mechanism
def test_run_equals_estimate_of_privatize(mechanism, piece_bytes, monkeypatch):
    monkeypatch.setattr(record_recipe, "PIECE_BYTES", piece_bytes)
    for n in (1, 4095, 4097, 3 * 4096 + 7):
        x = records_of(mechanism, n)
        assert_same_estimate(mechanism.run(x, rng=5), mechanism.estimate(mechanism.privatize(x, rng=5)))


@each_mechanism
def test_the_number_of_threads_changes_nothing(mechanism, threads, monkeypatch):
    x = records_of(mechanism, 7 * 4096 + 5)
    reports, estimate = mechanism.privatize(x, rng=5), mechanism.run(x, rng=5)
    aggregated = mechanism.aggregator().update(reports).to_bytes()
    monkeypatch.setattr(thread_pool, "_threads", 1)
    monkeypatch.setattr(thread_pool, "SMALL", 1 << 62)
    assert_same(mechanism.privatize(x, rng=5), reports)
    assert_same_estimate(mechanism.run(x, rng=5), estimate)
    assert mechanism.aggregator().update(reports).to_bytes() == aggregated


@each_mechanism
def test_the_estimate_is_the_mean_of_the_decoded_reports(mechanism):
    reports = mechanism.privatize(records_of(mechanism, 500), rng=5)
    estimate, decoded = mechanism.estimate(reports), mechanism.decode(reports)
    np.testing.assert_allclose(estimate.value, decoded.mean(axis=0), rtol=0, atol=1e-12 * np.abs(decoded).max())
    assert (estimate.n, estimate.guarantee) == (500, mechanism.guarantee)
    np.testing.assert_allclose(np.sqrt(np.diag(estimate.covariance)), estimate.stderr, rtol=1e-12)
    np.testing.assert_allclose(estimate.stderr * math.sqrt(500), decoded.std(axis=0), rtol=0.05)
    low, high = estimate.interval()
    assert (low < estimate.value).all()
    assert (estimate.value < high).all()


@each_mechanism
def test_aggregators_merge_and_return_from_their_bytes(mechanism):
    reports = mechanism.privatize(records_of(mechanism, 300), rng=5)
    whole = mechanism.aggregator().update(reports)
    parts = [mechanism.aggregator().update(part) for part in (reports[:100], reports[100:])]
    merged = parts[0].merge(ldp.Aggregator.from_bytes(parts[1].to_bytes()))
    assert merged == whole
    assert merged.to_bytes() == whole.to_bytes()
    assert ldp.Aggregator.from_bytes(whole.to_bytes()).question == mechanism
    assert_same_estimate(ldp.Aggregator.from_bytes(whole.to_bytes()).estimate(), mechanism.estimate(reports))
    assert repr(mechanism) in repr(whole)


@each_mechanism
def test_invalid_reports_are_rejected(mechanism):
    k, aggregator = mechanism.report.k, mechanism.aggregator()
    with raises(ValueError, f"reports must be codes in [0, {k}); index 1 is outside"):
        aggregator.update(np.array([0, k], np.uint8))
    assert aggregator.n == 0


@pytest.mark.filterwarnings("ignore:.* had NaN:ldpfast.ClippedWarning")
def test_invalid_records_are_rejected_or_clipped():
    circle, coordinate = CustomCircle(7, 1.5), CustomCoordinate(3, 1.0, 2.0)
    with raises(ValueError, "x must be integers in [0, k) with k=7; index 1 is outside (1 of 2 are)"):
        circle.privatize([0, 7])
    x = np.array([[1.0, np.nan, -9.0], [2.0, np.inf, -np.inf]])
    what = "rows of linf norm at most radius = 2.0; index 0 is NaN (2 of 2 are invalid, 1 of them NaN)"
    with raises(ValueError, f"x must be {what}{CLIP_HINT}"):
        coordinate.privatize(x)
    assert coordinate.privatize(x, clip=True).max() < 6


@dataclass(frozen=True)
class CustomTrusting(ldp.Mechanism):
    """A threshold that is not limited: a record outside of the domain would be reported with a larger probability."""

    low: float = -1.0
    high: float = 1.0

    def __post_init__(self) -> None:
        self.define(
            epsilon=math.log(3),
            epsilon_realized=math.log(3),
            domain=Interval(self.low, self.high),
            report=Codes(2, onehot=False),
            debiasing=ldp.results.Debiasing(-2.0, 2.0),
        )

    def privatize_block(self, records, words):
        assert ((records >= self.low) & (records <= self.high)).all()
        return words.below(1 << 32, len(records)) < (0.5 + records.astype(np.float64) / 4) * (1 << 32)


@dataclass(frozen=True)
class CustomEncoded(CustomTrusting):
    """The same with a function that encodes records."""

    def encode(self, records):
        assert ((records >= self.low) & (records <= self.high)).all()
        return records


@pytest.mark.filterwarnings("ignore::ldpfast.ClippedWarning")
@each("dtype", ["float32", "float64", "float16"])
@each("kind", [CustomTrusting, CustomEncoded])
def test_records_are_clipped_before_custom_code_sees_them(kind, dtype):
    """Equal reports for a record outside and the nearest valid one, so that their probabilities have the ratio 1."""
    mechanism, n = kind(), 8 * 600
    x = np.resize(np.array([3.0, -3.0, np.inf, -np.inf, np.nan, 0.5, 1.0, -1.0], dtype), n)
    nearest = np.resize(np.array([1.0, -1.0, 1.0, -1.0, 0.0, 0.5, 1.0, -1.0], dtype), n)
    expected = mechanism.privatize(nearest, rng=5)
    assert_same(mechanism.privatize(x, rng=5, clip=True), expected)
    assert_same(ldp.Query(0, mechanism).privatize(x, rng=5), expected)
    out = np.empty_like(expected)
    assert_same(mechanism.privatize(x, rng=5, clip=True, out=out), expected)
    assert_same_estimate(mechanism.run(x, rng=5, clip=True), mechanism.run(nearest, rng=5))
    assert mechanism.collect(x, rng=5, clip=True) == mechanism.collect(nearest, rng=5)
    keys = ldp.PersonKeys(bytes(32), np.arange(n), question="q")
    assert_same(mechanism.privatize(x, rng=keys, clip=True), mechanism.privatize(nearest, rng=keys))
    for record, valid in zip(x[:8], nearest[:8], strict=True):
        assert_same(mechanism.privatize(record, rng=5, clip=True), mechanism.privatize(valid, rng=5))


@each_mechanism
def test_repr_dict_pickle_and_copy_give_equal_mechanisms(mechanism):
    names = {"CustomCircle": CustomCircle, "CustomForced": CustomForced, "CustomCoordinate": CustomCoordinate}
    described = json.loads(json.dumps(mechanism.to_dict()))
    others = [
        eval(repr(mechanism), {"__builtins__": {}, **names}),
        ldp.Mechanism.from_dict(described),
        type(mechanism).from_dict(described),
        *(pickle.loads(pickle.dumps(mechanism, protocol)) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)),
        copy.copy(mechanism),
        copy.deepcopy(mechanism),
    ]
    x = records_of(mechanism, 50)
    for other in others:
        assert type(other) is type(mechanism)
        assert other == mechanism
        assert hash(other) == hash(mechanism)
        assert other.epsilon_realized == mechanism.epsilon_realized
        assert_same(other.privatize(x, rng=5), mechanism.privatize(x, rng=5))
    assert len(set(MECHANISMS)) == len(MECHANISMS)


@each_mechanism
def test_mechanisms_are_frozen(mechanism):
    for name in (*mechanism._parameter_names(), "epsilon_realized", "new"):
        with pytest.raises(AttributeError):
            setattr(mechanism, name, 2)


@each_mechanism
def test_queries_can_hold_custom_mechanisms(mechanism):
    query = ldp.Query(3, mechanism)
    other = ldp.Query.from_bytes(query.to_bytes())
    assert other == query
    x = records_of(mechanism, 20)
    assert_same(other.privatize(x, rng=5), mechanism.privatize(x, rng=5))


# Audit and comparison -------------------------------------------------------------------------------------------------


@each_mechanism
def test_an_audit_confirms_the_realized_epsilon(mechanism):
    """The lower bound holds with a confidence of 1 - ALPHA, and is near the true value."""
    x, *_, opposite = extreme_records(mechanism)
    if isinstance(mechanism, CustomCircle):
        opposite = mechanism.k // 2
    lower = privacy.audit(mechanism, x, opposite, 400_000, confidence=1 - ALPHA, rng=STATISTICS_SEED)
    assert 0.85 * mechanism.epsilon_realized < lower <= mechanism.epsilon_realized


@dataclass(frozen=True)
class CustomFalseClaim(CustomCoordinate):
    """A mechanism whose loss is twice what it claims."""

    def define(self, **values):
        realized = CustomCoordinate(self.dim, self.epsilon / 2).epsilon_realized
        super().define(**values | {"epsilon_realized": realized})


def test_an_audit_detects_a_false_claim():
    mechanism = CustomFalseClaim(1, 2.0)
    assert mechanism.epsilon_realized <= 1.0
    assert privacy.audit(mechanism, [-1.0], [1.0], 100_000, confidence=1 - ALPHA, rng=STATISTICS_SEED) > 1.5


@pytest.mark.claim("A mechanism of your own cannot claim a smaller loss than that of its rows.", "Privacy of reports")
@pytest.mark.parametrize("claim", [0.0, 1.0, math.log(3) * (1 - 1e-9)])
def test_a_claim_below_the_loss_of_the_rows_is_an_error(claim):
    with pytest.raises(ValueError, match=r"epsilon_realized must be at least the loss of channel_rows, 1\.098"):
        CustomRows(((3, 1), (1, 3)), claim)


@pytest.mark.parametrize("pair", [(3, 1), (10, 1), (2**64 - 1, 1), (10**9 + 1, 10**9)])
def test_a_claim_is_the_exact_loss_rounded_up_or_more(pair):
    rows = (pair, pair[::-1])
    loss = privacy.Channel(rows).epsilon()
    assert CustomRows(rows, loss).epsilon_realized == loss
    with pytest.raises(ValueError, match="epsilon_realized must be at least the loss of channel_rows"):
        CustomRows(rows, math.nextafter(loss, 0))


def test_a_claim_above_epsilon_is_an_error():
    @dataclass(frozen=True)
    class CustomClaim(ldp.Mechanism):
        epsilon: float
        claim: float

        def __post_init__(self) -> None:
            self.define(epsilon_realized=self.claim, domain=Categories(2), report=Codes(2))

        def channel_rows(self):
            return [[2, 1], [1, 2]]

    assert CustomClaim(1.0, 0.7).epsilon_realized == 0.7
    for claim in (1.1, -0.1, math.nan, math.inf):
        with raises(ValueError, f"epsilon_realized must be in [0, epsilon] with epsilon=1.0, got {claim}"):
            CustomClaim(1.0, claim)


def test_comparison_with_the_mechanisms_of_the_library_for_categories():
    """The error is the sum of the variances of the shares for a population with equal shares."""
    mechanism, n = CustomCircle(7, 1.5), 10_000
    comparison = bounds.compare("multinomial", n, 1.5, k=7, mechanisms=[mechanism])
    library = bounds.compare("multinomial", n, 1.5, k=7)
    (row,) = set(comparison.rows) - set(library.rows)
    assert len(comparison.rows) == len(library.rows) + 1
    probabilities = mechanism.channel().matrix.mean(axis=0)
    decoded = mechanism.decode(np.arange(7, dtype=np.uint8))
    error = (probabilities @ decoded**2 - (probabilities @ decoded) ** 2).sum() / n
    assert (row.mechanism, row.kind, row.bits) == (repr(mechanism), "exact", 3)
    assert row.error == pytest.approx(error, rel=1e-12)
    assert row.efficiency == pytest.approx(float(comparison.bound.lower) / error, rel=1e-12)
    assert row.efficiency <= 1
    assert repr(mechanism) in str(comparison)


def test_comparison_with_the_mechanisms_of_the_library_for_vectors():
    """The report decodes to one coordinate of magnitude `scale`, so its second moment at the mean 0 is scale^2."""
    mechanism, n = CustomCoordinate(5, 1.0), 10_000
    comparison = bounds.compare("mean_l2", n, 1.0, dim=5, mechanisms=[mechanism])
    (row,) = (row for row in comparison.rows if row.mechanism == repr(mechanism))
    assert row.error == pytest.approx(mechanism.scale**2 / n, rel=1e-12)
    assert row.bits == 4
    assert [row.error for row in comparison.rows] == sorted(row.error for row in comparison.rows)


def test_the_example_of_the_documentation_runs(capsys):
    page = (Path(__file__).parents[2] / "docs/custom_mechanism.md").read_text()
    blocks, variables = python_blocks(page), {}
    assert len(blocks) >= 3
    for code in blocks:
        exec(compile(code, "docs/custom_mechanism.md", "exec", dont_inherit=True), variables)
        assert capsys.readouterr().out
    dice = variables["dice"]
    assert dice.channel().epsilon() <= dice.epsilon_realized


# Errors ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CustomRows(ldp.Mechanism):
    """Any rows as a channel for two categories."""

    rows: tuple[tuple[object, ...], ...]
    claim: float = 10.0

    def __post_init__(self) -> None:
        self.define(epsilon_realized=self.claim, domain=Categories(2), report=Codes(2))

    def channel_rows(self):
        return self.rows


def test_a_mechanism_needs_a_channel_or_a_block_function():
    @dataclass(frozen=True)
    class CustomNeither(ldp.Mechanism):
        domain: object
        report: object

        def __post_init__(self) -> None:
            self.define(epsilon_realized=1.0, domain=self.domain, report=self.report)

    @dataclass(frozen=True)
    class CustomInterval(CustomNeither):
        def channel_rows(self):
            return [[3, 1], [1, 3]]

    wanted = "must define privatize_block, or channel_rows with a domain of Categories and reports of Codes"
    with raises(TypeError, f"CustomNeither {wanted}"):
        CustomNeither(Categories(2), Codes(2))
    with raises(TypeError, f"CustomInterval {wanted}"):
        CustomInterval(Interval(0.0, 1.0), Codes(2))
    with raises(TypeError, f"CustomInterval {wanted}"):
        CustomInterval(Categories(2), ldp.reports.Bits(2))


def test_a_mechanism_is_a_dataclass():
    class CustomPlain(ldp.Mechanism):
        def __init__(self) -> None:
            self.define(epsilon_realized=1.0, domain=Categories(2), report=Codes(2))

        def channel_rows(self):
            return [[3, 1], [1, 3]]

    with raises(TypeError, "CustomPlain must be a dataclass, whose fields are its parameters"):
        CustomPlain()


@pytest.mark.parametrize(
    "rows", [((1, 2), (2, 2)), ((1, 2**64), (2**64, 1)), ((Fraction(1, 2**65),) * 2, (1, 1)), ((0, 0), (0, 0))]
)
def test_rows_have_equal_sums_of_at_most_64_bits(rows):
    with raises(ValueError, "channel_rows must have equal, positive sums, of at most 2^64 in integers"):
        CustomRows(rows)


def test_rows_have_the_shape_of_the_channel():
    for rows in (((1, 1),), ((1, 1), (1, 1), (1, 1)), ((1, 1, 1), (1, 1, 1)), ((2,), (2,))):
        with raises(ValueError, "channel_rows must have 2 rows of 2 entries"):
            CustomRows(rows)
    with raises(ValueError, "channel_rows must not have negative entries"):
        CustomRows(((3, -1), (1, 1)))


@each(
    "made, error, message",
    [
        ([0, 5], ValueError, "reports must be codes in [0, 2); index 1 is outside"),
        ([0, 300], TypeError, "reports must have dtype uint8"),
        ([0, -1], TypeError, "reports must have dtype uint8"),
        ([0.0, 1.0], TypeError, "reports must have dtype uint8"),
        ([0], ValueError, "privatize_block must return 2 reports, got 1"),
        ([[0], [1]], ValueError, "reports must have shape (n,)"),
    ],
)
def test_reports_of_a_block_are_checked(made, error, message):
    @dataclass(frozen=True)
    class CustomConstant(ldp.Mechanism):
        def __post_init__(self) -> None:
            self.define(epsilon_realized=0.0, domain=Categories(2), report=Codes(2))

        def privatize_block(self, records, words):
            return made

    mechanism, out = CustomConstant(), np.full(2, 7, np.uint8)
    with pytest.raises(error, match=re.escape(message)):
        mechanism.privatize([0, 1], out=out)
    assert out.tolist() == [7, 7]
    with pytest.raises(error, match=re.escape(message)):
        mechanism.run([0, 1])


@pytest.mark.parametrize("rows", [((3, 1), (1, 3)), ((2**63 + 5, 2**63 - 5), (2**62, 3 * 2**62))])
def test_rows_may_use_all_64_bits(rows):
    """The threshold of report 1 is the first entry: a word equal to it gives report 1, one unit less gives report 0."""
    mechanism = CustomRows(rows)
    for record, (first, _) in enumerate(rows):
        words = given_words([first - 1, first])
        assert mechanism._recipe.kernel.privatize_block(np.full(2, record), words).tolist() == [0, 1]


def test_dependent_rows_are_refused():
    with pytest.raises(ValueError, match=r"^channel_rows must be linearly independent, and not nearly dependent"):
        CustomRows(((3, 1), (3, 1)))


def test_without_a_variance_there_is_a_clear_error():
    @dataclass(frozen=True)
    class CustomSilent(CustomCoordinate):
        report_variance = None
        worst_variance = ldp.Mechanism.worst_variance

    mechanism = CustomSilent(3, 1.0)
    assert mechanism.privatize(np.zeros((5, 3))).shape == (5,)
    with raises(NotImplementedError, f"{mechanism!r} must have report_variance, or channel_rows"):
        mechanism.variance(np.zeros((5, 3)))
    with raises(NotImplementedError, f"{mechanism!r} must have worst_variance"):
        _ = mechanism.worst_variance


@each("name", ["channel_rows", "report_variance", "report_state"])
def test_a_subclass_of_a_mechanism_of_the_package_cannot_change_its_law(name):
    """It would be ignored: the distribution is that of the coins."""
    kind = dataclass(frozen=True)(type("Changed", (ldp.RandomizedResponse,), {name: lambda self, *arguments: None}))
    with raises(
        TypeError,
        f"Changed must not define {name}: the distribution of its reports is that of RandomizedResponse, whose law has it",
    ):
        kind(3, 1.0)


# Distribution ---------------------------------------------------------------------------------------------------------

N = 200_000


@each("bound", [2, 3, 7, 1000, (1 << 63) + 1, 3 << 62, (1 << 64) - 1, 1 << 64])
def test_integers_below_a_bound_are_uniform(bound):
    """Shares of at most 8 ranges of equal size. Detects 0.8 percentage points in a range.

    Without rejection, the first third of the integers below 3 2^62 would have a probability of 1/2.
    """
    parts = min(8, bound)
    values = Words(stream.Stream(KEY), 0).below(bound, N)
    assert int(values.max()) < bound
    edges = [bound * i // parts for i in range(parts + 1)]
    at_least = [int((values >= np.uint64(edge)).sum()) for edge in edges[:-1]]
    counts = -np.diff([*at_least, 0])
    expected = np.diff(np.array(edges, object)).astype(np.float64) / bound
    assert_counts(counts, N, expected, detects=0.008)


def test_integers_of_different_blocks_and_calls_are_independent():
    """Two sequences of integers below 8 agree in 1/8 of the positions. Detects an error of 0.6 percentage points."""
    words = [Words(stream.Stream(KEY), number) for number in (0, 1)]
    draws = [w.below(8, N) for w in words for _ in range(2)]
    for a, b in itertools.combinations(draws, 2):
        assert_counts((a == b).sum(), N, 1 / 8, detects=0.006, alpha=ALPHA / 6)


@each_mechanism
def test_reports_follow_the_channel(mechanism):
    """Detects errors of a cell above 0.9 percentage points."""
    for record in extreme_records(mechanism):
        reports = mechanism.privatize(np.repeat(np.asarray(record)[np.newaxis], N, axis=0), rng=STATISTICS_SEED)
        counts = counts_of(mechanism, record)
        observed = np.bincount(reports, minlength=len(counts))
        each = ALPHA / len(extreme_records(mechanism))
        assert_counts(observed, N, counts / counts.sum(), detects=0.009, alpha=each)


@each_mechanism
def test_estimates_have_the_mean_of_the_records(mechanism):
    """Bernstein's inequality with the exact variance of each record; detects a bias of seven standard errors."""
    x = records_of(mechanism, N)
    truth = x if isinstance(mechanism, CustomCoordinate) else np.eye(mechanism.domain.k)[x]
    decoded = mechanism.decode(np.arange(mechanism.report.k, dtype=np.uint8))
    bound = np.abs(decoded).max() + np.abs(truth).max()
    radius = bernstein_radius(mechanism.variance(x).mean(axis=0), bound, N, ALPHA / truth.shape[1])
    assert (np.abs(mechanism.run(x, rng=STATISTICS_SEED).value - truth.mean(axis=0)) <= radius).all()
