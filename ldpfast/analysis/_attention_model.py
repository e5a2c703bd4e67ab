"""The crosswise model with an attention question, which tells how many people answer at random."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .. import _check, _threads
from .._typing import AnyArray, Floats
from ..designs import Design, crosswise
from ..designs._attention import require_two_questions
from ._answer_design import LEAST_SHARE, AnswerDesign
from ._likelihood import Likelihood
from ._maximum import LikelihoodSums, maximum, total
from ._mixture import Mixture
from ._profile import Plane
from ._rows import ROWS, Rows

ATTENTIVE = "attentive: "  # before the names of the coefficients of attention
LEAST_CHANCE = 1e-12  # of an answer
# People without and with the attribute who are not attentive, then those who are: whether they have it, and are.
KINDS = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], np.float64)


@dataclass(frozen=True, eq=False)
class AttentionLikelihood:
    """The log-likelihoods of the answers to the crosswise question and to the attention question, added.

    The answers of a person to both are related, so that this is a composite likelihood: its maximum needs no more than that
    people who are not attentive say same as often as different to each question, and standard errors come from the sandwich.

    The parameters have two rows: coefficients of the attribute, and of attention.

    Attributes
    ----------
    rows : Rows
    codes : ndarray of int, shape (n,)
        Twice the answer to the crosswise question plus that to the attention question, where same is 1.
    p, p_attention : float
        Shares of yes to the innocuous questions.
    table : ndarray, shape (2, 2)
        Probabilities of the answers to the crosswise question.
    weights : ndarray, shape (n,), or None
    """

    rows: Rows
    codes: AnyArray
    p: float
    p_attention: float
    table: Floats
    weights: Floats | None

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the parameters."""
        return 2, len(self.rows.names)

    @property
    def of_the_attribute(self) -> Likelihood:
        """The likelihood of the crosswise question, as if all people were attentive."""
        return Likelihood(self.rows, self.codes >> 1, self.table, self.weights)

    def sums(self, params: Floats, *, observed: bool) -> LikelihoodSums:
        """Return the log-likelihood and its derivatives; unless `observed`, the expected information."""

        def work(start: int, stop: int) -> LikelihoodSums:
            return total([self._sums(params, part, observed) for part in self.rows.parts(start, stop)])

        return total(_threads.parallel_map(work, len(self.rows), ROWS, len(self.rows) * params.size))

    def weights_of(self, part: slice) -> Floats:
        """Return the weights of some people, which are 1 if there are none."""
        return np.ones(len(self.codes[part])) if self.weights is None else self.weights[part]

    def scores(self, params: Floats) -> Iterator[tuple[slice, Floats]]:
        """Yield the gradients of people, with their places."""
        for part in self.rows.parts():
            x = self.rows.block(part)
            factors = sum(
                residual[:, np.newaxis] * slope for _, residual, _, slope, _ in self._answers(params, part, x)
            )
            weighted = np.asarray(factors) * self.weights_of(part)[:, np.newaxis]
            yield part, (weighted[:, :, np.newaxis] * x[:, np.newaxis]).reshape(len(x), -1)

    def _answers(
        self, params: Floats, part: slice, x: Floats
    ) -> Iterator[tuple[Floats, Floats, Floats, Floats, Floats]]:
        """Yield for each question, at some people, what the derivatives of the log-likelihood are made of.

        These are its value; its first and minus its second derivative by the probability of same; and the derivatives of this
        probability by both linear predictors, of shapes (n, 2) and (n, 2, 2).
        """
        from scipy.special import expit

        has, attentive = expit(x @ params.T).T
        moved, turned = has * (1 - has), attentive * (1 - attentive)
        for place, (start, slope) in enumerate(((0.5 - self.p, 2 * self.p - 1), (0.5 - self.p_attention, 0.0))):
            said = (self.codes[part] >> (1 - place)) & 1
            told = start + slope * has  # how much more often attentive people say same
            chance = np.clip(0.5 + attentive * told, LEAST_CHANCE, 1 - LEAST_CHANCE)
            first = np.stack([attentive * slope * moved, turned * told], axis=1)
            second = np.empty((len(x), 2, 2))
            second[:, 0, 0] = attentive * slope * moved * (1 - 2 * has)
            second[:, 0, 1] = second[:, 1, 0] = turned * slope * moved
            second[:, 1, 1] = turned * (1 - 2 * attentive) * told
            seen = np.where(said, chance, 1 - chance)
            yield np.log(seen), np.where(said, 1, -1) / seen, 1 / seen**2, first, second

    def _sums(self, params: Floats, part: slice, observed: bool) -> LikelihoodSums:
        """Return the sums over some people."""
        x, w = self.rows.block(part), self.weights_of(part)
        value, factors = 0.0, np.zeros((len(x), 2))
        curvature = np.zeros((len(x), 2, 2))
        for logs, residual, curved, first, second in self._answers(params, part, x):
            value += float(w @ logs)
            factors += residual[:, np.newaxis] * first
            outer = first[:, :, np.newaxis] * first[:, np.newaxis]
            if observed:
                curvature += curved[:, np.newaxis, np.newaxis] * outer - residual[:, np.newaxis, np.newaxis] * second
            else:
                seen = 1 / np.abs(residual)
                curvature += outer / (seen * (1 - seen))[:, np.newaxis, np.newaxis]
        curvature *= w[:, np.newaxis, np.newaxis]
        information = np.einsum("iab,ij,ik->ajbk", curvature, x, x, optimize=True).reshape(params.size, params.size)
        score = np.einsum("i,ia,ij->aj", w, factors, x, optimize=True).ravel()
        return LikelihoodSums(value, score, np.asarray(information))


