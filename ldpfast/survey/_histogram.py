"""Questions about the distribution of a number."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._typing import Floats
from ..results import ONE_SIGMA, Estimate
from ._answers import Answer, answer_like
from ._number_columns import BinColumn, number_of, texts_of
from ._questions import ColumnQuestion
from ._shares import Shares

MAX_BINS = 1 << 16
WITHIN_BINS = ("any", "uniform")  # what limits of quantiles assume of the numbers in a bin


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

    def quantile(self, q: ArrayLike = 0.5, *, within_bins: str = "any") -> Answer:
        """Return quantiles of the numbers; the default is the median.

        Parameters
        ----------
        q : float or array_like of float, shape (m,), default 0.5
            Probabilities, in (0, 1).
        within_bins : {"any", "uniform"}
            What the limits assume of the numbers in a bin, about which the reports say nothing. "any": nothing, so that the
            limits are ends of bins. "uniform": that they are spread evenly, as the value does; the limits are then between the
            ends of bins.

        Returns
        -------
        quantile : Answer
            A number, or with the labels "25 %", ... for several probabilities. The value interpolates linearly within a bin. If
            the question is about integers, it is the first whole number at which the distribution function reaches `q`, with
            equal shares of the whole numbers of a bin. The limits are those between which the distribution function can reach
            `q`: they contain the true quantile with at least the given probability. With "uniform" this is the quantile of
            numbers with the true shares of the bins that are spread evenly; where people report round numbers, that of the
            numbers themselves can be elsewhere in the same bin.

        Raises
        ------
        TypeError, ValueError
            If `q` is not a number in (0, 1) or a list of such numbers; if `within_bins` is not one of the above; if there is no
            answer.

        Notes
        -----
        Limits between the ends of bins interpolate those at the ends. The standard error of the function between two ends is at
        most the interpolated one, so these limits are valid for every shape, and also if all numbers are in few bins.
        docs/proofs/survey.md.

        Examples
        --------
        >>> import numpy as np
        >>> from ldpfast.survey import Histogram, Survey
        >>> asked = Survey({"minutes": Histogram([0, 15, 30, 45, 60])}, 4.0)
        >>> minutes = asked.run({"minutes": np.linspace(0, 60, 12_000)}, rng=1)["minutes"]
        >>> quantiles = minutes.quantile([0.1, 0.4, 0.6], within_bins="uniform")
        >>> low, high = quantiles.interval()
        >>> quantiles.labels, bool((high - low < 5).all()), bool(((low < [6, 24, 36]) & ([6, 24, 36] < high)).all())
        (('10 %', '40 %', '60 %'), True, True)
        >>> minutes.quantile(0.4).interval()  # wherever in a bin the minutes are
        (15.0, 30.0)
        """
        probabilities = _check.within("q", q, 0, 1, "()")
        if probabilities.ndim > 1:
            raise ValueError(f"q must be a number or have shape (m,), got shape {probabilities.shape}")
        is_uniform = _check.choice("within_bins", within_bins, WITHIN_BINS) == "uniform"
        if not self.n:
            raise ValueError("a quantile must have at least 1 answer, got n = 0")
        cdf, column = self.cdf(), self._column
        heights = np.concatenate([[0.0], np.clip(np.maximum.accumulate(cdf.value), 0, 1), [1.0]])
        starts, ends = np.asarray(column.starts), np.asarray(column.ends)
        rule = _Crossing(cdf, probabilities, starts, ends, column.integers, is_uniform)
        value = rule.number(np.searchsorted(heights, probabilities) - 1, heights)
        low, high = rule.bounds(value, np.zeros(value.shape), ONE_SIGMA)
        # A whole number is known up to a half, even where both limits are the same one.
        stderr = np.maximum((high - low) / 2, np.sqrt(1 / 12) if column.integers and is_uniform else 0.0)
        several = probabilities.ndim > 0
        found = Estimate(
            value if several else float(value),
            stderr if several else float(stderr),
            self.n,
            self.guarantee,
            None,
            rule,
        )
        quantity = "quantile" if several else f"quantile {float(probabilities):.6g}"
        return answer_like(
            found,
            self,
            range=(self.edges[0], self.edges[-1]),
            labels=tuple(f"{100 * p:.6g} %" for p in probabilities.tolist()) if several else None,
            _quantity=quantity + " (numbers uniform within bins)" * is_uniform,
        )


@dataclass(frozen=True)
class _Crossing:
    """Limits of quantiles: the numbers at which the limits of a distribution function reach probabilities.

    The lower limit is too high only if the upper limit of the function is too low at the end of the bin of the quantile, and
    the upper limit is too low only if the lower limit of the function is too high at the end of the bin before it. So each
    limit fails with the probability of one limit of the function. With `is_uniform` the same holds between the ends, where the
    function and its limits are linear.
    """

    cdf: Answer
    q: Floats
    starts: Floats
    ends: Floats
    integers: bool
    is_uniform: bool

    @property
    def needed(self) -> int:
        """Number of reports that the distribution function needs if there are too few, else 0."""
        return self.cdf._needed

    @property
    def rounding(self) -> float:
        """Largest width of a bin, within which a quantile can be anywhere."""
        return 0.0 if self.is_uniform else float(np.max(self.ends - self.starts))

    def with_liars(self, share: float, n: Any) -> _Crossing:
        """Return the limits where some reports are forged."""
        return replace(self, cdf=self.cdf._with_liars(share))

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        limits = self.cdf.rule.bounds(np.asarray(self.cdf.value), np.asarray(self.cdf.stderr), tail)
        low, high = (np.clip(limit, 0, 1) for limit in limits)
        # The first bin at whose end the upper limit reaches q, and the last one at whose start the lower limit does not.
        first = np.searchsorted(np.maximum.accumulate(high), self.q)
        last = np.searchsorted(np.minimum.accumulate(low[::-1])[::-1], self.q)
        if not self.is_uniform:
            return self.starts[first], self.ends[last]
        lowest, highest = (
            self.number(place, np.concatenate([[0.0], limit, [1.0]])) for place, limit in ((first, high), (last, low))
        )
        return np.minimum(lowest, value), np.maximum(highest, value)

    def number(self, place: NDArray[np.intp], heights: Floats) -> Floats:
        """Return the numbers in bins at which a function with some heights at all edges, linear between them, reaches q."""
        part = (self.q - heights[place]) / (heights[place + 1] - heights[place])
        start, end = self.starts[place], self.ends[place]
        if self.integers:
            return np.asarray(start + np.ceil(part * (end - start + 1)) - 1)
        return np.asarray(start + part * (end - start))
