"""Interface of the kernels of mechanisms."""

from __future__ import annotations

from typing import Any, Protocol

from .._core.stream import Stream
from .._person_keys import QuestionKeys, no_value, value_fields
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


def answer_asked(kernel: Any, keys: QuestionKeys, start: int, records: AnyArray, reports: AnyArray) -> None:
    """Write the reports of consecutive persons from number `start` on, with a kernel that draws what a person is asked.

    What a person is asked has coins of the person, and the answer has coins of what was asked and of the true answer to it. So
    an answer that the person was not asked for changes nothing.
    """
    kernel.ask_each(keys.derive(start, no_value(len(records))), reports)
    kernel.encode_each(records, reports)
    kernel.respond_each(keys.derive(start, value_fields(reports)), reports)
