"""Shares of categories from sums of reports to which aggregators have added noise of a known variance."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _check
from .._labels import in_order
from .._typing import Floats
from ..mechanisms import Mechanism, decoding_of
from ..mechanisms._bit_channel import BitChannel, covariance_of_categories
from ..mechanisms._channel_argument import labels_of_codes, mechanism_of
from ..reports import Bits
from ..results import MAX_COVARIANCES, Debiasing, Estimate, Normal, line_of, warn_outside

LARGEST_EXCESS = (
    8.0  # standard deviations of the total of noisy counts: a probability below 1e-6, also for Laplace noise
)
TOTAL_ERROR = 1e-12  # relative error of a total from rounding


def estimate_of_noisy_sums(sums: Any, n: int, design: Any, noise_variance: float) -> Estimate[Floats]:
    """Return the shares of categories from noisy sums of n reports; see `from_sums`."""
    covariance: Floats | None = None
    if isinstance(design, BitChannel):
        line = Debiasing.of(design.own, design.other)
        value, variance = _of_bits(_read(sums, range(design.k)), n, line, noise_variance)
        covariance = covariance_of_categories(value, variance, n)
    elif isinstance(design, Mechanism) and isinstance(design.report, Bits):
        debiasing = line_of(design.debiasing)
        if debiasing is None:
            raise TypeError(f"design must have bits that are debiased one by one, got a {type(design).__name__}")
        value, variance = _of_bits(_read(sums, range(design.report.k)), n, debiasing, noise_variance)
    else:
        mechanism = mechanism_of(design)
        seen = _read(sums, labels_of_codes(design, mechanism))
        value, variance, covariance = _of_codes(seen, n, decoding_of(mechanism), noise_variance)
        design = mechanism
    estimate = Estimate(value, np.sqrt(variance), n, design.guarantee, covariance, Normal.of_sum(n), _span=(0.0, 1.0))
    warn_outside(estimate, (0.0, 1.0))
    return estimate


def _read(sums: Any, labels: Any) -> Floats:
    """Return one finite number for each label. The sum of a label that is not there is unknown: it has noise, too."""
    seen = _check.numbers("sums", in_order("sums", sums, labels))
    if seen.shape != (len(labels),):
        raise ValueError(f"sums must have shape ({len(labels)},), one for each code or bit, got shape {seen.shape}")
    return seen


def _of_bits(sums: Floats, n: int, line: Debiasing, noise_variance: float) -> tuple[Floats, Floats]:
    """Return the shares of bits that are debiased one by one, and their variances."""
    value = np.asarray(line(sums / n))
    # The variance at the possible mean nearest to the estimate, as for sums without noise.
    variance = line.variance(np.clip(value, 0, 1)) / n + (line.one - line.zero) ** 2 * noise_variance / n**2
    return value, variance


def _of_codes(sums: Floats, n: int, decoding: Floats, noise_variance: float) -> tuple[Floats, Floats, Floats | None]:
    """Return the shares of categories, their variances and covariance, for counts of codes, whose total is known to be n.

    Counts with the right total that are nearest to the noisy ones have the smallest variance.
    """
    codes = len(sums)
    total, noise = float(sums.sum()), (codes * noise_variance) ** 0.5
    if abs(total - n) > LARGEST_EXCESS * noise + TOTAL_ERROR * n:
        raise ValueError(
            f"sums of codes must add up to about n = {n}, got {total:.10g}, beyond what noise of variance {noise_variance:g} "
            "explains"
        )
    shares = (sums - (sums.sum() - n) / codes) / n
    value = shares @ decoding
    near = np.clip(shares, 0.5 / n, None)  # half a report for each code, so that no variance is zero
    near /= near.sum()
    centered = decoding - near @ decoding
    noise = (decoding - decoding.mean(axis=0)) * (noise_variance**0.5 / n)
    variance = near @ centered**2 / n + (noise**2).sum(axis=0)
    if len(value) > MAX_COVARIANCES:
        return value, variance, None
    return value, variance, (centered.T * near) @ centered / n + noise.T @ noise
