from typing import Any

from numpy.typing import NDArray

from .stream import Stream

class Kernel:
    @property
    def rows(self) -> int: ...
    def privatize(self, key: Stream | bytes, block: int, x: NDArray[Any], out: NDArray[Any]) -> None: ...
    def run(self, key: Stream | bytes, block: int, x: NDArray[Any], state: NDArray[Any]) -> None: ...
