"""Queries of interactive protocols: a serial number and a mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from .. import _check
from .._envelope import as_bytes
from .._schema import canonical_json, read_integer, read_json
from .._typing import AnyArray
from ._mechanism import Mechanism

if TYPE_CHECKING:
    from .._random import RNGLike

MAX_SERIAL = (1 << 63) - 1
MAX_BYTES = 1 << 20  # of an answer


@dataclass(frozen=True)
class Query:
    """A question of an interactive protocol, with everything that a client needs to answer it.

    Parameters
    ----------
    serial : int
        Number of the question, >= 0. The client returns it with the answer.
    mechanism : Mechanism
        Mechanism that turns a record into an answer. Its parameters are public.

    Raises
    ------
    TypeError, ValueError
        If `serial` is not an integer >= 0, or `mechanism` not a mechanism.

    Privacy
    -------
    One answer costs the `epsilon_realized` of the mechanism. A person must answer only once per protocol, so the client
    must store that it has answered.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> message = ldp.Query(3, ldp.Bins(0.5, 1.0)).to_bytes()  # sent by the server
    >>> query = ldp.Query.from_bytes(message)
    >>> query.serial, query.mechanism
    (3, Bins(cuts=(0.5,), epsilon=1.0))
    >>> int(query.privatize(0.7, rng=1)) in (0, 1)
    True
    """

    serial: int
    mechanism: Mechanism

    def __post_init__(self) -> None:
        object.__setattr__(self, "serial", _check.integer("serial", self.serial, 0, MAX_SERIAL))
        if not isinstance(self.mechanism, Mechanism):
            raise TypeError(f"mechanism must be a Mechanism, got {type(self.mechanism).__name__}")

    def privatize(
        self,
        x: ArrayLike,
        *,
        rng: RNGLike = None,
        out: AnyArray | None = None,
        max_epsilon: float | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> AnyArray:
        """Return the answer for a record, or one answer for each of many records.

        Parameters
        ----------
        x : array_like
            Records as for the mechanism. Numbers are always clipped (NaN to the center), because an error that depends
            on the record would itself be an answer.
        rng, out
            As for `Mechanism.privatize`.
        max_epsilon : float, optional
            Largest epsilon that the client accepts. The default accepts every query, so a client in the field should give it:
            a forged query can ask for any epsilon.
        max_bytes : int, default 2^20
            Largest size of one answer that the client accepts.

        Returns
        -------
        reports : ndarray
            Answers of the mechanism.

        Raises
        ------
        TypeError, ValueError
            If `x` or `out` has a wrong dtype or shape; if records are categories and `x` is not a valid one; if the query
            asks for more than `max_epsilon` or `max_bytes`.

        Privacy
        -------
        Exactly ``mechanism.epsilon_realized`` per report.
        """
        asks = self.mechanism
        if max_epsilon is not None and not asks.epsilon_realized <= _check.positive("max_epsilon", max_epsilon):
            raise ValueError(f"a query must have an epsilon of at most {max_epsilon!r}, got {asks.epsilon_realized!r}")
        if asks.report_bytes > _check.integer("max_bytes", max_bytes, 1):
            raise ValueError(f"a query must have answers of at most {max_bytes} bytes, got {asks.report_bytes}")
        return asks.privatize(x, rng=rng, out=out, clip=asks.domain.clips)

    def to_bytes(self) -> bytes:
        """Return the query as JSON in UTF-8, for clients.

        Returns
        -------
        data : bytes
        """
        return canonical_json({"query": self.serial, **self.mechanism.to_dict()})

    @staticmethod
    def from_bytes(data: bytes) -> Query:
        """Return the query described by `to_bytes`.

        Parameters
        ----------
        data : bytes
            Result of `to_bytes`.

        Returns
        -------
        query : Query

        Raises
        ------
        TypeError, ValueError
            If `data` is not of type bytes, or does not describe a query of this version.
        """
        text = as_bytes(data)
        try:
            described: dict[str, Any] = read_json(text)
            if not isinstance(described, dict) or "query" not in described:
                raise ValueError("no serial number")
            return Query(read_integer(described.pop("query")), Mechanism.from_dict(described))
        except (RecursionError, OverflowError, TypeError, ValueError) as error:
            raise ValueError(f"data must be the bytes of a query: {error}") from error
