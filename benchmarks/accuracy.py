"""Published figures of accuracy beside those of the library, as a table in Markdown: ``python -m benchmarks.accuracy``.

Every number of the library but the last is an exact variance, from the integers of the coins. The others are printed in a
paper, or follow from a formula in it. Nothing is simulated.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

import ldpfast as ldp
from ldpfast.mechanisms import PrivUnit, for_ball, for_categories, for_interval
from ldpfast.privacy import summed

DIMENSIONS = ((4, 16.0), (16, 8.0), (100, 1.0), (100, 4.0), (100, 8.0), (100, 16.0), (1000, 8.0), (100_000, 8.0))


class Row(NamedTuple):
    """One quantity; smaller is better."""

    quantity: str
    source: str
    published: float
    ours: float
    mechanism: str

    def markdown(self) -> str:
        ratio = self.ours / self.published
        return f"| {self.quantity} | {self.source} | {self.published:.4g} | {self.ours:.4g} | {ratio:.3f} | {self.mechanism} |"


def rows() -> Iterator[Row]:
    """Yield all rows."""
    yield from numbers()
    yield from categories()
    yield from vectors()
    found = summed(ldp.UnaryEncoding(128, 10.0), 100_000, 1e-9).epsilon
    quantity = "epsilon of the sum of 100,000 one-hot reports, 128 categories, epsilon 10, delta 1e-9"
    yield Row(quantity, "draft of a protocol", 0.317, found, "`UnaryEncoding`")


def numbers() -> Iterator[Row]:
    """Yield the variance of a decoded number in [-1, 1] at the worst record."""
    for epsilon in (1.0, 2.0, 4.0, 8.0):
        mechanism = for_interval(-1.0, 1.0, epsilon)
        ours = float(mechanism.variance(np.linspace(-1, 1, 4001)).max())
        root, power = math.exp(epsilon / 2), math.exp(epsilon)
        piecewise = 1 / (root - 1) + (root + 3) / (3 * (root - 1) ** 2)
        hybrid = (root + 3) / (3 * root * (root - 1)) + (power + 1) ** 2 / (root * (power - 1) ** 2)
        for name, value in (("piecewise", piecewise), ("hybrid", hybrid)):
            quantity = f"number in [-1, 1], epsilon {epsilon:g}: largest variance"
            yield Row(quantity, f"{name} mechanism, Wang and others (2019)", value, ours, "`Window`")


def categories() -> Iterator[Row]:
    """Yield the variance of a decoded share near 0."""
    for epsilon in (1.0, 2.0, 4.0):
        mechanism = for_categories(1024, epsilon)
        quantity = f"share of a rare category of 1,024, epsilon {epsilon:g}: variance"
        published = 4 * math.exp(epsilon) / math.expm1(epsilon) ** 2
        source = "optimized unary encoding, Wang and others (2017)"
        ours = float(mechanism.report_variance(np.zeros(1, np.int64))[0, -1])
        yield Row(quantity, source, published, ours, f"`{type(mechanism).__name__}`")
    for k, published in ((22_000, 272.0), (3_307_948, 273.0)):
        mechanism = ldp.ProjectiveGeometryResponse(k, 5.0)
        quantity = f"count of a rare category of {k:,}, epsilon 5, 10,000 people: squared error"
        source = "projective geometry, Feldman and others (2022)"
        line = mechanism.debiasing.line  # a decoded share is one of two numbers, with mean 0
        yield Row(quantity, source, published, -1e4 * float(line.zero * line.one), "`ProjectiveGeometryResponse`")


def vectors() -> Iterator[Row]:
    """Yield the expected squared error of a decoded unit vector."""
    for dim, epsilon in DIMENSIONS:
        mechanism = for_ball(dim, epsilon)
        unit = np.zeros((1, dim))
        unit[0, 0] = 1.0
        ours = float(mechanism.report_variance(unit).sum())
        published = float(PrivUnit(dim, epsilon).report_variance(unit).sum())
        quantity = f"unit vector, {dim:,} dimensions, epsilon {epsilon:g}: squared error"
        source = "PrivUnit (not exact), Bhowmick and others (2018), Asi and others (2022)"
        yield Row(quantity, source, published, ours, f"`{type(mechanism).__name__}`")


def table() -> str:
    """Return the table in Markdown."""
    head = "| quantity | of | published | ldpfast | ratio | mechanism |\n| --- | --- | --- | --- | --- | --- |"
    return "\n".join([head, *(row.markdown() for row in rows())])


if __name__ == "__main__":
    print(table())
