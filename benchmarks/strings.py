"""Find English words that nobody listed: ``python benchmarks/strings.py``.

People are drawn from the frequencies of the lower-case words of the package wordfreq, of at most 14 letters. For each epsilon
and number of people: how many words were found, how many were above the stated share, false ones, and seconds.

Needs ``pip install wordfreq``. ``--rival PYTHON`` compares with pure-ldp: see rivals/pure_ldp_strings.py.
"""

from __future__ import annotations

import argparse
import importlib
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from ldpfast.estimation import HeavyHitters

LETTERS = "abcdefghijklmnopqrstuvwxyz"
LENGTH = 14
FOUR, COMMON = 4, 0.01  # letters of the words of the comparison, and the share of those that are to be found
PIECE = 5_000_000  # people whose words are in memory together


def frequencies() -> tuple[list[str], np.ndarray]:
    """Return words and their shares, in descending order."""
    listed = importlib.import_module("wordfreq").get_frequency_dict("en", "small")
    words = [word for word in listed if set(word) <= set(LETTERS) and 0 < len(word) <= LENGTH]
    words.sort(key=lambda word: -listed[word])
    shares = np.array([listed[word] for word in words])
    return words, shares / shares.sum()


def measure(epsilon: float, n: int) -> dict[str, Any]:
    """Return what is found among n people, and how long it takes."""
    words, shares = frequencies()
    column, rng = np.array(words, f"S{LENGTH}"), np.random.default_rng(n)
    problem = HeavyHitters(epsilon, max_bytes=LENGTH, alphabet=LETTERS, n=n)
    server, reports, left = problem.aggregator(), 0.0, n
    while left:
        people = column[rng.choice(len(words), min(left, PIECE), p=shares)]
        left -= len(people)
        start = time.perf_counter()
        server.merge(problem.collect(people))
        reports += time.perf_counter() - start
    start = time.perf_counter()
    found = problem.estimate(server)
    frequent = words[: int((shares >= found.smallest_share).sum())]
    return {
        "epsilon": epsilon,
        "people": n,
        "smallest share": found.smallest_share,
        "found": len(found.strings),
        "above": len(frequent),
        "above and found": sum(word in found.strings for word in frequent),
        "false": sum(word not in words for word in found.strings),
        "reports": reports,
        "search": time.perf_counter() - start,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def compare(python: str, n: int, epsilon: float = 4.0) -> dict[str, Any]:
    """Return F1 and seconds of process time for pure-ldp, which an interpreter of its own has, and for `HeavyHitters`.

    People have words of four letters. Each word of at least 1 % of the people is to be found; only pure-ldp is told how many.
    """
    listed = {word: share for word, share in zip(*frequencies(), strict=True) if len(word) == FOUR}
    words, shares = list(listed), np.array(list(listed.values()))
    shares /= shares.sum()
    wanted = {word for word, share in zip(words, shares, strict=True) if share >= COMMON}
    people = np.array(words)[np.random.default_rng(1).choice(len(words), n, p=shares)].tolist()
    given = {"people": people, "alphabet": LETTERS, "epsilon": epsilon, "found": len(wanted)}
    script = Path(__file__).parent / "rivals" / "pure_ldp_strings.py"
    # -P: a module beside the script has the name of the package.
    done = subprocess.run([python, "-P", script], input=json.dumps(given), capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    problem = HeavyHitters(epsilon, max_bytes=FOUR, alphabet=LETTERS, n=n)
    start = time.process_time()
    counted = problem.collect(people)
    middle = time.process_time()
    estimate = problem.estimate(counted)
    kept = [word for word, share in zip(estimate.strings, estimate.value, strict=True) if share >= COMMON]
    found["ldpfast"] = {"words": kept, "reports": middle - start, "search": time.process_time() - middle}
    for one in found.values():
        one["F1"] = 2 * len(wanted & set(one["words"])) / (len(wanted) + len(one.pop("words")))
    return {"people": n, "epsilon": epsilon, **found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--people", type=float, nargs="+", default=[1e6, 1e7, 1e8], help="numbers of people")
    parser.add_argument("--epsilon", type=float, nargs="+", default=[2.0, 4.0])
    parser.add_argument("--json", type=Path, help="store the figures")
    parser.add_argument(
        "--rival", metavar="PYTHON", help="an interpreter with pure-ldp, to compare with; then nothing else"
    )
    options = parser.parse_args()
    rows = []
    if options.rival:
        for people in map(int, options.people):
            print(compare(options.rival, people), flush=True)
        return
    for epsilon in options.epsilon:
        for people in map(int, options.people):
            rows.append(measure(epsilon, people))
            print(rows[-1], flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    sys.exit(main())
