"""Guides and their pages: examples run, public names are explained, and the tests that a page names exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ldpfast import central, estimation, privacy, survey

from .support.documentation import python_blocks

TESTS = Path(__file__).parent
ROOT = TESTS.parent
GUIDES = {estimation: "docs/guide.md", privacy: "docs/privacy.md", central: "docs/central.md", survey: "docs/survey.md"}
PAGES = [
    *(ROOT / page for page in (*GUIDES.values(), "docs/gaussian.md", "docs/custom_mechanism.md")),
    *sorted((ROOT / "docs/proofs").glob("*.md")),
]
SECTIONS = {
    section.partition("\n")[0]: python_blocks(section)
    for guide in GUIDES.values()
    for section in re.split(r"^## ", (ROOT / guide).read_text(), flags=re.M)[1:]
}


@pytest.mark.parametrize("title", [title for title, blocks in SECTIONS.items() if blocks])
def test_examples_run_in_order(title, capsys, tmp_path, monkeypatch):
    """The blocks of a section share variables. Warnings are errors, so every n is sufficient."""
    monkeypatch.chdir(tmp_path)  # examples save pictures
    variables: dict[str, object] = {}
    for block in SECTIONS[title]:
        exec(compile(block, f"guide: {title}", "exec", dont_inherit=True), variables)
        assert capsys.readouterr().out


def test_examples_of_the_gaussian_page_run_in_order(capsys):
    """The blocks of the page share variables. Warnings are errors, so records and n fit the model."""
    blocks, variables = python_blocks((ROOT / "docs/gaussian.md").read_text()), {}
    assert len(blocks) >= 5
    for block in blocks:
        exec(compile(block, "docs/gaussian.md", "exec", dont_inherit=True), variables)
        assert capsys.readouterr().out


@pytest.mark.parametrize("package", GUIDES, ids=lambda package: package.__name__)
def test_every_public_name_is_explained(package):
    guide = (ROOT / GUIDES[package]).read_text()
    missing = [name for name in package.__all__ if not re.search(rf"\b{name}\b", guide)]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_tests_that_a_page_names_exist(page):
    defined = {name for path in TESTS.rglob("test_*.py") for name in re.findall(r"def (test_\w+)", path.read_text())}
    assert sorted(set(re.findall(r"`(test_\w+)`", page.read_text())) - defined) == []
