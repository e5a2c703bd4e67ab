"""Who may send reports and who may read estimates: tokens in a file, and the cookie of the page."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

COOKIE = "ldpfast"
MIN_TOKEN = 16  # characters


@dataclass(frozen=True)
class Tokens:
    """The tokens of a server.

    Attributes
    ----------
    read : tuple of str
        Any of these lets one read estimates.
    write : tuple of str
        Any of these lets one send reports; everybody may if there are none.
    """

    read: tuple[str, ...]
    write: tuple[str, ...] = ()

    @classmethod
    def fresh(cls) -> Self:
        """Return one new token for reading."""
        return cls((secrets.token_urlsafe(24),))

    @classmethod
    def from_file(cls, path: Path) -> Self:
        """Return the tokens of a file with lines such as ``read TOKEN`` or ``write TOKEN``. The file is made if there is none.

        Raises
        ------
        ValueError
            If a line is another one; if a token is short; if there is none for reading.
        """
        if not path.exists():
            _write_new(path, f"read {cls.fresh().read[0]}\n")
        return cls.read_file(path)

    @classmethod
    def read_file(cls, path: Path) -> Self:
        """Return the tokens of a file as `from_file` does, if the file is there.

        Raises
        ------
        OSError, ValueError
            If there is no such file; if it has other lines.
        """
        listed: dict[str, list[str]] = {"read": [], "write": []}
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            kind, *words = line.split()
            if kind not in listed or len(words) != 1 or len(words[0]) < MIN_TOKEN or not words[0].isascii():
                raise ValueError(
                    f"{path}, line {number}, must be `read TOKEN` or `write TOKEN` with at least {MIN_TOKEN} ASCII characters"
                )
            listed[kind] += words
        if not listed["read"]:
            raise ValueError(f"{path} must have a line `read TOKEN`")
        return cls(tuple(listed["read"]), tuple(listed["write"]))

    def may_read(self, authorization: str | None, cookie: str | None) -> bool:
        """Return whether a header or a cookie lets one read."""
        given = _bearer(authorization)
        in_header = given is not None and _is_one_of(given, self.read)
        return in_header or (cookie is not None and _is_one_of(cookie, map(session_of, self.read)))

    def may_write(self, authorization: str | None) -> bool:
        """Return whether a header lets one send reports."""
        if not self.write:
            return True
        given = _bearer(authorization)
        return given is not None and _is_one_of(given, self.write)


def _write_new(path: Path, text: str) -> None:
    """Write a file that only this user can read. Of several processes that do so, the first one wins."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        with suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        os.unlink(temporary)


def session_of(token: str) -> str:
    """Return the cookie that stands for a token."""
    return hmac.new(token.encode(), b"ldpfast session", hashlib.sha256).hexdigest()


def _bearer(authorization: str | None) -> str | None:
    kind, _, token = (authorization or "").partition(" ")
    return token.strip() if kind.lower() == "bearer" and token.strip() else None


def _is_one_of(given: str, tokens: Iterable[str]) -> bool:
    """Compare with all tokens, in a time that does not depend on where they differ."""
    return sum(hmac.compare_digest(given.encode(), token.encode()) for token in tokens) > 0
