"""
Intervals while reports arrive
==============================

A server counts the reports of clients, and looks at the estimate again and again.
"""

import matplotlib.pyplot as plt
import numpy as np

import ldpfast as ldp

mechanism = ldp.Warner(epsilon=1.0)  # one bit per person
answers = (np.random.default_rng(1).random(50_000) < 0.3).astype(np.uint8)
reports = mechanism.privatize(answers, rng=1)

server = mechanism.aggregator()
seen = np.unique(np.geomspace(100, len(reports), 60).astype(int))
rows = []
for start, stop in zip([0, *seen], seen, strict=False):
    server.update(reports[start:stop])
    estimate = server.estimate()
    rows.append([estimate.value, *estimate.interval(), *server.anytime_interval()])
value, low, high, always_low, always_high = 100 * np.array(rows).T

fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
ax.fill_between(seen, always_low, always_high, color="#E69F00", alpha=0.3, label="valid at all times at once")
ax.fill_between(seen, low, high, color="#56B4E9", alpha=0.6, label="valid at one time that is fixed before")
ax.plot(seen, value, color="#0072B2", label="estimate")
ax.axhline(30, color="black", linestyle="--", label="true share")
ax.set_xscale("log")
ax.set_ylim(0, 80)
ax.set_xlabel("number of reports that the server has counted")
ax.set_ylabel("share of yes (percent)")
ax.legend()

# %%
# **What to see.** A server that stops as soon as a value is outside the interval needs the wider band: it contains the
# true share at all times at once with probability 95 %. The server holds two counts, whatever the number of reports is.
