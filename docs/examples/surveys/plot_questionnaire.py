"""
Which symptoms go together
==========================

People tick up to three of eight symptoms; the shares of those who have both of two symptoms.
"""

import numpy as np
from matplotlib import pyplot

from ldpfast.survey import Several, Survey, Together

symptoms = ["fatigue", "headache", "insomnia", "cough", "fever", "rash", "nausea", "dizziness"]
survey = Survey({"symptoms": Several(symptoms, most=3), "pairs": Together("symptoms")}, epsilon=2.0)

rng, n = np.random.default_rng(1), 200_000
ticks = rng.random((n, 8)) < [0.2, 0.15, 0.1, 0.08, 0.05, 0.03, 0.03, 0.03]
ticks[:, 1] |= ticks[:, 0] & (rng.random(n) < 0.4)
ticks[:, 4] |= ticks[:, 3] & (rng.random(n) < 0.5)
result = survey.run({"symptoms": ticks & (np.cumsum(ticks, axis=1) <= 3)}, rng=1)
axes = result["pairs"].plot(pyplot.subplots(figsize=(9, 5.5), layout="constrained")[1])

# %%
# **What to see.** 40 % of the tired people have a headache as well, and half of those with a cough have a fever. All other
# symptoms are independent of each other.
