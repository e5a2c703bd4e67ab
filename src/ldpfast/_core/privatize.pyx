"""Kernels of all mechanisms, one class per mechanism, with the same name."""
from libc.math cimport INFINITY, NAN, sqrt
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from math import comb

from ldpfast._core.kernel cimport Kernel
from ldpfast._core.kernels cimport *

cdef extern from "<float.h>" nogil:
    float FLT_MAX
    double DBL_MAX

# Coins, whose integers the kernels take.
# protocol Coin: k, bits, keep, words_per_symbol, reciprocal, shift
# protocol WindowCoin: steps, width, outputs, each, per, heads, tails, fraction_bits, per_division: tuple[int, int], each_division: tuple[int, int]
# protocol RankedSignsCoin: weights: tuple[int, ...], least, heads
# protocol Level: span, heads, size, others, parity: bool, table: NDArray[np.uint32] | None, space: ProjectiveResponse | None
# protocol GeometricCoins: digits, groups: Sequence[Sequence[int]], carry, tables(): Sequence[tuple[Sequence[int], Sequence[int]]]


# Codes ----------------------------------------------------------------------------------------------------------------


cdef class CodeKernel(Kernel):
    """Base class of kernels whose reports are codes below k. The state is int64 counts[k]."""

    cdef void configure_counts(self, size_t k):
        """Set the layout of records, reports and state for k codes."""
        self.k = k
        self.format = &self.k
        self.state_bytes = 8 * k
        self.items = self.report_items = 1
        self.rows = CODE_ROWS


cdef randomized_response response_of(coin, int stream):
    """Return the C struct of a `_coins.ResponseCoin`."""
    cdef randomized_response p
    p.k, p.direct, p.words_per_symbol = coin.k, coin.keep - coin.words_per_symbol, coin.words_per_symbol
    p.reciprocal, p.shift, p.bits, p.stream = coin.reciprocal, coin.shift, coin.bits, stream
    return p


cdef class RandomizedResponse(CodeKernel):
    """k-ary randomized response. Records have the smallest unsigned dtype that holds k - 1."""
    cdef randomized_response p

    def __init__(self, coin: _Coin):
        self.set_response(coin, STREAM_RANDOMIZED_RESPONSE)

    cdef int set_response(self, coin, int stream) except -1:
        """Set the coin, the stream and the kernels."""
        self.p = response_of(coin, stream)
        self.params = &self.p
        self.configure_counts(coin.k)
        self.by_size = [privatize_randomized_response_u8, privatize_randomized_response_u16,
                        privatize_randomized_response_u32, privatize_randomized_response_u64]
        self.tally_by_size = [tally_codes_u8, tally_codes_u16, tally_codes_u32, tally_codes_u64]
        return 0


cdef class WholeSets(CodeKernel):
    """Randomized response of sets of at most `own` of k options, whose codes are below that of a missing set, if it is one."""
    cdef whole_sets p

    def __init__(self, coin: _Coin, uint32_t k, uint32_t own, bint optional):
        cdef uint32_t i, q
        self.p.response = response_of(coin, STREAM_WHOLE_SETS)
        if not (1 <= own <= min(k, <uint32_t>MAX_WHOLE) and (own - 1) * k <= <uint32_t>MAX_RANKS
                and sum(comb(k, size) for size in range(own + 1)) + optional == coin.k <= MAX_SETS):
            raise ValueError("the sets do not fit the kernel")
        self.p.k, self.p.own, self.p.optional = k, own, optional
        for i in range(own):
            self.p.smaller[i] = comb(k, i)
        for i in range(1, own):
            for q in range(k):
                self.p.rank[(i - 1) * k + q] = comb(q, i + 1)
        self.params = &self.p
        self.configure_counts(coin.k)
        self.items = own
        if coin.k <= 256:
            self.report_size = 1
            self.by_size = [NULL, privatize_whole_sets_u8, NULL, NULL]
            self.tally_by_size = [NULL, tally_codes_u8, NULL, NULL]
        else:
            self.report_size = 2
            self.by_size = [NULL, privatize_whole_sets_u16, NULL, NULL]
            self.tally_by_size = [NULL, tally_codes_u16, NULL, NULL]


cdef class Warner(RandomizedResponse):
    """Randomized response for k = 2, with its own stream."""

    def __init__(self, coin: _Coin):
        self.set_response(coin, STREAM_WARNER)


cdef class SetCodes(CodeKernel):
    """Base class of kernels whose records are categories and whose reports are codes of another, larger number."""

    cdef int configure_codes(self, size_t codes, privatize_fn u8_u8, privatize_fn u8_u16, privatize_fn u16_u16,
                             privatize_fn u16_u32, privatize_fn u32_u32) except -1:
        """Set the number of codes and the kernels for the smallest dtype that holds them."""
        if codes > <size_t>1 << 32:
            raise ValueError("too many codes")
        self.configure_counts(codes)
        if codes <= 1 << 8:
            self.report_size = 1
            self.by_size = [u8_u8, NULL, NULL, NULL]
            self.tally_by_size = [tally_codes_u8, NULL, NULL, NULL]
        elif codes <= 1 << 16:
            self.report_size = 2
            self.by_size = [u8_u16, u16_u16, NULL, NULL]
            self.tally_by_size = [tally_codes_u16, tally_codes_u16, NULL, NULL]
        else:
            self.report_size = 4
            self.by_size = [NULL, u16_u32, u32_u32, NULL]
            self.tally_by_size = [NULL, tally_codes_u32, tally_codes_u32, NULL]
        return 0


