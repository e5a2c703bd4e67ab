"""YAML of mappings, lists, texts and numbers, for files that others read. Nothing here reads YAML."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

INDENT = "  "
BREAKS = "\x85\u2028\u2029"  # line ends of YAML 1.1 that Python can print, or not


def dump_yaml(data: Mapping[str, Any]) -> str:
    """Return a mapping as YAML, in blocks.

    Texts with several lines are literal blocks, others are in double quotes; names of fields are written as they are, and so
    are texts of lower-case letters, digits and hyphens that start with a letter.

    Parameters
    ----------
    data : mapping of str to object
        Values are texts, numbers, mappings, and lists of texts or of mappings. Empty ones are written as such.
    """
    return "".join(f"{line}\n" for line in _lines(data, ""))


def _lines(data: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, value in data.items():
        if isinstance(value, Mapping) and value:
            yield f"{indent}{name}:"
            yield from _lines(value, indent + INDENT)
        elif isinstance(value, Sequence) and not isinstance(value, str) and value:
            yield f"{indent}{name}:"
            for item in value:
                inner = f"{indent}{INDENT}{INDENT}"
                lines = [f"{inner}{_quoted(item)}"] if isinstance(item, str) else list(_lines(item, inner))
                yield f"{indent}{INDENT}- {lines[0].lstrip()}"
                yield from lines[1:]
        elif isinstance(value, str) and _is_block(value):
            yield f"{indent}{name}: |{'' if value.endswith(chr(10)) else '-'}"
            yield from (f"{indent}{INDENT}{line}" if line else "" for line in value.removesuffix("\n").split("\n"))
        else:
            yield f"{indent}{name}: {_scalar(value)}"


def _is_block(text: str) -> bool:
    """Return whether a text can be a literal block: several lines of printable characters, none of those at its ends empty."""
    lines = text.removesuffix("\n").split("\n")
    return (
        len(lines) > 1 and all(map(str.isprintable, lines)) and lines[0].strip() == lines[0] != "" != lines[-1].strip()
    )


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        is_plain = value[:1].isalpha() and value.replace("-", "a").isalnum() and value.islower() and "-" in value
        return value if is_plain and value.isascii() else _quoted(value)
    if isinstance(value, Mapping):
        return "{}"
    if isinstance(value, Sequence):
        return "[]"
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"value must be finite, got {value!r}")
    text = json.dumps(value)
    # Readers of YAML 1.1 take a number without a point for a text.
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa}.0e{exponent}" if e and "." not in mantissa else text


def _quoted(text: str) -> str:
    """Return a text in double quotes, with escapes that JSON and YAML share or that YAML alone has."""
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(c if c.isprintable() and c not in BREAKS else _escape(c) for c in quoted)


def _escape(character: str) -> str:
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
