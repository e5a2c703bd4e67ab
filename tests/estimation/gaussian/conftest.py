"""Fixtures that the tests of `GaussianMean` share."""

from __future__ import annotations

import pytest

from ...support.gaussian import PROTOCOLS

SHORT = ("robust-known-1", "robust-unknown-2", "paper-unknown-2", "efficient-unknown-2")  # the others are long


@pytest.fixture(
    params=[
        pytest.param(options, id=name, marks=[] if name in SHORT else pytest.mark.long)
        for name, options in PROTOCOLS.items()
    ]
)
def options(request):
    """Options of every protocol."""
    return request.param
