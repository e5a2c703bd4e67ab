"""What all regressions have: coefficients with their covariance, intervals, tests and a summary."""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from .._typing import AnyArray, Floats
from ..designs import Sample
from ..privacy import Guarantee
from ..results import IntervalRule, LabeledEstimate, Normal, People, StudentT
from ._prediction import Prediction
from ._rows import Rows
from ._summary import RegressionSummary, coefficient_table

OBSERVED = "observed information"  # standard errors of a fit without weights and clusters
MAX_STDERR = 20.0  # of a coefficient of a standardized column: more is no information about it


def freedom_of(sample: Sample, columns: int) -> float:
    """Return the degrees of freedom of standard errors by the sandwich, of a regression with some columns.

    They are those of a mean less one for every further column, as in the package survey of R for equal clusters.
    """
    return max(1.0, sample.freedom - (columns - 1))


def people_of(reports: AnyArray) -> People:
    """Return the people who made some reports, so that results of several models of them are known to be related."""
    return People.of(hashlib.blake2b(np.ascontiguousarray(reports).tobytes(), digest_size=16).digest())


class Regression(ABC):
    """Base class of regressions. `fit` sets the attributes.

    Attributes
    ----------
    names : tuple of str
        Names of the coefficients.
    params : ndarray of float64
        Coefficients.
    cov : ndarray of float64
        Their covariance matrix, in the order of the flattened coefficients.
    n : int
        Number of people, without those of weight 0.
    guarantee : privacy.Guarantee
        Guarantee of the reports.
    """

    names: tuple[str, ...]
    params: Floats
    cov: Floats
    n: int
    guarantee: Guarantee
    intercept: bool
    _rows: Rows  # standardized
    _standard: tuple[Floats, Floats]  # coefficients of standardized columns, in which large numbers do not cancel
    _errors: str
    _people: People
    _freedom: Any = math.inf  # degrees of freedom of the standard errors: a number, or one for each coefficient

    def __getattr__(self, name: str) -> Any:
        if name in (
            "names",
            "params",
            "cov",
            "n",
            "llf",
            "sigma",
            "answers",
            "coefficients",
            "_likelihood",
            "_standard",
            "_rows",
            "_errors",
        ):
            raise AttributeError(f"{type(self).__name__} is not fitted yet: call fit first")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def coefficients(self) -> LabeledEstimate:
        """The coefficients as an estimate, with `interval`, `test` and `plot`."""
        stderr = np.sqrt(np.diag(self.cov))
        fields: Any = {"labels": self.names, "quantity": "coefficient"}
        rule, fields["_people"] = self._rule(self._freedom), self._people
        return LabeledEstimate(self.params.ravel(), stderr, self.n, self.guarantee, self.cov, rule, **fields)

    @staticmethod
    def _rule(freedom: Any) -> IntervalRule:
        """Return the rule for limits of estimates whose standard errors have some degrees of freedom."""
        return Normal() if np.isinf(freedom).all() else StudentT(freedom)

    def _rule_of_functions(self) -> IntervalRule:
        """Return the rule for limits of functions of the coefficients: with the fewest degrees of freedom of these."""
        return self._rule(np.min(self._freedom))

    def interval(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Return limits of the coefficients: normal ones, or by t quantiles if the standard errors are robust.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level of each, in (0, 1).

        Returns
        -------
        low, high : ndarray
            In the order of `names`.

        Raises
        ------
        TypeError, ValueError
            If `confidence` is not a number in (0, 1).
        """
        low, high = self.coefficients.interval(confidence)
        return np.asarray(low), np.asarray(high)

    def _prediction(self, value: Any, slopes: Floats, covariance: Floats | None = None, **fields: Any) -> Prediction:
        """Return numbers that are functions of the coefficients, with their derivatives in those of standardized columns."""
        cov = self._standard[1]
        stderr = np.sqrt(np.einsum("ij,jk,ik->i", slopes, cov, slopes))
        if np.ndim(value) == 0:
            value, stderr = float(value), float(stderr[0])
        own: Any = {**fields, "slopes": slopes, "coefficients": cov, "_people": self._people}
        return Prediction(value, stderr, self.n, self.guarantee, covariance, self._rule_of_functions(), **own)

    def summary(self, confidence: float = 0.95) -> RegressionSummary:
        """Return the coefficients as a table that can be printed.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level of the limits, in (0, 1).
        """
        table = coefficient_table(self.coefficients, confidence)
        kind = f"{100 * confidence:g} % intervals, standard errors: {self._errors}"
        freedom = [f"{value:.4g}" for value in (np.min(self._freedom), np.max(self._freedom))]
        if not np.isinf(self._freedom).all():
            kind += f", t with {' to '.join(dict.fromkeys(freedom))} degrees of freedom"
        return RegressionSummary(table, (f"n = {self.n:,}, {kind}", *self._notes()))

    @abstractmethod
    def _notes(self) -> list[str]:
        """Return lines about the model for its summary."""

    def _read(self, X: Any) -> Rows:  # noqa: N803
        """Return covariates with the columns of the fitted ones, standardized as these."""
        rows, fitted = Rows.of(X, self.intercept), self._rows
        if len(rows.names) != len(fitted.names) or (hasattr(X, "columns") and rows.names != fitted.names):
            raise ValueError(f"X must have the columns {', '.join(fitted.names)}, got {', '.join(rows.names)}")
        return rows.like(fitted)
