"""Protocol for the median and other quantiles (Duchi, Jordan, Wainwright 2018, section 3.2.2)."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ... import _check, _coins
from ..._core import sgd
from ..._core.sgd import QuantileState
from ..._core.stream import StreamId
from ..._random import words
from ..._typing import AnyArray, Floats
from ..._warnings import warn
from ...domains import Reals
from ...mechanisms import Bins
from ...mechanisms._smoothed_bins import SmoothedBins, add_offsets
from ...results import DoubtfulWarning, Estimate, Normal
from ..protocols import Sequential, warn_clipped_records, warn_few
from ._local_fit import Crossing, FitSums, crossing, merged
from ._segments import Segments

if TYPE_CHECKING:
    from ..._random import RNGLike

PIECE_ROWS = 1 << 17  # records that are checked and then processed while they are in cache
HEAPED_ROWS = 10_000  # records among which equal ones are counted
LEAST_HEAP = 5  # equal records, fewer of which may be a coincidence
HEAP_REACH = 4.0  # standard deviations of the positions within which a heap matters
STEP_ERRORS = 5.0  # standard errors of a share: with a heap of this size, intervals begin to cover too seldom
LARGEST_STEP = 0.05  # share of a heap that is reported for every n
MANY_HEAPS = 6  # values with similar counts within the reach: steps that the spread of the positions smooths
SUFFICIENT = 2500  # answers that the interval needs, measured for a median and gradients bounded by 1


class MedianSGD(Sequential):
    """Protocol for the median or another quantile: each person in turn answers one bit about the current position.

    Parameters
    ----------
    epsilon : float
        Privacy parameter of the bit, > 0.
    lower, upper : float
        Public range that contains the quantile. Records may lie outside.
    quantile : float, default 0.5
        Which quantile, in (0, 1).
    n : int, optional
        Number of people who will be asked. All steps then have the best size for this number. Without `n`, steps fall
        as 1 / sqrt(i), and the protocol can stop at any time.
    spacing : float, optional
        Distance between neighboring values, for records that are multiples of a number, such as counts (1), ages in years
        (1) or salaries in hundreds (100). Each person then adds their own uniform offset between -spacing / 2 and
        spacing / 2, and the protocol estimates the quantile of this smoothed distribution.

    Attributes
    ----------
    position : float
        Current position, about which the next person is asked.
    n : int
        Number of answers so far.
    sufficient_n : int
        Number of answers from which the interval is reliable.
    guarantee : privacy.Guarantee
        Guarantee for each person.

    Raises
    ------
    TypeError, ValueError
        If `lower` and `upper` are not finite with lower < upper, `quantile` is not in [1e-9, 1 - 1e-9], or `n` is not an
        integer in [1, 2^53].

    Notes
    -----
    With C = coth(epsilon / 2), the gradient of a step is bounded by G = C / 2 + abs(quantile - 1/2). The estimate is
    the mean of the positions after a burn-in of up to a quarter. Its expected quantile loss exceeds the smallest
    possible one by at most 2 (upper - lower) G / (3 sqrt(n)) with `n`, and sqrt(2) (upper - lower) G / sqrt(n) without.

    The interval comes from a parabola, fitted to the answers as a function of the positions. It contains the positions
    at which the fit agrees with the probability that belongs to the quantile. It costs no additional privacy. Below
    `sufficient_n` answers there is a `SmallSampleWarning`.

    The interval assumes that the density changes about linearly over the spread of the positions. It is not valid for
    records with few different values unless `spacing` is given, for a quantile in a gap of the distribution, or if
    [lower, upper] is many times wider than the distribution. An alternative for few different values is a
    `survey.Histogram`, whose quantiles have limits without this assumption.

    The quantile of the smoothed distribution is within spacing / 2 of that of the records, which is the nearest multiple of
    `spacing`: ``estimate(rounded=True)``.

    Privacy
    -------
    Sequentially interactive: each person sends one bit, the response of `Bins` with one cut to the question whether the
    record is at least the position. Exactly `epsilon_realized`-LDP; the comparison is branch-free. See
    docs/proofs/median_sgd.md.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
       JASA 113 (2018), eq. 11 and corollary 2.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> server = ldp.estimation.MedianSGD(1.0, lower=0, upper=100)
    >>> query = server.query()
    >>> server = server.update(query, query.privatize(37.0))
    """

    def __init__(
        self,
        epsilon: float,
        *,
        lower: float,
        upper: float,
        quantile: float = 0.5,
        n: int | None = None,
        spacing: float | None = None,
    ) -> None:
        self.epsilon = _check.positive("epsilon", epsilon)
        self.lower, self.upper = _check.interval(lower, upper)
        self.quantile = _check.probability("quantile", quantile)
        if not 1e-9 <= self.quantile <= 1 - 1e-9:
            raise ValueError(f"quantile must be in [1e-9, 1 - 1e-9], got {quantile!r}")
        if max(-self.lower, self.upper) > 1e60 or self.upper - self.lower < 1e-60:  # fourth powers are added up
            raise ValueError(
                f"lower and upper must be within 1e60 of zero and at least 1e-60 apart, got {lower!r} and {upper!r}"
            )
        self.horizon = None if n is None else _check.people("n", n)
        self.spacing = None if spacing is None else _check.positive("spacing", spacing)
        super().__init__()
        coin, origin = _coins.response(2, self.epsilon), self._kernel.position((self.lower + self.upper) / 2)
        self.guarantee = self._question(origin).guarantee
        # Probability of answering 1 at the quantile: a share of 1 - quantile of the records is at least this position.
        self._target = float((1 - coin.p) + (2 * coin.p - 1) * Fraction(1 - self.quantile))
        self._state = QuantileState(origin)
        self._segments: Segments[FitSums] = Segments()
        bound = float(1 / (2 * coin.p - 1)) / 2 + abs(self.quantile - 0.5)
        tail = 1 / (4 * self.quantile * (1 - self.quantile))
        self.sufficient_n = math.ceil(SUFFICIENT * bound**2 * tail**3 * (4 if self.horizon is None else 1))

    def _compile(self) -> sgd.MedianSGD:
        coin = _coins.response(2, self.epsilon)
        length = self.upper - self.lower
        factor = float(1 / (2 * coin.p - 1))
        shift = self.quantile - 0.5
        step = length / math.sqrt(2) if self.horizon is None else length / 2 / math.sqrt(self.horizon)
        unit = step / (factor / 2 + abs(shift))
        up, down = unit * (factor / 2 + shift), unit * (-factor / 2 + shift)
        return sgd.MedianSGD(self.lower, self.upper, up, down, coin.keep, coin.bits, self.horizon is None)

    @property
    def position(self) -> float:
        """Position about which the next person is asked."""
        return self._state.position

    @property
    def n(self) -> int:
        """Number of answers so far."""
        return self._state.count

    def _question(self, position: float) -> Bins | SmoothedBins:
        if self.spacing is None:
            return Bins((position,), self.epsilon)
        return SmoothedBins((position,), self.epsilon, spacing=self.spacing)

    def _current(self) -> Bins | SmoothedBins:
        return self._question(self.position)

    def _apply(self, report: AnyArray) -> None:
        self._advance(1, lambda start, stop, state: self._kernel.answer(bool(report[0]), state))

    def estimate(self, rounded: bool = False) -> Estimate[float]:
        """Return the mean of the positions after the burn-in.

        Parameters
        ----------
        rounded : bool, default False
            Whether value and limits are rounded to multiples of `spacing`: the quantile of the records instead of that of
            the smoothed distribution.

        Returns
        -------
        estimate : Estimate
            Quantile, with an interval from a local regression of the answers.

        Raises
        ------
        ValueError
            If there is no answer yet; if `rounded` without `spacing`.

        Warns
        -----
        SmallSampleWarning
            For fewer than `sufficient_n` answers.
        """
        if self.n == 0:
            raise ValueError("an estimate needs at least 1 report, got n = 0")
        if self._check_rounded(rounded) and self.spacing is not None:
            smooth = self.estimate()
            value, rule = rounded_to(smooth.value, self.spacing), Rounded(smooth, self.spacing)
            return Estimate(float(value), smooth.stderr, self.n, self.guarantee, None, rule)
        warn_few(self.n, self.sufficient_n, "the interval of a quantile")
        kept = merged(self._segments.without_burn_in(FitSums.of(self._state, self._segments.size)))
        fit = crossing(kept, self.lower, self.upper, self._target)
        if fit is None:
            return Estimate(kept.origin, math.inf, self.n, self.guarantee, None, Normal())
        root, error = fit.root()
        return Estimate(kept.origin, math.hypot(error, kept.origin - root), self.n, self.guarantee, None, fit)

    def _check_rounded(self, rounded: bool) -> bool:
        if _check.flag("rounded", rounded) and self.spacing is None:
            raise ValueError("rounded must be False without spacing, got True")
        return rounded

    def run(self, x: ArrayLike, *, rng: RNGLike = None, clip: bool = False, rounded: bool = False) -> Estimate[float]:
        """Run the whole protocol in one process; people are asked in the order of the records.

        Parameters
        ----------
        x : array_like, shape (n,)
            Finite numbers; a memory map is read once. The order should not depend on the values.
        rng : None, int, SeedSequence, Generator or BitGenerator
            Source of randomness; only ``None`` is private. What was given once must be given to later calls as well; its stream
            continues.
        clip : bool, default False
            Map NaN to the middle of [lower, upper] and infinite numbers to the largest finite ones, instead of raising
            ValueError.
        rounded : bool, default False
            Whether value and limits are rounded to multiples of `spacing`.

        Returns
        -------
        estimate : Estimate
            Estimate from all answers so far.

        Raises
        ------
        TypeError, ValueError
            If a record is not a finite number and `clip` is false; if `rounded` without `spacing`. The protocol is then
            unchanged.

        Warns
        -----
        ClippedWarning
            With `clip`, if records were not finite; with their share.
        DoubtfulWarning
            Without `spacing`, if so many of the first 10,000 records are equal to one value, within four standard deviations of
            the positions, that the interval does not cover: more than a twentieth, or than five standard errors of a share.

        Notes
        -----
        O(n) time, about 3 ns per person, 6 with `spacing`; memory does not depend on n.
        """
        domain = Reals(self.lower + (self.upper - self.lower) / 2)
        domain.check_clip(clip)
        self._check_rounded(rounded)
        records, _ = domain.records(x)
        stream = self._randomness.stream(rng)

        def ask(start: int, stop: int, state: QuantileState) -> None:
            piece, block = domain.convert(records[start:stop]), stream.take(1)
            shifted = piece = domain.clip(piece) if clip else piece
            if self.spacing is not None:
                shifted = add_offsets(piece, self.spacing, words(stream, StreamId.MEDIAN_OFFSET, len(piece), block))
            finite = self._kernel.run(stream, block, shifted, state)
            if not finite and domain.first_invalid(piece) >= 0:
                raise domain.invalid_error(records, can_clip=True)

        with self._alone(len(records)):
            self._advance(len(records), ask)
            self._randomness.keep(rng, stream)
        if clip:
            warn_clipped_records(domain, records)
        estimate = self.estimate()
        if self.spacing is None and self.n >= self.sufficient_n and isinstance(estimate.rule, Crossing):
            _warn_heaped(records, estimate.rule, float(2 * _coins.response(2, self.epsilon).p - 1))
        return self.estimate(rounded=True) if rounded else estimate

    def _advance(self, n: int, ask: Callable[[int, int, QuantileState], None]) -> None:
        """Ask n people by ``ask(start, stop, state)``, in pieces that stay within a segment.

        The state of the protocol changes only if all pieces succeed.
        """
        state = copy.copy(self._state)
        segments = self._segments.copy()
        start = 0
        while start < n:
            stop = min(n, start + PIECE_ROWS, start + segments.room)
            ask(start, stop, state)
            if segments.advance(stop - start):
                segments.close(FitSums.of(state, segments.size))
                state.open_segment()
            start = stop
        self._state, self._segments = state, segments

    def _parameters(self) -> dict[str, Any]:
        return {
            "epsilon": self.epsilon,
            "lower": self.lower,
            "upper": self.upper,
            "quantile": self.quantile,
            "n": self.horizon,
            "spacing": self.spacing,
        }

    def _saved(self) -> list[Floats]:
        opened = FitSums.of(self._state, self._segments.size)
        rows = [[part.origin, *part.moments, *part.ones] for part in [*self._segments.closed, opened]]
        return [np.array([self.position]), np.array(rows)]

    def _restore(self, n: int, numbers: Floats) -> None:
        position, rows = float(numbers[0]), numbers[1:].reshape(-1, 8)
        if len(rows) != n.bit_length() + 1:
            raise ValueError(f"{len(rows)} segments for n = {n}")
        if not self.lower <= position <= self.upper or self._kernel.position(position) != position:
            raise ValueError(f"position {position}")
        left = iter(rows)

        def closed(size: int) -> FitSums:
            row = next(left)
            return FitSums(float(row[0]), size, row[1:5].copy(), row[5:].copy())

        self._segments = Segments.of(n, closed)
        opened = closed(self._segments.size)
        if not all(part.is_possible(self.lower, self.upper) for part in [*self._segments.closed, opened]):
            raise ValueError("sums that no positions have")
        self._state = QuantileState(position, float(n), opened.origin, opened.moments.tolist(), opened.ones.tolist())

    def __repr__(self) -> str:
        given = {"n": self.horizon, "spacing": self.spacing}
        more = "".join(f", {name}={value!r}" for name, value in given.items() if value is not None)
        return (
            f"MedianSGD({self.epsilon!r}, lower={self.lower!r}, upper={self.upper!r}, quantile={self.quantile!r}{more})"
        )


@dataclass(frozen=True)
class Rounded:
    """Limits of an estimate, rounded to multiples of a number."""

    smooth: Estimate[float]
    spacing: float

    def bounds(self, value: Floats, stderr: Floats, tail: float) -> tuple[Floats, Floats]:
        limits = self.smooth.rule.bounds(np.asarray(self.smooth.value), np.asarray(self.smooth.stderr), tail)
        low, high = (rounded_to(limit, self.spacing) for limit in limits)
        return low, high


def rounded_to(value: Any, spacing: float) -> Floats:
    """Return the nearest multiple of `spacing`."""
    return np.asarray(np.round(np.asarray(value) / spacing) * spacing)


def _warn_heaped(records: AnyArray, fit: Crossing, gain: float) -> None:
    """Warn if many records near the positions are equal, because no parabola fits the answers then.

    A heap is a jump of the distribution function. It matters if it is larger than a few standard errors of the fit, in shares
    of records. Heaps at many values, which the spread of the positions smooths, do not: these are rounded records.

    Parameters
    ----------
    records : ndarray
        Records of the people in the order of the questions.
    fit : Crossing
        Parabola that was fitted to their answers.
    gain : float
        Change of the probability of an answer per share of records.
    """
    first = min(len(records), HEAPED_ROWS)
    values, counts = np.unique(records[:first], return_counts=True)
    near = np.abs(values - fit.center) <= HEAP_REACH * fit.scale
    if len(records) < 100 or not near.any():
        return
    counts = counts[near]
    heap, shift = int(counts.max()), (fit.root()[0] - fit.center) / fit.scale
    error = float(fit.excess(np.array(shift))[1]) / gain
    if heap < LEAST_HEAP or heap <= min(LARGEST_STEP, STEP_ERRORS * error) * first:
        return
    if np.count_nonzero(2 * counts >= heap) < MANY_HEAPS:
        warn(
            f"{heap} of the first {first} records are equal and near the positions: the interval of a quantile does not cover "
            "then. Give spacing, the distance between neighboring values, or ask a survey.Histogram if only some records are "
            "equal",
            DoubtfulWarning,
        )
