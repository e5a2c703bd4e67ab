"""Type aliases that all subpackages share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

AnyArray: TypeAlias = NDArray[Any]
Floats: TypeAlias = NDArray[np.float64]

if TYPE_CHECKING:
    from numpy.random import BitGenerator, Generator, SeedSequence

    from ._person_keys import PersonKeys

    RNGLike: TypeAlias = PersonKeys | int | np.integer | SeedSequence | Generator | BitGenerator | None
