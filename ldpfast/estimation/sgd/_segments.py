"""Running sums over the positions of stochastic gradient descent, without the burn-in.

The first positions depend on the start and would bias a mean, so they are left out: the largest power of two that is at
most a quarter of all positions. Sums are kept by segments that end at powers of two, so the number of answers need not
be known in advance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar


class Sized(Protocol):
    """Sums over a segment."""

    @property
    def size(self) -> int: ...


S = TypeVar("S", bound=Sized)


class Segments(Generic[S]):
    """Closed segments and the length of the open one.

    Attributes
    ----------
    count : int
        Number of positions of all segments.
    size : int
        Number of positions of the open segment.
    """

    def __init__(self) -> None:
        self._closed: list[S] = []
        self.count = self.size = 0

    def copy(self) -> Segments[S]:
        """Return an independent copy."""
        other: Segments[S] = Segments()
        other._closed = list(self._closed)
        other.count = self.count
        other.size = self.size
        return other

    @property
    def closed(self) -> list[S]:
        """Sums of the closed segments."""
        return list(self._closed)

    @classmethod
    def of(cls, count: int, closed: Callable[[int], S]) -> Segments[S]:
        """Return the segments after `count` positions; ``closed(size)`` returns the next closed segment of this size."""
        segments = cls()
        for number in range(count.bit_length()):
            segments._closed.append(closed(max(1, 1 << number >> 1)))
        segments.count = count
        segments.size = count - (1 << count.bit_length() >> 1)
        return segments

    @property
    def room(self) -> int:
        """Number of positions that can still be added to the open segment."""
        return (1 << self.count.bit_length()) - self.count if self.count else 1

    def advance(self, n: int) -> bool:
        """Count n more positions, at most `room`, and return whether the open segment must now be closed."""
        self.size += n
        self.count += n
        return self.count & (self.count - 1) == 0

    def close(self, segment: S) -> None:
        """Store the sums of the segment that has ended, and open the next one."""
        self._closed.append(segment)
        self.size = 0

    def without_burn_in(self, opened: S) -> list[S]:
        """Return the segments after the burn-in; `opened` holds the sums of the open one."""
        segments = [*self._closed, opened]
        start = 1 << (self.count // 4).bit_length() - 1 if self.count >= 4 else 0
        while start > 0:
            start -= segments.pop(0).size
        return segments
