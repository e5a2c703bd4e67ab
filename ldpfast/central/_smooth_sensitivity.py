"""Smooth sensitivities of quantiles, trimmed means and means.

The local sensitivity is maximized over all datasets, with a factor that decreases with the number of replaced records.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._core import order
from .._typing import AnyArray, Floats
from . import _curator_records
from ._public_grid import SIZE, PublicGrid
from ._smooth_calibration import check_beta

ERROR = 2.0**-36  # bound on the relative error of a smooth sensitivity of integers below 2^32, computed in doubles
SLACK = 1e-12  # a share q within this distance of a multiple of 1 / n counts as that multiple


class SortedRecords:
    """Records clipped to [lower, upper] in ascending order, with the ends: z_0 = lower, z_1 .. z_n, z_(n+1) = upper.

    Only requested values are clipped. Sensitivities below `negligible` need not be accurate.
    """

    def __init__(self, records: AnyArray, lower: float, upper: float, negligible: float = 0.0) -> None:
        self.records = records
        self.lower = lower
        self.upper = upper
        self.n = len(records)
        self.negligible = negligible

    @classmethod
    def of(cls, x: ArrayLike, lower: float, upper: float, nan: str) -> SortedRecords:
        """Return the records in doubles. Sorted input is neither copied nor sorted."""
        records = _curator_records.array(x, nan)
        if not (
            records.dtype == np.float64
            and math.isfinite(records[0])
            and math.isfinite(records[-1])
            and bool((records[1:] >= records[:-1]).all())
        ):
            records = _curator_records.numbers(records, lower, upper, nan)
            records.sort()
        return cls(records, lower, upper)

    @classmethod
    def on_grid(cls, x: ArrayLike, grid: PublicGrid, nan: str) -> SortedRecords:
        """Return the indices of the grid points next to the records. Sensitivities below 1 count as 1."""
        points = grid.indices(_curator_records.array(x, nan), nan)
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


def _largest(data: SortedRecords, beta: float, i_high: int, j_low: int, least: int) -> float:
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


def trim_share(trim: float) -> float:
    """Return trim, if it is in [0, 1/2)."""
    number = _check.real("trim", trim)
    if not 0 <= number < 0.5:
        raise ValueError(f"trim must be in [0, 1/2), got {trim!r}")
    return number


def rank_sensitivity(data: SortedRecords, m: int, beta: float) -> float:
    """Return the smooth sensitivity of the record of rank m."""
    return _largest(data, beta, m, m, 1)


def trimmed_sum_sensitivity(data: SortedRecords, m: int, beta: float) -> float:
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
    q, beta = _check.probability("q", q), check_beta(beta)
    data = SortedRecords.of(x, *_check.interval(lower, upper), nan)
    return rank_sensitivity(data, rank(q, data.n), beta)


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
    trim, beta = trim_share(trim), check_beta(beta)
    data = SortedRecords.of(x, *_check.interval(lower, upper), nan)
    m = trimmed(trim, data.n)
    return trimmed_sum_sensitivity(data, m, beta) / (data.n - 2 * m)


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
    beta = check_beta(beta)
    low, high = _check.interval(lower, upper)
    records = _curator_records.numbers(x, low, high, nan)
    largest = max(float(records.max()) - low, high - float(records.min()), math.exp(-beta) * (high - low))
    return largest / len(records)
