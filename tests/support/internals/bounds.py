"""Private modules of the minimax bounds, for tests of their parts."""

from ldpfast.bounds import _central_privacy as central_privacy
from ldpfast.bounds import _testing_methods as methods
from ldpfast.bounds import _tools as tools

__all__ = [
    "central_privacy",
    "chi_factor",
    "forward_factor",
    "largest_square",
    "methods",
    "tools",
    "tv_from_kl",
]

chi_factor = methods.chi_factor
forward_factor = methods.forward_factor
largest_square = methods.largest_square
tv_from_kl = methods.tv_from_kl
