"""Throughput on this machine, compared with the limit of random bytes and memory, and in a checkout with NumPy.

`throughput` measures one mechanism, including user-defined ones. ``python -m ldpfast bench`` measures all cases. A case is one
task with its data and a check of the answer. The cases in NumPy are part of the repository, in ``benchmarks/rivals``.
"""

from ._throughput import Throughput as Throughput
from ._throughput import throughput

__all__ = ["throughput"]
