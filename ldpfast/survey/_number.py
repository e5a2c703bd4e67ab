"""Questions about the whole distribution of a number."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from .. import _check
from .._typing import AnyArray, Floats
from ..estimation._distribution_estimate import NumberCells
from ..mechanisms import DistributionResponse, Mechanism
from ..mechanisms._distribution_response import MAX_CELLS
from ..reports import Counted
from ._number_answer import LISTED, FoundNumber
from ._number_columns import BinColumn, number_of
from ._number_planning import SHAPES, planned_errors, planned_median
from ._planned_answer import Expected, PlannedAnswer, PlannedQuantiles
from ._questions import ColumnQuestion

LARGEST_INTEGER = 1 << 53


@dataclass(frozen=True)
class Number(ColumnQuestion):
    """A number in a declared interval. The answer is its distribution: quantiles, shares, mean, density, without bins.

    Parameters
    ----------
    lower, upper : float
        Ends of the interval, which must not be taken from the data; with `integers` the smallest and the largest whole number.
        Dates are days since 1970-01-01.
    integers : bool, default False
        Whether the numbers are whole, such as counts, ages in years or dates. Each whole number then has a cell of its own;
        there may be at most 4096, with "no answer". A number that is not whole is rounded down.
    cells : int, default 256
        Number of cells of equal width, in [2, 4096]: the resolution. It does not decide how smooth the answer is. With
        `integers` it follows from the ends.
    optional : bool, default False
        Whether an answer may be missing. The distribution is then that of the people who answered.
    column : str, optional
        Name of the column; the default is the name of the question.

    Raises
    ------
    TypeError, ValueError
        If `lower` and `upper` are not finite numbers with lower < upper, or no whole ones within 2^53 of zero with `integers`;
        if `cells` is not an integer in its range; if there are too many whole numbers; if cells are too narrow for doubles.

    Notes
    -----
    A number is sent as its cell by `mechanisms.DistributionResponse`, in one report of two bytes. Only the cell decides: with
    `PersonKeys`, all numbers in the same cell have the same report. A cell contains its upper end. An answer takes 0.1 s for
    256 cells, 1 s for 1024, whatever the number of people. "No answer" is one more cell.

    Use `Mean` if the mean is all that is needed, and `Histogram` for the shares of few bins that are known to matter:
    docs/survey.md compares their variances.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.survey import Number, Survey
    >>> minutes = np.random.default_rng(1).gamma(2, 10, 100_000).clip(0, 120)
    >>> found = Survey({"minutes": Number(0, 120)}, 1.0).run({"minutes": minutes}, rng=1)["minutes"]
    >>> low, high = found.quantile(0.95).interval()
    >>> bool(low < np.quantile(minutes, 0.95) < high)
    True
    >>> bool(abs(found.cdf(30).value - np.mean(minutes <= 30)) < 0.03)
    True
    """

    lower: float
    upper: float
    integers: bool = field(default=False, kw_only=True)
    cells: int = field(default=256, kw_only=True)
    optional: bool = field(default=False, kw_only=True)
    column: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        lower, upper = _check.interval(number_of(self.lower), number_of(self.upper))
        most = MAX_CELLS - _check.flag("optional", self.optional)
        cells, integers = _check.integer("cells", self.cells, 2, most), _check.flag("integers", self.integers)
        if integers:
            if any(end % 1 or abs(end) > LARGEST_INTEGER for end in (lower, upper)):
                raise ValueError(
                    "lower and upper must be whole numbers within 2^53 of zero with integers=True, got "
                    f"{lower!r} and {upper!r}"
                )
            if upper - lower >= most:
                raise ValueError(
                    f"upper - lower must be below {most} with integers=True, got {upper - lower:g}: leave integers out, and "
                    "several whole numbers share a cell"
                )
            cells = int(upper - lower) + 1
        self._set(lower=lower, upper=upper, cells=cells)
        column = self._hold(CellColumn, cells_of=NumberCells(lower, upper, cells, integers))
        limits = column.limits()
        if not (np.diff(limits, prepend=lower, append=np.nextafter(upper, np.inf)) > 0).all():
            raise ValueError(f"cells must be fewer for so short an interval, got {cells} in [{lower!r}, {upper!r}]")


@dataclass(frozen=True, eq=False, kw_only=True)
class CellColumn(BinColumn):
    """Numbers whose symbol is their cell, and whose answer is their distribution."""

    cells_of: NumberCells
    has_symbols: ClassVar[bool] = False
    has_weights: ClassVar[bool] = False
    can_be_combined: ClassVar[bool] = False
    quantity: ClassVar[str] = "quantile"
    shapes: ClassVar[tuple[str, ...]] = tuple(SHAPES)

    @property
    def k(self) -> int:
        return self.cells_of.count + self.optional

    @property
    def range(self) -> tuple[float, float]:
        return self.cells_of.lower, self.cells_of.upper

    @property
    def unit(self) -> str:
        low, high = self.range
        return f"median in [{low:g}, {high:g}]"

    def describe(self) -> str:
        low, high = self.range
        return f"numbers in [lower, upper] = [{low!r}, {high!r}]"

    def valid_range(self) -> tuple[float, float]:
        return self.range

    def limits(self) -> Floats:
        return self._limits

    @cached_property
    def _limits(self) -> Floats:
        return self.cells_of.starts

    # Mechanism and answer ---------------------------------------------------------------------------------------------

    def mechanism(self, epsilon: float) -> DistributionResponse:
        return DistributionResponse(self.k, epsilon)

    @property
    def numbers(self) -> int:
        return len(LISTED) + self.optional

    def joined(self, encoded: list[AnyArray]) -> AnyArray:
        return encoded[0]

    def found(self, mechanism: Mechanism, counted: Counted) -> FoundNumber:
        return FoundNumber(self.cells_of, _response(mechanism), counted, self.optional)

    def expected_variance(self, mechanism: Mechanism) -> float:
        return planned_median(_response(mechanism), self.optional, self.shapes[0], 1.0).variance

    def planned(self, mechanism: Mechanism, expected: Expected, asked: float) -> PlannedAnswer:
        shape = expected.shape or self.shapes[0]
        return planned_median(_response(mechanism), self.optional, shape, expected.response).of(expected, asked)

    def planned_quantiles(self, mechanism: Mechanism, expected: Expected, n: float) -> PlannedQuantiles:
        found = planned_errors(_response(mechanism), self.optional, expected.response, n)
        return {shape: tuple(self.length * error for error in errors) for shape, errors in found.items()}

    def assumption(self) -> str:
        return f"the median of numbers with a {self.shapes[0]} distribution"


def _response(mechanism: Mechanism) -> DistributionResponse:
    """Return the mechanism of a number under its own class."""
    assert isinstance(mechanism, DistributionResponse)
    return mechanism
