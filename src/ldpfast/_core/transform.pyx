"""Transforms of counts, for decoding."""
from libc.stdint cimport int64_t, uint32_t, uint64_t

import numpy as np

from ldpfast._core.kernels cimport BLOCK_BITS, MAX_ROTATION_BITS, add_coordinate_u32, add_hyperplane_i64, hyperplane_sums_u32, \
    line_space, line_sums_scratch, rotate_back_i64, rotation_signs, walsh_i64

cdef enum:
    LARGEST_PRIME = 8191
    LONGEST = 31


def walsh(int64_t[::1] v) -> None:
    """Replace v, whose length is a power of two, by its Walsh-Hadamard transform."""
    if v.shape[0] < 1 or v.shape[0] & (v.shape[0] - 1):
        raise ValueError("the length must be a power of two")
    with nogil:
        walsh_i64(&v[0], v.shape[0])


def signs_of_rotation(uint64_t seed, uint32_t bits) -> NDArray[np.uint64]:
    """Return the signs of the public rotation of 2^bits rows of a seed, shape (2^bits / 32,). src/kernels/transform/rotation.h."""
    if not BLOCK_BITS <= bits <= <uint32_t>MAX_ROTATION_BITS:
        raise ValueError("the rotation is too small or too large")
    signs = np.empty((2 << bits) // 64, np.uint64)
    cdef uint64_t[::1] words = signs
    with nogil:
        rotation_signs(seed, bits, &words[0])
    return signs


def rotate_back(const uint64_t[::1] signs, int64_t[::1] v) -> None:
    """Replace v by len(v) R^T v for the rotation R with these signs. There is no overflow if len(v) sum |v| < 2^63."""
    cdef uint32_t bits = BLOCK_BITS
    while bits < <uint32_t>MAX_ROTATION_BITS and v.shape[0] >> bits > 1:
        bits += 1
    if v.shape[0] != <Py_ssize_t>1 << bits or 32 * signs.shape[0] != v.shape[0]:
        raise ValueError("the numbers do not fit the rotation")
    with nogil:
        rotate_back_i64(&signs[0], bits, &v[0])


cdef line_space space_of(Py_ssize_t prime, int length, Py_ssize_t points) except *:
    """Return the space of the points of so many coordinates, after checks that keep memory safe."""
    cdef Py_ssize_t i, expected = 0
    if not 2 <= prime <= LARGEST_PRIME or not 1 <= length <= LONGEST:
        raise ValueError("the field or the vectors are too large")
    for i in range(length):
        expected = expected * prime + 1
        if expected > points:
            break
    if points != expected:
        raise ValueError("there must be a row for each point")
    return line_space(<uint32_t>prime, <uint32_t>length, <size_t>points)


def add_coordinate(uint32_t[:, :, :, ::1] sums, uint32_t[:, :, ::1] wider, int length) -> None:
    """Sum the counts of vectors over one coordinate more, for the points of all later coordinates.

    `sums` has shape (rest, prime, points, prime), with the points of `length` coordinates, and `wider` (rest, points of one
    coordinate more, prime). src/kernels/transform/line_sums.h.
    """
    cdef line_space space = space_of(sums.shape[1], length, sums.shape[2])
    cdef Py_ssize_t i, rest = sums.shape[0], points = sums.shape[2]
    if sums.shape[3] != sums.shape[1] or wider.shape[2] != sums.shape[1] or wider.shape[0] != rest:
        raise ValueError("the arrays must have the same field")
    if wider.shape[1] != points * sums.shape[1] + 1:
        raise ValueError("there must be a row for each point")
    cdef uint32_t[::1] scratch = np.empty(line_sums_scratch(space), np.uint32)
    with nogil:
        for i in range(rest):
            add_coordinate_u32(space, &sums[i, 0, 0, 0], &wider[i, 0, 0], &scratch[0])


def hyperplane_sums(uint32_t[:, ::1] sums, uint32_t[::1] below, uint32_t total, uint32_t[::1] hits, int length) -> None:
    """Compute the sums over the hyperplanes of the points whose last coordinate is 1. src/kernels/transform/line_sums.h."""
    cdef line_space space = space_of(sums.shape[1], length, sums.shape[0])
    if below.shape[0] != sums.shape[0] or <size_t>hits.shape[0] != <size_t>sums.shape[0] * (sums.shape[1] - 1) + 1:
        raise ValueError("the arrays must have the same points")
    cdef uint32_t[::1] scratch = np.empty(line_sums_scratch(space), np.uint32)
    with nogil:
        hyperplane_sums_u32(space, &sums[0, 0], &below[0], total, &hits[0], &scratch[0])


def add_hyperplanes(int64_t[::1] codes, int64_t[::1] people, int64_t[::1] hits, uint32_t prime) -> None:
    """Add the people with each code to the hits of the points on its hyperplane. src/kernels/transform/line_sums.h."""
    cdef Py_ssize_t i
    if not 2 <= prime <= LARGEST_PRIME or people.shape[0] != codes.shape[0]:
        raise ValueError("the field is too large, or a code has no people")
    for i in range(codes.shape[0]):
        if not 0 <= codes[i] < <int64_t>1 << 31:
            raise ValueError("a code is outside of the space")
    if not 0 < hits.shape[0] <= <int64_t>1 << 31:
        raise ValueError("there must be hits for at least one and at most 2^31 points")
    with nogil:
        for i in range(codes.shape[0]):
            add_hyperplane_i64(prime, <size_t>codes[i], people[i], hits.shape[0], &hits[0])
