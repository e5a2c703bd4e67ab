"""The designs for one sensitive question with the answers no and yes."""

from __future__ import annotations

from fractions import Fraction
from inspect import signature
from typing import Any

from .. import _check
from ._design import TRUTHS, Design, new_design, shown

YU = "J.-W. Yu, G.-L. Tian, M.-L. Tang, Metrika, 2008"


def warner(p: Any) -> Design:
    """Return Warner's design: a device selects the statement or its negation.

    Parameters
    ----------
    p : float, Fraction or str
        Probability in [0, 1], not 1/2, that the statement itself is selected. A float is read as its shortest decimal, or
        as the quotient whose digits these are, text as a fraction: 0.7 and "7/10" are the same, 0.666666666666667 and "2/3".

    Returns
    -------
    design : Design
        The answers are no and yes to the selected statement.

    Raises
    ------
    TypeError, ValueError
        If `p` is not such a probability.

    References
    ----------
    .. [1] S. L. Warner, "Randomized response: a survey technique for eliminating evasive answer bias", JASA, 1965.

    Examples
    --------
    >>> from ldpfast import designs
    >>> designs.warner(0.7).table.columns["yes"]
    ['3/10', '7/10']
    """
    share = _check.exact_probability("p", p)
    text = (
        f"With probability {share}, say whether this is true: I have the attribute. Otherwise say whether this is true: "
        "I do not have the attribute."
    )
    reference = "S. L. Warner, JASA, 1965"
    return new_design(f"warner({shown(p=share)})", text, TRUTHS, share, 1 - share, reference)


def forced_response(yes: Any, no: Any) -> Design:
    """Return the forced response design: a device tells some people to say yes, and some to say no.

    Parameters
    ----------
    yes, no : float, Fraction or str
        Probabilities to be told to say yes and no. All others answer truthfully.

    Returns
    -------
    design : Design
        An infinite epsilon if `yes` or `no` is 0.

    Raises
    ------
    TypeError, ValueError
        If they are not probabilities with a sum below 1.

    References
    ----------
    .. [1] R. F. Boruch, "Assuring confidentiality of responses in social research", American Sociologist, 1971.
    .. [2] G. Blair, K. Imai, Y.-Y. Zhou, "Design and analysis of the randomized response technique", JASA, 2015.

    Examples
    --------
    >>> from ldpfast import designs
    >>> design = designs.forced_response("1/6", "1/6")  # a die: 1 says no, 6 says yes
    >>> round(design.epsilon, 3)  # log 5
    1.609
    """
    forced_yes, forced_no = _check.exact_probability("yes", yes), _check.exact_probability("no", no)
    if forced_yes + forced_no >= 1:
        raise ValueError(f"yes and no must have a sum below 1, got {forced_yes} + {forced_no}")
    text = (
        f"With probability {forced_yes} say yes, and with probability {forced_no} say no, whatever is true. "
        "Otherwise tell the truth."
    )
    name = f"forced_response({shown(yes=forced_yes, no=forced_no)})"
    return new_design(name, text, TRUTHS, 1 - forced_no, forced_yes, "R. F. Boruch, American Sociologist, 1971")


def unrelated_question(p: Any, prevalence: Any) -> Design:
    """Return the unrelated question design, with a known prevalence of the unrelated attribute.

    Parameters
    ----------
    p : float, Fraction or str
        Probability to be asked the sensitive question, in (0, 1].
    prevalence : float, Fraction or str
        Share of people whose answer to the unrelated question is yes, for instance of a birthday in spring. If it is not known,
        see `unrelated_question_two_samples`.

    Returns
    -------
    design : Design
        An infinite epsilon if `prevalence` is 0 or 1.

    Raises
    ------
    TypeError, ValueError
        If they are not such probabilities.

    References
    ----------
    .. [1] B. G. Greenberg, A.-L. A. Abul-Ela, W. R. Simmons, D. G. Horvitz, "The unrelated question randomized response model:
       theoretical framework", JASA, 1969.

    Examples
    --------
    >>> from ldpfast import designs
    >>> designs.unrelated_question(0.5, 0.25).table.columns["yes"]
    ['1/8', '5/8']
    """
    asked, innocent = _check.exact_probability("p", p), _check.exact_probability("prevalence", prevalence)
    text = f"With probability {asked}, answer the sensitive question. Otherwise answer the unrelated one."
    name, other = f"unrelated_question({shown(p=asked, prevalence=innocent)})", (1 - asked) * innocent
    return new_design(name, text, TRUTHS, asked + other, other, "B. G. Greenberg et al., JASA, 1969")


