"""Optimal composition of several (epsilon, delta)-private rounds about one record."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check, _coins
from ._directed_rounding import UNIT, Floats, float_or_array

MAX_LOSSES = 1 << 22
MAX_EPSILON = 1e100
MAX_ERROR = 700.0  # largest logarithm of a factor that is a double
LEAST = 1e-320  # more than the errors of operations on numbers that are not normal


def _rounds(epsilons: ArrayLike, deltas: ArrayLike) -> tuple[Floats, Floats]:
    """Check the epsilon and delta of each round."""
    e, d = np.broadcast_arrays(
        _check.within("epsilons", epsilons, 0, MAX_EPSILON), _check.within("deltas", deltas, 0, 1, "[)")
    )
    if e.ndim != 1 or e.size == 0:
        raise ValueError(f"epsilons must have shape (rounds,), got shape {e.shape}")
    return e, d


def _losses(epsilons: Floats) -> tuple[Floats, Floats, float]:
    """Return the values of the privacy loss of rounds of randomized response, ascending, and their log-probabilities.

    k rounds with the same epsilon have loss (2 j - k) epsilon with the binomial probability of j true answers among k. The
    losses are not below the exact ones. The third result bounds the error of the log-probabilities.
    """
    from scipy.special import gammaln

    losses = np.zeros(1)
    logs = np.zeros(1)
    error = 0.0
    for epsilon, k in sorted(Counter(epsilons.tolist()).items()):
        if epsilon == 0:
            continue
        error += 16 * UNIT * (3 * float(gammaln(k + 1)) + k * (epsilon + 1) + 1)
        j = np.arange(k + 1)
        if len(losses) * (k + 1) > MAX_LOSSES:
            raise ValueError(f"epsilons must have at most {MAX_LOSSES} sums of losses, got more")
        binomial = gammaln(k + 1) - gammaln(j + 1) - gammaln(k - j + 1)
        log_true, log_false = -np.log1p(np.exp(-epsilon)), -epsilon - np.log1p(np.exp(-epsilon))
        weights = binomial + j * log_true + (k - j) * log_false
        losses = np.add.outer(losses, (2 * j - k) * epsilon).ravel()
        order = np.argsort(losses, kind="stable")
        losses, logs = losses[order], np.add.outer(logs, weights).ravel()[order]
        starts = np.flatnonzero(np.diff(losses, prepend=-math.inf))  # merge equal sums
        error += 8 * UNIT * (1 + math.log2(len(losses)))
        losses, logs = losses[starts], np.logaddexp.reduceat(logs, starts)
    return losses + 4 * UNIT * float(np.sum(epsilons)), logs, error + 4 * UNIT * float(np.abs(logs).max())


def composition_delta(epsilons: ArrayLike, epsilon: ArrayLike, *, deltas: ArrayLike = 0.0) -> Any:
    """Return the smallest delta that holds at a given epsilon for every composition of private rounds.

    Parameters
    ----------
    epsilons : array_like, shape (rounds,)
        Epsilon of each round, >= 0. A round may depend on the answers of the earlier ones.
    epsilon : array_like
        Epsilon of all rounds together, >= 0.
    deltas : array_like, default 0.0
        Delta of each round, in [0, 1).

    Returns
    -------
    delta : float or ndarray
        Delta of all rounds together, of the shape of `epsilon`, rounded up in about the tenth digit. Randomized response
        attains it.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range; if the rounds have more than 2^22 sums of losses. Equal sums count once, so rounds
        with few different epsilons have few sums.

    Notes
    -----
    Every epsilon-private round is a post-processing of randomized response, so the worst case is a product of randomized
    responses. Its loss is a sum of independent terms, each epsilon_i or -epsilon_i. With the delta of this product and deltas
    of the rounds, the result is ``1 - (1 - delta) prod(1 - delta_i)``.

    References
    ----------
    .. [1] P. Kairouz, S. Oh, P. Viswanath, "The Composition Theorem for Differential Privacy", ICML 2015.
    .. [2] J. Murtagh, S. Vadhan, "The Complexity of Computing the Optimal Composition of Differential Privacy", TCC 2016.

    Examples
    --------
    A hundred rounds with epsilon 0.1 each: basic composition gives epsilon 10.

    >>> bool(composition_delta([0.1] * 100, 5.0) < 1e-5)
    True
    """
    rounds, d = _rounds(epsilons, deltas)
    thresholds = _check.within("epsilon", epsilon, 0, math.inf, "[)")
    distribution, basic = _losses(rounds), _coins.sum_up(rounds.tolist())
    pure = np.array([_hockey_stick(*distribution, float(e)) if e < basic else 0.0 for e in thresholds.flat]).reshape(
        thresholds.shape
    )
    return float_or_array(_with_deltas(pure, d))


def _hockey_stick(losses: Floats, logs: Floats, error: float, epsilon: float) -> float:
    """Return the delta of a privacy loss at epsilon, rounded up."""
    if error > MAX_ERROR:
        return 1.0
    above = losses > epsilon
    total = math.fsum(np.exp(logs[above]) * -np.expm1(epsilon - losses[above]))
    return min(1.0, total * math.exp(error) * (1 + 16 * UNIT) + (1 + len(logs)) * LEAST)


def _with_deltas(pure: Floats, deltas: Floats) -> Floats:
    """Return 1 - (1 - pure) prod(1 - delta_i), rounded up."""
    if not (deltas > 0).any():
        return pure
    logs = np.log1p(-deltas)
    delta = -np.expm1(np.log1p(-np.minimum(pure, 1 - UNIT)) + logs.sum())
    slack = 4 * UNIT * (2 + len(deltas)) * (1 - logs.sum())
    return np.where(pure >= 1, 1.0, np.minimum(1.0, delta * (1 + slack) + LEAST))


def composition_epsilon(epsilons: ArrayLike, delta: float, *, deltas: ArrayLike = 0.0) -> float:
    """Return the smallest epsilon that holds at a given delta for every composition of private rounds.

    Parameters
    ----------
    epsilons : array_like, shape (rounds,)
        Epsilon of each round, >= 0. A round may depend on the answers of the earlier ones.
    delta : float
        Delta of all rounds together, in [0, 1).
    deltas : array_like, default 0.0
        Delta of each round, in [0, 1).

    Returns
    -------
    epsilon : float
        The inverse of `composition_delta`, rounded up: ``composition_delta(epsilons, epsilon, deltas=deltas)`` is at most
        `delta`. At most the sum of `epsilons`.

    Raises
    ------
    TypeError, ValueError
        As for `composition_delta`; if `delta` is below ``1 - prod(1 - delta_i)``, where no epsilon is enough.

    Examples
    --------
    >>> round(composition_epsilon([0.1] * 100, 1e-6), 3)
    4.775
    """
    rounds, d = _rounds(epsilons, deltas)
    target = float(_check.within("delta", _check.real("delta", delta), 0, 1, "[)"))
    spent = float(np.log1p(-d).sum())
    if -math.expm1(spent) > target:
        raise ValueError(f"delta must be at least {-math.expm1(spent):g}, the composition of deltas, got {delta!r}")
    pure = -math.expm1(math.log1p(-target) - spent)
    if pure == 0:
        return _coins.sum_up(rounds.tolist())
    losses, logs, _ = (part[::-1] if isinstance(part, np.ndarray) else part for part in _losses(rounds))
    # As in `_divergence.largest_loss`: e^epsilon is the largest (P(A) - delta) / Q(A) over the sets A of the largest losses.
    p, log_q = np.cumsum(np.exp(logs)) - pure, np.logaddexp.accumulate(logs - losses)
    result = float(max(0.0, (np.log(p[p > 0]) - log_q[p > 0]).max(initial=0.0)))
    # The result is correct to about ten digits; it is increased until its delta, rounded up, is small enough.
    basic, step = _coins.sum_up(rounds.tolist()), max(result, 1.0) * UNIT
    while result < basic and composition_delta(rounds, result, deltas=d) > target:
        result, step = result + step, 2 * step
    return min(result, basic)