cdef class HadamardResponse(SetCodes):
    """Codes below the power of two `codes`. `heads` / 2^bits is the probability of even parity with the record + 1."""
    cdef hadamard_response p

    def __init__(self, uint32_t k, size_t codes, uint64_t heads, int bits):
        if k >= codes or codes & (codes - 1):
            raise ValueError("the number of codes must be a power of two above k")
        self.p = hadamard_response(heads, k, codes - 1, bits)
        self.params = &self.p
        self.configure_codes(codes, privatize_hadamard_response_u8_u8, privatize_hadamard_response_u8_u16,
                             privatize_hadamard_response_u16_u16, privatize_hadamard_response_u16_u32,
                             privatize_hadamard_response_u32_u32)


cdef class ProjectiveResponse(SetCodes):
    """Points of the projective space of vectors of `length` elements of a field.

    The field is given by its tables of sums and products. Without tables its elements are the integers modulo `order`.
    """
    cdef projective_response p

    def __init__(self, uint32_t k, uint32_t order, int length, uint64_t heads,
                 tables: tuple[Sequence[Sequence[int]], Sequence[Sequence[int]]] | None = None):
        cdef uint32_t i, j
        if not projective_open(&self.p, k, order, <uint32_t>length, tables is not None):
            raise ValueError("the field or the space is too large, or there are fewer points than categories")
        self.p.heads = heads
        if tables:
            sums, products = tables
            for i in range(order):
                for j in range(order):
                    self.p.sum[i][j], self.p.product[i][j] = sums[i][j], products[i][j]
                    if sums[i][j] == 0:
                        self.p.negative[i] = j
                    if products[i][j] == 1:
                        self.p.inverse[i] = j
        self.params = &self.p
        self.configure_codes(self.p.first[length], privatize_projective_response_u8_u8, privatize_projective_response_u8_u16,
                             privatize_projective_response_u16_u16, privatize_projective_response_u16_u32,
                             privatize_projective_response_u32_u32)

    def fill_table(self, const uint32_t[::1] points, uint32_t[:, ::1] out) -> None:
        """Write a row of all reports for each point: those of the product 0 with it, then those of 1, both in the order of the draws."""
        cdef Py_ssize_t i
        cdef uint32_t last = self.p.length - 1, draw, inside = self.p.first[last]
        if out.shape[0] != points.shape[0] or out.shape[1] != <Py_ssize_t>self.p.first[self.p.length]:
            raise ValueError("there must be a row for each point with a place for each report")
        with nogil:
            for i in range(points.shape[0]):
                for draw in range(self.p.first[self.p.length]):
                    out[i, draw] = projective_report(&self.p, points[i] % self.p.first[self.p.length], draw >= inside,
                                                     draw - inside if draw >= inside else draw)


cdef class CodedLevels(SetCodes):
    """One code of a level that is drawn at random. A level is the `first` code, the `span` of a symbol and its set of codes.

    `slots` holds the number of the level of each equally probable slot. `signed`: a symbol is a node and a sign.
    """
    cdef coded_levels p
    cdef object levels

    def __init__(self, uint32_t k, slots: Sequence[int], bint signed, levels: Sequence[_Level]):
        cdef const uint32_t[:, ::1] table
        cdef const uint32_t[::1] points
        cdef ProjectiveResponse space
        cdef coded_level *level
        cdef uint64_t symbols, codes = 0
        cdef uint32_t size, others  # larger numbers are an OverflowError, and sums of 64 bits are none
        if not (1 <= k <= <uint32_t>1 << 20 and 1 <= len(levels) <= len(slots) <= MAX_CODED_LEVELS):
            raise ValueError("the levels do not fit the kernel")
        self.p.k, self.p.slots, self.p.sign_bits, self.p.stream = k, len(slots), signed, self.stream_id()
        self.p.slot_bits = len(slots).bit_length() - 1 if len(slots) & (len(slots) - 1) == 0 else 0
        for i, number in enumerate(slots):
            if not 0 <= number < len(levels):
                raise ValueError("the levels do not fit the kernel")
            self.p.slot[i] = number
        for i, part in enumerate(levels):
            level, size, others = &self.p.level[i], part.size, part.others
            symbols = (k - 1) // part.span + 1
            if not (1 <= size and 1 <= others and codes + <uint64_t>size + others < <uint64_t>1 << 32):
                raise ValueError("the codes do not fit the kernel")
            level.heads, level.first, level.codes[0], level.codes[1] = part.heads, codes, size, others
            level.row = size + others
            level.reciprocal = ((<uint64_t>1 << SPAN_SHIFT) + part.span - 1) // part.span
            level.kind, level.space, level.table = WINDOW_CODES, NULL, &self.p.slots
            codes += level.row
            if part.space is not None:
                space, points = part.space, part.table
                level.kind, level.space, level.table = POINT_CODES, &space.p, &points[0]
                if (size != space.p.first[space.p.length - 1] or others != space.p.power[space.p.length - 1]
                        or <uint64_t>points.shape[0] < symbols or part.table.max() >= level.row):
                    raise ValueError("the points do not fit the kernel")
            elif part.table is not None:
                table = part.table
                level.kind, level.table = TABLED_CODES, &table[0, 0]
                if <uint64_t>table.shape[0] < symbols or <uint64_t>table.shape[1] != level.row or part.table.max() >= level.row:
                    raise ValueError("the table does not fit the kernel")
            elif part.parity:
                level.kind = PARITY_CODES
                if size != others or size & (size - 1) or (symbols - 1) >> signed >= size:
                    raise ValueError("the codes do not fit the kernel")
            elif others < symbols - 1:
                raise ValueError("the codes do not fit the kernel")
        self.levels = list(levels)  # the owners of the tables
        self.params = &self.p
        self.configure_codes(codes, privatize_coded_levels_u8_u8, privatize_coded_levels_u8_u16,
                             privatize_coded_levels_u16_u16, privatize_coded_levels_u16_u32, privatize_coded_levels_u32_u32)
        if codes > 1 << 16:
            self.by_size[0], self.tally_by_size[0] = privatize_coded_levels_u8_u32, tally_codes_u32

    cdef uint32_t stream_id(self):
        return STREAM_TREE


