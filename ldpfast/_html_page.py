"""Pages of HTML without external resources, for committees, and texts about epsilon in them."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

STYLE = """
body { font-family: system-ui, sans-serif; line-height: 1.5; color: #1a1a1a; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.5rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.95rem; }
th, td { padding: 0.3rem 0.8rem; border-bottom: 1px solid #ddd; vertical-align: top; }
th { border-bottom: 2px solid #888; } svg { max-width: max(100%, 40rem); height: auto; }
blockquote { border-left: 4px solid #0072B2; margin-left: 0; padding-left: 1rem; }
"""
PRINTED = """
@page { size: A4; margin: 15mm; }
@media print {
  body { font-size: 10pt; line-height: 1.3; max-width: none; margin: 0; padding: 0; }
  h1 { font-size: 16pt; margin: 0; } h2 { font-size: 12pt; margin: 1em 0 0.3em; } p, ul, blockquote { margin: 0.4em 0; }
  th, td { padding: 0.1rem 0.8rem; }
}
"""  # for pages that are one sheet of paper


def html_page(title: str, parts: Sequence[str], style: str = "") -> str:
    """Return a page of parts of HTML, one below the other, with further style."""
    head = (
        f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{html.escape(title)}</title>'
    )
    body = "\n".join(parts)
    head += f"<style>{STYLE}{style}</style>"
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'


def scrolled(table: str) -> str:
    """Return a table that scrolls by itself on a narrow screen."""
    return f'<div class="scroll">{table}</div>'


def times_text(epsilon: float) -> str:
    """Return e^epsilon with three digits, rounded up."""
    ratio = math.exp(epsilon)
    digits = max(0, 2 - math.floor(math.log10(ratio)))
    return f"{math.ceil(ratio * 10**digits) / 10**digits:,.{digits}f}"


def belief_text(epsilon: float) -> str:
    """Return the largest belief after a report to which a belief of 50 % leads, rounded up."""
    doubt = 100 / (1 + math.exp(epsilon))
    digits = max(1, -math.floor(math.log10(doubt)))
    return f"{100 - math.floor(doubt * 10**digits) / 10**digits:.{digits}f} %"
