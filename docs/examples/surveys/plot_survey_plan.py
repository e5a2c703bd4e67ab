"""
Plan of a survey
================

Expected standard errors of three questions, for one to three answers per person.
"""

import matplotlib.pyplot as plt
import numpy as np

from ldpfast.survey import Choice, Survey, YesNo

questions = {"smoker": YesNo(), "region": Choice(["N", "S", "E", "W"]), "age group": Choice(list("abcdefgh"))}
epsilons, n = np.geomspace(0.5, 12, 16), 20_000
plans = [Survey(questions, epsilon).plan(n) for epsilon in epsilons]

fig, panels = plt.subplots(1, 3, figsize=(12, 4), layout="constrained", sharey=True)
for row, (ax, name) in enumerate(zip(panels, questions, strict=True)):
    for answers, style in ((1, "-"), (2, "--"), (3, "-.")):
        errors = [100 * plan.stderr[row, answers - 1] for plan in plans]
        ax.loglog(epsilons, errors, style, label=f"{answers} answer{'s' * (answers > 1)} per person")
    ax.set_title(name, fontsize=11)
    ax.set_xticks([0.5, 1, 2, 4, 8], ["0.5", "1", "2", "4", "8"])
    ax.set_xticks([], minor=True)
    ax.set_xlabel("epsilon (all answers of a person)")
    ax.set_ylabel("standard error (percentage points)")
    ax.grid(alpha=0.3)
panels[0].legend()

# %%
# **What to see.** Epsilon is divided among the answers. At small epsilon, one answer with the whole epsilon is
# best for every question. At large epsilon, every person should answer everything, because then the number of
# answers matters more than the noise. The curves cross between 3 and 9.
