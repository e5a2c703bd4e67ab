"""A study that is simulated in one process from a seed: servers, the device of a person with a ledger, and what goes wrong.

The scheduler draws what happens next: messages that arrive, late, again or in another order; work of the thread of a server;
clocks that jump; full disks; crashes between two calls; servers that are started again, with other versions of the survey.
`Truth` knows what must be true after each step. Everything is drawn from the seed, and the program under test runs in the same
thread, so a seed always does the same.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import sqlalchemy as sa

from ldpfast.reports import recipe_of
from ldpfast.survey import Ledger

from .aggregation import counted_of
from .fault_injection import Crash, Process
from .internals.server import Receiver, ServerPlan, Store, UnavailableError, server_receiver
from .simulated_servers import Pause, Server, SimulationSetup
from .study_truth import (
    BAD_GROUP,
    BAD_VALUE,
    CALENDAR,
    DEVICE,
    GROUPS,
    HOUR,
    OPTIONS,
    WAVES,
    WEEK,
    Message,
    Truth,
    occasions,
    versions,
)


class Study:
    """A study from a seed, on a machine and a device that are prepared.

    Parameters
    ----------
    setup : SimulationSetup
        What all seeds share.
    seed : int
    after_statement : callable, optional
        A defect of statements; see `Faults`.
    """

    def __init__(self, setup: SimulationSetup, seed: int, after_statement: Callable[[Any, str], None] | None) -> None:
        self._setup, self._rng = setup, random.Random(seed)
        rng, self._truth = self._rng, Truth()
        self._faults = setup.faults
        self._faults.rng, self._faults.after_statement = rng, after_statement
        self._machine, self._disk = setup.machine, setup.disk
        self._machine.is_full = False
        self._has_calendar = rng.random() < 0.6
        self._is_done = False  # faults are over
        self._servers = setup.servers[: rng.choice([1, 1, 2])]
        revisions = rng.choice([1, 2, 2])
        for server in setup.servers:
            server.revisions = revisions
            server.seconds = server.step_seconds = 0.0
        self._now = float(CALENDAR.opens(1) + rng.randrange(-HOUR, WEEK))
        self._pool: list[Message] = []
        self._cells: Counter[tuple[bytes, str]] = Counter()
        self._released: dict[int | None, tuple[int, bytes]] = {}
        self._losses: dict[tuple[int | None, bytes], float] = {}
        for _ in range(rng.randrange(4, 10)):
            self._add_message()
        self._faults.actions = {
            "kill": self._kill,
            "power": self._fail_power,
            "full": self._machine.fail,
            "locked": self._machine.lock,
            "device full": self._disk.fail,
            "interlude": self._interlude,
        }

    # What happens -----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Let everything happen, and check what must be true after each step."""
        rng = self._rng
        self._machine.write_files([None, None] if rng.random() < 0.1 else [self._setup.template, None])
        self._disk.clear()
        steps: list[Callable[[], None]] = [self._send, self._send, self._work, self._work]
        others = [self._move_clock, self._start, self._answer, self._fill_disk, self._use_command, self._cut_line]
        others += [self._pass_the_end] * 2 * self._has_calendar
        steps += rng.sample(others, rng.randrange(1, 5))
        try:
            for _ in range(rng.randrange(2, 8)):
                step = rng.choice(steps)
                if rng.random() < 0.5:
                    self._plan_fault(step)
                self._guarded(step)
                self._faults.clear()
            self._end()
        finally:
            for server in self._setup.servers:
                self._drop(server)

    def _plan_fault(self, step: Callable[[], None]) -> None:
        rng = self._rng
        if step == self._answer:
            self._faults.plan(rng.choice(["kill", "power", "device full"]), rng.randrange(12))
        else:
            name = rng.choice(["kill", "power", "full", "locked", "interlude", "interlude"])
            where = rng.choice(["", "", "commit", "after commit"]) if name in ("kill", "power") else ""
            where = rng.choice(["", "commit"]) if name == "full" else where
            self._faults.plan(name, min(rng.randrange(40), rng.randrange(40)), where)

    def _guarded(self, step: Callable[[], None]) -> None:
        """Make a step, and clear up after a crash."""
        with self._disk:
            with suppress(Crash):
                step()
            self._bury()
        self._check_device()
        if self._machine.has_changed():
            self._truth.check_numbers(self._setup.numbers())

    def _bury(self) -> None:
        """Remove what is left of processes that have crashed."""
        dead = [server for server in self._setup.servers if server.is_dead]
        for server in dead:
            self._drop(server)
        if dead:
            self._machine.restore()
        self._setup.device.is_dead = False

    def _drop(self, server: Server) -> None:
        """Lose what a process has in memory, its connections, and the requests that it has not answered."""
        for task, messages in server.requests:
            task.cancel()
            self._truth.lose(messages)
        if server.requests:
            self._setup.turn()
        server.requests = []
        if server.store is not None:
            server.store.close()
        for engine in self._setup.engines.get(server.name, ()):
            engine.dispose()
        self._machine.disconnect(server)
        server.store = server.receiver = server.schedule = None
        server.is_dead = False

    def _kill(self, process: Process, call: str, connection: Any) -> bool:
        process.is_dead = True
        self._maybe_answer(process)
        raise Crash

    def _fail_power(self, process: Process, call: str, connection: Any) -> bool:
        if process is self._setup.device:
            self._disk.fail_power(self._rng)
            process.is_dead = True
            raise Crash
        self._machine.keep_files()
        for server in self._setup.servers:
            server.is_dead = True
        self._maybe_answer(process)
        raise Crash

    def _maybe_answer(self, process: Process) -> None:
        """Send the answers that are ready: the loop of events runs while the thread writes."""
        if isinstance(process, Server) and self._rng.random() < 0.5:
            self._take_answers(process)

    def _interlude(self, process: Process, call: str, connection: Any) -> bool:
        """Let another process do something between two statements, if no transaction keeps it from that."""
        if self._machine.writers or not isinstance(process, Server) or call == "after commit":
            return False
        others = [server for server in self._servers if server is not process and server.store is not None]
        try:
            if others and self._rng.random() < 0.7:
                other = self._rng.choice(others)
                self._rng.choice([self._work_of, self._send_to])(other)
            elif process.receiver is not None:
                self._send_to(process)
        except Crash:
            if process.is_dead:
                raise
        return True

    # Steps ------------------------------------------------------------------------------------------------------------

    def _running(self) -> list[Server]:
        return [server for server in self._servers if server.receiver is not None]

    def _any_server(self) -> Server:
        """Return a server that runs; one is started if there is none."""
        if not self._running():
            self._start_one(self._rng.choice(self._servers))
        return self._rng.choice(self._running() or self._servers)

    def _send(self) -> None:
        server = self._any_server()
        if server.receiver is not None:
            self._send_to(server)
            if self._rng.random() < 0.6:
                self._work_of(server)

    def _send_to(self, server: Server) -> None:
        """Let requests arrive together: messages in any order, also again."""
        rng, receiver = self._rng, server.receiver
        if receiver is None:
            return
        for _ in range(rng.choice([1, 1, 2])):
            messages = rng.choices(self._pool, k=rng.randrange(1, 5))
            self._truth.send(messages)
            server.requests.append((self._setup.submit(receiver, messages), messages))
        self._setup.turn()
        self._take_answers(server)

    def _work(self) -> None:
        self._work_of(self._any_server())

    def _work_of(self, server: Server, rounds: int = 1, is_late: bool | None = None) -> None:
        """Let the thread of a server do something, and the server answer."""
        receiver = server.receiver
        if receiver is None:
            return
        is_late = self._rng.random() < 0.3 if is_late is None else is_late
        server.step_seconds = 2 * server_receiver.FOLD_SECONDS if is_late else 0.0
        receiver._jobs.rounds = rounds
        with suppress(Pause):
            receiver._thread.run()
        self._take_answers(server)

    def _take_answers(self, server: Server) -> None:
        """Check the answers that a server has sent."""
        self._setup.turn()
        waiting = []
        for task, messages in server.requests:
            if not task.done():
                waiting.append((task, messages))
            elif isinstance(task.exception(), UnavailableError):
                self._truth.fail(messages)
            else:
                is_closed = server.schedule is None or not server.schedule._failure
                self._truth.answer(messages, task.result(), is_closed)
        server.requests = waiting

    def _cut_line(self) -> None:
        """Let clients go without their answers."""
        for server in self._servers:
            for task, messages in server.requests:
                task.cancel()
                self._truth.lose(messages)
            server.requests = []

    def _move_clock(self) -> None:
        choices = [HOUR, WEEK // 2, WEEK, 2 * WEEK, -HOUR, -WEEK // 2, -WEEK]
        self._now += self._rng.choice(choices) * self._rng.random()
        if self._rng.random() < 0.3:  # to about the end of a wave
            self._now = CALENDAR.closes(self._rng.randrange(1, WAVES)) + 12 * HOUR + self._rng.choice([-1, 0, 1])

    def _pass_the_end(self) -> None:
        """Let messages arrive about the end of a wave, while the clock is set back across it."""
        before, end = self._now, CALENDAR.closes(self._rng.randrange(1, WAVES + 1)) + 12 * HOUR
        server = self._any_server()
        for self._now in (end, before):
            self._send_to(server)
            if self._rng.random() < 0.5:
                self._work_of(server)

    def _fill_disk(self) -> None:
        self._machine.is_full = not self._machine.is_full

    def _start(self) -> None:
        """Stop a server in good order, or let it crash, and start it again, perhaps with another version."""
        server = self._rng.choice(self._servers)
        if self._rng.random() < 0.5:
            self._stop(server)
        self._drop(server)
        self._start_one(server, self._rng.choice([server.revisions, 2]))

    def _stop(self, server: Server) -> None:
        if server.receiver is not None:
            server.step_seconds = 0.0
            server.receiver.close()
            self._take_answers(server)

    def _plan(self, revisions: int) -> ServerPlan:
        return self._setup.plan(self._has_calendar, revisions, int(self._now))

    def _start_one(self, server: Server, revisions: int | None = None) -> None:
        """Start a server as `create_app` does."""
        server.revisions = revisions or server.revisions
        plan = self._plan(server.revisions)
        try:
            server.store = self._setup.open(server, plan)
            server.store.closed_waves()
            server.store.load()
        except sa.exc.SQLAlchemyError:  # the disk is full
            self._drop(server)
            return
        if plan.calendar is not None:
            server.schedule = server_receiver.WaveSchedule(server.store, plan.calendar, lambda: self._now)
            server.schedule.advance()
        self._setup.current = server
        server.receiver = Receiver(server.store, True, server.schedule)

    def _use_command(self) -> None:
        """Let the operator fold, or close what is asked without a calendar, beside the server."""
        operator = self._setup.operator
        try:
            operator.store = self._setup.open(operator, self._plan(2))
            operator.store.fold()
            if not self._has_calendar and self._rng.random() < 0.3:
                operator.store.close_waves()
        except sa.exc.SQLAlchemyError:
            pass
        finally:
            if not operator.is_dead:
                self._drop(operator)

    # The device -------------------------------------------------------------------------------------------------------

    def _answer(self) -> None:
        """Let the person with a ledger answer, perhaps several times."""
        for _ in range(self._rng.randrange(1, 4)):
            self._answer_once()

    def _answer_once(self) -> None:
        version = self._rng.randrange(2)
        asked = versions(self._has_calendar)[version]
        wave = self._rng.randrange(1, WAVES + 1) if self._has_calendar else None
        try:
            client = asked.client(ledger=Ledger(self._setup.ledger))
            report = client.report({"q": str(self._rng.randrange(OPTIONS)), "r": "yes"}, wave=wave)
        except OSError:  # the disk is full
            return
        except ValueError:  # another version was answered in this wave; `_check_device` finds a damaged ledger
            return
        released = self._released.setdefault(wave if self._has_calendar else version, (version, report.message))
        assert released == (version, report.message), f"a second report of wave {wave} is released"
        occasion = occasions(self._has_calendar)[version][0 if wave is None else wave - 1]
        question, symbol = int.from_bytes(report.message[9:11], "little"), report.message[11]
        self._losses[wave, report.message[9:]] = recipe_of(occasion.survey).loss_of_report(question)
        cell = question, symbol
        made = Message(occasion.key, occasion.fingerprint, DEVICE, report.id, report.message, cell)
        self._truth.add(made)
        if made not in self._pool:
            self._pool.append(made)

    def _check_device(self) -> None:
        """Check that the ledger can be read, and knows what was released."""
        if self._setup.ledger.exists():
            spent, released = Ledger(self._setup.ledger).loss, sum(self._losses.values())
            assert spent >= released, f"the ledger has spent {spent}, and {released} is released"
        else:
            assert not self._released, "the ledger is lost"

    # Messages ---------------------------------------------------------------------------------------------------------

    def _add_message(self) -> None:
        """Add a message of a person: a new one, another one with the same id, or one that is refused."""
        rng = self._rng
        valid = [one for one in self._pool if not one.fault]
        other = rng.choice(valid) if valid and rng.random() < 0.25 else None
        by_version = occasions(self._has_calendar)
        if other is None:
            wave = min(rng.randrange(4), rng.randrange(4)) % len(by_version[0])
        else:  # the same wave, perhaps in the other version
            wave = next(i for i in range(len(by_version[0])) for own in by_version if own[i].key == other.key)
        version = by_version[rng.choice([0, 0, 1])]
        occasion, group = version[wave], rng.choice(GROUPS[:2])
        place = occasion.fingerprint, group
        symbol = self._cells[place]
        self._cells[place] += 1
        head = recipe_of(occasion.survey).head
        is_same = other is not None and occasion.key == other.key
        id_ = other.id if is_same and other is not None else rng.randbytes(16)
        fault = rng.choice([BAD_VALUE, BAD_GROUP]) if other is None and rng.random() < 0.1 else ""
        shown = OPTIONS + 1 if fault == BAD_VALUE else symbol
        data = head + b"\0\0" + bytes([shown])
        made = Message(occasion.key, *place, id_, data, (0, symbol), fault)
        self._truth.add(made)
        self._pool.append(made)

    # The end ----------------------------------------------------------------------------------------------------------

    def _end(self) -> None:
        """Let all faults end: every message is answered then, and the counts are those of the messages."""
        self._machine.is_full = False
        self._guarded(self._finish)
        waiting = [server.name for server in self._servers if server.requests]
        assert not waiting, f"requests to {waiting} are not answered"

    def _finish(self) -> None:
        server = self._servers[0]
        for one in self._servers[1:]:
            self._stop(one)
            self._drop(one)
        if server.receiver is None or server.revisions < 2 or self._rng.random() < 0.1:
            if self._rng.random() < 0.5:
                self._stop(server)
            self._drop(server)
            self._start_one(server, 2)
        assert server.receiver is not None
        assert server.store is not None
        if self._rng.random() < 0.3:
            self._check_counts(server.store)
        if self._pool:
            self._truth.send(self._pool)
            server.requests.append((self._setup.submit(server.receiver, self._pool), list(self._pool)))
            self._setup.turn()
            for _ in range(20):
                if server.requests:
                    self._work_of(server)
        self._check_counts(server.store)

    def _check_counts(self, store: Store) -> None:
        counts: dict[tuple[bytes, str, tuple[int, int]], int] = {}
        for fingerprint in {message.fingerprint: None for message in self._pool}:
            for group, aggregator in store.counts(fingerprint).items():
                for question, cells in enumerate(counted_of(aggregator).states[2:]):
                    for symbol, count in enumerate(cells.tolist()):
                        if count:
                            counts[fingerprint, group, (question, symbol)] = count
        is_quiet = all(server.receiver is None or not server.receiver.waiting for server in self._servers)
        self._truth.check_counts(counts, is_quiet)


def run_seed(setup: SimulationSetup, seed: int, after_statement: Callable[[Any, str], None] | None = None) -> None:
    """Run the study of a seed."""
    Study(setup, seed, after_statement).run()
