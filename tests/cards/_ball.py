"""Fields of the mechanisms of gradients and Hessians, which privatize them with the mechanism of a ball."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from . import l2_ball, laplace_vector, linf_ball
from ._card import Card

# Parameters of questions that both have.
ONE = {"family": "logistic", "position": (0.5,), "epsilon": 1.0}
CUBE = {
    "family": "logistic",
    "position": (0.5, -0.25, 1.0, 0.0),
    "epsilon": 1.0,
    "norm": "linf",
    "radius": 2.0,
    "column": 1.0,
}
POISSON = {
    "family": "poisson",
    "position": (0.1, -0.2, 0.5),
    "epsilon": 1.0,
    "norm": "l2",
    "radius": 1.0,
    "column": 0.5,
    "residual": 3.0,
    "noise": "laplace",
}

CARDS = {card.mechanism: card for card in (l2_ball.CARD, laplace_vector.CARD, linf_ball.CARD)}


def card_of_ball(mechanism: Any) -> Card:
    return CARDS[type(mechanism.ball)]


def report_dtype(mechanism: Any, dtype: np.dtype) -> DTypeLike:
    return card_of_ball(mechanism).report_dtype(mechanism.ball, dtype)


def report_shape(mechanism: Any) -> tuple[int, ...]:
    return card_of_ball(mechanism).report_shape(mechanism.ball)


def decoded_shape(mechanism: Any) -> tuple[int, ...]:
    return card_of_ball(mechanism).decoded_shape(mechanism.ball)


def refuses_simulation(mechanism: Any) -> bool:
    return card_of_ball(mechanism).refuses_simulation(mechanism.ball)
