"""Throughput on this machine, compared with NumPy and with the limit of random bytes and memory.

`throughput` measures one mechanism, including user-defined ones. `report` measures all cases; ``python -m ldpfast bench``
calls it.

A case is one task with its data. ldpfast and NumPy read the same array and write reports of the same format to allocated
memory. The same check is applied to both answers. The NumPy code is vectorized, processes chunks that fit in cache, uses
single precision where this is accurate enough, and draws from SFC64, NumPy's fastest generator, which is not
cryptographic.
"""

# The names with aliases are for the benchmarks of the project, and not public.
from ._case import EPSILON as EPSILON
from ._case import Case as Case
from ._case import Task as Task
from ._checks import ALPHA as ALPHA
from ._checks import bernstein as bernstein
from ._checks import check_frequencies as check_frequencies
from ._checks import count_bits as count_bits
from ._checks import left_out as left_out
from ._measure import Machine as Machine
from ._numpy import numpy_count as numpy_count
from ._numpy import numpy_response as numpy_response
from ._numpy import numpy_unary as numpy_unary
from ._numpy_gaussian import inverted as inverted
from ._numpy_gaussian import search_edge as search_edge
from ._report import CASES as CASES
from ._report import report as report
from ._throughput import Throughput, throughput
from .mechanisms import SINGLE_TARGET as SINGLE_TARGET
from .mechanisms import singles as singles

__all__ = ["Throughput", "throughput"]
