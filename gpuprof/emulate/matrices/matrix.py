"""The arithmetic of matrix instructions, compiled by Numba: fragments in registers, or matrices in shared memory, to
products, sums, and back.

The rule of accumulation. A product of two f16, bf16, tf32 or 8-bit floating elements is exact in double precision.
Starting from C, products are added in double precision in the order of k, and the sum is rounded once, to nearest even,
to the type of D. So the sum differs from the exact one by at most k * 2**-53 * (|c| + sum of |products|) before that
rounding, which is far less than a tensor core's own order and truncation make (PTX leaves both open). Double precision
is a chain of fused multiply-adds in the order of k, as PTX says.
Integer sums are exact (below 2**33, so double precision has them); they wrap to 32 bits, or saturate once at the end.

`multiply` carries out the steps of a `plan`, warp by warp: it takes a factor out of its words once, however many
products it is part of. Where a fragment's elements are is said in `isa.families.tensor`, the order of what is taken in
`vectors`.
"""

import numpy as np

from gpuprof.emulate.matrices import plan
from gpuprof.emulate.matrices.vectors import (
    load_long,
    load_word,
    multiply_columns,
    multiply_singles,
    prefetch_words,
    store_word,
    take_halves,
    take_singles,
)
from gpuprof.emulate.scalar.fused import _fma
from gpuprof.isa.modifiers import ELEMENT_TYPES
from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import OPTIONS, call_njit, inline_njit

F16, BF16, TF32, E4M3, E5M2, S8, U8, S4, U4, B1 = range(10)
assert ELEMENT_TYPES == ("f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8", "s4", "u4", "b1")
NBITS = np.array([16, 16, 32, 8, 8, 8, 8, 4, 4, 1])

NAN16 = np.uint32(0x7FFF)  # the GPU's canonical one
FULL = np.uint32(0xFFFFFFFF)
LARGEST32 = 2.0**31 - 1
WRAP = 1.5 * 2.0**52  # added to an integer below 2**51, leaves its low 32 bits in those of the double
# A warp's words that are not in its rows: zeros, D, C, a factor (8 registers of s4 at most), metadata.
ZEROS, D_WORDS, C_WORDS, TAKEN_WORDS, METADATA_WORDS, N_WORDS = 0, 1, 5, 9, 17, 18


def _e4m3(bits: int) -> float:
    """OCP 8-bit floating point: bias 7, no infinity, 0x7f is NaN."""
    exponent, fraction = bits >> 3 & 15, bits & 7
    if bits & 0x7F == 0x7F:
        return np.nan
    value = (8 + fraction) * 2.0 ** (exponent - 10) if exponent else fraction * 2.0**-9
    return -value if bits & 0x80 else value


def _values(type_name: int, bits: int) -> float:
    """The number of a pattern of up to 8 bits."""
    if type_name == E4M3:
        return _e4m3(bits)
    if type_name == E5M2:
        return float(np.uint16(bits << 8).view(np.float16))
    nbits = int(NBITS[type_name])
    bits &= (1 << nbits) - 1
    return float(bits - (1 << nbits) if type_name in (S8, S4) and bits >> nbits - 1 else bits)


with np.errstate(invalid="ignore"):  # a signalling NaN of E5M2
    VALUES = np.array([[_values(t, bits) if E4M3 <= t <= U4 else 0.0 for bits in range(256)] for t in range(B1)])


@call_njit
def half_value(bits):
    """Converts an f16 pattern to a double."""
    magnitude = bits & np.uint32(0x7FFF)
    pattern = np.uint64(magnitude) << np.uint64(42) | np.uint64(bits & np.uint32(0x8000)) << np.uint64(48)
    scale = np.inf if magnitude >= np.uint32(0x7C00) else 2.0**1008  # of the exponents of f16 in a double's place
    scale = np.nan if magnitude > np.uint32(0x7C00) else scale
    return np.uint64(pattern).view(np.float64) * scale


