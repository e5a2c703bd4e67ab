"""The crosswise model with a question that finds people who answer at random."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._labels import require_one_index
from .._warnings import warn
from ..results import DoubtfulWarning, Estimate, Fieller, Normal
from ._binary import crosswise
from ._clusters import Sample, read_clusters

CERTAIN = 3.0  # standard errors by which the attentive share must be above 0


def crosswise_with_attention(
    reports: ArrayLike,
    attention: ArrayLike,
    *,
    p: Any,
    p_attention: Any,
    weights: ArrayLike | None = None,
    clusters: Any = None,
) -> Estimate[float]:
    """Estimate a prevalence by the crosswise model, if an unknown share of the people answers at random.

    Everybody also answers a second crosswise question, whose sensitive part is known to be no for all, such as having a
    twin on the moon. Attentive people say "same" to it with probability ``1 - p_attention``.

    Parameters
    ----------
    reports, attention : array_like, shape (n,)
        Answers of the same people to the crosswise question and to the attention question, as for `Design.prevalence`.
    p, p_attention : float, Fraction or str
        Shares of people whose answers to the innocuous questions are yes, not 1/2. The two innocuous questions must be
        independent of each other.
    weights : array_like of float, shape (n,), optional
        Weights >= 0 of the people. People of weight 0 are not in the sample.
    clusters : array_like, shape (n,), optional
        Clusters that were drawn, such as villages; at least two with positive weights.

    Returns
    -------
    prevalence : Estimate
        Share of yes among the attentive people, with Fieller's limits; by t quantiles if there are weights or clusters.

    Raises
    ------
    TypeError, ValueError
        If the arrays are not such answers of the same people; if no one is attentive by the estimate.

    Warns
    -----
    DoubtfulWarning
        If the share of attentive people is not clearly above 0, or is clearly above 1.
    SmallSampleWarning
        As for `Design.prevalence`.

    Notes
    -----
    Inattentive people are taken to say same or different with equal chance, equally often to both questions. With the shares s
    and a of "same" to both questions, the attentive share is (a - 1/2) / (1/2 - p_attention), and the prevalence follows from
    (s - 1/2) / (a - 1/2).

    References
    ----------
    .. [1] Y. Atsusaka, R. T. Stevenson, "A bias-corrected estimator for the crosswise model with inattentive respondents",
       Political Analysis, 2023.

    Examples
    --------
    >>> from ldpfast import designs
    >>> answers, check = ["same"] * 3200 + ["different"] * 1800, ["same"] * 3500 + ["different"] * 1500
    >>> round(designs.crosswise_with_attention(answers, check, p=0.2, p_attention=0.2).value, 3)
    0.15
    """
    require_one_index({"reports": reports, "attention": attention, "weights": weights, "clusters": clusters})
    main, anchor = crosswise(p), crosswise(p_attention)
    same, known = main._codes(reports), anchor._codes(attention)
    if same.shape != known.shape:
        raise ValueError(f"attention must have one answer per person, got {len(known)} for {len(same)} reports")
    share, scale = (
        float(_check.exact_probability("p", p)),
        0.5 - float(_check.exact_probability("p_attention", p_attention)),
    )
    # The estimate is a ratio of two means less 1/2. Their covariance is that of the answers of a person to both questions; with
    # weights or clusters it is that of the sum of their scores.
    given = None if weights is None else _check.weights(weights, len(same))
    drawn = read_clusters(clusters, len(same), 2, given)
    w = np.ones(len(same)) if given is None else given
    n = int(np.count_nonzero(w))
    top, bottom = (float(w @ answers / w.sum()) - 0.5 for answers in (same, known))
    freedom = math.inf
    if given is None and drawn is None:
        pairs = np.bincount(2 * same + known, minlength=4) + 0.5  # half a person each, so that no variance is zero
        covariance = np.cov([[0, 0, 1, 1], [0, 1, 0, 1]], aweights=pairs, bias=True) / n
    else:
        freedom = Sample.of(len(same), given, drawn).freedom
        scores = np.stack([answers - mean - 0.5 for answers, mean in ((same, top), (known, bottom))]) * w / w.sum()
        sums = scores if drawn is None else np.stack([np.bincount(drawn, part) for part in scores])
        units = n if drawn is None else sums.shape[1]
        covariance = sums @ sums.T * units / (units - 1)
    (vn, c), (_, vd) = covariance
    if bottom / scale <= 0:
        raise ValueError(
            f"attention must show that people read the questions, got the attentive share {bottom / scale:.3g}"
        )
    if abs(bottom) - abs(scale) > CERTAIN * np.sqrt(vd):
        warn(
            f"the share of attentive people is {bottom / scale:.3g}, more than chance explains: p_attention may be another one",
            DoubtfulWarning,
        )
    if abs(bottom) < CERTAIN * np.sqrt(vd):
        warn(f"the share of attentive people, {bottom / scale:.3g}, is not clearly above 0", DoubtfulWarning)
    # prevalence = (scale top / bottom + share - 1/2) / (2 share - 1): a ratio with a factor and a start
    factor, start = scale / (2 * share - 1), 0.5
    ratio = factor * top / bottom
    stderr = np.sqrt(factor**2 * vn - 2 * ratio * factor * c + ratio**2 * vd) / abs(bottom)
    parts = (factor * top, bottom, factor**2 * vn, vd, factor * c)
    numerator, denominator, *covariances = (np.asarray(part) for part in parts)
    rule = Fieller(numerator, denominator, *covariances, freedom=freedom, needed=Normal.of_sum(n).needed, start=start)  # type: ignore[misc, arg-type]
    return Estimate(float(start + ratio), float(stderr), n, main.guarantee, None, rule, _span=(0.0, 1.0))
