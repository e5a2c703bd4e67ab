"""The end of the support of a uniform distribution, from a private release."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from ._bound import Bound, bound, is_paper, people, scale
from ._central_privacy import BARBER, CentralPrivacy, noise_factor
from ._problem import Problem, register
from ._tools import (
    DISTANCES,
)


def central_support(
    n: ArrayLike,
    epsilon: ArrayLike,
    t: ArrayLike,
    *,
    privacy: str = "tv",
    delta: ArrayLike = 0.0,
    mode: str = "sharp",
) -> Bound:
    """The end theta <= t of the support of a uniform law on [0, theta], from a private release: absolute error.

    Parameters
    ----------
    n : array_like
        People, >= 1.
    epsilon : array_like
        The level of the definition of privacy, > 0.
    t : array_like
        > 0.
    privacy : {"tv", "kl", "pure", "smooth", "approximate"}
    delta : array_like, default 0.0
        For "approximate".
    mode : {"sharp", "paper"}
        "paper": t / (32 n epsilon), for n epsilon >= 1/4, under "tv".

    Returns
    -------
    bound : Bound
        Upper: twice a private mean (`central.mean`), or the answer t / 2; the true rate may be faster.

    Raises
    ------
    TypeError, ValueError
        As `central_mean`; if n epsilon < 1/4 with "paper".

    References
    ----------
    .. [1] R. F. Barber, J. C. Duchi, "Privacy and statistical risk: formalisms and minimax bounds", 2014, Proposition
    3.
    """
    theorem = f"{BARBER}, Proposition 3,"
    number, most = people(theorem, n), scale(theorem, "t", t)
    definition = CentralPrivacy(theorem, privacy, epsilon, delta)
    effective = number * definition.total
    if is_paper(mode):
        if privacy not in ("tv", "kl"):
            raise ValueError(f"{theorem} needs privacy='tv' or 'kl', got {privacy!r}")
        _check.condition(theorem, "n epsilon >= 1/4", effective >= 0.25, n=number, epsilon=definition.total)
        lower = 1 / (32 * effective)
    else:
        lower = np.zeros_like(effective)
        for s in DISTANCES:
            lower = np.maximum(lower, np.minimum(definition.reach(number, s), 1.0) / 2 * (1 - s))
    risk = np.sqrt(1 / (3 * number) + noise_factor(definition, number, np.ones(())))
    return bound(
        most * lower,
        most * np.minimum(0.5, risk),
        most * np.minimum(1.0, 1 / effective),
        most * np.minimum(0.5, 1 / np.sqrt(number * (number + 2))),
        loss="absolute error",
        below=f"{theorem} two uniform laws",
        above="twice central.mean, or t / 2",
    )


register(Problem(central_support, "the end of a uniform distribution, with a trusted curator"))
