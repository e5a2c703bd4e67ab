"""Strings whose scores are not explained by the buckets that they have in common with more frequent ones."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..._typing import AnyArray, Floats
from ._decoded import DecodedSketch

FEWEST = 2  # functions that a string must have for itself
# Largest sum of the shares of strings that are accepted. Those of people have a sum of 1 and, with noise, less than 2; fewer
# than one absent string is expected beside them, and ten with a probability of about 1e-7.
MAX_SHARES, MAX_ABSENT = 2.0, 10
MAX_TESTED = 1 << 15  # strings that are tested, those with the largest scores


@dataclass(frozen=True, eq=False)
class Independent:
    """Strings that were accepted, in descending order of their scores.

    Attributes
    ----------
    places : ndarray of int
        Which of the strings they are.
    scores : ndarray
        Their shares without the largest number, from the functions that no string before them shares.
    second_moment : float
        Upper limit of the sum of the squared shares of all other strings.
    squares : float
        Sum of the squared shares of these strings.
    cut : float
        Score from which on all strings were tested; -inf if all were.
    possible : bool
        Whether people can have these shares.
    """

    places: NDArray[np.intp]
    scores: Floats
    second_moment: float
    squares: float = 0.0
    cut: float = -math.inf
    possible: bool = True


def independent(
    decoded: DecodedSketch, buckets: NDArray[np.uint32], scores: AnyArray, z: float, moment: float
) -> Independent:
    """Return the strings whose score is above z standard deviations of an absent string.

    Strings are tested in descending order of their scores over all functions. A function is left out for a string if its bucket
    belongs to a string that was accepted before, so that an absent string which collides with frequent ones fails. The work is
    limited: only so many strings are tested, and none after strings whose shares have a sum that no people can have.

    Parameters
    ----------
    decoded : DecodedSketch
    buckets : ndarray, shape (strings, functions)
    scores : ndarray, shape (strings,)
    z : float
    moment : float
        Upper limit of the sum of the squared shares of all strings.
    """
    people = decoded.people
    n = max(1, decoded.n)
    m = decoded.mechanism.buckets
    functions = np.arange(len(people))
    numbers = decoded.table[functions, buckets].astype(np.float64)
    taken = np.zeros((len(people), m), np.bool_)
    taken[people == 0] = True
    noise = float(decoded.noise(0.0, 1.0 * n)) * n
    rest = moment
    mass = 0.0
    most = MAX_SHARES + MAX_ABSENT * z * decoded.absent(n, len(people), moment)
    places = []
    found = []
    squares = 0.0
    cut = -math.inf
    for number, place in enumerate(np.argsort(-scores, kind="stable").tolist()):
        if number == MAX_TESTED or mass > most:
            cut = float(scores[place])
            break
        free = ~taken[functions, buckets[place]]
        count = int(free.sum())
        if count < FEWEST:
            continue
        own, asked = numbers[place][free], int(people[free].sum())
        factor = count / (count - 1)
        score = factor * (own.sum() - own.max()) * n / asked + mass / (m - 1)
        absent = math.sqrt((noise / asked + rest / (count * (m - 1))) * factor)
        if score <= z * absent:
            continue
        places.append(place)
        found.append(score)
        taken[functions, buckets[place]] = True
        share = min(1.0, float(score))
        mass = mass + share
        squares = squares + share**2
        rest = max(0.0, rest - share**2)
    return Independent(np.array(places, np.intp), np.array(found), rest, squares, cut, mass <= most)
