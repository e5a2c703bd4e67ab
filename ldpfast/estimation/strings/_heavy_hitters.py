"""The strings that many people have, without a list of candidates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import _check
from ..._table import printable
from ..._typing import Floats
from ..._warnings import warn
from ...domains import Strings
from ...reports import Counted
from ...results import SHARES, DoubtfulWarning, IntervalRule, Normal, SmallSampleWarning
from .._frequencies import FrequencyEstimate
from ._count_mean_sketch import SketchEstimate
from ._decoded import DecodedSketch
from ._independent import Independent, independent
from ._search import SearchStep, are_possible, search
from ._search_levels import (
    FOUND,
    Test,
    best_prefixes,
    doubles,
    levels_of,
    planned_tests,
    score_deviation,
    smallest_share,
)
from ._string_problem import StringProblem

IMPOSSIBLE = (
    "the counts are impossible for people who send one report each: reports were probably sent again with other ids, or "
    "forged, so that strings may be shown that nobody has"
)


@dataclass(frozen=True, eq=False, repr=False)
class HeavyHittersEstimate(FrequencyEstimate):
    """Strings that were found, with their shares, in descending order of the shares.

    Attributes
    ----------
    smallest_share : float
        Every string of at least this share was found with probability 0.95; infinite for too few people.
    steps : tuple of SearchStep
        What each level of the search did: numbers of candidates, thresholds.
    compared : int
        Number of strings that passed all levels. Simultaneous intervals hold for all of them.
    doubts : tuple of str
        Reasons to doubt the strings and their shares. Each is also issued as a `DoubtfulWarning`.

    Examples
    --------
    >>> from ldpfast.estimation import HeavyHitters
    >>> problem = HeavyHitters(4.0, max_bytes=4, alphabet="abcdefghijklmnopqrstuvwxyz", n=60_000)
    >>> estimate = problem.run(["new"] * 40_000 + ["word"] * 20_000, rng=1)
    >>> estimate.categories
    ('new', 'word')
    """

    smallest_share: float = math.inf
    steps: tuple[SearchStep, ...] = ()
    compared: int = 0
    doubts: tuple[str, ...] = ()

    @property
    def strings(self) -> tuple[Any, ...]:
        """The strings that were found."""
        return self.categories or ()

    def _entries(self, places: Sequence[int]) -> list[str]:
        return [printable(entry) for entry in super()._entries(places)]

    def _numbers_at_once(self) -> int:
        return max(1, self.compared)

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary like that of `FrequencyEstimate.to_dict`, with the smallest share that is found."""
        share = self.smallest_share if math.isfinite(self.smallest_share) else None
        return {**super().to_dict(), "smallest_share": share, "probability": FOUND, "doubts": list(self.doubts)}


@dataclass(frozen=True)
class HeavyHittersPlan:
    """What `HeavyHitters` finds among a number of people.

    Attributes
    ----------
    n : int
        Number of people.
    smallest_share : float
        Share of a string that is found with probability 0.95; infinite if there is none.
    prefixes : tuple of int
        Lengths of the prefixes of the levels.
    candidates : tuple of int
        Largest numbers of candidates of the levels.
    stderr : float
        Standard error of the share of a rare string.
    state_bytes, report_bytes : int
        Size of the counts of the server, and of one report.

    Examples
    --------
    >>> from ldpfast.estimation import HeavyHitters
    >>> plan = HeavyHitters(4.0, max_bytes=4, alphabet="abcdefghijklmnopqrstuvwxyz", n=1_000_000).plan()
    >>> plan.prefixes, plan.smallest_share < 0.005
    ((4,), True)
    """

    n: int
    smallest_share: float
    prefixes: tuple[int, ...]
    candidates: tuple[int, ...]
    stderr: float
    state_bytes: int
    report_bytes: int

    def __str__(self) -> str:
        found = (
            f"every string of at least {self.smallest_share:.3g} of all people is found with probability {FOUND}"
            if math.isfinite(self.smallest_share)
            else "no string is found with probability 0.95"
        )
        return "\n".join(
            [
                f"{self.n} people: {found}",
                f"standard error of a small share: {self.stderr:.2g}",
                f"prefixes of {', '.join(map(str, self.prefixes))} symbols, at most {max(self.candidates)} candidates each",
                f"counts: {self.state_bytes / 1e6:.3g} MB, report: {self.report_bytes} bytes",
            ]
        )


