"""
Mechanisms for a vector: exact variance against epsilon
=======================================================

The total variance of one decoded report of the zero vector in 50 dimensions, for records in the unit ball and in the box.
"""

import matplotlib.pyplot as plt
import numpy as np

import ldpfast as ldp

dim, epsilons, zero = 50, np.geomspace(0.5, 16, 16), np.zeros(50)
ball = {
    "L2Ball": ldp.L2Ball,
    "RankCodebook, 16 vectors": ldp.RankCodebook,
    "choice of for_ball": ldp.mechanisms.for_ball,
    "LaplaceVector": ldp.LaplaceVector,
}
box = {"LinfBall": ldp.LinfBall, "SampledCube": ldp.SampledCube, "LaplaceVector": None}

fig, panels = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
for ax, kinds, title in zip(panels, (ball, box), ("Euclidean norm at most 1", "coordinates in [-1, 1]"), strict=True):
    for (name, kind), style in zip(kinds.items(), ("-", "--", "-.", ":"), strict=False):
        made = [kind(dim, e) if kind else ldp.LaplaceVector(dim, e, norm="linf") for e in epsilons]
        ax.loglog(epsilons, [mechanism.variance(zero).sum() for mechanism in made], style, label=name)
    ax.set_title(title, fontsize=11)
    ax.set_xticks([0.5, 1, 2, 4, 8, 16], ["0.5", "1", "2", "4", "8", "16"])
    ax.set_xticks([], minor=True)
    ax.set_xlabel("epsilon (privacy loss of one report)")
    ax.set_ylabel("total variance of a report (squared radius)")
    ax.grid(alpha=0.3)
    ax.legend()

# %%
# **What to see.** For small epsilon, mechanisms that send signs have far less variance than Laplace noise.
# Their variance stops falling where a sign is nearly always right; ``RankCodebook`` and ``SampledCube`` say
# more where epsilon allows it, and keep falling. With the number of vectors, or the signs, that ``for_ball`` chooses,
# the variance falls further.
