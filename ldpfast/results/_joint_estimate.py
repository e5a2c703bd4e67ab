"""Estimates of the same people whose covariance with each other is known."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .._typing import Floats
from ._differences import require_alike
from ._estimate import Estimate, LabeledEstimate
from ._fieller import Fieller
from ._intervals import IntervalRule


@dataclass(frozen=True, eq=False, repr=False)
class JointEstimate(Estimate[Any]):
    """An estimate that is a function of some coefficients, as others of the same people are.

    Its difference with another one of the same people, and their ratio, have the standard error of the delta method.

    Attributes
    ----------
    slopes : ndarray, shape (numbers, coefficients)
        Derivatives of the numbers with respect to the coefficients.
    coefficients : ndarray, shape (coefficients, coefficients)
        Covariance matrix of the coefficients.
    """

    slopes: Floats = field(kw_only=True)
    coefficients: Floats = field(kw_only=True)
    _what: ClassVar[str] = "predictions"

    def __sub__(self, other: object) -> LabeledEstimate:
        """Return the difference of two estimates, of the same people or of different ones."""
        if not self._is_joint_with(other):
            return super().__sub__(other)
        assert isinstance(other, JointEstimate)
        require_alike(self, other)
        value, slopes = np.asarray(self.value - other.value), self.slopes - other.slopes
        cov = slopes @ self.coefficients @ slopes.T if self.covariance is not None else None
        stderr = np.sqrt(_variances(slopes, self.coefficients)).reshape(value.shape)
        low, high = self._span
        fields = {**self._fields("difference", other), "_unit_text": self._unit(), "_span": (low - high, high - low)}
        return LabeledEstimate(_plain(value), _plain(stderr), covariance=cov, rule=self._joint_rule(other), **fields)

    def __truediv__(self, other: object) -> LabeledEstimate:
        """Return the ratio of two estimates, of the same people or of different ones, with Fieller's limits."""
        if not self._is_joint_with(other):
            return super().__truediv__(other)
        assert isinstance(other, JointEstimate)
        require_alike(self, other)
        top, bottom = np.asarray(self.value, np.float64), np.asarray(other.value, np.float64)
        crossed = np.einsum("ij,jk,ik->i", self.slopes, self.coefficients, other.slopes).reshape(top.shape)
        va, vb = (np.asarray(np.square(part.stderr)) for part in (self, other))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = top / bottom
            errors = np.sqrt(_variances(self.slopes - ratio.reshape(-1, 1) * other.slopes, self.coefficients))
            stderr = errors.reshape(top.shape) / np.abs(bottom)
        freedom = float(getattr(self._joint_rule(other), "freedom", math.inf))
        rule = Fieller(top, bottom, va, vb, crossed, freedom=freedom)
        return LabeledEstimate(_plain(ratio), _plain(stderr), rule=rule, **self._fields("ratio", other))

    def _joint_rule(self, other: JointEstimate) -> IntervalRule:
        """Return the rule for limits of differences."""
        return self.rule

    def _is_joint_with(self, other: object) -> bool:
        return (
            isinstance(other, JointEstimate)
            and self._people is not None
            and self._people == other._people
            and np.array_equal(self.coefficients, other.coefficients)
        )

    def _joint_n(self, other: JointEstimate) -> int:
        """Return the number of people of a difference or ratio."""
        return self.n

    def _fields(self, kind: str, other: JointEstimate) -> dict[str, Any]:
        """Return the fields of a difference or ratio with the same people."""
        return {
            "n": self._joint_n(other),
            "guarantee": self.guarantee,
            "labels": tuple(self._entries(range(np.size(self.value)))),
            "quantity": f"{kind} of {self._what}",
            "_people": self._people,
        }


def _variances(slopes: Floats, cov: Floats) -> Floats:
    """Return the variances of linear functions of coefficients."""
    return np.asarray(np.maximum(np.einsum("ij,jk,ik->i", slopes, cov, slopes), 0.0))


def _plain(x: Floats) -> Any:
    return float(x) if np.ndim(x) == 0 else x
