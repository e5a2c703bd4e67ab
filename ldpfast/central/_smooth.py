"""Smooth sensitivity: noise calibrated to the given data without leaking them.

The local sensitivity is maximized over all datasets, with a factor that decreases with the number of replaced records.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._core import order
from .._core.stream import Stream, StreamId
from .._random import open_stream
from .._typing import AnyArray, Floats
from ..privacy import Guarantee
from ..results import Estimate
from . import _records
from ._public_grid import SIZE, PublicGrid
from ._rounded_noise import laplace

if TYPE_CHECKING:
    from .._typing import RNGLike

ERROR = 2.0**-36  # bound on the relative error of a smooth sensitivity of integers below 2^32, computed in doubles
SLACK = 1e-12  # a share q within this distance of a multiple of 1 / n counts as that multiple
DIGITS, TINY = Context(prec=60), Decimal("1e-20")
SCALES = (1.05, 1.2, 1.4, 1.6, 1.8, 2.0)  # candidates, times 1 / epsilon


# ---- sensitivity
# --------------------------------------------------------------------------------------------------------


class _Sorted:
    """Records clipped to [lower, upper] in ascending order, with the ends: z_0 = lower, z_1 .. z_n, z_(n+1) = upper.

    Only requested values are clipped. Sensitivities below `negligible` need not be accurate.
    """

    def __init__(self, records: AnyArray, lower: float, upper: float, negligible: float = 0.0) -> None:
        self.records, self.lower, self.upper, self.n = records, lower, upper, len(records)
        self.negligible = negligible

    @classmethod
    def of(cls, x: ArrayLike, lower: float, upper: float, nan: str) -> _Sorted:
        """Return the records in doubles. Sorted input is neither copied nor sorted."""
        records = _records.array(x, nan)
        if not (
            records.dtype == np.float64
            and math.isfinite(records[0])
            and math.isfinite(records[-1])
            and bool((records[1:] >= records[:-1]).all())
        ):
            records = _records.numbers(records, lower, upper, nan)
            records.sort()
        return cls(records, lower, upper)

    @classmethod
    def on_grid(cls, x: ArrayLike, grid: PublicGrid, nan: str) -> _Sorted:
        """Return the indices of the grid points next to the records. Sensitivities below 1 count as 1."""
        points = grid.indices(_records.array(x, nan), nan)
        points.sort()
        return cls(points, 0.0, SIZE - 1.0, 1.0)

    def at(self, ranks: NDArray[np.intp]) -> Floats:
        """Return z at ranks in [0, n + 1]."""
        z: Floats = np.clip(self.records[np.clip(ranks - 1, 0, self.n - 1)], self.lower, self.upper)
        z[ranks <= 0] = self.lower
        z[ranks > self.n] = self.upper
        return z

    def between(self, first: int, last: int) -> Floats:
        """Return z_first .. z_last."""
        z = np.empty(last - first + 1)
        start, stop = max(first, 1), min(last, self.n)
        np.clip(self.records[start - 1 : stop], self.lower, self.upper, out=z[start - first : stop - first + 1])
        z[: start - first] = self.lower
        z[stop - first + 1 :] = self.upper
        return z


def _largest(data: _Sorted, beta: float, i_high: int, j_low: int, least: int) -> float:
    """Return the maximum of exp(-beta (j - i - least)) (z_j - z_i).

    The maximum is over 0 <= i <= i_high, j_low <= j <= n + 1, j - i >= least. Let G0 be the best of a few pairs, or
    `negligible`, and K = log((upper - lower) / G0) / beta. A pair with j - i - least > K gives less than G0, so ranks
    farther than K from the anchors are left out.
    """
    n, width = data.n, data.upper - data.lower
    if beta == 0:
        return width
    # Pairs with j - i - least = 0, 1, 3, 7, ...: the leftmost, the rightmost and the middle pair of each width.
    w = np.unique(np.append(2 ** np.arange(max(1, (n + 1 - least).bit_length())) - 1, n + 1 - least))
    first, last = np.maximum(0, j_low - least - w), np.minimum(i_high, n + 1 - least - w)
    i, w = np.concatenate([first, last, (first + last) // 2]), np.tile(w, 3)
    with np.errstate(divide="ignore"):
        best = float(np.maximum(np.log(data.at(i + least + w) - data.at(i)) - beta * w, np.log(data.negligible)).max())
    reach = min((math.log(width) - best) / beta, n + 1 - least)
    far = math.ceil(reach * (1 + 1e-9)) + 1  # K, rounded up
    i_low, j_high = max(0, j_low - least - far), min(n + 1, i_high + least + far)
    # The records between the anchors of a trimmed mean are in no pair, so they are left out.
    cut = max(0, j_low - i_high - 1)
    parts = ((i_low, i_high), (j_low, j_high)) if cut else ((i_low, j_high),)
    z = np.concatenate([data.between(*part) for part in parts])
    return order.spread(
        z,
        beta,
        0,
        i_high - i_low,
        j_low - cut - i_low,
        j_high - cut - i_low,
        least - cut,
        np.empty(j_high - i_low - least + 1),
    )


def rank(q: float, n: int) -> int:
    """Return the rank of the q-quantile of n records: ceil(q n), at least 1, which is the lower median for even n."""
    return max(1, math.ceil((q - SLACK) * n))


def trimmed(trim: float, n: int) -> int:
    """Return the number of records that a trimmed mean leaves out on each side: floor(trim n)."""
    return math.floor((trim + SLACK) * n)


def _check_beta(beta: float) -> float:
    """Return beta, if it is >= 0."""
    number = _check.real("beta", beta)
    if not number >= 0:
        raise ValueError(f"beta must be a finite number >= 0, got {beta!r}")
    return number


def trim_share(trim: float) -> float:
    """Return trim, if it is in [0, 1/2)."""
    number = _check.real("trim", trim)
    if not 0 <= number < 0.5:
        raise ValueError(f"trim must be in [0, 1/2), got {trim!r}")
    return number


def _rank_sensitivity(data: _Sorted, m: int, beta: float) -> float:
    """Return the smooth sensitivity of the record of rank m."""
    return _largest(data, beta, m, m, 1)


def _trimmed_sum_sensitivity(data: _Sorted, m: int, beta: float) -> float:
    """Return the smooth sensitivity of the sum without m records on each side."""
    return _largest(data, beta, m + 1, data.n - m, data.n - 2 * m)


def smooth_sensitivity_quantile(
    x: ArrayLike, q: float, beta: float, lower: float, upper: float, *, nan: str = "raise"
) -> float:
    """Return the smooth sensitivity of a quantile. It is NOT PRIVATE and must not be released.

    It is the maximum over datasets D' of exp(-beta d(D, D')) LS(D'), where d is the number of replaced records and LS
    the largest change of the quantile if one record is replaced.

    Parameters
    ----------
    x : array_like, shape (n,)
        Records in any order, clipped to [lower, upper].
    q : float
        Probability in (0, 1). The quantile is the record of rank ceil(q n), at least 1: the lower median for even n.
    beta : float
        Rate of the decrease, >= 0; 0 gives the global sensitivity, upper - lower.
    lower, upper : float
        Public bounds.
    nan : {"raise", "center"}
        Treatment of records that are not finite: an error, or replacement by the center of [lower, upper].

    Returns
    -------
    sensitivity : float
        Smooth sensitivity; 0.0 if it is below the smallest double.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range, or `x` is not a one-dimensional array of at least one number.

    Privacy
    -------
    None. `trimmed_mean` and ``quantile(method="smooth-sensitivity")`` add noise proportional to it.

    Notes
    -----
    For sorted records, O(n) for the check that they are sorted, and O(w log w), where w = log((upper - lower) /
    sensitivity) / beta is the number of records considered next to the quantile, at most n. Other records are copied
    and sorted first.

    References
    ----------
    .. [1] K. Nissim, S. Raskhodnikova, A. Smith, "Smooth sensitivity and sampling in private data analysis", STOC 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast import central
    >>> x = np.linspace(0, 10, 1001)
    >>> bool(central.smooth_sensitivity_quantile(x, 0.5, 0.1, 0, 10) < 0.1)  # not private; the global sensitivity is 10
    True
    """
    q, beta = _check.probability("q", q), _check_beta(beta)
    data = _Sorted.of(x, *_check.interval(lower, upper), nan)
    return _rank_sensitivity(data, rank(q, data.n), beta)


def smooth_sensitivity_trimmed_mean(
    x: ArrayLike, trim: float, beta: float, lower: float, upper: float, *, nan: str = "raise"
) -> float:
    """Return the smooth sensitivity of a trimmed mean. It is NOT PRIVATE and must not be released.

    Parameters
    ----------
    x, beta, lower, upper, nan
        As for `smooth_sensitivity_quantile`.
    trim : float
        Share in [0, 1/2): floor(trim n) records are left out on each side.

    Returns
    -------
    sensitivity : float
        Smooth sensitivity.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range, or `x` is not a one-dimensional array of at least one number.

    Privacy
    -------
    None.

    Notes
    -----
    The cost is the same as for `smooth_sensitivity_quantile`.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast import central
    >>> x = np.linspace(4, 6, 1001)
    >>> bool(central.smooth_sensitivity_trimmed_mean(x, 0.1, 0.1, 0, 10) < 0.01)  # not private
    True
    """
    trim, beta = trim_share(trim), _check_beta(beta)
    data = _Sorted.of(x, *_check.interval(lower, upper), nan)
    m = trimmed(trim, data.n)
    return _trimmed_sum_sensitivity(data, m, beta) / (data.n - 2 * m)


def smooth_sensitivity_mean(x: ArrayLike, beta: float, lower: float, upper: float, *, nan: str = "raise") -> float:
    """Return the smooth sensitivity of a mean. It is NOT PRIVATE and must not be released.

    For another linear functional, the mean of a(x), use the numbers a(x) and the range of a.

    Parameters
    ----------
    x, beta, lower, upper, nan
        As for `smooth_sensitivity_quantile`.

    Returns
    -------
    sensitivity : float
        max(max x - lower, upper - min x, exp(-beta) (upper - lower)) / n.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range, or `x` is not a one-dimensional array of at least one number.

    Privacy
    -------
    None.

    Notes
    -----
    O(n) time. The result is close to the global sensitivity, (upper - lower) / n; use `central.mean`.

    Examples
    --------
    >>> from ldpfast import central
    >>> round(central.smooth_sensitivity_mean([1.0, 2.0, 3.0], 0.1, 0, 10), 3)  # not private
    3.016
    """
    beta, (low, high) = _check_beta(beta), _check.interval(lower, upper)
    records = _records.numbers(x, low, high, nan)
    largest = max(float(records.max()) - low, high - float(records.min()), math.exp(-beta) * (high - low))
    return largest / len(records)


# ---- privacy
# ------------------------------------------------------------------------------------------------------------


def _hockey_stick(epsilon: Decimal, p: tuple[Decimal, Decimal], q: tuple[Decimal, Decimal]) -> Decimal:
    """Return the integral of (p - e^epsilon q)_+ for two Laplace distributions, each given as (center, scale).

    log(p / q) - epsilon is linear between the two centers and beyond them. On each piece it is positive on one
    interval, whose masses have closed forms. They are computed with 60 digits, because of cancellation.
    """

    def mass(laplace: tuple[Decimal, Decimal], low: Decimal | None, high: Decimal | None) -> Decimal:
        """Return the mass of an interval without the center in its interior. None stands for an infinite end."""
        center, scale = laplace
        ends = [abs(end - center) / scale for end in (low, high) if end is not None]
        masses = [(-end).exp() for end in ends]
        return (masses[0] if len(masses) == 1 else abs(masses[0] - masses[1])) / 2

    def log_ratio(point: Decimal) -> Decimal:
        return (q[1] / p[1]).ln() - abs(point - p[0]) / p[1] + abs(point - q[0]) / q[1] - epsilon

    left, right = sorted((p[0], q[0]))
    outward = 1 / q[1] - 1 / p[1]  # slope of the log ratio away from both centers
    at_left, at_right = log_ratio(left), log_ratio(right)
    pieces: list[tuple[Decimal | None, Decimal | None]] = []
    if at_left > 0:
        pieces.append((left + at_left / outward if outward < 0 else None, left))
    elif outward > 0:
        pieces.append((None, left + at_left / outward))
    if at_left > 0 and at_right > 0:
        pieces.append((left, right))
    elif at_left > 0 or at_right > 0:
        root = left + (right - left) * at_left / (at_left - at_right)
        pieces.append((left, root) if at_left > 0 else (root, right))
    if at_right > 0:
        pieces.append((right, right - at_right / outward if outward < 0 else None))
    elif outward > 0:
        pieces.append((right - at_right / outward, None))
    factor = epsilon.exp()
    return sum((mass(p, *piece) - factor * mass(q, *piece) for piece in pieces), Decimal(0))


def _delta(epsilon: Decimal, scale: Decimal, beta: Decimal) -> Decimal:
    """Return the exact delta. A positive beta below 1e-20 counts as 1e-20, so that the digits suffice."""
    if beta == 0:
        return Decimal(0)  # because scale epsilon >= 1
    with localcontext(DIGITS):
        wide, narrow = (Decimal(0), scale * max(beta, TINY).exp()), (Decimal(1), scale)
        return max(_hockey_stick(epsilon, wide, narrow), _hockey_stick(epsilon, narrow, wide))


def _check_epsilon(epsilon: float) -> float:
    """Return epsilon, if it is in [1e-12, 1000]."""
    number = _check.positive("epsilon", epsilon)
    if not 1e-12 <= number <= 1e3:
        raise ValueError(f"epsilon must be in [1e-12, 1000] for smooth sensitivity, got {epsilon!r}")
    return number


def _least_scale(epsilon: float) -> float:
    """Return the least double that is at least 1 / epsilon."""
    nearest = 1 / epsilon
    return nearest if Fraction(nearest) * Fraction(epsilon) >= 1 else math.nextafter(nearest, math.inf)


def _check_scale(epsilon: float, scale: float) -> float:
    """Return the scale, if it is at least 1 / epsilon up to rounding errors, which are corrected."""
    number, least = _check.positive("scale", scale), _least_scale(epsilon)
    if number < least * (1 - 1e-12):
        raise ValueError(f"scale must be at least 1 / epsilon = {least:.6g}, got {scale!r}")
    return max(number, least)


def laplace_delta(epsilon: float, *, scale: float, beta: float) -> float:
    """Return the exact delta of Laplace noise with the scale `scale` times a beta-smooth sensitivity.

    Parameters
    ----------
    epsilon : float
        Privacy parameter in [1e-12, 1000].
    scale : float
        Scale, at least 1 / epsilon. A smaller one has a positive delta even for beta = 0.
    beta : float
        Rate of the smooth sensitivity, >= 0.

    Returns
    -------
    delta : float
        Maximum over all neighboring datasets and both orders, rounded up; 0.0 for beta = 0.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Notes
    -----
    In units of the smaller of the two sensitivities, the distributions are Laplace(0, r scale) and Laplace(s, scale)
    with s <= 1 and 1 <= r <= exp(beta). The hockey-stick divergence, in both orders, increases with s and with r:

    Let I = [l, u] be where the narrow distribution has the larger log ratio, times e^(+-epsilon). It contains the
    narrow center s, and s - l <= u - s, as the log ratio is steeper toward the wide center. While the narrow
    distribution moves away, the change of its mass of I is its density at l less that at u, >= 0; the rest follows
    because I is the optimal event (or its complement). In r, the mass of I under the wide distribution changes by the
    sign of h(l) - h(u), h(t) = t exp(-t / (r scale)), which is <= 0 if I contains the wide center 0, or if u <= r
    scale. For scale epsilon >= 1 one of these is true. With the wide distribution first, the log ratio at 0 is 1 /
    scale - log r - epsilon <= 0. With the narrow distribution first, u <= r scale is equivalent to 1 <= scale (r - 1 -
    log r + epsilon).

    The published choice, scale = 2 / epsilon and beta = epsilon / (2 log(1 / delta)), is safe for small epsilon only.
    At epsilon = 16 and delta = 1e-6 its true delta is at least 3.9e-6.

    Examples
    --------
    >>> from ldpfast import central
    >>> central.laplace_delta(1.0, scale=1.0, beta=0.0)  # noise for the global sensitivity
    0.0
    >>> central.laplace_delta(1.0, scale=2.0, beta=0.01) < 1e-12
    True
    """
    epsilon = _check_epsilon(epsilon)
    beta, scale = _check_beta(beta), _check_scale(epsilon, scale)
    delta = _up(_delta(Decimal(epsilon), Decimal(scale), Decimal(beta)))
    return max(delta, math.ulp(0.0)) if beta else delta  # the wider distribution has larger tails, so delta > 0


def _up(number: Decimal) -> float:
    """Return the number as a double, rounded up."""
    nearest = float(number)
    return math.nextafter(nearest, math.inf) if Decimal(nearest) < number else nearest


def _largest_beta(epsilon: float, delta: float, scale: float, relative: float) -> float:
    """Return the largest beta with laplace_delta <= delta, rounded down by bisection up to a relative error."""
    if delta == 0:
        return 0.0
    e, d, s = Decimal(epsilon), Decimal(delta), Decimal(scale)
    low, high = 0.0, epsilon / (2 * (1 - math.log(delta)))
    while _delta(e, s, Decimal(high)) <= d:
        low, high = high, 2 * high
    while high - low > relative * high:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if _delta(e, s, Decimal(middle)) <= d:
            low = middle
        else:
            high = middle
    return low


@lru_cache(maxsize=256)
def _calibrate(epsilon: float, delta: float, scale: float | None) -> tuple[float, float]:
    if scale is None:
        least = _least_scale(epsilon)
        if delta == 0:
            return least, 0.0
        candidates = [least * factor for factor in SCALES]
        scale = max(candidates, key=lambda s: _largest_beta(epsilon, delta, s, 1e-3) / s)
    return scale, _largest_beta(epsilon, delta, scale, 1e-12)


def calibrate(epsilon: float, *, delta: float, scale: float | None = None) -> tuple[float, float]:
    """Return the scale and beta of an (epsilon, delta)-private release by smooth sensitivity.

    The noise is scale times S_beta times Laplace(1), where S_beta is the beta-smooth sensitivity.

    Parameters
    ----------
    epsilon : float
        Privacy parameter in [1e-12, 1000].
    delta : float
        Privacy parameter in [0, 1). With 0, beta is 0, which gives the global sensitivity.
    scale : float, optional
        Scale, at least 1 / epsilon. By default 1 / epsilon for delta = 0, else the one of 1.05, 1.2, 1.4, 1.6, 1.8 and
        2 over epsilon with the smallest scale / beta, to which the noise of a quantile is proportional. It is within 3
        % of the optimum.

    Returns
    -------
    scale, beta : float
        Scale, and the largest beta with ``laplace_delta(epsilon, scale, beta) <= delta``, up to a relative error of
        1e-12.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Notes
    -----
    About 40 ms for new arguments; the results for 256 arguments are cached. Compared with the published choice, scale /
    beta is 1.5 times smaller at epsilon = 1, delta = 1e-6, and 1.9 times at epsilon = 0.1.

    Examples
    --------
    >>> from ldpfast import central
    >>> scale, beta = central.calibrate(1.0, delta=1e-6)
    >>> central.laplace_delta(1.0, scale=scale, beta=beta) <= 1e-6
    True
    """
    epsilon, delta = _check_epsilon(epsilon), _check_delta(delta)
    return _calibrate(epsilon, delta, None if scale is None else _check_scale(epsilon, scale))


def _check_delta(delta: float) -> float:
    """Return delta, if it is in [0, 1)."""
    number = _check.real("delta", delta)
    if not 0 <= number < 1:
        raise ValueError(f"delta must be in [0, 1), got {delta!r}")
    return number


# ---- releases
# -----------------------------------------------------------------------------------------------------------


def _calibrate_rounded(epsilon: float, delta: float) -> tuple[float, float]:
    """Return scale and beta for sensitivities from `_rounded_up`. A beta that is not above their error becomes 0."""
    scale, beta = calibrate(epsilon, delta=delta)
    return scale, beta - 4 * ERROR if beta > 8 * ERROR else 0.0


def _rounded_up(sensitivity: float, beta: float) -> float:
    """Return an upper bound on the larger of 1 and a smooth sensitivity of integers, which is known up to `ERROR`.

    The bounds of neighbors differ by a factor of at most exp(beta + 4 ERROR). For beta = 0 the sensitivity is exact.
    """
    return max(sensitivity, 1.0) * (1 + 2 * ERROR) if beta else sensitivity


def _release(statistic: int, sensitivity: float, scale: float, stream: Stream) -> float:
    """Return statistic + 1/2 + noise, where the noise is Laplace with the scale `scale` times `sensitivity`, rounded down."""
    with localcontext(DIGITS):
        width = Decimal(scale) * Decimal(sensitivity)
    return statistic + laplace(width, stream, StreamId.SMOOTH_SENSITIVITY) + 0.5


def smooth_quantile(
    x: ArrayLike,
    q: float,
    epsilon: float,
    delta: float,
    lower: float,
    upper: float,
    rng: RNGLike = None,
    nan: str = "raise",
) -> float:
    """Return a quantile with noise proportional to its smooth sensitivity, clamped to [lower, upper].

    Parameters
    ----------
    x, q, lower, upper, nan
        As for `smooth_sensitivity_quantile`.
    epsilon, delta
        As for `calibrate`.
    rng : None, int, SeedSequence, Generator or BitGenerator
        Source of randomness, used after all checks; only ``None`` is private.

    Returns
    -------
    quantile : float
        Private quantile.

    Raises
    ------
    TypeError, ValueError
        If `smooth_sensitivity_quantile` or `calibrate` rejects an argument.

    Privacy
    -------
    (epsilon, delta) for the replacement of one record, exactly: records are rounded to a public grid, and noise is added to
    an integer and rounded down.
    """
    q, grid = _check.probability("q", q), PublicGrid(*_check.interval(lower, upper), "uniform")
    scale, beta = _calibrate_rounded(epsilon, delta)
    data = _Sorted.on_grid(x, grid, nan)
    m = rank(q, data.n)
    sensitivity = _rounded_up(_rank_sensitivity(data, m, beta), beta)
    index = _release(int(data.records[m - 1]), sensitivity, scale, open_stream(rng))
    return grid.value(min(max(index, 0.0), SIZE - 1.0))


@dataclass(frozen=True)
class BoundedDifferences:
    """Interval from public numbers alone, for every distribution of the records and every n.

    One record changes the statistic of n records by at most `step`: P(T - E T > t) <= exp(-2 t^2 / (n step^2)) (C.
    McDiarmid, "On the method of bounded differences", 1989). The noise is Laplace with a scale of at most `scale`. Each
    gets half of the tail. Rounding to a grid adds at most `rounding`.
    """

    step: float
    n: int
    scale: float
    rounding: float

    def bounds(self, value: Floats, stderr: Floats, tail: float) -> tuple[Floats, Floats]:
        """Return value +- the half-width."""
        sampling = self.step * math.sqrt(self.n * math.log(2 / tail) / 2)
        margin = sampling + self.scale * math.log(1 / tail) + self.rounding
        return value - margin, value + margin


def trimmed_mean(
    x: ArrayLike,
    trim: float,
    *,
    epsilon: float,
    delta: float = 0.0,
    lower: float,
    upper: float,
    nan: str = "raise",
    rng: RNGLike = None,
) -> Estimate[float]:
    """Return a private trimmed mean, with noise proportional to its smooth sensitivity.

    Parameters
    ----------
    x : array_like, shape (n,)
        Records in any order, clipped to [lower, upper].
    trim : float
        Share in [0, 1/2): floor(trim n) records are left out on each side.
    epsilon : float
        Privacy parameter in [1e-12, 1000].
    delta : float, default 0.0
        Privacy parameter in [0, 1). With 0, noise is calibrated to the global sensitivity, (upper - lower) / (n - 2
        floor(trim n)).
    lower, upper : float
        Public bounds.
    nan : {"raise", "center"}
        Treatment of records that are not finite: an error, which is outside the guarantee, or replacement by the center
        of [lower, upper].
    rng : None, int, SeedSequence, Generator or BitGenerator
        Source of randomness; only ``None`` is private.

    Returns
    -------
    estimate : Estimate
        Trimmed mean in [lower, upper]. The standard error and the interval are for the expected trimmed mean of n
        records. They are bounds from public numbers for every distribution, and several times too large for most
        distributions.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range, or `x` is not a one-dimensional array of at least one number.

    Privacy
    -------
    (epsilon, delta) for the replacement of one record, exactly. Records are rounded to a public grid of 2^32 points. The
    noise is added to the sum of their indices and rounded down, so the release is an integer. It is proportional to an
    upper bound on the smooth sensitivity, which is not released. See docs/proofs/central.md.

    Notes
    -----
    O(n log n) time: about 10 ns per record, mostly for the sort.

    References
    ----------
    .. [1] K. Nissim, S. Raskhodnikova, A. Smith, "Smooth sensitivity and sampling in private data analysis", STOC 2007.
    .. [2] K. Chaudhuri, D. Hsu, "Convergence rates for differentially private statistical estimation", ICML 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast import central
    >>> x = np.random.default_rng(1).normal(5, 1, 10_000)
    >>> estimate = central.trimmed_mean(x, 0.1, epsilon=1.0, delta=1e-6, lower=0, upper=10, rng=1)
    >>> bool(abs(estimate.value - 5) < 0.1)
    True
    """
    trim, (low, high) = trim_share(trim), _check.interval(lower, upper)
    grid, (scale, beta) = PublicGrid(low, high, "uniform"), _calibrate_rounded(epsilon, delta)
    data = _Sorted.on_grid(x, grid, nan)
    m = trimmed(trim, data.n)
    kept = data.n - 2 * m
    total = int(data.records[m : data.n - m].sum(dtype=np.uint64))
    sensitivity = _rounded_up(_trimmed_sum_sensitivity(data, m, beta), beta)
    index = _release(total, sensitivity, scale, open_stream(rng)) / kept
    value = grid.value(min(max(index, 0.0), SIZE - 1.0))
    step = max((high - low) / kept, math.ulp(max(-low, high)))
    largest = scale * step * (1 + 4 * ERROR)
    return Estimate(
        value,
        math.sqrt(data.n / 4 + 2 * scale**2) * step,
        data.n,
        Guarantee("approximate" if delta else "pure", float(epsilon), float(delta)),
        rule=BoundedDifferences(step, data.n, largest, (high - low) / SIZE),
    )
