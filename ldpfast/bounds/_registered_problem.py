"""Registry of problems: each module of a problem registers its bound and the procedures that solve it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ._bound import Bound

if TYPE_CHECKING:
    from ..domains import Domain
    from ..mechanisms import Mechanism


class Solution(NamedTuple):
    """Procedure that solves a problem.

    Attributes
    ----------
    name : str
        Name of the procedure.
    error : float
        Error for the worst distribution, in the loss of the problem.
    kind : {"exact", "bound", "limit", "ideal"}
        What `error` is, see `_comparison.ComparisonRow`.
    bits : int
        Size of one report; 0 with a trusted curator.
    """

    name: str
    error: float
    kind: str
    bits: int


Solutions = list[Callable[[], Solution]]


@dataclass(frozen=True)
class RegisteredProblem:
    """Estimation problem: its bound, and the procedures of the library for it.

    Attributes
    ----------
    bound : callable
        Function of `ldpfast.bounds`.
    description : str
        One line, for the command line.
    solutions : callable or None
        ``solutions(n, epsilon, **fixed)`` returns the procedures; None if there are none.
    error_of : callable or None
        ``error_of(mechanism, n, **fixed)`` returns the error of a mechanism of the caller; None if no single mechanism
        solves the problem.
    central : bool
        Whether a trusted curator has the records.
    """

    bound: Callable[..., Bound]
    description: str
    solutions: Callable[..., Solutions] | None = None
    error_of: Callable[..., float] | None = None
    central: bool = False

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.bound.__name__

    @property
    def needed(self) -> list[str]:
        """Parameters other than n and epsilon that have no default."""
        return [p.name for p in self._parameters() if p.default is p.empty]

    @property
    def optional(self) -> list[str]:
        """Parameters other than n and epsilon that have a default."""
        return [p.name for p in self._parameters() if p.default is not p.empty]

    def _parameters(self) -> list[inspect.Parameter]:
        parameters = _parameters_of(self.bound)
        return [p for name, p in parameters.items() if name not in ("n", "epsilon")]

    def max_epsilon(self, fixed: dict[str, Any]) -> float:
        """Return the largest epsilon: 1 for a total variation distance, else 44, the limit of the coins."""
        default = _parameters_of(self.bound).get("privacy")
        privacy = fixed.get("privacy", None if default is None else default.default)
        return 1.0 if privacy == "tv" else MAX_EPSILON


@cache
def _parameters_of(bound: Callable[..., Bound]) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a function; the command line reads them often."""
    return inspect.signature(bound).parameters


def require_domain(mechanism: Mechanism, domain: Domain) -> None:
    """Raise an error if a mechanism is not for the records of a problem."""
    if mechanism.domain != domain:
        raise ValueError(f"mechanisms must be for {domain.describe()}, got {mechanism!r}")


MAX_EPSILON = 44.0
PROBLEMS: dict[str, RegisteredProblem] = {}


def register(problem: RegisteredProblem) -> None:
    """Register a problem under the name of its bound. Problems of the local model come first, then by name."""
    entries = sorted([*PROBLEMS.values(), problem], key=lambda entry: (entry.central, entry.name))
    PROBLEMS.clear()
    PROBLEMS.update({entry.name: entry for entry in entries})
