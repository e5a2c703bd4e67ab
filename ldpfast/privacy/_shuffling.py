"""Privacy of reports that are shuffled before the server sees them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from ._channel import Channel
from ._directed_rounding import float_or_array
from ._guarantee import Guarantee
from ._laws_of_rows import laws_of_rows
from ._report_law import ReportLaw
from ._shuffled_reports import ShuffledReports
from ._two_level import TwoLevel


class Randomizer(Protocol):
    """The part of a mechanism, a survey or a design that `shuffled` uses."""

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one report."""
        ...

    @property
    def report_laws(self) -> Sequence[ReportLaw] | None:
        """Laws of one report, for all pairs of records that can be the worst one; None if they are not known."""
        ...


Shuffleable = Randomizer | Guarantee | TwoLevel | Channel | float


def shuffled(mechanism_or_epsilon: Shuffleable, n: int, delta: float) -> Guarantee:
    """Return the guarantee of n reports that are shuffled before the server sees them.

    Parameters
    ----------
    mechanism_or_epsilon : Mechanism, Survey, Design, Channel, TwoLevel, Guarantee or float
        The channel, the same for all people. The report of a `Survey` holds all answers of a person, and which questions these
        are; a panel is accounted for by `compose_rounds` of the survey of a wave, with the number of turns. For what has no
        `report_laws`, a `Channel` with `neighbors`, a `Guarantee` with definition "local", or a number epsilon, the bound is
        for all channels with this epsilon.
    n : int
        Number of reports that are shuffled together, at least 1. Reports of people who may collude with the server do not
        count.
    delta : float
        In [0, 1).

    Returns
    -------
    guarantee : Guarantee
        With definition "approximate": the smallest epsilon that is found for `delta`, rounded up, and at most the epsilon
        of one report. It is ideal if that of the mechanism is. `lower` is an epsilon that does not hold, for a dataset in which
        all others have the same record, where one is known and more than 2 % below.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range; if a `Guarantee` is not "local"; if a survey has waves and is not that of one of
        them, or is a round of a repeated survey, whose permanent answers are shown again.

    Privacy
    -------
    The shuffler permutes the reports uniformly at random, and removes everything else that could link a report to a person.
    Everything that is needed to decode a report must be in the report: a server that knows the public seed, direction or
    question of each person can tell the reports apart, and there is no amplification. With one person (n = 1) there is none
    either, and the guarantee is the same as for a single report.

    Notes
    -----
    The law of one report has the ratios of the reports of two records to a base measure that is below all rows of the channel.
    Suppose that the server is told which others do not report from this measure, and what. The divergence is then the mean of
    the positive part of a sum of n independent numbers (the privacy blanket [1]_), which is computed by Fourier transforms of
    its tilted distribution. For a channel of two reports (`Warner`, `SignBit`, `RandomizedResponse` with k = 2, each
    `designs.Design`) the number of ones of the worst dataset is used instead, which is exact. A survey has the mixture of the
    products of the laws of its answers. For all channels with the same epsilon, the divergence is at most
    that of randomized response with the blanket. See docs/proofs/shuffling.md.

    The result is at or above the truth: parameters and masses are rounded up, the values of a sum are moved to a grid so that
    their mean is the same, which increases the result, and the errors of transforms and truncations are bounded and added. For
    randomized response the excess is below 0.1 %. For many people and two reports, the records of the others are in 4,096
    groups, each with the noise that its members have in common, which costs less than 0.05 %. About 50 ms for a million people.

    For several shuffled rounds, use `compose_rounds`.

    References
    ----------
    .. [1] B. Balle, J. Bell, A. Gascon, K. Nissim, "The Privacy Blanket of the Shuffle Model", CRYPTO 2019.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> from ldpfast.privacy import shuffled
    >>> round(shuffled(ldp.RandomizedResponse(100, 4.0), 10_000, 1e-8).epsilon, 4)
    0.2928
    >>> round(shuffled(4.0, 10_000, 1e-8).epsilon, 4)  # any mechanism
    0.5145
    >>> guarantee = shuffled(ldp.UnaryEncoding(20, 1.0), 1000, 1e-6)
    >>> round(guarantee.lower, 3), round(guarantee.epsilon, 3)
    (0.091, 0.106)
    >>> survey = ldp.Survey({"smokes": ldp.survey.YesNo(), "moved": ldp.survey.YesNo()}, 4.0, answers="all")
    >>> round(shuffled(survey, 10_000, 1e-8).epsilon, 4)
    0.4501
    """
    laws, largest, ideal = laws_of(mechanism_or_epsilon)
    n = _check.integer("n", n, 1)
    target = float(_check.within("delta", _check.real("delta", delta), 0, 1, "[)"))
    reports = ShuffledReports(laws, n, largest)
    epsilon = reports.epsilon(target)
    return Guarantee("approximate", epsilon, target, ideal=ideal, lower=reports.lower(target, epsilon))


