"""The law of answers of normal records, and what decoders and fits make of it."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, optimize, stats

import ldpfast as ldp
from ldpfast.estimation import GaussianMean
from ldpfast.estimation._gaussian import _fit, _law, _levels, _robust
from ldpfast.estimation._gaussian._design import Model
from ldpfast.estimation._gaussian._law import Law
from ldpfast.estimation._gaussian._paper import Paper
from ldpfast.estimation._gaussian._plan import Part, Plan, ask, simulate

from .support.statistics import ALPHA, bernstein_radius, hoeffding_radius

SEED = 20261123
QUESTIONS = (
    ldp.Residue(1.0, 0.0, 4, 1.0),
    ldp.Residue(0.7, -0.3, 2, 2.0),
    ldp.Residue(math.pi, math.pi / 2, 2, 0.5),
    ldp.Residue(8.0, 0.0, 5, 1.0),
    ldp.Bins((0.4,), 1.0),
    ldp.Bins((-1.5, 0.0, 0.2, 3.0), 3.0),
)
MEANS = (0.0, 0.5, 3.7, -0.1, -250.3, 1e6 + 0.25, -1e9)
SIGMAS = (1e-3, 0.1, 0.25, 0.3499, 0.35, 0.3501, 0.5, 1.0, 3.0, 40.0)


def between(low, high, mu, sigma):
    """P(low <= X < high), by the tail that is the smaller."""
    a, b = (low - mu) / sigma, (high - mu) / sigma
    return stats.norm.sf(a) - stats.norm.sf(b) if a > 0 else stats.norm.cdf(b) - stats.norm.cdf(a)


def chances(question, mu, sigma):
    """Of the symbols: all cells within 12 standard deviations, one by one."""
    if isinstance(question, ldp.Bins):
        ends = (-math.inf, *question.cuts, math.inf)
        return [between(a, b, mu, sigma) for a, b in itertools.pairwise(ends)]
    found = [0.0] * question.modulus
    first, last = (math.floor((mu + side * 12 * sigma - question.offset) / question.width) for side in (-1, 1))
    for cell in range(first, last + 1):
        low = question.offset + cell * question.width
        found[cell % question.modulus] += between(low, low + question.width, mu, sigma)
    return found


# Chances --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("question", QUESTIONS, ids=repr)
def test_chances_are_sums_over_cells(question):
    """Doubles know where in its cell a mean of 1e9 is up to 1e-7: the tolerance grows with it."""
    law = Law([question])
    for sigma in SIGMAS:
        expected = np.array([chances(question, mu, sigma) for mu in MEANS])
        found = law.symbols(np.array(MEANS), sigma)
        rounding = 8 * np.abs(MEANS)[:, np.newaxis] * 2**-53 * (1 / sigma + (question in QUESTIONS[:4]))
        assert (np.abs(found.value - expected) <= 2e-13 + rounding).all()
        np.testing.assert_allclose(found.value.sum(axis=1), 1, rtol=0, atol=1e-14)


@pytest.mark.parametrize("sigma", [0.05, 0.5, 1.0, 5.0])
@pytest.mark.parametrize("question", QUESTIONS[:3], ids=repr)
def test_chances_are_integrals_of_the_density(question, sigma):
    mu, period = -0.1, question.width * question.modulus
    reach = math.ceil(10 * sigma / period)

    def wrapped_density(x):
        return sum(stats.norm.pdf(x + s * period, mu, sigma) for s in range(-reach, reach + 1))

    for symbol, chance in enumerate(Law([question]).symbols(mu, sigma).value[0]):
        low = question.offset + symbol * question.width
        near = (mu - low) % period + low  # where the density has its peak
        points = [near] if low < near < low + question.width else None
        area = integrate.quad(wrapped_density, low, low + question.width, points=points, epsabs=1e-12, limit=200)[0]
        assert chance == pytest.approx(area, rel=0, abs=1e-10)


@pytest.mark.parametrize("question", QUESTIONS[:4], ids=repr)
def test_both_rules_agree_where_they_meet(question):
    """Sums over periods and over harmonics, chances and derivatives, at the switch and a little below."""
    cells, period = np.arange(question.modulus), question.width * question.modulus
    for part in np.linspace(0, 0.999, 23):
        low = (cells * question.width - part * period)[np.newaxis]
        for sigma in (0.95 * _law.NARROW * period, _law.NARROW * period):
            arguments = low, low + question.width, np.full(question.modulus, period), sigma, True
            for one, other in zip(_law._by_periods(*arguments), _law._by_harmonics(*arguments), strict=True):
                np.testing.assert_allclose(one, other, rtol=0, atol=3e-13 * max(1.0, 1 / sigma))


@pytest.mark.parametrize("question", QUESTIONS[:4], ids=repr)
def test_means_a_period_apart_look_alike(question):
    law, period = Law([question]), question.width * question.modulus
    for sigma in (0.1, 1.0, 30.0):
        here = law.symbols(-0.3, sigma).value
        for turns in (-1000, -1, 1, 7):
            np.testing.assert_allclose(law.symbols(-0.3 + turns * period, sigma).value, here, rtol=0, atol=1e-10)


@pytest.mark.parametrize("question", QUESTIONS, ids=repr)
@pytest.mark.parametrize("sigma", [0.08, 0.34, 0.36, 1.0, 6.0])
def test_derivatives_are_finite_differences(question, sigma):
    law, mu = Law([question]), np.array([-1.3, 0.0, 0.45, 2.2])
    found, h = law.symbols(mu, sigma, derive=True), 1e-5 * sigma
    by_mu = (law.symbols(mu + h, sigma).value - law.symbols(mu - h, sigma).value) / (2 * h)
    by_sigma = (law.symbols(mu, sigma + h).value - law.symbols(mu, sigma - h).value) / (2 * h)
    np.testing.assert_allclose(found.by_mu, by_mu, rtol=0, atol=1e-8 / sigma)
    np.testing.assert_allclose(found.by_sigma, by_sigma, rtol=0, atol=1e-8 / sigma)
    np.testing.assert_array_equal(found.value, law.symbols(mu, sigma).value)


def test_reports_go_through_the_channel_in_use():
    """The integers of the coins, not epsilon: `channel` has them as exact fractions."""
    law, found = Law(QUESTIONS), Law(QUESTIONS).reports(0.45, 0.8, derive=True)
    symbols = law.symbols(0.45, 0.8, derive=True)
    for question, piece in zip(QUESTIONS, law.slices, strict=True):
        matrix = question.channel().matrix
        for part in range(3):
            np.testing.assert_allclose(found[part][0, piece], symbols[part][0, piece] @ matrix, rtol=0, atol=1e-15)


def test_questions_share_an_axis():
    law, later = Law(QUESTIONS), Law(QUESTIONS).without(2)
    assert [piece.stop - piece.start for piece in law.slices] == [4, 2, 2, 5, 2, 5]
    assert later.questions == QUESTIONS[2:]
    alone = np.concatenate([Law([question]).reports(0.3, 1.2).value[0] for question in QUESTIONS])
    np.testing.assert_array_equal(law.reports(0.3, 1.2).value[0], alone)
    np.testing.assert_array_equal(later.reports(0.3, 1.2).value[0], alone[6:])
    counts = np.arange(20.0)
    assert law.sizes(counts).tolist() == [6] * 4 + [9] * 2 + [13] * 2 + [50] * 5 + [27] * 2 + [85] * 5
    expected = sum(counts[i] * math.log(alone[i]) for i in range(20))
    assert law.log_likelihood(counts, 0.3, 1.2) == pytest.approx([expected], rel=1e-13)


def test_information_is_the_variance_of_the_score():
    """By the definition, sum over cells of N P (d log P)^2, at one group of each size."""
    law, sizes = Law(QUESTIONS), np.repeat(np.arange(1.0, 7.0), [4, 2, 2, 5, 2, 5])
    h = 1e-5
    logs = [np.log(law.reports(0.3 + a, 1.2 + b).value[0]) for a, b in ((h, 0), (-h, 0), (0, h), (0, -h))]
    slopes = np.array([logs[0] - logs[1], logs[2] - logs[3]]) / (2 * h)
    expected = (slopes * sizes * law.reports(0.3, 1.2).value[0]) @ slopes.T
    np.testing.assert_allclose(law.information(sizes, 0.3, 1.2), expected, rtol=1e-6)
    np.testing.assert_allclose(law.information(sizes, 0.3, 1.2, False), expected[:1, :1], rtol=1e-6)


@pytest.mark.parametrize("question", QUESTIONS, ids=repr)
def test_real_answers_follow_the_law(question):
    """Hoeffding over all symbols: sees an error of a chance of 0.007."""
    n, mu, sigma = 300_000, -0.35, 0.9
    x = np.random.default_rng(SEED).normal(mu, sigma, n)
    shares = np.bincount(question.privatize(x, rng=SEED), minlength=question._coin.k) / n
    t = hoeffding_radius(n, ALPHA / question._coin.k)
    np.testing.assert_allclose(shares, Law([question]).reports(mu, sigma).value[0], rtol=0, atol=t)


# Simulated counts -----------------------------------------------------------------------------------------------------


def test_simulated_counts_have_mean_and_covariance_of_a_multinomial():
    """Bernstein for the means; for the squares, whose fourth moment is about three times their square, 6.2 standard errors.
    Sees a relative error of the variance of 0.2."""
    runs, n, rng = 2000, 1001, np.random.default_rng(SEED)
    question = ldp.Residue(1.0, 0.0, 4, 1.0)
    part = Part(0, 1, 1)
    plan = Plan(n, ((n,),), kappa=0.0, safe_kappa=0.0, search=part, second=part)
    counts = np.array([simulate(plan, part, (question,), 0.4, 0.8, rng)[0].counts for _ in range(runs)])
    assert (counts.sum(axis=1) == n).all()
    p = Law([question]).reports(0.4, 0.8).value[0]
    variance = n * p * (1 - p)
    assert (np.abs(counts.mean(axis=0) - n * p) < bernstein_radius(variance, n, runs, ALPHA / 4)).all()
    spread = np.mean((counts - n * p) ** 2, axis=0) / variance
    assert (np.abs(spread - 1) < 6.4 * math.sqrt(2 / runs)).all()


@pytest.mark.parametrize("variant, scale", [("robust", {"sigma": 2.0}), ("paper", {"sigma_bounds": (0.5, 8.0)})])
def test_simulations_and_runs_agree_in_law(variant, scale):
    """Two samples of estimates, Kolmogorov and Smirnov: sees laws that are 0.35 apart."""
    runs, n, model = 250, 4000, GaussianMean(2.0, mu_bound=16.0, variant=variant, **scale)
    rng = np.random.default_rng(SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few people that the published rules may fail
        simulated = [model.simulate(n, 3.7, 2.0, rng=rng) for _ in range(runs)]
        run = [model.run(rng.normal(3.7, 2.0, n), rng=rng) for _ in range(runs)]
    for name in ("value", "stderr", "centre"):
        one, other = ([getattr(estimate, name) for estimate in sample] for sample in (simulated, run))
        assert stats.ks_2samp(one, other).pvalue > ALPHA


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_counts_of_a_run_follow_the_law_of_each_group(epsilon):
    """Every cell of every group of both parts, Hoeffding: a wrong question, group or record would show."""
    model, n, mu, sigma = GaussianMean(epsilon, sigma_bounds=(1.0, 4.0), mu_bound=30.0, rounds=1), 400_000, -7.3, 2.0
    x, plan, design = np.random.default_rng(SEED).normal(mu, sigma, n), model.plan(n), model._design
    for part, questions in ((plan.search, design.levels.questions), (plan.second, design.blind(None))):
        from ldpfast._random import open_stream

        for group in ask(plan, part, questions, x, open_stream(SEED)):
            p = Law([group.mechanism]).reports(mu, sigma).value[0]
            assert (np.abs(group.counts / group.n - p) < hoeffding_radius(group.n, ALPHA / 100)).all()


# The search -----------------------------------------------------------------------------------------------------------


def test_levels_double_and_cover_all_means():
    for epsilon, narrowest, reach in ((1.0, 1.0, 4096.0), (0.5, 5.0, 1.0), (2.0, 0.3, 0.3), (1.0, 2.0, 3.0001)):
        levels = _levels.Levels(epsilon, narrowest, reach)
        count = max(3, 1 + math.ceil(math.log2(max(1.0, reach / (1.5 * narrowest)))))
        assert len(levels) == count
        assert [question.width for question in levels.questions] == [narrowest * 2**j for j in range(count)]
        assert {(q.offset, q.modulus, q.epsilon) for q in levels.questions} == {(0.0, 4, epsilon)}
        assert levels.range == 2 * levels.widths[-1] >= 4 / 3 * reach


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_kappa_is_that_of_the_formula(epsilon):
    levels = _levels.Levels(epsilon, 1.0, 100.0)
    gain = (math.exp(epsilon) - 1) / (math.exp(epsilon) + 3)
    assert levels.kappa(1000) == pytest.approx(1000 * gain**2, rel=1e-5)
    people = levels.people(8.0)
    assert people % len(levels) == 0
    assert levels.kappa(people / len(levels)) >= 8 > levels.kappa(people / len(levels) - 1)


def answers(levels, people, mu, sigma, rng=None):
    """Counts of all levels; without a generator the expected ones, rounded."""
    p = levels.law.reports(mu, sigma).value[0].reshape(len(levels), 4)
    if rng is None:
        return np.rint(people * p).astype(np.int64).ravel()
    return rng.multinomial(people, p / p.sum(axis=1, keepdims=True)).ravel()


def hard_means(levels, rng, sigma):
    """Anywhere, at zero, at the ends and next to edges of cells, of either sign."""
    most = 0.75 * levels.range
    for _ in range(10):
        yield rng.uniform(-most, most)
        edge = rng.integers(-6, 7) * levels.widths[rng.integers(0, len(levels) - 2)] / 2
        yield float(np.clip(edge + 0.1 * sigma * rng.standard_normal(), -most, most))
    yield from (0.0, 0.5, -0.5, most, -most)


@pytest.mark.parametrize("epsilon, reach", [(0.5, 4096.0), (1.0, 1e6), (2.0, 4096.0)])
@pytest.mark.parametrize("decoder, kappa", [("by_likelihood", 8.0), ("by_pairs", 60.0)])
def test_the_search_seldom_fails(decoder, kappa, epsilon, reach):
    """25 means each; the fit refines what is found here to a fraction of sigma. At kappa 8 one search in a thousand fails,
    near the mean zero one in 400, whose alias is the end of the range: not one of these may."""
    sigma, rng = 1.0, np.random.default_rng(SEED)
    levels = _levels.Levels(epsilon, sigma, reach)
    people = math.ceil(kappa / levels.gain**2)
    for mu in hard_means(levels, rng, sigma):
        found, scale = getattr(levels, decoder)(answers(levels, people, mu, sigma, rng), np.array([sigma]))
        assert abs(found - mu) < 2 * sigma
        assert scale == sigma


@pytest.mark.parametrize("decoder, kappa", [("by_likelihood", 12.0), ("by_pairs", 60.0)])
@pytest.mark.parametrize("sigma", [0.5, 3.0, 16.0])
def test_the_search_finds_the_scale_too(decoder, kappa, sigma):
    """Within a factor of four: the fit goes on from there."""
    rng, scales = np.random.default_rng(SEED), 0.5 * 2.0 ** np.arange(6)
    levels = _levels.Levels(1.0, 0.5, 4096.0)
    people = math.ceil(kappa / levels.gain**2)
    for mu in hard_means(levels, rng, sigma):
        found, scale = getattr(levels, decoder)(answers(levels, people, mu, sigma, rng), scales)
        assert abs(found - mu) < 2 * sigma
        assert sigma / 4 <= scale <= 4 * sigma


def test_without_noise_any_decoder_finds_the_mean():
    levels = _levels.Levels(1.0, 1.0, 300.0)
    for mu in np.linspace(-300, 300, 61):
        for decoder in (levels.by_likelihood, levels.by_pairs):
            assert abs(decoder(answers(levels, 10**9, mu, 1.0), np.array([1.0]))[0] - mu) <= 0.26


# Published rules ------------------------------------------------------------------------------------------------------


def aggregators(levels, counts):
    groups = []
    for question, row in zip(levels.questions, counts.reshape(len(levels), 4), strict=True):
        groups.append(question.aggregator())
        groups[-1]._add([row], int(row.sum()))
    return tuple(groups)


@given(st.floats(-4096, 4096), st.sampled_from([1.0, 1.3, 1.99]))
def test_the_published_search_of_exact_counts(mu, sigma):
    """So many answers that the slack is nothing: within two standard deviations."""
    paper = Paper(Model(1.0, sigma, None, 4096.0, 0.05), 2)
    located = paper.locate(aggregators(paper.levels, answers(paper.levels, 10**13, mu, sigma)))
    assert abs(located.mu - mu) <= 2 * sigma
    assert located.doubts == ()


@given(st.floats(-1000, 1000), st.floats(0.5, 16.0))
def test_the_published_scale_of_exact_counts(mu, sigma):
    paper = Paper(Model(1.0, None, (0.5, 16.0), 1000.0, 0.05), 2)
    located = paper.locate(aggregators(paper.levels, answers(paper.levels, 10**13, mu, sigma)))
    assert sigma <= located.sigma < 8 * sigma
    assert located.sigma in paper.levels.widths


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_the_published_search_does_not_fail_with_enough_answers(epsilon):
    paper, rng = Paper(Model(epsilon, 1.0, None, 4096.0, 0.05), 2), np.random.default_rng(SEED)
    people = math.ceil(200 / paper.levels.gain**2)
    for mu in hard_means(paper.levels, rng, 1.0):
        counts = answers(paper.levels, people, mu, 1.0, rng)
        assert abs(paper.locate(aggregators(paper.levels, counts)).mu - mu) <= 2


def test_thresholds_are_as_published():
    paper, k, levels, beta = Paper(Model(0.5, 1.0, None, 100.0, 0.01), 2), 12_345, 8, 0.01
    assert len(paper.levels) == levels
    psi = 4.5 / (0.5 * math.sqrt(2)) * math.sqrt(k * math.log(8 * levels / beta))
    tau = math.sqrt(2 * k * math.log(2 * levels / beta)) + 9 * math.sqrt(2 * k * math.log(8 * levels / beta))
    assert paper._slack(k) == pytest.approx(psi, rel=1e-14)
    assert paper._pair_slack(k) == pytest.approx(tau, rel=1e-14)


def test_a_cell_that_cannot_be_is_flagged():
    """All answers of the level below the top lie in the one residue of four that no candidate has."""
    paper = Paper(Model(1.0, 1.0, None, 100.0, 0.05), 2)
    levels, people = paper.levels, 10**13
    p, q = float(levels.questions[0]._coin.p), float(levels.questions[0]._coin.q)

    def all_in(residue):
        return [round(people * (p if cell == residue else q)) for cell in range(4)]

    rows = [all_in(0)] * len(levels)
    rows[-2] = all_in(3)  # the cell 0 of the top has the candidates 0, 1, 2
    located = paper.locate(aggregators(levels, np.array(rows)))
    assert located.doubts == ("the published search met a cell that cannot be",)
    low, high = 0.0, levels.widths[-1]
    assert low <= located.mu <= high


def test_the_published_second_questions():
    """Groups, periods and nodes of both one-round protocols, and the window of the two-round one."""
    n, known = 200_000, Paper(Model(1.0, 2.0, None, 100.0, 0.05), 1)
    rho = math.ceil(2 * math.sqrt(math.log(4 * n)))
    expected = [ldp.Residue(rho * 2.0 / 2, 0.2 * 2.0 * i, 2, 1.0) for i in range(1, 5 * rho + 1)]
    assert list(known.blind(n)) == expected
    unknown = Paper(Model(1.0, None, (0.6, 5.0), 100.0, 0.05), 1)
    rho = math.ceil(math.sqrt(math.log(4 * n)) + 6)
    expected = [(rho * s, i * s) for s in (0.5, 1.0, 2.0, 4.0, 8.0) for i in range(1, rho + 1)]
    assert [(question.width, question.offset) for question in unknown.blind(n)] == expected
    two = Paper(Model(1.0, None, (0.6, 5.0), 100.0, 0.05), 2)
    (window,) = two.aimed(_located(3.0, 2.0), n)
    half = 2.0 * (2 + math.sqrt(math.log(4 * n)))
    assert (window.lower, window.upper) == (3.0 - half, 3.0 + half)
    with pytest.raises(ValueError, match=r"^n must be given for rounds=1 and variant=\"paper\""):
        known.blind(None)


def _located(mu, sigma):
    from ldpfast.estimation._gaussian._design import Located

    return Located(mu, sigma)


# Fits -----------------------------------------------------------------------------------------------------------------


def two_rounds(mu, sigma, centre, scale):
    """Questions of a search and of four thresholds."""
    levels = _levels.Levels(1.0, 0.5, 64.0).questions
    return Law([*levels, *(ldp.Bins(centre + cut * scale, 1.0) for cut in (-1, 0, 0, 1))])


def table(law, mu, sigma, people, rng):
    p = law.reports(mu, sigma).value[0]
    return np.concatenate([rng.multinomial(people, p[piece] / p[piece].sum()) for piece in law.slices])


def covariance_of(law, sizes, mu, sigma, known):
    """The inverse of the expected information, from differences of the chances."""
    h = 1e-5 * sigma
    moves = ((h, 0.0),) if known else ((h, 0.0), (0.0, h))
    slopes = [
        (law.reports(mu + a, sigma + b).value[0] - law.reports(mu - a, sigma - b).value[0]) / (2 * h) for a, b in moves
    ]
    return np.linalg.inv((np.array(slopes) * sizes / law.reports(mu, sigma).value[0]) @ np.array(slopes).T)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("known", [True, False])
def test_fits_are_maxima_of_the_likelihood(seed, known):
    """Against a search by SciPy from the truth, by the likelihood alone; the fit starts from a place 0.7 sigma off."""
    rng = np.random.default_rng([SEED, seed])
    mu, sigma = rng.uniform(-60, 60), rng.uniform(0.8, 6.0)
    law = two_rounds(mu, sigma, mu + 0.5 * sigma, 1.2 * sigma)
    counts = table(law, mu, sigma, 4000, rng)
    bounds = None if known else (0.5, 8.0)
    start = sigma if known else 0.8 * sigma
    fit = _fit.maximise(law, counts, mu + 0.7 * sigma, start, bounds, 4.0)

    def loss(at):
        return -float(law.log_likelihood(counts.astype(float), at[0], sigma if known else abs(at[1]))[0])

    best = optimize.minimize(
        loss, [mu] if known else [mu, sigma], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}
    )
    sizes = law.sizes(counts.astype(float))
    expected = covariance_of(law, sizes, fit.mu, fit.sigma, known)
    errors = np.sqrt(np.diag(expected))
    assert abs(fit.mu - best.x[0]) < 1e-3 * errors[0]
    assert -loss([fit.mu, fit.sigma]) >= -best.fun - 1e-6
    np.testing.assert_allclose(fit.covariance, expected, rtol=1e-5)
    if known:
        assert fit.sigma == sigma
    else:
        assert abs(fit.sigma - best.x[1]) < 1e-3 * errors[1]


@pytest.mark.parametrize("bounds, truth, end", [((0.5, 2.0), 3.0, 2.0), ((2.0, 8.0), 1.3, 2.0)])
def test_a_scale_out_of_bounds_is_held_at_their_end(bounds, truth, end):
    """mu is the best for that sigma, its variance that of a known sigma; of sigma nothing is said."""
    rng, mu = np.random.default_rng(SEED), 7.7
    law = two_rounds(mu, truth, mu + 0.3, 1.2)
    counts = table(law, mu, truth, 10_000, rng)
    fit = _fit.maximise(law, counts, mu + 0.5, 2.0, bounds, 4.0)
    assert fit.sigma == end

    def loss(at):
        return -float(law.log_likelihood(counts.astype(float), at, end)[0])

    best = optimize.minimize_scalar(loss, bounds=(mu - 2, mu + 2), method="bounded", options={"xatol": 1e-9})
    ((variance,),) = covariance_of(law, law.sizes(counts.astype(float)), fit.mu, end, True)
    assert abs(fit.mu - best.x) < 1e-3 * math.sqrt(variance)
    assert fit.covariance[0, 0] == pytest.approx(variance, rel=1e-5)
    assert np.isinf(fit.covariance[1, 1])
    assert fit.covariance[0, 1] == fit.covariance[1, 0] == 0


def test_a_fit_stays_within_reach():
    law = two_rounds(0.0, 1.0, 0.0, 1.0)
    counts = table(law, 30.0, 1.0, 4000, np.random.default_rng(SEED))
    assert abs(_fit.maximise(law, counts, 0.0, 1.0, None, 4.0).mu) <= 4.0


def test_goodness_is_uniform_under_the_model():
    """Pearson's test with as many degrees of freedom as free counts less parameters. Kolmogorov: 300 p-values, sees 0.19."""
    law, rng = two_rounds(3.0, 2.0, 3.0, 2.0), np.random.default_rng(SEED)
    for bounds in (None, (0.5, 8.0)):
        p = [_fit.maximise(law, table(law, 3.0, 2.0, 3000, rng), 3.0, 2.0, bounds, 4.0).goodness for _ in range(300)]
        assert stats.kstest(p, "uniform").pvalue > ALPHA


