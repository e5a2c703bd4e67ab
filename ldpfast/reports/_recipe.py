"""What a question holds: how records become reports, and reports become counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from .._typing import AnyArray
from ..privacy import Guarantee
from ..results import Occasion

if TYPE_CHECKING:
    from .._frames import Groups
    from .._random import RNGLike
    from .._table import Table
    from ._labeled_reports import Label

HeldRecipe = TypeVar("HeldRecipe", covariant=True)
StateLayout = tuple[tuple[int, ...], Any]  # shape and dtype of an array of counts


class Recipe(ABC):
    """How the records of people become reports, and how reports become counts. It knows no question.

    A question is its parameters, and holds one recipe, which all packages of the library use: `recipe_of`.

    Attributes
    ----------
    guarantee : privacy.Guarantee
        Privacy guarantee of each person.
    label : Label
        What reports say about the question that they answer.
    occasion : Occasion or None
        When people are asked, in a series of surveys that the same people answer; None where nothing is known.
    state_layouts : list of tuple
        Shapes and dtypes of the arrays that count the reports.
    """

    guarantee: Guarantee
    label: Label
    occasion: Occasion | None = None

    # People -----------------------------------------------------------------------------------------------------------

    @abstractmethod
    def collect(self, new: Callable[[Groups | None], Any], x: Any, by: Any, rng: RNGLike, clip: bool) -> Any:
        """Privatize records and add the reports to new counts, by the groups of people if `by` is not None."""

    @abstractmethod
    def messages(self, x: Any, rng: RNGLike, clip: bool) -> Iterator[Any]:
        """Privatize records and yield the messages of people, as Arrow arrays of binary values."""

    @abstractmethod
    def warn_clipped(self, n: int, clipped: dict[str, int]) -> None:
        """Warn if some records of n people were clipped."""

    def check_groups(self, by: Any) -> None:  # noqa: B027
        """Warn if the column that divides people into groups, which is not protected, is one that is asked for."""

    def require_keys(self, personal: bool) -> None:  # noqa: B027
        """Raise if people cannot be asked: without personal keys, if coins must belong to persons."""

    # The server -------------------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def state_layouts(self) -> list[StateLayout]: ...

    @abstractmethod
    def tally(self, reports: Any) -> tuple[list[AnyArray], int]:
        """Return the arrays that count reports, after a check, and the number of people."""

    @abstractmethod
    def plausibility(self, reports: Any) -> Any:
        """Return whether reports can come from the question, after a check: a `Plausibility`, or several by question."""

    @property
    @abstractmethod
    def entropy(self) -> float:
        """Smallest entropy of the message of a person in bits: no message has a larger probability than 2^-entropy."""

    @abstractmethod
    def valid_messages(self, messages: Sequence[bytes]) -> tuple[list[list[bytes]], Counter[str]]:
        """Return the messages that answer the question, in lists for `count`, and the numbers of others by their fault."""

    @abstractmethod
    def message(self, report: Any) -> bytes: ...

    @abstractmethod
    def to_arrow(self, reports: Any) -> Any: ...

    @abstractmethod
    def from_arrow(self, table: Any) -> Any: ...

    @abstractmethod
    def merge(self, states: Sequence[AnyArray], others: Sequence[AnyArray]) -> None:
        """Add arrays of counts to others, in place. All of them may have leading axes, for groups of people."""

    @abstractmethod
    def is_possible(self, states: Sequence[AnyArray], n: int) -> bool:
        """Return whether the answers of n people can have these counts."""

    def counts(self, states: Sequence[AnyArray]) -> AnyArray:
        """Return the counts of reports, where there is one array of them."""
        raise AttributeError("counts exist only for questions with one format of reports")


class Asked(Protocol):
    """What counts use of a question: its recipe, its description and its conclusion."""

    @property
    def _recipe(self) -> Any: ...

    def schema(self) -> dict[str, Any]: ...

    def _result(self, counts: Any, **options: Any) -> Any: ...

    def _table_of_groups(
        self, values: Sequence[Any], counted: Any, confidence: float, simultaneous: bool
    ) -> Table | None: ...


class HoldsRecipe(Protocol[HeldRecipe]):
    """What holds a recipe: a question."""

    @property
    def _recipe(self) -> HeldRecipe: ...


def recipe_of(question: HoldsRecipe[HeldRecipe]) -> HeldRecipe:
    """Return the recipe of a question: the only way from what users see to what the packages work on."""
    return question._recipe
