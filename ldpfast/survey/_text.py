"""Questions whose answers are strings that nobody listed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._core.survey import Column
from .._extras import optional
from .._frames import Coded, arrow_array, package_of
from .._table import printable
from .._typing import AnyArray
from ..domains import Strings
from ..estimation.strings import HeavyHitters, HeavyHittersEstimate, SearchStep, SketchEstimate
from ..estimation.strings._search_levels import SECOND_MOMENT
from ..mechanisms import Mechanism, SketchResponse
from ..mechanisms._sketch_response import MAX_BUCKETS, MAX_FUNCTIONS
from ..reports import Counted
from ._answer_forms import Found
from ._answers import NO_ANSWER, Answer
from ._columns import QuestionColumn
from ._mechanisms import RARE, of_string
from ._planned_answer import POINTS, Expected, PlannedAnswer
from ._questions import ColumnQuestion

OUTSIDE, MISSING = 1, 2  # marks of invalid rows
EMPTY = "(empty text)"  # label of the string without characters
FEWEST_FUNCTIONS = 2  # of a search


@dataclass(frozen=True)
class Text(ColumnQuestion):
    """A string that nobody listed, such as a word or a product. The answer is the strings that many people have.

    Parameters
    ----------
    max_bytes : int
        Largest number of bytes of a string in UTF-8, in [1, 255]; with an alphabet, of characters.
    alphabet : str, optional
        At most 253 characters that strings consist of. The default is all bytes but 0. A small alphabet finds more.
    optional : bool, default False
        Whether an answer may be missing. "No answer" is then the empty string, and shares are among all who were asked.
    column : str, optional
        Name of the column; the default is the name of the question.
    n : int, default 1,000,000
        Number of people that are expected to be asked, for which the search is made. Any number can answer.
    false_discovery : float, default 0.05
        Probability that any string is reported that nobody has, in (0, 1).
    buckets : int, default 2^14
        Number of values of a hash function, in [2, 2^20].
    functions : int, default 16
        Number of hash functions of the strings, and of each level of the search, in [2, 64].
    salt : str, default ""
        Public text on which the hash functions depend. Another one in the next wave makes errors by collisions independent.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as above.

    Notes
    -----
    The search works as in `estimation.HeavyHitters`, with the people who are asked this question. The counts of each group of
    people have 8 bytes for each code of the mechanism: with the default `buckets` 10 to 45 MB, for short texts of few letters
    and long ones of any bytes, and in proportion to `buckets`. All groups together have at most 1 GB. The search takes a few
    seconds for each group. A `Cross` cannot have a text.

    Shares of texts that were found are not weighted by `poststratify` and `rake`, and not compared by `compare`, which leave
    the question out with a warning. `TextAnswer.shares` has those of texts that you name.

    Examples
    --------
    >>> from ldpfast.survey import Survey, Text, YesNo
    >>> letters = "abcdefghijklmnopqrstuvwxyz"
    >>> survey = Survey({"word": Text(4, letters, n=60_000), "smoker": YesNo()}, 4.0)
    >>> people = {"word": ["new"] * 60_000 + ["old"] * 30_000, "smoker": [True] * 90_000}
    >>> survey.run(people, rng=1)["word"].labels
    ('new', 'old')
    """

    max_bytes: int
    alphabet: str | None = None
    optional: bool = field(default=False, kw_only=True)
    column: str | None = field(default=None, kw_only=True)
    n: int = field(default=1_000_000, kw_only=True)
    false_discovery: float = field(default=0.05, kw_only=True)
    buckets: int = field(default=1 << 14, kw_only=True)
    functions: int = field(default=16, kw_only=True)
    salt: str = field(default="", kw_only=True)
    _not_asked: ClassVar[frozenset[str]] = frozenset({"column", "false_discovery"})  # of the search, not of the answers

    def __post_init__(self) -> None:
        domain = Strings(self.max_bytes, self.alphabet)
        self._set(
            max_bytes=domain.max_bytes,
            n=_check.people("n", self.n),
            false_discovery=_check.probability("false_discovery", self.false_discovery),
            buckets=_check.integer("buckets", self.buckets, 2, MAX_BUCKETS),
            functions=_check.integer("functions", self.functions, FEWEST_FUNCTIONS, MAX_FUNCTIONS),
        )
        if not isinstance(self.salt, str):
            raise TypeError(f"salt must be a text, got {type(self.salt).__name__}")
        self._hold(
            TextColumn,
            domain=domain,
            problem=self.problem,
            row_bytes=domain.width,
            # of a population like the one of `HeavyHitters.plan`
            collision_variance=SECOND_MOMENT / (self.functions * (self.buckets - 1)),
        )

    def problem(self, epsilon: float) -> HeavyHitters:
        """Return the search for the answers of people who each have a privacy parameter.

        Parameters
        ----------
        epsilon : float
            Privacy parameter of an answer: that of the survey over its number of answers.

        Returns
        -------
        problem : HeavyHitters
            Its `plan` says which share of the people a string needs to be found.
        """
        return _problem(self, epsilon)


@dataclass(frozen=True, eq=False, kw_only=True)
class TextColumn(QuestionColumn):
    """Strings, which are sent as they are, and whose answer is the strings that were found."""

    domain: Strings
    problem: Callable[[float], HeavyHitters]
    has_symbols: ClassVar[bool] = False
    join: ClassVar[str] = "string"
    has_weights: ClassVar[bool] = False
    can_be_combined: ClassVar[bool] = False
    encoding: ClassVar[str] = "string"
    outside: ClassVar[str] = "is longer, or has other characters. clip=True changes it"
    clipped: ClassVar[str] = "texts were cut, or characters that the alphabet lacks were replaced by its first"

    @property
    def k(self) -> int:
        """1: there are no declared symbols."""
        return 1

    def describe(self) -> str:
        return self.domain.describe()

    def answer_text(self) -> str:
        return f"a text of at most {self.domain.max_bytes} {'bytes' if self.domain.alphabet is None else 'characters'}"

    # Cells ------------------------------------------------------------------------------------------------------------

    def read(self, name: str, values: Any, *, clip: bool = False) -> Column:
        return self._column(self._marked(name, values), clip)

    def _marked(self, name: str, values: Any) -> NDArray[np.uint8]:
        """Return strings as rows of symbols, marked as missing or outside."""
        if package_of(values) == "pandas":  # a categorical, with code -1 for missing values
            rows = self._marked(name, arrow_array(name, values.categories.tolist()))
            return self._repeated(rows, np.asarray(values.codes))
        if isinstance(values, np.ndarray) and values.dtype.kind == "f" and np.isnan(values).all():
            return self._repeated(np.zeros((0, self.row_bytes), np.uint8), np.full(len(values), -1))  # nobody answered
        kind = "" if isinstance(values, Coded | np.ndarray) else str(values.type)
        if kind.startswith("dictionary"):
            signed = values.indices.cast(optional("pyarrow", "files").int64())
            codes = signed.fill_null(-1).to_numpy(zero_copy_only=False)
            rows = self._marked(name, values.dictionary)
            if len(codes) and (codes.min() < -1 or codes.max() >= len(rows)):
                raise ValueError(f"column {name!r} must have indices of its dictionary, got others")
            return self._repeated(rows, codes)
        if not kind.startswith(("string", "large_string", "binary", "large_binary", "fixed_size_binary", "null")):
            got = "symbols of labels" if isinstance(values, Coded) else f"type {kind or values.dtype}"
            raise TypeError(f"column {name!r} must hold {self.describe()}, got {got}")
        rows, _ = self.domain.records(values)
        if values.null_count:
            rows[np.asarray(values.is_null()), -1] = MISSING
        return np.asarray(rows, np.uint8)

    def _repeated(self, rows: NDArray[np.uint8], codes: AnyArray) -> NDArray[np.uint8]:
        """Return the rows of codes; -1 is missing."""
        missing = np.zeros((1, self.row_bytes), np.uint8)
        missing[0, -1] = MISSING
        return np.concatenate([rows, missing])[codes]

    def _column(self, rows: NDArray[np.uint8], clip: bool) -> Column:
        """Return rows as a column, without the marks of rows that are accepted."""
        marks = rows[:, -1]
        marks[(marks == MISSING) & self.optional] = 0
        marks[(marks == OUTSIDE) & clip] = 0
        return Column("uint8", rows, None, 0, len(rows), row_bytes=self.row_bytes)

    def read_cell(self, value: Any) -> Column:
        text = value if isinstance(value, str | bytes) else ""
        if isinstance(text, str):  # as browsers: a half of a pair of surrogates becomes the replacement character
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return self._column(self.domain.records([text])[0], clip=True)

    def faults(
        self, column: Column, first: int, n: int, *, clip: bool = False
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        marks = column.strings(first, n)[:, -1]
        return marks == MISSING, marks == OUTSIDE

    def canonical(self, column: Column, rows: NDArray[np.intp], *, clip: bool = False) -> Any:
        first, stop = (int(rows[0]), int(rows[-1]) + 1) if len(rows) else (0, 0)
        found = column.strings(first, stop - first)[rows - first]
        return None if found[:, -1].any() else found

    def number_clipped(self, name: str, values: Any, column: Column, chosen: NDArray[np.intp] | None = None) -> int:
        return super().number_clipped(name, values, self.read(name, values, clip=False), chosen)

    @property
    def client_size(self) -> int:
        """Largest number of bytes or characters of a string."""
        return self.domain.max_bytes

    def client_part(self, start: int) -> tuple[int, bytes, bytes]:
        characters = [] if self.domain.alphabet is None else [ord(character) for character in self.domain.alphabet]
        numbers = np.array([start, len(characters), 0, 0], "<u4").tobytes()
        return 4, numbers, np.array(characters, "<u4").tobytes()

    # Mechanism and answer ---------------------------------------------------------------------------------------------

    def mechanism(self, epsilon: float) -> SketchResponse:
        return self.problem(epsilon).mechanism

    def found(self, mechanism: Mechanism, counted: Counted) -> TextSearch:
        return TextSearch(self, *self.problem(mechanism.epsilon).searched(counted))

    def encoded(self, cells: AnyArray, keys: AnyArray, part: int) -> AnyArray:
        return cells

    def joined(self, encoded: list[AnyArray]) -> AnyArray:
        return encoded[0]

    def expected_variance(self, mechanism: Mechanism) -> float:
        return float(of_string(_sketch(mechanism), RARE))

    def planned(self, mechanism: Mechanism, expected: Expected, asked: float) -> PlannedAnswer:
        return PlannedAnswer.of_shares(of_string(_sketch(mechanism), POINTS), expected, asked * expected.response)

    def found_from(self, mechanism: Mechanism, n: float) -> float | None:
        return self.problem(mechanism.epsilon).plan(max(1, math.floor(n))).smallest_share

    def assumed(self) -> tuple[tuple[float, float], ...]:
        return ((RARE, RARE),)

    def assumption(self) -> str:
        return f"a string of {100 * RARE:g} % of people"


def _sketch(mechanism: Mechanism) -> SketchResponse:
    """Return the mechanism of a text under its own class."""
    assert isinstance(mechanism, SketchResponse)
    return mechanism


def shown_text(text: str | bytes) -> str:
    """Return a text from people as a label that is printed: without control characters, and unlike the labels of tables."""
    if not len(text):
        return EMPTY
    label = printable(str(text))
    return repr(text) if label in (EMPTY, NO_ANSWER) else label


@lru_cache(maxsize=64)
def _problem(question: Text, epsilon: float) -> HeavyHitters:
    return HeavyHitters(
        epsilon,
        max_bytes=question.max_bytes,
        alphabet=question.alphabet,
        n=question.n,
        false_discovery=question.false_discovery,
        buckets=question.buckets,
        functions=question.functions,
        salt=question.salt,
    )


@dataclass(frozen=True, eq=False, repr=False)
class TextAnswer(Answer):
    """The strings that were found, with their shares among all who were asked, in descending order.

    Attributes
    ----------
    labels : tuple
        The strings: text, or bytes that are no valid UTF-8.
    missing : Answer or None
        Share of people without an answer, for optional questions.
    smallest_share : float
        Every string of at least this share was found with probability 0.95; infinite for too few people, or too few functions
        and buckets.
    steps : tuple of SearchStep
        What each level of the search did.
    doubts : tuple of str
        Reasons to doubt the strings and their shares. Each is also issued as a `DoubtfulWarning`.

    Examples
    --------
    >>> from ldpfast.survey import Survey, Text
    >>> survey = Survey({"word": Text(2, "abc", n=9000, optional=True)}, 4.0)
    >>> answer = survey.run({"word": ["ab", "c", None] * 3000}, rng=1)["word"]
    >>> sorted(answer.labels), answer.smallest_share < 0.1
    (['ab', 'c'], True)
    >>> low, high = answer.missing.interval()
    >>> low < 1 / 3 < high
    True
    """

    declared: ClassVar[bool] = False
    smallest_share: float = math.inf
    steps: tuple[SearchStep, ...] = ()
    doubts: tuple[str, ...] = ()
    _sketch: SketchEstimate | None = None

    def shares(self, strings: Any) -> Any:
        """Return the shares of strings that are named now, whether or not they were found.

        Parameters
        ----------
        strings : str, bytes, or list, array or Arrow column of them

        Returns
        -------
        shares : FrequencyEstimate
            Those of `estimation.SketchEstimate.shares`: valid if the strings were not chosen by a look at this answer.

        Raises
        ------
        TypeError, ValueError
            If there are no strings, or they are not valid answers; if nobody was asked.
        """
        if self._sketch is None or not self._sketch.whole:
            raise ValueError("the question must have at least 1 report about whole texts, got n = 0")
        found = replace(self._sketch.shares(strings), guarantee=self._whole_guarantee)
        return found if self._people is None else found._of_people(self._people)

    @property
    def entries(self) -> list[str]:
        """Label of every string."""
        return [shown_text(label) for label in self.labels or ()]

    @property
    def note(self) -> str:
        """What the search could find, as a sentence."""
        if self.doubts:
            return "; ".join(self.doubts)
        if not math.isfinite(self.smallest_share):
            return "too few people, or functions and buckets, to find any text with probability 0.95"
        return f"every text of at least {100 * self.smallest_share:.2g} % of people was found with probability 0.95"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of `Answer.to_dict`, with the smallest share that is found, None if it is infinite, and the doubts.

        "complete" is False if a level of the search had more prefixes than it continued.
        """
        share = self.smallest_share if math.isfinite(self.smallest_share) else None
        complete = not any(step.raised for step in self.steps)
        return {**super().to_dict(), "smallest_share": share, "complete": complete, "doubts": list(self.doubts)}


