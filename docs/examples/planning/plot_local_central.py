"""
Local and central model
=======================

The error of a mean at epsilon = 1, if each person randomizes and if a trusted curator adds noise once.
"""

import matplotlib.pyplot as plt
import numpy as np

import ldpfast as ldp
from ldpfast import central

rng = np.random.default_rng(3)
sizes, runs, epsilon = np.geomspace(100, 100_000, 7).astype(int), 100, 1.0
local, curator, plain = [], [], []
for n in sizes:
    errors = []
    for _ in range(runs):
        x = rng.beta(2, 5, n) * 20
        noisy = central.mean(x - 10, epsilon=epsilon, moment=np.inf, radius=10, rng=rng).value + 10
        errors.append([ldp.Window(0, 20, epsilon).run(x, rng=rng).value, noisy, x.mean()])
    means = np.sqrt(np.mean((np.array(errors) - 20 * 2 / 7) ** 2, axis=0))
    for found, value in zip((local, curator, plain), means, strict=True):
        found.append(value)

fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
ax.loglog(sizes, local, "o-", label="local model: Window")
ax.loglog(sizes, curator, "s--", label="central model: integer noise")
ax.loglog(sizes, plain, ":", color="gray", label="without privacy")
ax.set_xlabel("number of people")
ax.set_ylabel("root of the mean squared error (visits per year)")
ax.grid(alpha=0.3)
ax.legend()

# %%
# **What to see.** With a trusted curator, the price of privacy vanishes from some hundred people on. In the
# local model it is a constant factor for every n: the lines are parallel.
