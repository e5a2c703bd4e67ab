"""Models of an answer that people have randomized, with known covariates."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._labels import require_one_index
from .._typing import Floats
from ..designs import Design, ReplicateWeights
from ..results import SHARES, Estimate, LabeledEstimate, TestResult
from ._answer_design import AnswerDesign, answer_design
from ._attention_model import ATTENTIVE, AttentionLikelihood
from ._links import Link
from ._maximum import MAX_STDERR, maximum
from ._model import Regression, people_of, read_cov_type, refitted, robust_covariance
from ._profile import profile_limits
from ._rows import CONST, Rows
from ._study import study_of_arrays, study_of_formula

FEW = 10_000  # people, for whom the search has two starts
METHODS = ("normal", "profile")


class AnswerRegression(Regression):
    """Base class of models of an answer that people have randomized.

    Attributes
    ----------
    llf : float
        Log-likelihood at the maximum.
    """

    llf: float
    attention: LabeledEstimate
    p_attention: Any = None
    _answers: AnswerDesign
    _link: ClassVar[Link]

    def __init__(self, design: Any, *, intercept: bool = True) -> None:
        self.design, self.intercept = design, _check.flag("intercept", intercept)
        self._set_answers(answer_design(design))

    def _set_answers(self, answers: AnswerDesign) -> None:
        """Set how answers became reports."""
        self._answers = answers
        self.guarantee, self.categories = answers.guarantee, answers.categories

    def fit(
        self,
        X: Any,  # noqa: N803
        reports: Any = None,
        *,
        data: Any = None,
        weights: ArrayLike | str | None = None,
        clusters: Any = None,
        strata: Any = None,
        fpc: Any = None,
        replicate_weights: ReplicateWeights | None = None,
        cov_type: str | None = None,
        design: Any = None,
        attention: Any = None,
    ) -> Self:
        """Fit the model to a formula and a data frame, or to covariates and reports.

        Parameters
        ----------
        X : str; or array_like of shape (n, columns), or data frame
            A formula such as ``"answer ~ age + C(region) * female"``: the column of the randomized answers, and covariates. Or
            the covariates themselves, which are known and not randomized. An array may be a memory-mapped file that is larger
            than memory (`numpy.load` with ``mmap_mode="r"``), and so may the reports: they are read in parts. A column of a
            data frame holds numbers, booleans or categories; of these every one but the first has a column of 0 and 1.
        reports : array_like, shape (n,); or data frame
            Randomized answers: codes, or the texts of `Design.answers`. With a formula its data, if `data` is not given.
        data : data frame or mapping of columns, optional
            Columns of the formula.
        weights : array_like of float, shape (n,), or str, optional
            Weights >= 0 of the people, such as inverse probabilities to be in the sample. People of weight 0 are not in the
            sample, and do not count in `n`. With a formula, a text is the name of a column.
        clusters : array_like, shape (n,), or str, optional
            Clusters of people whose answers are related, such as villages; more with positive weights than coefficients.
        strata : array_like, shape (n,), or str, optional
            Strata from each of which clusters, or people without clusters, were drawn: two or more, or all that there are.
        fpc : array_like of float, shape (n,), or str, optional
            Finite population: the number of clusters, or of people without clusters, of the stratum of each person in the
            population, all at least 1; or the share of them that was drawn, all in (0, 1].
        replicate_weights : ReplicateWeights, optional
            In the place of `clusters`, `strata` and `fpc`, with `weights`. With a formula, it can have names of columns.
        cov_type : {"nonrobust", "linearized", "HC1", "HC3", "cluster", "replicates"}, optional
            Kind of the covariance matrix: the inverse of the observed information, which is the default; the sandwich, the
            default with `weights` or `strata`; the same with the factor n / (n - columns), or with the scores of people divided
            by one less their leverage; the sandwich of clusters without strata, the default with these; replicate weights.
        design : array_like, shape (n,), or str, optional
            The key of the design of each person, if the model has a mapping of designs. With a formula, a text is the name of a
            column.
        attention : array_like, shape (n,), or str, optional
            Answers to the attention question, if the model has `p_attention`. With a formula, a text is the name of a column.

        Returns
        -------
        self : fitted model
            It keeps a reference to the data, for `marginal_effects`.

        Raises
        ------
        ImportError
            If there is a formula, and formulaic or pandas is not installed (extra "analysis").
        TypeError, ValueError
            If the arguments are not as above, or columns of X are linearly dependent; if a formula cannot be computed from its
            data; if the likelihood has no maximum, because covariates separate the answers or a share is 0 or 1.

        Warns
        -----
        SmallSampleWarning
            If there are fewer than 30 clusters, or weights are so unequal that people or clusters tell as much as fewer than 30
            of equal weights.

        Notes
        -----
        Formulas are read by the package formulaic: ``+``, ``:``, ``*``, ``0 +`` for no intercept, ``C(region)``,
        ``I(age**2)``, ``log(income)``, ``poly(age, 2)``, ``bs(age, df=4)``. Names of columns can be in backquotes. Rows with a
        missing value in one of the columns in use, weights and clusters included, are left out once, before anything is
        computed; `left_out` counts them. Categories that do not occur have no column.

        Examples
        --------
        >>> import numpy as np, pandas as pd
        >>> from ldpfast import analysis, designs
        >>> rng = np.random.default_rng(1)
        >>> data = pd.DataFrame({"age": rng.normal(45, 15, 4000), "region": rng.choice(["N", "S"], 4000)})
        >>> has = rng.random(4000) < 1 / (1 + np.exp(1 - 0.04 * (data["age"] - 45)))
        >>> design = designs.forced_response("1/6", "1/6")
        >>> data["answer"] = design.channel.privatize(has.to_numpy().astype(int), rng=1)
        >>> model = analysis.RandomizedLogit(design).fit("answer ~ age + I(age**2) + region", data)
        >>> model.names
        ('const', 'age', 'I(age ** 2)', 'region[T.S]')
        >>> model.marginal_effects().labels
        ('age', 'region: S - N')
        >>> difference = model.contrast({"age": 60}, {"age": 40})
        >>> difference.value > 0, difference.test().pvalue < 0.001
        (True, True)
        """
        people: dict[str, Any] = {"weights": weights, "clusters": clusters, "strata": strata, "fpc": fpc}
        people |= {"replicate_weights": replicate_weights, "design": design, "attention": attention}
        if isinstance(X, str):
            study = study_of_formula(X, reports, data, self.intercept, people, "reports")
        else:
            study = study_of_arrays(X, data, self.intercept, {"reports": reports, **people}, ("reports",))
        rows, given = study.rows, study.given
        likelihood = self._likelihood_of(rows, given)
        sample = study.sample(likelihood.weights, (len(self.categories) - 1) * len(rows.names) + 1)
        standard = rows.standardized()
        likelihood = replace(likelihood, rows=standard)
        names = self._answers.coefficient_names(rows.names)
        # The likelihood is maximized for standardized columns. Weights or clusters replace the inverse of the information by a
        # sandwich; coefficients and covariance then return to the units of the columns.
        params, bread, llf = self._maximum(likelihood, names)
        kind = read_cov_type(cov_type, self._answers.cov_types[0], self._answers.cov_types, sample)
        scores = likelihood.jackknifed_scores(params, bread) if kind == "HC3" else likelihood.scores(params)

        def refit(weights: Floats) -> Floats:
            return refitted(replace(likelihood, weights=weights), params)

        cov, freedom = robust_covariance(kind, bread, scores, sample, len(rows.names), refit, params)
        if sample.fractions is not None:
            if isinstance(likelihood, AttentionLikelihood):
                raise ValueError("fpc must be None for a model with an attention question")
            cov = cov + bread @ likelihood.randomization(params, sample.fraction_of) @ bread
        self.cov_type, self._freedom = kind, freedom
        units = standard.to_units
        self.n = sample.n
        whole = np.kron(np.eye(len(params)), units)
        values, covariance = params @ units.T, np.asarray(whole @ cov @ whole.T, np.float64)
        self._people = people_of(likelihood.codes)
        if isinstance(likelihood, AttentionLikelihood):
            # The first row of coefficients is the model; those of attention are a result of their own.
            columns = len(rows.names)
            self.attention = self._labeled(values[1], covariance[columns:, columns:], rows.names, "attention")
            params, cov = params[:1], cov[:columns, :columns]
            names = rows.names
            values, covariance = values[:1], covariance[:columns, :columns]
            likelihood = likelihood.of_the_attribute
        else:
            self.llf = llf - likelihood.constant
        self.names, self.cov = names, covariance
        self.params = values[0] if len(values) == 1 else values
        self._set_design_effect(bread, whole, sample)
        self._likelihood = likelihood
        self._rows = standard
        self._standard = (params, cov)
        self._learn(study, sample)
        return self

    def _likelihood_of(self, rows: Rows, given: dict[str, Any]) -> Any:
        """Return the likelihood of the reports of people."""
        return self._answers.own_likelihood(rows, given)

    def _starts(self, likelihood: Any) -> Iterator[Floats]:
        """Yield coefficients where the search starts."""
        for start in (self._answers.start_of_shares, self._answers.start_of_squares):
            yield start(likelihood)

    def _maximum(self, likelihood: Any, names: tuple[str, ...]) -> tuple[Floats, Floats, float]:
        """Return the coefficients with the largest likelihood, the inverse of the information, and the log-likelihood.

        Raises
        ------
        ValueError
            If there are none.
        """
        # From both starts, unless there are so many people that local maxima are improbable. A standard error that is too large
        # says which coefficient is infinite.
        found = None
        for start in self._starts(likelihood):
            other = maximum(likelihood, start)
            if other is not None and (found is None or other[1].value > found[1].value):
                found = other
            if found is not None and len(likelihood.rows) > FEW:
                break
        if found is not None:
            params, sums = found
            try:
                covariance = np.asarray(np.linalg.inv(sums.information), np.float64)
            except np.linalg.LinAlgError:
                found = None
        if found is not None:
            size = np.sqrt(np.diag(covariance))
            if size.max() < MAX_STDERR:
                return params, covariance, sums.value
        message = "the likelihood must have a maximum, got reports without one: "
        if found is None:
            raise ValueError(
                message
                + "a share may be 0 or 1, or a covariate may separate the answers. Use fewer covariates or more people"
            )
        name = names[int(np.argmax(size))]
        if name.startswith(ATTENTIVE):
            raise ValueError(
                message + "the share of attentive people is estimated as 0 or 1. If it is 1, leave out p_attention"
            )
        if name.endswith(CONST):
            raise ValueError(message + "the share of a category is estimated as 0 or 1")
        raise ValueError(message + f"column {name!r} separates the answers. Leave it out, or ask more people")

    # What follows -----------------------------------------------------------------------------------------------------

    def interval(self, confidence: float = 0.95, *, method: str = "normal") -> tuple[Floats, Floats]:
        """Return limits of the coefficients.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level of each, in (0, 1).
        method : {"normal", "profile"}, default "normal"
            Normal limits, or those where twice the profile log-likelihood has fallen by the chi-square quantile. The latter
            need not be symmetric, and are more reliable if there are few people or a share is near 0 or 1; they take some ten
            fits per coefficient.

        Returns
        -------
        low, high : ndarray
            In the order of `names`. Limits of the profile are infinite where the likelihood does not fall as much.

        Raises
        ------
        TypeError, ValueError
            If `confidence` is not a number in (0, 1); if `method` is unknown, or is "profile" for a fit with weights or
            clusters.

        Warns
        -----
        DoubtfulWarning
            If the profile is higher than the maximum of the fit, which is a local one then.

        Examples
        --------
        >>> import numpy as np
        >>> from ldpfast import analysis, designs
        >>> x, reports = np.arange(400) % 2, np.arange(400) % 3 == 0
        >>> model = analysis.RandomizedLogit(designs.warner(0.8)).fit(x[:, None], reports)
        >>> model.interval(method="profile")[1].round(2).tolist(), model.interval()[1].round(2).tolist()
        ([-0.68, 0.93], [-0.61, 0.88])
        """
        from scipy.special import ndtri

        if _check.choice("method", method, METHODS) == "normal":
            return super().interval(confidence)
        if self.cov_type != "nonrobust":
            raise ValueError(
                'method must be "normal" for a fit with weights or clusters, or another cov_type, got "profile"'
            )
        checked = _check.probability("confidence", confidence)
        params, cov = self._standard
        own = np.kron(np.eye(len(params)), self._rows.to_units)
        z = float(-ndtri((1 - checked) / 2))
        moved = np.array([profile_limits(self._likelihood, params, cov, direction, z) for direction in own])
        return self.params.ravel() + moved[:, 0], self.params.ravel() + moved[:, 1]

    def _notes(self) -> list[str]:
        design = repr(self.design) if isinstance(self.design, Design) else f"epsilon = {self.guarantee.epsilon:.6g}"
        odds = f"{self._link.scale} of {', '.join(map(str, self.categories[1:]))} against {self.categories[0]}"
        if self.p_attention is not None:
            return [f"attention question with p_attention = {self.p_attention}, {design}", odds]
        return [f"log-likelihood = {self.llf:.2f}, {design}", odds]

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """Return the probabilities of the categories of the truth, shape (n, k), in the order of `categories`.

        Parameters
        ----------
        X : array_like of shape (n, columns), or data frame
        """
        rows = self._read(X)
        return np.concatenate([self._likelihood.shares(rows.block(part), self._standard[0]) for part in rows.parts()])

    def predict(self, X: Any, *, average: bool = False, weights: ArrayLike | None = None) -> Estimate[Any]:  # noqa: N803
        """Return the predicted prevalence for people with given covariates, with its standard error (delta method).

        Parameters
        ----------
        X : array_like of shape (n, columns), or data frame
            Covariates, in columns of the same names as in the fit; for a formula, the columns that it needs.
        average : bool, default False
            Whether the mean over the rows is returned, with one number for each category.
        weights : array_like of float, shape (n,), optional
            Weights >= 0 of the rows in this mean.

        Returns
        -------
        prevalence : Estimate
            Of the last category, shape (n,); with `average` a number, or for k > 2 categories shape (k,). ``a - b`` and
            ``a / b`` of two predictions of one fit have the standard error of the delta method, as `contrast` does.

        Raises
        ------
        TypeError, ValueError
            If X does not have the columns of `fit`; if `weights` are not such numbers, or are given without `average`.

        Examples
        --------
        >>> import numpy as np
        >>> from ldpfast import analysis, designs
        >>> x, reports = np.arange(400) % 2, np.arange(400) % 3 == 0
        >>> model = analysis.RandomizedLogit(designs.warner(0.8)).fit(x[:, None], reports)
        >>> first, second = (model.predict([[value]], average=True) for value in (0, 1))
        >>> difference = second - first
        >>> difference.quantity, difference.n
        ('difference of predictions', 400)
        """
        require_one_index({"X": X, "weights": weights})
        rows = self._read(X)
        w = self._mean_weights(weights, average, len(rows))
        if w is not None:
            value, slopes = self._average(rows, w)
            if len(value) == 1:
                return self._prediction(value[0], slopes, _span=SHARES, _table=X)
            covariance = slopes @ self._standard[1] @ slopes.T
            return self._prediction(value, slopes, covariance, _span=SHARES, _table=X)
        x = rows.block(slice(None))
        shares, slopes = self._shares(x)
        by_params = (slopes[:, -1, :, np.newaxis] * x[:, np.newaxis, :]).reshape(len(x), -1)
        return self._prediction(shares[:, -1], by_params, _span=SHARES, _table=X)

    @abstractmethod
    def _shares(self, x: Floats) -> tuple[Floats, Floats]:
        """Return the shares of people, and [i, y, z]: the derivative of share y by the linear predictor of category z + 1."""

    @property
    def _shown(self) -> slice:
        """Places of the categories whose shares are reported: yes of two, else all."""
        return slice(1, None) if len(self.categories) == 2 else slice(None)

    def _prefixes(self) -> tuple[str, ...]:
        return ("",) if len(self.categories) == 2 else tuple(f"{category}: " for category in self.categories)

    def _average(self, rows: Rows, weights: Floats, **at: Any) -> tuple[Floats, Floats]:
        k = len(self.categories)
        value, by_params = np.zeros(k), np.zeros((k, self._standard[0].size))
        for part in rows.parts():
            x, w = rows.block(part), weights[part]
            shares, slopes = self._shares(x)
            value += w @ shares
            by_params += np.einsum("i,iyz,ij->yzj", w, slopes, x, optimize=True).reshape(k, -1)
        return value[self._shown], by_params[self._shown]

    def likelihood_ratio(self, restricted: AnswerRegression) -> TestResult:
        """Test whether the columns that a smaller model leaves out have no effect.

        Parameters
        ----------
        restricted : model of the same class
            Fitted to the same reports, with some of the columns.

        Returns
        -------
        result : TestResult
            Twice the difference of the log-likelihoods, with a chi-square distribution.

        Raises
        ------
        TypeError, ValueError
            If `restricted` is not such a model; if one of them has weights, for which there is no such test.
        """
        from scipy.special import chdtrc

        if not isinstance(restricted, type(self)):
            raise TypeError(f"restricted must be a {type(self).__name__}, got {type(restricted).__name__}")
        ours, theirs = self._likelihood, restricted._likelihood
        same = np.array_equal(ours.codes, theirs.codes) and np.array_equal(ours.table, theirs.table)
        if not same or not set(restricted.names) < set(self.names):
            raise ValueError(
                "restricted must be fitted to the same reports by the same design, with fewer of the same columns"
            )
        if any(part.p_attention is not None for part in (self, restricted)):
            raise ValueError("restricted and the model must have no attention question for a test of likelihoods")
        if not all(part._sample.is_plain for part in (self, restricted)):
            raise ValueError("restricted and the model must have no weights and no clusters for a test of likelihoods")
        columns = [
            dict(zip(part.rows.names[part.rows.intercept :], part.rows.x.T, strict=True)) for part in (ours, theirs)
        ]
        if not all(np.array_equal(column, columns[0][name]) for name, column in columns[1].items()):
            raise ValueError("restricted must be fitted to the same columns, got other values")
        df = len(self.names) - len(restricted.names)
        statistic = max(0.0, 2 * (self.llf - restricted.llf))
        return TestResult(statistic, float(chdtrc(df, statistic)), "two-sided", 0.0, self.n, df=df, method="chi-square")

    def __repr__(self) -> str:
        state = "" if "params" not in self.__dict__ else f", n = {self.n}"
        return f"<{type(self).__name__} of {', '.join(map(str, self.categories))}{state}>"
