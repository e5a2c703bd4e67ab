"""
How often people see a doctor
=============================

Visits of 20,190 people of the RAND health insurance experiment, each of whom sends one report with epsilon = 2.
"""

import numpy as np
from matplotlib import pyplot
from statsmodels.datasets import randhie

from ldpfast.survey import Number, Survey

visits = randhie.load_pandas().data["mdvis"].to_numpy()
survey = Survey({"visits": Number(0, 80, integers=True)}, epsilon=2.0)
answer = survey.run({"visits": visits}, rng=1)["visits"]

axes = answer.plot(pyplot.subplots(figsize=(9, 5), layout="constrained")[1])
ends = answer.ends
axes.plot(ends, [np.mean(visits <= end) for end in ends], color="black", linestyle="--", linewidth=0.9, label="truth")
axes.set_xlim(-1, 40)
axes.legend(loc="center right")

# %%
# **What to see.** A third of the people saw no doctor: the estimate keeps this spike, and is smooth where the data are. The
# band holds for all numbers at once.
