"""Guarantees in the other rounding modes of the processor, which a caller may have set."""

from __future__ import annotations

import json
import platform
import sys

import numpy as np
import pytest

import ldpfast as ldp

from ..cards import KINDS
from ..support.process import run_python

MODES = {"downward": 0x400, "upward": 0x800, "toward zero": 0xC00}  # of fesetround on x86-64
PUBLIC = [kind.mechanism for kind in KINDS if type(kind.mechanism).__name__ in ldp.mechanisms.__all__]
# Every report of these is a function of the coin and the category; the others round their records.
CATEGORIES = ["Warner(1.0)", "RandomizedResponse(7, 1.3)", "UnaryEncoding(9, 1.0)", "SubsetSelection(9, 1.0)"]
SCRIPT = """
import ctypes, json, numpy as np, ldpfast as ldp
from ldpfast.mechanisms import *
set_mode = ctypes.CDLL("libm.so.6").fesetround
rows = np.linspace(-0.3, 0.3, 80).reshape(16, 5)
rows[3], rows[4], rows[5] = np.nan, 1e300, 5e-324
assert set_mode({mode}) == 0
coins = [eval(text).epsilon_realized for text in {mechanisms}]
codes = [eval(text).privatize(np.arange(200) % 2, rng=1).tolist() for text in {categories}]
cube = [LinfBall(5, 1.0).privatize(row, rng=1, clip=True).tolist() for row in rows]
ball = [L2Ball(5, 1.0).privatize(row, rng=1, clip=True).tolist() for row in rows]
assert set_mode(0) == 0
print(json.dumps([coins, codes, cube, ball]))
"""


@pytest.mark.claim("Guarantees hold in every rounding mode.", "Privacy of reports")
@pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="modes have these numbers on x86-64"
)
@pytest.mark.parametrize(
    "mode", ["upward", *(pytest.param(mode, marks=pytest.mark.long) for mode in MODES if mode != "upward")]
)
def test_guarantees_hold_in_every_rounding_mode(mode):
    """A coin costs at most epsilon. Under one key all vectors have one of two reports, one for each side of the coin, and
    categories have the same reports as in the usual mode.
    """
    script = SCRIPT.format(mode=MODES[mode], mechanisms=list(map(repr, PUBLIC)), categories=CATEGORIES)
    result = run_python(script)
    assert result.returncode == 0, result.stderr
    coins, codes, cube, ball = json.loads(result.stdout)
    for mechanism, realized in zip(PUBLIC, coins, strict=True):
        assert mechanism.epsilon_realized <= realized <= mechanism.epsilon, mechanism
    usual = [eval(f"ldp.{text}").privatize(np.arange(200) % 2, rng=1).tolist() for text in CATEGORIES]
    assert codes == usual
    for reports in (cube, ball):
        assert len({tuple(report) for report in reports}) == 2
