"""The people of a fit: their covariates and whatever else is known of each, from arrays, or from a data frame by a formula."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import _check
from .._labels import has_index, package_of, require_one_index
from .._objects import is_missing
from .._typing import Floats
from ..designs import ReplicateWeights, Sample, table_of
from ._covariates import INTERCEPT, Columns, FormulaColumns, columns_of, data_frame
from ._formula import Formula, sides_of
from ._rows import CONST, Rows


@dataclass(frozen=True, eq=False)
class Study:
    """People of a fit.

    Attributes
    ----------
    columns : Columns
        What makes columns of numbers of their covariates.
    data : object
        Their covariates, as `columns` reads them.
    rows : Rows
        The columns.
    given : dict
        What else is known of each person, by the names of arguments.
    left_out : int
        Number of people who have a missing value, and are none of these.
    """

    columns: Columns
    data: Any
    rows: Rows
    given: dict[str, Any]
    left_out: int = 0

    def sample(self, weights: Floats | None, least: int) -> Sample:
        """Return how the people were drawn, with a warning if they are too few for standard errors.

        Parameters
        ----------
        weights : ndarray or None
            Checked weights.
        least : int
            Smallest number of clusters.
        """
        names = ("clusters", "strata", "fpc", "replicate_weights")
        found = Sample.read(len(self.rows), weights, **{name: self.given.get(name) for name in names}, least=least)
        found.warn_few()
        return found


def study_of_arrays(x: Any, data: Any, intercept: bool, people: Mapping[str, Any], required: Sequence[str]) -> Study:
    """Return the people of a fit without a formula.

    Parameters
    ----------
    x : array_like or data frame
        Covariates.
    data : None
        The argument of this name.
    intercept : bool
        Whether there is an intercept.
    people : mapping
        What else is given of each person, by the names of the arguments: arrays or None.
    required : sequence of str
        Names of those that must not be None.

    Raises
    ------
    TypeError, ValueError
        If the arguments do not belong together.
    """
    if data is not None:
        raise TypeError("data must be None unless the first argument is a formula")
    for name, values in people.items():
        if values is None and name in required:
            raise TypeError(f"{name} must be given, unless the first argument is a formula")
        if isinstance(values, str):
            raise TypeError(f"{name} must be an array: the name of a column, {values!r}, needs a formula")
    require_one_index({"X": x, **people, **table_of(people.get("replicate_weights"))})
    columns, rows = columns_of(x, intercept)
    return Study(columns, x, rows, dict(people))


def study_of_formula(
    text: str,
    second: Any,
    data: Any,
    intercept: bool,
    people: Mapping[str, Any],
    outcome: str,
    *,
    computed: bool = False,
) -> Study:
    """Return the people of a data frame that have no missing value in a column in use, and no weight of zero.

    Parameters
    ----------
    text : str
        Formula.
    second, data : data frame, mapping of columns or None
        Its data, as the second argument or by name.
    intercept : bool
        Whether there can be an intercept.
    people : mapping
        What else is given of each person, by the names of the arguments: arrays, names of columns, or None.
    outcome : str
        Name of what the formula has before ~.
    computed : bool, default False
        Whether this can be computed from columns, and not only be one.

    Raises
    ------
    ImportError
        If formulaic or pandas is not installed.
    TypeError, ValueError
        If the arguments do not belong together, or the formula cannot be computed.
    """
    if (second is None) == (data is None):
        raise TypeError("data must be a data frame for a formula, given once, as the second argument or by name")
    data = second if data is None else data
    frame = data_frame("data", data)
    left, right = sides_of(text)
    if left is None:
        raise ValueError(f"formula must have an outcome, such as answer ~ age + female, got {text!r}")
    _require_columns(frame)
    formula, outcomes = (Formula.of(side, list(frame.columns)) for side in (right, left))
    result = next(iter(outcomes.names)) if outcomes.code.strip() in outcomes.columns else None
    # First the names are checked, then rows with missing values are dropped, once; only then columns are computed.
    _require_names(formula, outcomes, frame)
    if result is None and not computed:
        raise ValueError(f"formula must have the name of a column before ~, got {left!r}")
    both = [name for name in formula.names if name in outcomes.names]
    if both:
        raise ValueError(f"formula must have {both[0]!r} on one side of ~, got it on both")
    for answers in (people.get("reports"), people.get("attention")):
        if isinstance(answers, str) and answers in (*outcomes.names, *formula.names):
            raise ValueError(f"formula must hold columns that are known, got the randomized answers {answers!r}")
    given = {name: _values(name, values, data, frame) for name, values in people.items()}
    missing = frame[[*dict.fromkeys([*outcomes.names, *formula.names])]].isna().any(axis=1).to_numpy()
    for values in given.values():
        missing = missing | (False if values is None else _is_missing(values))
    inside = ~missing
    if given.get("weights") is not None:
        weights = np.zeros(len(frame))
        weights[inside] = _check.weights(given["weights"][inside], int(inside.sum()))
        inside = inside & (weights > 0)
    if not inside.any():
        raise ValueError("data must have rows without missing values, got none")
    kept = frame[inside]
    columns, rows = FormulaColumns.of(formula, kept)
    if columns.intercept and not intercept:
        raise ValueError(f"formula must begin with 0 + if intercept=False, got {text!r}")
    given = {name: _taken(values, inside) for name, values in given.items()}
    given[outcome] = kept[result].to_numpy() if result is not None else _computed_outcome(outcomes, kept)
    return Study(columns, kept[[*formula.names]], rows, given, int(missing.sum()))


def _require_columns(frame: Any) -> None:
    """Raise ValueError if two columns have the same name."""
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise ValueError(f"data must have columns with different names, got {twice[0]!r} twice")


def _require_names(formula: Formula, outcomes: Formula, frame: Any) -> None:
    """Raise ValueError if a formula has a name that is no column, or the name of the intercept."""
    for name in (*outcomes.names, *formula.names):
        if name not in frame.columns:
            shown = ", ".join(map(str, frame.columns[:20])) + (", ..." if len(frame.columns) > 20 else "")
            raise ValueError(f"formula must name columns of data, which are {shown}; got {name!r}")
    for name in (INTERCEPT, CONST):
        if name in formula.names:
            raise ValueError(f"formula must hold columns of other names than that of the intercept, got {name!r}")


def _values(name: str, values: Any, data: Any, frame: Any) -> Any:
    """Return what is given of each row of a data frame, which can be the name of a column."""
    if values is None:
        return None
    if isinstance(values, ReplicateWeights):
        table = values.of_table(frame)
        if has_index(data):
            require_one_index({"data": data, **table_of(table)})
        return replace(table, weights=np.asarray(table.weights, np.float64))
    if isinstance(values, str):
        if values not in frame.columns:
            raise ValueError(f"{name} must be an array or the name of a column of data, got {values!r}")
        return frame[values].to_numpy()
    if has_index(data):
        require_one_index({"data": data, name: values})
    found = values.to_numpy() if package_of(values) == "pandas" else _check.array(name, values)
    if found.ndim != 1 or len(found) != len(frame):
        raise ValueError(f"{name} must have one value for each of {len(frame)} rows of data, got shape {found.shape}")
    return found


def _taken(values: Any, inside: Any) -> Any:
    """Return what is given of some people."""
    if values is None:
        return None
    return values.of_rows(inside) if isinstance(values, ReplicateWeights) else values[inside]


def _is_missing(values: Any) -> Any:
    if isinstance(values, ReplicateWeights):
        return _is_missing(values.weights).reshape(len(values.weights), -1).any(axis=1)
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind != "O":
        return np.zeros(len(values), np.bool_)
    return np.array([is_missing(value) for value in values.tolist()], np.bool_)


def _computed_outcome(formula: Formula, frame: Any) -> Any:
    """Return an outcome that is computed from columns."""
    matrix = formula.computed(frame)
    names = [place for place, name in enumerate(matrix.model_spec.column_names) if name != INTERCEPT]
    if len(names) != 1:
        raise ValueError(f"formula must have one number before ~, got {formula.text!r}")
    return np.asarray(matrix, np.float64)[:, names[0]]
