"""Places where long names of the code can be broken on narrow screens: before capitals, and after dots and underscores."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

PLACE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[a-z][._])(?=\w)")
CODE = re.compile(r'(?<=<span class="pre">)[^<]{12,}(?=</span>)|(?<=<h1>)[^<]{12,}(?=<)')


def mark_places(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Insert ``<wbr>``, which is not part of a text that is copied, in the names of a page."""
    context["body"] = CODE.sub(lambda found: PLACE.sub("<wbr>", found[0]), context.get("body", ""))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", mark_places)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
