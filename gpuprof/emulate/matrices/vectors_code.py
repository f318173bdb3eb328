"""Code of `vectors`: parts of `matrix` that are written as vectors of LLVM: Numba leaves such short loops to scalars.

A factor of a product is stored as float64 columns: of A the 16 rows of one k side by side, of B its 8 columns. Eight
numbers that are side by side are in ORDER, evens first, because then a row of C is the words of one register and
those of the next.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from gpuprof.jit.internal import llvm_function
from gpuprof.jit.processor import has_feature

ORDER = (0, 2, 4, 6, 1, 3, 5, 7)
EIGHT = len(ORDER)
WORD, SHORT, HALF, SINGLE, DOUBLE = ir.IntType(32), ir.IntType(16), ir.HalfType(), ir.FloatType(), ir.DoubleType()
WORDS, SINGLES, DOUBLES = (ir.VectorType(kind, EIGHT) for kind in (WORD, SINGLE, DOUBLE))
FAST = ("contract",)  # one fused operation where there is one: a product is exact, so the sum is the same
NAN32 = 0x7FFFFFFF


def _all(kind: ir.VectorType, value) -> ir.Constant:
    return ir.Constant(kind, [value] * kind.count)


def _load(builder, address, kind: ir.Type):
    value = builder.load(builder.inttoptr(address, kind.as_pointer()))
    value.align = 4
    return value


def _store(builder, value, address) -> None:
    builder.store(value, builder.inttoptr(address, value.type.as_pointer())).align = 4


def _plus(builder, address, nbytes: int):
    return builder.add(address, address.type(nbytes))


def _pick(builder, vector, places):
    places = ir.Constant(ir.VectorType(WORD, len(places)), list(places))
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), places)


def _columns(builder, words):
    """Picks, of a register's 32 words, those of place 0 of each four lanes, in ORDER; of place 1; and so on."""
    row = _load(builder, words, ir.VectorType(WORD, 32))
    return [_pick(builder, row, [4 * lane + place for lane in ORDER]) for place in range(4)]


def _of_halves(builder, bits):
    """float64 of f16 patterns, <8 x i32> below 65536."""
    if has_feature("f16c"):
        halves = builder.bitcast(builder.trunc(bits, ir.VectorType(SHORT, EIGHT)), ir.VectorType(HALF, EIGHT))
        return builder.fpext(halves, DOUBLES)
    magnitude = builder.and_(bits, _all(WORDS, 0x7FFF))
    shifted = builder.shl(magnitude, _all(WORDS, 13))
    scaled = builder.fmul(builder.bitcast(shifted, SINGLES), _all(SINGLES, 2.0**112))
    special = builder.bitcast(builder.or_(shifted, _all(WORDS, 0x7F800000)), SINGLES)
    value = builder.select(builder.icmp_unsigned(">", magnitude, _all(WORDS, 0x7BFF)), special, scaled)
    sign = builder.shl(builder.and_(bits, _all(WORDS, 0x8000)), _all(WORDS, 16))
    signed = builder.bitcast(builder.or_(builder.bitcast(value, WORDS), sign), SINGLES)
    return builder.fpext(signed, DOUBLES)


@intrinsic
def load_word(typingctx, address):
    """The uint32 at an address."""

    def generate(context, builder, signature, args):
        return _load(builder, args[0], WORD)

    return types.uint32(types.int64), generate


@intrinsic
def store_word(typingctx, address, word):
    """Puts a uint32 to an address."""

    def generate(context, builder, signature, args):
        _store(builder, args[1], args[0])
        return context.get_dummy_value()

    return types.void(types.int64, types.uint32), generate


@intrinsic
def load_long(typingctx, address):
    """The int64 at an address."""

    def generate(context, builder, signature, args):
        return _load(builder, args[0], ir.IntType(64))

    return types.int64(types.int64), generate


@intrinsic
def prefetch_words(typingctx, address):
    """Asks for the 128 bytes at an address, which will be read or written soon."""

    def generate(context, builder, signature, args):
        (address,) = args
        pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        prefetch = llvm_function(builder, kind, "llvm.prefetch.p0")
        for offset in (0, 64):
            where = builder.inttoptr(_plus(builder, address, offset), pointer)
            builder.call(prefetch, [where, number(0), number(3), number(1)])  # for a read, to the first cache; data
        return context.get_dummy_value()

    return types.void(types.int64), generate


@intrinsic
def copy_words(typingctx, source, to):
    """Copies 16 bytes from one address to another."""

    def generate(context, builder, signature, args):
        _store(builder, _load(builder, args[0], ir.VectorType(WORD, 4)), args[1])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


