"""The argument `design` of regressions: how the true answers of people became reports."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._typing import Floats
from ..designs import DIRECT, Design, groups_of_designs, least_private
from ..mechanisms import decoding_of
from ..mechanisms._channel_argument import codes_of, mechanism_of
from ._likelihood import Likelihood
from ._maximum import maximum
from ._rows import Rows

PART = 1 << 18  # reports that are read together
TRUTHS = ("no", "yes")  # of a design of `ldpfast.designs`
LEAST_SHARE = 0.02  # of a category where the search starts


def answer_design(design: Any) -> AnswerDesign:
    """Return the design of answers, or the designs if there is a mapping of them."""
    return SeveralAnswerDesigns(design) if isinstance(design, Mapping) else AnswerDesign(design)


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
        self.categories: tuple[Any, ...] = TRUTHS if isinstance(design, Design) else tuple(range(len(self.table)))

    def coefficient_names(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the names of the coefficients of a model of the answers, for the names of its columns."""
        if len(self.categories) == 2:
            return names
        return tuple(f"{category}: {name}" for category in self.categories[1:] for name in names)

    @property
    def decoding(self) -> Floats:
        """Unbiased estimates of the categories from every code, shape (codes, k)."""
        return decoding_of(self._mechanism)

    cov_types: ClassVar[tuple[str, ...]] = ("nonrobust", "linearized", "HC1", "HC3")  # of a model of the answers

    def own_likelihood(self, rows: Rows, given: Mapping[str, Any]) -> Any:
        """Return the likelihood of a model of the answers, from what is given of each person.

        Raises
        ------
        TypeError, ValueError
            As for `likelihood`; if an attention question is given.
        """
        return self.joint_likelihood(rows, given)

    def joint_likelihood(self, rows: Rows, given: Mapping[str, Any]) -> Likelihood:
        """Return the likelihood of all answers of a person together, as `own_likelihood`."""
        if given["attention"] is not None:
            raise TypeError("attention must be None unless the model has p_attention")
        return self.likelihood(rows, given["reports"], given["weights"], given["design"])

    def likelihood(self, rows: Rows, reports: ArrayLike, weights: ArrayLike | None, chosen: Any = None) -> Likelihood:
        """Return the likelihood of the reports of people, whose design is `chosen` if there are several.

        Raises
        ------
        TypeError, ValueError
            If `reports` or `weights` do not have one valid entry for each row; if a design is chosen though there is one.
        """
        if chosen is not None:
            raise TypeError("design must be None unless the model has a mapping of designs")
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

    def start_of_shares(self, likelihood: Any) -> Floats:
        """Return coefficients with the estimated shares of the categories for all people."""
        counts = np.zeros(likelihood.table.shape[1])
        for part in likelihood.rows.parts():
            counts += np.bincount(likelihood.codes[part], likelihood.weights_of(part), len(counts))
        shares = np.clip(counts @ self.decoding / counts.sum(), LEAST_SHARE, 1)
        start = np.zeros(likelihood.shape)
        if likelihood.rows.intercept:
            start[:, 0] = np.log(shares[1:] / shares[0])
        return start

    def first_fit(self, likelihood: Likelihood) -> Floats:
        """Return coefficients without an outcome, where a search with one starts."""
        start = self.start_of_shares(likelihood)
        found = maximum(likelihood, start)
        return start if found is None else found[0]

    def start_of_squares(self, likelihood: Any) -> Floats:
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


class SeveralAnswerDesigns(AnswerDesign):
    """Designs by the values of a column that names the design of each person.

    The code of a person is that of the report and of the design together. Its probability for a category is that of the report
    times the share of people with this design, so that the rows of the joint table have sum 1 and the expected information is
    that of the mean person. The logarithms of these shares are a constant of the log-likelihood.

    Parameters
    ----------
    designs : mapping
        Designs as for `AnswerDesign`; None is a direct question.

    Raises
    ------
    TypeError, ValueError
        If the designs are for different numbers of categories, or all are None.
    """

    def __init__(self, designs: Mapping[Any, Any]) -> None:
        parts = {key: AnswerDesign(design) for key, design in designs.items() if design is not None}
        sizes = {len(part.table) for part in parts.values()}
        if len(sizes) != 1:
            raise ValueError(f"design must have designs for one number of categories, got {sorted(sizes)}")
        first = next(iter(parts.values()))
        texts = next((part for part in parts.values() if isinstance(part._design, Design)), first)
        direct = AnswerDesign(DIRECT if texts.categories == TRUTHS else np.eye(sizes.pop(), dtype=int).tolist())
        self._parts = {key: parts.get(key, direct) for key in designs}
        self.categories = texts.categories
        self.guarantee = least_private([part.guarantee for part in self._parts.values()])
        self._set(list(self._parts.values()), [1 / len(self._parts)] * len(self._parts))

    def _set(self, parts: list[AnswerDesign], shares: list[float]) -> None:
        """Set the joint table of designs that people have with some shares, and how its codes are decoded."""
        tables = [part.table * share for part, share in zip(parts, shares, strict=True)]
        self.table = np.hstack(tables)
        self._decoding: Floats = np.vstack([part.decoding for part in parts])

    @property
    def decoding(self) -> Floats:
        return self._decoding

    def likelihood(self, rows: Rows, reports: ArrayLike, weights: ArrayLike | None, chosen: Any = None) -> Likelihood:
        given = _check.array("reports", reports)
        n = len(rows)
        if given.shape != (n,):
            raise ValueError(f"reports must have one entry for each row of X, got {len(given)} for {n} rows")
        groups = groups_of_designs(self._parts, chosen, n)
        parts = [self._parts[key] for key in groups]
        w = None if weights is None else _check.weights(weights, n)
        totals = [float(inside.sum() if w is None else w[inside].sum()) for inside in groups.values()]
        shares = [max(total / n, np.finfo(np.float64).tiny) for total in totals]
        self._set(parts, shares)
        codes = np.zeros(n, np.min_scalar_type(self.table.shape[1] - 1))
        blocks: list[int] = []
        first = 0
        for place, (part, inside) in enumerate(zip(parts, groups.values(), strict=True)):
            size = part.table.shape[1]
            codes[inside] = first + part._short_codes(given[inside]).astype(np.intp)
            blocks += [place] * size
            first += size
        constant = sum(total * math.log(share) for total, share in zip(totals, shares, strict=True))
        return Likelihood(rows, codes, self.table, w, blocks=np.array(blocks), constant=constant)
