"""Rounds of (epsilon, delta)-private answers about one record, taken together: the exact curve."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check, _coins
from ._numbers import Floats, plain

MOST_LOSSES = 1 << 22
LARGEST = 1e100  # of an epsilon


def _rounds(epsilons: ArrayLike, deltas: ArrayLike) -> tuple[Floats, Floats]:
    e, d = np.broadcast_arrays(
        _check.within("epsilons", epsilons, 0, LARGEST), _check.within("deltas", deltas, 0, 1, "[)")
    )
    if e.ndim != 1 or e.size == 0:
        raise ValueError(f"epsilons must have shape (rounds,), got shape {e.shape}")
    return e, d


def _losses(epsilons: Floats) -> tuple[Floats, Floats]:
    """The privacy loss of rounds of randomised response: its values, ascending, and the logarithms of their probabilities.

    k rounds of one epsilon: (2 j - k) epsilon with the binomial probability of j truths among k.
    """
    from scipy.special import gammaln

    losses, logs = np.zeros(1), np.zeros(1)
    for epsilon, k in sorted(Counter(epsilons.tolist()).items()):
        if epsilon == 0:
            continue
        j = np.arange(k + 1)
        if len(losses) * (k + 1) > MOST_LOSSES:
            raise ValueError(f"epsilons must have at most {MOST_LOSSES} sums of losses, which are more")
        binomial = gammaln(k + 1) - gammaln(j + 1) - gammaln(k - j + 1)
        log_truth, log_lie = -np.log1p(np.exp(-epsilon)), -epsilon - np.log1p(np.exp(-epsilon))
        weights = binomial + j * log_truth + (k - j) * log_lie
        losses = np.add.outer(losses, (2 * j - k) * epsilon).ravel()
        order = np.argsort(losses, kind="stable")
        losses, logs = losses[order], np.add.outer(logs, weights).ravel()[order]
        starts = np.flatnonzero(np.diff(losses, prepend=-math.inf))  # equal sums are one
        losses, logs = losses[starts], np.logaddexp.reduceat(logs, starts)
    return losses, logs


def composition_delta(epsilons: ArrayLike, epsilon: ArrayLike, *, deltas: ArrayLike = 0.0) -> Any:
    """The delta at a given epsilon of somebody who answers in several private rounds: the best that is true of all of them.

    Parameters
    ----------
    epsilons : array_like, shape (rounds,)
        At least 0 each. A round may depend on the answers of the earlier ones.
    epsilon : array_like
        Of all rounds together, >= 0.
    deltas : array_like, default 0.0
        Of the rounds, in [0, 1).

    Returns
    -------
    delta : float or ndarray
        Of the shape of `epsilon`, to about 10 digits; attained by randomised response.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range; if the rounds have more than 2^22 sums of losses: equal sums count once, so that
        rounds of few different epsilons have few.

    Notes
    -----
    Every pure-epsilon round is post-processing of randomised response, so the worst case is the product of these; their loss is
    a sum of independent terms +epsilon_i, -epsilon_i. With deltas: ``1 - (1 - delta) prod(1 - delta_i)``.

    References
    ----------
    .. [1] P. Kairouz, S. Oh, P. Viswanath, "The Composition Theorem for Differential Privacy", ICML 2015.
    .. [2] J. Murtagh, S. Vadhan, "The Complexity of Computing the Optimal Composition of Differential Privacy", TCC 2016.

    Examples
    --------
    A hundred rounds of 0.1: basic composition says 10.

    >>> bool(composition_delta([0.1] * 100, 5.0) < 1e-5)
    True
    """
    rounds, d = _rounds(epsilons, deltas)
    at = _check.within("epsilon", epsilon, 0, math.inf, "[)")
    losses, logs = _losses(rounds)
    pure = np.array([_hockey_stick(losses, logs, float(e)) for e in at.flat]).reshape(at.shape)
    return plain(-np.expm1(np.log1p(-pure) + np.log1p(-d).sum()) if (d > 0).any() else pure)


def _hockey_stick(losses: Floats, logs: Floats, epsilon: float) -> float:
    above = losses > epsilon
    return min(1.0, math.fsum(np.exp(logs[above]) * -np.expm1(epsilon - losses[above])))


def composition_epsilon(epsilons: ArrayLike, delta: float, *, deltas: ArrayLike = 0.0) -> float:
    """The least epsilon of somebody who answers in several private rounds, at a given delta.

    Parameters
    ----------
    epsilons : array_like, shape (rounds,)
        At least 0 each. A round may depend on the answers of the earlier ones.
    delta : float
        Of all rounds together, in [0, 1).
    deltas : array_like, default 0.0
        Of the rounds, in [0, 1).

    Returns
    -------
    epsilon : float
        The inverse of `composition_delta`; at most the sum of `epsilons`.

    Raises
    ------
    TypeError, ValueError
        As for `composition_delta`; if `delta` is below what the deltas of the rounds add up to, which no epsilon makes good.

    Examples
    --------
    >>> round(composition_epsilon([0.1] * 100, 1e-6), 3)
    4.775
    """
    rounds, d = _rounds(epsilons, deltas)
    target = float(_check.within("delta", _check.real("delta", delta), 0, 1, "[)"))
    spent = float(np.log1p(-d).sum())
    if -math.expm1(spent) > target:
        raise ValueError(f"delta must be at least {-math.expm1(spent):g}, what the rounds have together, got {delta!r}")
    pure = -math.expm1(math.log1p(-target) - spent)
    if pure == 0:
        return _coins.sum_up(rounds.tolist())
    losses, logs = _losses(rounds)
    losses, logs = losses[::-1], logs[::-1]
    # As for a channel: e^epsilon is the largest (P(A) - delta) / Q(A) over the sets A of the largest losses.
    p, log_q = np.cumsum(np.exp(logs)) - pure, np.logaddexp.accumulate(logs - losses)
    return float(max(0.0, (np.log(p[p > 0]) - log_q[p > 0]).max(initial=0.0)))
