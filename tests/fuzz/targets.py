"""Everything that reads bytes from outside, with the contract that each reader must keep for all bytes.

A target reads one input and returns whether it was accepted. The contract: only documented errors are raised, with no
other warning than those of this package; what is accepted survives a round trip; an estimate is finite and consistent, or
a documented error is raised. Anything else is raised as it is, and is a finding. Time and memory are limited by the
callers: `engine.py`, and `tests/test_fuzz_corpus.py`.
"""

from __future__ import annotations

import contextlib
import copy
import io
import json
import math
import os
import pickle
import struct
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import ldpfast as ldp
from ldpfast import cli
from ldpfast.domains import Sets, Tuples
from ldpfast.estimation import (
    CountMeanSketch,
    Frequencies,
    GaussianMean,
    GradientDescent,
    HeavyHitters,
    HistogramDensity,
    MedianSGD,
    NewtonStep,
    Problem,
    VectorMean,
)
from ldpfast.estimation.protocols import Sequential
from ldpfast.files import FileTable
from ldpfast.mechanisms import Mechanism, Query, SetCube, ViewResponse
from ldpfast.reports import Aggregator, recipe_of
from ldpfast.survey import Choice, Cross, Mean, Repeated, Survey, SurveyQuestion, YesNo

from . import mutation

DOCUMENTED = (TypeError, ValueError)
MAX_REPORT_BYTES = 1 << 12  # of a report that is made from a description
MAX_STATE_BYTES = 1 << 20  # of an aggregator that is made from a description
MAX_SECONDS = 5.0  # for one input
MAX_BYTES = 1 << 28  # of memory for one input
MAX_ADDRESS_BYTES = 1 << 33  # of the address space of a process

QUESTIONS: dict[str, Any] = {
    "k-ary": ldp.RandomizedResponse(4, 1.0),
    "unary": ldp.UnaryEncoding(13, 2.0),
    "laplace": ldp.Laplace(-1.0, 3.0, 1.0),
    "linf": ldp.LinfBall(3, 1.0),
    "sets": ldp.HadamardResponse(5, 1.0),
    "window": ldp.Window(0.0, 1.0, 1.0),
    "signs": ldp.SampledCube(5, 4.0, sampled=2),
    "options": SetCube(5, 3, 4.0, optional=True),
    "directions": ldp.RankCodebook(2, 1.0),
    "frames": ldp.RankedSigns(3, 1.0),
    "rotations": ldp.RotatedSigns(3, 1.0, rotation=1, signs=4),
    "views": ViewResponse([2, 2, 2], 1.0),
    "l2": VectorMean(2, 1.0),
    "vectors": ldp.L2Ball(2, 1.0),
    "labels": Frequencies(("never", "often"), 1.0),
    "histogram": HistogramDensity(1.0, bins=3),
    "sketch": CountMeanSketch(2.0, max_bytes=3, buckets=8, functions=2),
    "strings": HeavyHitters(2.0, max_bytes=2, alphabet="ab", n=1000, buckets=8, functions=3),
}
SURVEY = Survey(
    {
        "age": Mean(0, 100, optional=True),
        "smoker": YesNo(optional=True),
        "region": Choice(("north", "south"), optional=True),
        "age and smoking": Cross("age", "smoker"),
    },
    3.0,
    answers=2,
)
PROTOCOLS: dict[str, Any] = {
    "median": lambda: MedianSGD(1.0, lower=0.0, upper=1.0),
    "spacing": lambda: MedianSGD(1.0, lower=0.0, upper=1.0, spacing=0.5, n=1000),
    "descent": lambda: GradientDescent("linear", 2, 1.0, residual=1.0),
    "covariance": lambda: GradientDescent("logistic", 1, 1.0, covariance="full"),
    "newton": lambda: NewtonStep("logistic", 1, 1.0, n=20),
}
KINDS: dict[str, Any] = {
    "problem": Problem,  # first: problems have a parameter "mechanism"
    "mechanism": Mechanism,
    "protocol": Sequential,
    "survey": Survey,
    "repeated": Repeated,
    "question": SurveyQuestion,
}


@dataclass(frozen=True)
class Target:
    """A reader of one format.

    Attributes
    ----------
    check : callable
        Function that reads bytes and returns whether they were accepted. It raises if the contract is violated.
    mutate : callable
        Function (bytes, random.Random, change of bytes) that returns changed bytes of mostly valid structure.
    """

    check: Callable[[bytes], bool]
    mutate: mutation.Mutator = mutation.plain


# Contract -------------------------------------------------------------------------------------------------------------

