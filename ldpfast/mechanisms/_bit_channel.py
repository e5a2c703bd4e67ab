"""Reports of one bit for each category, made elsewhere with known probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._labels import in_order
from .._typing import Floats
from ..privacy import Channel, Guarantee
from ..results import MAX_COVARIANCES, Binomial, Debiasing, Estimate


@dataclass(frozen=True)
class BitChannel:
    """Reports with one random bit for each of k categories, exactly one of which is true for a person.

    It reads reports of other systems: one-hot bits with probabilities p and q, and the instantaneous bits of RAPPOR. To make
    such reports use `UnaryEncoding`.

    Parameters
    ----------
    k : int
        Number of categories, >= 1. With 1, the only bit says whether the category is true.
    own, other : float, Fraction or str
        Probabilities of a 1 in the bit of the true category, and in all other bits. Floats are read as by `designs.warner`.

    Attributes
    ----------
    guarantee : privacy.Guarantee
        Of one report; infinite if a bit shows the truth. Reports of several features of a person add up.

    Raises
    ------
    TypeError, ValueError
        If `k` is not such a number, or `own` and `other` are not two different probabilities.

    References
    ----------
    .. [1] U. Erlingsson, V. Pihur, A. Korolova, "RAPPOR: randomized aggregatable privacy-preserving ordinal response", CCS
       2014.
    .. [2] T. Wang, J. Blocki, N. Li, S. Jha, "Locally differentially private protocols for frequency estimation", USENIX
       Security 2017.

    Examples
    --------
    >>> from ldpfast import designs
    >>> bits = designs.BitChannel(3, own=0.75, other=0.25)
    >>> round(bits.guarantee.epsilon, 3)  # 2 log 3
    2.197
    >>> bits.estimate(["100", "110", "001", "100"]).n
    4
    """

    k: int
    own: Any
    other: Any

    def __post_init__(self) -> None:
        k = _check.integer("k", self.k, 1)
        own, other = (_check.exact_probability(name, getattr(self, name)) for name in ("own", "other"))
        if own == other:
            raise ValueError(f"own and other must be different probabilities, got {own} twice")
        for name, value in (("k", k), ("own", own), ("other", other)):
            object.__setattr__(self, name, value)

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one report, from the exact probabilities."""
        p, q = self.own, self.other
        rows = [[1 - q, q], [1 - p, p]]
        if self.k > 1:  # two categories differ in two bits
            rows = [[a * b for a in first for b in second] for first, second in (rows, rows[::-1])]
        return Guarantee("local", Channel(rows).epsilon())

    @property
    def epsilon(self) -> float:
        """Loss of privacy of one report."""
        return self.guarantee.epsilon

    def sums(self, reports: Any, *, packed: bool = False) -> tuple[NDArray[np.int64], int]:
        """Count the ones of reports.

        Parameters
        ----------
        reports : array_like
            Zeros and ones of shape (n, k), n texts of k characters 0 and 1, or with `packed` bytes of shape (n, ceil(k / 8)).
        packed : bool, default False
            Whether reports are bytes of 8 bits, the first bit lowest, as in reports of `UnaryEncoding`.

        Returns
        -------
        sums : ndarray of int64, shape (k,)
            Number of ones in each bit.
        n : int
            Number of reports.

        Raises
        ------
        TypeError, ValueError
            If they are not such reports, or bits after the last category are not 0.
        """
        given = _check.array("reports", reports)
        if given.dtype.kind in "OUS":
            texts = [
                text.decode("ascii", "replace") if isinstance(text, bytes) else text for text in given.ravel().tolist()
            ]
            wrong = [
                text for text in texts if not isinstance(text, str) or len(text) != self.k or set(text) - {"0", "1"}
            ]
            if wrong or given.ndim != 1:
                shown = repr(wrong[0]) if wrong else f"shape {given.shape}"
                raise ValueError(f"reports must be texts of {self.k} characters 0 and 1, got {shown}")
            given = np.array([[int(bit) for bit in text] for text in texts], np.uint8).reshape(-1, self.k)
        elif _check.flag("packed", packed):
            if given.dtype != np.uint8 or given.ndim != 2 or given.shape[1] != -(-self.k // 8):
                raise ValueError(
                    f"reports must be uint8 of shape (n, {-(-self.k // 8)}), got {given.dtype} of shape {given.shape}"
                )
            given = np.unpackbits(given, axis=1, bitorder="little")
            if given[:, self.k :].any():
                raise ValueError(f"reports must have {self.k} bits, and zeros after them")
            given = given[:, : self.k]
        if given.dtype.kind not in "buif" or given.ndim != 2 or given.shape[1] != self.k:
            raise ValueError(f"reports must have shape (n, {self.k}), got {given.dtype} of shape {given.shape}")
        wrong_bits = ~np.isin(given, (0, 1))
        if wrong_bits.any():
            raise ValueError(f"reports must be 0 and 1, got {given[wrong_bits][0]}")
        return given.sum(axis=0, dtype=np.int64), len(given)

    def estimate(self, reports: Any, *, packed: bool = False) -> Estimate[Floats]:
        """Estimate the shares of the categories from reports.

        Parameters
        ----------
        reports, packed
            As for `sums`. For sums of reports see `estimation.from_sums`.

        Returns
        -------
        estimate : Estimate
            Without bias, with Clopper-Pearson limits of each share.

        Raises
        ------
        TypeError, ValueError
            As for `sums`; if there are no reports.
        """
        return self.estimate_sums(*self.sums(reports, packed=packed))

    def estimate_sums(self, sums: ArrayLike, n: int) -> Estimate[Floats]:
        """Estimate the shares of the categories from the sums of n reports; see `estimation.from_sums`.

        Raises
        ------
        TypeError, ValueError
            If `sums` are not k integers in [0, n], or n is not at least 1.
        """
        count = _check.people("n", n)
        ordered = in_order("sums", sums, range(self.k), missing=0)
        seen = _check.integers("sums", _check.array("sums", ordered)).astype(np.int64)
        if seen.shape != (self.k,):
            raise ValueError(f"sums must have shape ({self.k},), one for each category, got shape {seen.shape}")
        if seen.min() < 0 or seen.max() > count:
            bad = int(seen.min() if seen.min() < 0 else seen.max())
            raise ValueError(f"sums must be in [0, n] with n = {count}, got {bad}")
        p, q = self.own, self.other
        hits = seen if p > q else count - seen
        line = Debiasing.of(p, q) if p > q else Debiasing.of(1 - p, 1 - q)
        value = np.asarray(line(hits / count), np.float64)
        shares = (hits + 0.5) / (count + 1)  # so that no variance is zero
        variance = (line.one - line.zero) ** 2 * shares * (1 - shares) / count
        covariance = covariance_of_categories(value, variance, count)
        rule = Binomial(hits, count, line)
        return Estimate(value, np.sqrt(variance), count, self.guarantee, covariance, rule, _span=(0.0, 1.0))

    def __repr__(self) -> str:
        own, other = (value if isinstance(value, Fraction) else Fraction(value) for value in (self.own, self.other))
        return f"BitChannel(k={self.k}, own='{own}', other='{other}')"


def covariance_of_categories(value: Floats, variance: Floats, n: int) -> Floats | None:
    """Return the covariance matrix of the shares of categories, of which each of n people has one; None for one or too many."""
    if not 1 < len(value) <= MAX_COVARIANCES:
        return None
    inside = np.clip(value, 0, 1)
    covariance = -np.outer(inside, inside) / n
    np.fill_diagonal(covariance, variance)
    return np.asarray(covariance)
