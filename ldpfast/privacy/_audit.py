"""A lower bound on epsilon from reports alone: what a mechanism does, whatever it says of itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._limits import clopper_pearson
from ._numbers import Floats

if TYPE_CHECKING:
    from .._typing import RNGLike
    from ..mechanisms import Mechanism

BINS = 64  # of the statistic of reports that hardly ever come twice
OFTEN = 20  # times that a report has to be seen in the first half to be an event of its own
WIDEST = 64  # bytes of a report that is compared as a whole


def audit(
    mechanism: Mechanism | Callable[[Any, Any], ArrayLike],
    x: ArrayLike,
    x_prime: ArrayLike,
    n: int,
    *,
    confidence: float = 0.95,
    rng: RNGLike = None,
) -> float:
    """A lower bound on epsilon that a black box cannot be better than, from n reports of each of two records.

    Parameters
    ----------
    mechanism : Mechanism or callable
        What makes reports: a mechanism, or a function of (records, rng), records with n rows, that gives an array of n reports,
        of numbers or of rows of numbers. Rows of bytes are read as bits.
    x, x_prime : array_like
        Two records.
    n : int
        Reports of each, at least 4.
    confidence : float, default 0.95
        In (0, 1): the probability that the bound is true, if reports are independent.
    rng : None, int, SeedSequence, Generator or BitGenerator
        Given to the mechanism; an int or a `SeedSequence` as a generator, so that the two records get coins of their own.

    Returns
    -------
    epsilon : float
        A lower limit of log(P(S | x) / P(S | x_prime)), or of the same with the records exchanged, for an event S; at least
        0. It is about the delta = 0 definitions: a mechanism with delta > 0 is rightly convicted.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range; if the mechanism refuses a record, or gives something else than n reports.

    Notes
    -----
    The first half of the reports chooses the event and the order of the records, the second half tests them: Clopper-Pearson
    limits of the two probabilities, each with half of the allowed error. Numbers are put into 64 bins, rows by their size along
    the difference of the means; a report that comes often, and more or less so than its bin, is told apart. The event is the
    set of those with the largest likelihood ratios that gives the best bound on the first half. A low answer proves nothing:
    another pair of records or another event may tell more.

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
    cells = _cells(reports, half)
    count = int(max(c.max() for c in cells)) + 1
    first = [np.bincount(c[:half], minlength=count) for c in cells]
    second = [np.bincount(c[half:], minlength=count) for c in cells]
    orders = [(*_event(first[a], first[b], tail), a, b) for a, b in ((0, 1), (1, 0))]
    _, event, a, b = max(orders, key=lambda order: order[0])
    (bound,) = _bounds(second[a][event].sum()[None], second[b][event].sum()[None], n - half, tail)
    return max(0.0, float(bound))


def _source(rng: Any) -> Any:
    """What the mechanism gets in both calls: never one key twice."""
    if rng is None or isinstance(rng, np.random.Generator | np.random.BitGenerator):
        return rng
    seed = rng if isinstance(rng, np.random.SeedSequence) else _check.integer("rng", rng, 0)
    return np.random.default_rng(seed)


def _reports(mechanism: Any, record: NDArray[Any], n: int, source: Any) -> NDArray[Any]:
    """n reports of one record, one row of numbers (or one number) each."""
    records = np.repeat(record[np.newaxis], n, axis=0)
    if hasattr(mechanism, "privatize"):
        made = mechanism.privatize(records, rng=source)
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


def _cells(reports: list[NDArray[Any]], half: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A small number for each report; which report has which is chosen by the first halves only."""
    n = len(reports[0])
    both = np.concatenate(reports)
    chosen = np.concatenate([np.arange(half), n + np.arange(half)])
    score = _score(both, chosen[:half], chosen[half:])
    edges = np.unique(np.quantile(score[chosen], np.linspace(0, 1, BINS + 1)[1:-1]))
    cells = np.searchsorted(edges, score, side="right")
    if both.ndim == 1 or both.itemsize * both.shape[1] <= WIDEST:
        whole = both if both.ndim == 1 else both.view(f"V{both.itemsize * both.shape[1]}")[:, 0]
        _, first, label = np.unique(whole, return_index=True, return_inverse=True)
        odd = _odd(label[chosen[:half]], label[chosen[half:]], cells[first])
        cells = np.where(odd[label], BINS + np.cumsum(odd)[label], cells)
    return cells[:n], cells[n:]


def _odd(first: NDArray[np.int64], second: NDArray[np.int64], bins: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which reports stand out of their bin: come often, and from the two records in other shares, by 4 standard deviations."""
    p, q = (np.bincount(labels, minlength=len(bins)) for labels in (first, second))
    shares = np.bincount(bins, p, BINS) / np.maximum(np.bincount(bins, p + q, BINS), 1)
    share, both = shares[bins], p + q
    return np.asarray((both >= OFTEN) & (np.abs(p - both * share) > 4 * np.sqrt(both * share * (1 - share))))


def _score(both: NDArray[Any], first: NDArray[np.int64], second: NDArray[np.int64]) -> Floats:
    """One number per report: itself, or its size along the difference of the means of two sets of reports."""
    if both.ndim == 1:
        return np.nan_to_num(both.astype(np.float64))
    rows = np.unpackbits(both, axis=1) if both.dtype == np.uint8 else np.nan_to_num(both)
    direction = rows[first].mean(axis=0) - rows[second].mean(axis=0)
    score = rows @ direction.astype(np.float64)
    # Equal rows have equal scores wherever they are: the last digits of a product can depend on the place of a row.
    return np.asarray(np.round(score / max(float(np.abs(score).max()), 1e-300), 9))


def _event(p: NDArray[np.int64], q: NDArray[np.int64], tail: float) -> tuple[float, NDArray[np.int64]]:
    """The bound that counts of cells give, and the cells: those of the largest ratios, as many as give the best bound."""
    order = np.argsort(-(p + 0.5) / (q + 0.5), kind="stable")
    bounds = _bounds(np.cumsum(p[order]), np.cumsum(q[order]), int(p.sum()), tail)
    best = int(bounds.argmax())
    return float(bounds[best]), order[: best + 1]


def _bounds(p: NDArray[np.int64], q: NDArray[np.int64], n: int, tail: float) -> Floats:
    """log of the lower limit of one probability over the upper limit of the other."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(clopper_pearson(p, n, tail)[0]) - np.log(clopper_pearson(q, n, tail)[1]))
