"""multi-freq-ldpy: one client call per record.

Its estimates are clipped and normalized, which is a different task, so only its clients are measured.
"""

from __future__ import annotations

from importlib import import_module

import numpy as np

from ldpfast.bench._case import EPSILON, Case, Task


def response(case: Case) -> Task:
    """Privatize categories by randomized response."""
    library = import_module("multi_freq_ldpy.pure_frequency_oracles.GRR")
    k, people = case.mechanism.k, case.x.tolist()
    return lambda: np.array([library.GRR_Client(x, k, EPSILON) for x in people], np.uint8)


def unary(case: Case) -> Task:
    """Privatize categories by unary encoding, packed."""
    library = import_module("multi_freq_ldpy.pure_frequency_oracles.UE")
    k, people = case.mechanism.k, case.x.tolist()
    return lambda: np.packbits(
        np.array([library.UE_Client(x, k, EPSILON, False) for x in people]) != 0, axis=1, bitorder="little"
    )
