"""Reports that are the same under different ids: messages that somebody has copied.

Two people send the same message by chance with a probability that follows from the coins. Where it is small, as for random
sets, bits and seeds, equal messages are copies. The digests that are stored beside the ids tell which ones are equal, so that
receiving a report costs nothing more.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa

from ..reports import recipe_of
from ..results import repeat_test
from ..survey import Survey
from ._ids import Ids
from ._reports import DIGEST_BYTES, WITHDRAWN
from ._server_plan import SurveyOccasion

LOG = logging.getLogger("uvicorn.error")
ALARM = 1e-6  # p-value from which on equal reports are logged as a warning


@dataclass(frozen=True)
class Repeats:
    """How many reports to one wave, round or survey are equal to others, in the same group.

    Attributes
    ----------
    n : int
        Number of reports whose ids are stored, without those that were withdrawn.
    repeated : int
        Number of those that are equal to an earlier one.
    most : int
        Number of the reports that are equal to the most frequent one.
    entropy : float
        Two people have the same digest with a probability of at most 2^-entropy.
    pvalue : float
        Probability that chance repeats as much, at most. 1 where messages are so short that equality says nothing.
    """

    n: int
    repeated: int
    most: int
    entropy: float
    pvalue: float

    @classmethod
    def of(cls, connection: sa.Connection, ids: Ids, occasion: int, surveys: Iterable[Survey]) -> Repeats:
        """Return the repeats among the reports to an occasion, which are answers to some versions of a survey."""
        digests = np.frombuffer(b"".join(ids.digests(connection, occasion)), f"<u{DIGEST_BYTES}")
        digests = digests[digests != np.frombuffer(WITHDRAWN, digests.dtype)]
        counts = np.unique(digests, return_counts=True)[1]
        least = min(recipe_of(survey).entropy for survey in surveys)
        # Different messages can have equal digests.
        entropy = max(0.0, -math.log2(2**-least + 2 ** (-8 * DIGEST_BYTES)))
        test = repeat_test(counts, entropy)
        most = int(counts.max(initial=0))
        return cls(len(digests), len(digests) - len(counts), most, entropy, float(test.pvalue))

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        return dict(vars(self))

    def warn(self, where: str) -> None:
        """Log a warning if chance does not repeat as much."""
        if self.pvalue < ALARM:
            text = "%d of %d reports to %s are equal to earlier ones under other ids, one of them %d times: they are copies"
            LOG.warning(text, self.repeated, self.n, where, self.most)


def title_of(occasion: SurveyOccasion) -> str:
    """Return how messages name a wave, a round or a survey."""
    return occasion.title or "the survey"