def mangat(p: Any) -> Design:
    """Return Mangat's design: people with the attribute say yes, and all others use Warner's device.

    Parameters
    ----------
    p : float, Fraction or str
        Probability in (0, 1] that the device of the others selects the statement itself, to which they say no.

    Returns
    -------
    design : Design
        With an infinite epsilon: who says no does not have the attribute.

    Raises
    ------
    TypeError, ValueError
        If `p` is not such a probability.

    References
    ----------
    .. [1] N. S. Mangat, "An improved randomized response strategy", JRSS B, 1994.

    Examples
    --------
    >>> from ldpfast import designs
    >>> designs.mangat(0.7).epsilon
    inf
    """
    share = _check.exact_probability("p", p)
    text = f"If you have the attribute, say yes. Otherwise say no with probability {share}, and yes else."
    return new_design(f"mangat({shown(p=share)})", text, TRUTHS, Fraction(1), 1 - share, "N. S. Mangat, JRSS B, 1994")


def kuk(p1: Any, p2: Any) -> Design:
    """Return Kuk's design: people name the color of a card from one of two decks.

    Parameters
    ----------
    p1, p2 : float, Fraction or str
        Shares of red cards in the deck of people with the attribute, and of those without.

    Returns
    -------
    design : Design
        The answers are black and red.

    Raises
    ------
    TypeError, ValueError
        If they are not two different probabilities.

    References
    ----------
    .. [1] A. Y. C. Kuk, "Asking sensitive questions indirectly", Biometrika, 1990.

    Examples
    --------
    >>> from ldpfast import designs
    >>> designs.kuk(0.8, 0.2).table.columns["red"]
    ['1/5', '4/5']
    """
    first, second = _check.exact_probability("p1", p1), _check.exact_probability("p2", p2)
    text = (
        "Draw a card of each deck. If you have the attribute, name the color of that of the first deck "
        f"(share of red {first}), otherwise that of the second deck (share of red {second})."
    )
    return new_design(
        f"kuk({shown(p1=first, p2=second)})", text, ("black", "red"), first, second, "A. Y. C. Kuk, Biometrika, 1990"
    )


def crosswise(p: Any) -> Design:
    """Return the crosswise model: people say whether their answers to two questions are the same.

    Parameters
    ----------
    p : float, Fraction or str
        Share of people whose answer to the innocuous question is yes, in [0, 1], not 1/2, such as that of a birthday in a
        quarter of the year.

    Returns
    -------
    design : Design
        The answers are different and same. If people may answer at random, see `crosswise_with_attention`.

    Raises
    ------
    TypeError, ValueError
        If `p` is not such a probability.

    References
    ----------
    .. [1] J.-W. Yu, G.-L. Tian, M.-L. Tang, "Two new models for survey sampling with sensitive characteristic: design and
       analysis", Metrika, 2008.

    Examples
    --------
    >>> from ldpfast import designs
    >>> round(designs.crosswise(0.25).epsilon, 3)  # log 3
    1.099
    """
    share = _check.exact_probability("p", p)
    text = _about_both(share, "both are the same (both yes or both no), or different")
    name = f"crosswise({shown(p=share)})"
    return new_design(name, text, ("different", "same"), share, 1 - share, YU)


def triangular(p: Any) -> Design:
    """Return the triangular model: people say whether their answer to at least one of two questions is yes.

    Parameters
    ----------
    p : float, Fraction or str
        Share of people whose answer to the innocuous question is yes, in [0, 1).

    Returns
    -------
    design : Design
        The answers are none and some. With an infinite epsilon: who says none does not have the attribute.

    Raises
    ------
    TypeError, ValueError
        If `p` is not such a probability.

    References
    ----------
    .. [1] J.-W. Yu, G.-L. Tian, M.-L. Tang, "Two new models for survey sampling with sensitive characteristic: design and
       analysis", Metrika, 2008.

    Examples
    --------
    >>> from ldpfast import designs
    >>> designs.triangular(0.25).table.columns["some"]
    ['1/4', '1']
    """
    share = _check.exact_probability("p", p)
    text = _about_both(share, "none of both is yes, or some is")
    name = f"triangular({shown(p=share)})"
    return new_design(name, text, ("none", "some"), Fraction(1), share, YU)


def _about_both(share: Fraction, what: str) -> str:
    """Return the instruction to tell something about the answers to two questions, but not the answers."""
    return (
        f"Think of the answers to the sensitive question and to the innocuous one, to which a share of {share} says yes. Say "
        f"only whether {what}."
    )


NAMED = {
    function.__name__: function
    for function in (
        warner,
        forced_response,
        unrelated_question,
        mangat,
        kuk,
        crosswise,
        triangular,
    )
}


def named_design(text: str) -> Design:
    """Return the design that a text such as crosswise:0.25 or forced_response:1/6,1/6 names.

    Raises
    ------
    ValueError
        If it names none.
    """
    name, _, numbers = text.partition(":")
    function = NAMED.get(name.strip())
    forms = {name: f"{name}:{','.join(signature(each).parameters)}" for name, each in NAMED.items()}
    if function is None:
        raise ValueError(f"design must be one of {', '.join(forms.values())}, got {text!r}")
    given = [number.strip() for number in numbers.split(",")]
    if len(given) != len(signature(function).parameters) or not all(given):
        raise ValueError(f"design must be {forms[function.__name__]}, got {text!r}")
    return function(*given)
