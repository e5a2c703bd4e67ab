"""List experiments (item count technique): people count true statements, and some lists have a sensitive one more."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._labels import require_one_index
from .._table import Table
from .._typing import Floats
from .._warnings import warn
from ..privacy import Guarantee
from ..results import DoubtfulWarning, Estimate, StudentT, TestResult
from ._replicate_weights import ReplicateWeights, table_of
from ._sample import Sample
from ._sampled_prevalence import checked_weights

MAX_ITEMS = 50
DOUBTFUL = 1e-4  # probability of an estimate that is too extreme for every prevalence, from which on there is a warning
NO_PRIVACY = Guarantee("local", math.inf)  # a person to whom none or all statements apply tells so


@dataclass(frozen=True)
class ListDesign:
    """A list experiment, made by `list_experiment`.

    Attributes
    ----------
    items : int
        Number of statements without the sensitive one.
    guarantee : privacy.Guarantee
        An infinite epsilon: a count of 0, or of all, tells what is true of a person.

    Examples
    --------
    >>> from ldpfast import designs
    >>> design = designs.list_experiment(3)
    >>> counts, treated = [1, 2, 3, 2] * 50 + [1, 2, 2, 2] * 50, [True] * 200 + [False] * 200
    >>> round(design.prevalence(counts, treated).value, 3)
    0.25
    """

    items: int

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of a person."""
        return NO_PRIVACY

    def prevalence(
        self,
        counts: ArrayLike,
        treated: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        clusters: Any = None,
        strata: Any = None,
        replicate_weights: ReplicateWeights | None = None,
    ) -> Estimate[float]:
        """Estimate the share of people for whom the sensitive statement is true, by the difference of two means.

        Parameters
        ----------
        counts : array_like of int, shape (n,)
            How many statements each person says are true, at most `items`, or one more with the sensitive one.
        treated : array_like of bool, shape (n,)
            Whether the list of the person has the sensitive statement. Who gets it is drawn at random.
        weights : array_like of float, shape (n,), optional
            Weights >= 0 of the people. People of weight 0 are not in the sample.
        clusters : array_like, shape (n,), optional
            Clusters that were drawn, such as villages; at least two with positive weights.
        strata, replicate_weights
            As for `Design.prevalence`. There is no correction for a finite population: who gets the sensitive statement is
            drawn at random even if everybody is asked.

        Returns
        -------
        prevalence : Estimate
            Limits have t quantiles, with Welch's degrees of freedom, or those of the clusters. The estimate is unbiased if the
            sensitive statement does not change the answers to the others, and nobody lies.

        Raises
        ------
        TypeError, ValueError
            If the arrays are not such counts and lists of the same people, with at least two people for each list.

        Warns
        -----
        DoubtfulWarning
            If the estimate is below 0 or above 1 by more than chance explains.
        SmallSampleWarning
            As for `Design.prevalence`.

        Examples
        --------
        >>> from ldpfast import designs
        >>> counts, treated = [0, 1, 2, 3, 4] * 40 + [0, 1, 2, 2, 3] * 40, [True] * 200 + [False] * 200
        >>> print(designs.list_experiment(3).prevalence(counts, treated))
        0.40 +- 0.24 (95 %: 0.16 to 0.64, n = 400, epsilon = inf)
        """
        given = {"counts": counts, "treated": treated}
        sample = _sample_of(given, weights, clusters, strata, replicate_weights)
        numbers, has_item = self.read(counts, treated)
        return self._difference(numbers.astype(np.float64), has_item, sample)

    def prevalence_of_two_lists(
        self,
        first: ArrayLike,
        second: ArrayLike,
        treated: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        clusters: Any = None,
        strata: Any = None,
        replicate_weights: ReplicateWeights | None = None,
    ) -> Estimate[float]:
        """Estimate the same from two lists that everybody counts, one of which has the sensitive statement.

        Parameters
        ----------
        first, second : array_like of int, shape (n,)
            Counts of the two lists, which have `items` other statements each.
        treated : array_like of bool, shape (n,)
            Whether the sensitive statement is in the first list of the person; else it is in the second.
        weights, clusters, strata, replicate_weights
            As for `prevalence`.

        Returns
        -------
        prevalence : Estimate
            The mean of the two differences, with their covariance. Its variance is smaller if the counts of the lists are
            correlated.

        Raises
        ------
        TypeError, ValueError
            As for `prevalence`.

        References
        ----------
        .. [1] J. Droitcour et al., "The item count technique as a method of indirect questioning", Measurement Errors in
           Surveys, 1991.

        Examples
        --------
        >>> from ldpfast import designs
        >>> first, second = [2, 3, 1, 2] * 50 + [1, 2, 1, 2] * 50, [1, 2, 1, 2] * 50 + [2, 2, 2, 2] * 50
        >>> treated = [True] * 200 + [False] * 200
        >>> designs.list_experiment(3).prevalence_of_two_lists(first, second, treated).value
        0.5
        """
        given = {"first": first, "second": second, "treated": treated}
        sample = _sample_of(given, weights, clusters, strata, replicate_weights)
        one, has_item = self.read(first, treated, "first")
        other, _ = self.read(second, ~has_item, "second")
        return self._difference((one - other) / 2.0, has_item, sample)

    def _difference(self, y: Floats, treated: NDArray[np.bool_], sample: Sample) -> Estimate[float]:
        """Return the difference of the means of two groups."""
        w = sample.weights_of(slice(None))
        scores = np.zeros(len(y))
        means: list[float] = []
        variances = []
        freedoms = []
        # The variance is that of the sum of the scores: those of a group are its distances from its mean, divided by its
        # weight. Groups of independent people have Welch's degrees of freedom.
        for group in (treated, ~treated):
            inside = group & (w > 0)
            people = int(inside.sum())
            if people < 2:
                raise ValueError(f"treated must have two or more people with and without the statement, got {people}")
            means.append(float(w[inside] @ y[inside] / w[inside].sum()))
            scores[inside] = w[inside] * (y[inside] - means[-1]) / w[inside].sum()
            part = Sample.read(people, None if sample.weights is None else w[inside])
            if not (sample.has_linear_units or sample.replicates is not None):
                part.warn_few()
            freedoms.append(max(part.effective - 1, 1.0))
            variances.append(float(np.square(scores[inside]).sum()) * people / (people - 1))
        scores[~treated] *= -1

        def estimate(weights: Floats) -> Floats:
            parts = (weights * treated, weights * ~treated)
            return np.array([np.subtract(*(part @ y / part.sum() for part in parts))])

        if sample.has_linear_units or sample.replicates is not None:
            sample.warn_few()
            found = np.array([means[0] - means[1]])
            variance = float(sample.covariance([(slice(None), scores[:, np.newaxis])], estimate, found)[0, 0])
            freedom = sample.freedom
        else:
            variance = sum(variances)
            parts = [part**2 / freedom for part, freedom in zip(variances, freedoms, strict=True)]
            freedom = variance**2 / sum(parts) if variance else min(freedoms)
        value, stderr = means[0] - means[1], math.sqrt(variance)
        rule = StudentT(freedom)
        low, high = rule.bounds(np.asarray(value), np.asarray(stderr), DOUBTFUL)
        if high < 0 or low > 1:
            warn(
                f"the prevalence is {value:.3g}, beyond what chance explains: the groups may be exchanged or not drawn at "
                "random, or the statement changes the answers to the others",
                DoubtfulWarning,
            )
        return Estimate(value, stderr, int(np.count_nonzero(w)), self.guarantee, None, rule, _span=(0.0, 1.0))

    def types(self, counts: ArrayLike, treated: ArrayLike) -> Table:
        """Return the estimated shares of all types of people: how many other statements are true, and whether the sensitive is.

        Parameters
        ----------
        counts, treated
            As for `prevalence`.

        Returns
        -------
        table : Table
            One row for each number of other true statements: its share among people with the sensitive attribute ("yes") and
            without ("no"), as parts of all people, and standard errors. A share that is clearly negative is a sign that the
            sensitive statement changes answers, see `test`. The shares of yes in the first and the last row are those of people
            who may lie, because their counts would reveal that they are far from the others, or that all is true.

        References
        ----------
        .. [1] G. Blair, K. Imai, "Statistical analysis of list experiments", Political Analysis, 2012.

        Examples
        --------
        >>> from ldpfast import designs
        >>> counts, treated = [0, 1, 2, 3, 4] * 40 + [0, 1, 2, 2, 3] * 40, [True] * 200 + [False] * 200
        >>> print(designs.list_experiment(3).types(counts, treated))
        true statements  yes  stderr of yes   no  stderr of no
        0                  0           0.04  0.2       0.02828
        1                  0        0.04899  0.2       0.04472
        2                0.2        0.04472  0.2       0.04899
        3                0.2        0.02828    0          0.04
        """
        below = self._distributions(*self.read(counts, treated))
        shares, errors = self._types(*below)
        rows: dict[str, list[Any]] = {"true statements": [str(y) for y in range(self.items + 1)]}
        for place, answer in enumerate(("yes", "no")):
            rows[answer] = shares[place].tolist()
            rows[f"stderr of {answer}"] = errors[place].tolist()
        return Table(rows)

    def test(self, counts: ArrayLike, treated: ArrayLike) -> TestResult:
        """Test whether the sensitive statement leaves the answers to the others as they are (no design effect).

        Parameters
        ----------
        counts, treated
            As for `prevalence`.

        Returns
        -------
        result : TestResult
            Its statistic is the smallest share of `types` in standard errors; the p-value is that of a share which is not
            negative, times the number of shares (Bonferroni). It is valid, and less powerful than the test of Blair and Imai.

        Examples
        --------
        >>> from ldpfast import designs
        >>> counts, treated = [0, 0, 2, 3] * 50 + [1, 2, 3, 3] * 50, [True] * 200 + [False] * 200
        >>> bool(designs.list_experiment(3).test(counts, treated).pvalue < 0.01)  # fewer true statements with the sensitive one
        True
        """
        from scipy.special import ndtr

        numbers, has_item = self.read(counts, treated)
        shares, errors = self._types(*self._distributions(numbers, has_item))
        known = errors > 0
        ratios = shares[known] / errors[known]
        least = float(ratios.min(initial=math.inf))
        pvalue = min(1.0, float(ndtr(least)) * int(known.sum()))
        return TestResult(least, pvalue, "less", 0.0, len(numbers))

    def _distributions(
        self, counts: NDArray[np.intp], treated: NDArray[np.bool_]
    ) -> tuple[tuple[Floats, int], tuple[Floats, int]]:
        """Return the shares of counts below or equal to -1, 0, ..., items + 1 of both groups, and their sizes."""
        found = []
        for group in (treated, ~treated):
            own = np.bincount(counts[group], minlength=self.items + 2)
            people = int(group.sum())
            if people < 2:
                raise ValueError(f"treated must have two or more people with and without the statement, got {people}")
            found.append((np.concatenate([[0.0], np.cumsum(own) / people]), people))
        return found[0], found[1]

    def _types(self, treated: tuple[Floats, int], control: tuple[Floats, int]) -> tuple[Floats, Floats]:
        """Return the shares of people with and without the attribute by their other true statements, and standard errors."""
        t, many = treated
        c, others = control
        upper = slice(1, self.items + 2)  # counts of at most 0, ..., items
        lower = slice(0, self.items + 1)  # and one less
        shares = np.stack([c[upper] - t[upper], t[upper] - c[lower]])
        variance = t[upper] * (1 - t[upper]) / many
        errors = [variance + c[part] * (1 - c[part]) / others for part in (upper, lower)]
        return shares, np.sqrt(np.stack(errors))

    def read(
        self, counts: ArrayLike, treated: ArrayLike, name: str = "counts"
    ) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return counts as integers, and whether each list has the sensitive statement.

        Raises
        ------
        TypeError, ValueError
            If they are not such arrays of the same people, or a count is too large for its list.
        """
        has_item = _check.array("treated", treated)
        if has_item.dtype.kind not in "buif" or not np.isin(has_item, (0, 1)).all():
            raise ValueError("treated must be False and True, or 0 and 1, without missing values")
        given = _check.numbers(name, _check.array(name, counts))
        if given.ndim != 1 or given.shape != has_item.shape or not len(given):
            raise ValueError(f"{name} and treated must have shape (n,), got shapes {given.shape} and {has_item.shape}")
        has_item = has_item.astype(np.bool_)
        wrong = (given != np.floor(given)) | (given < 0) | (given > self.items + has_item)
        if wrong.any():
            place = int(np.argmax(wrong))
            most = self.items + int(has_item[place])
            raise ValueError(f"{name} must be integers from 0 to {most} for this list, index {place} is not")
        return given.astype(np.intp), has_item


def _sample_of(given: dict[str, Any], weights: Any, clusters: Any, strata: Any, replicate_weights: Any) -> Sample:
    """Return the sample of people whose other columns are given."""
    columns = {"weights": weights, "clusters": clusters, "strata": strata}
    require_one_index({**given, **columns, **table_of(replicate_weights)})
    n = np.size(given["treated"])
    columns["weights"] = checked_weights(weights, n)
    return Sample.read(n, **columns, replicate_weights=replicate_weights)


def list_experiment(items: int) -> ListDesign:
    """Return a list experiment: people say how many statements are true of them, and a part of them has a sensitive one more.

    Parameters
    ----------
    items : int
        Number of statements without the sensitive one, from 1 to 50.

    Returns
    -------
    design : ListDesign
        With the difference in means, the double list, and the checks of Blair and Imai. `analysis.ListExperiment` is the
        regression.

    Raises
    ------
    TypeError, ValueError
        If `items` is not such an integer.

    References
    ----------
    .. [1] J. D. Miller, "A new survey technique for studying deviant behavior", PhD thesis, 1984.
    .. [2] G. Blair, K. Imai, "Statistical analysis of list experiments", Political Analysis, 2012.

    Examples
    --------
    >>> from ldpfast import designs
    >>> designs.list_experiment(3)
    ListDesign(items=3)
    """
    return ListDesign(_check.integer("items", items, 1, MAX_ITEMS))
