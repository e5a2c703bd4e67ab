"""Questions about the distribution of a number."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import _check
from .._typing import Floats
from ..results import ONE_SIGMA, Estimate
from ._answers import Answer, answer_like
from ._number_columns import BinColumn, number_of, texts_of
from ._questions import ColumnQuestion
from ._shares import Shares

MAX_BINS = 1 << 16


@dataclass(frozen=True)
class Histogram(ColumnQuestion):
    """The bin of a number. The answer is the shares of the bins, with a distribution function and quantiles.

    Parameters
    ----------
    edges : sequence of float
        Strictly ascending ends of the bins, at least 3; they must not be taken from the data. A bin holds its lower end,
        and the last bin both ends. Dates are days since 1970-01-01.
    optional : bool, default False
        Whether an answer may be missing. The shares are then those among people who answered.
    column : str, optional
        Name of the column; the default is the name of the question.
    integers : bool, default False
        Whether the numbers are whole, such as counts, ages in years or dates. Quantiles are whole numbers then, and labels name
        the first and the last whole number of a bin. A number that is not whole counts in the bin that it is in. Without
        `integers`, quantiles interpolate as between real numbers.

    Raises
    ------
    TypeError, ValueError
        If `edges` are not at least 3 strictly ascending finite numbers, whole ones within 2^53 of zero with `integers`.

    Examples
    --------
    >>> from ldpfast.survey import Histogram
    >>> Histogram([0, 18, 65, 120]).labels
    ('0 to 18', '18 to 65', '65 to 120')
    >>> Histogram([0, 1, 2, 10], integers=True).labels
    ('0', '1', '2 to 10')
    """

    edges: Any
    optional: bool = field(default=False, kw_only=True)
    column: str | None = field(default=None, kw_only=True)
    integers: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if np.ndim(self.edges) != 1:
            raise TypeError(f"edges must be a sequence of numbers, got {type(self.edges).__name__}")
        edges = _check.ascending("edges", [number_of(edge) for edge in self.edges], MAX_BINS)
        if len(edges) < 3:
            raise ValueError(f"edges must be at least 3 numbers, got {len(edges)}")
        if _check.flag("integers", self.integers) and any(edge % 1 or abs(edge) > 1 << 53 for edge in edges):
            raise ValueError("edges must be whole numbers within 2^53 of zero with integers=True")
        self._set(edges=edges)
        self._hold(HistogramColumn, edges=edges, integers=self.integers)


@dataclass(frozen=True, eq=False, kw_only=True)
class HistogramColumn(BinColumn):
    """Numbers whose symbol is their bin."""

    edges: tuple[float, ...]
    integers: bool

    def __post_init__(self) -> None:
        labels = tuple(low if low == high else f"{low} to {high}" for low, high in self.bin_texts())
        object.__setattr__(self, "labels", labels)

    @property
    def starts(self) -> tuple[float, ...]:
        """Smallest number of each bin."""
        return tuple(self.edges[:-1])

    @property
    def ends(self) -> tuple[float, ...]:
        """Upper end of each bin; with `integers`, the largest whole number that it holds."""
        return (*(edge - self.integers for edge in self.edges[1:-1]), self.edges[-1])

    def bin_texts(self) -> list[tuple[str, str]]:
        """Return the smallest number and the end of each bin, as texts."""
        if self.integers:
            return [(str(int(low)), str(int(high))) for low, high in zip(self.starts, self.ends, strict=True)]
        return list(itertools.pairwise(texts_of(self.edges)))

    def describe(self) -> str:
        return f"numbers in [{self.edges[0]!r}, {self.edges[-1]!r}]"

    def answer_text(self) -> str:
        return f"{super().answer_text()}, in {len(self.labels)} bins"

    def valid_range(self) -> tuple[float, float]:
        return self.edges[0], self.edges[-1]

    def limits(self) -> Floats:
        return np.array(self.edges[1:-1])

    @property
    def functions(self) -> int:
        return self.k

    def answer(self, shares: Shares, numbers: int) -> HistogramAnswer:
        return HistogramAnswer(**self.answer_fields(shares, numbers), edges=self.edges)


@dataclass(frozen=True, eq=False, repr=False)
class HistogramAnswer(Answer):
    """Shares of the bins of a number, with its distribution function and quantiles.

    Attributes
    ----------
    edges : tuple of float
        Ends of the bins.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.survey import Histogram, Survey
    >>> survey = Survey({"age": Histogram([0, 20, 40, 60, 80])}, 4.0)
    >>> age = survey.run({"age": np.arange(8000) % 80}, rng=1)["age"]
    >>> bool(abs(age.quantile(0.5).value - 40) < 3)
    True
    >>> age.cdf().labels
    ('up to 20', 'up to 40', 'up to 60')
    """

    edges: tuple[float, ...] = ()
    _shares: Shares = field(default=None)  # type: ignore[assignment]
    _column: HistogramColumn = field(default=None)  # type: ignore[assignment]

    def cdf(self) -> Answer:
        """Return the distribution function at the upper end of every bin but the last.

        Returns
        -------
        cdf : Answer
            Shape (k - 1,); Fieller's limits for an optional question.
        """
        labels = tuple(f"up to {end}" for _, end in self._column.bin_texts()[:-1])
        found = self._column.among_answers(self._shares, self._column.answered.cumulative())
        return answer_like(found, self, labels=labels)

    def quantile(self, q: float = 0.5) -> Answer:
        """Return a quantile of the numbers; the default is the median.

        Parameters
        ----------
        q : float, default 0.5
            Probability, in (0, 1).

        Returns
        -------
        quantile : Answer
            The value interpolates linearly within a bin. If the question is about integers, it is the first whole number at
            which the distribution function reaches `q`, with equal shares of the whole numbers of a bin. The limits are ends
            of bins: those between which the distribution function can reach `q`. They contain the true quantile with at least
            the given probability.

        Raises
        ------
        TypeError, ValueError
            If `q` is not a number in (0, 1).
        """
        q = _check.probability("q", q)
        if not self.n:
            raise ValueError("a quantile must have at least 1 answer, got n = 0")
        cdf = self.cdf()
        heights = np.concatenate([[0.0], np.clip(np.maximum.accumulate(cdf.value), 0, 1), [1.0]])
        last = int(np.flatnonzero(heights < q)[-1])  # heights[0] = 0 is
        rise = (q - heights[last]) / (heights[last + 1] - heights[last])
        starts, ends = np.asarray(self._column.starts), np.asarray(self._column.ends)
        if self._column.integers:
            value = float(starts[last] + np.ceil(rise * (ends[last] - starts[last] + 1)) - 1)
        else:
            value = float(starts[last] + rise * (ends[last] - starts[last]))
        rule = _Crossing(cdf, q, starts, ends)
        low, high = rule.bounds(np.asarray(value), np.asarray(0.0), ONE_SIGMA)
        found = Estimate(value, float(high - low) / 2, self.n, self.guarantee, None, rule)
        return answer_like(found, self, range=(self.edges[0], self.edges[-1]), _quantity="quantile")


@dataclass(frozen=True)
class _Crossing:
    """Limits of a quantile: the ends of the bins in which a distribution function can reach a probability.

    The lower limit is too high only if the function is too low at the end of the bin of the quantile, and the upper limit is
    too low only if it is too high at the end of the bin before it. So each limit fails with the probability of one limit of the
    function.
    """

    cdf: Answer
    q: float
    starts: Floats
    ends: Floats

    @property
    def needed(self) -> int:
        """Number of reports that the distribution function needs if there are too few, else 0."""
        return self.cdf._needed

    @property
    def rounding(self) -> float:
        """Largest width of a bin, within which a quantile can be anywhere."""
        return float(np.max(self.ends - self.starts))

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        low, high = self.cdf.rule.bounds(np.asarray(self.cdf.value), np.asarray(self.cdf.stderr), tail)
        reached, unreached = np.flatnonzero(high >= self.q), np.flatnonzero(low < self.q)
        first = int(reached[0]) if len(reached) else len(low)
        last = int(unreached[-1]) if len(unreached) else -1
        return np.asarray(self.starts[first]), np.asarray(self.ends[last + 1])
