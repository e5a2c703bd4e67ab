"""Import of optional dependencies."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# What the extras of pyproject.toml install.
PACKAGES = {
    "dask": "dask[dataframe,distributed] and pyarrow",
    "spark": "pyspark, pyarrow and pandas",
    "files": "pyarrow and rich",
    "plot": "matplotlib",
    "sklearn": "scikit-learn",
    "frames": "pandas",
    "analysis": "formulaic and pandas",
    "server": "starlette, uvicorn[standard], sqlalchemy, prometheus-client and matplotlib",
    "demo": "statsmodels, matplotlib and rich",
}


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
        If the module is not installed. The message names the extra and its packages.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        command = f"pip install 'ldpfast[{extra}]'"
        raise ImportError(f"{error.name} is not installed: install {PACKAGES[extra]}, or {command}") from error
