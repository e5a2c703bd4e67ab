"""Keys of persons and values, derived from a secret, and what is drawn from each of them."""
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memcpy

import numpy as np

from ldpfast._core.blocks cimport copy_key
from ldpfast._core.kernels cimport (
    AES_BLOCK, KEY_BYTES, cmac_finish, cmac_key, cmac_open, key_open, key_prefix, key_wipe, prefix_derive, prefix_derive_half,
    SURVEY_PARTS, prefix_open, rounding_stream, stream, stream_draw, stream_key,
)

# Tags of fields: a field is its tag, the number of its bytes (4 bytes, little-endian), and the bytes.
SERIES, QUESTION, ASSIGNMENT, ROUND, PADDING, DESCRIPTION, TICKET, TURN, REPORT_ID = 1, 2, 3, 4, 5, 6, 7, 8, 9
INTEGER, TEXT, BYTES, CATEGORY, NUMBERS, STRING, POSITIONS = 16, 17, 18, 32, 33, 34, 35
LABEL = b"ldpfast\0"
LENGTH = b"\x01\x00"  # bits of a derived key, big-endian

cdef enum:
    TICKET_TAG = 7
    TICKET_BYTES = 9  # of the field of a ticket


def cmac(key: bytes, bytes message) -> bytes:
    """Return the AES-256-CMAC of a message of at least one byte."""
    cdef uint8_t k[32]
    cdef uint8_t state[16]
    cdef cmac_key c
    cdef uint8_t out[16]
    cdef const uint8_t *data = message
    cdef bytes padded
    copy_key(key, k)
    cmac_open(&c, k)
    for i in range(16):
        state[i] = 0
    if len(message) == 0:
        raise ValueError("a message has at least one byte")
    cmac_finish(&c, state, data, len(message), out)
    return out[:16]


