"""Warner's randomized response."""

from __future__ import annotations

from dataclasses import dataclass, field

from .. import _check, _coins
from .._core import privatize
from ..domains import Categories
from ..reports import Codes
from ..results import Debiasing
from ._mechanism import Mechanism
from ._response import parts_of


@dataclass(frozen=True)
class Warner(Mechanism):
    """Randomized response to a yes-or-no question: the true answer with probability p, else the opposite.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, > 0 and at most about 44.3.

    Raises
    ------
    TypeError, ValueError
        If `epsilon` is not a finite number > 0, or is too small or too large for a coin of 64 bits.

    Notes
    -----
    Records: 0 or 1, bool or integer, shape (n,). Reports: uint8, 0 or 1. The variance of a decoded report is
    p (1 - p) / (2 p - 1)^2 with p about e^epsilon / (1 + e^epsilon). O(n) time, 8 random bytes per person.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP, with p = m / 2^64 and m rounded down. Each report uses one coin, which is compared
    without a branch, so the time is the same for every record and outcome. docs/proofs/warner.md.

    References
    ----------
    .. [1] S. L. Warner, "Randomized response: a survey technique for eliminating evasive answer bias", JASA 60 (1965).

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> estimate = ldp.Warner(1.0).run(np.arange(10_000) % 4 == 0, rng=1)
    >>> low, high = estimate.interval()
    >>> low < 0.25 < high
    True
    """

    epsilon: float
    debiasing: Debiasing = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._set(epsilon=_check.positive("epsilon", self.epsilon))
        coin = _coins.response(2, self.epsilon, wide=True)
        domain, report = Categories(2, booleans=True), Codes(2, onehot=False)
        self.define(domain=domain, report=report, kernel=privatize.Warner(coin), **parts_of(coin, onehot=False))
