"""A survey with linked tables, its people and their true shares, for tests of publications."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ldpfast.survey import Choice, Cross, YesNo

from .documentation import python_blocks

PAGE = Path(__file__).parents[2] / "docs" / "publication.md"
WAYS = ["foot", "bus", "car"]
LINKED = {
    "way": Choice(WAYS),
    "smoker": YesNo(),
    "owner": Choice(["no", "yes"], optional=True),
    "ws": Cross("way", "smoker"),
    "so": Cross("smoker", "owner"),
}


def people_of(n, seed=0, ways=(0.02, 0.2, 0.78)):
    """Return people of whom few walk, with the share of each cell: (way, smoker, owner with None as the last)."""
    rng = np.random.default_rng(seed)
    way = rng.choice(3, n, p=ways)
    smoker = rng.random(n) < np.array([0.2, 0.4, 0.2])[way]
    owner = np.where(rng.random(n) < 0.1, 2, rng.random(n) < np.where(smoker, 0.3, 0.5))
    return {
        "way": np.array(WAYS)[way],
        "smoker": smoker,
        "owner": np.array(["no", "yes", None], object)[owner],
        "region": rng.choice(["N", "S", "W"], n, p=[0.5, 0.3, 0.2]),
    }


def truth_of(ways=(0.02, 0.2, 0.78)):
    """Return the shares of the cells of each table of `LINKED`, for the people of `people_of`."""
    smoking = np.array([[0.8, 0.2], [0.6, 0.4], [0.8, 0.2]])
    owning = np.array([[0.45, 0.45, 0.1], [0.63, 0.27, 0.1]])
    ws = np.array(ways)[:, np.newaxis] * smoking
    so = ws.sum(axis=0)[:, np.newaxis] * owning
    tables = {"way": ws.sum(axis=1), "smoker": ws.sum(axis=0), "owner": so.sum(axis=0), "ws": ws, "so": so}
    return {name: np.ravel(table) for name, table in tables.items()}


def column(publication, name, key, group=None):
    """Return a column of a table, or its rows of a group."""
    table = publication.tables[name]
    rows = range(len(table)) if group is None else [i for i, own in enumerate(table["region"]) if own == group]
    return np.array([table[key][i] for i in rows])


def tutorial():
    """Return the Python blocks of the tutorial, and its shell command."""
    text = PAGE.read_text()
    return python_blocks(text), text.partition("```sh\n")[2].partition("\n```")[0]
