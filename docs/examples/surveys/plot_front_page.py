"""
A survey and its result
=======================

Two questions, the printed estimates, and their picture beside the true shares.
"""

import numpy as np

import ldpfast as ldp
from ldpfast.survey import Choice, Histogram

n, rng = 20_000, np.random.default_rng(7)  # simulated people
ways = ["on foot", "bicycle", "train", "car"]
people = {
    "commute": rng.choice(ways, n, p=[0.1, 0.2, 0.3, 0.4]),
    "hours of sleep": rng.normal(6.8, 1.1, n).clip(0, 12),
}
questions = {
    "commute": Choice(ways),
    "hours of sleep": Histogram([0, 5, 6, 7, 8, 12]),
}
survey = ldp.Survey(questions, epsilon=2.0)

result = survey.run(people, rng=1)  # real people: without rng
print(result)

# %%
# The records are simulated, so the true shares are known. They are drawn beside the estimates.

edges = questions["hours of sleep"].edges
truth = [
    [np.mean(people["commute"] == way) for way in ways],
    np.histogram(people["hours of sleep"], edges)[0] / n,
]
figure = result.plot()
figure.set_size_inches(5.2, 4.0)
for panel, shares in zip(figure.axes, truth, strict=True):
    panel.plot(shares, range(len(shares)), "|", color="#D55E00", markersize=13, markeredgewidth=2)
    panel.set_xlim(0, 0.5)
figure.axes[-1].set_xlabel("share of the people")

# %%
# **What to see.** Points are estimates, bars are 95 % intervals, and vertical marks are the true shares. Each person
# answered one of the two questions, drawn at random, and sent its number and a randomized answer.
