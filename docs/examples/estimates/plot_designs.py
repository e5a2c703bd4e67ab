"""
Randomized response designs: people needed
==========================================

The number of people for a standard error of two percentage points, against the loss of privacy.
"""

import matplotlib.pyplot as plt
import numpy as np

from ldpfast import designs

families = {
    "Warner": [designs.warner(round(p, 3)) for p in np.linspace(0.6, 0.95, 30)],
    "crosswise": [designs.crosswise(round(p, 3)) for p in np.linspace(0.05, 0.4, 30)],
    "forced response, more yes than no": [
        designs.forced_response(round(p, 3), round(p / 2, 3)) for p in np.linspace(0.05, 0.55, 30)
    ],
    "unrelated question, 20 % yes": [designs.unrelated_question(round(p, 3), 0.2) for p in np.linspace(0.1, 0.8, 30)],
}
fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
for (name, family), style in zip(families.items(), ("-", "--", ":", "-."), strict=True):
    people = [design.sample_size(0.1, stderr=0.02) for design in family]
    ax.plot([design.epsilon for design in family], people, style, linewidth=2.5, label=name)
die = designs.forced_response("1/6", "1/6")
ax.plot(die.epsilon, die.sample_size(0.1, stderr=0.02), "ko", label="forced response with a die")
ax.set_yscale("log")
ax.set_xlabel("epsilon of one answer")
ax.set_ylabel("number of people, for a prevalence of 10 percent")
ax.legend()

# %%
# **What to see.** Warner's design, crosswise and forced response with a die need the same number of people for the same
# epsilon: they treat both answers alike. The two others do not, and need more people at the same epsilon.
