from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .kernel import Kernel

class _Coin(Protocol):
    @property
    def k(self) -> int: ...
    @property
    def bits(self) -> int: ...
    @property
    def keep(self) -> int: ...
    @property
    def words_per_symbol(self) -> int: ...
    @property
    def reciprocal(self) -> int: ...
    @property
    def shift(self) -> int: ...

class _WindowCoin(Protocol):
    @property
    def steps(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def outputs(self) -> int: ...
    @property
    def each(self) -> int: ...
    @property
    def per(self) -> int: ...
    @property
    def heads(self) -> int: ...
    @property
    def tails(self) -> int: ...
    @property
    def fraction_bits(self) -> int: ...
    @property
    def per_division(self) -> tuple[int, int]: ...
    @property
    def each_division(self) -> tuple[int, int]: ...

class _RankedSignsCoin(Protocol):
    @property
    def weights(self) -> tuple[int, ...]: ...
    @property
    def least(self) -> int: ...
    @property
    def heads(self) -> int: ...

class _GeometricCoins(Protocol):
    @property
    def digits(self) -> int: ...
    @property
    def groups(self) -> Sequence[Sequence[int]]: ...
    @property
    def carry(self) -> int: ...
    def tables(self) -> Sequence[tuple[Sequence[int], Sequence[int]]]: ...

class CodeKernel(Kernel): ...

class RandomizedResponse(CodeKernel):
    def __init__(self, coin: _Coin) -> None: ...

class WholeSets(CodeKernel):
    def __init__(self, coin: _Coin, k: int, own: int, optional: bool) -> None: ...

class Warner(RandomizedResponse):
    def __init__(self, coin: _Coin) -> None: ...

class SetCodes(CodeKernel): ...

class HadamardResponse(SetCodes):
    def __init__(self, k: int, codes: int, heads: int, bits: int) -> None: ...

class ProjectiveResponse(SetCodes):
    def __init__(
        self,
        k: int,
        order: int,
        length: int,
        heads: int,
        tables: tuple[Sequence[Sequence[int]], Sequence[Sequence[int]]] | None = None,
    ) -> None: ...
    def reports(
        self,
        points: NDArray[np.uint32],
        products: NDArray[np.uint8],
        draws: NDArray[np.uint32],
        out: NDArray[np.uint32],
    ) -> None: ...

class FloatCodes(CodeKernel): ...

class Residue(FloatCodes):
    def __init__(self, width: float, offset: float, coin: _Coin) -> None: ...

class Bins(FloatCodes):
    def __init__(self, cuts: Sequence[float], coin: _Coin) -> None: ...

class SignBit(FloatCodes):
    def __init__(self, lower: float, upper: float, heads: int, bits: int) -> None: ...

class Window(FloatCodes):
    def __init__(
        self,
        lower: float,
        upper: float,
        coin: _WindowCoin,
        shift: int = 0,
        segments: Sequence[tuple[int, int, int]] = (),
    ) -> None: ...

class BitKernel(Kernel): ...

class UnaryEncoding(BitKernel):
    def __init__(self, k: int, other: int, optimized: bool) -> None: ...

class SubsetSelection(BitKernel):
    def __init__(self, k: int, size: int, heads: int, density: int) -> None: ...

class SetSelection(BitKernel):
    def __init__(
        self, positions: int, own: int, size: int, threshold: int, heads: int, up_to: Sequence[int], density: int
    ) -> None: ...

class SetPosition(CodeKernel):
    def __init__(self, positions: int, own: int, heads: int) -> None: ...

class ViewResponse(Kernel):
    def __init__(
        self,
        answers: Sequence[int],
        plain: int,
        flip: int,
        share: int,
        number: Sequence[int],
        direct: Sequence[Sequence[int]],
        direct_flip: int,
    ) -> None: ...
    @property
    def asks(self) -> bool: ...
    def ask_each(self, keys: NDArray[np.uint8], out: NDArray[np.uint8]) -> None: ...
    def encode_each(self, x: NDArray[np.uint16], out: NDArray[np.uint8]) -> None: ...
    def respond_each(self, keys: NDArray[np.uint8], out: NDArray[np.uint8]) -> None: ...

class LinfBall(BitKernel):
    def __init__(self, dim: int, radius: float, heads: int, keep_tie: int) -> None: ...

class CapCube(BitKernel):
    def __init__(self, dim: int, radius: float, heads: int, threshold: int, up_to: Sequence[int]) -> None: ...

class SampledCube(Kernel):
    def __init__(
        self, dim: int, sampled: int, radius: float, heads: int, threshold: int, up_to: Sequence[int]
    ) -> None: ...

class SetCapCube(BitKernel):
    def __init__(self, k: int, own: int, dim: int, heads: int, threshold: int, up_to: Sequence[int]) -> None: ...

class SetCube(Kernel):
    def __init__(
        self, k: int, own: int, dim: int, sampled: int, heads: int, threshold: int, up_to: Sequence[int]
    ) -> None: ...

class Series(BitKernel):
    def __init__(self, terms: int, lower: float, upper: float, heads: int) -> None: ...

class L2Ball(Kernel):
    def __init__(self, dim: int, radius: float, scale: float, heads: int) -> None: ...

class RankCodebook(Kernel):
    def __init__(self, dim: int, radius: float, scale: float, heads: int, vectors: int, top: int) -> None: ...

class RankedSigns(Kernel):
    def __init__(
        self, dim: int, radius: float, unit: float, bound: float, coin: _RankedSignsCoin, limits: NDArray[np.uint64]
    ) -> None: ...

class Laplace(Kernel):
    def __init__(
        self,
        dim: int,
        lower: float,
        upper: float,
        grid: float,
        span: int,
        l1_limit: int,
        radius: float,
        coins: _GeometricCoins,
        use: str,
    ) -> None: ...
