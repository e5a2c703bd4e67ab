"""The tables of CONTRIBUTING.md: short, each row with its check, and every file and test of them exists."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MOST_ROWS = 15
# A file of each kind that a row names, for what is in angle brackets.
EXAMPLES = {
    "Adding a mechanism": {"<stem>": "window", "<format>": "codes", "<problem>": "mean_1d"},
    "Adding a question to surveys": {"<stem>": "yes_no"},
}


def section(title):
    """Return the text of a section."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    return text.partition(f"## {title}\n")[2].partition("\n## ")[0]


def rows(title):
    """Return the cells of the rows of a section, without heads."""
    lines = [line.strip("| ").split(" | ") for line in section(title).splitlines() if line.startswith("|")]
    return [cells for cells in lines if cells[0] not in ("file", "---")]


@cache
def names_of_tests():
    """Return the names of all functions of tests."""
    texts = [path.read_text() for path in (ROOT / "tests").rglob("test_*.py")]
    return {name for text in texts for name in re.findall(r"^def (test_\w+)\(", text, re.MULTILINE)}


def existing(name, title):
    """Return whether a file or folder exists, by its path in the checkout."""
    for brackets, example in EXAMPLES[title].items():
        name = name.replace(brackets, example)
    return (ROOT / name).exists()


each_section = pytest.mark.parametrize("title", EXAMPLES)


@each_section
def test_the_table_is_short_and_every_row_has_a_check(title):
    assert 5 < len(rows(title)) <= MOST_ROWS
    for cells in rows(title):
        assert len(cells) == 3, cells
        checks = re.findall(r"`([^`]+)`", cells[2])
        assert checks, cells
        for check in checks:
            if check.startswith("test_"):
                assert check in names_of_tests(), check
            elif check.startswith("make "):
                assert re.search(rf"^{check.removeprefix('make ')}:", (ROOT / "Makefile").read_text(), re.MULTILINE), (
                    check
                )
            else:
                assert existing(check, title), check


@each_section
def test_every_file_of_the_table_exists(title):
    for cells in rows(title):
        named = [name for name in re.findall(r"`([^`]+)`", cells[0]) if "/" in name or name.isupper()]
        assert named or "CHANGELOG.md" in cells[0], cells
        assert [name for name in named if not existing(name, title)] == []


@each_section
def test_the_tools_of_the_section_exist(title):
    text = section(title)
    for tool in re.findall(r"python (tools/\w+\.py|-m [\w.]+)", text):
        path = tool if tool.startswith("tools") else tool.removeprefix("-m ").replace(".", "/") + ".py"
        assert (ROOT / path).exists(), tool
    assert [path for path in re.findall(r"`(tests/[\w/]+\.py)`", text) if not (ROOT / path).exists()] == []
