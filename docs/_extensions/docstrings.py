"""House rules of docstrings: a section Privacy, absolute values as in |x|, names of pages as links, and provisional names."""

from __future__ import annotations

import re
from inspect import getdoc, isbuiltin
from typing import Any

from numpydoc.docscrape import NumpyDocString
from public_names import RESULTS, is_provisional
from sphinx.application import Sphinx

AFTER = re.compile(r"\.\. rubric:: (Notes|References|Examples|See Also|Methods|Attributes)")
PAGE = re.compile(r"(?<![`/\w])docs/([\w/]+)\.md")
PROVISIONAL = (
    "**Provisional:** the name and the parameters can change in a minor release (:doc:`Versions </versioning>`)."
)
BAR = re.compile(r"(``.*?``)|(`.*?`)|\|")

RETURNED = {name for names in RESULTS.values() for name in names}
sections: dict[tuple[str, str], list[str]] = {}


def escape_bars(lines: list[str]) -> None:
    """Escape vertical bars outside code and examples, which would be substitutions in reStructuredText."""
    example = False
    for i, line in enumerate(lines):
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        if not example:
            lines[i] = BAR.sub(lambda found: found[0] if found[0] != "|" else r"\|", line)


def take_section(app: Sphinx, what: str, name: str, obj: object, options: Any, lines: list[str]) -> None:
    """Remove the section from the docstring, before numpydoc reads it; constants have no docstring of their own."""
    if what == "data" and getdoc(obj) == getdoc(type(obj)):
        lines.clear()
    escape_bars(lines)
    try:
        start = next(i for i in range(len(lines) - 1) if lines[i] == "Privacy" and set(lines[i + 1]) == {"-"})
    except StopIteration:
        return
    heading = (i - 1 for i in range(start + 3, len(lines)) if len(lines[i]) > 2 and set(lines[i]) == {"-"})
    end = next(heading, len(lines))
    sections[what, name] = lines[start + 2 : end]
    del lines[start:end]


def link_of(app: Sphinx, page: str) -> str | None:
    """Return a link to a page, None if it does not exist."""
    return f":doc:`docs/{page}.md </{page}>`" if page in app.env.found_docs else None


def put_section(app: Sphinx, what: str, name: str, obj: object, options: Any, lines: list[str]) -> None:
    """Insert the section before the notes of the docstring that numpydoc has written, and link pages."""
    section = sections.pop((what, name), None)
    if section is not None:
        place = next((i for i, line in enumerate(lines) if AFTER.match(line)), len(lines))
        lines[place:place] = ["", ".. rubric:: Privacy", "", *section, ""]
    if is_provisional(name):
        start = next((i for i, line in enumerate(lines) if line), 0)
        place = next((i for i in range(start, len(lines)) if not lines[i]), len(lines))  # after the first sentence
        lines[place:place] = ["", PROVISIONAL, ""]
    lines[:] = [PAGE.sub(lambda found: link_of(app, found[1]) or found[0], line) for line in lines]


def hide_constructor(
    app: Sphinx, what: str, name: str, obj: object, options: Any, signature: str, result: str
) -> tuple[str, str] | None:
    """Show no parameters for classes that users get, and do not make."""
    return ("", "") if name in RETURNED else None


def skip_builtin(app: Sphinx, what: str, name: str, obj: object, skip: bool, options: Any) -> bool | None:
    """Skip fields whose default is a function of Python itself, which would show the docstring of that function."""
    return True if isbuiltin(obj) else None


def setup(app: Sphinx) -> dict[str, bool]:
    NumpyDocString.sections["Privacy"] = []  # for signatures numpydoc reads the docstring once more
    app.connect("autodoc-process-docstring", take_section, priority=100)  # numpydoc: 500
    app.connect("autodoc-process-docstring", put_section, priority=900)
    app.connect("autodoc-process-signature", hide_constructor)
    app.connect("autodoc-skip-member", skip_builtin)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
