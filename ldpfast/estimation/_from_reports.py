"""Estimates from reports that another system has collected through a known finite channel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._labels import in_order
from .._typing import Floats
from ..mechanisms import Mechanism
from ..mechanisms._bit_channel import BitChannel
from ..mechanisms._channel_argument import labels_of_codes, mechanism_of
from ..reports import Bits, aggregator_with
from ..results import Estimate
from ._noisy_sums import estimate_of_noisy_sums


def from_reports(counts: ArrayLike, design: Any) -> Estimate[Floats]:
    """Estimate the shares of categories from the counts of codes, for a known channel.

    Parameters
    ----------
    counts : array_like of int, shape (codes,), or numbers by label
        How many reports have each code: an array in the order of the codes; or a mapping, a series of pandas, or a table such
        as ``value_counts`` makes, whose labels are the codes 0, 1, ..., or the answers of a `Design`, in any order. Codes that
        are not there have no reports.
    design : Design, Mechanism, privacy.Channel, or sequence of sequences of int, Fraction or float
        How the reports were made: a design of `ldpfast.designs`, a mechanism from categories to codes, a channel, or its rows.
        A float is read as the decimal or the quotient that it stands for: 0.1 is 1/10, and 0.333333333333333 is 1/3. If there
        are others, the rows are those of rounded numbers, and epsilon is the largest that is possible for them. A probability
        of 0 is allowed; epsilon is then infinite.

    Returns
    -------
    estimate : Estimate
        Shares of the categories, without bias, with their covariance. They may be negative.

    Raises
    ------
    TypeError, ValueError
        If `counts` are not one integer >= 0 for each code, or all are 0; if a label is no code, or is there twice; if `design`
        is none of these, or its rows are not those of a channel.

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
    >>> from_reports({"yes": 4000, "no": 6000}, designs.warner(0.75)).value.round(3).tolist()
    [0.7, 0.3]
    """
    mechanism: Any = mechanism_of(design)
    ordered = in_order("counts", counts, labels_of_codes(design, mechanism), missing=0)
    seen = _check.integers("counts", _check.array("counts", ordered))
    codes = mechanism.report.k
    if seen.shape != (codes,):
        raise ValueError(f"counts must have shape ({codes},), one for each code, got shape {seen.shape}")
    if seen.min() < 0:
        raise ValueError(f"counts must be >= 0, got {int(seen.min())}")
    total = sum(seen.tolist())
    found: Estimate[Floats] = mechanism.estimate(aggregator_with(mechanism, [seen.astype(np.int64)], total))
    return found


def from_sums(sums: ArrayLike, n: int, design: Any, *, noise_variance: float = 0.0) -> Estimate[Floats]:
    """Estimate the shares of categories from sums of reports, such as those of a secure aggregation.

    Parameters
    ----------
    sums : array_like of int, or numbers by label
        Sum of all reports: how many have each code, or how many have a 1 in each bit. Labels are as for `from_reports`; those
        of bits are 0, 1, .... With noise they are numbers, which may be negative or larger than n, and none may be missing.
    n : int
        Number of reports.
    design : BitChannel, Mechanism, Design, privacy.Channel, or sequence of sequences of int, Fraction or float
        How the reports were made: `designs.BitChannel`, a mechanism whose reports are codes or bits, or as for `from_reports`.
    noise_variance : float, default 0
        Variance of the noise that the aggregators have added to each sum, >= 0: its total, if each of several adds some. It is
        sigma^2 for normal noise, and 2 b^2 for Laplace noise of scale b. The default is for exact sums.

    Returns
    -------
    estimate : Estimate
        Shares of the categories, without bias. The reports alone give the guarantee; noise of aggregators can only add to it.
        With noise, limits are normal: for normal noise, for that of several aggregators, or where it is small beside the
        randomness of the reports. Sums of codes have the known total n, which is used.

    Raises
    ------
    TypeError, ValueError
        If `sums` are not such integers of n reports, or with noise not finite numbers, or those of codes do not add up to
        about n; if `design` is none of these, or `noise_variance` not a finite number >= 0.

    Warns
    -----
    DoubtfulWarning
        If a share is outside of [0, 1] by more than noise explains: negative sums were read as large integers, for instance.

    Privacy
    -------
    None is added: the reports are private already, with the guarantee of the design.

    Examples
    --------
    >>> from ldpfast import designs
    >>> from ldpfast.estimation import from_sums
    >>> from_sums([5500, 2750, 3250], 10_000, designs.BitChannel(3, own=0.75, other=0.25)).value.round(2).tolist()
    [0.6, 0.05, 0.15]
    >>> noisy = from_sums([5480.3, 2771, 3262.5], 10_000, designs.BitChannel(3, own=0.75, other=0.25), noise_variance=400)
    >>> noisy.stderr.round(4).tolist()
    [0.0107, 0.0098, 0.0102]
    """
    variance = _check.real("noise_variance", noise_variance)
    if variance < 0:
        raise ValueError(f"noise_variance must be >= 0, got {noise_variance!r}")
    if variance:
        return estimate_of_noisy_sums(sums, _check.people("n", n), design, variance)
    if isinstance(design, BitChannel):
        return design.estimate_sums(sums, n)
    if isinstance(design, Mechanism) and isinstance(design.report, Bits):
        ordered = in_order("sums", sums, range(design.report.k), missing=0)
        seen = _check.integers("sums", _check.array("sums", ordered))
        found: Estimate[Floats] = design.estimate(
            aggregator_with(design, [seen.astype(np.int64)], _check.people("n", n))
        )
        return found
    count = _check.people("n", n)
    ordered = in_order("sums", sums, labels_of_codes(design, mechanism_of(design)), missing=0)
    total = int(np.sum(_check.integers("sums", _check.array("sums", ordered))))
    if total != count:
        raise ValueError(f"sums of codes must add up to n = {count}, got {total}")
    return from_reports(ordered, design)
