"""Mutation testing: change one constant or operator of the kernels at a time, and check that a test fails.

Each change is built and tested in a copy of the tree. A change that no test notices is a survivor: it is equivalent (list
it in tools/mutate_equivalents.txt, with the reason), or a test is missing. tests/test_recorded_outputs.py compares hashes
and notices nearly every change without stating what is right, so it runs only for survivors and is counted apart.

    python tools/mutate.py --count 300 --seed 1                   # a sample, the same for the same seed
    python tools/mutate.py --file 'src/kernels/privatize/*' --change 'word < '   # changed lines with this text
"""

import argparse
import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from queue import SimpleQueue

from mechanism_cards import CARDS
from mutants import ROOT, Mutant, files, mutants

EQUIVALENTS = ROOT / "tools" / "mutate_equivalents.txt"
RECORDED = ["tests/test_recorded_outputs.py"]
MEMORY = 16 << 30
WRONG_PACKAGE, NO_TESTS = 99, 5  # exit statuses of pytest
COPIED = (
    "src",
    "ldpfast",
    "clients",
    "tests",
    "docs",
    "tools",
    "setup.py",
    "pyproject.toml",
    "README.md",
    "CHANGELOG.md",
    "LICENSE",
)


def mechanisms(*names: str) -> list[str]:
    """Return the test files of mechanisms."""
    return [f"tests/mechanisms/test_{name}.py" for name in names]


