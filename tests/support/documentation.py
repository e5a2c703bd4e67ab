"""Examples in Markdown pages."""

from __future__ import annotations

import re


def python_blocks(text: str) -> list[str]:
    """Return the code of the Python blocks of a page, in order."""
    return re.findall(r"```python\n(.*?)```", text, re.S)
