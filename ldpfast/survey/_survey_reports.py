"""The single reports of a survey, from messages and from Arrow tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.survey import split_messages
from .._extras import optional
from .._typing import AnyArray
from ..reports._labeled_reports import COLUMN, binary_buffers, is_binary
from ._layout import SurveyLayout
from ._messages import joined_messages
from ._survey_tally import LABEL, tally


def reports_by_question(layout: SurveyLayout, reports: Any) -> list[AnyArray]:
    """Return the reports to each question, in the order of the layout.

    Raises
    ------
    TypeError, ValueError
        If they do not answer this survey, or are damaged.
    """
    if hasattr(reports, "__arrow_c_stream__") and not is_binary(reports):
        pa = optional("pyarrow", "files")
        reports = reports if isinstance(reports, pa.Table) else pa.table(reports)  # a stream is read once
    tally(layout, reports)
    return [
        mechanism.report.arrange(mechanism.report.unpack(packed))
        for mechanism, packed in zip(layout.mechanisms, _packed(layout, reports), strict=True)
    ]


def _packed(layout: SurveyLayout, reports: Any) -> list[NDArray[np.uint8]]:
    """Return the bytes of valid reports to each question, shape (n, size)."""
    if isinstance(reports, bytes | bytearray | memoryview):
        reports = [reports]
    if isinstance(reports, list | tuple):
        return _of_messages(layout, *joined_messages(reports))
    if is_binary(reports):
        return _of_messages(layout, *binary_buffers(reports))
    if COLUMN in reports.column_names and LABEL not in reports.column_names:
        return _packed(layout, reports.column(COLUMN).to_pylist())
    found = []
    for name, size in zip(layout.names, layout.sizes, strict=True):
        values = b"".join(value for value in reports.column(name).to_pylist() if value is not None)
        found.append(np.frombuffer(values, np.uint8).reshape(-1, size))
    return found


def _of_messages(layout: SurveyLayout, data: Any, ends: NDArray[np.int64]) -> list[NDArray[np.uint8]]:
    sizes = np.array(layout.sizes, np.int64)
    _, packed, _ = split_messages(data, ends, layout.head, sizes, layout.answers)
    return [part.reshape(-1, size) for part, size in zip(packed, layout.sizes, strict=True)]
