"""The table of a fitted regression, as it is printed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._table import Table
from ..results import LabeledEstimate, StudentT


def coefficient_table(found: LabeledEstimate, confidence: float) -> Table:
    """Return a table with one row per coefficient: its estimate, standard error, test of 0 and limits."""
    test = found.test()
    low, high = found.interval(confidence)
    statistic = "t" if isinstance(found.rule, StudentT) else "z"
    columns = {"estimate": found.value, "stderr": found.stderr, statistic: test.statistic, "pvalue": test.pvalue}
    numbers = {name: np.ravel(values).tolist() for name, values in {**columns, "low": low, "high": high}.items()}
    return Table({"name": list(found.labels), **numbers})


@dataclass(frozen=True, eq=False)
class RegressionSummary:
    """The coefficients of a fitted regression.

    Attributes
    ----------
    table : Table
        One row per coefficient: "name", "estimate", "stderr", "z", "pvalue", "low" and "high"; "t" in the place of "z" if the
        limits are by t quantiles.
    notes : tuple of str
        Lines about the data and the fit.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast import analysis, designs
    >>> x, reports = np.arange(400) % 2, np.arange(400) % 3 == 0
    >>> summary = analysis.RandomizedLogit(designs.warner(0.8)).fit(x[:, None], reports).summary()
    >>> list(summary.table["name"])
    ['const', 'x1']
    """

    table: Table
    notes: tuple[str, ...]

    def to_frame(self) -> Any:
        """Return `table` as a pandas DataFrame.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return self.table.to_frame()

    def __repr__(self) -> str:
        return "\n".join([repr(self.table), *self.notes])

    def _repr_html_(self) -> str:
        return self.table._html("; ".join(self.notes))
