"""Rows and responses for the protocols of regression, piece by piece, in their order or in random order."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ... import _check
from ..._core.stream import Stream, StreamId, raw
from ..._labels import require_one_index
from ..._typing import AnyArray
from ...mechanisms._likelihood_question import Examples

PIECE_NUMBERS = 1 << 18  # numbers that are checked and then processed while they are in cache


def examples_of(domain: Examples, x: ArrayLike, y: ArrayLike) -> InOrder:
    """Return rows and responses with checked shapes."""
    require_one_index({"x": x, "y": y})
    rows = _check.floats("x", _check.array("x", x))
    if rows.ndim != 2 or rows.shape[1] != domain.features:
        raise ValueError(f"x must have shape (n, features) with features={domain.features}, got shape {rows.shape}")
    responses = _check.array("y", y)
    responses = _check.floats("y", responses.astype(np.uint8) if responses.dtype == np.bool_ else responses)
    if responses.shape != rows.shape[:1]:
        raise ValueError(f"y must have shape ({len(rows)},), got shape {responses.shape}")
    return InOrder(domain, rows, responses)


class InOrder:
    """Rows and responses in the layout of the kernel, piece by piece. The kernel checks them."""

    def __init__(self, domain: Examples, rows: AnyArray, responses: AnyArray) -> None:
        self.domain = domain
        self.rows = rows
        self.responses = responses
        self.dtype = np.dtype(np.float32 if rows.dtype == np.float32 else np.float64)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def at_a_time(self) -> int:
        """Number of rows of a piece."""
        return max(1, PIECE_NUMBERS // self.domain.features)

    def laid_out(self, start: int, stop: int) -> tuple[AnyArray, NDArray[np.float64]]:
        """Return a piece of rows and responses."""
        rows = _check.laid_out(self.rows[start:stop], self.dtype)
        return rows, _check.laid_out(self.responses[start:stop], np.dtype(np.float64))

    def records(self, start: int, stop: int) -> AnyArray:
        """Return a piece as records in doubles: rows followed by the response."""
        return np.column_stack([self.rows[start:stop], self.responses[start:stop]]).astype(np.float64, copy=False)

    def invalid_error(self) -> ValueError:
        """Return the error for records of which some are invalid."""
        bad = self.domain.invalid_examples(self.rows, self.responses)
        return _check.invalid("x and y", self.domain.describe(), int(np.argmax(bad)), int(bad.sum()), len(bad))

    def __call__(self, start: int, stop: int) -> tuple[AnyArray, NDArray[np.float64], NDArray[np.int64] | None]:
        return (*self.laid_out(start, stop), None)


class Shuffled(InOrder):
    """Rows and responses in random order; the rows are not moved."""

    def __init__(self, given: InOrder, key: Stream) -> None:
        super().__init__(given.domain, given.rows, given.responses)
        seed = np.empty(256, np.uint32)
        raw(key, StreamId.RAW, key.take(1), seed)  # the order is not private: a NumPy generator is enough
        self.order = np.random.default_rng(seed.tolist()).permutation(len(given))
        self.all = self.laid_out(0, len(given))

    def records(self, start: int, stop: int) -> AnyArray:
        chosen = self.order[start:stop]
        return np.column_stack([self.all[0][chosen], self.all[1][chosen]]).astype(np.float64, copy=False)

    def __call__(self, start: int, stop: int) -> tuple[AnyArray, NDArray[np.float64], NDArray[np.int64] | None]:
        return (*self.all, self.order[start:stop])
