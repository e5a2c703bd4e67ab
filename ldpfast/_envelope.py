"""Bytes of saved states: a magic number, a header in JSON, a payload, and a checksum.

The checksum detects accidental damage, not forgery.
"""

from __future__ import annotations

import hashlib
import struct
from typing import Any

from ._schema import canonical_json, read_json

_PREFIX = struct.Struct("<8sQ")  # magic number, whose last byte is the version of the layout; length of the header
_DIGEST_BYTES = 16


def seal(magic: bytes, header: dict[str, Any], payload: bytes) -> bytes:
    """Return the bytes of a saved state.

    Parameters
    ----------
    magic : bytes
        Eight bytes; the last is the version of the layout.
    header : dict
        Description of the state, of types that JSON has.
    payload : bytes
        The state itself.

    Returns
    -------
    data : bytes
        Equal states give equal bytes.
    """
    text = canonical_json(header)
    body = _PREFIX.pack(magic, len(text)) + text + payload
    return body + _digest(body)


def unseal(magic: bytes, what: str, data: bytes, *others: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the header and payload of bytes that `seal` returned.

    Parameters
    ----------
    magic : bytes
        The eight bytes that `data` must start with.
    what : str
        Name of the object in error messages, such as "an aggregator".
    data : bytes
        The saved state.
    *others : bytes
        What `data` may start with as well: other versions of the layout.

    Returns
    -------
    header : dict
    payload : bytes

    Raises
    ------
    TypeError, ValueError
        If `data` is not bytes; if it is damaged, of another object, or of another version.
    """
    whole = as_bytes(data)
    if whole[:7] != magic[:7]:
        raise ValueError(f"data must be the bytes of {what}: the magic number is wrong")
    if whole[:8] not in (magic, *others):
        versions = " or ".join(str(one[7]) for one in (magic, *others))
        raise ValueError(f"data must be of layout version {versions}, got {whole[7] if len(whole) > 7 else 'nothing'}")
    body, digest = whole[:-_DIGEST_BYTES], whole[-_DIGEST_BYTES:]
    if len(body) < _PREFIX.size or _digest(body) != digest:
        raise ValueError(f"data must be the bytes of {what}: they are damaged or cut off")
    start = _PREFIX.size + _PREFIX.unpack_from(body)[1]
    try:
        header = read_json(body[_PREFIX.size : start])
    except (RecursionError, ValueError) as error:
        raise ValueError(f"data must be the bytes of {what}: {error}") from error
    if not isinstance(header, dict):
        raise ValueError(f"data must be the bytes of {what}: the header is not an object")
    return header, body[start:]


def as_bytes(data: Any) -> bytes:
    """Return the bytes of a bytes-like object."""
    if not isinstance(data, bytes | bytearray | memoryview):
        raise TypeError(f"data must be bytes, got {type(data).__name__}")
    return bytes(data)


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_DIGEST_BYTES).digest()
