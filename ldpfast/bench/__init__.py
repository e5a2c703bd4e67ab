"""Throughput on this machine, compared with NumPy and with the limit of random bytes and memory.

`throughput` measures one mechanism, including user-defined ones. ``python -m ldpfast bench`` measures all cases.

A case is one task with its data. ldpfast and NumPy read the same array and write reports of the same format to allocated
memory. The same check is applied to both answers. The NumPy code is vectorized, processes chunks that fit in cache, uses
single precision where this is accurate enough, and draws from SFC64, NumPy's fastest generator, which is not
cryptographic.
"""

from ._throughput import Throughput, throughput

__all__ = ["Throughput", "throughput"]
