"""Tables of claims with their tests: the directive ``claims`` has the name of a group, and makes its table."""

from __future__ import annotations

import tomllib
from pathlib import Path

from docutils import nodes
from marked_tests import read_claims
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class ClaimsDirective(SphinxDirective):
    """The table of one group: claim, test, and the commands that run it."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        root = Path(self.env.srcdir).parent
        repository = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"][
            "Repository"
        ]
        found = [claim for claim in read_claims(root / "tests") if claim.group == self.arguments[0]]
        if not found:
            raise self.error(f"no test has a claim of the group {self.arguments[0]!r}")
        lines = ["| claim | test | run by |", "| --- | --- | --- |"]
        for claim in found:
            self.env.note_dependency(str(root / "tests" / claim.path))
            link = f"[`{claim.path}::{claim.test}`]({repository}/blob/main/tests/{claim.path}#L{claim.line})"
            commands = ", ".join(f"`make {target}`" for target in claim.targets)
            lines.append(f"| {claim.sentence} | {link} | {commands} |")
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("claims", ClaimsDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
