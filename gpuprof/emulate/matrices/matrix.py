"""The arithmetic of matrix instructions, compiled by Numba: fragments in registers to matrices, products, sums, and
back.

The rule of accumulation. A product of two f16, bf16, tf32 or 8-bit floating elements is exact in double precision.
Starting from C, products are added in double precision in the order of k, and the sum is rounded once, to nearest even,
to the type of D. So the sum differs from the exact one by at most k * 2**-53 * (|c| + sum of |products|) before that
rounding, which is far less than a tensor core's own order and truncation make (PTX leaves both open). Double precision
is a chain of fused multiply-adds in the order of k, as PTX says.
Integer sums are exact; they wrap to 32 bits, or saturate once at the end.

Registers come as arrays (registers, 32 * warps). Where a fragment's elements are is said in `isa.families.tensor`.
"""

import numpy as np

from gpuprof.emulate.scalar.fused import _fma
from gpuprof.isa.modifiers import ELEMENT_TYPES
from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import internal_njit, intrinsic

F16, BF16, TF32, E4M3, E5M2, S8, U8, S4, U4, B1 = range(10)
assert ELEMENT_TYPES == ("f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8", "s4", "u4", "b1")
NBITS = np.array([16, 16, 32, 8, 8, 8, 8, 4, 4, 1])

NAN16, NAN32 = np.uint32(0x7FFF), np.uint32(0x7FFFFFFF)  # the GPU's canonical ones
SCALE16 = 2.0**1008  # of the exponents of f16 in the place of a double's
LARGEST32 = 2.0**31 - 1


def _e4m3(bits: int) -> float:
    """OCP 8-bit floating point: bias 7, no infinity, 0x7f is NaN."""
    exponent, fraction = bits >> 3 & 15, bits & 7
    if bits & 0x7F == 0x7F:
        return np.nan
    value = (8 + fraction) * 2.0 ** (exponent - 10) if exponent else fraction * 2.0**-9
    return -value if bits & 0x80 else value


E4M3_VALUES = np.array([_e4m3(bits) for bits in range(256)])


@internal_njit
def half_value(bits):
    """Converts an f16 pattern to a double."""
    pattern = np.uint64(bits & np.uint32(0x7FFF)) << np.uint64(42) | np.uint64(bits & np.uint32(0x8000)) << np.uint64(
        48
    )
    scale = np.inf if bits & np.uint32(0x7FFF) >= np.uint32(0x7C00) else SCALE16
    scale = np.nan if bits & np.uint32(0x7FFF) > np.uint32(0x7C00) else scale
    return np.uint64(pattern).view(np.float64) * scale


@internal_njit
def single_value(bits):
    return np.float64(np.uint32(bits).view(np.float32))


@internal_njit
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


@internal_njit
def single_bits(value):
    """Double to f32 pattern, to nearest even; NaNs become the canonical one."""
    return np.float32(value).view(np.uint32) if value == value else NAN32


@internal_njit
def integer_element(word, index, type_name):
    if type_name == S8:
        return np.int64(np.int8(word >> np.uint32(8 * index) & np.uint32(255)))
    if type_name == U8:
        return np.int64(word >> np.uint32(8 * index) & np.uint32(255))
    nibble = np.int64(word >> np.uint32(4 * index) & np.uint32(15))
    return nibble - 16 if type_name == S4 and nibble >= 8 else nibble


@internal_njit
def float_element(word, index, type_name):
    if type_name == F16:
        return half_value(word >> np.uint32(16 * index) & np.uint32(0xFFFF))
    if type_name == BF16:
        return single_value((word >> np.uint32(16 * index)) << np.uint32(16))
    if type_name == TF32:  # the 13 low bits are not looked at
        return single_value(word & np.uint32(0xFFFFE000))
    byte = word >> np.uint32(8 * index) & np.uint32(255)
    return E4M3_VALUES[byte] if type_name == E4M3 else half_value(byte << np.uint32(8))


@internal_njit
def take_halves(words, first, low, high):
    """The two f16 elements of 32 lanes' registers; a loop that vectorises. low, high: float64 (32,)."""
    for lane in range(32):
        word = words[first + lane]
        low[lane] = half_value(word & np.uint32(0xFFFF))
        high[lane] = half_value(word >> np.uint32(16))