cdef class TreeResponse(CodedLevels):
    """One code of a level of a tree."""


cdef class DistributionResponse(CodedLevels):
    """One code of a window or of a level of a tree, with its own stream."""

    cdef uint32_t stream_id(self):
        return STREAM_DISTRIBUTION


cdef class FloatCodes(CodeKernel):
    """Base class of kernels with float or double records and codes of one byte."""

    cdef void configure_bytes(self, size_t k):
        """Set the number of codes, at most 256."""
        self.configure_counts(k)
        self.report_size = 1
        self.tally_by_size = [NULL, NULL, tally_codes_u8, tally_codes_u8]


cdef class Residue(FloatCodes):
    """k-ary randomized response to floor((x - offset) / width) mod k."""
    cdef residue p

    def __init__(self, double width, double offset, coin: _Coin):
        self.p.answer = response_of(coin, STREAM_RESIDUE)
        self.p.per_width, self.p.offset, self.p.per_modulus = 1 / width, offset, 1.0 / coin.k
        self.p.power_of_two = coin.k & (coin.k - 1) == 0
        self.params = &self.p
        self.configure_bytes(coin.k)
        self.by_size = [NULL, NULL, privatize_residue_f32, privatize_residue_f64]


cdef class Bins(FloatCodes):
    """k-ary randomized response to the number of cuts <= x."""
    cdef bins p

    def __init__(self, cuts: Sequence[float], coin: _Coin):
        self.p.answer = response_of(coin, STREAM_BINS)
        if len(cuts) != coin.k - 1:
            raise ValueError("there must be one cut less than symbols")
        for wide, largest in enumerate((FLT_MAX, DBL_MAX)):
            for i, cut in enumerate(cuts):
                self.p.cuts[wide][i] = NAN if cut > largest else -INFINITY if cut <= -largest else cut
        self.params = &self.p
        self.configure_bytes(coin.k)
        self.by_size = [NULL, NULL, privatize_bins_f32, privatize_bins_f64]


cdef class SignBit(FloatCodes):
    """One bit of a number. `heads` / 2^bits is the probability of a one at the upper end."""
    cdef sign_bit p

    def __init__(self, double lower, double upper, uint64_t heads, int bits):
        cdef uint64_t low = -heads if bits == 64 else (<uint64_t>1 << bits) - heads
        self.p = sign_bit(lower, upper, 1 / (upper - lower), low, heads - low, bits)
        self.params = &self.p
        self.configure_bytes(2)
        self.by_size = [NULL, NULL, privatize_sign_bit_f32, privatize_sign_bit_f64]


