"""Every problem of `ldpfast.bounds` with several parameters, as functions of n and epsilon."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ldpfast import bounds

from .internals.bounds import central_privacy

LOCAL: dict[str, Callable[..., bounds.Bound]] = {
    "mean_1d 1.2": lambda n, a: bounds.mean_1d(n, a, moment=1.2, radius=3.0),
    "mean_1d 2": lambda n, a: bounds.mean_1d(n, a, moment=2.0),
    "mean_1d 7": lambda n, a: bounds.mean_1d(n, a, moment=7.0),
    "mean_1d inf": lambda n, a: bounds.mean_1d(n, a, moment=math.inf, radius=0.1),
    "median": lambda n, a: bounds.median(n, a, radius=2.0),
    "mean_l2 1": lambda n, a: bounds.mean_l2(n, 1, a),
    "mean_l2 6": lambda n, a: bounds.mean_l2(n, 6, a, radius=2.0),
    "mean_l2 5000": lambda n, a: bounds.mean_l2(n, 5000, a),
    "sparse_mean 1": lambda n, a: bounds.sparse_mean(n, 1, a),
    "sparse_mean 40": lambda n, a: bounds.sparse_mean(n, 40, a),
    "multinomial 2": lambda n, a: bounds.multinomial(n, 2, a),
    "multinomial 7": lambda n, a: bounds.multinomial(n, 7, a),
    "multinomial 10**6": lambda n, a: bounds.multinomial(n, 10**6, a),
    "logistic 1": lambda n, a: bounds.logistic(n, 1, a, radius=3.0),
    "logistic 25": lambda n, a: bounds.logistic(n, 25, a),
    "density 0.6": lambda n, a: bounds.density(n, a, smoothness=0.6, radius=4.0),
    "density 2": lambda n, a: bounds.density(n, a, smoothness=2.0),
    "density 9": lambda n, a: bounds.density(n, a, smoothness=9.0, radius=100.0),
    "density Lipschitz": lambda n, a: bounds.density(n, a, smoothness=1, radius=2.5, family="lipschitz"),
    "gaussian_mean": lambda n, a: bounds.gaussian_mean(n, a, sigma=2.0),
    "gaussian_mean far": lambda n, a: bounds.gaussian_mean(n, a, sigma=1.0, beta=0.3, mu_bound=1e6),
}


def definition(privacy, epsilon):
    """Return the arguments for a definition of central privacy, valid for every `epsilon`."""
    return {
        "privacy": privacy,
        "epsilon": np.minimum(epsilon, 1.0) if privacy == "tv" else epsilon,
        "delta": 1e-5 if privacy == "approximate" else 0.0,
    }


CENTRAL: dict[str, Callable[..., bounds.Bound]] = {
    **{
        f"{privacy} mean {dim} {moment}": lambda n, a, p=privacy, d=dim, k=moment: bounds.central_mean(
            n, d, moment=k, radius=2.0, **definition(p, a)
        )
        for privacy in central_privacy.DEFINITIONS
        for dim, moment in ((1, 1.3), (1, 2.0), (20, 2.0), (20, math.inf))
    },
    **{
        f"{privacy} support": lambda n, a, p=privacy: bounds.central_support(n, t=3.0, **definition(p, a))
        for privacy in central_privacy.DEFINITIONS
    },
    "density 1": lambda n, a: bounds.central_density(n, 1, a),
    "density 4": lambda n, a: bounds.central_density(n, 4, a),
    "range": lambda n, a: bounds.central_range(n, a, low=-1, high=2),
    "ges": lambda n, a: bounds.central_ges(n, a, 0.0, ges=2.0),
    "ges with delta": lambda n, a: bounds.central_ges(n, a, 1e-4, ges=2.0),
}
PROBLEMS = {**{f"local {k}": v for k, v in LOCAL.items()}, **{f"central {k}": v for k, v in CENTRAL.items()}}

# Arguments other than n and epsilon, by problem.
ARGUMENTS = {
    "mean_1d": {"moment": 2.5},
    "median": {"radius": 2.0},
    "mean_l2": {"dim": 12},
    "sparse_mean": {"dim": 30},
    "multinomial": {"k": 6},
    "logistic": {"dim": 2},
    "density": {"smoothness": 1.5},
    "gaussian_mean": {"sigma": 1.0, "mu_bound": 5.0},
    "central_mean": {"dim": 3, "moment": 3, "privacy": "pure"},
    "central_support": {"t": 2.0},
    "central_density": {"dim": 2},
    "central_ges": {"delta": 0.0, "ges": 1.0},
}
LOCAL_ARGUMENTS = {name: fixed for name, fixed in ARGUMENTS.items() if not name.startswith("central")}
