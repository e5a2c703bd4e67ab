"""
Estimates, and numbers that are published
=========================================

The ways to work of 3,000 people, of whom some are rare, from reports with epsilon = 1.
"""

import numpy as np
from matplotlib import pyplot

from ldpfast.survey import Choice, Survey

ways = ["car", "train", "bicycle", "on foot", "moped", "ferry", "horse"]
truth = [0.5, 0.3, 0.15, 0.04, 0.01, 0.0, 0.0]
people = {"way": np.random.default_rng(7).choice(ways, 3000, p=truth)}
result = Survey({"way": Choice(ways)}, epsilon=1.0).run(people, rng=10)
table = result.publish(suppress=None).tables["way"]

page, axes = pyplot.subplots(figsize=(8, 4), layout="constrained")
rows = np.arange(len(ways))
axes.hlines(rows, table["low"], table["high"], color="#0072B2")
axes.plot(table["share"], rows, "o", color="#0072B2", label="published, with 95 % limits")
axes.plot(result["way"].value, rows, "o", color="#D55E00", mfc="none", label="estimate")
axes.plot(truth, rows, "x", color="black", label="truth")
axes.axvline(0, color="0.5", linewidth=0.8)
axes.set_yticks(rows, ways)
axes.invert_yaxis()
axes.set_xlabel("share of people")
axes.set_title("way to work: share of people", loc="left")
axes.legend()

# %%
# **What to see.** The estimate of a rare way is negative by accident. The published shares are not, and add up to 1: so the
# other ones are a little smaller than their estimates. The limits contain the truth.
