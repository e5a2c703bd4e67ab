"""What the protocol returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ...results import Estimate


@dataclass(frozen=True, eq=False)
class GaussianEstimate(Estimate[float]):
    """The mean of normal records.

    Attributes
    ----------
    sigma : Estimate or None
        The standard deviation of the records, with an interval of its own; None where it was known.
    center : float
        Where the first round put the mean.
    kappa : float
        How well the first round was answered: answers per level that would tell as much without noise. From 8 on the
        search seldom fails (one to two in a thousand); published decoders need 130.
    goodness : float or None
        The p-value of Pearson's test of all answers against the fitted normal distribution; None for
        ``variant="paper"``.
    doubts : tuple of str
        What speaks against the value and its interval; a `DoubtfulWarning` said the same.
    """

    sigma: Estimate[float] | None = field(default=None, kw_only=True)
    center: float = field(default=0.0, kw_only=True)
    kappa: float = field(default=0.0, kw_only=True)
    goodness: float | None = field(default=None, kw_only=True)
    doubts: tuple[str, ...] = field(default=(), kw_only=True)

    def to_dict(self) -> dict[str, Any]:
        """As `Estimate`, with the other attributes."""
        return {
            **super().to_dict(),
            "sigma": None if self.sigma is None else self.sigma.to_dict(),
            "center": self.center,
            "kappa": self.kappa,
            "goodness": self.goodness,
            "doubts": list(self.doubts),
        }

    __repr__ = Estimate.__repr__
