"""Private modules of survey/, for tests of their parts."""

from ldpfast.survey import _calibration as calibration
from ldpfast.survey import _client as client
from ldpfast.survey import _compared_shares as compared_shares
from ldpfast.survey import _mechanisms as mechanisms
from ldpfast.survey import _number_columns as number_columns
from ldpfast.survey import _questions as questions
from ldpfast.survey import _shares as shares
from ldpfast.survey import _two_responses as two_responses

__all__ = [
    "EPOCH",
    "ColumnQuestion",
    "Shares",
    "TwoResponses",
    "calibration",
    "client",
    "column_of",
    "compared_shares",
    "for_symbols",
    "mechanisms",
    "number_columns",
    "questions",
    "shares",
    "two_responses",
]

for_symbols = mechanisms.for_symbols
column_of = questions.column_of
Shares = shares.Shares
ColumnQuestion = questions.ColumnQuestion
EPOCH = number_columns.EPOCH
TwoResponses = two_responses.TwoResponses
