"""Integers from the upper bits of a word, for all words of a few bits."""

from __future__ import annotations

import subprocess

from ..support.process import NATIVE, compile_c

WORDS = 128


def test_all_results_come_from_equally_many_words(tmp_path):
    program = compile_c(tmp_path / "level_codes", NATIVE / "level_codes.c")
    lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    assert len(lines) == WORDS
    for n, line in enumerate(lines, 1):
        *counts, refused = map(int, line.split())
        assert counts == [WORDS // n] * n
        assert refused == WORDS % n
