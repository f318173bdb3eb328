"""Rows of the machine's tables, for compiled code: `warp_at(machine, i)` is the record of warp i,
`until_at(machine, i, c).value` a plain number.

`machine` is the one record that every compiled function takes. It holds the addresses of all tables, so that a call
passes one pointer; a named tuple of fifty arrays in its place costs a few hundred words per call and half a minute of
compilation. There are no bounds checks: indexes and addresses come from records checked at the edge (`live`) or from
the tables themselves.
"""

import hashlib

import numpy as np
from llvmlite import ir
from numba import from_dtype, types
from numba.extending import intrinsic, lower_getattr_generic, lower_setattr_generic, models, register_model

from gpuprof.emulate.trace_log.trace_entries import ACCESS_DTYPE, STEP_DTYPE
from gpuprof.jit.internal import llvm_function
from gpuprof.timing.state.layout import (
    BATCH_NUMBERS,
    CHIP_NUMBERS,
    CONSTANTS,
    DERIVED_NUMBERS,
    NEVER,
    PIECE,
    VECTOR_WORDS,
)
from gpuprof.timing.state.machine_tables import MACHINE, TABLES

INT64 = ir.IntType(64)
VECTOR = ir.VectorType(INT64, VECTOR_WORDS)


class Row(types.Record):
    """A record with a short text: Numba writes out the types of a function's arguments at every pass over it, and
    `machine` has many fields.
    """

    def __init__(self, fields, size, aligned):
        super().__init__(fields, size, aligned)
        layout = [(name, str(field["type"]), field["offset"]) for name, field in fields]
        self.digest = hashlib.sha256(repr((layout, size)).encode()).hexdigest()[:12]

    def __repr__(self):
        return f"Row({self.size})"


register_model(Row)(models.RecordModel)

# The fields of the machine's record to which compiled code writes nothing: LLVM may keep them in registers.
FIXED = frozenset((*CHIP_NUMBERS, *DERIVED_NUMBERS, *BATCH_NUMBERS, *CONSTANTS)) | {f"{name}_table" for name in TABLES}


def _describe_access(builder, access, row: Row, field: str) -> None:
    """Says of a load or store that it is of one field of one kind of row: it shares memory only with others like it
    (LLVM's type-based alias analysis), so what was read from other fields before a store need not be read again after.
    """
    module = builder.module
    root = module.add_metadata(["rows of the machine's tables"])
    node = module.add_metadata([f"{row.digest}.{field}", root, INT64(0)])
    access.set_metadata("tbaa", module.add_metadata([node, node, INT64(0)]))
    if row.digest == MACHINE_ROW.digest and field in FIXED:
        access.set_metadata("invariant.load", module.add_metadata([]))


def _place_of(context, builder, row: Row, record, field: str):
    address = builder.gep(builder.bitcast(record, ir.IntType(8).as_pointer()), [INT64(row.offset(field))])
    return builder.bitcast(address, context.get_value_type(row.typeof(field)).as_pointer())


@lower_getattr_generic(Row)
def _read_field(context, builder, row, record, field):
    number = builder.load(_place_of(context, builder, row, record, field))
    _describe_access(builder, number, row, field)
    return number


@lower_setattr_generic(Row)
def _write_field(context, builder, signature, args, field):
    row, kind = signature.args
    number = context.cast(builder, args[1], kind, row.typeof(field))
    store = builder.store(number, _place_of(context, builder, row, args[0], field))
    _describe_access(builder, store, row, field)


def _row_type(dtype: np.dtype) -> Row:
    record = from_dtype(dtype)
    fields = {
        name: {"type": field.type, "offset": field.offset, "alignment": field.alignment}
        for name, field in record.fields.items()
        if not isinstance(field.type, types.NestedArray)  # for these there is `_numbers`
    }
    return Row(list(fields.items()), record.size, record.aligned)


WORD = _row_type(np.dtype([("value", "i8")]))
MACHINE_ROW = _row_type(MACHINE)


