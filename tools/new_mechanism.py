"""Write the files of a new mechanism of the library, with its name in them and TODO where it differs from others.

    python tools/new_mechanism.py CircleResponse

The mechanism is written in Python, for categories: `channel_rows` are the integers of its channel. For other records, write
`privatize_block` instead (CONTRIBUTING.md says with what), and take the card of a mechanism for such records as model. The
files are the module, the card, the page of the proof and the tests of the mechanism alone; its class is imported in
`ldpfast/mechanisms/__init__.py` and `ldpfast/__init__.py`. CONTRIBUTING.md, "Adding a mechanism", says what else there is.
`--root` is the folder of the checkout.
"""

import argparse
import re
from pathlib import Path

MODULE = '''"""TODO: what it is, in a few words."""

from __future__ import annotations

from dataclasses import dataclass

from .. import _check, _coins
from ..domains import Categories
from ..reports import Codes
from ._mechanism import Mechanism


@dataclass(frozen=True)
class NAME(Mechanism):
    """TODO: what a report is, in one sentence.

    Parameters
    ----------
    k : int
        Number of categories, >= TODO.
    epsilon : float
        Privacy parameter, > 0.

    Raises
    ------
    TypeError, ValueError
        If `k` is not an integer of this range; if `epsilon` is not a finite number > 0, or is too small or too large.

    Notes
    -----
    Records: integers in [0, k), shape (n,). Reports: unsigned codes below TODO. O(n) time, without a compiled kernel.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP: the logarithm of the largest ratio of two integers of one code. No resistance to timing
    attacks is claimed. docs/proofs/STEM.md.

    Examples
    --------
    TODO
    """

    k: int
    epsilon: float

    def __post_init__(self) -> None:
        self._set(k=_check.integer("k", self.k, TODO), epsilon=_check.positive("epsilon", self.epsilon))
        self.define(domain=Categories(self.k), report=Codes(TODO), coin=TODO)

    def channel_rows(self) -> list[list[int]]:
        """Return the numbers of equally likely words that give each code, one row per category."""
        TODO
'''
CARD = '''"""The card of `NAME`. It is written in Python."""

from __future__ import annotations

import ldpfast as ldp

from ..support.examples import Example
from ._card import Card, ChannelRow, Keyed, Sample, Simulated
from ._formats import per_category
from ._pages import Decision, Precision
from ._samples import CATEGORIES, integer, recorded_labels

TODO

CARD = Card(
    mechanism=ldp.NAME,
    TODO
    timing="it is written in Python",
)
'''
PROOF = """# `NAME`

TODO

## Channel

TODO

## Privacy map

TODO

## Proof

TODO

## Estimator

TODO

## Variance

TODO

## Timing

Not claimed: the mechanism is written in Python.

## Tests

- `mechanisms/test_STEM.py` (TODO).
"""
TEST = '''"""TODO."""

from __future__ import annotations

import numpy as np

import ldpfast as ldp

TODO
'''
FILES = {
    "ldpfast/mechanisms/_STEM.py": MODULE,
    "tests/cards/STEM.py": CARD,
    "docs/proofs/STEM.md": PROOF,
    "tests/mechanisms/test_STEM.py": TEST,
}
NEXT = """Then fill each TODO, add ~ldpfast.mechanisms.NAME to docs/reference/privatize.md and `NAME` to CHANGELOG.md, run
tools/card_tables.py and -m tests.test_recorded_outputs, and the tests that CONTRIBUTING.md names: each says what is
missing."""


def stem_of(name: str) -> str:
    """Return the stem of the files of a class."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def inserted(text: str, line: str, pattern: str) -> str:
    """Return the text with a line before the first later one, in the order of the alphabet, among lines of a pattern."""
    lines = text.splitlines(keepends=True)
    same = [i for i, other in enumerate(lines) if re.fullmatch(pattern, other.rstrip("\n"))]
    place = next((i for i in same if lines[i].strip() > line.strip()), same[-1] + 1)
    return "".join([*lines[:place], line + "\n", *lines[place:]])


def write(name: str, root: Path) -> list[Path]:
    """Write the files; return their paths."""
    stem, paths = stem_of(name), []
    for path, text in FILES.items():
        paths.append(root / path.replace("STEM", stem))
        if paths[-1].exists():
            raise SystemExit(f"{paths[-1]} exists")
        paths[-1].write_text(text.replace("NAME", name).replace("STEM", stem))
    for path, changes in {
        "ldpfast/mechanisms/__init__.py": [
            (f"from ._{stem} import {name}", r"from \._\w+ import [A-Z]\w+"),
            (f'    "{name}",', r'    "[A-Z]\w+",'),
        ],
        "ldpfast/__init__.py": [(f"        {name},", r"        [A-Z]\w+,"), (f'    "{name}",', r'    "[A-Z]\w+",')],
    }.items():
        text = (root / path).read_text()
        for line, pattern in changes:
            text = inserted(text, line, pattern)
        (root / path).write_text(text)
        paths.append(root / path)
    return paths


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="name of the class")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1], help="folder of the checkout")
    arguments = parser.parse_args()
    if not re.fullmatch(r"(?:[A-Z][a-z0-9]+)+", arguments.name):
        parser.error(f"name must be words that begin with capitals, got {arguments.name}")
    for path in write(arguments.name, arguments.root):
        print(path.relative_to(arguments.root))
    print(NEXT.replace("NAME", arguments.name))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
