"""Quantiles of known numbers within categories that are known by reports only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._labels import require_one_index
from .._typing import AnyArray, Floats
from ..mechanisms import decoding_of
from ..results import Estimate
from ._known_values import coded, flags_of, guarantee_of, rates_of, values_of, warn_rare, weights_of_flags
from ._weighted_curve import WeightedCurve, estimate_of, in_parts, probabilities_of, taken

SIGN = np.uint32(1 << 31)  # bit of a float32


def conditional_quantiles(
    values: ArrayLike,
    reports: ArrayLike,
    quantiles: ArrayLike,
    design: Any = None,
    *,
    rates: ArrayLike | None = None,
) -> Estimate[Any]:
    """Estimate quantiles of a known number within each category, where the categories are known by reports only.

    Parameters
    ----------
    values, reports, design, rates
        As for `conditional_means`.
    quantiles : array_like of float, shape (m,), or float
        Probabilities in (0, 1).

    Returns
    -------
    estimate : Estimate
        Shape (k, m), or (m,) with `rates`, without the axis of m for a single number. Limits are values of the data, and
        infinite where the reports do not exclude that.

    Raises
    ------
    TypeError, ValueError
        As for `conditional_means`; if `quantiles` are not in (0, 1).

    Warns
    -----
    DoubtfulWarning
        If the share of a category is not clearly above 0: its quantiles are then unreliable.

    Privacy
    -------
    None is added: it is a function of the reports and of the values.

    Notes
    -----
    With the decoded reports v_i of a category, the sum of v_i ([y_i <= u] - q) has mean 0 at its true quantile u. The estimate
    is the quantile of the isotonic regression of the weighted distribution function, whose weights may be negative. The
    interval holds all u at which the sum is within z standard errors of 0. It takes as long as sorting, which is fastest for
    float32. `ConditionalQuantiles` is for more data than memory.

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> from ldpfast.estimation import conditional_quantiles
    >>> rng = np.random.default_rng(1)
    >>> high = rng.random(100_000) < 0.4  # confidence of a page load, which the browser reports as a flag
    >>> seconds = np.where(high, rng.exponential(1.0, 100_000), rng.exponential(3.0, 100_000))
    >>> flag = np.where(rng.random(100_000) < 0.1, rng.random(100_000) < 0.5, high)
    >>> found = conditional_quantiles(seconds, flag, [0.5, 0.75], rates=0.1)
    >>> low, high = found.interval()
    >>> bool((low < np.log([2, 4])).all()), bool((np.log([2, 4]) < high).all())
    (True, True)
    """
    require_one_index({"values": values, "reports": reports, "rates": rates})
    numbers, q = values_of(values), probabilities_of(quantiles)
    n = len(numbers)
    if rates is not None:
        codes, probability = flags_of(reports, design, n), rates_of(rates, n)
        table = None if probability.ndim else weights_of_flags([[0], [1]], probability)
        guarantee = guarantee_of(probability)
    else:
        mechanism, codes = coded(reports, design, n)
        table, guarantee = decoding_of(mechanism), mechanism.guarantee
    order, ordered = _sorted(numbers)
    if table is not None:
        columns = _columns_of(table, codes, order)
    else:
        weights = weights_of_flags(codes, probability)
        warn_rare(weights.mean(), np.square(weights).mean(), n)
        columns = iter([taken(weights, order)])
    is_last = np.ones(n, np.bool_)  # of equal values
    in_parts(n - 1, lambda part: np.not_equal(ordered[1:][part], ordered[:-1][part], out=is_last[:-1][part]))
    last = np.flatnonzero(is_last)
    curves = [WeightedCurve.of(ordered, column, last) for column in columns]
    return estimate_of(curves, q, n, guarantee, only=rates is not None)


def _sorted(numbers: AnyArray) -> tuple[NDArray[Any], AnyArray]:
    """Return the order of numbers, and the ordered numbers.

    A float32 and its place share one integer of 64 bits: integers are sorted several times as fast as places.
    """
    if numbers.dtype != np.float32 or len(numbers) > 1 << 32:
        order = np.argsort(numbers)
        return order, numbers[order]
    bits, keys = np.ascontiguousarray(numbers).view(np.uint32), np.empty(len(numbers), np.uint64)
    order, ordered = np.empty(len(numbers), np.uint32), np.empty(len(numbers), np.float32)

    def pack(part: slice) -> None:
        flips = np.where(bits[part] >> np.uint32(31), np.uint32(0xFFFFFFFF), SIGN)  # to the order of integers
        keys[part] = (bits[part] ^ flips).astype(np.uint64) << np.uint64(32)
        keys[part] |= np.arange(part.start, part.stop, dtype=np.uint64)

    def unpack(part: slice) -> None:
        order[part] = keys[part].astype(np.uint32)
        top = (keys[part] >> np.uint64(32)).astype(np.uint32)
        ordered[part] = (top ^ np.where(top >> np.uint32(31), SIGN, np.uint32(0xFFFFFFFF))).view(np.float32)

    in_parts(len(numbers), pack)
    keys.sort()
    in_parts(len(numbers), unpack)
    return order, ordered


def _columns_of(table: Floats, codes: NDArray[Any], order: NDArray[Any]) -> Iterator[Floats]:
    """Yield the decoded reports of people in an order, for each category."""
    n = len(codes)
    counts = np.bincount(codes, minlength=len(table))
    warn_rare(counts @ table / n, counts @ np.square(table) / n, n)
    short = taken(codes.astype(np.min_scalar_type(len(table) - 1)), order)
    for column in table.T:
        yield taken(np.ascontiguousarray(column), short)
