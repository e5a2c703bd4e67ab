"""Generalized linear models as scikit-learn estimators."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._extras import optional
from .._labels import require_one_index
from .._typing import AnyArray, Floats
from ._regression_base import PrivateRegression

base = optional("sklearn.base", "sklearn")
multiclass = optional("sklearn.utils.multiclass", "sklearn")


class LogisticRegression(base.ClassifierMixin, PrivateRegression):  # type: ignore[misc,name-defined]
    """Logistic regression for two classes by private gradient descent and a Newton step: one epsilon-LDP report per row.

    `fit` chooses the method by the number of rows, before it reads them. From `NewtonStep.sufficient_n` rows on, a Newton step
    has intervals that cover. With fewer rows, gradient descent has smaller errors, and no valid intervals: standard errors,
    limits and `covariance_` are then NaN, with a `SmallSampleWarning`.

    Parameters
    ----------
    epsilon : float, default 1.0
        Privacy parameter of the report of a row.
    norm : {"l2", "linf"}
        Norm in which rows are clipped and gradients privatized.
    radius : float, default 1.0
        Norm to which rows are clipped. It is public, so scale the features by public ranges first (`StandardScaler`
        reads the data).
    noise : {"auto", "half-space", "laplace"}
        Mechanism. "auto": the one with the smallest error, that of `for_ball` for "l2" and `LinfBall` for "linf"; the steps
        before a Newton step have half-spaces. "half-space": `L2Ball` or `LinfBall`, faster. "laplace": `LaplaceVector`, the
        baseline.
    fit_intercept : bool, default True
        Whether the model has an intercept.
    intercept_scaling : float, optional
        Value in the column of the intercept. The bound on the gradient is the norm of it and `radius`. The default is `radius`
        for "linf", and radius / sqrt(n_features) for "l2", the size of each feature in a row of features of equal size. The
        intercept is at most `projection` times this value, and with few rows of many features and "l2" it hardly leaves 0, as
        if the classes had equal shares. If they do not, or the mean response is far from 0, and probabilities matter more than
        the order of rows, choose `radius`: the noise of a gradient has up to twice the variance.
    eta0 : float, optional
        Size of the first step. The default is the diameter of the projection divided by the standard deviation of a
        coordinate of a report.
    exponent : float, default 0.6
        Step i has size eta0 i^-exponent; in (1/2, 1).
    projection : float, optional
        Largest Euclidean norm of the coefficients, with that of the column of the intercept. The default is 5 / radius, for
        linear regression 5 residual / radius. Intervals do not cover coefficients beyond it (`DoubtfulWarning`).
    shuffle : bool, default False
        Take rows in random order, each once. Required for sorted data.
    covariance : {"diagonal", "full"}
        Whether `covariance_` contains variances or the matrix.
    method : {"auto", "newton", "sgd"}
        Protocol of `fit`. "newton": `NewtonStep`, whose intervals cover. "sgd": `GradientDescent`, whose intervals cover less
        than stated. "auto": "newton" from `NewtonStep.sufficient_n` rows on, a number that depends on the parameters, the
        number of features and epsilon alone; else "sgd" without standard errors, except for linear models whose
        `GradientDescent.mixing` is at least 50. `partial_fit` starts with "sgd", and continues a `fit` with its method.
    random_state : None, int, SeedSequence, Generator, BitGenerator or RandomState
        Source of randomness. ``None`` draws a fresh key from the operating system, and is the only private choice.

    Attributes
    ----------
    coef_ : ndarray, shape (1, n_features)
        Coefficients of the features.
    intercept_ : ndarray, shape (1,)
        Intercept, 0 if there is none.
    classes_ : ndarray, shape (2,)
        Classes, declared in `partial_fit` or taken from `y`. Taking them from `y` reads the raw data.
    covariance_ : ndarray, shape (dim, dim), or (dim,) with "diagonal"
        Covariance matrix or variances of the coefficients, intercept last. NaN if there are no standard errors.
    estimate_ : Estimate
        Coefficients with standard errors and intervals.
    n_seen_ : int
        Number of rows fitted so far.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    ldpfast.analysis.RandomizedLogit : If `y` is randomized already: here it would be taken for the truth.

    Notes
    -----
    O(n n_features) time in one pass with "sgd", and O(n n_features^2) for 15 % of the rows with "newton". Reports of "auto"
    noise take 10 to 70 microseconds per row for up to 200 features, and a quarter of one per feature for more. `score` and
    validation errors read raw data as well. Intervals of "newton" cover; those of "sgd" cover less than nominal: see
    `NewtonStep` and `GradientDescent`. Far below `sufficient_n`, for 50,000 rows of 54 normal features, predictions are right
    for 0.82 of new rows at epsilon 4 and 0.86 at 8, where the true coefficients are right for 0.9 and half-spaces for 0.73.

    Privacy: see `Gradient`, exact per row. Fitting again costs epsilon again.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
       JASA 113 (2018), section 4.2.2.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import LogisticRegression
    >>> rng = np.random.default_rng(1)
    >>> x = rng.uniform(-0.7, 0.7, (30_000, 2))
    >>> y = rng.random(30_000) < 1 / (1 + np.exp(x[:, 1] - 2 * x[:, 0]))
    >>> model = LogisticRegression(4.0, method="sgd", random_state=1).fit(x, y)
    >>> bool(np.abs(model.coef_ - [2, -1]).max() < 0.5)
    True
    """

    _family = "logistic"

    def _responses(self, y: Any) -> AnyArray:
        classes = getattr(self, "_declared", None)
        if classes is None:
            kind = multiclass.type_of_target(y, input_name="y", raise_unknown=True)
            if kind != "binary":
                raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
            classes = np.unique(y)
            if len(classes) < 2:
                raise ValueError("y must hold two classes, got one class")
        unknown = ~np.isin(y, classes)
        if unknown.any():
            raise ValueError(f"y must hold the two classes only; index {int(np.argmax(unknown))} is in neither")
        self._pending = classes
        return np.asarray(y == classes[1], np.float64)

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803
        self._declared = None
        return super().fit(X, y)

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:  # noqa: N803
        """Continue the fit with further rows; the step sizes continue as well.

        Parameters
        ----------
        X, y
            As for `fit`.
        classes : array_like, shape (2,), optional
            The two classes, declared at the first call. If omitted, they are taken from its `y`.

        Returns
        -------
        self : LogisticRegression

        Raises
        ------
        TypeError, ValueError
            If `classes` are not two, or not those of the first call.

        Privacy
        -------
        As for `fit`.
        """
        known = getattr(self, "classes_", None)
        if classes is not None:
            declared = np.unique(np.asarray(classes))
            if len(declared) != 2:
                raise ValueError(f"classes must be two different classes, got {len(declared)}")
            if known is not None and not np.array_equal(known, declared):
                raise ValueError("classes must be those of the first call")
            known = declared
        self._declared = known
        return super().partial_fit(X, y)

    def _store_coefficients(self, coefficients: Floats, intercept: float) -> None:
        self.coef_, self.intercept_ = coefficients[np.newaxis], np.array([intercept])
        self.classes_ = self._pending

    def decision_function(self, X: ArrayLike) -> AnyArray:  # noqa: N803
        """Return the log-odds of the second class, shape (n,)."""
        return self._linear_predictor(X)

    def predict_proba(self, X: ArrayLike) -> AnyArray:  # noqa: N803
        """Return the probabilities of the two classes, shape (n, 2)."""
        from scipy.special import expit

        z = self._linear_predictor(X)
        return np.stack([expit(-z), expit(z)], axis=1)

    def predict_log_proba(self, X: ArrayLike) -> AnyArray:  # noqa: N803
        """Return the logarithms of the probabilities of the two classes, shape (n, 2)."""
        z = self._linear_predictor(X)
        return -np.stack([np.logaddexp(0, z), np.logaddexp(0, -z)], axis=1)

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:  # noqa: N803
        """Return the accuracy for known classes, as in scikit-learn."""
        require_one_index({"X": X, "y": y, "sample_weight": sample_weight})
        return float(super().score(X, y, sample_weight))

    def predict(self, X: ArrayLike) -> AnyArray:  # noqa: N803
        """Return the more probable class, shape (n,)."""
        z = self._linear_predictor(X)
        return np.asarray(self.classes_[(z > 0).astype(int)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True  # scikit-learn checks it with tens of rows
        return tags


class _Regressor(base.RegressorMixin, PrivateRegression):  # type: ignore[misc,name-defined]
    """Base class of the estimators with numerical responses."""

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        norm: str = "l2",
        radius: float = 1.0,
        residual: float = 1.0,
        noise: str = "auto",
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
        eta0: float | None = None,
        exponent: float = 0.6,
        projection: float | None = None,
        shuffle: bool = False,
        covariance: str = "diagonal",
        method: str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            epsilon,
            norm=norm,
            radius=radius,
            noise=noise,
            fit_intercept=fit_intercept,
            intercept_scaling=intercept_scaling,
            eta0=eta0,
            exponent=exponent,
            projection=projection,
            shuffle=shuffle,
            covariance=covariance,
            method=method,
            random_state=random_state,
        )
        self.residual = residual

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:  # noqa: N803
        """Return the coefficient of determination for known responses, as in scikit-learn."""
        require_one_index({"X": X, "y": y, "sample_weight": sample_weight})
        return float(super().score(X, y, sample_weight))

    def predict(self, X: ArrayLike) -> AnyArray:  # noqa: N803
        """Return the fitted mean, shape (n,)."""
        return self._linear_predictor(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # scikit-learn checks it with tens of rows
        return tags


class LinearRegression(_Regressor):
    """Linear regression by private gradient descent and a Newton step: one epsilon-LDP report per row.

    Residuals are clipped, which makes it a Huber regression. It is robust, and for symmetric errors it has the
    coefficients of least squares.

    Parameters
    ----------
    epsilon, norm, radius, noise, fit_intercept, intercept_scaling, eta0, exponent, projection, shuffle
        As for `LogisticRegression`.
    covariance, method, random_state
        As for `LogisticRegression`.
    residual : float, default 1.0
        Public bound: residuals are clipped to [-residual, residual], in units of y.

    Attributes
    ----------
    coef_ : ndarray, shape (n_features,)
        Coefficients of the features.
    intercept_ : float
        Intercept, 0 if there is none.
    covariance_, estimate_, n_seen_, n_features_in_, feature_names_in_
        As for `LogisticRegression`.

    Notes
    -----
    Time, raw data and coverage as for `LogisticRegression`. The gradient is bounded by residual
    times the norm of a row.

    Privacy: see `Gradient`, exact per row. Fitting again costs epsilon again.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import LinearRegression
    >>> x = np.random.default_rng(1).uniform(-0.7, 0.7, (30_000, 2))
    >>> model = LinearRegression(4.0, method="sgd", random_state=1).fit(x, x @ [0.6, -0.4])
    >>> bool(np.abs(model.coef_ - [0.6, -0.4]).max() < 0.1)
    True
    """

    _family = "linear"


class PoissonRegression(_Regressor):
    """Poisson regression (log link) by private gradient descent and a Newton step: one epsilon-LDP report per row.

    Parameters
    ----------
    epsilon, norm, radius, noise, fit_intercept, intercept_scaling, eta0, exponent, projection, shuffle
        As for `LogisticRegression`.
    covariance, method, random_state
        As for `LogisticRegression`.
    residual : float, default 1.0
        Public bound: residuals, fitted mean minus y, are clipped to [-residual, residual]. Clipping biases the fit of
        skewed counts, so the bound should be as large as the counts that matter.

    Attributes
    ----------
    coef_ : ndarray, shape (n_features,)
        Coefficients of the features.
    intercept_ : float
        Intercept, 0 if there is none.
    covariance_, estimate_, n_seen_, n_features_in_, feature_names_in_
        As for `LogisticRegression`.

    Notes
    -----
    Responses are numbers >= 0. Time, raw data and coverage as for `LogisticRegression`, but intervals of "newton" do not cover
    if mean responses are above `residual`. The gradient is bounded by residual times the norm of a row.

    Privacy: see `Gradient`, exact per row. Fitting again costs epsilon again.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import PoissonRegression
    >>> rng = np.random.default_rng(1)
    >>> x = rng.uniform(-0.7, 0.7, (30_000, 2))
    >>> y = rng.poisson(np.exp(x @ [0.6, -0.4]))
    >>> model = PoissonRegression(4.0, residual=3, method="sgd", random_state=1).fit(x, y)
    >>> bool(np.abs(model.coef_ - [0.6, -0.4]).max() < 0.3)
    True
    """

    _family = "poisson"

    def predict(self, X: ArrayLike) -> AnyArray:  # noqa: N803
        """Return the fitted mean count, shape (n,)."""
        return np.asarray(np.exp(self._linear_predictor(X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = False
        tags.target_tags.positive_only = True
        return tags
