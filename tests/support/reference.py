"""Reference implementations of the kernels: slow, simple, and with the same random words, one record at a time.

They read the key stream as documented and use Python integers and fractions for all decisions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ldpfast.reports import recipe_of

from .internals.kernels import StreamId, stream
from .internals.shared import coin_integers

WORD = 1 << 64


@lru_cache(maxsize=64)
def _groups(key: bytes, stream_id: int, block: int, groups: int) -> np.ndarray:
    out = np.empty(1024 * groups, np.uint8)
    stream.raw(key, stream_id, block, out)
    return out


class Words:
    """The stream of a key, a stream id (a number, or a name of `StreamId`) and a block, read forward as words of any dtype."""

    def __init__(self, key: bytes, stream_id: str | int, block: int, groups: int = 64):
        self.bytes = _groups(key, StreamId[stream_id] if isinstance(stream_id, str) else stream_id, block, groups)
        self.at = 0

    def take(self, count: int, dtype) -> np.ndarray:
        size = count * np.dtype(dtype).itemsize
        assert self.at + size <= len(self.bytes)
        self.at += size
        return self.bytes[self.at - size : self.at].view(dtype)

    def next_block(self) -> None:
        """Skip the rest of an AES block of 16 bytes."""
        self.at = -(-self.at // 16) * 16

    def word(self) -> int:
        return int(self.take(1, "<u8")[0])


def respond(coin, words: Words, truth: int) -> int:
    """Return the k-ary response of one person."""
    u, direct = int(words.take(1, f"<u{coin.bits // 8}")[0]), coin.keep - coin.words_per_symbol
    if (coin.k, coin.bits) == (2, 64):
        return truth ^ int(u >= coin.keep)
    return truth if u < direct else (u - direct) // coin.words_per_symbol


def sign_bit(coin, lower: float, upper: float, words: Words, x: float) -> int:
    """Return one bit; the threshold is an integer between 2^bits - heads and heads."""
    low, span = coin.tails, coin.heads - coin.tails
    if coin.bits == 32:
        middle = 1 << 31
        threshold = int((x - lower) * ((1 / (upper - lower)) * span) + (low - middle)) + middle
        return int((int(words.take(1, "<u4")[0]) + middle) % (1 << 32) < min(max(threshold, low), coin.heads))
    u = min(max((x - lower) * (1 / (upper - lower)), 0.0), 1.0)
    steps = round(((1 + u) - 1) * 2.0**52)  # 1 + u is rounded to a multiple of 2^-52
    return int(words.word() < low + (span * steps >> 52))


def coins_direct(words: Words, heads: int, lanes: int) -> list[int]:
    return [int(words.word() < heads) for _ in range(lanes)]


def coins_fill(words: Words, m: int, lanes: int, width: int = 128) -> list[int]:
    """Return coins with probability m / 2^width by bit planes: two digits, then the other digits for undecided lanes."""
    if m == 0:
        return [0] * lanes
    if lanes <= 32:
        return _few_lanes(words, m, width, lanes)
    high, low = m >> (width - 1) & 1, m >> (width - 2) & 1
    out, undecided = [0] * lanes, []
    for start in range(0, lanes, 512):
        planes = words.take(16, "<u8")
        bits = np.unpackbits(planes.view(np.uint8), bitorder="little")
        for lane in range(start, min(start + 512, lanes)):
            digits = int(bits[lane - start]), int(bits[512 + lane - start])
            if digits < (high, low):
                out[lane] = 1
            elif digits == (high, low):
                undecided.append(lane)
    rest = m << 2 & (1 << width) - 1
    for lane, coin in zip(undecided, coins_fill(words, rest, len(undecided), width), strict=True):
        out[lane] = coin
    return out


def _few_lanes(words: Words, m: int, width: int, lanes: int) -> list[int]:
    """Return coins from 32 digits of each lane. Equality (probability 2^-32) does not happen in the tests."""
    if lanes == 0:
        return []
    top, chunk = m >> (width - 32), [int(u) for u in words.take(32, "<u4")][:lanes]
    assert top not in chunk
    return [int(u < top) for u in chunk]


def index_below(words: Words, n: int) -> int:
    """Return a uniform integer below n from words of 32 bits, the low half of a word of 64 bits first."""
    while True:
        product = int(words.take(1, "<u4")[0]) * n
        if product % 2**32 >= 2**32 % n:
            return product >> 32


def word_below(words: Words, n: int) -> int:
    """Return a uniform integer below n from words of 64 bits."""
    while True:
        product = words.word() * n
        if product % WORD >= WORD % n:
            return product >> 64


def window_position(coin, lower: float, upper: float, x: float) -> int:
    """Return the position of a number as an integer below steps 2^j, the input in the bits above the last j."""
    positions = coin.steps << 32 - coin.steps.bit_length()
    position = int((x - lower) * (positions / (upper - lower)) - 2.0**31) + (1 << 31)
    return min(max(position, 0), positions - 1)


def unequal_position(coin, codes, lower: float, upper: float, x: float) -> int:
    """Return the position of a number among unequally spaced inputs, whose numbers are in proportion to sums of `codes`."""
    t = min(max(int((x - lower) * ((2.0**32 - 2) / (upper - lower)) - 2.0**31), -(1 << 31)), (1 << 31) - 1)
    distance, bits = (t if t >= 0 else -t - 1), 32 - coin.steps.bit_length()
    sums = [sum(codes[i : i + coin.width]) for i in range(coin.steps + 1)]
    ends = [0] + [round(Fraction(total << 31, sums[-1])) for total in sums if total > 0]
    places = [0] + [2 * i - coin.steps << bits - 1 for i, total in enumerate(sums) if total > 0]
    shift = 32 - max((b - a - 1).bit_length() for a, b in itertools.pairwise(ends))
    j = max(j for j in range(len(ends) - 1) if ends[j] <= distance)
    slope = (places[j + 1] - places[j] << 32 - shift) // (ends[j + 1] - ends[j])
    from_center = places[j] + ((distance - ends[j] << shift) * slope >> 32)
    return (coin.steps << bits - 1) + (from_center if t >= 0 else -from_center - 1)


def window_code(coin, position: int, word: int) -> int:
    """Return the code of the window mechanism, or of its bit, for one word of 32 bits."""
    bits = 32 - coin.steps.bit_length()
    if word < coin.bit_words:
        slope = (coin.heads - coin.tails << 32) // (coin.steps << bits)
        return coin.outputs + int(word < coin.tails + (position * slope >> 32))
    rest = word - coin.bit_words
    if rest >= coin.width * coin.per:
        return (rest - coin.width * coin.per) // coin.each
    start, fraction = divmod(position, 1 << bits)
    return start + (rest + (fraction * coin.per >> bits)) // coin.per


def sign_at(x: float, radius: float, word: int) -> int:
    """Return 1 with probability (1 + x / radius) / 2, from a word of 32 bits."""
    signed = word - (word >> 31 << 32)
    return int(signed < min(max(float(x) * (2.0**31 / radius), -(2.0**31)), 2.0**31))


def rounded_signs(words: Words, row, radius: float) -> list[int]:
    """Return the signs of numbers; two of them share a word of 64 bits."""
    drawn = words.take(len(row) + len(row) % 2, "<u4")
    return [sign_at(x, radius, int(word)) for x, word in zip(row, drawn, strict=False)]


def disagreements(heads: int, k: int, threshold: int, signs: Words, members: Words) -> int:
    """Return the places where the reported signs differ from those of the record, as the bits of a number, for k <= 62."""
    most = k - threshold
    if signs.word() < heads:
        if most == 0:
            return 0
        drawn, size = word_below(signs, sum(math.comb(k, i) for i in range(most + 1))), 0
        while drawn >= math.comb(k, size):
            drawn, size = drawn - math.comb(k, size), size + 1
        places: set[int] = set()
        while len(places) < size:
            places.add(index_below(members, k))
        return sum(1 << i for i in places)
    if most == 0:
        return 1 + word_below(signs, 2**k - 1)
    while True:
        drawn = signs.word() % 2**k
        if drawn.bit_count() > most:
            return drawn


def cube_items(design, heads: int, key: bytes, block: int, n: int, own, uses: str = "CUBE") -> np.ndarray:
    """Return the items of reports of sampled signs. Coordinates are drawn for 32 people at a time.

    `own` returns the signs of a person's record at some coordinates.
    """
    dim, k, threshold = design.dim, design.sampled, design.threshold
    drawn, signs, members, others = (
        Words(key, f"{uses}_{use}", block, 256) for use in ("COORDINATES", "SIGNS", "MEMBERS", "OTHERS")
    )
    out = np.empty((n, k), np.int64)
    for start in range(0, n, 32):
        together = min(32, n - start)
        words = drawn.take(together * k, "<u4").astype(np.uint64).reshape(-1, k) * np.uint64(dim)
        drawn.next_block()
        sampled = []
        for row in words.tolist():
            places: list[int] = []
            for product in row:
                place = product >> 32 if product % 2**32 >= 2**32 % dim else None
                while place is None or place in places:
                    place = index_below(others, dim)
                places.append(place)
            sampled.append(places)
        for i, places in enumerate(sampled, start):
            differ = disagreements(heads, k, threshold, signs, members)
            pairs = zip(places, own(i, places), strict=True)
            out[i] = [2 * j + (sign ^ differ >> at & 1) for at, (j, sign) in enumerate(pairs)]
    return out


def sampled_cube(mechanism, key: bytes, block: int, rows: np.ndarray, heads: int | None = None) -> np.ndarray:
    """Return the items of reports of sampled signs of numbers."""
    rounding = Words(key, "CUBE_ROUNDING", block, 256)
    heads = recipe_of(mechanism).coin.heads if heads is None else heads

    def own(i: int, places: list[int]) -> list[int]:
        return rounded_signs(rounding, rows[i][places], mechanism.radius)

    return cube_items(mechanism, heads, key, block, len(rows), own)


def cap_signs(design, heads: int, key: bytes, block: int, rows, uses: str = "CUBE") -> np.ndarray:
    """Return the signs (0 or 1) of reports of all coordinates, from those of the records."""
    dim, threshold = design.dim, design.threshold
    signs, members = (Words(key, f"{uses}_{use}", block, 512) for use in ("SIGNS", "MEMBERS"))
    out = np.empty((len(rows), dim), np.uint8)
    for i, own in enumerate(rows):
        if dim <= 62:
            differ = disagreements(heads, dim, threshold, signs, members)
            out[i] = own ^ np.array([differ >> j & 1 for j in range(dim)], np.uint8)
            continue
        inside = signs.word() < heads
        while True:
            drawn = np.unpackbits(signs.take(-(-dim // 64) * 8, np.uint8), count=dim, bitorder="little")
            agree = int((drawn == own).sum())
            if inside and dim - agree >= threshold:
                drawn, agree = 1 - drawn, dim - agree
            if (agree >= threshold) == inside:
                break
        out[i] = drawn
    return out


def cap_cube(mechanism, key: bytes, block: int, rows: np.ndarray, heads: int | None = None) -> np.ndarray:
    """Return the signs (0 or 1) of reports of all coordinates of numbers."""
    rounding = Words(key, "CUBE_ROUNDING", block, 512)
    heads = recipe_of(mechanism).coin.heads if heads is None else heads
    own = [np.array(rounded_signs(rounding, x, mechanism.radius), np.uint8) for x in rows]
    return cap_signs(mechanism, heads, key, block, own)


def vertex(x: float, radius: float, byte: int, low: int, real) -> int:
    """Return 1 with probability (1 + x / r) / 2, from one byte and 23 bits that the coordinates of a row share."""
    threshold = int(real(x) * real(2.0**30 / radius))
    return int((byte << 23 | low) - (1 << 30) < threshold)


def linf_rows(mechanism, key: bytes, block: int, rows: np.ndarray, keep_tie: int | None = None) -> np.ndarray:
    """Return the signs (0 or 1) of reports, one row per record.

    Ties are kept, always or with probability keep_tie / 2^64; otherwise U and V are drawn again.
    """
    n, dim = rows.shape
    size = (dim + 7) // 8
    direction, vertices = Words(key, "LINF_DIRECTION", block), Words(key, "LINF_VERTEX", block)
    sign, tie = (Words(key, f"LINF_{use}", block) for use in ("SIGN", "TIE"))
    packed = direction.take(n * size, np.uint8).reshape(n, size)
    signs = np.unpackbits(packed, axis=1, count=dim, bitorder="little")
    direction.next_block()
    real = rows.dtype.type

    def agreements(i: int, low: int) -> int:
        drawn = vertices.take(dim, np.uint8)
        v = [vertex(x, mechanism.radius, int(b), low, real) for x, b in zip(rows[i], drawn, strict=True)]
        return int(np.sum(signs[i] == v))

    out = np.empty((n, dim), np.uint8)
    for i in range(n):
        agree = agreements(i, sign.word() >> 41)
        while keep_tie is not None and 2 * agree == dim and tie.word() >= keep_tie:
            signs[i] = np.unpackbits(direction.take(size, np.uint8), count=dim, bitorder="little")
            direction.next_block()
            agree = agreements(i, tie.word() >> 41)
        side = 1 if 2 * agree >= dim else -1
        coin = 1 if sign.word() < recipe_of(mechanism).coin.heads else -1
        out[i] = signs[i] if side * coin > 0 else 1 - signs[i]
    return out


def normals(words: Words, n: int, real) -> np.ndarray:
    """Return normal numbers by the Box-Muller transform of the same words, in double precision."""
    out = []
    while len(out) < n:
        size = min(512, -(-(n - len(out)) // 64) * 64)  # a chunk
        if real == np.float32:
            a, b, c = words.take(3 * size // 4, "<u4").astype(np.uint64).reshape(3, size // 4)
            pairs = [(a >> 8, (a & 255) << 16 | (c & 65535)), (b >> 8, (b & 255) << 16 | c >> 16)]
            pairs = [((r + 0.5) / 2**24, q >> 3, 21, q) for r, q in pairs]
            signs = [(1 - (q & 2).astype(float), 1 - 2 * (q & 1).astype(float)) for *_, q in pairs]
        else:
            r, q = words.take(size, "<u8").reshape(2, size // 2)
            pairs = [(((r >> 12) + 0.5) / 2**52, q >> 12, 52, q)]
            signs = [(1 - (q & 2).astype(float), 1 - 2 * (q & 1).astype(float))]
        for (u, angle, bits, q), (s1, s2) in zip(pairs, signs, strict=True):
            radius, phi = np.sqrt(-2 * np.log(u)), np.pi / 4 * (angle + 0.5) / 2**bits
            swap = (q & 4) != 0
            out.extend(radius * np.where(swap, np.sin(phi), np.cos(phi)) * s1)
            out.extend(radius * np.where(swap, np.cos(phi), np.sin(phi)) * s2)
    return np.array(out[:n])


def l2_report(mechanism, u: np.ndarray, x: np.ndarray, sign: Words) -> np.ndarray:
    """Return the report of one record from its direction."""
    side = 1 if u @ x >= 0 else -1
    norm = min(float(np.linalg.norm(x)) / mechanism.radius, 1.0)
    rounding = 1 if (sign.word() >> 11) / 2**53 < (1 + norm) / 2 else -1
    coin = 1 if sign.word() < recipe_of(mechanism).coin.heads else -1
    return mechanism.scale * side * rounding * coin * u / np.linalg.norm(u)


def l2_rows(mechanism, key: bytes, block: int, rows: np.ndarray) -> np.ndarray:
    """Return the reports of one block. The directions of up to 1024 numbers are drawn together."""
    n, dim = rows.shape
    together = max(1, 1024 // dim)
    direction, sign = Words(key, "L2_DIRECTION", block, 256), Words(key, "L2_SIGN", block)
    reports = []
    for start in range(0, n, together):
        now = min(together, n - start)
        u = normals(direction, now * dim, rows.dtype.type).reshape(now, dim)
        reports += [l2_report(mechanism, u[i], rows[start + i].astype(float), sign) for i in range(now)]
    return np.array(reports)


PUBLIC_KEY = bytes(range(32))  # of the directions


def directions(dim: int, vectors: int, seed: int, most: int | None = None) -> np.ndarray:
    """Return public random vectors, in double precision. Each group of rows starts with a new block of AES."""
    most = most or 1 << (2 * vectors - 1).bit_length() - 1  # the power of two from the number of vectors on
    together = min(max(1, 512 // dim), most)
    blocks = -(-(-(-together * dim // 64) * 64 * 3) // 16)
    words = Words(PUBLIC_KEY, "CODEBOOK_DIRECTION", seed, -(-vectors * blocks // 64))
    rows: list[np.ndarray] = []
    for group in range(-(-vectors // together)):
        words.at = 16 * group * blocks
        rows += [*normals(words, together * dim, np.float32).reshape(together, dim)]
    return np.array(rows[:vectors])


def rank_codebook(mechanism, key: bytes, block: int, rows: np.ndarray, heads: int | None = None) -> list[int]:
    """Return the reports of one block: a seed above the index of a candidate."""
    heads = recipe_of(mechanism).coin.heads if heads is None else heads
    vectors, top = mechanism.vectors, mechanism.top
    bits = (2 * vectors - 1).bit_length()
    seeds, coins, reports = Words(key, "CODEBOOK_SEEDS", block), Words(key, "CODEBOOK_COINS", block), []
    for x in rows.astype(float) / mechanism.radius:
        seed = seeds.word() >> bits
        flip = (coins.word() >> 11) / 2**53 >= (1 + min(float(np.linalg.norm(x)), 1.0)) / 2
        u = directions(mechanism.dim, vectors, seed)
        cosines = (u @ x) / np.linalg.norm(u, axis=1) * (-1 if flip else 1)
        best = sorted(range(vectors), key=lambda j: -abs(cosines[j]))[:top]
        raised = {2 * j + int(cosines[j] >= 0) for j in best}
        inside = coins.word() < heads
        chosen = [c for c in range(2 * vectors) if (c in raised) == inside]
        numbers = word_below(coins, top), word_below(coins, 2 * vectors - top)
        reports.append(seed << bits | chosen[numbers[0] if inside else numbers[1]])
    return reports


def frame(dim: int, signs: int, seed: int) -> np.ndarray:
    """Return the vectors of a public random frame as rows: the projections of rows of normal numbers, made orthogonal."""
    rows = directions(dim, signs, seed, signs)
    if dim > 16_384:
        return rows
    found, reflections = [], np.eye(dim)
    for j, row in enumerate(rows):
        x = np.append(np.zeros(j), row[: dim - j])
        sign = math.copysign(1.0, x[j])
        u = x + sign * np.linalg.norm(x) * np.eye(dim)[j]
        reflections -= np.outer(reflections @ u, 2 * u / (u @ u))
        found.append(-sign * reflections[:, j])
    return np.array(found)


def sign_pattern(coin, coins: Words, heads: int | None = None) -> list[int]:
    """Return the signs in the order of the weights, 1 for positive."""
    inside, sampler = coins.word() < (coin.heads if heads is None else heads), coin_integers.sampler_of(coin.weights)
    left, signs = coin.least if inside else sum(sampler.sizes) + 1 - coin.least, [0] * len(coin.weights)
    order = sorted(range(len(signs)), key=lambda rank: abs(coin.weights[rank]))
    for i in reversed(range(len(signs))):
        member = coins.word() < sampler.words[i][left]
        left = max(0, left - sampler.sizes[i] * member)
        signs[order[i]] = int((member == inside) != (coin.weights[order[i]] < 0))
    return signs


def report_of_products(
    mechanism, seed: int, coins: Words, x: np.ndarray, products: np.ndarray, heads: int | None = None
) -> list[int]:
    """Return a seed, then the signs of the vectors of a frame in words of 64 bits, from the products with a record."""
    flip = (coins.word() >> 11) / 2**53 >= (1 + min(float(np.linalg.norm(x)), 1.0)) / 2
    products = products * (-1 if flip else 1)
    pattern, signs = sign_pattern(recipe_of(mechanism).coin, coins, heads), 0
    for rank, j in enumerate(sorted(range(mechanism.signs), key=lambda j: products[j])):
        signs |= pattern[rank] << j
    return [seed] + [signs >> at & (1 << 64) - 1 for at in range(0, mechanism.signs, 64)]


def ranked_signs(mechanism, key: bytes, block: int, rows: np.ndarray, heads: int | None = None) -> list[list[int]]:
    """Return the reports of one block."""
    seeds, coins, reports = Words(key, "FRAME_SEEDS", block), Words(key, "FRAME_COINS", block), []
    for x in rows.astype(float) / mechanism.radius:
        seed = seeds.word()
        products = frame(mechanism.dim, mechanism.signs, seed) @ x
        reports.append(report_of_products(mechanism, seed, coins, x, products, heads))
    return reports


def hadamard(v: np.ndarray) -> np.ndarray:
    """Return the Walsh-Hadamard transform along the last axis, step by step."""
    v, size = v.copy(), v.shape[-1]
    step = 1
    while step < size:
        pairs = v.reshape(*v.shape[:-1], size // (2 * step), 2, step)
        sums, differences = pairs[..., 0, :] + pairs[..., 1, :], pairs[..., 0, :] - pairs[..., 1, :]
        v = np.stack([sums, differences], axis=-2).reshape(v.shape)
        step *= 2
    return v


def rotation_signs(rotation: int, size: int) -> np.ndarray:
    """Return the signs of both stages of a rotation, shape (2, size)."""
    words = Words(PUBLIC_KEY, "ROTATION", rotation, -(-size // 4096))
    return 1.0 - 2.0 * np.unpackbits(words.take(size // 4, np.uint8), bitorder="little").reshape(2, size)


def rotated(rotation: int, size: int, x: np.ndarray) -> np.ndarray:
    """Return size R x for rows x, to which zeros are appended."""
    first, second = rotation_signs(rotation, size)
    padded = np.concatenate([x, np.zeros((*x.shape[:-1], size - x.shape[-1]))], axis=-1)
    return hadamard(second * hadamard(first * padded))


def rows_of_report(seed: int, size: int, signs: int) -> np.ndarray:
    """Return the numbers of the rows of a report: of a block, one row of each of its strata."""
    words = Words(PUBLIC_KEY, "ROTATED_ROWS", seed)
    block = int(words.take(4, "<u4")[0]) % (size // 4096)
    return 4096 * block + np.arange(signs) * (4096 // signs) + words.take(signs, "<u2") % (4096 // signs)


def rotated_signs(mechanism, key: bytes, block: int, rows: np.ndarray, heads: int | None = None) -> list[list[int]]:
    """Return the reports of one block."""
    seeds, coins, reports = Words(key, "ROTATED_SEEDS", block), Words(key, "ROTATED_COINS", block), []
    size = max(4096, 1 << (mechanism.dim - 1).bit_length())
    for x in rows.astype(float) / mechanism.radius:
        seed = seeds.word()
        products = rotated(mechanism.rotation, size, x)[rows_of_report(seed, size, mechanism.signs)]
        reports.append(report_of_products(mechanism, seed, coins, x, products, heads))
    return reports


def discrete_laplace(coins, words: Words, rest: Words, n: int) -> list[int]:
    """Return n integers N = G or -1 - G, in pieces of 512: groups of digits by alias tables, then carries.

    `rest` has the words of ties and carries, in the order in which they are needed.
    """
    tables, out = coins.tables(), []

    def toss(bits: int, m: int) -> bool:
        """Return whether a coin of 128 bits is below the last `bits` bits of m, as the first bits of a threshold."""
        return (rest.word() << 64 | rest.word()) < (m << 128 - bits) % (1 << 128)

    for start in range(0, n, 512):
        now = min(512, n - start)
        m = -(-now // 32) * 32
        g, signs = [0] * m, []
        for first in range(len(tables) - 1 - (len(tables) - 1) % 3, -1, -3):  # sets of three groups, from the top
            indices, set_ = words.take(m, "<u2").tolist(), tables[first : first + 3]
            signs = signs or [index >> 15 for index in indices]
            drawn = [words.take(m, "<u2").tolist() for _ in set_]
            for i in range(m):
                for k, (threshold, alias) in enumerate(set_):
                    index = indices[i] >> 5 * k & 31
                    t, other = threshold[index % len(alias)], alias[index % len(alias)]
                    top = t >> 128
                    below = drawn[k][i] < top or (drawn[k][i] == top and toss(128, t))
                    g[i] += (index % len(alias) if below else other) << 5 * (first + k)
        for i, byte in enumerate(words.take(m, np.uint8).tolist()):
            top = coins.carry >> 120
            heads = i < now and (byte < top or (byte == top and toss(120, coins.carry)))
            while heads:
                g[i] += 1 << coins.digits
                heads = toss(128, coins.carry)
        out += [-1 - g[i] if signs[i] else g[i] for i in range(now)]
    return out


def grid_index(x: float, lower: float, grid: float, span: int, word: int) -> int:
    """Return the grid index of a number, rounded at random with a word of 16 bits."""
    steps = (x - lower) * (1 / grid) + (2.0**36 + word / 65536)  # in steps of 2^-16
    return min(max(math.floor(steps - 2.0**36), 0), span)


def signed_distance(x: float, width: float, offset: float) -> float:
    """Return the signed distance from the nearest node of offset + width Z; NaN is a node, and periods end at 2^52."""
    periods = (x - offset) / width if math.isfinite(x) else x
    periods = 0.0 if math.isnan(x) else min(max(periods, -(2.0**52)), 2.0**52)
    return (periods - round(periods)) * width


def laplace_residue(mechanism, coins, key: bytes, block: int, xs) -> list[float]:
    """Return the reports of one block: the distance rounded to the grid, plus integer noise."""
    half = mechanism.width / 2
    words, ties = Words(key, "LAPLACE_RESIDUE", block, 256), Words(key, "LAPLACE_RESIDUE_TIES", block, 256)
    noise = discrete_laplace(coins, words, ties, len(xs))
    reports, span = [], round(mechanism.width / mechanism.grid)
    for x, word, z in zip(xs, Words(key, "LAPLACE_RESIDUE_ROUNDING", block).take(len(xs), "<u2"), noise, strict=True):
        distance = signed_distance(float(x), mechanism.width, mechanism.offset)
        index = grid_index(distance, -half, mechanism.grid, span, int(word))
        reports.append(-half + mechanism.grid * (index + z + 0.5))
    return reports


def pieces(count: int, n: int, most: int) -> Iterator[tuple[int, int]]:
    """Yield slices of n people after `count` others, of at most `most` people and not across a power of two."""
    start = 0
    while start < n:
        power = 1
        while power <= count + start:
            power *= 2
        stop = min(n, start + most, power - count)
        yield start, stop
        start = stop


def median_unit(lower: float, upper: float) -> float:
    """Return the power of two whose multiples the positions are: at most 2^50 of them reach an end or cross the interval."""
    return 2.0 ** (math.frexp(max(upper - lower, abs(lower), abs(upper)))[1] - 1 - 49)


def median_walk(rule, words: Words, state: list[float], xs) -> tuple[list[float], list[float], list[int]]:
    """Return the state after more people, the positions of their questions, and their bits.

    `rule` is lower, upper, step up, step down, keep, bits per word, any_time. `state` is position, count, origin, and, with
    u the distance from the origin, the sums of u, ..., u^4 and the sums of 1, u, u^2 over the bits 1. Positions and steps
    are integers, in units.
    """
    lower, upper, up, down, keep, width, any_time = rule
    unit = median_unit(lower, upper)
    first, last = math.ceil(lower / unit), math.floor(upper / unit)
    (position, count, origin, *sums), positions, bits = state, [], []
    at, start = round(position / unit), round(origin / unit)
    for x in xs:
        positions.append(at * unit)
        kept = int(words.take(1, f"<u{width // 8}")[0]) < keep
        bits.append(int(x >= at * unit) if kept else 1 - int(x >= at * unit))
        u = (at - start) * unit
        powers = (u, u * u, u * (u * u), (u * u) * (u * u))
        sums = [old + new for old, new in zip(sums, (*powers, *(bits[-1] * v for v in (1.0, u, u * u))), strict=True)]
        count += 1
        rate = 1 / math.sqrt(count) if any_time else 1.0
        step = round(rate * (up / unit if bits[-1] else down / unit))
        at = min(at + step, last) if bits[-1] else max(at + step, first)
    return [at * unit, count, origin, *sums], positions, bits


def glm_row(question, x: np.ndarray) -> np.ndarray:
    """Return a clipped row with the intercept's column; every step is rounded to single precision."""
    row = x.astype(np.float32)
    if question.norm == "linf":
        row = np.clip(row, np.float32(-question.radius), np.float32(question.radius))
    else:
        length = math.sqrt(sum(float(v) ** 2 for v in row))
        if length > question.radius:
            row = (row.astype(float) * (question.radius / length)).astype(np.float32)
    return np.append(row, np.float32(question.column)) if question.column > 0 else row


