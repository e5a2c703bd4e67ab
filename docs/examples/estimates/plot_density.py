"""
Density of privatized numbers
=============================

The distribution of bedtimes over the day, estimated by a trigonometric series and by a histogram.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import stats

from ldpfast.estimation import histogram_density, series_density

rng, n = np.random.default_rng(4), 200_000
hours = np.where(rng.random(n) < 0.7, rng.normal(23, 1.2, n), rng.normal(14, 1.0, n)) % 24
series = series_density(hours, 1.0, radius=70, lower=0, upper=24, rng=1)
bins = histogram_density(hours, 1.0, bins=24, lower=0, upper=24, rng=2)

points = np.linspace(0, 23.99, 480)
truth = sum(0.7 * stats.norm.pdf(points, 23 + day, 1.2) + 0.3 * stats.norm.pdf(points, 14 + day, 1) for day in (-24, 0))
low, high = series.band(points, simultaneous=True)

fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
ax.fill_between(points, low, high, alpha=0.3, label="95 % band of the series, simultaneous")
ax.plot(points, series(points), label="series")
ax.step(points, bins(points), where="mid", linewidth=1, label="histogram of 24 bins")
ax.plot(points, truth, "k--", label="true density")
ax.set_xlabel("time of day (hours)")
ax.set_ylabel("density (share of people per hour)")
ax.set_xticks(range(0, 25, 4))
ax.legend()

# %%
# **What to see.** From 200,000 reports at epsilon = 1, both estimates find the two peaks. The series is
# smoother. The histogram varies from bin to bin, and both may fall below zero; ``project()`` gives the nearest
# density. The band does not include the bias of a series with few terms, which rounds off the peaks.
