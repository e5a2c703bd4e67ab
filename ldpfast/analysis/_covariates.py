"""Covariates as people have them: arrays, data frames with categories, formulas; and what makes columns of numbers of them."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import _objects
from .._extras import optional
from .._labels import package_of
from .._typing import AnyArray, Floats
from ._formula import Formula
from ._rows import Rows

STEP = 1e-3  # of a number whose marginal effect is computed, in units of its size
INTERCEPT = "Intercept"  # of formulas
SIDE = 1e-2  # of this step, where differences are to one side
SMOOTH = 1e-3  # relative difference of two numeric derivatives of a smooth column


@dataclass(frozen=True, eq=False)
class SmallChange:
    """A covariate that moves by a small number.

    Attributes
    ----------
    label : str
    derivatives : ndarray, shape (columns,) or (n, columns)
        Derivatives of the columns without the intercept, if they are the same for all people; else those of each person.
    """

    label: str
    derivatives: Floats


@dataclass(frozen=True, eq=False)
class LevelChange:
    """A covariate that changes from one value to another for all people."""

    label: str
    before: Rows
    after: Rows


class Columns(ABC):
    """What makes columns of numbers of the covariates of people.

    Attributes
    ----------
    names : tuple of str
        Names of the columns, without the intercept.
    intercept : bool
        Whether a column of ones is put before them.
    """

    names: tuple[str, ...]
    intercept: bool

    @abstractmethod
    def rows(self, x: Any) -> Rows:
        """Return the columns of people.

        Raises
        ------
        TypeError, ValueError
            If they do not have the covariates of the fit, or values are missing.
        """

    @abstractmethod
    def changes(self, x: Any) -> Iterator[SmallChange | LevelChange]:
        """Yield the change of every covariate whose average effect on people has a meaning."""

    @abstractmethod
    def replaced(self, x: Any, values: Mapping[Any, Any]) -> Any:
        """Return people who have the same values of some covariates."""

    def _require(self, present: Collection[Any], needed: Collection[Any], name: str = "X") -> None:
        """Raise ValueError if a covariate is not there."""
        absent = [label for label in needed if label not in present]
        if absent:
            shown = ", ".join(map(str, needed))
            raise ValueError(f"{name} must have the columns {shown}; got none named {absent[0]!r}")


@dataclass(frozen=True, eq=False)
class ArrayColumns(Columns):
    """Columns of an array, which are named by their places."""

    names: tuple[str, ...]
    intercept: bool

    @classmethod
    def of(cls, x: Any, intercept: bool) -> tuple[ArrayColumns, Rows]:
        rows = Rows.of(x, intercept)
        return cls(rows.names[intercept:], intercept), rows

    def rows(self, x: Any) -> Rows:
        if hasattr(x, "columns"):
            return FrameColumns(self.names, self.intercept, self.names, {}, frozenset()).rows(x)
        rows = Rows.of(x, self.intercept)
        if rows.x.shape[1] != len(self.names):
            raise ValueError(f"X must have the columns {', '.join(self.names)}, got {rows.x.shape[1]} columns")
        return replace(rows, names=(*rows.names[: self.intercept], *self.names))

    def changes(self, x: Any) -> Iterator[SmallChange | LevelChange]:
        for label, unit in zip(self.names, np.eye(len(self.names)), strict=True):
            yield SmallChange(label, unit)

    def replaced(self, x: Any, values: Mapping[Any, Any]) -> Any:
        self._require(self.names, values)
        found = np.array(Rows.of(x, self.intercept).x, np.float64)
        for label, value in values.items():
            found[:, self.names.index(label)] = value
        return found


@dataclass(frozen=True, eq=False)
class FrameColumns(Columns):
    """Columns of a data frame: numbers, booleans, and categories, which become a column for each but the first.

    Attributes
    ----------
    labels : tuple
        Labels of the columns of the frame, as texts.
    levels : dict of tuple
        CategoryColumn by the labels of columns of categories.
    booleans : frozenset of str
        Labels of columns of booleans.
    """

    names: tuple[str, ...]
    intercept: bool
    labels: tuple[str, ...]
    levels: Mapping[str, tuple[Any, ...]]
    booleans: frozenset[str]

    @classmethod
    def of(cls, x: Any, intercept: bool) -> tuple[FrameColumns, Rows]:
        """Return what makes columns of a data frame, and these.

        Raises
        ------
        TypeError, ValueError
            If a column is neither numbers nor categories, has missing values, or does not vary; if two have one name.
        """
        labels = tuple(map(str, x.columns))
        _require_different("X", labels)
        levels: dict[str, tuple[Any, ...]] = {}
        booleans = set()
        names = []
        for label, key in zip(labels, x.columns, strict=True):
            column = _read_column(label, x[key])
            if isinstance(column, CategoryColumn):
                if len(column.levels) < 2:
                    raise ValueError(f"X must have columns that are not constant, got {label!r}")
                levels[label] = column.levels
                names += [f"{label}[T.{level}]" for level in column.levels[1:]]
            else:
                booleans |= {label} if column.dtype == np.bool_ else set()
                names.append(label)
        found = cls(tuple(names), intercept, labels, levels, frozenset(booleans))
        return found, found.rows(x)

    def rows(self, x: Any) -> Rows:
        if not hasattr(x, "columns"):
            if self.levels:
                raise TypeError(
                    f"X must be a data frame with the columns {', '.join(self.labels)}, got {type(x).__name__}"
                )
            return ArrayColumns(self.names, self.intercept).rows(x)
        keys = {str(key): key for key in x.columns}
        self._require(keys, self.labels)
        parts = [self._numbers(label, x[keys[label]]) for label in self.labels]
        values = np.column_stack(parts) if parts else np.empty((len(x), 0))
        return Rows.of(values, self.intercept, self.names)

    def _numbers(self, label: str, values: Any) -> Floats:
        """Return a column of the frame as columns of numbers."""
        if label in self.levels:
            places = _places(label, values, self.levels[label])
            return np.asarray(places[:, np.newaxis] == np.arange(1, len(self.levels[label])), np.float64)
        return _numbers(label, values)

    def changes(self, x: Any) -> Iterator[SmallChange | LevelChange]:
        rows, place = self.rows(x), 0
        for label in self.labels:
            count = len(self.levels[label]) - 1 if label in self.levels else 1
            chosen = slice(place, place + count)
            place += count
            if label not in self.levels and label not in self.booleans:
                yield SmallChange(label, np.eye(len(self.names))[chosen.start])
                continue
            values = [*np.eye(count + 1)[:, 1:]]
            before = _with_columns(rows, chosen, values[0])
            for number in range(1, count + 1):
                text = _level_label(label, self.levels.get(label), number)
                yield LevelChange(text, before, _with_columns(rows, chosen, values[number]))

    def replaced(self, x: Any, values: Mapping[Any, Any]) -> Any:
        self._require(self.labels, values)
        keys = {str(key): key for key in x.columns}
        given = {
            keys[label]: _repeated(label, value, len(x), self.levels.get(label)) for label, value in values.items()
        }
        return data_frame("X", x).assign(**given)


@dataclass(frozen=True, eq=False)
class FormulaColumns(Columns):
    """Columns of a formula.

    Attributes
    ----------
    formula : Formula
    spec : formulaic.ModelSpec
        What the formula needs to know of the people of the fit, such as their categories.
    levels : dict of tuple
        CategoryColumn by the names of columns of texts and categories.
    booleans : frozenset of str
        Names of columns of booleans.
    """

    names: tuple[str, ...]
    intercept: bool
    formula: Formula
    spec: Any
    levels: Mapping[str, tuple[Any, ...]]
    booleans: frozenset[str]

    @classmethod
    def of(cls, formula: Formula, frame: Any) -> tuple[FormulaColumns, Rows]:
        """Return what makes columns of a data frame without missing values, and these.

        Raises
        ------
        TypeError, ValueError
            If they cannot be computed.
        """
        columns = {name: _read_column(str(name), frame[name], "data") for name in formula.names}
        levels = {name: column.levels for name, column in columns.items() if isinstance(column, CategoryColumn)}
        constant = [name for name, found in levels.items() if len(found) < 2]
        if constant:
            raise ValueError(f"data must have columns that are not constant, got {constant[0]!r}")
        booleans = frozenset(
            name
            for name, column in columns.items()
            if not isinstance(column, CategoryColumn) and column.dtype == np.bool_
        )
        matrix = formula.computed(without_unused(frame, formula.names))
        spec = matrix.model_spec
        names = [formula.restored(name) for name in spec.column_names]
        intercept = INTERCEPT in names
        found = cls(tuple(name for name in names if name != INTERCEPT), intercept, formula, spec, levels, booleans)
        return found, found._rows_of(matrix)

    def _rows_of(self, matrix: Any) -> Rows:
        values = np.asarray(matrix, np.float64)
        place = [formula_name != INTERCEPT for formula_name in self.spec.column_names]
        return Rows.of(values[:, place], self.intercept, self.names)

    def rows(self, x: Any) -> Rows:
        return self._computed(self._checked(x))

    def _computed(self, frame: Any) -> Rows:
        return self._rows_of(self.formula.computed(frame, self.spec))

    def _checked(self, x: Any) -> Any:
        """Return people as a data frame with the columns and categories of the fit."""
        frame = data_frame("X", x)
        self._require(frame.columns, self.formula.names)
        _require_different("X", [name for name in frame.columns if name in self.formula.names])
        for name in self.formula.names:
            if frame[name].isna().any():
                raise ValueError(f"X must have no missing values, column {name!r} has some: leave these rows out")
            if name in self.levels:
                frame = frame.assign(**{name: _categorical(str(name), frame[name], self.levels[name])})
            else:
                _numbers(str(name), frame[name])
        return frame

    def changes(self, x: Any) -> Iterator[SmallChange | LevelChange]:
        frame = self._checked(x)
        for alias, name in self.formula.columns.items():
            factors = [str(factor.expr) for factor in self.spec.factors]
            factors = [factor for factor in factors if re.search(rf"(?<!\w){alias}(?!\w)", factor)]
            are_categories = [re.match(rf"C\(\s*{alias}\s*[,)]", factor) is not None for factor in factors]
            levels = self.levels.get(name)
            if name in self.booleans:
                levels = (False, True)
            elif levels is None and all(are_categories):
                levels = tuple(np.unique(np.asarray(frame[name])).tolist())
            elif levels is None and any(are_categories):
                raise ValueError(
                    f"formula must not use {name!r} both as numbers and as categories for marginal effects"
                )
            if levels is None:
                yield SmallChange(name, self._derivatives(frame, name))
                continue
            before = self._computed(self._set(frame, name, levels[0]))
            for number in range(1, len(levels)):
                after = self._computed(self._set(frame, name, levels[number]))
                yield LevelChange(_level_label(name, None if name in self.booleans else levels, number), before, after)

    def replaced(self, x: Any, values: Mapping[Any, Any]) -> Any:
        self._require(self.formula.names, values, "contrast")
        frame = data_frame("X", x)
        for name, value in values.items():
            frame = self._set(frame, name, value)
        return frame

    def _set(self, frame: Any, name: str, value: Any) -> Any:
        """Return people who have the same value of a covariate."""
        return frame.assign(**{name: _repeated(name, value, len(frame), self.levels.get(name))})

    def _derivatives(self, frame: Any, name: str) -> Floats:
        """Return the derivatives of the columns of people by a number, from central differences of two widths.

        Raises
        ------
        ValueError
            If a column is no smooth function of the number, such as ``I(age > 40)``.
        """
        x = np.asarray(_read_column(name, frame[name]), np.float64)
        size = np.abs(x)
        least = size[size > 0].min(initial=math.inf)
        spread = float(x.std()) or float(size.max()) or 1.0
        step = STEP * np.minimum(np.where(size > 0, size, min(least, spread)), spread)

        def difference(step: Floats, ends: tuple[float, float]) -> Floats:
            moved = [np.clip(x + sign * step, *ends) for sign in (1, -1)]
            up, down = (self._computed(frame.assign(**{name: values})).x for values in moved)
            return np.asarray((up - down) / (moved[0] - moved[1])[:, np.newaxis])

        try:
            wide, narrow = (difference(width, (-math.inf, math.inf)) for width in (step, step / 2))
            found = (4 * narrow - wide) / 3
        except (
            ValueError
        ):  # a spline has no value outside of the data: differences to one side, which are as exact if small
            ends = float(x.min()), float(x.max())
            wide, narrow = (difference(width, ends) for width in (SIDE * step, SIDE * step / 2))
            found = narrow
        largest = np.abs(found).max(axis=0)
        values = self._computed(frame).x
        moves = np.ptp(self._computed(frame.assign(**{name: x[::-1]})).x - values, axis=0) > 0
        rough = (np.abs(wide - narrow).max(axis=0) > SMOOTH * np.maximum(largest, 1e-300)) | (moves & (largest == 0))
        if rough.any():
            column = self.names[int(np.argmax(rough))]
            raise ValueError(
                f"formula must be smooth in {name!r} for marginal effects, got {column!r}: use contrast for two values"
            )
        return found


@dataclass(frozen=True, eq=False)
class CategoryColumn:
    """A column of categories.

    Attributes
    ----------
    codes : ndarray of int, shape (n,)
    levels : tuple
        The categories that occur, in the order of a categorical of pandas, else sorted.
    """

    codes: AnyArray
    levels: tuple[Any, ...]


def columns_of(x: Any, intercept: bool) -> tuple[Columns, Rows]:
    """Return what makes columns of covariates that are an array or a data frame, and these."""
    return FrameColumns.of(x, intercept) if hasattr(x, "columns") else ArrayColumns.of(x, intercept)


def _read_column(
    name: str, values: Any, argument: str = "X", *, are_categories: bool = False
) -> AnyArray | CategoryColumn:
    """Return a column of a data frame as numbers or booleans, or as categories; texts of numbers only if they are these.

    Raises
    ------
    TypeError, ValueError
        If it is neither, or has missing values.
    """
    kind = getattr(values, "dtype", None)
    if str(kind).startswith(("Categorical", "Enum")):  # of Polars
        values = values.to_pandas()
        kind = values.dtype
    if str(kind) == "category":
        codes, levels = np.asarray(values.cat.codes, np.intp), values.cat.categories.tolist()
        if (codes < 0).any():
            raise ValueError(f"{argument} must hold categories without missing values, column {name!r} has some")
        present, numbers = np.unique(codes, return_inverse=True)
        return CategoryColumn(numbers, tuple(levels[code] for code in present.tolist()))
    found = _objects.typed(f"{argument}, column {name!r},", np.asarray(values))
    if found.dtype.kind in "buif":
        return found if found.dtype == np.bool_ else found.astype(np.float64)
    texts = found.tolist()
    if found.dtype.kind not in "UTO" or found.ndim != 1 or not all(isinstance(text, str) for text in texts):
        raise TypeError(
            f"{argument} must hold numbers or categories without missing values, column {name!r} has dtype "
            f"{kind if kind is not None else found.dtype}"
        )
    levels = sorted(set(texts))
    if not are_categories and 2 * sum(map(_is_number, levels)) > len(levels):
        raise TypeError(
            f"{argument} must hold numbers or categories, column {name!r} has texts of numbers: convert it to numbers, or to "
            "categories of pandas"
        )
    places = {level: place for place, level in enumerate(levels)}
    return CategoryColumn(np.array([places[text] for text in texts], np.intp), tuple(levels))


def _numbers(name: str, values: Any) -> Floats:
    """Return a column of numbers, as in the fit."""
    column = _read_column(name, values)
    if isinstance(column, CategoryColumn):
        raise TypeError(f"X must hold numbers as in the fit, column {name!r} holds categories")
    return column.astype(np.float64)


def _places(name: str, values: Any, levels: tuple[Any, ...]) -> AnyArray:
    """Return the places of the categories of people among those of the fit.

    Raises
    ------
    ValueError
        If one is not among them.
    """
    column = _read_column(name, values, are_categories=True)
    if not isinstance(column, CategoryColumn):
        different, codes = np.unique(column, return_inverse=True)
        column = CategoryColumn(codes, tuple(different.tolist()))
    unknown = [level for level in column.levels if level not in levels]
    if unknown:
        raise ValueError(_unknown_level(name, levels, unknown[0]))
    return np.array([levels.index(level) for level in column.levels], np.intp)[column.codes]


def _categorical(name: str, values: Any, levels: tuple[Any, ...]) -> Any:
    """Return categories of people as a categorical of pandas, with those of the fit."""
    return optional("pandas", "analysis").Categorical.from_codes(_places(name, values, levels), list(levels))


def _repeated(name: str, value: Any, n: int, levels: tuple[Any, ...] | None) -> Any:
    """Return a column of one value for n people."""
    if levels is None:
        return np.full(n, value)
    return _categorical(name, np.full(n, value, object if isinstance(value, str) else None), levels)


def data_frame(name: str, data: Any) -> Any:
    """Return a table as a data frame of pandas.

    Raises
    ------
    TypeError
        If it is none.
    """
    if package_of(data) == "pandas" and hasattr(data, "columns"):
        return data
    if hasattr(data, "to_pandas"):
        return data.to_pandas()
    if not isinstance(data, Mapping):
        raise TypeError(f"{name} must be a data frame or a mapping of columns, got {type(data).__name__}")
    index = [0] if all(np.ndim(value) == 0 for value in data.values()) else None  # one person
    return optional("pandas", "analysis").DataFrame(dict(data), index)


def without_unused(frame: Any, names: Collection[str]) -> Any:
    """Return a data frame whose categoricals have only categories that occur."""
    are_categories = [name for name in names if str(frame[name].dtype) == "category"]
    return frame.assign(**{name: frame[name].cat.remove_unused_categories() for name in are_categories})


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _unknown_level(name: str, levels: tuple[Any, ...], level: Any) -> str:
    known = ", ".join(map(repr, levels[:20])) + (", ..." if len(levels) > 20 else "")
    return f"X must have the categories of the fit in column {name!r}, which are {known}; got {level!r}"


def _level_label(name: str, levels: tuple[Any, ...] | None, number: int) -> str:
    """Return the name of the effect of a category against the first one, or of a boolean."""
    return name if levels is None else f"{name}: {levels[number]} - {levels[0]}"


def _with_columns(rows: Rows, chosen: slice, values: Floats) -> Rows:
    """Return rows with given values in some columns."""
    x = np.array(rows.x)
    x[:, chosen] = values
    return replace(rows, x=x)


def _require_different(argument: str, labels: Collection[Any]) -> None:
    """Raise ValueError if a label occurs twice."""
    listed = list(labels)
    twice = [label for label in listed if listed.count(label) > 1]
    if twice:
        raise ValueError(f"{argument} must have columns with different names, got {twice[0]!r} twice")
