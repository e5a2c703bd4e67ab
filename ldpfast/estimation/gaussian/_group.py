"""The people who are asked the same question."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...mechanisms import Mechanism
from ...reports import Aggregator


class Group(NamedTuple):
    """A question and the answers to it.

    Attributes
    ----------
    question : Mechanism
    answers : Aggregator
        Of this mechanism.
    """

    question: Mechanism
    answers: Aggregator

    @classmethod
    def of(cls, question: Mechanism) -> Group:
        """A group without answers."""
        return cls(question, question.aggregator())

    @property
    def n(self) -> int:
        """Number of answers."""
        return self.answers.n

    @property
    def counts(self) -> NDArray[np.int64]:
        """The counts of all cells, for questions whose answers are codes."""
        return self.answers._state


Groups = tuple[Group, ...]


def counts_of(groups: Groups) -> NDArray[np.int64]:
    """The counts of all cells of several groups, one after the other."""
    return np.concatenate([group.counts for group in groups])
