"""Time a survey of a billion people on one machine: ``python benchmarks/scale.py --people 1e9``.

Ten questions and two two-way tables share one epsilon. Records are drawn block by block, so that memory does not depend on
the number of people. ``--engine dask`` and ``--engine spark`` run the same job on an engine; ``--json`` stores the figures, and
``--plot docs/scale_out.png`` draws the throughput for the figures in some files. With ``--files FOLDER`` the records come from
Parquet files, which are written first if there is no such folder; the second of two runs counts, when the workers are there.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import ldpfast as ldp
from ldpfast.survey import Choice, Cross, Histogram, Mean, Survey, YesNo

BLOCK = 1 << 18  # people whose records are in memory together, for each worker
PARTITION = 1 << 23  # people of one task of an engine
FILE = 1 << 22  # people of a Parquet file, with four row groups
CONFIDENCE = 0.999
SURVEY = Survey(
    {
        "smokes": YesNo(),
        "owns a car": YesNo(),
        "voted": YesNo(),
        "region": Choice(4),
        "health": Choice(8),
        "job": Choice(16),
        "age": Mean(0, 255),
        "hours": Mean(0, 255),
        "income": Histogram(range(0, 257, 32)),
        "weight": Histogram(range(0, 257, 16)),
        "smokes by region": Cross("smokes", "region"),
        "car by health": Cross("owns a car", "health"),
    },
    epsilon=2.0,
)


def people(n: int, seed: int) -> dict[str, Any]:
    """Return the records of n people. Smoking depends on the region, and owning a car on health."""
    drawn = np.random.Generator(np.random.SFC64(seed)).integers(0, 256, (10, n), np.uint8)
    region, health = drawn[0] & 3, drawn[1] & 7
    return {
        "region": region,
        "health": health,
        "smokes": drawn[2] < 32 + 32 * region,
        "owns a car": drawn[3] < 16 + 16 * health,
        "voted": drawn[4] < 192,
        "job": drawn[5] & 15,
        **dict(zip(("age", "hours", "income", "weight"), drawn[6:], strict=True)),
    }


def truth() -> dict[str, Any]:
    """Return the expected answers."""
    smokes, car = (32 + 32 * np.arange(4)) / 256, (16 + 16 * np.arange(8)) / 256
    return {
        "smokes": smokes.mean(),
        "owns a car": car.mean(),
        "voted": 0.75,
        "region": np.full(4, 1 / 4),
        "health": np.full(8, 1 / 8),
        "job": np.full(16, 1 / 16),
        "age": 127.5,
        "hours": 127.5,
        "income": np.full(8, 1 / 8),
        "weight": np.full(16, 1 / 16),
        "smokes by region": np.stack([1 - smokes, smokes]) / 4,
        "car by health": np.stack([1 - car, car]) / 8,
    }


def is_correct(result: Any) -> bool:
    """Return whether the simultaneous intervals contain all expected answers."""
    found = []
    for name, value in truth().items():
        low, high = result[name].interval(CONFIDENCE, simultaneous=True)
        found.append(
            np.all((low <= np.ravel(value).reshape(np.shape(low))) & (np.ravel(value).reshape(np.shape(low)) <= high))
        )
    return all(found)


# Engines --------------------------------------------------------------------------------------------------------------


def blocks(first: int, stop: int) -> Iterator[dict[str, Any]]:
    """Yield the records of people number `first` to `stop`, block by block."""
    for start in range(first, stop, BLOCK):
        yield people(min(BLOCK, stop - start), start)


def part(first: int, stop: int) -> Any:
    """Return the aggregator of consecutive people."""
    total = SURVEY.aggregator()
    for block in blocks(first, stop):
        total.merge(SURVEY.collect(block))
    return total


def with_threads(n: int, workers: int) -> Any:
    """Run the survey in one process."""
    ldp.set_num_threads(1)  # every thread has blocks of its own
    starts = range(0, n, PARTITION)
    total = SURVEY.aggregator()
    with ThreadPoolExecutor(workers) as pool:
        for found in pool.map(lambda start: part(start, min(n, start + PARTITION)), starts):
            total.merge(found)
    return total


@contextmanager
def dask_workers(workers: int) -> Iterator[None]:
    """Start a local Dask cluster and make its client the current one."""
    from dask.distributed import Client, LocalCluster

    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        yield


def with_dask(n: int, workers: int) -> Any:
    """Run the survey on a Dask cluster of this machine."""
    import dask
    import pyarrow as pa

    import ldpfast.dask

    def stream(first: int, stop: int) -> Any:
        schema = pa.table(people(1, 0)).schema
        return Stream(
            lambda: pa.RecordBatchReader.from_batches(schema, map(pa.RecordBatch.from_pydict, blocks(first, stop)))
        )

    with dask_workers(workers):
        begin = time.perf_counter()
        parts = [dask.delayed(stream, pure=False)(start, min(n, start + PARTITION)) for start in range(0, n, PARTITION)]
        found = ldpfast.dask.aggregate(parts, SURVEY)
        found.seconds = time.perf_counter() - begin
    return found


class Stream:
    """Records that are drawn while they are read, as a table that exports an Arrow stream."""

    def __init__(self, reader: Callable[[], Any]) -> None:
        self._reader = reader

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._reader().__arrow_c_stream__(requested_schema)


def spark_session(workers: int) -> Any:
    """Start Spark on this machine."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(f"local[{workers}]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", str(BLOCK))
    spark = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.memory", "512m").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def with_spark(n: int, workers: int) -> Any:
    """Run the survey on Spark on this machine."""
    import ldpfast.spark

    spark = spark_session(workers)
    begin = time.perf_counter()
    found = ldpfast.spark.aggregate(spark_people(spark, n), SURVEY)
    found.seconds = time.perf_counter() - begin
    spark.stop()
    return found


