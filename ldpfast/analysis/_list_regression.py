"""Regression for list experiments."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._labels import require_one_index
from .._typing import Floats
from ..designs import ReplicateWeights, list_experiment
from ..results import SHARES, Estimate, LabeledEstimate, TestResult
from ._binary_means import average_of, average_slope_of, shares_of
from ._list_likelihood import ListLikelihood
from ._maximum import best_maximum
from ._model import Regression, people_of, read_cov_type, refitted, robust_covariance
from ._rows import Rows
from ._study import study_of_arrays, study_of_formula

LIARS = ("ceiling", "floor")
NO_MAXIMUM = (
    "the likelihood must have a maximum, got counts without one: too few people may have the attribute, or a covariate may "
    "separate them. Use fewer covariates, more people, or constrained=True"
)
LEAST_SHARE = 0.02  # of the sensitive attribute where the search starts


class ListExperiment(Regression):
    """Logit model of a sensitive attribute that people reveal in a list experiment only, with known covariates.

    People say how many of some statements are true of them. The list of some of them, drawn at random, has the sensitive
    statement as well.

    Parameters
    ----------
    items : int
        Number of statements without the sensitive one, from 1 to 50.
    constrained : bool, default False
        Whether the counts of the other statements have the same coefficients for people with and without the attribute.
    intercept : bool, default True
        Whether a column of ones, named const, is put before those of X.

    Attributes
    ----------
    names : tuple of str
        Names of the coefficients of the sensitive attribute.
    params, cov : ndarray
        These coefficients and their covariance matrix.
    controls : LabeledEstimate
        Coefficients of the binomial logit models of the other statements: of people without the attribute ("no: age"), then of
        those with it; or of all ("all: age") if `constrained`.
    llf : float
        Log-likelihood at the maximum.
    n : int
        Number of people.

    Raises
    ------
    TypeError, ValueError
        If the arguments are not as above.

    Notes
    -----
    The count of a person without the sensitive statement is that of other true statements, a binomial variable whose
    probability depends on covariates and on the attribute; the sensitive statement adds 1 for people with the attribute. The
    likelihood, a sum over the unknown attribute, is maximized by the EM gradient algorithm and then by Newton's method, from
    several starts. It is assumed that the sensitive statement does not change the answers to the others
    (`designs.ListDesign.test`), and that nobody lies (`liars`). If many people have all or none of the other statements, these
    reveal nothing and those who would have to reveal themselves may lie.

    References
    ----------
    .. [1] K. Imai, "Multivariate regression analysis for the item count technique", JASA, 2011.
    .. [2] G. Blair, K. Imai, "Statistical analysis of list experiments", Political Analysis, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast import analysis
    >>> rng, n = np.random.default_rng(1), 6000
    >>> age, treated = rng.normal(size=n), rng.random(n) < 0.5
    >>> has = rng.random(n) < 1 / (1 + np.exp(1 - 0.8 * age))
    >>> counts = rng.binomial(3, 0.4, n) + (has & treated)
    >>> model = analysis.ListExperiment(3).fit(age[:, np.newaxis], counts, treated=treated)
    >>> low, high = model.interval()
    >>> bool(low[0] < -1 < high[0]), bool(low[1] < 0.8 < high[1])
    (True, True)
    """

    llf: float
    controls: LabeledEstimate
    _likelihood: ListLikelihood
    _whole: tuple[Floats, Floats]  # all coefficients of standardized columns, and the inverse of their information

    def __init__(self, items: int, *, constrained: bool = False, intercept: bool = True) -> None:
        self.design = list_experiment(items)
        self.items = self.design.items
        self.constrained = _check.flag("constrained", constrained)
        self.intercept = _check.flag("intercept", intercept)
        self.guarantee = self.design.guarantee

    def fit(
        self,
        X: Any,  # noqa: N803
        counts: Any = None,
        *,
        treated: Any = None,
        data: Any = None,
        weights: ArrayLike | str | None = None,
        clusters: Any = None,
        strata: Any = None,
        replicate_weights: ReplicateWeights | None = None,
        cov_type: str | None = None,
    ) -> Self:
        """Fit the model to a formula and a data frame, or to covariates and counts.

        Parameters
        ----------
        X, data, weights, clusters, strata, replicate_weights
            As for `RandomizedLogit.fit`. A formula has the column of the counts before ~.
        counts : array_like of int, shape (n,); or data frame
            How many statements each person says are true. With a formula its data, if `data` is not given.
        treated : array_like of bool, shape (n,), or str
            Whether the list of the person has the sensitive statement. With a formula, a text is the name of a column.
        cov_type : {"nonrobust", "linearized", "HC1", "cluster", "replicates"}, optional
            As for `RandomizedLogit.fit`.

        Returns
        -------
        self : ListExperiment

        Raises
        ------
        ImportError
            If there is a formula, and formulaic or pandas is not installed (extra "analysis").
        TypeError, ValueError
            If the arguments are not as above, a count is too large for its list, or columns are linearly dependent; if the
            likelihood has no maximum, because too few people have the attribute or a covariate separates them.

        Warns
        -----
        SmallSampleWarning
            As for `RandomizedLogit.fit`.

        Examples
        --------
        >>> import numpy as np, pandas as pd
        >>> from ldpfast import analysis
        >>> rng, n = np.random.default_rng(1), 6000
        >>> data = pd.DataFrame({"age": rng.normal(45, 15, n), "long": rng.random(n) < 0.5})
        >>> has = rng.random(n) < 1 / (1 + np.exp(1 - 0.05 * (data["age"] - 45)))
        >>> data["count"] = rng.binomial(3, 0.4, n) + (has & data["long"])
        >>> model = analysis.ListExperiment(3, constrained=True).fit("count ~ age", data, treated="long")
        >>> model.names, model.controls.labels
        (('const', 'age'), ('all: const', 'all: age'))
        >>> bool(model.contrast({"age": 60}, {"age": 30}).value > 0.2)
        True
        """
        people: dict[str, Any] = {"treated": treated, "weights": weights, "clusters": clusters, "strata": strata}
        people["replicate_weights"] = replicate_weights
        if treated is None:
            raise TypeError("treated must be given")
        if isinstance(X, str):
            study = study_of_formula(X, counts, data, self.intercept, people, "counts")
        else:
            study = study_of_arrays(X, data, self.intercept, {"counts": counts, **people}, ("counts",))
        rows, given = study.rows, study.given
        numbers, has_item = self.design.read(given["counts"], given["treated"])
        if len(numbers) != len(rows):
            raise ValueError(f"counts must have one entry for each row of X, got {len(numbers)} for {len(rows)} rows")
        w = None if given["weights"] is None else _check.weights(given["weights"], len(rows))
        standard = rows.standardized()
        likelihood = ListLikelihood(standard, numbers, has_item, self.items, self.constrained, w)
        size = len(rows.names)
        sample = study.sample(w, size + 1)
        kind = read_cov_type(cov_type, "nonrobust", ("nonrobust", "linearized", "HC1"), sample)
        # The likelihood is maximized for standardized columns; coefficients and covariance then return to their units.
        params, sums = best_maximum(likelihood, self._starts(likelihood), NO_MAXIMUM)
        bread = np.asarray(np.linalg.inv(sums.information), np.float64)

        def refit(weights: Floats) -> Floats:
            return refitted(replace(likelihood, weights=weights), params)

        cov, freedom = robust_covariance(kind, bread, likelihood.scores(params), sample, size, refit, params)
        models = params.size // size
        own = np.kron(np.eye(models), standard.to_units)
        values, whole = own @ params, np.asarray(own @ cov @ own.T, np.float64)
        self.names, self.n = rows.names, sample.n
        self.llf = sums.value
        self.params, self.cov = values[:size], whole[:size, :size]
        self._set_design_effect(bread, own, sample)
        self.cov_type, self._freedom = kind, freedom
        self._people = people_of(np.column_stack([numbers, has_item]))
        groups = ("all",) if self.constrained else ("no", "yes")
        fields: Any = {"labels": tuple(f"{group}: {name}" for group in groups for name in rows.names)}
        fields |= {"quantity": "coefficient of the other statements", "_people": self._people}
        part = whole[size:, size:]
        stderr = np.sqrt(np.diag(part))
        rule = self._rule_of_functions()
        self.controls = LabeledEstimate(values[size:], stderr, self.n, self.guarantee, part, rule, **fields)
        self._likelihood, self._rows = likelihood, standard
        self._standard, self._whole = (params[:size], cov[:size, :size]), (params, bread)
        self._learn(study, sample)
        return self

    def _starts(self, likelihood: ListLikelihood) -> Iterator[Floats]:
        """Yield parameters: by the difference in means without slopes, and with those of least squares."""
        rows, w = likelihood.rows, likelihood.weights
        x, y = rows.block(slice(None)), likelihood.counts.astype(np.float64)
        root = np.ones(len(x)) if w is None else np.sqrt(w)
        joined = np.column_stack([x, x * likelihood.treated[:, np.newaxis]]) * root[:, np.newaxis]
        slopes = np.linalg.lstsq(joined, y * root, rcond=None)[0].reshape(2, -1)
        rate = np.clip(np.mean(y[~likelihood.treated]) / self.items, LEAST_SHARE, 1 - LEAST_SHARE)
        share = np.clip(slopes[1][0] if rows.intercept else 0.5, LEAST_SHARE, 1 - LEAST_SHARE)
        for factor in (0.0, 4.0):
            sensitive, other = (np.clip(factor * part, -2, 2) for part in (slopes[1], slopes[0] / self.items))
            if rows.intercept:
                sensitive[0], other[0] = (math.log(part / (1 - part)) for part in (share, rate))
            for moved in (0.0, -0.7, 0.7):  # the counts of people with the attribute may be larger or smaller
                shifted = other + np.r_[moved, np.zeros(len(other) - 1)] * rows.intercept
                groups = [other] if self.constrained else [other, shifted]
                yield np.concatenate([sensitive, *groups])
                if self.constrained:
                    break

    # What follows -----------------------------------------------------------------------------------------------------

    def predict(self, X: Any, *, average: bool = False, weights: ArrayLike | None = None) -> Estimate[Any]:  # noqa: N803
        """Return the predicted prevalence of the sensitive attribute for people with given covariates.

        Parameters
        ----------
        X, average, weights
            As for `RandomizedLogit.predict`.

        Returns
        -------
        prevalence : Estimate
            Shape (n,); with `average` a number. Standard errors are by the delta method, also of differences and ratios.
        """
        require_one_index({"X": X, "weights": weights})
        rows = self._read(X)
        w = self._mean_weights(weights, average, len(rows))
        if w is not None:
            value, slopes = self._average(rows, w)
            return self._prediction(value[0], slopes, _span=SHARES, _table=X)
        return self._prediction(*shares_of(rows.block(slice(None)), self._standard[0]), _span=SHARES, _table=X)

    def _average(self, rows: Rows, weights: Floats, **at: Any) -> tuple[Floats, Floats]:
        return average_of(rows, weights, self._standard[0])

    def _average_slope(self, rows: Rows, derivatives: Floats, weights: Floats, **at: Any) -> tuple[Floats, Floats]:
        return average_slope_of(rows, derivatives, weights, self._standard[0])

    def liars(self, at: str) -> TestResult:
        """Test whether people lie who would have to reveal that all statements are true of them, or only the sensitive one.

        Parameters
        ----------
        at : {"ceiling", "floor"}
            People with the attribute of whom all other statements are true, who may leave one out; or none, who may say 0.

        Returns
        -------
        result : TestResult
            Score test of a share of 0 of liars among these, against a larger one. A small p-value is a sign that the
            estimates are too small.

        Raises
        ------
        ValueError
            If `at` is neither; if the fit has weights or clusters.
        """
        from scipy.special import ndtr

        if _check.choice("at", at, LIARS) and not self._sample.is_plain:
            raise ValueError("liars must be tested in a fit without weights and clusters")
        params = self._whole[0]
        score, variance = 0.0, 0.0
        crossed = np.zeros(params.size)
        squares = np.zeros((params.size, params.size))
        for part, scores in self._likelihood.scores(params):
            u = self._liar_scores(params, part, at)
            score += float(u.sum())
            variance += float(u @ u)
            crossed += u @ scores
            squares += scores.T @ scores
        # The score of the share of liars at 0 less its regression on those of the coefficients, which are estimated.
        variance -= float(crossed @ np.linalg.solve(squares, crossed))
        statistic = score / math.sqrt(variance) if variance > 0 else 0.0
        return TestResult(statistic, float(ndtr(-statistic)), "greater", 0.0, self.n)

    def _liar_scores(self, params: Floats, part: slice, at: str) -> Floats:
        """Return the derivatives of the log-likelihoods of people by a share of liars, where it is 0."""
        block, likelihood = self._likelihood.block(params, part), self._likelihood
        counts, treated = likelihood.counts[part], likelihood.treated[part]
        true = self.items if at == "ceiling" else 0
        rate = block.others[1]
        honest = block.share * (rate**self.items if at == "ceiling" else (1 - rate) ** self.items)
        told, lied = ((true + 1), true)
        found = np.where(counts == lied, honest / block.total, np.where(counts == told, -honest / block.total, 0.0))
        return np.asarray(np.where(treated, found, 0.0))

    def _parameters(self) -> int:
        return int(self._whole[0].size)

    def _notes(self) -> list[str]:
        same = "the same" if self.constrained else "different"
        return [
            f"log-likelihood = {self.llf:.2f}, list experiment with {self.items} other statements, epsilon = inf",
            f"log-odds of the sensitive attribute; {same} coefficients of the other statements with and without it",
        ]

    def __repr__(self) -> str:
        state = "" if "params" not in self.__dict__ else f", n = {self.n}"
        return f"<ListExperiment of {self.items} statements{state}>"
