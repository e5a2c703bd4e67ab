"""What the documentation shows does run, and the links in it lead somewhere."""

from __future__ import annotations

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")])


def test_readme_examples_run_in_order(capsys):
    """The snippets share a session, as a reader would type them; the printed estimate has the documented form."""
    session: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert len(blocks) >= 3
    for block in blocks:
        exec(compile(block, "README.md", "exec"), session)
    assert re.match(r"\d\.\d+ \+- 0\.\d+ \(95 %: .* to .*, n = 20000, epsilon = 1\)", capsys.readouterr().out)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if not target.startswith(("http://", "https://")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("name", ["mechanisms._categories", "privacy._channel", "privacy._guarantee"])
def test_docstring_examples(name):
    result = doctest.testmod(import_module(f"ldpfast.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
