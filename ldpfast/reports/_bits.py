"""Reports of packed bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core import tally
from .._typing import AnyArray, Floats
from ..results import AnyDebiasing, Debiasing
from ._base import Format
from ._counts import CountAggregator


class BitCounts(CountAggregator):
    """Number of reports with each bit set, by positional population count."""


@dataclass(frozen=True)
class Bits(Format):
    """k bits per person, packed in little bit order and padded with zeros to whole bytes."""

    k: int
    aggregator = BitCounts

    @property
    def shape(self) -> tuple[int, ...]:
        return ((self.k + 7) // 8,)

    def dtype(self, records: np.dtype[Any]) -> np.dtype[Any]:
        return np.dtype(np.uint8)

    @property
    def bits(self) -> int:
        return self.k

    @property
    def state_layout(self) -> tuple[tuple[int, ...], type[np.integer[Any]]]:
        return (self.k,), np.int64

    def tally(self, reports: AnyArray, state: AnyArray) -> None:
        tally.add_bits(reports, state)

    def decode(self, reports: AnyArray, debiasing: AnyDebiasing | None) -> Floats:
        assert isinstance(debiasing, Debiasing)
        ones = np.unpackbits(reports, axis=1, count=self.k, bitorder="little")
        return np.asarray(debiasing(ones.astype(np.float64)))

    def invalidity(self, reports: AnyArray) -> str | None:
        if self.k % 8 == 0:
            return None
        bad = np.flatnonzero(reports[:, -1] >> self.k % 8)
        return f"have zeros in the padding after {self.k} bits; row {int(bad[0])} does not" if len(bad) else None
