"""Links of models of two categories: the probability of yes as a function of the linear predictor, with two derivatives."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from .._typing import Floats

LARGEST = 700.0  # exponent


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


class ProbitLink:
    """The normal distribution function."""

    scale = "normal quantile"

    def both(self, eta: Floats) -> tuple[Floats, Floats]:
        from scipy.special import ndtr

        return ndtr(-eta), ndtr(eta)

    def density(self, eta: Floats) -> Floats:
        return np.asarray(np.exp(-np.square(eta) / 2) / math.sqrt(2 * math.pi))

    def curvature(self, eta: Floats) -> Floats:
        return np.asarray(-eta * self.density(eta))

    def of_share(self, share: Floats) -> Floats:
        from scipy.special import ndtri

        return np.asarray(ndtri(share))


class CloglogLink:
    """The distribution function 1 - exp(-exp(x))."""

    scale = "complementary log-log"

    def both(self, eta: Floats) -> tuple[Floats, Floats]:
        rate = np.exp(np.minimum(eta, LARGEST))
        return np.exp(-rate), -np.expm1(-rate)

    def density(self, eta: Floats) -> Floats:
        inside = np.minimum(eta, LARGEST)
        return np.asarray(np.exp(inside - np.exp(inside)))

    def curvature(self, eta: Floats) -> Floats:
        return np.asarray(self.density(eta) * -np.expm1(np.minimum(eta, LARGEST)))

    def of_share(self, share: Floats) -> Floats:
        return np.asarray(np.log(-np.log1p(-share)))


LOGIT = LogitLink()
PROBIT = ProbitLink()
CLOGLOG = CloglogLink()
