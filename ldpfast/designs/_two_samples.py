"""Designs for two samples with different probabilities, which tell a second unknown share, such as that of cheaters."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._typing import AnyArray, Floats
from .._warnings import warn
from ..results import SHARES, DoubtfulWarning, Estimate, LabeledEstimate, Normal
from ._binary import forced_response, mangat, unrelated_question

EXTREME = 3.72  # standard errors beyond 0 or 1 that chance does not explain: a probability of 1e-4


@dataclass(frozen=True, eq=False, repr=False)
class TwoGroupEstimate(LabeledEstimate):
    """Shares that are estimated from two samples with different probabilities.

    An estimate with `labels`, made by `cheating_detection` and `stochastic_lie_detector`.

    Attributes
    ----------
    llf : float
        Largest log-likelihood of the answers among all shares that the model allows.

    Examples
    --------
    >>> from ldpfast import designs
    >>> samples = [1] * 430 + [0] * 570, [1] * 700 + [0] * 500
    >>> found = designs.cheating_detection(*samples, p=(0.25, 0.75))
    >>> found.labels[2], round(float(found.value[2]), 2), round(found.llf, 1)
    ('cheaters', 0.34, -1498.3)
    """

    llf: float = field(default=0.0, kw_only=True)


def unrelated_question_two_samples(first: ArrayLike, second: ArrayLike, *, p: tuple[Any, Any]) -> Estimate[Any]:
    """Estimate the prevalences of a sensitive and of an unrelated attribute, both unknown, from two samples.

    Parameters
    ----------
    first, second : array_like, shapes (n1,) and (n2,)
        Answers no and yes of two samples of different people, as texts or as 0 and 1.
    p : pair of float, Fraction or str
        Probabilities to be asked the sensitive question in the first and in the second sample, which differ.

    Returns
    -------
    prevalences : Estimate
        Of the sensitive and of the unrelated attribute, with their covariance and normal limits.

    Raises
    ------
    TypeError, ValueError
        If the answers are not as above, or the probabilities are equal.

    Notes
    -----
    With shares y1 and y2 of yes, the prevalence is (y1 (1 - p2) - y2 (1 - p1)) / (p1 - p2). The `guarantee` is the one
    of the sample with less privacy, for an unrelated attribute of the estimated prevalence, between 0.01 and 0.99.

    References
    ----------
    .. [1] B. G. Greenberg, A.-L. A. Abul-Ela, W. R. Simmons, D. G. Horvitz, "The unrelated question randomized response model:
       theoretical framework", JASA, 1969.

    Examples
    --------
    >>> from ldpfast import designs
    >>> samples = ["yes"] * 300 + ["no"] * 700, ["yes"] * 450 + ["no"] * 550
    >>> designs.unrelated_question_two_samples(*samples, p=(0.7, 0.2)).value.round(2).tolist()
    [0.21, 0.51]
    """
    exact, codes = _two_different(p), _answers(first, second)
    p1, p2 = map(float, exact)
    y1, y2 = (float(part.mean()) for part in codes)
    seen = [(part.sum() + 0.5) / (len(part) + 1) for part in codes]  # so that no variance is zero
    spread = np.diag([share * (1 - share) / len(part) for share, part in zip(seen, codes, strict=True)])
    lines = np.array([[1 - p2, -(1 - p1)], [-p2, p1]]) / (p1 - p2)
    value, covariance = lines @ [y1, y2], lines @ spread @ lines.T
    n = sum(map(len, codes))
    innocent = float(np.clip(value[1], 0.01, 0.99))
    loss = max((unrelated_question(share, innocent).guarantee for share in exact if share), key=lambda g: g.epsilon)
    rule = Normal.of_sum(min(map(len, codes)))
    return Estimate(value, np.sqrt(np.diag(covariance)), n, loss, covariance, rule, _span=(0.0, 1.0))


def cheating_detection(first: ArrayLike, second: ArrayLike, *, p: tuple[Any, Any]) -> TwoGroupEstimate:
    """Estimate a prevalence where some people say no whatever the instruction is (cheating detection model).

    A device tells everybody to say yes with a known probability, and to tell the truth otherwise. Cheaters always say no.

    Parameters
    ----------
    first, second : array_like, shapes (n1,) and (n2,)
        Answers no and yes of two random samples of different people, as texts or as 0 and 1.
    p : pair of float, Fraction or str
        Probabilities to be told to say yes in the first and in the second sample, which differ.

    Returns
    -------
    shares : TwoGroupEstimate
        Of people who honestly say yes, who honestly say no, and of cheaters, whose truth is not known: labels "honest yes",
        "honest no" and "cheaters", with covariance, normal limits and `llf`. The prevalence is between the first share, and
        this with all cheaters.

    Raises
    ------
    TypeError, ValueError
        If the answers are not as above; if the probabilities are equal.

    Warns
    -----
    DoubtfulWarning
        If a share is below 0 or above 1 by more than chance explains.
    SmallSampleWarning
        With the limits, if a sample has fewer than 30 people.

    Notes
    -----
    The share of yes of a sample is a + b p, for the shares a and b of honest yes and no. Who says no is no honest person with
    the attribute, so that the guarantee is an infinite epsilon.

    References
    ----------
    .. [1] S. J. Clark, R. A. Desharnais, "Honest answers to embarrassing questions: detecting cheating in the randomized
       response model", Psychological Methods, 1998.

    Examples
    --------
    >>> from ldpfast import designs
    >>> samples = ["yes"] * 430 + ["no"] * 570, ["yes"] * 700 + ["no"] * 500
    >>> found = designs.cheating_detection(*samples, p=(0.25, 0.75))
    >>> dict(zip(found.labels, found.value.round(3).tolist()))
    {'honest yes': 0.353, 'honest no': 0.307, 'cheaters': 0.34}
    """
    exact, codes = _two_different(p), _answers(first, second)
    if max(exact) == 1:
        raise ValueError("p must be two probabilities below 1, got 1")
    guarantee = max((forced_response(share, 0).guarantee for share in exact), key=lambda found: found.epsilon)
    # Shares of yes are linear in those of honest people; cheaters are the rest.
    lines = np.linalg.inv(np.column_stack([np.ones(2), [float(share) for share in exact]]))
    lines = np.vstack([lines, -lines.sum(axis=0)])
    shares, spread = _shares_of_yes(codes)
    value = lines @ shares + [0, 0, 1]
    corners = np.array([[1.0, 1.0], [float(share) for share in exact], [0.0, 0.0]])
    labels = ("honest yes", "honest no", "cheaters")
    return _two_groups(value, lines @ spread @ lines.T, codes, corners, labels, guarantee)


def stochastic_lie_detector(first: ArrayLike, second: ArrayLike, *, p: tuple[Any, Any]) -> TwoGroupEstimate:
    """Estimate a prevalence where some people with the attribute lie (stochastic lie detector).

    People are asked by Mangat's design (`mangat`) in two samples. People without the attribute follow it; some of those with
    the attribute say no.

    Parameters
    ----------
    first, second : array_like, shapes (n1,) and (n2,)
        Answers no and yes of two random samples of different people, as texts or as 0 and 1.
    p : pair of float, Fraction or str
        Probabilities with which people without the attribute say no in the first and in the second sample, which differ.

    Returns
    -------
    shares : TwoGroupEstimate
        Of people with the attribute, and of those among them who tell the truth: labels "prevalence" and "truthful", with
        covariance, normal limits and `llf`.

    Raises
    ------
    TypeError, ValueError
        If the answers are not as above; if the probabilities are equal.

    Warns
    -----
    DoubtfulWarning
        If a share is below 0 or above 1 by more than chance explains; if the prevalence is not clearly above 0, and so the
        share of truthful people unknown: it is NaN if the estimated prevalence is not positive.
    SmallSampleWarning
        With the limits, if a sample has fewer than 30 people.

    Notes
    -----
    The share of yes of a sample is t s + (1 - s) (1 - p), for the prevalence s and the share t of truthful people. The standard
    error of t comes from the delta method. The guarantee is an infinite epsilon, as for `mangat`.

    References
    ----------
    .. [1] M. Moshagen, J. Musch, E. Erdfelder, "A stochastic lie detector", Behavior Research Methods, 2012.

    Examples
    --------
    >>> from ldpfast import designs
    >>> samples = ["yes"] * 373 + ["no"] * 191, ["yes"] * 398 + ["no"] * 294
    >>> found = designs.stochastic_lie_detector(*samples, p=("2/12", "10/12"))
    >>> dict(zip(found.labels, found.value.round(3).tolist()))
    {'prevalence': 0.871, 'truthful': 0.636}
    """
    exact, codes = _two_different(p), _answers(first, second)
    guarantee = max((mangat(share).guarantee for share in exact), key=lambda found: found.epsilon)
    others = np.array([1 - float(share) for share in exact])  # shares of yes of people without the attribute
    lines = np.linalg.inv(np.column_stack([np.ones(2), -others]))
    shares, spread = _shares_of_yes(codes)
    told, has = lines @ (shares - others)
    covariance = lines @ spread @ lines.T
    if has < EXTREME * np.sqrt(covariance[1, 1]):
        warn(
            f"the prevalence, {has:.3g}, is not clearly above 0: the share of truthful people is unknown",
            DoubtfulWarning,
        )
    truthful, slopes = np.nan, np.array([np.nan, np.nan])
    if has > 0:
        truthful, slopes = told / has, np.array([1 / has, -told / has**2])
    turned = np.array([[0.0, 1.0], slopes])
    corners = np.array([[1.0, 1.0], others, [0.0, 0.0]])
    labels = ("prevalence", "truthful")
    return _two_groups(np.array([has, truthful]), turned @ covariance @ turned.T, codes, corners, labels, guarantee)


def _two_different(p: Any) -> list[Fraction]:
    """Return a pair of probabilities.

    Raises
    ------
    TypeError, ValueError
        If they are none, or equal.
    """
    if not isinstance(p, tuple | list) or len(p) != 2:
        raise TypeError(f"p must be a pair of probabilities, got {p!r}")
    exact = [_check.exact_probability("p", value) for value in p]
    if exact[0] == exact[1]:
        raise ValueError(f"p must be two different probabilities, got {exact[0]} twice")
    return exact


def _answers(first: ArrayLike, second: ArrayLike) -> list[AnyArray]:
    """Return the answers of two samples as 0 and 1."""
    plain = unrelated_question(1, "1/2")
    return [plain._codes(first, "first"), plain._codes(second, "second")]


def _shares_of_yes(codes: list[AnyArray]) -> tuple[Floats, Floats]:
    """Return the shares of yes of two samples, and their covariance matrix, in which no variance is zero."""
    shares = np.array([part.mean() for part in codes])
    sizes = np.array([len(part) for part in codes])
    seen = np.where((shares > 0) & (shares < 1), shares, (shares * sizes + 0.5) / (sizes + 1))
    return shares, np.diag(seen * (1 - seen) / np.maximum(sizes - 1, 1))


def _two_groups(
    value: Floats, covariance: Floats, codes: list[AnyArray], corners: Floats, labels: tuple[str, ...], guarantee: Any
) -> TwoGroupEstimate:
    """Return the result of two samples, for the corners of the triangle of the shares of yes that the model allows."""
    stderr = np.sqrt(np.diag(covariance))
    for label, share, error in zip(labels, value.tolist(), stderr.tolist(), strict=True):
        if share < -EXTREME * error or share > 1 + EXTREME * error:
            warn(
                f"the share {label!r} is {share:.3g}, beyond what chance explains: p may be exchanged or other ones, or the "
                "samples may differ",
                DoubtfulWarning,
            )
            break
    sizes = np.array([len(part) for part in codes])
    hits = np.array([part.sum() for part in codes])
    llf = _largest_likelihood(hits, sizes, corners)
    rule = Normal.of_sum(sizes.min())
    fields: Any = {"labels": labels, "quantity": "share", "llf": llf, "_span": SHARES}
    return TwoGroupEstimate(value, stderr, int(sizes.sum()), guarantee, covariance, rule, **fields)


def _largest_likelihood(hits: Floats, sizes: Floats, corners: Floats) -> float:
    """Return the largest log-likelihood of two shares of yes in a triangle, whose logarithm is concave."""
    from scipy.optimize import minimize_scalar
    from scipy.special import xlogy

    def value(shares: Floats) -> float:
        return float(np.sum(xlogy(hits, shares) + xlogy(sizes - hits, 1 - shares)))

    best = hits / sizes
    inside = np.linalg.solve(np.vstack([corners.T, np.ones(3)]), np.append(best, 1.0))  # weights of the corners
    if (inside >= 0).all():
        return value(best)
    edges = [(corners[place], corners[(place + 1) % 3]) for place in range(3)]
    found = [
        minimize_scalar(lambda t, a=a, b=b: -value(a + t * (b - a)), bounds=(0, 1), method="bounded") for a, b in edges
    ]
    return -min(float(each.fun) for each in found)
