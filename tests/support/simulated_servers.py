"""Servers in the process of a test: threads, queues, clocks and connections that a scheduler drives, one step at a time."""

from __future__ import annotations

import asyncio
import logging
import queue as queues
import random
import secrets
import sqlite3
import tempfile
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import sqlalchemy as sa

from ldpfast.survey import Survey

from .fault_injection import Disk, Faults, FaultyConnection, Machine, Process
from .internals.server import Outcome, Receiver, ServerPlan, Store, server_receiver, server_store, wire
from .modules import module_of
from .study_truth import BAD_GROUP, CALENDAR, GROUPS, WEEK, Message, versions


class _Thread:
    """The thread of a receiver, which works when the scheduler says so, and goes on to its end when it is waited for."""

    def __init__(self, *, target: Callable[[], None], **_: Any) -> None:
        self.run, self._is_alive = target, True

    def start(self) -> None:
        pass

    def is_alive(self) -> bool:
        return self._is_alive

    def join(self) -> None:
        self.run()
        self._is_alive = False


class Pause(BaseException):
    """The end of what a thread does in one step."""


class _Queue:
    """A queue whose reader pauses after a number of rounds."""

    def __init__(self) -> None:
        self._items: deque[Any] = deque()
        self.rounds = 0

    def put(self, item: Any) -> None:
        self._items.append(item)

    def empty(self) -> bool:
        return not self._items

    def get_nowait(self) -> Any:
        if not self._items:
            raise queues.Empty
        return self._items.popleft()

    def get(self, timeout: float | None) -> Any:
        if timeout != server_receiver.QUIET_SECONDS:  # a round begins
            self.rounds -= 1
            if self.rounds < 0 and None not in self._items:
                raise Pause
        return self.get_nowait()


@dataclass(eq=False)
class Server(Process):
    """A simulated process of `ldpfast serve`, or a command of the operator."""

    store: Store | None = None
    receiver: Receiver | None = None
    schedule: Any = None
    revisions: int = 1
    requests: list[tuple[asyncio.Task[Outcome], list[Message]]] = field(default_factory=list)
    seconds: float = 0.0  # of the monotonic clock
    step_seconds: float = 0.0


