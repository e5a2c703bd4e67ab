"""Pages of HTML for people who decide about a study: one file without external resources, for screens, phones and paper."""

from __future__ import annotations

import html
import io
from collections.abc import Container, Iterable
from typing import Any

from ._extras import optional
from ._table import MAX_ROWS, Table, html_table

# On narrow screens each row of a table is a list, with the names of the columns before the cells.
STYLE = """
body { font-family: system-ui, sans-serif; line-height: 1.5; color: #1a1a1a; overflow-wrap: break-word; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 2.5rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.92rem; }
th, td { padding: 0.3rem 0.5rem; border-bottom: 1px solid #ddd; vertical-align: top; }
th { border-bottom: 2px solid #888; }
blockquote, .warning { border-left: 4px solid #0072B2; margin: 1rem 0; padding-left: 1rem; }
.warning { border-color: #D55E00; }
.pictures { display: flex; flex-wrap: wrap; gap: 1rem; }
figure { margin: 0; flex: 1 1 20rem; max-width: 29rem; } figure svg { width: 100%; height: auto; }
@media screen and (max-width: 40rem) {
  body { margin: 1rem auto; }
  .rows :is(table, tbody, tr) { display: block; } .rows thead { display: none; }
  .rows tr { border-bottom: 1px solid #888; padding: 0.4rem 0; }
  .rows td { display: flex; justify-content: space-between; gap: 1rem; border: 0; padding: 0.1rem 0; }
  .rows td { text-align: right !important; } .rows td:empty { display: none; }
  .rows td::before { content: attr(data-column); flex: none; max-width: 60%; text-align: left; color: #555; }
  .rows td:first-child { display: block; font-weight: 600; text-align: left !important; }
  .rows td:first-child::before { content: none; }
}
@media print {
  @page { margin: 18mm; }
  body { max-width: none; margin: 0; padding: 0; font-size: 10pt; } table { font-size: 9pt; } .scroll { overflow: visible; }
  th, td { padding: 0.15rem 0.5rem; } h2 { margin-top: 1.5rem; }
  h1, h2, h3 { break-after: avoid; } tr, figure, blockquote, .warning { break-inside: avoid; }
  figure { flex-basis: 45%; max-width: 48%; }
}
"""


PRINTED = """
@page { size: A4; margin: 15mm; }
@media print {
  body { line-height: 1.3; } h1 { font-size: 16pt; margin: 0; } h2 { font-size: 12pt; margin: 1em 0 0.3em; }
  p, ul, blockquote { margin: 0.4em 0; } th, td { padding: 0.1rem 0.8rem; }
}
"""  # for pages that are one sheet of paper


def html_page(title: str, parts: Iterable[str], style: str = "") -> str:
    """Return a page with a title, which is also its heading, of parts of HTML, one below the other, with further style."""
    shown = html.escape(title)
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>{shown}</title>'
    body = "\n".join([f"<h1>{shown}</h1>", *parts])
    head += f"<style>{STYLE}{style}</style>"
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'


def page_table(columns: dict[str, list[Any]], left: Container[str] | None = None, note: str = "") -> str:
    """Return a table of a page with all of its rows, and a note below. A long one is several tables, one below the other.

    Parameters
    ----------
    columns : dict
        Lists of texts and numbers of equal length, by the names of the columns.
    left : container of str, optional
        Names of the columns that are aligned at the left; the default is those with texts only.
    note : str
    """
    texts = {name: [*map(str, values)] for name, values in Table(columns).to_texts().items()}
    if left is None:
        left = {name for name, values in columns.items() if all(isinstance(value, str) and value for value in values)}
    rows = max(map(len, texts.values()), default=0)
    parts = [
        {name: values[start : start + MAX_ROWS] for name, values in texts.items()} for start in range(0, rows, MAX_ROWS)
    ]
    tables = [f'<div class="scroll rows">{html_table(part, left, named_cells=True)}</div>' for part in parts]
    return "".join(tables) + (paragraph(note) if note else "")


def scrolled(part: str) -> str:
    """Return a table that scrolls by itself on a narrow screen."""
    return f'<div class="scroll">{part}</div>'


def paragraph(text: str, kind: str = "") -> str:
    """Return a paragraph of plain text, which is escaped; `kind` is a class of the style, such as "warning"."""
    return f"<p{f' class={kind!r}' if kind else ''}>{html.escape(text)}</p>"


def pictures(figures: Iterable[tuple[Any, str]]) -> str:
    """Return figures of matplotlib as pictures beside each other, each with a description for those who cannot see it."""
    return f'<div class="pictures">{"".join(_picture(at, *described) for at, described in enumerate(figures, 1))}</div>'


def _picture(number: int, figure: Any, description: str) -> str:
    """Return a figure as SVG. Its identifiers get a prefix, so that those of two pictures of a page differ."""
    file = io.StringIO()
    with optional("matplotlib", "plot").rc_context({"svg.hashsalt": "ldpfast", "svg.fonttype": "none"}):
        figure.savefig(file, format="svg", metadata={"Date": None})
    picture = file.getvalue()
    picture = picture[picture.index("<svg") :]
    for before in (' id="', "url(#", 'href="#'):
        picture = picture.replace(before, f"{before}picture{number}-")
    label = html.escape(description)
    return f'<figure role="img" aria-label="{label}">{picture}</figure>'
