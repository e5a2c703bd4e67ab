"""Report of a window or of one level of a tree over ordered cells, for distributions."""

from __future__ import annotations

from dataclasses import dataclass, field

from .. import _check
from .._core import privatize
from ..domains import Categories
from ..reports import Codes
from ..results import Debiasing
from ._level_codes import LevelCoins, LevelLaw
from ._mechanism import Mechanism
from ._tree_level import CodedLevel
from ._tree_levels import tree_levels
from ._window_level import WindowLevel

MAX_CELLS = 1 << 12
BRANCHING = 4
SLOTS = 8  # equally probable public draws: one for each level of the tree, and the others for the window
FEWEST_NODES = 16  # of a level of the tree, unless it is the last one: the window replaces smaller ones


@dataclass(frozen=True)
class DistributionResponse(Mechanism):
    """Report of a window of cells, or of the node of a record in a tree over ordered cells.

    `estimation.Distribution` estimates the distribution of numbers from the reports.

    Parameters
    ----------
    k : int
        Number of ordered cells, in [2, 4096].
    epsilon : float
        Privacy parameter, > 0 and at most about 44.

    Attributes
    ----------
    levels : tuple of CodedLevel
        The window, then the levels of a tree with four children per node: those with at least 16 nodes, and the cells.
    first_codes : tuple of int
        First code of each level.

    Raises
    ------
    TypeError, ValueError
        If `k` is not an integer in its range; if `epsilon` is not a finite number > 0, or too small or large for exact coins.

    Notes
    -----
    Records: integers in [0, k), shape (n,). A report is one code: the first code of a level plus a code of that level. The
    level is random and independent of the record: each level of the tree has the probability 1/8, and the window the rest.
    The window has w = max(1, round(3/8 k e^(-3 epsilon / 8))) of k + w - 1 codes, which begin at the record; they are e^epsilon
    times as probable as the others. The levels of the tree are those of `TreeResponse`. `decode` and `estimate` count
    codes: their numbers are shares of the codes. About 5 ns per person
    with 256 cells, and up to 18 with 4,096.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP, the largest loss of the coins of the levels. Codes have exactly the probabilities of the
    integers of the coins. No resistance to timing attacks is claimed. docs/proofs/distribution.md.

    Examples
    --------
    >>> from ldpfast.mechanisms import DistributionResponse
    >>> mechanism = DistributionResponse(256, epsilon=1.0)
    >>> [level.symbols for level in mechanism.levels], mechanism.levels[0].width
    ([256, 16, 64, 256], 66)
    >>> mechanism.privatize([0, 17, 255], rng=1).dtype
    dtype('uint16')
    """

    k: int
    epsilon: float
    report: Codes = field(init=False, repr=False, compare=False)
    levels: tuple[CodedLevel, ...] = field(init=False, repr=False, compare=False)
    first_codes: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        k, epsilon = _check.integer("k", self.k, 2, MAX_CELLS), _check.positive("epsilon", self.epsilon)
        self._set(k=k, epsilon=epsilon)
        tree = tree_levels(k, epsilon, BRANCHING, "hierarchy")
        fine = [level for level in tree if level.span == 1 or level.nodes >= FEWEST_NODES]
        levels = (WindowLevel.of(k, epsilon), *fine)
        law = LevelLaw(k, levels, (*[0] * (SLOTS - len(fine)), *range(1, len(levels))))
        self.define(
            epsilon_realized=max(level.epsilon_realized for level in levels),
            domain=Categories(k),
            report=Codes(law.first_codes[-1]),
            debiasing=Debiasing(0.0, 1.0),
            value_range=law.value_range,
            kernel=privatize.DistributionResponse(k, law.slots, False, law.compiled),
            law=law,
            coin=LevelCoins.of(levels),
            levels=levels,
            first_codes=law.first_codes[:-1],
        )
