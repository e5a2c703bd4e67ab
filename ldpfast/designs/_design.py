"""A design of randomized response: what people are asked, the probabilities of their answers, and what follows from them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._frames import require_one_index
from .._table import Table
from .._typing import Floats
from .._warnings import warn
from ..mechanisms import FiniteChannel
from ..mechanisms._channel_argument import AnswerChannel
from ..mechanisms._rounded_rows import LARGEST_TOTAL, rounded
from ..privacy import Guarantee, ReportLaw
from ..results import Binomial, Debiasing, DoubtfulWarning, People, new_count
from ._design_report import DesignReport, design_report
from ._effective_binomial import EffectiveBinomial
from ._replicate_weights import ReplicateWeights, table_of
from ._sample import LEAST_FREEDOM, Sample
from ._sampled_prevalence import (
    SampledPrevalence,
    checked_weights,
    design_effect_of,
    joint_covariance,
    randomization_variances,
)
from ._sensitivity import SensitivityBounds, sensitivity_bounds
from ._subgroups import columns_of_by, subgroups

DOUBTFUL = 1e-4  # probability of answers that are too extreme for every prevalence, from which on there is a warning
MAX_JOINT = 200  # subgroups whose covariance matrix is computed
TRUTHS = ("no", "yes")  # the true answers, in the order of the rows of a channel


@dataclass(frozen=True, eq=False)
class Design(AnswerChannel):
    """A design of randomized response for a sensitive question with the true answers no and yes.

    Made by the functions of `ldpfast.designs`.

    Attributes
    ----------
    name : str
        Name of the design with its probabilities.
    instruction : str
        What a person is told to do.
    answers : tuple of str
        The two answers that a person can give. The second is the one that counts.
    channel : FiniteChannel
        Exact probabilities of the answers: row 0 for people whose true answer is no, row 1 for yes.
    reference : str
        Publication that introduced the design.
    epsilon : float
        Loss of privacy of a person in the sense of differential privacy; infinite if an answer reveals the truth.

    Examples
    --------
    >>> from ldpfast import designs
    >>> design = designs.crosswise(0.25)
    >>> design.prevalence(["same"] * 400 + ["different"] * 600).value.__round__(3)
    0.7
    >>> print(design.table)
    true answer  different  same
    no           1/4        3/4
    yes          3/4        1/4
    """

    name: str
    instruction: str
    answers: tuple[str, str]
    channel: FiniteChannel
    reference: str

    @property
    def epsilon(self) -> float:
        """Loss of privacy of a person; infinite if an answer reveals the truth."""
        return self.channel.epsilon

    @property
    def guarantee(self) -> Guarantee:
        """The same as a `privacy.Guarantee`."""
        return self.channel.guarantee

    @property
    def report_laws(self) -> Sequence[ReportLaw] | None:
        """Laws of one answer for `privacy.shuffled`, whose result is exact; None if an answer reveals the truth."""
        return self.channel.report_laws

    @property
    def probabilities(self) -> tuple[Fraction, Fraction]:
        """Probabilities of the second answer, of people whose true answer is yes and no."""
        no, yes = self.channel.rows
        return Fraction(yes[1], sum(yes)), Fraction(no[1], sum(no))

    @property
    def table(self) -> Table:
        """Exact probabilities of the answers, one row per true answer."""
        columns: dict[str, list[Any]] = {"true answer": list(TRUTHS)}
        for place, answer in enumerate(self.answers):
            columns[answer] = [str(Fraction(row[place], sum(row))) for row in self.channel.rows]
        return Table(columns)

    def __repr__(self) -> str:
        return f"<Design {self.name}, epsilon = {self.epsilon:.6g}>"

    # Estimates --------------------------------------------------------------------------------------------------------

    def prevalence(
        self,
        reports: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        clusters: Any = None,
        strata: Any = None,
        fpc: Any = None,
        replicate_weights: ReplicateWeights | None = None,
    ) -> SampledPrevalence:
        """Estimate the share of people whose true answer is yes.

        Parameters
        ----------
        reports : array_like, shape (n,)
            The answers, as texts (see `answers`), or as 0 and 1 (or False and True), where 1 is the second answer.
        weights : array_like of float, shape (n,), optional
            Weights >= 0 of the people, such as inverse probabilities to be in the sample. People of weight 0 are not in the
            sample, and do not count in the `n` of the estimate.
        clusters : array_like, shape (n,), optional
            Clusters that were drawn, such as villages, of people whose answers are related; at least two with positive weights.
        strata : array_like, shape (n,), optional
            Strata from each of which clusters, or people without clusters, were drawn: two or more, or all that there are.
            Clusters of different strata have different names.
        fpc : array_like of float, shape (n,), optional
            Finite population: for each person the number of clusters, or of people without clusters, that the stratum has in
            the population, all at least 1; or the share of them that was drawn, all in (0, 1].
        replicate_weights : ReplicateWeights, optional
            In the place of `clusters`, `strata` and `fpc`, with `weights`.

        Returns
        -------
        prevalence : SampledPrevalence
            Without bias, and so possibly below 0 or above 1, with its `design_effect`. Clopper-Pearson limits, which hold for
            every n. With weights or clusters they are those for the number of people that would tell as much without them,
            which is at most (sum of w)^2 / (sum of w^2) for weights w without strata, and is reduced by the quotient of
            t quantiles because the variance is estimated [1]_. Its degrees of freedom follow Satterthwaite for the total
            weights of the clusters: the number of clusters less that of the strata if these are equal. An answer of few people
            who all are in few clusters is not covered.
            ``a - b`` of two results takes them for those of different people; `prevalence_by` sees to that.

        Raises
        ------
        TypeError, ValueError
            If `reports` are not such answers, for instance because one is missing; if `weights` are not such numbers, or
            `clusters` not one value for each person; if a stratum has one cluster and others were not drawn.

        Warns
        -----
        DoubtfulWarning
            If the estimate is below 0 or above 1 by more than chance explains.
        SmallSampleWarning
            If there are fewer than 30 clusters, or weights are so unequal that people or clusters tell as much as fewer than 30
            of equal weights; if strata or replicate weights have fewer than 29 degrees of freedom.

        Notes
        -----
        For direct answers variances equal those of R's package survey: by linearization for clusters within strata (the
        first stage of a sample of several stages), or by replicate weights. Asking everybody ends the randomness of a sample,
        but not that of randomized answers: with `fpc`, the variance of the answers for the given truths, times the share that
        was drawn, is added.

        References
        ----------
        .. [1] E. L. Korn, B. I. Graubard, "Confidence intervals for proportions with small expected number of positive counts
           estimated from survey data", Survey Methodology, 1998.

        Examples
        --------
        >>> from ldpfast import designs
        >>> estimate = designs.warner(0.7).prevalence([1] * 460 + [0] * 540)
        >>> round(estimate.value, 3), round(estimate.stderr, 3)
        (0.4, 0.039)
        """
        columns = {"weights": weights, "clusters": clusters, "strata": strata, "fpc": fpc}
        require_one_index({"reports": reports, **columns, **table_of(replicate_weights)})
        codes = self._codes(reports)
        columns["weights"] = checked_weights(weights, len(codes))
        sample = Sample.read(len(codes), **columns, replicate_weights=replicate_weights)
        return self._of_sample(codes, sample)

    def prevalence_by(
        self,
        reports: ArrayLike,
        by: Any,
        *,
        weights: ArrayLike | None = None,
        clusters: Any = None,
        strata: Any = None,
        fpc: Any = None,
        replicate_weights: ReplicateWeights | None = None,
    ) -> dict[Hashable, SampledPrevalence]:
        """Estimate the share of yes in subgroups of people.

        Parameters
        ----------
        reports, weights, clusters, strata, fpc, replicate_weights
            As for `prevalence`.
        by : array_like, shape (n,); or list of these, or data frame
            Known values that divide the people, such as their region; or several columns of these.

        Returns
        -------
        prevalences : dict
            Estimates by the values, in the order in which they are first seen; for several columns by tuples of values.
            ``a - b`` and ``a / b`` of two of them have an interval and a test. If up to 200 subgroups share clusters or strata,
            or have replicate weights, these take account of the covariance.

        Raises
        ------
        TypeError, ValueError
            As for `prevalence`; if `by` does not have one value per person.

        Notes
        -----
        The whole sample counts, also for a subgroup: a stratum may have one cluster with people of the subgroup.

        Examples
        --------
        >>> from ldpfast import designs
        >>> design = designs.forced_response("1/6", "1/6")
        >>> found = design.prevalence_by(["yes"] * 60 + ["no"] * 140, ["N", "S"] * 100)
        >>> list(found), (found["N"] - found["S"]).value
        (['N', 'S'], 0.0)
        >>> list(design.prevalence_by(["yes"] * 100 + ["no"] * 100, [["N", "S"] * 100, ["f"] * 150 + ["m"] * 50]))
        [('N', 'f'), ('S', 'f'), ('N', 'm'), ('S', 'm')]
        """
        given = columns_of_by(by)
        columns = {"weights": weights, "clusters": clusters, "strata": strata, "fpc": fpc}
        require_one_index({"reports": reports, **given, **columns, **table_of(replicate_weights)})
        codes = self._codes(reports)
        members, values = subgroups(given, len(codes))
        columns["weights"] = checked_weights(weights, len(codes))
        sample = Sample.read(len(codes), **columns, replicate_weights=replicate_weights)
        chosen = [members == number for number in range(len(values))]
        parts = [self._of_sample(codes[inside], sample.part(inside)) for inside in chosen]
        people = People.of(new_count())
        if not sample.is_shared_by(members):
            return {value: part._of_people(people.group(value)) for value, part in zip(values, parts, strict=True)}
        if 1 < len(values) <= MAX_JOINT:
            cov = joint_covariance(codes, members, [part.value for part in parts], sample, self.probabilities)
            units = np.eye(len(values))[:, np.newaxis]
            for place, part in enumerate(parts):
                if math.isnan(part.design_effect):  # all answers are the same, and do not show how they vary
                    cov[place, place] = part.stderr**2
            parts = [replace(part, slopes=row, coefficients=cov) for part, row in zip(parts, units, strict=True)]
        return {value: part._of_people(people) for value, part in zip(values, parts, strict=True)}

    def _of_sample(self, codes: NDArray[np.intp], sample: Sample) -> SampledPrevalence:
        """Return the prevalence from codes of people of a sample."""
        if sample.weights is not None and sample.replicates is None:
            inside = sample.weights > 0  # people of weight 0 are not in the sample
            codes, sample = codes[inside], sample.part(inside)
            if not len(codes):
                raise ValueError("weights must be positive for some people, got none")
            if np.ptp(sample.weights_of(slice(None))) == 0:
                sample = replace(sample, weights=None)
        n = sample.n
        if sample.is_plain:
            return self._of_counts(int(codes.sum()), n, n)
        sample.warn_few()
        w = sample.weights_of(slice(None))
        total = float(w.sum())
        answers = codes[w > 0]
        # A sum of all weights in another order would be a little above or below their total.
        share = float(answers[0]) if (answers == answers[0]).all() else float(w @ codes / total)
        p, q = map(float, self.probabilities)

        def estimate(weights: Floats) -> Floats:
            return np.array([weights @ codes / weights.sum()])

        # The variance of the sample; in a finite population, that of the answers given the truths is added.
        scores = w * (codes - share) / total
        variance = float(sample.covariance([(slice(None), scores[:, np.newaxis])], estimate, np.array([share]))[0, 0])
        variance *= share * (1 - share) > 0  # of replicates it would be that of rounding
        own = sample.fraction_of(slice(None)) * np.square(w / total) * randomization_variances(p, q, codes)
        variance += float(np.sum(own))
        kish = float(w.sum() ** 2 / np.square(w).sum())
        freedom, spread = sample.freedom, share * (1 - share)
        effective = spread / variance if spread > 0 and variance > 0 else kish
        if not (sample.is_stratified or sample.replicates is not None):
            # The variance of independent people is known but for what the weights tell about the answers, so that the number
            # of Kish, which bounds it, has as many degrees of freedom.
            effective = min(effective, kish)
            freedom = max(kish - 1, LEAST_FREEDOM) if sample.clusters is None else freedom
            variance = spread / effective
        found = self._of_counts(effective * share, effective, n, freedom, variance)
        return replace(found, design_effect=design_effect_of(variance, share, n), freedom=freedom)

    def sensitivity(
        self,
        reports: ArrayLike,
        *,
        compliant: ArrayLike | None = None,
        guess: float = 0.5,
        **sample: Any,
    ) -> SensitivityBounds:
        """Estimate the share of yes for assumed shares of people who follow the instruction.

        Parameters
        ----------
        reports
            As for `prevalence`.
        compliant : array_like of float, shape (k,), optional
            Shares in (0, 1] of people who follow the instruction; from 1 to 0.5 in 51 steps by default.
        guess : float, default 0.5
            Probability, in [0, 1], with which all others give the second answer: 0.5 for guesses, 0 for people who always give
            the first answer, such as no.
        **sample
            Weights, clusters and whatever else `prevalence` takes.

        Returns
        -------
        bounds : SensitivityBounds
            Prevalences among people who follow the instruction, shape (k,), with the limits of `prevalence`, and `plot`.

        Raises
        ------
        TypeError, ValueError
            As for `prevalence`; if the shares or `guess` are not such numbers.

        Notes
        -----
        If a share c follows the instruction, it estimates for all people c times the prevalence among these, plus
        1 - c times (guess - q) / (p - q), for the probabilities p and q of the second answer for yes and no [1]_.

        References
        ----------
        .. [1] Y. Atsusaka, R. T. Stevenson, "A bias-corrected estimator for the crosswise model with inattentive respondents",
           Political Analysis, 2023.

        Examples
        --------
        >>> from ldpfast import designs
        >>> bounds = designs.crosswise(0.25).sensitivity(["same"] * 198 + ["different"] * 112, compliant=[1, 0.8])
        >>> bounds.value.round(3).tolist()
        [0.223, 0.153]
        """
        p, q = map(float, self.probabilities)
        guesses = (float(_check.within("guess", guess, 0, 1)) - q) / (p - q)
        return sensitivity_bounds(self.prevalence(reports, **sample), guesses, compliant)

    def _codes(self, reports: ArrayLike, name: str = "reports") -> NDArray[np.intp]:
        """Return answers as 0 and 1."""
        if isinstance(reports, np.ma.MaskedArray):
            raise TypeError(f"{name} must not be a masked array: leave out missing answers")
        given = _check.array(name, reports)
        if given.ndim != 1 or not len(given):
            raise ValueError(f"{name} must have shape (n,) with n >= 1, got shape {given.shape}")
        if given.dtype.kind in "OU" and any(isinstance(value, str) for value in given.tolist()):
            known = {answer: code for code, answer in enumerate(self.answers)}
            unknown = [value for value in given.tolist() if not isinstance(value, str) or value not in known]
            if unknown:
                raise ValueError(f"{name} must be {self._described()}, got {unknown[0]!r}")
            return np.array([known[value] for value in given.tolist()], np.intp)
        if given.dtype.kind not in "buif":
            raise TypeError(f"{name} must be {self._described()}, got dtype {given.dtype}")
        wrong = ~np.isin(given, (0, 1))
        if wrong.any():
            raise ValueError(f"{name} must be {self._described()}, got {given[wrong][0]}")
        return given.astype(np.intp)

    def _described(self) -> str:
        return f"{self.answers[0]!r} and {self.answers[1]!r}, or 0 and 1 without missing values"

    def _of_counts(
        self, hits: float, total: float, n: int, freedom: float | None = None, variance: float = 0.0
    ) -> SampledPrevalence:
        """Return the prevalence from the number of answers that count.

        Parameters
        ----------
        hits : float
        total : float
            Number of people, or of as many as would tell as much without weights and clusters.
        n : int
            Number of people.
        freedom : float, optional
            Degrees of freedom of the variance, if there are weights or clusters.
        variance : float
            Variance of the share of answers, if it is known and not 0. Answers that are all the same do not show how they
            vary, so that it is at least that of one answer more than there are, half yes.
        """
        p, q = self.probabilities
        value = float((Fraction(hits) / Fraction(total) - q) / (p - q))
        if p < q:  # the other answer is the one that people with yes give more often
            hits = total - hits
            p = 1 - p
            q = 1 - q
        line = Debiasing.of(p, q)
        seen = (hits + 0.5) / (total + 1)  # so that no variance is zero
        if variance == 0 or hits in (0, total):
            variance = max(variance, seen * (1 - seen) / total)
        stderr = (line.one - line.zero) * math.sqrt(variance)
        rule: Any
        if freedom is None:
            rule = Binomial(np.asarray(hits), total, line)
        else:
            rule = EffectiveBinomial(hits / total, total, n, freedom, line)
        low, high = rule.bounds(np.asarray(value), np.asarray(stderr), DOUBTFUL)
        if high < 0 or low > 1:
            warn(
                f"the prevalence is {value:.3g}, beyond what chance explains: the design may be another one, the answers may "
                "be exchanged, or people did not follow the instruction",
                DoubtfulWarning,
            )
        fields: Any = {"slopes": np.ones((1, 1)), "coefficients": np.array([[stderr**2]]), "_span": (0.0, 1.0)}
        return SampledPrevalence(value, stderr, n, self.guarantee, None, rule, **fields)

    # Planning ---------------------------------------------------------------------------------------------------------

    def variance(self, prevalence: float, n: int = 1) -> float:
        """Return the variance of the estimated prevalence.

        Parameters
        ----------
        prevalence : float
            True share of yes, in [0, 1].
        n : int, default 1
            Number of people.

        Returns
        -------
        variance : float
            For people who are drawn at random; that of direct answers is prevalence (1 - prevalence) / n.

        Examples
        --------
        >>> from ldpfast import designs
        >>> round(designs.warner(0.7).variance(0.3, n=1000) / (0.3 * 0.7 / 1000), 2)
        7.25
        """
        share = float(_check.within("prevalence", prevalence, 0, 1))
        people = _check.people("n", n)
        p, q = map(float, self.probabilities)
        seen = q + (p - q) * share
        return seen * (1 - seen) / (p - q) ** 2 / people

    def sample_size(self, prevalence: float, stderr: float) -> int:
        """Return the number of people with which the prevalence has a given standard error.

        Parameters
        ----------
        prevalence : float
            Expected share of yes, in [0, 1].
        stderr : float
            Standard error, in (0, 1).

        Returns
        -------
        n : int

        See Also
        --------
        ldpfast.bounds.plan_test : For a difference of two subgroups, with `channel` as its target.

        Examples
        --------
        >>> from ldpfast import designs
        >>> designs.crosswise(0.25).sample_size(0.1, stderr=0.02)
        2100
        """
        return max(1, math.ceil(self.variance(prevalence) / _check.probability("stderr", stderr) ** 2))

    def report(self, question: str, *, prevalence: float, stderr: float, title: str = "") -> DesignReport:
        """Return a page about the design for an ethics committee.

        Parameters
        ----------
        question : str
            The sensitive question as people are asked it.
        prevalence : float
            Expected share of yes, in (0, 1).
        stderr : float
            Standard error of the prevalence that the study needs, in (0, 1).
        title : str, optional
            Title of the page.

        Returns
        -------
        report : DesignReport
            One page of HTML without external resources that can be printed or written to a file:
            the wording, what an answer says about a person, the largest loss of privacy, and the number of people.

        Raises
        ------
        TypeError, ValueError
            If the arguments are not as above.

        Examples
        --------
        >>> from ldpfast import designs
        >>> design = designs.forced_response("1/6", "1/6")
        >>> report = design.report("Have you ever evaded taxes?", prevalence=0.1, stderr=0.02)
        >>> report.n, round(report.after["yes"], 3)
        (1007, 0.357)
        """
        return design_report(self, question, prevalence, stderr, title)


def new_design(
    name: str, instruction: str, answers: tuple[str, str], p: Fraction, q: Fraction, reference: str
) -> Design:
    """Return the design in which people give the second answer with probability p for yes, and q for no.

    Probabilities with more digits than the integers of a channel can have are rounded, toward a larger epsilon.

    Raises
    ------
    ValueError
        If both are equal.
    """
    if p == q:
        raise ValueError(f"{name} must have answers that depend on the truth: all people answer alike")
    rows: Any = [[1 - q, q], [1 - p, p]]
    if math.lcm(p.denominator, q.denominator) > LARGEST_TOTAL:
        rows = rounded(rows)
    return Design(name, instruction, answers, FiniteChannel(rows), reference)


def shown(**arguments: Fraction) -> str:
    """Return arguments for the name of a design."""
    return ", ".join(f"{name}={value}" for name, value in arguments.items())
