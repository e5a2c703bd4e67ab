"""Fixtures that the tests of the protocols share."""

from __future__ import annotations

import numpy as np
import pytest

from ...support.one_shot import PROBLEMS


@pytest.fixture(params=PROBLEMS.values(), ids=PROBLEMS)
def problem_and_records(request):
    """Every problem, with random records."""
    problem, draw = request.param
    return problem, draw(np.random.default_rng(5), 20_011)
