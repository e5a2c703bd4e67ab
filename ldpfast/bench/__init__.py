"""Throughput on this machine, compared with NumPy and with the limit of random bytes and memory.

`throughput` measures one mechanism, including user-defined ones. `report` measures all cases; ``python -m ldpfast bench``
calls it.

A case is one task with its data. ldpfast and NumPy read the same array and write reports of the same format to allocated
memory. The same check is applied to both answers. The NumPy code is vectorized, processes chunks that fit in cache, uses
single precision where this is accurate enough, and draws from SFC64, NumPy's fastest generator, which is not
cryptographic.
"""

from ._case import EPSILON, Case, Task
from ._checks import ALPHA, bernstein, check_frequencies, count_bits, left_out
from ._measure import Machine
from ._numpy import numpy_count, numpy_response, numpy_unary
from ._numpy_gaussian import inverted, search_edge
from ._report import CASES, report
from ._throughput import Throughput, throughput
from .mechanisms import SINGLE_TARGET, singles

__all__ = [
    "ALPHA",
    "CASES",
    "EPSILON",
    "SINGLE_TARGET",
    "Case",
    "Machine",
    "Task",
    "Throughput",
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
    "throughput",
]
