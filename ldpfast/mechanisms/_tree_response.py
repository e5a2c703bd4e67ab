"""Report of one level of a tree over an ordered domain."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field

from .. import _check
from .._core import privatize
from ..domains import Categories
from ..reports import Codes
from ..results import Debiasing
from ._level_codes import LevelCoins, LevelLaw
from ._mechanism import Mechanism
from ._tree_level import TreeLevel
from ._tree_levels import tree_levels

MAX_BINS = 1 << 20
METHODS = ("hierarchy", "haar")


@dataclass(frozen=True)
class TreeResponse(Mechanism):
    """Report of the node of a record at a random level of a tree over ordered bins, for range queries.

    `estimation.RangeQueries` estimates shares of ranges and quantiles from the reports.

    Parameters
    ----------
    k : int
        Number of ordered bins, in [2, 2^20].
    epsilon : float
        Privacy parameter, > 0 and at most about 44.
    branching : int, default 4
        Number of children of a node, in [2, 2^20]; from k on the tree is a flat histogram. Must be 2 for "haar".
    method : {"hierarchy", "haar"}
        "hierarchy": a report tells the node of the record. "haar": it tells the node and the half of it in which the record
        is, which is a coefficient of the Haar wavelet.

    Attributes
    ----------
    levels : tuple of TreeLevel
        Levels of the tree, from below the root to the bins.
    first_codes : tuple of int
        First code of each level.

    Raises
    ------
    TypeError, ValueError
        If `k` or `branching` is not an integer in its range; if `method` is not one of the above; if `epsilon` is not a finite
        number > 0, or too small or large for exact coins.

    Notes
    -----
    Records: integers in [0, k), shape (n,). A report is one code: the first code of a level plus a code of that level. The
    level is uniformly random and independent of the record. Each level uses k-ary randomized response over its symbols,
    Hadamard response, or (for "hierarchy") subset selection or projective geometry response, whichever has the smallest
    variance if all nodes are equally frequent. `decode` and `estimate` count codes: their numbers are shares of the codes. 6 to
    15 ns per person.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP, the largest loss of the coins of the levels. Codes have exactly the probabilities of the
    integers of the coins. No resistance to timing attacks is claimed. docs/proofs/range_queries.md.

    Examples
    --------
    >>> from ldpfast.mechanisms import TreeResponse
    >>> mechanism = TreeResponse(64, epsilon=1.0)
    >>> [level.nodes for level in mechanism.levels]
    [4, 16, 64]
    >>> mechanism.privatize([0, 17, 63], rng=1).dtype
    dtype('uint16')
    """

    k: int
    epsilon: float
    _: KW_ONLY
    branching: int = 4
    method: str = "hierarchy"
    report: Codes = field(init=False, repr=False, compare=False)
    levels: tuple[TreeLevel, ...] = field(init=False, repr=False, compare=False)
    first_codes: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        method = _check.choice("method", self.method, METHODS)
        self._set(
            k=_check.integer("k", self.k, 2, MAX_BINS),
            epsilon=_check.positive("epsilon", self.epsilon),
            branching=_check.integer("branching", self.branching, 2, MAX_BINS),
        )
        if method == "haar" and self.branching != 2:
            raise ValueError(f"branching must be 2 for the method 'haar', got {self.branching}")
        levels = tuple(tree_levels(self.k, self.epsilon, self.branching, method))
        law = LevelLaw(self.k, levels, tuple(range(len(levels))))
        self.define(
            epsilon_realized=max(level.epsilon_realized for level in levels),
            domain=Categories(self.k),
            report=Codes(law.first_codes[-1]),
            debiasing=Debiasing(0.0, 1.0),
            value_range=law.value_range,
            kernel=privatize.TreeResponse(self.k, law.slots, method == "haar", law.compiled),
            law=law,
            coin=LevelCoins.of(levels),
            levels=levels,
            first_codes=law.first_codes[:-1],
        )
