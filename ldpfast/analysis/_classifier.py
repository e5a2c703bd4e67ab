"""A classifier of scikit-learn for labels that people have randomized."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._extras import optional
from .._labels import require_one_index
from .._typing import AnyArray, Floats
from ._answer_design import AnswerDesign
from ._ascent import ascend
from ._maximum import maximum
from ._rows import Rows

base = optional("sklearn.base", "sklearn")
multiclass = optional("sklearn.utils.multiclass", "sklearn")
validation = optional("sklearn.utils.validation", "sklearn")


class LabelClassifier(base.ClassifierMixin, base.BaseEstimator):  # type: ignore[misc,name-defined]
    """Logistic regression whose labels people have randomized, while the features are known (label privacy).

    The model is one for the true labels: `predict` and `predict_proba` are about the truth.

    Parameters
    ----------
    design : Design, Mechanism, privacy.Channel, or sequence of sequences of int, Fraction or float
        How the labels were randomized, as for `estimation.from_reports`.
    C : float, default 1.0
        Inverse of the strength of the penalty on the squares of the coefficients, > 0, as for scikit-learn's
        ``LogisticRegression``.
    fit_intercept : bool, default True
        Whether there is an intercept, which has no penalty.

    Attributes
    ----------
    classes_ : ndarray
        The classes: no and yes for a `Design`, else 0 to k - 1.
    coef_ : ndarray, shape (1, features) for two classes, else (k, features)
        Coefficients of the features.
    intercept_ : ndarray, shape (1,) or (k,)
        Intercepts.
    guarantee_ : privacy.Guarantee
        Guarantee of the label of each row. Nothing hides the features.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    RandomizedLogit : The same model without a penalty, with standard errors and tests.
    ldpfast.estimation.LogisticRegression : If the features are private as well.

    Notes
    -----
    The penalized likelihood of the reports is maximized. For labels that nobody has randomized it is the one of scikit-learn's
    ``LogisticRegression``. It can have several maxima: the one found is that from the estimated shares of the classes. Features
    should have similar sizes (``StandardScaler``), as for every penalty.

    Tools that score classifiers must use its own `score`, which is their default: ``scoring="accuracy"`` and others compare
    with the reports as if they were true.

    References
    ----------
    .. [1] B. Ghazi, N. Golowich, R. Kumar, P. Manurangsi, C. Zhang, "Deep learning with label differential privacy", NeurIPS,
       2021.

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> from ldpfast.analysis import LabelClassifier
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=(20_000, 2))
    >>> labels = (x @ [2.0, -1.0] + rng.logistic(size=20_000) > 0).astype(int)
    >>> mechanism = ldp.RandomizedResponse(2, 1.0)
    >>> reports = mechanism.privatize(labels, rng=1)
    >>> model = LabelClassifier(mechanism).fit(x, reports)
    >>> accuracy = float(np.mean(model.predict(x) == labels))
    >>> round(accuracy, 2), round(model.score(x, reports), 1)  # the second is estimated from the reports alone
    (0.79, 0.8)
    """

    def __init__(self, design: Any, *, C: float = 1.0, fit_intercept: bool = True) -> None:  # noqa: N803
        self.design = design
        self.C = C
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:  # noqa: N803
        """Fit the model.

        Parameters
        ----------
        X : array_like of shape (n, features), or data frame
            Features, which are known and not randomized.
        y : array_like, shape (n,)
            Reports, that is, randomized labels: codes, or the texts of `Design.answers`.
        sample_weight : array_like of float, shape (n,), optional
            Weights >= 0 of the rows.

        Returns
        -------
        self : LabelClassifier

        Raises
        ------
        TypeError, ValueError
            If the arguments are not as above, or all reports are equal and so tell nothing about the others.
        RuntimeError
            If the search does not converge, for instance because features have very different sizes.
        """
        require_one_index({"X": X, "y": y, "sample_weight": sample_weight})
        fresh = copy(self)  # so that a failure changes nothing
        strength = _check.positive("C", self.C)
        answers = AnswerDesign(self.design)
        rows, reports = fresh._rows_with_reports(X, y, reset=True)
        if sample_weight is not None:
            _check.weights(sample_weight, len(rows), "sample_weight")
        likelihood = answers.likelihood(rows, reports, sample_weight)
        classes, columns = likelihood.shape
        # The sum of the squares for all classes, where their coefficients are centered; for two classes scikit-learn has one
        # vector of coefficients only.
        between = np.eye(1) if classes == 1 else np.eye(classes) - 1 / (classes + 1)
        inside = np.diag(np.r_[[0.0] * rows.intercept, np.ones(columns - rows.intercept)])
        # The likelihood has weights with mean 1.
        unit = 1.0 if sample_weight is None else float(np.asarray(sample_weight, np.float64).mean())
        penalized = replace(likelihood, ridge=np.kron(between, inside) / (strength * unit))
        # All people have the same shares at the start, so that its information takes hardly any time. Gradients lead near the
        # maximum, where one matrix of second derivatives shows that it is one.
        start = answers.start_of_shares(likelihood)
        shares = likelihood.shares(np.eye(1, columns), start)[0]
        with np.errstate(over="ignore", invalid="ignore"):  # features of a size whose squares overflow
            information = penalized.information_of_shares(shares)
        found = None
        if np.isfinite(information).all():
            reached, is_near = ascend(penalized, start, information)
            found = maximum(penalized, reached, is_near=is_near)
        if found is None:
            if len(np.unique(likelihood.codes[likelihood.weights_of(slice(None)) > 0])) == 1:
                raise ValueError(
                    "y must have reports of more than one class, got one class: the likelihood has no maximum"
                )
            raise RuntimeError(
                "the search for the maximum did not converge: scale the features, or choose a smaller C; if nearly all reports "
                "are of one class, there are too few of the others"
            )
        whole = found[0] if classes == 1 else np.vstack([np.zeros(columns), found[0]])
        if classes > 1:
            whole = whole - whole.mean(axis=0)
        fresh.intercept_ = whole[:, 0] if rows.intercept else np.zeros(len(whole))
        fresh.coef_ = whole[:, int(rows.intercept) :]
        fresh.classes_, fresh.guarantee_ = np.array(answers.categories), answers.guarantee
        fresh._answers = answers
        self.__dict__.update(fresh.__dict__)
        return self

    def decision_function(self, X: Any) -> Floats:  # noqa: N803
        """Return the log-odds of the second of two classes, shape (n,), or one number per class, shape (n, k)."""
        validation.check_is_fitted(self)
        odds = np.asarray(self._rows(X, reset=False).x @ self.coef_.T + self.intercept_)
        return odds[:, 0] if odds.shape[1] == 1 else odds

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """Return the probabilities of the true classes, shape (n, k)."""
        from scipy.special import softmax

        odds = self.decision_function(X)
        return np.asarray(softmax(np.stack([np.zeros(len(odds)), odds], axis=1) if odds.ndim == 1 else odds, axis=1))

    def predict(self, X: Any) -> AnyArray:  # noqa: N803
        """Return the most probable true class, shape (n,)."""
        chosen = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[chosen])

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:  # noqa: N803
        """Estimate the accuracy for the true labels from randomized ones, as for a part of the data that `fit` did not see.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.

        Returns
        -------
        accuracy : float
            Estimated share of rows with the right class. It is unbiased, and so can be below 0 or above 1. If you know true
            labels, use ``accuracy_score(labels, model.predict(X))``.

        Raises
        ------
        TypeError, ValueError
            As for `fit`.
        """
        require_one_index({"X": X, "y": y, "sample_weight": sample_weight})
        chosen = self.predict_proba(X).argmax(axis=1)
        likelihood = self._answers.likelihood(*self._rows_with_reports(X, y, reset=False), sample_weight)
        hits = self._answers.decoding[likelihood.codes, chosen]
        return float(np.average(hits, weights=likelihood.weights))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = len(AnswerDesign(self.design).categories) > 2
        return tags

    def _rows_with_reports(self, X: Any, y: ArrayLike, *, reset: bool) -> tuple[Rows, AnyArray]:  # noqa: N803
        """Return features and reports that scikit-learn has checked; the design checks the codes."""
        x, reports = validation.validate_data(self, X, y, reset=reset, dtype=[np.float64, np.float32])
        if reports.dtype.kind == "f":
            multiclass.check_classification_targets(reports)
        return Rows.of(x, _check.flag("fit_intercept", self.fit_intercept)), reports

    def _rows(self, X: Any, *, reset: bool) -> Rows:  # noqa: N803
        """Return features that scikit-learn has checked."""
        x = validation.validate_data(self, X, reset=reset, dtype=[np.float64, np.float32])
        return Rows.of(x, _check.flag("fit_intercept", self.fit_intercept))
