"""Registry of mechanisms by name, for the construction of objects from descriptions and saved states."""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import Any

from ..reports import Aggregator, Format, set_reader

_classes: dict[str, Any] = {}


def register(mechanism: Any) -> None:
    """Register a class of mechanisms under its name. The first class of a name is kept: stored bytes refer to it."""
    _classes.setdefault(mechanism.__name__, mechanism)


def from_dict(description: Any) -> Any:
    """Return the mechanism described by `Mechanism.to_dict`.

    Parameters
    ----------
    description : dict
        Result of `Mechanism.to_dict`.

    Returns
    -------
    mechanism : Mechanism

    Raises
    ------
    TypeError, ValueError
        If `description` does not describe a mechanism of this version.
    """
    if not isinstance(description, dict):
        raise TypeError(f"data must be a dict, got {type(description).__name__}")
    classes: dict[str, Any] = {name: found for name, found in _classes.items() if is_dataclass(found)}
    name = description.get("mechanism")
    if not isinstance(name, str) or name not in classes:
        raise ValueError(f"data must name a mechanism, one of {', '.join(sorted(classes))}, got {name!r}")
    arguments = {key: value for key, value in description.items() if key != "mechanism"}
    expected = set(classes[name].parameter_names())
    if set(arguments) != expected:
        raise ValueError(f"data must hold {', '.join(sorted(expected))} for {name}, got {', '.join(sorted(arguments))}")
    return classes[name](**arguments)


def _read(description: dict[str, Any]) -> tuple[Any, Format]:
    mechanism = from_dict(description)
    report: Format = mechanism.report
    return mechanism.aggregator, report


set_reader(_read)

__all__ = ["Aggregator", "from_dict", "register"]
