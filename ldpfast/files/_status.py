"""Identity of files: regular files, links, copies, and the standard input."""

from __future__ import annotations

import filecmp
import hashlib
import io
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

STDIN = "-"
SAMPLE_BYTES = 1 << 12  # at each end of a file, compared before all bytes are


def require_regular(path: Path) -> None:
    """Raise ValueError if a path names a directory, a device or a pipe, which may wait forever for a writer."""
    if path.exists() and not path.is_file():
        raise ValueError(f"path must be a regular file, got {str(path)!r}")


def status_of(path: str | Path) -> os.stat_result | None:
    """Return the status of a file, or of the standard input for "-"; None if there is no such file."""
    try:
        return os.fstat(sys.stdin.fileno()) if str(path) == STDIN else os.stat(path)
    except (AttributeError, FileNotFoundError, io.UnsupportedOperation):  # the standard input may be closed, or no file
        return None


def duplicates(paths: Sequence[str | Path]) -> Iterator[tuple[str | Path, str | Path, bool]]:
    """Yield each file that is there before, the name that it had, and whether it is the same file and not a copy.

    Files of one size whose ends are equal are compared byte by byte.
    """
    names: dict[tuple[int, int], str | Path] = {}
    alike: dict[tuple[int, bytes], list[str | Path]] = {}
    for path in paths:
        status = status_of(path)
        if status is None:
            continue
        identity = status.st_dev, status.st_ino
        if identity in names:
            yield path, names[identity], True
            continue
        names[identity] = path
        if str(path) == STDIN:
            continue
        others = alike.setdefault((status.st_size, _ends(Path(path), status.st_size)), [])
        for other in others:
            if filecmp.cmp(path, other, shallow=False):
                yield path, other, False
                break
        others.append(path)


def _ends(path: Path, size: int) -> bytes:
    """Return the hash of the first and last bytes of a file."""
    with path.open("rb") as file:
        first = file.read(SAMPLE_BYTES)
        file.seek(max(0, size - SAMPLE_BYTES))
        return hashlib.sha256(first + file.read(SAMPLE_BYTES)).digest()
