"""Interface of the kernels of mechanisms."""

from __future__ import annotations

from typing import Protocol

from .._core.stream import Stream
from .._typing import AnyArray


class Kernel(Protocol):
    """Interface of kernels, compiled or in Python."""

    @property
    def rows(self) -> int:
        """Number of records per block. Blocks share no random words."""

    @property
    def checks(self) -> bool:
        """Whether the kernel checks and clips records: the results of `privatize` and `run` tell that all are valid."""

    @property
    def asks(self) -> bool:
        """Whether the kernel draws what a person is asked: it then has `ask_each`, `encode_each` and `respond_each`."""

    def privatize(self, key: Stream, block: int, x: AnyArray, out: AnyArray, clip: bool = False) -> bool: ...
    def run(self, key: Stream, block: int, x: AnyArray, state: AnyArray, clip: bool = False) -> bool: ...
    def privatize_each(self, keys: AnyArray, x: AnyArray, out: AnyArray) -> bool: ...
