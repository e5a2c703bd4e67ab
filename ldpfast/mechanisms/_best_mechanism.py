"""Choice of the mechanism with the smallest exact worst-case variance, from public arguments alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeVar

from .. import _check
from .._warnings import warn
from ..results import line_of
from ._hadamard_response import HadamardResponse
from ._l2_ball import L2Ball
from ._laplace import Laplace
from ._linf_ball import LinfBall
from ._mechanism import Mechanism
from ._priv_unit import MAX_DIM as IDEAL_MAX_DIM
from ._priv_unit import MAX_EPSILON as LARGEST_IDEAL
from ._priv_unit import MIN_EPSILON as SMALLEST_IDEAL
from ._priv_unit import PrivUnit
from ._projective_geometry_response import ProjectiveGeometryResponse
from ._randomized_response import RandomizedResponse
from ._rank_codebook import MAX_DIM, MAX_VECTORS, RankCodebook, best_vectors
from ._ranked_signs import MAX_DIM as SIGNS_MAX_DIM
from ._ranked_signs import MAX_SIGNS, RankedSigns
from ._rotated_signs import MAX_ROTATION, RotatedSigns
from ._sampled_cube import MAX_SAMPLED, SampledCube
from ._set_cube import SetCube
from ._set_selection import SetSelection
from ._sets_law import law_of_sets
from ._sign_bit import SignBit
from ._subset_selection import SubsetSelection, best_size, subset_variance
from ._unary_encoding import UnaryEncoding
from ._whole_sets import WholeSets
from ._window import MAX_OUTPUTS, Window

NEARLY = 0.01  # more variance, for one bit instead of a window, and for a codebook instead of a frame
ROUNDING = 1e-4  # relative differences of variances by the number of bits of a coin are smaller
LOSS = 1.3  # of variance that is worth a warning
MAX_BITS = 4096  # categories up to which a report may have one bit for each

AnyMechanism = TypeVar("AnyMechanism", bound=Mechanism)
ForBall = RankCodebook | RankedSigns | RotatedSigns | L2Ball | PrivUnit
ForCategories = RandomizedResponse | UnaryEncoding | SubsetSelection | HadamardResponse | ProjectiveGeometryResponse


def best(
    makers: Iterable[Callable[[], AnyMechanism]],
    variance: Callable[[AnyMechanism], float],
    max_bits: int | None = None,
    tolerance: float = 0.0,
) -> AnyMechanism:
    """Return the mechanism with the smallest variance among those that accept their arguments and fit the report size.

    It is the first whose variance is above the smallest by at most a relative `tolerance`. Raise the first error if there are
    none.
    """
    limit = None if max_bits is None else _check.integer("max_bits", max_bits, 1)
    mechanisms = []
    errors = []
    least = []
    for make in makers:
        try:
            mechanism = make()
        except ValueError as error:
            errors.append(error)
            continue
        least.append(mechanism.report_bits)
        if limit is None or mechanism.report_bits <= limit:
            mechanisms.append(mechanism)
    if mechanisms:
        variances = [variance(mechanism) for mechanism in mechanisms]
        return next(m for m, v in zip(mechanisms, variances, strict=True) if v <= min(variances) * (1 + tolerance))
    if least:
        raise ValueError(f"max_bits must be at least {min(least)} for these arguments, got {limit}")
    raise errors[0]


def largest_variance(mechanism: SignBit | Window | Laplace) -> float:
    """Return the largest variance of a decoded report over all records in the interval."""
    if isinstance(mechanism, Window):
        return mechanism.largest_variance
    # Largest for SignBit at the center, and for Laplace in the middle of a grid step, where rounding adds most.
    length = mechanism.upper - mechanism.lower
    step = mechanism.grid if isinstance(mechanism, Laplace) else length
    return float(mechanism.variance(mechanism.lower + step / 2))


def for_interval(lower: float, upper: float, epsilon: float, *, max_bits: int | None = None) -> Mechanism:
    """Return the mechanism for a number in an interval with the smallest worst-case variance.

    Parameters
    ----------
    lower, upper : float
        Ends of the declared interval, which must not be taken from the data.
    epsilon : float
        Privacy parameter, > 0.
    max_bits : int, optional
        Largest size of a report.

    Returns
    -------
    mechanism : SignBit or Window
        `SignBit` where it has at most 1 % more variance, for epsilon up to 0.247, then `Window` with up to 256 codes. The
        choice depends on the arguments alone.

    Raises
    ------
    TypeError, ValueError
        If no mechanism accepts these arguments, or none has reports of at most `max_bits` bits.

    Notes
    -----
    The variance is for the report of a given record, so the choice is for the mean of the people who are asked. If all
    records may be at the ends of the interval and the mean of their population is wanted, the variance of the records counts
    too, and no mechanism has a smaller error than `SignBit` (`bounds.compare`).

    Examples
    --------
    >>> from ldpfast.mechanisms import for_interval
    >>> for_interval(0, 1, epsilon=0.2)
    SignBit(lower=0.0, upper=1.0, epsilon=0.2)
    >>> for_interval(0, 1, epsilon=2.0)
    Window(lower=0.0, upper=1.0, epsilon=2.0, outputs=256)
    >>> for_interval(0, 1, epsilon=2.0, max_bits=4)
    Window(lower=0.0, upper=1.0, epsilon=2.0, outputs=16)
    """
    makers: list[Callable[[], SignBit | Window]] = [
        partial(SignBit, lower, upper, epsilon),
        partial(Window, lower, upper, epsilon, outputs=MAX_OUTPUTS),
    ]
    if max_bits is not None:
        codes = 1 << min(_check.integer("max_bits", max_bits, 1), MAX_OUTPUTS.bit_length() - 1)
        # Two more codes can be for the bit of a window.
        makers += [
            partial(Window, lower, upper, epsilon, outputs=outputs) for outputs in (codes, codes - 2) if outputs > 1
        ]
    return best(makers, largest_variance, max_bits, NEARLY)


def total_variance(mechanism: ForCategories) -> float:
    """Return the sum of the variances of the shares of all categories, times the number of people; the same for all data."""
    line = line_of(mechanism.debiasing)
    assert line is not None
    return float(line.variance(1.0) + (mechanism.k - 1) * line.variance(0.0))


def is_response_best(k: int, epsilon: float) -> bool:
    """Return whether k-ary response has the smallest total variance of all mechanisms, apart from rounding of its coin."""
    return best_size(k, epsilon) == 1


def of_bits(k: int, epsilon: float) -> list[Callable[[], SubsetSelection | UnaryEncoding]]:
    """Return the makers of mechanisms whose reports have one bit for each category."""
    return [
        partial(SubsetSelection, k, epsilon),
        partial(UnaryEncoding, k, epsilon, method="symmetric"),
        partial(UnaryEncoding, k, epsilon, method="optimized"),
    ]


def for_categories(k: int, epsilon: float, *, max_bits: int | None = None) -> ForCategories:
    """Return the mechanism for k categories with the smallest total variance of the estimated shares.

    Parameters
    ----------
    k : int
        Number of declared categories, >= 2.
    epsilon : float
        Privacy parameter, > 0.
    max_bits : int, optional
        Largest size of a report. For more than 4096 categories, reports with one bit per category are not considered.

    Returns
    -------
    mechanism : RandomizedResponse, SubsetSelection, ProjectiveGeometryResponse, HadamardResponse or UnaryEncoding
        Without `max_bits`: `RandomizedResponse` up to about 1.4 e^epsilon + 1.5 categories, `SubsetSelection` up to 4096, then
        `ProjectiveGeometryResponse`. The choice depends on the arguments alone.

    Raises
    ------
    TypeError, ValueError
        If no mechanism accepts these arguments, or none has reports of at most `max_bits` bits.

    Notes
    -----
    The criterion is the total variance, the same for all data, in which many rare categories count most. The category with the
    largest variance is one with a share near 1/2 (`Mechanism.worst_variance`). Its variance can be larger than with a
    mechanism that is chosen for it: 1.4 times for epsilon up to 1, 1.9 times up to 2, and 2.9 times up to 4, for at most 4096
    categories. To be within 1.15 times of it would cost up to 1.1, 1.5 and 2.5 times the total. Where `worst_variance` jumps
    up with epsilon, another design has a smaller total.

    Warns
    -----
    UserWarning
        If all short reports for more than 4096 categories have at least 1.3 times the variance of `SubsetSelection`, whose
        reports would have k bits: for `epsilon` above about 9.

    Examples
    --------
    >>> from ldpfast.mechanisms import for_categories
    >>> for_categories(4, epsilon=1.0)
    RandomizedResponse(k=4, epsilon=1.0)
    >>> for_categories(1000, epsilon=1.0)
    SubsetSelection(k=1000, epsilon=1.0, size=269)
    >>> for_categories(1000, epsilon=1.0, max_bits=16)
    ProjectiveGeometryResponse(k=1000, epsilon=1.0)
    """
    k, epsilon = _check.integer("k", k, 2), _check.positive("epsilon", epsilon)
    makers: list[Callable[[], ForCategories]] = [partial(RandomizedResponse, k, epsilon)]
    if not is_response_best(k, epsilon):
        makers += [partial(HadamardResponse, k, epsilon), partial(ProjectiveGeometryResponse, k, epsilon)]
        if k <= MAX_BITS:
            makers += of_bits(k, epsilon)
    mechanism = best(makers, total_variance, max_bits, ROUNDING)
    if max_bits is None and k > MAX_BITS:
        subsets = subset_variance(k, epsilon, best_size(k, epsilon)) / math.expm1(epsilon) ** 2
        if (loss := total_variance(mechanism) / subsets) >= LOSS:
            warn(
                f"for {k} categories and epsilon={epsilon}, short reports have {loss:.3g} times the variance of "
                "SubsetSelection, whose reports would have one bit for each category",
                UserWarning,
            )
    return mechanism


def for_sets(k: int, most: int, epsilon: float, *, optional: bool = False) -> SetSelection | SetCube | WholeSets:
    """Return the mechanism for a set of options, such as "check all that apply", with the smallest variance of their shares.

    Parameters
    ----------
    k : int
        Number of options, >= 2.
    most : int
        Largest number of options of a set, in [1, k]. The smallest number that people need has the smallest variance.
    epsilon : float
        Privacy parameter of the whole set, > 0.
    optional : bool, default False
        Whether a set may be missing, which is different from an empty set.

    Returns
    -------
    mechanism : SetSelection, SetCube or WholeSets
        `SetSelection` for `most` up to about a third of `k`, then `SetCube`, whose reports do not tell how many options a set
        has; `WholeSets`, randomized response of the whole set, if there are fewer sets than about e^epsilon. All take the same
        records. The choice depends on the arguments alone.

    Raises
    ------
    TypeError, ValueError
        If no mechanism accepts these arguments.

    Notes
    -----
    The criterion is the mean over the options of the variances of their shares from noise alone, for the sets of people for
    which it is largest.

    Examples
    --------
    >>> from ldpfast.mechanisms import for_sets
    >>> for_sets(20, 3, epsilon=1.0)
    SetSelection(k=20, most=3, epsilon=1.0, optional=False, size=2, threshold=1)
    >>> for_sets(20, 20, epsilon=1.0)
    SetCube(k=20, most=20, epsilon=1.0, optional=False)
    >>> for_sets(5, 2, epsilon=4.0)
    WholeSets(k=5, most=2, epsilon=4.0, optional=False)
    """
    makers: list[Callable[[], SetSelection | SetCube | WholeSets]] = [
        partial(SetSelection, k, most, epsilon, optional=optional),
        partial(SetCube, k, most, epsilon, optional=optional),
        partial(WholeSets, k, most, epsilon, optional=optional),
    ]
    return best(makers, lambda mechanism: law_of_sets(mechanism).worst_mean_variance, tolerance=ROUNDING)


def for_box(dim: int, epsilon: float, *, radius: float = 1.0, max_bits: int | None = None) -> SampledCube | LinfBall:
    """Return the mechanism for a vector in a box [-r, r]^d with the smallest worst-case variance of a coordinate.

    Parameters
    ----------
    dim : int
        Dimension d >= 1.
    epsilon : float
        Privacy parameter of the whole vector, > 0.
    radius : float, default 1.0
        Half-width r > 0 of the box.
    max_bits : int, optional
        Largest size of a report: fewer coordinates are then sampled.

    Returns
    -------
    mechanism : SampledCube or LinfBall
        The choice depends on the arguments alone.

    Raises
    ------
    TypeError, ValueError
        If no mechanism accepts these arguments, or none has reports of at most `max_bits` bits.

    Examples
    --------
    >>> from ldpfast.mechanisms import for_box
    >>> for_box(1000, epsilon=4.0)
    SampledCube(dim=1000, epsilon=4.0, radius=1.0, sampled=4, threshold=4)
    """
    dim = _check.integer("dim", dim, 1)
    makers: list[Callable[[], SampledCube | LinfBall]] = [
        partial(SampledCube, dim, epsilon, radius=radius),
        partial(LinfBall, dim, epsilon, radius=radius),
    ]
    if max_bits is not None:
        makers += [
            partial(SampledCube, dim, epsilon, radius=radius, sampled=k) for k in range(1, min(dim, MAX_SAMPLED) + 1)
        ]
    return best(makers, lambda mechanism: mechanism.worst_variance, max_bits, ROUNDING)


def for_ball(
    dim: int,
    epsilon: float,
    *,
    radius: float = 1.0,
    vectors: int | None = None,
    max_bits: int | None = None,
    allow_ideal: bool = False,
    rotation: int | None = None,
) -> ForBall:
    """Return the mechanism for a vector in a Euclidean ball with the smallest total error of a mean.

    Parameters
    ----------
    dim : int
        Dimension d >= 1.
    epsilon : float
        Privacy parameter of the whole vector, > 0.
    radius : float, default 1.0
        Radius r > 0 of the ball.
    vectors : int, optional
        Number of random directions of `RankCodebook`, which is then the only choice besides `L2Ball`; for dim <= 16384. The
        default is the smallest power of two from 16 on whose error is at most 1 % above that of the best, among those with at
        most 2^17 products of two numbers for each record (about 50 us).
    max_bits : int, optional
        Largest size of a report.
    allow_ideal : bool, default False
        Whether `PrivUnit` is considered, whose guarantee holds for real numbers only.
    rotation : int, optional
        Number of a public rotation, which lets `RotatedSigns` be considered.

    Returns
    -------
    mechanism : RankCodebook, RankedSigns, RotatedSigns, L2Ball or PrivUnit
        With a rotation, `RotatedSigns` where its error is at most 1 % above the smallest: from about 500 dimensions on, or
        2000 for large `epsilon`. Otherwise `RankedSigns` with as many signs as it allows, where its error is more than 1 %
        below that of `RankCodebook`: for large `epsilon` and more than 16 dimensions, or for many dimensions. The choice
        depends on the arguments alone.

    Raises
    ------
    TypeError, ValueError
        If no mechanism accepts these arguments, or none has reports of at most `max_bits` bits; if `vectors` and `rotation` are
        given together.

    Notes
    -----
    For the mean of a population from which people are drawn, n E|value - mean|^2 is B^2 - |mean|^2 for the scale B of a
    mechanism, whatever the records are. For the mean of given records that are short, `LaplaceVector` can have a smaller
    error in few dimensions at large `epsilon`, for instance in two dimensions from 6 on.

    Warns
    -----
    UserWarning
        If `L2Ball` is left in more than 16384 dimensions, because of `max_bits` or for more than 2^24 dimensions, and has at
        least 1.3 times the error of the best mechanism.

    Examples
    --------
    >>> from ldpfast.mechanisms import for_ball
    >>> for_ball(100, epsilon=2.0)
    RankCodebook(dim=100, epsilon=2.0, radius=1.0, vectors=128)
    >>> for_ball(100, epsilon=16.0)
    RankedSigns(dim=100, epsilon=16.0, radius=1.0, signs=100)
    >>> for_ball(10_000, epsilon=8.0, rotation=2024)
    RotatedSigns(dim=10000, epsilon=8.0, rotation=2024, signs=256, radius=1.0)
    """
    dim, epsilon = _check.integer("dim", dim, 1), _check.positive("epsilon", epsilon)
    makers: list[Callable[[], ForBall]]
    makers = [partial(L2Ball, dim, epsilon, radius=radius)]
    if rotation is not None:
        _check.integer("rotation", rotation, 0, MAX_ROTATION)
        if vectors is not None:
            raise ValueError("vectors and rotation must not be given together: they are of different mechanisms")
    if vectors is not None:
        vectors = _check.integer("vectors", vectors, 1, MAX_VECTORS)
        _check.integer("dim", dim, 1, MAX_DIM)
    else:
        room = MAX_SIGNS if max_bits is None else _check.integer("max_bits", max_bits, 1) - 64
        most = min(MAX_SIGNS, max(2, room))
        makers.append(partial(RankedSigns, dim, epsilon, radius=radius, signs=min(dim, most)))
        if rotation is not None:
            signs = 1 << (most.bit_length() - 1)
            makers.append(partial(RotatedSigns, dim, epsilon, rotation=rotation, signs=signs, radius=radius))
    if dim <= MAX_DIM:
        number = best_vectors(dim, epsilon) if vectors is None else vectors
        makers.append(partial(RankCodebook, dim, epsilon, radius=radius, vectors=number))
    if _check.flag("allow_ideal", allow_ideal):
        makers.append(partial(PrivUnit, dim, epsilon, radius=radius))
    mechanism = best(makers, _scale, max_bits, ROUNDING)
    if dim > MAX_DIM and isinstance(mechanism, L2Ball):
        loss = _loss_of_half_spaces(dim, epsilon)
        if loss >= LOSS:
            warn(
                f"for dim={dim} and epsilon={epsilon}, L2Ball has {loss:.3g} times the error of PrivUnit, the best mechanism, "
                f"whose guarantee is not exact; RankedSigns needs dim <= {SIGNS_MAX_DIM} and reports of 66 bits",
                UserWarning,
            )
    return mechanism


def _loss_of_half_spaces(dim: int, epsilon: float) -> float:
    """Return the ratio of the errors of `L2Ball` and `PrivUnit`, at the nearest arguments that `PrivUnit` accepts."""
    near = min(dim, IDEAL_MAX_DIM), min(max(epsilon, SMALLEST_IDEAL), LARGEST_IDEAL)
    return (L2Ball(*near).scale / PrivUnit(*near).scale) ** 2


def _scale(mechanism: ForBall) -> float:
    """Return the scale, up to a factor that prefers mechanisms that take less time and have nearly the same error."""
    slower = {RotatedSigns: 0, RankedSigns: 2}.get(type(mechanism), 1)
    return mechanism.scale * (1 + NEARLY / 2) ** slower
