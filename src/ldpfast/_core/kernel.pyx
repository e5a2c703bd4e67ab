"""The compiled part of a mechanism: its parameters, its kernels, and the loop over record blocks."""
from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdlib cimport free, malloc

from ldpfast._core.blocks cimport close_key, load_key, size_index

cdef size_t SCRATCH_BYTES = 65536  # bytes of reports that are drawn and then counted, so that they stay in cache


cdef class Kernel:
    """Base class of the kernels of all mechanisms. A subclass holds the structs of parameters and sets the attributes.

    Attributes
    ----------
    rows : int
        Number of records per block. Blocks share no random words.
    checks : bool
        True: the results of `privatize` and `run` tell whether all records are valid.
    """

    @property
    def checks(self):
        return True

    cdef bint privatize_blocks(self, int size, stream_key *key, uint64_t block, const char *x, size_t n, char *out,
                               char *clipped) noexcept nogil:
        """Privatize n records with items of 2^size bytes, starting at block number `block`.

        `clipped` has room for the records of one block, which are clipped first; or it is NULL. Returns whether all
        records are certainly valid.
        """
        cdef privatize_fn kernel = self.by_size[size]
        cdef size_t i = 0, now, rows = self.rows, record_bytes = self.items << size
        cdef size_t report_bytes = self.report_items * (self.report_size or <size_t>1 << size)
        cdef const char *records
        cdef bint valid = True
        while i < n:
            now = min(rows, n - i)
            records = x + i * record_bytes
            if clipped is not NULL:
                self.clip_by_size[size](self.clip_params, records, now, clipped)
                records = clipped
            if kernel(self.params, key, block, records, now, out + i * report_bytes):
                valid = False
            block += 1
            i += now
        return valid

    def privatize(self, key, uint64_t block, x, out, bint clip=False):
        """Fill `out` with the reports of the records `x`, starting at block number `block` of the key.

        Returns whether all records are certainly valid. With `clip` the nearest valid records are used.
        """
        cdef Py_buffer records, reports
        cdef stream_key k
        cdef int size
        cdef size_t record_bytes, n
        cdef char *clipped = NULL
        cdef bint valid
        load_key(key, &k)
        try:
            PyObject_GetBuffer(x, &records, PyBUF_SIMPLE)
            try:
                PyObject_GetBuffer(out, &reports, PyBUF_WRITABLE)
                try:
                    size = size_index(records.itemsize)
                    record_bytes = self.items * records.itemsize
                    n = records.len // record_bytes
                    if (self.by_size[size] is NULL or records.len % record_bytes or reports.len != <Py_ssize_t>(
                            n * self.report_items * (self.report_size or records.itemsize))):
                        raise ValueError("records and reports do not fit together")
                    if clip and self.clip_by_size[size] is not NULL:
                        clipped = <char *>allocate(min(<size_t>self.rows, n) * record_bytes)
                    with nogil:
                        valid = self.privatize_blocks(size, &k, block, <const char *>records.buf, n, <char *>reports.buf,
                                                      clipped)
                finally:
                    free(clipped)
                    PyBuffer_Release(&reports)
            finally:
                PyBuffer_Release(&records)
        finally:
            close_key(&k)
        return valid

    def run(self, key, uint64_t block, x, state, bint clip=False):
        """Privatize the records `x` and add the reports to `state`, without storing them.

        Returns whether all records are certainly valid. With `clip` the nearest valid records are used.
        """
        cdef Py_buffer records, counts
        cdef stream_key k
        cdef int size
        cdef size_t record_bytes, report_bytes, n, i = 0, now, together
        cdef char *clipped = NULL
        cdef char *scratch = NULL
        cdef bint valid = True
        load_key(key, &k)
        try:
            PyObject_GetBuffer(x, &records, PyBUF_SIMPLE)
            try:
                PyObject_GetBuffer(state, &counts, PyBUF_WRITABLE)
                try:
                    size = size_index(records.itemsize)
                    record_bytes = self.items * records.itemsize
                    report_bytes = self.report_items * (self.report_size or records.itemsize)
                    n = records.len // record_bytes
                    if self.by_size[size] is NULL or records.len % record_bytes or counts.len != self.state_bytes:
                        raise ValueError("records and state do not fit together")
                    together = self.rows * max(<size_t>1, SCRATCH_BYTES // (self.rows * report_bytes))
                    scratch = <char *>allocate(min(together, n) * report_bytes)
                    if clip and self.clip_by_size[size] is not NULL:
                        clipped = <char *>allocate(min(<size_t>self.rows, n) * record_bytes)
                    with nogil:
                        while i < n:
                            now = min(together, n - i)
                            if not self.privatize_blocks(size, &k, block, <const char *>records.buf + i * record_bytes,
                                                         now, scratch, clipped):
                                valid = False
                            self.tally_by_size[size](self.format, scratch, now, counts.buf)
                            block += together // self.rows
                            i += now
                finally:
                    free(scratch)
                    free(clipped)
                    PyBuffer_Release(&counts)
            finally:
                PyBuffer_Release(&records)
        finally:
            close_key(&k)
        return valid


cdef void *allocate(size_t bytes) except NULL:
    """Return `bytes` bytes of memory, at least one."""
    cdef void *memory = malloc(bytes + 1)
    if memory is NULL:
        raise MemoryError()
    return memory
