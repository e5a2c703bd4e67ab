"""Throughput on this machine: against NumPy, and against the limit of the random bytes and of memory.

A case is one task with its data: ldpfast and NumPy read the same array and write reports of the same format to memory
that is there already, and one check judges both. NumPy is written as well as it can be: vectorised, in chunks that
stay in cache, single precision where that is fair, and SFC64, its fastest generator, which is not cryptographic.

``benchmarks/`` takes its cases from here; ``python -m ldpfast bench`` calls `report`.
"""

from ._case import EPSILON, Case, Task
from ._checks import ALPHA, bernstein, check_frequencies, count_bits, left_out
from ._measure import Machine
from ._numpy import numpy_count, numpy_response, numpy_unary
from ._numpy_gaussian import inverted, search_edge
from ._report import CASES, report
from .mechanisms import SINGLE_TARGET, singles

__all__ = [
    "ALPHA",
    "CASES",
    "EPSILON",
    "SINGLE_TARGET",
    "Case",
    "Machine",
    "Task",
    "bernstein",
    "check_frequencies",
    "count_bits",
    "inverted",
    "left_out",
    "numpy_count",
    "numpy_response",
    "numpy_unary",
    "report",
    "search_edge",
    "singles",
]
