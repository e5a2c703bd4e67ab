"""The questions of a survey. Each is a variable with finitely many values, and a statistic of their shares."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, ClassVar

import numpy as np

from .. import _check
from .._described import Described
from .._typing import Floats
from ..domains import declared_categories

MAX_BINS = 1 << 16
MAX_LABELS = 1 << 20
MAX_STEPS = 1 << 31
NO_ANSWER = "no answer"  # label of a missing answer in tables
EPOCH = date(1970, 1, 1)


def number_of(value: Any) -> Any:
    """Return a date or time as the number of days since 1970-01-01, rounded down, and anything else unchanged."""
    if isinstance(value, np.datetime64):
        value = value.astype("M8[D]").item()
    if isinstance(value, datetime):
        value = value.date()
    return float((value - EPOCH).days) if isinstance(value, date) else value


def texts_of(numbers: Sequence[float]) -> list[str]:
    """Return numbers as different texts with few digits."""
    short = [f"{number:g}" for number in numbers]
    return short if len(set(short)) == len(numbers) else [repr(number) for number in numbers]


class SurveyQuestion(Described, ABC):
    """Base class of the questions of a survey. Subclasses are frozen dataclasses."""

    kind: ClassVar[str] = "question"

    def parts_of(self, name: str) -> tuple[str, ...]:
        """Return the names of the declared questions that the question with a name combines."""
        return (name,)


class ColumnQuestion(SurveyQuestion):
    """Base class of the questions that are answered by one column of a table.

    Attributes
    ----------
    optional : bool
        Whether an answer may be missing. "No answer" is then one more symbol, the last.
    column : str or None
        Name of the column; None for the name of the question.
    labels : tuple
        Labels of the symbols without "no answer".
    steps : int
        Number of steps between the values to which numbers are rounded first; 0 where they are not.
    scalar : bool
        Whether the answer is one number.
    encoding : str
        How a cell becomes a symbol: "symbol" by a table, "low-high" by random rounding, "bin" by edges.
    """

    optional: bool
    column: str | None
    labels: tuple[Any, ...]
    steps: int = 0
    scalar: ClassVar[bool] = False
    encoding: ClassVar[str] = "symbol"

    def _check_common(self) -> None:
        _check.flag("optional", self.optional)
        if self.column is not None and (not isinstance(self.column, str) or not self.column):
            raise TypeError(f"column must be the name of a column, got {self.column!r}")

    @property
    def k(self) -> int:
        """Number of symbols, with "no answer" if the question is optional."""
        return len(self.labels) + self.optional

    @property
    def cells(self) -> tuple[Any, ...]:
        """Values of the cells that have the symbols 0, 1, ..., for questions with a table of symbols."""
        return self.labels

    @property
    def statistic(self) -> Floats:
        """Weights of the labels, shape (labels,) or (numbers, labels): reported numbers are weighted sums of shares."""
        return np.eye(len(self.labels))

    @property
    def range(self) -> tuple[float, float]:
        """Interval of the reported numbers."""
        return 0.0, 1.0

    @abstractmethod
    def describe(self) -> str:
        """Return a description of valid cells, for messages of the form "column must hold ..."."""

    def description(self) -> dict[str, Any]:
        """Return what fixes the meaning of an answer: everything but the name of the column."""
        return {name: value for name, value in self.to_dict().items() if name != "column"}

    def kernel_part(self) -> tuple[str, int, bool, float, float, Any, int]:
        """Return the question in the form of `SurveyKernel`."""
        return self.encoding, self.k, self.optional, *self.valid_range(), self.limits(), self.steps

    def valid_range(self) -> tuple[float, float]:
        """Return the ends of valid numbers; (0, 0) where cells are not numbers."""
        return 0.0, 0.0

    def limits(self) -> Floats | None:
        """Return the numbers at which a new bin starts."""
        return None


@dataclass(frozen=True)
class YesNo(ColumnQuestion):
    """A yes-or-no question. The answer is the share of yes.

    Parameters
    ----------
    optional : bool, default False
        Whether an answer may be missing. The share is then that among people who answered.
    column : str, optional
        Name of the column; the default is the name of the question. Cells are booleans, or 0 and 1.

    Raises
    ------
    TypeError
        If an argument has a wrong type.

    Examples
    --------
    >>> from ldpfast.survey import YesNo
    >>> YesNo().labels, YesNo(optional=True).k
    (('no', 'yes'), 3)
    """

    optional: bool = field(default=False, kw_only=True)
    column: str | None = field(default=None, kw_only=True)
    labels: tuple[Any, ...] = field(init=False, repr=False, compare=False)
    scalar: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._check_common()
        self._set(labels=("no", "yes"))

    @property
    def statistic(self) -> Floats:
        return np.array([0.0, 1.0])

    @property
    def cells(self) -> tuple[Any, ...]:
        return False, True

    def describe(self) -> str:
        return "booleans, or 0 and 1"


@dataclass(frozen=True)
class Choice(ColumnQuestion):
    """One of several declared categories. The answer is the shares of the categories.

    Parameters
    ----------
    categories : int or sequence
        The declared labels, at least 2, or their number if they are 0, 1, 2, ... They are never taken from the data.
    optional : bool, default False
        Whether an answer may be missing. The shares are then those among people who answered.
    column : str, optional
        Name of the column; the default is the name of the question.

    Raises
    ------
    TypeError, ValueError
        If `categories` is neither an integer >= 2 nor at least 2 different labels.

    Examples
    --------
    >>> from ldpfast.survey import Choice
    >>> Choice(["foot", "car"], optional=True).labels
    ('foot', 'car')
    """

    categories: Any
    optional: bool = field(default=False, kw_only=True)
    column: str | None = field(default=None, kw_only=True)
    labels: tuple[Any, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._check_common()
        domain, labels = declared_categories("categories", self.categories)
        if domain.k > MAX_LABELS:
            raise ValueError(f"categories must be at most {MAX_LABELS}, got {domain.k}")
        if labels is not None and None in labels:
            raise ValueError("categories must not contain None, which is a missing value: use optional=True")
        if self.optional and labels is not None and NO_ANSWER in labels:
            raise ValueError(f"categories must not contain {NO_ANSWER!r} where the question is optional")
        self._set(categories=domain.k if labels is None else labels)
        self._set(labels=tuple(range(domain.k)) if labels is None else labels)

    def describe(self) -> str:
        shown = ", ".join(map(repr, self.labels[:20]))
        return f"the declared categories {shown}" + (", ..." if len(self.labels) > 20 else "")


@dataclass(frozen=True)
class Mean(ColumnQuestion):
    """A number in a declared interval. The answer is the mean.

    Parameters
    ----------
    lower, upper : float
        Ends of the interval, which must not be taken from the data. Dates are days since 1970-01-01.
    optional : bool, default False
        Whether an answer may be missing. The mean is then that of people who answered.
    column : str, optional
        Name of the column; the default is the name of the question.
    resolution : float, optional
        Distance of the values lower, lower + resolution, ..., upper, to the nearest of which every number is rounded before
        anything else, halves upward. The answer is the mean of the rounded numbers. With `PersonKeys`, all numbers that are
        rounded to the same value have the same report, for instance 0.1 in single and in double precision.

    Raises
    ------
    TypeError, ValueError
        If `lower` and `upper` are not finite numbers with lower < upper; if `resolution` does not divide upper - lower into
        at least 1 and fewer than 2^31 steps.

    Notes
    -----
    A number is rounded at random to the lower or the upper end, so that its mean is unchanged, and the end is the answer.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.survey import Mean, Survey
    >>> result = Survey({"age": Mean(0, 120)}, 2.0).run({"age": np.arange(8000) % 80}, rng=1)
    >>> low, high = result["age"].interval()
    >>> low < 39.5 < high
    True
    """

    lower: float
    upper: float
    optional: bool = field(default=False, kw_only=True)
    column: str | None = field(default=None, kw_only=True)
    resolution: float | None = field(default=None, kw_only=True)
    steps: int = field(init=False, repr=False, compare=False)
    labels: tuple[Any, ...] = field(init=False, repr=False, compare=False)
    scalar: ClassVar[bool] = True
    encoding: ClassVar[str] = "low-high"

    def __post_init__(self) -> None:
        self._check_common()
        lower, upper = _check.interval(number_of(self.lower), number_of(self.upper))
        self._set(lower=lower, upper=upper, labels=("low", "high"), steps=0)
        if self.resolution is not None:
            resolution = _check.positive("resolution", self.resolution)
            steps = (upper - lower) / resolution
            if not 0.5 <= steps <= MAX_STEPS - 1 or abs(steps - round(steps)) > 1e-9 * min(steps, 1e8):
                raise ValueError(
                    f"resolution must divide upper - lower = {upper - lower!r} into at least 1 and fewer than 2^31 steps, "
                    f"got {self.resolution!r}"
                )
            self._set(resolution=resolution, steps=round(steps))

    @property
    def statistic(self) -> Floats:
        return np.array([self.lower, self.upper])

    @property
    def range(self) -> tuple[float, float]:
        return self.lower, self.upper

    def describe(self) -> str:
        return f"numbers in [lower, upper] = [{self.lower!r}, {self.upper!r}]"

    def valid_range(self) -> tuple[float, float]:
        return self.lower, self.upper


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
    labels: tuple[Any, ...] = field(init=False, repr=False, compare=False)
    encoding: ClassVar[str] = "bin"

    def __post_init__(self) -> None:
        self._check_common()
        if np.ndim(self.edges) != 1:
            raise TypeError(f"edges must be a sequence of numbers, got {type(self.edges).__name__}")
        edges = _check.ascending("edges", [number_of(edge) for edge in self.edges], MAX_BINS)
        if len(edges) < 3:
            raise ValueError(f"edges must be at least 3 numbers, got {len(edges)}")
        if _check.flag("integers", self.integers) and any(edge % 1 or abs(edge) > 1 << 53 for edge in edges):
            raise ValueError("edges must be whole numbers within 2^53 of zero with integers=True")
        self._set(edges=edges)
        pairs = self.bin_texts()
        self._set(labels=tuple(low if low == high else f"{low} to {high}" for low, high in pairs))

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

    def valid_range(self) -> tuple[float, float]:
        return self.edges[0], self.edges[-1]

    def limits(self) -> Floats:
        return np.array(self.edges[1:-1])


@dataclass(frozen=True)
class Cross(SurveyQuestion):
    """Two declared questions, answered together. The answer is the table of their joint shares.

    Parameters
    ----------
    a, b : str
        Names of two different questions of the survey. A `Mean` has the categories low and high.

    Raises
    ------
    TypeError, ValueError
        If `a` and `b` are not the names of different questions.

    Examples
    --------
    >>> from ldpfast.survey import Choice, Cross, Survey, YesNo
    >>> survey = Survey({"way": Choice(["foot", "car"]), "smoker": YesNo(), "both": Cross("way", "smoker")}, 3.0)
    >>> survey.run({"way": ["foot", "car"] * 500, "smoker": [True, False] * 500}, rng=1)["both"].value.shape
    (2, 2)
    """

    a: str
    b: str

    def __post_init__(self) -> None:
        if not isinstance(self.a, str) or not isinstance(self.b, str):
            raise TypeError(f"a and b must be names of questions, got {self.a!r} and {self.b!r}")
        if self.a == self.b:
            raise ValueError(f"a and b must be different questions, got {self.a!r} twice")

    def parts_of(self, name: str) -> tuple[str, ...]:
        return self.a, self.b


def declared(questions: Mapping[str, SurveyQuestion]) -> dict[str, ColumnQuestion]:
    """Return the questions that are answered by a column."""
    return {name: question for name, question in questions.items() if isinstance(question, ColumnQuestion)}
