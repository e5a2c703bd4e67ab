"""The card of a mechanism: everything that the shared tests, the tools and the pages need to know about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from ldpfast.mechanisms import Mechanism

from ..support.examples import Example
from ..support.internals.kernels import Kernel
from ._fault import Fault
from ._formats import one_byte, scalar
from ._pages import Decision, Precision

Maker = Callable[[float], Mechanism]  # from epsilon
Shape = Callable[[Any], tuple[int, ...]]  # of a mechanism, without the axis of the records


def nothing() -> tuple[()]:
    return ()


def never(mechanism: Any) -> bool:
    return False


def always(mechanism: Any) -> bool:
    return True


@dataclass(frozen=True)
class Coin:
    """A coin: `count` returns how often an event of probability `p` happens in the reports on copies of a record.

    There are `trials` trials per report.
    """

    mechanism: Mechanism
    record: object
    p: float
    count: Callable[[np.ndarray], int]
    trials: int = 1
    dtype: str | None = None

    def __str__(self) -> str:
        return repr(self.mechanism) if self.dtype is None else f"{self.mechanism!r}-{self.dtype}"


class Noise(NamedTuple):
    """Noise on a grid: a record on the grid, and the rate of the noise for one unit of the report."""

    mechanism: Mechanism
    record: object
    rate: float


class ChannelRow(NamedTuple):
    """A record whose reports have the probabilities of a row of the channel."""

    mechanism: Mechanism
    record: object
    row: int


class Sample(NamedTuple):
    """A mechanism, and a function that makes the records of a test."""

    mechanism: Mechanism
    records: Callable[[], np.ndarray]


class Simulated(NamedTuple):
    """A mechanism whose counts for two people are enumerated.

    Mechanisms for numbers name a record and its row, the exact probabilities of its report. For others, the test knows them.
    """

    mechanism: Mechanism
    record: Any = None
    row: Callable[[Any], ArrayLike] | None = None


class Keyed(NamedTuple):
    """Records of persons, and the values of each record that derive its key."""

    mechanism: Mechanism
    records: np.ndarray
    values: Callable[[Any], tuple[Any, ...]]


@dataclass(frozen=True, kw_only=True)
class Card:
    """A mechanism of the library. `tests/test_cards.py` states who may leave which field empty."""

    mechanism: type[Mechanism]
    proof: str = ""  # the stem of its page in docs/proofs, where it is not that of the card
    inner: bool = False  # not a name of `ldpfast`: only a problem, a protocol or a bound creates it

    # Contract: the examples of all shared tests, and a few with ordinary parameters for tests that depend on them little.
    examples: tuple[Example, ...]
    kinds: tuple[Example, ...]
    report_dtype: Callable[[Any, np.dtype], DTypeLike] = one_byte  # from the mechanism and the dtype of its records
    report_shape: Shape = scalar
    decoded_shape: Shape = scalar
    in_place: Callable[[Any], bool] = never  # whether records and reports have one dtype and shape
    enumerated_up_to: int = 0  # the largest size of a decoded report with a channel

    # Errors: makers by name, some with the largest epsilon that their coins certify, and mechanisms whose bad records are
    # refused: of categories, of numbers in any interval, and of vectors of dimension 3 and radius 2.
    makers: dict[str, Maker] = field(default_factory=dict)
    largest_epsilons: tuple[tuple[Maker, float], ...] = ()
    bad_records: tuple[Mechanism, ...] = ()

    # Coins: for n people, one private coin each, which is true with probability 1 / (e + 1); and the coins and noise whose
    # probabilities are measured.
    flips: dict[str, Callable[[int], np.ndarray]] = field(default_factory=dict)
    power: Callable[[], tuple[Coin | Noise, ...]] = nothing

    # Statistics.
    frequencies: tuple[ChannelRow, ...] = ()
    unbiased: tuple[Sample, ...] = ()
    extremes: tuple[tuple[Mechanism, np.ndarray], ...] = ()  # and records among which are those of the worst variance
    covered: tuple[Sample, ...] = ()  # few records, whose intervals are computed thousands of times
    # Makers from k and epsilon, by names of the table.
    total_variances: dict[str, Callable[[int, float], Mechanism]] = field(default_factory=dict)

    # Simulation.
    simulated: tuple[Simulated, ...] = ()
    moments: tuple[Mechanism, ...] = ()  # for few categories: the exact mean and covariance of many counts are compared
    refuses_simulation: Callable[[Any], bool] = never
    # Makers and populations of benchmarks/bench_simulate.py.
    billion: dict[str, tuple[Callable[[], Mechanism], Any]] = field(default_factory=dict)

    # Privacy.
    finite: tuple[Maker, ...] = ()  # of mechanisms with a channel, for every epsilon
    # All of whose reports are decoded; `inputs` of tests/mechanisms/test_channel.py must know what their mean is.
    channels: tuple[Mechanism, ...] = ()
    audited: tuple[tuple[Mechanism, float], ...] = ()  # and the share of epsilon that an audit must find

    # Seeded reports.
    keyed: tuple[Keyed, ...] = ()
    recorded: tuple[Sample, ...] = ()

    # Tools and pages.
    faults: tuple[Fault, ...] = ()  # planted in its kernel by tools/secret_taint.py
    # Test files that hold its kernel, by patterns of the kernel's files, for tools/mutate.py.
    kernel_tests: dict[str, tuple[str, ...]] = field(default_factory=dict)
    choosing: tuple[Decision | Precision, ...] = ()  # rows of docs/choosing.md
    timing: str = ""  # why the time may depend on the record, for docs/threat_model.md; empty where it does not

    @property
    def kernel(self) -> Kernel | None:
        """The compiled kernel of the mechanism. Those in Python have none, nor those that use the kernel of their ball."""
        mechanism: Any = self.examples[0].mechanism
        kernel = mechanism._recipe.kernel
        return kernel if isinstance(kernel, Kernel) and not hasattr(mechanism, "ball") else None
