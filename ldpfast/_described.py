"""Objects that are described completely by their class and parameters, and the registry of their classes."""

from __future__ import annotations

from functools import cache
from inspect import isabstract, signature
from typing import Any, ClassVar, Self, TypeVar

from . import _schema
from ._registry import DESCRIBED, load_kind

_classes: dict[str, dict[str, Any]] = {}
Class = TypeVar("Class", bound=type)


class Described:
    """Base class of objects whose parameters say everything that they ask.

    Subclasses are registered by their names, which saved states refer to. The first class of a name is kept,
    unless the same class is defined again.

    """

    _kind: ClassVar[str]
    _chosen: tuple[str, ...] = ()  # parameters that were chosen automatically, of classes with `chooses_again`

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if hasattr(cls, "_kind") and not vars(cls).get("saved_as"):
            known = _classes.setdefault(cls._kind, {}).setdefault(cls.__name__, cls)
            if (known.__module__, known.__qualname__) == (cls.__module__, cls.__qualname__):
                _classes[cls._kind][cls.__name__] = cls  # defined again, as in a notebook

    @classmethod
    def _is_complete(cls) -> bool:
        """Return whether the class has instances, and is not a base class of others."""
        return cls.__init__ is not object.__init__ and not isabstract(cls)

    @classmethod
    def _parameter_names(cls) -> list[str]:
        """Return the names of the parameters, in the order of the constructor."""
        return list(_names_of_arguments(cls))  # type: ignore[arg-type]

    @classmethod
    def _described_names(cls) -> list[str]:
        """Return the names of the parameters in descriptions."""
        return cls._parameter_names()

    @classmethod
    def _omitted_names(cls) -> frozenset[str]:
        """Return the names of the parameters that descriptions leave out where they have their defaults."""
        return frozenset()

    def _parameters(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def _set(self, **values: Any) -> None:
        """Set attributes of a frozen instance, during construction."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _set_chosen(self, **given: Any) -> None:
        """Remember which of some parameters are None, that is, are chosen automatically."""
        self._set(_chosen=tuple(name for name, value in given.items() if value is None))

    @classmethod
    def _from_packed(cls, arguments: dict[str, Any]) -> Self:
        """Return the object with the arguments in a result of `to_dict`."""
        return cls(**{key: _schema.unpack(value) for key, value in arguments.items()})

    def to_dict(self) -> dict[str, Any]:
        """Return the class and its parameters as types that JSON has.

        Returns
        -------
        description : dict

        Raises
        ------
        TypeError
            If a label has no form in JSON.
        """
        given = self._parameters()
        packed = {
            name: given[name].to_dict() if isinstance(given[name], Described) else _schema.pack(given[name])
            for name in self._described_names()
        }
        return {self._kind: type(self).__name__, **packed}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return the object described by `to_dict`.

        Parameters
        ----------
        data : dict
            Result of `to_dict`.

        Returns
        -------
        described : object
            Of this class.

        Raises
        ------
        TypeError, ValueError
            If `data` does not describe an object of this class and version.
        """
        found = from_dict(data, cls._kind)
        if not isinstance(found, cls):
            raise ValueError(f"data must describe a {cls.__name__}, got a {type(found).__name__}")
        return found

    def schema(self) -> dict[str, Any]:
        """Return everything that determines the reports and their meaning.

        Returns
        -------
        schema : dict
            "version" of the schema; "asks", the result of `to_dict`; "coins", the integers that the guarantee is
            computed from; for problems also "mechanism", the mechanism that makes the reports.
        """
        return {"version": _schema.VERSION, "asks": self.to_dict(), **self._pinned()}

    def _pinned(self) -> dict[str, Any]:
        """Return the part of the schema that follows from the parameters in this version of the package."""
        return {}

    @property
    def fingerprint(self) -> str:
        """First 8 bytes of the SHA-256 of the schema as canonical JSON (RFC 8785), as 16 hexadecimal digits.

        Objects with different fingerprints must not share an aggregator. Equal fingerprints by accident are unlikely, but
        can be made on purpose.
        """
        return _schema.digest(self.schema())[:8].hex()


class _Fields:
    """The fields of a dataclass; for an instance, those without the parameters that were chosen for the others."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = fields

    def __get__(self, instance: Any, owner: Any) -> dict[str, Any]:
        if instance is None or not instance._chosen:
            return self.fields
        return {name: found for name, found in self.fields.items() if name not in instance._chosen}


def chooses_again(kind: Class) -> Class:
    """Let ``dataclasses.replace`` choose anew what was chosen automatically: a decorator above that of a dataclass.

    The constructor calls `_set_chosen`. `dataclasses.replace` hands the fields of an instance to the constructor, and what was
    chosen is not among them. Descriptions hold it as any parameter, so that an object that is read from one keeps it.
    """
    kind.__dataclass_fields__ = _Fields(kind.__dataclass_fields__)  # type: ignore[attr-defined]
    return kind


@cache  # for every description needs them, and `signature` takes long
def _names_of_arguments(kind: type) -> tuple[str, ...]:
    """Return the names of the arguments of the constructor of a class."""
    return tuple(name for name in signature(kind.__init__).parameters if name != "self")  # type: ignore[misc]


def from_dict(data: Any, kind: str | None = None) -> Any:
    """Return the object that `Described.to_dict` described.

    Parameters
    ----------
    data : dict
        Result of `to_dict`.
    kind : str, optional
        Kind of the object; the default is any.

    Returns
    -------
    described : Described

    Raises
    ------
    TypeError, ValueError
        If `data` does not describe an object of this version.
    """
    if not isinstance(data, dict):
        raise TypeError(f"data must be a dict, got {type(data).__name__}")
    # A parameter can have the name of a kind, but is a number or a description then.
    kind = kind or next((kind for kind in DESCRIBED if isinstance(data.get(kind), str)), "mechanism")
    classes = classes_of(kind)
    name = data.get(kind)
    if not isinstance(name, str) or name not in classes:
        raise ValueError(f"data must name a {kind}, one of {', '.join(sorted(classes))}, got {name!r}")
    arguments = {key: value for key, value in data.items() if key != kind}
    expected = classes[name]._described_names()
    if not set(expected) - classes[name]._omitted_names() <= set(arguments) <= set(expected):
        raise ValueError(f"data must hold {', '.join(sorted(expected))} for {name}, got {', '.join(sorted(arguments))}")
    return classes[name]._from_packed(arguments)


def classes_of(kind: str) -> dict[str, Any]:
    """Return the classes of a kind that have instances, by their names."""
    load_kind(kind)
    return {name: found for name, found in _classes[kind].items() if found._is_complete()}


def made_again(kind: Any, parameters: dict[str, Any], chosen: tuple[str, ...] = ()) -> Any:
    """Return the object with these parameters, some of which were chosen automatically, when it is unpickled."""
    made = kind(**parameters)
    if chosen:
        made._set(_chosen=chosen)
    return made
