"""Crashes and errors at chosen calls of a simulated machine: statements and commits of SQLite, and calls for files.

A crash is an exception that no program handles. After it every further call of the process fails, so that no clean-up of
the program can reach the disk.
"""

from __future__ import annotations

import errno
import os
import random
import sqlite3
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from unittest import mock
from weakref import WeakSet

FULL = "database or disk is full"
SMALLEST, LARGEST = 1, 1 << 30  # numbers of pages to which SQLite limits a file, or its present size if that is larger


class Crash(BaseException):
    """The end of a simulated process, and of all processes of its machine if the power fails."""


@dataclass(eq=False)
class Process:
    """A simulated process.

    Attributes
    ----------
    name : str
    is_dead : bool
        Whether it has crashed: its calls fail.
    """

    name: str
    is_dead: bool = False


@dataclass
class Faults:
    """The fault that comes next, at a number of calls from now.

    Attributes
    ----------
    rng : random.Random
    actions : dict
        What happens, by the names of faults: functions of the process, the call and its connection. They return whether the
        fault has happened; if not, it waits for the next call.
    after_statement : callable, optional
        A defect that a test adds to the program: it is called with the cursor after each statement.
    """

    rng: random.Random
    actions: dict[str, Callable[[Process, str, Any], bool]] = field(default_factory=dict)
    after_statement: Callable[[Any, str], None] | None = None
    name: str = ""
    countdown: int = 0
    where: str = ""

    def plan(self, name: str, calls: int, where: str = "") -> None:
        """Let a fault happen after a number of calls, perhaps only at a call of a name, such as "commit"."""
        self.name, self.countdown, self.where = name, calls, where

    def clear(self) -> None:
        """Plan no fault."""
        self.name = ""

    def reach(self, process: Process, call: str, connection: Any = None) -> None:
        """Let the planned fault happen, if it is time, before a call of a process."""
        if process.is_dead:
            raise Crash
        if not self.name:
            return
        self.countdown -= 1
        if self.countdown < 0 and self.where in ("", call):
            name, self.name = self.name, ""
            if not self.actions[name](process, call, connection):
                self.name = name  # at the next call


class _Cursor(sqlite3.Cursor):
    """A cursor whose statements can fail."""

    connection: FaultyConnection

    def execute(self, statement: str, *parameters: Any) -> Self:
        self.connection.begin_statement(statement)
        super().execute(statement, *parameters)
        self.connection.end_statement(self, statement)
        return self

    def executemany(self, statement: str, *parameters: Any) -> Self:
        self.connection.begin_statement(statement)
        super().executemany(statement, *parameters)
        self.connection.end_statement(self, statement)
        return self


class FaultyConnection(sqlite3.Connection):
    """A connection of a process of a machine; `of` makes the class."""

    process: Process
    faults: Faults
    machine: Machine

    @classmethod
    def of(cls, process: Process, machine: Machine) -> type[FaultyConnection]:
        """Return the connections of a process."""
        return type("Connection", (cls,), {"process": process, "faults": machine.faults, "machine": machine})

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.machine.connections.append(self)
        self._cursors: WeakSet[Any] = WeakSet()

    def cursor(self, factory: Any = _Cursor) -> Any:
        found = super().cursor(factory)
        self._cursors.add(found)
        return found

    def begin_statement(self, statement: str) -> None:
        """Let a fault happen before a statement."""
        self.faults.reach(self.process, statement, self)
        if statement.startswith("BEGIN"):
            limit = SMALLEST if self.machine.is_full else LARGEST
            super().cursor().execute(f"PRAGMA max_page_count = {limit}")

    def end_statement(self, cursor: Any, statement: str) -> None:
        """Note who writes, and add the defect of a test."""
        if statement == "BEGIN IMMEDIATE":
            self.machine.writers.add(self)
        if self.faults.after_statement is not None:
            self.faults.after_statement(super().cursor(), statement)

    def commit(self) -> None:
        self.faults.reach(self.process, "commit", self)
        super().commit()
        self.machine.writers.discard(self)
        self.faults.reach(self.process, "after commit", self)

    def rollback(self) -> None:
        super().rollback()
        self.machine.writers.discard(self)

    def close(self) -> None:
        while self._cursors:  # those that objects of a crashed process still hold would keep locks
            self._cursors.pop().close()
        super().close()
        self.machine.writers.discard(self)


