"""The inputs of the fuzzer, and random changes of them, without the fuzzer: every reader keeps its contract.

`make fuzz` searches for more inputs; see tests/fuzz/targets.py for the contract.
"""

from __future__ import annotations

import json
import time
import tracemalloc
import warnings
from pathlib import Path
from random import Random

import pytest

pytest.importorskip("pyarrow")

from .fuzz import make_corpus, mutation, targets

CORPUS = Path(__file__).parent / "fuzz" / "corpus"
INPUTS = sorted(path for path in CORPUS.glob("*/*") if path.is_file())
CHANGES = 30  # random changes of each input, in chains of three


def run(name: str, data: bytes) -> bool:
    """Return whether an input is accepted; check the limits of time and memory.

    Processor time is measured. An input over the limit is read once more: the first one of a reader imports libraries.
    """
    tracemalloc.start()
    try:
        for _ in range(2):
            start = time.process_time()
            accepted = targets.TARGETS[name].check(data)
            seconds = time.process_time() - start
            if seconds < targets.MAX_SECONDS:
                break
        assert seconds < targets.MAX_SECONDS
        assert tracemalloc.get_traced_memory()[1] < targets.MAX_BYTES
    finally:
        tracemalloc.stop()
    return accepted


def test_every_target_has_valid_inputs():
    assert {path.name for path in CORPUS.iterdir()} == set(targets.TARGETS)
    assert {path.parent.name for path in INPUTS if path.name.startswith("valid-")} == set(targets.TARGETS)


@pytest.mark.claim("Stored bytes of every kind of saved object are still read.", "Saved states")
@pytest.mark.parametrize("path", INPUTS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_an_input_of_the_corpus_keeps_the_contract(path):
    """A "valid" input must be accepted. If a format has changed on purpose, tests/fuzz/make_corpus.py makes new ones."""
    assert run(path.parent.name, path.read_bytes()) or not path.name.startswith("valid-")


@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
def test_valid_inputs_are_those_of_the_public_api():
    """Only names are compared where bytes depend on the version of pyarrow or zlib, or on the last digits of NumPy functions.

    Those digits depend on the instruction set, and states of protocols contain positions that are computed with them.
    """
    varying = {"reports_arrow", "reports_parquet", "parquet", "feather", "csv_gz", "npy", "sequential", "gaussian_mean"}
    for name, inputs in make_corpus.contents().items():
        stored = {path.name.removeprefix("valid-"): path.read_bytes() for path in (CORPUS / name).glob("valid-*")}
        assert set(stored) == set(inputs), name
        if name not in varying:
            assert stored == inputs, name


@pytest.mark.long
@pytest.mark.parametrize("path", sorted((CORPUS / "description").glob("valid-*")), ids=lambda path: path.name)
def test_extreme_numbers_in_a_description_keep_the_contract(path):
    """Each number is replaced by each of `mutation.NUMBERS`, and by one that no double holds."""
    described = json.loads(path.read_bytes())
    for container, key in mutation.places(described):
        kept = container[key]
        if isinstance(kept, int | float | None):
            for number in (*mutation.NUMBERS, 10**400):
                container[key] = number
                targets.TARGETS["description"].check(json.dumps(described).encode())
            container[key] = kept


@pytest.mark.claim("Readers of bytes from others give a valid object or an error, whatever the bytes are.", "Bad input")
@pytest.mark.long
@pytest.mark.parametrize("name", targets.TARGETS)
def test_random_changes_of_the_corpus_keep_the_contract(name):
    random = Random(name)
    for path in INPUTS:
        if path.parent.name != name:
            continue
        data = path.read_bytes()
        for i in range(CHANGES):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                data = targets.TARGETS[name].mutate(data, random, lambda part: mutation.change_bytes(part, random))
            run(name, data)
            if i % 3 == 2:
                data = path.read_bytes()
