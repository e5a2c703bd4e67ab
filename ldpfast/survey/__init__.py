"""Surveys: many questions to every person, with one total privacy parameter.

`Survey` declares the questions. Its `privatize` and `client` are for the people, `aggregator` and `estimate` for the
server, `run` for both in one process, and `plan` estimates the precision of the answers before collecting.
"""

from .._frames import Coded as Coded
from .._frames import Piece as Piece
from .._frames import Source as Source
from .._table import Table as Table
from ._answers import Answer as Answer
from ._calendar import Calendar
from ._choice import Choice
from ._client import Report as Report
from ._client import SurveyClient as SurveyClient
from ._compare import SurveyComparison as SurveyComparison
from ._compare import compare
from ._cross import Cross
from ._cross import CrossAnswer as CrossAnswer
from ._explanation import Explanation as Explanation
from ._histogram import Histogram
from ._histogram import HistogramAnswer as HistogramAnswer
from ._hypotheses import k_sample, two_sample
from ._ledger import Ledger
from ._mean import Mean
from ._number import Number
from ._number_answer import NumberAnswer as NumberAnswer
from ._number_columns import NumberColumn as NumberColumn
from ._option_answers import OptionsAnswer as OptionsAnswer
from ._pairs import Pairs
from ._pairs_answer import PairMoment as PairMoment
from ._pairs_answer import PairsAnswer as PairsAnswer
from ._pool_waves import pool
from ._publication import Publication as Publication
from ._questions import ColumnQuestion as ColumnQuestion
from ._questions import SurveyQuestion as SurveyQuestion
from ._repeated import Repeated
from ._repeated import RepeatedRound as RepeatedRound
from ._repeated_client import RepeatedClient as RepeatedClient
from ._repeated_survey import RepeatedSurvey as RepeatedSurvey
from ._repeated_survey import SurveyRound as SurveyRound
from ._result import SurveyResult as SurveyResult
from ._set_tables import SetTableAnswer as SetTableAnswer
from ._several import Several
from ._survey import Survey
from ._survey_plan import SurveyPlan as SurveyPlan
from ._symbol_columns import SymbolColumn as SymbolColumn
from ._text import Text
from ._text import TextAnswer as TextAnswer
from ._together import Together
from ._together import TogetherAnswer as TogetherAnswer
from ._versions import Loss as Loss
from ._weighting import calibrate, poststratify, rake
from ._yes_no import YesNo

__all__ = [
    "Calendar",
    "Choice",
    "Cross",
    "Histogram",
    "Ledger",
    "Mean",
    "Number",
    "Pairs",
    "Repeated",
    "Several",
    "Survey",
    "Text",
    "Together",
    "YesNo",
    "calibrate",
    "compare",
    "k_sample",
    "pool",
    "poststratify",
    "rake",
    "two_sample",
]
