"""Designs for two samples: cheating detection and the stochastic lie detector against the package RRreg of R, and coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from ldpfast import designs
from ldpfast.results import DoubtfulWarning, SmallSampleWarning

from ..support.cases import each
from ..support.errors import raises
from ..support.statistics import assert_coverage

# Answers no and yes about a ban of minarets in both samples of the package RRreg of R (D. W. Heck, M. Moshagen, Journal of
# Statistical Software, 2018, section 4.1; data of D. Radukic and J. Musch).
MINARETS = [1] * 373 + [0] * 191, [1] * 398 + [0] * 294
SLD = {"p": ("2/12", "10/12")}
CHEATING = [1] * 430 + [0] * 570, [1] * 700 + [0] * 500
CDM = {"p": (0.25, 0.75)}
BOTH = {"cheating": designs.cheating_detection, "lies": designs.stochastic_lie_detector}


def test_the_published_figures_on_minarets_are_reproduced():
    found = designs.stochastic_lie_detector(*MINARETS, **SLD)
    assert found.labels == ("prevalence", "truthful")
    np.testing.assert_allclose(found.value, [0.870695, 0.635806], atol=5.1e-7)
    np.testing.assert_allclose(found.stderr, [0.041118, 0.017344], atol=5.1e-7)
    assert (found.n, found.epsilon) == (1256, math.inf)
    assert found.test([0, 1]).statistic == pytest.approx([21.175, -20.999], abs=0.001)


def test_cheating_detection_is_that_of_the_package_rrreg():
    """Digits of RRuni under R 4.2.2, with the model CDM."""
    found = designs.cheating_detection(*CHEATING, **CDM)
    assert found.labels == ("honest yes", "honest no", "cheaters")
    np.testing.assert_allclose(found.value, [0.353333333333, 0.306666666667, 0.34], atol=1e-12)
    np.testing.assert_allclose(found.stderr, [0.0245500678907, 0.0423348825909, 0.0227474304934], rtol=1e-11)
    assert found.value.sum() == pytest.approx(1, abs=1e-15)
    assert np.abs(found.covariance.sum(axis=0)).max() < 1e-18  # the shares have the sum 1


def log_likelihood(params, samples, kind, p):
    """Return the log-likelihood of the shares of a model, from the probabilities of all kinds of people."""
    total = 0.0
    for answers, share in zip(samples, p, strict=True):
        lies = params[0] * params[1] + (1 - params[0]) * (1 - share)
        yes = params[0] + params[1] * share if kind == "cheating" else lies
        said = np.mean(answers)
        total += len(answers) * (said * np.log(yes) + (1 - said) * np.log(1 - yes))
    return total


@each("kind", BOTH)
def test_the_likelihood_is_the_largest_one(kind):
    samples, p = (CHEATING, (0.25, 0.75)) if kind == "cheating" else (MINARETS, (2 / 12, 10 / 12))
    found = BOTH[kind](*samples, p=p)
    assert found.llf == pytest.approx(log_likelihood(found.value, samples, kind, p), abs=1e-9)


@pytest.mark.filterwarnings("ignore::ldpfast.DoubtfulWarning")
def test_the_likelihood_is_that_of_possible_shares():
    """The unbiased share of cheaters is negative: the largest likelihood is at the edge without cheaters."""
    samples = [1] * 750 + [0] * 250, [1] * 960 + [0] * 40
    found = designs.cheating_detection(*samples, **CDM)
    assert found.value[2] < 0
    expected = minimize_scalar(
        lambda share: -log_likelihood((share, 1 - share), samples, "cheating", (0.25, 0.75)), bounds=(0.1, 0.9)
    )
    assert found.llf == pytest.approx(-expected.fun, abs=1e-6)
    assert found.llf < log_likelihood(found.value, samples, "cheating", (0.25, 0.75))


@pytest.mark.long
@each("kind", BOTH)
def test_intervals_cover(kind):
    runs, hits = 4000, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        has, samples = rng.random((2, 800)) < 0.3, []
        follows = rng.random((2, 800)) < 0.8
        for place, p in enumerate((0.2, 0.8)):
            told = rng.random(800) < p
            if kind == "cheating":
                samples.append(follows[place] & (told | has[place]))
            else:
                samples.append(np.where(has[place], follows[place], ~told))
        low, high = BOTH[kind](*samples, p=(0.2, 0.8)).interval()
        truth = np.array([0.24, 0.56, 0.2] if kind == "cheating" else [0.3, 0.8])
        hits = hits + ((low < truth) & (high > truth))
    assert_coverage(hits, runs, 0.935, most=0.97, detects=0.9)


def test_few_people_and_answers_that_no_share_explains_are_doubtful():
    with pytest.warns(DoubtfulWarning, match=r"the share 'honest no' is -3.07, beyond what chance explains: p may"):
        designs.cheating_detection(CHEATING[1], CHEATING[0], p=(0.05, 0.1))
    with pytest.warns(DoubtfulWarning, match="is not clearly above 0: the share of truthful people is unknown"):
        found = designs.stochastic_lie_detector([1] * 80 + [0] * 20, [1] * 19 + [0] * 81, p=(0.2, 0.8))
    assert np.isnan(found.value[1]) == (found.value[0] <= 0)
    few = designs.cheating_detection([1, 0] * 8, [1, 1, 0] * 8, **CDM)
    with pytest.warns(SmallSampleWarning, match="too small"):
        few.interval()
    alike = designs.cheating_detection([1] * 40, [1] * 40, **CDM)
    assert (alike.stderr > 0).all()


@each("kind", BOTH)
def test_mistakes_are_named(kind):
    with raises(ValueError, "p must be two probabilities below 1, got 1"):
        designs.cheating_detection(*CHEATING, p=(0.5, 1))
    with raises(ValueError, "p must be two different probabilities, got 1/6 twice"):
        BOTH[kind](*MINARETS, p=("1/6", "2/12"))
    with raises(TypeError, "p must be a pair of probabilities, got 0.5"):
        BOTH[kind](*MINARETS, p=0.5)
    with pytest.raises(ValueError, match=r"^first must be 'no' and 'yes', or 0 and 1"):
        BOTH[kind]([0, 2], [0, 1], **SLD)
    with raises(ValueError, "second must have shape (n,) with n >= 1, got shape (0,)"):
        BOTH[kind]([0, 1], [], **SLD)
