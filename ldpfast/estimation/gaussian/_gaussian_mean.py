"""Protocol for the mean of normal records: one message per person, in one round or two.

One class; half of the lines are docstrings of its public methods: queries, simulation, merging and storage.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self

from numpy.typing import ArrayLike

from ... import _check
from ..._described import Described
from ..._random import open_generator, open_stream
from ..._warnings import warn
from ...domains import Reals
from ...mechanisms import Mechanism, Query
from ...results import DoubtfulWarning, SmallSampleWarning
from ..protocols import warn_clipped_records
from ._gaussian_estimate import GaussianEstimate
from ._group import AnswerGroups, Group
from ._paper import Paper
from ._plan import Part, Plan
from ._robust import Efficient, Robust
from ._simulation import ask, simulate
from ._storage import load, save
from ._variant import MIN_KAPPA, Located, Model, ProtocolVariant

if TYPE_CHECKING:
    from ..._random import RNGLike

METHODS = ("robust", "paper", "efficient", "robust-pairs", "efficient-pairs")
MIN_SIGMA = 1e-100
MAX_SIGMA = 1e100
MAX_RATIO = 2.0**40  # of mu_bound / sigma and sigma_max / sigma_min
SAME = 1e-6  # of sigma: what a saved center may differ from the computed one, because machines round differently


class GaussianMean(Described):
    """Protocol for the mean of normal records; each person sends one message.

    The first people answer the search: in which of four cells their record lies, where the width of the cells doubles
    from level to level. The others answer about the place that the search found (two rounds), or about a periodic
    pattern that is independent of it (one round). See docs/gaussian.md.

    Parameters
    ----------
    epsilon : float
        Privacy parameter of the one message of each person, > 0.
    sigma : float, optional
        Standard deviation of the records, if it is known.
    sigma_bounds : (float, float), optional
        Bounds of an unknown standard deviation, 0 < sigma_min <= sigma_max, with some room. Exactly one of `sigma` and
        `sigma_bounds` is given.
    mu_bound : float
        Public bound > 0: the mean is in [-mu_bound, mu_bound]. A generous bound costs little: a factor of two is one
        more level.
    beta : float, default 0.05
        Failure probability for which the thresholds of ``method="paper"`` are made.
    rounds : {2, 1}
        2: the second questions depend on the answers to the search. 1: all people can be asked at once.
    method : {"robust", "paper", "efficient", "robust-pairs", "efficient-pairs"}
        "robust": maximum likelihood of all answers. "paper": the published protocol with safe noise, which needs many
        more people. "efficient" (two rounds): a small search, then the most informative bins for the mean. With "-pairs", the
        search is decoded by pairs of neighboring cells instead of the likelihood of all levels, and needs three to five times
        as many answers.
    n : int, optional
        Number of people who will be asked. ``method="paper"`` requires it for one round. The other methods ignore it.

    Attributes
    ----------
    n : int
        Number of answers so far.
    round : int
        Number of the open round, from 0; `rounds` if all are closed.
    groups : int
        Number of groups of the open round.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range; if both or none of `sigma` and `sigma_bounds` are given; for ``rounds=1`` with
        ``method="efficient"``.

    Notes
    -----
    The records must be about normal, with the given `sigma`. The answers measure the middle of the records and roughly
    their spread; all else is assumed by the model. A mean beyond `mu_bound` is detected up to the range of the top
    level. The search mistakes a mean farther away for another one, which the second answers usually contradict (not
    those of ``method="paper"``). `GaussianEstimate.goodness` tests the model, and `doubts` reports clear
    contradictions.

    Missing answers make groups smaller. They cause no bias if answering does not depend on the record.

    Privacy
    -------
    Each person sends one report, of `Residue` or `Bins` (``method="paper"`` with unknown sigma: Laplace noise), exactly
    `epsilon_realized`-LDP whatever was published before. The second questions are functions of the counts of the first. A
    person answers one query in all: the client has to remember that it has answered.

    References
    ----------
    .. [1] M. Joseph, J. Kulkarni, J. Mao, Z. S. Wu, "Locally private Gaussian estimation", NeurIPS 2019.
    .. [2] G. Kalinin, L. Steinberger, "Efficient estimation of a Gaussian mean with local differential privacy", 2025.

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> heights = np.random.default_rng(1).normal(171.0, 7.0, 100_000)
    >>> estimate = ldp.estimation.GaussianMean(1.0, sigma=7.0, mu_bound=1000.0).run(heights, rng=1)
    >>> bool(abs(estimate.value - 171) < 0.3)
    True
    """

    _kind: ClassVar[str] = "protocol"

    def __init__(
        self,
        epsilon: float,
        *,
        sigma: float | None = None,
        sigma_bounds: tuple[float, float] | None = None,
        mu_bound: float,
        beta: float = 0.05,
        rounds: int = 2,
        method: str = "robust",
        n: int | None = None,
    ) -> None:
        self.epsilon = _check.positive("epsilon", epsilon)
        if (sigma is None) == (sigma_bounds is None):
            raise ValueError("exactly one of sigma and sigma_bounds must be given")
        self.sigma = None if sigma is None else _check.positive("sigma", sigma)
        self.sigma_bounds = None if sigma_bounds is None else _bounds(sigma_bounds)
        self.mu_bound, self.beta = _check.positive("mu_bound", mu_bound), _check.probability("beta", beta)
        _check_resolution(self.mu_bound, *(self.sigma_bounds or (self.sigma, self.sigma)))
        self.rounds = _check.integer("rounds", rounds, 1, 2)
        self.method = _check.choice("method", method, METHODS)
        if self.method.startswith("efficient") and self.rounds == 1:
            raise ValueError(f'rounds must be 2 for method="{self.method}": its questions need a center')
        self.horizon = None if n is None else _check.people("n", n)
        self._variant = self._make(Model(self.epsilon, self.sigma, self.sigma_bounds, self.mu_bound, self.beta))
        self._asked: list[AnswerGroups] = []  # groups of each round that has begun
        self._located: Located | None = None  # published between the rounds
        self.round = 0
        if self._is_planned:
            self._open()

    @property
    def _is_planned(self) -> bool:
        """Whether the first questions are known before the number of people is."""
        return self.rounds == 2 or self.method != "paper" or self.horizon is not None

    def _pinned(self) -> dict[str, Any]:
        return {"coins": [question.schema()["coins"] for question in self._first()] if self._is_planned else []}

    def _make(self, model: Model) -> ProtocolVariant:
        """Return the variant of the method."""
        if self.method == "paper":
            return Paper(model, self.rounds)
        kind, _, decoder = self.method.partition("-")
        return (Efficient if kind == "efficient" else Robust)(model, self.rounds, decoder or "likelihood")

    # Queries and answers --------------------------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """Number of answers so far."""
        return sum(group.n for groups in self._asked for group in groups)

    @property
    def groups(self) -> int:
        """Number of groups of the open round."""
        return len(self._open())

    def _open(self) -> AnswerGroups:
        """Return the groups of the open round."""
        if self.round == self.rounds:
            raise ValueError("the last round is closed: there are no more queries")
        if not self._asked:
            self._asked.append(tuple(map(Group.of, self._first())))
        return self._asked[self.round]

    def _first(self) -> tuple[Mechanism, ...]:
        """Return the questions of the first round."""
        search = self._variant.levels.questions
        return search if self.rounds == 2 else search + self._variant.nonadaptive_questions(self.horizon)

    def plan(self, n: int) -> Plan:
        """Return how many of n people belong to each group of each round.

        Parameters
        ----------
        n : int
            Number of people; some of them may not answer.

        Returns
        -------
        plan : Plan
            ``plan.rounds[r][g]`` people are in group g of round r; ``plan.place(i)`` assigns person i.

        Raises
        ------
        TypeError, ValueError
            If n is not an integer, or too small for the search; the message contains the least n.
        """
        n, variant = _check.people("n", n), self._variant
        others = len(variant.nonadaptive_questions(self.horizon or n)) if self.rounds == 1 else variant.second_groups
        return variant.plan(n, others)

    def query(self, group: int = 0) -> Query:
        """Return the query for a group of the open round, for any number of people.

        Parameters
        ----------
        group : int
            Number of the group, in [0, groups).

        Returns
        -------
        query : Query
            Can be sent as bytes; valid until the round is closed.

        Raises
        ------
        TypeError, ValueError
            If there is no such group, or the last round is closed.
        """
        groups = self._open()
        _check.integer("group", group, 0, len(groups) - 1)
        return Query(self._serial() + group, groups[group].question)

    def _serial(self) -> int:
        """Return the serial number of the first query of the open round."""
        return sum(len(groups) for groups in self._asked[: self.round])

    def update(self, query: Query, reports: ArrayLike) -> Self:
        """Add answers to a query of the open round, in any order and in batches of any size.

        Parameters
        ----------
        query : Query
            Query of this server, as returned by `query`.
        reports : array_like
            Reports, as returned by the `privatize` of the query.

        Returns
        -------
        self : GaussianMean

        Raises
        ------
        TypeError, ValueError
            If the query is not one of the open round, or the reports are not of its mechanism. The server is then
            unchanged.
        """
        if not isinstance(query, Query):
            raise TypeError(f"query must be a Query, got {type(query).__name__}")
        groups, first = self._open(), self._serial()
        if not first <= query.serial < first + len(groups):
            raise ValueError(
                f"query must be of the open round, {self.round}, with a serial number in "
                f"[{first}, {first + len(groups) - 1}], got {query.serial}"
            )
        group = groups[query.serial - first]
        if query.mechanism != group.question:
            raise ValueError(f"query must have the mechanism {group.question!r}, got {query.mechanism!r}")
        group.answers.update(reports)
        return self

    def close_round(self) -> Self:
        """Close the round: its queries become invalid, and its counts determine the next ones.

        Returns
        -------
        self : GaussianMean

        Raises
        ------
        ValueError
            If all rounds are closed, or there are too few answers to continue. The round then stays open.
        """
        groups = self._open()
        if self.round == 0:
            search = groups[: len(self._variant.levels)]
            self._require(search)
            if self.rounds == 2:
                located = self._variant.locate(search)
                questions = self._variant.adaptive_questions(located, self.horizon or 2 * self.n)
                self._asked.append(tuple(map(Group.of, questions)))
                self._located = located
        self.round += 1
        return self

    def _require(self, search: AnswerGroups) -> None:
        """Raise ValueError if a group of the search has too few answers."""
        levels, fewest = self._variant.levels, min(group.n for group in search)
        if levels.kappa(fewest) < MIN_KAPPA:
            least = levels.people(MIN_KAPPA) // len(levels)
            raise ValueError(f"the search needs at least {least} answers in each group, got {fewest} in the smallest")

    def estimate(self) -> GaussianEstimate:
        """Return the mean, estimated from all answers so far.

        Returns
        -------
        estimate : GaussianEstimate

        Raises
        ------
        ValueError
            If the first of two rounds is open, there are too few answers to the search, or none to the second
            questions.

        Warns
        -----
        SmallSampleWarning
            If kappa, the effective sample size of the search, is below 8 (``method="paper"``: 130): the search may
            have failed.
        DoubtfulWarning
            If the answers contradict the model or the search.
        """
        return self._warned(self._conclude())

    def _conclude(self) -> GaussianEstimate:
        """Return the estimate without its warnings."""
        variant = self._variant
        if self.rounds == 2 and self._located is None:
            raise ValueError("an estimate needs the second round: close_round() ends the first")
        everybody = tuple(group for groups in (self._asked or [self._open()]) for group in groups)
        search, second = everybody[: len(variant.levels)], everybody[len(variant.levels) :]
        self._require(search)
        if sum(group.n for group in second) == 0:
            raise ValueError("an estimate needs at least 1 answer to the second questions, got none")
        return variant.conclude(self._located or variant.locate(search), search, second)

    def _warned(self, estimate: GaussianEstimate) -> GaussianEstimate:
        """Issue the warnings of an estimate and return it."""
        safe = self._variant.safe_kappa
        if estimate.kappa < safe:
            warn(
                f"kappa = {estimate.kappa:.1f} is below {safe:g}: the search may have failed, and the interval "
                "holds only if it has not",
                SmallSampleWarning,
            )
        for doubt in estimate.doubts:
            warn(doubt, DoubtfulWarning)
        return estimate

    # Simulation -----------------------------------------------------------------------------------------------------

    def run(self, x: ArrayLike, *, rng: RNGLike = None, clip: bool = False) -> GaussianEstimate:
        """Run the whole protocol in one process, on a new server with the same parameters.

        Answers that this server has are neither used nor changed.

        Parameters
        ----------
        x : array_like, shape (n,)
            Finite numbers; a memory map is read in pieces, each record once. People are assigned to the groups in turn,
            by their position in `x`. Sorted data do no harm; data with a period (weekdays, households) have to be
            permuted first.
        rng : None, int, SeedSequence, Generator or BitGenerator
            Source of randomness; only ``None`` is private.
        clip : bool, default False
            Map NaN to 0 and infinite numbers to the largest finite ones, instead of raising ValueError.

        Returns
        -------
        estimate : GaussianEstimate

        Raises
        ------
        TypeError, ValueError
            If there is no record, or one that is not a finite number and `clip` is false; if n is too small, as for `plan`.

        Warns
        -----
        SmallSampleWarning, DoubtfulWarning
            As for `estimate`.
        ClippedWarning
            With `clip`, if records were not finite; with their share.

        Notes
        -----
        About 1.5 ns per person, and 1.5 ms (5 if sigma is unknown); memory does not depend on n.
        """
        domain = Reals()
        domain.check_clip(clip)
        records, _ = domain.records(x)
        if not len(records):
            raise ValueError("x must hold at least 1 record, got none")
        plan, stream = self.plan(len(records)), open_stream(rng)
        estimate = self._simulate_parts(plan, lambda part, questions: ask(plan, part, questions, records, stream, clip))
        if clip:
            warn_clipped_records(domain, records)
        return self._warned(estimate)

    def simulate(self, n: int, mu: float, sigma: float, *, rng: RNGLike = None) -> GaussianEstimate:
        """Simulate the estimate from n records of N(mu, sigma^2), with counts drawn from their exact distribution.

        Parameters
        ----------
        n : int
            Number of people.
        mu, sigma : float
            Mean and standard deviation of the records. They need not be within the declared bounds.
        rng : None, int, SeedSequence, Generator or BitGenerator
            Source of randomness.

        Returns
        -------
        estimate : GaussianEstimate

        Raises
        ------
        TypeError, ValueError
            If `mu` is not finite or `sigma` not > 0; if n is too small, as for `plan`.

        Warns
        -----
        SmallSampleWarning, DoubtfulWarning
            As for `estimate`.

        Notes
        -----
        Time does not depend on n, except for ``method="paper"`` with unknown sigma: half of its messages are not
        codes, and n / 2 records are drawn.
        """
        mu, sigma = _check.real("mu", mu), _check.positive("sigma", sigma)
        plan, generator = self.plan(n), open_generator(rng)
        estimate = self._simulate_parts(
            plan, lambda part, questions: simulate(plan, part, questions, mu, sigma, generator)
        )
        return self._warned(estimate)

    def _simulate_parts(
        self, plan: Plan, answers: Callable[[Part, tuple[Mechanism, ...]], AnswerGroups]
    ) -> GaussianEstimate:
        """Return the estimate of a new server that gets the `answers` of both parts of a plan."""
        server = GaussianMean(**{**self._parameters(), "n": self.horizon or plan.n})
        search = len(server._variant.levels)
        first = tuple(group.question for group in server._open())
        server._asked = [answers(plan.search, first[:search])]
        if server.rounds == 1:
            server._asked = [server._asked[0] + answers(plan.second, first[search:])]
        else:
            server.close_round()
            server._asked[1] = answers(plan.second, tuple(group.question for group in server._asked[1]))
        return server._conclude()

    # Merging and storage --------------------------------------------------------------------------------------------

    def merge(self, other: GaussianMean) -> Self:
        """Add the answers of another server with the same questions.

        Answers to the open round are added. Answers to closed rounds, which determined the questions, must be the same
        in both servers and count once.

        Parameters
        ----------
        other : GaussianMean
            Server to be added; it is not changed.

        Returns
        -------
        self : GaussianMean

        Raises
        ------
        TypeError, ValueError
            If `other` is not such a server, or is in another state; the message names the difference.
        """
        if not isinstance(other, GaussianMean):
            raise TypeError(f"other must be a GaussianMean, got {type(other).__name__}")
        if other is self:
            raise ValueError("other must be another server: its answers would count twice")
        if other._parameters() != self._parameters():
            raise ValueError(f"other must have the same parameters: {self!r}, got {other!r}")
        if other.round != self.round:
            raise ValueError(f"other must be in the same round, {self.round}, got {other.round}")
        ours, theirs = self._open(), other._open()
        closed = [
            [group.answers.to_bytes() for groups in s._asked[: s.round] for group in groups] for s in (self, other)
        ]
        if closed[0] != closed[1] or [g.question for g in ours] != [g.question for g in theirs]:
            raise ValueError("other must have closed the same rounds with the same answers")
        self._asked[self.round] = tuple(
            Group(group.question, group.question.aggregator().merge(group.answers).merge(more.answers))
            for group, more in zip(ours, theirs, strict=True)
        )
        return self

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    def to_bytes(self) -> bytes:
        """Return parameters, questions and counts as bytes, with a checksum.

        Returns
        -------
        data : bytes
        """
        located = self._located and [self._located.mu, self._located.sigma, list(self._located.doubts)]
        header = {"parameters": self._parameters(), "round": self.round, "located": located}
        return save(header, self._asked)

    @classmethod
    def from_bytes(cls, data: bytes) -> GaussianMean:
        """Return the server that was saved by `to_bytes`.

        Parameters
        ----------
        data : bytes
            Result of `to_bytes`.

        Returns
        -------
        server : GaussianMean

        Raises
        ------
        TypeError, ValueError
            If `data` are not bytes; if they are damaged, foreign, or of another version.
        """
        header, rounds = load(data)
        try:
            return cls._from_header(header, rounds)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise ValueError(f"data must be the bytes of a GaussianMean: {error}") from error

    @classmethod
    def _from_header(cls, header: Any, rounds: list[AnswerGroups]) -> GaussianMean:
        """Return the saved server; any exception means that the data are invalid."""
        server = cls(**header["parameters"])
        questions = [[group.question for group in groups] for groups in rounds]
        begun = [[group.question for group in groups] for groups in server._asked]
        if questions[:1] != begun:
            raise ValueError("other questions in the first round")
        server.round = _check.integer("round", header["round"], 0, server.rounds)
        if len(rounds) != min(server.round + 1, server.rounds) * bool(begun):
            raise ValueError("rounds without answers, or answers without a round")
        if server.rounds == 2 and server.round > 0:
            mu, sigma, _ = header["located"]
            recomputed = server._variant.locate(rounds[0][: len(server._variant.levels)])
            located = Located(_check.real("mu", mu), _check.positive("sigma", sigma), recomputed.doubts)
            if max(abs(mu - recomputed.mu), abs(sigma - recomputed.sigma)) > SAME * recomputed.sigma:
                raise ValueError("a center that the answers do not give")
            n = server.horizon or 2 * sum(group.n for group in rounds[0])
            expected = server._variant.adaptive_questions(located, n)
            if [(type(m), m.epsilon) for m in expected] != [(type(m), m.epsilon) for m in questions[1]]:
                raise ValueError("other questions in the second round")
            server._located = located
        elif header["located"] is not None:
            raise ValueError("a center before the first round is closed")
        server._asked = rounds
        return server

    def _parameters(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        bounds = None if self.sigma_bounds is None else list(self.sigma_bounds)
        return {
            "epsilon": self.epsilon,
            "sigma": self.sigma,
            "sigma_bounds": bounds,
            "mu_bound": self.mu_bound,
            "beta": self.beta,
            "rounds": self.rounds,
            "method": self.method,
            "n": self.horizon,
        }

    def __repr__(self) -> str:
        scale = f"sigma={self.sigma!r}" if self.sigma is not None else f"sigma_bounds={self.sigma_bounds!r}"
        defaults = {"beta": 0.05, "rounds": 2, "method": "robust", "n": None}
        given = self._parameters()
        rest = "".join(f", {name}={given[name]!r}" for name, usual in defaults.items() if given[name] != usual)
        return f"GaussianMean({self.epsilon!r}, {scale}, mu_bound={self.mu_bound!r}{rest})"


def _check_resolution(mu_bound: float, low: Any, high: Any) -> None:
    """Raise ValueError if double precision does not resolve the cells."""
    if low < MIN_SIGMA or high > MAX_SIGMA:
        raise ValueError(f"sigma must be in [{MIN_SIGMA:g}, {MAX_SIGMA:g}], got {low if low < MIN_SIGMA else high!r}")
    if high > MAX_RATIO * low:
        raise ValueError(f"sigma_bounds must be within a factor of 2^40, got {(low, high)!r}")
    if mu_bound > MAX_RATIO * low:
        raise ValueError(f"mu_bound must be at most 2^40 sigma, got {mu_bound!r}")


def _bounds(given: Any) -> tuple[float, float]:
    """Return sigma_bounds as two checked floats."""
    try:
        low, high = given
    except (TypeError, ValueError):
        raise TypeError("sigma_bounds must be two numbers, sigma_min and sigma_max") from None
    low, high = _check.positive("sigma_bounds", low), _check.positive("sigma_bounds", high)
    if low > high:
        raise ValueError(f"sigma_bounds must be sigma_min <= sigma_max, got {given!r}")
    return low, high
