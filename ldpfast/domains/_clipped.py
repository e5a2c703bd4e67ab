"""How many records were clipped."""

from __future__ import annotations

from typing import NamedTuple

from .._warnings import warn
from ..results import ClippedWarning


class Clipped(NamedTuple):
    """How many records had NaN, which counts as the center, and how many others were outside of the domain."""

    missing: int = 0
    outside: int = 0

    def plus(self, other: Clipped) -> Clipped:
        """Return the sums of both numbers."""
        return Clipped(self.missing + other.missing, self.outside + other.outside)

    def warn(self, n: int) -> None:
        """Warn if some of n records were clipped."""
        parts = [
            f"{count} of {n} records ({count / n:.2g} of all) {what}"
            for count, what in (
                (self.missing, "had NaN, which counts as the center"),
                (self.outside, "were clipped to the domain"),
            )
            if count
        ]
        if parts:
            warn(", and ".join(parts) + ": the estimate is for the changed records", ClippedWarning)
