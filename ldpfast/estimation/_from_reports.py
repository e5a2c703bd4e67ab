"""Estimates from reports that another system has collected through a known finite channel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._typing import Floats
from ..designs._reading import mechanism_of
from ..results import Estimate


def from_reports(counts: ArrayLike, design: Any) -> Estimate[Floats]:
    """Estimate the shares of categories from the counts of codes, for a known channel.

    Parameters
    ----------
    counts : array_like of int, shape (codes,)
        How many reports have each code.
    design : Design, Mechanism, privacy.Channel, or sequence of sequences of int, Fraction or float
        How the reports were made: a design of `ldpfast.designs`, a mechanism from categories to codes, a channel, or its rows.
        A float is read as its shortest decimal, so that 0.1 is 1/10. A probability of 0 is allowed; epsilon is then infinite.

    Returns
    -------
    estimate : Estimate
        Shares of the categories, without bias, with their covariance. They may be negative.

    Raises
    ------
    TypeError, ValueError
        If `counts` are not one integer >= 0 for each code, or all are 0; if `design` is none of these, or its rows are not
        those of a channel.

    Warns
    -----
    DoubtfulWarning
        If a share is outside of [0, 1] by more than noise explains: the reports are then not those of this channel.

    Privacy
    -------
    None is added: the reports are private already, with the guarantee of the channel.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from ldpfast.estimation import from_reports
    >>> half = Fraction(1, 2)  # a coin: half of the people tell the truth, the others a random answer
    >>> rows = [[half + half / 2, half / 2], [half / 2, half + half / 2]]
    >>> from_reports([6000, 4000], rows).value.round(3).tolist()
    [0.7, 0.3]
    >>> from ldpfast import designs
    >>> from_reports([6000, 4000], designs.warner(0.75)).value.round(3).tolist()
    [0.7, 0.3]
    """
    mechanism: Any = mechanism_of(design)
    seen = _check.integers("counts", _check.array("counts", counts))
    codes = mechanism.report.k
    if seen.shape != (codes,):
        raise ValueError(f"counts must have shape ({codes},), one for each code, got shape {seen.shape}")
    if seen.min() < 0:
        raise ValueError(f"counts must be >= 0, got {int(seen.min())}")
    total = sum(seen.tolist())
    found: Estimate[Floats] = mechanism.estimate(mechanism.aggregator().add([seen.astype(np.int64)], total))
    return found
