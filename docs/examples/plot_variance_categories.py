"""
Mechanisms for a category: exact variance against epsilon
=========================================================

The variance of one decoded report about a category that the person does not have, for 100 categories.
"""

import matplotlib.pyplot as plt
import numpy as np

import ldpfast as ldp

k, epsilons = 100, np.geomspace(0.2, 8, 30)
kinds = {
    "RandomizedResponse": ldp.RandomizedResponse,
    "SubsetSelection": ldp.SubsetSelection,
    "ProjectiveGeometryResponse": ldp.ProjectiveGeometryResponse,
    "HadamardResponse": ldp.HadamardResponse,
    "UnaryEncoding": ldp.UnaryEncoding,
}
fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
for (name, kind), style in zip(kinds.items(), ["-", "--", ":", "-.", (0, (6, 2, 1, 2, 1, 2))], strict=True):
    ax.loglog(epsilons, [kind(k, e).variance(0)[1] for e in epsilons], linestyle=style, label=name)
ax.set_xticks([0.2, 0.5, 1, 2, 4, 8], ["0.2", "0.5", "1", "2", "4", "8"])
ax.set_xticks([], minor=True)
ax.set_xlabel("epsilon (privacy loss of one report)")
ax.set_ylabel("variance of a report (squared share)")
ax.grid(alpha=0.3)
ax.legend()

# %%
# **What to see.** For 100 categories and small epsilon, randomized response is far worse than the others; from
# about epsilon = 4 on it is the best, together with subset selection. Up to there, subset selection and the
# response by projective geometry are close to each other, and the latter takes 7 bits instead of 100. The
# variance of Hadamard response does not fall below one.