@internal_njit
def take_a(words, first, type_name, floating, a, low, high):
    """Rows of A from registers (R, n) of the warp whose lane 0 is column `first`; a: float64 (16, >= elements of a
    row); low, high: scratch (32,)."""
    if type_name == F16:  # the usual one
        for r in range(words.shape[0]):
            take_halves(words[r], first, low, high)
            for lane in range(32):
                row, column = (lane >> 2) + 8 * (r & 1), 2 * (lane & 3) + 8 * (r >> 1)
                a[row, column], a[row, column + 1] = low[lane], high[lane]
        return
    per_word = 32 // NBITS[type_name]
    for r in range(words.shape[0]):
        for lane in range(32):
            row = (lane >> 2) + 8 * (r & 1)
            column = per_word * ((lane & 3) + 4 * (r >> 1))
            word = words[r, first + lane]
            for i in range(per_word):
                a[row, column + i] = (
                    float_element(word, i, type_name) if floating else np.float64(integer_element(word, i, type_name))
                )


@internal_njit
def take_b(words, first, type_name, floating, b, low, high):
    """Takes the elements of B out of its words, as `take_a` does for A; b: float64 (>= k, 8)."""
    if type_name == F16:
        for r in range(words.shape[0]):
            take_halves(words[r], first, low, high)
            for lane in range(32):
                k = 2 * (lane & 3) + 8 * r
                b[k, lane >> 2], b[k + 1, lane >> 2] = low[lane], high[lane]
        return
    per_word = 32 // NBITS[type_name]
    for r in range(words.shape[0]):
        for lane in range(32):
            k = per_word * ((lane & 3) + 4 * r)
            word = words[r, first + lane]
            for i in range(per_word):
                b[k + i, lane >> 2] = (
                    float_element(word, i, type_name) if floating else np.float64(integer_element(word, i, type_name))
                )


@internal_njit
def take_c(words, first, half, c):
    """Accumulators, f32 or f16, to float64 (16, 8)."""
    for r in range(words.shape[0]):
        for lane in range(32):
            word = words[r, first + lane]
            if half:
                c[(lane >> 2) + 8 * r, 2 * (lane & 3)] = half_value(word & np.uint32(0xFFFF))
                c[(lane >> 2) + 8 * r, 2 * (lane & 3) + 1] = half_value(word >> np.uint32(16))
            else:
                c[(lane >> 2) + 8 * (r >> 1), 2 * (lane & 3) + (r & 1)] = single_value(word)


@internal_njit
def put_d(words, first, half, c):
    for r in range(words.shape[0]):
        for lane in range(32):
            if half:
                low, high = c[(lane >> 2) + 8 * r, 2 * (lane & 3)], c[(lane >> 2) + 8 * r, 2 * (lane & 3) + 1]
                words[r, first + lane] = half_bits(low) | half_bits(high) << np.uint32(16)
            else:
                words[r, first + lane] = single_bits(c[(lane >> 2) + 8 * (r >> 1), 2 * (lane & 3) + (r & 1)])


@intrinsic
def _add_four_rows(typingctx, c, a, row_nbytes, b, k):
    """For four rows, c += a @ b in 8 columns, as vectors: Numba leaves such short loops to scalars. c, a, b: addresses
    of float64s. The stride of rows of c and b is 64 bytes, that of rows of a `row_nbytes`; k >= 1 columns of a.
    """

    from llvmlite import ir
    from numba import types

    def generate(context, builder, signature, args):
        c, a, row_nbytes, b, k = args
        word, number = k.type, ir.DoubleType()
        vector = ir.VectorType(number, 8)
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), 8), [0] * 8)

        def at(address, kind):
            return builder.inttoptr(address, kind.as_pointer())

        def load(address, kind):
            value = builder.load(at(address, kind))
            value.align = 8
            return value

        rows = [builder.add(c, word(64 * row)) for row in range(4)]
        before = [load(row, vector) for row in rows]
        entry, loop = builder.block, builder.append_basic_block("products")
        done = builder.append_basic_block("done")
        builder.branch(loop)
        builder.position_at_end(loop)
        step = builder.phi(word)
        sums = [builder.phi(vector) for _ in rows]
        column = load(builder.add(b, builder.mul(step, word(64))), vector)
        after = []
        for row, total in enumerate(sums):
            offset = builder.add(builder.mul(row_nbytes, word(row)), builder.mul(step, word(8)))
            lone = builder.insert_element(
                ir.Constant(vector, ir.Undefined), load(builder.add(a, offset), number), ir.IntType(32)(0)
            )
            after.append(builder.fadd(total, builder.fmul(builder.shuffle_vector(lone, lone, zeros), column)))
        following = builder.add(step, word(1))
        builder.cbranch(builder.icmp_unsigned("<", following, k), loop, done)
        for phi, first, later in zip([step, *sums], [word(0), *before], [following, *after], strict=True):
            phi.add_incoming(first, entry)
            phi.add_incoming(later, loop)
        builder.position_at_end(done)
        for address, total in zip(rows, after, strict=True):
            builder.store(total, at(address, vector)).align = 8
        return context.get_dummy_value()

    return types.void(types.uintp, types.uintp, types.uintp, types.uintp, types.uintp), generate


