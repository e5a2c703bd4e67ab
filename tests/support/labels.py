"""Units in the labels of axes."""

from __future__ import annotations

import re

UNIT = re.compile(r"\([^()]+\)$", re.MULTILINE)  # at the end of a line
WITHOUT_UNIT = re.compile(
    r"\b(share|shares|number of|epsilon|coefficient|category|bin|bins|cell|coordinate|term|entry|answer|"
    r"bound|mechanism|option|residue)\b"
)


def has_unit(label: str) -> bool:
    """Return whether a label ends with a unit in parentheses, or its quantity is a share, a count or a name."""
    quantity, _, source = label.partition("\n")
    return bool(UNIT.search(quantity) or UNIT.search(source) or WITHOUT_UNIT.search(quantity))
