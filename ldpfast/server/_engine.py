"""Databases of servers, and the statements in which SQLite and PostgreSQL differ."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa

BUSY_SECONDS = 30
# Of the write-ahead log, 80 MB: pages that many commits change are copied once, by rare checkpoints.
LOG_PAGES = 20_000
SET_UP = 0x6C647066617374  # number of the lock of PostgreSQL for processes that start on one database


def engines_of(url: str, setup: Sequence[str]) -> tuple[sa.Engine, sa.Engine]:
    """Return the engines for writing, whose commits are on the disk when they return, and for reading.

    They are the same for PostgreSQL. The engine that writes to SQLite has one connection, on which the statements of `setup`
    have been executed.
    """
    parsed = sa.make_url(url)
    name = parsed.get_backend_name()
    if name not in ("sqlite", "postgresql"):
        raise ValueError(f"url must be of SQLite or PostgreSQL, got {name!r}")
    if name == "postgresql":
        engine = sa.create_engine(parsed, pool_pre_ping=True, hide_parameters=True)  # errors are logged

        @sa.event.listens_for(engine, "connect")
        def _on_disk(connection: Any, _: Any) -> None:
            with connection.cursor() as cursor:
                cursor.execute("SET synchronous_commit = on")
            connection.commit()

        return engine, engine
    if parsed.database in (None, "", ":memory:"):
        raise ValueError(f"url must name a file, got {url!r}: reports in memory would be lost")
    # A transaction that reads first could not write after another process has.
    one = {"pool_size": 1, "max_overflow": 0, "pool_timeout": BUSY_SECONDS}
    return _sqlite(parsed, "BEGIN IMMEDIATE", setup, **one), _sqlite(parsed, "BEGIN")


def _sqlite(url: sa.URL, begin: str, setup: Sequence[str] = (), **options: Any) -> sa.Engine:
    """Return an engine whose transactions begin with a statement."""
    arguments = {"timeout": BUSY_SECONDS, "check_same_thread": False}
    engine = sa.create_engine(url, connect_args=arguments, hide_parameters=True, **options)

    @sa.event.listens_for(engine, "do_connect")
    def _private(_: Any, __: Any, arguments: Any, options: Any) -> None:
        # Nobody else may read a new file, whatever the umask is; its log gets the same mode. SQLite reports what fails here.
        if not options.get("uri"):
            with suppress(OSError):
                os.close(os.open(arguments[0], os.O_RDWR | os.O_CREAT, 0o600))

    @sa.event.listens_for(engine, "connect")
    def _settings(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions begin below, and not where the driver sees fit
        cursor = connection.cursor()
        _use_wal(cursor)
        options = ("synchronous = FULL", "secure_delete = ON", f"wal_autocheckpoint = {LOG_PAGES}")
        for statement in (*(f"PRAGMA {option}" for option in options), *setup):
            cursor.execute(statement)
        cursor.close()

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine


def _use_wal(cursor: Any) -> None:
    """Switch a new file to its write-ahead log. SQLite does not wait here for another process that does the same."""
    end = time.monotonic() + BUSY_SECONDS
    while cursor.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(0.01)


def file_of(engine: sa.Engine) -> Path | None:
    """Return the file of a database of SQLite; None for PostgreSQL."""
    return Path(str(engine.url.database)) if engine.dialect.name == "sqlite" else None


def wait_for_turn(connection: sa.Connection) -> None:
    """Let other processes that set up the same database finish first. SQLite has one writer at a time anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(SET_UP)))


def upsert(engine: sa.Engine, table: sa.Table) -> Any:
    """Return an insert statement that can say what happens in a conflict."""
    if engine.dialect.name == "postgresql":
        from sqlalchemy.dialects.postgresql import insert as insert_postgresql

        return insert_postgresql(table)
    from sqlalchemy.dialects.sqlite import insert as insert_sqlite

    return insert_sqlite(table)


class Insert:
    """Inserts many rows by the driver alone. The statement is compiled once.

    Parameters
    ----------
    engine : sqlalchemy.Engine
    statement : sqlalchemy.Insert
    columns : list of sqlalchemy.Column
        Columns of the rows.
    """

    def __init__(self, engine: sa.Engine, statement: Any, columns: Sequence[sa.Column[Any]]) -> None:
        self._names = [column.name for column in columns]
        compiled = statement.compile(dialect=engine.dialect, column_keys=self._names)
        self._text, self._positional = str(compiled), bool(compiled.positional)

    def __call__(self, connection: sa.Connection, rows: Sequence[tuple[Any, ...]]) -> int:
        """Insert rows, and return the number of those that were inserted."""
        given: Any = list(rows)
        if not self._positional:
            given = [dict(zip(self._names, row, strict=True)) for row in rows]
        return int(connection.exec_driver_sql(self._text, given).rowcount)
