"""Surveys: many questions, and one total epsilon per person."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .. import _check, _coins, _schema, _threads
from .._core.stream import Stream
from .._core.survey import ROWS, Column, SurveyKernel
from .._described import Described, made_again
from .._described import from_dict as described
from .._extras import optional
from .._frames import Groups, Piece, pieces
from .._person_keys import PersonKeys, Persons, is_personal
from .._random import Randomness, open_stream
from .._warnings import warn
from ..mechanisms import Mechanism
from ..privacy import Guarantee
from ..reports import MESSAGE_VERSION, SCHEMA_KEY, Aggregator
from ..results import ClippedWarning, SmallSampleWarning
from . import _design, _toml
from ._aggregator import LABEL, SurveyAggregator
from ._client import SurveyClient
from ._client_table import check_optional, client_table
from ._columns import column_for, first_fault, number_outside
from ._design import Item, SurveyPlan
from ._persons import person_answers
from ._questions import ColumnQuestion, Cross, Histogram, SurveyQuestion, declared
from ._result import Answer, SurveyResult, answer_to, cross_answer
from ._shares import Shares, pooled

if TYPE_CHECKING:
    from .._typing import RNGLike

MAX_QUESTIONS = 1 << 12
MAX_CELLS = 1 << 24  # different answers to a question


@dataclass(frozen=True, eq=False)
class Survey(Described):
    """Questions to every person of a population, with one total privacy parameter per person.

    Parameters
    ----------
    questions : mapping of str to question
        `YesNo`, `Choice`, `Mean`, `Histogram` or `Cross`, by their names.
    epsilon : float
        Privacy parameter of all answers of a person together, > 0.
    answers : int, "all" or "auto", default 1
        Number of questions that each person answers, each with epsilon / answers. Which ones is drawn at random, is public,
        and is part of the report. "auto" minimizes the expected sum of variances.
    weights : mapping of str to float, optional
        Relative frequencies of the questions if everyone answers one; the default is 1. A question with weight 0 is not
        asked alone, and is declared for a `Cross` only. With more than one answer, all other weights must be equal.

    version : int, default 2
        Version of the choice of mechanisms. 1: a mean is sent with Laplace noise or as one bit. 2: `Window` takes the place of
        Laplace noise where its variance is smaller. A saved survey without a version has version 1.

    Attributes
    ----------
    mechanisms : dict
        Mechanism of each question that is asked, by its name.
    guarantee : privacy.Guarantee
        Guarantee of each person for all answers, from the integers of the coins.

    Raises
    ------
    TypeError, ValueError
        If there is no question; if a name is not a non-empty text, or is "ldpfast"; if a `Cross` names an unknown question;
        if `answers` or `weights` do not fit the questions; if no mechanism can certify epsilon / answers.

    Notes
    -----
    `run` takes O(n) time per column and answer and constant memory. No resistance to timing attacks is claimed for the
    encoding of records.

    Privacy
    -------
    The report of a person is `guarantee.epsilon`-LDP, at most `epsilon`: basic composition of the answers. The choice of the
    questions does not depend on the record. Several surveys that one person answers add up; see `privacy.compose`. That an
    invalid cell is refused is outside the guarantee; all cells are checked, whether or not the person is asked.
    docs/proofs/survey.md.

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> from ldpfast.survey import Choice, Mean, YesNo
    >>> survey = ldp.Survey({"smoker": YesNo(), "age": Mean(0, 100), "region": Choice(["N", "S"])}, epsilon=2.0)
    >>> n = 30_000
    >>> people = {"smoker": np.arange(n) % 5 == 0, "age": np.full(n, 40.0), "region": np.repeat(["N", "S"], n // 2)}
    >>> result = survey.run(people, rng=1)
    >>> low, high = result["smoker"].interval()
    >>> low < 0.2 < high
    True
    """

    questions: Mapping[str, SurveyQuestion]
    epsilon: float
    answers: Any = field(default=1, kw_only=True)
    weights: Mapping[str, float] | None = field(default=None, kw_only=True)
    version: int = field(default=_design.LATEST, kw_only=True)
    mechanisms: dict[str, Mechanism] = field(init=False, repr=False)
    guarantee: Guarantee = field(init=False, repr=False)
    kind: ClassVar[str] = "survey"
    later: ClassVar[dict[str, Any]] = {"version": 1}
    _items: list[Item] = field(init=False, repr=False)
    _declared: dict[str, ColumnQuestion] = field(init=False, repr=False)
    _columns: list[str] = field(init=False, repr=False)
    _places: list[tuple[int, int]] = field(init=False, repr=False)
    _thresholds: NDArray[np.uint32] = field(init=False, repr=False)
    _pairs: list[tuple[int, int]] = field(init=False, repr=False)
    _kernel: SurveyKernel = field(init=False, repr=False)
    _head: bytes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        questions, epsilon = _checked_questions(self.questions), _check.positive("epsilon", self.epsilon)
        weights = _checked_weights(self.weights, questions)
        total = sum(weights.values(), Fraction(0))
        items = [
            Item(name, (question.a, question.b) if isinstance(question, Cross) else (name,), weights[name] / total)
            for name, question in questions.items()
            if weights[name]
        ]
        version = _check.integer("version", self.version, 1, _design.LATEST)
        answers = _checked_answers(self.answers, items, questions, epsilon, version)
        if answers > 1 and len({item.weight for item in items}) > 1:
            raise ValueError(f"weights must be equal or 0 with answers={answers}, got {self.weights!r}")
        mechanisms = _mechanisms(items, questions, _design.epsilon_per_answer(epsilon, answers), version)
        realized = sorted((mechanism.epsilon_realized for mechanism in mechanisms.values()), reverse=True)
        self._set(
            questions=questions,
            epsilon=epsilon,
            answers=answers,
            weights=None if self.weights is None else {name: float(weights[name]) for name in self.weights},
            version=version,
            mechanisms=mechanisms,
            guarantee=Guarantee("local", _coins.sum_up(realized[:answers])),
            _items=items,
            _declared=declared(questions),
        )
        self._set(_pairs=self._common_pairs())
        self._compile()
        self._set(_head=bytes([MESSAGE_VERSION]) + _schema.digest(self.schema())[:8])

    def _common_pairs(self) -> list[tuple[int, int]]:
        """Return the pairs of asked questions that share a declared question, if a person can answer both."""
        if self.answers == 1:
            return []
        pairs = itertools.combinations(enumerate(self._items), 2)
        return [(i, j) for (i, a), (j, b) in pairs if set(a.parts) & set(b.parts)]

    def _compile(self) -> None:
        """Set the compiled loop over people, and the names of the questions that its columns answer."""
        names = list(self._declared)
        parts = [_part(question) for question in self._declared.values()]
        items: list[tuple[int, int, Any, int]] = []
        for item in self._items:
            mechanism = self.mechanisms[item.name]
            first = names.index(item.parts[0])
            if _design.uses_numbers(mechanism):  # such a mean has another encoding in tables
                first = len(parts)
                names.append(item.name)
                parts.append(("number", *_part(self._declared[item.name])[1:]))
            second = names.index(item.parts[1]) if len(item.parts) > 1 else -1
            width = mechanism.domain.kernel_dtype(np.zeros(0)).itemsize
            items.append((first, second, mechanism._pipeline.kernel, width))
        limits = _design.thresholds([item.weight for item in self._items])
        places = [(first, second) for first, second, *_ in items]
        kernel = SurveyKernel(parts, items, self.answers, limits)
        self._set(_columns=names, _places=places, _thresholds=limits, _kernel=kernel)

    # Planning ---------------------------------------------------------------------------------------------------------

    @property
    def column_questions(self) -> dict[str, ColumnQuestion]:
        """The questions that a column answers, by their names; a `Cross` combines two of them."""
        return dict(self._declared)

    def plan(self, n: int) -> SurveyPlan:
        """Return the standard errors to expect, for every number of answers per person.

        Parameters
        ----------
        n : int
            Number of people, at least 1.

        Returns
        -------
        plan : SurveyPlan
            With equal shares of all answers; for means, half of the people at each end. Everybody is assumed to answer, so that
            optional questions and others are comparable: where a part of the people does not answer an optional question,
            its standard error is larger.

        Raises
        ------
        TypeError, ValueError
            If `n` is not an integer in [1, 2^53].
        """
        n = _check.people("n", n)
        return _design.plan(self._items, dict(self.questions), self.epsilon, self.answers, n, self.version)

    # People -----------------------------------------------------------------------------------------------------------

    def privatize(self, frame: Any, *, rng: RNGLike = None, clip: bool = False) -> Any:
        """Turn the records of people into reports.

        Parameters
        ----------
        frame : mapping of arrays, data frame, or object that exports an Arrow stream or array
            One row per person. Columns that no question asks for are ignored.
        rng : None, PersonKeys, int, SeedSequence, Generator or BitGenerator
            ``None`` draws a fresh key from the operating system. `PersonKeys`, without a `question`, give the same report for
            the same person and answers. Anything else makes the reports reproducible, hence not private: for simulation and
            tests only.
        clip : bool, default False
            Move numbers out of range to the nearest end, and count undeclared categories as "no answer" where the question
            is optional, instead of raising an error.

        Returns
        -------
        table : pyarrow.Table
            One column of fixed-size binary per question, with null where a person was not asked, and the column "ldpfast"
            with the fingerprint. The metadata has the JSON of `schema`.

        Raises
        ------
        TypeError, ValueError
            If a column is missing or has a wrong type; if a cell is outside of the declared set, or has no value where the
            question is not optional. The message names column and row, never a value.
        ImportError
            If pyarrow is not installed.

        Privacy
        -------
        Each row is `guarantee.epsilon`-LDP.
        """
        pa = optional("pyarrow", "files")
        return pa.concat_tables(self.privatize_pieces(frame, rng=rng, clip=clip))

    def privatize_pieces(self, frame: Any, *, rng: RNGLike = None, clip: bool = False) -> Iterator[Any]:
        """Yield the result of `privatize` in pieces, in constant memory.

        Parameters
        ----------
        frame, rng, clip
            As for `privatize`.

        Yields
        ------
        table : pyarrow.Table
            The first has no rows.

        Raises
        ------
        TypeError, ValueError, ImportError
            As for `privatize`, when the invalid piece is read.

        Privacy
        -------
        Each row is `guarantee.epsilon`-LDP.
        """
        pa = optional("pyarrow", "files")
        source, people = _Source(rng), 0
        schema = self._arrow_schema(pa)
        yield schema.empty_table()
        for piece in self._pieces(frame, clip, source.column):
            columns = self._columns_of(piece, clip)
            reports, valid = self._reports_of(piece, columns, source, clip)
            people = piece.start + piece.n
            yield self._arrow_table(pa, schema, piece.n, reports, valid)
        source.check_people(people)

    def _reports_of(
        self, piece: Piece, columns: list[Column], source: _Source, clip: bool
    ) -> tuple[list[NDArray[np.uint8]], list[NDArray[np.uint8]]]:
        """Return the reports to each asked question, one row per person, and packed bits of who was asked."""
        n, sizes = piece.n, [mechanism.report.nbytes for mechanism in self.mechanisms.values()]
        reports = [np.zeros((n, size), np.uint8) for size in sizes]
        if source.keys is not None:
            found, asked = self._person_answers(piece, columns, source.keys, clip)
            for q, rows in enumerate(found):
                reports[q][asked[:, q]] = rows
            return reports, [np.packbits(asked[:, q], bitorder="little") for q in range(len(sizes))]
        valid = [np.zeros(-(-n // 8), np.uint8) for _ in sizes]
        stream, first = source.take(-(-n // ROWS))

        def work(start: int, stop: int) -> tuple[int, int] | None:
            return self._kernel.privatize(stream, first, columns, start, stop, clip, reports, valid)

        self._raise_first(_threads.parallel_map(work, n, ROWS, n * len(columns)), piece, columns, clip)
        return reports, valid

    def _person_answers(
        self, piece: Piece, columns: list[Column], keys: PersonKeys, clip: bool
    ) -> tuple[list[NDArray[np.uint8]], NDArray[np.bool_]]:
        """Check a piece, and return the reports of those who were asked each question, and who was asked."""
        self._raise_first([self._kernel.first_invalid_block(columns, piece.n, clip)], piece, columns, clip)
        if keys.column is not None:
            persons = Persons(piece.columns[keys.column], unique=True)
        else:
            persons = keys.persons_from(piece.start, piece.n)
        return person_answers(self, keys, persons, columns)

    def _arrow_table(
        self, pa: Any, schema: Any, n: int, reports: list[NDArray[np.uint8]], valid: list[NDArray[np.uint8]]
    ) -> Any:
        sizes = [mechanism.report.nbytes for mechanism in self.mechanisms.values()]
        arrays = [
            pa.FixedSizeBinaryArray.from_buffers(pa.binary(size), n, [pa.py_buffer(bits), pa.py_buffer(rows)])
            for size, bits, rows in zip(sizes, valid, reports, strict=True)
        ]
        label = pa.repeat(pa.scalar(self._head[1:], pa.binary(8)), n)
        return pa.Table.from_arrays([*arrays, label], schema=schema)

    def _arrow_schema(self, pa: Any) -> Any:
        fields = [pa.field(name, pa.binary(mechanism.report.nbytes)) for name, mechanism in self.mechanisms.items()]
        metadata = {SCHEMA_KEY: _schema.canonical_json(self.schema())}
        return pa.schema([*fields, pa.field(LABEL, pa.binary(8))], metadata=metadata)

    def client(self, secret: bytes | None = None, person: int | str | bytes | None = None) -> SurveyClient:
        """Return the client of one person, which turns a record into a message.

        Parameters
        ----------
        secret : bytes, optional
            32 random bytes that only this person has. The same record then always gives the same message; see `PersonKeys`.
        person : int, str or bytes, optional
            Identifier of the person, required with a secret.

        Returns
        -------
        client : SurveyClient

        Raises
        ------
        ValueError
            If a question is not optional: a client must not refuse a missing value. If only one of `secret` and `person` is
            given.
        """
        return SurveyClient(self, secret, person)

    def client_table(self) -> bytes:
        """Return what clients in C and JavaScript need to make the messages of `client`.

        Returns
        -------
        table : bytes
            Fingerprint, encodings and the integers of the coins, with a checksum; no labels. docs/clients.md says what each
            byte means and how the clients are built. Equal surveys have equal tables.

        Raises
        ------
        ValueError
            If a question is not optional.

        Privacy
        -------
        A table is public, but must come from a trusted source: a client keeps the guarantee of the survey that the table
        describes, whatever that is.

        Examples
        --------
        >>> import ldpfast as ldp
        >>> from ldpfast.survey import Mean, YesNo
        >>> survey = ldp.Survey({"smoker": YesNo(optional=True), "age": Mean(0, 100, optional=True)}, epsilon=2.0)
        >>> len(survey.client_table())
        213
        """
        check_optional(self._declared)
        return client_table(self)

    def client_schema(self) -> str:
        """Return the text that the client in JavaScript reads beside `client_table`: it has the labels of the answers.

        Returns
        -------
        text : str
            `schema` as canonical JSON (RFC 8785). `fingerprint` is the start of the SHA-256 of its UTF-8.

        Examples
        --------
        >>> import hashlib, ldpfast as ldp
        >>> survey = ldp.Survey({"smoker": ldp.survey.YesNo(optional=True)}, epsilon=2.0)
        >>> hashlib.sha256(survey.client_schema().encode()).hexdigest()[:16] == survey.fingerprint
        True
        """
        return _schema.canonical_json(self.schema()).decode()

    def run(self, frame: Any, *, by: str | None = None, rng: RNGLike = None, clip: bool = False) -> Any:
        """Privatize and estimate in one process, block by block: for simulation, or on a trusted device.

        Parameters
        ----------
        frame, rng, clip
            As for `privatize`. A stream is read once, in constant memory.
        by : str, optional
            Name of a public column that divides people into subgroups.

        Returns
        -------
        result : SurveyResult
            Equal, bit for bit, to ``estimate(privatize(frame))`` with the same key. With `by` a dict of results by the
            values of the column, in the order in which they are first seen. Simultaneous limits hold for one subgroup.

        Raises
        ------
        TypeError, ValueError
            As for `privatize`; without `by`, if there are no people or a question has no answers.

        Warns
        -----
        UserWarning
            If a question asks for the column `by`, which is not protected.
        SmallSampleWarning
            With `by`, if subgroups are left out because a question has no answers there.
        ClippedWarning
            With `clip`, if numbers were out of range or categories were not declared, with their share by column.

        Privacy
        -------
        Each person's answers are `guarantee.epsilon`-LDP. The column `by` is not protected.
        """
        collected = self.collect(frame, by=by, rng=rng, clip=clip)
        if by is None:
            return collected.estimate()
        found, empty = {}, []
        for value, aggregator in collected.items():
            if aggregator.is_answered:
                found[value] = aggregator.estimate()
            else:
                empty.append(value)
        if empty:
            listed = ", ".join(map(repr, empty[:20])) + (", ..." if len(empty) > 20 else "")
            warn(f"subgroups are left out because a question has no answer there: {listed}", SmallSampleWarning)
        return found

    def collect(self, frame: Any, *, by: str | None = None, rng: RNGLike = None, clip: bool = False) -> Any:
        """Privatize the records of people and count the answers block by block, without storing reports.

        Parameters
        ----------
        frame, by, rng, clip
            As for `run`.

        Returns
        -------
        aggregator : SurveyAggregator
            Equal to ``aggregator().update(privatize(frame))`` with the same key. Aggregators of parts of the people can be
            merged, and saved with `to_bytes`. With `by` a dict of aggregators by the values of the column.

        Raises
        ------
        TypeError, ValueError
            As for `privatize`.

        Warns
        -----
        UserWarning
            If a question asks for the column `by`, which is not protected.
        ClippedWarning
            With `clip`, if numbers were out of range or categories were not declared, with their share by column.

        Privacy
        -------
        Each person's answers are `guarantee.epsilon`-LDP. The column `by` is not protected. The aggregator of very few people
        is hardly less than their reports.

        Examples
        --------
        >>> from ldpfast.survey import Survey, YesNo
        >>> survey = Survey({"smokes": YesNo()}, epsilon=1.0)
        >>> by_region = survey.collect({"smokes": [True, False, False], "region": ["N", "S", "S"]}, by="region", rng=1)
        >>> {region: aggregator.n for region, aggregator in by_region.items()}
        {'N': 1, 'S': 2}
        """
        self._warn_public(by)
        aggregators, clipped = self._collect(frame, by, rng, clip)
        self._warn_clipped(sum(aggregator.n for aggregator in aggregators.values()), clipped)
        return aggregators[None] if by is None else aggregators

    def _collect(
        self, frame: Any, by: str | None, rng: RNGLike, clip: bool
    ) -> tuple[dict[Any, SurveyAggregator], dict[str, int]]:
        """Return the aggregators of the subgroups, and how many cells were clipped, by question."""
        source, groups = _Source(rng), None if by is None else Groups(by)
        found: list[SurveyAggregator] = [] if groups else [self.aggregator()]
        clipped = dict.fromkeys(self._columns, 0)
        people = 0
        for piece in self._pieces(frame, clip, by, source.column):
            columns = self._columns_of(piece, clip)
            members = None if groups is None else groups.numbers(piece.columns[groups.name])
            count = 1 if groups is None else len(groups.values)
            found += [self.aggregator() for _ in range(count - len(found))]
            if source.keys is None:
                self._run_piece(piece, columns, source, clip, members, found)
            else:
                self._run_persons(piece, columns, source.keys, clip, members, found)
            if clip:
                self._count_clipped(piece, columns, clipped)
            people += piece.n
        source.check_people(people)
        by_value = {None: found[0]} if groups is None else dict(zip(groups.values, found, strict=True))
        return by_value, clipped

    def _run_piece(
        self,
        piece: Piece,
        columns: list[Column],
        source: _Source,
        clip: bool,
        members: NDArray[np.uint32] | None,
        found: list[SurveyAggregator],
    ) -> None:
        """Privatize and count a piece on all threads."""
        if not piece.n:  # nobody, hence possibly no group
            return
        (stream, first), groups = source.take(-(-piece.n // ROWS)), len(found)
        reports = [mechanism.report for mechanism in self.mechanisms.values()]
        pairs = np.array(self._pairs, np.int32).reshape(-1, 2)

        def work(start: int, stop: int) -> tuple[Any, ...]:
            states = [report.new_state() for report in reports for _ in range(groups)]
            counts = np.zeros((len(reports), groups), np.int64)
            pair_counts = np.zeros((len(pairs), groups), np.int64)
            invalid = self._kernel.run(
                stream, first, columns, start, stop, clip, members, groups, states, counts, pairs, pair_counts
            )
            return invalid, states, counts, pair_counts

        results = _threads.parallel_map(work, piece.n, ROWS, piece.n * len(columns))
        self._raise_first([invalid for invalid, *_ in results], piece, columns, clip)
        sizes = [piece.n] if members is None else np.bincount(members, minlength=groups).tolist()
        for _, states, counts, pair_counts in results:
            for g, aggregator in enumerate(found):
                aggregator._add_states(states[g::groups], counts[:, g], pair_counts[:, g])
        for aggregator, size in zip(found, sizes, strict=True):
            aggregator.n += size

    def _run_persons(
        self,
        piece: Piece,
        columns: list[Column],
        keys: PersonKeys,
        clip: bool,
        members: NDArray[np.uint32] | None,
        found: list[SurveyAggregator],
    ) -> None:
        """Privatize a piece with keys of persons, and count it."""
        reports, asked = self._person_answers(piece, columns, keys, clip)
        for g, aggregator in enumerate(found):
            own = np.ones(piece.n, np.bool_) if members is None else members == g
            aggregator._add_reports([rows[own[asked[:, q]]] for q, rows in enumerate(reports)], asked[own])

    def _pieces(self, frame: Any, clip: bool, *others: str | None) -> Any:
        """Return the pieces of the columns of all questions, and of other columns by their names."""
        _check.flag("clip", clip)
        for other in others:
            if other is not None and not isinstance(other, str):
                raise TypeError(f"by must be the name of a column, got {type(other).__name__}")
        names = [question.column or name for name, question in self._declared.items()]
        return pieces(frame, list(dict.fromkeys([*names, *(other for other in others if other is not None)])))

    def _columns_of(self, piece: Piece, clip: bool) -> list[Column]:
        """Return the columns of a piece for the kernel."""
        found = []
        for name in self._columns:
            question = self._declared[name]
            column = question.column or name
            found.append(column_for(column, question, piece.columns[column], clip))
        return found

    def _raise_first(self, invalid: list[Any], piece: Piece, columns: list[Column], clip: bool) -> None:
        """Raise the error for the first invalid block, if there is one."""
        for part, first in filter(None, invalid):
            name = self._columns[part]
            question, n = self._declared[name], min(ROWS, piece.n - first)

            def place(row: int) -> str:
                return piece.place(piece.start + row)

            raise first_fault(question.column or name, question, columns[part], first, n, clip, place)

    def _count_clipped(self, piece: Piece, columns: list[Column], clipped: dict[str, int]) -> None:
        """Add the number of cells of each question that are out of range, or hold an undeclared category."""
        for name, read in dict(
            zip(self._columns, columns, strict=True)
        ).items():  # some are there twice, as number and rounded
            question, cells = self._declared[name], read
            if question.encoding == "symbol":
                if not question.optional:  # an undeclared category has raised an error
                    continue
                column = question.column or name
                cells = column_for(column, question, piece.columns[column], clip=False)
            clipped[name] += sum(
                number_outside(question, cells, i, min(ROWS, piece.n - i)) for i in range(0, piece.n, ROWS)
            )

    def _warn_public(self, by: str | None) -> None:
        """Warn if a question asks for the column that divides people, whose values are not protected."""
        for name, question in self._declared.items():
            if (question.column or name) == by:
                warn(
                    f"by must be a public column, which is not protected, got {by!r}: question {name!r} asks for it; a Cross "
                    "with this question estimates subgroups privately",
                    UserWarning,
                )

    def _warn_clipped(self, n: int, clipped: dict[str, int]) -> None:
        """Warn if cells of n people were clipped, by question."""
        reasons = {False: "numbers were moved to the nearest end", True: 'undeclared categories count as "no answer"'}
        for symbols, reason in reasons.items():
            places = [
                f"{count} of {n} ({count / n:.2g} of all) in column {(self._declared[name].column or name)!r}"
                for name, count in clipped.items()
                if count and symbols == (self._declared[name].encoding == "symbol")
            ]
            if places:
                warn(f"{reason}: {', '.join(places)}", ClippedWarning)

    # The server -------------------------------------------------------------------------------------------------------

    def aggregator(self) -> SurveyAggregator:
        """Return an empty aggregator: the state of the server.

        Returns
        -------
        aggregator : SurveyAggregator
        """
        return SurveyAggregator(self)

    def estimate(self, reports: Any, *, pooled: bool = False) -> SurveyResult:
        """Return the answers from one batch of reports.

        Parameters
        ----------
        reports : Arrow table, Arrow binary array, or list of bytes
            As for `SurveyAggregator.update`.
        pooled : bool, default False
            As for `SurveyAggregator.estimate`.

        Returns
        -------
        result : SurveyResult

        Raises
        ------
        TypeError, ValueError
            If they do not answer this survey, or a question has no answers.
        """
        return self.aggregator().update(reports).estimate(pooled)

    def _result(self, counters: list[Aggregator], pair_counts: NDArray[np.int64], n: int, pooled: bool) -> SurveyResult:
        """Return the answers from the counts of each asked question."""
        for item, counter in zip(self._items, counters, strict=True):
            if counter.n == 0:
                raise ValueError(f"question {item.name!r} must have at least 1 answer for an estimate, got n = 0")
        numbers = sum(self._numbers_of(item) for item in self._items)
        shares = {
            item.name: Shares.of(counter)
            for item, counter in zip(self._items, counters, strict=True)
            if not _design.uses_numbers(self.mechanisms[item.name])
        }
        answers: dict[str, Answer] = {}
        for item, counter in zip(self._items, counters, strict=True):
            parts = [self._declared[part] for part in item.parts]
            if len(parts) == 2:
                names = (item.parts[0], item.parts[1])
                answers[item.name] = cross_answer(names, (parts[0], parts[1]), shares[item.name], numbers)
            elif item.name in shares:
                known = self._pooled(item.name, shares, pair_counts) if _check.flag("pooled", pooled) else None
                answers[item.name] = answer_to(parts[0], known or shares[item.name], numbers)
            else:
                answers[item.name] = Answer.of_number(counter.estimate(), parts[0].range, numbers)
        return SurveyResult(answers, n, self.guarantee)

    def _pooled(self, name: str, shares: dict[str, Shares], pair_counts: NDArray[np.int64]) -> Shares | None:
        """Return the shares of a question from all answers that hold it; None if it was only asked alone."""
        places, sources = [], []
        for place, item in enumerate(self._items):
            if name in item.parts and item.name in shares:
                places.append(place)
                if len(item.parts) == 2:
                    a, b = (self._declared[part].k for part in item.parts)
                    sources.append(shares[item.name].margin((a, b), item.parts.index(name)))
                else:
                    sources.append(shares[item.name])
        if len(sources) < 2:
            return None
        together = dict(zip(self._pairs, pair_counts.tolist(), strict=True))
        return pooled(sources, lambda i, j: together.get((min(places[i], places[j]), max(places[i], places[j])), 0))

    def _numbers_of(self, item: Item) -> int:
        """Return how many numbers are reported about a question, with margins, conditional shares and quantile limits."""
        sizes = [self._declared[part].k for part in item.parts]
        if len(sizes) == 2:
            functions = sum(
                self._declared[part].k for part in item.parts if isinstance(self._declared[part], Histogram)
            )
            return 3 * sizes[0] * sizes[1] + sum(sizes) + functions
        question = self._declared[item.name]
        return (1 if question.scalar else 2 * len(question.labels)) + question.optional

    # Identity ---------------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the questions and parameters as types that JSON has; `from_dict` reads it."""
        return {
            "survey": "Survey",
            "questions": [{"name": name, **question.to_dict()} for name, question in self.questions.items()],
            "epsilon": self.epsilon,
            "answers": self.answers,
            "weights": None if self.weights is None else dict(self.weights),
            **{name: getattr(self, name) for name, first in self.later.items() if getattr(self, name) != first},
        }

    @classmethod
    def _from_packed(cls, arguments: dict[str, Any]) -> Self:
        questions: dict[str, SurveyQuestion] = {}
        for data in arguments["questions"]:
            if not isinstance(data, dict) or not isinstance(data.get("name"), str) or data["name"] in questions:
                raise ValueError("data must hold questions with different names")
            name = data["name"]
            questions[name] = described({key: value for key, value in data.items() if key != "name"}, "question")
        options = {name: arguments[name] for name in ("answers", "weights", "version")}
        return cls(questions, arguments["epsilon"], **options)

    def to_toml(self) -> str:
        """Return the survey as TOML, which `from_toml` and the command line read.

        Returns
        -------
        text : str

        Raises
        ------
        TypeError
            If a label is neither text, nor a number, a boolean or a date.
        """
        return _toml.dump(
            self.questions, epsilon=self.epsilon, answers=self.answers, weights=self.weights, version=self.version
        )

    @classmethod
    def from_toml(cls, text: str) -> Survey:
        """Return the survey that TOML describes.

        Parameters
        ----------
        text : str
            "epsilon", optionally "answers", "version" and a table "weights", and one table per question: its "type" and
            the arguments of that class.

        Returns
        -------
        survey : Survey

        Raises
        ------
        TypeError, ValueError
            If the text is not TOML, or does not describe a survey.

        Examples
        --------
        >>> import ldpfast as ldp
        >>> survey = ldp.Survey.from_toml('''
        ... epsilon = 2.0
        ... [questions.smoker]
        ... type = "YesNo"
        ... [questions.age]
        ... type = "Mean"
        ... lower = 0
        ... upper = 100
        ... ''')
        >>> list(survey.questions)
        ['smoker', 'age']
        """
        return cls(**_toml.parse(text))

    @classmethod
    def parameter_names(cls) -> list[str]:
        return ["questions", "epsilon", "answers", "weights", "version"]

    def _pinned(self) -> dict[str, Any]:
        return {
            "mechanisms": [
                {"question": name, "asks": mechanism.to_dict(), **mechanism._pinned()}
                for name, mechanism in self.mechanisms.items()
            ]
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return made_again, (type(self), self._parameters())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Survey):
            return NotImplemented
        return _schema.canonical_json(self.schema()) == _schema.canonical_json(other.schema())

    def __hash__(self) -> int:
        return hash(self._head)


class _Source:
    """The randomness of a call: streams, or keys of persons."""

    def __init__(self, rng: RNGLike) -> None:
        self.keys = rng if is_personal(rng) else None
        if self.keys is not None and self.keys.question is not None:
            raise ValueError(f"question must be None in PersonKeys for a survey, got {self.keys.question!r}")
        self.column = None if self.keys is None else self.keys.column
        self._rng, self._randomness = rng, Randomness()
        if not is_personal(rng):
            self._randomness.keep(rng, open_stream(rng))

    def check_people(self, people: int) -> None:
        """Raise unless there was one person per row of the whole table."""
        if self.keys is not None and self.column is None:
            self.keys.persons(people)

    def take(self, blocks: int) -> tuple[Stream, int]:
        """Return a stream and the number of the first of some new record blocks.

        Without `rng`, every call has a fresh key. A process that was forked while pieces were read shares no coins then.
        """
        stream = self._randomness.stream(self._rng)
        return stream, stream.take(blocks)


# Arguments ------------------------------------------------------------------------------------------------------------


def _checked_questions(questions: Any) -> dict[str, Any]:
    if not isinstance(questions, Mapping):
        raise TypeError(f"questions must be a mapping from names to questions, got {type(questions).__name__}")
    if not 1 <= len(questions) <= MAX_QUESTIONS:
        raise ValueError(f"questions must be between 1 and {MAX_QUESTIONS}, got {len(questions)}")
    for name, question in questions.items():
        if not isinstance(name, str) or not name or name == LABEL:
            raise ValueError(f"questions must have non-empty names other than {LABEL!r}, got {name!r}")
        if not isinstance(question, SurveyQuestion):
            raise TypeError(f"question {name!r} must be a YesNo, Choice, Mean, Histogram or Cross, got {question!r}")
    plain = declared(questions)
    for name, question in questions.items():
        if isinstance(question, Cross):
            for part in (question.a, question.b):
                if part not in plain:
                    listed = ", ".join(map(repr, plain))
                    raise ValueError(f"question {name!r} must combine two of the questions {listed}, got {part!r}")
    return dict(questions)


def _checked_weights(weights: Any, questions: dict[str, Any]) -> dict[str, Fraction]:
    if weights is not None and not isinstance(weights, Mapping):
        raise TypeError(f"weights must be a mapping from names of questions, got {type(weights).__name__}")
    given = weights or {}
    unknown = [name for name in given if name not in questions]
    if unknown:
        raise ValueError(f"weights must be of the questions {', '.join(map(repr, questions))}, got {unknown[0]!r}")
    found = {name: Fraction(_check.real(f"weights[{name!r}]", given.get(name, 1))) for name in questions}
    if min(found.values()) < 0 or not any(found.values()):
        raise ValueError(f"weights must be >= 0, and not all 0, got {weights!r}")
    return found


def _checked_answers(answers: Any, items: list[Item], questions: dict[str, Any], epsilon: float, version: int) -> int:
    if answers == "all":
        return len(items)
    if answers == "auto":
        if len({item.weight for item in items}) > 1:
            return 1  # other numbers of answers have no weights
        return _design.best_answers(items, questions, epsilon, version)
    if isinstance(answers, str):
        raise ValueError(f"answers must be an integer, 'all' or 'auto', got {answers!r}")
    return _check.integer("answers", answers, 1, len(items))


def _mechanisms(items: list[Item], questions: dict[str, Any], epsilon: float, version: int) -> dict[str, Mechanism]:
    """Return the mechanism of each item."""
    found = {}
    for item in items:
        cells = math.prod(questions[part].k for part in item.parts)
        if cells > MAX_CELLS:
            raise ValueError(f"question {item.name!r} must have at most {MAX_CELLS} different answers, got {cells}")
        try:
            found[item.name] = _design.mechanism_for([questions[part] for part in item.parts], epsilon, version)
        except ValueError as error:
            raise ValueError(f"question {item.name!r} cannot be asked with epsilon / answers: {error}") from error
    return found


def _part(question: ColumnQuestion) -> tuple[str, int, bool, float, float, Any, int]:
    """Return a question in the form of `SurveyKernel`."""
    return question.encoding, question.k, question.optional, *question.valid_range(), question.limits(), question.steps
