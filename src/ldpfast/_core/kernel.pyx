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
    """

    cdef void privatize_blocks(self, privatize_fn kernel, stream_key *key, uint64_t block, const char *x,
                              size_t record_bytes, size_t n, char *out, size_t report_bytes) noexcept nogil:
        """Privatize n records, starting at block number `block`."""
        cdef size_t i = 0, now, rows = self.rows
        while i < n:
            now = min(rows, n - i)
            kernel(self.params, key, block, x + i * record_bytes, now, out + i * report_bytes)
            block += 1
            i += now

    def privatize(self, key, uint64_t block, x, out):
        """Fill `out` with the reports of the records `x`, starting at block number `block` of the key."""
        cdef Py_buffer records, reports
        cdef stream_key k
        cdef int size
        cdef size_t record_bytes, report_bytes, n
        load_key(key, &k)
        try:
            PyObject_GetBuffer(x, &records, PyBUF_SIMPLE)
            try:
                PyObject_GetBuffer(out, &reports, PyBUF_WRITABLE)
                try:
                    size = size_index(records.itemsize)
                    record_bytes = self.items * records.itemsize
                    report_bytes = self.report_items * (self.report_size or records.itemsize)
                    n = records.len // record_bytes
                    if (self.by_size[size] is NULL or records.len % record_bytes
                            or reports.len != <Py_ssize_t>(n * report_bytes)):
                        raise ValueError("records and reports do not fit together")
                    with nogil:
                        self.privatize_blocks(self.by_size[size], &k, block, <const char *>records.buf,
                                                          record_bytes, n, <char *>reports.buf, report_bytes)
                finally:
                    PyBuffer_Release(&reports)
            finally:
                PyBuffer_Release(&records)
        finally:
            close_key(&k)

    def run(self, key, uint64_t block, x, state):
        """Privatize the records `x` and add the reports to `state`, without storing them."""
        cdef Py_buffer records, counts
        cdef stream_key k
        cdef int size
        cdef size_t record_bytes, report_bytes, n, i = 0, now, together
        cdef char *scratch
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
                    scratch = <char *>malloc(min(together, n) * report_bytes + 1)
                    if scratch is NULL:
                        raise MemoryError()
                    with nogil:
                        while i < n:
                            now = min(together, n - i)
                            self.privatize_blocks(self.by_size[size], &k, block,
                                                               <const char *>records.buf + i * record_bytes,
                                                               record_bytes, now, scratch, report_bytes)
                            self.tally_by_size[size](self.format, scratch, now, counts.buf)
                            block += together // self.rows
                            i += now
                    free(scratch)
                finally:
                    PyBuffer_Release(&counts)
            finally:
                PyBuffer_Release(&records)
        finally:
            close_key(&k)
