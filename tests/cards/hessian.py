"""The card of `Hessian`. Its coins are those of its ball."""

from __future__ import annotations

from ldpfast.mechanisms import Hessian

from ..support.examples import Example
from . import _ball
from ._card import Card

CUBE = Hessian(**_ball.CUBE)

CARD = Card(
    mechanism=Hessian,
    proof="gradient",
    inner=True,
    examples=(
        *(Example(question, dtype) for question in (Hessian(**_ball.ONE), CUBE) for dtype in ("float64", "float32")),
        Example(Hessian("linear", (0.1, -0.2, 0.3, 0.1, 0.5), 1.0, residual=2.0)),
        Example(Hessian(**_ball.POISSON)),
    ),
    kinds=(Example(CUBE),),
    report_dtype=_ball.report_dtype,
    report_shape=_ball.report_shape,
    decoded_shape=_ball.decoded_shape,
    makers={"Hessian": lambda e: Hessian("logistic", (0.0, 0.0), e)},
    refuses_simulation=_ball.refuses_simulation,
    timing="clipping and the exponential function depend on the record",
)
