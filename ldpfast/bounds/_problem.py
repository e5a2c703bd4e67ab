"""The registry of problems: each module of a problem registers its bound and the procedures that solve it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ._bound import Bound

if TYPE_CHECKING:
    from ..domains import Domain
    from ..mechanisms import Mechanism


class Solution(NamedTuple):
    """A procedure that solves a problem.

    Attributes
    ----------
    name : str
    error : float
        In the loss of the problem, for the worst distribution.
    kind : {"exact", "bound", "limit"}
        What is known of the error, see `Row`.
    bits : int
        Size of one report.
    """

    name: str
    error: float
    kind: str
    bits: int


Solutions = list[Callable[[], Solution]]


@dataclass(frozen=True)
class Problem:
    """A problem of estimation: its bound, and what the library offers for it.

    Attributes
    ----------
    bound : callable
        The function of `ldpfast.bounds`.
    description : str
        One line, for the command line.
    solutions : callable or None
        ``solutions(n, epsilon, **fixed)`` returns the procedures of the local model; None in the central model.
    error_of : callable or None
        ``error_of(mechanism, n, **fixed)`` returns the error of a mechanism of the caller; None where no single
        mechanism solves the problem.
    """

    bound: Callable[..., Bound]
    description: str
    solutions: Callable[..., Solutions] | None = None
    error_of: Callable[..., float] | None = None

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.bound.__name__

    @property
    def needed(self) -> list[str]:
        """Parameters beside n and epsilon that have no default."""
        return [p.name for p in self._parameters() if p.default is p.empty]

    @property
    def optional(self) -> list[str]:
        """Parameters beside n and epsilon that have a default."""
        return [p.name for p in self._parameters() if p.default is not p.empty]

    def _parameters(self) -> list[inspect.Parameter]:
        parameters = inspect.signature(self.bound).parameters
        return [p for name, p in parameters.items() if name not in ("n", "epsilon")]

    def most_epsilon(self, fixed: dict[str, Any]) -> float:
        """The largest epsilon that makes sense: the coins of the library end at 44, and a distance is at most 1."""
        default = inspect.signature(self.bound).parameters.get("privacy")
        privacy = fixed.get("privacy", None if default is None else default.default)
        return 1.0 if privacy == "tv" else MOST_EPSILON


def require_domain(mechanism: Mechanism, domain: Domain) -> None:
    """Raise an error unless a mechanism is for the records of a problem."""
    if mechanism.domain != domain:
        raise ValueError(f"mechanisms must be for {domain.describe()}, got {mechanism!r}")


MOST_EPSILON = 44.0
PROBLEMS: dict[str, Problem] = {}


def register(problem: Problem) -> None:
    """Enter a problem under the name of its bound; problems of the local model come first, then by name."""
    entries = sorted([*PROBLEMS.values(), problem], key=lambda entry: (entry.solutions is None, entry.name))
    PROBLEMS.clear()
    PROBLEMS.update({entry.name: entry for entry in entries})
