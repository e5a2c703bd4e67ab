"""Building blocks of bounds against brute force: random channels and families, and the exact Bayes risk of small problems."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ldpfast import bounds
from ldpfast.bounds import _contraction, _local, _methods
from ldpfast.privacy import Channel

LEVELS = [0.05, 0.5, 1.0, 2.0, 5.0]


def random_channel(rng, epsilon, inputs):
    """Columns of 1 and e^epsilon: k-ary response on random groups of inputs, subset selection, and mixtures of them."""

    def part():
        if rng.random() < 0.4:
            size = rng.integers(1, inputs)
            subsets = np.array(list(itertools.combinations(range(inputs), size)))
            member = np.zeros((inputs, len(subsets)))
            member[subsets.T, np.arange(len(subsets))] = 1
            weights = np.exp(epsilon * member)
        else:
            groups = rng.integers(0, rng.integers(2, inputs + 1), inputs)
            weights = np.exp(epsilon * (groups[:, None] == np.arange(inputs)))
        return weights / weights.sum(axis=1, keepdims=True)

    shares = rng.dirichlet(np.ones(rng.integers(1, 4)))
    return np.concatenate([share * part() for share in shares], axis=1)


def random_law(rng, symbols):
    """Sparse ones too."""
    return rng.dirichlet(np.full(symbols, rng.choice([0.2, 1.0, 5.0])))


def measure(p, q):
    """TV, KL, chi-square and squared Hellinger of laws without zeros."""
    return np.abs(p - q).sum() / 2, (p * np.log(p / q)).sum(), ((p - q) ** 2 / q).sum(), ((p**0.5 - q**0.5) ** 2).sum()


def joint(rows, n):
    """The law of n independent draws."""
    law = rows
    for _ in range(n - 1):
        law = (law[:, :, None] * rows[:, None, :]).reshape(len(rows), -1)
    return law


def posterior_risk(laws, parameters):
    """The Bayes risk under squared error, all hypotheses equally likely."""
    weight = laws / len(laws)
    total = weight.sum(axis=0)
    means = weight.T @ parameters / total[:, None]
    return float((weight @ np.ones_like(total) @ (parameters**2).sum(axis=1)) - (total * (means**2).sum(axis=1)).sum())


# Contraction ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", LEVELS)
def test_no_channel_lets_more_through(epsilon):
    rng, closest = np.random.default_rng(1), np.zeros(4)
    for _ in range(1500):
        size = int(rng.integers(2, 6))
        channel = random_channel(rng, epsilon, size)
        assert Channel(channel).epsilon() <= epsilon + 1e-9
        p, q = random_law(rng, size), random_law(rng, size)
        tv = np.abs(p - q).sum() / 2
        found = np.array(measure(p @ channel, q @ channel))
        limits = np.array(
            [
                bounds.tv_contraction(epsilon, tv),
                bounds.kl_contraction(epsilon, tv),
                bounds.chi_square_contraction(epsilon, tv),
                bounds.hellinger_contraction(epsilon, tv),
            ]
        )
        assert (found <= limits * (1 + 1e-9) + 1e-15).all()
        closest = np.maximum(closest, found / limits)
        back = (q @ channel) @ np.log((q @ channel) / (p @ channel))
        assert found[1] + back <= bounds.kl_contraction(epsilon, tv, mode="paper") * (1 + 1e-9)
        assert found[0] <= bounds.tv_contraction(epsilon, tv, mode="paper") * (1 + 1e-9)
        with np.errstate(divide="ignore", invalid="ignore"):
            records = [
                np.where(p > 0, p * np.log(p / q), 0).sum(),
                ((p - q) ** 2 / q).sum(),
                ((p**0.5 - q**0.5) ** 2).sum(),
            ]
        assert (found[1:] <= np.array(bounds.divergence_contraction(epsilon, records)) * (1 + 1e-9) + 1e-15).all()
    assert closest[0] > 1 - 1e-9
    assert (closest > 0.5).all()


@pytest.mark.parametrize("epsilon", [1e-3, *LEVELS, 20.0])
def test_randomised_response_attains_the_sharp_forms(epsilon):
    """At T = 1; total variation at every T."""
    keep, lie = 1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(epsilon))
    rows = np.array([[keep, lie], [lie, keep]])
    tv, kl, chi, hellinger = measure(*rows)
    assert bounds.tv_contraction(epsilon, 1) == pytest.approx(tv, rel=1e-9)
    assert bounds.kl_contraction(epsilon, 1) == pytest.approx(kl, rel=1e-9)
    assert bounds.chi_square_contraction(epsilon, 1) == pytest.approx(chi, rel=1e-9)
    assert bounds.hellinger_contraction(epsilon, 1) == pytest.approx(hellinger, rel=1e-9)
    for t in (0.1, 0.6):
        p, q = np.array([(1 + t) / 2, (1 - t) / 2]), np.array([(1 - t) / 2, (1 + t) / 2])
        assert bounds.tv_contraction(epsilon, t) == pytest.approx(np.abs((p - q) @ rows).sum() / 2, rel=1e-9)


def test_a_small_chi_square_attains_its_contraction():
    """tanh(epsilon / 2)^2 is the limit for laws that differ little."""
    p, q = np.array([0.5, 0.5]), np.array([0.5 + 1e-6, 0.5 - 1e-6])
    keep = 1 / (1 + math.exp(-1.0))
    rows = np.array([[keep, 1 - keep], [1 - keep, keep]])
    for at in (1, 2, 3):
        before, after = measure(q, p)[at], measure(q @ rows, p @ rows)[at]
        assert bounds.divergence_contraction(1.0, before) == pytest.approx(after, rel=1e-3)
    assert bounds.effective_sample_size(1, 1.0) == pytest.approx(math.tanh(0.5) ** 2, rel=1e-12)
    assert bounds.effective_sample_size(10, 1.0, mode="paper") == pytest.approx(10 * (math.e - 1) ** 2)


@given(st.floats(1e-6, 50), st.floats(0, 1))
def test_the_sharp_forms_are_never_larger(epsilon, tv):
    sharp = bounds.kl_contraction(epsilon, tv)
    assert 2 * sharp <= bounds.kl_contraction(epsilon, tv, mode="paper") * (1 + 1e-9)
    assert bounds.tv_contraction(epsilon, tv) <= bounds.tv_contraction(epsilon, tv, mode="paper") * (1 + 1e-9)
    assert sharp <= bounds.chi_square_contraction(epsilon, tv) * (1 + 1e-9)
    assert bounds.hellinger_contraction(epsilon, tv) <= sharp * (1 + 1e-9) + 1e-300
    at = _contraction.deficit_inverse(np.array(epsilon), _contraction.deficit(np.array(epsilon), np.array(tv)))
    assert at == pytest.approx(tv, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("epsilon", LEVELS)
def test_two_people_of_whom_the_second_looks_at_the_first(epsilon):
    rng = np.random.default_rng(2)
    for _ in range(300):
        size = int(rng.integers(2, 5))
        first = random_channel(rng, epsilon, size)
        laws = np.array([[random_law(rng, size) for _ in range(2)] for _ in range(2)])  # hypothesis, person
        seconds = [random_channel(rng, epsilon, size) for _ in range(first.shape[1])]
        together = [
            np.concatenate([(h[0] @ first)[z] * (h[1] @ seconds[z]) for z in range(len(seconds))]) for h in laws
        ]
        tv, kl, _, _ = measure(*together)
        distances = np.abs(laws[0] - laws[1]).sum(axis=1) / 2
        assert kl <= bounds.tensorized_kl(epsilon, distances) * (1 + 1e-9)
        assert kl <= bounds.tensorized_kl(epsilon, distances, mode="paper") * (1 + 1e-9)
        assert tv <= bounds.tensorized_tv(2, epsilon, distances.max()) * (1 + 1e-9)


def test_the_published_two_point_distance_is_valid_in_its_range():
    rng, epsilon = np.random.default_rng(3), 0.6
    for n in (1, 2, 3):
        for _ in range(100):
            rows = np.array([random_law(rng, 3), random_law(rng, 3)])
            reports = joint(rows @ random_channel(rng, epsilon, 3), n)
            tv, t = np.abs(reports[0] - reports[1]).sum() / 2, np.abs(rows[0] - rows[1]).sum() / 2
            assert (
                tv <= bounds.tensorized_tv(n, epsilon, t) <= bounds.tensorized_tv(n, epsilon, t, mode="paper") + 1e-12
            )


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_information_of_reports(epsilon):
    rng = np.random.default_rng(4)
    for _ in range(200):
        many, size, n = int(rng.integers(2, 5)), int(rng.integers(2, 4)), int(rng.integers(1, 3))
        family = np.array([random_law(rng, size) for _ in range(many)])
        reports = joint(family @ random_channel(rng, epsilon, size), n)
        information = (reports * np.log(reports / reports.mean(axis=0))).sum() / many
        tv = np.abs(family[:, None] - family).sum(axis=-1) / 2
        told = bounds.mutual_information(epsilon, tv, n)
        assert information <= told * (1 + 1e-9) <= bounds.mutual_information(epsilon, tv, n, mode="paper") * (1 + 2e-9)


# Methods --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.3, 0.6, 2.0, 6.0])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_le_cam_is_below_the_bayes_risk(epsilon, n):
    rng = np.random.default_rng(5)
    for _ in range(150):
        rows = np.array([random_law(rng, 3), random_law(rng, 3)])
        reports = joint(rows @ random_channel(rng, epsilon, 3), n)
        squared = posterior_risk(reports, np.array([[-0.5], [0.5]]))
        absolute = np.minimum(*reports).sum() / 2
        assert bounds.le_cam(*rows, n, epsilon, 1.0) <= squared * (1 + 1e-9)
        assert bounds.le_cam(*rows, n, epsilon, 1.0, loss="absolute") <= absolute * (1 + 1e-9)
        if epsilon <= 22 / 35:
            assert bounds.le_cam(*rows, n, epsilon, 1.0, mode="paper") <= bounds.le_cam(*rows, n, epsilon, 1.0) + 1e-12


@pytest.mark.parametrize("epsilon", LEVELS)
def test_le_cam_is_attained_by_one_person(epsilon):
    """Absolute error, by randomised response on the event that tells the two laws apart best."""
    p, q, keep = np.array([0.7, 0.2, 0.1]), np.array([0.1, 0.3, 0.6]), 1 / (1 + math.exp(-epsilon))
    rows = np.where((p > q)[:, None] == [True, False], keep, 1 - keep)
    risk = np.minimum(p @ rows, q @ rows).sum() / 2
    assert bounds.le_cam(p, q, 1, epsilon, 1.0, loss="absolute") == pytest.approx(risk, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_fano_is_below_the_bayes_risk(epsilon):
    rng, useful = np.random.default_rng(6), 0
    for _ in range(200):
        many, n = int(rng.integers(3, 9)), int(rng.integers(1, 3))
        family = np.array([random_law(rng, 3) for _ in range(many)])
        reports = joint(family @ random_channel(rng, epsilon, 3), n)
        risk = posterior_risk(reports, np.eye(many) / math.sqrt(2))  # all 1 apart
        bound = bounds.fano(family, n, epsilon, 1.0)
        assert bound <= risk * (1 + 1e-9)
        useful += bound > 0
    assert useful > 50


def cube(rng, k, size):
    return np.array([random_law(rng, size) for _ in range(1 << k)])


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_assouad_is_below_the_bayes_risk_even_of_people_who_look_at_each_other(epsilon):
    rng, useful = np.random.default_rng(7), 0
    for _ in range(120):
        k = int(rng.integers(1, 4))
        family = cube(rng, k, 3) * 0.5 + 1 / 6
        first = random_channel(rng, epsilon, 3)
        seconds = [random_channel(rng, epsilon, 3) for _ in range(first.shape[1])]
        reports = np.concatenate(
            [(family @ first)[:, [z]] * (family @ second) for z, second in enumerate(seconds)], axis=1
        )
        parameters = ((np.arange(1 << k)[:, None] >> np.arange(k)) & 1) - 0.5
        bound = bounds.assouad(family, 2, epsilon, 1.0)
        assert bound <= posterior_risk(reports, parameters) * (1 + 1e-9)
        useful += bound > 0
    assert useful > 60


def mixture_counterexample():
    """P_v(1) = 1/2 - v_2 v_3 / 2 if v_1 = 1, and 1/2 if v_1 = -1."""
    corners = np.arange(8)
    v = 2 * ((corners[:, None] >> np.arange(3)) & 1) - 1
    one = np.where(v[:, 0] == 1, 0.5 - v[:, 1] * v[:, 2] / 2, 0.5)
    return np.stack([1 - one, one], axis=1), v


def test_assouad_with_averaged_laws_is_false_for_two_people():
    """The published inequality of Theorem 3 says that the divergences of the mixtures are 0; they are not."""
    family, v = mixture_counterexample()
    averaged = np.array([family[v[:, j] == 1].mean(axis=0) - family[v[:, j] == -1].mean(axis=0) for j in range(3)])
    np.testing.assert_allclose(averaged, 0, atol=1e-15)
    keep = 1 / (1 + math.exp(-1.0))
    reports = joint(family @ np.array([[keep, 1 - keep], [1 - keep, keep]]), 2)
    left = 0.0
    for j in range(3):
        plus, minus = reports[v[:, j] == 1].mean(axis=0), reports[v[:, j] == -1].mean(axis=0)
        left += measure(plus, minus)[1] + measure(minus, plus)[1]
    assert left == pytest.approx(0.046, abs=5e-4)
    assert bounds.assouad(family, 1000, 1.0, 1.0, mode="paper") == 3 / 8  # however many people there are
    assert bounds.assouad(family, 1000, 1.0, 1.0) < bounds.assouad(family, 2, 1.0, 1.0) < 3 / 4


def test_the_supremum_over_functions_is_exact():
    """Against all signs, one by one; and below the eigenvalue where there are many symbols."""
    rng = np.random.default_rng(8)
    for _ in range(50):
        functionals = rng.normal(size=(rng.integers(1, 5), rng.integers(1, 8)))
        signs = np.array(list(itertools.product([-1, 1], repeat=functionals.shape[1])))
        slow = ((signs @ functionals.T) ** 2).sum(axis=1).max()
        assert _methods.largest_square(functionals) == pytest.approx(slow, rel=1e-12)
        inside = rng.uniform(-1, 1, (200, functionals.shape[1]))
        assert ((inside @ functionals.T) ** 2).sum(axis=1).max() <= slow
    many = rng.normal(size=(3, _methods.MOST_SYMBOLS + 4))
    signs = rng.choice([-1, 1], (2000, many.shape[1]))
    assert ((signs @ many.T) ** 2).sum(axis=1).max() <= _methods.largest_square(many)
    assert _methods.largest_square(np.zeros((2, 3))) == 0


@pytest.mark.parametrize("epsilon", [0.05, 0.7, 2.0, 6.0])
def test_the_capacity_of_edges_and_of_coordinates(epsilon):
    """Sum of divergences over orthogonal scores against n C s^2, and of Fano's against its own factor: random channels."""
    rng, a = np.random.default_rng(9), np.array(epsilon)
    corners = np.array(list(itertools.product([-1, 1], repeat=3)))  # records
    for _ in range(400):
        d = rng.uniform(0.05, 0.95)
        law = np.prod(1 + d * corners, axis=1) / 8
        across = [np.prod(1 + d * corners * np.where(np.arange(3) == j, -1, 1), axis=1) / 8 for j in range(3)]
        channel = random_channel(rng, epsilon, 8)
        m = law @ channel
        total = sum((m * np.log(m / (other @ channel))).sum() for other in across)
        variance = 4 * d**2 / (1 - d**2)
        assert total <= float(_local.capacity(a)) * variance * (1 + 1e-9)
        flat = channel.mean(axis=0)
        single = [((1 + d * sign * corners[:, j]) / 8) @ channel for j in range(3) for sign in (1, -1)]
        information = np.mean([(s * np.log(s / flat)).sum() for s in single])
        factor = min(float(_methods.forward_factor(a)) * math.sinh(epsilon / 2) ** 2, math.expm1(epsilon) ** 2 / 4)
        assert information <= factor * d**2 / 3 * (1 + 1e-9)


