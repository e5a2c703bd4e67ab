"""The frozen base of all mechanisms: everything that does not depend on which one it is, written once.

A subclass gives its `domain`, its `report` format, its compiled kernel with the integers of its coins, the line of
its `debiasing`, and its `variance`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check, _threads
from .._random import open_stream
from ..aggregation import Aggregator
from ..privacy import Channel, Guarantee
from ..results import Debiasing, Estimate
from ._domains import Domain
from ._reports import Bits, Codes, Format

if TYPE_CHECKING:
    from .._core.stream import Stream
    from .._random import RNGLike

AnyArray = NDArray[Any]

CHUNK_BYTES = 1 << 20  # of records that `run` checks, then privatizes while they are in cache
CHANNEL_ENTRIES = 1 << 17  # more than that is too many outputs to enumerate


class Kernel(Protocol):
    """What a compiled kernel offers."""

    @property
    def rows(self) -> int: ...

    def privatize(self, key: Stream, block: int, x: AnyArray, out: AnyArray) -> None: ...
    def run(self, key: Stream, block: int, x: AnyArray, state: AnyArray) -> None: ...


_kinds: dict[str, type[Mechanism]] = {}  # by name, for `from_dict`


class Mechanism(ABC):
    """An immutable description of one channel: what a record may be, what a report looks like, and what it costs.

    Mechanisms are compared by their parameters, can be pickled, and their `repr` can be evaluated.

    Attributes
    ----------
    epsilon : float
        The privacy parameter that was asked for.
    epsilon_realized : float
        The exact guarantee of the coins in use, at most `epsilon`.
    guarantee : privacy.Guarantee
        The same as an object.
    report_bytes : int
        Size of one report in bytes.
    """

    # What a subclass sets at construction, beside its parameters.
    epsilon: float
    epsilon_realized: float
    domain: Domain
    report: Format
    debiasing: Debiasing  # of bits and codes
    _kernel: Kernel

    @abstractmethod
    def _variance(self, records: AnyArray) -> NDArray[np.float64]:
        """Of one decoded report, per coordinate; records as the domain gives them."""

    def _channel(self) -> Any:
        """Rows of the channel over the extreme inputs, as integers; None where it is not finite."""
        return None

    # What all have --------------------------------------------------------------------------------------------------

    @property
    def guarantee(self) -> Guarantee:
        """What is guaranteed to each person: local epsilon-differential privacy of a report, from the integers."""
        return Guarantee("local", self.epsilon_realized)

    @property
    def report_bytes(self) -> int:
        """Size of one report in bytes (of double precision records, where that matters)."""
        return self.report.nbytes

    def privatize(
        self, x: ArrayLike, *, rng: RNGLike = None, out: AnyArray | None = None, clip: bool = False
    ) -> AnyArray:
        """Turn records into reports.

        Parameters
        ----------
        x : array_like
            One record per person, or a single record (one dimension less): see the class for dtype and shape.
        rng : None, int, SeedSequence, Generator or BitGenerator
            ``None`` draws a fresh key from the operating system. Anything else makes the reports reproducible, hence not
            private: for simulation and tests only. The same key and records give the same reports, whatever the number
            of threads and the instruction set; but ``privatize(x[:m])`` need not be ``privatize(x)[:m]``.
        out : ndarray, optional
            Where to write the reports: of the shape and dtype that they would have.
        clip : bool, default False
            Project records that are out of the domain, and map NaN to its centre, instead of refusing them. What a
            client in the field uses: an error that depends on the record would itself be a report.

        Returns
        -------
        reports : ndarray
            `out`, or a new array. Entry i depends on record i and on nothing else.

        Raises
        ------
        TypeError, ValueError
            If `x` or `out` has a wrong dtype or shape; if a record is out of the domain (NaN always is) and `clip` is
            false. Nothing is written and no coin tossed before the whole input is accepted.

        Privacy
        -------
        Each report is epsilon-LDP with `epsilon_realized`, exactly; see the class and docs/proofs.
        """
        self._check_clip(clip)
        records, single = self.domain.records(x)
        accepted = self._accept(records, clip)
        n, shape, dtype = len(accepted), self.report.shape, self.report.dtype(accepted.dtype)
        if out is not None:
            _check.output(out, shape if single else (n, *shape), dtype)
        if out is None or not _check.is_laid_out(out) or np.may_share_memory(out, accepted):
            reports = np.empty((n, *shape), dtype)
        else:
            reports = out.reshape((n, *shape))
        kernel = self._kernel
        stream = open_stream(rng)
        first = stream.take(-(-n // kernel.rows))

        if accepted.size < _threads.SMALL:  # a single record has no time for more
            kernel.privatize(stream, first, accepted, reports)
        else:

            def work(start: int, stop: int) -> None:
                kernel.privatize(stream, first + start // kernel.rows, accepted[start:stop], reports[start:stop])

            _threads.deal(work, n, kernel.rows, accepted.size)
        answer = reports[0] if single else reports
        if out is None:
            return answer
        if not np.may_share_memory(reports, out):
            out[...] = answer
        return out

    def _accept(self, records: AnyArray, clip: bool) -> AnyArray:
        """All records as the kernel takes them; raises if one is out of the domain."""
        domain = self.domain
        accepted = domain.convert(records)
        if not clip and self._offend(accepted):
            raise domain.refuse(records)
        return accepted

    def _offend(self, records: AnyArray) -> bool:
        """Whether a converted record is out of the domain; all threads look."""
        domain = self.domain
        if records.size < _threads.SMALL:
            return domain.offender(records) >= 0

        def look(start: int, stop: int) -> bool:
            return domain.offender(records[start:stop]) >= 0

        return any(_threads.deal(look, len(records), 1, records.size // 8))

    def _check_clip(self, clip: bool) -> None:
        if _check.flag("clip", clip) and not self.domain.clips:
            raise ValueError("clip must be False for categories: map what is out of range to a category of your own")

    def run(self, x: ArrayLike, *, rng: RNGLike = None, clip: bool = False) -> Estimate:
        """Privatize and aggregate block by block, without storing reports: a simulation, or a trusted device.

        Parameters
        ----------
        x : array_like
            As for `privatize`; memory maps are read once, in pieces.
        rng, clip
            As for `privatize`.

        Returns
        -------
        estimate : Estimate
            Equal, bit for bit, to ``estimate(privatize(x))`` under the same key.

        Raises
        ------
        TypeError, ValueError
            As for `privatize`; if `x` is empty. Nothing is returned then.

        Privacy
        -------
        The estimate is a function of the reports alone.

        Notes
        -----
        Memory does not depend on the number of records.
        """
        self._check_clip(clip)
        domain = self.domain
        records, _ = domain.records(x)
        aggregator = self.aggregator()
        if len(records) == 0:
            return aggregator.estimate()
        kernel = self._kernel
        stream = open_stream(rng)
        first = stream.take(-(-len(records) // kernel.rows))
        row_bytes = records.dtype.itemsize * (records.size // len(records))
        chunk = kernel.rows * max(1, CHUNK_BYTES // (kernel.rows * row_bytes))

        def work(start: int, stop: int) -> AnyArray:
            state = aggregator._zeros()
            for at in range(start, stop, chunk):
                piece = domain.convert(records[at : min(stop, at + chunk)])
                if not clip and domain.offender(piece) >= 0:
                    raise domain.refuse(records)
                kernel.run(stream, first + at // kernel.rows, piece, state)
            return state

        return aggregator._add(_threads.deal(work, len(records), kernel.rows, records.size), len(records)).estimate()

    def decode(self, reports: ArrayLike) -> NDArray[np.float64]:
        """Unbiased numbers from reports, one row per record: their expectation is the record (one-hot for categories).

        Parameters
        ----------
        reports : array_like
            As `privatize` returns them.

        Returns
        -------
        decoded : ndarray of float64, shape (n,) or (n, k) or (n, dim)
            One dimension less for a single report. ``estimate(reports).value`` is their mean.

        Raises
        ------
        TypeError, ValueError
            If they are not reports of this mechanism.
        """
        accepted = self.report.validate(reports)
        decoded = self._decode(accepted)
        return decoded[0] if np.ndim(reports) == len(self.report.shape) else decoded

    def _decode(self, reports: AnyArray) -> NDArray[np.float64]:
        if isinstance(self.report, Bits | Codes):
            return np.asarray(self.debiasing(self.report.hits(reports)))
        return reports.astype(np.float64)

    def variance(self, x: ArrayLike) -> NDArray[np.float64]:
        """Exact variance of one decoded report of a record, per coordinate.

        Parameters
        ----------
        x : array_like
            As for `privatize`.

        Returns
        -------
        variance : ndarray of float64
            Of the shape of ``decode(privatize(x))``.

        Raises
        ------
        TypeError, ValueError
            If a record is out of the domain.
        """
        records, single = self.domain.records(x)
        variance = self._variance(self._accept(records, clip=False))
        return variance[0] if single else variance

    def aggregator(self) -> Aggregator:
        """An empty aggregator for reports of this mechanism."""
        return self.report.aggregator(self)

    def estimate(self, reports: ArrayLike) -> Estimate:
        """The estimate from one batch of reports: ``aggregator().update(reports).estimate()``."""
        return self.aggregator().update(reports).estimate()

    def channel(self) -> Channel:
        """The exact channel over the extreme inputs, for mechanisms with few reports.

        Returns
        -------
        channel : privacy.Channel
            Inputs: all categories, both ends of the interval, the vertices of the cube, one input per symbol. Reports in
            the order of their codes, or of their bits read as a binary number, first bit lowest.

        Raises
        ------
        ValueError
            If there are too many reports to enumerate, or infinitely many.
        """
        rows = self._channel()
        if rows is None:
            raise ValueError(f"{self!r} has too many reports to enumerate")
        return Channel(rows)

    def __init_subclass__(cls) -> None:
        _kinds.setdefault(cls.__name__, cls)  # a name that is taken keeps its meaning in stored bytes

    # Identity -------------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The class and its parameters as plain types."""
        return {"mechanism": type(self).__name__, **{name: _plain(getattr(self, name)) for name in self._names()}}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Mechanism:
        """The mechanism that `to_dict` described.

        Parameters
        ----------
        data : dict

        Returns
        -------
        mechanism : Mechanism

        Raises
        ------
        TypeError, ValueError
            If `data` do not describe a mechanism of this version.
        """
        if not isinstance(data, dict):
            raise TypeError(f"data must be a dict, got {type(data).__name__}")
        kinds = {name: kind for name, kind in _kinds.items() if is_dataclass(kind)}
        name = data.get("mechanism")
        if not isinstance(name, str) or name not in kinds:
            raise ValueError(f"data must name a mechanism, one of {', '.join(sorted(kinds))}, got {name!r}")
        if not issubclass(kinds[name], cls):
            raise ValueError(f"data must describe a {cls.__name__}, got a {name}")
        arguments = {key: value for key, value in data.items() if key != "mechanism"}
        expected = set(kinds[name]._names())
        if set(arguments) != expected:
            raise ValueError(
                f"data must hold {', '.join(sorted(expected))} for {name}, got {', '.join(sorted(arguments))}"
            )
        return kinds[name](**arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, name) for name in self._names())

    @classmethod
    def _names(cls) -> list[str]:
        """The parameters, in the order of the constructor: every mechanism is a dataclass."""
        return [f.name for f in fields(cast(Any, cls)) if f.init]

    def _set(self, **values: Any) -> None:
        """Store attributes of a frozen instance, at construction."""
        for name, value in values.items():
            object.__setattr__(self, name, value)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
