"""The page that runs the client: its estimates equal what the library gives, and a browser shows them."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ..support.site import rendered, serve

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS / "_extensions"))
from client_page import SURVEY, described  # noqa: E402

PROGRAM = """
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
const [script, given] = process.argv.slice(2);
const { Count } = await import(pathToFileURL(script));
const { questions, messages } = JSON.parse(readFileSync(given, "utf8"));
const count = new Count(questions);
for (const message of messages) count.add(Buffer.from(message, "hex"));
console.log(JSON.stringify([count.n, questions.map((_, place) => count.estimates(place))]));
"""


def test_the_estimates_of_the_page_are_those_of_the_library(tmp_path):
    if shutil.which("node") is None:
        pytest.skip("needs Node")
    client, messages = SURVEY.client(), []
    for i in range(3000):
        record = {"coffee": i % 3 > 0, "way": "by car" if i % 2 else "by bus or train", "sleep": i % 13}
        messages.append(client.answer({name: value for name, value in record.items() if (i + len(name)) % 7}))
    (tmp_path / "estimate.mjs").write_text((DOCS / "_static" / "try" / "estimate.mjs").read_text())
    (tmp_path / "run.mjs").write_text(PROGRAM)
    given = {"questions": described(SURVEY)["questions"], "messages": [message.hex() for message in messages]}
    (tmp_path / "given.json").write_text(json.dumps(given))
    command = ["node", tmp_path / "run.mjs", tmp_path / "estimate.mjs", tmp_path / "given.json"]
    n, found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert n == 3000
    result = SURVEY.estimate(messages)
    for name, rows in zip(SURVEY.questions, found, strict=True):
        answer = result[name]
        values = [answer.value] if answer.labels is None else answer.value.tolist()
        errors = [answer.stderr] if answer.labels is None else answer.stderr.tolist()
        assert [row["value"] for row in rows] == pytest.approx(values, rel=1e-9)
        assert [row["stderr"] for row in rows] == pytest.approx(errors, rel=2e-3)


def test_the_page_answers_for_20_000_people_in_a_browser(site, request, tmp_path):
    browser = request.config.getoption("--browser")
    if not browser:
        pytest.skip("needs a browser")
    with serve(site) as address:
        text = rendered(browser, f"{address}/try.html#people=20000", tmp_path, 60_000)
    assert "20,000 reports" in text
    shown = {
        name: html.unescape(re.search(rf'id="try-{name}-text"[^>]*>([^<]*)<', text)[1])
        for name in ("coffee-0", "way-0", "way-1", "way-2", "sleep-0")
    }
    numbers = {name: [float(part) for part in re.findall(r"[\d.]+", line)] for name, line in shown.items()}
    for name, truth in {"coffee-0": 62, "way-0": 45, "way-1": 30, "way-2": 25, "sleep-0": 6.9}.items():
        value, half_width = numbers[name]
        assert abs(value - truth) < 2.6 * half_width
        assert 0 < half_width < 4
