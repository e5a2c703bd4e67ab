"""Normal numbers of the key stream against the reference."""

from __future__ import annotations

import numpy as np
import pytest

from ..support import reference
from ..support.cases import each
from ..support.internals.kernels import stream
from ..support.keys import KEY

pytestmark = pytest.mark.usefixtures("isa")


@each("dtype", [np.float32, np.float64])
@each("n", [64, 512, 576, 1024, 5056])
def test_normals_equal_the_reference(n, dtype):
    out = np.empty(n, dtype)
    stream.normals(KEY, out)
    expected = reference.normals(reference.Words(KEY, 0, 0), n, dtype)
    np.testing.assert_allclose(out, expected, rtol=0, atol=4e-6 if dtype == np.float32 else 1e-14)