def _load_word(context, builder, record, name: str):
    """The int64 field `name` of the machine's record."""
    return _read_field(context, builder, MACHINE_ROW, record, name)


def _rows(name: str, field: str = ""):
    """An accessor for the table `name` of machine_tables.TABLES: of its rows, or of one field of them, as `value`."""
    table = TABLES[name]
    record = _plain_number(table.dtype[field]) if field else _row_type(table.dtype)
    offset = INT64(table.dtype.fields[field][1] if field else 0)
    nbytes = INT64(table.dtype.itemsize)

    def place(context, builder, base, index):
        address = builder.add(builder.add(base, offset), builder.mul(index, nbytes))
        return builder.inttoptr(address, context.get_value_type(record))

    def of_index(context, builder, signature, args):
        return place(context, builder, _load_word(context, builder, args[0], f"{name}_table"), args[1])

    def of_row_and_column(context, builder, signature, args):
        columns = _load_word(context, builder, args[0], table.columns)
        index = builder.add(builder.mul(args[1], columns), args[2])
        return place(context, builder, _load_word(context, builder, args[0], f"{name}_table"), index)

    if table.columns:

        @intrinsic
        def at(typing_context, machine, row, column):
            return record(machine, types.int64, types.int64), of_row_and_column

    else:

        @intrinsic
        def at(typing_context, machine, index):
            return record(machine, types.int64), of_index

    return at


def _places(name: str):
    """Like `_rows` of a table with columns, but gives the addresses of rows."""
    table = TABLES[name]

    @intrinsic
    def place(typing_context, machine, row, column):
        def code(context, builder, signature, args):
            columns = _load_word(context, builder, args[0], table.columns)
            index = builder.add(builder.mul(args[1], columns), args[2])
            base = _load_word(context, builder, args[0], f"{name}_table")
            return builder.add(base, builder.mul(index, INT64(table.dtype.itemsize)))

        return types.int64(machine, types.int64, types.int64), code

    return place


def _numbers(name: str, field: str):
    """An accessor for the numbers of a row's `field`, which has several, in the table `name`."""
    table = TABLES[name]
    kind, offset = table.dtype.fields[field][:2]
    record = _plain_number(kind.base)

    @intrinsic
    def at(typing_context, machine, row, number):
        def code(context, builder, signature, args):
            base = builder.add(_load_word(context, builder, args[0], f"{name}_table"), INT64(offset))
            place = builder.add(
                builder.mul(args[1], INT64(table.dtype.itemsize)), builder.mul(args[2], INT64(kind.base.itemsize))
            )
            return builder.inttoptr(builder.add(base, place), context.get_value_type(record))

        return record(machine, types.int64, types.int64), code

    return at


def _plain_number(kind: np.dtype) -> Row:
    return _row_type(np.dtype([("value", kind)]))


def _record_of(dtype: np.dtype):
    """An accessor for the record of `dtype` at an address."""
    record = _row_type(dtype)

    @intrinsic
    def of(typing_context, address):
        def code(context, builder, signature, args):
            return builder.inttoptr(args[0], context.get_value_type(record))

        return record(types.int64), code

    return of


@intrinsic
def view_at(typing_context, machine, number):
    """The record of a thread's view of the machine: they follow each other in memory."""

    def code(context, builder, signature, args):
        first = builder.ptrtoint(args[0], INT64)
        address = builder.add(first, builder.mul(args[1], INT64(MACHINE.itemsize)))
        return builder.inttoptr(address, context.get_value_type(MACHINE_ROW))

    return MACHINE_ROW(machine, types.int64), code


@intrinsic
def prefetch(typing_context, address, index):
    """Asks for the memory around place `index` of the int64 table that starts at `address`: a request's set is there
    when it is served.
    """

    def code(context, builder, signature, args):
        byte = ir.IntType(8).as_pointer()
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = llvm_function(builder, kind, "llvm.prefetch.p0")
        at = builder.inttoptr(builder.add(args[0], builder.mul(args[1], INT64(8))), byte)
        builder.call(function, [at, number(0), number(3), number(1)])  # to read, to keep, data
        return context.get_dummy_value()

    return types.none(types.int64, types.int64), code


