"""Randomized response to the residue of a number."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .. import _check, _coins
from .._core import privatize
from .._typing import AnyArray
from ..domains import Reals
from ..reports import Codes
from ..results import Debiasing
from ._mechanism import Mechanism
from ._response import parts_of


@dataclass(frozen=True)
class Residue(Mechanism):
    """k-ary randomized response to the residue floor((x - offset) / width) mod modulus.

    Parameters
    ----------
    width : float
        Width of a cell, > 0.
    offset : float
        Lower end of cell 0.
    modulus : int
        Number of symbols, 2 to 256.
    epsilon : float
        Privacy parameter, > 0.

    Raises
    ------
    TypeError, ValueError
        If `width` is not in [1e-300, 1e300], `epsilon` not a finite number > 0, `offset` not finite, or `modulus` not
        an integer in [2, 256].

    Notes
    -----
    Records: finite floats of any size and sign, shape (n,). Reports: uint8 codes. Cell numbers are clamped to
    [-2^51, 2^51]. With ``clip=True`` NaN has symbol 0, and infinities have the symbol of the farthest cell. The
    estimates are the shares of the symbols.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP, as `RandomizedResponse` with k = modulus. No branch depends on the record.
    docs/proofs/residue.md.

    References
    ----------
    .. [1] M. Joseph, J. Kulkarni, J. Mao, Z. S. Wu, "Locally private Gaussian estimation", NeurIPS 2019 (modulus 4).

    Examples
    --------
    >>> import ldpfast as ldp
    >>> ldp.Residue(width=0.5, offset=0.0, modulus=4, epsilon=1.0).report_bits
    2
    """

    width: float
    offset: float
    modulus: int
    epsilon: float
    debiasing: Debiasing = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._set(
            width=_check.magnitude("width", self.width, 300),
            offset=_check.real("offset", self.offset),
            modulus=_check.integer("modulus", self.modulus, 2, 256),
            epsilon=_check.positive("epsilon", self.epsilon),
        )
        coin = _coins.response(self.modulus, self.epsilon)
        kernel = privatize.Residue(self.width, self.offset, coin)
        parts = parts_of(coin, self._symbols)
        self.define(domain=Reals(self.offset), report=Codes(self.modulus), kernel=kernel, **parts)

    def _symbols(self, records: AnyArray) -> AnyArray:
        with np.errstate(over="ignore"):
            cells = np.clip(
                np.floor((records.astype(np.float64) - self.offset) * (1 / self.width)), -(2.0**51), 2.0**51
            )
        return np.asarray(np.mod(cells, self.modulus), np.int64)
