"""What all regressions have: coefficients with their covariance, intervals, tests and a summary."""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._typing import AnyArray, Floats
from ..designs import Sample
from ..privacy import Guarantee
from ..results import Estimate, IntervalRule, LabeledEstimate, Normal, People, StudentT
from ._covariates import Columns, SmallChange
from ._maximum import SmoothLikelihood, maximum
from ._prediction import MarginalEffects, Prediction
from ._rows import Rows
from ._sandwich import squared_scores
from ._study import Study
from ._summary import RegressionSummary, coefficient_table

ERRORS = {  # of the covariance matrix: the texts of summaries
    "nonrobust": "observed information",
    "linearized": "sandwich",
    "replicates": "replicate weights",
    "HC1": "heteroscedasticity-consistent (HC1)",
    "HC3": "heteroscedasticity-consistent (HC3)",
    "cluster": "sandwich of clusters",
}


def freedom_of(sample: Sample, columns: int) -> float:
    """Return the degrees of freedom of standard errors by the sandwich, of a regression with some columns.

    They are those of a mean less one for every further column, as in the package survey of R for equal clusters.
    """
    return max(1.0, sample.freedom - (columns - 1))


def read_cov_type(cov_type: Any, plain: str, allowed: Collection[str], sample: Sample) -> str:
    """Return the kind of covariance matrix of a fit.

    Parameters
    ----------
    cov_type : str or None
        The argument.
    plain : str
        What None means for people who are drawn one by one, without weights.
    allowed : collection of str
        The kinds that the model has, besides "cluster" and "replicates".
    sample : Sample

    Raises
    ------
    TypeError, ValueError
        If it is not such a kind, or not one for such a sample.
    """
    needed, reason = None, ""
    if sample.replicates is not None:
        needed, reason = "replicates", "replicate weights"
    elif sample.is_stratified:
        needed, reason = "linearized", "strata or a finite population"
    elif sample.clusters is not None:
        needed, reason = "cluster", "clusters"
    if cov_type is None:
        weighted = plain if plain != "nonrobust" else "linearized"
        return needed if needed is not None else plain if sample.weights is None else weighted
    kind = _check.choice("cov_type", cov_type, (*allowed, "cluster", "replicates"))
    if needed is not None and kind != needed:
        raise ValueError(f'cov_type must be "{needed}" if there are {reason}, got {kind!r}')
    if needed is None and kind in ("cluster", "replicates"):
        named = "clusters" if kind == "cluster" else "replicate weights"
        raise ValueError(f'cov_type must be "{kind}" if there are {named}, and only then, got {kind!r}')
    if kind == "nonrobust" and sample.weights is not None:
        raise ValueError('cov_type must be "HC1" or another robust one for a fit with weights, got "nonrobust"')
    return kind


def robust_covariance(
    kind: str,
    bread: Floats,
    scores: Iterable[tuple[slice, Floats]],
    sample: Sample,
    columns: int,
    refit: Callable[[Floats], Floats],
    params: Floats,
) -> tuple[Floats, float]:
    """Return the covariance matrix of coefficients with the largest likelihood, and its degrees of freedom.

    Parameters
    ----------
    kind : str
        As `read_cov_type` returns it.
    bread : ndarray, shape (coefficients, coefficients)
        Inverse of the information.
    scores : iterable
        Gradients of people, with their places.
    sample : Sample
    columns : int
        Number of columns of the model, for the degrees of freedom.
    refit : callable
        The coefficients with other weights, for replicate weights.
    params : ndarray, shape (coefficients,)
    """
    if kind == "nonrobust":
        return bread, math.inf
    if kind in ("HC1", "HC3"):
        cov = bread @ squared_scores(scores, len(bread)) @ bread
        return cov * (sample.n / max(sample.n - len(bread), 1) if kind == "HC1" else 1.0), freedom_of(sample, columns)
    linear = ((place, part @ bread) for place, part in scores)
    return sample.covariance(linear, refit, params.ravel()), freedom_of(sample, columns)


