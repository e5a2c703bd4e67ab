"""Documentation: the examples of the README and of docstrings run, and links have targets."""

from __future__ import annotations

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

from .support.cases import each
from .support.documentation import anchors, python_blocks

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")])
ENGINES = ("dask", "spark")  # modules whose examples need an engine and run in tests/engines
FRAMEWORKS = ("flower", "nvflare")  # the same, in tests/federated
MODULES_WITH_EXAMPLES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in sorted((ROOT / "ldpfast").rglob("*.py"))
    if ">>> " in path.read_text() and path.stem not in ENGINES + FRAMEWORKS
]


def test_readme_examples_run_in_order(capsys):
    """The blocks share variables, and the printed estimate has the documented form.

    The section "Scaling out" runs in tests/engines.
    """
    variables: dict[str, object] = {}
    blocks = python_blocks(
        re.sub(r"^## Scaling out.*?(?=^## )", "", (ROOT / "README.md").read_text(), flags=re.M | re.S)
    )
    assert len(blocks) >= 3
    for block in blocks:
        exec(compile(block, "README.md", "exec", dont_inherit=True), variables)
    assert re.match(r"\d\.\d+ \+- 0\.\d+ \(95 %: .* to .*, n = 20000, epsilon = 1\)", capsys.readouterr().out)


@each("page", PAGES, ids=lambda page: page.name)
def test_links_have_targets(page):
    """Files exist, and so do the headings that a link names after #."""
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if not link.startswith(("http://", "https://")):
            target, _, anchor = link.partition("#")
            path = page.parent / target if target else page
            assert path.exists(), f"{page.name} links to {target}"
            assert not anchor or anchor in anchors(path.read_text()), f"{page.name} links to {link}"


@pytest.mark.parametrize("name", MODULES_WITH_EXAMPLES)
def test_docstring_examples_run(name):
    result = doctest.testmod(import_module(name))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize(
    "name", ["ldpfast.mechanisms._warner", "ldpfast.privacy._channel", "ldpfast.privacy._guarantee"]
)
def test_modules_with_examples_are_found(name):
    assert name in MODULES_WITH_EXAMPLES
