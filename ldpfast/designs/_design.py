"""A design of randomized response: what people are asked, the probabilities of their answers, and what follows from them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._frames import Groups, require_one_index, whole_column
from .._table import Table
from .._warnings import warn
from ..mechanisms import FiniteChannel
from ..mechanisms._channel_argument import AnswerChannel
from ..mechanisms._rounded_rows import LARGEST_TOTAL, rounded
from ..privacy import Guarantee, ReportLaw
from ..results import Binomial, Debiasing, DoubtfulWarning, Estimate, People, new_count
from ._clusters import LEAST_FREEDOM, EffectiveBinomial, Sample, cluster_variance, read_clusters
from ._design_report import DesignReport, design_report
from ._sensitivity import SensitivityBounds, sensitivity_bounds

DOUBTFUL = 1e-4  # probability of answers that are too extreme for every prevalence, from which on there is a warning
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
        self, reports: ArrayLike, *, weights: ArrayLike | None = None, clusters: Any = None
    ) -> Estimate[float]:
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

        Returns
        -------
        prevalence : Estimate
            Without bias, and so possibly below 0 or above 1. Clopper-Pearson limits, which hold for every n. With weights or
            clusters they are those for the number of people that would tell as much without them, which is at most
            (sum of w)^2 / (sum of w^2) for weights w, and is reduced by the quotient of t quantiles because the variance is
            estimated [1]_. Its degrees of freedom are those of Satterthwaite for the total weights of the clusters: the
            number of clusters less one if these are equal. An answer of few people who all are in few clusters is not covered.
            ``a - b`` of two results takes them for those of different people; `prevalence_by` sees to that.

        Raises
        ------
        TypeError, ValueError
            If `reports` are not such answers, for instance because one is missing; if `weights` are not such numbers, or
            `clusters` not one value for each person.

        Warns
        -----
        DoubtfulWarning
            If the estimate is below 0 or above 1 by more than chance explains.
        SmallSampleWarning
            If there are fewer than 30 clusters, or weights are so unequal that people or clusters tell as much as fewer than 30
            of equal weights.

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
        require_one_index({"reports": reports, "weights": weights, "clusters": clusters})
        codes = self._codes(reports)
        given = None if weights is None else _check.weights(weights, len(codes))
        numbers = read_clusters(clusters, len(codes), 2, given)
        if given is not None:
            inside = given > 0  # people of weight 0 are not in the sample
            codes, given = codes[inside], given[inside]
            numbers = None if numbers is None else numbers[inside]
            given = None if (given == given[0]).all() else given
        n = len(codes)
        if given is None and numbers is None:
            return self._of_counts(int(codes.sum()), n, n)
        sample = Sample.of(n, given, numbers)
        given = np.ones(n) if given is None else given
        share = float(given @ codes / given.sum())
        scores = given * (codes - share) / given.sum()
        kish = float(given.sum() ** 2 / np.square(given).sum())
        if numbers is None:
            # The variance of independent people is known but for what the weights tell about the answers, so that the number
            # of Kish, which bounds it, has as many degrees of freedom.
            variance, freedom = float(np.square(scores).sum()) * n / (n - 1), max(kish - 1, LEAST_FREEDOM)
        else:
            variance, freedom = cluster_variance(scores, numbers), sample.freedom
        effective = min(share * (1 - share) / variance, kish) if variance else kish
        return self._of_counts(effective * share, effective, n, freedom)

    def prevalence_by(
        self, reports: ArrayLike, by: Any, *, weights: ArrayLike | None = None, clusters: Any = None
    ) -> dict[Hashable, Estimate[float]]:
        """Estimate the share of yes in subgroups of people.

        Parameters
        ----------
        reports, weights, clusters
            As for `prevalence`.
        by : array_like, shape (n,)
            Known values that divide the people, such as their region.

        Returns
        -------
        prevalences : dict
            Estimates by the values, in the order in which they are first seen. ``a - b`` of two of them has an interval and a
            test, unless subgroups share clusters: their covariance is unknown then.

        Raises
        ------
        TypeError, ValueError
            As for `prevalence`; if `by` does not have one value per person.

        Examples
        --------
        >>> from ldpfast import designs
        >>> design = designs.forced_response("1/6", "1/6")
        >>> found = design.prevalence_by(["yes"] * 60 + ["no"] * 140, ["N", "S"] * 100)
        >>> list(found), (found["N"] - found["S"]).value
        (['N', 'S'], 0.0)
        """
        require_one_index({"reports": reports, "by": by, "weights": weights, "clusters": clusters})
        codes, groups = self._codes(reports), Groups(None)
        members = groups.numbers(whole_column("by", by))
        if len(members) != len(codes):
            raise ValueError(f"by must have one value per person, got {len(members)} for {len(codes)} reports")
        given = None if weights is None else _check.weights(weights, len(codes))
        drawn, shared = read_clusters(clusters, len(codes), 2, given), False
        if drawn is not None:
            inside = slice(None) if given is None else given > 0
            shared = len(np.unique(np.stack([members[inside], drawn[inside]]), axis=1).T) > drawn.max() + 1
        people, found = People.of(new_count()), {}
        for number, value in enumerate(groups.values):
            chosen = members == number
            part = self.prevalence(
                codes[chosen],
                weights=None if given is None else given[chosen],
                clusters=None if drawn is None else drawn[chosen],
            )
            found[value] = part._of_people(people if shared else people.group(value))
        return found

    def sensitivity(
        self,
        reports: ArrayLike,
        *,
        compliant: ArrayLike | None = None,
        guess: float = 0.5,
        weights: ArrayLike | None = None,
        clusters: Any = None,
    ) -> SensitivityBounds:
        """Estimate the share of yes for assumed shares of people who follow the instruction.

        Parameters
        ----------
        reports, weights, clusters
            As for `prevalence`.
        compliant : array_like of float, shape (k,), optional
            Shares in (0, 1] of people who follow the instruction; from 1 to 0.5 in 51 steps by default.
        guess : float, default 0.5
            Probability, in [0, 1], with which all others give the second answer: 0.5 for guesses, 0 for people who always give
            the first answer, such as no.

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
        If a share c follows the instruction, the estimate for all people is that of c times the prevalence among these, plus
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
        return sensitivity_bounds(self.prevalence(reports, weights=weights, clusters=clusters), guesses, compliant)

    def _codes(self, reports: ArrayLike) -> NDArray[np.intp]:
        """Return answers as 0 and 1."""
        if isinstance(reports, np.ma.MaskedArray):
            raise TypeError("reports must not be a masked array: leave out missing answers")
        given = _check.array("reports", reports)
        if given.ndim != 1 or not len(given):
            raise ValueError(f"reports must have shape (n,) with n >= 1, got shape {given.shape}")
        if given.dtype.kind in "OU" and any(isinstance(value, str) for value in given.tolist()):
            known = {answer: code for code, answer in enumerate(self.answers)}
            unknown = [value for value in given.tolist() if not isinstance(value, str) or value not in known]
            if unknown:
                raise ValueError(f"reports must be {self._described()}, got {unknown[0]!r}")
            return np.array([known[value] for value in given.tolist()], np.intp)
        if given.dtype.kind not in "buif":
            raise TypeError(f"reports must be {self._described()}, got dtype {given.dtype}")
        wrong = ~np.isin(given, (0, 1))
        if wrong.any():
            raise ValueError(f"reports must be {self._described()}, got {given[wrong][0]}")
        return given.astype(np.intp)

    def _described(self) -> str:
        return f"{self.answers[0]!r} and {self.answers[1]!r}, or 0 and 1 without missing values"

    def _of_counts(self, hits: float, total: float, n: int, freedom: float | None = None) -> Estimate[float]:
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
        """
        p, q = self.probabilities
        value = float((Fraction(hits) / Fraction(total) - q) / (p - q))
        if p < q:  # the other answer is the one that people with yes give more often
            hits = total - hits
            p = 1 - p
            q = 1 - q
        line = Debiasing.of(p, q)
        seen = (hits + 0.5) / (total + 1)  # so that no variance is zero
        stderr = (line.one - line.zero) * math.sqrt(seen * (1 - seen) / total)
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
        return Estimate(value, stderr, n, self.guarantee, None, rule, _span=(0.0, 1.0))

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
            Standard error, > 0.

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
        return max(1, math.ceil(self.variance(prevalence) / _check.positive("stderr", stderr) ** 2))

    def report(self, question: str, *, prevalence: float, stderr: float, title: str = "") -> DesignReport:
        """Return a page about the design for an ethics committee.

        Parameters
        ----------
        question : str
            The sensitive question as people are asked it.
        prevalence : float
            Expected share of yes, in (0, 1).
        stderr : float
            Standard error of the prevalence that the study needs, > 0.
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
