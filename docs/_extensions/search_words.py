"""Words that readers search for, with the section of the guides that answers; they are main entries of the index."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

# Words by page and heading. An entry is found by all parts of it that are at least half as long.
WORDS = {
    "designs#prevalence": [
        "crosswise",
        "forced response",
        "unrelated question",
        "Mangat",
        "Kuk",
        "triangular",
    ],
    "designs#label-privacy-a-classifier-for-randomized-labels": [
        "label privacy",
        "label differential privacy",
        "randomized labels",
    ],
    "sums": ["debias", "debiasing", "RAPPOR"],
    "sums#sums-of-a-secure-aggregation": ["Prio", "DAP"],
    "survey#comparisons-and-tests": ["A/B test", "A/B testing", "AB test", "trend", "trends", "experiment"],
    "panels": ["longitudinal", "longitudinal study", "rotating panel"],
    "collecting#retries-and-repeated-questions": ["memoization", "retry", "retries"],
    "server#once-and-on-the-disk": ["deduplicate", "deduplication", "duplicates", "idempotent"],
    "faq#does-it-use-a-gpu-does-it-work-with-pytorch-and-jax": [
        "torch",
        "PyTorch",
        "GPU",
        "CUDA",
        "JAX",
        "tensor",
        "DLPack",
    ],
    "faq#can-keys-be-rotated": ["key rotation", "rotate keys", "rotate secret"],
    "faq#what-does-it-not-do": [
        "what it does not do",
        "limitations",
        "not supported",
        "synthetic data",
        "neural network",
        "Windows",
    ],
    "how_it_works": ["how it works"],
    "pitfalls": ["pitfalls", "mistakes", "common mistakes"],
    "telemetry": ["telemetry", "crash rate"],
    "federated": ["federated learning", "Flower", "NVFlare", "NVIDIA FLARE", "FedAvg"],
    "rounds": ["DP-SGD", "shuffler", "secure aggregation"],
    "central": ["trusted curator", "global differential privacy"],
    "strings": ["heavy hitters", "frequent strings"],
    "survey": ["survey", "surveys", "questionnaire"],
    "ten_minutes": ["epsilon", "introduction", "randomized response"],
    "planning": ["sample size", "sample-size planning"],
    "planning#differences": ["minimum detectable effect", "power analysis"],
}


class SearchWords(SphinxTransform):
    """Put the entries of a page into its sections."""

    default_priority = 880

    def apply(self, **_: Any) -> None:
        for place, words in WORDS.items():
            page, _hash, heading = place.partition("#")
            if page != self.env.docname:
                continue
            sections = [
                section
                for section in self.document.findall(nodes.section)
                if not heading or heading in (*section["ids"], section.get("slug"))
            ]
            if not sections:
                logging.getLogger(__name__).warning("no heading %s", place)
                continue
            section = sections[0]
            entries = [("single", word, section["ids"][0], "main", None) for word in words]
            section.insert(1, addnodes.index(entries=entries, inline=False))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_transform(SearchWords)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
