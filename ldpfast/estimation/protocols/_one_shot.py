"""Problems in which each person answers the same question once.

The parameters of a problem are public: client and server construct it from the same arguments. The client encodes its
record as a record of the mechanism and privatizes that. The server aggregates reports with the aggregator of the
mechanism, which can be merged and saved. `Problem._conclude` turns the counts into the estimate.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

from ... import _check, _schema
from ..._typing import AnyArray
from ..._warnings import warn
from ...domains import Clipped, Domain
from ...mechanisms import Mechanism, RecordRecipe
from ...mechanisms._kernel import Kernel
from ...reports import Counted, Format, Label, Question, Result, recipe_of
from ...results import Estimate, SmallSampleWarning

CLIPPED_ROWS = 1 << 17  # records that are counted at a time
FEW_REPORTS = 100  # below this number, normal intervals are not reliable


class Problem(Question[Result]):
    """Base class of problems in which each person answers one question once.

    Attributes
    ----------
    mechanism : Mechanism
        Privatizes an encoded record; one report per person.
    domain : Domain
        Domain of the records.
    """

    _kind: ClassVar[str] = "problem"
    mechanism: Mechanism
    domain: Domain
    report: Format
    _recipe: RecordRecipe

    def _define(
        self,
        mechanism: Mechanism,
        domain: Domain,
        *,
        truncates: bool = False,
        kernel: Kernel | None = None,
        **values: Any,
    ) -> None:
        """Set the attributes that follow from the arguments; subclasses call it at the end of ``__post_init__``.

        With `truncates`, records outside of the domain of the mechanism are valid, and are clipped to it. `kernel` encodes
        records and makes the reports of the mechanism in one pass; the default is the kernel of the mechanism, after
        `_encode`.
        """
        self._set(**{name: _check.plain(value) for name, value in self._parameters().items()})
        translates = kernel is None and type(self)._encode is not Problem._encode
        recipe = recipe_of(mechanism).of(
            domain, self._encode if translates else None, kernel=kernel, truncates=truncates
        )
        recipe = replace(recipe, label=Label(self.schema, self.__repr__))
        self._set(mechanism=mechanism, report=recipe.report, domain=domain, _recipe=recipe, **values)

    @classmethod
    def _from_packed(cls, arguments: dict[str, Any]) -> Self:
        unpacked = {
            name: Mechanism.from_dict(value)
            if name == "mechanism" and isinstance(value, dict)
            else _schema.unpack(value)
            for name, value in arguments.items()
        }
        return cls(**unpacked)

    def _pinned(self) -> dict[str, Any]:
        return {"mechanism": self.mechanism.to_dict(), **self.mechanism._pinned()}

    def _encode(self, records: AnyArray) -> AnyArray:
        """Encode valid records for the mechanism; each row depends on its own record only."""
        return records

    def _convert(self, mean: Estimate[Any]) -> Result:
        """Return the estimate from the mean of the decoded reports of the mechanism, for problems that keep `_conclude`."""
        raise NotImplementedError(f"{type(self).__name__} must define _convert or _conclude")

    def _conclude(self, counted: Counted) -> Result:
        return self._convert(self._recipe.mean(counted))


def warn_few(n: int, least: int, what: str) -> None:
    """Warn that `what` is not reliable if there are fewer than `least` reports."""
    if n < least:
        warn(f"n = {n} is too small for {what} to be reliable: it needs at least {least}", SmallSampleWarning)


def warn_clipped_records(domain: Domain, records: AnyArray) -> None:
    """Warn if some results of ``domain.records`` were clipped, with their share."""
    clipped = Clipped()
    for start in range(0, len(records), CLIPPED_ROWS):
        clipped = clipped.plus(domain.clipped(domain.convert(records[start : start + CLIPPED_ROWS])))
    clipped.warn(len(records))
