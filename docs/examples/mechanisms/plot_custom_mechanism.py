"""
Errors of an observer: forced response and Warner
=================================================

How well an observer can tell "yes" from "no" by one report, for two designs with the same epsilon.
"""

import matplotlib.pyplot as plt
import numpy as np

import ldpfast as ldp
from ldpfast import privacy

dice = privacy.Channel([[30, 6], [3, 33]])  # two dice: 6 of 36 rolls force a yes, and 3 a no
warner = ldp.Warner(dice.epsilon()).channel()

fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
for channel, style, name in ((dice, "-", "forced response with dice"), (warner, "--", "Warner")):
    no, yes = np.asarray(channel.matrix, float)
    order = np.argsort(no / yes)  # tests say "yes" for the most telling reports first
    false_alarms, hits = np.cumsum([0, *no[order]]), np.cumsum([0, *yes[order]])
    ax.plot(100 * false_alarms, 100 * (1 - hits), style, linewidth=2.5, label=name)
ax.plot([0, 100], [100, 0], ":", color="#999999", label="a guess without the report")
ax.set_xlabel('"no" that is taken for "yes" (percent)')
ax.set_ylabel('"yes" that is taken for "no" (percent)')
ax.legend()
print(f"epsilon: {dice.epsilon():.4f} and {warner.epsilon():.4f}")

# %%
# **What to see.** Both designs have the same epsilon, the largest ratio of probabilities. With Warner's, an observer errs
# less often: its reports tell more for the same guarantee, so that fewer people are needed.
