"""Questions that a person answers with one record: what mechanisms and problems have in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._frames import Groups, read_by, require_one_index, whole_column
from .._person_keys import is_personal
from .._typing import AnyArray
from ..domains import FLOAT64, Domain
from ..reports import Collected, ReportQuestion
from ..reports._labels import messages_of
from ..reports._question import Result
from ._pipeline import Clipped, Pipeline, warn_clipped
from ._records import Records

if TYPE_CHECKING:
    from .._typing import RNGLike


class RecordQuestion(ReportQuestion[Result]):
    """Base class of questions that a person answers with one record: mechanisms and problems.

    Attributes
    ----------
    domain : Domain
        Domain of the records.
    """

    domain: Domain
    _pipeline: Pipeline

    def _kernel_dtype(self, records: AnyArray) -> np.dtype[Any]:
        """Return the dtype of the input of the kernel for results of ``domain.records``."""
        return self.domain.kernel_dtype(records)

    def _report_dtype(self, records: AnyArray, rng: RNGLike) -> np.dtype[Any]:
        """Return the dtype of the reports of records. With personal keys it does not depend on the dtype of the records."""
        return self.report.dtype(FLOAT64 if is_personal(rng) else self._kernel_dtype(records))

    def privatize(
        self, x: ArrayLike, *, rng: RNGLike = None, out: AnyArray | None = None, clip: bool = False
    ) -> AnyArray:
        """Turn records into reports.

        Parameters
        ----------
        x : array_like
            One record per person, or a single record (one dimension less). Each class documents dtype and shape.
        rng : None, PersonKeys, int, SeedSequence, Generator or BitGenerator
            ``None`` draws a fresh key from the operating system. `PersonKeys` give the same report for the same person and
            value, in double precision. Anything else makes the reports reproducible, hence not private: for simulation and
            tests only. The same key and records give the same reports for any number of threads and any instruction set,
            but ``privatize(x[:m])`` can differ from ``privatize(x)[:m]``.
        out : ndarray, or array of another library on the CPU, optional
            Array for the reports, of their shape and dtype.
        clip : bool, default False
            Project records outside the domain on it and map NaN to its center, instead of raising an error. Use it in
            deployed clients: an error that depends on the record would itself be a report.

        Returns
        -------
        reports : ndarray
            `out`, or a new array. Entry i depends on record i and on no other record.

        Raises
        ------
        TypeError, ValueError
            If `x` or `out` has a wrong dtype or shape; if a record is outside the domain (NaN always is) and `clip` is
            false. `out` is not changed then.

        Privacy
        -------
        Each report has the `guarantee`, exactly; see the class and docs/proofs.
        """
        if rng is None and out is None and (clip is False or (clip is True and self.domain.clips)):
            report = self._pipeline.single(x, self.report, clip)
            if report is not None:
                return report
        self.domain.check_clip(clip)
        records, single = self.domain.records(x)
        n, shape, dtype = len(records), self.report.shape, self._report_dtype(records, rng)
        to = None if out is None else _check.output(out, shape if single else (n, *shape), dtype)
        # Small reports go to a new array first. That takes less time than another pass over the records for the check.
        small = not clip and to is not None and to.nbytes <= records.nbytes // 2
        direct = to is not None and not small and _check.is_laid_out(to) and not np.may_share_memory(to, records)
        reports = to.reshape((n, *shape)) if to is not None and direct else np.empty((n, *shape), dtype)
        if is_personal(rng):
            self._pipeline.privatize_persons(records, rng.of(self, n), reports, clip=clip)
        else:
            self._pipeline.privatize(records, rng, reports, clip=clip, check_first=direct)
        answer = reports[0] if single else reports
        if out is None or to is None:
            return answer
        if not np.may_share_memory(reports, to):
            to[...] = answer
        return out

    def _collect(self, x: Any, by: Any, rng: RNGLike, clip: bool) -> Collected:
        self.domain.check_clip(clip)
        if isinstance(x, Records):
            collected = Collected(self, None if by is None else Groups(read_by(by)))
            for piece in x.pieces(self.domain.reads_columns, by, rng):
                with piece.place():
                    self._collect_piece(collected, piece.x, piece.by, piece.rng, clip)
            return collected
        require_one_index({"x": x, "by": by})
        collected = Collected(self, None if by is None else Groups(None))
        self._collect_piece(collected, x, None if by is None else whole_column("by", by), rng, clip)
        return collected

    def _collect_piece(self, collected: Collected, x: Any, by: Any, rng: RNGLike, clip: bool) -> None:
        """Privatize and count records, by the groups of people if `by` is a column."""
        records, _ = self.domain.records(x)
        if by is None and not is_personal(rng):
            states, clipped = self._pipeline.run(records, rng, self.report.new_state, clip=clip)
            for state in states:
                self.combine([collected.states[0][0]], [state])
            collected.n += len(records)
        else:
            reports = self.privatize(x, rng=rng, clip=clip).reshape(len(records), *self.report.shape)
            self.count_groups(collected, reports, by)
            clipped = self._pipeline.clipped(records) if clip else Clipped(0, 0)
        collected.add_clipped(clipped._asdict())

    def _messages(self, x: Any, rng: RNGLike, clip: bool) -> Iterator[Any]:
        for piece in x.pieces(self.domain.reads_columns, None, rng):
            with piece.place():
                reports = self.privatize(piece.x, rng=piece.rng, clip=clip)
            yield messages_of(self, reports)

    def _warn_clipped(self, n: int, clipped: dict[str, int]) -> None:
        warn_clipped(n, Clipped(clipped.get("missing", 0), clipped.get("outside", 0)))