def refitted(likelihood: SmoothLikelihood, params: Floats) -> Floats:
    """Return the coefficients with the largest likelihood, from those with other weights.

    Raises
    ------
    ValueError
        If there are none.
    """
    found = maximum(likelihood, params)
    if found is None:
        raise ValueError("replicate_weights must leave enough people, got a replicate whose likelihood has no maximum")
    return found[0].ravel()


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
    cov_type : str
        Kind of the covariance matrix: "nonrobust", "linearized" (that of a sample with weights or strata), "HC1", "HC3",
        "cluster" or "replicates".
    design_effect : ndarray
        Variances of the coefficients, divided by those for as many people who are drawn one by one.
    left_out : int
        Number of rows of a data frame that a formula has left out, because a value is missing.
    guarantee : privacy.Guarantee
        Guarantee of the reports.
    """

    names: tuple[str, ...]
    params: Floats
    cov: Floats
    n: int
    cov_type: str
    design_effect: Floats
    left_out: int
    guarantee: Guarantee
    intercept: bool
    _columns: Columns
    _data: Any  # covariates, as `_columns` reads them
    _weights: Floats | None
    _sample: Sample
    _rows: Rows  # standardized
    _standard: tuple[Floats, Floats]  # coefficients of standardized columns, in which large numbers do not cancel
    _people: People
    _freedom: Any = math.inf  # degrees of freedom of the standard errors: a number, or one for each coefficient

    def __getattr__(self, name: str) -> Any:
        if name in (
            "names",
            "params",
            "cov",
            "n",
            "left_out",
            "llf",
            "sigma",
            "answers",
            "attention",
            "controls",
            "coefficients",
            "_columns",
            "_data",
            "_likelihood",
            "_standard",
            "_weights",
            "_sample",
            "_rows",
            "cov_type",
            "design_effect",
            "bse",
            "pvalues",
            "aic",
            "bic",
        ) and not ("params" in self.__dict__ and name in ("llf", "aic", "bic", "sigma", "answers", "attention")):
            raise AttributeError(f"{type(self).__name__} is not fitted yet: call fit first")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def coefficients(self) -> LabeledEstimate:
        """The coefficients as an estimate, with `interval`, `test` and `plot`."""
        stderr = np.sqrt(np.diag(self.cov))
        fields: Any = {"labels": self.names, "quantity": "coefficient"}
        rule, fields["_people"] = self._rule(self._freedom), self._people
        return LabeledEstimate(self.params.ravel(), stderr, self.n, self.guarantee, self.cov, rule, **fields)

    @property
    def bse(self) -> Floats:
        """Standard errors of the coefficients, in the order of `names`."""
        return np.asarray(self.coefficients.stderr)

    @property
    def pvalues(self) -> Floats:
        """p-values of the tests that a coefficient is 0, in the order of `names`."""
        return np.asarray(self.coefficients.test().pvalue)

    def conf_int(self, alpha: float = 0.05) -> Floats:
        """Return the limits of `interval` as other packages have them.

        Parameters
        ----------
        alpha : float, default 0.05
            Probability that an interval misses its coefficient, in (0, 1).

        Returns
        -------
        limits : ndarray, shape (coefficients, 2)
        """
        return np.column_stack(self.interval(1 - _check.probability("alpha", alpha)))

    @property
    def aic(self) -> float:
        """Akaike's information criterion of a fit by maximum likelihood without weights and clusters."""
        return self._criterion(2.0)

    @property
    def bic(self) -> float:
        """Schwarz's information criterion of a fit by maximum likelihood without weights and clusters."""
        return self._criterion(math.log(self.n))

    def _criterion(self, penalty: float) -> float:
        """Return minus twice the log-likelihood, with a penalty for each parameter."""
        if not hasattr(self, "llf"):
            raise AttributeError
        if not self._sample.is_plain:
            raise ValueError("information criteria must be those of a fit without weights and clusters")
        return penalty * self._parameters() - 2 * float(self.__dict__["llf"])

    def _parameters(self) -> int:
        """Return the number of parameters of the likelihood."""
        return int(np.size(self.params))

    @staticmethod
    def _rule(freedom: Any) -> IntervalRule:
        """Return the rule for limits of estimates whose standard errors have some degrees of freedom."""
        return Normal() if np.isinf(freedom).all() else StudentT(freedom)

    def _rule_of_functions(self) -> IntervalRule:
        """Return the rule for limits of functions of the coefficients: with the fewest degrees of freedom of these."""
        return self._rule(np.min(self._freedom))

    def _labeled(self, values: Floats, cov: Floats, names: tuple[str, ...], what: str) -> LabeledEstimate:
        """Return coefficients of another part of the model, which are not `params`."""
        fields: Any = {"labels": names, "quantity": f"coefficient of {what}", "_people": self._people}
        stderr = np.sqrt(np.diag(cov))
        return LabeledEstimate(values, stderr, self.n, self.guarantee, cov, self._rule_of_functions(), **fields)

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
        kind = f"{100 * confidence:g} % intervals, standard errors: {ERRORS[self.cov_type]}"
        freedom = [f"{value:.4g}" for value in (np.min(self._freedom), np.max(self._freedom))]
        if not np.isinf(self._freedom).all():
            kind += f", t with {' to '.join(dict.fromkeys(freedom))} degrees of freedom"
        left_out = f"{self.left_out:,} rows with missing values are left out, " if self.left_out else ""
        return RegressionSummary(table, (f"n = {self.n:,}, {left_out}{kind}", *self._notes()))

    @abstractmethod
    def _notes(self) -> list[str]:
        """Return lines about the model for its summary."""

    # Functions of the coefficients --------------------------------------------------------------------------------------

    @abstractmethod
    def predict(self, X: Any) -> Estimate[Any]:  # noqa: N803
        """Return the predictions for people with given covariates."""

    @abstractmethod
    def _average(self, rows: Rows, weights: Floats, **at: Any) -> tuple[Floats, Floats]:
        """Return the mean of the predictions for standardized rows, and its derivatives by the standardized coefficients.

        Parameters
        ----------
        rows : Rows
        weights : ndarray, shape (n,)
            With sum 1.

        Returns
        -------
        value : ndarray, shape (numbers,)
        slopes : ndarray, shape (numbers, coefficients)
        """

    @abstractmethod
    def _average_slope(self, rows: Rows, derivatives: Floats, weights: Floats, **at: Any) -> tuple[Floats, Floats]:
        """Return the mean derivative of the predictions by a covariate, and its derivatives by the coefficients.

        `derivatives` are those of the standardized columns, of shape (columns,) or (n, columns), with the intercept. The rest
        is as for `_average`.
        """

    def _prefixes(self) -> tuple[str, ...]:
        """Return what is put before the label of an effect, for each number that `_average` returns."""
        return ("",)

    def contrast(
        self,
        a: Any,
        b: Any,
        *,
        average: bool = True,
        ratio: bool = False,
        weights: ArrayLike | None = None,
    ) -> LabeledEstimate:
        """Compare the predictions for two sets of covariates: a first difference, or a ratio.

        Parameters
        ----------
        a, b : mapping of a covariate to one value; or array_like or data frame, as for `predict`
            Values such as ``{"female": True}`` are those of all people of the fit, whose other covariates stay what they are.
        average : bool, default True
            Whether the means over the rows are compared; else the rows one by one.
        ratio : bool, default False
            Whether the result is the quotient of a and b, and not the difference a - b.
        weights : array_like of float, shape (n,), optional
            Weights >= 0 of the rows in a mean; for people of the fit, their weights in the fit are the default.

        Returns
        -------
        contrast : LabeledEstimate
            With the standard error of the delta method, by the covariance of the coefficients, and Fieller's limits for a
            ratio. It equals ``predict(a, average=True) - predict(b, average=True)``.

        Raises
        ------
        TypeError, ValueError
            If a or b do not have the columns of `fit` or have unequal numbers of rows; if `weights` are no such numbers.
        """
        return self._contrast((a, {}), (b, {}), average, ratio, weights)

    def _contrast(
        self, a: tuple[Any, dict[str, Any]], b: tuple[Any, dict[str, Any]], average: bool, ratio: bool, weights: Any
    ) -> LabeledEstimate:
        """Return a difference or ratio of two predictions, each of covariates and further arguments."""
        given: dict[str, Any] = {}
        if _check.flag("average", average):
            if weights is None and _is_values(a[0]) and _is_values(b[0]):
                weights = self._weights
            given = {"average": True, "weights": weights}
        elif weights is not None:
            raise ValueError("weights must be None unless average=True")
        predict: Any = self.predict
        first, second = (predict(self._people_with(x), **given, **more) for x, more in (a, b))
        found: LabeledEstimate = first / second if _check.flag("ratio", ratio) else first - second
        return found

    def _people_with(self, x: Any) -> Any:
        """Return covariates; if only values are given, those of the people of the fit with these values."""
        return self._columns.replaced(self._data, x) if _is_values(x) else x

    def marginal_effects(self) -> MarginalEffects:
        """Return the average marginal effects: how much the prediction rises per unit of a covariate.

        Returns
        -------
        effects : MarginalEffects
            A mean over the people, with their weights, for every covariate but the intercept. For numbers it is the mean
            derivative; in a formula that by the column of the data frame, through all terms with it, such as ``I(age**2)`` and
            ``age:female``. For categories it is the mean difference from the first one, and for a column of booleans of a data
            frame that of true from false. Standard errors are by the delta method.

        Raises
        ------
        ValueError
            If a term of a formula is no smooth function of a number, such as ``I(age > 40)``.
        """
        return self._effects()

    def _effects(self, **at: Any) -> MarginalEffects:
        """Return the average marginal effects where `at` says more than the covariates."""
        rows = self._rows
        assert rows.scale is not None
        weights = np.ones(len(rows)) if self._weights is None else self._weights
        weights = weights / weights.sum()
        labels = []
        found: list[tuple[Floats, Floats]] = []
        for change in self._columns.changes(self._data):
            labels.append(change.label)
            if isinstance(change, SmallChange):
                unit = change.derivatives / rows.scale
                if rows.intercept:
                    unit = np.concatenate([np.zeros((*unit.shape[:-1], 1)), unit], axis=-1)
                found.append(self._average_slope(rows, unit, weights, **at))
                continue
            after, before = (self._average(part.like(rows), weights, **at) for part in (change.after, change.before))
            found.append((after[0] - before[0], after[1] - before[1]))
        prefixes = self._prefixes()
        value = np.stack([part[0] for part in found], axis=1) if found else np.empty((len(prefixes), 0))
        width = len(self._standard[1])
        slopes = np.stack([part[1] for part in found], axis=1) if found else np.empty((len(prefixes), 0, width))
        slopes = slopes.reshape(value.size, width)
        cov = slopes @ self._standard[1] @ slopes.T
        rule = self._rule_of_functions()
        fields: Any = {"labels": tuple(f"{prefix}{label}" for prefix in prefixes for label in labels)}
        fields |= {"quantity": "average marginal effect", "_people": self._people}
        stderr = np.sqrt(np.maximum(np.diag(cov), 0))
        return MarginalEffects(value.ravel(), stderr, self.n, self.guarantee, cov, rule, **fields)

    def _mean_weights(self, weights: ArrayLike | None, average: bool, n: int) -> Floats | None:
        """Return the weights of n rows in a mean, with sum 1; None if there is no mean."""
        if not _check.flag("average", average):
            if weights is not None:
                raise ValueError(
                    "weights must be None unless average=True: they do not change the prediction of one person"
                )
            return None
        given = np.ones(n) if weights is None else _check.weights(weights, n)
        return np.asarray(given / given.sum())

    def _set_design_effect(self, plain: Floats, units: AnyArray, sample: Sample) -> None:
        """Set the design effect after `cov`.

        Parameters
        ----------
        plain : ndarray, shape (coefficients, coefficients)
            Covariance matrix for people who are drawn one by one, for weights with mean 1.
        units : ndarray
            Matrix that turns coefficients of standardized columns into coefficients of the columns.
        sample : Sample
        """
        mean = 1.0 if sample.weights is None else float(sample.weights.sum()) / sample.n
        own = np.diag(units @ plain @ units.T)[: len(self.cov)] * mean
        self.design_effect = np.diag(self.cov) / own

    def _learn(self, study: Study, sample: Sample) -> None:
        """Keep what later methods need of the people of the fit."""
        self._columns, self._data = study.columns, study.data
        self._weights, self._sample = sample.weights, sample
        self.left_out = study.left_out

    def _read(self, X: Any) -> Rows:  # noqa: N803
        """Return covariates with the columns of the fitted ones, standardized as these."""
        return self._columns.rows(X).like(self._rows)


def _is_values(x: Any) -> bool:
    """Return whether an argument is a mapping of covariates to one value each."""
    return isinstance(x, Mapping) and all(np.ndim(value) == 0 for value in x.values())
