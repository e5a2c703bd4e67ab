"""Runs of the command line in this process."""

from __future__ import annotations

import pytest

from ldpfast.cli import main


def error_line(capsys, *arguments: object) -> str:
    """Return the single error line on stderr, without its prefix; check that the status is 2 and stdout is empty."""
    with pytest.raises(SystemExit) as caught:
        main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    assert caught.value.code == 2
    assert out == ""
    assert err.startswith("ldpfast: error: ")
    assert err.count("\n") == 1
    return err.removeprefix("ldpfast: error: ").rstrip()