CORE = ["tests/core/test_buffers.py", "tests/core/test_instruction_sets.py"]
SHARED = [*mechanisms("contract", "errors", "pieces"), *CORE]  # properties of all mechanisms
TWINS = mechanisms("warner", "randomized_response", "sign_bit", "unary_encoding", "laplace", "linf_ball", "l2_ball")
STREAM = ["tests/core/test_stream.py", "tests/core/test_wiping.py", "tests/test_random.py", *CORE]
TALLY = [f"tests/core/test_{name}.py" for name in ("tally", "tally_clipped")]
TALLY += ["tests/reports", "tests/central/test_mean.py", *SHARED]
CENTRAL = [f"tests/central/test_{name}.py" for name in ("density", "m_estimate", "mean", "noise", "quantile", "smooth")]
NOISE = ["tests/core/test_noise.py", "tests/central/test_noise.py"]
LAPLACE = [test for tests in CARDS["laplace"].kernel_tests.values() for test in tests]
SGD = ["tests/estimation/sgd", "tests/estimation/test_regression.py", "tests/estimation/test_errors.py", *CORE]
SERIES = ["tests/core/test_series.py", "tests/estimation/test_series_density.py"]
KEYS = ["tests/test_person_keys.py"]
SURVEY = ["tests/survey", *KEYS, *CORE]
CLIENT = ["tests/clients/test_c_client.py", "tests/clients/test_loss.py"]
STRINGS = ["tests/strings", *SHARED]
# The tests that hold a file: the first pattern that matches.
TESTS = {pattern: [*tests, *SHARED] for card in CARDS.values() for pattern, tests in card.kernel_tests.items()} | {
    "src/kernels/random/aes*": STREAM,
    "src/kernels/random/stream*": [*STREAM, *TWINS, *LAPLACE, *KEYS, "tests/central/test_quantile.py"],
    "src/kernels/random/system_key.c": STREAM,
    "src/kernels/random/cmac*": [*KEYS, "tests/core/test_wiping.py"],
    "src/kernels/random/coins*": ["tests/core/test_coins.py", *TWINS, *SHARED],
    "src/kernels/random/byte_reader.h": [*mechanisms("linf_ball"), *SERIES, *SHARED],
    "src/kernels/random/frames*": [*mechanisms("ranked_signs"), *SHARED],
    "src/kernels/random/directions*": [
        *mechanisms("rank_codebook", "ranked_signs"),
        "tests/reports/test_directions.py",
        *SHARED,
    ],
    "src/kernels/random/discrete_gaussian*": NOISE,
    "src/kernels/random/geometric*": [*LAPLACE, *SHARED],
    "src/kernels/random/indices*": [*mechanisms("subset_selection", "sampled_cube"), *SHARED],
    "src/kernels/random/normals*": ["tests/core/test_normals.py", *mechanisms("l2_ball", "rank_codebook"), *SHARED],
    "src/kernels/random/uniform*": [
        "tests/core/test_uniform_integers.py",
        *CENTRAL,
        "tests/central/test_m_grid.py",
        "tests/core/test_order.py",
        *mechanisms("subset_selection", "sampled_cube", "projective_geometry_response", "rank_codebook"),
    ],
    "src/kernels/privatize/level_codes.h": [
        "tests/core/test_uniform_integers.py",
        *mechanisms("distribution_response", "tree_response"),
        *SHARED,
    ],
    "src/kernels/privatize/packed_bits.h": [*mechanisms("linf_ball", "unary_encoding", "subset_selection"), *SHARED],
    "src/kernels/privatize/unit_row_body.h": [*mechanisms("rank_codebook", "ranked_signs"), *SHARED],
    "src/kernels/privatize/series*": [*SERIES, *SHARED],
    "src/kernels/privatize/*": [*TWINS, *mechanisms("errors", "pieces"), *SHARED],
    "src/kernels/series_values*": SERIES,
    "src/kernels/tally/frames*": [*mechanisms("ranked_signs"), "tests/reports/test_aggregation.py", *SHARED],
    "src/kernels/tally/directions*": ["tests/reports/test_directions.py", *mechanisms("rank_codebook"), *SHARED],
    "src/kernels/tally/views*": [*mechanisms("view_response"), *SHARED],
    "src/kernels/tally/*": TALLY,
    "src/kernels/check/*": ["tests/core/test_ranges.py", *mechanisms("errors"), *SHARED],
    "src/kernels/sgd/*": SGD,
    "src/kernels/strings/*": STRINGS,
    # Of the client in C alone.
    "src/kernels/survey/log_up.h": ["tests/clients/test_loss.py"],
    "src/kernels/survey/sha256.h": ["tests/clients/test_loss.py"],
    "src/kernels/survey/set_numbers.h": CLIENT,
    "src/kernels/survey/subset_codes.h": CLIENT,
    "src/kernels/survey/*": SURVEY,
    "src/kernels/transform/*": [
        "tests/core/test_transform.py",
        *mechanisms("hadamard_response", "projective_geometry_response", "tree_response"),
    ],
    "src/kernels/simd/*": ["tests/core", *SERIES, *TWINS, *mechanisms("window", "sampled_cube"), *SGD, *SHARED],
    "src/ldpfast/_core/kernel.pyx": [*TWINS, *mechanisms("pieces", "errors"), *KEYS, *SHARED, "tests/test_threads.py"],
    "src/ldpfast/_core/logit.pyx": ["tests/core/test_logit.py", "tests/analysis"],
    "src/ldpfast/_core/native.pyx": STREAM,
    "src/ldpfast/_core/noise.pyx": [*NOISE, "tests/core/test_wiping.py"],
    "src/ldpfast/_core/normal.pyx": ["tests/estimation/gaussian", "tests/bounds/test_planning.py"],
    "src/ldpfast/_core/order.pyx": ["tests/core/test_order.py", *CENTRAL],
    "src/ldpfast/_core/person.pyx": [*SURVEY, "tests/core/test_wiping.py"],
    "src/ldpfast/_core/ranges.pyx": ["tests/core/test_ranges.py", *mechanisms("errors"), *SHARED],
    "src/ldpfast/_core/series.pyx": [*SERIES, *CORE],
    "src/ldpfast/_core/sgd.pyx": [*SGD, "tests/core/test_wiping.py", "tests/estimation/protocols"],
    "src/ldpfast/_core/strings.pyx": STRINGS,
    "src/ldpfast/_core/stream.pyx": [*STREAM, "tests/core/test_coins.py", "tests/core/test_normals.py"],
    "src/ldpfast/_core/survey.pyx": [*SURVEY, "tests/test_threads.py"],
    "src/ldpfast/_core/tally.pyx": [*TALLY, *CENTRAL],
    "src/ldpfast/_core/transform.pyx": [
        "tests/core/test_transform.py",
        *mechanisms("projective_geometry_response", "tree_response"),
    ],
    "src/ldpfast/_core/*.pyx": ["tests/mechanisms", *CORE, *KEYS, "tests/test_threads.py"],
    "ldpfast/_coins/*": [
        "tests/test_coins.py",
        "tests/privacy/test_rounding.py",
        "tests/central/test_definitions.py",
        "tests/mechanisms",
    ],
    "ldpfast/_person_keys.py": [*KEYS, "tests/survey"],
    "ldpfast/_random.py": ["tests/test_random.py", *CENTRAL, "tests/central/test_m_grid.py", *SGD],
    "ldpfast/central/_noise.py": [*CENTRAL, "tests/central/test_rounded_noise.py"],
    "ldpfast/central/_quantile.py": CENTRAL,
    "ldpfast/survey/*.py": [*KEYS, "tests/survey", "tests/test_files.py", "tests/test_signatures.py"],
}


