"""Divergences of one row of probabilities from each of several others, in doubles.

`p` has shape (reports,) and `q` shape (rows, reports); the result has one number for each row. 0 log 0 is 0. Reports with p > 0
and q = 0 have the slope at infinity as their weight.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ._directed_rounding import Floats


def hockey_stick(p: Floats, q: Floats, epsilon: float) -> Floats:
    """Return the sum of (p - e^epsilon q)_+.

    The terms are computed as p (1 - e^(epsilon - loss)), so that small ones keep their relative accuracy.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        loss = np.log(p) - np.log(q)
    above = loss > epsilon  # false for 0 / 0
    return np.asarray(np.where(above, -p * np.expm1(np.where(above, epsilon - loss, 0.0)), 0.0).sum(axis=-1))


def largest_loss(p: Floats, q: Floats, delta: float) -> Floats:
    """Return the smallest epsilon >= 0 at which the hockey-stick divergence is at most delta.

    The divergence is at most delta if and only if P(A) - e^epsilon Q(A) <= delta for every set A of the reports with the
    largest ratios. So e^epsilon is the largest (P(A) - delta) / Q(A).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(p == 0, 0.0, p / q)
        order = np.argsort(-ratio, axis=-1, kind="stable")
        heads = np.cumsum(np.broadcast_to(p, q.shape)[np.arange(len(q))[:, None], order], axis=-1) - delta
        tails = np.cumsum(np.take_along_axis(q, order, axis=-1), axis=-1)
        loss = np.log(heads) - np.log(tails)
    return np.asarray(np.where(heads > 0, loss, 0.0).max(axis=-1, initial=0.0))


def f_divergence(p: Floats, q: Floats, f: Callable[[Floats], Floats], slope: float) -> Floats:
    """Return the sum of q f(p / q), with p times the slope where q is 0."""
    reached = q > 0
    ratio = np.where(reached, p, 1.0) / np.where(reached, q, 1.0)
    inside = np.where(reached, q * f(ratio), 0.0).sum(axis=-1)
    singular = np.where(reached, 0.0, p).sum(axis=-1)
    return np.asarray(inside + np.where(singular > 0, slope * np.where(singular > 0, singular, 1.0), 0.0))


def kullback_leibler(p: Floats, q: Floats) -> Floats:
    """Return the sum of p log(p / q)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(p > 0, p * (np.log(p) - np.log(q)), 0.0)
    return np.asarray(np.maximum(terms.sum(axis=-1), 0.0))


def trade_off(p: Floats, q: Floats, false_alarms: Floats) -> Floats:
    """Return the smallest miss probability under `q`, a single row, at given false-alarm probabilities under `p`."""
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(-np.where(q == 0, 0.0, q / p), kind="stable")
    free = float(q[p == 0].sum())  # detected without any false alarm
    alarms, detected = p[order][p[order] > 0], q[order][p[order] > 0]
    power = np.interp(
        false_alarms, np.concatenate([[0.0], np.cumsum(alarms)]), np.concatenate([[free], free + np.cumsum(detected)])
    )
    return np.asarray(np.clip(1 - power, 0.0, 1.0))
