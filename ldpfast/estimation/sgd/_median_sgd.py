"""The protocol for the median and other quantiles (Duchi, Jordan, Wainwright 2018, section 3.2.2)."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from ... import _check, _coins
from ..._core import sgd
from ..._core.sgd import QuantileState
from ..._typing import AnyArray
from ...domains import Reals
from ...mechanisms import Bins
from ...results import Estimate, Normal
from ..protocols import Sequential, warn_few
from ._local_fit import Sums, crossing, join
from ._segments import Segments

if TYPE_CHECKING:
    from ..._typing import RNGLike

PIECE_ROWS = 1 << 17  # records that are checked, then asked while they are in cache
SUFFICIENT = 2500  # answers from which on the interval covers, measured for a median and gradients bounded by 1


class MedianSGD(Sequential):
    """A protocol for the median, or another quantile: each person in turn answers one bit about the current position.

    Parameters
    ----------
    epsilon : float
        Privacy parameter of the one bit, > 0.
    lower, upper : float
        Public; where the quantile is known to lie. Records may lie anywhere.
    quantile : float, default 0.5
        In (0, 1).
    n : int, optional
        How many people will be asked. All steps then have the best size for this number. Without it the steps fall as
        1 / sqrt(i), and the protocol can stop at any time.

    Attributes
    ----------
    position : float
        The current iterate, about which the next person is asked.
    n : int
        Number of answers so far.
    guarantee : privacy.Guarantee

    Raises
    ------
    TypeError, ValueError
        If `lower` and `upper` are not finite with lower < upper, `quantile` not in (0, 1), `n` not an integer >= 1.

    Notes
    -----
    With C = coth(epsilon / 2), G = C / 2 + abs(quantile - 1/2) bounds the gradient of a step. The estimate is the mean
    of the positions after a burn-in of up to a quarter. Its expected quantile loss exceeds the smallest possible one by
    at most 2 (upper - lower) G / (3 sqrt(n)) with `n`, and sqrt(2) (upper - lower) G / sqrt(n) without. The interval is
    where a parabola, fitted to the answers as a function of the positions, crosses the probability that belongs to the
    quantile. It needs no further privacy, and covers from `sufficient_n` answers on; below, there is a
    `SmallSampleWarning`.

    The interval assumes a density that changes about linearly over the spread of the positions. It is not valid for
    records of a few different values, for a quantile in a gap of the distribution, or for [lower, upper] many times as
    wide as it.

    Privacy
    -------
    Sequentially interactive: each person sends one bit, the response of `Bins` with one cut to the question whether the
    record is at least the position. Exactly `epsilon_realized`-LDP; compared without a branch.
    docs/proofs/median_sgd.md.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
    JASA
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
        # The probability of answering 1 at the quantile, where a share of 1 - quantile of the records are at least the
        # position.
        self._target = float((1 - coin.p) + (2 * coin.p - 1) * Fraction(1 - self.quantile))
        self._state = QuantileState(origin)
        self._segments: Segments[Sums] = Segments()
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
        """The position about which the next person is asked."""
        return self._state.position

    @property
    def n(self) -> int:
        """Number of answers so far."""
        return self._state.count

    def _question(self, position: float) -> Bins:
        return Bins((position,), self.epsilon)

    def _current(self) -> Bins:
        return self._question(self.position)

    def _learn(self, report: AnyArray) -> None:
        self._walk(1, lambda start, stop, state: self._kernel.answer(bool(report[0]), state))

    def estimate(self) -> Estimate[float]:
        """The mean of the positions after the burn-in.

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
        kept = join(self._segments.without_burn_in(Sums.of(self._state, self._segments.size)))
        fit = crossing(kept, self.lower, self.upper, self._target)
        if fit is None:
            return Estimate(kept.origin, math.inf, self.n, self.guarantee, None, Normal())
        root, error = fit.root()
        return Estimate(kept.origin, math.hypot(error, kept.origin - root), self.n, self.guarantee, None, fit)

    def run(self, x: ArrayLike, rng: RNGLike = None) -> Estimate[float]:
        """Ask everybody, in the order of the records: the whole protocol in one process.

        Parameters
        ----------
        x : array_like, shape (n,)
            Finite numbers; a memory map is read once. The order should not depend on the values.
        rng : None, int, SeedSequence, Generator or BitGenerator
            An `rng` that was given once has to be given to later calls, too; its stream continues.

        Returns
        -------
        estimate : Estimate
            From all answers so far.

        Raises
        ------
        TypeError, ValueError
            If a record is not a finite number. The protocol is then unchanged.

        Notes
        -----
        O(n) time, about 3 ns per person; memory does not depend on n.
        """
        domain = Reals()
        records, _ = domain.records(x)
        stream = self._randomness.stream(rng)

        def ask(start: int, stop: int, state: QuantileState) -> None:
            piece = domain.convert(records[start:stop])
            if domain.first_invalid(piece) >= 0:
                raise domain.invalid_error(records)
            self._kernel.run(stream, stream.take(1), piece, state)

        self._walk(len(records), ask)
        self._randomness.keep(rng, stream)
        return self.estimate()

    def _walk(self, n: int, ask: Callable[[int, int, QuantileState], None]) -> None:
        """Ask n people, in pieces that stay within a segment: ``ask(start, stop, state)`` moves the state. All of them, or none."""
        state, segments, start = copy.copy(self._state), self._segments.copy(), 0
        while start < n:
            stop = min(n, start + PIECE_ROWS, start + segments.room)
            ask(start, stop, state)
            if segments.add(stop - start):
                segments.close(Sums.of(state, segments.size))
                state.open_segment()
            start = stop
        self._state, self._segments = state, segments

    def __repr__(self) -> str:
        horizon = "" if self.horizon is None else f", n={self.horizon}"
        return f"MedianSGD({self.epsilon!r}, {self.lower!r}, {self.upper!r}, quantile={self.quantile!r}{horizon})"