class AttentionDesign(AnswerDesign):
    """The crosswise model with an attention question.

    Parameters
    ----------
    design : Design
        A crosswise one.
    p_attention : float, Fraction or str
        Share of yes to the innocuous part of the attention question.

    Raises
    ------
    TypeError, ValueError
        If they are not.
    """

    def __init__(self, design: Any, p_attention: Any) -> None:
        if not isinstance(design, Design) or design.answers != crosswise("1/4").answers:
            raise ValueError(f"design must be designs.crosswise(p) for an attention question, got {design!r}")
        super().__init__(design)
        anchor = crosswise(_check.exact_probability("p_attention", p_attention))
        self._anchor = AnswerDesign(anchor)
        self.p, self.p_attention = float(design.probabilities[0]), float(anchor.probabilities[0])

    cov_types: ClassVar[tuple[str, ...]] = ("linearized", "HC1")

    def coefficient_names(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return (*names, *(f"{ATTENTIVE}{name}" for name in names))

    def codes(self, rows: Rows, given: Mapping[str, Any]) -> AnyArray:
        """Return the answers of people to both questions, as `AttentionLikelihood` has them.

        Raises
        ------
        TypeError, ValueError
            If they do not have one valid entry for each row.
        """
        if given["attention"] is None:
            raise TypeError("attention must be given: the answers to the attention question, or the column of these")
        if given["design"] is not None:
            raise TypeError("design must be None unless the model has a mapping of designs")
        same = self._short_codes(given["reports"])
        try:
            known = self._anchor._short_codes(given["attention"])
        except (TypeError, ValueError) as error:
            raise type(error)(str(error).replace("reports", "attention", 1)) from None
        for name, found in (("reports", same), ("attention", known)):
            if len(found) != len(rows):
                raise ValueError(f"{name} must have one entry for each row of X, got {len(found)} for {len(rows)} rows")
        require_two_questions(same, known)
        return np.asarray(2 * same + known)

    def own_likelihood(self, rows: Rows, given: Mapping[str, Any]) -> AttentionLikelihood:
        w = None if given["weights"] is None else _check.weights(given["weights"], len(rows))
        return AttentionLikelihood(rows, self.codes(rows, given), self.p, self.p_attention, self.table, w)

    def joint_likelihood(self, rows: Rows, given: Mapping[str, Any]) -> Likelihood:
        # Four kinds of people. Those who are not attentive give all four pairs of answers equally often.
        same = np.array([[self.p, 1 - self.p][::sign] for sign in (1, -1)])  # rows: without the attribute, with it
        known = np.array([self.p_attention, 1 - self.p_attention])
        table = np.vstack([np.full((2, 4), 0.25), *(np.kron(row, known)[np.newaxis] for row in same)])
        w = None if given["weights"] is None else _check.weights(given["weights"], len(rows))
        return Likelihood(rows, self.codes(rows, given), table, w)

    def start_of_shares(self, likelihood: Any) -> Floats:
        """Return coefficients with the estimated shares of the attribute and of attention for all people."""
        counts = np.zeros(4)
        for part in likelihood.rows.parts():
            counts += np.bincount(likelihood.codes[part], likelihood.weights_of(part), 4)
        counts /= counts.sum()
        same, known = counts[2] + counts[3], counts[1] + counts[3]
        attentive = np.clip((known - 0.5) / (0.5 - self.p_attention), LEAST_SHARE, 1 - LEAST_SHARE)
        told = (same - 0.5) / attentive
        has = np.clip((told - 0.5 + self.p) / (2 * self.p - 1), LEAST_SHARE, 1 - LEAST_SHARE)
        start = np.zeros((2, len(likelihood.rows.names)))
        if likelihood.rows.intercept:
            start[:, 0] = np.log([has / (1 - has), attentive / (1 - attentive)])
        return start

    def start_of_squares(self, likelihood: Any) -> Floats:
        """Return coefficients of the attribute as if all people were attentive, and the estimated share of those who are."""
        start = self.start_of_shares(likelihood)
        start[0] = super().start_of_squares(likelihood.of_the_attribute)[0]
        return start

    def first_fit(self, joint: Likelihood) -> Floats:
        """Return coefficients of the attribute and of attention without an outcome, where a search with one starts."""
        composite = AttentionLikelihood(joint.rows, joint.codes, self.p, self.p_attention, self.table, joint.weights)
        start = self.start_of_shares(joint)
        found = maximum(composite, start)
        return start if found is None else np.clip(found[0], -5, 5)


@dataclass(frozen=True, eq=False)
class AttentionMixture:
    """The likelihood of an outcome and of the answers to both questions.

    `Mixture` has the same likelihood for four kinds of people. Their coefficients follow from fewer: attention is independent
    of the attribute for known covariates, and does not change the outcome. The parameters are, in this order: the coefficients
    of the outcome, for the columns and for the attribute; for a linear model the logarithm of the standard deviation; the
    coefficients of the attribute, and of attention.

    Attributes
    ----------
    whole : Mixture
    """

    whole: Mixture

    @property
    def answers(self) -> Likelihood:
        return self.whole.answers

    @property
    def outcome(self) -> Floats:
        return self.whole.outcome

    @property
    def linear(self) -> bool:
        return self.whole.linear

    @property
    def coefficients(self) -> int:
        """Number of coefficients of the outcome."""
        return self.answers.shape[1] + 1

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self.coefficients + self.linear + 2 * self.answers.shape[1]

    @property
    def effects(self) -> Floats:
        """Whether people of each kind but the first have the attribute, shape (3, 1)."""
        return KINDS[1:, :1]

    def of_kinds(self, params: Floats) -> Floats:
        """Return the coefficients of the kinds of people but the first, from those of the attribute and attention."""
        return KINDS[1:] @ params

    @property
    def _plane(self) -> Plane:
        """The parameters of `whole` that are possible."""
        columns = self.answers.shape[1]
        parts = [np.eye(columns), self.effects, np.eye(int(self.linear)), np.kron(KINDS[1:], np.eye(columns))]
        basis = np.zeros((self.whole.size, self.size))
        row, column = 0, 0
        for part in parts:
            basis[row : row + part.shape[0], column : column + part.shape[1]] = part
            row += part.shape[0]
            column += part.shape[1]
        return Plane(self.whole, np.zeros(self.whole.size), basis)

    def sums(self, params: Floats, *, observed: bool) -> LikelihoodSums:
        """Return the log-likelihood and its derivatives; unless `observed`, the information of known people."""
        return self._plane.sums(params, observed=observed)

    def scores(self, params: Floats) -> Iterator[tuple[slice, Floats]]:
        """Yield the gradients of people, with their places."""
        basis = self._plane.basis
        for part, scores in self.whole.scores(basis @ params):
            yield part, scores @ basis
