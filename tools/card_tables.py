"""Write the tables of mechanisms and questions in the documentation, from their cards (tests/cards).

    python tools/card_tables.py           # write them
    python tools/card_tables.py --check   # fail if one differs from the cards

A table is between the comments `<!-- cards: NAME -->` and `<!-- end of cards -->`. The rows of problems, protocols and surveys,
which have no cards, are below.
"""

import re
import sys
from pathlib import Path

from mechanism_cards import CARDS, KINDS, QUESTION_CARDS, Decision, Precision

from tests.support.kernel_functions import stems_of_card

DOCS = Path(__file__).resolve().parents[1] / "docs"
PLACE = re.compile(r"(<!-- cards: (\w+) -->\n).*?(<!-- end of cards -->\n)", re.DOTALL)

OTHER_ROWS = (
    Decision(
        "category",
        60,
        "strings without a list of them",
        "`estimation.HeavyHitters`, `CountMeanSketch`",
        "[only frequent strings are found](strings.md)",
    ),
    Decision(
        "category",
        70,
        "ordered: ranges, quantiles",
        "`estimation.RangeQueries`",
        "the error of a range grows with $\\log(k)$",
    ),
    Decision(
        "number",
        70,
        "its distribution: quantiles, shares, spikes",
        "`estimation.Distribution`, in surveys `survey.Number`",
        "no bins to choose; its limits hold for all populations",
    ),
    Decision("unbounded", 10, "mean", "`estimation.TruncatedMean`", "a moment is declared instead"),
    Decision("unbounded", 20, "quantiles", "`estimation.MedianSGD`", "the order matters, not the size"),
    Decision("unbounded", 30, "about normal", "`estimation.GaussianMean`", "the error does not depend on the range"),
    Decision("several", 10, "", "`Survey`", "divides epsilon among the questions"),
    Precision(
        "category",
        60,
        "an ordered category, for ranges and quantiles, k ≥ 32",
        "`estimation.RangeQueries(k, epsilon)`",
        "1 to 4 bytes",
        "of order log(k)² for every range",
    ),
)
# What a page proves beside mechanisms, by its stem.
OTHER_PROOFS = {
    "central": "the releases of a trusted curator, `ldpfast.central`",
    "distribution": "`Distribution`, a problem of it",
    "gradient": "the protocols `GradientDescent` and `NewtonStep`, and the regressions",
    "median_sgd": "`MedianSGD`, a protocol of `Bins`",
    "person_keys": "`PersonKeys`",
    "range_queries": "`RangeQueries`, a problem of it",
    "repeated": "`Repeated`",
    "series": "`SeriesDensity`, a problem of `LinfBall`",
    "shuffling": "`privacy.shuffled` and `privacy.compose_rounds`: reports that are shuffled, in one or many rounds",
    "sketch": "`CountMeanSketch` and `HeavyHitters`, problems of it",
    "sums": "`privacy.summed`: the sum of reports",
    "survey": "`Survey`",
}


def row(*cells: str) -> str:
    return re.sub(" +", " ", f"| {' | '.join(cells)} |")


def rows_of(of_class: type) -> list:
    """Return the rows of a table of docs/choosing.md, by kind of record and place."""
    found = [row for card in CARDS.values() for row in card.choosing] + list(OTHER_ROWS)
    kinds = list(KINDS)
    return sorted((r for r in found if isinstance(r, of_class)), key=lambda r: (kinds.index(r.kind), r.place))


def decisions() -> list[str]:
    lines = [row("the record is", "and", "take", "because"), row(*["---"] * 4)]
    last = None
    for decision in rows_of(Decision):
        label = KINDS[decision.kind] if decision.kind != last else ""
        lines.append(row(label, decision.condition, decision.take, decision.because))
        last = decision.kind
    return lines


def precisions() -> list[str]:
    lines = [row("the record is", "take", "report", "variance of one decoded report"), row(*["---"] * 4)]
    return lines + [row(r.record, r.call, r.report, r.variance) for r in rows_of(Precision)]


def timing() -> list[str]:
    return [f"- `{card.mechanism.__name__}`: {card.timing}" for card in CARDS.values() if card.timing]


def proofs() -> list[str]:
    """Return the list of the pages of docs/proofs: what each proves, and the kernels of its mechanisms."""
    pages: dict[str, list[str]] = {stem: [] for stem in OTHER_PROOFS}
    kernels: dict[str, set[str]] = {}
    for stem, card in CARDS.items():
        page = card.proof or stem
        pages.setdefault(page, []).append(f"`{card.mechanism.__name__}`")
        kernels.setdefault(page, set()).update(stems_of_card(card))
    lines = [row("page", "about", "kernels"), row(*["---"] * 3)]
    for page, names in sorted(pages.items()):
        about = "; ".join(
            [*([", ".join(names)] if names else []), *([OTHER_PROOFS[page]] if page in OTHER_PROOFS else [])]
        )
        lines.append(row(f"[{page}.md]({page}.md)", about, ", ".join(f"`{k}`" for k in sorted(kernels.get(page, ())))))
    return lines


def questions() -> list[str]:
    """Return the table of questions of surveys, those of few labels first."""
    cards = sorted(QUESTION_CARDS.values(), key=lambda card: card.place)
    return [
        row("question", "the column holds", "the answer is"),
        row(*["---"] * 3),
        *(row(*card.row) for card in cards),
    ]


TABLES = {"decisions": decisions, "precisions": precisions, "timing": timing, "proofs": proofs, "questions": questions}
PAGES = {"choosing.md": 2, "threat_model.md": 1, "proofs/README.md": 1, "survey.md": 1}  # number of tables


def written(page: Path) -> str:
    """Return the text of a page with its tables.

    Raises
    ------
    ValueError
        If it does not have its number of tables.
    """
    made, count = PLACE.subn(lambda match: "\n".join([match[1], *TABLES[match[2]](), "", match[3]]), page.read_text())
    expected = PAGES[str(page.relative_to(DOCS))]
    if count != expected:
        raise ValueError(f"{page.name} must have {expected} tables of cards, got {count}")
    return made


def main() -> int:
    different = [page for page in map(DOCS.joinpath, PAGES) if page.read_text() != written(page)]
    check = "--check" in sys.argv[1:]
    for page in different:
        if not check:
            page.write_text(written(page))
        print(f"{page.relative_to(DOCS.parent)}: {'a table differs from the cards' if check else 'written'}")
    print(f"card tables: {len(PAGES)} pages, {len(different)} {'problems' if check else 'written'}")
    return bool(different) and check


if __name__ == "__main__":
    sys.exit(main())
