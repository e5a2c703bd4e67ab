"""The compiled part of a mechanism: its parameters, its kernels, and the loop over record blocks."""
from cpython.buffer cimport PyBUF_STRIDES, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from ldpfast._core.blocks cimport close_key, fresh_key, load_key, size_index
from ldpfast._core.kernels cimport KEY_BYTES, LDP_FAR, key_open, key_wipe, stream_key

cdef size_t SCRATCH_BYTES = 65536  # bytes of reports that are drawn and then counted, so that they stay in cache


# A number or code in memory, as a record or a report.
cdef union single_item:
    double number
    float single
    uint8_t code_8
    uint16_t code_16
    uint32_t code_32
    uint64_t code_64


cdef class Kernel:
    """Base class of the kernels of all mechanisms. A subclass holds the structs of parameters and sets the attributes.

    Attributes
    ----------
    rows : int
        Number of records per block. Blocks share no random words.
    checks : bool
        True: the results of `privatize` and `run` tell whether all records are valid.
    asks : bool
        Whether the kernel draws what a person is asked, without the record, so that personal keys have coins for each step:
        `ask_each`, `encode_each` and `respond_each`.
    """

    @property
    def checks(self) -> bool:
        return True

    @property
    def asks(self) -> bool:
        return False

    cdef int privatize_block(self, int size, stream_key *key, uint64_t block, const void *x, size_t n, void *out,
                             char *workspace) noexcept nogil:
        """Call the kernel for one block; see kernel.h for the result.

        A kernel with a workspace finds it in its parameters, of which the call has a copy.
        """
        return self.by_size[size](self.params, key, block, x, n, out)

    cdef int privatize_blocks(self, int size, stream_key *key, uint64_t block, const record_source *x, size_t first, size_t n,
                              char *out, char *scratch, bint clip) noexcept nogil:
        """Privatize n records with items of 2^size bytes from number `first` on, starting at block number `block`.

        `scratch` comes from `scratch_for`. Returns what the kernels found, as in kernel.h. With `clip`, a block with vectors
        that `clip_by_size` may change is privatized again, from the nearest valid ones and with the same random numbers: that
        takes longer.
        """
        cdef size_t i = 0, now, rows = self.rows
        cdef int found = 0, here
        cdef size_t report_bytes = self.report_items * (self.report_size or <size_t>1 << size)
        cdef const char *records
        cdef char *copies = scratch + self.workspace_bytes
        while i < n:
            now = min(rows, n - i)
            records = contiguous_records(x, first + i, now, copies)
            here = self.privatize_block(size, key, block, records, now, out + i * report_bytes, scratch)
            if clip and here & LDP_FAR:
                self.clip_by_size[size](self.clip_params, records, now, copies)
                self.privatize_block(size, key, block, copies, now, out + i * report_bytes, scratch)
            found |= here
            block += 1
            i += now
        return found

    cdef char *scratch_for(self, const record_source *x, bint clip) except? NULL:
        """Return memory for the workspace of the kernel, and for the records of a block if they must be copied; NULL for neither."""
        cdef size_t copied = min(<size_t>self.rows, x.count) * x.record_bytes if clip or x.run < x.count else 0
        return <char *>allocate(self.workspace_bytes + copied) if self.workspace_bytes + copied else NULL

    cdef int open_records(self, const Py_buffer *view, record_source *x) except -1:
        """Describe the records of a buffer. Returns the index of their item size in the tables of kernels."""
        cdef int size = size_index(view.itemsize), d = view.ndim
        cdef Py_ssize_t together = view.itemsize, records
        x.record_bytes = self.items * view.itemsize
        while d > 0 and (view.shape[d - 1] <= 1 or view.strides[d - 1] == together):
            together *= view.shape[d - 1]
            d -= 1
        if self.by_size[size] is NULL or view.len % x.record_bytes:
            raise ValueError("records do not fit the kernel")
        x.base = <const char *>view.buf
        x.count = view.len // x.record_bytes
        x.run, x.stride = x.count, 0
        if d > 0 and x.count > 0:
            records = together // <Py_ssize_t>x.record_bytes
            if d > 1 or together % <Py_ssize_t>x.record_bytes or records == 0:
                raise ValueError("records must be contiguous in all axes but the first")
            x.run, x.stride = records, view.strides[0]
        return size

    def privatize(self, key: Stream | bytes | None, uint64_t block, x: NDArray[Any], out: NDArray[Any],
                  bint clip=False) -> bool:
        """Fill `out` with the reports of the records `x`, starting at block number `block` of the key.

        `x` is contiguous in all axes but the first. Returns whether all records are certainly valid. With `clip` the
        nearest valid records are used, and the result is whether certainly no vector has NaN. Without a key (None) the operating
        system gives one, which is used for this call only.
        """
        cdef Py_buffer records, reports
        cdef record_source source
        cdef stream_key k
        cdef int size, found
        cdef char *scratch = NULL
        cdef bint copies
        if key is None:
            fresh_key(&k)
        else:
            load_key(key, &k)
        try:
            PyObject_GetBuffer(x, &records, PyBUF_STRIDES)
            try:
                PyObject_GetBuffer(out, &reports, PyBUF_WRITABLE)
                try:
                    size = self.open_records(&records, &source)
                    if reports.len != <Py_ssize_t>(
                            source.count * self.report_items * (self.report_size or records.itemsize)):
                        raise ValueError("records and reports do not fit together")
                    copies = clip and self.clip_by_size[size] is not NULL
                    scratch = self.scratch_for(&source, copies)
                    with nogil:
                        found = self.privatize_blocks(size, &k, block, &source, 0, source.count, <char *>reports.buf, scratch,
                                                      copies)
                finally:
                    free(scratch)
                    PyBuffer_Release(&reports)
            finally:
                PyBuffer_Release(&records)
        finally:
            close_key(&k)
        return not (found & LDP_FAR if clip else found)

    def privatize_number(self, key: Stream | bytes | None, uint64_t block, x: float, Py_ssize_t item_bytes, bint is_code,
                         bint to_code, bint clip=False) -> int | float | None:
        """Return the report of one number as a Python int or float, or None if `x` may be invalid and `clip` is false.

        The kernel must have scalar records and reports. It reads `x` as a code of `item_bytes` bytes if `is_code` is true, else as
        a floating-point number. `to_code` tells whether the report is a code. `key`, `block` and `clip` are as for `privatize`.
        """
        cdef single_item record, report
        cdef stream_key k
        cdef int size = size_index(item_bytes)
        cdef Py_ssize_t report_bytes = self.report_size or item_bytes
        cdef bint valid
        if self.by_size[size] is NULL or self.items != 1 or self.report_items != 1 or report_bytes > 8:
            raise ValueError("a number does not fit the kernel")
        if not is_code:
            if item_bytes == 8:
                record.number = x
            else:
                record.single = x
        elif item_bytes == 1:
            record.code_8 = x
        elif item_bytes == 2:
            record.code_16 = x
        elif item_bytes == 4:
            record.code_32 = x
        else:
            record.code_64 = x
        if key is None:
            fresh_key(&k)
        else:
            load_key(key, &k)
        try:
            valid = not self.by_size[size](self.params, &k, block, &record, 1, &report)
        finally:
            key_wipe(&record, sizeof(record))
            close_key(&k)
        if not valid and not clip:
            return None
        if not to_code:
            return report.number if report_bytes == 8 else report.single
        if report_bytes == 1:
            return report.code_8
        if report_bytes == 2:
            return report.code_16
        return report.code_32 if report_bytes == 4 else report.code_64

    def privatize_each(self, const uint8_t[:, ::1] keys, x: NDArray[Any], out: NDArray[Any]) -> bool:
        """Fill `out` with the reports of the contiguous records `x`, each as the only record of block 0 of its own key.

        Returns whether all records are certainly valid.
        """
        cdef Py_buffer records, reports
        cdef record_source source
        cdef stream_key k
        cdef int size, exhausted = 0
        cdef size_t i, report_bytes
        cdef char *scratch = NULL
        cdef bint valid = True
        PyObject_GetBuffer(x, &records, PyBUF_STRIDES)
        try:
            PyObject_GetBuffer(out, &reports, PyBUF_WRITABLE)
            try:
                size = self.open_records(&records, &source)
                report_bytes = self.report_items * (self.report_size or records.itemsize)
                if (source.run < source.count or reports.len != <Py_ssize_t>(source.count * report_bytes)
                        or keys.shape[0] != <Py_ssize_t>source.count or keys.shape[1] != KEY_BYTES):
                    raise ValueError("keys, records and reports do not fit together")
                scratch = self.scratch_for(&source, False)
                with nogil:
                    for i in range(source.count):
                        key_open(&k, &keys[i, 0])
                        if self.privatize_block(size, &k, 0, source.base + i * source.record_bytes, 1,
                                                <char *>reports.buf + i * report_bytes, scratch):
                            valid = False
                        exhausted |= k.exhausted
                    key_wipe(&k, sizeof(k))
            finally:
                free(scratch)
                PyBuffer_Release(&reports)
        finally:
            PyBuffer_Release(&records)
        if exhausted:
            raise OverflowError("a stream of random words is exhausted")
        return valid

    def run(self, key: Stream | bytes, uint64_t block, x: NDArray[Any], state: NDArray[Any], bint clip=False) -> bool:
        """Privatize the records `x` and add the reports to `state`, without storing them.

        `x` and `clip` are as for `privatize`. Returns whether all records are certainly valid.
        """
        cdef Py_buffer records, counts
        cdef record_source source
        cdef stream_key k
        cdef int size
        cdef size_t report_bytes, i = 0, now, together
        cdef char *scratch = NULL
        cdef char *reports = NULL
        cdef bint valid = True
        load_key(key, &k)
        try:
            PyObject_GetBuffer(x, &records, PyBUF_STRIDES)
            try:
                PyObject_GetBuffer(state, &counts, PyBUF_WRITABLE)
                try:
                    size = self.open_records(&records, &source)
                    if counts.len != self.state_bytes:
                        raise ValueError("records and state do not fit together")
                    report_bytes = self.report_items * (self.report_size or records.itemsize)
                    together = self.rows * max(<size_t>1, SCRATCH_BYTES // (self.rows * report_bytes))
                    reports = <char *>allocate(min(together, source.count) * report_bytes)
                    clip = clip and self.clip_by_size[size] is not NULL
                    scratch = self.scratch_for(&source, clip)
                    with nogil:
                        while i < source.count:
                            now = min(together, source.count - i)
                            if self.privatize_blocks(size, &k, block, &source, i, now, reports, scratch, clip):
                                valid = False
                            self.tally_by_size[size](self.format, reports, now, counts.buf)
                            block += together // self.rows
                            i += now
                finally:
                    free(reports)
                    free(scratch)
                    PyBuffer_Release(&counts)
            finally:
                PyBuffer_Release(&records)
        finally:
            close_key(&k)
        return valid


cdef const char *contiguous_records(const record_source *x, size_t first, size_t n, char *scratch) noexcept nogil:
    """Return n records in a row, where they are or as a copy in `scratch`."""
    cdef size_t run = first // x.run, offset = first % x.run, copied = 0, now, bytes = x.record_bytes
    cdef const char *start = x.base + <Py_ssize_t>run * x.stride + offset * bytes
    if offset + n <= x.run:
        return start
    if x.run == 1 and bytes == 8:
        for copied in range(n):
            (<uint64_t *>scratch)[copied] = (<const uint64_t *>(start + <Py_ssize_t>copied * x.stride))[0]
        return scratch
    while copied < n:
        now = min(x.run - offset, n - copied)
        memcpy(scratch + copied * bytes, start, now * bytes)
        copied += now
        run, offset = run + 1, 0
        start = x.base + <Py_ssize_t>run * x.stride
    return scratch


cdef void *allocate(size_t bytes) except NULL:
    """Return `bytes` bytes of memory, at least one."""
    cdef void *memory = malloc(bytes + 1)
    if memory is NULL:
        raise MemoryError()
    return memory
