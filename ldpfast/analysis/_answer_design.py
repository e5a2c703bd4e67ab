"""The argument `design` of regressions: how the true answers of people became reports."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._typing import Floats
from ..designs import Design
from ..mechanisms import decoding_of
from ..mechanisms._channel_argument import codes_of, mechanism_of
from ._likelihood import Likelihood
from ._rows import Rows

PART = 1 << 18  # reports that are read together
LEAST_SHARE = 0.02  # of a category where the search starts


class AnswerDesign:
    """The true answers of people and the design of their reports.

    Parameters
    ----------
    design : Design, Mechanism, privacy.Channel, or sequence of sequences of int, Fraction or float

    Attributes
    ----------
    guarantee : privacy.Guarantee
    table : ndarray, shape (k, codes)
        Probability of each code for each category.
    categories : tuple
        The categories of the truth: no and yes for a `Design`.
    """

    def __init__(self, design: Any) -> None:
        self._design, self._mechanism = design, mechanism_of(design)
        self.guarantee = self._mechanism.guarantee
        self.table: Floats = np.asarray(self._mechanism.channel().matrix, np.float64)
        self.categories: tuple[Any, ...] = (
            ("no", "yes") if isinstance(design, Design) else tuple(range(len(self.table)))
        )

    def coefficient_names(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the names of the coefficients of a model of the answers, for the names of its columns."""
        if len(self.categories) == 2:
            return names
        return tuple(f"{category}: {name}" for category in self.categories[1:] for name in names)

    @property
    def decoding(self) -> Floats:
        """Unbiased estimates of the categories from every code, shape (codes, k)."""
        return decoding_of(self._mechanism)

    def likelihood(self, rows: Rows, reports: ArrayLike, weights: ArrayLike | None) -> Likelihood:
        """Return the likelihood of the reports of people.

        Raises
        ------
        TypeError, ValueError
            If `reports` or `weights` do not have one valid entry for each row.
        """
        codes = self._short_codes(reports)
        if len(codes) != len(rows):
            raise ValueError(f"reports must have one entry for each row of X, got {len(codes)} for {len(rows)} rows")
        return Likelihood(rows, codes, self.table, None if weights is None else _check.weights(weights, len(rows)))

    def _short_codes(self, reports: ArrayLike) -> NDArray[Any]:
        """Return the codes of reports in few bytes. Those of an array are read in parts: it may be larger than memory."""
        kind = np.min_scalar_type(self.table.shape[1] - 1)
        plain = type(reports) in (np.ndarray, np.memmap) and np.ndim(reports) == 1 and np.size(reports) > PART
        if not plain:
            return codes_of(reports, self._design, self._mechanism).astype(kind)
        given = np.asarray(reports)
        found = np.empty(len(given), kind)
        for start in range(0, len(given), PART):
            part = slice(start, start + PART)
            found[part] = codes_of(given[part], self._design, self._mechanism)
        return found

    def start_of_shares(self, likelihood: Likelihood) -> Floats:
        """Return coefficients with the estimated shares of the categories for all people."""
        counts = np.zeros(self.table.shape[1])
        for part in likelihood.rows.parts():
            counts += np.bincount(likelihood.codes[part], likelihood.weights_of(part), len(counts))
        shares = np.clip(counts @ self.decoding / counts.sum(), LEAST_SHARE, 1)
        start = np.zeros(likelihood.shape)
        if likelihood.rows.intercept:
            start[:, 0] = np.log(shares[1:] / shares[0])
        return start

    def start_of_squares(self, likelihood: Likelihood) -> Floats:
        """Return coefficients from least squares on the decoded reports."""
        size, k = len(likelihood.rows.names), len(self.table)
        decoding = self.decoding
        gram, right = np.zeros((size, size)), np.zeros((size, k))
        for part in likelihood.rows.parts():
            x = likelihood.rows.block(part)
            gram += x.T @ x
            right += x.T @ decoding[likelihood.codes[part]]
        slopes = np.linalg.lstsq(gram, right, rcond=None)[0].T * k
        if likelihood.rows.intercept:
            slopes[:, 0] -= 1
        return np.asarray(np.clip(slopes[1:] - slopes[0], -5, 5))
