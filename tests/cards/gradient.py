"""The card of `Gradient`. Its coins are those of its ball."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ldpfast.mechanisms import Gradient

from ..support.examples import Example
from ..support.machine_records import labels, numbers, rows
from . import _ball
from ._card import Card, Sample

CUBE = Gradient(**_ball.CUBE)
EXTREMES = np.array([[1.0, 1.0, 1.0], [-1.0, -1.0, 1.0]])  # two features and a response


def recorded_examples(question: Gradient) -> Callable[[], np.ndarray]:
    """Return a function for rows of features with a response of the family."""

    def make() -> np.ndarray:
        n, family = 3000, question.family
        response = numbers(n, 3) if family == "linear" else labels(n, 2 if family == "logistic" else 7)
        return np.column_stack([rows(n, question.domain.width - 1), response])

    return make


RECORDED = (
    Gradient("linear", (0.5,), 1.0, residual=1.0),
    Gradient("linear", (0.5, -0.25, 1.0, 0.0), 1.0, norm="linf", radius=2.0, column=1.0, residual=2.0),
    Gradient("linear", (0.1, -0.2), 1.0, norm="linf", residual=0.5, noise="laplace"),
    Gradient("logistic", (0.0, 0.0), 1.0),
    Gradient("poisson", (0.0, 0.0, 0.0), 1.0, norm="l2", radius=1.0, column=0.5, residual=3.0),
)

CARD = Card(
    mechanism=Gradient,
    inner=True,
    examples=(
        *(Example(question, dtype) for question in (Gradient(**_ball.ONE), CUBE) for dtype in ("float64", "float32")),
        Example(Gradient("linear", tuple(np.linspace(-1, 1, 33).tolist()), 1.0, residual=2.0)),
        Example(Gradient(**_ball.POISSON)),
        Example(Gradient("linear", (0.1, -0.2), 1.0, norm="linf", residual=0.5, noise="laplace")),
    ),
    kinds=(Example(CUBE),),
    report_dtype=_ball.report_dtype,
    report_shape=_ball.report_shape,
    decoded_shape=_ball.decoded_shape,
    makers={"Gradient": lambda e: Gradient("logistic", (0.0, 0.0), e)},
    extremes=(
        (Gradient("logistic", (0.0, 0.0), 0.7), EXTREMES),
        (Gradient("logistic", (0.0, 0.0), 0.7, norm="linf"), EXTREMES),
        (Gradient("linear", (0.0, 0.0), 0.7, residual=1.0, noise="laplace"), EXTREMES),
        (Gradient("poisson", (0.5, 0.2, 0.1), 0.7, column=1.0, residual=2.0), EXTREMES),
    ),
    refuses_simulation=_ball.refuses_simulation,
    recorded=tuple(Sample(question, recorded_examples(question)) for question in RECORDED),
    timing="clipping and the exponential function depend on the record",
)
