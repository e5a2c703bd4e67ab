"""Privacy losses in words: how much more likely a report is, and what an observer can believe, rounded toward more loss.

If the probabilities of a report under every two records differ by a factor of at most e^epsilon, so do the odds of each
property of the record before and after the report: the property is a set of records, and the report is as likely as it is on
average over them. So a probability a becomes at most a e^epsilon / (1 - a + a e^epsilon).
"""

from __future__ import annotations

import math

SLACK = 1e-12  # relative, above the rounding of doubles
FEWEST_PEOPLE, MOST_PEOPLE = 100, 1_000_000  # that odds are stated of
MIN_WRONG = 2  # guesses, of so many people that a better observer is told apart
MAX_TIMES = 1e15  # that are written without an exponent
CERTAIN = 30.0  # an epsilon above which a doubt is no longer told from none


def times_text(epsilon: float) -> str:
    """Return e^epsilon with three digits, rounded up."""
    if math.isinf(epsilon):  # of reports that protect nobody
        return "infinitely many"
    if epsilon > math.log(MAX_TIMES):
        return f"e^{math.ceil(epsilon * 1000) / 1000:g}"
    ratio = math.exp(epsilon) * (1 + SLACK)
    digits = max(0, 2 - math.floor(math.log10(ratio)))
    return f"{math.ceil(ratio * 10**digits) / 10**digits:,.{digits}f}"


def largest_belief(epsilon: float, before: float = 0.5) -> float:
    """Return the largest probability of a property after a report, where it was `before`."""
    return before / (before + (1 - before) * math.exp(-epsilon))


def belief_text(epsilon: float) -> str:
    """Return the largest belief after a report to which a belief of 50 % leads, rounded up."""
    if epsilon > CERTAIN:
        return "100 %"
    doubt = 100 / (1 + math.exp(epsilon))
    digits = max(1, -math.floor(math.log10(doubt)))
    return f"{100 - math.floor(doubt * 10**digits) / 10**digits:.{digits}f} %"


def people_for(epsilon: float) -> int:
    """Return of how many people odds are stated, so that the best guess is wrong for some of them: 100, 1,000, ..."""
    people = FEWEST_PEOPLE
    while people < MOST_PEOPLE and math.floor(people * (1 - largest_belief(epsilon))) < MIN_WRONG:
        people *= 10
    return people


def right_guesses(epsilon: float, people: int, before: float = 0.5) -> int:
    """Return of so many people the most for whom an observer is right to believe in a property, rounded up.

    It is the largest belief after any report, and so the largest share of right guesses as well.
    """
    return min(people, math.ceil(people * largest_belief(epsilon, before) * (1 + SLACK)))


def round_up(epsilon: float, digits: int = 6) -> float:
    """Return epsilon with some digits, rounded up, as pages show it."""
    shown = float(f"{epsilon:.{digits}g}")
    last = 10.0 ** (math.floor(math.log10(epsilon)) - digits + 1)
    return shown if shown >= epsilon else float(f"{epsilon + last:.{digits}g}")
