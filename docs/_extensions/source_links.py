"""Links to the source of public names, and to edit the file in the repository that a page is made of."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

from repository_links import PAGES
from sphinx.application import Sphinx

import ldpfast

REPOSITORY = "https://github.com/ldpfast/ldpfast"
FOLDER = Path(ldpfast.__file__).parent
INCLUDED = {page: f"{name}.md" for name, page in PAGES.items() if page not in ("index", "benchmarks")}
GENERATED = ("reference/generated/", "genindex", "search", "py-modindex")


def lines_of(module: str, name: str) -> tuple[str, int, int] | None:
    """Return the file of an object below the folder of the package, with its first and its last line.

    None for constants and compiled classes, and for objects that are made by code of another place.
    """
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = inspect.getattr_static(found, part, None) if inspect.isclass(found) else getattr(found, part, None)
    if isinstance(found, property):
        found = found.fget
    found = inspect.unwrap(getattr(found, "__func__", found)) if found is not None else None
    try:
        path = Path(inspect.getsourcefile(found) or "")
        lines, first = inspect.getsourcelines(found)
    except (TypeError, OSError):
        return None
    if not path.is_relative_to(FOLDER):
        return None
    return path.relative_to(FOLDER.parent).as_posix(), first, first + len(lines) - 1


def linkcode_resolve(domain: str, info: dict[str, str]) -> str | None:
    """Return the address of the source of an object in the repository, at the version that is documented."""
    place = lines_of(info["module"], info["fullname"]) if domain == "py" and info["module"] else None
    if place is None:
        return None
    path, first, last = place
    return f"{REPOSITORY}/blob/v{ldpfast.__version__}/{path}#L{first}-L{last}"


def source_of(page: str) -> str | None:
    """Return the path of the file to edit for a page, None for pages that the build makes."""
    if page.startswith(GENERATED) or page == "gallery/index":
        return None
    if page.startswith("gallery/"):
        return f"docs/examples/{page.removeprefix('gallery/')}.py" if "/plot_" in page else None
    return INCLUDED.get(page, f"docs/{page}.md")


def set_source(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Tell the theme which file to edit. It shows no link for a page without a source."""
    context["edit_path"] = source_of(page)
    if context["edit_path"] is None:
        context["page_source_suffix"] = ""


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", set_source, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
