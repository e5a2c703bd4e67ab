"""The card of `SketchResponse`, whose coins are those of its response: it has no stream of its own for them."""

from __future__ import annotations

import numpy as np

from ldpfast.mechanisms import SketchResponse

from ..support.examples import Example
from ._card import Card, Coin, Keyed, Sample
from ._events import equal_to, logistic
from ._formats import per_code, smallest_code

SMALL = SketchResponse(1.0, max_bytes=3, buckets=2, functions=2)
WORDS = np.array([f"word {i}" for i in range(40)])


def coins() -> tuple[Coin, ...]:
    sketch = SketchResponse(6.0, max_bytes=1, buckets=2, functions=1)
    bucket = int(sketch._hashes[0].buckets(sketch.domain.records("a")[0])[0, 0])
    return (Coin(sketch, b"a", logistic(6.0), equal_to(bucket)),)


CARD = Card(
    mechanism=SketchResponse,
    proof="sketch",
    inner=True,
    examples=(
        Example(SMALL),
        Example(SketchResponse(3.0, max_bytes=4, alphabet="abcd", prefixes=(1, 4), buckets=30, functions=3)),
        Example(SketchResponse(2.0, max_bytes=5, buckets=130, functions=8, salt="second")),
    ),
    kinds=(Example(SMALL),),
    report_dtype=smallest_code,
    decoded_shape=per_code,
    makers={"SketchResponse": lambda e: SketchResponse(e, max_bytes=3, buckets=2, functions=2)},
    power=coins,
    keyed=(Keyed(SketchResponse(1.0, max_bytes=9), WORDS, lambda x: (x.encode().ljust(10, b"\0"),)),),
    recorded=(Sample(SketchResponse(1.0, max_bytes=9, buckets=300), lambda: np.resize(WORDS, 3000)),),
    timing="the time of its mechanism may depend on the bucket",
)
