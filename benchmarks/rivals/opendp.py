"""OpenDP: one call per record, or one call per array for noise.

Its randomized response for one bit is Warner's mechanism, which is not a case.
"""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

import numpy as np

from ldpfast.bench._case import EPSILON, Case, Task


def prelude() -> Any:
    """Import OpenDP with all its mechanisms."""
    library = import_module("opendp.prelude")
    library.enable_features("contrib")
    return library


def response(case: Case) -> Task:
    """Privatize categories by randomized response."""
    k, people = case.mechanism.k, case.x.tolist()
    probability = math.exp(EPSILON) / (math.exp(EPSILON) + k - 1)
    measurement = prelude().m.make_randomized_response(list(range(k)), probability)
    return lambda: np.array([measurement(x) for x in people], np.uint8)


def unary(case: Case) -> Task:
    """Privatize bit vectors as in RAPPOR: each bit is flipped with probability f / 2."""
    dp, k = prelude(), case.mechanism.k
    space = dp.bitvector_domain(max_weight=1), dp.discrete_distance()
    measurement = dp.m.make_randomized_response_bitvec(*space, f=2 / (math.exp(EPSILON / 2) + 1))
    people = [np.packbits(row, bitorder="little").tobytes() for row in np.eye(k, dtype=np.uint8)[case.x]]
    return lambda: np.frombuffer(b"".join([bytes(measurement(x)) for x in people]), np.uint8).reshape(-1, k // 8)


def laplace(case: Case) -> Task:
    """Add discrete Laplace noise by exact rational sampling, the whole array in one call."""
    dp, values = prelude(), case.x.tolist()
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    measurement = dp.m.make_laplace(domain, dp.l1_distance(T=float), scale=1 / EPSILON)
    return lambda: np.array(measurement(values))


def gaussian(case: Case) -> Task:
    """Draw discrete Gaussian noise by exact rational sampling, the whole array in one call."""
    dp, zeros = prelude(), [0] * len(case.x)
    domain = dp.vector_domain(dp.atom_domain(T=int))
    measurement = dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=1000.0)
    return lambda: np.array(measurement(zeros))