# Packing --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("points", [2, 3, 5])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("share", [0.2, 0.7, 1.0])
def test_packing_is_below_the_error_of_the_exponential_mechanism(points, epsilon, share):
    """Records are 0 or v; the release is v with a weight of exp(epsilon count / 2): pure private."""
    n = 6
    counts = np.arange(n + 1)
    weights = np.exp(epsilon * counts / 2)
    right = (stats.binom.pmf(counts, n, share) * weights / (weights + points - 1)).sum()
    bound = bounds.packing(points, n, share, epsilon=epsilon)
    assert 0 < bound <= 1 - right
    assert bounds.packing(points, n, share, epsilon=epsilon, mode="paper") <= bound + 1e-12
    assert bounds.packing(points, n, share, epsilon=epsilon, delta=1e-3) <= bound


def test_packing_at_the_full_distance_is_refuted_by_the_midpoint():
    """The published event is an error of at least the distance rho of two points: the midpoint never makes it."""
    parameters, answer = np.array([0.0, 1.0]), 0.5
    published = bounds.packing(2, 10, 0.1, epsilon=0.1, mode="paper")
    assert np.mean(np.abs(answer - parameters) >= 1) == 0 < published
    assert np.mean(np.abs(answer - parameters) >= 1 / 2) == 1 >= bounds.packing(2, 10, 0.1, epsilon=0.1)


