"""Fuzz everything that reads bytes from outside, guided by coverage: each target of tests/fuzz in turn, with Atheris.

An input that violates the contract of its target is stored in build/fuzz/found. Copy it to tests/fuzz/corpus/TARGET under a
name that starts with "found-"; `make test` then runs it. Inputs that reach new code are kept in build/fuzz/corpus.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
CORPUS = ROOT / "tests" / "fuzz" / "corpus"
BUILD = ROOT / "build" / "fuzz"
ENGINE_LOG = BUILD / "engine.log"
# The limits of one input: seconds, megabytes of memory, bytes of its length.
LIMITS = ["-timeout=5", "-rss_limit_mb=2048", "-max_len=16384"]
FIGURES = re.compile(r"#(\d+)\s.*\bcov: (\d+) ft: (\d+) corp: (\d+)/")


def start() -> subprocess.Popen[str]:
    """Start the process that imports the package once and fuzzes one target after the other."""
    beside = BUILD / "path"  # the tests without the package of the checkout, so that ldpfast is the installed one
    beside.mkdir(parents=True, exist_ok=True)
    if not (beside / "tests").exists():
        (beside / "tests").symlink_to(ROOT / "tests")
    path = os.pathsep.join([str(beside), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, "-m", "tests.fuzz.engine"],
        env=os.environ | {"PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=ENGINE_LOG.open("w"),
        text=True,
    )


def fuzz(engine: subprocess.Popen[str], target: str, seconds: float, seed: int) -> bool:
    """Fuzz a target for some seconds and print one line; return whether it kept its contract."""
    kept = BUILD / "corpus" / target
    found = BUILD / "found"
    log = BUILD / f"{target}.log"
    for folder in (kept, found):
        folder.mkdir(parents=True, exist_ok=True)
    options = [f"-max_total_time={max(1, round(seconds))}", f"-seed={seed}", f"-artifact_prefix={found}/{target}-"]
    command = {"target": target, "options": [*LIMITS, *options, str(kept), str(CORPUS / target)], "log": str(log)}
    log.unlink(missing_ok=True)
    try:
        print(json.dumps(command), file=engine.stdin, flush=True)
        answer = engine.stdout.readline()
    except BrokenPipeError:
        answer = ""
    text = log.read_text(errors="replace") if log.exists() else ""
    figures = FIGURES.findall(text)
    if not answer or not figures:
        print(f"{target}: cannot be run\n{text[-4000:] or ENGINE_LOG.read_text()[-4000:]}", flush=True)
        return False
    executed, edges, features, inputs = figures[-1]
    print(f"{target}: {executed} inputs run, {edges} edges, {features} features, {inputs} inputs kept", flush=True)
    if int(answer):
        at = text.rfind(" === Uncaught Python exception")
        print(text[at : at + 4000] if at >= 0 else text[-4000:], flush=True)
    return int(answer) == 0


def main() -> int:
    names = sorted(path.name for path in CORPUS.iterdir() if path.is_dir())
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"any of {', '.join(names)} (default: all)")
    parser.add_argument("--seconds", type=float, default=600.0, help="duration of all targets together (default: 600)")
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of the mutations (default: 0, a new one for each run)"
    )
    arguments = parser.parse_args()
    unknown = set(arguments.targets) - set(names)
    if unknown:
        parser.error(f"TARGET must be one of {', '.join(names)}, got {', '.join(sorted(unknown))}")
    targets, failed = arguments.targets or names, []
    end, engine = time.monotonic() + arguments.seconds, start()
    for i, target in enumerate(targets):  # the time that one target leaves is for the others
        if not fuzz(engine, target, (end - time.monotonic()) / (len(targets) - i), arguments.seed):
            failed.append(target)
    engine.stdin.close()
    engine.wait()
    print(f"fuzz: {len(targets)} targets, {len(failed)} with findings{': ' if failed else ''}{', '.join(failed)}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
