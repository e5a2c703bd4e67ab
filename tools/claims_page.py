"""Write the tables of docs/claims.md, which are made from the mark `claim` of the tests."""

from __future__ import annotations

import re
import runpy
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "claims.md"


def read_claims() -> list[Any]:
    """Return the claims of all tests."""
    reader = runpy.run_path(str(ROOT / "docs" / "_extensions" / "marked_tests.py"))
    found: list[Any] = reader["read_claims"](ROOT / "tests")
    return found


def table(claims: list[Any]) -> str:
    """Return the table of the claims of one group: claim, test, and the commands that run it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = ["| claim | test | run by |", "| --- | --- | --- |"]
    for claim in claims:
        link = f"[`{claim.path}::{claim.test}`]({project['urls']['Repository']}/blob/main/tests/{claim.path})"
        commands = ", ".join(f"`make {target}`" for target in claim.targets)
        lines.append(f"| {claim.sentence} | {link} | {commands} |")
    return "\n".join(lines) + "\n"


def written(page: str) -> str:
    """Return the page with the tables of all groups, each after the heading of its group.

    Raises
    ------
    ValueError
        If a group has no heading, or a heading no table.
    """
    groups: dict[str, list[Any]] = {}
    for claim in read_claims():
        groups.setdefault(claim.group, []).append(claim)
    for group, claims in groups.items():
        section = re.compile(rf"(## {re.escape(group)}\n(?:(?!## )[^|\n].*\n|\n)*)(?:\|.*\n)+")
        page, count = section.subn(lambda match, claims=claims: match[1] + table(claims), page)
        if count != 1:
            raise ValueError(f"the page must have one section with a table for the group {group!r}, got {count}")
    return page


def main() -> int:
    """Write the page."""
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
