"""What the server of an interactive protocol asks one person, or many: a serial number and a mechanism."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from .. import _check
from ._base import AnyArray, Mechanism

if TYPE_CHECKING:
    from .._random import RNGLike

MOST_SERIAL = (1 << 63) - 1


@dataclass(frozen=True)
class Query:
    """A question in a protocol. All that a client needs: no protocol, no server.

    Parameters
    ----------
    serial : int
        Which question of the server this is, >= 0. The answer goes back with it.
    mechanism : Mechanism
        Turns the record into the answer; its parameters are public.

    Raises
    ------
    TypeError, ValueError
        If `serial` is not an integer >= 0, or `mechanism` not a mechanism.

    Privacy
    -------
    One answer costs the `epsilon_realized` of the mechanism. A person answers once per protocol: the client has to remember
    that it did.
    """

    serial: int
    mechanism: Mechanism

    def __post_init__(self) -> None:
        object.__setattr__(self, "serial", _check.integer("serial", self.serial, 0, MOST_SERIAL))
        if not isinstance(self.mechanism, Mechanism):
            raise TypeError(f"mechanism must be a Mechanism, got {type(self.mechanism).__name__}")

    def privatize(self, x: ArrayLike, *, rng: RNGLike = None, out: AnyArray | None = None) -> AnyArray:
        """The answer for a record, or one for each of many.

        Parameters
        ----------
        x : array_like
            As for the mechanism. Always clipped (NaN to the centre): a refusal would itself be an answer.
        rng, out
            As for `Mechanism.privatize`.

        Returns
        -------
        reports : ndarray

        Raises
        ------
        TypeError, ValueError
            If `x` or `out` has a wrong dtype or shape; if the mechanism is one for categories and `x` is none of them.

        Privacy
        -------
        That of the mechanism: exactly `mechanism.epsilon_realized` per report.
        """
        return self.mechanism.privatize(x, rng=rng, out=out, clip=self.mechanism.domain.clips)

    def to_bytes(self) -> bytes:
        """The query as text in UTF-8 (JSON), to be sent to clients."""
        described = {"query": self.serial, **self.mechanism.to_dict()}
        return json.dumps(described, sort_keys=True, separators=(",", ":")).encode()

    @staticmethod
    def from_bytes(data: bytes) -> Query:
        """The query that `to_bytes` wrote.

        Parameters
        ----------
        data : bytes

        Returns
        -------
        query : Query

        Raises
        ------
        TypeError, ValueError
            If `data` are not bytes, or not those of a query of this version.
        """
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(f"data must be bytes, got {type(data).__name__}")
        try:
            described: dict[str, Any] = json.loads(bytes(data))
            if not isinstance(described, dict) or "query" not in described:
                raise ValueError("no serial number")
            return Query(described.pop("query"), Mechanism.from_dict(described))
        except (RecursionError, OverflowError, TypeError, ValueError) as error:
            raise ValueError(f"data must be the bytes of a query: {error}") from error
