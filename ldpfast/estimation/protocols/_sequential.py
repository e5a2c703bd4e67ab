"""Protocols that ask one person after another; each query is answered once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

from numpy.typing import ArrayLike, NDArray

from ... import _check
from ..._random import Randomness
from ...mechanisms import Mechanism, Query


class Sequential(ABC):
    """Base class of servers that process one answer at a time."""

    def __init__(self) -> None:
        self._kernel = self._compile()
        self._randomness = Randomness()

    @abstractmethod
    def _compile(self) -> Any:
        """Return the compiled kernel, which is not part of the saved state."""

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of answers so far."""

    @abstractmethod
    def _current(self) -> Mechanism:
        """Return the question for the next person."""

    @abstractmethod
    def _apply(self, report: NDArray[Any]) -> None:
        """Update the state by one checked report, an array of length one."""

    def query(self, group: int = 0) -> Query:
        """Return the query for the next person.

        Parameters
        ----------
        group : int
            Must be 0, the only group.

        Returns
        -------
        query : Query
            Its serial number is the number of answers so far; its mechanism asks about the current position.
        """
        _check.integer("group", group, 0, 0)
        return Query(self.n, self._current())

    def update(self, query: Query, reports: ArrayLike) -> Self:
        """Process the answer to the current query.

        Parameters
        ----------
        query : Query
            The current query, as returned by `query`.
        reports : array_like
            One report.

        Returns
        -------
        self : protocol

        Raises
        ------
        TypeError, ValueError
            If the query is not the current one, or the reports are not one report of its mechanism. The protocol is
            then unchanged.
        """
        if not isinstance(query, Query):
            raise TypeError(f"query must be a Query, got {type(query).__name__}")
        if query != self.query():
            raise ValueError(
                f"query must be the current one, of serial number {self.n}, got serial number {query.serial}"
            )
        accepted = query.mechanism.report.validate(reports)
        if len(accepted) != 1:
            raise ValueError(f"reports must hold exactly one report, got {len(accepted)}")
        self._apply(accepted)
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_kernel"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._kernel = self._compile()
