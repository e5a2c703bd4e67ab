"""k-ary randomized response."""

from __future__ import annotations

from dataclasses import dataclass, field

from .. import _check, _coins
from .._core import privatize
from ..domains import Categories
from ..reports import Codes
from ..results import Debiasing
from ._mechanism import Mechanism
from ._response import parts_of

MAX_CATEGORIES = 1 << 40  # a bound for integer arithmetic; larger than memory can hold


@dataclass(frozen=True)
class RandomizedResponse(Mechanism):
    """k-ary randomized response: the true category with probability p, else a uniform choice among the others.

    Parameters
    ----------
    k : int
        Number of categories, >= 2.
    epsilon : float
        Privacy parameter, > 0 and at most about 44.

    Raises
    ------
    TypeError, ValueError
        If `k` is not an integer >= 2; if `epsilon` is not a finite number > 0, or too small or large for exact coins.

    Notes
    -----
    Records: integers in [0, k), shape (n,). Reports: codes of the smallest unsigned dtype that holds k - 1. No mechanism has a
    smaller total variance for few categories, (k - 1) (k - 2) <= 2 e^(2 epsilon). The variance of a share near zero is
    (e^epsilon + k - 2) / (e^epsilon - 1)^2. O(n) time, 4 random bytes per person (8 if k > 256, or if 32 bits would
    lose more than 1e-5 of epsilon).

    Privacy
    -------
    Exactly `epsilon_realized`-LDP. One random word determines each report. The true category is reported if the word is
    below the integer m, and each of the other categories has the same number of words. No branch depends on the record
    or the word. docs/proofs/randomized_response.md.

    References
    ----------
    .. [1] P. Kairouz, K. Bonawitz, D. Ramage, "Discrete distribution estimation under local privacy", ICML 2016.

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> mechanism = ldp.RandomizedResponse(3, epsilon=1.0)
    >>> reports = mechanism.privatize(np.array([0, 0, 2, 1]), rng=1)
    >>> reports.dtype, reports.shape
    (dtype('uint8'), (4,))
    """

    k: int
    epsilon: float
    debiasing: Debiasing = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._set(k=_check.integer("k", self.k, 2, MAX_CATEGORIES), epsilon=_check.positive("epsilon", self.epsilon))
        coin = _coins.response(self.k, self.epsilon)
        kernel = privatize.RandomizedResponse(coin)
        self.define(domain=Categories(self.k), report=Codes(self.k), kernel=kernel, **parts_of(coin))
