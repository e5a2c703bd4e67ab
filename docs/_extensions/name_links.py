"""Public names in pages and docstrings, such as `LinfBall` or `privacy.compose`, as links to the API reference."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from other_projects import NAMES as OTHER_NAMES
from public_names import RESULTS, public_names
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform

NAME = re.compile(r"(?:ldp\.|ldpfast\.)?((?:\w+\.)*\w+)(?:\(.*\))?")


# Names without their module are first looked for in the module that a page is about.
ABOUT = {
    "guide": "ldpfast.estimation",
    "regression": "ldpfast.estimation",
    "gaussian": "ldpfast.estimation",
    "survey": "ldpfast.survey",
    "designs": "ldpfast.designs",
    "privacy": "ldpfast.privacy",
    "audit": "ldpfast.privacy",
    "bounds": "ldpfast.bounds",
    "central": "ldpfast.central",
}
NAMES = {
    module: {name: f"{module}.{name}" for kind in ("classes", "functions") for name in kinds[kind]}
    for module, kinds in public_names().items()
}

for result in (name for names in RESULTS.values() for name in names):
    module, _, name = result.rpartition(".")
    NAMES.setdefault(module, {})[name] = result


def full_name(written: str, page: str) -> str | None:
    """Return the full name of a public name as it is written on a page; None for other words and ambiguous names."""
    if written in OTHER_NAMES:
        return written
    if f"ldpfast.{written}" in NAMES:
        return f"ldpfast.{written}"
    room, _, name = written.rpartition(".")
    if room:
        return NAMES.get(f"ldpfast.{room}", {}).get(name)
    if name in (about := NAMES.get(ABOUT.get(page, ""), {})):
        return about[name]
    found = [names[name] for names in NAMES.values() if name in names]
    is_word = name.islower() and "_" not in name
    return found[0] if len(found) == 1 and not is_word else None


class NameLinks(SphinxTransform):
    """Replace code in a line of text by a reference where it is a public name."""

    default_priority = 400

    def apply(self, **_: Any) -> None:
        if self.env.docname.startswith(("reference/", "gallery/")):
            return
        for code in list(self.document.findall(nodes.literal)):
            match = NAME.fullmatch(code.astext())
            target = (
                full_name(match[1], self.env.docname) if match and isinstance(code.parent, nodes.paragraph) else None
            )
            if target:
                link = addnodes.pending_xref(
                    "",
                    code.deepcopy(),
                    refdomain="py",
                    reftype="obj",
                    reftarget=target,
                    refexplicit=True,
                    refwarn=True,
                    refdoc=self.env.docname,
                )
                code.replace_self(link)


def resolve(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, contnode: nodes.Element
) -> nodes.Element | None:
    """Resolve a name in a docstring that begins with its module, such as `privacy.compose`."""
    match = NAME.fullmatch(node["reftarget"]) if node.get("refdomain") == "py" else None
    target = full_name(match[1], "") if match and "." in match[1] else None
    if target is None:
        return None
    domain = env.domains.python_domain
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", target, node, contnode)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_transform(NameLinks)
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
