"""Counts of records in the cells of a table, with integer noise."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _check, _coins
from .._random import open_stream
from .._table import Table
from .._typing import Floats
from ..privacy import Guarantee
from ..results import SHARES, Estimate, LabeledEstimate
from ..survey._answers import NO_ANSWER
from ..survey._canonical_cells import canonical_cells
from ..survey._columns import QuestionColumn
from ..survey._questions import SurveyQuestion, declared
from ..survey._survey_arguments import checked_questions
from ._count_limits import NoisyCounts, NoisyCountsOfRecords
from ._noise import MAX_NOISE, laplace_numbers

if TYPE_CHECKING:
    from .._random import RNGLike

MAX_CELLS = 1 << 26
NUMBERS = ("count", "stderr", "low", "high")  # columns of a table
SYMBOLS = ("symbol", "bin")  # encodings of questions whose cells are one of declared symbols


@dataclass(frozen=True, eq=False)
class CountsEstimate(Estimate[Floats]):
    """Private counts of the records in the cells of a table.

    `value` has one axis for each question. The counts are integers plus 1/2, which makes them unbiased, and can be negative.
    Standard errors and intervals are for the counts of these records; `shares` has the ones for the population.

    Attributes
    ----------
    names : tuple of str
        The questions, in the order of the axes.
    axes : tuple of tuple
        Labels of each axis; "no answer" is the last one of an optional question.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast import central
    >>> from ldpfast.survey import Choice, YesNo
    >>> people = {"smokes": np.arange(900) % 3 == 0, "region": ["N", "S", "S"] * 300}
    >>> found = central.counts(people, {"smokes": YesNo(), "region": Choice(["N", "S"])}, epsilon=1.0, rng=1)
    >>> found.value.shape, found.axes
    ((2, 2), (('no', 'yes'), ('N', 'S')))
    >>> low, high = found.interval(simultaneous=True)
    >>> bool((low <= [[0, 600], [300, 0]]).all()), bool((high >= [[0, 600], [300, 0]]).all())
    (True, True)
    """

    names: tuple[str, ...] = field(default=(), kw_only=True)
    axes: tuple[tuple[Any, ...], ...] = field(default=(), kw_only=True)
    _rate: float = field(default=0.0, kw_only=True, repr=False)

    @cached_property
    def shares(self) -> LabeledEstimate:
        """Shares of the cells in the population that the records were drawn from, with the error of sampling."""
        value = self.value / self.n
        known = np.clip(value, 0, 1)
        stderr = np.sqrt(known * (1 - known) / self.n + np.square(self.stderr / self.n))
        rule = NoisyCounts(self.value, self.n, self._rate)
        labels = tuple(self._entries(range(self.value.size)))
        return LabeledEstimate(
            value, stderr, self.n, self.guarantee, None, rule, labels, "share of records", _span=SHARES
        )

    def table(self, confidence: float = 0.95, simultaneous: bool = False) -> Table:
        """Return the counts with one row per cell.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level of the limits, in (0, 1).
        simultaneous : bool, default False
            Whether the limits hold for all cells at once.

        Returns
        -------
        table : survey.Table
            A column of labels for each question, then "count", "stderr", "low" and "high". Limits are cut at 0 and at the
            number of records.

        Raises
        ------
        TypeError, ValueError
            If `confidence` is not a number in (0, 1).
        """
        labels = zip(*itertools.product(*self.axes), strict=True)
        numbers = self.value, self.stderr, *self._bounds(self.interval(confidence, simultaneous))
        return Table(
            {name: list(column) for name, column in zip(self.names, labels, strict=True)}
            | {name: np.ravel(column).tolist() for name, column in zip(NUMBERS, numbers, strict=True)}
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of `Estimate.to_dict`, with the questions and the labels of the axes."""
        return {**super().to_dict(), "names": list(self.names), "axes": [list(map(str, axis)) for axis in self.axes]}

    def _unit(self) -> str:
        return ""

    def _names(self) -> tuple[str, str]:
        return "count", "cell"

    def _entries(self, places: Sequence[int]) -> list[str]:
        shape = self.value.shape
        cells = (np.unravel_index(place, shape) for place in places)
        return [", ".join(str(axis[at]) for axis, at in zip(self.axes, cell, strict=True)) for cell in cells]

    def _meaning(self) -> tuple[Any, ...]:
        return "count", self.names, self.axes

    __repr__ = Estimate.__repr__


