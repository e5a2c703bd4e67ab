"""
Channels as heat maps
=====================

The exact probability of every report, for every record, of three mechanisms at the same epsilon.
"""

import matplotlib.pyplot as plt
import numpy as np

import ldpfast as ldp

epsilon = 1.0
mechanisms = [ldp.RandomizedResponse(6, epsilon), ldp.SubsetSelection(6, epsilon), ldp.Window(-1, 1, epsilon)]

fig, panels = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
for ax, mechanism in zip(panels, mechanisms, strict=True):
    matrix = mechanism.channel().matrix
    matrix = matrix[:, matrix.max(axis=0) > 0]  # some mechanisms have codes that are never sent
    image = ax.imshow(matrix, aspect="auto", cmap="viridis", vmin=0)
    ax.set_title(f"{type(mechanism).__name__}: {matrix.shape[1]} reports", fontsize=11)
    ax.set_xlabel("report (number of the code or set)")
    ax.set_ylabel("record (category)" if len(matrix) == 6 else "record (end of the interval)")
    ax.set_yticks(range(len(matrix)), range(6) if len(matrix) == 6 else ["-1", "1"])
    fig.colorbar(image, ax=ax, label="probability of the report")
    ratio = (matrix.max(axis=0) / matrix.min(axis=0)).max()
    print(f"{type(mechanism).__name__}: largest ratio in a column {ratio:.6f}, e^epsilon = {np.exp(epsilon):.6f}")

# %%
# **What to see.** In every column, the largest probability is at most e^epsilon = 2.72 times the smallest: this
# is the guarantee, and the printed ratios show it. Randomized response has one likely report for each category.
# Subset selection reports one of several sets that contain the category. For a number, reports near the record
# are more likely; the matrix has the two ends of the interval.
