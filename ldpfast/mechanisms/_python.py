"""Kernels of mechanisms that are written in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from .._core.stream import Stream
from .._random import Words
from .._typing import AnyArray
from ..reports import Format


@dataclass(frozen=True, eq=False)
class PythonKernel:
    """Calls a function for each block of records.

    Attributes
    ----------
    privatize_block : callable
        ``privatize_block(records, words)`` returns the reports of a block of records.
    report : Format
        Their format.
    """

    privatize_block: Callable[[AnyArray, Words], AnyArray]
    report: Format
    rows: int = 4096

    def privatize(self, key: Stream, block: int, x: AnyArray, out: AnyArray) -> None:
        for start in range(0, len(x), self.rows):
            piece = slice(start, start + self.rows)
            out[piece] = self.privatize_block(x[piece], Words(key, block + start // self.rows))

    def run(self, key: Stream, block: int, x: AnyArray, state: AnyArray) -> None:
        reports = np.empty((len(x), *self.report.shape), self.report.dtype(x.dtype))
        self.privatize(key, block, x, reports)
        self.report.tally(reports, state)


def invert(rows: Sequence[Sequence[Any]]) -> Callable[[AnyArray, Words], AnyArray]:
    """A `privatize_block` that draws codes from the rows of a channel, by inversion of a uniform integer: exact.

    Parameters
    ----------
    rows : sequence of sequences of int or Fraction
        Row x holds the probabilities of the codes for the record x, up to a common factor that makes them integers.

    Returns
    -------
    privatize_block : callable

    Raises
    ------
    ValueError
        If the integers of a row add up to more than 2^64.
    """
    fractions = [[Fraction(entry) for entry in row] for row in rows]
    factor = int(np.lcm.reduce([entry.denominator for row in fractions for entry in row], dtype=object))
    weights = [[int(entry * factor) for entry in row] for row in fractions]
    totals = {sum(row) for row in weights}
    if len(totals) != 1 or (total := totals.pop()) > 1 << 64:
        raise ValueError("the rows of a channel must have equal sums, of at most 2^64 in integers")
    bounds = np.array([np.cumsum(np.array(row, object))[:-1] for row in weights], object).astype(np.uint64)

    def privatize_block(records: AnyArray, words: Words) -> AnyArray:
        drawn = words.below(total, len(records))
        return np.asarray((drawn[:, np.newaxis] >= bounds[records]).sum(axis=1))

    return privatize_block
