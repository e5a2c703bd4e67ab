"""
Strings without a list
======================

Words that many people have, found without knowing them before, with their shares and intervals.
"""

import numpy as np

from ldpfast.estimation import HeavyHitters

rng = np.random.default_rng(1)
letters = list("abcdefghijklmnopqrstuvwxyz")
words = np.array(["".join(rng.choice(letters, rng.integers(2, 9))) for _ in range(2000)])
share = 1 / np.arange(1, 2001)
people = rng.choice(words, 500_000, p=share / share.sum())  # each person has one word

problem = HeavyHitters(4.0, max_bytes=8, alphabet="abcdefghijklmnopqrstuvwxyz", n=500_000)
found = problem.run(people, rng=2)
ax = found.plot(simultaneous=True)
counted = dict(zip(*np.unique(people, return_counts=True), strict=True))
ax.plot(
    [counted[word] / len(people) for word in found.strings],
    range(len(found.strings)),
    "x",
    color="tab:red",
    label="true",
)
ax.legend(loc="lower right")

# %%
# **What to see.** The most frequent words of 2,000, with intervals that hold for all of them at once, and their true shares.
# Words below a share of about 0.6 % stay unknown, whoever has them.
