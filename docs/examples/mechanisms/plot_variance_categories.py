"""
Mechanisms for a category: exact variance against epsilon
=========================================================

The variance of one decoded report about a category that the person does not have, for 100 and for a million categories.
"""

import matplotlib.pyplot as plt
import numpy as np

import ldpfast as ldp

epsilons = np.geomspace(0.2, 10, 40)
kinds = {
    "RandomizedResponse": (ldp.RandomizedResponse, "-"),
    "SubsetSelection": (ldp.SubsetSelection, "--"),
    "ProjectiveGeometryResponse": (ldp.ProjectiveGeometryResponse, ":"),
    "HadamardResponse": (ldp.HadamardResponse, "-."),
    "UnaryEncoding": (ldp.UnaryEncoding, (0, (6, 2, 1, 2, 1, 2))),
}
fig, panels = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
for ax, k in zip(panels, (100, 1_000_000), strict=True):
    for number, (name, (kind, style)) in enumerate(kinds.items()):
        if name == "SubsetSelection" and k > 65_536:  # reports would have k bits; the variance without a limit of k
            odds = np.exp(epsilons)
            ax.loglog(
                epsilons, 4 * odds / (odds - 1) ** 2, linestyle=style, color="C1", label="SubsetSelection (in theory)"
            )
        elif name != "UnaryEncoding" or k < 65_536:
            lines = [getattr(m.debiasing, "line", m.debiasing) for m in (kind(k, e) for e in epsilons)]
            variances = [line.variance(0) for line in lines]
            ax.loglog(epsilons, variances, linestyle=style, color=f"C{number}", linewidth=2, label=name)
    ax.set_xticks([0.2, 0.5, 1, 2, 4, 8], ["0.2", "0.5", "1", "2", "4", "8"])
    ax.set_xticks([], minor=True)
    ax.set_xlabel("epsilon (privacy loss of one report)")
    ax.set_ylabel("variance of a report (squared share)")
    ax.set_title(f"{k:,} categories")
    ax.grid(alpha=0.3)
    ax.legend()

# %%
# **What to see.** For 100 categories and small epsilon, randomized response is far worse than the others; from
# about epsilon = 4 on it is the best, together with subset selection. Up to there, subset selection and the
# response by projective geometry are close to each other, and the latter takes 7 bits instead of 100. The
# variance of Hadamard response does not fall below one. For a million categories, the response by projective geometry
# has the variance of subset selection up to epsilon = 8, in reports of 20 to 26 bits.
