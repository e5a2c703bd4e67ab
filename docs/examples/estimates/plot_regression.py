"""
Coefficients of a logistic regression
=====================================

Three coefficients with their intervals, at four values of epsilon.
"""

import matplotlib.pyplot as plt
import numpy as np

from ldpfast.estimation import LogisticRegression

rng, n = np.random.default_rng(8), 1_000_000
x = rng.uniform(-1, 1, (n, 3))
truth = np.array([0.8, -0.5, 0.4])
ill = rng.random(n) < 1 / (1 + np.exp(-(x @ truth - 0.3)))

fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
for place, (epsilon, marker) in enumerate(zip([1.0, 2.0, 4.0, 8.0], "osD^", strict=True)):
    model = LogisticRegression(epsilon, radius=3**0.5, random_state=place).fit(x, ill)
    low, high = (np.ravel(limit)[:3] for limit in model.interval())
    value = np.ravel(model.coef_)
    errors = [value - low, high - value]
    ax.errorbar(
        np.arange(3) + 0.15 * (place - 1.5), value, errors, fmt=marker, capsize=4, label=f"epsilon = {epsilon:g}"
    )
ax.hlines(truth, np.arange(3) - 0.35, np.arange(3) + 0.35, "black", "dashed", label="true coefficient")
ax.set_xticks(range(3), ["age", "sport", "smoker"])
ax.set_xlabel("coefficient of a feature in [-1, 1]")
ax.set_ylabel("estimated coefficient, 1,000,000 people")
ax.legend(ncols=2)

# %%
# **What to see.** Intervals get shorter as epsilon grows. One of the twelve does not contain the true coefficient.
