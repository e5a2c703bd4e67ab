"""Running sums over the positions of stochastic gradient descent, without the burn-in.

The first positions still depend on the start and would bias a mean. They are left out: the largest power of two up to a
quarter of all, a rule for which nobody has to know in advance when the last person has answered. So sums are kept by
segments that end at powers of two.
"""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar


class Sized(Protocol):
    """The sums over a segment."""

    @property
    def size(self) -> int: ...


S = TypeVar("S", bound=Sized)


class Segments(Generic[S]):
    """The segments that have ended, and how far the open one is.

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
        """An independent copy."""
        other: Segments[S] = Segments()
        other._closed, other.count, other.size = list(self._closed), self.count, self.size
        return other

    @property
    def room(self) -> int:
        """How many more positions belong to the open segment."""
        return (1 << self.count.bit_length()) - self.count if self.count else 1

    def add(self, n: int) -> bool:
        """Count n more positions, at most `room`; returns whether the open segment has ended and is to be closed."""
        self.size += n
        self.count += n
        return self.count & (self.count - 1) == 0

    def close(self, segment: S) -> None:
        """Keep the sums of the segment that has ended, and open the next one."""
        self._closed.append(segment)
        self.size = 0

    def without_burn_in(self, opened: S) -> list[S]:
        """The segments after the burn-in; `opened` holds the sums of the open one."""
        segments = [*self._closed, opened]
        start = 1 << (self.count // 4).bit_length() - 1 if self.count >= 4 else 0
        while start > 0:
            start -= segments.pop(0).size
        return segments
