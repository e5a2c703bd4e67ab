"""The cards of mechanisms and questions (tests/cards), for tools. They need the package, installed or on PYTHONPATH."""

import sys
import types
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1] / "tests"

# As pytest imports it: the folder of the tests is a package without a file, wherever the installed package is.
if "tests" not in sys.modules:
    sys.modules["tests"] = types.ModuleType("tests")
    sys.modules["tests"].__path__ = [str(TESTS)]

from tests.cards import CARDS as CARDS  # noqa: E402 (the package of the tests must exist)
from tests.cards._fault import INSTRUCTION_SETS as INSTRUCTION_SETS  # noqa: E402
from tests.cards._fault import Fault as Fault  # noqa: E402
from tests.cards._pages import KINDS as KINDS  # noqa: E402
from tests.cards._pages import Decision as Decision  # noqa: E402
from tests.cards._pages import Precision as Precision  # noqa: E402
from tests.cards.questions import QUESTION_CARDS as QUESTION_CARDS  # noqa: E402
