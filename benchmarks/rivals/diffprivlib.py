"""diffprivlib: Laplace noise in floating point, and releases of the central model."""

from __future__ import annotations

from importlib import import_module

import numpy as np

from ldpfast.bench._case import EPSILON, Case, Task


def laplace(case: Case) -> Task:
    """Add Laplace noise, one call per record."""
    library = import_module("diffprivlib.mechanisms")
    mechanism, values = library.Laplace(epsilon=EPSILON, sensitivity=1.0), case.x.tolist()
    return lambda: np.array([mechanism.randomise(x) for x in values])


def mean(case: Case) -> Task:
    """Release the mean of records in an interval."""
    library = import_module("diffprivlib.tools")
    return lambda: library.mean(case.x, epsilon=EPSILON, bounds=(-3.0, 3.0))


def median(case: Case) -> Task:
    """Release the median of records in an interval."""
    library = import_module("diffprivlib.tools")
    return lambda: library.quantile(case.x, 0.5, epsilon=EPSILON, bounds=(0.0, 100.0))
