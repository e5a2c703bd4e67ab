"""Base class of all mechanisms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import is_dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from .. import _check, _schema
from .._typing import AnyArray, Floats
from ..domains import FLOAT32, FLOAT64, Categories, Domain
from ..privacy import Channel, ReportLaw, TwoLevel, laws_of_rows
from ..reports import Codes, Counted, Decoding, Format, Label, Question
from ..results import AnyDebiasing, Estimate, MatrixDebiasing
from ._draws import PeopleCounts
from ._kernel import Kernel
from ._law import CHANNEL_ENTRIES as CHANNEL_ENTRIES
from ._law import Law
from ._python import PythonKernel, integer_weights, invert, right_inverse
from ._record_recipe import RecordRecipe

if TYPE_CHECKING:
    from numpy.random import Generator

LAW_METHODS = ("channel_rows", "report_variance", "report_state")  # of a mechanism without a law of its own


class Mechanism(Question[Estimate[Any]]):
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

    _kind: ClassVar[str] = "mechanism"
    epsilon: float
    epsilon_realized: float
    domain: Domain
    report: Format
    debiasing: AnyDebiasing | None = None
    _recipe: RecordRecipe
    _coin: Any = None

    # What a subclass gives --------------------------------------------------------------------------------------------

    def define(
        self,
        *,
        domain: Domain,
        report: Format,
        epsilon_realized: float | None = None,
        debiasing: AnyDebiasing | None = None,
        value_range: tuple[float, float] | None = None,
        kernel: Kernel | None = None,
        law: Law | None = None,
        encode: Any = None,
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
        value_range : tuple of float, optional
            Interval that holds each coordinate of the expected decoded report. The default is that of the domain.
        kernel : Kernel, optional
            Kernel for encoded records. The default calls `privatize_block` for each block.
        law : Law, optional
            Distribution of reports. By default it has `channel_rows` and what else the class defines.
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
        overridden = [name for name in LAW_METHODS if hasattr(self, name)] if law else []
        if overridden:
            raise TypeError(
                f"{type(self).__name__} must not define {overridden[0]}: the distribution of its reports is that of "
                f"{type(self).__mro__[1].__name__}, whose law has it"
            )
        # What is not given follows from what is: the loss from the rows of the channel, the kernel from a method or from the
        # rows. The last statement makes the recipe, with which the rest of the package works.
        law = law or MethodLaw(self)
        if epsilon_realized is None:
            epsilon_realized = Channel(law.rows()).epsilon()
        self._set(epsilon_realized=epsilon_realized, **attributes)
        if not hasattr(self, "epsilon"):
            self._set(epsilon=epsilon_realized)
        if not 0 <= epsilon_realized <= self.epsilon:
            raise ValueError(
                f"epsilon_realized must be in [0, epsilon] with epsilon={self.epsilon}, got {epsilon_realized}"
            )
        self._set(domain=domain, report=report, debiasing=debiasing, _coin=coin)
        if kernel is None:
            kernel = PythonKernel(getattr(self, "privatize_block", None) or self._inversion(law), self.report)
        encode = encode or getattr(self, "encode", None)
        width = max(domain.width or 1, report.shape[0] if encode and report.shape else 1)
        loss = epsilon_realized if type(self).guarantee is Question.guarantee else self.guarantee
        span, label = value_range or getattr(self, "value_range", domain.range), Label(self.schema, self.__repr__)
        parts = domain, kernel, self.report, self.debiasing, span, loss, law, label, coin, encode, width, first_block
        self._set(_recipe=RecordRecipe(*parts))

    def _inversion(self, law: Law) -> Any:
        """Return a `privatize_block` that draws from the rows of a law.

        Set the debiasing if none was given, and the codes that no row gives.
        """
        rows = law.rows()
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

    # Methods of all mechanisms ----------------------------------------------------------------------------------------

    def _conclude(self, counted: Counted) -> Estimate[Any]:
        return self._recipe.mean(counted)

    @property
    def worst_variance(self) -> float:
        """Largest variance of a coordinate of one decoded report, from noise and sampling, over all populations.

        The person is drawn at random from the worst population.
        """
        return self._recipe.worst_variance

    @property
    def total_variance(self) -> float:
        """Largest sum of the variances of all coordinates of a decoded vector, from noise and sampling, over all populations.

        For vectors in a ball or a cube: n E|estimate - mean|^2 is at most this, in any population. In a ball it is the square
        of `scale`, nearly so for `RotatedSigns`. `worst_variance` is for one coordinate.

        Raises
        ------
        TypeError
            If the records are no vectors in a ball or a cube.
        """
        return self._recipe.total_variance

    @property
    def two_level(self) -> TwoLevel | None:
        """The two levels of probability of the channel, from the integers of the coins; None unless there are two."""
        return self._recipe.two_level

    @property
    def report_laws(self) -> Sequence[ReportLaw] | None:
        """Laws of one report for `privacy.shuffled`, from the integers of the coins; None if they are not known.

        Without them, `privacy.shuffled` uses a bound that holds for all channels with the same epsilon.
        """
        return self._recipe.report_laws

    @property
    def report_bytes(self) -> int:
        """Size of one report in bytes, for records in double precision if it depends on the precision."""
        return self.report.nbytes

    @property
    def report_bits(self) -> int:
        """Size of one report in bits, without padding."""
        return self.report.bits

    def decode(self, reports: ArrayLike, *, dtype: DTypeLike | None = None, out: Any = None) -> Floats:
        """Return unbiased numbers from reports, one row per report.

        Parameters
        ----------
        reports : array_like
            Results of `privatize`.
        dtype : {None, "float64", "float32"}, optional
            Precision of the numbers. By default the precision of `out`; without it, float32 for reports in float32, else
            float64.
        out : ndarray, or array of another library on the CPU, optional
            Array for the numbers, of their shape and of dtype float64 or float32.

        Returns
        -------
        decoded : ndarray of float64 or float32, shape (n,) or (n, k) or (n, dim)
            `out`, or a new array. The expectation of a row is the record (one-hot for categories). The mean of the rows, in
            double precision, is ``estimate(reports).value``. A single report gives one dimension less.

        Raises
        ------
        TypeError, ValueError
            If `reports` are not reports of this mechanism, or `dtype` or `out` is not as above. `out` is not changed then.

        Notes
        -----
        On all threads. Rows of seeded reports are much larger than the reports; `estimate` does not need them.
        """
        checked = self.report.validate(reports)
        single = np.ndim(reports) == len(self.report.shape)
        if len(checked) == 1 and dtype is None and out is None:  # without the cost of threads and pieces
            row: Floats = self.report.decode(checked, self.debiasing)
            return row[0] if single else row
        empty = self.report.decode(checked[:0], self.debiasing)
        shape = empty.shape[1:] if single else (len(checked), *empty.shape[1:])
        dtypes = (FLOAT64, FLOAT32) if dtype is None else (_check.precision(dtype),)
        if out is None:
            decoded = np.empty(shape, empty.dtype if dtype is None else dtypes[0])
        else:
            decoded = _check.output(out, shape, *dtypes)
        self.report.decode_to(checked, self.debiasing, decoded[np.newaxis] if single else decoded)
        return decoded[()] if out is None else out

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
        variance = self._recipe.variance(converted)
        return variance[0] if single else variance

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
        rows = self._recipe.law.rows()
        if rows is None:
            raise ValueError(f"{self!r} has too many reports to enumerate")
        return Channel(rows)

    # Identity -------------------------------------------------------------------------------------------------------

    def _pinned(self) -> dict[str, Any]:
        if self._recipe.coin is not None:
            return {"coins": _schema.integers(self._recipe.coin)}
        rows = self._recipe.law.rows()
        if rows is None:
            return {"coins": {}}
        weights = [[str(Fraction(entry)) for entry in row] for row in rows]
        return {"coins": {"channel": _schema.digest({"rows": weights}).hex()}}


class MethodLaw(Law):
    """The distribution of the reports of a mechanism that defines parts of it as methods, as mechanisms in Python do."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism

    def _own(self, name: str) -> Any:
        """Return an attribute of the mechanism that its class defines; None if it does not."""
        defined = getattr(type(self._mechanism), name, None)
        return None if defined is getattr(Mechanism, name, None) else getattr(self._mechanism, name)

    def rows(self) -> Any:
        rows = self._own("channel_rows")
        return None if rows is None else rows()

    def variance(self, decoding: Decoding, records: AnyArray) -> Floats | None:
        variance = self._own("report_variance")
        return None if variance is None else np.asarray(variance(records))

    def draw(self, records: AnyArray, people: PeopleCounts, generator: Generator) -> AnyArray | None:
        draw = self._own("report_state")
        return None if draw is None else np.asarray(draw(records, people, generator))

    def two_level(self) -> TwoLevel | None:
        found: TwoLevel | None = self._own("two_level")
        return super().two_level() if found is None else found

    def report_laws(self) -> Sequence[ReportLaw] | None:
        rows = self.rows() if self._own("two_level") is None else None
        found = None if rows is None else laws_of_rows(rows)
        return super().report_laws() if found is None else found

    def worst_variance(self, decoding: Decoding) -> float | None:
        found = self._own("worst_variance")
        return None if found is None else float(found)