def counts(
    frame: Any,
    questions: Mapping[str, SurveyQuestion],
    *,
    epsilon: float,
    clip: bool = False,
    rng: RNGLike = None,
) -> CountsEstimate:
    """Return private counts of records: of one question, or of all combinations of the answers to several (a crosstab).

    Parameters
    ----------
    frame : mapping of arrays, data frame, or object that exports an Arrow stream or array
        One row per record; their number n is public. Columns that no question asks for are ignored.
    questions : mapping of str to question
        `survey.YesNo` for booleans, `survey.Choice` for declared categories, `survey.Histogram` for bins of numbers, by their
        names. Each is an axis of the table; missing values of an optional one are counted as "no answer". Labels and edges
        must not be taken from the records.
    epsilon : float
        Privacy parameter of the whole table, > 0. It costs epsilon once, however many cells and questions there are.
    clip : bool, default False
        Move numbers out of range to the nearest end, and count undeclared categories as "no answer" where the question is
        optional, instead of raising an error, which is outside the guarantee.
    rng : None, int, SeedSequence, Generator or BitGenerator
        Source of randomness; only ``None`` is private.

    Returns
    -------
    estimate : CountsEstimate
        Counts of these records, with one axis per question; `shares` estimates the population.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range; if `questions` are none or have answers that are not one of declared symbols; if there
        are more than 2^26 cells; if `frame` has no rows, lacks a column, or has a cell that is outside of the declared set or
        has no value where the question is not optional. The message names column and row, never a value.

    Privacy
    -------
    `guarantee.epsilon`-differential privacy for the replacement of one record, which changes two counts by one; a table of two
    cells is one count, and n less this count, so that it has half the noise. The guarantee is exact: the noise is drawn with
    integer coins. See docs/proofs/central.md. Running time is not protected.

    Notes
    -----
    O(n) time for each question, and about 40 bytes per cell. Sums of m cells have sqrt(m) times the standard error of one.
    Where a margin matters more, release it by itself, and add the epsilons.

    References
    ----------
    .. [1] A. Ghosh, T. Roughgarden, M. Sundararajan, "Universally utility-maximizing privacy mechanisms", STOC 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast import central
    >>> from ldpfast.survey import Histogram, YesNo
    >>> people = {"smokes": np.arange(9000) % 3 == 0, "age": np.arange(9000) % 80}
    >>> smokers = central.counts(people, {"smokes": YesNo()}, epsilon=1.0, rng=1)
    >>> bool(abs(smokers.value[1] - 3000) < 20)
    True
    >>> by_age = {"age": Histogram([0, 18, 65, 80], integers=True), "smokes": YesNo()}
    >>> central.counts(people, by_age, epsilon=1.0, rng=1).axes[0]
    ('0 to 17', '18 to 64', '65 to 80')
    """
    columns, epsilon = _columns(questions), _check.positive("epsilon", epsilon)
    clip = _check.flag("clip", clip)
    shape = tuple(column.k for column in columns.values())
    if (cells := math.prod(shape)) > MAX_CELLS:
        raise ValueError(f"questions must have at most 2^26 combinations of answers, got {cells}")
    found, n = _counted(frame, columns, shape, clip)
    # Two cells add up to n, which is public: one number that a record changes by one. Otherwise two numbers change by one.
    is_single = cells == 2
    coins = _coins.geometric(epsilon, 1, 1, 1) if is_single else _coins.geometric(epsilon, 2, 1, 2)
    limit = MAX_NOISE - n - 1  # the kernel clamps the noise only beyond this limit
    added = laplace_numbers(coins, 1 if is_single else cells, open_stream(rng))
    if is_single:
        first = np.clip(found[:1] + added, -limit, limit)
        noisy = np.append(first, n - first)
    else:
        noisy = np.clip(found + added, -limit, limit)
    rate = float(coins.rate_and_error[0])
    return CountsEstimate(
        noisy.reshape(shape),
        np.full(shape, math.sqrt(coins.noise_variance)),
        n,
        Guarantee("pure", coins.epsilon_realized),
        None,
        NoisyCountsOfRecords(rate),
        names=tuple(columns),
        axes=tuple((*column.labels, *[NO_ANSWER] * column.optional) for column in columns.values()),
        _rate=rate,
        _span=(0.0, float(n)),
    )


def _columns(questions: Mapping[str, SurveyQuestion]) -> dict[str, QuestionColumn]:
    """Return the columns of the questions, if each has declared symbols."""
    asked = checked_questions(questions)
    found = declared(asked)
    for name, question in asked.items():
        column = found.get(name)
        if column is None or column.encoding not in SYMBOLS or len(column.labels) + column.optional != column.k:
            raise TypeError(f"questions must be YesNo, Choice or Histogram, got {type(question).__name__} for {name!r}")
        if name in NUMBERS:
            raise ValueError(f"questions must not have the name of a column of numbers, got {name!r}")
    return found


def _counted(
    frame: Any, columns: Mapping[str, QuestionColumn], shape: tuple[int, ...], clip: bool
) -> tuple[Floats, int]:
    """Return the numbers of records in all cells, in C order, and in total."""
    found, n = np.zeros(math.prod(shape), np.int64), 0
    for piece, cells in canonical_cells(columns, frame, clip=clip):
        places = np.ravel_multi_index([np.asarray(own, np.intp) for own in cells.values()], shape)
        found += np.bincount(places, minlength=len(found))
        n += piece.n
    if not n:
        raise ValueError("frame must hold at least 1 record, got none")
    return found.astype(np.float64), n
