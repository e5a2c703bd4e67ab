from enum import IntEnum
from typing import Any, Self

from numpy.typing import NDArray

class StreamId(IntEnum):
    RAW = 0
    WARNER = 1
    RANDOMIZED_RESPONSE = 2
    RESIDUE = 3
    BINS = 4
    SIGN_BIT = 5
    UNARY_BITS = 6
    UNARY_OWN = 7
    LINF_DIRECTION = 8
    LINF_VERTEX = 9
    LINF_SIGN = 11
    LINF_TIE = 12
    L2_DIRECTION = 13
    L2_SIGN = 14
    LAPLACE = 15
    LAPLACE_TIES = 16
    LAPLACE_ROUNDING = 17
    LAPLACE_VECTOR = 18
    LAPLACE_VECTOR_TIES = 19
    LAPLACE_VECTOR_ROUNDING = 20
    MEDIAN = 21
    LAPLACE_ONE_HOT = 22
    LAPLACE_ONE_HOT_TIES = 23
    LAPLACE_ONE_HOT_ROUNDING = 24
    LAPLACE_RESIDUE = 25
    LAPLACE_RESIDUE_TIES = 26
    LAPLACE_RESIDUE_ROUNDING = 27
    DISCRETE_GAUSSIAN = 28
    SELECTION = 29
    LAPLACE_CENTRAL = 30
    LAPLACE_CENTRAL_TIES = 31
    LAPLACE_CENTRAL_ROUNDING = 32
    SMOOTH_SENSITIVITY = 33
    M_ESTIMATE = 34
    CENTRAL_ROUNDING = 35
    CENTRAL_BALL = 36
    PYTHON = 37
    SERIES = 38
    GAUSSIAN_DIGITS = 39
    SURVEY_KEYS = 40
    SURVEY_ASSIGNMENT = 41
    SURVEY_ROUNDING = 42
    SURVEY_ROUNDING_SECOND = 43
    MEDIAN_OFFSET = 44
    HADAMARD_RESPONSE = 45
    PROJECTIVE_RESPONSE = 46
    SUBSET_BITS = 47
    SUBSET_INDICES = 48
    SUBSET_COINS = 49
    WINDOW = 50
    CUBE_COORDINATES = 51
    CUBE_ROUNDING = 52
    CUBE_SIGNS = 53
    CUBE_MEMBERS = 54
    CUBE_OTHERS = 55
    CODEBOOK_SEEDS = 56
    CODEBOOK_COINS = 57
    CODEBOOK_DIRECTION = 58
    FRAME_SEEDS = 59
    FRAME_COINS = 60
    SURVEY_ROUNDING_MORE = 61
    SKETCH_PARTS = 62
    SET_BITS = 63
    SET_INDICES = 64
    SET_COINS = 65
    SET_CUBE_COORDINATES = 66
    SET_CUBE_SIGNS = 67
    SET_CUBE_MEMBERS = 68
    SET_CUBE_OTHERS = 69
    WHOLE_SETS = 70
    VIEWS = 71
    VIEW_COINS = 72
    TREE = 73
    DISTRIBUTION = 74
    ROTATION = 75
    ROTATED_ROWS = 76
    ROTATED_SEEDS = 77
    ROTATED_COINS = 78
    SUBKEY = 0x7FFFFFFF

class Stream:
    def __new__(cls, key: bytes | None = None) -> Self: ...
    def take(self, blocks: int) -> int: ...

def raw(key: Stream | bytes, stream_number: StreamId, block: int, out: NDArray[Any], counter: int = 0) -> None: ...
def encrypt(key: bytes, first_input: bytes, blocks: int) -> bytes: ...
def exhausts(key: Stream | bytes, used_blocks: int) -> bool: ...
def coins(key: Stream | bytes, high: int, low: int, lanes: int, direct: bool, out: NDArray[Any]) -> None: ...
def normals(key: Stream | bytes, out: NDArray[Any]) -> None: ...
