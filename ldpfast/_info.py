"""What is running: version, instruction set, threads."""

from __future__ import annotations

from typing import TypedDict

from . import _core, _threads
from ._version import __version__


class Info(TypedDict):
    version: str
    isa: str
    isas: list[str]
    threads: int


def info() -> Info:
    """Version, instruction set in use, the sets that this machine has, and number of threads.

    Returns
    -------
    info : dict
        With the keys ``version``, ``isa``, ``isas``, ``threads``.
    """
    return {
        "version": __version__,
        "isa": _core.isa(),
        "isas": _core.isas(),
        "threads": _threads.get_num_threads(),
    }
