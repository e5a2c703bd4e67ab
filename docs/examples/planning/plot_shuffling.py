"""
Amplification by shuffling
==========================

The epsilon of all reports together, after a shuffler has removed their order and origin, against the number of people.
"""

import matplotlib.pyplot as plt
import numpy as np

import ldpfast as ldp
from ldpfast.privacy import shuffled

epsilon, delta = 2.0, 1e-8
sizes = np.geomspace(1_000, 1_000_000, 10).astype(int)
fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
lines = (
    (epsilon, "-."),
    (ldp.Laplace(0, 1, epsilon), ":"),
    (ldp.Warner(epsilon), "-"),
    (ldp.UnaryEncoding(20, epsilon), "--"),
)
for mechanism, style in (*lines, (ldp.RandomizedResponse(20, epsilon), (0, (1, 3)))):
    name = "every mechanism (bound)" if mechanism is epsilon else type(mechanism).__name__
    label = f"{name}, k = 20" if name == "RandomizedResponse" else name
    found = [shuffled(mechanism, int(n), delta) for n in sizes]
    ax.loglog(sizes, [guarantee.epsilon for guarantee in found], linestyle=style, label=label)
    if isinstance(mechanism, ldp.Laplace):
        ends = [[guarantee.lower for guarantee in found], [guarantee.epsilon for guarantee in found]]
        ax.fill_between(sizes, *ends, color="tab:orange", alpha=0.2, label="Laplace: the truth is in this area")
ax.axhline(epsilon, color="gray", linestyle=":", label="one report without a shuffler")
ax.set_xlabel("number of people whose reports are shuffled")
ax.set_ylabel(f"epsilon of all reports together (delta = {delta:g})")
ax.grid(alpha=0.3)
ax.legend()

# %%
# **What to see.** The guarantee against somebody who sees only shuffled reports improves with the square root
# of the number of people. The bound for the mechanism in use is better than the one for every mechanism. The
# smallest epsilon that holds for Laplace noise is in the shaded area; the line of Warner's mechanism is exact, and
# that of RandomizedResponse less than 2 % above. The shuffler must be trusted for this; epsilon = 2 (dotted) needs
# no trust.
