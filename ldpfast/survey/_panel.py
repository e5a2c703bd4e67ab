"""Surveys with waves: the same people are in a study for a long time, and each answers in a few of its waves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check, _schema
from .._person_keys import PersonKeys, Persons
from ..results import Occasion

MAX_WAVES = 1024
LAST_WAVE = (1 << 32) - 1  # of a series that goes on


@dataclass(frozen=True)
class Panel:
    """The waves of a series of surveys.

    Attributes
    ----------
    waves : int
        Number of waves, or of those in a period of an open-ended series.
    turns : int
        Number of waves in which each person answers.
    open_ended : bool
        Whether the series goes on after its waves, with the same turns in every period.
    """

    waves: int
    turns: int
    open_ended: bool

    @classmethod
    def of(cls, waves: Any, turns: Any, open_ended: Any) -> Panel | None:
        """Return the waves of a survey, None for a survey without waves.

        Raises
        ------
        TypeError, ValueError
            If the arguments are not valid.
        """
        endless = _check.flag("open_ended", open_ended)
        if waves is None:
            if _check.integer("turns", turns, 1) != 1 or endless:
                raise ValueError("turns and open_ended must be left out without waves")
            return None
        count = _check.integer("waves", waves, 2, MAX_WAVES)
        return cls(count, _check.integer("turns", turns, 1, 1 if endless else count), endless)

    def checked(self, wave: Any) -> int:
        """Return the number of a wave.

        Raises
        ------
        TypeError, ValueError
            If it is not one of the series.
        """
        return _check.integer("wave", wave, 1, LAST_WAVE if self.open_ended else self.waves)

    def place(self, wave: int) -> int:
        """Return the place of a wave in its period, from 0 on."""
        return (wave - 1) % self.waves

    def described(self) -> dict[str, Any]:
        """Return what the digest of the series has about waves."""
        return {"waves": self.waves, "turns": self.turns, **({"open_ended": True} if self.open_ended else {})}


@dataclass(frozen=True)
class Rounds:
    """The rounds of a repeated survey, in each of which everybody answers.

    Attributes
    ----------
    epsilon : float
        Privacy parameter of one round.
    rounds : int
        Largest number of rounds that a person answers.
    number : int
        Number of this round, from 0 on.
    """

    epsilon: float
    rounds: int
    number: int

    def described(self) -> dict[str, Any]:
        """Return what the digest of the series of a ledger has about rounds."""
        return {"round": self.epsilon, "rounds": self.rounds}


@dataclass(frozen=True)
class Series:
    """What the surveys of a series share, which personal keys depend on.

    Attributes
    ----------
    panel : Panel or None
    description : dict
        Name, epsilon and numbers of answers, waves and turns.
    wave : int or None
    rounds : Rounds or None
    """

    panel: Panel | None
    description: dict[str, Any]
    wave: int | None
    rounds: Rounds | None = None

    @property
    def name(self) -> str | None:
        """Name of the series; None for the series of all surveys without a name."""
        return self.description["series"] or None

    @classmethod
    def of(
        cls,
        name: str | None,
        epsilon: float,
        answers: int,
        panel: Panel | None,
        wave: Any,
        rounds: Rounds | None = None,
    ) -> Series:
        """Return the series of a survey.

        Raises
        ------
        TypeError, ValueError
            If `wave` is not one of its waves.
        """
        if panel is None and wave is not None:
            raise ValueError(f"wave must be left out without waves, got {wave!r}")
        waves = {"waves": None, "turns": 1} if panel is None else panel.described()
        description = {"series": name or "", "epsilon": epsilon, "answers": answers, **waves}
        return cls(panel, description, None if panel is None or wave is None else panel.checked(wave), rounds)

    @cached_property
    def digest(self) -> bytes:
        """Digest of the series."""
        return _schema.digest(self.description)

    @cached_property
    def promise(self) -> bytes:
        """Digest of the series and of its rounds, to which a ledger belongs."""
        return self.digest if self.rounds is None else _schema.digest({**self.description, **self.rounds.described()})

    @property
    def entry(self) -> int | None:
        """Number of the wave, or of the round, from 1 on, under which a ledger keeps an answer; None without them."""
        return self.wave if self.rounds is None else self.rounds.number + 1

    @property
    def max_reports(self) -> int | None:
        """Largest number of times that a person answers in the series; None if it goes on."""
        if self.rounds is not None:
            return self.rounds.rounds
        return 1 if self.panel is None else None if self.panel.open_ended else self.panel.turns

    @cached_property
    def coins(self) -> bytes:
        """Digest on which the coins and the choice of questions depend: of the series and the wave, if there are waves."""
        return self.digest if self.wave is None else _schema.digest({**self.description, "wave": self.wave})

    def turns(self, keys: PersonKeys, persons: Persons) -> NDArray[np.bool_]:
        """Return in which waves of a period each person answers, shape (n, waves)."""
        assert self.panel is not None
        return keys.turns(self.digest, persons, self.panel.waves, self.panel.turns)

    @property
    def occasion(self) -> Occasion:
        """When people are asked. Only waves of one series in which each person has one turn have different people."""
        name: str = self.description["series"]
        if self.panel is None or self.wave is None or self.panel.turns > 1:
            return Occasion(name)
        return Occasion(name, self.digest, self.panel.place(self.wave))

    def require_wave(self) -> None:
        """Raise if there are waves, and none is chosen."""
        if self.panel is not None and self.wave is None:
            raise ValueError(
                f"a survey with {self.panel.waves} waves must be asked in one of them: use survey.in_wave(1)"
            )

    def require_keys(self, personal: bool) -> None:
        """Raise if no wave is chosen, or the turns or the permanent answers of people are not known without personal keys."""
        self.require_wave()
        needed = "rng must be PersonKeys, or person and key must be given on an engine, for"
        if self.wave is not None and not personal:
            raise ValueError(f"{needed} a wave of a survey: they decide whose turn it is")
        if self.rounds is not None and not personal:
            raise ValueError(f"{needed} a round of a survey: permanent answers depend on them")

    def in_turn(self, keys: PersonKeys, persons: Persons) -> NDArray[np.intp] | None:
        """Return the places of the persons whose turn it is in the wave; None without waves."""
        if self.panel is None or self.wave is None:
            return None
        return np.flatnonzero(self.turns(keys, persons)[:, self.panel.place(self.wave)])
