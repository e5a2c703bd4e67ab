"""Links to pages of the repository outside docs/, as links to the pages of the site that include them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

PAGES = {
    "README": "index",
    "CHANGELOG": "changelog",
    "CONTRIBUTING": "contributing",
    "SECURITY": "security",
    "benchmarks/README": "benchmarks",
}


class RepositoryLinks(SphinxTransform):
    """Set the targets of links that leave docs/, which are absolute paths, and of links in included pages."""

    default_priority = 5

    def apply(self, **_: Any) -> None:
        root = Path(self.env.srcdir).parent
        for link in self.document.findall(addnodes.pending_xref):
            target = Path(link["reftarget"].removesuffix(".md"))
            name = (target.relative_to(root) if target.is_relative_to(root) else target).as_posix()
            if link.get("reftype") == "myst" and name in PAGES:
                link["refdomain"], link["reftarget"], link["reftargetid"] = "doc", PAGES[name], None


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_transform(RepositoryLinks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
