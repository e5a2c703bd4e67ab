"""Computations and output of ``python -m ldpfast plan``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ._bound import Bound
from ._comparison import Comparison, compare
from ._contraction import effective_sample_size
from ._planning import epsilon_for, sample_size
from ._registered_problem import PROBLEMS


@dataclass(frozen=True, eq=False)
class StudyPlan:
    """Plan of a study, as printed by ``python -m ldpfast plan``.

    Attributes
    ----------
    problem : str
        Name of the problem.
    fixed : dict
        Other arguments of the problem.
    n : int
        Number of people.
    epsilon : float
        Privacy parameter.
    error : float or None
        Requested error, if given.
    confidence : float or None
        Probability of the error, if given.
    least_n : int or None
        Number of people that any procedure needs for the error; None if there is no such bound.
    bound : Bound
        Bounds at this n and epsilon.
    comparison : Comparison or None
        Mechanisms of the local model.
    """

    problem: str
    fixed: dict[str, Any]
    n: int
    epsilon: float
    error: float | None
    confidence: float | None
    least_n: int | None
    bound: Bound
    comparison: Comparison | None

    @property
    def local(self) -> bool:
        """Whether the problem is one of the local model."""
        return not PROBLEMS[self.problem].central

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain types."""
        names = ("problem", "n", "epsilon", "error", "confidence", "least_n")
        described: dict[str, Any] = {name: getattr(self, name) for name in names}
        described["arguments"] = {k: (str(v) if v == math.inf else v) for k, v in self.fixed.items()}
        described["bound"] = self.bound.to_dict()
        if self.comparison is not None:
            described["effective_sample_size"] = effective_sample_size(self.n, self.epsilon)
            described["mechanisms"] = self.comparison.to_dict()["rows"]
        return described

    def __str__(self) -> str:
        bound, arguments = self.bound, ", ".join(f"{name} = {value}" for name, value in self.fixed.items())
        lines = [
            f"{self.problem}{': ' if arguments else ''}{arguments}",
            f"n = {self.n:,}, epsilon = {self.epsilon:.4g}",
        ]
        if self.error is not None:
            how = "on average" if self.confidence is None else f"with probability {self.confidence:g}"
            lines.append(
                f"are enough for {'an' if bound.loss[0] in 'aeiou' else 'a'} {bound.loss} of {self.error:g} {how}"
            )
        if self.least_n is not None:
            lines.append(f"with fewer than {self.least_n:,} people no procedure reaches it at this epsilon")
        lines += [
            f"{bound.loss}: at least {bound.lower:.4g} for every procedure; at most {bound.upper:.4g} for ldpfast",
            f"without privacy {bound.nonprivate:.4g}; published rate {bound.rate:.4g}",
        ]
        if self.local:
            lines.append(
                "effective sample size of yes-or-no answers: "
                f"{effective_sample_size(self.n, self.epsilon):,.0f} people without privacy"
            )
        if self.comparison is not None:
            lines += ["", *str(self.comparison).split("\n")[1:]]
        return "\n".join([*lines, "", *bound.source.split("; ")])


def make_plan(
    problem: str,
    n: int | None,
    epsilon: float | None,
    error: float | None,
    confidence: float | None,
    fixed: dict[str, Any],
) -> StudyPlan:
    """Return a plan, with the one of n, epsilon and error that is not given; the other two are, and error with confidence.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.
    """
    solved, least = PROBLEMS[problem], None
    function, has_beta = solved.bound, "beta" in solved.optional
    # The missing one of the three is computed from the upper bound. The lower bound then says how many people every procedure
    # needs, and the comparison which mechanisms of the library come close.
    if n is None:
        assert error is not None
        n = sample_size(function, error, confidence=confidence, epsilon=epsilon, **fixed)
    elif epsilon is None:
        assert error is not None
        epsilon = epsilon_for(function, error, n=n, confidence=confidence, **fixed)
    assert epsilon is not None
    if error is not None and (confidence is None or has_beta):
        try:
            least = sample_size(function, error, confidence=confidence, side="lower", epsilon=epsilon, **fixed)
        except ValueError:  # the lower bound is never as small as the error
            least = None
    fixed = {**fixed, "beta": 1 - confidence} if confidence is not None and has_beta else fixed
    bound = function(n=n, epsilon=epsilon, **fixed)
    comparison = None
    if solved.solutions is not None:
        try:
            comparison = compare(problem, n, epsilon, **fixed)
        except ValueError:  # no mechanism has coins for this epsilon
            comparison = None
    return StudyPlan(problem, fixed, n, epsilon, error, confidence, least, bound, comparison)
