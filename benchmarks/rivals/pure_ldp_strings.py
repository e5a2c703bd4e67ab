"""Heavy hitters by pure-ldp, in an interpreter of its own: ``python -P pure_ldp_strings.py < people.json``.

pure-ldp 1.2 needs NumPy < 2, so that it cannot run beside ldpfast. The input has "people" (a list of words of one length),
"alphabet", "epsilon" and "found", the number of words to find, which pure-ldp has to be told. The output has, for each method,
the words and the seconds of process time for reports and for the search.
"""

from __future__ import annotations

import json
import random
import sys
import time
from importlib import import_module
from typing import Any

FUNCTIONS, BUCKETS = 16, 1024


def encode_texts() -> None:
    """Let xxhash 3 and newer take the texts that pure-ldp hashes."""
    xxhash = import_module("xxhash")
    plain = xxhash.xxh64
    xxhash.xxh64 = lambda text, seed=0: plain(text.encode() if isinstance(text, str) else text, seed=seed)


def found_by(method: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return the words that PEM or TreeHist find with count-mean sketches, and the seconds."""
    cms = import_module("pure_ldp.frequency_oracles.apple_cms")
    name = {"PEM": "prefix_extending", "TreeHist": "treehistogram"}[method]
    package = import_module(f"pure_ldp.heavy_hitters.{name}")
    epsilon, length = given["epsilon"], len(given["people"][0])
    each = epsilon if method == "PEM" else epsilon / 2  # TreeHist sends a prefix and a word
    oracle = cms.CMSServer(each, FUNCTIONS, BUCKETS)
    options = {"alphabet": set(given["alphabet"]), "index_mapper": lambda text: text}
    reporter = cms.CMSClient(each, oracle.hash_funcs, BUCKETS)
    if method == "PEM":
        client = package.PEMClient(epsilon, 1, length, 1, fo_client=reporter, **options)
        server = package.PEMServer(epsilon, 1, length, 1, fo_server=oracle, **options)
    else:
        client = package.TreeHistClient(epsilon, 1, length, fo_client=reporter, **options)
        server = package.TreeHistServer(epsilon, length, 1, fo_server=oracle, **options)
    start = time.process_time()
    for word in given["people"]:
        server.aggregate(client.privatise(word))
    middle = time.process_time()
    words, _ = server.find_heavy_hitters(k=given["found"])
    return {"words": list(words), "reports": middle - start, "search": time.process_time() - middle}


def main() -> None:
    given = json.load(sys.stdin)
    random.seed(1)
    import_module("numpy").random.seed(1)
    encode_texts()
    json.dump({method: found_by(method, given) for method in ("PEM", "TreeHist")}, sys.stdout)


if __name__ == "__main__":
    main()
