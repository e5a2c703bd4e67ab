"""Comparison of all mechanisms that solve a problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _check
from .._plots import BLACK, axes, draw_errors, height_of_rows
from .._table import html_table
from .._typing import Floats
from ._bound import Bound, with_unit
from ._registered_problem import PROBLEMS, RegisteredProblem, Solution

if TYPE_CHECKING:
    from ..mechanisms import Mechanism

MARKERS = {"exact": "o", "bound": "<", "limit": "D", "ideal": "x"}  # how an error is known; a bound may be smaller


@dataclass(frozen=True)
class ComparisonRow:
    """Error of one mechanism for a problem.

    Attributes
    ----------
    mechanism : str
        Name of the mechanism or procedure.
    error : float
        Error for the worst distribution, in the loss of the problem.
    kind : {"exact", "bound", "limit", "ideal"}
        What `error` is. "exact": computed from the variance of the coins in use, with the largest bias if there is one;
        "bound": a proved upper bound; "limit": the normal approximation; "ideal": exact, for a mechanism whose privacy
        guarantee holds for real numbers only.
    bits : int
        Size of one report.
    efficiency : float
        Ratio of the lower bound to the error.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> row = bounds.compare("multinomial", 10_000, 1.0, k=100).best
    >>> row.kind, row.bits
    ('exact', 100)
    >>> 0 < row.efficiency < 1
    True
    """

    mechanism: str
    error: float
    kind: str
    bits: int
    efficiency: float


@dataclass(frozen=True, eq=False)
class Comparison:
    """Errors of all mechanisms of the library that solve a problem, in ascending order; printed as a table.

    Attributes
    ----------
    problem : str
        Name of the problem.
    n, epsilon : float
        Number of people and privacy parameter.
    bound : Bound
        Bounds of the problem.
    rows : tuple of ComparisonRow
        Mechanisms, the best first.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> print(bounds.compare("mean_l2", 10_000, 1.0, dim=10))
    mean_l2, n = 10,000, epsilon = 1: squared error
                                  error  known    bits efficiency
    PrivUnit                   0.006073  ideal     640     0.0487
    RankCodebook(vectors=64)   0.006111  exact      64     0.0484
    L2Ball                     0.006997  exact     640     0.0423
    LaplaceVector                0.0801  exact     640     0.0037
    """

    problem: str
    n: float
    epsilon: float
    bound: Bound
    rows: tuple[ComparisonRow, ...]

    @property
    def best(self) -> ComparisonRow:
        """Row with the smallest error."""
        return self.rows[0]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain types."""
        described = {"problem": self.problem, "n": self.n, "epsilon": self.epsilon, "bound": self.bound.to_dict()}
        return {**described, "rows": [dict(vars(row)) for row in self.rows]}

    def plot(self, ax: Any = None) -> Any:
        """Draw the errors of the mechanisms, the best at the top, with the lower bound for every procedure.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; those of a new figure by default.

        Returns
        -------
        ax : matplotlib.axes.Axes

        Raises
        ------
        ImportError
            If matplotlib is not installed (extra "plot").
        """
        ax = axes(ax, height_of_rows(len(self.rows)) + 0.4)
        labels = [f"{row.mechanism} ({row.kind})" for row in self.rows]
        draw_errors(ax, labels, [row.error for row in self.rows], [MARKERS[row.kind] for row in self.rows])
        if self.bound.lower > 0:
            ax.axvline(self.bound.lower, color=BLACK, linestyle="--", label="lower bound for every procedure")
            ax.legend(fontsize=8, loc="lower left", bbox_to_anchor=(0, 1))
        ax.set_xlabel(f"{with_unit(self.bound.loss)}\n{self._subject()}")
        ax.set_ylabel("mechanism")
        return ax

    def _subject(self) -> str:
        return f"{self.problem}, n = {self.n:,.0f}, epsilon = {self.epsilon:g}"

    def _repr_html_(self) -> str:
        columns = {
            "mechanism": [row.mechanism for row in self.rows],
            "error": [f"{row.error:.4g}" for row in self.rows],
            "known": [row.kind for row in self.rows],
            "bits": [f"{row.bits:d}" for row in self.rows],
            "efficiency": [f"{row.efficiency:.3g}" for row in self.rows],
        }
        return html_table(columns, {"mechanism", "known"}, f"{self._subject()}: {self.bound.loss}")

    def __str__(self) -> str:
        width = max((len(row.mechanism) for row in self.rows), default=0)
        lines = [
            f"{self._subject()}: {self.bound.loss}",
            f"{'':{width}} {'error':>10} {'known':>6} {'bits':>7} {'efficiency':>10}",
        ]
        lines += [
            f"{row.mechanism:{width}} {row.error:10.4g} {row.kind:>6} {row.bits:7d} {row.efficiency:10.3g}"
            for row in self.rows
        ]
        return "\n".join(lines)


