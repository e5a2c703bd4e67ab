"""Base class of all mechanisms."""

from __future__ import annotations

from dataclasses import is_dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .. import _schema
from .._random import Words
from .._typing import AnyArray, Floats
from ..domains import Categories, Domain
from ..privacy import Channel, Guarantee
from ..privacy._two_level import TwoLevel
from ..reports import Aggregator, Codes, Format
from ..results import AnyDebiasing, Estimate, MatrixDebiasing, line_of
from ._draws import Counts, multinomial, shares_of
from ._pipeline import Kernel, Pipeline
from ._python import PythonKernel, integer_weights, invert, right_inverse
from ._record_question import RecordQuestion

if TYPE_CHECKING:
    from numpy.random import Generator


CHANNEL_ENTRIES = 1 << 17  # channels with more entries are too large to enumerate


class Mechanism(RecordQuestion[Estimate[Any]]):
    """An immutable description of one channel: its records, its reports and its privacy guarantee.

    Mechanisms are compared by their parameters, can be pickled, and have a `repr` that can be evaluated.

    A subclass is a frozen dataclass of its parameters that calls `define` in ``__post_init__``. It defines the channel
    by `channel_rows` (a finite channel of integers or fractions) or by `privatize_block` (any function of records and
    uniform random words), and inherits everything else. docs/custom_mechanism.md has an example.

    Attributes
    ----------
    epsilon : float
        Requested privacy parameter.
    epsilon_realized : float
        Exact guarantee of the coins in use, at most `epsilon`.
    domain : Domain
        Set of valid records.
    report : Format
        Format of reports.
    debiasing : Debiasing, MatrixDebiasing or None
        Map from reports to unbiased numbers; None for formats whose reports are unbiased numbers.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> mechanism = ldp.Laplace(0, 10, 1.0)
    >>> isinstance(mechanism, ldp.Mechanism)
    True
    >>> ldp.Mechanism.from_dict(mechanism.to_dict()) == mechanism
    True
    """

    kind: ClassVar[str] = "mechanism"
    epsilon: float
    epsilon_realized: float
    domain: Domain
    report: Format
    debiasing: AnyDebiasing | None = None
    _pipeline: Pipeline
    _coin: Any = None

    # Methods for subclasses -----------------------------------------------------------------------------------------

    def define(
        self,
        *,
        epsilon_realized: float,
        domain: Domain,
        report: Format,
        debiasing: AnyDebiasing | None = None,
        kernel: Kernel | None = None,
        first_block: int = 0,
        coin: Any = None,
        **attributes: Any,
    ) -> None:
        """Set the attributes that follow from the parameters. Called by subclasses at the end of ``__post_init__``.

        Parameters
        ----------
        epsilon_realized : float
            Exact guarantee, at most `epsilon`. It also becomes `epsilon` if the class has no parameter of that name. For the
            integers or fractions of `channel_rows` it is ``ldp.privacy.Channel(rows).epsilon()``, the exact loss rounded up;
            a logarithm in doubles can be too small.
        domain : Domain
            Domain of records, from `ldpfast.domains`.
        report : Format
            Format of reports, from `ldpfast.reports`.
        debiasing : Debiasing or MatrixDebiasing, optional
            Debiasing of codes or bits. The default for a mechanism with `channel_rows` is the inverse of its channel.
        kernel : Kernel, optional
            Kernel for encoded records. The default calls `privatize_block` for each block.
        first_block : int
            Number of the first record block. With different numbers, two mechanisms with the same kernel share no
            random word.
        coin : dataclass, optional
            The integers from which the guarantee is computed. They are part of the schema.
        **attributes
            Other attributes of the instance.

        Raises
        ------
        TypeError, ValueError
            If the class is not a dataclass; if `epsilon_realized` is above `epsilon`, or if reports are drawn from
            `channel_rows` and it is below their loss.
        """
        if not is_dataclass(self):
            raise TypeError(f"{type(self).__name__} must be a dataclass, whose fields are its parameters")
        self._set(epsilon_realized=epsilon_realized, domain=domain, report=report, debiasing=debiasing, _coin=coin)
        self._set(**attributes)
        if not hasattr(self, "epsilon"):
            self._set(epsilon=epsilon_realized)
        if not 0 <= epsilon_realized <= self.epsilon:
            raise ValueError(
                f"epsilon_realized must be in [0, epsilon] with epsilon={self.epsilon}, got {epsilon_realized}"
            )
        if kernel is None:
            custom = type(self).privatize_block is not Mechanism.privatize_block
            block = self.privatize_block if custom else self._inversion()
            kernel = PythonKernel(block, self.report)
        has_encoding = type(self).encode is not Mechanism.encode
        width = max(domain.width or 1, report.shape[0] if has_encoding and report.shape else 1)
        self._set(_pipeline=Pipeline(domain, kernel, self.encode if has_encoding else None, width, first_block))

    def _inversion(self) -> Any:
        """Return a `privatize_block` that draws from `channel_rows`.

        Set the debiasing if none was given, and the codes that no row gives.
        """
        rows = self.channel_rows()
        if rows is None or not isinstance(self.domain, Categories) or not isinstance(self.report, Codes):
            raise TypeError(
                f"{type(self).__name__} must define privatize_block, or channel_rows with a domain of Categories"
                " and reports of Codes"
            )
        weights = integer_weights(rows, self.domain.k, self.report.k)
        channel = Channel(weights)
        if channel.epsilon() > self.epsilon_realized:
            raise ValueError(
                f"epsilon_realized must be at least the loss of channel_rows, {channel.epsilon()}, got {self.epsilon_realized}"
            )
        if self.debiasing is None:
            self._set(debiasing=MatrixDebiasing(right_inverse(channel.matrix)))
        self._set(report=replace(self.report, impossible=tuple(np.flatnonzero(~channel.matrix.any(axis=0)).tolist())))
        return invert(weights)

    def encode(self, records: AnyArray) -> AnyArray:
        """Return the input of the kernel for valid records. The default returns them unchanged.

        Parameters
        ----------
        records : ndarray
            Result of ``domain.convert``, clipped with ``clip=True``.

        Returns
        -------
        encoded : ndarray
            Row i depends on record i alone.
        """
        return records

    def privatize_block(self, records: AnyArray, words: Words) -> AnyArray:
        """Return the reports of a block of at most 4096 records, for mechanisms without a compiled kernel.

        Parameters
        ----------
        records : ndarray
            Result of `encode`.
        words : Words
            The only source of randomness: uniform random words ``words.uint64(n)`` and ``words.below(bound, n)``.

        Returns
        -------
        reports : ndarray
            Entry i depends on record i and on the words alone.
        """
        raise NotImplementedError

    def channel_rows(self) -> Any:
        """Return the rows of the channel over the extreme inputs; None if it is infinite or too large.

        Returns
        -------
        rows : sequence of sequences of int or Fraction, or None
            Probabilities up to a common factor: all rows have the same sum.
        """
        return None

    def report_variance(self, records: AnyArray) -> Floats:
        """Return the variance of one decoded report of each record, per coordinate. The default uses the channel.

        Parameters
        ----------
        records : ndarray
            Result of ``domain.convert``.

        Returns
        -------
        variance : ndarray of float64
        """
        rows = self.channel_rows()
        if rows is None or not isinstance(self.domain, Categories):
            raise NotImplementedError(f"{type(self).__name__} must have report_variance, or channel_rows")
        probability = np.array([[float(Fraction(entry) / sum(map(Fraction, row))) for entry in row] for row in rows])
        decoded = self.report.decode(
            np.arange(probability.shape[1], dtype=self.report.dtype(records.dtype)), self.debiasing
        )
        mean = np.tensordot(probability, decoded, 1)
        return np.asarray((np.tensordot(probability, decoded**2, 1) - mean**2)[records])

    def report_state(self, records: AnyArray, people: Counts, generator: Generator) -> AnyArray:
        """Return the state of the reports of many people, drawn from its distribution at a cost that does not grow with them.

        The default draws the codes of a mechanism with `channel_rows`, a domain of Categories and reports of Codes.

        Parameters
        ----------
        records : ndarray
            Different records, a result of ``domain.convert``.
        people : ndarray of int64
            Number of people with each record, > 0.
        generator : numpy.random.Generator
            Source of randomness. The state is simulated, and protects nobody.

        Returns
        -------
        state : ndarray
            State of the aggregator, as ``report.tally`` makes it from reports.

        Raises
        ------
        ValueError
            If there is no exact form at such a cost.
        """
        rows = self.channel_rows()
        if rows is None or not isinstance(self.domain, Categories) or not isinstance(self.report, Codes):
            raise self._no_exact_state("its reports have too many values")
        weights = integer_weights(rows, self.domain.k, self.report.k)
        codes = multinomial(generator, people, np.array([shares_of(weights[record]) for record in records.tolist()]))
        return np.asarray(codes.sum(axis=0))

    def _no_exact_state(self, reason: str) -> ValueError:
        return ValueError(
            f"mechanism must have reports that can be simulated by exact counts, got {self!r}: {reason}. Privatize and "
            "count a sample of records instead"
        )

    @property
    def value_range(self) -> tuple[float, float]:
        """Interval that holds each coordinate of the expected decoded report: that of the domain unless overridden."""
        return self.domain.range

    @property
    def worst_variance(self) -> float:
        """Largest variance of a coordinate of one decoded report, from noise and sampling, over all populations.

        The person is drawn at random from the worst population.
        """
        low, high = self.value_range
        line = line_of(self.debiasing)
        if line is not None:  # a decoded bit has two values
            return float(line.variance(min(max((line.zero + line.one) / 2, low), high)))
        inputs = np.arange(self.domain.k) if isinstance(self.domain, Categories) else None
        if inputs is None:
            raise NotImplementedError(f"{type(self).__name__} must have worst_variance")
        variance = self.report_variance(inputs)
        if variance.ndim < 2:
            return float(variance.max()) + 0.25
        # A share s has the variance s a + (1 - s) b - s^2, where a is the second moment of its number in the reports of its
        # own category and b the largest one in those of another category.
        own, other = variance.diagonal() + 1, np.where(np.eye(len(variance)), 0, variance).max(axis=0)
        share = np.clip((own - other) / 2, 0, 1)
        return float((share * own + (1 - share) * other - share**2).max())

    # Methods of all mechanisms --------------------------------------------------------------------------------------

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of each person: local differential privacy of one report, from the integers of the coins."""
        return Guarantee("local", self.epsilon_realized)

    @property
    def two_level(self) -> TwoLevel | None:
        """Parameters for `privacy.shuffled`, from the integers of the coins; None unless the channel has two levels.

        Without them, `privacy.shuffled` uses a bound that holds for all channels with the same epsilon. The default looks
        at the columns of `channel_rows`.
        """
        rows = self.channel_rows()
        return None if rows is None else TwoLevel.of_rows(rows)

    @property
    def report_bytes(self) -> int:
        """Size of one report in bytes, for records in double precision if it depends on the precision."""
        return self.report.nbytes

    @property
    def report_bits(self) -> int:
        """Size of one report in bits, without padding."""
        return self.report.bits

    def decode(self, reports: ArrayLike) -> Floats:
        """Return unbiased numbers from reports, one row per report.

        Parameters
        ----------
        reports : array_like
            Results of `privatize`.

        Returns
        -------
        decoded : ndarray of float64, or of float32 for reports in float32; shape (n,) or (n, k) or (n, dim)
            The expectation of a row is the record (one-hot for categories). The mean of the rows, in double precision, is
            ``estimate(reports).value``. A single report gives one dimension less.

        Raises
        ------
        TypeError, ValueError
            If `reports` are not reports of this mechanism.
        """
        decoded = self.report.decode(self.report.validate(reports), self.debiasing)
        return decoded[0] if np.ndim(reports) == len(self.report.shape) else decoded

    def variance(self, x: ArrayLike) -> Floats:
        """Return the exact variance of one decoded report of each record, per coordinate.

        Parameters
        ----------
        x : array_like
            Records as for `privatize`.

        Returns
        -------
        variance : ndarray of float64
            Variances, in the shape of ``decode(privatize(x))``.

        Raises
        ------
        TypeError, ValueError
            If a record is outside the domain.
        """
        records, single = self.domain.records(x)
        converted = self.domain.convert(records)
        if self.domain.first_invalid(converted) >= 0:
            raise self.domain.invalid_error(records)
        variance = self.report_variance(converted)
        return variance[0] if single else variance

    def conclude(self, counted: Aggregator) -> Estimate[Any]:
        """Return the mean of the decoded reports. Users call ``counted.estimate()``.

        Parameters
        ----------
        counted : Aggregator
            Aggregator of this mechanism with at least one report.

        Returns
        -------
        estimate : Estimate
        """
        return counted.decoded_mean()

    def channel(self) -> Channel:
        """Return the exact channel over the extreme inputs, for mechanisms with few reports.

        Returns
        -------
        channel : privacy.Channel
            The inputs are all categories, both ends of the interval, the vertices of the cube, or one input per symbol.
            The reports are in the order of their codes, or of their bits read as a binary number, first bit lowest.

        Raises
        ------
        ValueError
            If there are too many reports to enumerate, or infinitely many.
        """
        rows = self.channel_rows()
        if rows is None:
            raise ValueError(f"{self!r} has too many reports to enumerate")
        return Channel(rows)

    # Identity -------------------------------------------------------------------------------------------------------

    def _pinned(self) -> dict[str, Any]:
        if self._coin is not None:
            return {"coins": _schema.integers(self._coin)}
        rows = self.channel_rows()
        if rows is None:
            return {"coins": {}}
        weights = [[str(Fraction(entry)) for entry in row] for row in rows]
        return {"coins": {"channel": _schema.digest({"rows": weights}).hex()}}
