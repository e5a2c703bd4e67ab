"""After a call its keys are nowhere in the memory of the process, not even on the stacks of its threads."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from ldpfast import _core

from ..support import aes
from ..support.process import SOURCE

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
{code}
print("done", flush=True)
sys.stdin.read(1)
"""


@pytest.fixture(scope="module")
def fixed_entropy(tmp_path_factory):
    """A library that gives the same random bytes in the place of the operating system."""
    library = tmp_path_factory.mktemp("native") / "fixed_getentropy.so"
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]
    source = Path(__file__).parent.parent / "native" / "fixed_getentropy.c"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", source, "-o", library], check=True)
    return library


def copies_left(code: str, library: Path) -> int:
    """Number of round keys, of the key and of its first subkey, in writable memory after a program."""
    preload = " ".join(filter(None, [os.environ.get("LD_PRELOAD"), str(library)]))
    environment = os.environ | {"LD_PRELOAD": preload, "PYTHONPATH": str(SOURCE)}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(code=code)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stdout.readline() == "done\n"
        round_keys, found = aes.expand(KEY) + aes.expand(FIRST_SUBKEY), 0
        with open(f"/proc/{child.pid}/maps") as maps, open(f"/proc/{child.pid}/mem", "rb", 0) as memory:
            for line in maps:
                place, rights, *_ = line.split()
                first, last = (int(address, 16) for address in place.split("-"))
                if "w" in rights and "r" in rights:
                    memory.seek(first)
                    content = memory.read(last - first)
                    found += sum(content.count(round_key) for round_key in round_keys)
        child.stdin.write("x")
    return found


def test_a_key_in_use_is_found(fixed_entropy):
    """Otherwise the tests below could not fail."""
    assert copies_left("stream = Stream()", fixed_entropy) >= 2


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
        "median(np.zeros(5000), 1.0, 0, 1)",
        "central.quantile(np.zeros(1000), 0.5, lower=0, upper=1, epsilon=1.0)",
        "ldp.Survey({'seen': survey.YesNo(), 'color': survey.Choice(4)}, 1.0).run("
        "{'seen': np.zeros(9999, bool), 'color': np.zeros(9999, int)})",
    ],
)
def test_no_key_is_left_after_a_call(fixed_entropy, code):
    assert copies_left(code, fixed_entropy) == 0


@pytest.mark.parametrize("form", _core.aes_forms())
@pytest.mark.parametrize("n", [2, 200])
def test_no_implementation_of_aes_leaves_a_key(fixed_entropy, form, n):
    code = f"from ldpfast import _core; _core.set_aes_form({form!r}); words(open_stream(None), 33, {n})"
    assert copies_left(code, fixed_entropy) == 0
