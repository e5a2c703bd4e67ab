"""Groups of people who are asked the same question."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...mechanisms import Mechanism
from ...reports import Aggregator


class Group(NamedTuple):
    """Question of a group and its answers.

    Attributes
    ----------
    question : Mechanism
        Privatizes a record; the same for the whole group.
    answers : Aggregator
        Aggregator of the reports.
    """

    question: Mechanism
    answers: Aggregator

    @classmethod
    def of(cls, question: Mechanism) -> Group:
        """Return a group without answers."""
        return cls(question, question.aggregator())

    @property
    def n(self) -> int:
        """Number of answers."""
        return self.answers.n

    @property
    def counts(self) -> NDArray[np.int64]:
        """Counts of all cells, for questions whose reports are codes."""
        counts: NDArray[np.int64] = self.answers.counts
        return counts


AnswerGroups = tuple[Group, ...]


def counts_of(groups: AnswerGroups) -> NDArray[np.int64]:
    """Return the counts of all cells of several groups, concatenated."""
    return np.concatenate([group.counts for group in groups])