def tests_of(file: str) -> list[str]:
    """Return the tests that hold a file."""
    return sorted(set(next(tests for pattern, tests in TESTS.items() if fnmatch(file, pattern))))


@dataclass
class Tree:
    """A built copy of the tree in which files can be changed and built again."""

    folder: Path
    base: Path  # as it was before the first change
    compile: dict[str, list[str]]  # command by object file
    depends: dict[str, set[str]]  # files by object file
    link: list[str]
    touched: set[str] = field(default_factory=set)

    def run(self, command: list[str]) -> bool:
        """Run a command of the build; return whether it succeeded."""
        return subprocess.run(command, cwd=self.folder, capture_output=True).returncode == 0

    def change(self, mutant: Mutant) -> str:
        """Make a change. Return `changed`, `same` if the compiler makes the same code of it, or `invalid`."""
        path = self.folder / mutant.file
        path.write_text(mutant.apply(path.read_text()))
        self.touched.add(mutant.file)
        if mutant.file.endswith(".py"):
            return "changed"
        if mutant.file.endswith(".pyx"):  # setup.py translates what has changed
            for suffix in (".c", ".sha256"):
                self.touched.add(f"build/cython/{Path(mutant.file).with_suffix(suffix)}")
            if not self.run([sys.executable, "setup.py", "-q", "--name"]):
                return "invalid"
        source = next((name for name in self.touched if name.endswith(".c")), mutant.file)
        objects = [name for name, sources in self.depends.items() if source in sources]
        if not objects:  # a header of the client in C alone, which its tests compile
            return "changed"
        different = False
        for name in objects:
            self.touched.add(name)
            if not self.run(self.compile[name]):
                return "invalid"
            different |= (self.folder / name).read_bytes() != (self.base / name).read_bytes()
        if not different:
            return "same"
        self.touched.add(self.link[-1])
        return "changed" if self.run(self.link) else "invalid"

    def restore(self) -> None:
        """Undo the change."""
        for name in self.touched:
            shutil.copy2(self.base / name, self.folder / name)
        self.touched.clear()

    def copy(self, folder: Path) -> "Tree":
        """Return another tree like this."""
        shutil.copytree(self.folder, folder)
        return Tree(folder, self.base, self.compile, self.depends, self.link)