def shuffled_delta(mechanism_or_epsilon: Shuffleable, n: int, epsilon: ArrayLike) -> Any:
    """Return the delta of n shuffled reports at a given epsilon.

    Parameters
    ----------
    mechanism_or_epsilon : Mechanism, Survey, Design, Channel, TwoLevel, Guarantee or float
        The channel, as for `shuffled`.
    n : int
        Number of reports that are shuffled together, at least 1.
    epsilon : array_like
        At least 0.

    Returns
    -------
    delta : float or ndarray
        Delta of all reports together, of the shape of `epsilon`, rounded up as for `shuffled`. It is 0 from the epsilon of one
        report on.

    Raises
    ------
    TypeError, ValueError
        As for `shuffled`; if `epsilon` is negative or not finite.

    Privacy
    -------
    As for `shuffled`: public seeds must be part of the shuffled reports.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> bool(shuffled_delta(ldp.Warner(1.0), 10_000, 0.06) < 1e-8)
    True
    """
    laws, largest, _ = laws_of(mechanism_or_epsilon)
    n = _check.integer("n", n, 1)
    epsilons = _check.within("epsilon", epsilon, 0, math.inf, "[)")
    reports = ShuffledReports(laws, n, largest)
    return float_or_array(np.array([reports.delta(float(e)) for e in epsilons.flat]).reshape(epsilons.shape))


def laws_of(given: Any, name: str = "mechanism_or_epsilon") -> tuple[tuple[ReportLaw, ...], float, bool]:
    """Return the laws of one report, the epsilon of one report, and whether it is ideal."""
    if isinstance(given, TwoLevel):
        return (ReportLaw.of_two_level(given),), given.epsilon, False
    if isinstance(given, Guarantee):
        if given.definition != "local":
            raise ValueError(f"{name} must be a 'local' guarantee, got {given.definition!r}")
        return (_any(given.epsilon),), given.epsilon, given.ideal
    if isinstance(given, Channel):
        epsilon, found = given.epsilon(), None
        if given.neighbors is None and math.isfinite(epsilon):
            found = laws_of_rows(given.matrix.tolist() if given.integers is None else given.integers)
        return (_any(epsilon),) if found is None else tuple(found), epsilon, False
    if hasattr(given, "report_laws"):
        laws, guarantee = given.report_laws, given.guarantee
        return (_any(guarantee.epsilon),) if laws is None else tuple(laws), guarantee.epsilon, guarantee.ideal
    epsilon = _check.positive(name, given)
    return (_any(epsilon),), epsilon, False


def _any(epsilon: float) -> ReportLaw:
    """Return a law whose divergence is above those of all channels with this epsilon, one of which is randomized response."""
    half = Fraction(1, 2)
    return ReportLaw.of_two_level(TwoLevel.arbitrary(epsilon), [(0, half, 0, 0), (0, 0, half, 0)])