@call_njit
def half_bits(value):
    """Double to f16 pattern, to nearest even; NaNs become the canonical one."""
    if value != value:
        return NAN16
    sign = np.uint32(0x8000) if np.float64(value).view(np.uint64) >> np.uint64(63) else np.uint32(0)
    magnitude = abs(value)
    if magnitude >= 65520.0:
        return sign | np.uint32(0x7C00)
    if magnitude < 2.0**-14:
        return sign | np.uint32(np.rint(magnitude * 2.0**24))
    bits = np.float64(magnitude).view(np.uint64)
    bits += np.uint64((1 << 41) - 1) + (bits >> np.uint64(42) & np.uint64(1))
    return sign | np.uint32((bits >> np.uint64(42)) - np.uint64((1023 - 15) << 10))


@call_njit
def single_bits(value):
    """Double to f32 pattern, to nearest even; NaNs become the canonical one."""
    return np.float32(value).view(np.uint32) if value == value else np.uint32(0x7FFFFFFF)


@call_njit
def position(row):
    """Gives the place of a row, or a column, of eight in vectors_code.ORDER."""
    return (row >> 1) + 4 * (row & 1)


@inline_njit
def words_at(rows, register, warp, mask, words, place):
    """The address of a register's 32 words of a warp; lanes that are not there have zeros."""
    if register < 0:
        return np.int64(words.ctypes.data) + 128 * ZEROS
    at = rows[register] + 128 * warp
    prefetch_words(at + 256)  # the next warp's: rows are too far apart, and too many, for the processor to see it
    if mask == FULL:
        return at
    for lane in range(32):
        here = mask >> np.uint32(lane) & np.uint32(1)
        words[place, lane] = load_word(at + 4 * lane) if here else np.uint32(0)
    return np.int64(words.ctypes.data) + 128 * place


@call_njit
def described(descriptor, mn, k_nbytes, mn_nbytes, k, trans):
    """The byte in the block's shared memory of an element, as `descriptor.addresses` has it."""
    start, leading, stride = (
        16 * (descriptor & 0x3FFF),
        16 * (descriptor >> 16 & 0x3FFF),
        16 * (descriptor >> 32 & 0x3FFF),
    )
    base, mode = descriptor >> 49 & 7, descriptor >> 62 & 3
    row_shift = 4 if mode == 0 else 8 - mode  # of 16, 128, 64 and 32 bytes
    width = np.int64(1) << row_shift
    if trans:
        if mode == 0:
            return start + (mn_nbytes >> 4) * stride + (k >> 3) * leading + (k & 7) * 16 + (mn_nbytes & 15)
        at = start + (mn_nbytes >> row_shift) * leading + (k >> 3) * stride + (k & 7) * width
        at += mn_nbytes & width - 1
    else:
        if mode == 0:
            return start + (mn >> 3) * stride + (k_nbytes >> 4) * leading + (mn & 7) * 16 + (k_nbytes & 15)
        at = start + (mn >> 3) * stride + (mn & 7) * width + k_nbytes
    return at ^ ((at >> 7) - base & (width >> 4) - 1) << 4


@call_njit
def is_inside(descriptor, step, rank, nbytes):
    """False when a factor may reach beyond `nbytes` of shared memory. No address of it is lower than the start."""
    is_a = step[plan.KIND] == plan.TAKE_A
    mn = 16 * rank + 15 if is_a else step[plan.FIRST] + 7
    chunk = (step[plan.COUNT] >> 1 if is_a else step[plan.COUNT]) - 1
    start, leading, stride = (
        16 * (descriptor & 0x3FFF),
        16 * (descriptor >> 16 & 0x3FFF),
        16 * (descriptor >> 32 & 0x3FFF),
    )
    mode = descriptor >> 62 & 3
    if mode == 0:
        across, down = (2 * mn >> 4, chunk) if step[plan.TRANS] else (mn >> 3, chunk)
        return start + across * stride + down * leading + 128 <= nbytes
    width = np.int64(1) << 8 - mode
    if step[plan.TRANS]:
        last = (2 * mn >> 8 - mode) * leading + chunk * stride + 8 * width
    else:
        last = (mn >> 3) * stride + 7 * width + 16 * (chunk + 1)
    return start + last + 127 & -128 <= nbytes  # a swizzle stays in a line of 128 bytes


