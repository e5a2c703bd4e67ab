"""Prevalence under assumed shares of people who do not follow the instruction: bounds without an attention question."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .. import _check, _plots
from .._typing import Floats
from ..results import SHARES, Estimate, IntervalRule, LabeledEstimate

LEAST, STEPS = 0.5, 51  # smallest share of people who follow the instruction, and how many shares there are by default


@dataclass(frozen=True, eq=False)
class CompliantLimits:
    """Limits of the prevalence among people who follow the instruction, from the limits for all people.

    Attributes
    ----------
    rule : IntervalRule
        That of the estimate for all people.
    value, stderr : ndarray
        This estimate.
    compliant : ndarray
        Shares of people who follow the instruction.
    guesses : float
        What the estimate would be for the others alone.
    """

    rule: IntervalRule
    value: Floats
    stderr: Floats
    compliant: Floats
    guesses: float
    by_coordinate: ClassVar[bool] = True

    def of_compliant(self, prevalence: Any) -> Floats:
        """Return the prevalences among people who follow the instruction for one of all people."""
        return np.asarray((prevalence - (1 - self.compliant) * self.guesses) / self.compliant)

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        low, high = self.rule.bounds(self.value, self.stderr, tail)
        return self.of_compliant(low), self.of_compliant(high)


@dataclass(frozen=True, eq=False, repr=False)
class SensitivityBounds(LabeledEstimate):
    """Prevalences for assumed shares of people who follow the instruction. They are made by `Design.sensitivity`.

    Attributes
    ----------
    compliant : ndarray
        Share of people who follow the instruction, for each prevalence.

    Examples
    --------
    >>> from ldpfast import designs
    >>> bounds = designs.crosswise(0.25).sensitivity([1] * 198 + [0] * 112, compliant=[1.0, 0.9, 0.8])
    >>> bounds.value.round(3).tolist()
    [0.223, 0.192, 0.153]
    """

    compliant: Floats = field(default_factory=lambda: np.empty(0), kw_only=True)

    def plot(
        self,
        ax: Any = None,
        *,
        confidence: float = 0.95,
        simultaneous: bool = False,
        direct: Estimate[Any] | None = None,
    ) -> Any:
        """Draw the prevalences with their intervals against the share of people who do not follow the instruction.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; those of a new figure by default.
        confidence : float, default 0.95
            Confidence level of the intervals.
        simultaneous : bool, default False
            Whether the intervals hold for all prevalences at once.
        direct : Estimate, optional
            Prevalence by a direct question, with which they are compared.

        Returns
        -------
        ax : matplotlib.axes.Axes

        Raises
        ------
        ImportError
            If matplotlib is not installed (extra "plot").
        TypeError, ValueError
            If `confidence` is not a number in (0, 1); if `direct` is no estimate of one number.
        """
        limits = self._bounds(self.interval(confidence, simultaneous))
        if direct is not None and (not isinstance(direct, Estimate) or np.ndim(direct.value)):
            raise TypeError(f"direct must be an estimate of one number, got {type(direct).__name__}")
        ax = _plots.axes(ax)
        order = np.argsort(-self.compliant, kind="stable")
        places = 100 * (1 - self.compliant[order])
        value = np.clip(self.value, *SHARES)
        low, high = (np.asarray(limit)[order] for limit in limits)
        band = self._band_text(confidence, simultaneous)
        _plots.draw_band(ax, places, value[order], low, high, label="estimate", band=band)
        if direct is not None:
            under, over = np.clip(direct.interval(confidence), *SHARES)
            ax.axhline(float(np.clip(direct.value, *SHARES)), color=_plots.VERMILION, label="direct question")
            for limit in (under, over):
                ax.axhline(float(limit), color=_plots.VERMILION, linestyle="--", linewidth=0.8)
        ylabel = f"prevalence (share)\n{self._source_text()}"
        _plots.finish(ax, "", "people who do not follow the instruction (%)", ylabel)
        return ax


def sensitivity_bounds(estimate: Estimate[float], guesses: float, compliant: ArrayLike | None) -> SensitivityBounds:
    """Return the prevalences for assumed shares of people who follow the instruction.

    Parameters
    ----------
    estimate : Estimate
        Prevalence, if all people do.
    guesses : float
        What it would be for the others alone.
    compliant : array_like or None
        The shares.

    Raises
    ------
    TypeError, ValueError
        If they are not in (0, 1].
    """
    shares = (
        np.linspace(1.0, LEAST, STEPS) if compliant is None else np.atleast_1d(_check.numbers("compliant", compliant))
    )
    if shares.ndim != 1 or not len(shares):
        raise ValueError(f"compliant must be a share or have shape (k,) with k >= 1, got shape {shares.shape}")
    outside = shares[(shares <= 0) | (shares > 1)]
    if len(outside):
        raise ValueError(f"compliant must be shares in (0, 1], got {outside[0]:g}")
    rule = CompliantLimits(estimate.rule, np.asarray(estimate.value), np.asarray(estimate.stderr), shares, guesses)
    fields: Any = {"labels": tuple(f"{100 * share:g} % follow the instruction" for share in shares.tolist())}
    fields |= {"quantity": "prevalence", "compliant": shares, "_span": SHARES}
    value, stderr = rule.of_compliant(estimate.value), estimate.stderr / shares
    return SensitivityBounds(value, stderr, estimate.n, estimate.guarantee, None, rule, **fields)
