"""
Page loads with a randomized flag
=================================

The distribution of loads with truly high confidence, from flags that a coin has replaced for some loads.
"""

import matplotlib.pyplot as plt
import numpy as np

from ldpfast.estimation import conditional_quantiles

rng, n = np.random.default_rng(1), 50_000  # simulated beacons
busy = rng.random(n) < 0.35
milliseconds = np.exp(rng.normal(np.where(busy, 7.4, 6.6), 0.6)).astype(np.float32)
rate = rng.choice([0.2, 0.4], n).astype(np.float32)
says_high = np.where(rng.random(n) < rate, rng.random(n) < 0.5, ~busy)

levels = np.linspace(0.05, 0.95, 37)
found = conditional_quantiles(milliseconds, says_high, levels, rates=rate)
low, high = found.interval()

fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
ax.fill_betweenx(100 * levels, low, high, color="#56B4E9", alpha=0.6, label="95 % interval")
ax.plot(found.value, 100 * levels, color="#0072B2", label="estimate")
ax.plot(np.quantile(milliseconds[~busy], levels), 100 * levels, "k--", label="truth")
ax.plot(np.quantile(milliseconds[says_high], levels), 100 * levels, ":", color="#D55E00", label="all that say high")
ax.set_xlabel("time of a load (milliseconds)")
ax.set_ylabel("share of loads that are faster (percent)")
ax.legend()

# %%
# **What to see.** The loads that say "high" contain slow ones whose coin fell so, and their percentiles are too large. The
# estimate agrees with the truth.