@dataclass(frozen=True, eq=False)
class TextSearch(Found):
    """What the reports to a `Text` say, before it is known how many numbers the whole survey reports."""

    column: TextColumn
    found: HeavyHittersEstimate
    sketch: SketchEstimate

    @property
    def numbers(self) -> int:
        """How many numbers the search compared, and the share without an answer."""
        return max(1, self.found.compared) + self.column.optional

    def answer(self, numbers: int) -> TextAnswer:
        """Return the answer, where the whole survey reports a number of numbers."""
        # Nobody answers with the empty string where the question is optional: its share in the sketch is that of no answer.
        found, missing = self.found, None
        kept = np.array([len(text) > 0 or not self.column.optional for text in found.strings], np.bool_)
        rule: Any = found.rule
        if self.column.optional:
            empty = self.sketch.shares([""])
            own: Any = empty.rule
            missing = Answer(
                float(empty.value[0]),
                float(empty.stderr[0]),
                found.n,
                found.guarantee,
                None,
                own.at(0),
                _numbers=numbers,
            )
            if not self.sketch.whole:  # all reports are about prefixes
                missing = missing.without_answers(np.array(True))
        return TextAnswer(
            found.value[kept],
            found.stderr[kept],
            found.n,
            found.guarantee,
            None,
            rule.at(kept) if len(kept) else rule,
            labels=tuple(text for text, is_kept in zip(found.strings, kept.tolist(), strict=True) if is_kept),
            missing=missing,
            smallest_share=found.smallest_share,
            steps=found.steps,
            doubts=found.doubts,
            _numbers=numbers,
            _column=self.column,
            _sketch=self.sketch,
        )
