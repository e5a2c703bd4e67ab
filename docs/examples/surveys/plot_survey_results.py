"""
Results of a survey, and comparisons
====================================

Answers with their intervals, the differences of two groups, and a trend over eight weeks.
"""

import numpy as np

from ldpfast.survey import Choice, Cross, Mean, Survey, YesNo, compare

questions = {"clicked": YesNo(), "minutes": Mean(0, 60), "device": Choice(["phone", "tablet", "laptop"])}
survey = Survey(questions | {"device and click": Cross("device", "clicked")}, epsilon=2.0)


def people(n, seed, clicks, minutes):
    rng = np.random.default_rng(seed)
    return {
        "clicked": rng.random(n) < clicks,
        "minutes": rng.uniform(0, minutes, n),
        "device": rng.choice(["phone", "tablet", "laptop"], n, p=[0.6, 0.1, 0.3]),
    }


arms = {"A": survey.run(people(30_000, 1, 0.30, 30), rng=1), "B": survey.run(people(30_000, 2, 0.40, 36), rng=2)}
figure = arms["A"].plot()

# %%
# **What to see.** One row per answer, with 95 % intervals. Shares and means have axes of their own.

figure = compare(arms).plot()

# %%
# **What to see.** The differences of B and A, with intervals that hold for all rows at once. An interval without zero is a
# difference: B clicks more and stays longer.

weeks = {f"week {week}": survey.run(people(20_000, week, 0.2 + 0.03 * week, 30), rng=week) for week in range(1, 9)}
figure = compare(weeks, reference="week 1").plot_trends()

# %%
# **What to see.** The share of clicks grows from week to week; the other answers stay as they are, within their intervals.
