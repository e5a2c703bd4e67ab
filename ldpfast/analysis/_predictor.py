"""Regression on an answer that people have randomized."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._labels import require_one_index
from .._typing import Floats
from ..designs import ReplicateWeights, Sample
from ..results import SHARES, Estimate, LabeledEstimate
from ._answer_design import answer_design
from ._attention_model import AttentionDesign, AttentionMixture
from ._binary_means import shares_of, slope_of
from ._least_squares import least_squares
from ._likelihood import Likelihood
from ._maximum import best_maximum
from ._mixture import Mixture
from ._model import Regression, freedom_of, people_of, read_cov_type, refitted, robust_covariance
from ._prediction import MarginalEffects
from ._rows import Rows
from ._study import Study, study_of_arrays, study_of_formula

FAMILIES = ("linear", "normal", "logit")
NO_MAXIMUM = (
    "the likelihood must have a maximum, got reports and outcomes without one: a share may be 0 or 1, or a covariate may "
    "separate the answers or the outcomes. Use fewer covariates or more people"
)
ALL_ATTENTIVE = ". If all people are attentive, leave out p_attention"
LEAST_ERROR = 1e-3  # standard deviation of a linear model where the search starts, for outcomes of variance 1


class RandomizedPredictor(Regression):
    """Regression of a known outcome on an answer that people have randomized, and on known covariates.

    Parameters
    ----------
    design : Design, Mechanism, privacy.Channel, or sequence of sequences of int, Fraction or float; or mapping of these
        How the reports were made, as for `RandomizedLogit`.
    family : {"linear", "normal", "logit"}, default "linear"
        Model of the outcome. "linear": least squares, for errors of any distribution. "normal": maximum likelihood with normal
        errors of the same variance for all people, with smaller standard errors if that is so, and a large bias if not.
        "logit": maximum likelihood for an outcome of 0 and 1.
    p_attention : float, Fraction or str, optional
        As for `RandomizedLogit`, for the families "normal" and "logit".
    intercept : bool, default True
        Whether a column of ones, named const, is put before those of X.

    Attributes
    ----------
    names : tuple of str
        Names of the coefficients of the outcome: those of the covariates, then one for each category of the answer but the
        first, such as "answer: yes".
    params, cov : ndarray
        These coefficients and their covariance matrix.
    answers : LabeledEstimate
        For maximum likelihood, the coefficients of the model of the true answer, a multinomial logit on the same covariates.
    attention : LabeledEstimate
        With `p_attention`, the coefficients of the log-odds to be attentive.
    sigma : float
        Standard deviation of the errors of a "normal" model.
    llf : float
        Log-likelihood at the maximum, for maximum likelihood.
    n : int
        Number of people.
    categories : tuple
        The categories of the truth: no and yes for a `Design`.

    Raises
    ------
    TypeError, ValueError
        If the arguments are not as above.

    Notes
    -----
    "linear" puts unbiased estimates of the sums of squares and products, from decoded reports, in the place of those of the
    true answers. It assumes nothing but the linear mean. Its standard errors are consistent for errors of different variances
    (HC1), or for related people with `clusters`; limits have t quantiles.

    The other families have a likelihood, for the true answer of each person is not known: the sum over its categories of the
    probability of the category for the covariates, the probability of the report, and the density of the outcome. It is
    maximized by the EM gradient algorithm and then by Newton's method; it can have several maxima. Standard errors come from
    the observed information; with `weights` or `clusters` from the sandwich estimator. A regression on the reports themselves
    finds an effect that is too small.

    With an attention question the likelihood has both answers and the outcome [2]_. People who are not attentive are
    taken to answer both questions at random, independently; attention may depend on the covariates, and does not change the
    outcome.

    References
    ----------
    .. [1] G. Blair, K. Imai, Y.-Y. Zhou, "Design and analysis of the randomized response technique", JASA, 2015, section 5.
    .. [2] Y. Atsusaka, R. T. Stevenson, "A bias-corrected estimator for the crosswise model with inattentive respondents",
       Political Analysis, 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast import analysis, designs
    >>> rng = np.random.default_rng(1)
    >>> age, has = rng.normal(size=20_000), rng.random(20_000) < 0.3
    >>> trust = 1 + 0.5 * age - 2.0 * has + rng.normal(size=20_000)
    >>> design = designs.crosswise(0.25)
    >>> reports = design.channel.privatize(has.astype(int), rng=1)
    >>> model = analysis.RandomizedPredictor(design).fit(age[:, np.newaxis], reports, trust)
    >>> low, high = model.interval()
    >>> model.names[2], bool(low[2] < -2 < high[2])
    ('answer: yes', True)
    """

    llf: float
    answers: LabeledEstimate
    attention: LabeledEstimate
    sigma: float

    def __init__(self, design: Any, family: str = "linear", *, p_attention: Any = None, intercept: bool = True) -> None:
        self.design, self.intercept = design, _check.flag("intercept", intercept)
        self.family = _check.choice("family", family, FAMILIES)
        self.p_attention = p_attention
        if p_attention is not None and family == "linear":
            raise ValueError('family must be "normal" or "logit" with an attention question, got "linear"')
        self._answers = answer_design(design) if p_attention is None else AttentionDesign(design, p_attention)
        self.guarantee, self.categories = self._answers.guarantee, self._answers.categories

    def fit(
        self,
        X: Any,  # noqa: N803
        reports: Any = None,
        outcome: ArrayLike | None = None,
        *,
        data: Any = None,
        answer: ArrayLike | str | None = None,
        weights: ArrayLike | str | None = None,
        clusters: Any = None,
        strata: Any = None,
        replicate_weights: ReplicateWeights | None = None,
        cov_type: str | None = None,
        design: Any = None,
        attention: Any = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X, reports, data, weights, clusters, strata, replicate_weights, design, attention
            As for `RandomizedLogit.fit`, without a correction for a finite population. A formula has the outcome before ~,
            such as ``"trust ~ age + female"`` or ``"log(income) ~ age"``, and known covariates after it.
        outcome : array_like, shape (n,)
            Known outcomes, which are not randomized, unless there is a formula.
        answer : str or array_like, optional
            With a formula, the column of the randomized answers, whose effect is added to the formula.
        cov_type : {"nonrobust", "linearized", "HC1", "cluster", "replicates"}, optional
            As for `RandomizedLogit.fit`. For the family "linear" it is "HC1" unless there are clusters, strata or replicate
            weights.

        Returns
        -------
        self : RandomizedPredictor

        Raises
        ------
        TypeError, ValueError
            As for `RandomizedLogit.fit`; if `outcome` does not have one finite number per row, or does not vary.
        """
        people: dict[str, Any] = {"weights": weights, "clusters": clusters, "strata": strata}
        people |= {"replicate_weights": replicate_weights, "design": design, "attention": attention}
        study = self._study(X, reports, outcome, data, answer, people)
        rows = study.rows
        likelihood = self._answers.joint_likelihood(rows, study.given)
        y, center, unit = self._outcome(study.given["outcome"], len(rows), rows.intercept)
        classes, columns = len(self.categories) - 1, len(rows.names)
        sample = study.sample(likelihood.weights, columns + classes + 1)
        # The likelihood is maximized for standardized rows and outcomes; `own` is the linear map of the parameters back to the
        # units of the columns and of the outcome, which also transforms their covariance.
        standard = rows.standardized()
        likelihood = replace(likelihood, rows=standard)
        names = (*rows.names, *(f"answer: {category}" for category in self.categories[1:]))
        allowed = {"linear": ("HC1", "linearized")}.get(self.family, ("nonrobust", "linearized", "HC1"))
        kind = read_cov_type(cov_type, allowed[0], allowed, sample)
        if self.family == "linear":
            self._fit_moments(likelihood, (y - center) / unit, center, unit, kind, sample)
            self.cov_type = kind
            self.names = names
            self._learn(study, sample)
            return self
        linear = self.family == "normal"
        whole_mixture = Mixture(likelihood, (y - center) / unit, linear)
        mixture = whole_mixture if self.p_attention is None else AttentionMixture(whole_mixture)
        message = NO_MAXIMUM if self.p_attention is None else NO_MAXIMUM + ALL_ATTENTIVE
        params, sums = best_maximum(mixture, self._starts(mixture), message)
        bread = np.asarray(np.linalg.inv(sums.information), np.float64)
        self.names = names
        scores = mixture.scores(params)

        def refit(weights: Floats) -> Floats:
            again = replace(whole_mixture, answers=replace(likelihood, weights=weights))
            return refitted(again if self.p_attention is None else AttentionMixture(again), params)

        cov, freedom = robust_covariance(kind, bread, scores, sample, columns + classes, refit, params)
        self.cov_type, self._freedom = kind, freedom
        own = np.eye(params.size)  # from standardized rows and outcomes to their units
        outcomes, first = slice(mixture.coefficients), mixture.coefficients + linear
        own[:columns, :columns] = standard.to_units
        own[first:, first:] = np.kron(np.eye((params.size - first) // columns), standard.to_units)
        own[outcomes] *= unit
        values, whole = own @ params, np.asarray(own @ cov @ own.T, np.float64)
        if rows.intercept:
            values[0] += center
        self.params, self.cov = values[outcomes], whole[outcomes, outcomes]
        self._set_design_effect(bread, own, sample)
        if linear:
            self.sigma = float(np.exp(params[first - 1]) * unit)
        self.n, total = sample.n, len(rows) if likelihood.weights is None else float(likelihood.weights.sum())
        self.llf = sums.value - total * float(np.log(unit)) - likelihood.constant
        self._people = people_of(likelihood.codes)
        last = first + classes * columns
        labels = self._answers.coefficient_names(rows.names)[: classes * columns]
        self.answers = self._labeled(values[first:last], whole[first:last, first:last], labels, "the answer")
        if self.p_attention is not None:
            self.attention = self._labeled(values[last:], whole[last:, last:], rows.names, "attention")
        standardized = params[outcomes] * unit
        standardized[0] += center if rows.intercept else 0.0
        self._rows, self._standard = standard, (standardized, cov[outcomes, outcomes] * unit**2)
        self._learn(study, sample)
        return self

    def _study(self, x: Any, reports: Any, outcome: Any, data: Any, answer: Any, people: dict[str, Any]) -> Study:
        """Return the people of a fit from its arguments."""
        if not isinstance(x, str):
            if answer is not None:
                raise TypeError("answer must be None unless the first argument is a formula: give reports")
            people = {"reports": reports, "outcome": outcome, **people}
            return study_of_arrays(x, data, self.intercept, people, ("reports", "outcome"))
        if answer is None or outcome is not None:
            raise TypeError(
                "answer must name the column of the randomized answers, and outcome be None, with a formula"
            )
        people = {"reports": answer, **people}
        return study_of_formula(x, reports, data, self.intercept, people, "outcome", computed=True)

    def _fit_moments(
        self, likelihood: Likelihood, y: Floats, center: float, unit: float, kind: str, sample: Sample
    ) -> None:
        """Fit by least squares with unbiased moments, to outcomes that are centered and scaled."""
        found = least_squares(likelihood, self._answers.decoding, y, kind, sample)
        if found is None:
            raise ValueError(
                "X and reports must be of enough people, got too few for the moments of the answer: a category may be too "
                "rare. Use fewer covariates or more people"
            )
        params, cov, plain = found
        columns = likelihood.shape[1]
        own = np.eye(len(params))
        own[:columns, :columns] = likelihood.rows.to_units
        self.params, self.cov = unit * own @ params, np.asarray(unit**2 * own @ cov @ own.T, np.float64)
        standardized = params * unit
        if likelihood.rows.intercept:
            self.params[0] += center
            standardized[0] += center
        self._set_design_effect(unit**2 * plain, own, sample)
        self.n = sample.n
        self._rows = likelihood.rows
        self._standard = (standardized, cov * unit**2)
        self._freedom, self._people = freedom_of(sample, len(params)), people_of(likelihood.codes)

    def _outcome(self, outcome: ArrayLike, n: int, intercept: bool) -> tuple[Floats, float, float]:
        """Return outcomes, and what is subtracted from them and by what they are then divided in the search."""
        given = _check.array("outcome", outcome)
        y = _check.numbers("outcome", given.astype(np.float64) if given.dtype == np.bool_ else given)
        if y.shape != (n,):
            raise ValueError(f"outcome must have one number for each of {n} rows of X, got shape {y.shape}")
        if self.family == "logit":
            if not np.isin(y, (0, 1)).all():
                raise ValueError(f"outcome must be 0 and 1 for a logit model, got {y[~np.isin(y, (0, 1))][0]:g}")
            center, unit = 0.0, 1.0
        else:
            center = float(y.mean()) if intercept else 0.0
            unit = float(np.sqrt(np.mean((y - center) ** 2)))
        if (y == y[0]).all():
            raise ValueError(f"outcome must not be the same for all people, got {y[0]:g}")
        return y, center, unit

    def _starts(self, mixture: Mixture | AttentionMixture) -> Iterator[Floats]:
        """Yield parameters with an effect of the answer as in a regression on its expectation, and with none."""
        answers = mixture.answers
        gamma = self._answers.first_fit(answers)
        blocks = []
        for part in answers.rows.parts():
            x = answers.rows.block(part)
            joint = answers.shares(x, mixture.of_kinds(gamma)) * answers.table[:, answers.codes[part]].T
            posterior = (joint / joint.sum(axis=1, keepdims=True))[:, 1:]
            blocks.append(np.column_stack([x, posterior @ mixture.effects]))
        expected = np.concatenate(blocks)
        for columns in (expected, expected[:, : answers.shape[1]]):
            slopes = np.linalg.lstsq(columns, mixture.outcome, rcond=None)[0]
            error = float(np.sqrt(np.mean((mixture.outcome - columns @ slopes) ** 2)))
            if not mixture.linear:
                slopes = np.clip(4 * slopes, -4, 4)
                if answers.rows.intercept:
                    slopes[0] = np.clip(slopes[0] - 2, -4, 4)
            start = np.zeros(mixture.size)
            start[: len(slopes)] = slopes
            if mixture.linear:
                start[mixture.coefficients] = np.log(max(error, LEAST_ERROR))
            start[-gamma.size :] = gamma.ravel()
            yield start

    def predict(
        self,
        X: Any,  # noqa: N803
        answer: Any = None,
        *,
        average: bool = False,
        weights: ArrayLike | None = None,
    ) -> Estimate[Any]:
        """Return the predicted mean of the outcome for people with given covariates and a given true answer.

        Parameters
        ----------
        X, average, weights
            As for `RandomizedLogit.predict`.
        answer : object
            One of `categories`.

        Returns
        -------
        mean : Estimate
            Of shape (n,), or a number with `average`, with standard errors by the delta method, which differences and ratios of
            predictions of one fit have as well.

        Raises
        ------
        TypeError, ValueError
            If X does not have the columns of `fit`, or `answer` is not a category.
        """
        place = self._place(answer)
        require_one_index({"X": X, "weights": weights})
        rows = self._read(X)
        w = self._mean_weights(weights, average, len(rows))
        span: Any = {"_span": SHARES} if self.family == "logit" else {}
        if w is not None:
            value, slopes = self._average(rows, w, place=place)
            return self._prediction(value[0], slopes, _table=X, **span)
        return self._prediction(*self._means(rows.block(slice(None)), place), _table=X, **span)

    def contrast(
        self,
        a: Any,
        b: Any,
        *,
        answer: Any = None,
        average: bool = True,
        ratio: bool = False,
        weights: ArrayLike | None = None,
    ) -> LabeledEstimate:
        """Compare the predictions for two sets of covariates, or for two true answers.

        Parameters
        ----------
        a, b, average, ratio, weights
            As for `RandomizedLogit.contrast`.
        answer : object, or pair of these
            True answer of the people, one of `categories`; or those of a and of b, which differ.

        Returns
        -------
        contrast : LabeledEstimate
            As for `RandomizedLogit.contrast`.

        Raises
        ------
        TypeError, ValueError
            As for `RandomizedLogit.contrast`; if `answer` is not such a category or pair.
        """
        pair = answer if isinstance(answer, tuple) and answer not in self.categories else (answer, answer)
        if len(pair) != 2:
            raise ValueError(f"answer must be a category or a pair of categories, got {answer!r}")
        first, second = ({"answer": one} for one in pair)
        return self._contrast((a, first), (b, second), average, ratio, weights)

    def marginal_effects(self, answer: Any = None) -> MarginalEffects:
        """Return the average marginal effects of the known covariates on the outcome, for people with a given true answer.

        Parameters
        ----------
        answer : object
            One of `categories`, for the family "logit". The effects on the other families do not depend on it.

        Returns
        -------
        effects : MarginalEffects
            As for `RandomizedLogit.marginal_effects`. The effect of the answer itself is a `contrast`.

        Raises
        ------
        ValueError
            If `answer` is not such a category; as for `RandomizedLogit.marginal_effects`.
        """
        is_needed = self.family == "logit" or answer is not None
        return self._effects(place=self._place(answer) if is_needed else 0)

    def _place(self, answer: Any) -> int:
        """Return the place of a category.

        Raises
        ------
        ValueError
            If it is none.
        """
        if answer not in self.categories:
            raise ValueError(f"answer must be one of {', '.join(map(repr, self.categories))}, got {answer!r}")
        return self.categories.index(answer)

    def _inside(self, x: Floats, place: int) -> Floats:
        """Return covariates with the indicators of a category."""
        k = len(self.categories)
        return np.column_stack([x, np.broadcast_to(np.eye(k)[place, 1:], (len(x), k - 1))])

    def _means(self, x: Floats, place: int) -> tuple[Floats, Floats]:
        """Return the mean outcomes of people with a true answer, and their derivatives by the coefficients."""
        inside = self._inside(x, place)
        if self.family == "logit":
            return shares_of(inside, self._standard[0])
        return inside @ self._standard[0], inside

    def _average(self, rows: Rows, weights: Floats, **at: Any) -> tuple[Floats, Floats]:
        value, slopes = np.zeros(1), np.zeros((1, len(self._standard[0])))
        for part in rows.parts():
            means, by_params = self._means(rows.block(part), at["place"])
            value += weights[part] @ means
            slopes += weights[part] @ by_params
        return value, slopes

    def _average_slope(self, rows: Rows, derivatives: Floats, weights: Floats, **at: Any) -> tuple[Floats, Floats]:
        value, slopes = np.zeros(1), np.zeros((1, len(self._standard[0])))
        for part in rows.parts():
            x = rows.block(part)
            d = np.broadcast_to(derivatives if derivatives.ndim == 1 else derivatives[part], x.shape)
            moved = np.column_stack([d, np.zeros((len(x), len(self.categories) - 1))])
            if self.family == "logit":
                inside = self._inside(x, at["place"])
                own, by_params = slope_of(inside, moved, self._standard[0], weights[part])
            else:
                by_params = weights[part] @ moved
                own = by_params @ self._standard[0]
            value += own
            slopes += by_params
        return value, slopes

    def _parameters(self) -> int:
        attention = 0 if self.p_attention is None else len(self.attention.labels)
        return len(self.params) + len(self.answers.labels) + attention + (self.family == "normal")

    def _notes(self) -> list[str]:
        spread = f", sigma = {self.sigma:.6g}" if self.family == "normal" else ""
        if self.family == "linear":
            return [
                f"least squares with decoded answers, epsilon = {self.guarantee.epsilon:.6g}; against {self.categories[0]}"
            ]
        return [
            f"log-likelihood = {self.llf:.2f}, epsilon = {self.guarantee.epsilon:.6g}{spread}",
            f"{self.family} model of the outcome; answers against {self.categories[0]}",
        ]

    def __repr__(self) -> str:
        state = "" if "params" not in self.__dict__ else f", n = {self.n}"
        return f"<RandomizedPredictor of {self.family} outcomes{state}>"