def spark_people(spark: Any, n: int) -> Any:
    """Return the records of n people, which Spark draws itself: rows that Python draws would be converted twice."""
    from pyspark.sql import functions as f

    def below(k: int, seed: int) -> Any:
        return f.floor(f.rand(seed) * k).cast("short")

    drawn = spark.range(0, n, 1, -(-n // PARTITION)).select(below(4, 0).alias("region"), below(8, 1).alias("health"))
    return drawn.select(
        "*",
        (f.rand(2) < (32 + 32 * f.col("region")) / 256).alias("smokes"),
        (f.rand(3) < (16 + 16 * f.col("health")) / 256).alias("owns a car"),
        (f.rand(4) < 192 / 256).alias("voted"),
        below(16, 5).alias("job"),
        *(below(256, 6 + i).alias(name) for i, name in enumerate(("age", "hours", "income", "weight"))),
    )


ENGINES: dict[str, Callable[[int, int], Any]] = {"threads": with_threads, "dask": with_dask, "spark": with_spark}


def write_files(folder: Path, n: int) -> None:
    """Write the records of n people as Parquet files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True)
    for number, start in enumerate(range(0, n, FILE)):
        pq.write_table(
            pa.table(people(min(FILE, n - start), number)), folder / f"{number:04}.parquet", row_group_size=FILE // 4
        )


def of_files(engine: str, folder: Path, workers: int) -> Any:
    """Run the survey on the records of a folder, twice; return the second aggregator."""
    with ExitStack() as stack:
        if engine == "threads":
            from ldpfast.files import FileTable

            ldp.set_num_threads(workers)
            paths = sorted(folder.glob("*.parquet"))

            def run() -> Any:
                return SURVEY.collect(FileTable(paths, SURVEY.column_questions))
        elif engine == "dask":
            import dask.dataframe as dd

            import ldpfast.dask

            stack.enter_context(dask_workers(workers))

            def run() -> Any:
                return ldpfast.dask.aggregate(dd.read_parquet(folder), SURVEY)
        else:
            import ldpfast.spark

            stack.callback(spark_session(workers).stop)

            def run() -> Any:
                return ldpfast.spark.aggregate(str(folder), SURVEY)

        run()
        begin = time.perf_counter()
        found = run()
        found.seconds = time.perf_counter() - begin
    return found


# Figures --------------------------------------------------------------------------------------------------------------


def memory() -> float:
    """Return the largest memory of this process and of its largest child process, in GB."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(resource.getrusage(kind).ru_maxrss for kind in kinds) * 1024 / 1e9


def measure(engine: str, n: int, workers: int, folder: Path | None) -> dict[str, Any]:
    """Run the survey and return its figures."""
    if folder is not None and not folder.exists():
        write_files(folder, n)
    begin = time.perf_counter()
    aggregator = ENGINES[engine](n, workers) if folder is None else of_files(engine, folder, workers)
    whole = time.perf_counter() - begin
    seconds = getattr(aggregator, "seconds", whole)  # without the start of the engine
    result = aggregator.estimate()
    return {
        "engine": engine,
        "workers": workers,
        "people": n,
        "seconds": round(seconds, 2),
        "start": round(whole - seconds, 2),
        "people per second": round(n / seconds),
        "memory in GB": round(memory(), 2),
        "correct": bool(is_correct(result) and aggregator.n == n),
    }


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw the throughput against the number of workers."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    axes = figure.add_subplot()
    names = {"threads": "one process, threads", "dask": "Dask, processes", "spark": "Spark, local"}
    for (engine, label), marker in zip(names.items(), "os^", strict=True):
        own = sorted((row["workers"], row["people per second"] / 1e6) for row in rows if row["engine"] == engine)
        if own:
            axes.plot(*zip(*own, strict=True), marker=marker, label=label)
    axes.set_xticks(sorted({row["workers"] for row in rows}))
    axes.set_xlabel("number of workers")
    axes.set_ylabel("throughput (million people per second)")
    axes.set_yscale("log")
    axes.set_ylim(1, 200)
    axes.set_yticks([1, 3, 10, 30, 100], labels=["1", "3", "10", "30", "100"])
    axes.minorticks_off()
    axes.margins(x=0.2)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, loc="center")
    FigureCanvasAgg(figure).print_png(str(path))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=float, default=1e8)
    parser.add_argument("--engine", choices=ENGINES, default="threads")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--files",
        type=Path,
        metavar="FOLDER",
        help="folder of Parquet files, written if it does not exist",
    )
    parser.add_argument("--json", type=Path, help="add the figures to this file")
    parser.add_argument("--plot", type=Path, help="draw the figures of --json instead of measuring")
    options = parser.parse_args()
    rows = json.loads(options.json.read_text()) if options.json and options.json.exists() else []
    if options.plot:
        draw(rows, options.plot)
        return 0
    found = measure(options.engine, int(options.people), options.workers, options.files)
    for name, value in found.items():
        print(f"{name:18} {value if isinstance(value, bool | str) else format(value, ',')}")
    if options.json:
        options.json.write_text(json.dumps([*rows, found], indent=1) + "\n")
    return 0 if found["correct"] else 1


if __name__ == "__main__":
    sys.exit(main())