@internal_njit
def add_products(a, b, c, m, k):
    """c += a[:m, :k] @ b[:k], one k after the other; float64, c (16, 8)."""
    row_nbytes = 8 * a.shape[1]
    for row in range(0, m, 4):
        _add_four_rows(c.ctypes.data + 64 * row, a.ctypes.data + row_nbytes * row, row_nbytes, b.ctypes.data, k)


@internal_njit
def add_chosen_products(a, b, positions, c, k):
    """Adds the products of a sparse A to c: element j of a row belongs to row `places[row, j]` of B."""
    for row in range(16):
        for j in range(k):
            x = a[row, j]
            column_of_a = positions[row, j]
            for column in range(8):
                c[row, column] += x * b[column_of_a, column]


@internal_njit
def find_places(metadata, first, selector, type_name, elements, positions):
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
                word = metadata[first + 4 * (row & 7) + selector * words + bit // 16]
                bit = bit % 16 + 16 * (row >> 3)
            else:
                word = metadata[first + 4 * (row & 7) + selector * words + 2 * (bit // 32) + (row >> 3)]
                bit = bit % 32
            index = np.int64(word >> np.uint32(bit) & np.uint32(3))
            if type_name == TF32:
                positions[row, e] = 2 * e + (index >> 1)
            else:
                positions[row, e] = pack * (4 * (e // pack // 2) + index) + e % pack


@cached_njit
def multiply_floats(a, b, c, d, type_a, type_b, c_half, d_half, k, metadata, selector):  # noqa: PLR0913  # compiled: arrays, and a loop without calls
    """d = a @ b + c on fragments, uint32 (registers, 32 * warps). k counts A's stored elements; `metadata` is empty
    when A is dense.
    """
    rows, columns = np.zeros((16, max(k, 4))), np.zeros((256, 8))
    sums, low, high = np.zeros((16, 8)), np.zeros(32), np.zeros(32)
    positions = np.zeros((16, 64), np.int64)
    for first in range(0, d.shape[1], 32):
        take_a(a, first, type_a, True, rows, low, high)
        take_b(b, first, type_b, True, columns, low, high)
        take_c(c, first, c_half, sums)
        if len(metadata):
            find_places(metadata, first, selector, type_a, k, positions)
            add_chosen_products(rows, columns, positions, sums, k)
        else:
            add_products(rows, columns, sums, 16, k)
        put_d(d, first, d_half, sums)


@internal_njit
def put_integers(words, first, clamp, sums):
    for r in range(words.shape[0]):
        for lane in range(32):
            total = sums[(lane >> 2) + 8 * (r >> 1), 2 * (lane & 3) + (r & 1)]
            if clamp:
                total = min(max(total, -LARGEST32 - 1), LARGEST32)
            words[r, first + lane] = np.uint32(np.int64(total) & 0xFFFFFFFF)


@internal_njit
def take_integers(words, first, sums):
    for r in range(words.shape[0]):
        for lane in range(32):
            sums[(lane >> 2) + 8 * (r >> 1), 2 * (lane & 3) + (r & 1)] = np.float64(
                np.uint32(words[r, first + lane]).view(np.int32)
            )


@cached_njit
def multiply_integers(a, b, c, d, type_a, type_b, clamp, k, metadata, selector):
    """Multiplies integer matrices as `multiply_floats` does floats. The sums are below 2**33 (2**31 + 128 * 255 * 255),
    so double precision has them exactly.
    """
    rows, columns = np.zeros((16, max(k, 4))), np.zeros((256, 8))
    sums, low, high = np.zeros((16, 8)), np.zeros(32), np.zeros(32)
    positions = np.zeros((16, 64), np.int64)
    m = 8 * min(2, a.shape[0])
    for first in range(0, d.shape[1], 32):
        take_a(a, first, type_a, False, rows, low, high)
        take_b(b, first, type_b, False, columns, low, high)
        take_integers(c, first, sums)
        if len(metadata):
            find_places(metadata, first, selector, type_a, k, positions)
            add_chosen_products(rows, columns, positions, sums, k)
        else:
            add_products(rows, columns, sums, m, k)
        put_integers(d, first, clamp, sums)


@internal_njit
def popcount(word):
    word = word - (word >> np.uint32(1) & np.uint32(0x55555555))
    word = (word & np.uint32(0x33333333)) + (word >> np.uint32(2) & np.uint32(0x33333333))
    word = (word + (word >> np.uint32(4))) & np.uint32(0x0F0F0F0F)
    return np.uint32(word * np.uint32(0x01010101)) >> np.uint32(24)


@cached_njit
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


@cached_njit
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
