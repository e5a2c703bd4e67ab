"""Questions in protocols: a symbol of a number, then k-ary response."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import _check, _coins
from .._core import codes
from ._base import AnyArray
from ._categories import ResponseMechanism, one_hot
from ._domains import Reals
from ._reports import Codes


@dataclass(frozen=True)
class Residue(ResponseMechanism):
    """k-ary response to the residue floor((x - offset) / width) mod modulus.

    Parameters
    ----------
    width : float
        Width of a cell, > 0.
    offset : float
        Where cell 0 begins.
    modulus : int
        Number of symbols, 2 to 256.
    epsilon : float
        Privacy parameter, > 0.

    Raises
    ------
    TypeError, ValueError
        If `width` or `epsilon` is not a finite number > 0, `offset` not finite, `modulus` not an integer in [2, 256].

    Notes
    -----
    Records: finite floats of any size and sign, shape (n,). Reports: uint8 codes. Cells beyond 2^52 count as cell 2^52.
    With ``clip=True`` NaN has symbol 0 and infinities that of the farthest cell. What is estimated are the shares of the
    symbols.

    Privacy
    -------
    As `RandomizedResponse` with k = modulus: exact, no branch.

    References
    ----------
    .. [1] M. Joseph, J. Kulkarni, J. Mao, Z. S. Wu, "Locally private Gaussian estimation", NeurIPS 2019 (modulus 4).
    """

    width: float
    offset: float
    modulus: int
    epsilon: float

    def __post_init__(self) -> None:
        self._set(
            width=_check.positive("width", self.width),
            offset=_check.real("offset", self.offset),
            modulus=_check.integer("modulus", self.modulus, 2, 256),
            epsilon=_check.positive("epsilon", self.epsilon),
        )
        coin = _coins.response(self.modulus, self.epsilon)
        self._respond(coin)
        self._set(
            domain=Reals(),
            report=Codes(self.modulus),
            _kernel=codes.Residue(self.width, self.offset, coin),
        )

    def _symbol(self, records: AnyArray) -> NDArray[np.int64]:
        with np.errstate(over="ignore"):
            cells = np.clip(np.floor((records.astype(np.float64) - self.offset) / self.width), -(2.0**52), 2.0**52)
        return np.asarray(np.mod(cells, self.modulus), np.int64)

    def _variance(self, records: AnyArray) -> NDArray[np.float64]:
        hits = one_hot(self._symbol(records), self.modulus)
        return np.asarray(self.debiasing.variance(hits.astype(np.float64)))


@dataclass(frozen=True)
class Bins(ResponseMechanism):
    """k-ary response to the number of cuts that are <= x; with one cut, the threshold bit.

    Parameters
    ----------
    cuts : float or sequence of float
        Strictly ascending, 1 to 255 of them; there is one symbol more.
    epsilon : float
        Privacy parameter, > 0.

    Raises
    ------
    TypeError, ValueError
        If `cuts` are not strictly ascending finite numbers, 1 to 255 of them; if `epsilon` is not a finite number > 0.

    Notes
    -----
    Records: finite floats, shape (n,). Reports: uint8 codes. With ``clip=True`` NaN has symbol 0 and infinities the first
    and the last. O(n len(cuts)) time. What is estimated are the shares of the symbols.

    Privacy
    -------
    As `RandomizedResponse` with k = len(cuts) + 1: exact, no branch.
    """

    cuts: tuple[float, ...]
    epsilon: float

    def __post_init__(self) -> None:
        self._set(
            cuts=_check.ascending("cuts", self.cuts, 255),
            epsilon=_check.positive("epsilon", self.epsilon),
        )
        k = len(self.cuts) + 1
        coin = _coins.response(k, self.epsilon)
        self._respond(coin)
        self._set(
            domain=Reals(),
            report=Codes(k),
            _kernel=codes.Bins(self.cuts, coin),
        )

    def _variance(self, records: AnyArray) -> NDArray[np.float64]:
        symbols = np.searchsorted(np.asarray(self.cuts), records.astype(np.float64), side="right")
        hits = one_hot(symbols, len(self.cuts) + 1)
        return np.asarray(self.debiasing.variance(hits.astype(np.float64)))
