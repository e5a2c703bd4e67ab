"""Faults of engines: tasks that kill their process or are slow, and a record of every attempt.

The first attempt of a task is known from a file, which only one process can create.
"""

from __future__ import annotations

import os
import pickle
import random
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4


@dataclass(frozen=True)
class Faults:
    """What happens to the first attempts of tasks.

    Attributes
    ----------
    folder : Path
        Folder for the record of attempts, which all processes can write to.
    killed : frozenset of int
        Partitions whose first attempt kills its process, after it has used its input.
    slow : frozenset of int
        Partitions whose first attempt waits, so that an engine starts a second one.
    executor : bool
        Whether the executor of Spark is killed, instead of its Python worker.
    """

    folder: Path
    killed: frozenset[int] = frozenset()
    slow: frozenset[int] = frozenset()
    executor: bool = False

    def attempted(self, number: int) -> bool:
        """Record an attempt. Return whether it is the first."""
        (self.folder / f"{number}-{uuid4().hex}.attempt").touch()
        try:
            (self.folder / f"{number}.first").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def strike(self, number: int) -> None:
        """Do what is planned for the first attempt of a partition."""
        if self.attempted(number):
            if number in self.slow:
                time.sleep(8)
            if number in self.killed:
                os.kill(_executor() if self.executor else os.getpid(), signal.SIGKILL)
                time.sleep(60)  # until the signal of the executor arrives

    def attempts(self, number: int) -> int:
        """Return how often a partition was attempted."""
        return len(list(self.folder.glob(f"{number}-*.attempt")))

    def total(self) -> int:
        """Return the number of attempts of all partitions."""
        return len(list(self.folder.glob("*.attempt")))

    def keep(self, messages: list[bytes]) -> None:
        """Store the messages that an attempt has written."""
        (self.folder / f"{uuid4().hex}.written").write_bytes(pickle.dumps(messages))

    def written(self) -> list[bytes]:
        """Return the messages that all attempts have written."""
        return [message for path in self.folder.glob("*.written") for message in pickle.loads(path.read_bytes())]


def a_fifth(partitions: int, seed: int) -> frozenset[int]:
    """Return a random fifth of the partitions."""
    return frozenset(random.Random(seed).sample(range(partitions), partitions // 5))


def _parent(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])


def _executor() -> int:
    """Return the process of the executor, whose daemon has started this worker."""
    return _parent(os.getppid())


# Tasks of Spark -------------------------------------------------------------------------------------------------------


def passed_on(faults: Faults, batches: Iterator[Any]) -> Iterator[Any]:
    """Yield the rows of a partition, then strike."""
    from pyspark import TaskContext

    yield from batches
    faults.strike(TaskContext.get().partitionId())


def recorded(faults: Faults, batches: Iterator[Any]) -> Iterator[Any]:
    """Yield the messages of a partition, store them, then strike."""
    from pyspark import TaskContext

    number, messages = TaskContext.get().partitionId(), []
    for batch in batches:
        messages += batch.column("report").to_pylist()
        yield batch
    faults.keep(messages)
    faults.strike(number)


# Tasks of Dask --------------------------------------------------------------------------------------------------------


def loaded(faults: Faults, part: Any, number: int) -> Any:
    """Return a partition. The first attempt may kill the worker before."""
    faults.strike(number)
    return part


def stored(faults: Faults, frame: Any, number: int) -> int:
    """Store the messages of a partition, then strike. Return the number of messages."""
    faults.keep(frame["report"].tolist())
    faults.strike(number)
    return len(frame)
