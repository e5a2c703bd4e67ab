"""pure-ldp: one client call per record."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldpfast import UnaryEncoding
from ldpfast.bench._case import EPSILON, Case, Task


def response(case: Case) -> Task:
    """Privatize categories by randomized response."""
    library = import_module("pure_ldp.frequency_oracles.direct_encoding")
    client, people = library.DEClient(EPSILON, case.mechanism.k, index_mapper=lambda x: x), case.x.tolist()
    return lambda: np.array([client.privatise(x) for x in people], np.uint8)


def unary(case: Case) -> Task:
    """Privatize categories by unary encoding, packed."""
    library = import_module("pure_ldp.frequency_oracles.unary_encoding")
    client, people = library.UEClient(EPSILON, case.mechanism.k, index_mapper=lambda x: x), case.x.tolist()
    return lambda: np.packbits(np.array([client.privatise(x) for x in people], np.uint8), axis=1, bitorder="little")


def frequencies(mechanism: Any, x: NDArray[Any]) -> Task:
    """Estimate shares, with one call of `privatise` and one of `aggregate` per person."""
    unary = isinstance(mechanism, UnaryEncoding)
    library = import_module(f"pure_ldp.frequency_oracles.{'unary' if unary else 'direct'}_encoding")
    kinds = (library.UEClient, library.UEServer) if unary else (library.DEClient, library.DEServer)
    people = x.tolist()

    def estimate() -> NDArray[Any]:
        client, server = (kind(EPSILON, mechanism.k, index_mapper=lambda x: x) for kind in kinds)
        for person in people:
            server.aggregate(client.privatise(person))
        return np.array([server.estimate(j, suppress_warnings=True) for j in range(mechanism.k)]) / len(people)

    return estimate
