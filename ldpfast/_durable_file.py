"""Files that are replaced as a whole after their content has reached the disk, by one process at a time."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Keep other processes that call this from a folder; on Windows nothing is locked.

    The lock is on the folder, because the files in it are replaced.
    """
    if fcntl is None:
        yield
        return
    directory = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(directory, fcntl.LOCK_EX)
        yield
    finally:
        fcntl.flock(directory, fcntl.LOCK_UN)  # a process that was forked meanwhile shares the lock
        os.close(directory)


def replace_text(path: Path, text: str) -> None:
    """Replace the content of a file, which only its owner can read, at once and after it has reached the disk."""
    temporary = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    if fcntl is None:  # Windows does not open folders
        return
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
