"""Private modules of the mechanisms, for tests of their parts."""

from ldpfast.mechanisms import _laplace_residue as laplace_residue
from ldpfast.mechanisms import _tree_sets as tree_sets

__all__ = [
    "LaplaceResidue",
    "laplace_residue",
    "tree_sets",
]

LaplaceResidue = laplace_residue.LaplaceResidue
