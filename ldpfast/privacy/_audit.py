"""Audit of a mechanism: a lower bound on its epsilon from reports alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._limits import clopper_pearson
from ._directed_rounding import Floats

if TYPE_CHECKING:
    from .._random import RNGLike

BINS = 64  # for reports that seldom occur twice
FREQUENT = 20  # least number of occurrences, in both first halves, of a report that can be a bin of its own
WIDEST = 64  # largest size in bytes of reports that are compared as a whole


class Privatizer(Protocol):
    """The part of a mechanism that `audit` uses."""

    def privatize(self, x: ArrayLike, *, rng: RNGLike = None) -> NDArray[Any]:
        """Privatize records."""
        ...


def audit(
    mechanism: Privatizer | Callable[[Any, Any], ArrayLike],
    x: ArrayLike,
    x_prime: ArrayLike,
    n: int,
    *,
    confidence: float = 0.95,
    rng: RNGLike = None,
) -> float:
    """Return a lower confidence bound on the epsilon of a mechanism, from n reports of each of two records.

    Parameters
    ----------
    mechanism : Mechanism or callable
        A mechanism, or a function ``f(records, rng)`` that returns one report for each of the n records: an array of numbers,
        or of rows of numbers. Rows of unsigned integers are read as bits.
    x, x_prime : array_like
        Two records.
    n : int
        Reports of each record, at least 4.
    confidence : float, default 0.95
        In (0, 1): the probability that the bound holds, if reports are independent.
    rng : None, int, SeedSequence, Generator or BitGenerator
        Passed to the mechanism. An int or a `SeedSequence` is passed as a generator, so that the two records get different
        random numbers.

    Returns
    -------
    epsilon : float
        A lower bound on log(P(S | x) / P(S | x_prime)), or on the same with the records exchanged, for some event S; at least
        0. The bound is on pure epsilon-differential privacy: a mechanism that needs delta > 0 can fail the audit.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range; if the mechanism raises one for a record, or does not return n reports.

    Notes
    -----
    The first half of the reports chooses the event and the order of the records. The second half gives Clopper-Pearson limits
    of the two probabilities, each with half of the allowed error. Reports that hold a seed are decoded. Numbers are put into
    64 bins; rows are first projected on the difference of the means. A frequent report whose likelihood ratio differs from
    that of its bin becomes a bin of its own. The event consists of the bins with the largest likelihood ratios, as many as
    give the best bound on the first half. A small result proves nothing: other records or other events may have a larger
    ratio.

    Examples
    --------
    >>> from ldpfast import Warner
    >>> from ldpfast.privacy import audit
    >>> 0.9 < audit(Warner(1.0), 0, 1, 100_000, rng=1) < 1.0
    True
    """
    n = _check.integer("n", n, 4)
    tail = (1 - _check.probability("confidence", confidence)) / 2
    source = _source(rng)
    reports = [
        _reports(mechanism, _check.array(name, record), n, source) for name, record in (("x", x), ("x_prime", x_prime))
    ]
    if reports[0].shape != reports[1].shape or reports[0].dtype != reports[1].dtype:
        raise ValueError("mechanism must give reports of one shape and dtype for both records")
    half = n // 2
    bins = _bins(reports, half)
    count = int(max(b.max() for b in bins)) + 1
    first = [np.bincount(b[:half], minlength=count) for b in bins]
    second = [np.bincount(b[half:], minlength=count) for b in bins]
    orders = [(*_event(first[a], first[b], tail), a, b) for a, b in ((0, 1), (1, 0))]
    _, event, a, b = max(orders, key=lambda order: order[0])
    (bound,) = _bounds(second[a][event].sum()[None], second[b][event].sum()[None], n - half, tail)
    return max(0.0, float(bound))


def _source(rng: Any) -> Any:
    """Return the `rng` of both calls, which never share a key."""
    if rng is None or isinstance(rng, np.random.Generator | np.random.BitGenerator):
        return rng
    seed = rng if isinstance(rng, np.random.SeedSequence) else _check.integer("rng", rng, 0)
    return np.random.default_rng(seed)


def _reports(mechanism: Any, record: NDArray[Any], n: int, source: Any) -> NDArray[Any]:
    """Return n reports of one record: an array of numbers or of rows of numbers."""
    records = np.repeat(record[np.newaxis], n, axis=0)
    if hasattr(mechanism, "privatize"):
        made = mechanism.privatize(records, rng=source)
        if getattr(getattr(mechanism, "report", None), "seeded", False):
            made = mechanism.decode(made)
    elif callable(mechanism):
        made = mechanism(records, source)
    else:
        raise TypeError(f"mechanism must be a Mechanism or callable, got {type(mechanism).__name__}")
    reports = _check.array("reports", made)
    if reports.ndim not in (1, 2) or len(reports) != n or 0 in reports.shape:
        raise ValueError(f"mechanism must give {n} reports, numbers or rows of numbers, got shape {reports.shape}")
    if reports.dtype.kind not in "biuf":
        raise TypeError(f"mechanism must give numbers, got dtype {reports.dtype}")
    return np.ascontiguousarray(reports)


def _bins(reports: list[NDArray[Any]], half: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the bin of each report; the bins are chosen from the first halves only."""
    n = len(reports[0])
    both = np.concatenate(reports)
    chosen = np.concatenate([np.arange(half), n + np.arange(half)])
    score = _score(both, chosen[:half], chosen[half:])
    edges = np.unique(np.quantile(score[chosen], np.linspace(0, 1, BINS + 1)[1:-1]))
    bins = np.searchsorted(edges, score, side="right")
    if both.ndim == 1 or both.itemsize * both.shape[1] <= WIDEST:
        whole = both if both.ndim == 1 else both.view(f"V{both.itemsize * both.shape[1]}")[:, 0]
        _, first, label = np.unique(whole, return_index=True, return_inverse=True)
        alone = _alone(label[chosen[:half]], label[chosen[half:]], bins[first])
        bins = np.where(alone[label], BINS + np.cumsum(alone)[label], bins)
    return bins[:n], bins[n:]


