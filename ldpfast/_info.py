"""Version, instruction sets and number of threads."""

from __future__ import annotations

from typing import TypedDict

from . import _core, _threads
from ._version import __version__


class Info(TypedDict):
    """Return value of `info`."""

    version: str
    isa: str
    isas: list[str]
    aes: str
    threads: int


def info() -> Info:
    """Return the version, the instruction set in use, the available instruction sets and the number of threads.

    Returns
    -------
    info : dict
        With the keys ``version``, ``isa``, ``isas``, ``aes`` (implementation of the generator), ``threads``.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> ldp.info()["version"] == ldp.__version__
    True
    """
    return {
        "version": __version__,
        "isa": _core.isa(),
        "isas": _core.isas(),
        "aes": _core.aes_form(),
        "threads": _threads.get_num_threads(),
    }
