"""Run the tests that use threads under ThreadSanitizer, which reports accesses to memory that no lock or thread start orders.

usage: races.py [TEST ...]

The extension module is compiled with -fsanitize=thread in build/races. Interpreter and NumPy are not, unless the interpreter
was built --with-thread-sanitizer. With a global lock, the check covers the kernels, which run without the lock, and whatever
threads hand to each other. A free-threaded interpreter that was built --with-thread-sanitizer also covers the code in between.
A free-threaded interpreter without it gives false reports, because its locks are not seen, and is refused.

Needs GCC with libtsan, and setarch: ThreadSanitizer wants the fixed address layout.
"""

import os
import subprocess
import sys
import sysconfig

from instrumented import build, library

TESTS = ["tests/test_threads.py", "tests/mechanisms/test_contract.py"]
# Two threads write to one array, which is a race that must be reported.
RACE = """
import threading
import numpy as np
import ldpfast as ldp

ldp.set_num_threads(1)
mechanism, x, out = ldp.Warner(1.0), np.zeros(1 << 20, np.uint8), np.empty(1 << 20, np.uint8)
together = threading.Barrier(2)

def write():
    together.wait()
    for _ in range(50):
        mechanism.privatize(x, out=out)

threads = [threading.Thread(target=write) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
STATUS = 66  # of a process with a report
SELECTED = "thread or concurrent or slices or pool or forked"


def main() -> int:
    whole = "-fsanitize=thread" in (sysconfig.get_config_var("CONFIG_ARGS") or "") + (
        sysconfig.get_config_var("PY_CFLAGS") or ""
    )
    if sysconfig.get_config_var("Py_GIL_DISABLED") and not whole:
        sys.exit(f"races: this free-threaded interpreter was not built --with-thread-sanitizer. {__doc__}")
    tree = build("races")
    variables = os.environ | {
        "TSAN_OPTIONS": f"halt_on_error=0 exitcode={STATUS} history_size=4 die_after_fork=0",
        "PYTHONPATH": str(tree),
        "PYTHONSAFEPATH": "1",
        "OPENBLAS_NUM_THREADS": "1",  # its threads are not instrumented
    }
    if not whole:
        variables |= {"LD_PRELOAD": f"{library('libtsan.so')} {library('libstdc++.so')}"}
    python = ["setarch", "-R", sys.executable]
    planted = subprocess.run(
        [*python, "-c", RACE], cwd=tree, env=variables, capture_output=True, text=True, check=False
    )
    if planted.returncode != STATUS or "data race" not in planted.stderr:
        print(f"races: the planted race was not reported (status {planted.returncode}): {planted.stderr[-2000:]}")
        return 1
    command = [*python, "-m", "pytest", "-q", "--capture=sys", "-p", "no:cacheprovider"]
    command += sys.argv[1:] or [*TESTS, "-k", SELECTED]
    result = subprocess.run(command, cwd=tree, env=variables, check=False).returncode
    found = "none" if result == 0 else f"status {result}: races were reported, or tests failed"
    print(f"races: the planted race was reported; others: {found}")
    return result


if __name__ == "__main__":
    sys.exit(main())
