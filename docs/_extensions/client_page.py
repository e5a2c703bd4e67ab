"""The client in JavaScript on the site, and the survey that the page "Answer a survey in your browser" asks."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from ldpfast.survey import Choice, Mean, Survey, YesNo

TOOLS = Path(__file__).resolve().parents[2] / "tools"
SURVEY = Survey(
    {
        "coffee": YesNo(optional=True),
        "way": Choice(["on foot or by bicycle", "by bus or train", "by car"], optional=True),
        "sleep": Mean(0, 12, optional=True),
    },
    epsilon=2.0,
)


def described(survey: Survey) -> dict[str, Any]:
    """Return what the page needs: the table for the client, and for the estimates the channel of each question."""
    questions = []
    for name, question in survey.questions.items():
        matrix = survey.mechanisms[name].channel().matrix
        symbols = ["no", "yes"]
        if isinstance(question, Choice):
            labels = symbols = list(question.labels)
            weights = [[float(i == j) for i in range(len(labels) + 1)] for j in range(len(labels))]
        elif isinstance(question, Mean):  # the symbols are the ends of the range, and no answer
            labels, weights = ["mean"], [[question.lower, question.upper, 0.0]]
            symbols = [f"{question.lower:g} hours", f"{question.upper:g} hours"]
        else:
            labels, weights = ["yes"], [[0.0, 1.0, 0.0]]
        questions.append(
            {
                "name": name,
                "own": matrix[0, 0],
                "other": matrix[0, 1],
                "symbols": [*symbols, "no answer"],
                "labels": labels,
                "weights": weights,
            }
        )
    table = base64.b64encode(survey.client_table()).decode()
    return {"table": table, "questions": questions}


def write_client(app: Sphinx, failed: Exception | None) -> None:
    """Build the package of the client beside the scripts of the page, and write the survey."""
    if failed is not None or app.builder.format != "html":
        return
    sys.path.insert(0, str(TOOLS))
    import client_wasm

    folder = Path(app.outdir) / "_static" / "try"
    client_wasm.build(folder / "client")
    (folder / "survey.json").write_text(json.dumps(described(SURVEY)), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", write_client)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
