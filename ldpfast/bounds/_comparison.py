"""All mechanisms that solve a problem, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _check
from .._typing import Floats
from ._bound import Bound
from ._planning import MOST_PEOPLE
from ._problem import PROBLEMS, Problem, Solution

if TYPE_CHECKING:
    from ..mechanisms import Mechanism


@dataclass(frozen=True)
class Row:
    """One way to solve a problem.

    Attributes
    ----------
    mechanism : str
        What it is called in the library.
    error : float
        In the loss of the problem, for the worst law.
    kind : {"exact", "bound", "limit"}
        What is known of the error: the exact variance of the coins in use, with the largest bias where there is one; a
        proved upper bound; or the normal limit.
    bits : int
        Of one report.
    efficiency : float
        The lower bound over the error.
    """

    mechanism: str
    error: float
    kind: str
    bits: int
    efficiency: float


@dataclass(frozen=True, eq=False)
class Comparison:
    """All mechanisms of the library that solve a problem, the best first; printed as a table.

    Attributes
    ----------
    problem : str
    n, epsilon : float
    bound : Bound
    rows : tuple of Row
    """

    problem: str
    n: float
    epsilon: float
    bound: Bound
    rows: tuple[Row, ...]

    @property
    def best(self) -> Row:
        """The row with the smallest error."""
        return self.rows[0]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain types."""
        described = {"problem": self.problem, "n": self.n, "epsilon": self.epsilon, "bound": self.bound.to_dict()}
        return {**described, "rows": [dict(vars(row)) for row in self.rows]}

    def __str__(self) -> str:
        width = max((len(row.mechanism) for row in self.rows), default=0)
        lines = [
            f"{self.problem}, n = {self.n:,.0f}, epsilon = {self.epsilon:g}: {self.bound.loss}",
            f"{'':{width}} {'error':>10} {'known':>6} {'bits':>7} {'efficiency':>10}",
        ]
        lines += [
            f"{row.mechanism:{width}} {row.error:10.4g} {row.kind:>6} {row.bits:7d} {row.efficiency:10.3g}"
            for row in self.rows
        ]
        return "\n".join(lines)


def compare(problem: str, n: int, epsilon: float, *, mechanisms: Sequence[Mechanism] = (), **fixed: Any) -> Comparison:
    """Compare all mechanisms of the library that solve a problem of the local model, and mechanisms of the caller.

    Parameters
    ----------
    problem : str
        The name of a function: "mean_1d", "median", "mean_l2", "sparse_mean", "multinomial", "logistic", "density" or
        "gaussian_mean".
    n : int
        People.
    epsilon : float
    mechanisms : sequence of Mechanism, optional
        The caller's own mechanisms, compared with their own epsilon. For "mean_1d" with an infinite moment, "mean_l2" and
        "multinomial".
    **fixed
        The other arguments of the function: numbers.

    Returns
    -------
    comparison : Comparison
        The best first. Mechanisms whose coins refuse this epsilon are left out.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range; if no mechanism takes this epsilon.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> bounds.compare("multinomial", 10_000, 1.0, k=4).best.mechanism
    'RandomizedResponse'
    """
    solved = PROBLEMS[_check.choice("problem", problem, [name for name, p in PROBLEMS.items() if p.solutions])]
    assert solved.solutions is not None
    people = _check.integer("n", n, 1, MOST_PEOPLE)
    told = solved.bound(n=people, epsilon=epsilon, **fixed)
    if np.ndim(told.lower):
        raise ValueError("the arguments must be numbers, not arrays")
    for word in ("dim", "k"):
        if word in fixed:
            fixed[word] = int(fixed[word])
    fixed.pop("mode", None)
    found = [_solution_of(solved, mechanism, people, fixed) for mechanism in mechanisms]
    refusals = []
    for solve in solved.solutions(n=people, epsilon=float(epsilon), **fixed):
        try:
            found.append(solve())
        except ValueError as refusal:
            refusals.append(refusal)
    if not found:
        raise refusals[0]
    rows = [Row(label, float(e), kind, bits, float(told.lower) / float(e)) for label, e, kind, bits in found]
    return Comparison(solved.name, float(people), float(epsilon), told, tuple(sorted(rows, key=lambda row: row.error)))


def _solution_of(problem: Problem, mechanism: Mechanism, n: int, fixed: dict[str, Any]) -> Solution:
    """A mechanism of the caller as a solution of the problem."""
    from ..mechanisms import Mechanism

    if not isinstance(mechanism, Mechanism):
        raise TypeError(f"mechanisms must be mechanisms, got {type(mechanism).__name__}")
    if problem.error_of is None:
        raise ValueError(f"mechanisms must be left out for {problem.name!r}, which no single mechanism solves")
    return Solution(repr(mechanism), problem.error_of(mechanism, n, **fixed), "exact", mechanism.report_bits)


def curves(problem: str, n: Floats, epsilon: Floats, **fixed: Any) -> dict[str, Floats]:
    """Errors of all mechanisms along pairs of n and epsilon; NaN where one is refused."""
    found: dict[str, Floats] = {}
    for at, (people, level) in enumerate(zip(n, epsilon, strict=True)):
        try:
            rows = compare(problem, int(people), float(level), **dict(fixed)).rows
        except ValueError:
            continue
        for row in rows:
            label = row.mechanism.partition(",")[0] if problem == "density" else row.mechanism
            found.setdefault(label, np.full(len(n), np.nan))[at] = row.error
    return found
