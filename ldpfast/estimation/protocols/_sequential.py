"""What the protocols share that ask one person after the other, each query answered once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._random import Randomness
from ..mechanisms import Mechanism, Query


class Sequential(ABC):
    """A server that learns from one answer at a time. Its state is plain but for the compiled kernel and the randomness."""

    def __init__(self) -> None:
        self._kernel = self._compile()
        self._randomness = Randomness()

    @abstractmethod
    def _compile(self) -> Any:
        """The kernel: not part of the state."""

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of answers so far."""

    @abstractmethod
    def _current(self) -> Mechanism:
        """What the next person is asked."""

    @abstractmethod
    def _learn(self, report: NDArray[Any]) -> None:
        """Take one checked report, an array of length one, and move on."""

    def query(self, group: int = 0) -> Query:
        """The question for the next person.

        Parameters
        ----------
        group : int
            There is only group 0.

        Returns
        -------
        query : Query
            Its serial number is the number of answers so far; its mechanism asks about the current position.
        """
        _check.integer("group", group, 0, 0)
        return Query(self.n, self._current())

    def update(self, query: Query, reports: ArrayLike) -> Self:
        """Take the one answer to the current query, then move on.

        Parameters
        ----------
        query : Query
            As `query` returned it.
        reports : array_like
            The one report.

        Returns
        -------
        self : protocol

        Raises
        ------
        TypeError, ValueError
            If the query is not the current one, or the reports are not one report of its mechanism. The protocol is then
            as it was.
        """
        if not isinstance(query, Query):
            raise TypeError(f"query must be a Query, got {type(query).__name__}")
        if query != self.query():
            raise ValueError(
                f"query must be the current one, of serial number {self.n}, got serial number {query.serial}"
            )
        accepted = query.mechanism.report.validate(reports)
        if len(accepted) != 1:
            raise ValueError(f"reports must be exactly one, for each query has one answer, got {len(accepted)}")
        self._learn(accepted)
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_kernel"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._kernel = self._compile()
