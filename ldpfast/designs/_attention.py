"""The crosswise model with a question that finds people who answer at random."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._frames import Groups, require_one_index, whole_column
from .._typing import AnyArray, Floats
from .._warnings import warn
from ..results import DoubtfulWarning, Estimate, Fieller, Normal, People, new_count
from ._binary import crosswise
from ._clusters import Sample, read_clusters
from ._design import Design

CERTAIN = 3.0  # standard errors by which the attentive share must be above 0


def crosswise_with_attention(
    reports: ArrayLike,
    attention: ArrayLike,
    *,
    p: Any,
    p_attention: Any,
    weights: ArrayLike | None = None,
    clusters: Any = None,
    by: Any = None,
) -> Any:
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
    by : array_like, shape (n,), optional
        Known values that divide the people, such as their region. The share of attentive people can differ between them.

    Returns
    -------
    prevalence : Estimate, or dict of Estimate
        Share of yes among the attentive people, with Fieller's limits; by t quantiles if there are weights or clusters. With
        `by` one for each of its values, whose differences are those of `Design.prevalence_by`.

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
    require_one_index({"reports": reports, "attention": attention, "weights": weights, "clusters": clusters, "by": by})
    main, anchor = crosswise(p), crosswise(p_attention)
    same, known = main._codes(reports), anchor._codes(attention)
    if same.shape != known.shape:
        raise ValueError(f"attention must have one answer per person, got {len(known)} for {len(same)} reports")
    given = None if weights is None else _check.weights(weights, len(same))
    drawn = read_clusters(clusters, len(same), 2, given)
    if by is None:
        return _of_all(main, anchor, same, known, given, drawn)
    # Differences of groups are those of different people, unless a cluster has people of two of them.
    groups = Groups(None)
    members = groups.numbers(whole_column("by", by))
    if len(members) != len(same):
        raise ValueError(f"by must have one value per person, got {len(members)} for {len(same)} reports")
    people, parts = People.of(new_count()), [members == number for number in range(len(groups.values))]
    if drawn is not None:
        owners = [set(drawn[part if given is None else part & (given > 0)].tolist()) for part in parts]
        is_shared = len(set().union(*owners)) < sum(map(len, owners))
    else:
        is_shared = False
    found = {}
    for value, part in zip(groups.values, parts, strict=True):
        w = None if given is None else _check.weights(given[part], int(part.sum()))
        c = None if drawn is None else read_clusters(drawn[part], int(part.sum()), 2, w)
        estimate = _of_all(main, anchor, same[part], known[part], w, c)
        found[value] = estimate._of_people(people if is_shared else people.group(value))
    return found


def _of_all(
    main: Design, anchor: Design, same: AnyArray, known: AnyArray, given: Floats | None, drawn: AnyArray | None
) -> Estimate[float]:
    """Return the prevalence from the answers of people to both questions, as 0 and 1."""
    share, scale = float(main.probabilities[0]), 0.5 - float(anchor.probabilities[0])
    # The estimate is a ratio of two means less 1/2. Their covariance is that of the answers of a person to both questions; with
    # weights or clusters it is that of the sum of their scores.
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