cdef class Prefix:
    """The part of the inputs of derived keys that all records of a call share.

    Parameters
    ----------
    secret : buffer of 32 bytes
    fields : bytes
        Fields; a field of padding is added.
    """
    cdef key_prefix prefix

    def __cinit__(self, secret: bytes, bytes fields):
        cdef uint8_t k[32]
        start = b"\0" + LABEL + fields
        zeros = 15 - (len(start) + 4) % 16
        whole = start + bytes([PADDING]) + zeros.to_bytes(4, "little") + bytes(zeros)
        copy_key(secret, k)
        prefix_open(&self.prefix, k, whole, len(whole) // 16)
        key_wipe(k, sizeof(k))

    def __dealloc__(self):
        key_wipe(&self.prefix, sizeof(self.prefix))

    def __reduce__(self):
        raise TypeError("keys of persons hold a secret and cannot be pickled or copied")

    def derive(self, const uint8_t[::1] data, const int64_t[::1] ends, const uint8_t[:, ::1] values,
               keys: NDArray[Any]) -> None:
        """Write the key of each record to `keys`, shape (n, 32).

        `data` and `ends` are the fields of the persons: the start of the first, and the end of each. Row i of `values` holds
        the fields of value i.
        """
        cdef uint8_t[:, ::1] out = keys
        cdef size_t n = out.shape[0], width = values.shape[1], i, size, longest = 0
        cdef uint8_t *tail
        if ends.shape[0] != <Py_ssize_t>n + 1 or values.shape[0] != <Py_ssize_t>n or out.shape[1] != KEY_BYTES:
            raise ValueError("persons, values and keys do not fit together")
        for i in range(n):
            if ends[i] < 0 or ends[i + 1] < ends[i] or ends[i + 1] > data.shape[0]:
                raise ValueError("persons must be in their buffer")
            longest = max(longest, <size_t>(ends[i + 1] - ends[i]))
        tail = <uint8_t *>malloc(longest + width + 2)
        if tail is NULL:
            raise MemoryError()
        with nogil:
            for i in range(n):
                size = ends[i + 1] - ends[i]
                if size:
                    memcpy(tail, &data[ends[i]], size)
                if width:
                    memcpy(tail + size, &values[i, 0], width)
                tail[size + width], tail[size + width + 1] = 1, 0
                prefix_derive(&self.prefix, tail, size + width + 2, &out[i, 0])
            key_wipe(tail, longest + width + 2)
        free(tail)


    def assign(self, const uint8_t[::1] data, const int64_t[::1] ends, const uint8_t[::1] names, const int64_t[::1] starts,
               const uint32_t[::1] weights, size_t answers) -> NDArray[Any]:
        """Return which questions each person is asked, shape (n, questions): those with the smallest tickets.

        Question q has weights[q] tickets. Ticket t of a person is the first half of the key for the fields of the person, the
        field of the name, and the field of t. Equal tickets are won by the first question.

        Parameters
        ----------
        data, ends
            As for `derive`.
        names, starts : arrays
            Fields of the names of the questions: the start of the first, and the end of each.
        weights : array of uint32
            Numbers of tickets, all 1 for more than one answer.
        answers : int
            Number of questions that each person is asked.
        """
        cdef size_t n = len(ends) - 1, questions = len(weights), i, q, t, size, person, longest = 0, room, kept, at
        cdef uint8_t *tail
        cdef uint8_t *best
        cdef uint32_t *chosen
        cdef uint8_t ticket[16]
        found = np.zeros((n, questions), np.uint8)
        cdef uint8_t[:, ::1] out = found
        if not 1 <= answers <= questions or len(starts) != <Py_ssize_t>questions + 1:
            raise ValueError("names, weights and answers do not fit together")
        for q in range(questions):
            if starts[q] < 0 or starts[q + 1] < starts[q] or starts[q + 1] > names.shape[0]:
                raise ValueError("names must be in their buffer")
            longest = max(longest, <size_t>(starts[q + 1] - starts[q]))
        person = 0
        for i in range(n):
            if ends[i] < 0 or ends[i + 1] < ends[i] or ends[i + 1] > data.shape[0]:
                raise ValueError("persons must be in their buffer")
            person = max(person, <size_t>(ends[i + 1] - ends[i]))
        room = person + longest + TICKET_BYTES + 2
        tail = <uint8_t *>malloc(room)
        best = <uint8_t *>malloc((answers + 1) * AES_BLOCK)
        chosen = <uint32_t *>malloc((answers + 1) * sizeof(uint32_t))
        if tail is NULL or best is NULL or chosen is NULL:
            free(tail)
            free(best)
            free(chosen)
            raise MemoryError()
        with nogil:
            for i in range(n):
                person = ends[i + 1] - ends[i]
                if person:
                    memcpy(tail, &data[ends[i]], person)
                kept = 0
                for q in range(questions):
                    size = person + <size_t>(starts[q + 1] - starts[q])
                    memcpy(tail + person, &names[starts[q]], size - person)
                    tail[size], tail[size + 1], tail[size + 2], tail[size + 3], tail[size + 4] = TICKET_TAG, 4, 0, 0, 0
                    tail[size + 9], tail[size + 10] = 1, 0
                    for t in range(weights[q]):
                        tail[size + 5], tail[size + 6] = t & 255, (t >> 8) & 255
                        tail[size + 7], tail[size + 8] = (t >> 16) & 255, (t >> 24) & 255
                        prefix_derive_half(&self.prefix, tail, size + TICKET_BYTES + 2, ticket)
                        if kept == answers and memcmp(ticket, best + (kept - 1) * AES_BLOCK, AES_BLOCK) >= 0:
                            continue
                        at = kept  # insertion into the smallest tickets, in ascending order
                        while at > 0 and memcmp(ticket, best + (at - 1) * AES_BLOCK, AES_BLOCK) < 0:
                            memcpy(best + at * AES_BLOCK, best + (at - 1) * AES_BLOCK, AES_BLOCK)
                            chosen[at] = chosen[at - 1]
                            at -= 1
                        memcpy(best + at * AES_BLOCK, ticket, AES_BLOCK)
                        chosen[at] = <uint32_t>q
                        kept = min(kept + 1, answers)
                for at in range(kept):
                    out[i, chosen[at]] = 1
            key_wipe(tail, room)
        free(tail)
        free(best)
        free(chosen)
        return found


def rounding_words(const uint8_t[:, ::1] keys, uint32_t part) -> NDArray[Any]:
    """Return the word of 64 bits that rounds one part of an answer, for each key."""
    cdef size_t n = keys.shape[0], i
    cdef stream_key k
    cdef stream s
    cdef uint64_t word[2]
    found = np.empty(n, np.uint64)
    cdef uint64_t[::1] out = found
    if keys.shape[1] != KEY_BYTES:
        raise ValueError("a key has 32 bytes")
    if part >= <uint32_t>SURVEY_PARTS:
        raise ValueError("there is no such part")
    with nogil:
        for i in range(n):
            key_open(&k, &keys[i, 0])
            s = rounding_stream(&k, part, 0)
            stream_draw(&s, word, 1)
            out[i] = word[0]
        key_wipe(&k, sizeof(k))
        key_wipe(word, sizeof(word))
    return found
