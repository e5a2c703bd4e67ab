"""Print a table of the measured coverage of all 95 % intervals: the simulations of tests/estimation/test_coverage.py.

    python experiments/coverage_table.py [--runs N] [--case TEXT] > table.md

Uses all processors: about an hour on one. With --runs, at most N simulations of each case; with --case, the cases whose names
contain a text.
"""

import argparse
import os
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from tests.estimation import test_coverage


def rows(number: int, most: int | None) -> list[str]:
    """Return the rows of the table for one case: one for each interval."""
    warnings.simplefilter("ignore")
    case, intervals = list(test_coverage.checks())[number]
    runs = case.many if most is None else min(most, case.many)
    found = test_coverage.coverage(case, runs)
    return [
        f"| {case} | {interval} | {runs} | {found[interval]:.3f} |"
        for interval in intervals
        if not interval.endswith("of the errors")  # bounds of another probability
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, help="largest number of simulations of a case")
    parser.add_argument("--case", default="", help="text in the names of cases")
    arguments = parser.parse_args()
    print("| case | interval | runs | coverage |\n| --- | --- | --- | --- |", flush=True)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        cases = [str(case) for case, _ in test_coverage.checks()]
        numbers = [number for number, case in enumerate(cases) if arguments.case in case]
        jobs = [pool.submit(rows, number, arguments.runs) for number in numbers]
        print("\n".join(sorted(row for done in as_completed(jobs) for row in done.result())))


if __name__ == "__main__":
    main()
