"""Surveys: many questions to every person, with one total privacy parameter.

`Survey` declares the questions. Its `privatize` and `client` are for the people, `aggregator` and `estimate` for the
server, `run` for both in one process, and `plan` tells beforehand how exact the answers will be.
"""

from .._frames import Coded, Piece, Source
from .._table import Table
from ._client import SurveyClient
from ._design import SurveyPlan
from ._questions import Choice, ColumnQuestion, Cross, Histogram, Mean, SurveyQuestion, YesNo
from ._repeated import Repeated, RepeatedClient, RepeatedRound
from ._result import Answer, CrossAnswer, HistogramAnswer, SurveyResult
from ._survey import Survey

__all__ = [
    "Answer",
    "Choice",
    "Coded",
    "ColumnQuestion",
    "Cross",
    "CrossAnswer",
    "Histogram",
    "HistogramAnswer",
    "Mean",
    "Piece",
    "Repeated",
    "RepeatedClient",
    "RepeatedRound",
    "Source",
    "Survey",
    "SurveyClient",
    "SurveyPlan",
    "SurveyQuestion",
    "SurveyResult",
    "Table",
    "YesNo",
]
