"""Choice of the instruction set."""

from __future__ import annotations

import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ldpfast as ldp
from ldpfast import _core
from ldpfast._core import native

from ..support.cases import each
from ..support.process import KERNELS, NATIVE, compile_c


def test_info_names_the_instruction_set(isa):
    info = ldp.info()
    assert info["isa"] == isa
    assert info["isas"] == _core.isas()
    assert info["aes"] == _core.aes_form()
    assert set(info) == {"version", "isa", "isas", "aes", "threads"}


def test_all_compiled_modules_are_one_file_with_one_instruction_set(isa):
    assert _core.isa() == native.isa() == isa
    modules = [module for name, module in sys.modules.items() if name.startswith("ldpfast._core.")]
    assert len(modules) >= 10
    assert {module.__spec__.origin for module in modules} == {native.__file__}
    assert [module for module in modules if hasattr(module, "set_isa")] == [native]


def test_functions_of_the_instruction_set_in_use_are_called(tmp_path):
    """All instruction sets give the same bits, so results do not tell which one computed them. The widest is chosen first."""
    program = compile_c(tmp_path / "chosen_isa", NATIVE / "chosen_isa.c", KERNELS / "simd" / "dispatch.c")
    lines = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
    assert lines == [_core.isas()[-1], *(f"{name} {name}" for name in _core.isas()), "0 0"]


def test_plain_c_is_always_available():
    assert _core.isas()[0] == "plain"
    assert set(_core.isas()) <= {"plain", "avx2", "avx512"}


@pytest.mark.skipif(
    platform.machine() != "x86_64" or not sys.platform.startswith("linux"), reason="reads what Linux finds"
)
def test_what_linux_finds_is_found():
    flags = set(re.search(r"^flags\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)[1].split())
    avx2 = {"avx2", "bmi1", "bmi2", "popcnt"} <= flags
    avx512 = avx2 and {"avx512f", "avx512dq", "avx512bw", "avx512vl"} <= flags
    assert _core.isas() == ["plain", *["avx2"] * avx2, *["avx512"] * avx512]
    vaes = {"aes", "vaes"} <= flags
    forms = [
        "portable",
        *["aes-ni"] * ("aes" in flags),
        *["vaes-256"] * (vaes and avx2),
        *["vaes-512"] * (vaes and avx512),
    ]
    assert _core.aes_forms() == forms


@each("name", ["", "sse", "AVX2", "plain ", "neon"])
def test_unknown_instruction_sets_are_rejected(name):
    before = _core.isa()
    with pytest.raises(ValueError, match=r"^instruction set must be one of "):
        _core.set_isa(name)
    assert _core.isa() == before
    with pytest.raises(TypeError, match=r"^Argument 'name' has incorrect type"):
        _core.set_isa(3)
    assert _core.isa() == before
