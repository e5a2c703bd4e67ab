"""
Telemetry over eight weeks: crashes of an app
=============================================

Each of 200,000 devices answers in one of eight weeks. A new version is released in week 5.
"""

import matplotlib.pyplot as plt
import numpy as np

import ldpfast as ldp
from ldpfast.survey import Choice, Mean, Survey, YesNo

questions = {
    "crashed": YesNo(optional=True),
    "seconds to start": Mean(0, 10, optional=True),
    "export": Choice(["jpeg", "png", "heif"], optional=True),
}
survey = Survey(questions, 2.0, series="photo app", waves=8, weights={"crashed": 2})
rng, n = np.random.default_rng(1), 200_000
keys = ldp.PersonKeys(bytes(32), np.arange(n))  # real devices: a secret
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for week in range(1, 9):
    new = week >= 5  # version 2
    crashed = rng.random(n) < (0.05 if new else 0.08)
    seconds = rng.gamma(4, 0.55 if new else 0.6, n).clip(0, 10)
    export = rng.choice(["jpeg", "png", "heif"], n, p=[0.7, 0.2, 0.1])
    devices = {"crashed": crashed, "seconds to start": seconds, "export": export}
    share = survey.in_wave(week).run(devices, rng=keys)["crashed"]
    low, high = share.interval()
    spread, first = [[share.value - low], [high - share.value]], week == 1
    ax.errorbar(
        week, share.value, spread, fmt="o", color="#0072b2", capsize=4, label="estimate, 95 %" if first else None
    )
    ax.plot([week - 0.3, week + 0.3], [crashed.mean()] * 2, "--", color="#d55e00", label="truth" if first else None)
ax.axvline(4.5, color="gray", linestyle=":")
ax.text(4.6, 0.01, "version 2", color="gray")
ax.set_xlabel("week (of eight)")
ax.set_ylabel("share of devices with a crash (1 = all)")
ax.set_ylim(0, 0.11)
ax.legend(loc="lower left")

# %%
# **What to see.** The share falls after week 4. Two weeks of one version differ by chance, so a decision needs all weeks of
# both versions.
