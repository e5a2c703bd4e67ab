"""Test the ldpfast that is installed for this interpreter: all modules, the first example of the README, and some tests.

tools/wheels.py and cibuildwheel run this after they have installed a wheel. It must be started with PYTHONSAFEPATH=1, so that
no folder of the checkout is imported. Needs the packages pytest, hypothesis, pyarrow and scikit-learn.
"""

import os
import pkgutil
import re
import subprocess
import sys
import sysconfig
from importlib import import_module
from pathlib import Path

import ldpfast

ROOT = Path(__file__).resolve().parents[1]
TESTS = ["test_recorded_outputs.py", "test_threads.py", "test_package.py", "core/test_stream.py", "core/test_noise.py"]
OTHER_PACKAGES = {
    "ldpfast.dask",
    "ldpfast.server",
    "ldpfast.spark",
    "ldpfast.__main__",
}  # not installed here


def main() -> int:
    if Path(ldpfast.__file__).is_relative_to(ROOT / "ldpfast"):
        sys.exit(f"check_wheel: imported from the checkout: {ldpfast.__file__}")
    names = [module.name for module in pkgutil.iter_modules(ldpfast.__path__, "ldpfast.")]
    for name in sorted(set(names) - OTHER_PACKAGES):
        import_module(name)
    if sysconfig.get_config_var("Py_GIL_DISABLED") and sys._is_gil_enabled():  # type: ignore[attr-defined]
        sys.exit("check_wheel: an import of ldpfast enabled the global interpreter lock")
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None
    exec(compile(example[1], "README.md", "exec"), {})
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short", *(f"tests/{name}" for name in TESTS)]
    return subprocess.run(command, cwd=ROOT, env=os.environ | {"PYTHONSAFEPATH": "1"}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