class Machine:
    """A machine with one database of SQLite.

    Attributes
    ----------
    faults : Faults
    is_full : bool
        Whether the disk is full: the file of the database cannot grow.
    writers : set of FaultyConnection
        The connection in a transaction that writes, if there is one.
    """

    def __init__(self, faults: Faults, database: Path) -> None:
        self.faults, self.is_full = faults, False
        self.writers: set[FaultyConnection] = set()
        self.connections: list[FaultyConnection] = []
        self._files = [database, database.with_name(database.name + "-wal")]
        self._saved: list[bytes | None] | None = None
        self._stamps: list[tuple[int, int]] = []

    def fail(self, process: Process, call: str, connection: Any) -> bool:
        """Let a statement fail as if the disk was full. SQLite may then have ended the whole transaction."""
        if call == "after commit" or connection is None:
            return False
        if call != "commit" and self.faults.rng.random() < 0.5:
            connection.rollback()
        raise sqlite3.OperationalError(FULL)

    def lock(self, process: Process, call: str, connection: Any) -> bool:
        """Let a transaction find the database locked, after a wait."""
        if call != "BEGIN IMMEDIATE":
            return False
        raise sqlite3.OperationalError("database is locked")

    def disconnect(self, process: Process) -> None:
        """Close the connections of a process that has ended, also those that its objects still hold."""
        for connection in [one for one in self.connections if one.process is process]:
            self.connections.remove(connection)
            connection.close()

    def has_changed(self) -> bool:
        """Return whether something was written since the last call."""
        before, found = self._stamps, map(os.stat, filter(Path.exists, self._files))
        self._stamps = [(one.st_mtime_ns, one.st_size) for one in found]
        return before != self._stamps

    def keep_files(self) -> None:
        """Keep what is on the disk at this moment, for `restore`: connections that are closed change it."""
        self._saved = [path.read_bytes() if path.exists() else None for path in self._files]

    def restore(self) -> None:
        """Put back what was on the disk when the power failed, after all connections are closed."""
        if self._saved is not None:
            self.write_files(self._saved)
        self._saved = None
        self.writers.clear()

    def write_files(self, contents: list[bytes | None]) -> None:
        """Replace the files of the database: itself, and its log."""
        for path, content in zip(self._files, contents, strict=True):
            if content is None:
                path.unlink(missing_ok=True)
            else:
                path.write_bytes(content)
        self._files[0].with_name(self._files[0].name + "-shm").unlink(missing_ok=True)


@dataclass(eq=False)
class _Content:
    """Bytes of a file: all, and what a power failure leaves for certain."""

    written: bytes = b""
    synced: bytes = b""


class _File:
    """A text file whose writes can fail, and reach the file at once."""

    def __init__(self, file: Any, content: _Content, before: Callable[[], None]) -> None:
        self._file, self._content, self._before = file, content, before
        self.flush, self.fileno = file.flush, file.fileno

    def write(self, text: str) -> int:
        self._before()
        self._file.write(text)
        self._file.flush()
        self._content.written += text.encode()
        return len(text)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


