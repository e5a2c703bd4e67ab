"""Finite channels: a row of report probabilities for each input."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._plots import BLUE, GRAY, MAX_TEXTS, VERMILION, axes, draw_matrix
from .._table import html_table
from . import _divergence
from ._channel_rows import ChannelRows
from ._deficiency import deficiency
from ._directed_rounding import Floats, float_or_array

MAX_COLUMNS = 16  # reports of a channel that are shown in HTML


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
        self._rows = ChannelRows(matrix, neighbors)
        self.matrix, self.neighbors = self._rows.matrix, self._rows.neighbors

    @property
    def integers(self) -> tuple[tuple[int, ...], ...] | None:
        """The probabilities times a common factor, if they are known exactly; None for floats."""
        exact = self._rows.exact
        return None if exact is None else tuple(map(tuple, exact.tolist()))

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
        return float_or_array(np.array([self._rows.epsilon(float(d)) for d in deltas.flat]).reshape(deltas.shape))

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
        return float_or_array(np.array([self._rows.delta(float(e)) for e in epsilons.flat]).reshape(epsilons.shape))

    def tv(self) -> float:
        """Return the largest total variation, half the sum of absolute differences."""
        return self._rows.delta(0.0)

    def kl(self) -> float:
        """Return the largest Kullback-Leibler divergence in nats, over both orders of each pair."""
        return self._rows.kullback_leibler()

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

        return self._rows.worst(lambda p, q: _divergence.f_divergence(p, q, checked, slope))

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
        return self._rows.inherited(mass) if _check.flag("inherited", inherited) else self._rows.over_sets(mass)

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
            loss = self._rows.epsilon_between(i, j)
            if loss > 0:
                distance = float(distances[i, j])
                per_unit = math.nextafter(loss / distance, math.inf) if distance > 0 and distance != 1 else loss
                worst = max(worst, per_unit if distance > 0 else math.inf)
        return worst

    # Hypothesis tests -------------------------------------------------------------------------------------------------

    def disclosure_risk(self) -> float:
        """Return the smallest error probability of guessing which of two equally likely inputs made the report.

        Returns
        -------
        risk : float
            (1 - total variation) / 2, rounded down if the channel is exact. No test between two neighbors has a smaller error
            probability.
        """
        return self._rows.disclosure_risk()

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
        return float_or_array(self._rows.trade_off(alarms))

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
        left, right = self._rows.exact, other._rows.exact
        if left is None or right is None:
            return Channel(self.matrix @ other.matrix, neighbors=self.neighbors)
        return Channel(left @ right, neighbors=self.neighbors)

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
        left, right = self._rows.exact, other._rows.exact
        first: Any = self.matrix if left is None or right is None else left
        second: Any = other.matrix if left is None or right is None else right
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
        if self._rows.neighbor_set() != other._rows.neighbor_set():
            raise ValueError("other must have the same neighbors")

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
