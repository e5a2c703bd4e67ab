"""Unbiased estimates of the categories from every code of a mechanism."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Floats


def decoding_of(mechanism: Any) -> Floats:
    """Return the decoded codes of a mechanism of categories, shape (codes, categories); 0 for codes that nobody reports."""
    report = mechanism.report
    possible = np.delete(np.arange(report.k, dtype=report.dtype(np.dtype(np.float64))), list(report.impossible))
    decoded = np.asarray(mechanism.decode(possible), np.float64)
    if decoded.ndim == 1:  # the share of the second of two categories
        decoded = np.stack([1 - decoded, decoded], axis=-1)
    table = np.zeros((report.k, decoded.shape[1]))
    table[possible.astype(np.intp)] = decoded
    return table
