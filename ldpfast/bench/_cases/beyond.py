"""Cases of the mechanisms for large domains, of the window mechanism, of sampled signs, and of public directions."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from ..._typing import AnyArray
from ...mechanisms import HadamardResponse, RankCodebook, RotatedSigns, SampledCube, SubsetSelection, Window
from ...mechanisms._hadamard_response import walsh
from .._case import Case, CaseAnswer
from .._checks import ALPHA, bernstein, check_unary, shares_agree
from .._data import ball, categories, cube, direction, people


def check_hadamard(mechanism: HadamardResponse, x: AnyArray, reports: AnyArray) -> bool:
    """Check the share of reports that support the record's category, and of those that support each category."""
    n = len(x)
    line = mechanism.debiasing.line
    k = mechanism.k
    if reports.shape != x.shape or reports.max() >= mechanism.report.k:
        return False
    supported = np.bitwise_count(reports & (x + reports.dtype.type(1))) % 2 == 0
    p, q = line.probabilities
    hits = mechanism._hits(np.bincount(reports, minlength=mechanism.report.k))
    expected = q + (p - q) * np.bincount(x, minlength=k) / n
    return shares_agree(hits, expected, n) and shares_agree(np.array([supported.sum()]), np.array([p]), n)


def check_subset(mechanism: SubsetSelection, x: AnyArray, reports: AnyArray) -> bool:
    """Check the sizes of the sets, the share of sets with each category, and of those with the record's."""
    sizes = np.bitwise_count(reports).sum(axis=-1)
    return bool((sizes == mechanism.size).all()) and check_unary(mechanism, x, reports)


def check_window(mechanism: Window, x: AnyArray, reports: AnyArray) -> bool:
    """Check the mean of the decoded codes in the quarters of the interval."""
    if reports.shape != x.shape or reports.max() >= len(mechanism.debiasing.values):
        return False
    decoded = mechanism.decode(reports)
    largest = float(np.abs(mechanism.debiasing.values).max()) + 1
    quarter = (4 * x).astype(np.int64)
    for q in range(4):
        part = quarter == q
        margin = bernstein(mechanism.worst_variance, largest, int(part.sum()))
        if not abs(float(decoded[part].mean() - x[part].mean())) <= margin:
            return False
    return True


def check_cube(mechanism: SampledCube, x: AnyArray, reports: AnyArray) -> bool:
    """Check that the coordinates of a report differ, and the mean of the decoded reports along the signs of the records."""
    n = len(x)
    dim = mechanism.dim
    scale = mechanism.scale
    k = reports.shape[1]
    if reports.shape != (n, mechanism.sampled) or mechanism.report.invalidity(reports) is not None:
        return False
    signs = direction(dim)
    agree = np.where(reports & 1, 1, -1) * signs[reports >> 1]
    projection = float(agree.sum()) * scale / n / dim
    truth = float((x.mean(axis=0, dtype=np.float64) * signs).mean())
    # The projection of a report is at most scale k / dim.
    largest = scale * k / dim
    return abs(projection - truth) <= bernstein(largest**2, 2 * largest, n)


def check_codebook(mechanism: RankCodebook, x: AnyArray, reports: AnyArray) -> bool:
    """Check the norms of the decoded reports, and the projection of their mean on the direction of the records."""
    n = len(x)
    dim = mechanism.dim
    scale = mechanism.scale
    rows = mechanism.decode(reports) if reports.dtype == np.uint64 else reports
    if rows.shape != x.shape:
        return False
    axis = direction(dim) / np.float32(math.sqrt(dim))
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    projection, truth = (float(np.einsum("ij,j->", y, axis, dtype=np.float64)) / n for y in (rows, x))
    return bool(np.all(np.abs(norms / scale - 1) <= 1e-4)) and abs(projection - truth) <= bernstein(
        mechanism.worst_variance, 2 * scale, n
    )


def check_rotated(mechanism: RotatedSigns, x: AnyArray, mean: AnyArray) -> bool:
    """Check the total error of the mean of decoded reports, and its projection on the direction of the records."""
    n, dim = x.shape
    axis = direction(dim) / np.float32(math.sqrt(dim))
    error = mean - x.mean(axis=0, dtype=np.float64)
    along, across = mechanism.second_moments
    variance = along + (dim - 1) * across
    margin = math.sqrt(2 * math.log(2 / ALPHA))  # of normal numbers
    return bool(
        abs(n * (error @ error) / variance - 1) <= margin * math.sqrt(2 / dim) + 1 / math.sqrt(dim) + 2 / variance
        and abs(error @ axis) <= margin * math.sqrt(along / n)
    )


