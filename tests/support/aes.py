"""AES-256 as FIPS 197 describes it, byte by byte, and the key stream made from it."""

from __future__ import annotations

from functools import lru_cache


def multiply(a: int, b: int) -> int:
    """Product in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1."""
    product = 0
    while b:
        product ^= a if b & 1 else 0
        a = a << 1 ^ (0x11B if a & 0x80 else 0)
        b >>= 1
    return product


def substitute(byte: int) -> int:
    """The S-box: the inverse, then an affine map (FIPS 197, 5.1.1)."""
    inverse = next((c for c in range(256) if multiply(byte, c) == 1), 0)
    rotations = [(inverse << i | inverse >> (8 - i)) & 0xFF for i in range(5)]
    return rotations[0] ^ rotations[1] ^ rotations[2] ^ rotations[3] ^ rotations[4] ^ 0x63


SBOX = [substitute(byte) for byte in range(256)]
DOUBLE, TRIPLE = ([multiply(byte, factor) for byte in range(256)] for factor in (2, 3))


@lru_cache(maxsize=64)
def expand(key: bytes) -> list[bytes]:
    """The 15 round keys (FIPS 197, 5.2)."""
    words, constant = [key[i : i + 4] for i in range(0, 32, 4)], 1
    for i in range(8, 60):
        word = words[-1]
        if i % 8 == 0:
            word = bytes(SBOX[b] for b in word[1:] + word[:1])
            word = bytes([word[0] ^ constant]) + word[1:]
            constant = multiply(constant, 2)
        elif i % 8 == 4:
            word = bytes(SBOX[b] for b in word)
        words.append(bytes(a ^ b for a, b in zip(words[i - 8], word, strict=True)))
    return [b"".join(words[i : i + 4]) for i in range(0, 60, 4)]


def encrypt(key: bytes, block: bytes) -> bytes:
    """One block of 16 bytes (FIPS 197, 5.1)."""
    keys = expand(key)
    state = [a ^ b for a, b in zip(block, keys[0], strict=True)]
    for number, round_key in enumerate(keys[1:], 1):
        state = [SBOX[state[(i + 4 * (i % 4)) % 16]] for i in range(16)]  # SubBytes and ShiftRows
        if number < 14:
            columns = [state[i : i + 4] for i in range(0, 16, 4)]
            state = [
                DOUBLE[c[r]] ^ TRIPLE[c[(r + 1) % 4]] ^ c[(r + 2) % 4] ^ c[(r + 3) % 4]
                for c in columns
                for r in range(4)
            ]
        state = [a ^ b for a, b in zip(state, round_key, strict=True)]
    return bytes(state)


def counter_input(counter: int, stream_id: int, block: int) -> bytes:
    """The input of one encryption: little-endian words of 32, 32 and 64 bits."""
    return counter.to_bytes(4, "little") + stream_id.to_bytes(4, "little") + block.to_bytes(8, "little")


SPAN_BITS, SEGMENT_BITS, SUBKEY_ID = 12, 11, 0x7FFFFFFF


@lru_cache(maxsize=64)
def subkey(key: bytes, span: int, segment: int) -> bytes:
    """The key of the record blocks of a span and of the counters of a segment."""
    inputs = [counter_input(2 * segment + half, SUBKEY_ID, span) for half in range(2)]
    return b"".join(encrypt(key, value) for value in inputs)


def stream_block(key: bytes, stream_id: int, block: int, counter: int) -> bytes:
    """The 16 bytes of a stream at a counter."""
    return encrypt(subkey(key, block >> SPAN_BITS, counter >> SEGMENT_BITS), counter_input(counter, stream_id, block))