cdef class Window(FloatCodes):
    """Codes of the window mechanism, from the integers of a `_coins.WindowCoin`; then the two codes of the bit, if there is one.

    `shift` and `segments` place a number among unequally spaced inputs: starts, positions and slopes as in window.h. Without
    them, the inputs are equally spaced.
    """
    cdef window p

    def __init__(self, double lower, double upper, coin: _WindowCoin, uint32_t shift=0,
                 segments: Sequence[tuple[int, int, int]] = ()):
        cdef uint64_t bit_words = coin.heads + coin.tails, positions
        cdef uint32_t steps = coin.steps
        cdef size_t j
        if bit_words + coin.outputs * coin.each + coin.width * coin.per != <uint64_t>1 << 32 or (coin.each | coin.per) % 2 or not 0 < steps < 256:
            raise ValueError("the words must be divided exactly, in even numbers")
        self.p.fraction_bits = coin.fraction_bits
        positions = <uint64_t>steps << self.p.fraction_bits
        if coin.heads - coin.tails >= positions:
            raise ValueError("the bit must have fewer words")
        self.p.lower, self.p.upper, self.p.slope = lower, upper, <double>positions / (upper - lower)
        self.p.last = <uint32_t>(positions - 1)
        self.p.width, self.p.per, self.p.direct = coin.width, coin.per, coin.width * coin.per
        self.p.per_factor, self.p.per_shift = coin.per_division
        self.p.each_factor, self.p.each_shift = coin.each_division
        self.p.divides = (coin.width + 1) * coin.per < 1 << 32
        self.p.bit_words, self.p.bit_low = <uint32_t>bit_words, coin.tails
        self.p.bit_slope = ((coin.heads - coin.tails) << 32) // positions
        self.p.first_bit = coin.outputs
        if segments:
            if len(segments) > MAX_SEGMENTS:
                raise ValueError("too many segments")
            self.p.slope, self.p.last = (2.0**32 - 2) / (upper - lower), 0xFFFFFFFF  # less than 2^31 for `upper`
            self.p.segments, self.p.center, self.p.shift = len(segments), <uint32_t>(positions // 2), shift
            for j, (start, position, slope) in enumerate(segments):
                self.p.segment[j] = window_segment(start, position, slope)
        self.params = &self.p
        self.configure_bytes(coin.outputs + (2 if bit_words else 0))
        self.by_size = [NULL, NULL, privatize_window_f32, privatize_window_f64]


# Bits -----------------------------------------------------------------------------------------------------------------


cdef class BitKernel(Kernel):
    """Base class of kernels whose reports are k packed bits. The state is int64 counts[k]."""
    cdef size_t k

    cdef void configure_bits(self, size_t k):
        """Set the layout of reports and state for k bits."""
        self.k = k
        self.format = &self.k
        self.state_bytes = 8 * k
        self.report_items = (k + 7) // 8
        self.report_size = 1
        self.tally_by_size = [tally_bits, tally_bits, tally_bits, tally_bits]


cdef class UnaryEncoding(BitKernel):
    """Unary encoding. Records have the smallest unsigned dtype that holds k - 1.

    `other` / 2^64 is the probability of a one for a category that is not the person's.
    """
    cdef unary_encoding p

    def __init__(self, size_t k, uint64_t other, bint optimized):
        self.p = unary_encoding(k, other, optimized)
        self.params = &self.p
        self.configure_bits(k)
        self.items = 1
        self.rows = unary_encoding_rows(k)
        self.by_size = [privatize_unary_encoding_u8, privatize_unary_encoding_u16, privatize_unary_encoding_u32,
                        privatize_unary_encoding_u64]


cdef class SubsetSelection(BitKernel):
    """Sets of `size` of k categories. `heads` / 2^64 is the probability that a set holds the person's category."""
    cdef subset_selection p

    def __init__(self, uint32_t k, uint32_t size, uint64_t heads, uint32_t density):
        if not 1 <= size < k <= 65536 or density >= 64:
            raise ValueError("the sets do not fit the kernel")
        self.p = subset_selection(heads, k, size, density)
        self.params = &self.p
        self.configure_bits(k)
        self.items = 1
        self.rows = subset_selection_rows(k)
        self.by_size = [privatize_subset_selection_u8, privatize_subset_selection_u16, NULL, NULL]


cdef int load_sets(set_selection *p, uint32_t positions, uint32_t own, uint32_t size, uint32_t threshold, uint64_t heads,
                   up_to) except -1:
    """Fill the struct of both forms of set selection."""
    if not (1 <= own <= <uint32_t>MAX_OWN and 2 * own <= positions <= 65536 and 1 <= size <= positions - own
            and 1 <= threshold <= min(own, size)):
        raise ValueError("the sets do not fit the kernel")
    memset(p, 0, sizeof(set_selection))
    p.heads, p.positions, p.own, p.size, p.threshold = heads, positions, own, size, threshold
    for i, count in enumerate(up_to):
        p.up_to[i] = p.reports = count
    return 0


cdef class SetSelection(BitKernel):
    """Sets of `size` of `positions` positions, at least `threshold` of them among those of the record with probability `heads` /
    2^64. `up_to` holds the numbers of sets with at most 0, 1, ... positions of a record; it is empty if they exceed 63 bits."""
    cdef set_selection p

    def __init__(self, uint32_t positions, uint32_t own, uint32_t size, uint32_t threshold, uint64_t heads, up_to: Sequence[int],
                 uint32_t density):
        load_sets(&self.p, positions, own, size, threshold, heads, up_to)
        if density >= 64:
            raise ValueError("the sets do not fit the kernel")
        self.p.density = density
        set_selection_plan(&self.p)
        self.params = &self.p
        self.configure_bits(positions)
        self.items = own
        self.rows = set_selection_rows(&self.p)
        self.by_size = [NULL, privatize_set_selection_u16, NULL, NULL]


cdef class SetPosition(CodeKernel):
    """One of `positions` positions, which is among those of the record with probability `heads` / 2^64."""
    cdef set_selection p

    def __init__(self, uint32_t positions, uint32_t own, uint64_t heads):
        load_sets(&self.p, positions, own, 1, 1, heads, ())
        self.params = &self.p
        self.configure_counts(positions)
        self.items = own
        if positions <= 256:
            self.report_size = 1
            self.by_size = [NULL, privatize_set_codes_u8, NULL, NULL]
            self.tally_by_size = [NULL, tally_codes_u8, NULL, NULL]
        else:
            self.report_size = 2
            self.by_size = [NULL, privatize_set_codes_u16, NULL, NULL]
            self.tally_by_size = [NULL, tally_codes_u16, NULL, NULL]


cdef class ViewResponse(Kernel):
    """Answers to a random view of many questions.

    `answers` holds the number of answers to each question, `plain` and `flip` the numbers of questions of the views of either
    kind, and `share` / 256 is the probability of a plain view. `direct` / 2^64 is the probability of keeping the true symbol: a
    table by the places of the numbers of answers `number` of both questions of a view, or with one entry; and that of flip views.
    """
    cdef view_response p

    def __init__(self, answers: Sequence[int], uint32_t plain, uint32_t flip, uint32_t share, number: Sequence[int],
                 direct: Sequence[Sequence[int]], uint64_t direct_flip):
        cdef uint32_t counts[256]
        cdef size_t cells
        if not 2 <= len(answers) <= MAX_QUESTIONS or len(number) != len(answers):
            raise ValueError("the questions do not fit the kernel")
        for i, count in enumerate(answers):
            counts[i] = count
        memset(&self.p, 0, sizeof(view_response))
        if view_format_open(&self.p.format, len(answers), counts, plain, flip) or not 1 <= share <= 256:
            raise ValueError("the views do not fit the kernel")
        if len(direct) > MAX_ANSWER_NUMBERS or not all(len(row) == len(direct) for row in direct) or not all(
                0 <= place < len(direct) for place in number):
            raise ValueError("the coins do not fit the kernel")
        for i, row in enumerate(direct):
            for j, words in enumerate(row):
                self.p.direct[i][j] = words
        for i, place in enumerate(number):
            self.p.number[i] = place
        self.p.plain, self.p.flips, self.p.direct_flip = share, flip != 0, direct_flip
        view_response_plan(&self.p)
        self.params = &self.p
        self.format = &self.p.format
        cells = self.p.format.first[self.p.format.questions]
        self.state_bytes = 8 * (cells * cells + len(answers) * len(answers))
        self.items = len(answers)
        self.report_items = view_report_bytes(&self.p.format)
        self.report_size = 1
        self.rows = VIEW_ROWS
        self.by_size = [NULL, privatize_view_response_u16, NULL, NULL]
        self.tally_by_size = [NULL, tally_views, NULL, NULL]

    @property
    def asks(self) -> bool:
        return True

    def ask_each(self, const uint8_t[:, ::1] keys, uint8_t[:, ::1] out) -> None:
        """Fill `out` with the views of reports, each drawn from its own key, and no answers."""
        self.draw_each(draw_views, keys, out)

    def encode_each(self, const uint16_t[:, ::1] x, uint8_t[:, ::1] out) -> None:
        """Write the true symbols of records into reports whose views are drawn."""
        if x.shape[0] != out.shape[0] or x.shape[1] != <Py_ssize_t>self.items or out.shape[1] != <Py_ssize_t>self.report_items:
            raise ValueError("records and reports do not fit together")
        if x.shape[0]:
            with nogil:
                encode_views(&self.p, &x[0, 0], x.shape[0], &out[0, 0])

    def respond_each(self, const uint8_t[:, ::1] keys, uint8_t[:, ::1] out) -> None:
        """Put random symbols in the place of true ones, each with the coins of its own key."""
        self.draw_each(respond_views, keys, out)

    cdef int draw_each(self, view_fn draw, const uint8_t[:, ::1] keys, uint8_t[:, ::1] out) except -1:
        """Call a function for each report, with its own key."""
        cdef stream_key k
        cdef Py_ssize_t i
        if keys.shape[0] != out.shape[0] or keys.shape[1] != KEY_BYTES or out.shape[1] != <Py_ssize_t>self.report_items:
            raise ValueError("keys and reports do not fit together")
        with nogil:
            for i in range(out.shape[0]):
                key_open(&k, &keys[i, 0])
                draw(&self.p, &k, 0, 1, &out[i, 0])
            key_wipe(&k, sizeof(k))
        return 0


cdef class LinfBall(BitKernel):
    """Packed signs. `keep_tie` / 2^64 is the probability of keeping a tie; 0 means always."""
    cdef linf_ball p

    def __init__(self, size_t dim, double radius, uint64_t heads, uint64_t keep_tie):
        self.p = linf_ball(dim, radius, 2.0**30 / radius, heads, keep_tie)
        self.params = &self.p
        self.configure_bits(dim)
        self.items = dim
        self.rows = linf_ball_rows(dim)
        self.by_size = [NULL, NULL, privatize_linf_ball_f32, privatize_linf_ball_f64]


cdef class CapCube(BitKernel):
    """Packed signs of all coordinates, which agree with those of the record in at least `threshold` places with probability
    `heads` / 2^64. `up_to` holds the numbers of patterns with at most 0, 1, ... disagreements."""
    cdef sampled_cube p

    def __init__(self, uint32_t dim, double radius, uint64_t heads, uint32_t threshold, up_to: Sequence[int]):
        if not dim / 2 < threshold <= dim <= <uint32_t>CUBE_DIM:
            raise ValueError("the threshold must be above half of the dimension, which is limited")
        load_cube(&self.p, dim, dim, radius, heads, threshold, up_to)
        self.params = &self.p
        self.configure_bits(dim)
        self.items = dim
        self.rows = CUBE_ROWS
        self.by_size = [NULL, NULL, privatize_cap_cube_f32, privatize_cap_cube_f64]


cdef int load_cube(sampled_cube *p, uint32_t dim, uint32_t sampled, double radius, uint64_t heads,
                   uint32_t threshold, up_to) except -1:
    """Fill the structs of both forms of the cube."""
    cdef int i
    p.dim, p.sampled, p.threshold, p.radius, p.per_unit, p.heads = dim, sampled, threshold, radius, 2.0**31 / radius, heads
    if sampled <= <uint32_t>CUBE_SAMPLED:
        for i, count in enumerate(up_to):
            p.up_to[i] = p.patterns = count
    return 0


cdef class SampledCube(Kernel):
    """Items 2 j + sign of `sampled` of the coordinates. See `CapCube` for the other arguments."""
    cdef sampled_cube p
    cdef code_rows codes

    def __init__(self, uint32_t dim, uint32_t sampled, double radius, uint64_t heads, uint32_t threshold,
                 up_to: Sequence[int]):
        if not sampled / 2 < threshold <= sampled <= <uint32_t>CUBE_SAMPLED or sampled >= dim or dim >= 1 << 31:
            raise ValueError("the sampled coordinates do not fit the kernel")
        load_cube(&self.p, dim, sampled, radius, heads, threshold, up_to)
        self.params = &self.p
        self.codes = code_rows(2 * <size_t>dim, sampled)
        self.format = &self.codes
        self.state_bytes = 16 * <Py_ssize_t>dim
        self.items = dim
        self.report_items = sampled
        self.rows = CUBE_ROWS
        if 2 * <size_t>dim <= 1 << 8:
            self.report_size = 1
            self.by_size = [NULL, NULL, privatize_sampled_cube_f32_u8, privatize_sampled_cube_f64_u8]
            self.tally_by_size = [NULL, NULL, tally_code_rows_u8, tally_code_rows_u8]
        elif 2 * <size_t>dim <= 1 << 16:
            self.report_size = 2
            self.by_size = [NULL, NULL, privatize_sampled_cube_f32_u16, privatize_sampled_cube_f64_u16]
            self.tally_by_size = [NULL, NULL, tally_code_rows_u16, tally_code_rows_u16]
        else:
            self.report_size = 4
            self.by_size = [NULL, NULL, privatize_sampled_cube_f32_u32, privatize_sampled_cube_f64_u32]
            self.tally_by_size = [NULL, NULL, tally_code_rows_u32, tally_code_rows_u32]


cdef int load_set_cube(set_cube *p, uint32_t k, uint32_t own, uint32_t dim, uint32_t sampled, uint64_t heads,
                       uint32_t threshold, up_to) except -1:
    """Fill the struct of both forms of the cube of sets."""
    if not (1 <= own <= k <= dim <= k + 1 and k + own < 65535 and sampled / 2 < threshold <= sampled):
        raise ValueError("the sets do not fit the kernel")
    memset(p, 0, sizeof(set_cube))
    load_cube(&p.cube, dim, sampled, 1.0, heads, threshold, up_to)
    p.k, p.own = k, own
    return 0


cdef class SetCapCube(BitKernel):
    """Packed signs of the k options of sets of at most `own`, and of one coordinate more for missing sets if `dim` is k + 1.
    See `CapCube` for the other arguments."""
    cdef set_cube p

    def __init__(self, uint32_t k, uint32_t own, uint32_t dim, uint64_t heads, uint32_t threshold, up_to: Sequence[int]):
        if dim > <uint32_t>CUBE_DIM:
            raise ValueError("the dimension is limited")
        load_set_cube(&self.p, k, own, dim, dim, heads, threshold, up_to)
        self.params = &self.p
        self.configure_bits(dim)
        self.items = own
        self.rows = CUBE_ROWS
        self.by_size = [NULL, privatize_set_cap_cube, NULL, NULL]


cdef class SetCube(Kernel):
    """Items 2 j + sign of `sampled` of the coordinates. See `SetCapCube` for the other arguments."""
    cdef set_cube p
    cdef code_rows codes

    def __init__(self, uint32_t k, uint32_t own, uint32_t dim, uint32_t sampled, uint64_t heads, uint32_t threshold,
                 up_to: Sequence[int]):
        if not sampled < dim or sampled > <uint32_t>CUBE_SAMPLED:
            raise ValueError("the sampled coordinates do not fit the kernel")
        load_set_cube(&self.p, k, own, dim, sampled, heads, threshold, up_to)
        self.params = &self.p
        self.codes = code_rows(2 * <size_t>dim, sampled)
        self.format = &self.codes
        self.state_bytes = 16 * <Py_ssize_t>dim
        self.items = own
        self.report_items = sampled
        self.rows = CUBE_ROWS
        if 2 * dim <= 1 << 8:
            self.report_size = 1
            self.by_size = [NULL, privatize_set_cube_u8, NULL, NULL]
            self.tally_by_size = [NULL, tally_code_rows_u8, NULL, NULL]
        elif 2 * dim <= 1 << 16:
            self.report_size = 2
            self.by_size = [NULL, privatize_set_cube_u16, NULL, NULL]
            self.tally_by_size = [NULL, tally_code_rows_u16, NULL, NULL]
        else:
            self.report_size = 4
            self.by_size = [NULL, privatize_set_cube_u32, NULL, NULL]
            self.tally_by_size = [NULL, tally_code_rows_u32, NULL, NULL]


cdef class Series(BitKernel):
    """Packed signs for the terms of a trigonometric series on an interval, in the layout of `LinfBall`."""
    cdef series p

    def __init__(self, size_t terms, double lower, double upper, uint64_t heads):
        self.p = series(terms, lower, upper, 2.0**32 / (upper - lower), heads)
        self.params = &self.p
        self.configure_bits(terms)
        self.items = 1
        self.rows = series_rows(terms)
        self.by_size = [NULL, NULL, privatize_series_terms_f32, privatize_series_terms_f64]


# Vectors and grids ----------------------------------------------------------------------------------------------------


cdef class L2Ball(Kernel):
    """Directions of norm `scale`, in the dtype of the records."""

    def __init__(self, size_t dim, double radius, double scale, uint64_t heads):
        self.p.dim = dim
        self.p.per_radius = 1 / radius
        self.p.tolerance, self.p.scale, self.p.heads = 4 * sqrt(dim), scale, heads
        self.valid = row_range(dim, radius)
        self.clip_params = &self.valid
        self.clip_by_size = [NULL, NULL, clip_rows_f32, clip_rows_f64]
        self.sums.dim, self.sums.bound = dim, scale
        self.params = &self.p
        self.format = &self.sums
        self.state_bytes = 16 * dim
        self.items = self.report_items = dim
        self.rows = l2_ball_rows(dim)
        self.by_size = [NULL, NULL, privatize_l2_ball_f32, privatize_l2_ball_f64]
        self.tally_by_size = [NULL, NULL, tally_vectors_f32, tally_vectors_f64]


cdef class RankCodebook(Kernel):
    """Seeds and indices of candidates, `top` of which are reported with probability `heads` / 2^64."""

    def __init__(self, size_t dim, double radius, double scale, uint64_t heads, uint32_t vectors, uint32_t top):
        if not 1 <= top <= vectors <= <uint32_t>MAX_VECTORS or not 1 <= dim <= <size_t>MAX_DIRECTION:
            raise ValueError("the vectors do not fit the kernel")
        self.p = rank_codebook(1 / radius, 4 * sqrt(dim), heads, dim, vectors, top, (2 * int(vectors) - 1).bit_length())
        self.valid = row_range(dim, radius)
        self.clip_params = &self.valid
        self.clip_by_size = [NULL, NULL, clip_rows_f32, clip_rows_f64]
        self.sums.dim, self.sums.bound, self.sums.bits = dim, scale, self.p.bits
        self.params = &self.p
        self.format = &self.sums
        self.state_bytes = 32 * dim
        self.items = dim
        self.report_items = 1
        self.report_size = 8
        self.rows = CODEBOOK_ROWS
        self.by_size = [NULL, NULL, privatize_rank_codebook_f32, privatize_rank_codebook_f64]
        self.tally_by_size = [NULL, NULL, tally_directions, tally_directions]


cdef int load_patterns(coin, const uint64_t[::1] limits, sign_patterns *p) except -1:
    """Set the patterns of a `_coins.RankedSignsCoin` and the limits of its sampler, which are not copied."""
    cdef uint32_t signs = len(coin.weights), sum = 0, i
    cdef size_t entries = 0
    if not 2 <= signs <= <uint32_t>MAX_SIGNS:
        raise ValueError("the signs do not fit the kernel")
    p.signs, p.heads = signs, coin.heads
    for i, rank in enumerate(sorted(range(signs), key=lambda r: abs(coin.weights[r]))):
        p.size[i], p.rank[i], p.negative[i] = abs(coin.weights[rank]), rank, coin.weights[rank] < 0
        sum += p.size[i]
        p.sum[i] = sum
        entries += sum + 1
    if <size_t>limits.shape[0] != entries or not 0 < coin.least <= sum:
        raise ValueError("the limits do not fit the weights")
    p.least[0], p.least[1] = sum + 1 - <uint32_t>coin.least, coin.least
    p.limit = &limits[0]
    return 0


cdef class RankedSigns(Kernel):
    """Seeds of frames and the signs of their vectors, from the integers of a `_coins.RankedSignsCoin` and its sampler."""

    def __init__(self, size_t dim, double radius, double unit, double bound, coin: _RankedSignsCoin,
                 const uint64_t[::1] limits):
        if not <size_t>len(coin.weights) <= dim < 1 << 32:
            raise ValueError("the signs do not fit the kernel")
        load_patterns(coin, limits, &self.p.patterns)
        self.limits = limits
        self.p.per_radius, self.p.tolerance = 1 / radius, 4 * sqrt(dim)
        self.p.frame.dim, self.p.frame.signs = dim, self.p.patterns.signs
        self.valid = row_range(dim, radius)
        self.clip_params = &self.valid
        self.clip_by_size = [NULL, NULL, clip_rows_f32, clip_rows_f64]
        self.sums.frame, self.sums.unit, self.sums.bound = self.p.frame, unit, bound
        self.params = &self.p
        self.format = &self.sums
        self.state_bytes = 32 * dim
        self.items = dim
        self.report_items = 1 + sign_words(&self.p.frame)
        self.report_size = 8
        self.rows = FRAME_ROWS
        self.by_size = [NULL, NULL, privatize_ranked_signs_f32, privatize_ranked_signs_f64]
        self.tally_by_size = [NULL, NULL, tally_frames, tally_frames]


cdef class RotatedSigns(Kernel):
    """Seeds of rows of a rotation and their signs, from the integers of a `_coins.RankedSignsCoin` and its sampler.

    The rotation is given by its signs (`transform.rotation_signs`).
    """
    cdef rotated_signs p
    cdef sign_patterns patterns
    cdef row_range valid
    cdef rotated_format sums
    cdef const uint64_t[::1] limits, signs

    def __init__(self, size_t dim, double radius, coin: _RankedSignsCoin, const uint64_t[::1] limits,
                 const uint64_t[::1] signs):
        cdef uint32_t bits = 0
        while bits <= <uint32_t>MAX_ROTATION_BITS and <size_t>signs.shape[0] != <size_t>2 << bits >> 6:
            bits += 1
        if not BLOCK_BITS <= bits <= MAX_ROTATION_BITS or not 1 <= dim <= <size_t>1 << bits:
            raise ValueError("the rotation does not fit the kernel")
        load_patterns(coin, limits, &self.patterns)
        if self.patterns.signs & (self.patterns.signs - 1):
            raise ValueError("the number of signs must be a power of two")
        self.limits, self.signs = limits, signs
        self.p.per_radius, self.p.tolerance, self.p.dim, self.p.bits = 1 / radius, 4 * sqrt(dim), dim, bits
        self.p.patterns, self.p.signs = &self.patterns, &signs[0]
        self.sums.bits, self.sums.signs = bits, self.patterns.signs
        self.valid = row_range(dim, radius)
        self.clip_params = &self.valid
        self.clip_by_size = [NULL, NULL, clip_rows_f32, clip_rows_f64]
        self.params = &self.p
        self.format = &self.sums
        self.state_bytes = <Py_ssize_t>8 << bits
        self.items = dim
        self.report_items = 1 + words_of_signs(self.patterns.signs)
        self.report_size = 8
        self.rows = rotated_block(bits)
        self.workspace_bytes = rotated_workspace(bits) * sizeof(float)
        self.by_size = [NULL, NULL, privatize_rotated_signs_f32, privatize_rotated_signs_f64]
        self.tally_by_size = [NULL, NULL, tally_rotated, tally_rotated]

    cdef int privatize_block(self, int size, stream_key *key, uint64_t block, const void *x, size_t n, void *out,
                             char *workspace) noexcept nogil:
        cdef rotated_signs p = self.p
        p.workspace = <float *>workspace
        return self.by_size[size](&p, key, block, x, n, out)


cdef coin coin_of(m):
    """Return the coin m / 2^128."""
    return coin(m >> 64, m & 0xFFFFFFFFFFFFFFFF)


cdef int load_noise(coins, geometric_noise *p) except -1:
    """Convert the weights of a `_coins.GeometricCoins` to alias tables."""
    cdef int i, j, size
    if len(coins.groups) > MAX_GROUPS:
        raise ValueError("too many digits")
    p.digits, p.groups, p.carry = coins.digits, len(coins.groups), coin_of(coins.carry)
    for i, (thresholds, aliases) in enumerate(coins.tables()):
        size = len(thresholds)
        p.group[i].mask = size - 1
        for j in range(GROUP_VALUES):
            p.group[i].threshold[j] = thresholds[j % size] >> 128
            p.group[i].rest[j] = coin_of(thresholds[j % size] & ((1 << 128) - 1))
            p.group[i].alias[j] = aliases[j % size]
    return 0


cdef class Laplace(Kernel):
    """Rows of `dim` numbers lower + grid * index, index in [0, span], plus noise from the coins of a `_coins.GeometricCoins`.

    With l1_limit > 0, records are rows of the l2 ball of the given radius. `use` names the mechanism and so its streams.
    """

    def __init__(self, size_t dim, double lower, double upper, double grid, int64_t span, int64_t l1_limit, double radius,
                 coins: _GeometricCoins, str use):
        if not 1 <= span < 1 << 31:
            raise ValueError("too many grid steps")
        self.p.noise.stream = {"number": STREAM_LAPLACE, "vector": STREAM_LAPLACE_VECTOR,
                               "one-hot": STREAM_LAPLACE_ONE_HOT, "residue": STREAM_LAPLACE_RESIDUE,
                               "central": STREAM_LAPLACE_CENTRAL}[use]
        load_noise(coins, &self.p.noise)
        self.p.dim = dim
        self.p.lower, self.p.upper, self.p.grid, self.p.per_grid = lower, upper, grid, 1 / grid
        self.p.span, self.p.l1_limit, self.p.radius, self.p.tolerance = span, l1_limit, radius, 4 * sqrt(dim)
        if l1_limit > 0:
            self.rows_in_ball = row_range(dim, radius)
            self.clip_params = &self.rows_in_ball
            self.clip_by_size = [NULL, NULL, clip_rows_f32, clip_rows_f64]
        self.sums.dim, self.sums.lower, self.sums.grid = dim, lower, grid
        self.params = &self.p
        self.format = &self.sums
        self.state_bytes = 32 * dim
        self.items = self.report_items = dim
        self.report_size = 8
        self.rows = laplace_rows(dim)
        self.by_size = [NULL, NULL, privatize_laplace_f32, privatize_laplace_f64]
        self.tally_by_size = [NULL, NULL, tally_grid, tally_grid]
