"""What a channel really guarantees: pure mathematics, no randomness, no compiled code."""

from ._channel import Channel
from ._guarantee import Guarantee, compose, group

__all__ = ["Channel", "Guarantee", "compose", "group"]
