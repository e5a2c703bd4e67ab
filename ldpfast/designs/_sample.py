"""The sample of a survey: weights, strata, clusters and finite populations, and the covariance of what is estimated from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._frames import Groups, whole_column
from .._typing import AnyArray, Floats
from .._warnings import warn
from ..results import SmallSampleWarning
from ._replicate_weights import ReplicateWeights

ENOUGH_CLUSTERS = 30  # from which on a sum over clusters is nearly normal
LEAST_FREEDOM = 1.0


@dataclass(frozen=True, eq=False)
class Sample:
    """How people were drawn, and how much they tell.

    Attributes
    ----------
    rows : int
        Number of rows.
    weights : ndarray, shape (rows,), or None
        People of weight 0 are not in the sample.
    clusters, strata : ndarray of int, shape (rows,), or None
        Number of the cluster and of the stratum of each person; 0 for people who are not in the sample.
    drawn : ndarray, shape (strata,)
        Number of units that were drawn from each stratum: clusters, or people if there are no clusters.
    fractions : ndarray, shape (strata,), or None
        Share of the units of the population that was drawn.
    replicates : ReplicateWeights or None
    """

    rows: int
    weights: Floats | None = None
    clusters: AnyArray | None = None
    strata: AnyArray | None = None
    drawn: Floats = field(default_factory=lambda: np.zeros(0))
    fractions: Floats | None = None
    replicates: ReplicateWeights | None = None

    @classmethod
    def read(
        cls,
        rows: int,
        weights: Floats | None = None,
        clusters: Any = None,
        strata: Any = None,
        fpc: Any = None,
        replicate_weights: Any = None,
        *,
        least: int = 2,
    ) -> Sample:
        """Return the sample of some rows from the arguments of these names.

        Parameters
        ----------
        rows : int
        weights : ndarray, optional
            Checked weights.
        clusters, strata, fpc, replicate_weights : object
        least : int, default 2
            Smallest number of clusters.

        Raises
        ------
        TypeError, ValueError
            If there is not one value for each person, one is missing, there are too few clusters, or a stratum has one only.
        """
        if replicate_weights is not None:
            if any(given is not None for given in (clusters, strata, fpc)):
                raise ValueError("replicate_weights must be without clusters, strata and fpc, which they stand for")
            if not isinstance(replicate_weights, ReplicateWeights):
                raise TypeError(
                    f"replicate_weights must be a designs.ReplicateWeights, got {type(replicate_weights).__name__}"
                )
            if weights is None:
                raise TypeError("weights must be given with replicate_weights")
            return cls(rows, weights, replicates=replicate_weights.read(weights))
        if clusters is None and strata is None and fpc is None:
            return cls(
                rows, weights, drawn=np.array([rows if weights is None else np.count_nonzero(weights)], np.float64)
            )
        inside = np.ones(rows, np.bool_) if weights is None else weights > 0
        groups, names = _numbered("strata", strata, rows, inside)
        numbers, labels = _numbered("clusters", clusters, rows, inside)
        if numbers is not None and len(labels) < least:
            where = "" if weights is None else " among the rows with positive weights"
            raise ValueError(f"clusters must have at least {least} different values{where}, got {len(labels)}")
        # Units are clusters or people. Each is in one stratum, of which two or more were drawn, or all that there are.
        own = np.zeros(rows, np.uint32) if groups is None else groups
        drawn = np.bincount(own[inside], minlength=1)
        if numbers is not None:
            home = np.zeros(len(labels), np.intp)
            home[numbers[inside]] = own[inside]
            crossed = inside & (home[numbers] != own)
            if crossed.any():
                raise ValueError(
                    f"clusters must be in one stratum each, got {labels[numbers[np.argmax(crossed)]]!r} in several: give "
                    "clusters of different strata different names"
                )
            drawn = np.bincount(home, minlength=1)
        fractions = None if fpc is None else _fractions(fpc, own, inside, drawn, names)
        alone = (drawn < 2) & (fractions is None or fractions < 1)
        if alone.any() and (strata is not None or fpc is not None):
            where = "" if strata is None else f" of stratum {names[int(np.argmax(alone))]!r}"
            what = "cluster" if clusters is not None else "person"
            raise ValueError(
                f"strata must have two or more {'clusters' if clusters is not None else 'people'} each, or all that there are "
                f"(fpc 1), got one {what}{where}: join it with another stratum"
            )
        return cls(rows, weights, numbers, groups, drawn.astype(np.float64), fractions)

    @property
    def is_plain(self) -> bool:
        """Whether people are drawn one by one, without weights."""
        return self.weights is None and self.has_linear_units is False and self.replicates is None

    @property
    def has_linear_units(self) -> bool:
        """Whether there are clusters, strata or a finite population."""
        return self.clusters is not None or self.is_stratified

    @property
    def is_stratified(self) -> bool:
        """Whether there are strata or a finite population."""
        return self.strata is not None or self.fractions is not None

    def is_shared_by(self, members: AnyArray) -> bool:
        """Return whether estimates of subgroups, whose numbers are `members`, are related."""
        if self.clusters is None or self.is_stratified:
            return self.is_stratified or self.replicates is not None
        inside = slice(None) if self.weights is None else self.weights > 0
        pairs = np.unique(np.stack([members[inside], self.clusters[inside]]), axis=1)
        return bool(pairs.shape[1] > int(self.clusters.max()) + 1)

    def part(self, rows: Any) -> Sample:
        """Return the sample of a subgroup of people. What was drawn stays what it was."""

        def taken(values: Any) -> Any:
            return None if values is None else values[rows]

        replicates = None if self.replicates is None else self.replicates.of_rows(rows)
        count = len(np.zeros(self.rows, np.bool_)[rows])
        own = (taken(values) for values in (self.weights, self.clusters, self.strata))
        names = ("weights", "clusters", "strata")
        found = replace(self, rows=count, replicates=replicates, **dict(zip(names, own, strict=True)))
        if self.has_linear_units:
            all_drawn = self.fractions is not None and bool((self.fractions == 1).all())
            if self.clusters is not None and found.units < 2 and not all_drawn:
                raise ValueError(f"clusters must have at least 2 different values in each subgroup, got {found.units}")
            return found
        return replace(found, drawn=np.array([float(found.n)]))

    def weights_of(self, rows: slice) -> Floats:
        """Return the weights of some people, which are 1 if there are none."""
        return np.ones(self.rows)[rows] if self.weights is None else self.weights[rows]

    @cached_property
    def n(self) -> int:
        """Number of people with positive weights."""
        return self.rows if self.weights is None else int(np.count_nonzero(self.weights))

    @cached_property
    def _totals(self) -> tuple[Floats, AnyArray]:
        """Total weight and stratum of each unit with people."""
        w = np.ones(self.rows) if self.weights is None else self.weights
        own = np.zeros(self.rows, np.intp) if self.strata is None else self.strata
        inside = w > 0
        if self.clusters is None:
            return np.asarray(w[inside], np.float64), own[inside]
        found, places = np.unique(self.clusters[inside], return_inverse=True)
        home = np.zeros(len(found), np.intp)
        home[places] = own[inside]
        return np.asarray(np.bincount(places, w[inside]), np.float64), home

    @property
    def units(self) -> int:
        """Number of clusters, or of people if there are no clusters."""
        return len(self._totals[0])

    @property
    def effective(self) -> float:
        """Number of clusters or people of equal weights that tell as much (Kish)."""
        totals = self._totals[0]
        return float(totals.sum() ** 2 / np.square(totals).sum())

    @cached_property
    def freedom(self) -> float:
        """Degrees of freedom of a variance.

        A chi-square variable with these has the same mean and variance (Satterthwaite), if the totals of the units have
        the variances of the squares of their weights. For equal weights and strata it is `units` less the number of strata.
        For replicate weights it is their rank less one.
        """
        if self.replicates is not None:
            return self.replicates.freedom
        if self.is_plain:
            return self.rows - 1.0
        totals, strata = self._totals
        shares = totals / totals.sum()
        if not self.is_stratified:
            return _freedom(shares)
        return _stratified_freedom(shares, strata, self._factors, self.drawn)

    @cached_property
    def _factors(self) -> Floats:
        """What the sum of squares in each stratum is multiplied by."""
        rest = np.ones(len(self.drawn)) if self.fractions is None else 1 - self.fractions
        return np.where(rest > 0, rest * self.drawn / np.maximum(self.drawn - 1, 1), 0.0)

    def squares(self, scores: Iterable[tuple[slice, Floats]], size: int) -> Floats:
        """Return the covariance matrix of the sum of the scores of people, by linearization.

        For each stratum it is the sum of the squares of the totals of the units about their mean, times
        (1 - f) n / (n - 1) for n units, which are a share f of the population, as in the package survey of R.

        Parameters
        ----------
        scores : iterable of (slice, ndarray of shape (rows, size))
            The scores of some people, weights included, with their places.
        size : int
            Number of coefficients.
        """
        pieces: Iterable[tuple[Any, Floats]]
        if self.clusters is None:
            pieces = ((None if self.strata is None else self.strata[place], part) for place, part in scores)
        else:
            grouped = np.zeros((int(self.clusters.max()) + 1, size))
            home = np.zeros(len(grouped), np.intp)
            if self.strata is not None:
                inside = slice(None) if self.weights is None else self.weights > 0
                home[self.clusters[inside]] = self.strata[inside]
            for place, part in scores:
                np.add.at(grouped, self.clusters[place], part)
            pieces = [(None if self.strata is None else home, grouped)]
        sums, found = np.zeros((len(self.drawn), size)), np.zeros((size, size))
        for strata, part in pieces:
            if strata is None:
                sums += part.sum(axis=0)
                found += self._factors[0] * (part.T @ part)
            else:
                np.add.at(sums, strata, part)
                found += (part * self._factors[strata][:, np.newaxis]).T @ part
        return np.asarray(found - (sums * (self._factors / np.maximum(self.drawn, 1))[:, np.newaxis]).T @ sums)

    def fraction_of(self, rows: slice) -> Floats | float:
        """Return which share of the units of the stratum of each person was drawn; 0 if it is not known.

        By this share the variance of the people is smaller than that of a sample from an infinite population. The variance of
        their reports, whose randomness does not end when everybody is asked, stays what it is.
        """
        if self.fractions is None:
            return 0.0
        return float(self.fractions[0]) if self.strata is None else self.fractions[self.strata[rows]]

    def covariance(
        self, scores: Iterable[tuple[slice, Floats]], estimate: Callable[[Floats], Floats], value: Floats
    ) -> Floats:
        """Return the covariance matrix of an estimate, by its scores, or by the estimates with the replicate weights."""
        if self.replicates is not None:
            return self.replicates.covariance(estimate, value)
        return self.squares(scores, len(value))

    def warn_few(self) -> None:
        """Warn if standard errors are not reliable.

        Warns
        -----
        SmallSampleWarning
            If there are fewer than 30 clusters, or if weights are so unequal that people or clusters count as fewer than that.
        """
        has_clusters = self.clusters is not None
        what = "clusters" if has_clusters else "people"
        if self.is_plain:
            return
        if self.replicates is not None or self.is_stratified:
            if self.freedom < ENOUGH_CLUSTERS - 1:
                of = "replicate weights" if self.replicates is not None else f"{what} of strata"
                warn(
                    f"the {of} have {self.freedom:.1f} degrees of freedom, too few for reliable standard errors: at least "
                    f"{ENOUGH_CLUSTERS - 1} are needed",
                    SmallSampleWarning,
                )
        elif has_clusters and self.units < ENOUGH_CLUSTERS:
            warn(
                f"{self.units} clusters are too few for standard errors of clusters to be reliable: at least "
                f"{ENOUGH_CLUSTERS} are needed",
                SmallSampleWarning,
            )
        elif self.effective < min(ENOUGH_CLUSTERS, self.units / 2):
            warn(
                f"the weights of {self.units} {what} are so unequal that they tell as much as {self.effective:.1f} with equal "
                f"weights: at least {ENOUGH_CLUSTERS} are needed for reliable standard errors",
                SmallSampleWarning,
            )


def _numbered(name: str, values: Any, n: int, inside: NDArray[np.bool_]) -> tuple[NDArray[np.uint32] | None, list[Any]]:
    """Return the number of the value of each of n people, and the values of people in the sample.

    Values of people who are not in the sample have no number of their own, and their people have the number 0.

    Raises
    ------
    TypeError, ValueError
        If there is not one value for each person, or one is missing.
    """
    if values is None:
        return None, []
    codes, known = Groups(name).codes(whole_column(name, values))
    is_missing = any(known[code] is None or known[code] != known[code] for code in np.unique(codes).tolist())
    if len(codes) != n or is_missing:
        got = f"{len(codes)} values" if len(codes) != n else "missing ones"
        raise ValueError(f"{name} must have one value for each of {n} rows, got {got}")
    numbers = np.zeros(n, np.uint32)
    present, numbers[inside] = np.unique(codes[inside], return_inverse=True)
    return numbers, [known[code] for code in present.tolist()]


def _fractions(fpc: Any, strata: AnyArray, inside: NDArray[np.bool_], drawn: AnyArray, names: list[Any]) -> Floats:
    """Return which share of the population was drawn from each stratum.

    Raises
    ------
    TypeError, ValueError
        If the argument is neither shares nor sizes, or differs in a stratum.
    """
    given = np.asarray(_check.numbers("fpc", _check.array("fpc", fpc)), np.float64)
    if given.shape != strata.shape:
        raise ValueError(f"fpc must have one value for each of {len(strata)} rows, got shape {given.shape}")
    given = given[inside]
    are_shares = (given <= 1).all()
    if (given <= 0).any() or not (are_shares or (given >= 1).all()):
        raise ValueError("fpc must be sizes of the population, all at least 1, or sampled shares, all in (0, 1]")
    least, most = np.full(len(drawn), np.inf), np.zeros(len(drawn))
    np.minimum.at(least, strata[inside], given)
    np.maximum.at(most, strata[inside], given)

    def where(wrong: AnyArray) -> str:
        return f" in stratum {names[int(np.argmax(wrong))]!r}" if names else ""

    if (least < most).any():
        raise ValueError(f"fpc must be the same for all people of a stratum, got several values{where(least < most)}")
    if are_shares:
        return least
    if (least < drawn).any():
        place = int(np.argmax(least < drawn))
        raise ValueError(
            f"fpc must be at least the number of clusters, or of people without clusters, that were drawn, got "
            f"{least[place]:g} for {drawn[place]}{where(least < drawn)}"
        )
    return np.asarray(drawn / least)


def _stratified_freedom(shares: Floats, strata: AnyArray, factors: Floats, drawn: Floats) -> float:
    """Return Satterthwaite's degrees of freedom of the variance of a mean over strata, for the shares of units in it.

    The variance is a sum over strata of c times the sum of the squares of p_i y_i about their mean, where the y are independent
    with equal variances. Its matrix has the trace c (1 - 1/n) s and the squared trace c^2 ((1 - 2/n) q + s^2 / n^2), where s
    and q are the sums of p^2 and of p^4 of a stratum.
    """
    squares, fourths = (np.bincount(strata, shares**power, minlength=len(drawn)) for power in (2, 4))
    n = np.maximum(drawn, 1)
    traces = factors * (1 - 1 / n) * squares
    square = float(np.sum(factors**2 * ((1 - 2 / n) * fourths + squares**2 / n**2)))
    return max(LEAST_FREEDOM, float(traces.sum()) ** 2 / square if square > 0 else float(len(shares) - 1))


def _freedom(shares: Floats) -> float:
    """Return Satterthwaite's degrees of freedom of the variance of a mean, for the shares of independent units in it.

    The variance is the sum of the squares of p_i (y_i - sum of p_j y_j). These numbers have the covariance matrix
    G = diag(p^2) - p^2 p' - p p^2' + s p p' with s = sum of p^2, and the result is tr(G)^2 / tr(G G).
    """
    if len(shares) < 2:
        return LEAST_FREEDOM
    squares = np.square(shares)
    total = float(squares.sum())
    cubes = float((squares * shares).sum())
    fourths = float(np.square(squares).sum())
    trace = total - 2 * cubes + total**2
    vectors = np.array([[total, cubes], [cubes, fourths]])  # products of p and p^2
    middle = np.array([[total, -1.0], [-1.0, 0.0]])
    fifths = float((squares**2 * shares).sum())
    diagonal = np.array([[fourths, fifths], [fifths, float((squares**3).sum())]])  # the same, weighted by p^2
    square = fourths + 2 * float(np.sum(middle * diagonal)) + float(np.trace(middle @ vectors @ middle @ vectors))
    return max(LEAST_FREEDOM, min(trace**2 / square, len(shares) - 1.0))
