"""The file llms.txt (llmstxt.org): the pages of the site with their first sentences, and the pages as Markdown beside them."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = "```{include}"  # a page that is a part of another file
EXCLUDED = ("gallery/", "reference/generated/")


def first_sentence(document: nodes.document) -> str:
    """Return the first sentence of the first paragraph of a page."""
    section = next(iter(document.findall(nodes.section)), document)
    texts = (node.astext() for node in section.children if isinstance(node, nodes.paragraph))
    text = " ".join(next(texts, "").split())
    return re.split(r"(?<=[a-z)][.:?]) (?=[A-Z])", text, maxsplit=1)[0].rstrip(":")


def pages_below(app: Sphinx, page: str) -> list[str]:
    """Return a page and all below it in the tables of contents, in their order."""
    below = app.env.toctree_includes.get(page, [])
    return [page, *(name for child in below for name in pages_below(app, child))]


def address_of(app: Sphinx, page: str) -> str:
    """Return the path of a page: as Markdown if its source is written in it, and is the whole page."""
    path = Path(app.env.doc2path(page))
    is_whole = path.suffix == ".md" and INCLUDE not in path.read_text()
    return f"{page}.md" if is_whole else f"{page}.html"


def list_of_pages(app: Sphinx) -> str:
    """Return the text of llms.txt."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [f"# {project['name']}", "", f"> {project['description']}", ""]
    lines += ["Install it from a checkout with `pip install .`, and import it with `import ldpfast as ldp`.", ""]
    lines += ["The [front page](index.html) has an example; [forty questions](faq.md) have their answers.", ""]
    for top in app.env.toctree_includes["index"]:
        lines += [f"## {app.env.titles[top].astext()}", ""]
        for page in pages_below(app, top):
            if not page.startswith(EXCLUDED):
                sentence = first_sentence(app.env.get_doctree(page))
                entry = f"- [{app.env.titles[page].astext()}]({address_of(app, page)})"
                lines.append(f"{entry}: {sentence}" if sentence else entry)
        if top.startswith(EXCLUDED):
            lines.append(f"- [{app.env.titles[top].astext()}]({top}.html)")
        lines.append("")
    return "\n".join(lines)


def write_files(app: Sphinx, failed: Exception | None) -> None:
    """Write llms.txt, and copy the pages that it names as Markdown."""
    if failed is not None or app.builder.name != "html":
        return
    out = Path(app.outdir)
    (out / "llms.txt").write_text(list_of_pages(app))
    for page in app.env.found_docs:
        if address_of(app, page).endswith(".md") and not page.startswith(EXCLUDED):
            (out / page).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(app.env.doc2path(page), out / f"{page}.md")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", write_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
