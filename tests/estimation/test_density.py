"""Estimated densities as functions: values, integrals, bands and plots."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from ldpfast.estimation import HistogramDensity, SeriesDensity

from ..support.examples import assert_same

pytestmark = pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")

PROBLEMS = {
    "series even": SeriesDensity(2.0, n_terms=6, lower=-1.0, upper=3.0),
    "series odd": SeriesDensity(2.0, n_terms=5),
    "series 1": SeriesDensity(2.0, n_terms=1, lower=-1.0),
    "histogram": HistogramDensity(2.0, bins=7, lower=-1.0, upper=3.0),
    "histogram laplace": HistogramDensity(2.0, bins=2, noise="laplace"),
}


@pytest.fixture(params=PROBLEMS.values(), ids=PROBLEMS)
def density(request):
    """An estimate from numbers near the lower end."""
    lower, upper = request.param.domain.range
    x = lower + (upper - lower) * np.random.default_rng(1).beta(2, 5, 3000)
    return request.param.run(x, rng=2)


def direct_sum(density, x):
    """Sum of cosines and sines, or the height of a bin."""
    u = (x - density.lower) / (density.upper - density.lower)
    width, value = density.upper - density.lower, np.asarray(density.value)
    if not hasattr(density, "scale"):
        heights = value * len(value) / width
        return heights[np.minimum((u * len(value)).astype(int), len(value) - 1)]
    total = np.ones_like(u)
    for j, coefficient in enumerate(value, 1):
        wave = np.cos if j % 2 else np.sin
        total += coefficient * math.sqrt(2) * wave(2 * np.pi * ((j + 1) // 2) * u)
    return total / width


def test_density_equals_the_direct_sum(density):
    x = np.random.default_rng(3).uniform(density.lower, density.upper, 10**6)
    np.testing.assert_allclose(
        density(x), direct_sum(density, x), rtol=0, atol=1e-12 * np.abs(density.value).sum() + 1e-12
    )


def test_points_have_any_shape_and_density_is_zero_outside(density):
    x = np.linspace(density.lower, density.upper, 12)
    values = density(x)
    assert_same(density(x.reshape(3, 4)), values.reshape(3, 4))
    assert_same(density(list(x[::-1])), values[::-1].copy())
    assert type(density(float(x[3]))) is float
    assert density(float(x[3])) == values[3]
    assert_same(density(np.array([])), np.array([]))
    outside = [density.lower - 1e-9, density.upper + 1e-9, math.inf, -math.inf, math.nan]
    for curve in (density, density.project(), *(lambda x, i=i: density.band(x)[i] for i in (0, 1))):
        assert not np.asarray(curve(outside)).any()


def integral(density, curve):
    """The midpoint rule on 2^15 intervals: exact for the series, and for bins up to their edges."""
    step = (density.upper - density.lower) / 2**15
    return np.sum(curve(density.lower + step * (np.arange(2**15) + 0.5))) * step


def test_integral_is_one_and_projection_is_nearer_to_the_truth(density):
    if hasattr(density, "scale"):
        assert integral(density, density) == pytest.approx(1, abs=1e-9)
    projected = density.project()
    assert integral(density, projected) == pytest.approx(1, abs=1e-3)
    assert projected(np.linspace(density.lower, density.upper, 999)).min() >= 0
    width = density.upper - density.lower

    def distance(curve):
        truth = stats.beta(2, 5)
        return integral(density, lambda x: (curve(x) - truth.pdf((x - density.lower) / width) / width) ** 2)

    assert distance(projected) <= distance(density) * (1 + 1e-3)


def test_bands_follow_the_formulas(density):
    """Pointwise and simultaneous bands.

    Ends of the pointwise band of a series are the heights f with (estimate - f)^2 = z^2 variance(f), where the variance
    (B^2 sum of squares - (f - 1)^2) / n is exact. Ends for bins are the intervals of their shares.
    """
    x = np.linspace(density.lower, density.upper, 50)
    width, size = density.upper - density.lower, len(density.value)
    low, high = density.band(x, 0.9)
    if hasattr(density, "scale"):
        u, j = 2 * np.pi * (x - density.lower) / width, np.arange(1, size + 1)[:, np.newaxis]
        squares = 2 * np.where(j % 2, np.cos((j + 1) // 2 * u), np.sin((j + 1) // 2 * u)) ** 2
        for end in (low, high):
            variance = (density.scale**2 * squares.sum(0) - (end * width - 1) ** 2) / density.n
            expected = stats.norm.isf(0.05) ** 2 * variance
            np.testing.assert_allclose(((density(x) - end) * width) ** 2, expected, rtol=1e-6, atol=1e-9)
    else:
        which = np.minimum((x - density.lower) / width * size, size - 1).astype(int)
        for band, limit in zip((low, high), density.interval(0.9), strict=True):
            np.testing.assert_allclose(band, limit[which] * size / width, rtol=1e-9)
    assert (low <= density(x) + 1e-9).all()
    assert (density(x) <= high + 1e-9).all()
    wide_low, wide_high = density.band(x, 0.9, simultaneous=True)
    assert (wide_low <= low + 1e-9).all()
    assert (high <= wide_high + 1e-9).all()


def test_plot_shows_the_estimate_and_its_band(density):
    figure = pytest.importorskip("matplotlib.figure")
    axes = density.plot()
    assert axes.get_ylabel() == "density (per unit of the records)"
    assert axes.get_xlim() == (density.lower, density.upper)
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["95 %, simultaneous", "private estimate, n = 3,000"]
    axes_of_caller = figure.Figure().add_subplot()
    assert density.plot(axes_of_caller, confidence=0.5, simultaneous=False) is axes_of_caller
    assert "50 %, pointwise" in [text.get_text() for text in axes_of_caller.get_legend().get_texts()]
    axes_of_caller.figure.canvas.draw()
