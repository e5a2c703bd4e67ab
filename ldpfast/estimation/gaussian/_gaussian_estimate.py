"""Result of the protocol."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ...results import Estimate


@dataclass(frozen=True, eq=False)
class GaussianEstimate(Estimate[float]):
    """Estimated mean of normal records.

    Attributes
    ----------
    sigma : Estimate or None
        Standard deviation of the records, with an interval; None if it was known.
    center : float
        Mean that the search found.
    kappa : float
        Effective noise-free sample size of the smallest group of the search. From 8 on the search seldom fails (one or
        two times in 1000); published decoders need 130.
    goodness : float or None
        p-value of Pearson's test of all answers against the fitted normal distribution; None for ``method="paper"``.
    doubts : tuple of str
        Reasons to doubt the value and its interval. Each is also issued as a `DoubtfulWarning`.

    Examples
    --------
    >>> from ldpfast.estimation import GaussianMean
    >>> estimate = GaussianMean(1.0, sigma_bounds=(0.5, 2.0), mu_bound=10).simulate(100_000, 3.0, 1.0, rng=1)
    >>> bool(abs(estimate.value - 3) < 0.1), bool(abs(estimate.sigma.value - 1) < 0.1)
    (True, True)
    >>> estimate.doubts
    ()
    """

    sigma: Estimate[float] | None = field(default=None, kw_only=True)
    center: float = field(default=0.0, kw_only=True)
    kappa: float = field(default=0.0, kw_only=True)
    goodness: float | None = field(default=None, kw_only=True)
    doubts: tuple[str, ...] = field(default=(), kw_only=True)

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary like that of `Estimate.to_dict`, with the other attributes."""
        return {
            **super().to_dict(),
            "sigma": None if self.sigma is None else self.sigma.to_dict(),
            "center": self.center,
            "kappa": self.kappa,
            "goodness": self.goodness,
            "doubts": list(self.doubts),
        }

    def _unit(self) -> str:
        return " (unit of the records)"

    def _names(self) -> tuple[str, str]:
        return "mean", "parameter"

    def _parts(self) -> list[tuple[str, Estimate[Any]]]:
        return super()._parts() if self.sigma is None else [("mean", self), ("standard deviation", self.sigma)]

    __repr__ = Estimate.__repr__
