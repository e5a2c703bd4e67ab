"""Private modules of the search for frequent strings, for tests of their parts."""

from ldpfast.estimation.strings import _independent as independent
from ldpfast.estimation.strings import _search as search
from ldpfast.estimation.strings import _search_levels as search_levels

__all__ = [
    "MAX_CANDIDATES",
    "Level",
    "best_prefixes",
    "continuations",
    "independent",
    "kept_survivors",
    "largest_step",
    "levels_of",
    "search",
    "search_levels",
    "spread",
]

Level = search_levels.Level
MAX_CANDIDATES = search_levels.MAX_CANDIDATES
best_prefixes = search_levels.best_prefixes
continuations = search_levels.continuations
kept_survivors = search_levels.kept_survivors
largest_step = search_levels.largest_step
levels_of = search_levels.levels_of
spread = search_levels.spread