class SimulationSetup:
    """What the studies of all seeds share, because it takes long to make: engines, plans, folders.

    Attributes
    ----------
    faults, machine, disk
        See `fault_injection`.
    servers : list of Server
    operator : Server
        The last of them: commands.
    device : Process
        The device of the person with a ledger.
    ledger : Path
    engines : dict
        Engines for writing and for reading, by the name of the process.
    template : bytes
        A database with tables only.
    """

    def __init__(self, folder: Path) -> None:
        (folder / "device").mkdir()
        self.faults = Faults(random.Random(0))
        self._database = folder / "reports.db"
        self.machine = Machine(self.faults, self._database)
        self.servers = [Server("first"), Server("second"), Server("operator")]
        self.operator, self.device = self.servers[-1], Process("device")
        self.ledger = folder / "device" / "ledger"
        self.disk = Disk(folder / "device", self.device, self.faults)
        self.engines: dict[str, tuple[sa.Engine, sa.Engine]] = {}
        self.current = self.servers[0]
        self._loop = asyncio.new_event_loop()
        self._engines_of = server_store.engines_of
        self._plans: dict[Any, ServerPlan] = {}
        self.template = b""

    def prepare(self) -> None:
        """Make the template."""
        for has_calendar in (True, False):
            for server in self.servers:
                self.open(server, self.plan(has_calendar, 1, CALENDAR.opens(1))).close()
        for engine in chain(*self.engines.values()):  # the first connection of an engine asks for more than others
            engine.connect().close()
            engine.dispose()
        self.template = self._database.read_bytes()

    def close(self) -> None:
        """Close everything."""
        self._loop.close()

    def plan(self, has_calendar: bool, revisions: int, now: int) -> ServerPlan:
        """Return a plan for a moment."""
        # What the plan of a moment depends on.
        waves = CALENDAR.wave_at(now), CALENDAR.received(now), CALENDAR.received(now + WEEK), now < CALENDAR.opens(1)
        key = has_calendar, revisions, waves
        if key not in self._plans:
            self._plans[key] = ServerPlan.of(versions(has_calendar)[:revisions], None, GROUPS, now)
        return self._plans[key]

    def open(self, server: Server, plan: ServerPlan) -> Store:
        """Open the database in a process."""
        self.current = server
        return Store(plan, f"sqlite:///{self._database}")

    def engines_of(self, url: str, setup: Any) -> tuple[sa.Engine, sa.Engine]:
        """Return the engines of the process that opens a database; they are made once."""
        server = self.current
        if server.name not in self.engines:
            self.engines[server.name] = self._engines_of(url, setup)
            connections = FaultyConnection.of(server, self.machine)
            for engine in self.engines[server.name]:

                @sa.event.listens_for(engine, "do_connect")
                def _connect(_: Any, __: Any, ___: Any, options: Any) -> None:
                    options["factory"] = connections

        return self.engines[server.name]

    def monotonic(self) -> float:
        """Return the seconds of a monotonic clock, which goes on while the thread of a server works."""
        for server in self.servers:
            server.seconds += server.step_seconds
        return sum(server.seconds for server in self.servers)

    def submit(self, receiver: Receiver, messages: list[Message]) -> asyncio.Task[Outcome]:
        """Let a request arrive."""
        incoming = wire.Incoming()
        for one in messages:
            group = "unknown" if one.fault == BAD_GROUP else one.group
            incoming.add(one.id, one.data, group.encode())
        return self._loop.create_task(receiver.receive(incoming))

    def turn(self) -> None:
        """Let the loop of events do what is ready: a request arrives, is checked, and an answer is sent."""
        for _ in range(4):
            self._loop.call_soon(self._loop.stop)
            self._loop.run_forever()

    def numbers(self) -> dict[tuple[bytes, str], int]:
        """Return the numbers of stored reports, by fingerprint and group."""
        found: Counter[tuple[bytes, str]] = Counter()
        connection = sqlite3.connect(self._database)
        try:
            for statement in NUMBERS:
                for fingerprint, group, n in connection.execute(statement):
                    found[fingerprint, group] += n
        except sqlite3.OperationalError:  # no tables yet
            pass
        connection.close()
        return found


NUMBERS = (
    "SELECT fingerprint, label, n FROM states JOIN surveys USING (survey)",
    "SELECT fingerprint, label, length(data) / size FROM batches JOIN surveys USING (survey)",
)


@contextmanager
def simulation_setup() -> Iterator[SimulationSetup]:
    """Prepare what studies share, and replace threads, queues, clocks and engines of the server."""
    memory = Path("/dev/shm")
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None))
        made = SimulationSetup(Path(folder).resolve())
        fakes = {
            "threading": SimpleNamespace(Thread=_Thread, Lock=server_receiver.threading.Lock),
            "queue": SimpleNamespace(SimpleQueue=_Queue, Empty=queues.Empty),
            "time": SimpleNamespace(monotonic=made.monotonic),
        }
        for name, fake in fakes.items():
            stack.enter_context(mock.patch.object(server_receiver, name, fake))
        stack.enter_context(mock.patch.object(secrets, "token_hex", lambda n: made.faults.rng.randbytes(n).hex()))
        stack.enter_context(mock.patch.object(server_store, "engines_of", made.engines_of))
        for owner, name in ((Survey, "in_wave"), (module_of(server_store.held_surveys), "_described")):
            stack.enter_context(mock.patch.object(owner, name, cache(getattr(owner, name))))
        stack.enter_context(mock.patch.object(server_store, "FOLDED", 3))
        stack.enter_context(mock.patch.object(server_store.LoggedIds, "MOVE_REPORTS", 2))
        stack.enter_context(mock.patch.object(server_store.LoggedIds, "ROUND_REPORTS", 8))
        stack.enter_context(mock.patch.object(logging.getLogger("uvicorn.error"), "disabled", True))
        stack.callback(made.close)
        made.prepare()
        yield made
