"""Formulas of models, whose columns can have any name: with dots, as in R, or that of a function, such as C."""

from __future__ import annotations

import keyword
import re
import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from .. import _objects
from .._extras import optional

TOKENS = re.compile(
    r"""
    `(?P<quoted>[^`]*)`
    | \bQ\(\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)')\s*\)
    | (?P<text>"[^"]*"|'[^']*')
    | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<name>(?:[^\W\d]|\.(?=[^\W\d]))[\w.]*)(?P<after>\s*(?:\(|=(?!=))?)
    """,
    re.VERBOSE,
)
PLAIN = re.compile(r"[\w.]+")  # names that need no quotes in R


@dataclass(frozen=True)
class Formula:
    """A formula whose columns have other names while it is computed, so that none is taken for a function or an attribute.

    Attributes
    ----------
    text : str
        What the user wrote.
    code : str
        The formula with the other names.
    columns : dict
        The columns that it needs by their other names, and names in it that are neither columns nor functions.
    argument : str
        Name of the argument, for error messages.
    """

    text: str
    code: str
    columns: Mapping[str, str]
    argument: str = "formula"

    @classmethod
    def of(cls, text: str, columns: Collection[Any], argument: str = "formula") -> Formula:
        """Return a formula for a table with some columns.

        A column is written as its name, in backquotes, or as ``Q("name")``. A name before a parenthesis is a function, and one
        before = a keyword.

        Raises
        ------
        ValueError
            If it is not covariates joined by operators.
        """
        functions = optional("formulaic.transforms", "analysis").TRANSFORMS
        stem = "column"
        while stem in text or any(stem in str(column) for column in columns):
            stem += "_"
        used: dict[str, str] = {}

        def other(name: str) -> str:
            return used.setdefault(name, f"{stem}{len(used)}_")

        def replaced(token: re.Match[str]) -> str:
            quoted = next((token[kind] for kind in ("quoted", "double", "single") if token[kind] is not None), None)
            if quoted is not None:
                return other(quoted)
            name, after = token["name"], token["after"]
            if name is None or keyword.iskeyword(name) or after.endswith("="):
                return token[0]
            is_called, head = after.endswith("("), name.partition(".")[0]
            if name in columns and not is_called:
                return other(name) + after
            for stop in range(len(name) - 1, 0, -1):  # a column with an attribute or a method, as in age.clip(0, 9)
                if name[stop] == "." and name[:stop] in columns and head not in functions:
                    return other(name[:stop]) + name[stop:] + after
            return token[0] if is_called or head in functions else other(name) + after

        code = TOKENS.sub(replaced, text)
        formula = cls(text, code, {alias: name for name, alias in used.items()}, argument)
        formula._parsed()
        return formula

    @property
    def names(self) -> list[str]:
        """The columns that it needs, which may not be there."""
        return list(self.columns.values())

    def matrix(self, rows: Any) -> Any:
        """Return the covariates of rows without missing values.

        Columns of objects that are booleans or numbers, as pandas reads columns with missing values, are read as these.

        Raises
        ------
        ValueError
            If they cannot be computed.
        """
        return self.computed(rows).rename(columns=self.restored)

    def computed(self, rows: Any, spec: Any = None) -> Any:
        """Return the model matrix of rows without missing values, with the names of `code`.

        Parameters
        ----------
        rows : DataFrame
        spec : formulaic.ModelSpec, optional
            That of the matrix of other rows, whose categories, means and so on are used.

        Raises
        ------
        ValueError
            If it cannot be computed, or a category is not one of the other rows.
        """
        pandas = optional("pandas", "analysis")
        what = self._parsed() if spec is None else spec
        mismatch = optional("formulaic.errors", "analysis").DataMismatchWarning
        data = {}
        for alias, name in self.columns.items():
            column = rows[name]
            if column.dtype == object:
                column = pandas.Series(_objects.typed(str(name), column.to_numpy()), column.index)
            data[alias] = column
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", mismatch)  # an unknown category
                return what.get_model_matrix(pandas.DataFrame(data, rows.index), context={}, na_action="raise")
        except Exception as error:  # a formula is code, which can raise any error
            raise ValueError(
                f"{self.argument} must be computable from the columns, got {self.text!r}: {self.restored(str(error))}"
            ) from None

    def _parsed(self) -> Any:
        formulaic = optional("formulaic", "analysis")
        try:
            formula = formulaic.Formula(self.code)
        except Exception as error:
            fault = self.restored(str(error).splitlines()[0])
            raise ValueError(
                f"{self.argument} must be covariates joined by +, such as age + female, got {self.text!r}: {fault}"
            ) from None
        if "~" in self.code or "|" in self.code:
            raise ValueError(f"{self.argument} must hold covariates only, without ~ and |, got {self.text!r}")
        return formula

    def restored(self, text: str) -> str:
        """Return a text with the names of the columns."""
        for alias, name in self.columns.items():
            text = text.replace(alias, shown_name(name))
        return text


def sides_of(text: str) -> tuple[str | None, str]:
    """Return the outcome and the covariates of a formula, as texts; None if it has no outcome.

    Raises
    ------
    ValueError
        If it has more than two sides.
    """
    blank = TOKENS.sub(lambda token: "_" * len(token[0]), text)
    if blank.count("~") > 1:
        raise ValueError(f"formula must have one outcome, such as answer ~ age + female, got {text!r}")
    place = blank.find("~")
    return (None, text) if place < 0 else (text[:place].strip(), text[place + 1 :].strip())


def shown_name(name: Any) -> str:
    """Return the name of a column in the names of coefficients."""
    return str(name) if PLAIN.fullmatch(str(name)) else f"`{name}`"