@intrinsic
def copy_bytes(typing_context, to, address, nbytes):
    """Copies `nbytes` from `address` to another address; the two do not overlap."""

    def code(context, builder, signature, args):
        byte = ir.IntType(8).as_pointer()
        flag = ir.IntType(1)
        kind = ir.FunctionType(ir.VoidType(), [byte, byte, INT64, flag])
        places = [builder.inttoptr(each, byte) for each in args[:2]]
        builder.call(llvm_function(builder, kind, "llvm.memcpy.p0.p0.i64"), [*places, args[2], flag(0)])
        return context.get_dummy_value()

    return types.none(types.int64, types.int64, types.int64), code


@intrinsic
def word_at(typing_context, address, index):
    """The number at place `index` of the int64 table that starts at `address`."""

    def code(context, builder, signature, args):
        at = builder.add(args[0], builder.mul(args[1], INT64(8)))
        return builder.inttoptr(at, context.get_value_type(WORD))

    return WORD(types.int64, types.int64), code


@intrinsic
def floor_log2(typing_context, number):
    """The logarithm to base 2, rounded down, of an int64 that is at least 1."""

    def code(context, builder, signature, args):
        return builder.sub(INT64(63), builder.ctlz(args[0], ir.IntType(1)(1)))

    return types.int64(types.int64), code


def _load_four(builder, address, index):
    at = builder.add(address, builder.mul(index, INT64(8)))
    return builder.load(builder.inttoptr(at, VECTOR.as_pointer()), align=8)


def _spread(builder, number):
    one = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), number, ir.IntType(32)(0))
    none = ir.Constant(ir.VectorType(ir.IntType(32), VECTOR_WORDS), [0] * VECTOR_WORDS)
    return builder.shuffle_vector(one, ir.Constant(VECTOR, ir.Undefined), none)


def _bits(builder, truths):
    return builder.zext(builder.bitcast(truths, ir.IntType(VECTOR_WORDS)), INT64)


def _least(builder, vector):
    kind = ir.FunctionType(INT64, [VECTOR])
    return builder.call(llvm_function(builder, kind, f"llvm.vector.reduce.smin.v{VECTOR_WORDS}i64"), [vector])


def _four_compared(relation: str):
    """An accessor that compares the four words from place `index` of the table at `address` on with a number: a bit
    for each for which that holds.
    """

    @intrinsic
    def compared(typing_context, address, index, number):
        def code(context, builder, signature, args):
            words = _load_four(builder, args[0], args[1])
            return _bits(builder, builder.icmp_signed(relation, words, _spread(builder, args[2])))

        return types.int64(types.int64, types.int64, types.int64), code

    return compared


equal_words, words_until = _four_compared("=="), _four_compared("<=")


@intrinsic
def least_word_after(typing_context, address, index, bound):
    """The least of the four words that are more than `bound`, NEVER when none is."""

    def code(context, builder, signature, args):
        words = _load_four(builder, args[0], args[1])
        is_after = builder.icmp_signed(">", words, _spread(builder, args[2]))
        return _least(builder, builder.select(is_after, words, ir.Constant(VECTOR, [INT64(NEVER)] * VECTOR_WORDS)))

    return types.int64(types.int64, types.int64, types.int64), code


@intrinsic
def least_word(typing_context, address, index):
    """The least of the four words."""

    def code(context, builder, signature, args):
        return _least(builder, _load_four(builder, args[0], args[1]))

    return types.int64(types.int64, types.int64), code


@intrinsic
def lowest_bit(typing_context, bits):
    """The number of the lowest bit of an int64 that is set; one is."""

    def code(context, builder, signature, args):
        return builder.cttz(args[0], ir.IntType(1)(1))

    return types.int64(types.int64), code