def _alone(first: NDArray[np.int64], second: NDArray[np.int64], bins: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which reports become a bin of their own.

    They are frequent, and their share of reports of the first record differs by 4 standard deviations from that of their bin.
    """
    p, q = (np.bincount(labels, minlength=len(bins)) for labels in (first, second))
    shares = np.bincount(bins, p, BINS) / np.maximum(np.bincount(bins, p + q, BINS), 1)
    share, both = shares[bins], p + q
    return np.asarray((both >= FREQUENT) & (np.abs(p - both * share) > 4 * np.sqrt(both * share * (1 - share))))


def _score(both: NDArray[Any], first: NDArray[np.int64], second: NDArray[np.int64]) -> Floats:
    """Return one number per report: the report, or the projection of its row on the difference of the two means."""
    if both.ndim == 1:
        return np.nan_to_num(both.astype(np.float64))
    rows = np.unpackbits(both.view(np.uint8), axis=1) if both.dtype.kind == "u" else np.nan_to_num(both)
    direction = rows[first].mean(axis=0) - rows[second].mean(axis=0)
    score = rows @ direction.astype(np.float64)
    # Rounding makes the scores of equal rows equal: the last digits of a product can depend on the position of a row.
    return np.asarray(np.round(score / max(float(np.abs(score).max()), 1e-300), 9))


def _event(p: NDArray[np.int64], q: NDArray[np.int64], tail: float) -> tuple[float, NDArray[np.int64]]:
    """Return the best bound over the sets of bins with the largest ratios, and the bins of that set."""
    order = np.argsort(-(p + 0.5) / (q + 0.5), kind="stable")
    bounds = _bounds(np.cumsum(p[order]), np.cumsum(q[order]), int(p.sum()), tail)
    best = int(bounds.argmax())
    return float(bounds[best]), order[: best + 1]


def _bounds(p: NDArray[np.int64], q: NDArray[np.int64], n: int, tail: float) -> Floats:
    """Return the log of the quotient of the lower limit of one probability and the upper limit of the other."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(clopper_pearson(p, n, tail)[0]) - np.log(clopper_pearson(q, n, tail)[1]))
