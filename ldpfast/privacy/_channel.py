"""Finite channels: a row of report probabilities for each input."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check, _coins
from .._plots import BLUE, GRAY, MAX_TEXTS, VERMILION, axes, draw_matrix
from .._table import html_table
from . import _divergence, _testing
from ._comparison import deficiency
from ._exact import ExactPair
from ._numbers import Floats, float_or_array

MAX_COLUMNS = 16  # reports of a channel that are shown in HTML


def _common_integers(entries: list[Any], shape: tuple[int, ...]) -> NDArray[np.object_]:
    """Return rational entries times their common denominator, for rows with one positive sum."""
    if any(v < 0 for v in entries):
        raise ValueError("matrix must have entries >= 0")
    common = math.lcm(*{int(v.denominator) for v in entries})
    exact = np.empty(len(entries), dtype=object)
    exact[:] = [int(v.numerator) * (common // int(v.denominator)) for v in entries]
    exact = exact.reshape(shape)
    sums = exact.sum(axis=1).tolist()
    if sums[0] <= 0 or any(s != sums[0] for s in sums):
        raise ValueError("matrix must have rows with the same positive sum")
    return exact


class Channel:
    """A finite channel: row i holds the probabilities of the reports of input i.

    Each method returns the tightest parameter of one definition of privacy, over all pairs of neighbors. For an exact
    channel (of integers or fractions) the parameter is computed without rounding and then rounded up to a double, unless
    the method says otherwise.

    Parameters
    ----------
    matrix : array_like, shape (inputs, reports)
        Probabilities. Integers with equal row sums (the integers of coins) and `fractions.Fraction` are kept exactly.
        Floats are not rescaled; their rows must sum to 1 within 1e-9.
    neighbors : iterable of (int, int), optional
        The pairs of neighboring inputs, each in one order. By default all pairs, as for a channel of one record. If the
        inputs are datasets: the pairs that differ in one record.

    Attributes
    ----------
    matrix : ndarray of float64, shape (inputs, reports)
        The probabilities as doubles.
    neighbors : tuple of (int, int), or None
        The pairs of neighboring inputs; None stands for all pairs.

    Raises
    ------
    TypeError, ValueError
        If the matrix is not two-dimensional, has negative entries, or rows that do not sum to 1 (or to the same
        integer); if `neighbors` are not pairs of rows.

    References
    ----------
    .. [1] R. F. Barber, J. C. Duchi, "Privacy and Statistical Risk: Formalisms and Minimax Bounds", 2014.

    Examples
    --------
    >>> from ldpfast.privacy import Channel
    >>> channel = Channel([[3, 1], [1, 3]])
    >>> channel.epsilon()
    1.0986122886681098
    >>> channel.tv(), channel.disclosure_risk()
    (0.5, 0.25)
    """

    def __init__(self, matrix: ArrayLike, *, neighbors: Iterable[tuple[int, int]] | None = None) -> None:
        # dtype=object: NumPy would convert integers beyond 63 bits to doubles.
        rows = matrix if isinstance(matrix, np.ndarray) else np.array(matrix, dtype=object)
        if rows.ndim != 2 or 0 in rows.shape:
            raise ValueError(f"matrix must have shape (inputs, reports), got shape {rows.shape}")
        self._exact: NDArray[np.object_] | None = None
        entries = rows.ravel().tolist()
        if all(isinstance(v, Rational) for v in entries):
            self._exact = _common_integers(entries, rows.shape)
            total = int(self._exact[0].sum())
            self.matrix = np.array([[v / total for v in row] for row in self._exact.tolist()])
        elif all(isinstance(v, float | np.floating | Decimal | Rational) for v in entries):
            self.matrix = rows.astype(np.float64)
            if not (np.isfinite(self.matrix).all() and (self.matrix >= 0).all()):
                raise ValueError("matrix must have finite entries >= 0")
            off = np.abs(self.matrix.sum(axis=1) - 1)
            if off.max() > 1e-9:
                raise ValueError(f"matrix must have rows that sum to 1, row {int(off.argmax())} does not")
        else:
            raise TypeError("matrix must hold real numbers: integers, fractions, decimals or floats")
        self.matrix.flags.writeable = False
        self.neighbors = None if neighbors is None else _pairs(neighbors, len(self.matrix))

    # Pairs of rows ----------------------------------------------------------------------------------------------------

    def _indices(self) -> Iterable[tuple[int, int]]:
        return combinations(range(len(self.matrix)), 2) if self.neighbors is None else self.neighbors

    @cached_property
    def _exact_pairs(self) -> list[ExactPair]:
        """Pairs of neighbors in both orders.

        Pairs with the same columns, in any order, are merged: a channel with symmetries has few distinct ones.
        """
        assert self._exact is not None
        rows: list[list[int]] = self._exact.tolist()
        kinds = {frozenset(Counter(zip(rows[i], rows[j], strict=True)).items()) for i, j in self._indices()}
        pairs = {ExactPair.of(kind, sum(rows[0])) for kind in kinds}
        return list(pairs | {pair.reversed() for pair in pairs})

    def _real_pairs(self) -> Iterator[tuple[Floats, Floats]]:
        """Yield each row with all of its neighbors."""
        if self.neighbors is None:
            for i in range(len(self.matrix)):
                yield self.matrix[i], np.delete(self.matrix, i, axis=0)
        else:
            ordered = np.array([*self.neighbors, *((j, i) for i, j in self.neighbors)]).reshape(-1, 2)
            for i in np.unique(ordered[:, 0]):
                yield self.matrix[i], self.matrix[ordered[ordered[:, 0] == i, 1]]

    def _worst(self, function: Callable[[Floats, Floats], Floats]) -> float:
        """Return the largest value of a function of a row and its neighbors, in doubles."""
        return max((float(function(p, q).max(initial=0.0)) for p, q in self._real_pairs()), default=0.0)

    # Definitions ------------------------------------------------------------------------------------------------------

    def epsilon(self, delta: ArrayLike = 0.0) -> Any:
        """Return the tightest epsilon at a given delta.

        Parameters
        ----------
        delta : array_like, default 0.0
            In [0, 1). For 0, epsilon is the logarithm of the largest ratio of two entries of a column.

        Returns
        -------
        epsilon : float or ndarray
            Has the shape of `delta`. Infinite if the reports that a neighbor of an input cannot make have a total
            probability above `delta`.

        Raises
        ------
        TypeError, ValueError
            If `delta` is not in [0, 1).
        """
        deltas = _check.within("delta", delta, 0, 1, "[)")
        return float_or_array(np.array([self._epsilon(float(d)) for d in deltas.flat]).reshape(deltas.shape))

    def _epsilon(self, delta: float) -> float:
        if delta == 0 and self.neighbors is None:
            return self._pure()
        if self._exact is None:
            return self._worst(lambda p, q: _divergence.largest_loss(p, q, delta))
        return max((pair.largest_loss(delta) for pair in self._exact_pairs), default=0.0)

    def _pure(self) -> float:
        """Return epsilon at delta = 0 if all rows are neighbors, from the extreme entries of each column."""
        if self._exact is None:
            reachable = self.matrix[:, self.matrix.max(axis=0) > 0]
            least, largest = reachable.min(axis=0), reachable.max(axis=0)
            if (least == 0).any():
                return math.inf
            return float((np.log(largest) - np.log(least)).max())
        worst = Fraction(1)
        for column in self._exact.T:
            largest = max(column)
            if largest > 0:
                least = min(column)
                if least == 0:
                    return math.inf
                worst = max(worst, Fraction(largest, least))
        return _coins.log_up(worst)

    def delta(self, epsilon: ArrayLike) -> Any:
        """Return the tightest delta at a given epsilon.

        It is the hockey-stick divergence, the largest sum of (p - e^epsilon q)_+.

        Parameters
        ----------
        epsilon : array_like
            Finite and at least 0.

        Returns
        -------
        delta : float or ndarray
            Has the shape of `epsilon`.

        Raises
        ------
        TypeError, ValueError
            If `epsilon` is not a finite number >= 0.

        Examples
        --------
        >>> Channel([[3, 1], [1, 3]]).delta([0.0, 0.5, 1.1])
        array([0.5       , 0.33781968, 0.        ])
        """
        epsilons = _check.within("epsilon", epsilon, 0, math.inf, "[)")
        return float_or_array(np.array([self._delta(float(e)) for e in epsilons.flat]).reshape(epsilons.shape))

    def _delta(self, epsilon: float) -> float:
        if self._exact is None:
            return min(self._worst(lambda p, q: _divergence.hockey_stick(p, q, epsilon)), 1.0)
        return _coins.round_up(self._hockey_stick(epsilon))

    def _hockey_stick(self, epsilon: float) -> Fraction:
        return max((pair.hockey_stick(epsilon) for pair in self._exact_pairs), default=Fraction(0))

    def tv(self) -> float:
        """Return the largest total variation, half the sum of absolute differences."""
        return self._delta(0.0)

    def kl(self) -> float:
        """Return the largest Kullback-Leibler divergence in nats, over both orders of each pair."""
        if self._exact is None:
            return self._worst(_divergence.kullback_leibler)
        return max((pair.kullback_leibler() for pair in self._exact_pairs), default=0.0)

    def divergence(self, f: Callable[[Floats], Floats], slope: float = math.inf) -> float:
        """Return the largest f-divergence, the sum of q f(p / q), in doubles.

        Parameters
        ----------
        f : callable
            Convex on [0, inf) with f(1) = 0; maps arrays to arrays. For example, ``abs(t - 1) / 2`` is total variation,
            ``(t - 1)**2`` is chi^2, and ``(sqrt(t) - 1)**2`` is the squared Hellinger distance.
        slope : float, default inf
            The limit of f(t) / t for large t, which is the weight of reports with q = 0: 1/2, infinity and 1 in these
            examples.

        Returns
        -------
        divergence : float

        Raises
        ------
        TypeError, ValueError
            If `f` is not callable, or does not return an array of numbers of the shape of its argument.
        """
        if not callable(f):
            raise TypeError(f"f must be callable, got {type(f).__name__}")

        def checked(ratios: Floats) -> Floats:
            values = np.asarray(f(ratios), dtype=np.float64)
            if values.shape != ratios.shape or np.isnan(values).any():
                raise ValueError("f must return one number for each number of its argument")
            return values

        return self._worst(lambda p, q: _divergence.f_divergence(p, q, checked, slope))

    def conditional_testing(self, delta: float = 0.0, *, inherited: bool = True) -> float:
        """Return the parameter of conditional hypothesis testing privacy.

        It bounds how well two inputs can be distinguished if the report is known to be in some set.

        Parameters
        ----------
        delta : float, default 0.0
            In [0, 1). Sets with a smaller probability under either input are left out.
        inherited : bool, default True
            Whether the sets include all post-processings of the report, not only sets of reports. Over sets of
            reports the parameter is not larger, but post-processing can increase it, and it does not imply
            (epsilon, delta)-privacy.

        Returns
        -------
        parameter : float
            The largest total variation between the two distributions of the report given that it is in the set. Computed
            in doubles if `inherited` is True and `delta` > 0.

        Raises
        ------
        TypeError, ValueError
            If `delta` is not in [0, 1); if `inherited` is False and there are more than 14 reports.

        Notes
        -----
        O(m^2) time per pair of inputs for m reports. If `inherited` is False, all 2^m sets are enumerated.
        """
        mass = float(_check.within("delta", _check.real("delta", delta), 0, 1, "[)"))
        if not _check.flag("inherited", inherited):
            return self._over_sets(mass)
        if self._exact is not None:
            if mass == 0:
                return max((pair.conditional() for pair in self._exact_pairs), default=0.0)
            return max((_testing.inherited(*pair.rows, mass) for pair in self._exact_pairs), default=0.0)
        rows = self.matrix
        return max((_testing.inherited(rows[i], rows[j], mass) for i, j in self._indices()), default=0.0)

    def _over_sets(self, mass: float) -> float:
        rows: Any = self.matrix if self._exact is None else self._exact
        rows = rows[:, [any(column) for column in rows.T]]
        if rows.shape[1] > _testing.MAX_REPORTS:
            raise ValueError(
                f"inherited must be True for a channel of more than {_testing.MAX_REPORTS} reports, this one has "
                f"{rows.shape[1]}"
            )
        total = None if self._exact is None else sum(rows[0].tolist())
        values = (_testing.over_sets(rows[i], rows[j], total, mass) for i, j in self._indices())
        worst = max(values, default=Fraction(0))
        return _coins.round_up(worst) if isinstance(worst, Fraction) else worst

    def smooth(self, metric: ArrayLike) -> float:
        """Return the parameter of smooth privacy, the largest loss per unit of distance.

        All pairs of inputs count, not only neighbors.

        Parameters
        ----------
        metric : array_like, shape (inputs, inputs)
            Distances, symmetric and >= 0. For datasets: the sum over the records of rho(x_i, x_i') / r, with a metric
            rho that is at most r.

        Returns
        -------
        parameter : float
            The smallest a with p <= e^(a d) q; infinite if two inputs at distance 0 have different rows. If no distance
            is above 1, the channel is a-differentially private.

        Raises
        ------
        TypeError, ValueError
            If `metric` is not of that shape, not symmetric, or has negative entries.
        """
        inputs = len(self.matrix)
        distances = _check.within("metric", metric, 0, math.inf, "[)")
        if distances.shape != (inputs, inputs) or (distances != distances.T).any():
            raise ValueError(
                f"metric must be a symmetric matrix of shape ({inputs}, {inputs}), got shape {distances.shape}"
            )
        worst = 0.0
        for i, j in combinations(range(inputs), 2):
            loss = self._between(i, j)
            if loss > 0:
                distance = float(distances[i, j])
                per_unit = math.nextafter(loss / distance, math.inf) if distance > 0 and distance != 1 else loss
                worst = max(worst, per_unit if distance > 0 else math.inf)
        return worst

    def _between(self, i: int, j: int) -> float:
        """Return epsilon of two inputs, in both orders."""
        rows: Any = self.matrix[[i, j]] if self._exact is None else self._exact[[i, j]]
        return Channel(rows)._pure()

    # Hypothesis tests -------------------------------------------------------------------------------------------------

    def disclosure_risk(self) -> float:
        """Return the smallest error probability of guessing which of two equally likely inputs made the report.

        Returns
        -------
        risk : float
            (1 - total variation) / 2, rounded down if the channel is exact. No test between two neighbors has a smaller error
            probability.
        """
        if self._exact is None:
            return (1 - self.tv()) / 2
        return -_coins.round_up((self._hockey_stick(0.0) - 1) / 2)

    def misses(self, false_alarms: ArrayLike) -> Any:
        """Return the trade-off function: the smallest miss probability at a given false-alarm probability, in doubles.

        Parameters
        ----------
        false_alarms : array_like
            Probabilities of a false alarm, in [0, 1].

        Returns
        -------
        misses : float or ndarray
            The smallest probability of a miss over all pairs of neighbors, in both orders, and over all tests.

        Raises
        ------
        TypeError, ValueError
            If `false_alarms` is not in [0, 1].
        """
        alarms = _check.within("false_alarms", false_alarms, 0, 1)
        least = 1 - alarms
        if self._exact is None:
            pairs = ((p, q) for p, rows in self._real_pairs() for q in rows)
        else:
            pairs = (pair.rows for pair in self._exact_pairs)
        for p, q in pairs:
            least = np.minimum(least, _divergence.trade_off(p, q, alarms))
        return float_or_array(least)

    def plot(self, ax: Any = None, *, kind: str = "trade-off") -> Any:
        """Draw the trade-off between false alarms and misses, or the matrix as a heat map.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; those of a new figure by default.
        kind : {"trade-off", "matrix"}
            "trade-off": misses of the best test against its false alarms, with those of a random guess and the bound from
            epsilon. "matrix": probabilities of the reports, with one row per input.

        Returns
        -------
        ax : matplotlib.axes.Axes

        Raises
        ------
        ImportError
            If matplotlib is not installed (extra "plot").
        ValueError
            If `kind` is not one of the above.
        """
        from ._conversions import misses

        kind = _check.choice("kind", kind, ("trade-off", "matrix"))
        ax = axes(ax)
        if kind == "matrix":
            inputs, reports = self.matrix.shape
            texts = [f"{p:.3g}" for p in self.matrix.flat] if inputs * reports <= MAX_TEXTS else []
            draw_matrix(ax, self.matrix, range(inputs), range(reports), "probability", texts)
            ax.set_xlabel(f"report (number from 0)\nepsilon = {self.epsilon():.6g}")
            ax.set_ylabel("input (number from 0)")
            return ax
        alarms = np.linspace(0, 1, 501)
        ax.plot(alarms, 1 - alarms, color=GRAY, linestyle=":", label="random guess")
        epsilon = self.epsilon()
        if epsilon < math.inf:
            bound = misses(alarms, epsilon)
            ax.plot(alarms, bound, color=VERMILION, linestyle="--", label=f"bound for epsilon = {epsilon:.3g}")
        ax.plot(alarms, self.misses(alarms), color=BLUE, label="this channel, best test")
        ax.set_xlabel("false alarms (probability)")
        ax.set_ylabel("misses (probability)")
        ax.set_xlim(0, 1)
        ax.set_ylim(0, 1)
        ax.legend()
        return ax

    # Algebra ----------------------------------------------------------------------------------------------------------

    def then(self, other: Channel | ArrayLike) -> Channel:
        """Return the channel whose report is post-processed by another channel.

        No parameter increases, except possibly that of `conditional_testing` with ``inherited=False``.

        Parameters
        ----------
        other : Channel or array_like, shape (reports, other reports)
            The channel of the post-processing. Its inputs are the reports of this one.

        Returns
        -------
        channel : Channel
            Has the neighbors of this one; exact if both are.

        Raises
        ------
        TypeError, ValueError
            If `other` is not a channel, or its number of inputs is not the number of reports of this one.
        """
        other = other if isinstance(other, Channel) else Channel(other)
        reports = self.matrix.shape[1]
        if len(other.matrix) != reports:
            raise ValueError(f"other must have {reports} inputs, one for each report, got {len(other.matrix)}")
        if self._exact is None or other._exact is None:
            return Channel(self.matrix @ other.matrix, neighbors=self.neighbors)
        return Channel(self._exact @ other._exact, neighbors=self.neighbors)

    def product(self, other: Channel | ArrayLike) -> Channel:
        """Return the channel that makes one report by each of two channels, independently, of the same input.

        Parameters
        ----------
        other : Channel or array_like, shape (inputs, other reports)
            A channel with the same inputs and neighbors.

        Returns
        -------
        channel : Channel
            Report (a, b) has index ``a * m + b`` if `other` has m reports; exact if both are. KL is at most the sum of
            those of the two channels, and so are epsilon and delta.

        Raises
        ------
        TypeError, ValueError
            If `other` is not a channel, or has different inputs or neighbors.
        """
        other = other if isinstance(other, Channel) else Channel(other, neighbors=self.neighbors)
        self._same_inputs(other)
        left, right = (
            (self._exact, other._exact) if self._exact is not None and other._exact is not None else (None, None)
        )
        first: Any = self.matrix if left is None else left
        second: Any = other.matrix if right is None else right
        joint = (first[:, :, None] * second[:, None, :]).reshape(len(first), -1)
        return Channel(joint, neighbors=self.neighbors)

    def deficiency(self, other: Channel | ArrayLike) -> float:
        """Return Le Cam's deficiency of this channel with respect to another one.

        It is the smallest total variation, in the worst row, between the other channel and a post-processing of this one.

        Parameters
        ----------
        other : Channel or array_like, shape (inputs, other reports)
            A channel with the same inputs and neighbors.

        Returns
        -------
        deficiency : float
            To about 1e-9, by linear programming. 0 if the other channel is a post-processing of this one.

        Raises
        ------
        TypeError, ValueError
            If `other` is not a channel, or has different inputs or neighbors.
        """
        other = other if isinstance(other, Channel) else Channel(other, neighbors=self.neighbors)
        self._same_inputs(other)
        return deficiency(self.matrix, other.matrix)

    def less_informative_than(self, other: Channel | ArrayLike, *, tolerance: float = 1e-7) -> bool:
        """Return whether this channel is a post-processing of another one (Blackwell's order).

        Parameters
        ----------
        other : Channel or array_like, shape (inputs, other reports)
            A channel with the same inputs and neighbors.
        tolerance : float, default 1e-7
            Largest total variation, in any row, that counts as 0.

        Returns
        -------
        less : bool
            True also if the two channels are equivalent.

        Raises
        ------
        TypeError, ValueError
            As for `deficiency`.
        """
        other = other if isinstance(other, Channel) else Channel(other, neighbors=self.neighbors)
        return other.deficiency(self) <= _check.positive("tolerance", tolerance)

    def _same_inputs(self, other: Channel) -> None:
        if len(other.matrix) != len(self.matrix):
            raise ValueError(f"other must have {len(self.matrix)} inputs, got {len(other.matrix)}")
        if self.neighbors is other.neighbors is None:
            return
        if self._neighbor_set() != other._neighbor_set():
            raise ValueError("other must have the same neighbors")

    def _neighbor_set(self) -> set[frozenset[int]]:
        return {frozenset(pair) for pair in self._indices()}

    def __repr__(self) -> str:
        return f"<Channel: {self._description()}>"

    def _repr_html_(self) -> str:
        inputs, reports = self.matrix.shape
        columns = {"input": [str(i) for i in range(inputs)]}
        shown = range(min(reports, MAX_COLUMNS))
        columns |= {f"report {j}": [f"{p:.4g}" for p in self.matrix[:, j].tolist()] for j in shown}
        rest = f"; the first {MAX_COLUMNS} reports are shown" if reports > MAX_COLUMNS else ""
        return html_table(columns, (), f"probabilities; {self._description()}{rest}")

    def _description(self) -> str:
        inputs, reports = self.matrix.shape
        return f"{inputs} inputs, {reports} reports, epsilon = {self.epsilon():.6g}"


def _pairs(neighbors: Iterable[tuple[int, int]], inputs: int) -> tuple[tuple[int, int], ...]:
    pairs = []
    for pair in neighbors:
        if np.shape(pair) != (2,):
            raise ValueError(f"neighbors must be pairs of inputs, got {pair!r}")
        i, j = (_check.integer("neighbors", v, 0, inputs - 1) for v in pair)
        if i == j:
            raise ValueError(f"neighbors must be pairs of different inputs, got {pair!r}")
        pairs.append((i, j))
    return tuple(pairs)
