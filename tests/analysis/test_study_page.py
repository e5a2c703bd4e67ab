"""A whole study from the documentation alone: the code of its page, in at most 25 lines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.special import expit

from ..support.documentation import python_blocks

PAGE = (Path(__file__).parents[2] / "docs" / "study.md").read_text()
(STUDY,) = [block for block in python_blocks(PAGE) if "RandomizedLogit" in block]


def test_the_study_of_the_page_has_25_lines_and_finds_what_is_true(tmp_path, monkeypatch, capsys):
    """Prevalence by group, a logit with an interaction, marginal effects, first differences, a figure and a LaTeX table."""
    assert len([line for line in STUDY.splitlines() if line.strip()]) <= 25
    monkeypatch.chdir(tmp_path)
    found: dict[str, object] = {}
    exec(compile(STUDY, "study.md", "exec", dont_inherit=True), found)
    data, model, has = found["data"], found["model"], found["has"]
    for region, prevalence in found["prevalences"].items():
        low, high = prevalence.interval(0.999)
        assert low < has[data["region"] == region].mean() < high
    # The log-odds of the page: -1.5 - 45 * 0.03 for men of age 0 in the north, and a slope of age for men only.
    truth = {"const": -2.85, "age": 0.03, "female": 0.55, "C(region)[T.south]": 0.9, "C(region)[T.west]": 0.0}
    truth["age:female"] = -0.03
    low, high = model.interval(0.999)
    assert model.names == tuple(truth)
    assert (low < list(truth.values())).all()
    assert (high > list(truth.values())).all()
    columns = data.assign(south=data["region"] == "south")
    share = expit(
        -1.5 + 0.03 * (columns["age"] - 45) * ~columns["female"] - 0.8 * columns["female"] + 0.9 * columns["south"]
    )
    moved = expit(np.log(share / (1 - share)) + 0.9 * ~columns["south"]) - expit(
        np.log(share / (1 - share)) - 0.9 * columns["south"]
    )
    low, high = model.contrast({"region": "south"}, {"region": "north"}).interval(0.999)
    assert low < moved.mean() < high
    assert model.marginal_effects().labels == ("age", "female", "region: south - north", "region: west - north")
    printed = capsys.readouterr().out
    for text in ("south - north:", "men - women:", "average marginal effects", "age:female"):
        assert text in printed
    table = (tmp_path / "table.tex").read_text()
    assert table.startswith(r"\begin{tabular}")
    assert r"age:female & $-0.0276$" in table
    assert (tmp_path / "age.png").read_bytes()[:4] == b"\x89PNG"
