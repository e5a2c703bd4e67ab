"""Surveys: many questions to every person, with one total privacy parameter.

`Survey` declares the questions. Its `privatize` and `client` are for the people, `aggregator` and `estimate` for the
server, `run` for both in one process, and `plan` estimates the precision of the answers before collecting.
"""

from .._frames import Coded as Coded
from .._frames import Piece as Piece
from .._frames import Source as Source
from .._table import Table
from ._answers import Answer
from ._choice import Choice
from ._client import Report, SurveyClient
from ._compare import SurveyComparison, compare
from ._cross import Cross, CrossAnswer
from ._histogram import Histogram, HistogramAnswer
from ._hypotheses import k_sample, two_sample
from ._ledger import Ledger
from ._mean import Mean
from ._number_columns import NumberColumn as NumberColumn
from ._pool_waves import pool
from ._questions import ColumnQuestion as ColumnQuestion
from ._questions import SurveyQuestion as SurveyQuestion
from ._repeated import Repeated, RepeatedRound
from ._repeated_client import RepeatedClient
from ._repeated_survey import RepeatedSurvey, SurveyRound
from ._result import SurveyResult
from ._survey import Survey
from ._survey_plan import SurveyPlan
from ._symbol_columns import SymbolColumn as SymbolColumn
from ._text import Text, TextAnswer
from ._versions import Loss
from ._weighting import poststratify, rake
from ._yes_no import YesNo

__all__ = [
    "Answer",
    "Choice",
    "Cross",
    "CrossAnswer",
    "Histogram",
    "HistogramAnswer",
    "Ledger",
    "Loss",
    "Mean",
    "Repeated",
    "RepeatedClient",
    "RepeatedRound",
    "RepeatedSurvey",
    "Report",
    "Survey",
    "SurveyClient",
    "SurveyComparison",
    "SurveyPlan",
    "SurveyResult",
    "SurveyRound",
    "Table",
    "Text",
    "TextAnswer",
    "YesNo",
    "compare",
    "k_sample",
    "pool",
    "poststratify",
    "rake",
    "two_sample",
]
