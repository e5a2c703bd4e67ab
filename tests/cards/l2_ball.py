"""The card of `L2Ball`."""

from __future__ import annotations

import numpy as np

import ldpfast as ldp

from ..support.examples import Example
from ._card import Card, Coin, Keyed, Sample, always
from ._events import logistic
from ._samples import N, in_ball, recorded_rows, spread_rows

EXAMPLES = [ldp.L2Ball(d, 1.0, radius=2.0) for d in (1, 2, 3, 32, 100, 5000)]


def flip(dtype: str, radius: float):
    """Return the signs of a report in one dimension, one stream of signs for both precisions."""
    mechanism = ldp.L2Ball(1, 1.0, radius=radius)
    return lambda n: mechanism.privatize(np.full((n, 1), -radius, dtype), rng=9) > 0


CARD = Card(
    mechanism=ldp.L2Ball,
    examples=tuple(Example(m, dtype) for dtype in ("float64", "float32") for m in EXAMPLES),
    kinds=tuple(Example(ldp.L2Ball(5, 1.0), dtype) for dtype in ("float64", "float32")),
    report_dtype=lambda mechanism, dtype: dtype,
    report_shape=lambda mechanism: (mechanism.dim,),
    decoded_shape=lambda mechanism: (mechanism.dim,),
    in_place=always,
    makers={"L2Ball": lambda e: ldp.L2Ball(3, e)},
    largest_epsilons=((lambda e: ldp.L2Ball(3, e), 44.3),),
    bad_records=(ldp.L2Ball(3, 1.0, radius=2.0),),
    flips={"L2Ball": flip("float64", 1.0), "L2Ball float32": flip("float32", 2.0)},
    power=lambda: tuple(
        Coin(ldp.L2Ball(5, 6.0), np.eye(5)[0], logistic(6.0), lambda z: np.count_nonzero(z[:, 0] > 0), dtype=dtype)
        for dtype in ("float32", "float64")
    ),
    unbiased=(
        Sample(ldp.L2Ball(1, 1.0), in_ball(N, 1)),
        Sample(ldp.L2Ball(2, 1.0), in_ball(N, 2)),
        Sample(ldp.L2Ball(10, 2.0, radius=3.0), in_ball(N, 10, 3.0, "float32")),
        Sample(ldp.L2Ball(100, 1.0), in_ball(20_000, 100, 1.0, "float32")),
    ),
    covered=(Sample(ldp.L2Ball(4, 2.0), spread_rows(0.5)),),
    refuses_simulation=always,
    audited=((ldp.L2Ball(5, 1.0), 0.9), (ldp.L2Ball(32, 1.0), 0.85)),
    keyed=(Keyed(ldp.L2Ball(2, 1.0), np.linspace(-0.5, 0.5, 80).reshape(40, 2), lambda x: (tuple(x),)),),
    recorded=tuple(
        Sample(ldp.L2Ball(d, 1.0, radius=2.0), recorded_rows(12_000 // d, d)) for d in (1, 2, 3, 32, 100, 6000)
    ),
)
