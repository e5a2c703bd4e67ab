"""
Sensitivity bounds: people who do not follow the instruction
============================================================

The prevalence by a crosswise question against the share of people who answer at random, beside a direct question.
"""

import matplotlib.pyplot as plt
import numpy as np

from ldpfast import designs

rng, n = np.random.default_rng(1), 3000
attentive, has = rng.random(n) < 0.85, rng.random(n) < 0.12
birthday, guess = rng.random(n) < 0.2, rng.random(n) < 0.5
same = np.where(attentive, has == birthday, guess)
told = has[:1000] & (rng.random(1000) < 0.5)  # half of the people with the attribute admit it to an interviewer

fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
direct = designs.unrelated_question(1, 0.5).prevalence(told)  # everybody is asked the sensitive question itself
designs.crosswise(0.2).sensitivity(same, compliant=np.linspace(1, 0.7, 61)).plot(ax, direct=direct)
ax.axhline(0.12, color="black", linestyle=":", label="truth")
ax.legend()

# %%
# **What to see.** If everybody followed the instruction, the prevalence would be 18 percent. The estimate is the truth where
# the share of people who answer at random is what it is here, 15 percent. The direct question finds about half of it.
