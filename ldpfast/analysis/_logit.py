"""Logit and multinomial logit with a randomized outcome."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _check
from .._typing import Floats
from ._answer_regression import AnswerRegression
from ._attention_model import AttentionDesign
from ._links import LOGIT
from ._rows import Rows


class RandomizedLogit(AnswerRegression):
    """Logit model of an answer that people have randomized, with covariates that are known.

    With two categories it is the regression of a randomized response study; with more a multinomial logit, whose reference is
    the first category. The coefficients describe the true answers: an ordinary logit of the randomized answers estimates
    others, usually much too small.

    Parameters
    ----------
    design : Design, Mechanism, privacy.Channel, or sequence of sequences of int, Fraction or float; or mapping of these
        How the reports were made, as for `estimation.from_reports`. Or designs by the values of a column that names the design
        of each person, such as ``{"die": designs.forced_response("1/6", "1/6"), "direct": None}``, where None is a direct
        question.
    p_attention : float, Fraction or str, optional
        For a crosswise design: share of yes to the innocuous part of an attention question, as for
        `designs.crosswise_with_attention`. Some people may answer at random then.
    intercept : bool, default True
        Whether a column of ones, named const, is put before those of X.

    Attributes
    ----------
    names : tuple of str
        Names of the coefficients; for more than two categories with that of the category.
    params : ndarray
        Coefficients, shape (columns,); (k - 1, columns) for k > 2 categories.
    cov : ndarray
        Their covariance matrix.
    llf : float
        Log-likelihood at the maximum.
    attention : LabeledEstimate
        With `p_attention`, the coefficients of the log-odds to be attentive, for the same covariates.
    n : int
        Number of people.
    categories : tuple
        The categories of the truth: no and yes for a `Design`.

    Raises
    ------
    TypeError, ValueError
        If `design` is none of these.

    Notes
    -----
    The probability of a report r of a person with covariates x is the sum over categories y of P(y | x) M[y, r], with the
    table M of the design. Its likelihood is maximized by Fisher scoring and then Newton's method. Standard errors come from the
    observed information; with `weights` or `clusters` from the sandwich estimator, with t quantiles for limits. Time is a few
    passes over the rows, memory beyond the data is constant.

    With an attention question the likelihoods of the answers to both questions are multiplied [3]_, though these are related:
    standard errors come from the sandwich estimator, and there is no `llf`. Without covariates it is the estimate of
    `designs.crosswise_with_attention`.

    References
    ----------
    .. [1] A. Scheers, C. M. Dayton, "Covariate randomized response models", JASA, 1988.
    .. [2] G. Blair, K. Imai, Y.-Y. Zhou, "Design and analysis of the randomized response technique", JASA, 2015.
    .. [3] Y. Atsusaka, R. T. Stevenson, "A bias-corrected estimator for the crosswise model with inattentive respondents",
       Political Analysis, 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast import analysis, designs
    >>> rng = np.random.default_rng(1)
    >>> age = rng.normal(size=20_000)
    >>> has = rng.random(20_000) < 1 / (1 + np.exp(1 - 0.8 * age))
    >>> design = designs.forced_response("1/6", "1/6")
    >>> reports = design.channel.privatize(has.astype(int), rng=1)
    >>> model = analysis.RandomizedLogit(design).fit(age[:, np.newaxis], reports)
    >>> low, high = model.interval()
    >>> bool(low[0] < -1 < high[0]), bool(low[1] < 0.8 < high[1])
    (True, True)
    """

    _link = LOGIT

    def __init__(self, design: Any, *, p_attention: Any = None, intercept: bool = True) -> None:
        if p_attention is None:
            super().__init__(design, intercept=intercept)
            return
        self.design, self.intercept = design, _check.flag("intercept", intercept)
        self.p_attention = p_attention
        self._set_answers(AttentionDesign(design, p_attention))

    def _shares(self, x: Floats) -> tuple[Floats, Floats]:
        """Return the shares of people, and [i, y, z]: the derivative of share y by the log-odds of category z + 1."""
        shares, k = self._likelihood.shares(x, self._standard[0]), len(self.categories)
        return shares, shares[:, :, np.newaxis] * (np.eye(k)[:, 1:] - shares[:, np.newaxis, 1:])

    def _average_slope(self, rows: Rows, derivatives: Floats, weights: Floats, **at: Any) -> tuple[Floats, Floats]:
        # The mean of p_y (g_y - mean of g) over the people, where g are the derivatives of the log-odds by the covariate. Its
        # derivatives by the coefficients have three terms: of p_y, of the mean through the shares, and of g itself.
        params, k = self._standard[0], len(self.categories)
        full = np.vstack([np.zeros(params.shape[1]), params])
        value, slopes = np.zeros(k), np.zeros((k, *params.shape))
        for part in rows.parts():
            x = rows.block(part)
            d = np.broadcast_to(derivatives if derivatives.ndim == 1 else derivatives[part], x.shape)
            shares, by_odds = self._shares(x)
            weighted = shares * weights[part, np.newaxis]
            own = d @ full.T
            rest = own - (shares * own).sum(axis=1, keepdims=True)
            value += (weighted * rest).sum(axis=0)
            through = by_odds * rest[:, :, np.newaxis] - shares[:, :, np.newaxis] * (shares * rest)[:, np.newaxis, 1:]
            slopes += np.einsum("i,iyz,ij->yzj", weights[part], through, x, optimize=True)
            slopes += np.einsum("i,iyz,ij->yzj", weights[part], by_odds, d, optimize=True)
        return value[self._shown], slopes.reshape(k, -1)[self._shown]
