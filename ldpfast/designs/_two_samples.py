"""The unrelated question design where the prevalence of the unrelated attribute is unknown: two samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from ..results import Estimate, Normal
from ._binary import unrelated_question


def unrelated_question_two_samples(first: ArrayLike, second: ArrayLike, *, p: tuple[Any, Any]) -> Estimate[Any]:
    """Estimate the prevalences of a sensitive and of an unrelated attribute, both unknown, from two samples.

    Parameters
    ----------
    first, second : array_like, shapes (n1,) and (n2,)
        Answers no and yes of two samples of different people, as texts or as 0 and 1.
    p : pair of float, Fraction or str
        Probabilities to be asked the sensitive question in the first and in the second sample, which differ.

    Returns
    -------
    prevalences : Estimate
        Of the sensitive and of the unrelated attribute, with their covariance and normal limits.

    Raises
    ------
    TypeError, ValueError
        If the answers are not as above, or the probabilities are equal.

    Notes
    -----
    With shares y1 and y2 of yes, the prevalence is (y1 (1 - p2) - y2 (1 - p1)) / (p1 - p2). The `guarantee` is the one
    of the sample with less privacy, for an unrelated attribute of the estimated prevalence, between 0.01 and 0.99.

    References
    ----------
    .. [1] B. G. Greenberg, A.-L. A. Abul-Ela, W. R. Simmons, D. G. Horvitz, "The unrelated question randomized response model:
       theoretical framework", JASA, 1969.

    Examples
    --------
    >>> from ldpfast import designs
    >>> samples = ["yes"] * 300 + ["no"] * 700, ["yes"] * 450 + ["no"] * 550
    >>> designs.unrelated_question_two_samples(*samples, p=(0.7, 0.2)).value.round(2).tolist()
    [0.21, 0.51]
    """
    if not isinstance(p, tuple | list) or len(p) != 2:
        raise TypeError(f"p must be a pair of probabilities, got {p!r}")
    exact = [_check.exact_probability("p", value) for value in p]
    if exact[0] == exact[1]:
        raise ValueError(f"p must be two different probabilities, got {exact[0]} twice")
    plain = unrelated_question(1, "1/2")
    codes = [plain._codes(reports) for reports in (first, second)]
    p1, p2 = map(float, exact)
    y1, y2 = (float(part.mean()) for part in codes)
    seen = [(part.sum() + 0.5) / (len(part) + 1) for part in codes]  # so that no variance is zero
    spread = np.diag([share * (1 - share) / len(part) for share, part in zip(seen, codes, strict=True)])
    lines = np.array([[1 - p2, -(1 - p1)], [-p2, p1]]) / (p1 - p2)
    value, covariance = lines @ [y1, y2], lines @ spread @ lines.T
    n = sum(map(len, codes))
    innocent = float(np.clip(value[1], 0.01, 0.99))
    loss = max((unrelated_question(share, innocent).guarantee for share in exact if share), key=lambda g: g.epsilon)
    rule = Normal.of_sum(min(map(len, codes)))
    return Estimate(value, np.sqrt(np.diag(covariance)), n, loss, covariance, rule, _span=(0.0, 1.0))
