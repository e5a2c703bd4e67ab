"""Groups of people by a column of integers: the same ones, in the same order, however far apart the integers are."""

import numpy as np
import pytest

import ldpfast as ldp

MECHANISM = ldp.RandomizedResponse(3, 2.0)


def groups_of(column):
    counts = MECHANISM.collect(np.zeros(len(column), np.int64), by=column, rng=1)
    return {value: group.n for value, group in counts.items()}


@pytest.mark.parametrize("dtype", ["u1", "i1", "i4", "u8", "i8"])
@pytest.mark.parametrize("step", [1, 3, 50])
def test_groups_are_numbered_in_the_order_in_which_they_are_seen(dtype, step):
    rng = np.random.default_rng(step)
    drawn = rng.integers(0, 2, 60) + rng.integers(0, 2, 60)
    column = (step * drawn + (100 - 2 * step) * (dtype != "i1")).astype(dtype)
    if dtype == "i8":
        column -= 2**62
    if dtype == "u8":
        column += np.uint64(2**64 - 300)
    expected = {}
    for value in column.tolist():
        expected[value] = expected.get(value, 0) + 1
    found = groups_of(column)
    assert list(found) == list(expected)
    assert found == expected


def test_a_column_far_wider_than_its_length_takes_no_memory_for_the_range():
    assert groups_of(np.array([2**62, -(2**62), 2**62])) == {2**62: 2, -(2**62): 1}
