"""Private modules of the central model, for tests of their parts."""

from ldpfast.central import _definitions as definitions
from ldpfast.central import _m_grid as m_grid
from ldpfast.central import _m_sampler as m_sampler
from ldpfast.central import _noise as noise
from ldpfast.central import _public_grid as public_grid
from ldpfast.central import _smooth_sensitivity as smooth_sensitivity

__all__ = [
    "FINE",
    "SIZE",
    "SMOOTHING",
    "BallNoise",
    "MonotoneEM",
    "Prior",
    "PublicGrid",
    "SumGrid",
    "Uniforms",
    "definition_of",
    "definitions",
    "discrete_delta",
    "m_grid",
    "m_sampler",
    "noise",
    "public_grid",
    "smooth_sensitivity",
]

SMOOTHING = definitions.SMOOTHING
definition_of = definitions.definition_of
discrete_delta = definitions.discrete_delta
MonotoneEM = m_sampler.MonotoneEM
Prior = m_sampler.Prior
Uniforms = m_sampler.Uniforms
BallNoise = noise.BallNoise
FINE = noise.FINE
SumGrid = noise.SumGrid
PublicGrid = public_grid.PublicGrid
SIZE = public_grid.SIZE
