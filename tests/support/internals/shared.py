"""Private modules of what all packages share, for tests of their parts."""

from ldpfast import _coins as coin_integers
from ldpfast import _conduct as conduct
from ldpfast import _described as described
from ldpfast import _envelope as envelope
from ldpfast import _extras as extras
from ldpfast import _finite_field as finite_field
from ldpfast import _job_counts as job_counts
from ldpfast import _labels as labels
from ldpfast import _objects as objects
from ldpfast import _person_keys as person_keys
from ldpfast import _plots as plots
from ldpfast import _random as random
from ldpfast import _schema as schemas
from ldpfast import _threads as thread_pool

__all__ = [
    "Described",
    "GeometricCoins",
    "Randomness",
    "Words",
    "canonical_json",
    "coin_integers",
    "conduct",
    "described",
    "envelope",
    "extras",
    "finite_field",
    "from_dict",
    "is_missing",
    "job_counts",
    "labels",
    "objects",
    "open_stream",
    "parallel_map",
    "person_keys",
    "plots",
    "random",
    "round_up",
    "schemas",
    "thread_pool",
    "typed",
]

GeometricCoins = coin_integers.GeometricCoins
round_up = coin_integers.round_up
Described = described.Described
from_dict = described.from_dict
is_missing = objects.is_missing
typed = objects.typed
Randomness = random.Randomness
Words = random.Words
open_stream = random.open_stream
canonical_json = schemas.canonical_json
parallel_map = thread_pool.parallel_map
