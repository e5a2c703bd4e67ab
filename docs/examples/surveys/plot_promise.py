"""
The promise in numbers of people
================================

Somebody guesses one thing about each of 100 people, such as whether they answered yes, and sees everything that is sent for
them.
"""

import matplotlib.pyplot as plt
import numpy as np

from ldpfast.survey import Survey, YesNo

right = {"nothing is sent": 50}
for epsilon in (0.5, 1.0, 2.0):
    survey = Survey({"smoker": YesNo(optional=True)}, epsilon)
    right[f"epsilon = {epsilon:g}"] = int(survey.explain().odds["50 of 100 become at most"][0])

fig, axes = plt.subplots(1, len(right), figsize=(9, 2.9), layout="constrained")
row, column = np.divmod(np.arange(100), 10)
for ax, (when, number) in zip(axes, right.items(), strict=True):
    guessed = np.arange(100) < number
    ax.scatter(column[guessed], -row[guessed], s=60, color="#D55E00")
    ax.scatter(column[~guessed], -row[~guessed], s=60, facecolor="none", edgecolor="#999999")
    ax.set_title(f"{when}:\n{number} right guesses (people)", fontsize=10, loc="left")
    ax.set_aspect("equal")
    ax.axis("off")

# %%
# **What to see.** Filled circles are people about whom the guess can be right at most, if the observer thought before that
# both answers are equally likely. Even with no answer at all, half of the guesses are right.