inst_at, dep_at, first_of_block_at = _rows("inst"), _rows("dep"), _rows("first_of_block")
grid_at, presence_at, edge_at, loss_at = _rows("grid"), _rows("presence"), _rows("edge"), _rows("loss")
operation_at, engine_at = _rows("operation"), _rows("engine")
atomic_time_at, hot_line_at = _rows("atomic_time"), _rows("hot_line")
machine_of = _record_of(MACHINE)
step_of, access_of, piece_of = _record_of(STEP_DTYPE), _record_of(ACCESS_DTYPE), _record_of(PIECE)
warp_at, until_at, cause_at = _rows("warp"), _numbers("warp", "until"), _numbers("warp", "cause")
board_at, maker_at, board_place = _rows("board", "entry"), _rows("board", "maker"), _places("board")
second_at, second_maker_at = _rows("second", "entry"), _rows("second", "maker")
blocked_at = _rows("blocked")
part_at, lane_at = _rows("part"), _rows("lane")
wake_at, wake_place = _rows("wake"), _places("wake")
port_at, queue_at, queued_at = _rows("port"), _rows("queue", "leaves"), _rows("queue", "cause")
running_at = _rows("running")
sm_at, block_at, arrived_at, ledger_at = _rows("sm"), _rows("block"), _rows("arrived"), _rows("ledger")
stall_row_at, activity_at = _rows("stall_row"), _rows("activity")
blame_at, blame_latest_at, blame_bucket_at = _rows("blame"), _rows("blame_latest"), _rows("blame_bucket")
poller_at, signal_at = _rows("poller"), _rows("signal")
lander_at = _rows("lander")
l1_queue_at, mio_queue_at, fp64_queue_at = _rows("l1_queue"), _rows("mio_queue"), _rows("fp64_queue")
begun_at, round_at, bypass_at = _rows("begun"), _rows("round"), _rows("bypass")
ended_at, landed_at = _rows("ended"), _rows("landed")
l0_tag_at, l0_ready_at, l1i_tag_at, l1i_ready_at = (
    _rows("l0_tag"),
    _rows("l0_ready"),
    _rows("l1i_tag"),
    _rows("l1i_ready"),
)
l1_tag_at, l1_use_at, l1_line_at, miss_free_at = _rows("l1_tag"), _rows("l1_use"), _rows("l1_line"), _rows("miss_free")
l2_tag_at, l2_use_at, l2_line_at, l2_copy_at = _rows("l2_tag"), _rows("l2_use"), _rows("l2_line"), _rows("l2_copy")
tlb_at, tlb_hint_at, l2_tlb_at = _rows("tlb"), _rows("tlb_hint"), _rows("l2_tlb")
slice_tick_at, dram_row_at = _rows("slice_tick"), _rows("dram_row")
channel_tick_at, channel_turn_at = _rows("channel_tick"), _rows("channel_turn")
l2_ticket_at, write_queue_at = _rows("l2_ticket"), _rows("write_queue")
channel_posted_at, channel_activate_at = _rows("channel_posted"), _rows("channel_activate")
slice_join_at, slice_joins_at = _rows("slice_join"), _rows("slice_joins")
request_at, load_at, bucket_at = _rows("request"), _rows("load"), _rows("bucket")
gate_at, watched_at = _rows("gate"), _rows("watched")
draw_at, before_at, item_at = _rows("draw"), _rows("before"), _rows("item")
passage_at, column_at = _rows("passage"), _rows("column")
unit_access_at, unit_traffic_at = _rows("unit_access"), _rows("unit_traffic")
waited_at, block_row_at, warp_row_at = _rows("waited"), _rows("block_row"), _rows("warp_row")
effect_at = _rows("effect")
record_at, counted_at, leaves_at, fifo_at = _rows("record"), _rows("counted"), _rows("leaves"), _rows("fifo")