REJECTED = object()


def attempt(call: Callable[..., Any], *arguments: Any, errors: tuple[type[Exception], ...] = DOCUMENTED) -> Any:
    """Return the result of a call, or `REJECTED` if it raises a documented error with a message.

    A subclass of ValueError, such as those of pyarrow and of codecs, is an error of another library that escaped.
    """
    try:
        return call(*arguments)
    except errors as error:
        if type(error) not in errors or not str(error):
            raise AssertionError(f"an error that is not documented: {error!r}") from error
    return REJECTED


def assert_consistent(estimate: Any) -> None:
    """Check an estimate, or all answers of a survey."""
    if hasattr(estimate, "values") and callable(estimate.values):
        for answer in estimate.values():
            assert_consistent(answer)
        return
    if hasattr(estimate, "shares"):  # of strings that are named later
        estimate = estimate.shares([""])  # which every alphabet has
    value, stderr = np.asarray(estimate.value), np.asarray(estimate.stderr)
    low, high = estimate.interval()
    assert (np.isfinite(value) | (stderr == np.inf)).all(), f"value {value}"  # unless nobody was asked
    assert (stderr >= 0).all(), f"standard error {stderr}"
    assert (np.asarray(low) <= np.asarray(high)).all(), f"interval {low} to {high}"
    repr(estimate)


def conclude(state: Any) -> None:
    """Estimate from an accepted state."""
    source = getattr(state, "source", None)
    found = attempt(source.estimate, state) if hasattr(source, "_conclude") else attempt(state.estimate)
    if found is not REJECTED:
        assert_consistent(found)


# States ---------------------------------------------------------------------------------------------------------------


def read_state(kind: type | None, data: bytes) -> bool:
    """Read a saved state, write it again, estimate from it, and continue it."""
    state = attempt(Aggregator.from_bytes, data)
    if kind is not None:
        direct = attempt(kind.from_bytes, data)
        if isinstance(state, kind):
            assert direct.to_bytes() == state.to_bytes()
    if state is REJECTED:
        return False
    saved = state.to_bytes()
    again = Aggregator.from_bytes(saved)
    assert type(again) is type(state)
    assert again.to_bytes() == saved
    assert copy.copy(state).to_bytes() == saved
    repr(state)
    conclude(state)
    assert state.to_bytes() == saved, "an estimate changed the state"
    if hasattr(state, "merge"):
        merged = attempt(state.merge, again)
        once = isinstance(state, GaussianMean)  # closed rounds count once
        assert merged is REJECTED or merged.n == 2 * again.n or once
    elif hasattr(state, "query"):
        query = attempt(state.query)
        if query is not REJECTED and query.mechanism.report_bytes <= MAX_REPORT_BYTES:
            before = state.n
            report = query.privatize(record_of(query.mechanism))
            if attempt(state.update, query, report) is not REJECTED:
                assert state.n == before + 1
                assert type(state).from_bytes(state.to_bytes()).to_bytes() == state.to_bytes()
                conclude(state)
    return True


# Descriptions ---------------------------------------------------------------------------------------------------------


def record_of(mechanism: Mechanism) -> Any:
    """Return a valid record of a mechanism."""
    domain = mechanism.domain
    if isinstance(domain, Sets):
        return set()
    if isinstance(domain, Tuples):
        return np.zeros(domain.width, np.uint8)
    if not domain.clips:
        return 0
    return np.zeros(domain.width) if domain.width else domain.range[0]


def read_query(data: bytes) -> bool:
    """Read a query, write it again, and answer it."""
    query = attempt(Query.from_bytes, data, errors=(ValueError,))
    if query is REJECTED:
        return False
    saved = query.to_bytes()
    assert Query.from_bytes(saved) == query
    assert Query.from_bytes(saved).to_bytes() == saved
    assert 0 < query.mechanism.epsilon_realized < math.inf
    answer_mechanism(query.mechanism, query.privatize)
    return True


def state_bytes(question: Any) -> int:
    shape, dtype = question.report.state_layout
    return math.prod(shape) * np.dtype(dtype).itemsize


def answer_mechanism(mechanism: Mechanism, privatize: Callable[[Any], Any]) -> None:
    """Privatize and count one record, if report and state are not too large."""
    if mechanism.report_bytes > MAX_REPORT_BYTES or state_bytes(mechanism) > MAX_STATE_BYTES:
        return
    record = record_of(mechanism)
    report = privatize(record)
    state = mechanism.aggregator().update(report[None])
    assert Aggregator.from_bytes(state.to_bytes()) == state
    conclude(state)


