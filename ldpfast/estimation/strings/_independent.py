"""Strings whose scores are not explained by the buckets that they have in common with more frequent ones."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..._typing import AnyArray, Floats
from ._decoded import DecodedSketch

FEWEST = 2  # functions that a string must have for itself


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
    """

    places: NDArray[np.intp]
    scores: Floats
    second_moment: float


def independent(
    decoded: DecodedSketch, buckets: NDArray[np.uint32], scores: AnyArray, z: float, moment: float
) -> Independent:
    """Return the strings whose score is above z standard deviations of an absent string.

    Strings are tested in descending order of their scores over all functions. A function is left out for a string if its bucket
    belongs to a string that was accepted before, so that an absent string which collides with frequent ones fails.

    Parameters
    ----------
    decoded : DecodedSketch
    buckets : ndarray, shape (strings, functions)
    scores : ndarray, shape (strings,)
    z : float
    moment : float
        Upper limit of the sum of the squared shares of all strings.
    """
    people, n, m = decoded.people, max(1, decoded.n), decoded.mechanism.buckets
    functions = np.arange(len(people))
    numbers = decoded.table[functions, buckets].astype(np.float64)
    taken = np.zeros((len(people), m), np.bool_)
    taken[people == 0] = True
    noise, rest, mass = float(decoded.noise(0.0, 1.0 * n)) * n, moment, 0.0
    places, found = [], []
    for place in np.argsort(-scores, kind="stable").tolist():
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
        mass, rest = mass + share, max(0.0, rest - share**2)
    return Independent(np.array(places, np.intp), np.array(found), rest)