@intrinsic
def exchange(typingctx, source, to):
    """Copies an 8 x 8 matrix of 16-bit elements from one address to another, its rows and columns exchanged."""

    def generate(context, builder, signature, args):
        matrix = _load(builder, args[0], ir.VectorType(SHORT, 64))
        _store(builder, _pick(builder, matrix, [8 * (k % 8) + k // 8 for k in range(64)]), args[1])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


@intrinsic
def take_halves(typingctx, words, to, stride):
    """Puts the f16 elements of 32 words at `words` to `to`, a column for each of 8 k, `stride` bytes apart."""

    def generate(context, builder, signature, args):
        words, to, stride = args
        for column in _columns(builder, words):
            low = builder.and_(column, _all(WORDS, 0xFFFF))
            for bits in (low, builder.lshr(column, _all(WORDS, 16))):
                _store(builder, _of_halves(builder, bits), to)
                to = builder.add(to, stride)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


@intrinsic
def take_singles(typingctx, words, to, stride, shift, mask):
    """Puts elements of 32 words, each f32 when it is shifted left and masked, to `to`: four columns."""

    def generate(context, builder, signature, args):
        words, to, stride, shift, mask = args

        def splat(value):
            lone = builder.insert_element(ir.Constant(WORDS, ir.Undefined), value, WORD(0))
            return _pick(builder, lone, [0] * EIGHT)

        for column in _columns(builder, words):
            bits = builder.and_(builder.shl(column, splat(shift)), splat(mask))
            _store(builder, builder.fpext(builder.bitcast(bits, SINGLES), DOUBLES), to)
            to = builder.add(to, stride)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.uint32, types.uint32), generate


def _add_products(builder, sums: list, a, b, k, a_offset: int) -> list:
    """The sums, each a row's 8 columns, plus `k` products; row r's factors are at `a` + a_offset + 8 r."""
    word = k.type
    entry, loop, done = builder.block, builder.append_basic_block("products"), builder.append_basic_block("done")
    builder.branch(loop)
    builder.position_at_end(loop)
    step, left, right = builder.phi(word), builder.phi(word), builder.phi(word)
    phis = [builder.phi(DOUBLES) for _ in sums]
    column = _load(builder, right, DOUBLES)
    after = []
    for row, total in enumerate(phis):
        factor = _load(builder, _plus(builder, left, a_offset + 8 * row), DOUBLE)
        lone = builder.insert_element(ir.Constant(DOUBLES, ir.Undefined), factor, WORD(0))
        product = builder.fmul(_pick(builder, lone, [0] * EIGHT), column, flags=FAST)
        after.append(builder.fadd(total, product, flags=FAST))
    following = _plus(builder, step, 1)
    left_after, right_after = _plus(builder, left, 16 * 8), _plus(builder, right, EIGHT * 8)
    builder.cbranch(builder.icmp_unsigned("<", following, k), loop, done)
    first = [word(0), a, b, *sums]
    for phi, value, later in zip(
        [step, left, right, *phis], first, [following, left_after, right_after, *after], strict=True
    ):
        phi.add_incoming(value, entry)
        phi.add_incoming(later, loop)
    builder.position_at_end(done)
    return after


def _rows_at_once() -> int:
    """Gives as many sums as stay in the processor's registers."""
    return 8 if has_feature("avx512f") else 4


@intrinsic
def multiply_singles(typingctx, a, b, k, c, d):
    """d = c + a @ b: c and d are tuples of the addresses of four registers of f32; k >= 1 columns of a and b."""

    def generate(context, builder, signature, args):
        a, b, k, c, d = args
        c, d = ([builder.extract_value(group, i) for i in range(4)] for group in (c, d))
        many = _rows_at_once()
        for first in range(0, 16, many):
            places = [(2 * (row // EIGHT), 16 * ORDER[row % EIGHT]) for row in range(first, first + many)]
            sums = []
            for register, offset in places:
                parts = [
                    _load(builder, _plus(builder, c[register + i], offset), ir.VectorType(SINGLE, 4)) for i in (0, 1)
                ]
                both = builder.shuffle_vector(*parts, ir.Constant(WORDS, list(range(EIGHT))))
                sums.append(builder.fpext(both, DOUBLES))
            for (register, offset), total in zip(places, _add_products(builder, sums, a, b, k, 8 * first), strict=True):
                rounded = builder.fptrunc(total, SINGLES)
                nan = builder.bitcast(_all(WORDS, NAN32), SINGLES)
                rounded = builder.select(builder.fcmp_unordered("uno", total, total), nan, rounded)
                for i in (0, 1):
                    half = _pick(builder, rounded, range(4 * i, 4 * i + 4))
                    _store(builder, half, _plus(builder, d[register + i], offset))
        return context.get_dummy_value()

    four = types.UniTuple(types.int64, 4)
    return types.void(types.int64, types.int64, types.int64, four, four), generate


@intrinsic
def multiply_columns(typingctx, a, b, k, sums):
    """sums += a @ b: the address of float64 (16, 8), its rows and columns in ORDER."""

    def generate(context, builder, signature, args):
        a, b, k, home = args
        many = _rows_at_once()
        for first in range(0, 16, many):
            addresses = [_plus(builder, home, 64 * row) for row in range(first, first + many)]
            sums = [_load(builder, address, DOUBLES) for address in addresses]
            for address, total in zip(addresses, _add_products(builder, sums, a, b, k, 8 * first), strict=True):
                _store(builder, total, address)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.int64), generate
