"""Joint shares of several answers of the same people, each of which was randomized by itself."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._labels import require_one_index
from .._typing import Floats
from ..mechanisms import decoding_of
from ..mechanisms._channel_argument import codes_of, mechanism_of
from ..privacy import compose
from ..results import MAX_COVARIANCES, BoundedSum, Estimate

MAX_ENTRIES = 1 << 22  # of the table that decodes all combinations of codes


def joint(reports: Sequence[ArrayLike], designs: Sequence[Any]) -> Estimate[Floats]:
    """Estimate the joint shares of several categories of the same people, whose reports were randomized independently.

    Parameters
    ----------
    reports : sequence of array_like of int, shape (n,)
        One array for each question: the codes that the people reported, in the same order; for a `Design` also its texts.
    designs : sequence of Design, Mechanism, privacy.Channel, or rows
        How the reports to each question were made, as for `from_reports`.

    Returns
    -------
    estimate : Estimate
        Shares of the combinations, shape (k_1, k_2, ...), without bias; their sums along an axis equal the estimates of
        `from_reports` for the other questions. The guarantee covers all reports of a person together. The limits follow
        `results.BoundedSum`.

    Raises
    ------
    TypeError, ValueError
        If there are fewer than two questions, or different numbers of them or of people; if reports are not codes; if there are
        too many combinations.

    Notes
    -----
    The channel of a pair of reports is the Kronecker product of their channels, and so is its inverse. Every question
    multiplies the variance: ask pairs of questions together (`survey.Cross`) if you can still choose.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast import designs
    >>> from ldpfast.estimation import joint
    >>> design, rng = designs.warner(0.9), np.random.default_rng(1)
    >>> smokes = rng.random(50_000) < 0.3
    >>> drinks = rng.random(50_000) < np.where(smokes, 0.8, 0.4)
    >>> reports = [design.channel.privatize(x.astype(int), rng=seed) for seed, x in enumerate((smokes, drinks))]
    >>> bool(abs(joint(reports, [design, design]).value[1, 1] - 0.24) < 0.02)
    True
    """
    for name, given in (("reports", reports), ("designs", designs)):
        if isinstance(given, Mapping | Set) or hasattr(given, "columns"):
            raise TypeError(f"{name} must be a sequence in the order of the questions, got {type(given).__name__}")
    require_one_index({f"reports[{place}]": part for place, part in enumerate(reports)})
    if len(reports) != len(designs) or len(designs) < 2:
        raise ValueError(f"reports and designs must be as many, at least 2, got {len(reports)} and {len(designs)}")
    mechanisms: list[Any] = [mechanism_of(design) for design in designs]
    codes = [codes_of(*each) for each in zip(reports, designs, mechanisms, strict=True)]
    n = len(codes[0])
    if {len(part) for part in codes} != {n}:
        raise ValueError(
            f"reports must be of the same people, got {', '.join(str(len(part)) for part in codes)} of them"
        )
    sizes, numbers = [m.report.k for m in mechanisms], [m.domain.k for m in mechanisms]
    if math.prod(sizes) * math.prod(numbers) > MAX_ENTRIES:
        raise ValueError(
            f"designs must have at most {MAX_ENTRIES} combinations of codes and categories, got "
            f"{math.prod(sizes) * math.prod(numbers)}"
        )
    decoding: Floats = np.ones((1, 1))
    for mechanism in mechanisms:
        decoding = np.asarray(np.kron(decoding, decoding_of(mechanism)), np.float64)
    counts = np.bincount(np.ravel_multi_index(codes, sizes), minlength=math.prod(sizes))
    value = counts @ decoding / n
    squares = decoding.T @ (counts[:, np.newaxis] / n * decoding) if len(value) <= MAX_COVARIANCES else None
    variance = (counts @ np.square(decoding) / n - value**2) / n
    covariance = None if squares is None else (squares - np.outer(value, value)) / n
    rule = BoundedSum.of_mean(value, decoding.min(axis=0), decoding.max(axis=0), n)
    up, down, change = (np.reshape(part, numbers) for part in (rule.up, rule.down, rule.change))
    shaped = BoundedSum(up, down, change=change)
    stderr = np.sqrt(np.maximum(variance, 0)).reshape(numbers)
    guarantee = compose(*(mechanism.guarantee for mechanism in mechanisms))
    return Estimate(value.reshape(numbers), stderr, n, guarantee, covariance, shaped, _span=(0.0, 1.0))