def read_description(data: bytes) -> bool:
    """Read a description of any kind, and write it again."""
    try:
        described = json.loads(data)
    except (RecursionError, ValueError):
        return False
    kind = next((kind for kind in KINDS if isinstance(described, dict) and kind in described), "mechanism")
    found = attempt(KINDS[kind].from_dict, described)
    if found is REJECTED:
        return False
    repr(found)
    if attempt(found.schema) is REJECTED:  # a label that cannot be saved
        return True
    saved = found.to_dict()
    again = KINDS[kind].from_dict(json.loads(json.dumps(saved)))
    assert again.to_dict() == saved
    assert again.fingerprint == found.fingerprint
    assert pickle.loads(pickle.dumps(found)).to_dict() == saved
    if kind in ("mechanism", "problem"):
        mechanism = found if kind == "mechanism" else found.mechanism
        if state_bytes(mechanism) <= MAX_STATE_BYTES:
            assert Aggregator.from_bytes(found.aggregator().to_bytes()).question == found
        if kind == "mechanism":
            answer_mechanism(mechanism, partial(mechanism.privatize, rng=1))
    return True


def read_toml(data: bytes) -> bool:
    """Read a survey in TOML, and write it again."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    survey = attempt(Survey.from_toml, text)
    if survey is REJECTED:
        return False
    again = Survey.from_toml(survey.to_toml())
    assert again == survey
    assert again.fingerprint == survey.fingerprint
    assert Survey.from_dict(survey.to_dict()) == survey
    survey.plan(1000)
    return True


# Reports --------------------------------------------------------------------------------------------------------------


def add(state: Any, reports: Any) -> bool:
    """Add reports to a state; check that the state is unchanged if they are rejected."""
    before = state.to_bytes()
    if attempt(state.update, reports) is REJECTED:
        assert state.to_bytes() == before, "rejected reports changed the state"
        return False
    assert Aggregator.from_bytes(state.to_bytes()).to_bytes() == state.to_bytes()
    conclude(state)
    return True


def read_messages(data: bytes) -> bool:
    """Read the messages of several people to one of `QUESTIONS`."""
    question = next((q for q in QUESTIONS.values() if recipe_of(q).label.head in data), QUESTIONS["k-ary"])
    size = len(recipe_of(question).label.head) + question.report.nbytes
    messages = [data[i : i + size] for i in range(0, len(data), size)]
    return add(question.aggregator(), messages)


def split(data: bytes) -> list[bytes]:
    """Split messages that are preceded by their lengths, two bytes each. The last message may be cut off."""
    at, found = 0, []
    while at + 2 <= len(data):
        (size,) = struct.unpack_from("<H", data, at)
        found.append(data[at + 2 : at + 2 + size])
        at += 2 + size
    return found


def join(messages: list[bytes]) -> bytes:
    """Return messages with their lengths, as `split` reads them."""
    return b"".join(struct.pack("<H", len(message)) + message for message in messages)


def read_survey_messages(data: bytes) -> bool:
    """Read the messages of several people to `SURVEY`."""
    messages = split(data)
    accepted = add(SURVEY.aggregator(), messages)
    assert add(SURVEY.aggregator(), pa.array(messages, pa.binary())) == accepted
    return accepted


def read_reports(data: bytes) -> bool:
    """Read an Arrow table of reports (an IPC stream) to all questions and to the survey."""
    try:
        table = pa.ipc.open_stream(data).read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, TypeError):
        return False
    found = [add(question.aggregator(), table) for question in QUESTIONS.values()]
    for question, accepted in zip(QUESTIONS.values(), found, strict=True):
        assert (attempt(question.from_arrow, table) is not REJECTED) >= accepted
    found.append(add(SURVEY.aggregator(), table))
    assert sum(found) <= 1, "a table answers two questions"
    return any(found)


# Command line ---------------------------------------------------------------------------------------------------------


@cache
def _folder(process: int) -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="ldpfast-fuzz-")


def folder() -> Path:
    """Return the temporary folder of this process."""
    return Path(_folder(os.getpid()).name)


def command(*arguments: object) -> str | None:
    """Run the command line; return its output, or None if it ended with an error in one line."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = cli.main([str(argument) for argument in arguments])
        except SystemExit as end:
            status = end.code
    lines = err.getvalue().splitlines()
    if status == 2:
        assert lines[-1].startswith("ldpfast: error: "), lines
        assert not out.getvalue()
        lines = lines[:-1]
    else:
        assert status == 0, status
    assert all(line.startswith("ldpfast: warning: ") for line in lines), lines
    return out.getvalue() if status == 0 else None