@call_njit
def fetch(memory, descriptor, step, rank, words):
    """Puts a fragment of a matrix in shared memory to words[TAKEN_WORDS:], laid out as for mma. It goes by chunks of 16
    bytes, which no layout divides. `memory`: the address of the block's.
    """
    is_a = step[plan.KIND] == plan.TAKE_A
    for r in range(step[plan.COUNT]):
        mn = 16 * rank + 8 * (r & 1) if is_a else step[plan.FIRST]
        chunk = r >> 1 if is_a else r
        to = TAKEN_WORDS + r
        for i in range(8):
            if step[plan.TRANS]:  # 16-bit elements whose neighbours in k are not adjacent
                k = 8 * chunk + i
                at = memory + described(descriptor, mn, 0, 2 * mn, k, True)
                for pair in range(4):
                    word = load_word(at + 4 * pair)
                    for half in range(2):
                        place = 4 * (2 * pair + half) + (i >> 1)
                        bits = word >> np.uint32(16 * half) & np.uint32(0xFFFF)
                        words[to, place] = words[to, place] | bits << np.uint32(16) if i & 1 else bits
            else:
                at = memory + described(descriptor, mn + i, 16 * chunk, 0, 0, False)
                for word in range(4):
                    words[to, 4 * i + word] = load_word(at + 4 * word)


@call_njit
def take_small(words, taken, to, stride, type_name):
    """Puts elements of 8 or 4 bits of 32 words to taken[to:], a column for each k."""
    nbits = NBITS[type_name]
    per_word, least = 32 // nbits, np.uint32((1 << nbits) - 1)
    for lane in range(32):
        word, at = load_word(words + 4 * lane), to + position(lane >> 2) + (lane & 3) * per_word * stride
        for i in range(per_word):
            taken[at + i * stride] = VALUES[type_name, word >> np.uint32(nbits * i) & least]


@inline_njit
def take(words, taken, to, stride, type_name):
    """Puts the elements of 32 words to taken[to:]: a column of eight numbers for each k, `stride` numbers apart."""
    home = np.int64(taken.ctypes.data) + 8 * to
    if type_name == F16:
        take_halves(words, home, 8 * stride)
    elif type_name == BF16:
        take_singles(words, home, 16 * stride, np.uint32(16), FULL)
        take_singles(words, home + 8 * stride, 16 * stride, np.uint32(0), np.uint32(0xFFFF0000))
    elif type_name == TF32:  # the 13 low bits are not looked at
        take_singles(words, home, 8 * stride, np.uint32(0), np.uint32(0xFFFFE000))
    else:
        take_small(words, taken, to, stride, type_name)


