"""Numbers in memory that several threads of compiled code read and write, and what a thread does while it waits for
one of them. An address is that of an int64.

What a thread has written before `publish`, `add` or `take` is there for a thread that has read the number since, with
`observe` or `take`.
"""

import platform

from gpuprof.jit.internal import call_njit, intrinsic, llvm_function

NBYTES = 8
# A thread that waits looks at once, then lets others run in between, and at last sleeps: on two cores of a Xeon the
# looks take 0.05 ms, those of the second kind 0.5 ms.
LOOKS, YIELDS, SLEEP_MICROSECONDS = 1000, 1000, 100
PAUSES = {"x86_64": "llvm.x86.sse2.pause", "AMD64": "llvm.x86.sse2.pause"}


def _pointer(builder, address):
    return builder.inttoptr(address, address.type.as_pointer())


@intrinsic
def observe(typing_context, address):
    """The number, and with it all that was written before it."""

    from numba import types

    def code(context, builder, signature, args):
        return builder.load_atomic(_pointer(builder, args[0]), "acquire", NBYTES)

    return types.int64(types.int64), code


@intrinsic
def publish(typing_context, address, number):
    """Writes the number after all else."""

    from numba import types

    def code(context, builder, signature, args):
        builder.store_atomic(args[1], _pointer(builder, args[0]), "release", NBYTES)
        return context.get_dummy_value()

    return types.none(types.int64, types.int64), code


@intrinsic
def add(typing_context, address, number):
    """Adds to the number; returns what it was."""

    from numba import types

    def code(context, builder, signature, args):
        return builder.atomic_rmw("add", _pointer(builder, args[0]), args[1], "acq_rel")

    return types.int64(types.int64, types.int64), code


@intrinsic
def take(typing_context, address, expected, number):
    """Puts `number` in place of `expected`: True when it was still that."""

    from numba import types

    def code(context, builder, signature, args):
        pair = builder.cmpxchg(_pointer(builder, args[0]), args[1], args[2], "acq_rel", "acquire")
        return builder.extract_value(pair, 1)

    return types.boolean(types.int64, types.int64, types.int64), code


@intrinsic
def _pause(typing_context):
    """The processor's instruction for loops that wait, where it has one."""

    from llvmlite import ir
    from numba import types

    name = PAUSES.get(platform.machine())

    def code(context, builder, signature, args):
        if name:
            builder.call(llvm_function(builder, ir.FunctionType(ir.VoidType(), []), name), [])
        return context.get_dummy_value()

    return types.none(), code


@intrinsic
def _let_others_run(typing_context):
    from llvmlite import ir
    from numba import types

    def code(context, builder, signature, args):
        builder.call(llvm_function(builder, ir.FunctionType(ir.IntType(32), []), "sched_yield"), [])
        return context.get_dummy_value()

    return types.none(), code


@intrinsic
def _sleep(typing_context, microseconds):
    from llvmlite import ir
    from numba import types

    def code(context, builder, signature, args):
        function = llvm_function(builder, ir.FunctionType(ir.IntType(32), [ir.IntType(32)]), "usleep")
        builder.call(function, [builder.trunc(args[0], ir.IntType(32))])
        return context.get_dummy_value()

    return types.none(types.int64), code


@call_njit
def rest(n_looks):
    """Waits a little, after so many looks that were in vain."""
    if n_looks < LOOKS:
        _pause()
    elif n_looks < LOOKS + YIELDS:
        _let_others_run()
    else:
        _sleep(SLEEP_MICROSECONDS)
