"""The card of `Hessian`. Its coins are those of its ball."""

from __future__ import annotations

from ldpfast.mechanisms import Hessian

from ..support.examples import Example
from . import _ball
from ._card import Card

ONE = Hessian("logistic", (0.5,), 1.0)
CUBE = Hessian("logistic", (0.5, -0.25, 1.0, 0.0), 1.0, norm="linf", radius=2.0, column=1.0)

CARD = Card(
    mechanism=Hessian,
    proof="gradient",
    inner=True,
    examples=(
        *(Example(question, dtype) for question in (ONE, CUBE) for dtype in ("float64", "float32")),
        Example(Hessian("linear", (0.1, -0.2, 0.3, 0.1, 0.5), 1.0, residual=2.0)),
        Example(
            Hessian(
                "poisson",
                (0.1, -0.2, 0.5),
                1.0,
                norm="l2",
                radius=1.0,
                column=0.5,
                residual=3.0,
                noise="laplace",
            )
        ),
    ),
    kinds=(Example(CUBE),),
    report_dtype=_ball.report_dtype,
    report_shape=_ball.report_shape,
    decoded_shape=_ball.decoded_shape,
    makers={"Hessian": lambda e: Hessian("logistic", (0.0, 0.0), e)},
    refuses_simulation=_ball.refuses_simulation,
)
