"""Values of options, files that are written at once, and the console."""

from __future__ import annotations

import argparse
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from .. import _check
from .._extras import optional
from ..files import STDIN, status_of


def count(text: str) -> int:
    """Return a whole number, which can be written like 1e6."""
    try:
        value = int(text) if text.lstrip("+-").isdigit() else float(text)
        if value != int(value):
            raise ValueError
    except (OverflowError, ValueError):
        raise argparse.ArgumentTypeError(f"must be a whole number, such as 20000 or 1e6, got {text!r}") from None
    return int(value)


def generator(seed: int | None) -> np.random.Generator | None:
    """Return a generator for the seed, or None for fresh keys from the operating system."""
    return None if seed is None else np.random.default_rng(_check.integer("--seed", seed, 0))


def output_file(option: str, path: Path, inputs: Iterable[str | Path] = ()) -> Path:
    """Return the file that an option names, after symbolic links, if it can be written and is none of the inputs."""
    if str(path) == STDIN:
        raise ValueError(f"{option} must be the name of a file, got {STDIN!r}")
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise ValueError(f"{option} must be in an existing directory, got {str(path)!r}")
    status = status_of(path)  # a link to a pipe, such as /dev/stdout, has no path
    if status is None:
        return target
    if not stat.S_ISREG(status.st_mode):
        raise ValueError(f"{option} must be a regular file, not a directory, a device or a pipe, got {str(path)!r}")
    if not os.access(target, os.W_OK):
        raise ValueError(f"{option} must be a file that can be written, got {str(path)!r}")
    for name in inputs:
        other = status_of(name)
        if other is not None and os.path.samestat(status, other):
            raise ValueError(f"{option} must be another file than the input {str(name)!r}, got {str(path)!r}")
    return target


@contextmanager
def replaced(path: Path, inputs: Iterable[str | Path], option: str = "--output") -> Iterator[Path]:
    """Yield the name of a temporary file beside a file. It replaces the file if no error was raised.

    A file that exists keeps its permissions and its owner.
    """
    target = output_file(option, path, inputs)
    temporary = target.with_name(f".ldpfast-{secrets.token_hex(8)}")
    try:  # before the file exists: a signal can come at any time
        try:
            os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except OSError as error:
            raise ValueError(
                f"{option} must be a file that can be written, got {str(path)!r}: {error.strerror}"
            ) from None
        yield temporary
        status = status_of(target)
        if status is not None:
            if hasattr(os, "chown"):
                with suppress(PermissionError):
                    os.chown(temporary, status.st_uid, status.st_gid)
            temporary.chmod(stat.S_IMODE(status.st_mode))
        else:
            mask = os.umask(0)
            os.umask(mask)
            temporary.chmod(0o666 & ~mask)
        temporary.replace(target)
    finally:
        with suppress(OSError):  # of a directory in which no file can be made
            temporary.unlink(missing_ok=True)


def console(extra: str, **options: Any) -> Any:
    """Return a console of rich for the results. If nobody reads them, it raises BrokenPipeError as `print` does."""

    def broken() -> (
        None
    ):  # rich calls it while it handles the error; its own function ends the process without a message
        raise

    result = optional("rich.console", extra).Console(**options)
    result.on_broken_pipe = broken
    return result