@dataclass(frozen=True)
class HeavyHitters(StringProblem[HeavyHittersEstimate]):
    """The strings that many people have: new words, addresses, crash signatures or products that nobody listed.

    Parameters
    ----------
    epsilon : float
        Privacy parameter of an answer, > 0.
    max_bytes : int
        Largest number of bytes of a string in UTF-8, in [1, 255]; with an alphabet, of characters. Longer strings cost more
        levels, so that fewer are found.
    alphabet : str, optional
        At most 253 characters that strings consist of. The default is all bytes but 0. A small alphabet needs fewer levels.
    n : int, default 1,000,000
        Number of people that is expected; the levels are chosen for it. Any number of people can answer.
    false_discovery : float, default 0.05
        Probability that any string is reported that nobody has, in (0, 1).
    buckets : int, default 2^16
        Number of values of a hash function, in [2, 2^20].
    functions : int, default 16
        Number of hash functions of the strings, and of each level, in [2, 64].
    salt : str, default ""
        Public text on which the hash functions depend; see `CountMeanSketch`.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as above; if strings are too long for a search.

    Notes
    -----
    Half of the people report the hash of the whole string, the others that of a prefix, whose length is drawn at random. The
    server finds prefixes from short to long: it continues those whose score is above what noise would give to one of all
    candidates. The strings that are left are tested by the reports about whole strings, which the search has not seen, with the
    error probability `false_discovery` for all of them together, and their shares are estimated from these reports. The score
    of a string is the sum over the hash functions without the largest number, and without those functions that a more frequent
    string has in common with it, so that collisions do not let an absent string pass.

    The time of the server grows with the number of candidates, at most 2^24 for each level, and not with that of the people.
    Where too many prefixes pass a level, the best are kept and a warning says so. Counts that no people can have, because
    reports were sent again or forged, give a warning; their search ends early. docs/strings.md, docs/proofs/sketch.md.

    Privacy
    -------
    The guarantee of `SketchResponse`, for a person's one report.

    References
    ----------
    .. [1] R. Bassily, K. Nissim, U. Stemmer, A. Thakurta, "Practical locally private heavy hitters", NIPS 2017 (prefixes).

    Examples
    --------
    >>> from ldpfast.estimation import HeavyHitters
    >>> problem = HeavyHitters(4.0, max_bytes=8, alphabet="abcdefghijklmnopqrstuvwxyz", n=1_000_000)
    >>> print(problem.plan())  # doctest: +ELLIPSIS
    1000000 people: every string of at least 0.00... of all people is found with probability 0.95
    ...
    """

    epsilon: float
    _: KW_ONLY
    max_bytes: int
    alphabet: str | None = None
    n: int = 1_000_000
    false_discovery: float = 0.05
    buckets: int = 1 << 16
    functions: int = 16
    salt: str = ""

    def __post_init__(self) -> None:
        domain = Strings(self.max_bytes, self.alphabet)
        self._set(
            n=_check.people("n", self.n),
            false_discovery=_check.probability("false_discovery", self.false_discovery),
            functions=_check.integer("functions", self.functions, 2, 64),
        )
        whole = self._sketch()
        self._define(replace(whole, prefixes=best_prefixes(domain, whole, self.n)), domain)

    @property
    def _levels(self) -> Any:
        return levels_of(self.mechanism.domain, self.mechanism.prefixes)

    def plan(self, n: int | None = None) -> HeavyHittersPlan:
        """Return what is found among a number of people.

        Parameters
        ----------
        n : int, optional
            Number of people; the default is the expected number.

        Returns
        -------
        plan : HeavyHittersPlan
            For strings whose squared shares have a sum of about 0.01, as words have; it matters for very many people only.

        Raises
        ------
        TypeError, ValueError
            If `n` is not an integer in [1, 2^53].
        """
        people = self.n if n is None else _check.people("n", n)
        levels, symbols = self._levels, self.mechanism.domain.symbols
        tests = planned_tests(self.mechanism, levels, people, self.false_discovery)
        of_share = score_deviation(self.mechanism, 0.0, people / 2, tests[-1].second_moment)
        return HeavyHittersPlan(
            people,
            smallest_share(self.mechanism, tests),
            self.mechanism.prefixes,
            tuple(level.candidates(symbols) for level in levels),
            of_share * math.sqrt((self.functions - 1) / self.functions),
            8 * self.mechanism.report.k,
            self.report.nbytes,
        )

    def _reports_about_strings(self, n: int, liars: int) -> float:
        return (n - liars) / 2 + liars

    def _conclude(self, counted: Counted) -> HeavyHittersEstimate:
        """Return the strings that many people have. Users call ``counted.estimate()``.

        Parameters
        ----------
        counted : Aggregator
            Aggregator of this problem with at least one report.

        Returns
        -------
        estimate : HeavyHittersEstimate

        Warns
        -----
        UserWarning
            If more prefixes passed a level than can be continued, or than can be tested.
        DoubtfulWarning
            If people who send one report each cannot have these counts. The work of the search is limited then as well.
        SmallSampleWarning
            If not even a string that everybody has would be found; if there are too few functions and buckets for the number of
            candidates, so that no share can be promised.
        """
        return self.searched(counted)[0]

    def searched(self, counted: Counted) -> tuple[HeavyHittersEstimate, SketchEstimate]:
        """Return the result of `conclude`, and what the reports about whole strings say about strings that are named.

        Shares of the latter are valid for strings that were not chosen by a look at the former.
        """
        mechanism, levels = self.mechanism, self._levels
        whole = DecodedSketch.of(mechanism, counted, 0)
        parts = [DecodedSketch.of(mechanism, counted, part + 1) for part in range(len(levels))]
        rows, steps, moments = search(parts, levels)
        for step in steps:
            if step.raised:
                warn(
                    f"more prefixes of {step.length} symbols passed than can be continued, and {step.kept} were: strings of "
                    f"less than about {step.threshold:.2g} of all people were lost",
                    UserWarning,
                )
        tests = [
            Test(step.threshold, part.n, moment, step.candidates)
            for step, part, moment in zip(steps, parts, moments, strict=True)
        ]
        value, stderr, rule, names, last, chosen = self._confirmed(whole, rows)
        largest = max([last.threshold, *(step.threshold for step in steps)])
        doubts: tuple[str, ...] = ()
        if not (all(step.possible for step in steps) and are_possible(whole, chosen, largest)):
            doubts = (IMPOSSIBLE,)
            warn(IMPOSSIBLE, DoubtfulWarning)
        share = smallest_share(mechanism, [*tests, last])
        if sum(doubles(mechanism, test.candidates) for test in tests) > 1 - FOUND:
            most = max(step.candidates for step in steps)
            warn(
                f"{mechanism.functions} functions of {mechanism.buckets} buckets are too few to tell {most} candidates apart: "
                "strings that people have may be missed",
                SmallSampleWarning,
            )
        elif not math.isfinite(share):
            warn(f"n = {counted.n} is too small to find any string with probability {FOUND}", SmallSampleWarning)
        found = HeavyHittersEstimate(
            value,
            stderr,
            counted.n,
            self.guarantee,
            None,
            rule,
            names,
            value,
            True,
            smallest_share=share,
            steps=tuple(steps),
            compared=len(rows),
            doubts=doubts,
            _span=SHARES,
        )
        return found, SketchEstimate(counted.n, self.guarantee, whole)

    def _confirmed(
        self, whole: DecodedSketch, rows: NDArray[np.uint8]
    ) -> tuple[Floats, Floats, IntervalRule, tuple[Any, ...], Test, Independent]:
        """Return shares, standard errors, the rule and the names of the strings that whole strings confirm, and the test."""
        from scipy.special import ndtri

        mechanism, functions = whole.mechanism, self.functions
        padded = np.zeros((len(rows), mechanism.domain.width), np.uint8)
        padded[:, : rows.shape[1]] = rows
        # The reports about whole strings were not used by the search, so they test its strings and estimate their shares.
        # Functions that put two of the strings in one bucket are left out for both, unless no function separates them.
        buckets = whole.buckets(padded)
        scores = mechanism._hashes[0].scores(whole.table, padded)
        z = float(-ndtri(self.false_discovery / max(1, len(rows))))
        chosen = independent(whole, buckets, scores, z, whole.second_moment)
        places = chosen.places
        buckets = buckets[chosen.places]
        shares = chosen.scores
        shared = np.zeros(buckets.shape, np.bool_)
        for function in range(functions):
            _, place, count = np.unique(buckets[:, function], return_inverse=True, return_counts=True)
            shared[:, function] = count[place] > 1
        shared[shared.all(axis=1)] = False
        rule: IntervalRule = Normal()
        for _ in range(4):  # the estimate of each share needs the shares of the other strings
            order = np.argsort(-shares, kind="stable")
            places = places[order]
            buckets = buckets[order]
            shared = shared[order]
            shares = shares[order]
            others = np.clip(np.sum(shares) - shares, 0, 1)
            shares, stderr, rule = whole.estimate(buckets, ~shared, others, chosen.second_moment)
        threshold = z * whole.absent(whole.n, functions, chosen.second_moment) if whole.n else math.inf
        names = tuple(mechanism.domain.strings(padded[places]))
        return shares, stderr, rule, names, Test(threshold, whole.n, chosen.second_moment, len(rows)), chosen