def assert_finite(output: str) -> None:
    """Check the estimated numbers of an output in JSON."""
    for answer in json.loads(output)["answers"].values():
        assert answer["n"] == 0 or np.isfinite(answer["value"]).all(), output


NUMBERS, CATEGORIES = Mean(0, 10), Choice(("yes", "no", "1", "2"))
ASKED: dict[str | None, list[Survey]] = {
    column: [Survey({column or "data.npy": question}, 1.0) for question in (NUMBERS, CATEGORIES)]
    for column in ("x", "c", "0", None)
}
BOTH = Survey({"x": Mean(0, 10, optional=True), "c": Choice(("yes", "no"), optional=True)}, 2.0, answers=2)


def read_table(suffix: str, columns: tuple[str | None, ...], data: bytes) -> bool:
    """Read the columns of a file as numbers and as categories, and run both commands that read files."""
    path = folder() / f"data{suffix}"
    path.write_bytes(data)
    accepted = False
    for column in columns:
        for survey in ASKED[column]:
            for clip in (False, True):
                found = attempt(lambda: survey.run(FileTable([path], survey.column_questions), rng=1, clip=clip))  # noqa: B023
                if found is not REJECTED:
                    accepted = True
                    assert_consistent(found)
    names = () if columns[-1] is None else (f"--column={columns[-1]}",)
    output = command("estimate", path, *names, "--epsilon=1", "--categories=yes,no", "--missing=category", "--json")
    if output is not None:
        accepted = True
        assert_finite(output)
    return privatize_file(path) | accepted if columns[-1] is not None else accepted


def privatize_file(path: Path) -> bool:
    """Privatize a file for a survey and count the reports."""
    survey, reports = path.with_name("survey.toml"), path.with_name("reports.parquet")
    survey.write_text(BOTH.to_toml())
    reports.unlink(missing_ok=True)
    if command("privatize", survey, path, "-o", reports, "--clip", "--seed=1") is None:
        assert not reports.exists()
        return False
    assert aggregate_file(reports.read_bytes()), "reports that cannot be counted"
    return True


def aggregate_file(data: bytes) -> bool:
    """Count a Parquet file of reports, and estimate from the saved state."""
    path, state, merged = (folder() / name for name in ("reports.parquet", "state.ldp", "merged.ldp"))
    path.write_bytes(data)
    state.unlink(missing_ok=True)
    if command("aggregate", path, "-o", state) is None:
        assert not state.exists()
        return False
    output = command("estimate", state, "--json")
    if output is not None:
        assert_finite(output)
    assert command("merge", state, "-o", merged) is not None
    assert merged.read_bytes() == state.read_bytes()
    return True


def checked(check: Callable[[bytes], bool], data: bytes) -> bool:
    """Check an input; every warning except those of this package is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        # Of NumPy, from the header of a file.
        warnings.filterwarnings("ignore", "Data type alias 'a'", DeprecationWarning)
        return check(data)


def target(check: Callable[..., bool], *arguments: Any, mutate: mutation.Mutator = mutation.plain) -> Target:
    return Target(partial(checked, partial(check, *arguments) if arguments else check), mutate)


TARGETS: dict[str, Target] = {
    "aggregator": target(read_state, None, mutate=mutation.sealed),
    "survey_state": target(read_state, None, mutate=mutation.sealed),
    "sequential": target(read_state, Sequential, mutate=mutation.sealed),
    "gaussian_mean": target(read_state, GaussianMean, mutate=mutation.sealed),
    "query": target(read_query, mutate=mutation.json_text),
    "description": target(read_description, mutate=mutation.json_text),
    "survey_toml": target(read_toml, mutate=mutation.toml),
    "messages": target(read_messages),
    "survey_messages": target(read_survey_messages),
    "reports_arrow": target(read_reports, mutate=mutation.arrow_stream),
    "reports_parquet": target(aggregate_file, mutate=mutation.parquet),
    "csv": target(read_table, ".csv", ("x", "c"), mutate=mutation.csv),
    "csv_gz": target(read_table, ".csv.gz", ("x",), mutate=mutation.csv_gz),
    "jsonl": target(read_table, ".jsonl", ("x", "c"), mutate=mutation.json_lines),
    "parquet": target(read_table, ".parquet", ("x", "c"), mutate=mutation.parquet),
    "feather": target(read_table, ".feather", ("x", "c"), mutate=mutation.feather),
    "npy": target(read_table, ".npy", ("x", "0", None), mutate=mutation.npy),
}
