"""Protocols that ask one person after another; each query is answered once."""

from __future__ import annotations

import copy
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ... import _check
from ..._described import Described
from ..._envelope import seal, unseal
from ..._random import Randomness
from ..._schema import first_difference, read_integer
from ..._typing import Floats
from ...mechanisms import Mechanism, Query
from ...reports import MAX_REPORTS

MAGIC = b"LDPSEQU\x01"  # the last byte is the version of the layout
WHAT = "a sequential protocol"


class Sequential(Described, ABC):
    """Base class of servers that process one answer at a time."""

    _kind: ClassVar[str] = "protocol"

    def __init__(self) -> None:
        self._kernel = self._compile()
        self._randomness = Randomness()
        self._lock = threading.Lock()

    @contextmanager
    def _alone(self, n: int) -> Iterator[None]:
        """Refuse to add n answers while another thread changes the protocol, or if it cannot hold so many."""
        if not self._lock.acquire(blocking=False):
            raise RuntimeError(f"a {type(self).__name__} must not be changed by two threads at once")
        try:
            if self.n + n >= MAX_REPORTS:
                raise ValueError(f"a protocol must hold fewer than 2^62 answers, got {self.n + n}")
            yield
        finally:
            self._lock.release()

    def _compile(self) -> Any:
        """Return the compiled kernel, which is not part of the saved state; None for a protocol without one."""
        return None

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of answers so far."""

    @abstractmethod
    def _parameters(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""

    @abstractmethod
    def _saved(self) -> list[Floats]:
        """Return the positions and sums. Their shapes depend on the parameters and `n` alone."""

    @abstractmethod
    def _restore(self, n: int, numbers: Floats) -> None:
        """Set the state after n answers from all numbers of `_saved`; raise ValueError if they do not fit."""

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
        RuntimeError
            If another thread changes the protocol at the same time.
        """
        if not isinstance(query, Query):
            raise TypeError(f"query must be a Query, got {type(query).__name__}")
        with self._alone(1):
            if query != self.query():
                raise ValueError(
                    f"query must be the current one, of serial number {self.n}, got serial number {query.serial}"
                )
            accepted = query.mechanism.report.validate(reports)
            if len(accepted) != 1:
                raise ValueError(f"reports must hold exactly one report, got {len(accepted)}")
            self._apply(accepted)
        return self

    # Identity and saved states ---------------------------------------------------------------------------------------

    def _pinned(self) -> dict[str, Any]:
        return {"coins": self._current().schema()["coins"]}

    def to_bytes(self) -> bytes:
        """Return the parameters, the position and the sums as bytes, with a checksum. They hold no record and no key.

        Returns
        -------
        data : bytes
        """
        payload = b"".join(np.ascontiguousarray(numbers, "<f8").tobytes() for numbers in self._saved())
        return seal(MAGIC, {"n": self.n, "schema": self.schema()}, payload)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return the protocol that `to_bytes` saved. It continues with the next query.

        Parameters
        ----------
        data : bytes
            Result of `to_bytes`.

        Returns
        -------
        protocol : Sequential
            Of this class.

        Raises
        ------
        TypeError, ValueError
            If `data` is not bytes; if it is damaged, of another object, or of another version.
        """
        header, payload = unseal(MAGIC, WHAT, data)
        try:
            n, schema = _check.integer("n", read_integer(header["n"]), 0, MAX_REPORTS - 1), header["schema"]
            server = cls.from_dict(schema["asks"])
            difference = first_difference(server.schema(), schema)
            if difference:
                raise ValueError(f"another version of {server!r}: {difference}")
            numbers = np.frombuffer(payload, "<f8").astype(np.float64)
            if not np.isfinite(numbers).all():
                raise ValueError("numbers that are not finite")
            server._restore(n, numbers)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise ValueError(f"data must be the bytes of {WHAT}: {error}") from error
        return server

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_kernel", "_lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._kernel = self._compile()
        self._lock = threading.Lock()
