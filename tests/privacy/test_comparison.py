"""The order of channels by information, and the deficiency."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import ldpfast as ldp
from ldpfast.privacy import Channel
from ldpfast.privacy._divergence import trade_off

from ..support.channels import events, integer_rows


def test_the_order_of_channels_is_partial():
    """Each channel is better for another pair of inputs, so neither is a post-processing of the other."""
    first = Channel([[9, 1], [5, 5], [5, 5]])
    second = Channel([[5, 5], [5, 5], [9, 1]])
    assert not first.less_informative_than(second)
    assert not second.less_informative_than(first)
    # The ratio has the same distribution, split and ordered differently, so the channels are equivalent.
    assert Channel([[1, 2, 3], [3, 2, 1]]).less_informative_than([[2, 1, 1, 2], [2, 3, 3 - 2, 0]])
    shuffled = Channel([[3, 1, 1, 1], [1, 1, 1, 3]])
    assert shuffled.less_informative_than([[1, 3, 2], [1, 1, 4]]) is False


@pytest.mark.long
@given(integer_rows(), integer_rows())
def test_the_order_for_two_inputs_is_that_of_the_trade_offs(first, second):
    """Blackwell: with two inputs, one channel is a post-processing of another iff its best tests are nowhere better.

    The linear program and the sorted ratios are independent. The deficiency bounds the loss of a guess.
    """
    a, b = Channel(first), Channel(second)
    alarms = np.concatenate([np.linspace(0, 1, 101), *(events(c.matrix[0]) @ c.matrix[0] for c in (a, b))])
    for source, target, missing in ((a, b, a.deficiency(b)), (b, a, b.deficiency(a))):
        curves = [trade_off(*c.matrix, np.minimum(alarms, 1)) for c in (source, target)]
        lost = float(np.max(curves[0] - curves[1]))  # largest excess of misses of the source
        assert source.less_informative_than(target) == (target.deficiency(source) <= 1e-7)
        assert (missing <= 1e-7) == (lost <= 1e-7)
        later = trade_off(*source.matrix, np.minimum(alarms + missing, 1))
        assert (later <= curves[1] + missing + 1e-9).all()
        assert source.disclosure_risk() <= target.disclosure_risk() + missing + 1e-9


@pytest.mark.parametrize("tiny", [1e-12, 1e-30, 1e-300])
def test_deficiency_of_rare_reports(tiny):
    """Reports too rare for a linear program do not count, and cause no error."""
    channel = Channel(np.array([[1.0, tiny, tiny / 2, 0.0], [1.0, 0.0, tiny, tiny], [tiny, 1.0, 0.0, 0.0]]))
    garbled = channel.then([[0.25, 0.75], [1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    assert garbled.less_informative_than(channel)
    assert channel.deficiency(channel) <= 1e-9


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_deficiency_of_a_less_accurate_coin(epsilon):
    """No post-processing makes a binary coin more accurate, so the deficiency is the difference of the probabilities."""
    coin, accurate = ldp.Warner(epsilon).channel(), ldp.Warner(2 * epsilon).channel()
    assert coin.deficiency(accurate) == pytest.approx(accurate.matrix[0, 0] - coin.matrix[0, 0], abs=1e-8)
    assert accurate.deficiency(coin) == pytest.approx(0, abs=1e-8)
    assert coin.less_informative_than(accurate)
    assert not accurate.less_informative_than(coin)
