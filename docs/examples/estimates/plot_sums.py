"""
Sums of randomized bits
=======================

Four sums from a secure aggregation, before and after debiasing.
"""

import matplotlib.pyplot as plt
import numpy as np

from ldpfast import designs
from ldpfast.estimation import from_sums

shares, n = np.array([0.5, 0.3, 0.15, 0.05]), 20_000
rng = np.random.default_rng(1)
category = rng.choice(4, n, p=shares)  # simulated clients
columns = rng.random((n, 4)) < np.where(np.arange(4) == category[:, np.newaxis], 0.75, 0.25)
sums = columns.sum(axis=0)

estimate = from_sums(sums, n, designs.BitChannel(4, own=0.75, other=0.25))
low, high = estimate.interval()
places = np.arange(4)
fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
ax.bar(places - 0.2, 100 * sums / n, 0.35, color="#999999", label="ones in the sum")
errors = 100 * np.array([estimate.value - low, high - estimate.value])
ax.bar(
    places + 0.2, 100 * estimate.value, 0.35, yerr=errors, capsize=5, color="#56B4E9", label="estimate, 95 % interval"
)
ax.hlines(100 * shares, places - 0.4, places + 0.4, "black", "dashed", label="true share")
ax.set_xticks(places, ["A", "B", "C", "D"])
ax.set_xlabel("category")
ax.set_ylabel("share of 20,000 clients (percent)")
ax.legend()

# %%
# **What to see.** A quarter of the bits of people without a category are 1, so the sums are too large, most of all for
# rare categories. The estimates are near the true shares, with intervals.