class Disk:
    """A folder whose files lose at a power failure what was not synchronized, as on a real disk.

    A content lasts after `fsync` of its file, and a new, renamed or removed name after `fsync` of the folder; the names change
    in the order of the calls. Within ``with``, the functions of `os` are replaced.

    Parameters
    ----------
    folder : Path
    process : Process
        Whose calls can fail.
    faults : Faults
    """

    def __init__(self, folder: Path, process: Process, faults: Faults) -> None:
        self._folder, self._process, self._faults = folder, process, faults
        self._names: dict[str, _Content] = {}
        self._lasting: dict[str, _Content] = {}
        self._changes: list[dict[str, _Content]] = []  # names after each change since the folder was synchronized
        self._open: dict[int, _Content | None] = {}  # None is the folder
        self._real = {name: getattr(os, name) for name in ("open", "close", "fdopen", "fsync", "replace", "unlink")}

    def __enter__(self) -> Self:
        self._patches = ExitStack()
        for name in self._real:
            self._patches.enter_context(mock.patch.object(os, name, getattr(self, f"_{name}_file")))
        return self

    def __exit__(self, *_: object) -> None:
        self._patches.close()

    def clear(self) -> None:
        """Remove all files."""
        for path in self._folder.iterdir():
            path.unlink()
        self._names, self._lasting, self._changes = {}, {}, []

    def fail_power(self, rng: random.Random) -> None:
        """Leave what a power failure leaves: some of the latest changes of names, and any part of other contents."""
        done = rng.randrange(len(self._changes) + 1)
        left = self._changes[done - 1] if done else self._lasting
        self.clear()
        for name, content in left.items():
            if content.written != content.synced:
                content.synced = rng.choice(
                    [content.synced, content.written[: rng.randrange(len(content.written) + 1)]]
                )
            content.written = content.synced
            (self._folder / name).write_bytes(content.synced)
        self._names, self._lasting = dict(left), dict(left)

    def fail(self, process: Process, call: str, connection: Any) -> bool:
        """Let a call for a file fail because the disk is full."""
        if call not in ("open", "write", "fsync", "replace"):
            return False
        raise OSError(errno.ENOSPC, "No space left on device")

    def _is_inside(self, path: Any) -> bool:
        return os.path.dirname(path) == str(self._folder)

    def _change(self, names: dict[str, _Content]) -> None:
        self._names = names
        self._changes.append(names)

    def _open_file(self, path: Any, flags: int, mode: int = 0o777, **options: Any) -> int:
        inside, name = self._is_inside(path), os.path.basename(path)
        if inside and flags & os.O_CREAT:
            self._faults.reach(self._process, "open")
        found = int(self._real["open"](path, flags, mode, **options))
        if inside:
            if flags & os.O_CREAT and name not in self._names:
                self._change({**self._names, name: _Content()})
            self._open[found] = self._names[name]
            if flags & os.O_TRUNC:
                self._names[name].written = b""
        elif str(path) == str(self._folder):
            self._open[found] = None
        return found

    def _close_file(self, number: int) -> None:
        self._open.pop(number, None)
        self._real["close"](number)

    def _fdopen_file(self, number: int, *arguments: Any, **options: Any) -> Any:
        file = self._real["fdopen"](number, *arguments, **options)
        content = self._open.get(number)
        if content is None:
            return file
        return _File(file, content, lambda: self._faults.reach(self._process, "write"))

    def _fsync_file(self, number: int) -> None:
        if number in self._open:
            self._faults.reach(self._process, "fsync")
            content = self._open[number]
            if content is None:
                self._lasting, self._changes = self._names, []
            else:
                content.synced = content.written
        self._real["fsync"](number)

    def _replace_file(self, source: Any, target: Any, **options: Any) -> None:
        if self._is_inside(target):
            self._faults.reach(self._process, "replace")
        self._real["replace"](source, target, **options)
        if self._is_inside(target):
            names = dict(self._names)
            names[os.path.basename(target)] = names.pop(os.path.basename(source))
            self._change(names)

    def _unlink_file(self, path: Any, **options: Any) -> None:
        if self._is_inside(path):
            self._faults.reach(self._process, "unlink")
        self._real["unlink"](path, **options)
        if self._is_inside(path):
            names = dict(self._names)
            names.pop(os.path.basename(path), None)
            self._change(names)
