"""Base class of mechanisms for sets of options."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from .. import _check
from .._typing import Floats
from ..domains import Sets
from ..reports import Counted
from ..results import Estimate
from ._mechanism import Mechanism
from ._sets_law import law_of_sets

MAX_POSITIONS = 65534  # of converted records


class SetsMechanism(Mechanism):
    """Base class of mechanisms whose records are sets of options, and whose law is a `SetsLaw`."""

    k: int
    most: int
    optional: bool

    @abstractmethod
    def __post_init__(self) -> None: ...

    def _set_checked(self, largest: int = MAX_POSITIONS) -> Sets:
        """Set the parameters of all these mechanisms after a check, and return the domain; `most` is at most `largest`."""
        k = _check.integer("k", self.k, 2, MAX_POSITIONS - 2)
        most = _check.integer("most", self.most, 1, min(k, largest, MAX_POSITIONS - k - 1))
        epsilon, optional = _check.positive("epsilon", self.epsilon), _check.flag("optional", self.optional)
        self._set(k=k, most=most, epsilon=epsilon, optional=optional)
        return Sets(k, most, optional)

    def sizes(self, counted: Any) -> Estimate[Floats]:
        """Return the distribution of the number of options of a set.

        Parameters
        ----------
        counted : Aggregator, or reports
            As for `estimate`.

        Returns
        -------
        sizes : Estimate
            Shares of the people with 0, 1, ... `most` options, shape (most + 1,), among those whose set is not missing;
            with the covariance matrix.

        Raises
        ------
        TypeError, ValueError
            As for `estimate`; if the reports do not tell how many options a set has.
        """
        return self.estimate(counted, sizes=True)

    def _conclude(self, counted: Counted, *, sizes: bool = False) -> Estimate[Any]:
        """Return the shares of the options, or those of the numbers of options."""
        if not sizes:
            return super()._conclude(counted)
        value, covariance = law_of_sets(self).sizes(counted.states[0], counted.n)
        return Estimate(value, np.sqrt(covariance.diagonal()), counted.n, self.guarantee, covariance, _span=(0.0, 1.0))
