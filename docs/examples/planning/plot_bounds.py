"""
Bounds and the error of an estimator
====================================

The squared error of the mean of vectors: a lower bound for every private procedure, the proved upper bound, and simulations.
"""

import matplotlib.pyplot as plt
import numpy as np

from ldpfast import bounds
from ldpfast.estimation import vector_mean

dim, epsilon = 20, 1.0
sizes = np.geomspace(300, 3_000_000, 60)
found = bounds.mean_l2(sizes, dim, epsilon)

rng = np.random.default_rng(2)
simulated_sizes = [1000, 10_000, 100_000]
errors = []
for n in simulated_sizes:
    rows = rng.choice([-1, 1], (n, dim), p=[0.4, 0.6]) / np.sqrt(dim)
    truth = np.full(dim, 0.2 / np.sqrt(dim))
    runs = [vector_mean(rows, epsilon, mechanism="half-space", rng=seed).value for seed in range(20)]
    errors.append(np.mean([np.sum((value - truth) ** 2) for value in runs]))

fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
ax.loglog(sizes, found.upper, label="upper bound, for a procedure of the library")
ax.loglog(simulated_sizes, errors, "o", label="simulated error of vector_mean, half-spaces")
ax.loglog(sizes, found.lower, "--", label="lower bound, for every private procedure")
ax.loglog(sizes, found.nonprivate, ":", color="gray", label="without privacy")
ax.set_xlabel("number of people")
ax.set_ylabel("expected squared error (squared radius of the ball)")
ax.legend()

# %%
# **What to see.** The simulated errors are at the upper bound, because it is the exact variance of half-spaces
# where it matters. The default of `vector_mean` is a mechanism with a smaller error. All curves fall like 1/n
# once n is large enough. The distance of the solid line from the dotted one is the price of privacy: about 140
# times as many people for 20 dimensions at epsilon = 1.
