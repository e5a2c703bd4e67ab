"""The compiled modules, for tests of the kernels by themselves."""

from ldpfast import _core

__all__ = [
    "FAULTS",
    "MISSING",
    "ROWS",
    "UNDECLARED",
    "Column",
    "Kernel",
    "Stream",
    "StreamId",
    "SurveyKernel",
    "aes_form",
    "aes_forms",
    "isa",
    "isas",
    "kernel",
    "logit",
    "message_faults",
    "native",
    "noise",
    "normal",
    "order",
    "person",
    "privatize",
    "ranges",
    "raw",
    "series",
    "set_aes_form",
    "set_isa",
    "sgd",
    "split_messages",
    "stream",
    "strings",
    "survey",
    "tally",
    "transform",
]

aes_form = _core.aes_form
aes_forms = _core.aes_forms
isa = _core.isa
isas = _core.isas
set_aes_form = _core.set_aes_form
set_isa = _core.set_isa
kernel = _core.kernel
logit = _core.logit
native = _core.native
noise = _core.noise
normal = _core.normal
order = _core.order
person = _core.person
privatize = _core.privatize
ranges = _core.ranges
series = _core.series
sgd = _core.sgd
stream = _core.stream
strings = _core.strings
survey = _core.survey
tally = _core.tally
transform = _core.transform
Stream = stream.Stream
StreamId = stream.StreamId
Kernel = kernel.Kernel
raw = stream.raw
Column = survey.Column
FAULTS = survey.FAULTS
MISSING = survey.MISSING
ROWS = survey.ROWS
SurveyKernel = survey.SurveyKernel
UNDECLARED = survey.UNDECLARED
message_faults = survey.message_faults
split_messages = survey.split_messages