# Bins around the centre -----------------------------------------------------------------------------------------------


def variance_of(cuts, epsilon):
    """n Var / sigma^2 of the maximum likelihood, from the definition of Fisher's information; by differences."""
    edges = np.array([-np.inf, *cuts, np.inf])
    k, e, h = len(edges) - 1, math.exp(epsilon), 1e-5

    def reports(mean):
        p = np.diff(stats.norm.cdf(edges, mean))
        return (1 + (e - 1) * p) / (e + k - 1)

    slopes = (reports(h) - reports(-h)) / (2 * h)
    return 1 / float(np.sum(slopes**2 / reports(0.0)))


@pytest.mark.parametrize("epsilon, bins, variance", [(3, 3, 1.685), (4, 5, 1.330), (5, 6, 1.169), (8, 8, 1.044)])
def test_the_best_bins_have_the_known_variance(epsilon, bins, variance):
    cuts = _robust.best_cuts(float(epsilon), True)
    assert len(cuts) == bins - 1
    assert variance_of(cuts, epsilon) == pytest.approx(variance, abs=6e-4)
    assert 1 / _robust._information(np.array(cuts), epsilon)[0, 0] == pytest.approx(
        variance_of(cuts, epsilon), rel=1e-6
    )
    np.testing.assert_allclose(cuts, -np.array(cuts)[::-1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 1.5, 2.0])
