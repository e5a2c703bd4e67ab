"""Private modules of the server, for tests of their parts."""

from ldpfast.server import _access as access
from ldpfast.server import _alerts as alerts
from ldpfast.server import _exports as exports
from ldpfast.server import _loss as loss
from ldpfast.server import _mounted
from ldpfast.server import _page_states as page_states
from ldpfast.server import _receiver as server_receiver
from ldpfast.server import _reports as reports
from ldpfast.server import _server_plan as server_plan
from ldpfast.server import _store as server_store
from ldpfast.server import _tables as tables
from ldpfast.server import _wire as wire
from ldpfast.server import _withdrawal as withdrawal

__all__ = [
    "VERSION",
    "LoggedIds",
    "MessageAges",
    "Outcome",
    "Receiver",
    "Reports",
    "ServerPlan",
    "Status",
    "Store",
    "SurveyOccasion",
    "UnavailableError",
    "access",
    "alerts",
    "exported_messages",
    "exported_state",
    "exports",
    "loss",
    "metadata",
    "mounted",
    "page_states",
    "reports",
    "server_plan",
    "server_receiver",
    "server_store",
    "tables",
    "wire",
    "withdrawal",
]

exported_messages = exports.exported_messages
exported_state = exports.exported_state
LoggedIds = server_store.LoggedIds
Reports = reports.Reports
Status = reports.Status
ServerPlan = server_plan.ServerPlan
SurveyOccasion = server_plan.SurveyOccasion
Outcome = server_receiver.Outcome
Receiver = server_receiver.Receiver
UnavailableError = server_receiver.UnavailableError
MessageAges = server_receiver.MessageAges
Store = server_store.Store
VERSION = tables.VERSION
metadata = tables.metadata
mounted = _mounted.mounted
