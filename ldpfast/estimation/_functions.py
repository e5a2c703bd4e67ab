"""Functions of the problems: a class with the records first.

``vector_mean(x, epsilon, ...)`` is ``VectorMean(dim, epsilon, ...).run(x)`` with the dim of the records. Each function is
derived from its class here, with its signature and docstring. Parameters that the records determine (n, dim) are left out.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from textwrap import dedent, indent
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from ..results import Estimate
from ._frequencies import Frequencies, FrequencyEstimate
from ._histogram_density import HistogramDensity, HistogramEstimate
from ._range_queries import RangeEstimate, RangeQueries
from ._series_density import SeriesDensity, SeriesEstimate
from ._sparse_mean import SparseEstimate, SparseMean
from ._truncated_mean import TruncatedMean
from ._vector_mean import VectorEstimate, VectorMean, row_width
from .gaussian import GaussianEstimate, GaussianMean
from .sgd import MedianSGD
from .strings import HeavyHitters, HeavyHittersEstimate

Result = TypeVar("Result")
Derived = Mapping[
    str, Callable[[Any, Mapping[str, Any]], Any]
]  # parameters as functions of the records and the arguments

CALL = """
rng : None, PersonKeys, int, SeedSequence, Generator or BitGenerator
    Source of randomness; only ``None`` and `PersonKeys` are private.
clip : bool, default False
    Project records that are outside, and map NaN to the center, instead of raising ValueError.