def hadamard(scale: float = 1.0) -> Case:
    """Return the case of Hadamard response: uint16 in, uint16 out."""
    mechanism = HadamardResponse(1024, 1.0)
    x = categories(people(8 << 20, scale), 1024)
    out = np.zeros(len(x), np.uint16)
    return Case(
        "Hadamard response, k = 1024", "person", len(x), 4, 2, 2,
        partial(mechanism.privatize, x, out=out), partial(check_hadamard, mechanism, x), mechanism, x,
    )  # fmt: skip


def subset(scale: float = 1.0) -> Case:
    """Return the case of subset selection: uint8 in, packed bits out."""
    mechanism = SubsetSelection(128, 1.0)
    x = categories(people(1 << 18, scale), 128)
    out = np.zeros((len(x), 16), np.uint8)
    return Case(
        "subset selection, packed, k = 128", "person", len(x), 16 * 6 + 16 + 50, 1, 16,
        partial(mechanism.privatize, x, out=out), partial(check_subset, mechanism, x), mechanism, x,
    )  # fmt: skip


def window(scale: float = 1.0) -> Case:
    """Return the case of the window mechanism: float64 in, uint8 out."""
    mechanism = Window(0.0, 1.0, 2.0)
    x = np.random.default_rng(7).random(people(8 << 20, scale))
    out = np.zeros(len(x), np.uint8)
    return Case(
        "window, float64, epsilon 2", "value", len(x), 4, 8, 1,
        partial(mechanism.privatize, x, out=out), partial(check_window, mechanism, x), mechanism, x,
    )  # fmt: skip


def sampled_cube(scale: float = 1.0) -> Case:
    """Return the case of 4 sampled signs of 1000: float32 in, uint16 out."""
    mechanism = SampledCube(1000, 4.0)
    x = cube(people(32_768, scale, 1024), 1000)
    out = np.zeros((len(x), 4), np.uint16)
    return Case(
        "sampled cube, 4 of 1000, float32", "person", len(x), 48, 16, 8,
        partial(mechanism.privatize, x, out=out), partial(check_cube, mechanism, x), mechanism, x,
    )  # fmt: skip


def codebook(scale: float = 1.0) -> Case:
    """Return the case of the rank codebook with 16 directions: float32 in, uint64 out."""
    mechanism = RankCodebook(100, 2.0)
    x = ball(people(32_768, scale, 1024), 100)
    out = np.zeros(len(x), np.uint64)
    return Case(
        "rank codebook, J = 16, dim 100", "person", len(x), 16 * 384, 400, 8,
        partial(mechanism.privatize, x, out=out), partial(check_codebook, mechanism, x), mechanism, x,
    )  # fmt: skip


def rotated(scale: float = 1.0) -> Case:
    """Return the case of a round of 16 people with vectors of a million numbers: privatize, add, and invert the rotation."""
    dim = 10**6 if scale >= 0.5 else 10**4
    mechanism = RotatedSigns(dim, 8.0, rotation=1)
    x = ball(16, dim)
    return Case(
        f"round of rotated signs, float32, dim {dim}", "element", x.size, 0, 4, 0,
        lambda: mechanism.run(x).value, partial(check_rotated, mechanism, x), mechanism, x, 3.0,
    )  # fmt: skip


def decode_hadamard(scale: float = 1.0) -> Case:
    """Return the case of decoding the counts of 2^20 codes: the Walsh-Hadamard transform."""
    size = 1 << (20 if scale >= 0.5 else 12)
    mechanism = HadamardResponse(size - 1, 1.0)
    counts = np.random.default_rng(8).integers(0, 20, size)
    expected = walsh_in_numpy(counts)

    def check(answer: CaseAnswer) -> bool:
        return bool(np.array_equal(answer, expected))

    return Case(
        f"decoding Hadamard response, {size} codes", "code", size, 0, 8, 8,
        lambda: walsh(counts), check, mechanism, counts, threads=False,
    )  # fmt: skip


def walsh_in_numpy(counts: AnyArray) -> AnyArray:
    """Return the Walsh-Hadamard transform in NumPy."""
    values, stride = counts.copy(), 1
    while stride < len(values):
        pairs = values.reshape(-1, 2, stride)
        difference = pairs[:, 0] - pairs[:, 1]
        pairs[:, 0] += pairs[:, 1]
        pairs[:, 1] = difference
        stride *= 2
    return values


CASES: dict[str, Callable[[float], Case]] = {
    "hadamard-1024": hadamard,
    "subset-128": subset,
    "window": window,
    "cube-1000": sampled_cube,
    "codebook-100": codebook,
    "rotated-1000000": rotated,
    "decode-hadamard": decode_hadamard,
}
