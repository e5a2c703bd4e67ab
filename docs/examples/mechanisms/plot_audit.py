"""
Audit of a right and of a broken mechanism
==========================================

Lower bounds on epsilon from reports alone, against the epsilon that is claimed.
"""

import matplotlib.pyplot as plt
import numpy as np

from ldpfast import Laplace
from ldpfast.privacy import audit

claims = np.array([0.25, 0.5, 1.0, 1.5, 2.0, 3.0])


def broken(scale):
    """Noise of half the scale."""
    return lambda records, rng: records + np.random.default_rng(rng).laplace(scale=scale / 2, size=len(records))


right = [audit(Laplace(0.0, 1.0, claim), 0.0, 1.0, 100_000, rng=1) for claim in claims]
wrong = [audit(broken(1 / claim), 0.0, 1.0, 100_000, rng=1) for claim in claims]

fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
ax.fill_between([0, 3.2], [0, 3.2], 6, color="#D55E00", alpha=0.1, label="the claim is refuted")
ax.plot([0, 3.2], [0, 3.2], "k--", label="claim")
ax.plot(claims, right, "o-", color="#0072B2", label="Laplace")
ax.plot(claims, wrong, "s-", color="#D55E00", label="noise of half the scale")
ax.set_xlabel("epsilon that is claimed")
ax.set_ylabel("lower bound on epsilon, confidence 95 percent")
ax.set(xlim=(0, 3.2), ylim=(0, 6))
ax.legend()

# %%
# **What to see.** The bounds of the right mechanism are a little below its claim. Those of the broken one are above it, so
# it fails the audit at every epsilon.
