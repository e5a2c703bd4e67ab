"""Exact channels of the finite mechanisms, enumerated from the integers of the coins, without sampling."""

from __future__ import annotations

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.domains import Sets
from ldpfast.reports import Codes

from ..cards import CARDS
from ..support.cases import each

SETS = ldp.HadamardResponse | ldp.ProjectiveGeometryResponse | ldp.SubsetSelection
each_mechanism = each("mechanism", [mechanism for card in CARDS.values() for mechanism in card.channels], ids=repr)


def all_reports(mechanism):
    """Return all possible reports, in the order of the channel."""
    report = mechanism.report
    if isinstance(report, Codes):
        return np.arange(report.k, dtype=report.code)
    codes = np.arange(1 << report.k)
    return np.packbits(codes[:, None] >> np.arange(report.k) & 1, axis=1, bitorder="little")


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
    else:
        x = mean.astype(int) if isinstance(mechanism, ldp.Warner) or isinstance(mechanism.domain, Sets) else mean
    np.testing.assert_allclose(mechanism.variance(x), variance, rtol=1e-9, atol=1e-9)
