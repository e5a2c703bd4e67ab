"""The distance from a hypothesis that a test finds with a given probability."""

from __future__ import annotations

import math

from .. import _check


def detectable_distance(df: int, alpha: float, power: float) -> float:
    """Return the distance in standard errors that a two-sided test finds.

    Parameters
    ----------
    df : int
        Degrees of freedom; 1 for a single number.
    alpha : float
        Level of the test, in (0, 1).
    power : float
        Probability that the test rejects, in (alpha, 1).

    Returns
    -------
    distance : float
        Root of the noncentrality of a chi-square distribution with which the statistic exceeds its quantile with this power.
    """
    from scipy.special import chdtri, chndtrinc

    alpha, power = _check.probability("alpha", alpha), _check.probability("power", power)
    if power <= alpha:
        raise ValueError(f"power must be above alpha = {alpha!r}, got {power!r}")
    return math.sqrt(float(chndtrinc(chdtri(df, alpha), df, 1 - power)))
