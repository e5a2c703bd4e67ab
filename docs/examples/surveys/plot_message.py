"""
Bytes of a message
==================

What a client sends: the version, the fingerprint of the survey, the number of a question, and the report.
"""

import matplotlib.pyplot as plt

from ldpfast.survey import Choice, Mean, Survey, YesNo

questions = {
    "smokes": YesNo(optional=True),
    "age": Mean(0, 120, optional=True),
    "region": Choice(["north", "south"], optional=True),
}
survey = Survey(questions, epsilon=2.0)
person = {"smokes": True, "age": 42, "region": "north"}
secret = bytes(32)  # so that the picture stays the same; clients have secrets.token_bytes(32), or no secret
messages = [survey.client(secret, number).answer(person) for number in range(6)]
parts = [("version", 1, "#999999"), ("fingerprint", 8, "#56B4E9"), ("question", 2, "#E69F00"), ("report", 1, "#009E73")]
colors = [color for _, size, color in parts for _ in range(size)]

fig, ax = plt.subplots(figsize=(8, 3.4), layout="constrained")
for row, message in enumerate(messages):
    for place, (byte, color) in enumerate(zip(message, colors, strict=True)):
        ax.barh(row, 0.94, left=place - 0.47, color=color, height=0.85)
        ax.text(place, row, f"{byte:02x}", ha="center", va="center", fontsize=10)
for name, _, color in parts:
    ax.bar(0, 0, color=color, label=name)
ax.invert_yaxis()
ax.set_yticks(range(len(messages)), range(1, len(messages) + 1))
ax.set_xticks(range(len(colors)), range(1, len(colors) + 1))
ax.set_xlabel("number of the byte")
ax.set_ylabel("number of the person")
ax.legend(ncols=4, loc="upper center", bbox_to_anchor=(0.5, 1.2), frameon=False)

# %%
# **What to see.** Messages of six people with the same answers. The question is drawn at random, and so is the
# report: "yes", "no" and "no answer" are all possible for every person. Whoever reads a message learns at most epsilon.
