"""Tensors of a model as one vector: names decide, shapes and dtypes come back, and mistakes are errors."""

from __future__ import annotations

import pickle
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.mechanisms import Layers

from ..support.cases import each
from ..support.errors import raises

MODEL = {"weight": np.zeros((2, 3), np.float32), "bias": np.zeros(2, np.float16), "scale": np.zeros((), np.float32)}
UPDATE = {"weight": np.arange(6.0).reshape(2, 3), "bias": np.array([6.0, 7.0]), "scale": np.array(8.0)}


class Tensor:
    """A tensor of a library that exports its memory by DLPack."""

    def __init__(self, values, dtype):
        self.values, self.dtype = np.asarray(values, dtype), dtype

    def __dlpack_device__(self):
        return 1, 0

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype)

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)


@pytest.fixture
def library(monkeypatch):
    """A library with this class of tensors."""
    monkeypatch.setattr(Tensor, "__module__", "tensors.core")
    monkeypatch.setitem(sys.modules, "tensors", SimpleNamespace(asarray=lambda values, dtype: Tensor(values, dtype)))


def test_the_vector_has_the_tensors_in_the_order_of_the_template():
    layers = Layers(MODEL)
    vector = layers.vector(UPDATE)
    assert layers.dim == 9
    assert layers.shapes == {"weight": (2, 3), "bias": (2,), "scale": ()}
    assert vector.dtype == np.float32
    np.testing.assert_array_equal(vector, np.arange(9))


def test_names_decide_not_the_order():
    layers = Layers(MODEL)
    np.testing.assert_array_equal(layers.vector(dict(reversed(UPDATE.items()))), layers.vector(UPDATE))


@each("kind", [list, tuple])
def test_a_sequence_has_its_order_and_gives_a_list(kind):
    layers = Layers(kind(MODEL.values()))
    np.testing.assert_array_equal(layers.vector(kind(UPDATE.values())), np.arange(9))
    assert [tensor.shape for tensor in layers.tensors(np.arange(9))] == [(2, 3), (2,), ()]


def test_tensors_have_the_shapes_and_dtypes_of_the_template():
    back = Layers(MODEL).tensors(np.arange(9.0))
    assert {name: (tensor.shape, tensor.dtype) for name, tensor in back.items()} == {
        name: (tensor.shape, tensor.dtype) for name, tensor in MODEL.items()
    }
    for name, tensor in back.items():
        np.testing.assert_array_equal(tensor, UPDATE[name])


def test_double_precision_is_kept():
    layers = Layers([np.zeros(1, np.float32), np.zeros(1)])
    assert layers.vector([np.array([0.1], np.float32), [0.1]]).tolist() == [float(np.float32(0.1)), 0.1]


def test_neither_vector_nor_tensors_share_memory_with_what_was_given():
    update, layers = {"w": np.ones(4, np.float32)}, Layers({"w": np.ones(4, np.float32)})
    vector = layers.vector(update)
    vector[:] = 2
    layers.tensors(vector)["w"][:] = 3
    assert update["w"].tolist() == [1] * 4
    assert vector.tolist() == [2] * 4


@pytest.mark.usefixtures("library")
@each("is_pickled", [False, True])
def test_tensors_come_back_in_their_library_and_dtype(is_pickled):
    layers = Layers({"w": Tensor(np.zeros((2, 2)), np.float32), "b": np.zeros(1)})
    layers = pickle.loads(pickle.dumps(layers)) if is_pickled else layers
    back = layers.tensors(layers.vector({"w": np.ones((2, 2)), "b": Tensor([2.0], np.float32)}))
    assert isinstance(back["w"], Tensor)
    assert back["w"].dtype is np.float32
    assert back["w"].values.tolist() == [[1, 1], [1, 1]]
    assert back["b"].tolist() == [2.0]


def test_a_template_of_a_library_without_asarray_is_refused():
    with raises(TypeError, "template['w'] must be an array of NumPy, PyTorch or JAX, got Tensor of tests"):
        Layers({"w": Tensor(np.zeros(2), np.float32)})


def test_the_estimate_of_updates_is_a_model():
    layers = Layers(MODEL)
    mechanism = ldp.RankedSigns(layers.dim, 8.0)
    updates = np.stack([layers.vector({name: np.full(tensor.shape, 0.1) for name, tensor in MODEL.items()})] * 2000)
    back = layers.tensors(mechanism.run(updates, rng=1).value)
    assert max(np.abs(tensor - 0.1).max() for tensor in back.values()) < 0.1


NAMES = "tensors must have the names of the template"
NUMBERS = "real numbers (float32, float64 or integers), got dtype <U1"


@each(
    "given, error, message",
    [
        ([], TypeError, "tensors must be a mapping, as the template, got list"),
        (3, TypeError, "tensors must be a mapping or a sequence of tensors, got int"),
        ({"w": [1.0]}, ValueError, f"{NAMES}; ['b'] are missing and [] are others"),
        ({"w": [1.0], "b": [1.0], "c": [1.0]}, ValueError, f"{NAMES}; [] are missing and ['c'] are others"),
        ({"w": [1.0], "b": [[1.0]]}, ValueError, "tensors['b'] must have shape (2,), as in the template, got shape (1, 1)"),
        ({"w": [1.0], "b": ["1", "2"]}, TypeError, f"tensors['b'] must be {NUMBERS}"),
        ({"w": [1.0], "b": [1.0, [2.0]]}, TypeError, "tensors['b'] must be an array of numbers, got list"),
    ],
)  # fmt: skip
def test_wrong_tensors_are_refused(given, error, message):
    with raises(error, message):
        Layers({"w": np.zeros(1), "b": np.zeros(2)}).vector(given)


def test_a_sequence_of_another_length_is_refused():
    with raises(ValueError, "tensors must be 2 tensors, as the template, got 1"):
        Layers([np.zeros(1), np.zeros(1)]).vector([[1.0]])


@each(
    "template, error, message",
    [
        ({}, ValueError, "template must have at least one tensor, got none"),
        ([np.zeros((0, 3))], ValueError, "template must have at least one number, got none"),
        ("weights", TypeError, "template must be a mapping or a sequence of tensors, got str"),
        (
            {"steps": np.array(3)},
            TypeError,
            "template['steps'] must be floats of at most 64 bits, got dtype int64: leave counters out",
        ),
    ],
)
def test_wrong_templates_are_refused(template, error, message):
    with raises(error, message):
        Layers(template)


@each(
    "vector, error, message",
    [
        (np.zeros(8), ValueError, "vector must have shape (9,), got shape (8,)"),
        (np.zeros((1, 9)), ValueError, "vector must have shape (9,), got shape (1, 9)"),
        (["a"] * 9, TypeError, f"vector must be {NUMBERS}"),
    ],
)
def test_wrong_vectors_are_refused(vector, error, message):
    with raises(error, message):
        Layers(MODEL).tensors(vector)
