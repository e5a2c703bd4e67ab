"""Median and other quantiles by private stochastic gradient descent (Duchi, Jordan, Wainwright 2018, section 3.2.2)."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check, _coins
from .._core import sgd
from ..mechanisms import Bins, Laplace
from ..mechanisms._domains import Reals
from ..results import Estimate, Normal
from ._answers import Answers
from ._problem import warn_few
from ._protocol import Sequential

if TYPE_CHECKING:
    from .._random import RNGLike

CHUNK = 1 << 17  # records checked, then asked
SUFFICIENT = (
    2500  # answers, for a median and a step whose gradient is bounded by 1: the interval covers from there on, measured
)


class MedianSGD(Sequential):
    """A protocol for the median, or another quantile: each person in turn answers one bit about the current position.

    Parameters
    ----------
    epsilon : float
        Privacy parameter of the one bit, > 0.
    lower, upper : float
        Where the quantile is known to lie: public. Records may lie anywhere.
    quantile : float, default 0.5
        In (0, 1).
    n : int, optional
        How many people will be asked: steps of one size, the best for this horizon. Without it the steps fall as 1 / sqrt(i),
        and the protocol can stop at any time.

    Attributes
    ----------
    position : float
        The current iterate: what the next person is asked about.
    n : int
        Number of answers so far.
    guarantee : privacy.Guarantee

    Raises
    ------
    TypeError, ValueError
        If `lower` and `upper` are not finite with lower < upper, `quantile` not in (0, 1), `n` not an integer >= 1.

    Notes
    -----
    With C = coth(epsilon / 2), G = C / 2 + abs(quantile - 1/2) bounds a step's gradient. The answer is the mean of the
    positions but for the first, up to a quarter, on their way from the start. Its expected quantile loss exceeds the smallest
    one by at most 2 (upper - lower) G / (3 sqrt(n)) with `n`, and sqrt(2) (upper - lower) G / sqrt(n) without. `estimate` gives
    an interval: where a parabola through the answers, as a function of the positions, crosses the level of the quantile; no
    further privacy. It is sufficient that n is `sufficient_n`; below, `SmallSampleWarning`.

    The interval is for laws with a density that changes about linearly over the spread of the positions: not for records of a
    few different values, nor for a quantile in a gap of the law, nor for an interval many times as wide as the law.

    Privacy
    -------
    Sequentially interactive: a person's one bit is the response of `Bins` with one cut to the question whether the record is
    at least the position, exactly `epsilon_realized`-LDP, compared without a branch. docs/proofs/median_sgd.md.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation", JASA
       113 (2018), eq. 11 and corollary 2.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> server = ldp.estimation.MedianSGD(1.0, 0, 100)
    >>> query = server.query()
    >>> server = server.update(query, query.privatize(37.0))
    """

    def __init__(
        self, epsilon: float, lower: float, upper: float, *, quantile: float = 0.5, n: int | None = None
    ) -> None:
        self.epsilon = _check.positive("epsilon", epsilon)
        self.lower, self.upper = _check.interval(lower, upper)
        self.quantile = _check.probability("quantile", quantile)
        if max(-self.lower, self.upper) > 1e60 or self.upper - self.lower < 1e-60:  # fourth powers are added up
            raise ValueError(
                f"lower and upper must be within 1e60 of zero and 1e-60 apart, got {lower!r} and {upper!r}"
            )
        self.horizon = None if n is None else _check.integer("n", n, 1, 1 << 53)
        coin, origin = _coins.response(2, self.epsilon), (self.lower + self.upper) / 2
        super().__init__()
        self.guarantee = self._question(origin).guarantee
        # The chance to answer 1 at the quantile, where a share of 1 - quantile of the records are at least the position.
        self._level = float((1 - coin.p) + (2 * coin.p - 1) * Fraction(1 - self.quantile))
        self._state = np.array([origin, *[0] * 9], np.float64)  # as the kernel has it: position, count, open segment
        self._answers = Answers(origin)
        bound = float(1 / (2 * coin.p - 1)) / 2 + abs(self.quantile - 0.5)
        tail = 1 / (4 * self.quantile * (1 - self.quantile))
        self.sufficient_n = math.ceil(SUFFICIENT * bound**2 * tail**3 * (4 if self.horizon is None else 1))

    def _compile(self) -> sgd.MedianSGD:
        coin = _coins.response(2, self.epsilon)
        length, reach, lean = self.upper - self.lower, float(1 / (2 * coin.p - 1)), self.quantile - 0.5
        step = length / math.sqrt(2) if self.horizon is None else length / 2 / math.sqrt(self.horizon)
        unit = step / (reach / 2 + abs(lean))
        up, down = unit * (reach / 2 + lean), unit * (-reach / 2 + lean)
        return sgd.MedianSGD(self.lower, self.upper, up, down, coin.keep, coin.bits, self.horizon is None)

    @property
    def position(self) -> float:
        """What the next person is asked about."""
        return float(self._state[0])

    @property
    def n(self) -> int:
        """Number of answers so far."""
        return int(self._state[1])

    def _question(self, position: float) -> Bins:
        return Bins((position,), self.epsilon)

    def _current(self) -> Bins:
        return self._question(self.position)

    def _learn(self, report: NDArray[Any]) -> None:
        self._walk(1, lambda start, stop, state: self._kernel.answer(bool(report[0]), state))

    def estimate(self) -> Estimate:
        """The mean of the positions so far.

        Returns
        -------
        estimate : Estimate
            With an interval from a local regression of the answers.

        Raises
        ------
        ValueError
            If there is no answer yet.

        Warns
        -----
        SmallSampleWarning
            For fewer than `sufficient_n` answers.
        """
        if self.n == 0:
            raise ValueError("an estimate needs at least 1 report, got n = 0")
        warn_few(self.n, self.sufficient_n, "the interval of a quantile")
        value, crossing = self._answers.mean(), self._answers.crossing(self.lower, self.upper, self._level)
        if crossing is None:
            return Estimate(value, math.inf, self.n, self.guarantee, None, Normal())
        root, error = crossing.root()
        return Estimate(value, math.hypot(error, value - root), self.n, self.guarantee, None, crossing)

    def run(self, x: ArrayLike, rng: RNGLike = None) -> Estimate:
        """Ask everybody in the order of the records: the whole protocol in one process.

        Parameters
        ----------
        x : array_like, shape (n,)
            Finite numbers; a memory map is read once. The order should not depend on the values.
        rng : None, int, SeedSequence, Generator or BitGenerator
            An `rng` that was given once has to be given to later calls too, and goes on.

        Returns
        -------
        estimate : Estimate
            From all answers so far.

        Raises
        ------
        TypeError, ValueError
            If a record is not a finite number; the protocol is then as it was.

        Notes
        -----
        O(n) time, about 3 ns per person; memory does not depend on n.
        """
        domain = Reals()
        records, _ = domain.records(x)
        stream = self._randomness.stream(rng)

        def ask(start: int, stop: int, state: NDArray[np.float64]) -> None:
            piece = domain.convert(records[start:stop])
            if domain.offender(piece) >= 0:
                raise domain.refuse(records)
            self._kernel.run(stream, stream.take(1), piece, state)

        self._walk(len(records), ask)
        self._randomness.keep(rng, stream)
        return self.estimate()

    def _walk(self, n: int, ask: Callable[[int, int, NDArray[np.float64]], None]) -> None:
        """n people, by pieces that stay within a segment; `ask(start, stop, state)` moves the state. All of them, or none."""
        state, answers, start = self._state.copy(), self._answers.copy(), 0
        while start < n:
            stop = min(n, start + CHUNK, start + answers.room)
            state[2], state[3:7], state[7:] = answers.origin, answers.moments, answers.ones
            ask(start, stop, state)
            answers.moments[:], answers.ones[:] = state[3:7], state[7:]
            answers.added(stop - start, float(state[0]))
            start = stop
        self._state, self._answers = state, answers

    def __repr__(self) -> str:
        horizon = "" if self.horizon is None else f", n={self.horizon}"
        return f"MedianSGD({self.epsilon!r}, {self.lower!r}, {self.upper!r}, quantile={self.quantile!r}{horizon})"


def quantile(x: ArrayLike, q: float, epsilon: float, lower: float, upper: float, rng: RNGLike = None) -> Estimate:
    """A quantile by private stochastic gradient descent, one bit per person.

    Parameters
    ----------
    x : array_like, shape (n,)
        Finite numbers, asked in this order; they may lie anywhere.
    q : float
        Which quantile, in (0, 1).
    epsilon : float
        Privacy parameter of each person's one bit.
    lower, upper : float
        Where the quantile is known to lie.
    rng : None, int, SeedSequence, Generator or BitGenerator

    Returns
    -------
    estimate : Estimate
        With an interval from a local regression of the answers.

    Raises
    ------
    TypeError, ValueError
        As `MedianSGD`, and if `x` is empty or not finite.

    Warns
    -----
    SmallSampleWarning
        Where n is too small for the interval.

    Privacy
    -------
    One bit per person, exactly `epsilon_realized`-LDP; see `MedianSGD`.
    """
    n = np.size(_check.array("x", x))
    if n == 0:
        raise ValueError("x must hold at least 1 record, got none")
    return MedianSGD(epsilon, lower, upper, quantile=q, n=n).run(x, rng)


def median(x: ArrayLike, epsilon: float, lower: float, upper: float, rng: RNGLike = None) -> Estimate:
    """The median by private stochastic gradient descent: `quantile` with q = 1/2, which see."""
    return quantile(x, 0.5, epsilon, lower, upper, rng)


def naive_median(x: ArrayLike, epsilon: float, lower: float, upper: float, rng: RNGLike = None) -> Estimate:
    """The median of numbers with Laplace noise. A baseline: it is BIASED, whatever n is, unless the law is symmetric.

    Symmetric noise moves the median of a skewed law: of salaries with median 24,968, noise for an interval of 400,000 and
    epsilon = 1 has the median 37,800. Use `median`.

    Parameters
    ----------
    x : array_like, shape (n,)
        Finite numbers; clipped to the interval.
    epsilon : float
    lower, upper : float
        The interval of the clipping, which sets the noise.
    rng : None, int, SeedSequence, Generator or BitGenerator

    Returns
    -------
    estimate : Estimate
        The interval is for the median of the noisy numbers, NOT for that of the records.

    Raises
    ------
    TypeError, ValueError
        If `x` is empty or not finite; as `Laplace`.

    Privacy
    -------
    That of `Laplace`: exact.

    Notes
    -----
    Stores the n reports.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation", JASA
       113 (2018), eq. 41; the claim before it, that such noise keeps the median, fails for skewed laws.
    """
    mechanism, domain = Laplace(lower, upper, epsilon), Reals()
    records, _ = domain.records(x)
    if len(records) == 0:
        raise ValueError("x must hold at least 1 record, got none")
    if domain.offender(domain.convert(records)) >= 0:
        raise domain.refuse(records)
    reports: NDArray[Any] = np.sort(mechanism.privatize(records, rng=rng, clip=True))
    # Order statistics one binomial standard deviation away on each side.
    n, away = len(reports), math.sqrt(len(reports)) / 2
    low, high = reports[max(0, math.floor(n / 2 - away))], reports[min(n - 1, math.ceil(n / 2 + away))]
    return Estimate(float(np.median(reports)), float(high - low) / 2, n, mechanism.guarantee, None, Normal())
