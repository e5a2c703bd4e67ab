"""Fixtures that the tests of `GaussianMean` share."""

from __future__ import annotations

import pytest

from ...support.gaussian import PROTOCOLS


@pytest.fixture(params=PROTOCOLS.values(), ids=PROTOCOLS)
def options(request):
    """Options of every protocol."""
    return request.param
