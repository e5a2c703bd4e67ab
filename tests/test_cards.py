"""One card per mechanism of the library, and what a card must have."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import mechanisms, privacy
from ldpfast.domains import Ball, Categories, Interval, Reals
from ldpfast.mechanisms import Mechanism
from ldpfast.reports import Codes, Grid

from .cards import CARDS, Card, added
from .mechanisms import test_contract
from .support.cases import each, tests_of_one_example
from .support.examples import Example

TESTS = Path(__file__).parent
PROOFS = TESTS.parent / "docs" / "proofs"
PARTS = {"BucketResponse"}  # the response inside a sketch, whose card tests it


# Rules ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    """A field that a card must not leave empty, if `applies`. Fields that no rule names are for some mechanisms only."""

    field: str
    why: str
    applies: Callable[[Card], bool]


def always(card: Card) -> bool:
    return True


SHARED_DOMAINS = (Categories, Interval, Reals, Ball)  # for whose records tests/mechanisms/test_errors.py has tests


def is_compiled(card: Card) -> bool:
    """Mechanisms in Python, and those that use the kernel of their ball, have no kernel of their own."""
    return card.kernel is not None


def has_channel(card: Card) -> bool:
    return card.enumerated_up_to > 0


def takes_epsilon(card: Card) -> bool:
    return "epsilon" in inspect.signature(card.mechanism).parameters


def domain_of(card: Card):
    return card.examples[0].mechanism.domain


def report_of(card: Card):
    return card.examples[0].mechanism.report


def has_own_coins(card: Card) -> bool:
    """A sketch has the coins of its response."""
    return is_compiled(card) and not hasattr(card.examples[0].mechanism, "response")


def has_fixed_reports(card: Card) -> bool:
    """Reports of ideal mechanisms have the last digits of the machine."""
    return is_compiled(card) or not (card.inner or card.examples[0].mechanism.guarantee.ideal)


def is_a_compiled_vector(card: Card) -> bool:
    return is_compiled(card) and isinstance(domain_of(card), Ball) and not isinstance(report_of(card), Grid)


def is_a_compiled_estimate(card: Card) -> bool:
    return is_compiled(card) and not card.inner and not isinstance(domain_of(card), Reals)


RULES = [
    Rule("examples", "the contract tests need them", always),
    Rule("kinds", "tests of one mechanism of each kind need one", always),
    Rule("makers", "its errors about epsilon are tested", takes_epsilon),
    Rule(
        "bad_records", "its errors about records are tested", lambda card: isinstance(domain_of(card), SHARED_DOMAINS)
    ),
    Rule("flips", "its stream ids must be its own", has_own_coins),
    Rule("power", "the bias of its coins is measured", is_compiled),
    Rule("keyed", "its reports with keys of persons are compared with the derived keys", is_compiled),
    Rule("recorded", "its seeded reports stay the same", has_fixed_reports),
    Rule("frequencies", "its reports follow its channel", lambda card: is_compiled(card) and has_channel(card)),
    Rule("unbiased", "its mean and variance are compared with reports", is_a_compiled_vector),
    Rule("covered", "the coverage of its intervals is tested", is_a_compiled_estimate),
    Rule("audited", "an audit must come near its epsilon", lambda card: is_compiled(card) and not card.inner),
    Rule("simulated", "the exact distribution of its counts is compared with its channel", has_channel),
    Rule("finite", "its channel has its epsilon", lambda card: has_channel(card) and takes_epsilon(card)),
]


def subclasses(base: type) -> Iterator[type]:
    for kind in base.__subclasses__():
        yield kind
        yield from subclasses(kind)


def mechanisms_of_the_library() -> list[type[Mechanism]]:
    """Return the concrete mechanisms of all modules of `ldpfast.mechanisms`, by name."""
    for module in iter_modules(mechanisms.__path__, "ldpfast.mechanisms."):
        import_module(module.name)
    found = {kind for kind in subclasses(Mechanism) if kind.__module__.startswith("ldpfast.mechanisms.")}
    whole = [kind for kind in found if not inspect.isabstract(kind) and kind.__name__ not in PARTS]
    return sorted(whole, key=lambda kind: kind.__name__)


def is_empty(value: object) -> bool:
    return not (value() if callable(value) else value)


def faults(cards: dict[str, Card]) -> Iterator[str]:
    """Yield what a set of cards lacks, one sentence with the class and the field for each fault."""
    for kind in mechanisms_of_the_library():
        stems = [stem for stem, card in cards.items() if card.mechanism is kind]
        if len(stems) != 1:
            yield f"{kind.__name__} must have one card in tests/cards, got {len(stems)}"
    listed = re.findall(r"\((\w+)\.md\)", (PROOFS / "README.md").read_text())
    files = {path.stem for path in TESTS.rglob("test_*.py")}
    for stem, card in cards.items():
        name, proof = card.mechanism.__name__, card.proof or stem
        if card.mechanism.__module__ != f"ldpfast.mechanisms._{stem}":
            yield f"{name} must have the stem of its module, {card.mechanism.__module__}, got the card {stem}.py"
        if not (PROOFS / f"{proof}.md").is_file() or proof not in listed:
            yield f"{name} must have a proof, a page docs/proofs/{proof}.md that docs/proofs/README.md lists"
        if not {f"test_{stem}", f"test_{proof}"} & files:
            yield f"{name} must have tests of its own in test_{stem}.py"
        for example in (*card.examples, *card.kinds):
            if type(example.mechanism) is not card.mechanism:
                yield f"{name} must have examples of its class, got {example}"
        for rule in RULES if card.examples else RULES[:1]:
            if rule.applies(card) and is_empty(getattr(card, rule.field)):
                yield f"{name} must have `{rule.field}` in tests/cards/{stem}.py: {rule.why}"


def test_every_mechanism_has_a_complete_card():
    found = list(faults(CARDS))
    assert not found, "\n".join(found)


# The rules themselves -------------------------------------------------------------------------------------------------


def new_faults(cards: dict[str, Card]) -> list[str]:
    """Return what a set of cards lacks and the cards of the library do not."""
    known = set(faults(CARDS))
    return [fault for fault in faults(cards) if fault not in known]


@each("stem", CARDS)
def test_a_card_that_is_removed_is_missed(stem):
    fewer = {other: card for other, card in CARDS.items() if other != stem}
    assert new_faults(fewer) == [f"{CARDS[stem].mechanism.__name__} must have one card in tests/cards, got 0"]


def test_a_second_card_is_found():
    assert "Warner must have one card in tests/cards, got 2" in faults({**CARDS, "again": CARDS["warner"]})


EMPTY = {"makers": {}, "flips": {}, "power": tuple}


@each("field", [rule.field for rule in RULES if rule.field != "unbiased"])
@each("stem", ["sign_bit", "randomized_response", "linf_ball"])
def test_a_field_that_is_left_empty_is_named(stem, field):
    card = replace(CARDS[stem], **{field: EMPTY.get(field, ())})
    found = new_faults({**CARDS, stem: card})
    assert len(found) == 1
    assert found[0].startswith(f"{card.mechanism.__name__} must have `{field}` in tests/cards/{stem}.py: ")


def test_every_rule_applies_to_some_mechanism():
    for rule in RULES:
        assert any(rule.applies(card) for card in CARDS.values()), rule.field


def test_a_vector_without_samples_of_its_mean_is_named():
    found = new_faults({**CARDS, "l2_ball": replace(CARDS["l2_ball"], unbiased=())})
    assert found == [
        "L2Ball must have `unbiased` in tests/cards/l2_ball.py: its mean and variance are compared with reports"
    ]


def test_a_mechanism_in_python_may_leave_the_coins_of_kernels_empty():
    card = CARDS["smoothed_bins"]
    assert card.kernel is None
    assert [card.flips, card.power(), card.keyed, card.recorded] == [{}, (), (), ()]


@pytest.mark.parametrize(
    "change, message",
    [
        ({"proof": "no_page"}, "must have a proof, a page docs/proofs/no_page.md that docs/proofs/README.md lists"),
        ({"proof": "index"}, "must have a proof, a page docs/proofs/index.md that docs/proofs/README.md lists"),
        ({"kinds": (Example(ldp.Warner(1.0)),)}, r"must have examples of its class, got Warner\(1.0\)"),
    ],
)
def test_wrong_fields_are_named(change, message):
    found = new_faults({**CARDS, "bins": replace(CARDS["bins"], **change)})
    assert len(found) == 1
    assert re.fullmatch(f"Bins {message}", found[0])


def test_a_card_with_another_stem_is_named():
    cards = {("other" if stem == "bins" else stem): card for stem, card in CARDS.items()}
    assert "Bins must have the stem of its module, ldpfast.mechanisms._bins, got the card other.py" in faults(cards)


# A card outside of the library ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Threefold(ldp.Mechanism):
    """Response for three categories, whose true one is `odds` times as probable as each other."""

    odds: int

    def __post_init__(self) -> None:
        epsilon = privacy.Channel(self.channel_rows()).epsilon()
        self.define(epsilon=epsilon, epsilon_realized=epsilon, domain=Categories(3), report=Codes(3))

    def channel_rows(self):
        return (1 + (self.odds - 1) * np.eye(3, dtype=int)).tolist()


def test_a_mechanism_elsewhere_runs_through_the_contract_with_its_card():
    card = Card(
        mechanism=Threefold,
        examples=(Example(Threefold(5)),),
        kinds=(Example(Threefold(5)),),
        decoded_shape=lambda mechanism: (3,),
        enumerated_up_to=3,
    )
    tests = tests_of_one_example(test_contract)
    assert len(tests) > 15
    with added(card):
        for test in tests.values():
            test(card.examples[0])
    with added(replace(card, decoded_shape=lambda mechanism: (4,))), pytest.raises(AssertionError):
        tests["test_decoded_reports_have_one_row_per_record"](card.examples[0])
    with pytest.raises(KeyError):  # without its card
        tests["test_decoded_reports_have_one_row_per_record"](card.examples[0])
