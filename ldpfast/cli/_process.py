"""The command line as a process: its standard streams, and the signals that end it."""

from __future__ import annotations

import os
import signal
import sys
import threading
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

SECONDS = 3.0  # after which an exception that was lost is raised again
STOP = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


class _Stopped(BaseException):
    """The process was told to end. What handles it removes partial files."""


@contextmanager
def stop_signals(parser: ArgumentParser) -> Iterator[None]:
    """End the process with an exception if it is told to end, so that partial files are removed.

    Signals that are ignored, as under nohup, or have a handler already are left alone. An exception that is lost, because other
    code was called back at that moment, is raised again by a timer.
    """
    stopped = [0]

    def stop(number: int, _: Any) -> None:
        if not stopped[0]:  # a terminal that is closed sends several, which must not disturb the removal
            stopped[0] = number
            if has_timer:
                signal.setitimer(signal.ITIMER_REAL, SECONDS, SECONDS)
            raise _Stopped

    def stop_again(*_: Any) -> None:
        raise _Stopped

    is_main = threading.current_thread() is threading.main_thread()
    installed = [number for number in STOP if is_main and signal.getsignal(number) == signal.SIG_DFL]
    has_timer = bool(installed) and hasattr(signal, "SIGALRM") and signal.getsignal(signal.SIGALRM) == signal.SIG_DFL
    for number in installed:
        signal.signal(number, stop)
    if has_timer:
        signal.signal(signal.SIGALRM, stop_again)
    try:
        yield
    except _Stopped:
        if has_timer:
            signal.setitimer(signal.ITIMER_REAL, 0)
        parser.exit(128 + stopped[0], f"ldpfast: stopped by {signal.Signals(stopped[0]).name}\n")
    finally:
        for number in installed:
            signal.signal(number, signal.SIG_DFL)
        if has_timer:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)


@contextmanager
def standard_streams(parser: ArgumentParser) -> Iterator[None]:
    """Report in one line that the standard output is closed, full or not read, and write what it cannot encode as escapes.

    Otherwise the interpreter finds out when it ends, and prints what it was doing.
    """
    errors = sys.stderr
    if errors is None:  # closed; `print` would write warnings to the standard output
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    try:
        if sys.stdout is None:
            parser.error("the standard output must be open, because results are written to it")
        policy = getattr(sys.stdout, "errors", None)
        if policy == "strict" and hasattr(sys.stdout, "reconfigure"):  # names of files need not be text
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            yield
        except SystemExit as stop:
            _flush(parser, quiet=bool(stop.code))
            raise
        else:
            _flush(parser)
        finally:
            if policy == "strict" and hasattr(sys.stdout, "reconfigure"):
                sys.stdout.reconfigure(errors=policy)
    finally:
        if errors is None:
            sys.stderr.close()
            sys.stderr = errors


def _flush(parser: ArgumentParser, quiet: bool = False) -> None:
    """Write what was printed; if this fails, end with an error, or do nothing if the process ends with one already."""
    try:
        sys.stdout.flush()
    except OSError as error:
        with suppress(OSError, ValueError):  # not to fail again when the interpreter ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not quiet:
            parser.error(f"the standard output could not be written: {error.strerror}")


def one_line(text: str) -> str:
    """Return a text with escapes in place of the characters that cannot be printed, such as line ends in names of files."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
