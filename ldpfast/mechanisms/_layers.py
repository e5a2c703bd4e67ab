"""The tensors of a model as one vector, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check, _exchange
from .._typing import AnyArray


class Layers:
    """The names, shapes and dtypes of the tensors of a model, which are one vector for a mechanism.

    An update of a model has one norm, of all its tensors together, so they are one record.

    Parameters
    ----------
    template : mapping or sequence of tensors
        The parameters of the model, or anything with the same shapes, such as ``model.state_dict()`` of PyTorch. Tensors are
        floats of NumPy, or of another library on the CPU that exports them by DLPack, such as PyTorch and JAX. Their values
        are not kept.

    Attributes
    ----------
    dim : int
        Number of all parameters: the length of the vector.
    shapes : dict
        Shape of each tensor, in the order of the vector. The keys are the names, or the positions in a sequence.

    Raises
    ------
    TypeError, ValueError
        If `template` is neither a mapping nor a sequence, is empty, or has a tensor that does not hold floats.

    Notes
    -----
    Names decide, so that the tensors of a mapping may come in any order; those of a sequence have its order. The vector is in
    double precision if a tensor of the template is, otherwise in single precision. Counters and other integers of a model are
    no parameters: leave them out.

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> from ldpfast.mechanisms import Layers
    >>> model = {"weight": np.zeros((2, 3), np.float32), "bias": np.zeros(2, np.float32)}
    >>> layers = Layers(model)
    >>> layers
    Layers(dim=8, tensors=2)
    >>> update = {"bias": np.array([0.5, 0.0]), "weight": np.full((2, 3), 0.1)}
    >>> mechanism = ldp.RotatedSigns(layers.dim, 8.0, rotation=1)
    >>> report = mechanism.privatize(layers.vector(update), clip=True)
    >>> mean = layers.tensors(mechanism.estimate([report]).value)
    >>> mean["weight"].shape, mean["weight"].dtype
    ((2, 3), dtype('float32'))
    """

    def __init__(self, template: Any) -> None:
        names, tensors = _named("template", template)
        if not names:
            raise ValueError("template must have at least one tensor, got none")
        arrays = [_floats(_entry("template", name), tensor) for name, tensor in zip(names, tensors, strict=True)]
        self.shapes = {name: array.shape for name, array in zip(names, arrays, strict=True)}
        self.dim = sum(array.size for array in arrays)
        if not self.dim:
            raise ValueError("template must have at least one number, got none")
        self._is_mapping = isinstance(template, Mapping)
        self._dtype = np.result_type(np.float32, *{array.dtype for array in arrays})
        self._makers = [
            _exchange.maker(_entry("template", name), tensor) for name, tensor in zip(names, tensors, strict=True)
        ]

    def __repr__(self) -> str:
        return f"{type(self).__name__}(dim={self.dim}, tensors={len(self.shapes)})"

    def vector(self, tensors: Any) -> AnyArray:
        """Return tensors as one vector.

        Parameters
        ----------
        tensors : mapping or sequence of tensors
            With the names and shapes of the template. Dtypes and libraries may be others.

        Returns
        -------
        vector : ndarray of float32 or float64, shape (dim,)
            A copy. O(dim) time.

        Raises
        ------
        TypeError, ValueError
            If a tensor is missing, has another shape than in the template or does not hold numbers, or there are others.
        """
        names, given = _named("tensors", tensors)
        if isinstance(tensors, Mapping) != self._is_mapping:
            kind = "a mapping" if self._is_mapping else "a sequence"
            raise TypeError(f"tensors must be {kind}, as the template, got {type(tensors).__name__}")
        if set(names) != set(self.shapes):
            if not self._is_mapping:
                raise ValueError(f"tensors must be {len(self.shapes)} tensors, as the template, got {len(names)}")
            missing, others = (
                sorted(set(self.shapes) - set(names), key=str),
                sorted(set(names) - set(self.shapes), key=str),
            )
            raise ValueError(
                f"tensors must have the names of the template; {missing} are missing and {others} are others"
            )
        by_name, parts = dict(zip(names, given, strict=True)), []
        for name, shape in self.shapes.items():
            entry = _entry("tensors", name)
            array = _check.floats(entry, _check.reals(entry, by_name[name]))
            if array.shape != shape:
                raise ValueError(f"{entry} must have shape {shape}, as in the template, got shape {array.shape}")
            parts.append(array.reshape(-1))
        with np.errstate(over="ignore"):  # infinite in single precision: mechanisms refuse or clip it
            return np.concatenate(parts, dtype=self._dtype, casting="unsafe")

    def tensors(self, vector: ArrayLike) -> Any:
        """Return a vector as tensors.

        Parameters
        ----------
        vector : array_like
            Numbers, shape (dim,): the value of an estimate, for instance.

        Returns
        -------
        tensors : dict or list
            As the template: its names, shapes and dtypes, and tensors of its libraries. They are copies. O(dim) time.

        Raises
        ------
        TypeError, ValueError
            If `vector` does not have this shape, or does not hold numbers.
        """
        numbers = _check.floats("vector", _check.reals("vector", vector))
        if numbers.shape != (self.dim,):
            raise ValueError(f"vector must have shape ({self.dim},), got shape {numbers.shape}")
        ends = np.cumsum([math.prod(shape) for shape in self.shapes.values()])
        parts = zip(np.split(numbers, ends[:-1]), self.shapes.values(), self._makers, strict=True)
        restored = [make(part.reshape(shape)) for part, shape, make in parts]
        return dict(zip(self.shapes, restored, strict=True)) if self._is_mapping else restored


def _named(argument: str, tensors: Any) -> tuple[list[Any], list[Any]]:
    """Return the names of tensors and the tensors."""
    if isinstance(tensors, Mapping):
        return list(tensors), list(tensors.values())
    if isinstance(tensors, list | tuple):
        return list(range(len(tensors))), list(tensors)
    raise TypeError(f"{argument} must be a mapping or a sequence of tensors, got {type(tensors).__name__}")


def _entry(argument: str, name: Any) -> str:
    return f"{argument}[{name!r}]"


def _floats(entry: str, tensor: Any) -> AnyArray:
    """Return a tensor as an array, if it has floats."""
    array = _check.array(entry, tensor)
    if array.dtype.kind != "f" or array.dtype.itemsize > 8:
        raise TypeError(f"{entry} must be floats of at most 64 bits, got dtype {array.dtype}: leave counters out")
    return array
