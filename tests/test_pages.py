"""Pages of the documentation site without Sphinx: tables of contents, the first sentence, the gallery, and captions."""

from __future__ import annotations

import re
import tomllib
from fnmatch import fnmatch
from itertools import pairwise
from pathlib import Path

import matplotlib
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

from .support.cases import each
from .support.documentation import printed_blocks, toctree_entries
from .support.labels import has_unit

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
GENERATED = {"gallery/index"}
EXAMPLES = sorted((DOCS / "examples").rglob("*.py"))
PAGES = [ROOT / "README.md", ROOT / "benchmarks" / "README.md", *sorted(DOCS.rglob("*.md"))]
PICTURES = ("![", "```{figure}", "```{raw} html\n:file: _pictures/")  # beginnings of blocks
# A paragraph in italics. A link to the code may follow.
CAPTION = re.compile(r"\*(?!\*)[^*]+\.\*(?: \{doc\}`[^`]+`)?(?:\n```)?")


def names_of_pages() -> list[str]:
    """Return the names of all pages that are not made by the build."""
    paths = (path.relative_to(DOCS) for path in DOCS.rglob("*.md"))
    return sorted(path.with_suffix("").as_posix() for path in paths if path.parts[0] not in ("gallery", "figures"))


def test_every_page_is_in_exactly_one_table_of_contents():
    pages = names_of_pages()
    entries = [
        (Path(page).parent / entry).as_posix()
        for page in pages
        for entry in toctree_entries((DOCS / f"{page}.md").read_text())
    ]
    listed, patterns = [e for e in entries if "*" not in e], [e for e in entries if "*" in e]
    assert len(listed) == len(set(listed))
    assert set(listed) - GENERATED <= set(pages)
    rest = set(pages) - set(listed) - {"index"}
    assert sorted(page for page in rest if not any(fnmatch(page, pattern) for pattern in patterns)) == []
    assert patterns == ["proofs/*"]


def test_readme_start_page_and_metadata_begin_with_the_same_sentence():
    """The start page includes the beginning of the README; title and sentence come first, and the lines to install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    readme = " ".join((ROOT / "README.md").read_text().split())
    assert readme.startswith(f"# ldpfast {project['description']} ")
    assert (DOCS / "index.md").read_text().startswith("```{include} ../README.md\n:end-before:")
    first, *others = included_parts()
    assert " ".join(first.split()).startswith(f"# ldpfast {project['description']} ")
    (install,) = [part for part in others if "pip install" in part]
    assert re.fullmatch(r"\n*```sh\n(pip install .*\n){2}```\n*", install)
    assert any("docs/accuracy.png" in part for part in others)


def included_parts() -> list[str]:
    """Return the parts of the README on the start page, whose markers must each be once in the README."""
    readme, parts = (ROOT / "README.md").read_text(), []
    for options in re.findall(r"```\{include\} \.\./README\.md\n(.*?)\n```\n", (DOCS / "index.md").read_text(), re.S):
        markers = {
            side: text.replace("\\n", "\n") for side, text in re.findall(r':(start-after|end-before): "(.*)"', options)
        }
        start = markers.get("start-after", "")
        assert readme.count(start) == 1 or not start
        part = readme.partition(start)[2] if start else readme
        assert markers["end-before"] in part
        parts.append(part.partition(markers["end-before"])[0])
    return parts


def test_the_start_page_shows_the_code_of_its_picture():
    """The printed text, which is checked with the other pages, and the picture are of the same survey and reports."""
    ((code, printed),) = printed_blocks((DOCS / "index.md").read_text())
    assert printed
    assert code in (DOCS / "examples" / "surveys" / "plot_front_page.py").read_text()


def figures_of(path: Path) -> list[Figure]:
    """Run the blocks of an example; return the figures that the gallery shows: those of pyplot, and results in `figure`."""
    matplotlib.use("Agg")
    before, names, figures = set(pyplot.get_fignums()), {"__name__": "__main__"}, []
    for block in path.read_text().split("\n# %%\n"):
        exec(compile(block, path, "exec"), names)
        figures += [figure for figure in [names.pop("figure", None)] if figure is not None]
    return [*figures, *(pyplot.figure(number) for number in set(pyplot.get_fignums()) - before)]


@pytest.mark.long
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_plots_of_the_gallery_have_labels_and_a_caption(path):
    figures = figures_of(path)
    assert figures
    panels = [ax for figure in figures for ax in figure.axes if ax.get_label() != "<colorbar>"]
    assert all(figure.axes for figure in figures)
    for ax in panels:  # each of small multiples has its quantity as its title
        title = ax.get_title(loc="left")
        assert has_unit(title) if title else has_unit(ax.get_xlabel()) and has_unit(ax.get_ylabel())
    pyplot.close("all")
    text = path.read_text()
    assert text.startswith('"""\n')
    assert text.count("# **What to see.**") == len(figures)


def captions(text: str) -> list[tuple[str, str]]:
    """Return the first line of each picture of a page, and the block of text that follows."""
    blocks = [*re.split(r"\n{2,}", text.strip()), ""]
    pairs = pairwise(blocks)
    return [(block.partition("\n")[0], after) for block, after in pairs if block.startswith(PICTURES)]


def test_every_picture_of_a_page_has_a_caption():
    found = [(path.name, *pair) for path in PAGES for pair in captions(path.read_text())]
    assert len(found) >= 10
    lines = [line for path in PAGES for line in path.read_text().splitlines() if line.startswith(("![", "```{figure}"))]
    assert len(lines) == sum("_pictures" not in line and "{raw}" not in line for _, line, _ in found)
    assert [(page, line) for page, line, after in found if not CAPTION.fullmatch(after)] == []


@each("after", ["", "Text.", "*no sentence*", "**Bold.**", "*A sentence.* Text."])
def test_a_picture_without_a_caption_is_found(after):
    ((line, found),) = captions(f"# Page\n\n![Words](a.png)\n\n{after}\n\nMore text.\n")
    assert line == "![Words](a.png)"
    assert not CAPTION.fullmatch(found)


@each("page", sorted(set(toctree_entries((DOCS / "tutorials.md").read_text())) - {"try"}))  # which runs
def test_tutorials_have_a_figure_and_printed_results(page):
    text = (DOCS / f"{page}.md").read_text()
    assert captions(text)
    assert "\n\nIt prints\n\n```text\n" in text


def test_the_gallery_has_examples():
    assert len(EXAMPLES) >= 8
