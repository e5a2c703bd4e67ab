"""Tables in files of any length, read in chunks, for surveys.

CSV, JSON Lines, Parquet and Feather files and .npy arrays. Parquet, Feather and CSV files are read by pyarrow. The memory use
does not depend on the length of a file. Error messages name the column and the position of a record, never its value.
"""

from ._arrow import damage_errors as damage_errors
from ._column_reader import MISSING as MISSING
from ._file_table import FileTable
from ._open import open_table as open_table
from ._status import STDIN as STDIN
from ._status import duplicates as duplicates
from ._status import require_regular as require_regular
from ._status import status_of as status_of

__all__ = ["FileTable"]
