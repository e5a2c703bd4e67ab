"""Schemas: JSON that says what is asked and how it is privatized, and its fingerprint.

The JSON is canonical (RFC 8785), so that equal schemas have equal bytes in every language. Integers beyond 2^53, which
JSON numbers cannot hold exactly, are hexadecimal strings.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import fields
from datetime import date, datetime
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any

import numpy as np

VERSION = 1  # goes up when the same description gets other coins, streams or reports
MAX_EXACT = 1 << 53
_ABSENT = "nothing"


# Canonical JSON -------------------------------------------------------------------------------------------------------


def canonical_json(value: Any) -> bytes:
    """Return a value as canonical JSON.

    Parameters
    ----------
    value : dict, list, str, int, float, bool or None
        Of such values.

    Returns
    -------
    text : bytes
        UTF-8, with sorted keys and without spaces.

    Raises
    ------
    TypeError, ValueError
        If a value has another type, or a number is not finite.
    """
    try:
        return _text(value).encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"a schema must hold valid Unicode text, got {error.object!r}") from error


def _text(value: Any) -> str:
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, dict):
        keys = sorted(value, key=None if all(map(str.isascii, value)) else _utf_16)
        return "{" + ",".join(f"{_text(key)}:{_text(value[key])}" for key in keys) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_text, value)) + "]"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value) if abs(value) <= MAX_EXACT else f'"{value:#x}"'
    if isinstance(value, float):
        return _number(value)
    raise TypeError(f"a schema must hold strings, numbers, booleans, lists and dicts, got {type(value).__name__}")


def _utf_16(key: str) -> bytes:
    """Return the code units of a key, whose order is that of keys. ASCII texts have it, too."""
    return key.encode("utf-16-be")


def _number(value: float) -> str:
    """Return a double with the fewest digits, in the format of ECMAScript."""
    if not math.isfinite(value):
        raise ValueError(f"a schema must hold finite numbers, got {value!r}")
    if value == 0:
        return "0"
    shortest = float.__repr__(value)  # a subclass can have another text
    if "e" not in shortest:  # the formats differ in exponents and in integers only
        return shortest.removesuffix(".0")
    sign, digits, exponent = Decimal(shortest).as_tuple()
    text, minus = "".join(map(str, digits)).rstrip("0"), "-" * sign
    point = len(digits) + int(exponent)  # the value is 0.text times 10^point
    if len(text) <= point <= 21:
        return minus + text + "0" * (point - len(text))
    if 0 < point <= 21:
        return f"{minus}{text[:point]}.{text[point:]}"
    if -6 < point <= 0:
        return f"{minus}0.{'0' * -point}{text}"
    fraction = f".{text[1:]}" if len(text) > 1 else ""
    return f"{minus}{text[0]}{fraction}e{point - 1:+d}"


def read_json(text: bytes) -> Any:
    """Return the value that `canonical_json` wrote. Integers beyond 2^53 were floats.

    Raises
    ------
    ValueError
        If the text is not JSON, or is nested more deeply than Python can read.
    """

    def number(digits: str) -> int | float:
        return int(digits) if len(digits) < 18 and abs(int(digits)) <= MAX_EXACT else float(digits)

    try:
        return json.loads(text, parse_int=number)
    except RecursionError:
        raise ValueError("JSON must be nested less deeply") from None


def read_integer(value: Any) -> int:
    """Return an integer that `canonical_json` wrote."""
    if isinstance(value, str) and value.startswith("0x"):
        return int(value, 16)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"an integer must be a number or hexadecimal text, got {value!r}")
    return value


def digest(value: Any) -> bytes:
    """Return the SHA-256 of the canonical JSON of a schema, or of a part of it."""
    return hashlib.sha256(canonical_json(value)).digest()


# Values ---------------------------------------------------------------------------------------------------------------

_READERS: dict[str, Any] = {
    "integer": lambda text: int(text, 16),
    "tuple": lambda items: tuple(map(unpack, items)),
    "bytes": bytes.fromhex,
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
    "decimal": Decimal,
    "float": lambda number: _whole_float(number),
}


def _whole_float(number: Any) -> float:
    """Return a number of JSON without a fraction as a float."""
    if not isinstance(number, int | float) or isinstance(number, bool):
        raise ValueError("a float must be a number")
    return float(number)


def pack_group(value: Any) -> Any:
    """Return the value of a group of people as JSON types, so that `unpack` gives a value of the same type.

    JSON has no types of numbers: the float 1.0 is a dict of its type and number, as other values are.

    Raises
    ------
    TypeError
        If a value has no form in JSON.
    """
    if isinstance(value, tuple):
        return [{"tuple": pack_group(part)} if isinstance(part, tuple) else pack_group(part) for part in value]
    packed = pack(value)
    return {"float": packed} if isinstance(value, float) and value.is_integer() else packed


def pack(value: Any) -> Any:
    """Return a parameter as JSON types. Labels that JSON does not have are dicts of their type and text.

    Raises
    ------
    TypeError
        If a value has no form in JSON.
    """
    packed = _pack(value)
    if not isinstance(value, np.ndarray | list | tuple):
        try:
            same = unpack(packed) == value and _is_json(packed)
        except ValueError:
            same = False
        if not same:
            raise TypeError(f"parameters and labels must be equal to what is read back to be saved, got {value!r}")
    return packed


def _is_json(packed: Any) -> bool:
    """Return whether JSON has a packed number or text: finite numbers and valid Unicode. Raise ValueError for others."""
    if isinstance(packed, str):
        packed.encode()
    return not isinstance(packed, float) or math.isfinite(packed)


def _pack(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray) and value.dtype.kind not in "mM":
        value = value.tolist()
    if isinstance(value, int) and abs(value) > MAX_EXACT:
        return {"integer": f"{value:#x}"}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [{"tuple": pack(item)} if isinstance(item, tuple) else pack(item) for item in value]
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, datetime):
        return {"datetime": value.isoformat()}
    if isinstance(value, date):
        return {"date": value.isoformat()}
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    raise TypeError(
        f"parameters and labels must be text, numbers, booleans, bytes, dates or sequences of these to be saved, "
        f"got {type(value).__name__}"
    )


def unpack(value: Any) -> Any:
    """Return the parameter that `pack` turned into JSON types. A sequence is a tuple."""
    if isinstance(value, list):
        return tuple(unpack(item) for item in value)
    if isinstance(value, dict):
        kind, text = next(iter(value.items())) if len(value) == 1 else (None, None)
        if kind not in _READERS:
            raise ValueError(f"a label must be of a known type, one of {', '.join(_READERS)}, got {kind!r}")
        try:
            return _READERS[kind](text)
        except (ArithmeticError, TypeError, ValueError) as error:
            raise ValueError(f"a label of type {kind} must be valid, got {text!r}") from error
    return value


def integers(coin: Any) -> dict[str, Any]:
    """Return the integers of a dataclass of coins. Tables are replaced by their SHA-256."""
    values = {f.name: getattr(coin, f.name) for f in fields(coin)}
    return {
        name: digest(value).hex() if isinstance(value, tuple) else value
        for name, value in values.items()
        if isinstance(value, int | tuple)
    }


# Differences ----------------------------------------------------------------------------------------------------------


def first_difference(ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    """Return the first difference of two schemas, as "NAME is OURS, got THEIRS", or no text if there is none."""
    for path, one, other in _differences(ours, theirs, ""):
        return f"{path.removeprefix('asks.')} is {_shown(one)}, got {_shown(other)}"
    return ""


def _differences(one: Any, other: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in [*one, *(key for key in other if key not in one)]:
            inner = f"{path}.{key}" if path else key
            yield from _differences(one.get(key, _ABSENT), other.get(key, _ABSENT), inner)
    elif isinstance(one, list) and isinstance(other, list):
        for i in range(max(len(one), len(other))):
            ours, theirs = (items[i] if i < len(items) else _ABSENT for items in (one, other))
            yield from _differences(ours, theirs, f"{path}[{i}]")
    elif _text(one) != _text(other):
        yield path, one, other


def _shown(value: Any) -> str:
    return value if value is _ABSENT else _text(value)
