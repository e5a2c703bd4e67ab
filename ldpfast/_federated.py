"""Both sides of federated training, for the adapters of frameworks: reports of a client, and the mean of a round.

A client is configured with the mechanism and with the number of its reports. From the server it takes the model and the number
of the rotation, on which no guarantee depends. A message says which mechanism made it, and thereby of which rotation it is.
"""

from __future__ import annotations

import json
import math
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from . import _check
from ._durable_file import locked_folder, replace_text
from ._schema import read_integer, read_json
from ._typing import AnyArray
from .mechanisms import Layers, RotatedSigns
from .privacy import Guarantee, compose, composition_epsilon

ROTATION = "ldpfast-rotation"  # what the server announces
REPORT = "ldpfast-report"  # what a client sends
ROTATION_BITS = 63  # integers of the messages of frameworks are signed
VERSION = 1  # of the file of a budget


def sorted_layers(model: Mapping[str, Any]) -> Layers:
    """Return the layers of a model in the order of their names: a framework may send them in another order."""
    return Layers({name: model[name] for name in sorted(model)})


def guarantee_of_rounds(mechanism: RotatedSigns, rounds: int, delta: float = 0.0) -> Guarantee:
    """Return the guarantee of all reports of a client in so many rounds, for whoever sees each report with its sender."""
    if rounds and delta:
        return Guarantee("approximate", composition_epsilon([mechanism.epsilon_realized] * rounds, delta), delta)
    return compose(*[mechanism.guarantee] * rounds) if rounds else Guarantee("local", 0.0)


def round_mechanism(epsilon: float, radius: float, signs: int) -> RotatedSigns:
    """Return the mechanism of all rounds, whose dimension and rotation are replaced for each of them."""
    return RotatedSigns(1, epsilon, rotation=0, signs=signs, radius=radius)


class ReportBudget:
    """How many reports of one epsilon a client sends at most, and how many it has sent.

    Parameters
    ----------
    epsilon : float
        Privacy parameter of each report.
    rounds : int
        Largest number of reports, at least 1.
    ledger : str, Path or None
        File that keeps the number, so that it outlives the process and counts for all jobs. None leaves that to the caller.
    """

    def __init__(self, epsilon: float, rounds: Any, ledger: Any) -> None:
        self.epsilon, self.rounds = epsilon, _check.integer("rounds", rounds, 1)
        if ledger is not None and not isinstance(ledger, str | os.PathLike):
            raise TypeError(f"ledger must be the name of a file, got {type(ledger).__name__}")
        self._path = None if ledger is None else Path(os.path.realpath(ledger))

    def check(self, sent: int) -> int:
        """Return the number of reports that were sent, if there may be one more.

        Parameters
        ----------
        sent : int
            Number that the caller has kept; the larger one counts, this one or that of the ledger.

        Raises
        ------
        ValueError
            If all rounds are used, or the ledger is damaged or has another epsilon.
        """
        used = max(sent, self._stored())
        if used >= self.rounds:
            raise ValueError(f"the client answers at most {self.rounds} rounds, and has answered {used}")
        return used

    def spend(self, sent: int) -> int:
        """Count one more report, before it is made, and return the number of reports. As for `check`."""
        if self._path is None:
            return self.check(sent) + 1
        with locked_folder(self._path.parent):
            used = self.check(sent) + 1
            replace_text(self._path, json.dumps({"ldpfast_rounds": VERSION, "epsilon": self.epsilon, "sent": used}))
        return used

    def _stored(self) -> int:
        if self._path is None:
            return 0
        try:
            text = self._path.read_bytes()
        except FileNotFoundError:  # not Path.exists, which is False after any error of the disk
            return 0
        try:
            content: Any = read_json(text)
            epsilon, sent = float(content["epsilon"]), read_integer(content["sent"])
            known = content["ldpfast_rounds"] == VERSION and sent >= 0
        except (LookupError, TypeError, ValueError):
            known = False
        if not known:
            raise ValueError("ledger must hold the rounds of a client, got something else, or a damaged file")
        if epsilon != self.epsilon:
            raise ValueError(f"ledger must be that of reports with epsilon={self.epsilon!r}, got epsilon={epsilon!r}")
        return sent


class ClientReports:
    """What a client sends in its rounds: privatized updates, and no more of them than its configuration says.

    It has the parameters of `RotatedSigns` and of `ReportBudget`.
    """

    def __init__(self, epsilon: float, rounds: Any, radius: float, signs: int, ledger: Any) -> None:
        self.mechanism = round_mechanism(epsilon, radius, signs)
        self.budget = ReportBudget(self.mechanism.epsilon, rounds, ledger)

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of all rounds together."""
        return guarantee_of_rounds(self.mechanism, self.budget.rounds)

    def __repr__(self) -> str:
        used = self.mechanism
        return f"(epsilon={used.epsilon!r}, rounds={self.budget.rounds}, radius={used.radius!r}, signs={used.signs})"

    def begin(self, model: Mapping[str, Any], rotation: Any, sent: int) -> ClientRound:
        """Return a round, before the model is trained.

        Parameters
        ----------
        model : mapping of str to tensor
            From the server.
        rotation : int
            Number of the rotation, which the server announced.
        sent : int
            As for `ReportBudget.check`.

        Raises
        ------
        TypeError, ValueError
            If all rounds are used, or the model or the rotation is none.
        """
        self.budget.check(sent)
        layers = sorted_layers(model)
        return ClientRound(layers, replace(self.mechanism, dim=layers.dim, rotation=rotation))


@dataclass(frozen=True)
class ClientRound:
    """One round of a client: the layers of the model, and the mechanism of the announced rotation."""

    layers: Layers
    mechanism: RotatedSigns

    def message(self, vector: AnyArray) -> bytes:
        """Return an update, which `layers.vector` has made a vector, as a private message. Count it before.

        A longer update than the radius is shortened, and one with NaN is 0: without a warning, which could reach the server as
        a log or an error.
        """
        known = np.where(np.isnan(vector).any(), np.zeros_like(vector), vector)
        return self.mechanism.message(self.mechanism.privatize(known, clip=True))


class ServerRound:
    """One round of the server: its rotation, and the sum of the reports about it.

    Parameters
    ----------
    mechanism : RotatedSigns
        The mechanism of the clients, with any dimension and rotation.
    model : mapping of str to tensor
        The model that the clients get.
    """

    def __init__(self, mechanism: RotatedSigns, model: Mapping[str, Any]) -> None:
        self.layers = sorted_layers(model)
        self.rotation = secrets.randbits(ROTATION_BITS)
        self.mechanism = replace(mechanism, dim=self.layers.dim, rotation=self.rotation)
        self._aggregator = self.mechanism.aggregator()

    @property
    def n(self) -> int:
        """Number of reports so far."""
        return self._aggregator.n

    @property
    def refused(self) -> dict[str, int]:
        """Number of messages that are no reports about this rotation, by reason."""
        return self._aggregator.refused

    def add(self, messages: Sequence[Any]) -> int:
        """Add messages and return how many of them are reports of this round; others are counted and left out."""
        before = self.n
        return self._aggregator.update(list(messages), errors="skip").n - before

    def conclude(self) -> tuple[dict[str, Any], float]:
        """Return the mean update in the layers of the model, and the standard error of one of its numbers.

        Without reports the mean is 0, and the error infinite.
        """
        if not self.n:
            return self.layers.tensors(np.zeros(self.layers.dim)), math.inf
        estimate = self._aggregator.estimate()
        return self.layers.tensors(estimate.value), float(np.max(estimate.stderr))
