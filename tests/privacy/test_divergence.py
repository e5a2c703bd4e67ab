"""f-divergences of channels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from ..support.channels import as_doubles, integer_rows, ordered_pairs


@given(integer_rows())
def test_f_divergences_equal_the_named_divergences(rows):
    """Total variation is the divergence for |t - 1| / 2; the divergence for |t - 1| is twice as large."""
    channel = as_doubles(rows)
    assert channel.divergence(lambda t: abs(t - 1) / 2, 0.5) == pytest.approx(channel.tv(), abs=1e-12)
    assert channel.divergence(lambda t: abs(t - 1), 1.0) == pytest.approx(2 * channel.tv(), abs=1e-12)
    hellinger = max(((np.sqrt(p) - np.sqrt(q)) ** 2).sum() for p, q in ordered_pairs(channel))
    assert channel.divergence(lambda t: (np.sqrt(t) - 1) ** 2, 1.0) == pytest.approx(hellinger, abs=1e-12)
    kl = channel.divergence(lambda t: np.where(t > 0, t * np.log(np.maximum(t, 1e-300)), 0))
    assert kl == pytest.approx(channel.kl(), rel=1e-9, abs=1e-12)
