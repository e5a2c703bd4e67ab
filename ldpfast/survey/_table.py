"""Small tables with named columns, for reading and for other packages."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

from .._extras import optional


@dataclass(frozen=True)
class Table:
    """A table with named columns.

    Attributes
    ----------
    columns : dict
        Lists of equal length by the names of the columns.
    """

    columns: dict[str, list[Any]]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def __getitem__(self, name: str) -> list[Any]:
        """Return the column with a name."""
        return self.columns[name]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns as lists."""
        return {name: list(values) for name, values in self.columns.items()}

    def to_frame(self) -> Any:
        """Return a pandas DataFrame.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return optional("pandas", "frames").DataFrame(self.columns)

    def to_arrow(self) -> Any:
        """Return a pyarrow Table.

        Raises
        ------
        ImportError
            If pyarrow is not installed.
        """
        return optional("pyarrow", "files").table(self.columns)

    def _texts(self) -> list[list[str]]:
        return [[name, *map(_shown, values)] for name, values in self.columns.items()]

    def __repr__(self) -> str:
        columns = []
        for name, values in zip(self.columns.values(), self._texts(), strict=True):
            width = max(map(len, values))
            left = any(isinstance(value, str) for value in name)
            columns.append([text.ljust(width) if left else text.rjust(width) for text in values])
        return "\n".join("  ".join(row).rstrip() for row in zip(*columns, strict=True))

    def _repr_html_(self) -> str:
        head, *rows = zip(*self._texts(), strict=True)
        cells = "".join(f"<th>{html.escape(text)}</th>" for text in head)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in row) + "</tr>" for row in rows)
        return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
