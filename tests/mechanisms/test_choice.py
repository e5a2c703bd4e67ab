"""Choice of the mechanism with the smallest variance, by exact comparison of all candidates."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import mechanisms
from ldpfast.mechanisms import SetCube, WholeSets, for_ball, for_box, for_categories, for_interval, for_sets
from ldpfast.reports import recipe_of

from ..support.cases import each
from ..support.internals.mechanisms import best_mechanism
from ..support.internals.survey import for_symbols

INTERVAL = [
    (0.1, ldp.SignBit),
    (0.24, ldp.SignBit),
    (0.25, ldp.Window),
    (2.0, ldp.Window),
    (8.0, ldp.Window),
    (30.0, ldp.Window),
    (80.0, ldp.Window),
    (1e300, ldp.Window),
]


@each("epsilon, kind", INTERVAL)
def test_the_interval_mechanism_has_the_smaller_largest_variance(epsilon, kind):
    chosen = for_interval(-3.0, 5.0, epsilon)
    assert isinstance(chosen, kind)
    x = np.linspace(-3.0, 5.0, 4001)
    for other in (ldp.SignBit, ldp.Window, ldp.Laplace):
        try:
            mechanism = other(-3.0, 5.0, epsilon)
        except ValueError:
            continue
        assert chosen.variance(x).max() <= mechanism.variance(x).max() * (1.01 if kind is ldp.SignBit else 1 + 1e-4)


@pytest.mark.parametrize("epsilon, factor", [(2.0, 0.5), (4.0, 0.32), (8.0, 0.09)])
def test_the_window_has_a_fraction_of_the_variance_of_laplace_noise(epsilon, factor):
    """At epsilon 2, 4 and 8 it is 0.494, 0.318 and 0.090 of that of `Laplace`."""
    window, laplace = ldp.Window(-1.0, 1.0, epsilon), ldp.Laplace(-1.0, 1.0, epsilon)
    assert window.largest_variance / laplace.variance(laplace.grid / 2 - 1) == pytest.approx(factor, rel=0.02)


def candidates(k, epsilon):
    kinds = [ldp.RandomizedResponse, ldp.HadamardResponse, ldp.ProjectiveGeometryResponse]
    if k <= 4096:
        kinds += [ldp.SubsetSelection, ldp.UnaryEncoding, lambda k, e: ldp.UnaryEncoding(k, e, method="optimized")]
    return [kind(k, epsilon) for kind in kinds]


@each("epsilon", [0.1, 0.5, 1.0, 2.0, 4.0])
@each("k", [2, 3, 5, 10, 11, 64, 1000, 5000, 70_000])
def test_the_category_mechanism_has_the_smallest_total_variance(k, epsilon):
    chosen = for_categories(k, epsilon)
    assert best_mechanism.total_variance(chosen) <= min(map(best_mechanism.total_variance, candidates(k, epsilon))) * (
        1 + 1e-4
    )
    if k > 2 and k <= 4096:
        assert isinstance(chosen, ldp.RandomizedResponse) == (ldp.SubsetSelection(k, epsilon).size == 1)


@pytest.mark.parametrize("k, epsilon", [(3, 15.0), (4, 40.0), (10, 42.0), (300, 40.0)])
def test_the_rounding_of_a_coin_does_not_decide(k, epsilon):
    """Sets of one category are k-ary response. Coins of another number of bits have variances that differ by up to 3 %."""
    assert isinstance(for_categories(k, epsilon), ldp.RandomizedResponse)
    assert isinstance(for_symbols(k, epsilon), ldp.RandomizedResponse)


@each("epsilon", [0.1, 1.0, 4.0, 8.0])
@each("k", [2, 4, 10, 300, 5000, 65_536, 65_537])
def test_a_survey_has_the_smallest_total_variance_of_exact_covariances(k, epsilon):
    bits = [ldp.UnaryEncoding(k, epsilon), ldp.UnaryEncoding(k, epsilon, method="optimized")]
    sets = [ldp.SubsetSelection(k, epsilon)] if k <= 65_536 else []
    least = min(map(best_mechanism.total_variance, [ldp.RandomizedResponse(k, epsilon), *bits, *sets]))
    assert best_mechanism.total_variance(for_symbols(k, epsilon)) <= least * (1 + 1e-4)


def test_the_total_variance_is_the_sum_of_the_variances_of_all_shares():
    for mechanism in candidates(20, 1.0):
        assert best_mechanism.total_variance(mechanism) == pytest.approx(float(mechanism.variance(7).sum()), rel=1e-12)


def test_the_variance_of_the_worst_share_is_what_the_page_says():
    """For sets of every size; `for_categories` and surveys have those of the smallest total variance."""
    page = (Path(__file__).parents[2] / "docs" / "choosing.md").read_text()
    table = page.partition("| epsilon | variance of the worst share |")[2].partition("\n\n")[0].splitlines()[2:]
    assert len(table) == 6
    for row in table:
        epsilon, worst, cost = (float(cell) for cell in row.strip("| ").split(" | "))
        found = [(1.0, 1.0)]
        for k in (5, 7, 8, 9, 10, 11, 18, 29, 64, 150, 500, 4096):
            sizes = np.unique(np.append(np.geomspace(1, k / 2, 60).round(), np.arange(1, min(60, k // 2) + 1)))
            p = sizes * np.exp(epsilon) / (sizes * np.exp(epsilon) + k - sizes)
            q = (sizes - p) / (k - 1)
            middle = np.clip(0.5, q, p)
            largest = middle * (1 - middle) / (p - q) ** 2
            total = (p * (1 - p) + (k - 1) * q * (1 - q)) / (p - q) ** 2
            chosen = for_categories(k, epsilon)
            assert best_mechanism.total_variance(chosen) <= total.min() * 1.001
            good = largest <= 1.15 * largest.min()
            found.append((chosen.worst_variance / largest.min(), total[good].min() / total.min()))
        assert np.max(found, axis=0) == pytest.approx([worst, cost], rel=0.02)
        assert np.max(found, axis=0)[0] <= worst * 1.001


@pytest.mark.parametrize("max_bits, kind", [(8, ldp.HadamardResponse), (9, ldp.ProjectiveGeometryResponse)])
def test_reports_of_categories_fit_the_size(max_bits, kind):
    chosen = for_categories(128, 1.0, max_bits=max_bits)
    assert isinstance(chosen, kind)
    assert chosen.report_bits <= max_bits
    fitting = [m for m in candidates(128, 1.0) if m.report_bits <= max_bits]
    assert best_mechanism.total_variance(chosen) == min(map(best_mechanism.total_variance, fitting))


def test_reports_of_numbers_fit_the_size():
    assert for_interval(0, 1, 4.0, max_bits=1) == ldp.SignBit(0, 1, 4.0)
    assert for_interval(0, 1, 12.0, max_bits=8) == ldp.Window(0, 1, 12.0, outputs=256)
    assert for_interval(0, 1, 12.0, max_bits=7) == ldp.Window(0, 1, 12.0, outputs=128)
    assert for_interval(0, 1, 4.0, max_bits=5) == ldp.Window(0, 1, 4.0, outputs=32)


@each("epsilon", [0.5, 2.0, 4.0, 8.0])
@each("dim", [1, 2, 10, 100, 5000])
def test_the_mechanism_of_the_box(dim, epsilon):
    chosen = for_box(dim, epsilon, radius=2.0)
    assert chosen.worst_variance <= min(
        ldp.SampledCube(dim, epsilon, radius=2.0).worst_variance, ldp.LinfBall(dim, epsilon, radius=2.0).worst_variance
    )
    small = for_box(dim, epsilon, radius=2.0, max_bits=30)
    assert small.report_bits <= 30
    assert small.worst_variance >= chosen.worst_variance


def test_fewer_coordinates_are_sampled_for_short_reports():
    assert for_box(1000, 4.0).sampled == 4
    assert [for_box(1000, 4.0, max_bits=bits).sampled for bits in (11, 22, 33, 44)] == [1, 2, 3, 4]


def mean_variance(mechanism, share):
    """Return the mean over the options of n times the variance from noise alone, if a share of the people tick each of them."""
    law = recipe_of(mechanism).law
    line = law.line
    if isinstance(mechanism, SetCube):  # and from the choice of the people who are asked
        return line.variance(share) * law.cube.dim / law.cube.sampled - share * (1 - share)
    own, other = (np.ravel(line.variance(bit))[0] for bit in (1.0, 0.0))
    return share * own + (1 - share) * other


@each("k, most", [(2, 1), (2, 2), (5, 2), (8, 3), (8, 8), (20, 3), (20, 8), (50, 40)])
@each("epsilon", [0.25, 1.0, 4.0, 6.0])
@each("optional", [False, True])
def test_the_mechanism_of_sets(k, most, epsilon, optional):
    """The smallest of the largest mean variances of all shares of people, which are at most most / k on average."""
    worst = {}
    for kind in (ldp.SetSelection, SetCube, WholeSets):
        try:
            mechanism = kind(k, most, epsilon, optional=optional)
        except ValueError:
            assert kind is WholeSets
            continue
        worst[mechanism] = max(mean_variance(mechanism, share) for share in np.linspace(0, most / k, 1001))
        assert recipe_of(mechanism).law.worst_mean_variance == pytest.approx(worst[mechanism], rel=1e-6)
    chosen = for_sets(k, most, epsilon, optional=optional)
    assert worst[chosen] <= min(worst.values()) * (1 + 1e-4)


@each(
    "epsilon, first",
    [
        (0.25, {10: 4, 20: 6, 50: 15, 100: 29}),
        (1.0, {10: 5, 20: 9, 50: 20, 100: 40}),
        (4.0, {10: 5, 20: 8, 50: 19, 100: 38}),
    ],
)
def test_the_cube_is_taken_for_sets_of_many_options(epsilon, first):
    """From about 0.3 k to 0.4 k options on."""
    for k, most in first.items():
        assert isinstance(for_sets(k, most - 1, epsilon), ldp.SetSelection)
        assert isinstance(for_sets(k, most, epsilon), SetCube)
        assert isinstance(for_sets(k, k, epsilon), SetCube)
    assert for_sets(1000, 1000, epsilon) == SetCube(1000, 1000, epsilon)


@each("k, most, epsilon, gain", [(5, 2, 3.0, 1.05), (5, 2, 4.0, 1.34), (8, 3, 6.0, 1.66)])
def test_whole_sets_are_taken_if_there_are_few(k, most, epsilon, gain):
    chosen = for_sets(k, most, epsilon)
    assert chosen == WholeSets(k, most, epsilon)
    others = ldp.SetSelection(k, most, epsilon), SetCube(k, most, epsilon)
    best, *worse = (recipe_of(mechanism).law.worst_mean_variance for mechanism in (chosen, *others))
    assert min(worse) / best == pytest.approx(gain, abs=0.005)
    assert isinstance(for_sets(k, most, epsilon - 1.5), ldp.SetSelection)


def test_all_mechanisms_of_sets_take_the_same_records():
    for k, most, epsilon in ((20, 3, 1.0), (20, 20, 4.0), (5, 2, 4.0)):
        chosen = for_sets(k, most, epsilon, optional=True)
        sets = [{0, 1}, set(), None]
        rows = np.array([[1, 1, *[0] * (k - 2)], [0] * k], np.uint8)
        packed = np.packbits(rows, axis=1, bitorder="little")
        reports = chosen.privatize(sets[:2], rng=1)
        assert (chosen.privatize(rows, rng=1) == reports).all()
        assert (chosen.privatize(packed, rng=1) == reports).all()
        assert len(chosen.privatize(sets, rng=1)) == 3
        line = recipe_of(chosen).law.line
        hits, trials = recipe_of(chosen).law.hits(chosen.collect(sets * 2000, rng=1)._counts.states[0][0], 6000)
        share = line(hits / trials)
        assert share.shape == (k + 1,)
        error = np.sqrt(line.variance(np.clip(share, 0, 1)) / trials)
        assert (np.abs(share - [1 / 3, 1 / 3, *[0] * (k - 2), 1 / 3]) < 5 * error).all()


@each("epsilon", [0.5, 2.0, 8.0])
@each("dim", [1, 3, 100])
def test_the_mechanism_of_the_ball(dim, epsilon):
    chosen = for_ball(dim, epsilon)
    assert chosen.scale <= min(ldp.L2Ball(dim, epsilon).scale, ldp.RankCodebook(dim, epsilon).scale)
    assert not chosen.guarantee.ideal
    ideal = for_ball(dim, epsilon, allow_ideal=True)
    assert ideal.scale <= chosen.scale


ERRORS = [
    *((4, 16.0, 0.0085), (16, 8.0, 1.63), (100, 4.0, 43.2), (100, 8.0, 13.1), (100, 16.0, 4.45), (512, 8.0, 69.0)),
    *((10_000, 8.0, 1370.0), (100_000, 8.0, 13_700.0)),
]


@each("dim, epsilon, most", ERRORS)
def test_the_error_of_the_mechanism_of_the_ball(dim, epsilon, most):
    chosen = for_ball(dim, epsilon)
    assert chosen.scale**2 - 1 <= most
    if isinstance(chosen, ldp.RankCodebook):
        assert chosen.vectors * max(dim, 32) <= 1 << 17


@pytest.mark.parametrize("dim, epsilon", [(2, 1.0), (30, 4.0), (16_384, 1.0)])
def test_the_number_of_vectors_is_the_smallest_with_little_loss(dim, epsilon):
    chosen = for_ball(dim, epsilon, max_bits=64).vectors
    numbers = [2**i for i in range(4, 15) if 2**i * max(dim, 32) <= 1 << 17] or [16]
    errors = {n: ldp.RankCodebook(dim, epsilon, vectors=n).scale ** 2 - 1 for n in numbers}
    assert chosen == next(n for n in numbers if errors[n] <= 1.01 * min(errors.values()))
    assert for_ball(dim, epsilon, vectors=20).vectors == 20


@each("dim, epsilon", [(2, 8.0), (30, 16.0), (100, 8.0), (300, 2.0), (5000, 1.0), (20_000, 4.0)])
def test_signs_are_taken_where_they_save_more_than_one_percent(dim, epsilon):
    chosen, signs = for_ball(dim, epsilon), ldp.RankedSigns(dim, epsilon)
    if dim <= 16_384:
        codebook = for_ball(dim, epsilon, max_bits=64)
        assert isinstance(codebook, ldp.RankCodebook)
        assert isinstance(chosen, ldp.RankedSigns) == ((signs.scale / codebook.scale) ** 2 < 0.99)
    else:
        assert chosen == signs
    assert for_ball(dim, epsilon, max_bits=100).report_bits <= 100


@each("dim, epsilon", [(2, 8.0), (255, 8.0), (300, 30.0), (500, 4.0), (5000, 0.5), (5000, 4.0), (100_000, 8.0)])
def test_rotated_signs_are_taken_with_a_rotation_where_they_lose_at_most_one_percent(dim, epsilon):
    rotated, others = (
        ldp.RotatedSigns(dim, epsilon, rotation=7),
        [for_ball(dim, epsilon), ldp.RankedSigns(dim, epsilon)],
    )
    best = min(mechanism.scale for mechanism in others)
    chosen = for_ball(dim, epsilon, rotation=7)
    assert (chosen == rotated) == (rotated.scale <= best * 1.005)
    assert (chosen == rotated) == (dim >= 500)
    assert chosen == rotated or chosen == others[0]
    assert not isinstance(others[0], ldp.RotatedSigns)


def test_the_signs_of_a_rotation_fit_the_report():
    for bits, signs in ((66, 2), (127, 32), (128, 64), (191, 64), (192, 128), (1000, 256)):
        chosen = for_ball(20_000, 16.0, rotation=7, max_bits=bits)
        assert chosen == ldp.RotatedSigns(20_000, 16.0, rotation=7, signs=signs) or isinstance(chosen, ldp.RankedSigns)
        assert chosen.report_bits <= bits


def test_the_largest_dimensions_warn_about_the_loss():
    with pytest.warns(
        UserWarning, match="^for dim=16777217 and epsilon=8.0, L2Ball has 11.8 times the error of PrivUnit"
    ):
        assert isinstance(for_ball((1 << 24) + 1, 8.0), ldp.L2Ball)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for_ball((1 << 24) + 1, 0.5)
        for_ball(100_000, 8.0)


def test_the_ideal_mechanism_must_be_allowed():
    assert isinstance(for_ball(100, 4.0), ldp.RankCodebook)
    assert isinstance(for_ball(100, 4.0, allow_ideal=True), ldp.PrivUnit)


@each(
    "call, message",
    [
        (lambda: for_categories(100, 1.0, max_bits=3), "max_bits must be at least 7 for these arguments, got 3"),
        (lambda: for_ball(100, 1.0, max_bits=8), "max_bits must be at least 64 for these arguments, got 8"),
        (lambda: for_interval(0, 1, 1.0, max_bits=0), "max_bits must be"),
        (lambda: for_interval(1, 0, 1.0), "lower"),
        (lambda: for_ball(100, 2.0, vectors=0), r"vectors must be an integer in \[1, 16384\], got 0"),
        (lambda: for_ball(5, 2.0, rotation=-1), r"rotation must be an integer in \[0, 18446744073709551615\], got -1"),
        (lambda: for_ball(5, 2.0, vectors=16, rotation=1), "vectors and rotation must not be given together"),
        (lambda: for_ball(20_000, 2.0, vectors=16), r"dim must be an integer in \[1, 16384\], got 20000"),
        (lambda: for_box(0, 1.0), "dim must be"),
        (lambda: for_categories(1, 1.0), "k must be"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@each(
    "call, message",
    [
        (lambda: for_categories(9, 1.0, max_bits=2.5), "max_bits must be an integer, got float"),
        (lambda: for_interval(0, 1, 1.0, max_bits=float("nan")), "max_bits must be an integer, got float"),
        (lambda: for_box(3, 1.0, max_bits="3"), "max_bits must be an integer, got str"),
        (lambda: for_ball(3, 1.0, max_bits="8"), "max_bits must be an integer, got str"),
        (lambda: for_ball(3, 1.0, max_bits=True), "max_bits must be an integer, got bool"),
        (lambda: for_ball(3, 1.0, allow_ideal=1), "allow_ideal must be a bool, got int"),
    ],
)
def test_arguments_of_a_wrong_type(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_all_choices_are_public():
    assert {"for_ball", "for_box", "for_categories", "for_interval", "for_sets"} <= set(mechanisms.__all__)


def test_a_large_loss_against_subset_selection_is_announced():
    """Reports of few bits for very many categories, with a larger epsilon than the fields are made for."""
    with pytest.warns(UserWarning, match=r"^for 1000000 categories and epsilon=12.0, short reports have 2.12 times"):
        mechanism = for_categories(1_000_000, 12.0)
    assert isinstance(mechanism, ldp.RandomizedResponse)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k, epsilon in ((1_000_000, 8.0), (10_000_000, 7.0), (4096, 12.0), (100, 12.0)):
            for_categories(k, epsilon)


@pytest.mark.parametrize("dim, epsilon", [(10, 1e-16), (20_000, 1e-7), (2**34, 1.0)])
def test_half_spaces_are_left_where_no_other_mechanism_has_its_range(dim, epsilon):
    assert for_ball(dim, epsilon) == ldp.L2Ball(dim, epsilon)


def test_half_spaces_in_too_many_dimensions_are_a_warning_at_every_epsilon():
    with pytest.warns(UserWarning, match="L2Ball has 103 times the error"):
        assert for_ball(2**24 + 1, 42.0) == ldp.L2Ball(2**24 + 1, 42.0)


@pytest.mark.parametrize(
    "epsilon", [2.5, 8.0, 20.0, *(pytest.param(epsilon, marks=pytest.mark.long) for epsilon in (1.0, 4.0, 12.0))]
)
def test_the_interval_mechanism_within_a_size_is_the_best_window_that_fits(epsilon):
    windows = [
        ldp.Window(-1, 1, epsilon, outputs=outputs) for outputs in (*range(2, 35), 60, 64, 65, 100, 128, 200, 256)
    ]
    for bits in range(2, 9):
        fitting = min(window.largest_variance for window in windows if window.report_bits <= bits)
        found = for_interval(-1, 1, epsilon, max_bits=bits)
        assert found.report_bits <= bits
        assert best_mechanism.largest_variance(found) <= fitting * 1.01 + 1e-12


@pytest.mark.parametrize(
    "epsilon", [4.0, *(pytest.param(epsilon, marks=pytest.mark.long) for epsilon in (0.5, 12.0, 20.0))]
)
def test_more_codes_have_no_larger_variance(epsilon):
    variances = [
        ldp.Window(-1, 1, epsilon, outputs=outputs).largest_variance for outputs in (32, 64, 65, 100, 160, 255, 256)
    ]
    assert variances == sorted(variances, reverse=True)
