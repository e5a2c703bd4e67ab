"""Sensitivity bounds of designs: exact mixtures, the formulas of the package cWise of R, limits and pictures."""

from __future__ import annotations

import numpy as np
import pytest

from ldpfast import designs
from ldpfast.results import Estimate

from ..support.cases import each
from ..support.errors import raises

ALL = {
    "warner": designs.warner(0.7),
    "forced": designs.forced_response("1/6", "1/6"),
    "crosswise": designs.crosswise(0.25),
    "triangular": designs.triangular(0.25),
}
SAME = [1] * 198 + [0] * 112  # 0.6387 of 310 people


@pytest.mark.filterwarnings("ignore::ldpfast.DoubtfulWarning")  # the estimate for all people can be impossible
@each("name", ALL)
@each("guess", (0.0, 0.5, 1.0))
def test_a_share_of_people_who_do_not_follow_the_instruction_is_taken_out(name, guess):
    """The expected answers of a mixture give back the prevalence among people who follow the instruction."""
    design, n = ALL[name], 10**6
    p, q = map(float, design.probabilities)
    for share, truth in ((0.8, 0.3), (0.6, 0.1)):
        seen = share * (q + (p - q) * truth) + (1 - share) * guess
        hits = round(n * seen)
        reports = np.arange(n) < hits
        found = design.sensitivity(reports, compliant=[1.0, share], guess=guess)
        assert found.value[1] == pytest.approx(truth, abs=1e-5)
        assert found.value[0] == pytest.approx(design.prevalence(reports).value, abs=1e-15)


def test_bounds_are_those_of_the_package_cwise():
    """Formulas of cmBound: the naive estimate less its bias, which depends on the share of attentive people."""
    p, seen = 0.25, 198 / 310
    shares = np.arange(100, 49, -1) / 100
    bias = ((seen - 0.5) / (p - 0.5)) / 2 - ((seen - 0.5) / (p - 0.5)) / (2 * shares)
    found = designs.crosswise(p).sensitivity(SAME)
    np.testing.assert_allclose(found.compliant, shares, atol=1e-12)
    np.testing.assert_allclose(found.value, (seen + p - 1) / (2 * p - 1) - bias, atol=1e-12)
    assert found.labels[1] == "99 % follow the instruction"


@each("more", ({}, {"weights": np.arange(310) % 3 + 1.0}, {"clusters": np.arange(310) // 5}))
def test_limits_are_those_of_the_prevalence_on_another_scale(more):
    design = designs.crosswise(0.25)
    plain, found = design.prevalence(SAME, **more), design.sensitivity(SAME, compliant=[1.0, 0.75], **more)
    for confidence in (0.8, 0.95):
        limits, ends = found.interval(confidence), plain.interval(confidence)
        for limit, end in zip(limits, ends, strict=True):
            assert limit[0] == pytest.approx(end, abs=1e-12)
            assert limit[1] == pytest.approx((end - 0.25 * 0.5) / 0.75, abs=1e-12)
    assert found.stderr[1] == pytest.approx(plain.stderr / 0.75)
    wider = found.interval(simultaneous=True)
    assert wider[0][1] < found.interval()[0][1]


def test_the_picture_has_the_bounds_and_a_direct_question():
    found = designs.crosswise(0.25).sensitivity(SAME, compliant=[0.6, 1.0, 0.8])
    direct = Estimate(0.073, 0.015, 310, found.guarantee)
    ax = found.plot(direct=direct)
    curve, level, low, high = ax.lines
    np.testing.assert_allclose(curve.get_xdata(), [0, 20, 40], atol=1e-12)
    np.testing.assert_allclose(curve.get_ydata(), np.clip(found.value[[1, 2, 0]], 0, 1))
    assert level.get_ydata()[0] == 0.073
    np.testing.assert_allclose([low.get_ydata()[0], high.get_ydata()[0]], direct.interval())
    assert ax.get_xlabel() == "people who do not follow the instruction (%)"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "95 %, pointwise",
        "estimate",
        "direct question",
    ]
    assert len(found.plot(confidence=0.5).lines) == 1


@each(
    "more, error, message",
    [
        ({"compliant": [1, 0]}, ValueError, "compliant must be shares in (0, 1], got 0"),
        ({"compliant": 1.2}, ValueError, "compliant must be shares in (0, 1], got 1.2"),
        ({"compliant": []}, ValueError, "compliant must be a share or have shape (k,) with k >= 1, got shape (0,)"),
    ],
)
def test_mistakes_are_named(more, error, message):
    with raises(error, message):
        ALL["warner"].sensitivity(SAME, **more)
    with pytest.raises(ValueError, match="guess"):
        ALL["warner"].sensitivity(SAME, guess=1.5)
    with raises(TypeError, "direct must be an estimate of one number, got float"):
        ALL["warner"].sensitivity(SAME).plot(direct=0.1)
