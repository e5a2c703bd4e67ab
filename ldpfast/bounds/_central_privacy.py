"""Definitions of central privacy, and contractions of total variation by private releases.

A curator sees the records of n people, and the release is private. Definitions, for the replacement of one record:
"pure" (epsilon), "smooth" (epsilon per unit of a metric), "approximate" (epsilon, delta), "kl" (divergence at most
epsilon), "tv" (distance at most epsilon).

Two distributions of a record at total variation distance t give releases at a distance of at most A(n t), with A
concave: epsilon n t under "tv", tanh(epsilon n t / 2) under pure privacy, by Jensen's inequality for the binomial
number of records that differ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._typing import Floats
from ..privacy import gaussian_sigma
from ._bound import Numeric, _plain, check_epsilon, check_n
from ._testing_methods import tv_from_kl

DEFINITIONS = ("pure", "smooth", "approximate", "kl", "tv")
BARBER = "Barber, Duchi 2014"
CHAUDHURI = "Chaudhuri, Hsu 2012"
GRID = 1.005  # upper bound on the factor by which the public grid of `central.mean` increases the variance


class CentralPrivacy:
    """Definition of privacy with its parameters, and its effect on two distributions of a record."""

    def __init__(self, theorem: str, definition: str, epsilon: ArrayLike, delta: ArrayLike) -> None:
        self.definition = _check.choice("privacy", definition, DEFINITIONS)
        self.epsilon, self.delta = check_epsilon(theorem, epsilon), _check.numbers("delta", delta)
        if self.definition == "approximate":
            inside = (self.delta > 0) & (self.delta < 1)
            _check.condition(theorem, "0 < delta < 1 for approximate privacy", inside, delta=self.delta)
        else:
            _check.condition(theorem, f"delta = 0 for {definition} privacy", self.delta == 0, delta=self.delta)
        if self.definition == "tv":
            _check.condition(theorem, "epsilon <= 1 for tv privacy", self.epsilon <= 1, epsilon=self.epsilon)
        self.epsilon_tv = self.epsilon  # parameter of total variation privacy, for "tv" and "kl"
        if self.definition == "kl":
            self.epsilon_tv = tv_from_kl(self.epsilon)
        self.slack = 1.0 + 2 * self.delta / np.expm1(self.epsilon)

    def tv(self, n: Floats, t: Floats) -> Floats:
        """Return a bound on the total variation distance of two releases."""
        linear = self.definition in ("tv", "kl")
        private = self.epsilon_tv * n * t if linear else self.slack * np.tanh(self.epsilon * n * t / 2)
        with np.errstate(divide="ignore"):
            plain = -np.expm1(n * np.log1p(-t))
        return np.asarray(np.minimum(private, plain))

    def reach(self, n: Floats, s: float) -> Floats:
        """Return the largest t in (0, 1] for which the releases are at most s apart, or a number above 1."""
        if self.definition in ("tv", "kl"):
            private = s / (self.epsilon_tv * n)
        else:
            private = 2 * np.arctanh(s / self.slack) / (self.epsilon * n)
        return np.asarray(np.maximum(private, -np.expm1(np.log1p(-s) / n)))


def tv_of_releases(
    n: ArrayLike, epsilon: ArrayLike, delta: ArrayLike = 0.0, *, tv: ArrayLike, privacy: str = "pure"
) -> Numeric:
    """Return a bound on the total variation distance of two releases.

    The records of the releases come from two distributions at distance `tv`.

    Parameters
    ----------
    n : array_like
        Number of people, >= 1.
    tv : array_like
        Total variation distance of the distributions of one record, in [0, 1].
    privacy, epsilon, delta
        As for `central_mean`.

    Returns
    -------
    tv : float or ndarray
        Upper bound on the distance.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    References
    ----------
    .. [1] R. F. Barber, J. C. Duchi, "Privacy and statistical risk: formalisms and minimax bounds", 2014, Theorem 2,
       without its factor 2.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> round(bounds.methods.tv_of_releases(100, tv=0.01, epsilon=0.1), 3)
    0.05
    """
    theorem = f"{BARBER}, Theorem 2,"
    number, t = check_n(theorem, n), _check.numbers("tv", tv)
    _check.condition(theorem, "tv in [0, 1]", (t >= 0) & (t <= 1), tv=t)
    return _plain(np.minimum(1.0, CentralPrivacy(theorem, privacy, epsilon, delta).tv(number, t)))


def _distinct(function: Callable[[Floats, Floats], Any], epsilon: Floats, delta: Floats) -> Floats:
    """Return a slow function of (epsilon, delta) on arrays, evaluated once for each pair."""
    pairs = np.stack(np.broadcast_arrays(epsilon, delta), axis=-1)
    different, where = np.unique(pairs.reshape(-1, 2), axis=0, return_inverse=True)
    return np.asarray(np.asarray(function(different[:, 0], different[:, 1]))[where.ravel()].reshape(pairs.shape[:-1]))


def noise_factor(privacy: CentralPrivacy, n: Floats, dim: Floats) -> Floats:
    """Return E |noise|^2 / T^2 of `central.mean` with integer noise, where T is the truncation radius."""
    if privacy.definition in ("pure", "smooth"):
        return np.asarray(GRID * 8 * (dim / (n * privacy.epsilon)) ** 2)
    if privacy.definition == "kl":
        return np.asarray(GRID * 2 * dim / (n**2 * privacy.epsilon))
    if privacy.definition == "approximate":
        ratio = _distinct(gaussian_sigma, privacy.epsilon, privacy.delta)
        return np.asarray(GRID * 4 * dim * (ratio / n) ** 2)
    from scipy.special import ndtri

    with np.errstate(divide="ignore"):
        return np.asarray(GRID * dim / (ndtri((1 + privacy.epsilon) / 2) * n) ** 2)
