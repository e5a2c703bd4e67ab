"""
A federated round: accuracy after each of five rounds
=====================================================

4,000 new phones in each round send private reports of their updates, for three values of epsilon.
"""

import matplotlib.pyplot as plt
import numpy as np

import ldpfast as ldp

rng = np.random.default_rng(1)
habits = np.column_stack([rng.choice([-1.0, 1.0], (25_000, 20)), np.ones(25_000)])
best = 0.8 * rng.normal(size=21)
accepts = rng.random(25_000) < 1 / (1 + np.exp(-habits @ best))
radius, rate = 3.0, 2.0


def training(epsilon, seed):
    """Return the accuracy after each round."""
    model, found = np.zeros(21), []
    for turn, who in enumerate(np.random.default_rng(seed).permutation(20_000).reshape(5, 4000)):
        updates = (accepts[who] - 1 / (1 + np.exp(-habits[who] @ model)))[:, np.newaxis] * habits[who]
        updates *= np.minimum(1, radius / np.linalg.norm(updates, axis=1, keepdims=True))
        mean = updates.mean(axis=0)
        if epsilon:
            mechanism = ldp.RotatedSigns(21, epsilon, rotation=100 * seed + turn, radius=radius)
            mean = mechanism.run(updates, rng=100 * seed + turn).value  # real phones: without rng
        model = model + rate * mean
        found.append(np.mean((habits[20_000:] @ model > 0) == accepts[20_000:]))
    return found


fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for epsilon, style in ((None, "k--"), (8.0, "o-"), (4.0, "s-"), (2.0, "^-")):
    label = f"epsilon = {epsilon:g}" if epsilon else "without privacy"
    ax.plot(range(1, 6), np.mean([training(epsilon, seed) for seed in range(10)], axis=0), style, label=label)
ax.set_xlabel("number of rounds, with 4,000 new phones each")
ax.set_ylabel("share of phones that are predicted correctly")
ax.set_xticks(range(1, 6))
ax.grid(alpha=0.3)
ax.legend()

# %%
# **What to see.** With epsilon = 8 the model is nearly as good as without privacy. The first round is worth most: later
# the updates agree less, and the noise stays. A smaller epsilon needs more phones in a round for the same accuracy.
