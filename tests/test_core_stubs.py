"""Stubs of the compiled modules, which `tools/core_stubs.py` makes from the signatures in the Cython files."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TOOL = runpy.run_path(str(ROOT / "tools" / "core_stubs.py"))

SOURCE = '''
ctypedef fused real:
    float
    double

LIMIT: float = 2.0**-40
FIRST, SECOND = 1, SIZE_OF_C
NAME = b"name"  # of the module
PLACES: dict[str, int] = {"a": 1}

# protocol Coin: heads, bits, pair: tuple[int, int], tables(): list[int]

cdef int private(int n):
    return n


def sums(const real[:, ::1] x, key: bytes | None, double margin=LIMIT, double[::1] by=None) -> float:
    """Return (a: b)."""
    return 0


cdef class State(Base):
    """The state."""
    cdef readonly size_t n, rows
    cdef double hidden

    def __cinit__(self, coin: _Coin, str name, list parts: list[int], bint exact=True):
        pass

    def __dealloc__(self):
        pass

    @property
    def count(self) -> int:
        return 0

    cdef int step(self):
        return 0

    def run(self, State other not None, const Py_ssize_t[:] order: NDArray[np.intp] | None,
            tables: tuple[int, ...] = ()) -> tuple[int, int] | None:
        return None


cdef class Empty:
    pass
'''
EXPECTED = """
LIMIT: float
FIRST: int
SECOND: int
NAME: bytes
PLACES: dict[str, int]
class _Coin(Protocol):
    @property
    def heads(self) -> int: ...
    @property
    def bits(self) -> int: ...
    @property
    def pair(self) -> tuple[int, int]: ...
    def tables(self) -> list[int]: ...
@SUMS@
class State(Base):
    @property
    def n(self) -> int: ...
    @property
    def rows(self) -> int: ...
    def __new__(cls, coin: _Coin, name: str, parts: list[int], exact: bool = True) -> Self: ...
    @property
    def count(self) -> int: ...
    def run(self, other: State, order: NDArray[np.intp] | None, tables: tuple[int, ...] = ()) -> tuple[int, int] | None: ...
class Empty:
    ...
"""


SUMS = (
    "def sums(x: NDArray[np.float32] | NDArray[np.float64], key: bytes | None, margin: float = ..., "
    "by: NDArray[np.float64] | None = None) -> float: ..."
)


def test_a_stub_has_the_types_of_its_source():
    assert TOOL["body"](SOURCE, "") == EXPECTED.replace("@SUMS@", SUMS).strip().split("\n")


@pytest.mark.parametrize("signature", ["def f(x) -> int:\n", "def f(int x):\n"])
def test_a_signature_without_types_is_refused(signature):
    with pytest.raises(ValueError, match="annotation"):
        TOOL["body"](signature + "    pass\n", "")


def test_the_stubs_are_those_of_the_sources():
    """Their statements; `make check` compares them with their format."""

    def statements(text):
        """Return the imported names and the other statements of a stub."""
        imported, others = set(), []
        for node in ast.parse(text).body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                imported |= {(getattr(node, "module", None), name.name) for name in node.names}
            else:
                others.append(ast.unparse(node))
        return imported, others

    made = TOOL["unformatted"]()
    assert {path.name for path in made} == {path.name for path in TOOL["STUBS"].glob("*.pyi")}
    for path, text in made.items():
        assert statements(path.read_text()) == statements(text), path.name
