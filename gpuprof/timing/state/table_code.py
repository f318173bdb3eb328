"""The accessors of `table_rows` as Numba takes them: LLVM's text for the records of the machine's tables."""

import numpy as np
from llvmlite import ir
from numba import from_dtype, types
from numba.extending import intrinsic, models, register_model

from gpuprof.emulate.trace_log.trace_entries import ACCESS_DTYPE, STEP_DTYPE
from gpuprof.jit.internal import llvm_function
from gpuprof.timing.state.layout import PIECE
from gpuprof.timing.state.machine_tables import MACHINE, TABLES


class Row(types.Record):
    """A record with a short text: Numba writes out the types of a function's arguments at every pass over it, and
    `machine` has many fields.
    """

    def __repr__(self):
        return f"Row({self.size})"


register_model(Row)(models.RecordModel)


def _row_type(dtype: np.dtype) -> Row:
    record = from_dtype(dtype)
    fields = {
        name: {"type": field.type, "offset": field.offset, "alignment": field.alignment}
        for name, field in record.fields.items()
    }
    return Row(list(fields.items()), record.size, record.aligned)


WORD = _row_type(np.dtype([("value", "i8")]))
INT64 = ir.IntType(64)


def _load_word(builder, record, name: str):
    """The int64 field `name` of the machine's record."""
    address = builder.add(builder.ptrtoint(record, INT64), INT64(MACHINE.fields[name][1]))
    return builder.load(builder.inttoptr(address, INT64.as_pointer()))


def rows(name: str):
    """An accessor for the table `name` of machine_tables.TABLES."""
    table = TABLES[name]
    record = _row_type(table.dtype)
    nbytes = INT64(table.dtype.itemsize)

    def place(context, builder, base, index):
        address = builder.add(base, builder.mul(index, nbytes))
        return builder.inttoptr(address, context.get_value_type(record))

    def of_index(context, builder, signature, args):
        return place(context, builder, _load_word(builder, args[0], f"{name}_table"), args[1])

    def of_row_and_column(context, builder, signature, args):
        columns = _load_word(builder, args[0], table.columns)
        index = builder.add(builder.mul(args[1], columns), args[2])
        return place(context, builder, _load_word(builder, args[0], f"{name}_table"), index)

    if table.columns:

        @intrinsic
        def at(typing_context, machine, row, column):
            return record(machine, types.int64, types.int64), of_row_and_column

    else:

        @intrinsic
        def at(typing_context, machine, index):
            return record(machine, types.int64), of_index

    return at


RECORDS = {"machine": MACHINE, "step": STEP_DTYPE, "access": ACCESS_DTYPE, "piece": PIECE}


def record_of(name: str):
    """An accessor for the record of RECORDS at an address."""
    record = _row_type(RECORDS[name])

    @intrinsic
    def of(typing_context, address):
        def code(context, builder, signature, args):
            return builder.inttoptr(args[0], context.get_value_type(record))

        return record(types.int64), code

    return of


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


def own(name: str):
    """One of the intrinsics of this file, by name."""
    return globals()[name]
