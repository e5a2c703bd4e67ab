"""Arrays of other libraries as NumPy arrays of the same memory."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from ._typing import AnyArray

CPU = 1  # type of a device in DLPack
# Where `asarray` of a library is, if not in the package that has its class of arrays.
ARRAY_MODULES = {"jaxlib": "jax.numpy"}


def is_foreign(values: Any) -> bool:
    """Return whether a value is an array of another library, which exports it by DLPack."""
    return hasattr(values, "__dlpack__") and not isinstance(values, np.ndarray | np.generic)


def as_numpy(name: str, values: Any) -> AnyArray:
    """Return an array of another library, without a copy unless NumPy lacks its dtype: bfloat16 becomes float32.

    Raises
    ------
    TypeError
        If it is on another device, has gradients, or cannot be an array of NumPy.
    """
    kind = type(values).__name__
    try:
        if getattr(values, "requires_grad", False):
            problem = f"{name} must not have gradients, got a {kind} with requires_grad: call .detach() first"
        elif int(values.__dlpack_device__()[0]) != CPU:
            problem = f"{name} must be on the CPU, got a {kind} on another device: call .cpu() first"
        else:
            return _shared(values)
    except (ValueError, TypeError, BufferError, RuntimeError) as error:
        raise TypeError(f"{name} must be an array of numbers on the CPU, got {kind}: {error}") from error
    raise TypeError(problem)


def _shared(values: Any) -> AnyArray:
    if str(getattr(values, "dtype", "")).endswith("bfloat16"):
        values = values.float() if hasattr(values, "float") else values.astype("float32")
    return np.asarray(values) if hasattr(values, "__array__") else np.from_dlpack(values)


def maker(name: str, values: Any) -> Callable[[AnyArray], Any]:
    """Return the function that copies an array of NumPy into one of the library and dtype of an array.

    Raises
    ------
    TypeError
        If its library has no function `asarray`.
    """
    if not is_foreign(values):
        return partial(np.array, dtype=np.asarray(values).dtype)
    package = type(values).__module__.partition(".")[0]
    library = sys.modules.get(ARRAY_MODULES.get(package, package))
    if not hasattr(library, "asarray"):
        raise TypeError(f"{name} must be an array of NumPy, PyTorch or JAX, got {type(values).__name__} of {package}")
    return partial(_copied, ARRAY_MODULES.get(package, package), values.dtype)


def _copied(module: str, dtype: Any, array: AnyArray) -> Any:
    """Return an array of NumPy as one of the library with a module."""
    return import_module(module).asarray(array.copy(), dtype=dtype)
