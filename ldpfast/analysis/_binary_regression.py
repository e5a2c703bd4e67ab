"""Probit and complementary log-log models with a randomized outcome."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._typing import Floats
from ._answer_regression import AnswerRegression
from ._binary_means import average_slope_of
from ._likelihood import Likelihood, LinkLikelihood
from ._links import CLOGLOG, PROBIT
from ._rows import Rows


class BinaryRegression(AnswerRegression):
    """Base class of models of two categories with another link than the logit."""

    def __init__(self, design: Any, *, intercept: bool = True) -> None:
        super().__init__(design, intercept=intercept)
        if len(self.categories) != 2:
            name = type(self).__name__
            raise ValueError(f"design must have two categories for {name}, got {len(self.categories)}")

    def _likelihood_of(self, rows: Rows, given: dict[str, Any]) -> Likelihood:
        return LinkLikelihood.of(super()._likelihood_of(rows, given), self._link)

    def _starts(self, likelihood: Likelihood) -> Iterator[Floats]:
        for start in super()._starts(likelihood):
            if likelihood.rows.intercept:  # it starts as the intercept of a logit
                start[:, 0] = self._link.of_share(1 / (1 + np.exp(-start[:, 0])))
            yield start

    def _shares(self, x: Floats) -> tuple[Floats, Floats]:
        params = self._standard[0]
        density = self._link.density(x @ params[0])
        return self._likelihood.shares(x, params), np.stack([-density, density], axis=1)[:, :, np.newaxis]

    def _average_slope(self, rows: Rows, derivatives: Floats, weights: Floats, **at: Any) -> tuple[Floats, Floats]:
        return average_slope_of(rows, derivatives, weights, self._standard[0][0], self._link)


class RandomizedProbit(BinaryRegression):
    """Probit model of an answer of two categories that people have randomized, with covariates that are known.

    Parameters
    ----------
    design, intercept
        As for `RandomizedLogit`, for two categories.

    Attributes
    ----------
    names, params, cov, llf, n, categories
        As for `RandomizedLogit`.

    Raises
    ------
    TypeError, ValueError
        If `design` is not a design of two categories.

    Notes
    -----
    The probability of yes is the normal distribution function of the sum of covariates times coefficients. All else is as for
    `RandomizedLogit`. Standard errors come from the observed information, which is not the expected one of packages that use
    iterated weighted least squares.

    References
    ----------
    .. [1] A. van den Hout, P. G. M. van der Heijden, R. Gilchrist, "The logistic regression model with response variables
       subject to randomized response", Computational Statistics & Data Analysis, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast import analysis, designs
    >>> rng = np.random.default_rng(1)
    >>> age = rng.normal(size=20_000)
    >>> has = rng.normal(size=20_000) < 0.5 * age - 0.6
    >>> design = designs.forced_response("1/6", "1/6")
    >>> reports = design.channel.privatize(has.astype(int), rng=1)
    >>> model = analysis.RandomizedProbit(design).fit(age[:, np.newaxis], reports)
    >>> low, high = model.interval()
    >>> bool(low[0] < -0.6 < high[0]), bool(low[1] < 0.5 < high[1])
    (True, True)
    """

    _link = PROBIT


class RandomizedCloglog(BinaryRegression):
    """Complementary log-log model of an answer of two categories that people have randomized, with known covariates.

    It is the model of an event in a period, with proportional hazards.

    Parameters
    ----------
    design, intercept
        As for `RandomizedLogit`, for two categories.

    Attributes
    ----------
    names, params, cov, llf, n, categories
        As for `RandomizedLogit`.

    Raises
    ------
    TypeError, ValueError
        If `design` is not a design of two categories.

    Notes
    -----
    The probability of yes is 1 - exp(-exp(x)) for the sum x of covariates times coefficients. All else is as for
    `RandomizedProbit`.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast import analysis, designs
    >>> rng = np.random.default_rng(1)
    >>> age = rng.normal(size=20_000)
    >>> has = rng.exponential(size=20_000) < np.exp(0.5 * age - 1)  # an event within the period
    >>> design = designs.crosswise(0.2)
    >>> reports = design.channel.privatize(has.astype(int), rng=1)
    >>> model = analysis.RandomizedCloglog(design).fit(age[:, np.newaxis], reports)
    >>> low, high = model.interval()
    >>> bool(low[0] < -1 < high[0]), bool(low[1] < 0.5 < high[1])
    (True, True)
    """

    _link = CLOGLOG