def build(folder: Path) -> Tree:
    """Return a copy of the tree of this repository, built by setup.py with a list of included files for each object."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("*.so", "__pycache__", "*.c" if name == "ldpfast" else "")
            shutil.copytree(source, folder / name, ignore=ignored)
        else:
            shutil.copy2(source, folder / name)
    for path in folder.glob("src/ldpfast/**/*.c"):
        path.unlink()
    environment = os.environ | {"LDPFAST_BUILD": "release"}
    command = [sys.executable, "setup.py", "build_ext", "--inplace"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    commands = [shlex.split(line) for line in done.stdout.splitlines() if re.search(r" -o \S+\.(o|so)\b", line)]
    compiled = {words[words.index("-o") + 1]: words for words in commands if "-c" in words}
    linked = [words for words in commands if "-c" not in words]
    if done.returncode or not compiled or len(linked) != 1:
        sys.exit(f"mutate: the build failed, or it is not one link of compiled objects:\n{done.stdout}{done.stderr}")
    (library,) = (path.relative_to(folder) for path in folder.glob("ldpfast/_core/native*.so"))
    link = [word for i, word in enumerate(linked[0]) if "-o" not in (word, linked[0][i - 1])]
    depends = {}
    for name in compiled:
        listed = (folder / name).with_suffix(".d").read_text().replace("\\\n", " ")
        depends[name] = {os.path.normpath(word) for word in listed.split(":", 1)[1].split()}
    # Modules are compared with their caches by hash: a change can leave time and size as they were.
    command = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "ldpfast"]
    subprocess.run(command, cwd=folder, check=True)
    return Tree(folder, folder, compiled, depends, [*link, "-o", str(library)])


@dataclass
class Result:
    status: int
    output: str
    record: str  # the test that ran last if one failed, else the durations of all tests


def run_tests(tree: Tree, paths: list[str], durations: dict[str, float], first: list[str], file: str = "") -> Result:
    """Run tests in a tree up to the first failure; `first` are the tests to begin with, then those named after the file."""
    stem = Path(file).stem.removesuffix("_body").replace("_", "")
    plan, record = tree.folder / "plan.json", tree.folder / "record"
    record.write_text("")  # as it stays if an import fails
    plan.write_text(
        json.dumps(
            {
                "durations": durations,
                "first": first,
                "stem": stem,
                "tree": str(tree.folder),
                "record": str(record),
                "memory": MEMORY,
            }
        )
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "--tb=line",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:faulthandler",
    ]
    environment = os.environ | {
        "PYTHONPATH": f"{tree.folder}{os.pathsep}{tree.folder / 'tools'}",
        "MUTATE_PLAN": str(plan),
        "OPENBLAS_NUM_THREADS": "1",
    }
    limit = 120 + 3 * sum(durations.values()) if durations else None
    process = subprocess.Popen(
        [*command, "-p", "mutate_tests", *paths],
        cwd=tree.folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
    if process.returncode in (WRONG_PACKAGE, NO_TESTS):
        sys.exit(f"mutate: pytest did not run the tests:\n{output}")
    return Result(process.returncode, output, record.read_text())


@dataclass
class Job:
    """The trees of the workers, the durations of the tests, and how often a test found an error, by file."""

    trees: SimpleQueue[Tree]
    durations: dict[str, float]
    found: dict[str, Counter[str]] = field(default_factory=dict)

    def judge(self, mutant: Mutant) -> tuple[str, str, float]:
        """Return the outcome of a change, what noticed it, and the time in seconds.

        The outcome is killed, recorded (only the recorded outputs differ), survived, same or invalid.
        """
        start, tree = time.monotonic(), self.trees.get()
        try:
            outcome, noticed = tree.change(mutant), ""
            if outcome == "changed":
                found = self.found.setdefault(mutant.file, Counter())
                first = [name for name, _ in found.most_common(20)]
                result = run_tests(tree, tests_of(mutant.file), self.durations, first, mutant.file)
                outcome = "killed" if result.status else "survived"
                if result.status:
                    lines = [line for line in result.output.splitlines() if line.strip()]
                    noticed = result.record or (lines[-1] if lines else f"a crash with status {result.status}")
                    found.update([result.record] if result.record else [])
                elif run_tests(tree, RECORDED, self.durations, []).status:
                    outcome = "recorded"
        finally:
            tree.restore()
            self.trees.put(tree)
        return outcome, noticed, time.monotonic() - start


def equivalents() -> dict[tuple[str, str], str]:
    """Return the reasons of the listed equivalent changes, by file and changed line."""
    found = {}
    for line in EQUIVALENTS.read_text().splitlines():
        if line and not line.startswith("#"):
            file, changed, reason = line.split("\t")
            found[file, changed] = reason
    return found


def sample(candidates: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """Return one change of each file, and the rest from all files alike."""
    shuffled = random.Random(seed).sample(candidates, len(candidates))
    first: dict[str, Mutant] = {}
    for mutant in shuffled:
        first.setdefault(mutant.file, mutant)
    chosen = list(first.values())
    taken = set(chosen)
    return (chosen + [mutant for mutant in shuffled if mutant not in taken])[:count]


def report(outcomes: dict[Mutant, str]) -> int:
    """Print the scores and the survivors; return the number of survivors."""
    rows = {file: Counter() for file in sorted({mutant.file for mutant in outcomes})}
    for mutant, outcome in outcomes.items():
        rows[mutant.file][outcome] += 1
    total = sum(rows.values(), Counter())
    print(f"\n{'killed':>8} {'of':>5} {'same':>5}  file  (same: the compiler makes the same code of it; not counted)")
    for file, row in [*rows.items(), ("all", total)]:
        counted = row["killed"] + row["recorded"] + row["survived"]
        print(f"{row['killed']:8} {counted:5} {row['same'] + row['invalid']:5}  {file}")
    survivors = [(outcome, mutant) for mutant, outcome in outcomes.items() if outcome in ("recorded", "survived")]
    for outcome, mutant in sorted(survivors):
        print(f"{'only recorded outputs differ' if outcome == 'recorded' else 'survived'}: {mutant}")
    counted = total["killed"] + len(survivors)
    if counted:
        noticed = total["killed"] + total["recorded"]
        print(
            f"mutate: {total['killed']} of {counted} changes are killed ({total['killed'] / counted:.1%}); "
            f"with the recorded outputs {noticed} ({noticed / counted:.1%}); "
            f"{total['same']} make the same code, {total['invalid']} cannot be built"
        )
    return len(survivors)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300, help="number of changes (300)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample (1)")
    parser.add_argument("--file", default="*", help="pattern of the files that are changed")
    parser.add_argument("--change", default="", help="text that the changed lines contain")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="number of workers (the number of processors)")
    parser.add_argument("--list", action="store_true", help="print the changes and do not test them")
    arguments = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):  # the changes tested until then are reported
        signal.signal(number, signal.default_int_handler)

    everything = [mutant for file in files() for mutant in mutants(file)]
    listed = equivalents()
    unmatched = set(listed) - {(mutant.file, mutant.changed) for mutant in everything}
    for file, changed in sorted(unmatched):
        print(f"{EQUIVALENTS.relative_to(ROOT)}: no change of {file} gives the line: {changed}")
    candidates = [m for m in everything if fnmatch(m.file, arguments.file) and arguments.change in m.changed]
    accepted = [m for m in candidates if (m.file, m.changed) in listed]
    # The list does not decide what else is in a sample.
    chosen = [m for m in sample(candidates, arguments.count, arguments.seed) if m not in accepted]
    print(
        f"mutate: {len(chosen)} of {len(candidates)} changes, without the {len(accepted)} that are listed as equivalent"
    )
    if arguments.list or not chosen:
        print("\n".join(map(str, chosen)))
        return bool(unmatched) or not chosen

    with tempfile.TemporaryDirectory() as name:
        base = build(Path(name) / "base")
        tree = base.copy(Path(name) / "1")
        paths = sorted({path for mutant in chosen for path in [*tests_of(mutant.file), *RECORDED]})
        unchanged = run_tests(tree, paths, {}, [])
        if unchanged.status:
            print(f"mutate: the tests fail without a change:\n{unchanged.output}")
            return 1
        job = Job(SimpleQueue(), json.loads(unchanged.record))
        for number in range(1, arguments.jobs + 1):
            job.trees.put(tree if number == 1 else base.copy(Path(name) / str(number)))
        print(f"mutate: {len(job.durations)} tests, {sum(job.durations.values()):.0f} s", flush=True)
        outcomes = {}
        with ThreadPoolExecutor(arguments.jobs) as pool:
            waiting = {pool.submit(job.judge, mutant): mutant for mutant in chosen}
            try:
                for future in as_completed(waiting):
                    mutant = waiting[future]
                    outcome, noticed, seconds = future.result()
                    outcomes[mutant] = outcome
                    print(f"{outcome} in {seconds:.0f} s: {mutant}{' BY ' * bool(noticed)}{noticed}", flush=True)
            except KeyboardInterrupt:
                pool.shutdown(cancel_futures=True)
                print(f"mutate: interrupted; {len(outcomes)} of {len(chosen)} changes were tested")
    survivors = report(outcomes)
    return bool(survivors or unmatched)


if __name__ == "__main__":
    sys.exit(main())
