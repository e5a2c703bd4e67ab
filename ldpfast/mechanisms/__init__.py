"""Mechanisms, the client side: each turns one person's record into a private report."""

from ..reports import Aggregator
from . import _laplace_residue as _laplace_residue  # their classes are not public, but saved queries name them
from . import _smoothed_bins as _smoothed_bins
from ._best_mechanism import for_ball, for_box, for_categories, for_interval, for_sets
from ._bins import Bins
from ._decoding import decoding_of as decoding_of
from ._distribution_response import DistributionResponse as DistributionResponse
from ._finite_channel import FiniteChannel
from ._gradient import Gradient
from ._hadamard_response import HadamardResponse
from ._hessian import Hessian
from ._l2_ball import L2Ball
from ._laplace import Laplace
from ._laplace_one_hot import LaplaceOneHot
from ._laplace_vector import LaplaceVector
from ._law import Law as Law
from ._layers import Layers
from ._linf_ball import LinfBall
from ._mechanism import Mechanism
from ._priv_unit import PrivUnit
from ._projective_geometry_response import ProjectiveGeometryResponse
from ._query import Query
from ._randomized_response import RandomizedResponse
from ._rank_codebook import RankCodebook
from ._ranked_signs import RankedSigns
from ._record_recipe import RecordRecipe as RecordRecipe
from ._records import RecordPiece as RecordPiece
from ._records import Records as Records
from ._residue import Residue
from ._rotated_signs import RotatedSigns
from ._sampled_cube import SampledCube
from ._secure_sum import SecureSum
from ._set_cube import SetCube as SetCube  # returned by for_sets
from ._set_selection import SetSelection
from ._sets_law import SetsLaw as SetsLaw
from ._sign_bit import SignBit
from ._simulate import simulate
from ._sketch_response import SketchResponse as SketchResponse
from ._subset_selection import SubsetSelection
from ._tree_response import TreeResponse as TreeResponse
from ._unary_encoding import UnaryEncoding
from ._view_response import ViewResponse as ViewResponse
from ._warner import Warner
from ._whole_sets import WholeSets as WholeSets
from ._window import Window

__all__ = [
    "Aggregator",
    "Bins",
    "FiniteChannel",
    "Gradient",
    "HadamardResponse",
    "Hessian",
    "L2Ball",
    "Laplace",
    "LaplaceOneHot",
    "LaplaceVector",
    "Layers",
    "LinfBall",
    "Mechanism",
    "PrivUnit",
    "ProjectiveGeometryResponse",
    "Query",
    "RandomizedResponse",
    "RankCodebook",
    "RankedSigns",
    "Residue",
    "RotatedSigns",
    "SampledCube",
    "SecureSum",
    "SetSelection",
    "SignBit",
    "SubsetSelection",
    "UnaryEncoding",
    "Warner",
    "Window",
    "for_ball",
    "for_box",
    "for_categories",
    "for_interval",
    "for_sets",
    "simulate",
]
