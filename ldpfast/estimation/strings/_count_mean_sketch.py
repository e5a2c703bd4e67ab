"""Shares of strings that are named after the reports were collected."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from ...domains import Strings
from ...privacy import Guarantee
from ...reports import Counted
from ...results import SHARES
from .._frequencies import FrequencyEstimate
from ._decoded import DecodedSketch
from ._string_problem import StringProblem


@dataclass(frozen=True)
class SketchEstimate:
    """What the reports of a `CountMeanSketch` say about any strings.

    Attributes
    ----------
    n : int
        Number of reports.
    guarantee : privacy.Guarantee
    second_moment : float
        Upper limit of the sum of the squared shares of all strings, on which the error by collisions depends.

    Examples
    --------
    >>> from ldpfast.estimation import CountMeanSketch
    >>> estimate = CountMeanSketch(4.0).run(["new", "word"] * 5000, rng=1)
    >>> estimate.shares(["new", "absent"]).categories
    ('new', 'absent')
    """

    n: int
    guarantee: Guarantee
    _decoded: DecodedSketch = field(repr=False, compare=False)

    @property
    def second_moment(self) -> float:
        """Upper limit of the sum of the squared shares of all strings."""
        return self._decoded.second_moment

    @property
    def whole(self) -> int:
        """Number of reports about whole strings."""
        return self._decoded.n

    @property
    def epsilon(self) -> float:
        """The realized epsilon of the guarantee."""
        return self.guarantee.epsilon

    def shares(self, strings: Any) -> FrequencyEstimate:
        """Return the shares of strings.

        Parameters
        ----------
        strings : str, bytes, or list, array or Arrow column of them
            Any strings, whether or not anybody has them.

        Returns
        -------
        shares : FrequencyEstimate
            Unbiased over the choice of the hash functions, with standard errors for noise, sampling and collisions.
            Simultaneous intervals hold for all strings of this call.

        Raises
        ------
        TypeError, ValueError
            If `strings` are empty, or not in the domain of the problem.
        """
        domain: Strings = self._decoded.mechanism.domain
        given = [strings] if isinstance(strings, str | bytes) else strings
        given = list(given) if isinstance(given, Iterator) else given
        try:
            rows, _ = domain.records(given)
        except (TypeError, ValueError) as error:
            raise type(error)(f"strings must be {domain.describe()}: {error}") from None
        if not len(rows):
            raise ValueError("strings must be at least one string, got none")
        if (index := domain.first_invalid(rows)) >= 0:
            raise ValueError(f"strings must be {domain.describe()}; index {index} is not")
        value, stderr, rule = self._decoded.estimate(self._decoded.buckets(rows))
        names = tuple(domain.strings(rows))
        return FrequencyEstimate(value, stderr, self.n, self.guarantee, None, rule, names, value, True, _span=SHARES)

    def to_dict(self) -> dict[str, Any]:
        """Return n, guarantee and the sum of squared shares as types for JSON; `shares` has the numbers of strings."""
        return {"n": self.n, "guarantee": self.guarantee.to_dict(), "second_moment": self.second_moment}


@dataclass(frozen=True)
class CountMeanSketch(StringProblem[SketchEstimate]):
    """Shares of strings that are named later: words, addresses or products without a list of all of them.

    Parameters
    ----------
    epsilon : float
        Privacy parameter of an answer, > 0.
    max_bytes : int, default 64
        Largest number of bytes of a string in UTF-8, in [1, 255]; with an alphabet, of characters.
    alphabet : str, optional
        At most 253 characters that strings consist of. The default is all bytes but 0.
    buckets : int, default 2^18
        Number of values of a hash function, in [2, 2^20].
    functions : int, default 16
        Number of hash functions, in [1, 64].
    salt : str, default ""
        Public text on which the hash functions depend. Collisions are the same in all studies with the same salt and
        parameters, so use another one in every wave before you average waves.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as above; if no mechanism can certify `epsilon`.

    Notes
    -----
    Each person reports one of the hash functions and, by a mechanism for categories, the bucket of their string. The share of
    a string is the mean of its buckets, less what other strings in the same buckets add. With the variance V of one decoded
    report about a bucket, n people, J functions, m buckets and the sum F of the squared shares of all strings, its variance
    is (m / (m - 1))^2 V / n + (F - share^2) / (J (m - 1)): few buckets cost accuracy only if there are very many people.
    Compare `Frequencies` with a list of the strings, which needs no hash functions and has the first term only.

    `estimate` gives a `SketchEstimate`, whose `shares` takes any strings. The state has 8 bytes for each function and code of
    the mechanism, 34 to 67 MB by default.

    A person who lies can move the share of any string by at most `largest_shift`, because the hash functions are public.

    Privacy
    -------
    The guarantee of `SketchResponse`.

    References
    ----------
    .. [1] Apple Differential Privacy Team, "Learning with privacy at scale", Apple Machine Learning Journal 1(8), 2017.

    Examples
    --------
    >>> from ldpfast.estimation import CountMeanSketch
    >>> problem = CountMeanSketch(4.0, max_bytes=20)
    >>> reports = problem.privatize(["happy"] * 8000 + ["sad"] * 2000, rng=1)
    >>> shares = problem.estimate(reports).shares(["happy", "sad", "absent"])
    >>> low, high = shares.interval(simultaneous=True)
    >>> bool((low < [0.8, 0.2, 0.0]).all() and (high > [0.8, 0.2, 0.0]).all())
    True
    """

    epsilon: float
    _: KW_ONLY
    max_bytes: int = 64
    alphabet: str | None = None
    buckets: int = 1 << 18
    functions: int = 16
    salt: str = ""

    def __post_init__(self) -> None:
        mechanism = self._sketch()
        self._define(mechanism, mechanism.domain)

    def _reports_about_strings(self, n: int, liars: int) -> float:
        return n

    def _conclude(self, counted: Counted) -> SketchEstimate:
        """Return what the reports say about strings. Users call ``counted.estimate()``.

        Parameters
        ----------
        counted : Aggregator
            Aggregator of this problem with at least one report.

        Returns
        -------
        estimate : SketchEstimate
        """
        return SketchEstimate(counted.n, self.guarantee, DecodedSketch.of(self.mechanism, counted, 0))
