"""Linear regression with an outcome that people have randomized."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._labels import require_one_index
from .._typing import Floats
from ..designs import ReplicateWeights
from ..mechanisms import Mechanism
from ..results import Estimate
from ._leverage import jackknife_covariance
from ._model import Regression, people_of, read_cov_type, robust_covariance
from ._rows import Rows
from ._sandwich import squared_scores
from ._study import study_of_arrays, study_of_formula


class RandomizedLinear(Regression):
    """Least squares for a number that people have randomized, with covariates that are known.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism of the reports, whose decoded reports are unbiased numbers, such as `SignBit`, `Window` or `Laplace`.
    intercept : bool, default True
        Whether a column of ones, named const, is put before those of X.

    Attributes
    ----------
    names, params, cov, n
        As for `RandomizedLogit`.

    Raises
    ------
    TypeError
        If `mechanism` is not a mechanism with one number per person.

    Notes
    -----
    The coefficients are unbiased if the mean of the true outcome is linear in X, because decoded reports have the right mean.
    Standard errors are consistent for errors of different variances (HC3 [1]_), or for related people with `clusters`. Limits
    have t quantiles with the degrees of freedom of Satterthwaite, for each coefficient its own [2]_; with `clusters` those of
    their number less that of the coefficients, or fewer if their total weights are not equal. Predictions have the fewest of
    all coefficients.

    References
    ----------
    .. [1] J. G. MacKinnon, H. White, "Some heteroskedasticity-consistent covariance matrix estimators with improved finite
       sample properties", Journal of Econometrics, 1985.
    .. [2] R. M. Bell, D. F. McCaffrey, "Bias reduction in standard errors for linear regression with multi-stage samples",
       Survey Methodology, 2002.

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> from ldpfast import analysis
    >>> rng = np.random.default_rng(1)
    >>> age = rng.uniform(0, 1, 20_000)
    >>> hours = 2 + 3 * age + rng.uniform(-1, 1, 20_000)
    >>> mechanism = ldp.SignBit(0, 10, 2.0)
    >>> model = analysis.RandomizedLinear(mechanism).fit(age[:, np.newaxis], mechanism.privatize(hours, rng=1))
    >>> low, high = model.interval()
    >>> bool(low[1] < 3 < high[1])
    True
    """

    def __init__(self, mechanism: Mechanism, *, intercept: bool = True) -> None:
        if not isinstance(mechanism, Mechanism) or mechanism.domain.width:
            raise TypeError(f"mechanism must be a mechanism of numbers, got {type(mechanism).__name__}")
        self.mechanism, self.intercept = mechanism, _check.flag("intercept", intercept)
        self.guarantee = mechanism.guarantee

    def fit(
        self,
        X: Any,  # noqa: N803
        reports: Any = None,
        *,
        data: Any = None,
        weights: ArrayLike | str | None = None,
        clusters: Any = None,
        strata: Any = None,
        replicate_weights: ReplicateWeights | None = None,
        cov_type: str | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X, data, weights, clusters, strata, replicate_weights
            As for `RandomizedLogit.fit`. A formula has the column of the reports before ~. There is no correction for a finite
            population: the variance of the noise of the mechanism, which it does not reduce, is not known from the reports.
        reports : array_like, shape (n,); or data frame
            Reports of the mechanism. With a formula its data, if `data` is not given.
        cov_type : {"linearized", "HC1", "HC3", "cluster", "replicates"}, optional
            Kind of the covariance matrix: the sandwich, the default with strata; that with the factor n / (n - columns); that
            with the leverage of each row, which is the default; that of clusters without strata, the default with these, with
            the factor (n - 1) / (n - columns) of statsmodels; or that of replicate weights.

        Returns
        -------
        self : RandomizedLinear

        Raises
        ------
        TypeError, ValueError
            As for `RandomizedLogit.fit`; if there are not more rows of positive weight than columns, or one row decides a
            coefficient alone.

        Warns
        -----
        SmallSampleWarning
            As for `RandomizedLogit.fit`; if a standard error has fewer than 10 degrees of freedom, because rows of high
            leverage decide it, such as the few people of a category.
        """
        sample_of: dict[str, Any] = {"weights": weights, "clusters": clusters, "strata": strata}
        sample_of["replicate_weights"] = replicate_weights
        if isinstance(X, str):
            study = study_of_formula(X, reports, data, self.intercept, sample_of, "reports")
        else:
            study = study_of_arrays(X, data, self.intercept, {"reports": reports, **sample_of}, ("reports",))
        rows = study.rows
        decoded = np.asarray(self.mechanism.decode(study.given["reports"]), np.float64)
        n, size = len(rows), len(rows.names)
        if decoded.shape != (n,):
            raise ValueError(
                f"reports must have one number for each of {n} rows of X, got decoded shape {decoded.shape}"
            )
        given = study.given["weights"]
        given = None if given is None else _check.weights(given, n)
        people = n if given is None else int(np.count_nonzero(given))
        if people <= size:
            raise ValueError(f"X must have more rows than columns, got {people} rows for {size} coefficients")
        sample = study.sample(given, size + 1)
        rows, w = rows.standardized(), np.ones(n) if given is None else given
        # Least squares on the decoded reports: the normal equations are summed over parts of the rows, which are standardized
        # so that the equations are well conditioned. The coefficients return to the units of the columns at the end.
        try:
            params, bread = _least_squares(rows, decoded, w)
        except np.linalg.LinAlgError:
            raise ValueError("X must have linearly independent columns among the rows with positive weights") from None
        kind = read_cov_type(cov_type, "HC3", ("linearized", "HC1", "HC3"), sample)

        def scores() -> Iterator[tuple[slice, Floats]]:
            for part in rows.parts():
                x = rows.block(part)
                yield part, x * (w[part] * (decoded[part] - x @ params))[:, np.newaxis]

        freedom: Any
        if kind == "HC3":
            cov, freedom = jackknife_covariance(rows, w, lambda part, x: decoded[part] - x @ params, bread)
        else:
            refit = lambda weights: _least_squares(rows, decoded, weights)[0]  # noqa: E731
            cov, freedom = robust_covariance(kind, bread, scores(), sample, size, refit, params)
            cov = cov * ((people - 1) / (people - size) if kind == "cluster" else 1.0)
            freedom = np.asarray(freedom)
        units = rows.to_units
        self.names = rows.names
        self.n = people
        self.cov_type = kind
        self._freedom = freedom
        self.params, self.cov = np.asarray(units @ params, np.float64), np.asarray(units @ cov @ units.T, np.float64)
        self._set_design_effect(bread @ squared_scores(scores(), size, given) @ bread, units, sample)
        self._rows = rows
        self._standard = (params, cov)
        self._people = people_of(decoded)
        self._learn(study, sample)
        return self

    def predict(self, X: Any, *, average: bool = False, weights: ArrayLike | None = None) -> Estimate[Any]:  # noqa: N803
        """Return the predicted mean for people with given covariates, with its standard error.

        Parameters
        ----------
        X, average, weights
            As for `RandomizedLogit.predict`.

        Returns
        -------
        mean : Estimate
            Shape (n,); with `average` a number. Differences and ratios of predictions of one fit have the standard error of the
            delta method.
        """
        require_one_index({"X": X, "weights": weights})
        rows = self._read(X)
        w = self._mean_weights(weights, average, len(rows))
        if w is not None:
            value, slopes = self._average(rows, w)
            return self._prediction(value[0], slopes, _table=X)
        x = rows.block(slice(None))
        return self._prediction(x @ self._standard[0], x, _table=X)

    def _average(self, rows: Rows, weights: Floats, **at: Any) -> tuple[Floats, Floats]:
        slopes = sum(weights[part] @ rows.block(part) for part in rows.parts())
        return self._linear(slopes)

    def _average_slope(self, rows: Rows, derivatives: Floats, weights: Floats, **at: Any) -> tuple[Floats, Floats]:
        return self._linear(derivatives if derivatives.ndim == 1 else weights @ derivatives)

    def _linear(self, slopes: Any) -> tuple[Floats, Floats]:
        """Return a linear function of the coefficients, and its derivatives."""
        row = np.asarray(slopes, np.float64)[np.newaxis]
        return row @ self._standard[0], row

    def _notes(self) -> list[str]:
        return [f"epsilon = {self.guarantee.epsilon:.6g}"]

    def __repr__(self) -> str:
        state = "" if "params" not in self.__dict__ else f", n = {self.n}"
        return f"<RandomizedLinear of {self.mechanism!r}{state}>"


def _least_squares(rows: Rows, y: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the coefficients, and the inverse of the sum of w x x'."""
    size = len(rows.names)
    gram, right = np.zeros((size, size)), np.zeros(size)
    for part in rows.parts():
        x = rows.block(part)
        gram += (x * weights[part, np.newaxis]).T @ x
        right += x.T @ (weights[part] * y[part])
    return np.asarray(np.linalg.solve(gram, right), np.float64), np.asarray(np.linalg.inv(gram), np.float64)
