"""Privacy of several rounds of shuffled reports of the same people."""

from __future__ import annotations

from fractions import Fraction

from .. import _check, _coins
from ._guarantee import Guarantee
from ._loss_grid import LossGrid, reach
from ._shuffled_reports import ShuffledReports
from ._shuffling import Shuffleable, laws_of, shuffled

SPARE = 1e-5  # share of delta for losses that are taken as infinite
INTERVALS = 256  # of the losses


def compose_rounds(mechanism: Shuffleable, rounds: int, *, n: int, delta: float) -> Guarantee:
    """Return the guarantee of several rounds, in each of which the reports of n people are shuffled.

    Parameters
    ----------
    mechanism : Mechanism, Survey, Design, Channel, TwoLevel, Guarantee or float
        The channel of every round, as for `shuffled`.
    rounds : int
        Number of rounds in which a person reports, at least 1.
    n : int
        Number of reports that are shuffled together in each round, at least 1, without those of people who may collude with the
        server.
    delta : float
        In [0, 1), for all rounds together.

    Returns
    -------
    guarantee : Guarantee
        With definition "approximate": an epsilon that holds at `delta`, rounded up; at most `rounds` times that of one report.
        It is ideal if that of the mechanism is.

    Raises
    ------
    TypeError, ValueError
        As for `shuffled`; if `rounds` is not an integer >= 1, or too large for the grid of losses (about 10^9).

    Privacy
    -------
    The question of a round may depend on the reports of all earlier rounds, as in training. Its epsilon may not be larger, and
    every round has fresh coins. The conditions of `shuffled` hold in every round: nothing may link the
    reports of a person in different rounds. If something does, use `compose` with the guarantees of the single reports.

    Notes
    -----
    All deltas of one round (`shuffled_delta`) are at most those of a pair of distributions. The distribution of the sum of
    their losses is computed on a grid, by a Fourier transform of the tilted distribution with a bound on its error. The result
    of `composition_epsilon`, from one epsilon and delta of each round, is up to 12 times larger. See docs/proofs/shuffling.md.
    A few seconds, for any number of rounds.

    References
    ----------
    .. [1] Y. Zhu, J. Dong, Y.-X. Wang, "Optimal Accounting of Differential Privacy via Characteristic Function", AISTATS 2022.
    .. [2] V. Doroshenko, B. Ghazi, P. Kamath, R. Kumar, P. Manurangsi, "Connect the Dots: Tighter Discrete Approximations of
       Privacy Loss Distributions", PETS 2022.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> from ldpfast.privacy import compose_rounds
    >>> round(compose_rounds(ldp.Warner(4.0), 100, n=10_000, delta=1e-6).epsilon, 2)
    3.49
    """
    laws, largest, ideal = laws_of(mechanism, "mechanism")
    rounds, n = _check.integer("rounds", rounds, 1), _check.integer("n", n, 1)
    target = float(_check.within("delta", _check.real("delta", delta), 0, 1, "[)"))
    if rounds == 1:
        return shuffled(mechanism, n, target)
    basic = _coins.round_up(Fraction(largest) * rounds)
    epsilon = basic if target == 0 else _epsilon(ShuffledReports(laws, n, largest), largest, rounds, target, basic)
    return Guarantee("approximate", epsilon, target, ideal=ideal)


def _epsilon(reports: ShuffledReports, largest: float, rounds: int, delta: float, basic: float) -> float:
    if rounds * reports.quick_delta(0.0) <= delta / 2:  # total variations add up
        return 0.0
    high = reach(reports.quick_delta, largest, 2 * SPARE * delta / rounds)
    losses = LossGrid.of_curves(reports.quick_delta, reports.quick_delta, high, INTERVALS)
    return losses.composed(rounds, delta).epsilon(delta, basic)