def test_the_term_of_delta():
    """A large delta leaves only the chance that nobody has a record of P_v."""
    shrinking = [bounds.packing(4, 20, 0.3, epsilon=0.5, delta=delta) for delta in (0, 1e-3, 1e-2, 0.1, 0.5)]
    assert shrinking == sorted(shrinking, reverse=True)
    assert shrinking[0] > shrinking[2] > shrinking[4] > 0


# Refusals -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: bounds.kl_contraction(1, 1.5), r"^Theorem 1 needs tv in \[0, 1\], got tv=1.5$"),
        (lambda: bounds.kl_contraction(0, 0.5), r"^Theorem 1 needs epsilon > 0, got epsilon=0$"),
        (lambda: bounds.kl_contraction([1, -2], 0.5), r"^Theorem 1 needs epsilon > 0, got epsilon=-2$"),
        (lambda: bounds.kl_contraction(701, 0.5), r"^Theorem 1 needs epsilon <= 700"),
        (lambda: bounds.kl_contraction(1, 0.5, mode="exact"), r"^mode must be one of 'sharp', 'paper', got 'exact'$"),
        (lambda: bounds.tensorized_tv(5, 0.7, 0.1, mode="paper"), r"^Proposition 1 needs epsilon <= 0.628571"),
        (lambda: bounds.le_cam([0.5, 0.6], [0.5, 0.5], 1, 1, 1), r"^p must be distributions, which sum to 1$"),
        (lambda: bounds.le_cam([1.5, -0.5], [0.5, 0.5], 1, 1, 1), r"^p must be distributions, with no negative entry$"),
        (
            lambda: bounds.le_cam([1.0], [0.5, 0.5], 1, 1, 1),
            r"^p and q must have the same shape, got \(1,\) and \(2,\)$",
        ),
        (lambda: bounds.le_cam([[1.0]], [[1.0]], 1, 1, 1), r"^p must have 1 dimension, none of them empty"),
        (lambda: bounds.fano([[0.5, 0.5]], 1, 1, 1), r"^Proposition 2 needs at least 2 hypotheses"),
        (lambda: bounds.fano([[1, 0], [0, 1]], 0, 1, 1), r"^Proposition 2 needs n >= 1, got n=0$"),
        (lambda: bounds.fano([[1, 0], [0, 1]], 1, 1, -1), r"^Proposition 2 needs separation > 0, got separation=-1$"),
        (lambda: bounds.assouad([[1, 0]] * 3, 1, 1, 1), r"^Proposition 3 needs 2\^k distributions with k >= 1, got 3$"),
        (lambda: bounds.packing(2, 5, 1.5, epsilon=1), r"^Theorem 3 needs share <= 1, got share=1.5$"),
        (lambda: bounds.packing(2, 5, 0.5, epsilon=1, delta=1), r"^Theorem 3 needs 0 <= delta < 1, got delta=1$"),
        (lambda: bounds.packing(1, 5, 0.5, epsilon=1), r"^points must be an integer >= 2, got 1$"),
        (lambda: bounds.mutual_information(1, [0.5, 0.5]), r"^tv must have shape \(V, V\), got shape \(2,\)$"),
        (lambda: bounds.divergence_contraction(1, -1), r"^Asoodeh and Zhang needs divergence >= 0, got divergence=-1$"),
        (lambda: bounds.kl_contraction(1, math.nan), r"^tv must be finite numbers, got nan$"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("value", ["1", True, None, 1j, [[1], [1, 2]], np.ma.masked_array([1.0])])
def test_things_that_are_no_numbers(value):
    with pytest.raises(TypeError, match=r"^tv must"):
        bounds.kl_contraction(1.0, value)


def test_arrays_broadcast():
    epsilon, tv = np.array([[0.5], [1.0]]), np.array([0.1, 0.2, 1.0])
    for function in (bounds.kl_contraction, bounds.tv_contraction, bounds.chi_square_contraction):
        table = function(epsilon, tv)
        assert table.shape == (2, 3)
        assert table[1, 2] == function(1.0, 1.0)
    assert bounds.tensorized_tv(np.array([1, 10])[:, None, None], epsilon, tv).shape == (2, 2, 3)
    p, q = [0.6, 0.4], [0.4, 0.6]
    assert bounds.le_cam(p, q, [1, 10, 100], epsilon, 1.0).shape == (2, 3)
    assert bounds.assouad([p, q], [1, 10, 100], epsilon, 1.0).shape == (2, 3)
    assert bounds.fano([p, q, p], [1, 10, 100], epsilon, 1.0).shape == (2, 3)
