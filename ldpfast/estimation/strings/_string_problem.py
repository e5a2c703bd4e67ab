"""Base class of problems about strings."""

from __future__ import annotations

from abc import abstractmethod

from ... import _check
from ...domains import Strings
from ...mechanisms import SketchResponse
from ...reports import Result
from ..protocols import Problem


class StringProblem(Problem[Result]):
    """A problem whose people report hashes of strings by a `SketchResponse`."""

    mechanism: SketchResponse
    domain: Strings
    epsilon: float
    max_bytes: int
    alphabet: str | None
    buckets: int
    functions: int
    salt: str

    def _sketch(self) -> SketchResponse:
        """Return the mechanism of the parameters, without prefixes."""
        return SketchResponse(
            self.epsilon,
            max_bytes=self.max_bytes,
            alphabet=self.alphabet,
            buckets=self.buckets,
            functions=self.functions,
            salt=self.salt,
        )

    def largest_shift(self, liars: int, n: int) -> float:
        """Return the largest amount by which people who lie can move the share of a string.

        Parameters
        ----------
        liars, n : int
            Number of people who send any reports they like, and of all people; 0 <= liars < n.

        Returns
        -------
        shift : float
            The hash functions are public, so that all lies can be about one string. It does not depend on the true shares.

        Raises
        ------
        TypeError, ValueError
            If they are not integers in this range.

        Examples
        --------
        >>> from ldpfast.estimation import CountMeanSketch
        >>> CountMeanSketch(4.0).largest_shift(100, n=1_000_000) < 0.001
        True
        """
        people = _check.people("n", n, 2)
        count = _check.integer("liars", liars, 0, people - 1)
        line, m = self.mechanism.line, self.mechanism.buckets
        return float(count * m / (m - 1) * (line.one - line.zero) / self._reports_about_strings(people, count))

    @abstractmethod
    def _reports_about_strings(self, n: int, liars: int) -> float:
        """Return how many of n people report whole strings, if all liars do."""