def test_up_to_two_one_cut_is_the_best(epsilon):
    assert _robust.best_cuts(epsilon, True) == (0.0,)
    assert variance_of((0.0,), epsilon) == pytest.approx(math.pi / 2 / math.tanh(epsilon / 2) ** 2, rel=1e-6)


def test_no_other_cuts_nearby_are_better():
    rng = np.random.default_rng(SEED)
    for epsilon, known in ((2.5, True), (6.0, True), (0.5, False), (1.0, False), (4.0, False)):
        cuts = np.array(_robust.best_cuts(epsilon, known))
        assert len(cuts) >= 2
        for _ in range(20):
            other = np.sort(cuts + rng.normal(0, 0.1, len(cuts)))
            other = (other - other[::-1]) / 2
            assert _robust._worth(other, epsilon, known) < _robust._worth(cuts, epsilon, known) * (1 + 1e-6)


def test_the_information_of_bins_is_that_of_the_law():
    """About mean and standard deviation, off the centre too."""
    cuts, epsilon, off = np.array([-0.8, 0.1, 0.9]), 1.5, 0.3
    law = Law([ldp.Bins(tuple(cuts), epsilon)])
    expected = law.information(np.ones(4), off, 1.0)
    np.testing.assert_allclose(_robust._information(cuts, epsilon, off), expected, rtol=1e-6)


