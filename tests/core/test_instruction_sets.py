"""Choice of the instruction set."""

from __future__ import annotations

import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ldpfast as ldp

from ..support.cases import each
from ..support.internals import kernels
from ..support.internals.kernels import native
from ..support.process import KERNELS, NATIVE, compile_c


def test_info_names_the_instruction_set(isa):
    info = ldp.info()
    assert info["isa"] == isa
    assert info["isas"] == kernels.isas()
    assert info["aes"] == kernels.aes_form()
    assert set(info) == {"version", "isa", "isas", "aes", "threads"}


def test_all_compiled_modules_are_one_file_with_one_instruction_set(isa):
    assert kernels.isa() == native.isa() == isa
    modules = [module for name, module in sys.modules.items() if name.startswith("ldpfast._core.")]
    assert len(modules) >= 10
    assert {module.__spec__.origin for module in modules} == {native.__file__}
    assert [module for module in modules if hasattr(module, "set_isa")] == [native]


def test_functions_of_the_instruction_set_in_use_are_called(tmp_path):
    """All instruction sets give the same bits, so results do not tell which one computed them. The widest is chosen first."""
    program = compile_c(tmp_path / "chosen_isa", NATIVE / "chosen_isa.c", KERNELS / "simd" / "dispatch.c")
    lines = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
    assert lines == [kernels.isas()[-1], *(f"{name} {name}" for name in kernels.isas()), "0 0"]


def test_plain_c_is_always_available():
    assert kernels.isas()[0] == "plain"
    assert set(kernels.isas()) <= {"plain", "avx2", "avx512"}


@pytest.mark.skipif(
    platform.machine() != "x86_64" or not sys.platform.startswith("linux"), reason="reads what Linux finds"
)
def test_what_linux_finds_is_found():
    flags = set(re.search(r"^flags\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)[1].split())
    avx2 = {"avx2", "bmi1", "bmi2", "popcnt"} <= flags
    avx512 = avx2 and {"avx512f", "avx512dq", "avx512bw", "avx512vl"} <= flags
    assert kernels.isas() == ["plain", *["avx2"] * avx2, *["avx512"] * avx512]
    vaes = {"aes", "vaes"} <= flags
    forms = [
        "portable",
        *["aes-ni"] * ("aes" in flags),
        *["vaes-256"] * (vaes and avx2),
        *["vaes-512"] * (vaes and avx512),
    ]
    assert kernels.aes_forms() == forms


@each("name", ["", "sse", "AVX2", "plain ", "neon"])
def test_unknown_instruction_sets_are_rejected(name):
    before = kernels.isa()
    with pytest.raises(ValueError, match=r"^instruction set must be one of "):
        kernels.set_isa(name)
    assert kernels.isa() == before
    with pytest.raises(TypeError, match=r"^Argument 'name' has incorrect type"):
        kernels.set_isa(3)
    assert kernels.isa() == before
