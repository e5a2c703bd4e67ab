"""The total variance of decoded vectors: the square of their length in the worst population, and an upper bound in others."""

from __future__ import annotations

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.mechanisms import LaplaceVector

from ..support.cases import each
from ..support.errors import raises

BALLS = [
    ldp.L2Ball(8, 2.0, radius=3.0),
    ldp.PrivUnit(8, 2.0, radius=3.0),
    ldp.RankCodebook(8, 2.0, radius=3.0),
    ldp.RankedSigns(8, 2.0, radius=3.0),
    ldp.RankedSigns(300, 2.0, radius=3.0),
]
OTHERS = [
    ldp.RotatedSigns(5000, 2.0, rotation=3, radius=3.0),
    LaplaceVector(8, 2.0, radius=3.0),
    LaplaceVector(8, 2.0, radius=3.0, norm="linf"),
    ldp.LinfBall(8, 2.0, radius=3.0),
    ldp.SampledCube(8, 4.0, radius=3.0),
]


@each("mechanism", BALLS, ids=repr)
def test_the_total_variance_in_a_ball_is_the_square_of_the_scale(mechanism):
    assert mechanism.total_variance == pytest.approx(mechanism.scale**2, rel=1e-12)


@each("mechanism", [*BALLS, *OTHERS], ids=repr)
def test_it_is_the_squared_length_of_decoded_reports_of_the_worst_population(mechanism):
    """Vectors of opposite directions, whose mean is 0; others have a smaller or the same squared length."""
    rng, n = np.random.default_rng(1), 20_000 if mechanism.dim < 100 else 300
    longest = np.zeros(mechanism.dim)
    longest[: None if mechanism.domain.norm == "linf" else 1] = mechanism.radius
    longest *= 1 - 1e-9

    def squares(x):
        rows = np.tile(x, (n, 1)) * rng.choice([-1, 1], (n, 1))
        lengths = (mechanism.decode(mechanism.privatize(rows, rng=rng)) ** 2).sum(axis=1)
        return lengths.mean(), 5 * lengths.std() / n**0.5 + 1e-6 * lengths.mean()

    found = [squares(x) for x in (longest, longest / 2, np.zeros(mechanism.dim))]
    worst, margin = max(found)
    assert abs(worst - mechanism.total_variance) < max(margin, 5e-4 * worst)
    assert mechanism.total_variance < mechanism.dim * mechanism.worst_variance * (1 + 1e-9)


@each("mechanism", [ldp.SignBit(0, 1, 1.0), ldp.RandomizedResponse(3, 1.0)], ids=repr)
def test_other_records_have_none(mechanism):
    with raises(TypeError, f"total_variance is for vectors in a ball or a cube, got {mechanism!r}"):
        _ = mechanism.total_variance
