import numpy as np
from numpy.typing import NDArray

from .kernel import Kernel
from .privatize import CodeKernel

class Hashes:
    def __init__(self, key: NDArray[np.uint64], coefficients: NDArray[np.uint64], buckets: int, bytes: int) -> None: ...
    @property
    def key(self) -> tuple[int, int]: ...
    @property
    def bytes(self) -> int: ...
    @property
    def coefficients(self) -> NDArray[np.uint64]: ...
    def buckets(self, rows: NDArray[np.uint8]) -> NDArray[np.uint32]: ...
    def scores(self, table: NDArray[np.float32], rows: NDArray[np.uint8]) -> NDArray[np.float32]: ...
    def search(
        self,
        table: NDArray[np.float32],
        rows: NDArray[np.uint8],
        start: int,
        alphabet: int,
        least: float,
        capacity: int,
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32], int]: ...

class SketchResponse(Kernel):
    def __init__(self, parts: list[Hashes], mechanism: CodeKernel, bytes: int) -> None: ...

def sip_hash(key: NDArray[np.uint64], data: bytes) -> int: ...
def product(a: int, b: int) -> int: ...
def fill_rows(
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
    table: NDArray[np.uint8] | None,
    padded: bool,
    out: NDArray[np.uint8],
) -> None: ...
