"""Optional dependencies, imported where they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def optional(module: str, extra: str) -> Any:
    """Import a module that only an extra of this package installs.

    Parameters
    ----------
    module, extra : str

    Returns
    -------
    module : module

    Raises
    ------
    ImportError
        If it is not installed; the message names the extra.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ImportError(f'{error.name} is not installed: pip install "ldpfast[{extra}]"') from error