"""


def size(x: ArrayLike) -> int:
    """Return the number of records, at least 1."""
    return max(1, np.size(_check.array("x", x)))


def people(x: ArrayLike) -> int:
    """Return the number of records; raise ValueError if there is none."""
    n = np.size(_check.array("x", x))
    if n == 0:
        raise ValueError("x must hold at least 1 record, got none")
    return int(n)


def sections(doc: str | None) -> dict[str, str]:
    """Return the sections of a docstring by their headings; the text before the first one is under ""."""
    parts = re.split(r"^([A-Z]\w+)\n-+\n", inspect.cleandoc(doc or ""), flags=re.MULTILINE)
    return {"": parts[0].strip(), **{parts[i]: parts[i + 1].strip("\n") for i in range(1, len(parts), 2)}}


def entries(section: str) -> dict[str, str]:
    """Return the entries of a section Parameters by their first lines."""
    starts = [found.start() for found in re.finditer(r"^\S", section, flags=re.MULTILINE)]
    parts = [section[start:stop].rstrip() for start, stop in zip(starts, [*starts[1:], len(section)], strict=True)]
    return {part.partition(" :")[0]: part for part in parts}


def function_of(
    problem: Any,
    result: Callable[..., Result],
    *,
    name: str,
    summary: str,
    records: str,
    examples: str,
    derived: Derived | None = None,
    fixed: Mapping[str, Any] | None = None,
    renamed: Mapping[str, str] | None = None,
    warns: str = "",
) -> Callable[..., Result]:
    """Return the function of a problem: it makes the problem from its arguments, and runs it on the records.

    Parameters
    ----------
    problem : type
        Class with a method `run`.
    result : type
        Class of the estimate.
    name, summary, records, examples : str
        Name of the function; parts of its docstring: first line, entry of `x`, examples.
    derived : mapping, optional
        Parameters of the class that the records determine.
    fixed : mapping, optional
        Parameters of the class with a fixed value.
    renamed : mapping, optional
        Parameters that are positional after `x` in the function, with their names in the class.
    warns : str
        Section Warns of the docstring.

    Returns
    -------
    function : callable
    """
    derived = derived or {}
    fixed = fixed or {}
    renamed = renamed or {}
    # The parameters are the records, those of the class that are not derived, fixed or renamed, and the options of `run`.
    hidden = {*derived, *fixed, *renamed.values()}
    of_class = [p for n, p in inspect.signature(problem).parameters.items() if n not in hidden]
    run_options = inspect.signature(problem.run).parameters.values()
    of_run = [p for p in run_options if p.kind is p.KEYWORD_ONLY and p.name != "by"]
    first = [
        inspect.Parameter(label, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=annotation)
        for label, annotation in (("x", "ArrayLike"), *((label, "float") for label in renamed))
    ]
    parameters = sorted([*first, *of_class, *of_run], key=lambda p: p.kind)  # stable: keyword-only ones are last
    signature = inspect.Signature(parameters, return_annotation=result.__name__)
    run_names = {p.name for p in of_run}

    def function(*args: Any, **options: Any) -> Result:
        try:
            bound = signature.bind(*args, **options)
        except TypeError as error:
            raise TypeError(f"{name}() {error}") from None
        given = bound.arguments
        x = given.pop("x")
        run = {label: given.pop(label) for label in list(given) if label in run_names}
        arguments = {renamed.get(label, label): value for label, value in given.items()} | dict(fixed)
        for label, of in derived.items():
            arguments[label] = of(x, arguments)
        estimate: Result = problem(**arguments).run(x, **run)
        return estimate

    function.__name__ = function.__qualname__ = name
    if __doc__ is not None:  # not python -OO
        function.__doc__ = _docstring(
            problem, result, parameters, summary, records, examples, [*derived], renamed, warns
        )
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": result.__name__}
    return function


def _docstring(
    problem: Any,
    result: Any,
    parameters: list[inspect.Parameter],
    summary: str,
    records: str,
    examples: str,
    derived: list[str],
    renamed: Mapping[str, str],
    warns: str,
) -> str:
    """Return the docstring of a function, from that of its class."""
    of_class, of_run = sections(problem.__doc__), entries(sections(problem.run.__doc__).get("Parameters", ""))
    texts = entries(of_class.get("Parameters", "")) | entries(CALL.strip())
    texts |= {label: text for label, text in of_run.items() if label.isidentifier()}
    texts["x"] = f"x : {dedent(records).strip()}"
    for label, name in renamed.items():
        texts[label] = re.sub(r"^\w+ : (\w+).*", rf"{label} : \1", texts[name])
    wanted = [p.name for p in parameters]
    chosen = {next((text for names, text in texts.items() if name in names.split(", ")), ""): None for name in wanted}
    call = f"``{problem.__name__}(...).run(x)``" + "".join(f", with the {name} of the records" for name in derived)
    parts = {
        "Parameters": "\n".join(filter(None, chosen)),
        "Returns": f"estimate : {result.__name__}",
        "Raises": (
            "TypeError, ValueError\n"
            f"    If `{problem.__name__}` rejects a parameter, or a record is invalid and `clip` is false."
        ),
        "Warns": dedent(warns).strip(),
        "Privacy": of_class.get("Privacy", ""),
        "Examples": dedent(examples).strip(),
    }
    body = "".join(f"\n\n{title}\n{'-' * len(title)}\n{text}" for title, text in parts.items() if text)
    return indent(f"{summary}\n\nThe same as {call}; see `{problem.__name__}`.{body}\n", "    ").lstrip() + "    "


truncated_mean = function_of(
    TruncatedMean,
    Estimate[float],
    name="truncated_mean",
    summary="Return the mean of numbers with a bounded moment, each privatized separately.",
    records="""
        array_like, shape (n,)
            Finite numbers.
        """,
    derived={"n": lambda x, _: size(x)},
    warns="""
        SmallSampleWarning
            For fewer than 100 people.
        """,
    examples="""
        >>> import numpy as np
        >>> from ldpfast.estimation import truncated_mean
        >>> x = np.random.default_rng(1).exponential(2.0, 100_000)  # third moment 48
        >>> estimate = truncated_mean(x, 1.0, moment=3, radius=4, lower=0, rng=1)
        >>> bool(abs(estimate.value - 2.0) < 0.5)
        True
        """,
)
vector_mean = function_of(
    VectorMean,
    VectorEstimate,
    name="vector_mean",
    summary="Return the mean of vectors in a ball or a box, each privatized separately.",
    records="""
        array_like of float, shape (n, dim)
            One row per person.
        """,
    derived={"dim": lambda x, _: row_width(x)},
    warns="""
        SmallSampleWarning
            For fewer than 100 people.
        """,
    examples="""
        >>> import numpy as np
        >>> from ldpfast.estimation import vector_mean
        >>> answers = np.random.default_rng(1).random((100_000, 3)) < [0.2, 0.5, 0.9]
        >>> estimate = vector_mean(answers.astype(float), 1.0, norm="linf", lower=0, upper=1, rng=1)
        >>> bool(abs(estimate.value - [0.2, 0.5, 0.9]).max() < 0.05)
        True
        """,
)
sparse_mean = function_of(
    SparseMean,
    SparseEstimate,
    name="sparse_mean",
    summary="Return a mean vector with few nonzero coordinates, each row privatized separately.",
    records="""
        array_like of float, shape (n, dim)
            One row per person.
        """,
    derived={"dim": lambda x, _: row_width(x)},
    examples="""
        >>> import numpy as np
        >>> from ldpfast.estimation import sparse_mean
        >>> x = np.zeros((100_000, 10))
        >>> x[:, 2] = 0.8
        >>> sparse_mean(x, 1.0, radius=1, rng=1).support.tolist()
        [2]
        """,
)
frequencies = function_of(
    Frequencies,
    FrequencyEstimate,
    name="frequencies",
    summary="Return the shares of categories, each answer privatized separately.",
    records="""
        array_like, shape (n,)
            Integers in [0, k), or declared labels in any container that `Frequencies` accepts.
        """,
    examples="""
        >>> from ldpfast.estimation import frequencies
        >>> estimate = frequencies(["yes"] * 7000 + ["no"] * 3000, ["yes", "no"], 2.0, rng=1)
        >>> bool(abs(estimate.value[0] - 0.7) < 0.05)
        True
        """,
)
range_queries = function_of(
    RangeQueries,
    RangeEstimate,
    name="range_queries",
    summary="Return the shares of ordered bins for questions about ranges, each number privatized separately.",
    records="""
        array_like of int, shape (n,)
            Integers in [0, k).
        """,
    examples="""
        >>> import numpy as np
        >>> from ldpfast.estimation import range_queries
        >>> estimate = range_queries(np.arange(100_000) % 100, 100, 1.0, rng=1)
        >>> bool(abs(estimate.range(20, 50).value - 0.3) < 0.05)
        True
        """,
)
heavy_hitters = function_of(
    HeavyHitters,
    HeavyHittersEstimate,
    name="heavy_hitters",
    summary="Return the strings that many people have, without a list of candidates, each string privatized separately.",
    records="""
        array_like of str or bytes, shape (n,)
            Strings in a list, a NumPy or Arrow array, or a pandas series.
        """,
    derived={"n": lambda x, _: len(x)},
    warns="""
        UserWarning
            If more prefixes passed a level of the search than can be continued.
        SmallSampleWarning
            If not even a string that everybody has would be found.
        """,
    examples="""
        >>> from ldpfast.estimation import heavy_hitters
        >>> x = ["new"] * 40_000 + ["word"] * 20_000
        >>> heavy_hitters(x, 4.0, max_bytes=4, alphabet="abcdefghijklmnopqrstuvwxyz", rng=1).strings
        ('new', 'word')
        """,
)
series_density = function_of(
    SeriesDensity,
    SeriesEstimate,
    name="series_density",
    summary="Return the density of numbers in an interval by a trigonometric series, each number privatized separately.",
    records="""
        array_like of float, shape (n,)
            Numbers in [lower, upper].
        """,
    derived={"n": lambda x, given: size(x) if given.get("n_terms") is None else None},
    warns="""
        SmallSampleWarning
            For fewer than 100 people.
        """,
    examples="""
        >>> import numpy as np
        >>> from ldpfast.estimation import series_density
        >>> density = series_density(np.random.default_rng(1).beta(2, 2, 100_000), 1.0, rng=1)
        >>> bool(abs(density(0.5) - 1.5) < 0.3)
        True
        """,
)
histogram_density = function_of(
    HistogramDensity,
    HistogramEstimate,
    name="histogram_density",
    summary="Return the density of numbers in an interval by a histogram, each number privatized separately.",
    records="""
        array_like of float, shape (n,)
            Numbers in [lower, upper].
        """,
    derived={"n": lambda x, given: size(x) if given.get("bins") is None else None},
    warns="""
        SmallSampleWarning
            For fewer than 100 people with ``noise="laplace"``.
        """,
    examples="""
        >>> import numpy as np
        >>> from ldpfast.estimation import histogram_density
        >>> density = histogram_density(np.random.default_rng(1).random(100_000), 1.0, bins=4, rng=1)
        >>> bool(abs(density(0.5) - 1.0) < 0.2)
        True
        """,
)
gaussian_mean = function_of(
    GaussianMean,
    GaussianEstimate,
    name="gaussian_mean",
    summary="Return the mean of normal numbers, each privatized separately, in one process.",
    records="""
        array_like, shape (n,)
            Finite numbers, from about a normal distribution.
        """,
    derived={"n": lambda x, _: people(x)},
    warns="""
        SmallSampleWarning, DoubtfulWarning
            If n is too small for the search, or the answers contradict the model.
        """,
    examples="""
        >>> import numpy as np
        >>> from ldpfast.estimation import gaussian_mean
        >>> heights = np.random.default_rng(1).normal(171.0, 7.0, 100_000)
        >>> bool(abs(gaussian_mean(heights, 1.0, sigma=7.0, mu_bound=1000.0, rng=1).value - 171) < 0.3)
        True
        """,
)
QUANTILE_WARNS = """
    SmallSampleWarning
        If n is too small for the interval.
    DoubtfulWarning
        Without `spacing`, if many records are equal.
    """
quantile = function_of(
    MedianSGD,
    Estimate[float],
    name="quantile",
    summary="Return a quantile by private stochastic gradient descent, with one bit per person.",
    records="""
        array_like, shape (n,)
            Finite numbers of any size. People are asked in this order.
        """,
    derived={"n": lambda x, _: people(x)},
    renamed={"q": "quantile"},
    warns=QUANTILE_WARNS,
    examples="""
        >>> import numpy as np
        >>> from ldpfast.estimation import quantile
        >>> x = np.random.default_rng(1).normal(0, 1, 100_000)
        >>> estimate = quantile(x, 0.25, epsilon=2.0, lower=-5, upper=5, rng=1)
        >>> bool(abs(estimate.value + 0.674) < 0.1)
        True
        """,
)
median = function_of(
    MedianSGD,
    Estimate[float],
    name="median",
    summary="Return the median by private stochastic gradient descent: `quantile` with q = 1/2.",
    records="""
        array_like, shape (n,)
            Finite numbers of any size. People are asked in this order.
        """,
    derived={"n": lambda x, _: people(x)},
    fixed={"quantile": 0.5},
    warns=QUANTILE_WARNS,
    examples="""
        >>> import numpy as np
        >>> from ldpfast.estimation import median
        >>> salaries = np.random.default_rng(1).lognormal(10.1, 0.8, 60_000)  # the median of the distribution is 24,343
        >>> estimate = median(salaries, epsilon=1.0, lower=0, upper=100_000, rng=1)
        >>> bool(abs(estimate.value - 24_343) < 2_000)
        True
        """,
)