@inline_njit
def take_factor(step, rows, warp, mask, words, taken):
    """Takes a factor out of registers, or out of words[TAKEN_WORDS:], where `fetch` has put it."""
    type_name, is_a, sign = step[plan.TYPE], step[plan.KIND] == plan.TAKE_A, np.uint32(step[plan.SIGN])
    per_register = 4 * (32 // NBITS[type_name])  # columns
    stride = np.int64(16 if is_a else 8)
    home = np.int64(words.ctypes.data)
    for r in range(step[plan.COUNT]):
        at = home + 128 * (TAKEN_WORDS + r)
        if step[plan.DESCRIPTOR] < 0:
            register = step[plan.REGISTER] + r if step[plan.REGISTER] >= 0 else np.int64(-1)
            at = words_at(rows, register, warp, mask, words, TAKEN_WORDS + r)
        if sign:
            for lane in range(32):
                words[TAKEN_WORDS + r, lane] = load_word(at + 4 * lane) ^ sign
            at = home + 128 * (TAKEN_WORDS + r)
        if is_a:
            to = step[plan.SLOT] + (r >> 1) * per_register * 16 + 8 * (r & 1)
        else:
            to = step[plan.SLOT] + r * per_register * 8
        take(at, taken, to, stride, type_name)


@call_njit
def take_sums(at, count, kind, sums):
    """C, from the addresses of its registers, to float64 (16, 8)."""
    for r in range(count):
        for lane in range(32):
            word = load_word(at[r] + 4 * lane)
            if kind == plan.F16:
                row, column = position(lane >> 2) + 8 * r, lane & 3
                sums[row, column] = half_value(word & np.uint32(0xFFFF))
                sums[row, column + 4] = half_value(word >> np.uint32(16))
            else:
                row, column = position(lane >> 2) + 8 * (r >> 1), (lane & 3) + 4 * (r & 1)
                sums[row, column] = (
                    np.float64(word.view(np.float32)) if kind == plan.F32 else np.float64(word.view(np.int32))
                )


@call_njit
def put_sums(at, count, kind, clamp, sums):
    """Puts D, rounded, to the addresses of its registers."""
    for r in range(count):
        for lane in range(32):
            if kind == plan.F16:
                row, column = position(lane >> 2) + 8 * r, lane & 3
                word = half_bits(sums[row, column]) | half_bits(sums[row, column + 4]) << np.uint32(16)
            else:
                total = sums[position(lane >> 2) + 8 * (r >> 1), (lane & 3) + 4 * (r & 1)]
                if kind == plan.F32:
                    word = single_bits(total)
                else:
                    if clamp:
                        total = min(max(total, -LARGEST32 - 1), LARGEST32)
                    word = np.uint32(np.float64(total + WRAP).view(np.uint64))
            store_word(at[r] + 4 * lane, word)


@call_njit
def add_chosen_products(a, b, places, sums, k, taken):
    """Adds the products of a sparse A to the sums: element j of a row belongs to row `places[row, j]` of B."""
    for row in range(16):
        here = position(row & 7) + (row & 8)
        for j in range(k):
            x, column = taken[a + 16 * j + here], b + 8 * places[row, j]
            for i in range(8):
                sums[here, i] += x * taken[column + i]


@inline_njit
def product(step, rows, warp, mask, held, keeps, words, taken, sums, places, c, d):  # noqa: PLR0913  # compiled: arrays, and a loop without calls
    """Carries out a step of multiplication for a warp. `mask`: its lanes; `held`: those whose D is written; `keeps`:
    those whose C counts; c, d: int64 (4,), for addresses."""
    home = np.int64(words.ctypes.data)
    for i in range(step[plan.C_COUNT]):
        register = step[plan.C] + i if step[plan.C] >= 0 else np.int64(-1)
        c[i] = words_at(rows, register, warp, mask & keeps, words, C_WORDS + i)
    is_direct = held == FULL and not step[plan.APART]
    for i in range(step[plan.D_COUNT]):
        d[i] = rows[step[plan.D] + i] + 128 * warp if is_direct else home + 128 * (D_WORDS + i)
    if step[plan.D] != step[plan.C]:
        for i in range(step[plan.D_COUNT]):
            prefetch_words(rows[step[plan.D] + i] + 128 * warp + 256)
    a, b, k = step[plan.A], step[plan.B], step[plan.K]
    a_at, b_at = np.int64(taken.ctypes.data) + 8 * a, np.int64(taken.ctypes.data) + 8 * b
    is_dense = step[plan.METADATA] == plan.DENSE
    if is_dense and step[plan.C_KIND] == plan.F32 and step[plan.D_KIND] == plan.F32:
        multiply_singles(a_at, b_at, k, (c[0], c[1], c[2], c[3]), (d[0], d[1], d[2], d[3]))
    else:
        take_sums(c, step[plan.C_COUNT], step[plan.C_KIND], sums)
        if is_dense:
            multiply_columns(a_at, b_at, k, np.int64(sums.ctypes.data))
        else:
            metadata = words_at(rows, step[plan.METADATA], warp, mask, words, METADATA_WORDS)
            find_places(metadata, step[plan.SELECTOR], step[plan.A_TYPE], k, places)
            add_chosen_products(a, b, places, sums, k, taken)
        put_sums(d, step[plan.D_COUNT], step[plan.D_KIND], step[plan.CLAMP] != 0, sums)
    if not is_direct:
        for i in range(step[plan.D_COUNT]):
            to = rows[step[plan.D] + i] + 128 * warp
            for lane in range(32):
                if held >> np.uint32(lane) & np.uint32(1):
                    store_word(to + 4 * lane, load_word(d[i] + 4 * lane))


@call_njit
def are_inside(steps, masks, descriptors, ranks, nbytes):
    """False when a descriptor may lead out of a block's shared memory."""
    for s in range(len(steps)):
        step = steps[s]
        if step[plan.KIND] == plan.MULTIPLY or step[plan.DESCRIPTOR] < 0:
            continue
        for warp in range(len(masks)):
            if masks[warp]:
                descriptor = load_long(descriptors[step[plan.DESCRIPTOR]] + 256 * warp)
                if not is_inside(descriptor, step, ranks[warp] & plan.GROUP_WARPS - 1, nbytes):
                    return False
    return True


def scratch_of(made: plan.Plan) -> tuple[np.ndarray, ...]:
    """Makes what `multiply` needs in addition to its operands: what is taken, words, sums, places of a sparse A's
    elements, addresses, and for each step the shared memory and the descriptor of which it holds a factor.
    """
    n = len(made.steps)
    return (
        np.zeros(made.n_taken + 8), np.zeros((N_WORDS, 32), np.uint32), np.zeros((16, 8)), np.zeros((16, 64), np.int64),
        np.zeros((2, 4), np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64),
    )  # fmt: skip


@cached_njit(**OPTIONS)
def multiply(steps, segments, scratch, rows, masks, held, keeps, descriptors, memories, ranks, nbytes):  # noqa: PLR0913  # compiled: arrays, and a loop without calls
    """Carries out the steps of a plan for all warps; False, and nothing is done, when a descriptor may lead out of
    shared memory.

    rows: int64, addresses by register; masks, held: uint32 (warps,), the lanes that are there, and whose D is written;
    keeps: uint32 (predicates, warps), lanes whose accumulators count; descriptors: int64, addresses of their rows;
    memories: int64 (warps,), the address of shared memory of the warp's block; ranks: int64 (warps,), the warp's
    number in it; nbytes: that a block has.
    """
    if len(descriptors) and not are_inside(steps, masks, descriptors, ranks, nbytes):
        return False
    space, words, sums, places, at, kept_memory, kept = scratch
    taken = space[-(np.int64(space.ctypes.data) >> 3) & 7 :]  # columns lie in lines of the cache
    c, d = at[0], at[1]
    for tile in range(0, len(masks), plan.GROUP_WARPS):
        for segment in range(len(segments) - 1):
            first, after = segments[segment], segments[segment + 1]
            kept_memory[first:after] = 0
            for warp in range(tile, min(tile + plan.GROUP_WARPS, len(masks))):
                mask = masks[warp]
                if mask == 0:
                    continue
                for s in range(first, after):
                    step = steps[s]
                    if step[plan.KIND] == plan.MULTIPLY:
                        condition = step[plan.ACCUMULATES]
                        counts = keeps[condition, warp] if condition >= 0 else FULL
                        product(step, rows, warp, mask, held[warp], counts, words, taken, sums, places, c, d)
                        continue
                    if step[plan.DESCRIPTOR] >= 0:
                        descriptor = load_long(descriptors[step[plan.DESCRIPTOR]] + 256 * warp)
                        if step[plan.KIND] == plan.TAKE_B:  # the same for all warps of a group
                            if kept_memory[s] == memories[warp] and kept[s] == descriptor:
                                continue
                            kept_memory[s], kept[s] = memories[warp], descriptor
                        fetch(memories[warp], descriptor, step, ranks[warp] & plan.GROUP_WARPS - 1, words)
                    take_factor(step, rows, warp, mask, words, taken)
    return True


@call_njit
def find_places(metadata, selector, type_name, elements, positions):
    """Fills in the positions of the stored elements of each row of a sparse A: int64 (16, elements).

    A row's metadata is 2 bits for each stored element of 16 or 8 bits, 4 for each of tf32, 2 for each pair of 4-bit
    ones: the place in a chunk of four (tf32: of two, 0b0100 or 0b1110; 4 bits: a pair's place in four pairs), ascending
    from the low bits.
    Of 16-bit and tf32 elements a word has 16 bits of row `group` and above them 16 bits of row `group + 8`; the next
    lane of the four has the next 16. Of narrower ones a word has 32 bits of one row, and the next lane that of row
    `group + 8`.
    The selector says which of the four lanes has the first word.
    """
    wide = NBITS[type_name] >= 16
    nbits = 4 if type_name == TF32 else 2
    pack = 2 if NBITS[type_name] == 4 else 1
    per_row = elements // pack * nbits  # bits
    words = max(1, per_row // 16) if wide else 2 * (per_row // 32)
    for row in range(16):
        for e in range(elements):
            bit = e // pack * nbits
            if wide:
                word = load_word(metadata + 4 * (4 * (row & 7) + selector * words + bit // 16))
                bit = bit % 16 + 16 * (row >> 3)
            else:
                word = load_word(metadata + 4 * (4 * (row & 7) + selector * words + 2 * (bit // 32) + (row >> 3)))
                bit = bit % 32
            index = np.int64(word >> np.uint32(bit) & np.uint32(3))
            if type_name == TF32:
                positions[row, e] = 2 * e + (index >> 1)
            else:
                positions[row, e] = pack * (4 * (e // pack // 2) + index) + e % pack


@call_njit
def popcount(word):
    word = word - (word >> np.uint32(1) & np.uint32(0x55555555))
    word = (word & np.uint32(0x33333333)) + (word >> np.uint32(2) & np.uint32(0x33333333))
    word = (word + (word >> np.uint32(4))) & np.uint32(0x0F0F0F0F)
    return np.uint32(word * np.uint32(0x01010101)) >> np.uint32(24)


@cached_njit(**OPTIONS)
def multiply_bits(a, b, c, d, conjunction):
    """d = c + popc(a op b), summed over the words of a row of A and a column of B, op being `and` or `xor`; wraps."""
    for first in range(0, d.shape[1], 32):
        for r in range(d.shape[0]):
            for lane in range(32):
                row, column = (lane >> 2) + 8 * (r >> 1), 2 * (lane & 3) + (r & 1)
                total = np.uint32(c[r, first + lane])
                for word in range(4 * b.shape[0]):
                    at = first + (word & 3)
                    # With 8 rows there is one register of A, with 16 there are two for each 128 bits.
                    index = 2 * (word >> 2) + (row >> 3) if a.shape[0] > 1 else 0
                    x, y = a[index, at + 4 * (row & 7)], b[word >> 2, at + 4 * column]
                    total = np.uint32(total + popcount(x & y if conjunction else x ^ y))
                d[r, first + lane] = total


@cached_njit(**OPTIONS)
def multiply_doubles(a, b, c, d):
    """d = a @ b + c, float64 fragments; fused multiply-adds in the host's rounding mode, k ascending."""
    for first in range(0, d.shape[1], 32):
        for r in range(d.shape[0]):
            for lane in range(32):
                row, column = (lane >> 2) + 8 * (r >> 1), 2 * (lane & 3) + (r & 1)
                total = c[r, first + lane]
                for k in range(4 * b.shape[0]):
                    index = 2 * (k >> 2) + (row >> 3) if a.shape[0] > 1 else 0
                    total = _fma(
                        a[index, first + 4 * (row & 7) + (k & 3)], b[k >> 2, first + 4 * column + (k & 3)], total
                    )
                d[r, first + lane] = total
