"""The examples of docs/scale_out.md, each run as a script in a folder of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ..support.documentation import python_blocks

PAGE = (Path(__file__).parents[2] / "docs/scale_out.md").read_text()
STUDY, *SCRIPTS = python_blocks(PAGE)
TITLES = [
    title
    for section in re.split(r"^##+ ", PAGE, flags=re.M)[1:]
    for title in [section.partition("\n")[0]] * len(python_blocks(section))
]
README = (Path(__file__).parents[2] / "README.md").read_text().partition("## Scaling out\n")[2].partition("\n## ")[0]
REGIONS = ("north", "south", "east")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the survey and with the people."""
    found, rng = tmp_path_factory.mktemp("scale_out"), np.random.default_rng(1)
    (found / "study.py").write_text(STUDY)
    (found / "people").mkdir()
    for part in range(4):
        n = 15_000
        people = {
            "id": np.arange(part * n, (part + 1) * n),
            "smokes": rng.random(n) < 0.3,
            "age": rng.uniform(0, 100, n),
            "region": rng.choice(REGIONS, n),
            "height": rng.normal(170, 7, n),
        }
        pd.DataFrame(people).to_parquet(found / "people" / f"part-{part}.parquet")
    return found


def test_every_example_has_a_title():
    assert len(TITLES) == len(SCRIPTS) >= 10


@pytest.mark.parametrize("script", python_blocks(README), ids=["Dask"])
def test_examples_of_the_readme_run(script, folder):
    assert "n = " in run_script("from study import survey\n" + script, folder)


@pytest.mark.parametrize("title, script", list(zip(TITLES, SCRIPTS, strict=True)), ids=TITLES)
def test_examples_run(title, script, folder):
    printed = run_script(script, folder)
    assert printed
    shown = re.search(re.escape(script) + r"```\n\nIt prints\n\n```text\n(.*?)\n```", PAGE, re.S)
    assert not shown or printed == shown[1]
    assert bool(shown) == (title == "Retries")


def run_script(script, folder):
    """Return what a script prints."""
    (folder / "example.py").write_text(script)
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    # An environment variable of the engine: workers use the interpreter of the driver as it is.
    environment["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"
    path = os.pathsep.join(filter(None, [str(folder), environment.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "example.py"],
        cwd=folder,
        env={**environment, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip()
