"""The crosswise model with a question that finds people who answer at random."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._frames import require_one_index
from .._typing import AnyArray, Floats
from .._warnings import warn
from ..results import DoubtfulWarning, Estimate, Fieller, Normal, People, new_count
from ._binary import crosswise
from ._design import Design
from ._replicate_weights import ReplicateWeights, table_of
from ._sample import Sample
from ._sampled_prevalence import checked_weights
from ._subgroups import columns_of_by, subgroups

CERTAIN = 3.0  # standard errors by which the attentive share must be above 0
EQUAL = 50  # people who hardly ever all answer two different questions alike


def crosswise_with_attention(
    reports: ArrayLike,
    attention: ArrayLike,
    *,
    p: Any,
    p_attention: Any,
    weights: ArrayLike | None = None,
    clusters: Any = None,
    strata: Any = None,
    replicate_weights: ReplicateWeights | None = None,
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
    strata, replicate_weights
        As for `Design.prevalence`; there is no correction for a finite population.
    by : array_like, shape (n,); or list of these, or data frame, optional
        Known values that divide the people, such as their region, as for `Design.prevalence_by`. The share of attentive people
        can differ between them.

    Returns
    -------
    prevalence : Estimate, or dict of Estimate
        Share of yes among the attentive people, with Fieller's limits; by t quantiles if there are weights or clusters. With
        `by` one for each of its values; see `Design.prevalence_by` for their differences.

    Raises
    ------
    TypeError, ValueError
        If the arrays are not such answers of the same people, or the same answers twice; if no one is attentive by the
        estimate. With `by` the message names the group.

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
    columns = {"weights": weights, "clusters": clusters, "strata": strata}
    divided = {} if by is None else columns_of_by(by)
    require_one_index({"reports": reports, "attention": attention, **columns, **divided, **table_of(replicate_weights)})
    main, anchor = crosswise(p), crosswise(_check.exact_probability("p_attention", p_attention))
    same, known = main._codes(reports), anchor._codes(attention, "attention")
    if same.shape != known.shape:
        raise ValueError(f"attention must have one answer per person, got {len(known)} for {len(same)} reports")
    require_two_questions(same, known)
    columns["weights"] = checked_weights(weights, len(same))
    sample = Sample.read(len(same), **columns, replicate_weights=replicate_weights)
    if by is None:
        return _of_all(main, anchor, same, known, sample)
    # Groups consist of different people, also for differences, unless groups share clusters or strata.
    members, values = subgroups(divided, len(same))
    people, is_shared = People.of(new_count()), sample.is_shared_by(members)
    found = {}
    for number, value in enumerate(values):
        inside = members == number
        try:
            estimate = _of_all(main, anchor, same[inside], known[inside], sample.part(inside))
        except ValueError as error:
            raise ValueError(f"group {value!r}: {error}") from None
        found[value] = estimate._of_people(people if is_shared else people.group(value))
    return found


def require_two_questions(same: AnyArray, known: AnyArray) -> None:
    """Raise if the answers to the attention question are those to the crosswise question, given a second time."""
    if len(same) >= EQUAL and np.array_equal(same, known):
        raise ValueError("attention must be answers to a question of its own, got the same answers as in reports")


def _of_all(main: Design, anchor: Design, same: AnyArray, known: AnyArray, sample: Sample) -> Estimate[float]:
    """Return the prevalence from the answers of people of a sample to both questions, as 0 and 1."""
    share, scale = float(main.probabilities[0]), 0.5 - float(anchor.probabilities[0])
    # The estimate is a ratio of two means less 1/2. Their covariance is that of the answers of a person to both questions; with
    # weights or clusters it is that of the sum of their scores.
    sample.warn_few()
    w = sample.weights_of(slice(None))

    def middles(weights: Floats) -> Floats:
        return np.array([weights @ answers / weights.sum() - 0.5 for answers in (same, known)])

    n = int(np.count_nonzero(w))
    top, bottom = map(float, middles(w))
    freedom = math.inf
    if sample.is_plain:
        pairs = np.bincount(2 * same + known, minlength=4) + 0.5  # half a person each, so that no variance is zero
        covariance = np.cov([[0, 0, 1, 1], [0, 1, 0, 1]], aweights=pairs, bias=True) / n
    else:
        freedom = sample.freedom
        scores = np.stack([answers - mean - 0.5 for answers, mean in ((same, top), (known, bottom))]) * w / w.sum()
        covariance = sample.covariance([(slice(None), scores.T)], middles, np.array([top, bottom]))
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
