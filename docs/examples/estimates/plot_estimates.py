"""
Estimates with intervals
========================

Shares of four ways to work, estimated from privatized answers at four values of epsilon.
"""

import matplotlib.pyplot as plt
import numpy as np

from ldpfast.estimation import frequencies

ways = ["foot", "bicycle", "train", "car"]
shares = [0.10, 0.22, 0.25, 0.43]
answers = np.random.default_rng(1).choice(ways, 20_000, p=shares)

fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
for position, (epsilon, marker) in enumerate(zip([0.5, 1.0, 2.0, 4.0], "osD^", strict=True)):
    estimate = frequencies(answers, ways, epsilon, rng=position)
    low, high = estimate.interval(0.95)
    x = np.arange(len(ways)) + 0.15 * (position - 1.5)
    errors = 100 * np.array([estimate.value - low, high - estimate.value])
    ax.errorbar(x, 100 * estimate.value, errors, fmt=marker, capsize=4, label=f"epsilon = {epsilon}")
ax.hlines(100 * np.array(shares), np.arange(4) - 0.35, np.arange(4) + 0.35, "black", "dashed", label="true share")
ax.set_xticks(range(len(ways)), ways)
ax.set_xlabel("way to work (category)")
ax.set_ylabel("share of 20,000 people (percent)")
ax.legend(ncols=2)

# %%
# **What to see.** The intervals contain the true shares (dashed) and get shorter as epsilon grows. At epsilon =
# 0.5 they are too long to tell the bicycle from the train; at epsilon = 4 they are nearly as short as without
# privacy.
