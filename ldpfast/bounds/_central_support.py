"""Bounds for the end of the support of a uniform distribution in the central model."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from ._bound import Bound, bound, check_n, check_scale, is_paper
from ._central_privacy import BARBER, CentralPrivacy, noise_factor
from ._registered_problem import RegisteredProblem, register
from ._tools import (
    DISTANCES,
)


def central_support(
    n: ArrayLike,
    epsilon: ArrayLike,
    delta: ArrayLike = 0.0,
    *,
    t: ArrayLike,
    privacy: str = "tv",
    method: str = "sharp",
) -> Bound:
    """Bound the absolute error of the end of the support of a uniform distribution, in the central model.

    The distribution is uniform on [0, theta] with theta <= t.

    Parameters
    ----------
    n : array_like
        Number of people, >= 1.
    epsilon : array_like
        Parameter of the definition of privacy, > 0.
    delta : array_like, default 0.0
        In (0, 1) for "approximate", else 0.
    t : array_like
        Upper limit of theta, > 0.
    privacy : {"tv", "kl", "pure", "smooth", "approximate"}
        Definition of privacy.
    method : {"sharp", "paper"}
        "paper": t / (32 n epsilon), for n epsilon >= 1/4, under "tv".

    Returns
    -------
    bound : Bound
        Upper bound: twice a private mean (`central.mean`), or the answer t / 2. The true rate may be faster.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range, or n epsilon < 1/4 with "paper"; the message names the theorem and its
        condition.

    References
    ----------
    .. [1] R. F. Barber, J. C. Duchi, "Privacy and statistical risk: formalisms and minimax bounds", 2014, Proposition
       3.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> bound = bounds.central_support(10_000, 0.01, t=2.0)
    >>> bound.lower <= bound.upper
    True
    """
    theorem = f"{BARBER}, Proposition 3,"
    number, scale = check_n(theorem, n), check_scale(theorem, "t", t)
    definition = CentralPrivacy(theorem, privacy, epsilon, delta)
    effective = number * definition.epsilon_tv
    if is_paper(method):
        if privacy not in ("tv", "kl"):
            raise ValueError(f"{theorem} needs privacy='tv' or 'kl', got {privacy!r}")
        _check.condition(theorem, "n epsilon >= 1/4", effective >= 0.25, n=number, epsilon=definition.epsilon_tv)
        lower = 1 / (32 * effective)
    else:
        lower = np.zeros_like(effective)
        for s in DISTANCES:
            lower = np.maximum(lower, np.minimum(definition.reach(number, s), 1.0) / 2 * (1 - s))
    risk = np.sqrt(1 / (3 * number) + noise_factor(definition, number, np.ones(())))
    return bound(
        scale * lower,
        scale * np.minimum(0.5, risk),
        scale * np.minimum(1.0, 1 / effective),
        scale * np.minimum(0.5, 1 / np.sqrt(number * (number + 2))),
        loss="absolute error",
        below=f"{theorem} two uniform distributions",
        above="twice central.mean, or t / 2",
    )


register(RegisteredProblem(central_support, "the end of a uniform distribution, with a trusted curator", central=True))
