"""Estimates from reports that another system has collected through a known finite channel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._typing import Floats
from .._warnings import warn
from ..designs._reading import mechanism_of
from ..results import DoubtfulWarning, Estimate, Normal

CERTAIN = 3.0  # standard errors by which a share must be above 0 for a conditional mean


def from_reports(counts: ArrayLike, design: Any) -> Estimate[Floats]:
    """Estimate the shares of categories from the counts of codes, for a known channel.

    Parameters
    ----------
    counts : array_like of int, shape (codes,)
        How many reports have each code.
    design : Design, Mechanism, privacy.Channel, or sequence of sequences of int, Fraction or float
        How the reports were made: a design of `ldpfast.designs`, a mechanism from categories to codes, a channel, or its rows.
        A float is read as its shortest decimal, so that 0.1 is 1/10. A probability of 0 is allowed; epsilon is then infinite.

    Returns
    -------
    estimate : Estimate
        Shares of the categories, without bias, with their covariance. They may be negative.

    Raises
    ------
    TypeError, ValueError
        If `counts` are not one integer >= 0 for each code, or all are 0; if `design` is none of these, or its rows are not
        those of a channel.

    Warns
    -----
    DoubtfulWarning
        If a share is outside of [0, 1] by more than noise explains: the reports are then not those of this channel.

    Privacy
    -------
    None is added: the reports are private already, with the guarantee of the channel.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from ldpfast.estimation import from_reports
    >>> half = Fraction(1, 2)  # a coin: half of the people tell the truth, the others a random answer
    >>> rows = [[half + half / 2, half / 2], [half / 2, half + half / 2]]
    >>> from_reports([6000, 4000], rows).value.round(3).tolist()
    [0.7, 0.3]
    >>> from ldpfast import designs
    >>> from_reports([6000, 4000], designs.warner(0.75)).value.round(3).tolist()
    [0.7, 0.3]
    """
    mechanism: Any = mechanism_of(design)
    seen = _check.integers("counts", _check.array("counts", counts))
    codes = mechanism.report.k
    if seen.shape != (codes,):
        raise ValueError(f"counts must have shape ({codes},), one for each code, got shape {seen.shape}")
    if seen.min() < 0:
        raise ValueError(f"counts must be >= 0, got {int(seen.min())}")
    total = sum(seen.tolist())
    found: Estimate[Floats] = mechanism.estimate(mechanism.aggregator().add([seen.astype(np.int64)], total))
    return found


def conditional_means(values: ArrayLike, reports: ArrayLike, design: Any) -> Estimate[Floats]:
    """Estimate the mean of a known number within each category, where the categories are known by reports only.

    Parameters
    ----------
    values : array_like, shape (n,)
        A number of each person that is not private, or that was made private separately, such as a decoded report. For the
        share of a subgroup within each category, 0 or 1.
    reports : array_like of int, shape (n,)
        Code that each person reported, in the same order.
    design : Design, Mechanism, privacy.Channel, or sequence of sequences of int, Fraction or float
        As for `from_reports`.

    Returns
    -------
    estimate : Estimate
        Means of the categories, with their covariance. Each is a ratio of two unbiased estimates, so it has a bias of order
        1 / n.

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
    mechanism: Any = mechanism_of(design)
    numbers = _check.numbers("values", _check.floats("values", _check.array("values", values)))
    if numbers.ndim != 1 or len(numbers) == 0:
        raise ValueError(f"values must have shape (n,) with n >= 1, got shape {numbers.shape}")
    n, largest = len(numbers), mechanism.report.k - 1
    codes = _check.integers("reports", _check.array("reports", reports))
    if codes.shape != (n,):
        raise ValueError(f"reports must have shape ({n},), like values, got shape {codes.shape}")
    if codes.min() < 0 or codes.max() > largest:
        raise ValueError(
            f"reports must be codes in [0, {largest}], got {int(codes.min() if codes.min() < 0 else codes.max())}"
        )
    weights = mechanism.decode(codes.astype(mechanism.report.dtype(np.dtype(np.float64))))
    shares = from_reports(np.bincount(codes, minlength=largest + 1), mechanism).value
    uncertain = np.flatnonzero(shares < CERTAIN * weights.std(axis=0) / np.sqrt(n))
    if len(uncertain):
        warn(
            f"the share of category {int(uncertain[0])} is not clearly above 0, so its mean is not reliable: ask more people",
            DoubtfulWarning,
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        means = (numbers @ weights) / n / shares
        residuals = (numbers[:, np.newaxis] - means) * weights / shares
    covariance = residuals.T @ residuals / n**2
    # Number of reports that would tell as much without privacy, over n (Kish 1965).
    effective = float(min(weights.mean(axis=0) ** 2 / (weights**2).mean(axis=0)))
    rule = Normal.of_sum(n, max(effective, 1 / n))
    return Estimate(means, np.sqrt(np.diag(covariance)), n, mechanism.guarantee, covariance, rule)
