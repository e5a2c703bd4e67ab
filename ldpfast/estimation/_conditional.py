"""Means of known numbers within categories that are known by reports only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._labels import require_one_index
from .._typing import Floats
from ..mechanisms import decoding_of
from ..results import Estimate, Fieller, Normal
from ._from_reports import from_reports
from ._known_values import coded, flags_of, guarantee_of, rates_of, values_of, warn_rare, weights_of_flags


def conditional_means(
    values: ArrayLike, reports: ArrayLike, design: Any = None, *, rates: ArrayLike | None = None
) -> Estimate[Any]:
    """Estimate the mean of a known number within each category, where the categories are known by reports only.

    Parameters
    ----------
    values : array_like, shape (n,)
        A number of each person that is not private, or that was made private separately, such as a decoded report. For the
        share of a subgroup within each category, 0 or 1.
    reports : array_like of int, shape (n,)
        Code that each person reported, in the same order.
    design : Design, Mechanism, privacy.Channel, or sequence of sequences of int, Fraction or float, optional
        As for `from_reports`.
    rates : array_like of float, shape (n,), or float, optional
        In the place of `design`, for reports that are flags 0 and 1: the probability in [0, 1) that the flag of a person is a
        fair coin instead of the truth, such as the ``randomizedTriggerRate`` of a browser. It must not depend on the truth.

    Returns
    -------
    estimate : Estimate
        Means of the categories, with their covariance. Each is a ratio of two unbiased estimates, so it has a bias of order
        1 / n. With `rates`, the mean of the people whose true flag is 1, with Fieller's limits.

    Raises
    ------
    TypeError, ValueError
        If the arrays do not have the same length, at least 1; if `values` are not finite numbers, or `reports` not codes.

    Warns
    -----
    DoubtfulWarning
        If the share of a category is not clearly above 0: its mean is then unreliable. If a share is outside of [0, 1] by
        more than noise explains.

    Privacy
    -------
    None is added: it is a function of the reports and of the values.

    Notes
    -----
    The mean of category j is sum of y_i w_ij over sum of w_ij, where row i of w is the decoded report of person i. The
    covariance is the covariance of (y_i - mean_j) w_ij over the share of j (delta method).

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> from ldpfast.estimation import conditional_means
    >>> rng = np.random.default_rng(1)
    >>> smoker = (rng.random(200_000) < 0.3).astype(int)
    >>> age = 50 - 10 * smoker + rng.normal(0, 5, 200_000)
    >>> channel = ldp.FiniteChannel([[3, 1], [1, 3]])
    >>> conditional_means(age, channel.privatize(smoker, rng=1), channel).value.round().tolist()
    [50.0, 40.0]
    """
    require_one_index({"values": values, "reports": reports, "rates": rates})
    numbers = _check.numbers("values", values_of(values))
    n = len(numbers)
    if rates is not None:
        flags, probability = flags_of(reports, design, n), rates_of(rates, n)
        return _mean_of_flagged(numbers, weights_of_flags(flags, probability), guarantee_of(probability))
    mechanism, codes = coded(reports, design, n)
    table, counts = decoding_of(mechanism), np.bincount(codes, minlength=mechanism.report.k)
    from_reports(counts, mechanism)  # it warns of shares that noise does not explain
    weights, shares = table[codes], counts @ table / n
    squares = (weights**2).mean(axis=0)
    warn_rare(shares, squares, n)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = (numbers @ weights) / n / shares
        residuals = (numbers[:, np.newaxis] - means) * weights / shares
    covariance = residuals.T @ residuals / n**2
    # Number of reports that would tell as much without privacy, over n (Kish 1965).
    effective = float(min(weights.mean(axis=0) ** 2 / squares))
    rule = Normal.of_sum(n, max(effective, 1 / n))
    return Estimate(means, np.sqrt(np.diag(covariance)), n, mechanism.guarantee, covariance, rule)


def _mean_of_flagged(numbers: Floats, weights: Floats, guarantee: Any) -> Estimate[float]:
    """Return the mean of the people whose true flag is 1."""
    n = len(numbers)
    square = np.square(weights).mean()
    warn_rare(weights.mean(), square, n)
    center = float(numbers.mean())  # the mean of numbers far from 0 has no large errors that cancel
    pair = np.stack([weights * (numbers - center), weights])
    top, bottom = pair.mean(axis=1)
    (vn, c), (_, vd) = np.cov(pair, bias=True) / n
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = top / bottom
        stderr = np.sqrt(vn - 2 * ratio * c + ratio**2 * vd) / abs(bottom)
    effective = float(bottom**2 / square)
    needed = Normal.of_sum(n, max(effective, 1 / n)).needed
    parts = (np.asarray(part) for part in (top, bottom, vn, vd, c))
    rule = Fieller(*parts, needed=needed, start=center)  # type: ignore[misc, arg-type]
    return Estimate(center + float(ratio), float(stderr), n, guarantee, None, rule)
