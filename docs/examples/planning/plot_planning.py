"""
Planning curves
===============

The number of people that a study needs, against epsilon, for three half-widths of the interval.
"""

import matplotlib.pyplot as plt
import numpy as np

import ldpfast as ldp
from ldpfast import bounds

epsilons = np.geomspace(0.12, 6, 25)
fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
for half_width, style in ((0.2, "-"), (0.5, "--"), (1.0, "-.")):
    people = [
        bounds.sample_size(ldp.mechanisms.for_interval(0, 20, epsilon), half_width, confidence=0.95)
        for epsilon in epsilons
    ]
    ax.loglog(epsilons, people, style, label=f"half-width {half_width} visits")
ax.axvline(0.245, color="gray", linewidth=1)
ax.annotate("SignBit", (0.238, ax.get_ylim()[0] * 1.3), ha="right")
ax.annotate("Window", (0.252, ax.get_ylim()[0] * 1.3))
ax.set_xticks([0.2, 0.5, 1, 2, 4], ["0.2", "0.5", "1", "2", "4"])
ax.set_xticks([], minor=True)
ax.set_xlabel("epsilon (privacy loss of one person)")
ax.set_ylabel("sample size (people)")
ax.set_title("Mean number of visits in [0, 20], 95 % interval", fontsize=11)
ax.grid(alpha=0.3)
ax.legend()

# %%
# **What to see.** Below epsilon = 1, halving epsilon takes about four times as many people, and so does halving
# the half-width at any epsilon. Above epsilon = 3 the curves flatten: there the sampling error, which every
# study has, is larger than that of privacy.
