"""Texts of others in Markdown."""

from __future__ import annotations

import re

from ._table import printable

SPECIAL = re.compile(r"([`*_{}<>#|~$])")
MARKER = re.compile(r"^(\d*)([-+.)])(?=\s|$)")  # of a list, which a text could begin
LINK = re.compile(r"\](?=[(\[:])")  # in brackets before an address or the name of one


def escaped_markdown(text: str) -> str:
    """Return a text such that Markdown shows it as it is, on one line.

    A backslash becomes an entity, because readers of formulas take two of them for the end of a line; brackets have none before
    them, which would start a formula.
    """
    parts = [SPECIAL.sub(r"\\\1", part.replace("&", "&amp;")) for part in printable(text).split("\\")]
    return MARKER.sub(r"\1\\\2", "&#92;".join(LINK.sub("&#93;", part) for part in parts))
