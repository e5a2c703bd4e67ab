"""Sizes of arrays."""

from __future__ import annotations

SIZES = (1, 7, 8, 9, 63, 64, 65, 511, 512, 513)  # around the widths of words, vectors and groups of coins
