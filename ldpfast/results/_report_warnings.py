"""Warnings about reports and records."""

from __future__ import annotations


class SmallSampleWarning(UserWarning):
    """Warning that there are too few reports for the interval, or for the step sizes, to be reliable."""


class DoubtfulWarning(UserWarning):
    """Warning that the reports contradict an assumption of the estimate."""


class ClippedWarning(UserWarning):
    """Warning that records were moved to the nearest valid one, or had NaN and count as the center."""
