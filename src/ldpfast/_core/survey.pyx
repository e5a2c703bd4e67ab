"""The loop over the people of a survey: check, assignment to questions, encoding, privatization, counting; and messages."""
from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcmp, memcpy, memset

import numpy as np

from ldpfast._core.blocks cimport load_key
from ldpfast._core.kernel cimport Kernel
from ldpfast._core.kernels cimport *

ROWS = SURVEY_ROWS
PARTS = SURVEY_PARTS
ROW_PARTS = SURVEY_ROW_PARTS
MISSING, UNDECLARED = SYMBOL_MISSING, SYMBOL_UNDECLARED
FIRST_ROWS: NDArray[np.uint16] = np.arange(SURVEY_ROWS, dtype=np.uint16)

# Kinds of columns by the names of NumPy's dtypes, and "bits", and bytes per value.
cdef dict KINDS = {
    "bits": (COLUMN_BITS, 0), "int8": (COLUMN_INT8, 1), "int16": (COLUMN_INT16, 2), "int32": (COLUMN_INT32, 4),
    "int64": (COLUMN_INT64, 8), "uint8": (COLUMN_UINT8, 1), "uint16": (COLUMN_UINT16, 2), "uint32": (COLUMN_UINT32, 4),
    "uint64": (COLUMN_UINT64, 8), "float32": (COLUMN_FLOAT32, 4), "float64": (COLUMN_FLOAT64, 8),
}


# Columns --------------------------------------------------------------------------------------------------------------


