"""Packages that only an extra installs: imported where they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def axes(ax: Any) -> Any:
    """The axes that were given, or those of a new figure; the extra "plot" has to be installed."""
    return optional("matplotlib.figure", "plot").Figure(layout="constrained").add_subplot() if ax is None else ax


def optional(module: str, extra: str) -> Any:
    """A module that only an extra of this package installs.

    Parameters
    ----------
    module, extra : str

    Returns
    -------
    module : module

    Raises
    ------
    ImportError
        If it is absent; the message names the extra.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ImportError(f'{error.name} is not installed: pip install "ldpfast[{extra}]"') from error
