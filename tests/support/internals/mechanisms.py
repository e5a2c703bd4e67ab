"""Private modules of the mechanisms, for tests of their parts."""

import ldpfast as ldp
from ldpfast.mechanisms import _best_mechanism as best_mechanism
from ldpfast.mechanisms import _draws as draws
from ldpfast.mechanisms import _half_space as half_space
from ldpfast.mechanisms import _hyperplanes as hyperplanes
from ldpfast.mechanisms import _laplace_residue as laplace_residue
from ldpfast.mechanisms import _linf_ball as linf_ball
from ldpfast.mechanisms import _order_statistics as order_statistics
from ldpfast.mechanisms import _projective_geometry_response as projective_geometry_response
from ldpfast.mechanisms import _projective_space as projective_space
from ldpfast.mechanisms import _rank_codebook as rank_codebook
from ldpfast.mechanisms import _record_recipe as record_recipe
from ldpfast.mechanisms import _sampled_cube as sampled_cube
from ldpfast.mechanisms import _smoothed_bins as smoothed_bins
from ldpfast.mechanisms import _subset_selection as subset_selection
from ldpfast.mechanisms import _tree_level as tree_level
from ldpfast.mechanisms import _tree_sets as tree_sets

from ..modules import module_of

__all__ = [
    "MIXTURES",
    "LaplaceResidue",
    "WindowDesign",
    "best_design",
    "best_mechanism",
    "dot",
    "draws",
    "half_space",
    "half_space_constant",
    "heads",
    "hyperplanes",
    "laplace_residue",
    "linf_ball",
    "multinomial",
    "ones_by_column",
    "order_statistics",
    "projective_geometry_response",
    "projective_space",
    "rank_codebook",
    "ranked_signs",
    "record_recipe",
    "rotated_signs",
    "sample",
    "sampled_cube",
    "shares_of",
    "smoothed_bins",
    "subset_selection",
    "table_of_designs",
    "tree_level",
    "tree_sets",
    "uniform",
    "window",
    "window_sums",
    "worst_variance",
]

dot = draws.dot
heads = draws.heads
multinomial = draws.multinomial
ones_by_column = draws.ones_by_column
sample = draws.sample
shares_of = draws.shares_of
uniform = draws.uniform
half_space_constant = half_space.half_space_constant
LaplaceResidue = laplace_residue.LaplaceResidue
ranked_signs = module_of(ldp.RankedSigns)
rotated_signs = module_of(ldp.RotatedSigns)
window = module_of(ldp.Window)
MIXTURES = window.MIXTURES
WindowDesign = window.WindowDesign
best_design = window.best_design
table_of_designs = window.table_of_designs
window_sums = window.window_sums
worst_variance = window.worst_variance
