"""Randomized response to the bin of a number."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .. import _check, _coins
from .._core import privatize
from .._typing import AnyArray
from ..domains import MAX, Reals
from ..reports import Codes
from ..results import Debiasing
from ._mechanism import Mechanism
from ._response import parts_of


@dataclass(frozen=True)
class Bins(Mechanism):
    """k-ary randomized response to the number of cuts <= x. With one cut it is a threshold bit.

    Parameters
    ----------
    cuts : float or sequence of float
        1 to 255 strictly ascending numbers, which define len(cuts) + 1 symbols.
    epsilon : float
        Privacy parameter, > 0.

    Raises
    ------
    TypeError, ValueError
        If `cuts` are not 1 to 255 strictly ascending finite numbers; if `epsilon` is not a finite number > 0.

    Notes
    -----
    Records: finite floats, shape (n,). Reports: uint8 codes. With ``clip=True`` NaN has symbol 0, and infinities have
    the first and the last symbol. O(n len(cuts)) time. The estimates are the shares of the symbols.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP, as `RandomizedResponse` with k = len(cuts) + 1. No branch depends on the record.
    docs/proofs/bins.md.

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> ages = ldp.Bins([18, 65], epsilon=2.0)
    >>> estimate = ages.run(np.random.default_rng(1).uniform(0, 90, 50_000), rng=1)  # shares of three age groups
    >>> bool(abs(estimate.value - [0.2, 0.522, 0.278]).max() < 0.02)
    True
    """

    cuts: tuple[float, ...]
    epsilon: float
    debiasing: Debiasing = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._set(
            cuts=_check.ascending("cuts", self.cuts, 255),
            epsilon=_check.positive("epsilon", self.epsilon),
        )
        k = len(self.cuts) + 1
        coin = _coins.response(k, self.epsilon)
        kernel = privatize.Bins(self.cuts, coin)
        self.define(domain=Reals(-MAX), report=Codes(k), kernel=kernel, **parts_of(coin, self._symbols))

    def _symbols(self, records: AnyArray) -> AnyArray:
        return np.searchsorted(np.asarray(self.cuts), records.astype(np.float64), side="right")