def glm_gradient(question, position: np.ndarray, x: np.ndarray, y: float) -> np.ndarray:
    row = glm_row(question, x).astype(float)
    z = float(position @ row)
    mean = {"linear": z, "logistic": 1 / (1 + math.exp(-z)), "poisson": math.exp(z)}[question.family]
    bound = math.inf if question.residual is None else question.residual
    return min(max(mean - y, -bound), bound) * row


def descent_l2(server, key: bytes, x: np.ndarray, y: np.ndarray, most: int) -> np.ndarray:
    """Return all positions of gradient descent with the l2 mechanism, where a block of directions is drawn at once."""
    question, rows, dim = server._question, server._kernel.rows, server.dim
    position, positions, block = np.zeros(dim), [], 1 << 63  # gradients use the upper half of the blocks
    for start, stop in pieces(0, len(x), most):
        for i in range(start, stop):
            if (i - start) % rows == 0:
                now = min(rows, stop - i)
                u = normals(Words(key, "L2_DIRECTION", block, 16), now * dim, np.float32).reshape(now, dim)
                sign = Words(key, "L2_SIGN", block, 16)
                block += 1
            gradient = glm_gradient(question, position, x[i], float(y[i]))
            report = l2_report(question.ball, u[(i - start) % rows], gradient, sign)
            position = position - server.eta0 * (i + 1) ** -server.exponent * report
            position *= min(1.0, server.projection / np.linalg.norm(position))
            positions.append(position)
    return np.array(positions)


