"""Make the inputs of `tests/fuzz/corpus` that start with "valid-", by the public API. Run it after a change of a format.

    python -m tests.fuzz.make_corpus

Inputs that start with "found-" were found by the fuzzer and are kept as they are.
"""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import ldpfast as ldp
from ldpfast.domains import Sets, Strings, Tuples
from ldpfast.estimation import GaussianMean, HistogramDensity, RangeQueries, SeriesDensity, SparseMean, TruncatedMean
from ldpfast.survey import Repeated, YesNo

from . import mutation, targets
from .targets import PROTOCOLS, QUESTIONS, SURVEY

CORPUS = Path(__file__).parent / "corpus"
PEOPLE = {
    "age": [20.0, None, 70.0, 45.0],
    "smoker": [True, False, None, True],
    "region": ["north", None, "south", "north"],
}
TEXT = "x,c\n1.5,yes\n,no\n12,\nNA,yes\n"
TABLE = pa.table({"x": [1.5, None, 12.0, 3.0], "c": ["yes", "no", None, "yes"]})


def records_of(question: Any) -> Any:
    """Return five valid records."""
    if isinstance(question.domain, Strings):
        return ["a", "ab", "b", "", "a"]
    if isinstance(question.domain, Sets):
        return [{0, 4}, set(), {2}, {1, 2, 3}, {0}]
    if isinstance(question.domain, Tuples):
        return np.arange(5 * question.domain.width).reshape(5, -1) % 2
    if question.domain.width:
        return np.linspace(-0.5, 0.5, 5 * question.domain.width).reshape(5, -1)
    if hasattr(question.domain, "labels"):
        return ["never", "often", "often", "never", "often"]
    return np.arange(5) % 2 if not question.domain.clips else np.linspace(0, 1, 5)


def reports_of(question: Any) -> Any:
    return question.privatize(records_of(question), rng=1)


def npy(array: Any) -> bytes:
    sink = io.BytesIO()
    np.save(sink, array)
    return sink.getvalue()


def protocol(name: str) -> Any:
    """Return a protocol after twenty answers."""
    server = PROTOCOLS[name]()
    x = np.linspace(0, 1, 20)
    if name in ("median", "spacing"):
        server.run(x, rng=1)
    elif name == "descent":
        server.run(np.column_stack([x, 1 - x]), x, rng=1)
    else:
        server.run(x[:, None], x > 0.5, rng=1)
    return server


def gaussian(rounds: int, closed: bool) -> GaussianMean:
    """Return a server of a normal mean, with the answers of ten people to each group of its open round."""
    server = GaussianMean(1.0, sigma=1.0, mu_bound=2.0, rounds=rounds, n=2000)
    x = np.random.default_rng(1).normal(size=2000)
    for group in range(server.groups):
        query = server.query(group)
        server.update(query, query.privatize(x[group :: server.groups], rng=group))
    if closed:
        server.close_round()
    return server


def contents() -> dict[str, dict[str, bytes]]:
    """Return the inputs of each target by their names."""
    survey_reports = SURVEY.privatize(pa.table(PEOPLE), rng=1)
    clients = [
        SURVEY.client(bytes(32), i).answer({name: values[i] for name, values in PEOPLE.items()}) for i in range(4)
    ]
    repeated = Repeated(YesNo(optional=True), permanent=3.0, round=1.0, rounds=30)
    queries = {name: PROTOCOLS[name]().query().to_bytes() for name in PROTOCOLS}
    described = {
        **QUESTIONS,
        "survey": SURVEY,
        "repeated": repeated,
        "protocol": PROTOCOLS["descent"](),
        **{name: PROTOCOLS[name]() for name in ("spacing", "newton")},
        "series": SeriesDensity(1.0, n=1000),
        "truncated": TruncatedMean(1.0, moment=2.0, radius=1.0, n=1000, method=3.0),
        "bins": HistogramDensity(1.0, n=1000),
        "ranges": RangeQueries(16, 1.0),
        "sparse": SparseMean(3, 1.0, radius=1.0),
    }
    tables = {name: QUESTIONS[name].to_arrow(reports_of(QUESTIONS[name])) for name in ("k-ary", "linf", "l2", "labels")}
    records = np.array([(1.5, 1), (2.5, 0)], [("x", "f8"), ("c", "i4")])
    counted = {name: q.aggregator().update(reports_of(q), batch="one") for name, q in QUESTIONS.items()}
    return {
        "aggregator": {
            **{name: state.to_bytes() for name, state in counted.items()},
            "round": repeated.in_round(3).aggregator().to_bytes(),
            "packed": ldp.RandomizedResponse(10_000, 9.0).collect([5, 5, 9_000], rng=1).to_bytes(),
        },
        "survey_state": {
            "counted": SURVEY.aggregator().update(survey_reports, batch="one").to_bytes(),
            "empty": SURVEY.aggregator().to_bytes(),
        },
        "sequential": {name: protocol(name).to_bytes() for name in PROTOCOLS},
        "gaussian_mean": {"one": gaussian(1, False).to_bytes(), "two": gaussian(2, True).to_bytes()},
        "query": {**queries, **{name: ldp.Query(7, QUESTIONS[name]).to_bytes() for name in ("k-ary", "unary", "linf")}},
        "description": {name: json.dumps(thing.to_dict()).encode() for name, thing in described.items()},
        "survey_toml": {"survey": SURVEY.to_toml().encode()},
        "messages": {
            name: b"".join(QUESTIONS[name].message(report) for report in reports_of(QUESTIONS[name]))
            for name in QUESTIONS
        },
        "survey_messages": {"clients": targets.join(clients), "one": targets.join(clients[:1])},
        "reports_arrow": {
            **{name: mutation.stream_of(table) for name, table in tables.items()},
            "survey": mutation.stream_of(survey_reports),
        },
        "reports_parquet": {"survey": mutation.parquet_of(survey_reports)},
        "csv": {"table": TEXT.encode(), "quoted": b'\xef\xbb\xbfc,x\r\n"yes","1"\r\n no ,"2\n"\r\n'},
        "csv_gz": {"table": gzip.compress(TEXT.encode(), mtime=0)},
        "jsonl": {"table": b'{"x": 1.5, "c": "yes"}\n{"x": null, "c": "no"}\n\n{"c": "yes", "x": 3}\n'},
        "parquet": {"table": mutation.parquet_of(TABLE)},
        "feather": {"table": mutation.feather_of(TABLE)},
        "npy": {
            "numbers": npy(np.array([1.0, 2.5, 9.0])),
            "columns": npy(np.ones((3, 2), "i2")),
            "records": npy(records),
        },
    }


def main() -> None:
    for name, inputs in contents().items():
        folder = CORPUS / name
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("valid-*"):
            old.unlink()
        for label, data in inputs.items():
            (folder / f"valid-{label}").write_bytes(data)
        print(f"{name}: {len(inputs)} inputs, {sum(map(len, inputs.values()))} bytes")


if __name__ == "__main__":
    main()
