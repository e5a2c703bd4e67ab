# Included by the modules that privatize. The compiled half of a mechanism: its parameters, its kernel by the item size of
# the records, and how its reports are counted. A subclass holds the structs and fills in the rest.
from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport uint64_t
from libc.stdlib cimport free, malloc

from blocks cimport load_key, privatize_blocks, run_blocks, size_index
from kernels cimport (
    REPORT_BITS, REPORT_DOUBLES, REPORT_FLOATS, kernel_handle, key_wipe, privatize_fn, stream_key, tally_fn,
)

cdef size_t SCRATCH_BYTES = 65536


cdef class Kernel:
    cdef privatize_fn by_size[4]
    cdef tally_fn tally_by_size[4]
    cdef const void *params
    cdef const void *format
    cdef size_t items          # numbers per record
    cdef size_t report_items   # items per report
    cdef size_t report_size    # bytes per item of a report; 0: as the records
    cdef Py_ssize_t state_bytes
    cdef readonly Py_ssize_t rows
    cdef kernel_handle shared

    def handle(self):
        """A capsule with what another extension module needs to privatize rows of floats; valid as long as the kernel."""
        form = REPORT_BITS if self.report_size == 1 else REPORT_DOUBLES if self.report_size == 8 else REPORT_FLOATS
        self.shared = kernel_handle(self.by_size[2], self.params, self.items, form)
        return PyCapsule_New(&self.shared, "ldpfast.kernel", NULL)

    def privatize(self, key, uint64_t block, x, out):
        """Fill `out` with the reports of the records `x`, which start at block number `block` of the key."""
        cdef Py_buffer records, reports
        cdef stream_key k
        cdef int size, exhausted = 0
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
                        exhausted = privatize_blocks(self.by_size[size], self.params, &k, block, self.rows,
                                                     <const char *>records.buf, record_bytes, n,
                                                     <char *>reports.buf, report_bytes)
                finally:
                    PyBuffer_Release(&reports)
            finally:
                PyBuffer_Release(&records)
        finally:
            key_wipe(&k)
        if exhausted:
            raise OverflowError("a stream of random words is exhausted")

    def run(self, key, uint64_t block, x, state):
        """Privatize the records `x` and add the reports to `state`, without storing them."""
        cdef Py_buffer records, counts
        cdef stream_key k
        cdef int size, exhausted = 0
        cdef size_t record_bytes, report_bytes, n, scratch_rows
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
                    scratch_rows = self.rows * max(<size_t>1, SCRATCH_BYTES // (self.rows * report_bytes))
                    scratch = <char *>malloc(min(scratch_rows, n) * report_bytes + 1)
                    if scratch is NULL:
                        raise MemoryError()
                    with nogil:
                        exhausted = run_blocks(self.by_size[size], self.params, &k, block, self.rows,
                                               <const char *>records.buf, record_bytes, n, scratch, scratch_rows,
                                               report_bytes, self.tally_by_size[size], self.format, counts.buf)
                    free(scratch)
                finally:
                    PyBuffer_Release(&counts)
            finally:
                PyBuffer_Release(&records)
        finally:
            key_wipe(&k)
        if exhausted:
            raise OverflowError("a stream of random words is exhausted")
