"""Kernels of mechanisms written in Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from .._core.stream import Stream
from .._random import Words
from .._typing import AnyArray, Floats
from ..reports import Format

MAX_CONDITION = 1e10  # of a channel; at this one, rounding moves decoded shares by about 1e-6


@dataclass(frozen=True, eq=False)
class PythonKernel:
    """A kernel that calls a Python function for each block of records.

    Attributes
    ----------
    privatize_block : callable
        ``privatize_block(records, words)`` returns the reports of a block of records.
    report : Format
        Format of the reports.
    rows : int
        Number of records per block.
    """

    privatize_block: Callable[[AnyArray, Words], AnyArray]
    report: Format
    rows: int = 4096
    checks = False
    asks = False

    def privatize(self, key: Stream, block: int, x: AnyArray, out: AnyArray, clip: bool = False) -> bool:
        for start in range(0, len(x), self.rows):
            records = x[start : start + self.rows]
            made = np.asarray(self.privatize_block(records, Words(key, block + start // self.rows)))
            if len(made) != len(records):
                raise ValueError(f"privatize_block must return {len(records)} reports, got {len(made)}")
            if (
                made.dtype.kind in "bui"
                and out.dtype.kind == "u"
                and made.min() >= 0
                and made.max() <= np.iinfo(out.dtype).max
            ):
                made = made.astype(out.dtype)
            out[start : start + self.rows] = self.report.validate(made)
        return False

    def run(self, key: Stream, block: int, x: AnyArray, state: AnyArray, clip: bool = False) -> bool:
        reports = np.empty((len(x), *self.report.shape), self.report.dtype(x.dtype))
        self.privatize(key, block, x, reports)
        self.report.tally(reports, state)
        return False

    def privatize_each(self, keys: AnyArray, x: AnyArray, out: AnyArray) -> bool:
        for i, key in enumerate(keys):
            self.privatize(Stream(key.tobytes()), 0, x[i : i + 1], out[i : i + 1])
        return False


def integer_weights(
    rows: Sequence[Sequence[Any]], inputs: int, outputs: int, name: str = "channel_rows"
) -> list[list[int]]:
    """Return the rows of a channel as integers with a common sum.

    Parameters
    ----------
    rows : sequence of sequences of int or Fraction
        Row x holds the probabilities of the codes for the record x, up to a common factor.
    inputs, outputs : int
        Required number of rows and of columns.
    name : str
        Name of the rows in messages.

    Returns
    -------
    weights : list of list of int

    Raises
    ------
    ValueError
        If the shape is wrong, an entry is negative, or the sums are not equal, positive and at most 2^64 in integers.
    """
    fractions = [[Fraction(entry) for entry in row] for row in rows]
    if len(fractions) != inputs or any(len(row) != outputs for row in fractions):
        raise ValueError(f"{name} must have {inputs} rows of {outputs} entries")
    if any(entry < 0 for row in fractions for entry in row):
        raise ValueError(f"{name} must not have negative entries")
    factor = int(np.lcm.reduce([entry.denominator for row in fractions for entry in row], dtype=object))
    weights = [[int(entry * factor) for entry in row] for row in fractions]
    totals = {sum(row) for row in weights}
    if len(totals) != 1 or not 1 <= totals.pop() <= 1 << 64:
        raise ValueError(f"{name} must have equal, positive sums, of at most 2^64 in integers")
    return weights


def right_inverse(matrix: Floats, name: str = "channel_rows") -> Floats:
    """Return the matrix M = W C^T (C W C^T)^-1 of a channel C, with C M = I and W the inverse probabilities of the codes.

    Parameters
    ----------
    matrix : ndarray, shape (inputs, outputs)
        The channel C.
    name : str
        Name of its rows in messages.

    Returns
    -------
    inverse : ndarray, shape (outputs, inputs)

    Raises
    ------
    ValueError
        If the condition number of the table W^(1/2) C^T is above 1e10, or the rows are linearly dependent.

    Notes
    -----
    By a QR decomposition of that table. The normal equations C W C^T would square its condition number.
    """
    probability = matrix.mean(axis=0)
    root = np.sqrt(np.divide(1.0, probability, out=np.zeros_like(probability), where=probability > 0))[:, np.newaxis]
    condition = math.inf
    if len(matrix) <= len(root):
        q, r = np.linalg.qr(root * matrix.T)
        largest, *_, smallest = np.linalg.svd(r, compute_uv=False)
        condition = largest / smallest if smallest > 0 else math.inf
    if condition > MAX_CONDITION:
        raise ValueError(
            f"{name} must be linearly independent, and not nearly dependent: otherwise the shares do not follow from the "
            f"codes in double precision. The condition number of the channel must be at most {MAX_CONDITION:g}, got "
            f"{condition:.3g}"
        )
    return np.asarray(root * np.linalg.solve(r, q.T).T)


def invert(weights: list[list[int]]) -> Callable[[AnyArray, Words], AnyArray]:
    """Return a `privatize_block` that draws codes exactly, by inversion of the distribution function.

    Parameters
    ----------
    weights : list of list of int
        Result of `integer_weights`.

    Returns
    -------
    privatize_block : callable
    """
    total = sum(weights[0])
    codes = len(weights[0])
    bounds = np.array([np.cumsum(np.array(row, object))[:-1] for row in weights], object).astype(np.uint64)
    steps = [1 << j for j in range((codes - 1).bit_length() - 1, -1, -1)]

    def privatize_block(records: AnyArray, words: Words) -> AnyArray:
        drawn = words.below(total, len(records))
        code = np.zeros(len(records), np.intp)  # the number of bounds up to the drawn integer, by bisection
        for step in steps:
            above = np.minimum(code + step, codes - 1)
            code = np.where((above > code) & (drawn >= bounds[records, above - 1]), above, code)
        return code

    return privatize_block
