"""Opening of anything that was saved as bytes."""

from __future__ import annotations

from typing import Any

from ._described import from_dict
from ._envelope import as_bytes
from ._registry import class_of_state
from ._schema import first_difference, read_json


def load(data: bytes) -> Any:
    """Return what a `to_bytes` of this package saved, or what a schema describes.

    Parameters
    ----------
    data : bytes
        Result of `to_bytes` of an aggregator, of the aggregators of groups, of a protocol or of a query; or a schema as JSON,
        such as the metadata "ldpfast" of an Arrow table of reports.

    Returns
    -------
    saved : Aggregator, GroupedAggregator, MedianSGD, GradientDescent, GaussianMean, Query, Mechanism, Problem or Survey

    Raises
    ------
    TypeError, ValueError
        If `data` is not bytes; if it is damaged, of another object, or of another version.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> mechanism = ldp.RandomizedResponse(4, 1.0)
    >>> ldp.load(mechanism.collect([0, 3, 2], rng=1).to_bytes()).n
    3
    >>> ldp.load(ldp.Query(0, mechanism).to_bytes()).mechanism == mechanism
    True
    """
    whole = as_bytes(data)
    if whole[:1] == b"{":
        described = read_json(whole)
        if "query" in described:
            from .mechanisms import Query

            return Query.from_bytes(whole)
        try:
            found = from_dict(described.get("asks", described))
            difference = first_difference(found.schema(), described) if "asks" in described else ""
        except RecursionError:
            raise ValueError("data must be nested less deeply") from None
        if difference:
            raise ValueError(f"data must be of this version of {found!r}: {difference}")
        return found
    kind = class_of_state(whole[:7])
    if kind is None:
        raise ValueError("data must be the bytes of an aggregator, a protocol or a query: the magic number is wrong")
    return kind.from_bytes(whole)
