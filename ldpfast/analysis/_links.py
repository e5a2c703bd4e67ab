"""Links of models of two categories: the probability of yes as a function of the linear predictor, with two derivatives."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from .._typing import Floats


class Link(Protocol):
    """A link. Arguments are linear predictors, of any shape."""

    scale: str  # what the linear predictor is called

    def both(self, eta: Floats) -> tuple[Floats, Floats]:
        """Return the probabilities of no and yes, each without cancellation."""

    def density(self, eta: Floats) -> Floats:
        """Return the derivative of the probability of yes."""

    def curvature(self, eta: Floats) -> Floats:
        """Return its second derivative."""

    def of_share(self, share: Floats) -> Floats:
        """Return the linear predictors with these probabilities of yes, in (0, 1)."""


class LogitLink:
    """The logistic distribution function."""

    scale = "log-odds"

    def both(self, eta: Floats) -> tuple[Floats, Floats]:
        return np.exp(-np.logaddexp(0, eta)), np.exp(-np.logaddexp(0, -eta))

    def density(self, eta: Floats) -> Floats:
        no, yes = self.both(eta)
        return no * yes

    def curvature(self, eta: Floats) -> Floats:
        no, yes = self.both(eta)
        return no * yes * (no - yes)

    def of_share(self, share: Floats) -> Floats:
        return np.asarray(np.log(share / (1 - share)))


LOGIT = LogitLink()
