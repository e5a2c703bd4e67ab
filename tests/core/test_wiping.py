"""After a call its keys are nowhere in the memory of the process, not even on the stacks of its threads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ..support import aes
from ..support.internals import kernels
from ..support.process import KERNELS, NATIVE, SOURCE, compile_c

SUBKEYS = 0x7FFFFFFF  # STREAM_SUBKEY
KEY = bytes((73 * i + 19) % 256 for i in range(32))  # of fixed_getentropy.c
FIRST_SUBKEY = b"".join(aes.encrypt(KEY, (i | SUBKEYS << 32).to_bytes(16, "little")) for i in range(2))

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of a process in /proc")

PROGRAM = """
import sys
import numpy as np
import ldpfast as ldp
from ldpfast import central, mechanisms, survey
from ldpfast._core.stream import Stream
from ldpfast._random import open_stream, words
from ldpfast.estimation import median
ldp.set_num_threads(2)

def regions():
    with open("/proc/self/maps") as maps:
        parts = [line.split() for line in maps]
    return [tuple(int(address, 16) for address in part[0].split("-")) for part in parts if part[1].startswith("rw")]

def save(parts):
    for first, last in parts:
        memory.seek(first)
        copy.write(memory.read(last - first))

memory, copy, known = open("/proc/self/mem", "rb", 0), open(sys.argv[1], "wb", 0), regions()
save(known[:1])
{code}
save(known)  # first, and with few calls, which would overwrite what is left on the stack
save([region for region in regions() if region not in known])
"""


@pytest.fixture(scope="module")
def fixed_entropy(tmp_path_factory):
    """A library that gives the same random bytes in the place of the operating system."""
    library = tmp_path_factory.mktemp("native") / "fixed_getentropy.so"
    return compile_c(library, NATIVE / "fixed_getentropy.c", flags=("-shared", "-fPIC"))


def copies_left(code: str, library: Path) -> int:
    """Number of half round keys, of the key and of its first subkey, in writable memory after a program.

    They are looked for at multiples of 8 bytes, where registers and schedules are stored.
    """
    environment = os.environ | {"LD_PRELOAD": str(library), "PYTHONPATH": str(SOURCE)}
    memory = library.with_name("memory")
    subprocess.run([sys.executable, "-c", PROGRAM.format(code=code), memory], env=environment, check=True, timeout=300)
    round_keys = np.frombuffer(b"".join(aes.expand(KEY) + aes.expand(FIRST_SUBKEY)), np.uint64)
    return int(np.isin(np.fromfile(memory, np.uint64), round_keys).sum())


@pytest.mark.claim("Keys come from the operating system.", "Randomness")
@pytest.mark.long
def test_a_key_in_use_is_found(fixed_entropy):
    """Otherwise the tests below could not fail."""
    assert copies_left("stream = Stream()", fixed_entropy) >= 2


@pytest.mark.claim("Keys are wiped from memory after each call.", "Randomness")
@pytest.mark.long
@pytest.mark.parametrize(
    "code",
    [
        "stream = Stream(); del stream",
        "mechanisms.Warner(1.0).privatize(np.zeros(1_000_000, bool))",
        "mechanisms.RandomizedResponse(50, 1.0).run(np.zeros(100_000, int))",
        "mechanisms.UnaryEncoding(50, 1.0).privatize(np.zeros(100_000, int))",
        "mechanisms.SignBit(0, 1, 1.0).privatize(np.zeros(100_000))",
        "mechanisms.Laplace(0, 1, 1.0).privatize(0.5)",
        "mechanisms.Laplace(0, 1, 1.0).privatize(np.zeros(100_000))",
        "mechanisms.LinfBall(50, 1.0).privatize(np.zeros((100_000, 50)))",
        "mechanisms.L2Ball(50, 1.0).privatize(np.zeros(50))",
        "mechanisms.L2Ball(50, 1.0).privatize(np.zeros((100_000, 50)))",
        "median(np.zeros(5000), 1.0, lower=0, upper=1)",
        "central.quantile(np.zeros(1000), 0.5, lower=0, upper=1, epsilon=1.0)",
        "ldp.Survey({'seen': survey.YesNo(), 'color': survey.Choice(4)}, 1.0).run("
        "{'seen': np.zeros(9999, bool), 'color': np.zeros(9999, int)})",
    ],
)
def test_no_key_is_left_after_a_call(fixed_entropy, code):
    assert copies_left(code, fixed_entropy) == 0


@pytest.mark.long
@pytest.mark.parametrize("form", kernels.aes_forms())
@pytest.mark.parametrize("n", [2, 200])
def test_no_implementation_of_aes_leaves_a_key(fixed_entropy, form, n):
    code = f"from ldpfast import _core; _core.set_aes_form({form!r}); words(open_stream(None), 33, {n})"
    assert copies_left(code, fixed_entropy) == 0


REGISTER_BYTES = {"aes-ni": 16 * 16, "vaes-256": 16 * 32, "vaes-512": 32 * 64}


@pytest.mark.claim("Keys are wiped from registers after each call.", "Randomness")
@pytest.mark.parametrize("form", [form for form in kernels.aes_forms() if form in REGISTER_BYTES])
def test_no_vector_register_keeps_a_key(tmp_path, form):
    """All registers of the width of the implementation are zero, also those that the compiler does not use today."""
    sources = (
        NATIVE / "forgotten_registers.c",
        *(KERNELS / "random" / f"aes{name}.c" for name in ("", "_x86", "_portable")),
    )
    program = compile_c(tmp_path / "forgotten_registers", *sources)

    def bytes_left(*arguments):
        return int(subprocess.run([program, form, *arguments], capture_output=True, check=True).stdout)

    assert bytes_left() == 0
    assert bytes_left("without wiping") == REGISTER_BYTES[form]
