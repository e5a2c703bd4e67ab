"""Values of options, and files that are written at once."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from .. import _check


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


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """Yield the name of a temporary file beside a file. It replaces the file if no error was raised."""
    if not path.resolve().parent.is_dir():
        raise ValueError(f"--output must be in an existing directory, got {str(path)!r}")
    handle, name = tempfile.mkstemp(dir=path.resolve().parent, prefix=f".{path.name}.")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
