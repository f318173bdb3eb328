"""Four int64 of a table at once, for compiled code: the searches of the timing model's inner loop are short, so LLVM's
vectoriser is off (jit.compiler), and these say what to do with a vector.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from gpuprof.jit.internal import inline_njit, llvm_function
from gpuprof.timing.state.layout import NEVER
from gpuprof.timing.state.table_rows import lowest_bit, word_at

LANES = 4
INT64 = ir.IntType(64)
VECTOR = ir.VectorType(INT64, LANES)


def _load(builder, address, index):
    at = builder.add(address, builder.mul(index, INT64(8)))
    return builder.load(builder.inttoptr(at, VECTOR.as_pointer()), align=8)


def _spread(builder, number):
    one = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), number, ir.IntType(32)(0))
    none = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(one, ir.Constant(VECTOR, ir.Undefined), none)


def _bits(builder, truths):
    return builder.zext(builder.bitcast(truths, ir.IntType(LANES)), INT64)


def _least(builder, vector):
    kind = ir.FunctionType(INT64, [VECTOR])
    return builder.call(llvm_function(builder, kind, "llvm.vector.reduce.smin.v4i64"), [vector])


@intrinsic
def equal_words(typing_context, address, index, number):
    """A bit for each of the four words from place `index` of the table at `address` on that is `number`."""

    def code(context, builder, signature, args):
        words = _load(builder, args[0], args[1])
        return _bits(builder, builder.icmp_signed("==", words, _spread(builder, args[2])))

    return types.int64(types.int64, types.int64, types.int64), code


@intrinsic
def words_until(typing_context, address, index, bound):
    """A bit for each of the four words that is at most `bound`."""

    def code(context, builder, signature, args):
        words = _load(builder, args[0], args[1])
        return _bits(builder, builder.icmp_signed("<=", words, _spread(builder, args[2])))

    return types.int64(types.int64, types.int64, types.int64), code


@intrinsic
def least_word_after(typing_context, address, index, bound):
    """The least of the four words that are more than `bound`, NEVER when none is."""

    def code(context, builder, signature, args):
        words = _load(builder, args[0], args[1])
        is_after = builder.icmp_signed(">", words, _spread(builder, args[2]))
        return _least(builder, builder.select(is_after, words, ir.Constant(VECTOR, [INT64(NEVER)] * LANES)))

    return types.int64(types.int64, types.int64, types.int64), code


@intrinsic
def least_word(typing_context, address, index):
    """The least of the four words."""

    def code(context, builder, signature, args):
        return _least(builder, _load(builder, args[0], args[1]))

    return types.int64(types.int64, types.int64), code


@inline_njit
def find_word(table, first, count, number):
    """The place of the first word that is `number`, of `count` from place `first` on; -1: none is."""
    at = first
    while at + LANES <= first + count:
        bits = equal_words(table, at, number)
        if bits:
            return at + lowest_bit(bits)
        at += LANES
    while at < first + count:
        if word_at(table, at).value == number:
            return at
        at += 1
    return -1


@inline_njit
def find_least(table, first, count):
    """The place of the least of `count` words from place `first` on, of several the first."""
    least = word_at(table, first).value
    at = first
    while at + LANES <= first + count:
        least = min(least, least_word(table, at))
        at += LANES
    while at < first + count:
        least = min(least, word_at(table, at).value)
        at += 1
    return find_word(table, first, count, least)
