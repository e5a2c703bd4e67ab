"""Declaration of `Kernel`, the compiled part of a mechanism."""
from libc.stdint cimport uint64_t

from ldpfast._core.kernels cimport clip_fn, privatize_fn, stream_key, tally_fn


# Records in memory: runs of contiguous records, `stride` bytes apart.
cdef struct record_source:
    const char *base
    size_t record_bytes, count, run
    Py_ssize_t stride


cdef class Kernel:
    cdef privatize_fn by_size[4]       # by the item size of the records
    cdef clip_fn clip_by_size[4]       # nearest valid vectors of those that are far outside; NULL: the kernels need none
    cdef tally_fn tally_by_size[4]     # tallies of the reports of such records
    cdef const void *params
    cdef const void *clip_params
    cdef const void *format
    cdef size_t items                  # numbers per record
    cdef size_t report_items           # items per report
    cdef size_t report_size            # bytes per item of a report; 0: same as records
    cdef Py_ssize_t state_bytes
    cdef readonly Py_ssize_t rows
    cdef size_t workspace_bytes        # memory that the kernel needs for a block, besides the stack
    cdef int privatize_block(self, int size, stream_key *key, uint64_t block, const void *x, size_t n, void *out,
                             char *workspace) noexcept nogil
    cdef int privatize_blocks(self, int size, stream_key *key, uint64_t block, const record_source *x, size_t first, size_t n,
                              char *out, char *scratch, bint clip) noexcept nogil
    cdef char *scratch_for(self, const record_source *x, bint clip) except? NULL
    cdef int open_records(self, const Py_buffer *view, record_source *x) except -1
