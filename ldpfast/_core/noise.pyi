from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .stream import Stream

def isa() -> str: ...
def isas() -> list[str]: ...
def set_isa(name: str) -> None: ...

class Kernel:
    rows: int
    def handle(self) -> object: ...
    def privatize(self, key: Stream | bytes, block: int, x: NDArray[Any], out: NDArray[Any]) -> None: ...
    def run(self, key: Stream | bytes, block: int, x: NDArray[Any], state: NDArray[Any]) -> None: ...

class Laplace(Kernel):
    def __init__(
        self,
        dim: int,
        lower: float,
        grid: float,
        span: int,
        l1_limit: int,
        radius: float,
        digits: Sequence[int],
        carry: int,
        use: str,
    ) -> None: ...

def gaussian(key: Stream | bytes, block: int, variance: int, out: NDArray[np.int64]) -> None: ...
