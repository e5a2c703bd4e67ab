"""Uniform integers from words: which words are drawn again."""

from __future__ import annotations

import subprocess

from ..support.process import NATIVE, compile_c

WORDS = 128


def test_all_results_come_from_equally_many_words_of_few_bits(tmp_path):
    program = compile_c(tmp_path / "level_codes", NATIVE / "level_codes.c")
    lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    assert len(lines) == WORDS
    for n, line in enumerate(lines, 1):
        *counts, refused = map(int, line.split())
        assert counts == [WORDS // n] * n
        assert refused == WORDS % n


def test_words_of_the_incomplete_last_interval_are_drawn_again(tmp_path):
    program = compile_c(tmp_path / "word_below", NATIVE / "word_below.c")
    numbers = ["3", "5", "7", "1000001", "4294967295", "9223372036854775809", "18446744073709551615"]
    lines = subprocess.run([program, *numbers], check=True, capture_output=True, text=True).stdout.splitlines()
    assert lines == ["1 0"] * len(numbers)
