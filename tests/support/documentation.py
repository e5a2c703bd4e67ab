"""Examples, headings and tables of contents in Markdown pages."""

from __future__ import annotations

import re


def python_blocks(text: str) -> list[str]:
    """Return the code of the Python blocks of a page, in order."""
    return re.findall(r"```python\n(.*?)```", text, re.S)


def printed_blocks(text: str) -> list[tuple[str, str | None]]:
    """Return the code of the Python blocks of a page, and what the page says that they print, or None if it does not."""
    blocks = re.findall(r"```python\n(.*?)```(?:\n+It prints\n+```text\n(.*?)```)?", text, re.S)
    return [(code, printed or None) for code, printed in blocks]


def anchors(text: str) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub and MyST make them."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text, flags=re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def toctree_entries(text: str) -> list[str]:
    """Return the entries of all tables of contents of a page: names of pages, and patterns of them."""
    entries = []
    for body in re.findall(r"```\{toctree\}\n(.*?)```", text, re.S):
        for line in body.splitlines():
            if line and not line.startswith(":"):
                title = re.fullmatch(r".*<(.*)>", line)
                entries.append(title[1] if title else line)
    return entries
