"""Runs in one process, and simulated counts: who is asked what, randomness, threads and memory."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from scipy import stats

import ldpfast as ldp
from ldpfast.estimation import GaussianMean
from ldpfast.reports import recipe_of

from ...support.errors import state_of_record
from ...support.gaussian import KNOWN, PROTOCOLS, SEED, assert_same_gaussian, design_of, make, normals, quiet
from ...support.internals.gaussian import Part, Plan, distribution, simulation
from ...support.internals.shared import open_stream, thread_pool
from ...support.memory import peak_memory
from ...support.modules import module_of
from ...support.statistics import ALPHA, assert_counts, normal_margin

# Groups and blocks ----------------------------------------------------------------------------------------------------


class RecordingPipeline:
    """A pipeline that also stores the records that it counts, and the numbers of their blocks."""

    def __init__(self, pipeline):
        self.pipeline, self.kernel = pipeline, pipeline.kernel
        self.records, self.blocks = [], []

    def __getattr__(self, name):
        return getattr(object.__getattribute__(self, "__dict__")["pipeline"], name)

    def collect_block(self, records, stream, block, state, check):
        self.records.append(records.copy())
        first = self.pipeline.first_block + block
        self.blocks += range(first, first - (-len(records) // self.kernel.rows))
        self.pipeline.collect_block(records, stream, block, state, check)


@pytest.fixture
def recorded(monkeypatch):
    """One recording pipeline for each group that a run asks, in the order of the rounds."""
    pipelines = []

    def recording_ask(plan, part, questions, *rest):
        originals = [recipe_of(question) for question in questions]
        for question, original in zip(questions, originals, strict=True):
            pipelines.append(RecordingPipeline(original))
            object.__setattr__(question, "_recipe", pipelines[-1])
        try:
            return simulation.ask(plan, part, questions, *rest)
        finally:
            for question, original in zip(questions, originals, strict=True):
                object.__setattr__(question, "_recipe", original)

    monkeypatch.setattr(module_of(GaussianMean), "ask", recording_ask)
    return pipelines


@pytest.mark.parametrize("n", [5000, 20_011, 70_001])
def test_run_asks_each_person_the_question_of_the_plan(options, n, recorded, monkeypatch):
    """Records are the numbers of the people. The records of each group are compared with `place`."""
    monkeypatch.setattr(simulation, "PIECE_ROWS", 1 << 10)
    server = make(options, 2.0)
    plan = server.plan(n)
    quiet(server.run, np.arange(n, dtype=float), rng=SEED)
    place, group = plan.place(np.arange(n))
    groups = [(round_, g) for round_, sizes in enumerate(plan.rounds) for g in range(len(sizes))]
    assert len(groups) == len(recorded) > 3
    for (round_, g), pipeline in zip(groups, recorded, strict=True):
        asked = np.concatenate([records.ravel() for records in pipeline.records])
        assert asked.tolist() == np.flatnonzero((place == round_) & (group == g)).tolist()


@pytest.mark.parametrize("n", [997, 20_011])
def test_no_two_groups_share_random_words(n, recorded, monkeypatch):
    """Pieces of all groups have blocks of their own."""
    monkeypatch.setattr(simulation, "PIECE_ROWS", 1 << 11)
    for options in PROTOCOLS.values():
        recorded.clear()
        quiet(make(options, 4.0, 10.0).run, np.zeros(n), rng=SEED)
        blocks = [block for pipeline in recorded for block in pipeline.blocks]
        assert blocks
        assert len(set(blocks)) == len(blocks)


# Equal results --------------------------------------------------------------------------------------------------------


def test_result_does_not_depend_on_threads(options, monkeypatch):
    x, server, results = normals(100_003), make(options), []
    monkeypatch.setattr(thread_pool, "SMALL", 1)
    before = ldp.get_num_threads()
    for threads in (1, 2, 3):
        ldp.set_num_threads(threads)
        results.append(quiet(server.run, x, rng=SEED))
    ldp.set_num_threads(before)
    for result in results[1:]:
        assert_same_gaussian(result, results[0])


@pytest.mark.parametrize("n", [30_000, 65_537])
def test_result_does_not_depend_on_the_size_of_pieces(options, n, monkeypatch):
    x, server = normals(n), make(options)
    expected = quiet(server.run, x, rng=SEED)
    for piece in (1, 1 << 12, 1 << 22):
        monkeypatch.setattr(simulation, "PIECE_ROWS", piece)
        assert_same_gaussian(quiet(server.run, x, rng=SEED), expected)


def test_records_in_any_layout(tmp_path):
    """Integers that single precision represents: strides, byte order, dtype and memory maps make no difference."""
    server, x = make(KNOWN), np.rint(normals(20_003, sigma=20.0))
    expected = quiet(server.run, x, rng=SEED)
    np.save(tmp_path / "x.npy", x)
    for form in (
        x.astype(np.float32),
        x.astype(np.int16),
        x.astype(">f8"),
        x.astype(np.float16),
        x.tolist(),
        np.repeat(x, 3)[::3],
        x[::-1].copy()[::-1],
        np.load(tmp_path / "x.npy", mmap_mode="r"),
    ):
        assert_same_gaussian(quiet(server.run, form, rng=SEED), expected)


def test_seeds_give_reproducible_estimates(options):
    server, x = make(options), normals(10_000)
    for call in (lambda rng: server.run(x, rng=rng), lambda rng: server.simulate(10_000, 3.7, 2.0, rng=rng)):
        one = quiet(call, 5)
        assert_same_gaussian(quiet(call, 5), one)
        assert_same_gaussian(quiet(call, np.random.SeedSequence(5)), one)
        assert quiet(call, 6).value != one.value
        # Six runs, because counts of the published protocol are often equal.
        assert len({quiet(call, None).value for _ in range(6)}) > 1
        rng = np.random.default_rng(5)
        assert quiet(call, rng).value != quiet(call, rng).value


def test_run_does_not_change_the_server(options):
    """A run is a protocol of its own: earlier answers of the server do not matter."""
    server = make(options, n=10_000)
    before, expected = server.to_bytes(), quiet(make(options, n=10_000).run, normals(10_000), rng=SEED)
    assert_same_gaussian(quiet(server.run, normals(10_000), rng=SEED), expected)
    assert server.to_bytes() == before
    query = server.query(0)
    server.update(query, query.privatize(normals(7), rng=1))
    before = server.to_bytes()
    assert_same_gaussian(quiet(server.run, normals(10_000), rng=SEED), expected)
    quiet(server.simulate, 10_000, 0.0, 1.0)
    assert (server.to_bytes(), server.n) == (before, 7)


# Invalid input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_records_that_are_not_finite_are_errors(options, bad):
    """In the search, in the second part, or in the last period. The server is unchanged."""
    server = make(options, 2.0)
    before = server.to_bytes()
    for place in (0, 40, 9000, 10_006):
        x = normals(10_007)
        x[place] = bad
        with pytest.raises(
            ValueError,
            match=rf"^x must be finite numbers; index {place} is {state_of_record(bad)} \(1 of 10007 are\)\. clip=True",
        ):
            server.run(x, rng=1)
    assert server.to_bytes() == before


def test_a_record_that_is_not_finite_is_an_error_at_every_place(options):
    """Every person of a period can be in another group, and groups have different questions."""
    server, records = make(options, 2.0), normals(10_007)
    for place in range(120):
        x, bad = records.copy(), (math.nan, math.inf)[place % 2]
        x[place] = bad
        with pytest.raises(ValueError, match=rf"^x must be finite numbers; index {place} is {state_of_record(bad)}"):
            server.run(x, rng=1)


def test_records_of_other_shapes_and_types_are_errors():
    server = make(KNOWN)
    for x, kind in ((np.zeros((2, 2)), ValueError), (["a"], TypeError), (np.zeros(9, complex), TypeError)):
        with pytest.raises(kind, match=r"^x must "):
            server.run(x)


def test_invalid_parameters_of_a_simulation_are_errors():
    server = make(KNOWN)
    for mu, sigma in ((math.nan, 1.0), (math.inf, 1.0), (0.0, 0.0), (0.0, -1.0), (0.0, math.inf)):
        with pytest.raises(ValueError, match=r"^(mu|sigma) must be a finite number"):
            server.simulate(10_000, mu, sigma)
    with pytest.raises(TypeError, match=r"^mu must be a number, got str$"):
        server.simulate(10_000, "0", 1.0)


# Memory ---------------------------------------------------------------------------------------------------------------


def test_memory_of_a_run_does_not_depend_on_n():
    """Less than 16 MB for 160 MB of records."""
    server, x = make(KNOWN), np.broadcast_to(np.float32(3.7), 40_000_000)
    quiet(server.run, x[:100_000], rng=SEED)
    assert peak_memory(lambda: quiet(server.run, x, rng=SEED)) < 16 << 20


def test_memory_of_a_simulation_does_not_depend_on_n():
    """Less than 16 MB for a billion people."""
    server = make(KNOWN, mu_bound=4096.0)
    assert peak_memory(lambda: server.simulate(10**9, -250.3, 2.0, rng=SEED)) < 16 << 20
    estimate = server.simulate(10**9, -250.3, 2.0, rng=SEED)
    assert estimate.n == 10**9
    assert abs(estimate.value + 250.3) < normal_margin() * estimate.stderr < 1e-2


# Distributions --------------------------------------------------------------------------------------------------------


def test_simulated_counts_have_mean_and_variance_of_a_multinomial():
    """Exact limits for the sums over all runs, which are binomial, and normal ones for the mean squares.

    The fourth moment of a count is about three times the square of its variance. Detects an error of a probability of 0.003
    and a relative error of the variance of 0.3.
    """
    runs, n, rng = 2000, 1001, np.random.default_rng(SEED)
    question = ldp.Residue(1.0, 0.0, 4, 1.0)
    part = Part(0, 1, 1)
    plan = Plan(n, ((n,),), kappa=0.0, safe_kappa=0.0, search=part, second=part)
    counts = np.array([simulation.simulate(plan, part, (question,), 0.4, 0.8, rng)[0].counts for _ in range(runs)])
    assert (counts.sum(axis=1) == n).all()
    p = distribution.ReportDistribution([question]).reports(0.4, 0.8).value[0]
    variance = n * p * (1 - p)
    assert_counts(counts.sum(axis=0), n * runs, p, detects=0.003)
    spread = np.mean((counts - n * p) ** 2, axis=0) / variance
    assert (np.abs(spread - 1) < normal_margin(4) * math.sqrt(2 / runs)).all()


@pytest.mark.long
@pytest.mark.parametrize("method, scale", [("robust", {"sigma": 2.0}), ("paper", {"sigma_bounds": (0.5, 8.0)})])
def test_simulations_and_runs_have_equal_distributions(method, scale):
    """Two-sample Kolmogorov-Smirnov tests of the estimates: detect distributions with a distance of 0.35."""
    runs, n, model = 250, 4000, GaussianMean(2.0, mu_bound=16.0, method=method, **scale)
    rng = np.random.default_rng(SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few people that the published rules may fail
        simulated = [model.simulate(n, 3.7, 2.0, rng=rng) for _ in range(runs)]
        run = [model.run(rng.normal(3.7, 2.0, n), rng=rng) for _ in range(runs)]
    for name in ("value", "stderr", "center"):
        one, other = ([getattr(estimate, name) for estimate in sample] for sample in (simulated, run))
        assert stats.ks_2samp(one, other).pvalue > ALPHA


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_counts_of_a_run_follow_the_distribution_of_each_group(epsilon):
    """Every cell of every group: detects errors of 7 percentage points, and so a wrong question, group or record."""
    model, n, mu, sigma = GaussianMean(epsilon, sigma_bounds=(1.0, 4.0), mu_bound=30.0, rounds=1), 400_000, -7.3, 2.0
    x, plan, design = np.random.default_rng(SEED).normal(mu, sigma, n), model.plan(n), design_of(model)
    for part, questions in ((plan.search, design.levels.questions), (plan.second, design.nonadaptive_questions(None))):
        for group in simulation.ask(plan, part, questions, x, open_stream(SEED)):
            p = distribution.ReportDistribution([group.question]).reports(mu, sigma).value[0]
            assert_counts(group.counts, group.n, p, detects=0.07, alpha=ALPHA / 25)
