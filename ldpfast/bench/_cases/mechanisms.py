"""Cases of mechanisms: reports and counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from ... import _coins
from ..._core.tally import add_bits
from ..._typing import AnyArray
from ...mechanisms import (
    L2Ball,
    Laplace,
    LinfBall,
    Mechanism,
    RandomizedResponse,
    Residue,
    SignBit,
    UnaryEncoding,
)
from .._case import EPSILON, Case, CaseAnswer, Task
from .._checks import (
    check_l2,
    check_laplace,
    check_linf,
    check_linf_mean,
    check_response,
    check_sign_bit,
    check_unary,
    count_bits,
)
from .._data import ball, categories, cube, direction, people

DIGIT_BYTES = 1 / 3  # expected random bytes of one exact coin by bit planes: 2 bits per round, 1/4 of the coins go on


def _privatize(mechanism: Mechanism, x: AnyArray, out: AnyArray) -> Task:
    return partial(mechanism.privatize, x, out=out)


def l2_ball(dim: int, scale: float = 1.0) -> Case:
    """Return the case of the l2 ball: float32 in, float32 out."""
    mechanism, x = L2Ball(dim, EPSILON), ball(people(8_000_000 // dim, scale, 256), dim)
    out = np.zeros_like(x)
    return Case(
        f"l2 ball, float32, dim {dim}", "element", x.size, 3 + 16 / dim, 4, 4,
        _privatize(mechanism, x, out),
        partial(check_l2, mechanism, x, direction(dim) / np.float32(math.sqrt(dim))), mechanism, x, 1.6,
    )  # fmt: skip


def linf_ball(dim: int, scale: float = 1.0) -> Case:
    """Return the case of the l-infinity ball: float32 in, packed signs out."""
    mechanism, x = LinfBall(dim, EPSILON), cube(people(16_777_216 // dim, scale, 256), dim)
    out = np.zeros((len(x), dim // 8), np.uint8)
    return Case(
        f"l-infinity ball, float32, packed, dim {dim}", "element", x.size, 9 / 8 + 16 / dim, 4, 1 / 8,
        _privatize(mechanism, x, out), partial(check_linf, mechanism, x, direction(dim)), mechanism, x, 0.55,
    )  # fmt: skip


def run_linf(scale: float = 1.0) -> Case:
    """Return the case of the mean by the l-infinity ball, without stored reports: float32 in."""
    dim = 128
    mechanism, x = LinfBall(dim, EPSILON), cube(people(16_777_216 // dim, scale, 256), dim)
    return Case(
        f"run(x), l-infinity ball, float32, dim {dim}", "element", x.size, 9 / 8 + 16 / dim, 4, 0,
        lambda: mechanism.run(x).value,
        partial(check_linf_mean, mechanism, len(x), x.mean(axis=0, dtype=np.float64), direction(dim)), mechanism, x, 0.6,
    )  # fmt: skip


def unary(scale: float = 1.0) -> Case:
    """Return the case of unary encoding: uint8 in, packed bits out."""
    k = 128
    mechanism, x = UnaryEncoding(k, EPSILON), categories(people(1 << 20, scale), k)
    out = np.zeros((len(x), k // 8), np.uint8)
    return Case(
        f"unary encoding, packed, k = {k}", "person", len(x), k * DIGIT_BYTES, 1, k / 8,
        _privatize(mechanism, x, out), partial(check_unary, mechanism, x), mechanism, x, 17.0,
    )  # fmt: skip


def _reports(k: int, scale: float) -> tuple[UnaryEncoding, AnyArray, Callable[[CaseAnswer], bool]]:
    words = people((64 << 20) // (k // 8), scale, 512) * (k // 64)
    drawn = np.random.default_rng(12345).integers(0, 2**64 - 1, words, np.uint64, endpoint=True)
    reports = drawn.view(np.uint8).reshape(-1, k // 8)
    expected = count_bits(reports)
    return UnaryEncoding(k, EPSILON), reports, lambda counts: bool(np.array_equal(counts, expected))


def count(k: int, scale: float = 1.0) -> Case:
    """Return the case of counting packed reports by an aggregator, including its checks."""
    mechanism, reports, check = _reports(k, scale)
    return Case(
        f"counting packed reports of {k} bits", "report", len(reports), 0, k / 8, 0,
        lambda: mechanism.aggregator().update(reports).counts, check, mechanism, reports,
        0.8 if k == 128 else 7.0,
    )  # fmt: skip


def tally(k: int, scale: float = 1.0) -> Case:
    """Return the case of the kernel of `count` alone."""
    mechanism, reports, check = _reports(k, scale)

    def ours() -> AnyArray:
        counts = np.zeros(k, np.int64)
        add_bits(reports, counts)
        return counts

    return Case(
        f"the same, kernel alone, {k} bits", "report", len(reports), 0, k / 8, 0, ours, check,
        mechanism, reports, 0.8 if k == 128 else 7.0, threads=False,
    )  # fmt: skip


def response(scale: float = 1.0) -> Case:
    """Return the case of k-ary randomized response: uint8 in, uint8 out."""
    k = 128
    mechanism, x = RandomizedResponse(k, EPSILON), categories(people(16 << 20, scale), k)
    coin, out = _coins.response(k, EPSILON), np.zeros_like(x)
    return Case(
        f"k-ary randomized response, k = {k}", "person", len(x), coin.bits / 8, 1, 1,
        _privatize(mechanism, x, out), partial(check_response, coin, x), mechanism, x, 1.6,
    )  # fmt: skip


def laplace(scale: float = 1.0) -> Case:
    """Return the case of Laplace noise: float64 in, float64 out."""
    mechanism = Laplace(0.0, 1.0, EPSILON)
    x = np.random.default_rng(4).random(people(4 << 20, scale))
    out = np.zeros_like(x)
    span = round((mechanism.upper - mechanism.lower) / mechanism.grid)
    groups = len(_coins.geometric(EPSILON, span, span, 1).groups)
    return Case(
        "Laplace, exact on a grid", "value", len(x), 5 + 2 * groups, 8, 8,
        _privatize(mechanism, x, out), partial(check_laplace, mechanism, x), mechanism, x, 6.0,
    )  # fmt: skip


def residue(scale: float = 1.0) -> Case:
    """Return the case of residues: float64 in, uint8 out."""
    mechanism = Residue(0.5, 0.1, 4, EPSILON)
    x = np.random.default_rng(6).normal(0.6, 0.4, people(8 << 20, scale))
    coin, out = _coins.response(4, EPSILON), np.zeros(len(x), np.uint8)
    symbols = (np.floor((x - mechanism.offset) / mechanism.width).astype(np.int64) & 3).astype(np.uint8)
    return Case(
        "residue, modulus 4, float64", "person", len(x), coin.bits / 8, 8, 1,
        _privatize(mechanism, x, out), partial(check_response, coin, symbols), mechanism, x,
    )  # fmt: skip


def sign_bit(scale: float = 1.0) -> Case:
    """Return the case of sign bits: float64 in, uint8 out."""
    mechanism = SignBit(0.0, 1.0, EPSILON)
    x = np.random.default_rng(7).random(people(8 << 20, scale))
    out = np.zeros(len(x), np.uint8)
    return Case(
        "sign bit, float64", "value", len(x), 4, 8, 1,
        _privatize(mechanism, x, out), partial(check_sign_bit, mechanism, x), mechanism, x,
    )  # fmt: skip


CASES: dict[str, Callable[[float], Case]] = {
    "l2-100": partial(l2_ball, 100),
    "l2-1000": partial(l2_ball, 1000),
    "linf-128": partial(linf_ball, 128),
    "linf-1024": partial(linf_ball, 1024),
    "unary-128": unary,
    "count-128": partial(count, 128),
    "tally-128": partial(tally, 128),
    "count-1024": partial(count, 1024),
    "tally-1024": partial(tally, 1024),
    "response-128": response,
    "laplace": laplace,
    "run-linf-128": run_linf,
    "residue-4": residue,
    "sign-bit": sign_bit,
}
