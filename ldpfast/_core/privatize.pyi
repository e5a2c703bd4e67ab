from collections.abc import Sequence
from typing import Protocol

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

class CodeKernel(Kernel): ...
class FloatCodes(CodeKernel): ...

class RandomizedResponse(CodeKernel):
    def __init__(self, coin: _Coin) -> None: ...

class Warner(RandomizedResponse):
    def __init__(self, coin: _Coin) -> None: ...

class Residue(FloatCodes):
    def __init__(self, width: float, offset: float, coin: _Coin) -> None: ...

class Bins(FloatCodes):
    def __init__(self, cuts: Sequence[float], coin: _Coin) -> None: ...

class SignBit(FloatCodes):
    def __init__(self, lower: float, upper: float, heads: int, bits: int) -> None: ...

class UnaryEncoding(Kernel):
    def __init__(self, k: int, other: int, optimized: bool) -> None: ...

class LinfBall(Kernel):
    def __init__(self, dim: int, radius: float, heads: int, keep_tie: int) -> None: ...

class L2Ball(Kernel):
    def __init__(self, dim: int, radius: float, scale: float, heads: int) -> None: ...

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
        digits: Sequence[int],
        carry: int,
        use: str,
    ) -> None: ...
