"""Linear regression with an outcome that people have randomized."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._typing import Floats
from ..mechanisms import Mechanism
from ..results import Estimate, Normal
from ._likelihood import ROWS
from ._model import Regression
from ._rows import Rows, read_clusters, read_weights
from ._summary import RegressionSummary


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
        given, numbers = read_weights(weights, n), read_clusters(clusters, n, size)
        rows = rows.standardized()
        w = np.ones(n) if given is None else given
        gram, right = np.zeros((size, size)), np.zeros(size)
        for first in range(0, n, ROWS):
            x, part = rows.block(first, min(first + ROWS, n)), slice(first, first + ROWS)
            gram += (x * w[part, np.newaxis]).T @ x
            right += x.T @ (w[part] * decoded[part])
        try:
            params, bread = np.linalg.solve(gram, right), np.linalg.inv(gram)
        except np.linalg.LinAlgError:
            raise ValueError("X must have linearly independent columns among the rows with positive weights") from None
        grouped = None if numbers is None else np.zeros((int(numbers.max()) + 1, size))
        meat = np.zeros((size, size))
        for first in range(0, n, ROWS):
            x, part = rows.block(first, min(first + ROWS, n)), slice(first, first + ROWS)
            scores = x * (w[part] * (decoded[part] - x @ params))[:, np.newaxis]
            if grouped is None:
                meat += scores.T @ scores
            else:
                np.add.at(grouped, numbers[part], scores)  # type: ignore[index]
        if grouped is None:
            meat *= n / (n - size)
        else:
            count = len(grouped)
            meat = grouped.T @ grouped * (count / (count - 1) * (n - 1) / (n - size))
        self.names, self.n = rows.names, n
        units = rows.to_units
        self.params, cov = np.asarray(units @ params, np.float64), bread @ meat @ bread
        self.cov = np.asarray(units @ cov @ units.T, np.float64)
        self._rows, self._standard = rows, (params, cov)  # predictions use the coefficients of standardized columns
        return self

    def predict(self, X: Any) -> Estimate[Floats]:  # noqa: N803
        """Return the predicted mean for people with given covariates, with its standard error.

        Parameters
        ----------
        X : array_like of shape (n, columns), or data frame
        """
        rows = Rows.of(X, self.intercept)
        if len(rows.names) != len(self.names) or (hasattr(X, "columns") and rows.names != self.names):
            raise ValueError(f"X must have the columns {', '.join(self.names)}, got {', '.join(rows.names)}")
        x, (params, cov) = rows.like(self._rows).block(0, len(rows)), self._standard
        stderr = np.sqrt(np.einsum("ij,jk,ik->i", x, cov, x))
        return Estimate(x @ params, stderr, self.n, self.guarantee, None, Normal())

    def summary(self, confidence: float = 0.95) -> RegressionSummary:
        """Return the coefficients as a table that can be printed.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level of the limits, in (0, 1).
        """
        notes = (
            f"n = {self.n:,}, {100 * confidence:g} % intervals, epsilon = {self.guarantee.epsilon:.6g}",
            "standard errors: heteroscedasticity-consistent (HC1), or of clusters",
        )
        return RegressionSummary(self._table_of(confidence), notes)

    def __repr__(self) -> str:
        state = "" if "params" not in self.__dict__ else f", n = {self.n}"
        return f"<RandomizedLinear of {self.mechanism!r}{state}>"
