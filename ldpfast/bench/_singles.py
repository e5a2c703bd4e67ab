"""Time to privatize a single record, as on a client."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from ..mechanisms import (
    Bins,
    L2Ball,
    Laplace,
    LaplaceVector,
    LinfBall,
    Mechanism,
    RandomizedResponse,
    Residue,
    SignBit,
    UnaryEncoding,
    Warner,
)
from ._case import EPSILON

SINGLE_TARGET = 5.0  # microseconds per call


def singles() -> dict[str, tuple[Mechanism, Any]]:
    """Return mechanisms with one record each."""
    vector = np.full(128, 0.01, np.float32)
    return {
        "Warner": (Warner(EPSILON), 1),
        "RandomizedResponse, k = 128": (RandomizedResponse(128, EPSILON), 5),
        "UnaryEncoding, k = 128": (UnaryEncoding(128, EPSILON), 5),
        "Residue, modulus 4": (Residue(0.5, 0.1, 4, EPSILON), 3.7),
        "Bins, 3 cuts": (Bins((0.0, 1.0, 2.0), EPSILON), 0.5),
        "SignBit": (SignBit(0.0, 1.0, EPSILON), 0.5),
        "Laplace": (Laplace(0.0, 1.0, EPSILON), 0.5),
        "LinfBall, dim 128": (LinfBall(128, EPSILON), vector),
        "LinfBall, dim 128, thin": (LinfBall(128, EPSILON, ties="thin"), vector),
        "L2Ball, dim 128": (L2Ball(128, EPSILON), vector),
        "LaplaceVector, dim 128": (LaplaceVector(128, EPSILON), vector),
    }


def measure_singles(calls: int = 200, rounds: int = 25) -> dict[str, float]:
    """Measure microseconds per call for a single record of every mechanism: fresh key, checks, report."""
    cases = singles()
    fastest = dict.fromkeys(cases, math.inf)
    for _ in range(rounds):
        for name, (mechanism, record) in cases.items():
            start = time.thread_time()
            for _ in range(calls):
                mechanism.privatize(record)
            fastest[name] = min(fastest[name], (time.thread_time() - start) * 1e6 / calls)
    return fastest
