from typing import Any

import numpy as np
from numpy.typing import NDArray

from .stream import Stream

class Kernel:
    @property
    def rows(self) -> int: ...
    @property
    def checks(self) -> bool: ...
    @property
    def asks(self) -> bool: ...
    def privatize(
        self, key: Stream | bytes | None, block: int, x: NDArray[Any], out: NDArray[Any], clip: bool = False
    ) -> bool: ...
    def privatize_number(
        self,
        key: Stream | bytes | None,
        block: int,
        x: float,
        item_bytes: int,
        is_code: bool,
        to_code: bool,
        clip: bool = False,
    ) -> int | float | None: ...
    def privatize_each(self, keys: NDArray[np.uint8], x: NDArray[Any], out: NDArray[Any]) -> bool: ...
    def run(
        self, key: Stream | bytes, block: int, x: NDArray[Any], state: NDArray[Any], clip: bool = False
    ) -> bool: ...
