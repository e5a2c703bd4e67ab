"""
Rounds of federated learning: error against the number of clients
=================================================================

The squared error of the mean of the updates of a round, with noise of each client and with noise of a trusted server.
"""

import matplotlib.pyplot as plt
import numpy as np

import ldpfast as ldp
from ldpfast.privacy import gaussian_sigma

epsilon, delta = 8.0, 1e-5
clients = np.geomspace(10, 1_000_000, 11)
noise = gaussian_sigma(epsilon, delta, sensitivity=2.0) ** 2  # of a coordinate of a sum
fig, panels = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained", sharey=True)
for ax, dim in zip(panels, (650, 100_000), strict=True):
    report = ldp.RotatedSigns(dim, epsilon, rotation=1).total_variance
    ax.loglog(clients, dim * noise / clients, "-.", label="Gaussian noise of each client")
    ax.loglog(clients, report / clients, "-", label="RotatedSigns")
    ax.loglog(clients, dim * noise / clients**2, "--", label="DP-FedAvg: noise of a trusted server")
    ax.axhline(1, color="gray", linestyle=":", label="as long as the updates")
    ax.set_title(f"{dim:,} parameters", fontsize=11)
    ax.set_xlabel("number of clients in a round")
    ax.set_ylabel("squared error of the mean (squared radius)")
    ax.grid(alpha=0.3)
    ax.legend()

# %%
# **What to see.** Reports of ``RotatedSigns`` with epsilon = 8 have a tenth of the error of Gaussian noise of each
# client, and need no delta. The error grows with the number of parameters: a model with 650 parameters learns from a
# hundred clients, one with 100,000 needs tens of thousands. A trusted server needs far fewer.