def counted_from(n: int) -> int:
    """Return the length of the burn-in: the largest power of two up to a quarter of all positions."""
    return max((1 << k for k in range(64) if 4 << k <= n), default=0)


def random_scaling(positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean, and 6 V / n with V = n^-2 sum of s^2 d_s d_s^T, d_s = mean of the first s positions - mean."""
    n = len(positions)
    s = np.arange(1.0, n + 1)[:, np.newaxis]
    away = np.cumsum(positions, axis=0) - s * positions.mean(axis=0)
    return positions.mean(axis=0), 6 * away.T @ away / n**3


def series_terms(terms: int, lower: float, upper: float, x: np.ndarray) -> np.ndarray:
    """Return sqrt 2 cos and sin of 2 pi m u, by reduction to half a turn; u is rounded as in the kernel."""
    u = (x.astype(float) - lower) * (1 / (upper - lower))
    turns = u[:, np.newaxis] * (np.arange(terms) // 2 + 1) - 0.25 * (np.arange(terms) % 2)
    return math.sqrt(2) * np.cos(2 * np.pi * (turns - np.rint(turns)))


def series_points(terms: int, lower: float, upper: float, x: np.ndarray) -> np.ndarray:
    """Return cos and sin of 2 pi m u in the single precision of the kernel, shape (n, terms), for x in the interval."""
    single = np.float32
    scaled = (x.astype(float) - lower) * (2.0**32 / (upper - lower))
    turn = np.rint(np.clip(scaled, 0, 2.0**32 - 1)).astype(np.uint32)

    def point(turn: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        quarter = (turn + np.uint32(1 << 29)) >> 30
        t = (turn - (quarter << 30)).view(np.int32).astype(single) * single(2.0**-29)
        z = t * t
        sine = t * (
            z * (z * (single(-3.5954508e-5) * z + single(2.4900071e-3)) - single(0.080745435)) + single(0.78539816)
        )
        cosine = z * (z * (single(-3.1888051e-4) * z + single(0.015849915)) - single(0.30842425)) + single(0.99999997)
        turned = [(cosine, sine), (-sine, cosine), (-cosine, -sine), (sine, -cosine)]
        return tuple(np.choose(quarter, [pair[i] for pair in turned]) for i in range(2))

    def rotate(a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]

    one = point(turn)
    two = rotate(one, one)
    four = rotate(two, two)
    out = []
    for first in range(1, terms // 2 + 2, 16):  # the harmonics of a word of 32 terms, in four chains
        start = point(turn * np.uint32(first))
        second = rotate(start, one)
        chains = [start, second, rotate(start, two), rotate(second, two)]
        for _ in range(4):
            out += [number for chain in chains for number in chain]
            chains = [rotate(chain, four) for chain in chains]
    return np.stack(out[:terms], axis=1)


def series_reports(kernel: tuple, key: bytes, block: int, x: np.ndarray) -> np.ndarray:
    """Return the signs (0 or 1) of the reports of one block. `kernel` holds terms, lower, upper, heads."""
    terms, lower, upper, heads = kernel
    points, words = series_points(terms, lower, upper, x), Words(key, "SERIES", block, 2048)
    out = np.empty((len(x), terms), np.uint8)
    for start in range(0, len(x), 16):  # a group of people
        rounding = words.take(16, "<u4").view(np.int32).astype(np.float32) * np.float32(2.0**-31)
        coins = words.take(16, "<u8").tolist()
        directions = words.take(16 * -(-terms // 32), "<u4").reshape(-1, 16).T
        u = np.unpackbits(np.ascontiguousarray(directions).view(np.uint8), axis=1, count=terms, bitorder="little")
        for i in range(start, min(start + 16, len(x))):
            v = rounding[i - start] < points[i]
            minus = 2 * int((u[i - start] == v).sum()) < terms
            out[i] = u[i - start] ^ (minus != (coins[i - start] >= heads))
    return out


def clipped_row(row: np.ndarray, radius: float) -> list[int]:
    """Return a row projected on the ball, in steps of radius 2^-40; zero if it is not finite.

    The squares are added in the order of the kernel.
    """
    x = row.astype(float)
    if not np.isfinite(x).all():
        return [0] * len(x)
    if len(x) == 1:
        return [round(min(max(float(x[0]), -radius), radius) * (2.0**40 / radius))]
    with np.errstate(over="ignore"):
        norm = _lane_norm(x)
        if math.isinf(norm):
            norm = _lane_norm(x * 2.0**-600) / 2.0**-600
    return [round(float(v) * (2.0**40 / max(norm, radius))) for v in x]


def _lane_norm(x: np.ndarray) -> float:
    squares, whole = x * x, len(x) // 16 * 16
    lanes = np.zeros(16)
    for start in range(0, whole, 16):
        lanes = lanes + squares[start : start + 16]
    rest = 0.0
    for square in squares[whole:]:
        rest = rest + float(square)
    while len(lanes) > 1:
        lanes = lanes[: len(lanes) // 2] + lanes[len(lanes) // 2 :]
    return math.sqrt(rest + float(lanes[0]))


def wide(state: np.ndarray) -> list[int]:
    """Return the integers of a state: 128 bits, two's complement, low word first."""
    return [int(low) + (int(high) << 64) for low, high in zip(state[:, 0], state[:, 1].view(np.int64), strict=True)]


def discrete_gaussian(words: Words, variance: int, n: int) -> list[int]:
    """Return n integers by rejection from steps of equal width, where every step is half as high as the one before.

    A uniform number is compared with its probability in 60 decimal digits.
    """
    width, out = math.isqrt(math.floor(2 * Decimal(2).ln() * variance)) + 1, []
    while True:
        first, second = words.take(64, "<u8").tolist(), words.take(64, "<u8").tolist()
        for word, uniform in zip(first, second, strict=True):
            position, rest = divmod((word % 2**32) * width, 2**32)
            bits, minus = word >> 32 & 0x7FFFFFFF, word >> 63
            if rest < 2**32 % width or bits == 0:
                continue
            step = 31 - bits.bit_length()
            size = step * width + position
            if minus and size == 0:
                continue
            with localcontext(Context(prec=60)):
                edge = 2**step * (-Decimal(size**2) / (2 * variance)).exp()
                assert 0 < edge <= 1
                if edge < 1:
                    assert not (uniform >> 12) < edge * 2**52 < (uniform >> 12) + 1 or edge < Decimal("1e-13")
                accepted = uniform >> 12 < edge * 2**52
            if accepted:
                out.append(-size if minus else size)
            if len(out) == n:
                return out


def rank_weights(points, size: int, twice_target: int, table) -> list[int]:
    """Return the weights of the grid points 0, ..., size - 1, by their distance from the target in half ranks."""
    found = []
    for g in range(size):
        below, up_to = sum(x < g for x in points), sum(x <= g for x in points)
        distance = max(0, 2 * below - twice_target, twice_target - 2 * up_to)
        found.append(int(table[min(distance, len(table) - 1)]))
    return found


def select(words: Words, weights: list[int]) -> int:
    """Return an index with probability proportional to its integer weight, from a uniform integer of 128 bits."""
    total = sum(weights)
    while True:
        value = words.word() << 64 | words.word()
        if value < (1 << 128) // total * total:
            break
    left = value % total
    for index, weight in enumerate(weights):
        if left < weight:
            return index
        left -= weight
    raise AssertionError


def spread(z, beta: float, i_low: int, i_high: int, j_low: int, j_high: int, least: int) -> float:
    """Return the maximum of exp(-beta (j - i - least)) (z[j] - z[i])."""
    return max(
        math.exp(-beta * (j - i - least)) * (z[j] - z[i])
        for i in range(i_low, i_high + 1)
        for j in range(j_low, j_high + 1)
        if j - i >= least
    )


def geometric_distribution(groups, carry: int, width: int, periods: int = 3) -> list[Fraction]:
    """Return P(G = g), g < periods 2^digits, from the integers of the coins."""
    below, q = [Fraction(1)], Fraction(carry, 1 << width)
    for weights in groups:
        below = [p * Fraction(w, 1 << width) for w in weights for p in below]
    return [p * q**times * (1 - q) for times in range(periods) for p in below]
