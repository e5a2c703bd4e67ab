"""The integers of the coins, which turn a real epsilon into an exact guarantee.

A coin is a Bernoulli draw with probability m / 2^b, defined by the integer threshold m. m is computed from the exact
value of the double epsilon with decimals of 100 digits, rounded toward more privacy, and checked again in the same
arithmetic. `epsilon_realized` is the logarithm of the ratio of the integers, rounded up to a double. `ValueError` is
raised if the coin cannot certify epsilon, or if rounding would remove the signal.
"""

from ._geometric import MAX_DIGITS, GeometricCoins, alias_table, geometric, geometric_error, geometric_integers
from ._ranked_signs import RankedSignsCoin, SubsetSampler, ranked_signs, sampler_of
from ._responses import BinaryCoin, ResponseCoin, SetCoin, UnaryCoins, binary, of_set, response, unary
from ._rounding import CONTEXT, WIDE, WORD, division, log_up, round_up, sum_up
from ._window import WindowCoin, window

__all__ = [
    "CONTEXT",
    "MAX_DIGITS",
    "WIDE",
    "WORD",
    "BinaryCoin",
    "GeometricCoins",
    "RankedSignsCoin",
    "ResponseCoin",
    "SetCoin",
    "SubsetSampler",
    "UnaryCoins",
    "WindowCoin",
    "alias_table",
    "binary",
    "division",
    "geometric",
    "geometric_error",
    "geometric_integers",
    "log_up",
    "of_set",
    "ranked_signs",
    "response",
    "round_up",
    "sampler_of",
    "sum_up",
    "unary",
    "window",
]
