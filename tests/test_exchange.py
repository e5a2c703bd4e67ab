"""Arrays of other libraries on the CPU: the same results as from NumPy, without a copy, and clear errors."""

from __future__ import annotations

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import _check
from ldpfast.estimation import VectorMean
from ldpfast.survey import Choice, Mean, Survey

from .support.cases import each
from .support.errors import raises


class Tensor:
    """An array that exports its memory by DLPack only, as NumPy does; `kind` is the type of its device."""

    def __init__(self, values, *, kind=1, requires_grad=False, dtype=None):
        self.values, self.kind, self.requires_grad = np.asarray(values), kind, requires_grad
        self.dtype = self.values.dtype if dtype is None else dtype

    def __len__(self):
        return len(self.values)

    def __dlpack_device__(self):
        return self.kind, 0

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)


class Exposed(Tensor):
    """A tensor with a view as an array, as that of PyTorch and JAX."""

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype)


class Half(Tensor):
    """A tensor of bfloat16, which NumPy does not have: only its copy in single precision can be exported."""

    def __init__(self, values):
        super().__init__(values, dtype="torch.bfloat16")

    def float(self):
        return Tensor(self.values.astype(np.float32))


ROWS = np.random.default_rng(1).normal(size=(200, 3)).astype(np.float32) / 10
CASES = [
    (ldp.SignBit(0, 1, 1.0), np.linspace(0, 1, 100)),
    (ldp.Window(0, 1, 2.0), np.linspace(0, 1, 100, dtype=np.float32)),
    (ldp.RandomizedResponse(4, 1.0), np.arange(100) % 4),
    (ldp.Warner(1.0), np.arange(100) % 3 == 0),
    (ldp.L2Ball(3, 1.0), ROWS),
    (ldp.RankCodebook(3, 1.0), ROWS),
    (ldp.RankedSigns(3, 1.0), ROWS),
    (VectorMean(3, 1.0), ROWS),
]


@each("kind", [Tensor, Exposed])
@each("source, x", CASES, ids=lambda value: type(value).__name__)
def test_results_are_those_of_arrays(source, x, kind):
    expected = source.privatize(x, rng=1)
    reports = source.privatize(kind(x), rng=1)
    assert (reports.dtype, reports.tobytes()) == (expected.dtype, expected.tobytes())
    assert source.aggregator().update(kind(reports)).to_bytes() == source.aggregator().update(reports).to_bytes()
    run = source.run(kind(x), rng=1)
    assert np.array_equal(run.value, source.estimate(kind(expected)).value)


@pytest.mark.parametrize("kind", [Tensor, Exposed])
def test_memory_is_shared(kind):
    assert np.shares_memory(_check.array("x", kind(ROWS)), ROWS)


@pytest.mark.parametrize("kind", [Tensor, Exposed])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_reports_are_written_to_the_memory_of_out(kind, dtype):
    mechanism, x = ldp.L2Ball(3, 1.0), ROWS.astype(dtype)
    memory = np.zeros((200, 3), dtype)
    out = kind(memory)
    assert mechanism.privatize(kind(x), rng=1, out=out) is out
    assert np.array_equal(memory, mechanism.privatize(x, rng=1))


def test_bfloat16_is_read_in_single_precision():
    mechanism = ldp.L2Ball(3, 1.0)
    reports = mechanism.privatize(Half(ROWS), rng=1)
    assert reports.dtype == np.float32
    assert np.array_equal(reports, mechanism.privatize(ROWS, rng=1))


def test_columns_of_surveys():
    survey = Survey({"a": Mean(0, 1), "c": Choice(5)}, 2.0)
    a, c = np.linspace(0, 1, 500, dtype=np.float32), np.arange(500) % 5
    expected = survey.run({"a": a, "c": c}, rng=1)
    for kind in (Tensor, Exposed):
        found = survey.run({"a": kind(a), "c": kind(c)}, rng=1)
        assert found["a"].value == expected["a"].value
        assert np.array_equal(found["c"].value, expected["c"].value)
    with raises(TypeError, "column 'a' must not have gradients, got a Tensor with requires_grad: call .detach() first"):
        survey.run({"a": Tensor(a, requires_grad=True), "c": c})


def test_decoded_reports_have_the_dtype_of_the_reports():
    mechanism = ldp.L2Ball(3, 1.0)
    for dtype in (np.float32, np.float64):
        reports = mechanism.privatize(ROWS.astype(dtype), rng=1)
        decoded = mechanism.decode(reports)
        assert decoded.dtype == dtype
        assert not np.shares_memory(decoded, reports)
        assert np.array_equal(decoded, reports)
        assert np.allclose(decoded.mean(axis=0, dtype=np.float64), mechanism.estimate(reports).value, atol=1e-9)


def test_other_tensors_are_refused():
    mechanism, x = ldp.SignBit(0, 1, 1.0), np.linspace(0, 1, 10)
    gradients = "must not have gradients, got a Tensor with requires_grad: call .detach() first"
    device = "must be on the CPU, got a Tensor on another device: call .cpu() first"
    for wrong, message in ((Tensor(x, requires_grad=True), gradients), (Tensor(x, kind=2), device)):
        with raises(TypeError, f"x {message}"):
            mechanism.privatize(wrong)
    out = np.zeros(10, np.uint8)
    with raises(TypeError, f"out {gradients}"):
        mechanism.privatize(x, out=Tensor(out, requires_grad=True))
    with raises(ValueError, "out must have shape (10,) and dtype uint8, got shape (10,) and dtype float64"):
        mechanism.privatize(x, out=Tensor(np.zeros(10)))
    locked = np.zeros(10, np.uint8)
    locked.flags.writeable = False
    with raises(ValueError, "out must be writeable, got a read-only array"):
        mechanism.privatize(x, out=Exposed(locked))
    with pytest.raises(TypeError, match=r"^out must be an ndarray, or an array on the CPU with __dlpack__, got list$"):
        mechanism.privatize(x, out=[0] * 10)
    with pytest.raises(TypeError, match=r"^x must be an array of numbers on the CPU, got Tensor: "):
        mechanism.privatize(Tensor(np.array(["a"])))
    assert not out.any()
