"""Exact channels of the finite mechanisms, enumerated from the integers of the coins, without sampling."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.domains import Sets
from ldpfast.mechanisms import ViewResponse
from ldpfast.reports import Codes

from ..cards import CARDS
from ..support import view_response
from ..support.cases import each

SETS = ldp.HadamardResponse | ldp.ProjectiveGeometryResponse | ldp.SubsetSelection
each_mechanism = each("mechanism", [mechanism for card in CARDS.values() for mechanism in card.channels], ids=repr)


def all_reports(mechanism):
    """Return all possible reports, in the order of the channel."""
    report = mechanism.report
    if isinstance(report, Codes):
        return np.arange(report.k, dtype=report.code)
    if isinstance(mechanism, ViewResponse):
        packed = [
            view_response.packed(mechanism.sizes, mechanism.report_bytes, kind, view, symbol)
            for kind, view, symbols in views_of(mechanism)
            for symbol in range(symbols)
        ]
        return np.array(
            [list(report) for report in sorted(packed, key=lambda r: int.from_bytes(r, "little"))], np.uint8
        )
    codes = np.arange(1 << report.k)
    return np.packbits(codes[:, None] >> np.arange(report.k) & 1, axis=1, bitorder="little")


def views_of(mechanism):
    """Yield the kind, the questions and the number of symbols of all views."""
    sizes, design = mechanism.sizes, mechanism.design
    for view in combinations(range(len(sizes)), design.plain):
        yield 0, list(view), math.prod(sizes[i] for i in view)
    for view in combinations(range(len(sizes)), design.flip) if design.flip else ():
        yield 1, list(view), 1 << design.flip - 1


def records_of_questions(mechanism):
    """Return all records of questions, the answer to the first one fastest."""
    return np.array([x[::-1] for x in product(*map(range, mechanism.sizes[::-1]))])


def decoded_reports(mechanism):
    """Return all reports decoded. Those that no input gives are refused, and have the weight 0 in every mean."""
    reports = all_reports(mechanism)
    possible = mechanism.channel().matrix.any(axis=0)
    found = mechanism.decode(reports[possible])
    decoded = np.zeros((len(reports), *found.shape[1:]))
    decoded[possible] = found
    return decoded


def inputs(mechanism):
    """Return the inputs of the channel as numbers, the expectations of decoded reports."""
    if isinstance(mechanism.domain, Sets):
        sets = np.arange(1 << mechanism.k)
        ticks = sets[np.bitwise_count(sets) <= mechanism.most, None] >> np.arange(mechanism.k) & 1
        return np.concatenate([ticks, np.zeros((int(mechanism.optional), mechanism.k))])  # a missing set has no options
    if isinstance(mechanism.report, Codes) and not mechanism.report.onehot:  # a code decodes to one number
        return np.array(mechanism.domain.range)
    if isinstance(mechanism, ViewResponse):
        records = records_of_questions(mechanism)
        return np.hstack([records[:, [i]] == np.arange(size) for i, size in enumerate(mechanism.sizes)]).astype(float)
    if isinstance(mechanism, ldp.LinfBall):
        vertices = np.arange(1 << mechanism.dim)
        return mechanism.radius * (2.0 * (vertices[:, None] >> np.arange(mechanism.dim) & 1) - 1)
    return np.eye(mechanism.domain.k if isinstance(mechanism, SETS) else mechanism.report.k)


@each_mechanism
def test_epsilon_realized_is_that_of_the_channel(mechanism):
    assert mechanism.channel().epsilon() == mechanism.epsilon_realized <= mechanism.epsilon
    assert mechanism.epsilon - mechanism.epsilon_realized <= 1e-5 * mechanism.epsilon


@pytest.mark.claim("Reports that no client can send are refused, and all others are counted.", "Bad input")
@each_mechanism
def test_a_report_is_accepted_if_and_only_if_some_input_gives_it(mechanism):
    possible = mechanism.channel().matrix.any(axis=0)
    for report, valid in zip(all_reports(mechanism), possible, strict=True):
        assert (mechanism.report.invalidity(report[np.newaxis]) is None) == valid


@pytest.mark.claim("Estimates are unbiased.", "Estimates")
@each_mechanism
def test_decoded_reports_are_unbiased(mechanism):
    """The mean of all decoded reports under the channel is the input."""
    decoded = decoded_reports(mechanism)
    np.testing.assert_allclose(
        mechanism.channel().matrix @ decoded, inputs(mechanism), rtol=0, atol=1e-12 * np.abs(decoded).max()
    )


@pytest.mark.claim("Stated variances are exact.", "Estimates")
@each_mechanism
def test_the_variance_is_that_of_the_channel(mechanism):
    matrix, decoded, mean = mechanism.channel().matrix, decoded_reports(mechanism), inputs(mechanism)
    variance = matrix @ decoded**2 - mean**2
    if isinstance(mechanism, ldp.RandomizedResponse | ldp.UnaryEncoding | SETS):
        x = np.arange(mechanism.k)
    elif isinstance(mechanism, ldp.Residue):
        x = np.arange(mechanism.modulus) + 0.5
    elif isinstance(mechanism, ldp.Bins):
        x = np.arange(len(mechanism.cuts) + 1) + mechanism.cuts[0] - 0.5
    elif isinstance(mechanism, ViewResponse):
        x = records_of_questions(mechanism)
    else:
        x = mean.astype(int) if isinstance(mechanism, ldp.Warner) or isinstance(mechanism.domain, Sets) else mean
    np.testing.assert_allclose(mechanism.variance(x), variance, rtol=1e-9, atol=1e-9)