def compare(problem: str, n: int, epsilon: float, *, mechanisms: Sequence[Mechanism] = (), **fixed: Any) -> Comparison:
    """Compare all procedures of the library that solve a problem, and the caller's mechanisms.

    Parameters
    ----------
    problem : str
        Name of a function: "mean_1d", "median", "mean_l2", "sparse_mean", "multinomial", "logistic", "density" or
        "gaussian_mean"; with a trusted curator, "central_mean" or "central_density".
    n : int
        Number of people.
    epsilon : float
        Privacy parameter, > 0.
    mechanisms : sequence of Mechanism, optional
        The caller's mechanisms, compared at their own epsilon. For "mean_1d" with an infinite moment, "mean_l2" and
        "multinomial".
    **fixed
        The other arguments of the function, as numbers.

    Returns
    -------
    comparison : Comparison
        Mechanisms, the best first, without those that have no coins for this epsilon.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range, or no mechanism has coins for this epsilon.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> bounds.compare("multinomial", 10_000, 1.0, k=100).best.mechanism
    'SubsetSelection'
    """
    solved = PROBLEMS[_check.choice("problem", problem, [name for name, p in PROBLEMS.items() if p.solutions])]
    assert solved.solutions is not None
    people = _check.people("n", n)
    bound = solved.bound(n=people, epsilon=epsilon, **fixed)
    if np.ndim(bound.lower):
        raise ValueError(f"arguments must be numbers, got an array of shape {np.shape(bound.lower)}")
    for word in ("dim", "k"):
        if word in fixed:
            fixed[word] = int(fixed[word])
    fixed.pop("method", None)
    solutions = [_solution_of(solved, mechanism, people, fixed) for mechanism in mechanisms]
    errors = []
    for solve in solved.solutions(n=people, epsilon=float(epsilon), **fixed):
        try:
            solutions.append(solve())
        except ValueError as error:
            errors.append(error)
    if not solutions:
        raise errors[0]
    rows = [
        ComparisonRow(label, float(e), kind, bits, float(bound.lower) / float(e)) for label, e, kind, bits in solutions
    ]
    return Comparison(solved.name, float(people), float(epsilon), bound, tuple(sorted(rows, key=lambda row: row.error)))


def _solution_of(problem: RegisteredProblem, mechanism: Mechanism, n: int, fixed: dict[str, Any]) -> Solution:
    """Return the caller's mechanism as a solution of the problem."""
    from ..mechanisms import Mechanism

    if not isinstance(mechanism, Mechanism):
        raise TypeError(f"mechanisms must be Mechanism objects, got {type(mechanism).__name__}")
    if problem.error_of is None:
        raise ValueError(f"mechanisms must be left out for {problem.name!r}, which no single mechanism solves")
    return Solution(repr(mechanism), problem.error_of(mechanism, n, **fixed), "exact", mechanism.report_bits)


def curves(problem: str, n: Floats, epsilon: Floats, **fixed: Any) -> dict[str, Floats]:
    """Return the errors of all mechanisms for pairs of n and epsilon, NaN if a mechanism has no coins."""
    errors: dict[str, Floats] = {}
    for index, (people, a) in enumerate(zip(n, epsilon, strict=True)):
        try:
            rows = compare(problem, int(people), float(a), **dict(fixed)).rows
        except ValueError:
            continue
        for row in rows:
            label = row.mechanism.partition(",")[0] if problem == "density" else row.mechanism
            errors.setdefault(label, np.full(len(n), np.nan))[index] = row.error
    return errors
