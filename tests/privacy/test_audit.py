"""Audits: no mechanism exceeds its guarantee, and broken mechanisms are detected."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.privacy import audit, gaussian_sigma

from ..cards import CARDS, MECHANISMS
from ..support.cases import each
from ..support.statistics import ALPHA

SURE = 1 - ALPHA  # a bound of this confidence is above the true loss with probability ALPHA


# Mechanisms of the library --------------------------------------------------------------------------------------------


def opposite_records(mechanism):
    """Return two records at opposite ends of the domain."""
    domain = mechanism.domain
    kind = type(domain).__name__
    if kind == "Categories":
        return np.uint32(0), np.uint32(domain.k - 1)
    if kind == "Interval":
        return domain.lower, domain.upper
    if kind == "Reals":
        return -0.2, 0.3
    if kind == "Strings":  # in different buckets of all functions
        letters = [chr(point) for point in range(ord("a"), ord("z"))]
        buckets = mechanism._hashes[0].buckets(domain.records(letters)[0])
        return letters[0], next(
            letter for letter, row in zip(letters, buckets, strict=True) if (row != buckets[0]).all()
        )
    if kind == "Sets":  # without a common position
        ends = np.arange(domain.k)
        return (ends < domain.most).astype(np.uint8), (ends >= domain.k - domain.most).astype(np.uint8)
    if kind == "Tuples":
        return np.zeros(domain.width, np.uint16), np.array(domain.sizes, np.uint16) - 1
    if kind == "Examples":
        features = np.full(domain.features, 0.3)
        return np.append(features, 1.0), np.append(-features, 1.0)
    if domain.norm == "linf":
        corner = np.full(domain.dim, domain.radius)
    else:
        corner = np.full(domain.dim, 0.999 * domain.radius / math.sqrt(domain.dim))
    return corner, -corner


def number_of_reports(mechanism):
    dim = getattr(mechanism, "dim", None) or getattr(mechanism.domain, "k", 1)
    return max(200, min(20_000, 1_000_000 // dim))


@pytest.mark.claim("No audit finds a larger loss than `epsilon_realized`.", "Privacy of reports")
@pytest.mark.long
@each("mechanism", MECHANISMS, ids=repr)
def test_no_mechanism_exceeds_its_guarantee(mechanism):
    """The test fails for a correct mechanism with probability ALPHA."""
    x, x_prime = opposite_records(mechanism)
    assert (
        0
        <= audit(mechanism, x, x_prime, number_of_reports(mechanism), confidence=SURE, rng=3)
        <= mechanism.epsilon_realized
    )


@pytest.mark.long
@pytest.mark.parametrize(
    "mechanism, share",
    [case for card in CARDS.values() for case in card.audited],
    ids=lambda value: repr(value).replace(" ", ""),
)
def test_the_bound_is_near_the_true_loss(mechanism, share):
    """With 200,000 reports of each record. Detects an audit without power, not a bound that is too high."""
    bound = audit(mechanism, *opposite_records(mechanism), 200_000, rng=1)
    assert share * mechanism.epsilon_realized <= bound


# Broken mechanisms ----------------------------------------------------------------------------------------------------


def half_the_scale(records, rng):
    """Laplace noise for epsilon = 1 on [0, 1] whose scale was divided by two."""
    return records + rng.laplace(scale=0.5, size=len(records))


def twice_the_epsilon(records, rng):
    """8-ary response that claims epsilon 1 and reports the true category with the probability of epsilon 2."""
    p = math.exp(2) / (math.exp(2) + 7)
    kept = rng.random(len(records)) < p
    return np.where(kept, records, (records + rng.integers(1, 8, len(records))) % 8)


def one_coin_for_all_bits(records, rng):
    """Bits of a cube, each for epsilon / 2, from one uniform number, so that all are true or all are flipped."""
    flipped = rng.random(len(records)) < 1 / (1 + math.exp(1.0))
    signs = np.where(flipped, -records[:, 0], records[:, 0])
    return np.packbits(np.column_stack([signs > 0] * 9), axis=1, bitorder="little")


def noise_on_a_grid_of_the_record(records, rng):
    """Noise on a grid that depends on the record, so that the last digits reveal the record."""
    return records + 2.0 ** rng.integers(-1, 2, len(records)) * rng.choice([-1.0, 1.0], len(records))


def sometimes_nan(records, rng):
    """Occasional NaN, for one record only."""
    return np.where((records > 0.5) & (rng.random(len(records)) < 0.01), np.nan, rng.normal(size=len(records)))


@pytest.mark.claim("An audit detects a mechanism that violates its claimed guarantee.", "Composition and audits")
@each(
    "broken, x, x_prime, epsilon, least",
    [
        (half_the_scale, 0.0, 1.0, 1.0, 1.8),
        (twice_the_epsilon, 0, 5, 1.0, 1.8),
        (one_coin_for_all_bits, np.ones(2), -np.ones(2), 0.5, 0.9),
        (noise_on_a_grid_of_the_record, 0.1, 0.2, 1.0, 5.0),
        (sometimes_nan, 0.2, 0.9, 1.0, 2.5),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_broken_mechanisms_are_detected(broken, x, x_prime, epsilon, least):
    """The bound is wrong with probability ALPHA, and above the claimed epsilon."""
    for first, second in ((x, x_prime), (x_prime, x)):
        bound = audit(broken, first, second, 100_000, confidence=SURE, rng=7)
        assert bound > epsilon
        assert bound > least


def test_a_mechanism_with_delta_is_detected():
    """Gaussian noise for epsilon = 0.5 at delta 0.1 has a larger loss in its tails."""
    sigma = gaussian_sigma(0.5, 0.1)
    noisy = lambda records, rng: records + rng.normal(scale=sigma, size=len(records))  # noqa: E731
    assert audit(noisy, 0.0, 1.0, 200_000, confidence=SURE, rng=1) > 0.8


# The bound ------------------------------------------------------------------------------------------------------------


def test_reports_that_do_not_depend_on_the_record_give_zero():
    for n in (4, 5, 1000):
        assert audit(lambda records, rng: np.zeros(len(records), np.int64), 0, 1, n) == 0
    assert audit(lambda records, rng: rng.normal(size=(len(records), 3)), 0, 1, 20_000, confidence=SURE, rng=1) == 0


def test_the_bound_for_a_published_record():
    """The bound is the log ratio of the confidence limits for n / 2 of n / 2 hits and for none."""
    n, tail = 2000, 0.025
    bound = audit(lambda records, rng: records, 0, 1, n)
    assert bound == pytest.approx(math.log(tail ** (2 / n) / (1 - tail ** (2 / n))), rel=1e-9)
    assert bound == audit(lambda records, rng: np.repeat(records[:, None], 20, 1) * 1.0, 0, 1, n)


@pytest.mark.claim(
    "The result of an audit is a lower bound on epsilon that holds with the given confidence.", "Composition and audits"
)
@pytest.mark.parametrize("mechanism", [ldp.Warner(0.5), ldp.RandomizedResponse(40, 0.5)], ids=repr)
@pytest.mark.long
def test_coverage_of_the_bound(mechanism):
    """In 300 audits at 80 %, the bound is above the true loss in at most 60 audits on average.

    It is above in 100 or more audits with probability at most 1e-7 (Bernstein). With many codes, an event that is chosen from
    the same reports as its limits would be above in nearly all audits.
    """
    above = sum(audit(mechanism, 0, 1, 400, confidence=0.8, rng=s) > mechanism.epsilon_realized for s in range(300))
    assert above < 100


def test_seeds_and_generators():
    mechanism = ldp.Warner(1.0)
    assert audit(mechanism, 0, 1, 1000, rng=5) == audit(mechanism, 0, 1, 1000, rng=5)
    assert audit(mechanism, 0, 1, 1000, rng=5) == audit(mechanism, 0, 1, 1000, rng=np.random.SeedSequence(5))
    generator = np.random.default_rng(5)
    assert audit(mechanism, 0, 1, 1000, rng=generator) != audit(mechanism, 0, 1, 1000, rng=generator)
    assert audit(mechanism, 0, 1, 1000, rng=np.random.PCG64(5)) == audit(mechanism, 0, 1, 1000, rng=5)
    given = []
    audit(lambda records, rng: given.append(rng) or records, 0, 1, 10)
    assert given == [None, None]


# Bad input ------------------------------------------------------------------------------------------------------------


def constant(records, rng):
    return np.zeros(len(records))


@each(
    "call, error, message",
    [
        (lambda: audit(constant, 0, 1, 3), ValueError, r"^n must be an integer >= 4, got 3$"),
        (lambda: audit(constant, 0, 1, 10.0), TypeError, r"^n must be an integer, got float$"),
        (lambda: audit(constant, 0, 1, 10, confidence=1), ValueError, r"^confidence must be in \(0, 1\), got 1$"),
        (lambda: audit("x", 0, 1, 10), TypeError, r"^mechanism must be a Mechanism or callable, got str$"),
        (lambda: audit(constant, "a", 1, 10), None, ""),
        (lambda: audit(constant, 0, [[1], [1, 2]], 10), TypeError, r"^x_prime must be an array of numbers"),
        (lambda: audit(constant, 0, 1, 10, rng="a"), TypeError, r"^rng must be an integer, got str$"),
        (lambda: audit(constant, 0, 1, 10, rng=-1), ValueError, r"^rng must be an integer >= 0, got -1$"),
        (lambda: audit(ldp.Warner(1.0), 0, 7, 10), ValueError, r"^x must be "),
        (
            lambda: audit(lambda r, rng: np.zeros(3), 0, 1, 10),
            ValueError,
            r"^mechanism must give 10 reports, numbers or rows of numbers, got shape \(3,\)$",
        ),
        (lambda: audit(lambda r, rng: np.zeros((10, 2, 2)), 0, 1, 10), ValueError, r"got shape \(10, 2, 2\)$"),
        (lambda: audit(lambda r, rng: np.zeros((10, 0)), 0, 1, 10), ValueError, r"got shape \(10, 0\)$"),
        (
            lambda: audit(lambda r, rng: ["a"] * 10, 0, 1, 10),
            TypeError,
            r"^mechanism must give numbers, got dtype <U1$",
        ),
        (
            lambda: audit(lambda r, rng: np.zeros(10, int if r[0] else float), 0, 1, 10),
            ValueError,
            r"^mechanism must give reports of one shape and dtype for both records$",
        ),
    ],
)
def test_bad_arguments(call, error, message):
    if error is None:
        assert call() == 0  # the mechanism defines the set of records
    else:
        with pytest.raises(error, match=message):
            call()
