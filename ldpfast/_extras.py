"""Import of optional dependencies."""

from __future__ import annotations

import shlex
from importlib import import_module
from typing import Any

# What the extras of pyproject.toml install.
PACKAGES = {
    "dask": ("dask[dataframe,distributed]", "pyarrow"),
    "spark": ("pyspark", "pyarrow", "pandas"),
    "flower": ("flwr",),
    "nvflare": ("nvflare",),
    "files": ("pyarrow", "rich"),
    "plot": ("matplotlib",),
    "sklearn": ("scikit-learn",),
    "frames": ("pandas",),
    "publish": ("openpyxl",),
    "analysis": ("formulaic", "pandas"),
    "server": ("starlette", "uvicorn[standard]", "sqlalchemy", "prometheus-client", "matplotlib"),
    "demo": ("statsmodels", "matplotlib", "rich"),
}


def command(extra: str) -> str:
    """Return the command that installs the packages of an extra, which works for any installation of this package."""
    return f"pip install {' '.join(map(shlex.quote, PACKAGES[extra]))}"


def optional(module: str, extra: str) -> Any:
    """Import a module that an extra of this package installs.

    Parameters
    ----------
    module : str
        Dotted name of the module.
    extra : str
        Extra of this package that installs it.

    Returns
    -------
    module : module

    Raises
    ------
    ImportError
        If the module is not installed. The message has the command that installs the packages of the extra.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ImportError(f"{error.name} is not installed: run {command(extra)}") from error


def base_class(module: str, name: str) -> Any:
    """Return a class of an optional dependency to derive from, or `object` if it is not installed.

    For components that a framework makes: without it, they can be imported, documented and made, but not used.
    """
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError:
        return object
