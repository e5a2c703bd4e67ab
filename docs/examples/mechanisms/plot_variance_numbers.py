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
for label, kind, options, style in (
    ("SignBit", ldp.SignBit, {}, "-"),
    ("Window(outputs=16)", ldp.Window, {"outputs": 16}, "--"),
    ("Window(outputs=256)", ldp.Window, {"outputs": 256}, ":"),
    ("Laplace", ldp.Laplace, {}, "-."),
):
    ax.loglog(epsilons, [kind(-1, 1, e, **options).variance(records).max() for e in epsilons], style, label=label)
ax.axvline(0.53, color="gray", linewidth=1)
ax.set_xticks([0.2, 0.5, 1, 2, 4, 8], ["0.2", "0.5", "1", "2", "4", "8"])
ax.set_xticks([], minor=True)
ax.set_xlabel("epsilon (privacy loss of one report)")
ax.set_ylabel("largest variance of a report (squared half-width)")
ax.grid(alpha=0.3)
ax.legend()

# %%
# **What to see.** At epsilon = 0.53 (gray) one bit and a window of sixteen reports are equally good. With up to 256 reports
# the window has the smallest variance everywhere. Laplace noise, the textbook method, is never the best.
