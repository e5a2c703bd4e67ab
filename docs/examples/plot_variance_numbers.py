"""
Mechanisms for a number: exact variance against epsilon
=======================================================

The largest variance of one decoded report over all records in [-1, 1].
"""

import matplotlib.pyplot as plt
import numpy as np

import ldpfast as ldp

epsilons = np.geomspace(0.2, 8, 40)
records = np.linspace(-1, 1, 201)
fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
for kind, style in ((ldp.SignBit, "-"), (ldp.Window, "--"), (ldp.Laplace, "-.")):
    ax.loglog(epsilons, [kind(-1, 1, e).variance(records).max() for e in epsilons], style, label=kind.__name__)
ax.axvline(0.53, color="gray", linewidth=1)
ax.set_xticks([0.2, 0.5, 1, 2, 4, 8], ["0.2", "0.5", "1", "2", "4", "8"])
ax.set_xticks([], minor=True)
ax.set_xlabel("epsilon (privacy loss of one report)")
ax.set_ylabel("largest variance of a report (squared half-width)")
ax.grid(alpha=0.3)
ax.legend()

# %%
# **What to see.** At epsilon = 0.53 (gray) one bit and a window of sixteen reports are equally good. Laplace
# noise, the textbook method, has a larger variance than the better of both everywhere.
