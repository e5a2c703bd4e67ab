"""Mechanisms by name: how descriptions and saved states become objects."""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import Any

from ..reports import Aggregator, Format, set_reader

_classes: dict[str, Any] = {}


def register(mechanism: Any) -> None:
    """Enter a class of mechanisms under its name. A name that is taken keeps its meaning in stored bytes."""
    _classes.setdefault(mechanism.__name__, mechanism)


def from_dict(described: Any) -> Any:
    """The mechanism that `Mechanism.to_dict` described.

    Parameters
    ----------
    described : dict

    Returns
    -------
    mechanism : Mechanism

    Raises
    ------
    TypeError, ValueError
        If it does not describe a mechanism of this version.
    """
    if not isinstance(described, dict):
        raise TypeError(f"data must be a dict, got {type(described).__name__}")
    classes: dict[str, Any] = {name: found for name, found in _classes.items() if is_dataclass(found)}
    name = described.get("mechanism")
    if not isinstance(name, str) or name not in classes:
        raise ValueError(f"data must name a mechanism, one of {', '.join(sorted(classes))}, got {name!r}")
    arguments = {key: value for key, value in described.items() if key != "mechanism"}
    expected = set(classes[name].parameter_names())
    if set(arguments) != expected:
        raise ValueError(f"data must hold {', '.join(sorted(expected))} for {name}, got {', '.join(sorted(arguments))}")
    return classes[name](**arguments)


def _read(described: dict[str, Any]) -> tuple[Any, Format]:
    mechanism = from_dict(described)
    report: Format = mechanism.report
    return mechanism.aggregator, report


set_reader(_read)

__all__ = ["Aggregator", "from_dict", "register"]
