"""The recipe of mechanisms and problems: one record per person becomes one report, which is counted, piece by piece.

One class; its methods are the steps of a piece of records: of one person, an array or a stream, with and without personal keys.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _check, _threads
from .._core.stream import Stream
from .._frames import Groups, read_by, require_one_index, whole_column
from .._person_keys import PIECE_ROWS, QuestionKeys, is_personal, value_fields
from .._random import keeps_state, open_stream
from .._typing import AnyArray, Floats
from ..domains import FLOAT64, Ball, Categories, Clipped, Domain
from ..privacy import Guarantee, ReportLaw, TwoLevel
from ..reports import Codes, Counted, Counts, Decoding, Format, Label, Recipe, StateLayout, _labeled_reports
from ..results import AnyDebiasing, Estimate, Plausibility, line_of
from ._draws import PeopleCounts
from ._kernel import Kernel, answer_asked
from ._law import Fused, Law, NoExactFormError, drawn_codes, variances_of_rows, worst_variance_of
from ._python import integer_weights
from ._records import Records
from ._report_tests import entropy_of, plausibility_of
from ._single import EXACT, SingleRecord

if TYPE_CHECKING:
    from numpy.random import Generator

    from .._random import RNGLike

PIECE_BYTES = 1 << 20  # bytes of records per piece, so that a piece stays in cache for all steps


@dataclass(frozen=True, eq=False)
class RecordRecipe(Recipe):
    """How one record of a person becomes a report of one format: a domain, an encoding, a kernel, a format, and their law.

    Attributes
    ----------
    domain : Domain
        Domain of the records.
    kernel : Kernel
        Kernel for encoded records.
    report : Format
        Format of the reports, which also counts them.
    debiasing : Debiasing, MatrixDebiasing, NumberDebiasing, SupportDebiasing or None
        Map from reports to unbiased numbers; None for formats whose reports are unbiased numbers.
    value_range : tuple of float
        Interval that holds each coordinate of the expected decoded report.
    loss : float or Guarantee
        Exact epsilon of one report, or another guarantee.
    law : Law
        Distribution of the reports, as far as it is known.
    label : Label
    coin : dataclass or None
        The integers from which the guarantee is computed.
    encode : callable or None
        Function from converted records of the mechanism to input of the kernel, where row i depends on record i alone.
    width : int
        Numbers per encoded record.
    first_block : int
        Number of the first record block. With different numbers, two mechanisms with the same kernel share no random
        word.
    translate : callable or None
        Function from converted records to records of the mechanism, which reads invalid ones, too.
    inner : Domain or None
        Domain of the records of the mechanism, if it is another one.
    always_clip : bool
        Whether translated records can be outside of `inner`, and are clipped to it.
    """

    domain: Domain
    kernel: Kernel
    report: Format
    debiasing: AnyDebiasing | None
    value_range: tuple[float, float]
    loss: float | Guarantee
    law: Law
    label: Label
    coin: Any = None
    encode: Callable[[AnyArray], AnyArray] | None = None
    width: int = 1
    first_block: int = 0
    translate: Callable[[AnyArray], AnyArray] | None = None
    inner: Domain | None = None
    always_clip: bool = False

    # What follows from the fields -------------------------------------------------------------------------------------

    @cached_property
    def guarantee(self) -> Guarantee:  # type: ignore[override]
        """Privacy guarantee of each person."""
        return Guarantee("local", self.loss) if isinstance(self.loss, float) else self.loss

    @cached_property
    def decoding(self) -> Decoding:
        """What decoded reports are."""
        return Decoding(self.debiasing, self.value_range, self.guarantee)

    @cached_property
    def clips(self) -> bool:
        """Whether records outside of the domain can be projected on it."""
        return self.domain.clips

    def of(
        self,
        domain: Domain,
        translate: Callable[[AnyArray], AnyArray] | None,
        *,
        kernel: Kernel | None = None,
        truncates: bool = False,
    ) -> RecordRecipe:
        """Return the recipe for records of another domain, which are translated to those of this one, or read by a kernel."""
        return replace(
            self,
            domain=domain,
            kernel=kernel or self.kernel,
            law=Fused() if kernel else self.law,
            width=1 if kernel else max(self.width, self.domain.width or 1),
            translate=translate,
            inner=None if kernel else self.domain,
            always_clip=truncates,
        )

    def variance(self, records: AnyArray) -> Floats:
        """Return the variance of one decoded report of each result of ``domain.convert``, per coordinate."""
        known = self.law.variance(self.decoding, records)
        if known is not None:
            return known
        rows = self.law.rows()
        if rows is None or not isinstance(self.domain, Categories):
            raise NotImplementedError(f"{self.label.text} must have report_variance, or channel_rows")
        return variances_of_rows(self.report, self.debiasing, rows)[records]

    def draw(self, records: AnyArray, people: PeopleCounts, generator: Generator) -> AnyArray:
        """Return the counts of the reports of many people, drawn from their distribution.

        The cost depends on the number of different records, not on that of people.

        Parameters
        ----------
        records : ndarray
            Different records, a result of ``domain.convert``.
        people : ndarray of int64
            Number of people with each record, > 0.
        generator : numpy.random.Generator
            Source of randomness. The counts are simulated, and protect nobody.

        Raises
        ------
        ValueError
            If there is no exact form at such a cost.
        """
        if self.inner is not None:
            records = self.inner.convert(records if self.translate is None else self.translate(records))
            records = self.inner.clip(records) if self.always_clip else records
        try:
            drawn = self.law.draw(records, people, generator)
            return drawn if drawn is not None else self._drawn_codes(records, people, generator)
        except NoExactFormError as error:
            raise ValueError(
                f"mechanism must have reports that can be simulated by exact counts, got {self.label.text}: {error}. "
                "Privatize and count a sample of records instead"
            ) from None

    def _drawn_codes(self, records: AnyArray, people: PeopleCounts, generator: Generator) -> AnyArray:
        """Return the counts of codes, from the rows of the channel."""
        rows, domain = self.law.rows(), self.inner or self.domain
        if rows is None or not isinstance(domain, Categories) or not isinstance(self.report, Codes):
            raise NoExactFormError("its reports have too many values")
        return drawn_codes(integer_weights(rows, domain.k, self.report.k), records, people, generator)

    @cached_property
    def worst_variance(self) -> float:
        """Largest variance of a coordinate of one decoded report, from noise and sampling, over all populations."""
        known = self.law.worst_variance(self.decoding)
        if known is not None:
            return known
        low, high = self.value_range
        line = line_of(self.debiasing)
        if line is not None:  # a decoded bit has two values
            return float(line.variance(min(max((line.zero + line.one) / 2, low), high)))
        if not isinstance(self.domain, Categories):
            raise NotImplementedError(f"{self.label.text} must have worst_variance")
        return worst_variance_of(self.variance(np.arange(self.domain.k)))

    @cached_property
    def total_variance(self) -> float:
        """Largest sum of the variances of all coordinates of a decoded vector, over all populations."""
        domain = self.domain
        if not isinstance(domain, Ball):
            raise TypeError(f"total_variance is for vectors in a ball or a cube, got {self.label.text}")
        # Half of the worst population has the record x and half -x, so that the mean is 0: the center, or the longest vectors.
        longest = np.zeros((2, domain.dim))
        longest[1, : None if domain.norm == "linf" else 1] = domain.radius
        return float((self.variance(longest) + longest**2).sum(axis=1).max())

    @cached_property
    def two_level(self) -> TwoLevel | None:
        """The two levels of probability; None unless the channel has two."""
        return self.law.two_level()

    @cached_property
    def report_laws(self) -> Sequence[ReportLaw] | None:
        """Laws of one report for `privacy.shuffled`; None if they are not known."""
        return self.law.report_laws()

    def mean(self, counted: Counted, decoding: Decoding | None = None) -> Estimate[Any]:
        """Return the mean of the decoded reports, of which there is at least one; of some of their numbers by `decoding`."""
        decoding, state = decoding or self.decoding, counted.states[0]
        mean: Estimate[Any] = self.report.mean(decoding, state, counted.n)
        self.report.warn_if_doubtful(decoding, state, mean)
        return mean

    # The server -------------------------------------------------------------------------------------------------------

    @property
    def state_layouts(self) -> list[StateLayout]:
        return [self.report.state_layout]

    def tally(self, reports: Any) -> tuple[list[AnyArray], int]:
        arranged = self.report.arrange(_labeled_reports.read(self.report, self.label, reports))
        return [self.report.tallied(arranged)], len(arranged)

    def plausibility(self, reports: Any) -> Plausibility:
        return plausibility_of(self, self.report.validate(_labeled_reports.read(self.report, self.label, reports)))

    @cached_property
    def entropy(self) -> float:
        return entropy_of(self)

    def valid_messages(self, messages: Sequence[bytes]) -> tuple[list[list[bytes]], Counter[str]]:
        return _labeled_reports.valid_messages(self.report, self.label, messages)

    def message(self, report: Any) -> bytes:
        accepted = self.report.validate(report)
        if len(accepted) != 1:
            raise ValueError(f"report must be one report, got {len(accepted)}")
        return self.label.head + self.report.pack(accepted).tobytes()

    def to_arrow(self, reports: Any) -> Any:
        return _labeled_reports.to_table(self.report, self.label, reports)

    def from_arrow(self, table: Any) -> AnyArray:
        return _labeled_reports.read_table(self.report, self.label, table)

    def merge(self, states: Sequence[AnyArray], others: Sequence[AnyArray]) -> None:
        self.report.merge(states[0], others[0])

    def is_possible(self, states: Sequence[AnyArray], n: int) -> bool:
        return self.report.is_possible(states[0], n)

    def counts(self, states: Sequence[AnyArray]) -> AnyArray:
        return self.report.counts(states[0])

    # People -----------------------------------------------------------------------------------------------------------

    def privatize(self, x: Any, rng: RNGLike, out: AnyArray | None, clip: bool) -> AnyArray:
        """Turn records into reports. See `Question.privatize`."""
        self.domain.check_clip(clip)
        if is_personal(rng):
            require_one_index({"x": x, "persons": rng.given})
        records, single = self.domain.records(x)
        return self._reports(records, single, rng, out, clip, warn=clip)

    def _warn_missing(self, records: AnyArray) -> None:
        """Warn if vectors have NaN: a gradient with NaN is a fault, which clipping would hide."""
        if self.domain.width is not None:
            missing, n = self.domain.missing_vectors, len(records)
            found = _threads.parallel_map(lambda a, b: missing(records[a:b]), n, 1, records.size // 8)
            Clipped(missing=sum(found)).warn(n, "the reports are")

    def _reports(
        self, records: AnyArray, single: bool, rng: RNGLike, out: AnyArray | None, clip: bool, *, warn: bool = False
    ) -> AnyArray:
        """Return the reports of results of ``domain.records``."""
        n = len(records)
        shape = self.report.shape
        personal = is_personal(rng)
        # With personal keys the dtype of reports does not depend on that of the records.
        dtype = self.report.dtype(FLOAT64 if personal else self._kernel_dtype(records))
        to = None if out is None else _check.output(out, shape if single else (n, *shape), dtype)
        # Small reports go to a new array first. That takes less time than another pass over the records for the check.
        small = not clip and to is not None and to.nbytes <= records.nbytes // 2
        direct = to is not None and not small and _check.is_laid_out(to) and not np.may_share_memory(to, records)
        reports = to.reshape((n, *shape)) if to is not None and direct else np.empty((n, *shape), dtype)
        if warn and out is not None and any(action == "error" for action, *_ in warnings.filters):
            self._warn_missing(records)  # before `out` is changed
            warn = False
        complete = False  # whether certainly no vector has NaN
        if is_personal(rng):
            self._of_persons(records, rng.of(self.label.schema, n), reports, clip=clip)
        else:
            complete = self._fill(records, rng, reports, clip=clip, check_first=direct)
        if warn and not complete:
            self._warn_missing(records)
        answer = reports[0] if single else reports
        if out is None or to is None:
            return answer
        if not np.may_share_memory(reports, to):
            to[...] = answer
        return out

    def _kernel_dtype(self, records: AnyArray) -> np.dtype[Any]:
        """Return the dtype of the input of the kernel for results of ``domain.records``."""
        if self.translate is None:
            return self.domain.kernel_dtype(records)
        assert self.inner is not None
        return self.inner.kernel_dtype(self.translate(self.domain.convert(records[:0])))

    def collect(self, new: Callable[[Groups | None], Counts], x: Any, by: Any, rng: RNGLike, clip: bool) -> Counts:
        self.domain.check_clip(clip)
        if isinstance(x, Records):
            counts = new(None if by is None else Groups(read_by(by)))
            for piece in x.pieces(self.domain.reads_columns, by, rng):
                with piece.place():
                    self._collect_piece(counts, piece.x, piece.by, piece.rng, clip)
            return counts
        if by is None:
            counts = new(None)
            self._collect_piece(counts, x, None, rng, clip)
            return counts
        require_one_index({"x": x, "by": by, "persons": rng.given if is_personal(rng) else None})
        counts = new(Groups(None))
        self._collect_piece(counts, x, whole_column("by", by), rng, clip)
        return counts

    def _collect_piece(self, counts: Counts, x: Any, by: Any, rng: RNGLike, clip: bool) -> None:
        records, _ = self.domain.records(x)
        if by is None and not is_personal(rng):
            states, clipped = self.run(records, rng, self.report.new_state, clip=clip)
            for state in states:
                self.merge([counts.states[0][0]], [state])
            counts.n += len(records)
        else:
            if is_personal(rng):
                require_one_index({"x": x, "persons": rng.given})
            reports = self._reports(records, False, rng, None, clip)
            self.tally_groups(counts, reports, by)
            clipped = self.clipped(records) if clip else Clipped()
        if clip:
            counts.add_clipped(clipped._asdict())

    def tally_groups(self, counts: Counts, reports: AnyArray, by: Any) -> None:
        """Add valid reports to the counts of the groups of people, if `by` is a column, or of all people."""
        members, _ = counts.members(by)
        if members is not None and len(members) != len(reports):
            raise ValueError(f"by must have one value per record, got {len(members)} for {len(reports)} records")
        if members is None:
            self.merge([counts.states[0][0]], [self.report.tallied(reports)])
            counts.n += len(reports)
            return
        counts.n += self.report.tally_groups(reports, members, counts.states[0])

    def messages(self, x: Any, rng: RNGLike, clip: bool) -> Iterator[Any]:
        for piece in x.pieces(self.domain.reads_columns, None, rng):
            with piece.place():
                reports = self.privatize(piece.x, piece.rng, None, clip)
            yield _labeled_reports.messages_of(self.report, self.label, reports)

    def warn_clipped(self, n: int, clipped: dict[str, int]) -> None:
        Clipped(**clipped).warn(n)

    # Blocks of records ------------------------------------------------------------------------------------------------

    def blocks(self, n: int) -> int:
        """Return the number of record blocks of n records."""
        return -(-n // self.kernel.rows)

    @cached_property
    def single(self) -> Callable[[Any, bool], AnyArray | None]:
        """Function that returns the report of one record under a fresh key; None where the general case is needed."""
        return SingleRecord(self.domain, self.report, self.kernel, self.first_block, self.checks).privatize

    def piece_rows(self, records: AnyArray) -> int:
        """Return the number of records per piece, a multiple of the block size."""
        rows = self.kernel.rows
        record_bytes = max(records.dtype.itemsize * (records.size // max(1, len(records))), 8 * self.width)
        return rows * max(1, PIECE_BYTES // (rows * record_bytes))

    @cached_property
    def checks(self) -> bool:
        """Whether the kernel checks the records while it reads them, so that no other pass is needed."""
        return self.translate is None and self.encode is None and self.kernel.checks and not self.always_clip

    def prepared(self, converted: AnyArray, clip: bool = False) -> AnyArray:
        """Return the input of the kernel for results of ``domain.convert``, which may have been left where they were.

        With `clip`, functions of a mechanism in Python get valid records only. Compiled kernels clip what they read.
        """
        if clip and not self.kernel.checks:
            converted = self.domain.clip(converted)
        if self.translate is not None:
            assert self.inner is not None
            converted = self.inner.convert(self.translate(converted))
        encoded = converted if self.encode is None else self.encode(converted)
        return encoded if encoded.flags.aligned else encoded.copy()

    def _fill(self, records: AnyArray, rng: RNGLike | Stream, out: AnyArray, *, clip: bool, check_first: bool) -> bool:
        """Write the reports of records to `out`, on all threads. Raise if a record is invalid and `clip` is false.

        With `check_first` nothing is written to `out` in this case. Otherwise `out` then holds reports of a part of the
        records. `rng` is never changed in this case. Return whether certainly no vector has NaN.
        """
        kernel = self.kernel
        check_first = not clip and (check_first or not self.checks or keeps_state(rng))

        def piece(converted: AnyArray, stream: Stream, block: int, reports: AnyArray) -> bool:
            valid = kernel.privatize(stream, block, self.prepared(converted, clip), reports, clip or self.always_clip)
            if not (clip or check_first or valid):
                self._check_piece(converted, records)
            return valid

        if records.size * self.width < _threads.SMALL:  # one piece, without the cost of threads
            converted = self._converted(records, records, clip)
            if check_first:
                self._check_piece(converted, records)
            stream = open_stream(rng)
            block = self.first_block + stream.take(self.blocks(len(records)))
            return piece(converted, stream, block, out) and self.checks
        if check_first:
            self._check(records)
        stream, step = open_stream(rng), self.piece_rows(records)
        first = self.first_block + stream.take(self.blocks(len(records)))

        def work(start: int, stop: int) -> bool:
            valid = self.checks
            for at in range(start, stop, step):
                end = min(stop, at + step)
                converted = self._converted(records[at:end], records, clip)
                valid &= piece(converted, stream, first + at // kernel.rows, out[at:end])
            return valid

        return all(_threads.parallel_map(work, len(records), kernel.rows, records.size * self.width))

    def _of_persons(self, records: AnyArray, keys: QuestionKeys, out: AnyArray, *, clip: bool) -> None:
        """Write the reports of records to `out`, each from a key of its own. Nothing is written if a record is invalid.

        `out` has the dtype of reports in double precision: equal values have equal reports, in whatever dtype they come.
        """
        if not clip:
            self._check(records)
        integers = records.dtype.kind in "iu" and not isinstance(self.domain, Categories) and records.size
        if integers and max(-int(records.min()), int(records.max())) > EXACT:
            raise ValueError("x must be integers within 2^53 of zero with PersonKeys")

        def work(start: int, stop: int) -> None:
            for at in range(start, stop, PIECE_ROWS):
                values, encoded = self._canonical(records[at : min(stop, at + PIECE_ROWS)])
                reports = out[at : at + len(encoded)]
                if self.kernel.asks:
                    answer_asked(self.kernel, keys, at, encoded, reports)
                else:
                    self.kernel.privatize_each(keys.derive(at, value_fields(values)), encoded, reports)

        _threads.parallel_map(work, len(records), PIECE_ROWS, 64 * len(records))

    def _canonical(self, records: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Return the values that identify the coins of records, and the input of the kernel, in double precision.

        The values are the nearest valid records, or the codes that they are translated to. Other translations and encodings
        are not used, because the last digits of their functions can depend on the machine.
        """
        if records.dtype.kind == "f":
            records = records.astype(FLOAT64, copy=False)
        converted, inner = self.domain.convert(records), self.inner or self.domain
        if self.translate is None:
            values = translated = inner.clip(converted)
        else:
            values = self.domain.clip(converted)  # rounding can tell an end from what is clipped to it
            translated = inner.clip(inner.convert(self.translate(values)))
            values = translated if isinstance(inner, Categories) else values
        encoded = translated if self.encode is None else self.encode(translated)
        return values, np.require(encoded, requirements=["C", "A"])

    def _converted(self, piece: AnyArray, records: AnyArray, clip: bool) -> AnyArray:
        """Return ``domain.convert(piece)``, or `piece` if the kernel can read it. Raise if a record cannot be converted."""
        dtype = self.domain.kernel_dtype(piece)
        if self.checks and _check.is_readable(piece, dtype):
            return piece
        converted = self.domain.convert(piece)
        if not clip and converted.dtype != dtype:
            self._check_piece(converted, records)
        return converted

    def _check_piece(self, converted: AnyArray, records: AnyArray) -> None:
        if self.domain.first_invalid(self.domain.convert(converted)) >= 0:
            raise self.domain.invalid_error(records, can_clip=True)

    def _check(self, records: AnyArray) -> None:
        """Raise if a record is invalid. The check uses all threads."""
        domain, step = self.domain, self.piece_rows(records)

        def is_invalid(start: int, stop: int) -> bool:
            pieces = (records[at : min(stop, at + step)] for at in range(start, stop, step))
            return any(domain.first_invalid(domain.convert(piece)) >= 0 for piece in pieces)

        if any(_threads.parallel_map(is_invalid, len(records), 1, records.size // 8)):
            raise domain.invalid_error(records, can_clip=True)

    def collect_block(
        self,
        converted: AnyArray,
        stream: Stream,
        block: int,
        state: AnyArray,
        check: Callable[[AnyArray], object] | None,
    ) -> bool:
        """Privatize results of ``domain.convert``, starting at block number `block`, and add the reports to `state`.

        `check` raises if a record is invalid. It is called only where the kernel cannot tell that all records are valid.
        With None, records are clipped instead. Return whether the kernel tells that all are valid.
        """
        if not len(converted):
            return True
        if check is not None and not self.checks:
            check(converted)
        clip = check is None or self.always_clip
        valid = self.kernel.run(stream, self.first_block + block, self.prepared(converted, clip), state, clip)
        if check is not None and self.checks and not valid:
            check(converted)
        return valid and self.checks

    def run(
        self, records: AnyArray, rng: RNGLike | Stream, new_state: Callable[[], AnyArray], *, clip: bool
    ) -> tuple[list[AnyArray], Clipped]:
        """Check, privatize and count records on all threads.

        Return states whose sum is the result, and how many records were clipped.
        """
        rows, step = self.kernel.rows, self.piece_rows(records)
        check = None if clip else lambda piece: self._check_piece(piece, records)
        stream = open_stream(rng)
        first = stream.take(self.blocks(len(records)))

        def work(start: int, stop: int) -> tuple[AnyArray, Clipped]:
            state, clipped = new_state(), Clipped()
            for at in range(start, stop, step):
                converted = self._converted(records[at : min(stop, at + step)], records, clip)
                valid = self.collect_block(converted, stream, first + at // rows, state, check)
                if clip and not valid:
                    clipped = clipped.plus(self.domain.clipped(self.domain.convert(converted)))
            return state, clipped

        results = _threads.parallel_map(work, len(records), rows, records.size * self.width)
        return [state for state, _ in results], reduce(Clipped.plus, (found for _, found in results), Clipped())

    def clipped(self, records: AnyArray) -> Clipped:
        """Return how many records are not in the domain."""
        step = self.piece_rows(records)
        pieces = (self.domain.convert(records[at : at + step]) for at in range(0, len(records), step))
        return reduce(Clipped.plus, map(self.domain.clipped, pieces), Clipped())