cdef class Column:
    """A column of a table in the layout of Arrow, for one question.

    Parameters
    ----------
    kind : str
        "bits", or the name of a NumPy dtype of integers or real numbers.
    values : buffer
        The values; bits are packed in little bit order.
    valid : buffer or None
        Packed bits, 0 where a value is missing.
    offset, n : int
        Number of the first row in both buffers, and number of rows.
    base : int
        Value of the first entry of `table`, for categories.
    table : buffer of uint32 or None
        Symbols of the values base, base + 1, ...; then that of a missing value. None for numbers.
    row_bytes : int
        0, or the bytes of a row: `values` are then strings in rows of equal length, whose last byte is not 0 if the row is
        invalid; or rows of ascending positions of 16 bits, the last of which is at least `ranges.NO_SET` if the row is invalid.
    """
    cdef column c
    cdef readonly size_t n, row_bytes
    cdef Py_buffer values, valid, table
    cdef bint has_values, has_valid, has_table

    def __cinit__(self, str kind, values: Any, valid: Any, size_t offset, size_t n, int64_t base=0,
                  table: NDArray[Any] | None = None, size_t row_bytes=0):
        cdef size_t end = offset + n, i, bytes_needed
        self.c.kind, width = KINDS[kind]
        if row_bytes:
            if width != 1 or valid is not None or table is not None or row_bytes > <size_t>SURVEY_ROW_BYTES:
                raise ValueError("a column of rows must have bytes alone, at most 512 in a row")
            self.row_bytes = width = row_bytes
        bytes_needed = end * <size_t>width if width else (end + 7) // 8
        PyObject_GetBuffer(values, &self.values, PyBUF_SIMPLE)
        self.has_values = True
        if valid is not None:
            PyObject_GetBuffer(valid, &self.valid, PyBUF_SIMPLE)
            self.has_valid = True
            self.c.valid = <const uint8_t *>self.valid.buf
        if self.values.len < <Py_ssize_t>bytes_needed or (self.has_valid and self.valid.len < <Py_ssize_t>((end + 7) // 8)):
            raise ValueError("a column must hold its rows")
        self.c.values, self.c.offset, self.n = self.values.buf, offset, n
        if table is not None:
            PyObject_GetBuffer(table, &self.table, PyBUF_SIMPLE)
            self.has_table = True
            self.c.table, self.c.base = <const uint32_t *>self.table.buf, base
            self.c.size = self.table.len // 4 - 1
            if self.table.len < 8 or self.table.len % 4 or (width == 0 and self.table.len != 12):
                raise ValueError("a table must have an entry for every value")
            self.c.declared = True
            for i in range(self.c.size):
                if self.c.table[i] >= SYMBOL_MISSING:
                    self.c.declared = False

    def __dealloc__(self):
        if self.has_values:
            PyBuffer_Release(&self.values)
        if self.has_valid:
            PyBuffer_Release(&self.valid)
        if self.has_table:
            PyBuffer_Release(&self.table)

    def numbers(self, size_t first, size_t n) -> NDArray[Any]:
        """Return the numbers of n rows, with NaN for missing ones."""
        cdef const uint16_t[::1] row = FIRST_ROWS
        cdef size_t i
        found = np.empty(n)
        cdef double[::1] out = found
        if first + n > self.n or self.has_table or self.row_bytes:
            raise ValueError("the column has no such numbers")
        for i in range(0, n, SURVEY_ROWS):
            column_numbers(&self.c, first + i, &row[0], min(<size_t>SURVEY_ROWS, n - i), &out[i])
        return found

    def symbols(self, size_t first, size_t n) -> NDArray[Any]:
        """Return the symbols of n rows."""
        cdef const uint16_t[::1] row = FIRST_ROWS
        cdef size_t i
        found = np.empty(n, np.uint32)
        cdef uint32_t[::1] out = found
        if first + n > self.n or not self.has_table:
            raise ValueError("the column has no such symbols")
        for i in range(0, n, SURVEY_ROWS):
            column_symbols(&self.c, first + i, &row[0], min(<size_t>SURVEY_ROWS, n - i), &out[i])
        return found

    def strings(self, size_t first, size_t n) -> NDArray[Any]:
        """Return n rows, shape (n, row_bytes)."""
        if first + n > self.n or not self.row_bytes:
            raise ValueError("the column has no such rows")
        found = np.empty((n, self.row_bytes), np.uint8)
        cdef uint8_t[:, ::1] out = found
        if n:
            memcpy(&out[0, 0], <const uint8_t *>self.c.values + (self.c.offset + first) * self.row_bytes, n * self.row_bytes)
        return found


# The plan of a survey -------------------------------------------------------------------------------------------------

# A declared question: how its column is turned into one of k symbols, a number, a string, or some of k positions.
cdef enum encoding:
    AS_SYMBOL, AS_LOW_HIGH, AS_BIN, AS_NUMBER, AS_STRING, AS_POSITIONS

ENCODINGS: dict[str, int] = {
    "symbol": AS_SYMBOL, "low-high": AS_LOW_HIGH, "bin": AS_BIN, "number": AS_NUMBER, "string": AS_STRING,
    "positions": AS_POSITIONS,
}

# How the parts of a question that is asked make a record: one symbol of all parts, or the number of the only one; the string of the
# only one; positions of all parts, as a set of pairs, triples, ... of their positions; or a row with the symbol of each part.
cdef enum joining:
    JOIN_SYMBOL, JOIN_STRING, JOIN_POSITIONS, JOIN_ROW

JOINS: dict[str, int] = {"symbol": JOIN_SYMBOL, "string": JOIN_STRING, "positions": JOIN_POSITIONS, "row": JOIN_ROW}

cdef struct part:
    int encoding, optional
    uint32_t k, steps  # 0 steps: numbers are not rounded to steps
    double lower, upper, start, per_range  # of valid numbers; of random rounding
    const double *edge
    size_t edges, row_bytes  # of a string or of positions, otherwise 0

# A question that is asked: its parts, and the kernel of its mechanism.
cdef struct asked:
    int part[SURVEY_ROW_PARTS]
    int join
    uint32_t parts
    privatize_fn privatize
    tally_fn tally
    const void *params
    const void *format
    size_t rows, report_bytes, record_bytes, blocks  # rows and blocks of the kernel's streams per block of the survey
    Py_ssize_t state_bytes

# Keys and working memory of one thread.
cdef struct workspace:
    stream_key master
    column *columns
    uint8_t **to        # buffers of the caller
    uint16_t *question  # of each row, for one answer per person
    uint16_t *left      # answers that are left, for more than one
    uint8_t *picked     # per asked question and row, for more than one
    uint16_t *row       # rows in the order of the questions, or those that are asked one
    uint32_t *start     # of each question in `row`
    uint32_t *group     # start of each group in `sorted`
    double *number
    uint64_t *word
    uint32_t *symbol
    uint32_t *other
    uint8_t *record
    uint8_t *rows       # strings, positions, or symbols of all parts
    uint8_t *report
    uint8_t *sorted     # reports in the order of the groups
    stream_key *key     # of each question
    uint8_t *opened


def check_parts(list parts: list[tuple[Any, ...]], size_t items, size_t item_bytes, int join) -> None:
    """Raise unless records of so many bytes, with `items` numbers each, are made of parts by a joining."""
    cdef size_t width = 1, positions = 1
    encodings = [ENCODINGS[part[0]] for part in parts]
    if join == JOIN_SYMBOL:
        if AS_STRING in encodings or AS_POSITIONS in encodings:
            raise ValueError("strings and positions must be joined as such")
        if item_bytes not in (1, 2, 4) and AS_NUMBER not in encodings:
            raise ValueError("a question must have fewer than 2^32 symbols")
    elif join == JOIN_STRING:
        if encodings != [AS_STRING] or item_bytes != <size_t>parts[0][7] or item_bytes != items:
            raise ValueError("a string must be the only part of a question, in records of its length")
    elif join == JOIN_POSITIONS:
        for encoding, part in zip(encodings, parts):
            if encoding in (AS_STRING, AS_NUMBER):
                raise ValueError("positions must be joined with symbols and positions")
            width *= max(1, part[7] // 2)
            positions *= part[1]
        if width != items or item_bytes != 2 * items or item_bytes > SURVEY_ROW_BYTES or positions > MISSING_POSITION:
            raise ValueError("records must have the positions of all parts, at most 256 of at most 65534")
    elif len(parts) != items or item_bytes != 2 * items or any(
        encoding not in (AS_SYMBOL, AS_BIN) or part[1] > 65536 for encoding, part in zip(encodings, parts)
    ):
        raise ValueError("a row must have a symbol below 2^16 of every part")


cdef class SurveyKernel:
    """The questions of a survey, and the loop over its people.

    Parameters
    ----------
    parts : list of tuple
        Declared questions: (encoding, k, optional, lower, upper, edges, steps, row_bytes), with an array of float64 edges or None.
    items : list of tuple
        Asked questions: (numbers of the parts, Kernel, bytes of a record, how the parts are joined: a key of `JOINS`).
    answers : int
        Questions per person.
    thresholds : array of uint32
        Ascending limits of the random words for one question per person.
    """
    cdef part *parts
    cdef asked *items
    cdef readonly size_t part_count, item_count
    cdef size_t answers, largest_report, largest_row
    cdef object keep
    cdef const uint32_t[::1] thresholds

    def __cinit__(self, list parts: list[tuple[str, int, bool, float, float, NDArray[Any] | None, int, int]],
                  list items: list[tuple[tuple[int, ...], Kernel, int, str]], size_t answers, thresholds: NDArray[Any]):
        cdef size_t i
        cdef int size, joined
        cdef Kernel kernel
        cdef const double[::1] edges
        self.part_count, self.item_count, self.answers = len(parts), len(items), answers
        self.parts = <part *>calloc(len(parts) + 1, sizeof(part))
        self.items = <asked *>calloc(len(items) + 1, sizeof(asked))
        if self.parts is NULL or self.items is NULL:
            raise MemoryError()
        self.thresholds = thresholds
        if not 1 <= answers <= len(items) < 65536 or (answers == 1 and len(thresholds) != len(items) - 1):
            raise ValueError("the number of answers does not fit the questions")
        self.keep = (parts, items)
        for i, (how, k, optional, lower, upper, edge, steps, row_bytes) in enumerate(parts):
            self.parts[i].encoding, self.parts[i].k, self.parts[i].optional = ENCODINGS[how], k, optional
            self.parts[i].lower, self.parts[i].upper = lower, upper
            self.parts[i].steps, self.parts[i].start = steps, 0 if steps else lower
            self.parts[i].per_range = 1 / <double>steps if steps else 1 / (upper - lower) if upper > lower else 0
            self.parts[i].row_bytes = row_bytes
            if edge is not None:
                edges = edge
                self.parts[i].edge, self.parts[i].edges = &edges[0], len(edges)
        for i, (own_parts, kernel, item_bytes, join) in enumerate(items):
            joined = self.items[i].join = JOINS[join]
            if not 1 <= len(own_parts) <= (SURVEY_ROW_PARTS if joined == JOIN_ROW else SURVEY_PARTS):
                raise ValueError("a question must have parts and a kernel for its records")
            check_parts([parts[place] for place in own_parts if 0 <= place < len(parts)], kernel.items, item_bytes, joined)
            size = {JOIN_STRING: 0, JOIN_POSITIONS: 1, JOIN_ROW: 1}.get(joined, {1: 0, 2: 1, 4: 2, 8: 3}.get(item_bytes, 3))
            if kernel.by_size[size] is NULL:
                raise ValueError("a question must have parts and a kernel for its records")
            if joined != JOIN_SYMBOL:
                self.largest_row = max(self.largest_row, <size_t>item_bytes)
            self.items[i].parts = len(own_parts)
            for j, place in enumerate(own_parts):
                if not 0 <= place < len(parts):
                    raise ValueError("a question must have parts and a kernel for its records")
                self.items[i].part[j] = place
            self.items[i].privatize, self.items[i].tally = kernel.by_size[size], kernel.tally_by_size[size]
            self.items[i].params, self.items[i].format = kernel.params, kernel.format
            self.items[i].rows, self.items[i].record_bytes = kernel.rows, item_bytes
            self.items[i].report_bytes = kernel.report_items * (kernel.report_size or <size_t>item_bytes)
            self.items[i].blocks = (SURVEY_ROWS + kernel.rows - 1) // kernel.rows
            self.items[i].state_bytes = kernel.state_bytes
            self.largest_report = max(self.largest_report, self.items[i].report_bytes)

    def __dealloc__(self):
        free(self.parts)
        free(self.items)

    # Steps of one block -----------------------------------------------------------------------------------------------

    cdef int first_invalid(self, const column *columns, size_t first, size_t n, bint clip) noexcept nogil:
        """Return the first declared question with an invalid answer in n rows, or -1."""
        cdef size_t q
        cdef part *p
        cdef bint invalid
        for q in range(self.part_count):
            p = &self.parts[q]
            if p.encoding == AS_SYMBOL:
                invalid = column_symbols_invalid(&columns[q], first, n)
            elif p.encoding == AS_STRING:
                invalid = self.strings_invalid(p, &columns[q], first, n)
            elif p.encoding == AS_POSITIONS:
                invalid = self.positions_invalid(p, &columns[q], first, n)
            elif clip:
                invalid = not p.optional and column_numbers_invalid(&columns[q], first, n, -INFINITY, INFINITY, 0)
            else:
                invalid = column_numbers_invalid(&columns[q], first, n, p.lower, p.upper, p.optional)
            if invalid:
                return <int>q
        return -1

    cdef bint strings_invalid(self, const part *p, const column *c, size_t first, size_t n) noexcept nogil:
        """Return whether one of n strings is marked as invalid."""
        cdef const uint8_t *last = <const uint8_t *>c.values + (c.offset + first + 1) * p.row_bytes - 1
        cdef uint8_t marks = 0
        cdef size_t i
        for i in range(n):
            marks |= last[i * p.row_bytes]
        return marks != 0

    cdef bint positions_invalid(self, const part *p, const column *c, size_t first, size_t n) noexcept nogil:
        """Return whether the last position of one of n rows marks it as invalid."""
        cdef const uint8_t *last = <const uint8_t *>c.values + (c.offset + first + 1) * p.row_bytes - 2
        cdef uint16_t position, largest = 0
        cdef size_t i
        for i in range(n):
            memcpy(&position, last + i * p.row_bytes, 2)
            largest = position if position > largest else largest
        return largest >= MISSING_POSITION

    cdef void copy_strings(self, const part *p, const column *c, size_t first, const uint16_t *row, size_t n,
                           uint8_t *out) noexcept nogil:
        """Write the strings of n rows."""
        cdef const uint8_t *start = <const uint8_t *>c.values + (c.offset + first) * p.row_bytes
        cdef size_t i
        for i in range(n):
            memcpy(out + i * p.row_bytes, start + row[i] * p.row_bytes, p.row_bytes)

    cdef void join_positions(self, const asked *item, const column *columns, size_t first, const uint16_t *row, size_t n,
                             stream_key *key, uint64_t block, workspace *w) noexcept nogil:
        """Write to `w.rows` the positions of n rows in the table of all parts, in C order. A symbol is one position."""
        cdef size_t i, a, b, place, width = 1, more, stride = item.record_bytes // 2
        cdef const part *p
        cdef const column *c
        cdef uint16_t *out
        cdef uint16_t before, own
        for i in range(n):
            (<uint16_t *>w.rows)[i * stride] = 0
        for place in range(item.parts):
            p, c = &self.parts[item.part[place]], &columns[item.part[place]]
            more = max(<size_t>1, p.row_bytes // 2)
            if p.encoding != AS_POSITIONS:
                self.encode(item.part[place], columns, first, row, n, key, place, block, w, w.other)
            for i in range(n):
                out = <uint16_t *>w.rows + i * stride
                for a in range(width, 0, -1):  # from the last one, in place
                    before = out[a - 1]
                    for b in range(more, 0, -1):
                        own = <uint16_t>w.other[i]
                        if p.encoding == AS_POSITIONS:
                            memcpy(&own, <const uint8_t *>c.values + (c.offset + first + row[i]) * p.row_bytes + 2 * (b - 1), 2)
                        out[(a - 1) * more + b - 1] = <uint16_t>(before * p.k + own)
            width *= more

    cdef void join_row(self, const asked *item, const column *columns, size_t first, const uint16_t *row, size_t n,
                       stream_key *key, uint64_t block, workspace *w) noexcept nogil:
        """Write to `w.rows` the symbols of all parts for n rows."""
        cdef size_t i, place
        for place in range(item.parts):
            self.encode(item.part[place], columns, first, row, n, key, place, block, w, w.other)
            for i in range(n):
                (<uint16_t *>w.rows)[i * item.parts + place] = <uint16_t>w.other[i]

    cdef void encode(self, int number, const column *columns, size_t first, const uint16_t *row, size_t n, stream_key *key,
                     uint32_t place, uint64_t block, workspace *w, uint32_t *out) noexcept nogil:
        """Write the symbols of part `place` of a question for n rows, or its numbers to `w.number`."""
        cdef part *p = &self.parts[number]
        cdef uint32_t last = p.k - 1, missing = last if p.optional else 0
        cdef double near
        cdef stream s
        cdef size_t i
        if p.encoding == AS_SYMBOL:
            column_symbols(&columns[number], first, row, n, out)
            for i in range(n):  # memory can change after the check
                out[i] = out[i] if out[i] < last else last
            return
        column_numbers(&columns[number], first, row, n, w.number)
        if p.steps:
            encode_steps(w.number, n, p.lower, p.upper, p.steps)
            if p.encoding == AS_NUMBER:
                for i in range(n):
                    w.number[i] = p.lower + w.number[i] * ((p.upper - p.lower) * p.per_range)
        if p.encoding == AS_NUMBER:  # far outside of the range, kernels do not return the report of the nearest end
            for i in range(n):
                near = w.number[i] if w.number[i] < p.upper else p.upper
                w.number[i] = near if near > p.lower else p.lower
        if p.encoding == AS_LOW_HIGH:
            s = rounding_stream(key, place, block)
            stream_draw(&s, w.word, blocks_for(n, 8))
            encode_low_high(w.word, w.number, n, p.start, p.per_range, missing, out)
        elif p.encoding == AS_BIN:
            encode_bins(w.number, n, p.edge, p.edges, missing, out)

    cdef void answer(self, size_t q, const column *columns, size_t first, const uint16_t *row, size_t n, stream_key *key,
                     uint64_t block, workspace *w) noexcept nogil:
        """Write the reports of n rows of block `block` for asked question q to `w.report`."""
        cdef asked *item = &self.items[q]
        cdef uint32_t k, place
        cdef size_t i
        cdef void *records = w.record
        if item.join != JOIN_SYMBOL:
            if item.join == JOIN_STRING:
                self.copy_strings(&self.parts[item.part[0]], &columns[item.part[0]], first, row, n, w.rows)
            elif item.join == JOIN_POSITIONS:
                self.join_positions(item, columns, first, row, n, key, block, w)
            else:
                self.join_row(item, columns, first, row, n, key, block, w)
            self.report(item, key, block, w.rows, n, w)
            return
        self.encode(item.part[0], columns, first, row, n, key, 0, block, w, w.symbol)
        for place in range(1, item.parts):
            self.encode(item.part[place], columns, first, row, n, key, place, block, w, w.other)
            k = self.parts[item.part[place]].k
            for i in range(n):
                w.symbol[i] = w.symbol[i] * k + w.other[i]
        if self.parts[item.part[0]].encoding == AS_NUMBER:
            records = w.number
        elif item.record_bytes == 1:
            for i in range(n):
                w.record[i] = <uint8_t>w.symbol[i]
        elif item.record_bytes == 2:
            for i in range(n):
                (<uint16_t *>w.record)[i] = <uint16_t>w.symbol[i]
        else:
            records = w.symbol
        self.report(item, key, block, records, n, w)

    cdef void report(self, const asked *item, stream_key *key, uint64_t block, void *records, size_t n,
                     workspace *w) noexcept nogil:
        """Write the reports of n records of block `block` to `w.report`."""
        cdef size_t i = 0, now
        cdef uint64_t at = block * item.blocks
        while i < n:
            now = min(item.rows, n - i)
            item.privatize(item.params, key, at, <char *>records + i * item.record_bytes, now, w.report + i * item.report_bytes)
            at += 1
            i += now

    cdef void assign(self, stream_key *key, uint64_t block, size_t n, workspace *w) noexcept nogil:
        """Sort the rows of a block by question, for one answer per person."""
        cdef size_t i, q, total = 0
        cdef uint32_t count
        assign_one(key, block, &self.thresholds[0] if self.item_count > 1 else NULL, self.item_count - 1, n, w.question)
        memset(w.start, 0, (self.item_count + 1) * sizeof(uint32_t))
        for i in range(n):
            w.start[w.question[i]] += 1
        for q in range(self.item_count):
            count = w.start[q]
            w.start[q] = total
            total += count
        for i in range(n):
            q = w.question[i]
            w.row[w.start[q]] = <uint16_t>i
            w.start[q] += 1
        for q in range(self.item_count, 0, -1):
            w.start[q] = w.start[q - 1]
        w.start[0] = 0

    cdef size_t pick(self, stream_key *key, uint64_t block, size_t q, size_t n, workspace *w) noexcept nogil:
        """Find the rows of a block that are asked question q, for several answers per person. Return their number."""
        cdef size_t i, count = 0
        cdef uint8_t *picked = w.picked + q * SURVEY_ROWS
        if q == 0:
            for i in range(n):
                w.left[i] = <uint16_t>self.answers
        if self.answers == self.item_count:
            memset(picked, 1, n)
        else:
            assign_step(key, block, q, <uint32_t>(self.item_count - q), n, w.left, picked)
        for i in range(n):
            if picked[i]:
                w.row[count] = <uint16_t>i
                count += 1
        return count

    cdef void sort_reports(self, const uint16_t *row, size_t n, const uint32_t *member, size_t groups, size_t size,
                           workspace *w) noexcept nogil:
        """Sort the n reports of the given rows, of `size` bytes each, by the groups of the rows."""
        cdef size_t i, g
        memset(w.group, 0, (groups + 1) * sizeof(uint32_t))
        for i in range(n):
            w.group[member[row[i]] + 1] += 1
        for g in range(groups):
            w.group[g + 1] += w.group[g]
        for i in range(n):
            g = member[row[i]]
            memcpy(w.sorted + w.group[g] * size, w.report + i * size, size)
            w.group[g] += 1
        for g in range(groups, 0, -1):
            w.group[g] = w.group[g - 1]
        w.group[0] = 0

    cdef stream_key *key_of(self, stream_key *master, size_t q, workspace *w) noexcept nogil:
        """Return the key of a question, derived from that of the survey."""
        cdef uint8_t bytes[32]
        cdef stream s
        if not w.opened[q]:
            s = stream_open(master, STREAM_SURVEY_KEYS, q)
            stream_draw(&s, bytes, KEY_BYTES // AES_BLOCK)
            key_open(&w.key[q], bytes)
            key_wipe(bytes, sizeof(bytes))
            w.opened[q] = 1
        return &w.key[q]

    # Working memory ---------------------------------------------------------------------------------------------------

    cdef int open_workspace(self, workspace *w, key, list columns, size_t stop, size_t n, size_t groups,
                            list buffers) except -1:
        """Prepare a loop over n rows that end with row `stop` - 1. Whether or not this raises, `close_workspace` follows."""
        cdef size_t i
        cdef size_t rows = min(<size_t>SURVEY_ROWS, n + 2)
        memset(w, 0, sizeof(workspace))
        load_key(key, &w.master)
        w.columns = self.columns_of(columns, stop)
        w.to = <uint8_t **>malloc(len(buffers) * sizeof(uint8_t *))
        w.question = <uint16_t *>malloc(2 * rows)
        w.row = <uint16_t *>malloc(2 * rows)
        w.left = <uint16_t *>malloc(2 * rows)
        w.picked = <uint8_t *>malloc(SURVEY_ROWS * self.item_count if self.answers > 1 else 1)
        w.start = <uint32_t *>malloc(4 * (self.item_count + 1))
        w.group = <uint32_t *>malloc(4 * (groups + 1))
        w.number = <double *>malloc(8 * rows)
        w.word = <uint64_t *>malloc(8 * rows + 8)
        w.symbol = <uint32_t *>malloc(4 * rows)
        w.other = <uint32_t *>malloc(4 * rows)
        w.record = <uint8_t *>malloc(2 * rows)
        w.rows = <uint8_t *>malloc(rows * self.largest_row + 1)
        w.report = <uint8_t *>malloc(rows * self.largest_report)
        w.sorted = <uint8_t *>malloc(rows * self.largest_report if groups > 1 else 1)
        w.key = <stream_key *>malloc(self.item_count * sizeof(stream_key))
        w.opened = <uint8_t *>calloc(self.item_count, 1)
        if (w.question is NULL or w.row is NULL or w.left is NULL or w.picked is NULL or w.start is NULL or w.number is NULL
                or w.word is NULL or w.symbol is NULL or w.other is NULL or w.record is NULL or w.rows is NULL or w.report is NULL
                or w.key is NULL or w.opened is NULL or w.to is NULL or w.group is NULL or w.sorted is NULL):
            raise MemoryError()
        for i in range(<size_t>len(buffers)):
            w.to[i] = address_of(buffers[i])
        return 0

    cdef int close_workspace(self, workspace *w) except -1:
        """Wipe the keys and free the memory. Raise if a stream was exhausted."""
        cdef int exhausted = w.master.exhausted
        cdef size_t q
        key_wipe(&w.master, sizeof(stream_key))
        if w.key is not NULL and w.opened is not NULL:
            for q in range(self.item_count):
                exhausted |= w.opened[q] and w.key[q].exhausted
            key_wipe(w.key, self.item_count * sizeof(stream_key))
        for memory in (<size_t>w.question, <size_t>w.row, <size_t>w.left, <size_t>w.picked, <size_t>w.start, <size_t>w.number,
                       <size_t>w.word, <size_t>w.symbol, <size_t>w.other, <size_t>w.record, <size_t>w.rows, <size_t>w.report,
                       <size_t>w.key, <size_t>w.opened, <size_t>w.columns, <size_t>w.to, <size_t>w.group, <size_t>w.sorted):
            free(<void *><size_t>memory)
        if exhausted:
            raise OverflowError("a stream of random words is exhausted")
        return 0

    cdef column *columns_of(self, list columns, size_t n) except NULL:
        """Return the structs of columns with n rows each."""
        cdef column *found = <column *>calloc(self.part_count + 1, sizeof(column))
        cdef Column c
        cdef size_t q
        if found is NULL:
            raise MemoryError()
        for q in range(self.part_count):
            c = columns[q]
            if c.n < n or c.has_table != (self.parts[q].encoding == AS_SYMBOL) or c.row_bytes != self.parts[q].row_bytes:
                free(found)
                raise ValueError("a column does not fit its question")
            found[q] = c.c
        return found

    # The loops --------------------------------------------------------------------------------------------------------

    def first_invalid_block(self, list columns: list[Column], size_t n, bint clip) -> tuple[int, int] | None:
        """Return the result of `privatize` for n rows, without reports."""
        cdef column *c = self.columns_of(columns, n)
        cdef size_t at = 0
        cdef int invalid = -1
        with nogil:
            while at < n and invalid < 0:
                invalid = self.first_invalid(c, at, min(<size_t>SURVEY_ROWS, n - at), clip)
                at += SURVEY_ROWS
        free(c)
        return None if invalid < 0 else (invalid, at - SURVEY_ROWS)

    def privatize(self, key: Stream | bytes, uint64_t block, list columns: list[Column], size_t start, size_t stop,
                  bint clip, list reports: list[Any], list valid: list[Any]) -> tuple[int, int] | None:
        """Write the reports of the rows start .. stop - 1, where `start` is a multiple of `ROWS`.

        `reports` has one buffer per asked question, with room for a report of every row, and `valid` one of packed bits,
        zeros at first. Row 0 is the first of record block `block` of the survey. Returns None, or the number of a declared
        question with an invalid answer and the first row of its block.
        """
        cdef workspace w
        cdef stream_key *own
        cdef size_t q, i, at, now, size, count
        cdef const uint16_t *row
        cdef int invalid = -1
        if start % SURVEY_ROWS:
            raise ValueError("start must be a multiple of ROWS")
        for q in range(self.item_count):
            if memoryview(reports[q]).nbytes < stop * self.items[q].report_bytes or memoryview(valid[q]).nbytes < (stop + 7) // 8:
                raise ValueError("there must be room for the reports")
        try:
            self.open_workspace(&w, key, columns, stop, stop - start, 1, reports[:self.item_count] + valid[:self.item_count])
            with nogil:
                at = start
                while at < stop:
                    now = min(<size_t>SURVEY_ROWS, stop - at)
                    invalid = self.first_invalid(w.columns, at, now, clip)
                    if invalid >= 0:
                        break
                    if self.answers == 1:
                        self.assign(&w.master, block + at // SURVEY_ROWS, now, &w)
                    for q in range(self.item_count):
                        if self.answers == 1:
                            row, count = w.row + w.start[q], w.start[q + 1] - w.start[q]
                        else:
                            row, count = w.row, self.pick(&w.master, block + at // SURVEY_ROWS, q, now, &w)
                        if count == 0:
                            continue
                        own = self.key_of(&w.master, q, &w)
                        self.answer(q, w.columns, at, row, count, own, block + at // SURVEY_ROWS, &w)
                        size = self.items[q].report_bytes
                        for i in range(count):
                            memcpy(w.to[q] + (at + row[i]) * size, w.report + i * size, size)
                            w.to[self.item_count + q][(at + row[i]) // 8] |= 1 << row[i] % 8
                    at += now
        finally:
            self.close_workspace(&w)
        return None if invalid < 0 else (invalid, at)

    def run(self, key: Stream | bytes, uint64_t block, list columns: list[Column], size_t start, size_t stop, bint clip,
            groups: NDArray[Any] | None, size_t group_count, list states: list[Any], int64_t[:, ::1] counts,
            pairs: NDArray[Any], int64_t[:, ::1] pair_counts) -> tuple[int, int] | None:
        """Add the reports of the rows start .. stop - 1 to states, without storing them.

        `groups` is None or has the number of the group of each row, below `group_count`. `states` has one buffer per asked
        question, with a state for each group, and a row of `counts` has the numbers of reports of a group to each question.
        `pairs` has the numbers of two asked questions in each row, and a row of `pair_counts` how many people of a group
        answered both. The groups do not change the reports: `privatize` makes the same.
        """
        cdef workspace w
        cdef stream_key *own
        cdef size_t q, g, i, j, at, now, size, count
        cdef const uint16_t *row
        cdef int invalid = -1
        cdef const uint32_t[::1] group = groups if groups is not None else np.zeros(1, np.uint32)
        cdef const int32_t[:, ::1] pair = pairs
        cdef const uint32_t *member
        if start % SURVEY_ROWS or group_count < 1 or (groups is not None and len(groups) < stop):
            raise ValueError("start must be a multiple of ROWS, and every row must have a group")
        if groups is not None and stop > start and np.max(groups[start:stop]) >= group_count:
            raise ValueError("groups must be below their number")
        if len(states) != self.item_count or counts.shape[1] != self.item_count or counts.shape[0] != group_count:
            raise ValueError("there must be a state for every question and group")
        if pair_counts.shape[1] != pair.shape[0] or pair_counts.shape[0] != group_count:
            raise ValueError("there must be a count for every pair and group")
        for q in range(self.item_count):
            if memoryview(states[q]).nbytes != self.items[q].state_bytes * <Py_ssize_t>group_count:
                raise ValueError("a state does not fit its question")
        try:
            self.open_workspace(&w, key, columns, stop, stop - start, group_count, states)
            with nogil:
                at = start
                while at < stop:
                    now = min(<size_t>SURVEY_ROWS, stop - at)
                    invalid = self.first_invalid(w.columns, at, now, clip)
                    if invalid >= 0:
                        break
                    member = &group[at] if group_count > 1 else NULL
                    if self.answers == 1:
                        self.assign(&w.master, block + at // SURVEY_ROWS, now, &w)
                    for q in range(self.item_count):
                        if self.answers == 1:
                            row, count = w.row + w.start[q], w.start[q + 1] - w.start[q]
                        else:
                            row, count = w.row, self.pick(&w.master, block + at // SURVEY_ROWS, q, now, &w)
                        if count == 0:
                            continue
                        own = self.key_of(&w.master, q, &w)
                        self.answer(q, w.columns, at, row, count, own, block + at // SURVEY_ROWS, &w)
                        size = self.items[q].report_bytes
                        if group_count == 1:
                            self.items[q].tally(self.items[q].format, w.report, count, w.to[q])
                            counts[0, q] += count
                            continue
                        self.sort_reports(row, count, member, group_count, size, &w)
                        for g in range(group_count):
                            count = w.group[g + 1] - w.group[g]
                            if count:
                                self.items[q].tally(self.items[q].format, w.sorted + w.group[g] * size, count,
                                                    w.to[q] + g * self.items[q].state_bytes)
                                counts[g, q] += count
                    for j in range(<size_t>pair.shape[0]):
                        for i in range(now):
                            pair_counts[member[i] if group_count > 1 else 0, j] += (
                                w.picked[pair[j, 0] * SURVEY_ROWS + i] & w.picked[pair[j, 1] * SURVEY_ROWS + i])
                    at += now
        finally:
            self.close_workspace(&w)
        return None if invalid < 0 else (invalid, at)


cdef uint8_t *address_of(buffer) except NULL:
    """Return the address of a writable buffer, which its owner keeps alive."""
    cdef Py_buffer view
    PyObject_GetBuffer(buffer, &view, PyBUF_WRITABLE)
    cdef uint8_t *found = <uint8_t *>view.buf
    PyBuffer_Release(&view)
    return found


# Messages -------------------------------------------------------------------------------------------------------------

FAULTS: tuple[str, ...] = ("", "length", "version", "fingerprint", "question", "order")


cdef int message_fault(const uint8_t[::1] whole, int64_t first, int64_t end, const uint8_t *start, const int64_t[::1] sizes,
                       size_t answers, uint16_t *questions) noexcept nogil:
    """Return the number of the fault of a message in `FAULTS`, 0 for none; write the questions that it answers."""
    cdef size_t at = 9, length, a
    cdef int previous = -1
    cdef uint32_t q
    cdef const uint8_t *m
    if first < 0 or end < first or end > whole.shape[0] or end - first < 9:
        return 1
    length, m = end - first, &whole[first]
    if m[0] != start[0]:
        return 2
    if memcmp(m, start, 9):
        return 3
    for a in range(answers):
        if at + 2 > length:
            return 1
        q = m[at] | <uint32_t>m[at + 1] << 8
        if q >= <size_t>sizes.shape[0]:
            return 4
        if <int>q <= previous:
            return 5
        at += 2 + sizes[q]
        if at > length:
            return 1
        questions[a] = <uint16_t>q
        previous = q
    return at != length


def message_faults(data: Any, const int64_t[::1] ends, bytes head, const int64_t[::1] sizes, size_t answers) -> NDArray[Any]:
    """Return the numbers of the faults of messages in `FAULTS`, 0 for none; the arguments are those of `split_messages`."""
    cdef const uint8_t[::1] whole = data
    cdef const uint8_t *start = <const uint8_t *><const char *>head
    cdef Py_ssize_t i, n = len(ends) - 1
    if len(head) != 9:
        raise ValueError("a head has 9 bytes")
    faults, room = np.empty(n, np.uint8), np.empty(answers + 1, np.uint16)
    cdef uint8_t[::1] fault = faults
    cdef uint16_t[::1] questions = room
    with nogil:
        for i in range(n):
            fault[i] = <uint8_t>message_fault(whole, ends[i], ends[i + 1], start, sizes, answers, &questions[0])
    return faults


def split_messages(data: Any, const int64_t[::1] ends, bytes head, const int64_t[::1] sizes,
                   size_t answers) -> tuple[NDArray[Any] | None, list[NDArray[Any]], tuple[int, int] | None]:
    """Return the questions that messages answer, and their reports; or the first invalid message and its fault.

    Parameters
    ----------
    data : buffer
        The messages, joined.
    ends : array of int64
        Start of the first message, then the end of each.
    head : bytes
        Version byte and fingerprint, with which every message starts.
    sizes : array of int64
        Bytes per report of each question.
    answers : int
        Answers per message.

    Returns
    -------
    questions : ndarray of uint16, shape (messages, answers), or None
    reports : list of ndarray of uint8, one per question
        Reports in the order of the messages.
    fault : tuple or None
        Index of the first invalid message, and the number of its fault in `FAULTS`.
    """
    cdef const uint8_t[::1] whole = data
    cdef const uint8_t *start = <const uint8_t *><const char *>head
    cdef size_t n = len(ends) - 1, d = len(sizes), i, a, at
    cdef int fault = 0
    cdef uint32_t q
    questions = np.zeros((n, answers), np.uint16)
    found = np.zeros(d + 1, np.int64)
    cdef uint16_t[:, ::1] question = questions
    cdef int64_t[::1] count = found
    cdef uint8_t **to
    if len(head) != 9:
        raise ValueError("a head has 9 bytes")
    with nogil:
        for i in range(n):
            fault = message_fault(whole, ends[i], ends[i + 1], start, sizes, answers, &question[i, 0] if answers else NULL)
            if fault:
                break
            for a in range(answers):
                count[question[i, a]] += 1
    if fault:
        return None, [], (i, fault)
    reports = [np.empty(found[q] * sizes[q], np.uint8) for q in range(d)]
    to = <uint8_t **>calloc(d + 1, sizeof(uint8_t *))
    if to is NULL:
        raise MemoryError()
    try:
        for q in range(d):
            if found[q]:
                to[q] = address_of(reports[q])
        with nogil:
            for i in range(n):
                at = ends[i] + 9
                for a in range(answers):
                    q = question[i, a]
                    memcpy(to[q], &whole[at + 2], sizes[q])
                    to[q] += sizes[q]
                    at += 2 + sizes[q]
    finally:
        free(to)
    return questions, reports, None
