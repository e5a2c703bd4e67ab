from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .kernel import Kernel
from .stream import Stream

class QuantileState:
    def __init__(
        self,
        position: float,
        count: float = 0,
        origin: float | None = None,
        moments: Sequence[float] = ...,
        ones: Sequence[float] = ...,
    ) -> None: ...
    @property
    def position(self) -> float: ...
    @property
    def count(self) -> int: ...
    @property
    def origin(self) -> float: ...
    @property
    def moments(self) -> tuple[float, ...]: ...
    @property
    def ones(self) -> tuple[float, ...]: ...
    def open_segment(self) -> None: ...

class MedianSGD:
    def __init__(
        self, lower: float, upper: float, up: float, down: float, keep: int, bits: int, any_time: bool
    ) -> None: ...
    def position(self, number: float) -> float: ...
    def run(
        self, key: Stream, block: int, x: NDArray[np.float32] | NDArray[np.float64], state: QuantileState
    ) -> bool: ...
    def answer(self, bit: bool, state: QuantileState) -> None: ...

class GradientDescent:
    @property
    def rows(self) -> int: ...
    def __init__(
        self,
        features: int,
        radius: float,
        column: float,
        residual: float,
        projection: float,
        family: int,
        max_norm: bool,
        kernel: Kernel,
        scale: float,
    ) -> None: ...
    @property
    def padded(self) -> int: ...
    def gradients(
        self,
        position: NDArray[np.float64],
        x: NDArray[np.float32] | NDArray[np.float64],
        y: NDArray[np.float64],
        out: NDArray[np.float32],
    ) -> None: ...
    def step(
        self,
        report: NDArray[np.float64],
        rate: float,
        size: float,
        position: NDArray[np.float64],
        sums: NDArray[np.float64],
        matrix: NDArray[np.float64] | None = None,
    ) -> None: ...
    def run(
        self,
        key: Stream,
        block: int,
        x: NDArray[np.float32] | NDArray[np.float64],
        y: NDArray[np.float64],
        order: NDArray[np.int64] | None,
        rates: NDArray[np.float64],
        size: float,
        position: NDArray[np.float64],
        sums: NDArray[np.float64],
        matrix: NDArray[np.float64] | None = None,
    ) -> None: ...
