"""Answers to the questions of a survey: estimates with labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _check
from ..results import Estimate

NO_ANSWER = "no answer"  # label of a missing answer in tables


@dataclass(frozen=True, eq=False, repr=False)
class Answer(Estimate[Any]):
    """The answer to a question of a survey.

    Attributes
    ----------
    value, stderr : float or ndarray
        The share of yes, the mean, or one share per label; among the people who answered, if the question is optional.
    n : int
        Number of people who were asked.
    labels : tuple or None
        Labels of the entries of `value`, or of its rows; None for a single number.
    columns : tuple or None
        Labels of the columns of `value`, if it is a table.
    missing : Answer or None
        Share of people without an answer, for optional questions.
    range : tuple of float
        Smallest and largest possible value.

    Examples
    --------
    >>> from ldpfast.survey import Choice, Survey
    >>> survey = Survey({"way": Choice(["foot", "car"])}, 2.0)
    >>> answer = survey.run({"way": ["foot", "car", "car", "car"] * 1000}, rng=1)["way"]
    >>> low, high = answer.interval()
    >>> answer.labels, bool(low[1] < 0.75 < high[1])
    (('foot', 'car'), True)
    """

    labels: tuple[Any, ...] | None = None
    columns: tuple[Any, ...] | None = None
    missing: Answer | None = None
    range: tuple[float, float] = (0.0, 1.0)
    _numbers: int = 1  # reported by the whole survey
    _quantity: str = "share"

    @classmethod
    def of_number(cls, found: Estimate[Any], range: tuple[float, float], numbers: int) -> Answer:
        """Return the answer of a mean that was sent as a number."""
        return cls(**estimate_fields(found), range=range, _numbers=numbers, _quantity="mean")

    def interval(self, confidence: float = 0.95, simultaneous: bool = False) -> tuple[Any, Any]:
        """Return limits that contain the true value with the given probability.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level, in (0, 1).
        simultaneous : bool, default False
            Whether the limits hold simultaneously for everything that the result of the survey reports (Bonferroni),
            instead of for each number separately.

        Returns
        -------
        low, high : float or ndarray
            Limits of the shape of `value`, clipped to its range. Where the reports exclude no value, they are the whole
            range.

        Raises
        ------
        TypeError, ValueError
            If `confidence` is not a number in (0, 1).

        Warns
        -----
        SmallSampleWarning
            If the limits are normal, such as those of pooled answers, and there are fewer than 30 reports.
        """
        self._warn_few()
        return self._interval_at(confidence, simultaneous)

    def _interval_at(self, confidence: float, simultaneous: bool) -> tuple[Any, Any]:
        """Return the limits of `interval` without a warning about few reports."""
        tail = (1 - _check.probability("confidence", confidence)) / 2
        return self._limits_at(tail / self._numbers if _check.flag("simultaneous", simultaneous) else tail)

    def _limits_at(self, tail: float = (1 - 0.95) / 2) -> tuple[Any, Any]:
        low, high = self.rule.bounds(np.asarray(self.value), np.asarray(self.stderr), tail)
        low, high = np.clip(low, *self.range), np.clip(high, *self.range)
        return (float(low), float(high)) if np.ndim(self.value) == 0 else (low, high)

    def _names(self) -> tuple[str, str]:
        return self._quantity, "answer"

    def _unit(self) -> str:
        return "" if self._quantity == "share" else " (unit of the records)"

    def _entries(self, places: Sequence[int]) -> list[str]:
        entries = self.entries
        return [entries[at] for at in places]

    def _parts(self) -> list[tuple[str, Estimate[Any]]]:
        parts = super()._parts()
        return parts if self.missing is None else [*parts, (NO_ANSWER, self.missing)]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of `Estimate.to_dict`, with the labels and the share without an answer."""
        described = super().to_dict()
        for name in ("labels", "columns"):
            if getattr(self, name) is not None:
                described[name] = [str(label) for label in getattr(self, name)]
        if self.missing is not None:
            described["missing"] = self.missing.to_dict()
        return described

    @property
    def entries(self) -> list[str]:
        """Label of every number, in the order of the flattened value; an empty text for a single number."""
        rows = [""] if self.labels is None else list(map(str, self.labels))
        return rows if self.columns is None else [f"{row}, {column}" for row in rows for column in self.columns]


def answer_like(found: Estimate[Any], like: Answer, **fields: Any) -> Answer:
    """Return an answer with an estimate and some fields, from the same reports as another answer."""
    return Answer(**estimate_fields(found), _numbers=like._numbers, **fields)


def estimate_fields(found: Estimate[Any]) -> dict[str, Any]:
    value, stderr = (float(x) if np.ndim(x) == 0 else x for x in (found.value, found.stderr))
    return {"value": value, "stderr": stderr, "n": found.n, "guarantee": found.guarantee, "rule": found.rule}