# Periodic questions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon, modulus, width", [(0.5, 2, math.pi), (1.0, 2, math.pi), (4.0, 4, 1.9)])
def test_waves_of_one_scale(epsilon, modulus, width):
    """Two phases of half a wave, or of four symbols; no period is one of the search, a power of two times sigma."""
    sigma = 3.0
    expected = [ldp.Residue(width * sigma, phase * width * sigma / 2, modulus, epsilon) for phase in (0, 1)]
    waves = list(_robust.waves(epsilon, sigma, sigma, False))
    assert waves == expected
    assert math.log2(waves[0].width * modulus / sigma) % 1 not in (0, 1)


def test_waves_of_many_scales():
    waves = _robust.waves(1.0, 0.5, 16.0, True)
    scales = 0.5 * 32 ** ((np.arange(5) + 0.5) / 5)
    width = waves[0].width / scales[0]
    assert [(q.width, q.offset) for q in waves] == [
        (pytest.approx(width * s), pytest.approx(phase * width * s / 2)) for s in scales for phase in (0, 1)
    ]


def test_waves_tell_as_much_of_any_mean():
    """For small epsilon the information of two phases together is 8 / (pi^2 e) (1 - 2q)^2 per person, wherever the mean is."""
    epsilon, sigma = 0.5, 2.0
    law = Law(_robust.waves(epsilon, sigma, sigma, False))
    flip = math.tanh(epsilon / 2) ** 2
    for mu in np.linspace(-8, 8, 33):
        information = law.information(np.full(4, 0.5), mu, sigma, False)[0, 0]
        assert information * sigma**2 == pytest.approx(8 / (math.pi**2 * math.e) * flip, rel=0.1)
