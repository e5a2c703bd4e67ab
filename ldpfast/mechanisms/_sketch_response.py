"""Report of the hash of a string, or of one of its prefixes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _check, _schema
from .._core import strings
from .._finite_field import is_prime
from .._typing import AnyArray, Floats
from ..domains import Strings
from ..privacy import ReportLaw
from ..reports import Codes, Decoding, recipe_of
from ..results import Debiasing, Kinds, line_of
from ._best_mechanism import ROUNDING, best, total_variance
from ._draws import PeopleCounts, bincount, multinomial
from ._hadamard_response import HadamardResponse
from ._law import Law
from ._mechanism import Mechanism
from ._projective_geometry_response import ProjectiveGeometryResponse, best_geometry
from ._projective_space import Geometry, geometries
from ._randomized_response import RandomizedResponse
from ._set_response import SetResponse, scaled_variance

if TYPE_CHECKING:
    from numpy.random import Generator

    from ._record_recipe import RecordRecipe

MAX_BUCKETS = 1 << 20
MAX_FUNCTIONS = 64
MAX_LEVELS = 63
MAX_CODES = 1 << 28  # of all functions together, which are counted
MAX_REPORT_BITS = 31  # of one function
PRIME = (1 << 61) - 1
SMALL_ORDER = 10  # elements of a field; a larger one that is not a prime takes long to decode


@dataclass(frozen=True)
class BucketResponse(ProjectiveGeometryResponse):
    """Projective geometry response whose counts are few and quickly decoded, because a sketch has them for every function.

    It has at most twice as many points as categories, and a field with a prime or a small number of elements.
    """

    @classmethod
    def _best_space(cls, k: int, epsilon: float) -> Geometry:
        spaces = [space for space in geometries(k, 2 * k) if is_prime(space.order) or space.order < SMALL_ORDER]
        if not spaces:
            return best_geometry(k, epsilon)
        return min(spaces, key=lambda space: scaled_variance(k, epsilon, space.hyperplane, space.points, space.common))


RESPONSES: tuple[Any, ...] = (RandomizedResponse, HadamardResponse, BucketResponse)


@dataclass(frozen=True)
class SketchResponse(Mechanism):
    """Report of the bucket of a string by one of many hash functions, or of the bucket of one of its prefixes.

    `estimation.CountMeanSketch` and `estimation.HeavyHitters` estimate shares of strings from the reports.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, > 0.
    max_bytes : int, default 64
        Largest number of bytes of a string in UTF-8, in [1, 255]; with an alphabet, of characters.
    alphabet : str, optional
        At most 253 characters that strings consist of. The default is all bytes but 0.
    prefixes : tuple of int, default ()
        Lengths of the prefixes that are hashed, too, in ascending order; the last is `max_bytes`. They are the levels of a
        search.
    buckets : int, default 2^18
        Number of values of a hash function, in [2, 2^20].
    functions : int, default 16
        Number of hash functions of the whole strings, and of each level, in [1, 64].
    salt : str, default ""
        Public text on which the hash functions depend, besides all other parameters.

    Attributes
    ----------
    response : Mechanism
        The mechanism whose records are the buckets: `RandomizedResponse`, `HadamardResponse` or `ProjectiveGeometryResponse`,
        whichever has the smallest variance.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as above; if there are more than 2^28 codes; if no mechanism can certify `epsilon`.

    Notes
    -----
    Records: strings in a list, a NumPy or Arrow array or a pandas series, of text or bytes. A report is one code: the number
    of the hash function times the number of codes of `response`, plus its report. People draw whole strings with probability
    1/2 if there are prefixes, otherwise a level; and one of its functions. A string is hashed with its padding to
    `max_bytes`, so that the time of the hash does not depend on it. `decode` and `estimate` count codes: their numbers are
    shares of the codes. About 0.1 microseconds per person, and 8 bytes per code.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP, the guarantee of `response`: which function is reported does not depend on the record, and
    the rest of the report is the report of `response` about a bucket. The hash functions are public. The time of `response` may
    depend on the bucket. docs/proofs/sketch.md.

    References
    ----------
    .. [1] Apple Differential Privacy Team, "Learning with privacy at scale", Apple Machine Learning Journal 1(8), 2017.

    Examples
    --------
    >>> from ldpfast.mechanisms import SketchResponse
    >>> mechanism = SketchResponse(4.0, max_bytes=20)
    >>> mechanism.privatize(["new", "words"], rng=1).dtype
    dtype('uint32')
    """

    epsilon: float
    _: KW_ONLY
    max_bytes: int = 64
    alphabet: str | None = None
    prefixes: tuple[int, ...] = ()
    buckets: int = 1 << 18
    functions: int = 16
    salt: str = ""
    domain: Strings = field(init=False, repr=False, compare=False)
    report: Codes = field(init=False, repr=False, compare=False)
    response: Any = field(init=False, repr=False, compare=False)
    _hashes: tuple[strings.Hashes, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        domain = Strings(self.max_bytes, self.alphabet)
        prefixes = _check.array("prefixes", self.prefixes)
        lengths = [_check.integer("prefixes", length, 1, domain.max_bytes) for length in prefixes.tolist()]
        if lengths and (
            sorted(set(lengths)) != lengths or lengths[-1] != domain.max_bytes or len(lengths) > MAX_LEVELS
        ):
            raise ValueError(
                f"prefixes must be at most {MAX_LEVELS} ascending lengths, the last of them max_bytes={domain.max_bytes}, got "
                f"{lengths}"
            )
        if not isinstance(self.salt, str):
            raise TypeError(f"salt must be a text, got {type(self.salt).__name__}")
        self._set(
            epsilon=_check.positive("epsilon", self.epsilon),
            max_bytes=domain.max_bytes,
            prefixes=tuple(lengths),
            buckets=_check.integer("buckets", self.buckets, 2, MAX_BUCKETS),
            functions=_check.integer("functions", self.functions, 1, MAX_FUNCTIONS),
        )
        # A report is the code of a response to a bucket. The part (whole strings, or a level of prefixes) and the hash function
        # are drawn without a look at the record and are public: each pair of them has codes of its own.
        makers = (partial(kind, self.buckets, self.epsilon) for kind in RESPONSES)
        response = best(makers, total_variance, MAX_REPORT_BITS, ROUNDING)
        codes = (1 + len(lengths)) * self.functions * response.report.k
        if codes > MAX_CODES:
            raise ValueError(
                f"buckets, functions and prefixes must give at most 2^28 codes, got {codes}, which are "
                f"{1 + len(lengths)} parts times {self.functions} functions times {response.report.k}"
            )
        hashes = tuple(self._hashes_of(part, length) for part, length in enumerate([domain.max_bytes, *lengths]))
        self.define(
            epsilon_realized=response.epsilon_realized,
            domain=domain,
            report=Codes(codes),
            debiasing=Debiasing(0.0, 1.0),
            value_range=(0.0, 1.0),
            law=SketchLaw(recipe_of(response), hashes, self.buckets, self.functions),
            kernel=strings.SketchResponse(list(hashes), recipe_of(response).kernel, domain.width),
            coin=recipe_of(response).coin,
            response=response,
            _hashes=hashes,
        )

    def _hashes_of(self, part: int, length: int) -> strings.Hashes:
        """Return the hash functions of a part: 0 for whole strings, otherwise the number of a level."""
        described = _schema.canonical_json({"hashes of": self.to_dict(), "part": part})
        words = np.frombuffer(hashlib.shake_256(described).digest(8 * (2 + 6 * self.functions)), "<u8").astype(
            np.uint64
        )
        high, low = words[2::2], words[3::2]  # numbers of 128 bits, so that all coefficients are equally probable
        coefficients = [(int(a) << 64 | int(b)) % PRIME for a, b in zip(high, low, strict=True)]
        return strings.Hashes(words[:2].copy(), np.array(coefficients, np.uint64).reshape(-1, 3), self.buckets, length)

    @property
    def line(self) -> Debiasing:
        """Debiasing of the share of a bucket: from the share of the reports of a function that support it."""
        found = line_of(self.response.debiasing)
        assert isinstance(found, Debiasing)
        return found

    def supports(self, counts: NDArray[np.int64], part: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the numbers of reports of the functions of a part, and how many of them support each bucket.

        Parameters
        ----------
        counts : ndarray of int64
            Counts of all codes.
        part : int
            0 for whole strings, otherwise the number of a level.

        Returns
        -------
        people : ndarray, shape (functions,)
        hits : ndarray, shape (functions, buckets)
        """
        size = self.functions * self.response.report.k
        own = counts[part * size : (part + 1) * size].reshape(self.functions, -1)
        return own.sum(axis=1), np.array([self._hits(row) for row in own])

    def _hits(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        return self.response._hits(counts) if isinstance(self.response, SetResponse) else counts


def whole_share(levels: int) -> Fraction:
    """Return the share of the reports that are about whole strings, not about prefixes of one of several levels."""
    return Fraction(1, 2) if levels else Fraction(1)


@dataclass(frozen=True)
class SketchLaw(Law):
    """The distribution of the report about a hashed string: of a part, then of one of its functions, then of the response.

    Attributes
    ----------
    response : RecordRecipe
        Recipe of the mechanism for buckets.
    hashes : tuple of Hashes
        Hash functions of each part: of whole strings, then of the levels.
    buckets, functions : int
        Number of values of a function, and of functions of a part.
    """

    response: RecordRecipe
    hashes: tuple[strings.Hashes, ...]
    buckets: int
    functions: int

    def report_laws(self) -> Sequence[ReportLaw] | None:
        # Each function of each part is a kind of report, with the law of the response, or a smaller one for equal buckets.
        laws = self.response.report_laws
        return None if laws is None else [ReportLaw.mixture([(1, law)]) for law in laws]

    def weights(self) -> Floats:
        """Return the probability of each function of each part, one row per part."""
        levels = len(self.hashes) - 1
        parts = [whole_share(levels), *[Fraction(1, 2 * max(1, levels))] * levels]
        return np.array([[float(weight) / self.functions] * self.functions for weight in parts])

    def draw(self, records: AnyArray, people: PeopleCounts, generator: Generator) -> AnyArray:
        weights = self.weights()
        assigned, states = multinomial(generator, people, weights.ravel()), []
        for part, hashes in enumerate(self.hashes):
            buckets = hashes.buckets(records)
            for function in range(self.functions):
                own = assigned[:, part * self.functions + function]
                owners = bincount(buckets[:, function], own, self.buckets)
                present = np.flatnonzero(owners)
                states.append(self.response.draw(present, owners[present], generator))
        return np.concatenate(states)

    def largest_probability(self) -> float:
        return float(self.weights().max()) * self.response.law.largest_probability()

    def kinds_of(self, reports: AnyArray) -> Kinds:
        """Return the numbers of reports about each function of each part."""
        weights, report = self.weights().ravel(), self.response.report
        assert isinstance(report, Codes)
        functions = reports // report.k
        return Kinds(np.bincount(functions.astype(np.intp), minlength=weights.size), weights)

    def variance(self, decoding: Decoding, records: AnyArray) -> Floats:
        probability = self.probabilities(records)
        return probability * (1 - probability)

    def probabilities(self, records: AnyArray) -> Floats:
        """Return the probabilities of all codes for records, shape (n, codes), if `response` has a small channel.

        Parameters
        ----------
        records : ndarray
            Result of ``domain.convert``.

        Raises
        ------
        ValueError
            If there are too many codes.
        """
        rows = self.response.law.rows()
        if rows is None:
            raise ValueError(f"buckets must be fewer for the probabilities of all codes, got {self.buckets}")
        channel = np.array([[float(entry) for entry in row] for row in rows])
        channel /= channel.sum(axis=1, keepdims=True)
        parts = []
        for weights, hashes in zip(self.weights(), self.hashes, strict=True):
            buckets = hashes.buckets(records)
            parts += [weight * channel[buckets[:, j]] for j, weight in enumerate(weights)]
        return np.hstack(parts)
