"""Transforms of counts, for decoding."""
from libc.stdint cimport int64_t

from ldpfast._core.kernels cimport walsh_i64


def walsh(int64_t[::1] v):
    """Replace v, whose length is a power of two, by its Walsh-Hadamard transform."""
    if v.shape[0] < 1 or v.shape[0] & (v.shape[0] - 1):
        raise ValueError("the length must be a power of two")
    with nogil:
        walsh_i64(&v[0], v.shape[0])
