"""Linear regression with an outcome that people have randomized."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._typing import Floats
from ..designs._clusters import read_clusters
from ..mechanisms import Mechanism
from ..results import Estimate, Normal
from ._model import Regression
from ._rows import Rows
from ._sandwich import squared_scores


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
    Standard errors are consistent for errors of different variances (HC1), or for related people with `clusters`.

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

    def fit(self, X: Any, reports: ArrayLike, *, weights: ArrayLike | None = None, clusters: Any = None) -> Self:  # noqa: N803
        """Fit the model.

        Parameters
        ----------
        X, weights, clusters
            As for `RandomizedLogit.fit`.
        reports : array_like, shape (n,)
            Reports of the mechanism.

        Returns
        -------
        self : RandomizedLinear

        Raises
        ------
        TypeError, ValueError
            As for `RandomizedLogit.fit`; if there are not more rows than columns.
        """
        rows = Rows.of(X, self.intercept)
        decoded = np.asarray(self.mechanism.decode(reports), np.float64)
        n, size = len(rows), len(rows.names)
        if decoded.shape != (n,):
            raise ValueError(
                f"reports must have one number for each of {n} rows of X, got decoded shape {decoded.shape}"
            )
        if n <= size:
            raise ValueError(f"X must have more rows than columns, got {n} rows for {size} coefficients")
        numbers = read_clusters(clusters, n, size + 1)
        rows, w = rows.standardized(), np.ones(n) if weights is None else _check.weights(weights, n)
        gram, right = np.zeros((size, size)), np.zeros(size)
        for part in rows.parts():
            x = rows.block(part)
            gram += (x * w[part, np.newaxis]).T @ x
            right += x.T @ (w[part] * decoded[part])
        try:
            params, bread = (np.asarray(x, np.float64) for x in (np.linalg.solve(gram, right), np.linalg.inv(gram)))
        except np.linalg.LinAlgError:
            raise ValueError("X must have linearly independent columns among the rows with positive weights") from None
        blocks = ((part, rows.block(part)) for part in rows.parts())
        scores = ((part, x * (w[part] * (decoded[part] - x @ params))[:, np.newaxis]) for part, x in blocks)
        factor = (n if numbers is None else n - 1) / (n - size)
        cov = bread @ squared_scores(scores, size, numbers) @ bread * factor
        units = rows.to_units
        self.names, self.n = rows.names, n
        self._errors = "heteroscedasticity-consistent (HC1)" if numbers is None else "sandwich of clusters"
        self.params, self.cov = np.asarray(units @ params, np.float64), np.asarray(units @ cov @ units.T, np.float64)
        self._rows, self._standard = rows, (params, cov)
        return self

    def predict(self, X: Any) -> Estimate[Floats]:  # noqa: N803
        """Return the predicted mean for people with given covariates, with its standard error.

        Parameters
        ----------
        X : array_like of shape (n, columns), or data frame
        """
        x, (params, cov) = self._read(X).block(slice(None)), self._standard
        stderr = np.sqrt(np.einsum("ij,jk,ik->i", x, cov, x))
        return Estimate(x @ params, stderr, self.n, self.guarantee, None, Normal())

    def _notes(self) -> list[str]:
        return [f"epsilon = {self.guarantee.epsilon:.6g}"]

    def __repr__(self) -> str:
        state = "" if "params" not in self.__dict__ else f", n = {self.n}"
        return f"<RandomizedLinear of {self.mechanism!r}{state}>"
