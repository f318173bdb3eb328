"""Decorators for functions that only other compiled functions call: their code is optimised once, within their callers.

`internal_njit` is the general one. The timing model's inner loop has two of its own: every function takes the record
`machine` (see timing/state/table_rows.py), and nothing allocates, so Numba's reference counting is off. `inline_njit`
is inlined into its caller; `call_njit` marks a function that is called from several places, or seldom. `SCALAR` is the
jit option of a function that Python calls, whose loops are short and full of branches. `compiler` says what these do;
plain Numba (`PLAIN`) gives the same numbers without them.
"""

import functools

import numba
from llvmlite import ir
from numba.core import cgutils

from gpuprof.jit import PLAIN

if PLAIN:
    internal_njit, SCALAR = numba.njit, {}
else:
    from gpuprof.jit.compiler import PartCompiler, ScalarCompiler

    internal_njit = functools.partial(
        numba.njit, pipeline_class=PartCompiler, no_cpython_wrapper=True, no_cfunc_wrapper=True
    )
    SCALAR = {"pipeline_class": ScalarCompiler}

OPTIONS = {"nogil": True, "error_model": "numpy", "_nrt": False}
inline_njit = internal_njit(forceinline=True, **OPTIONS)
call_njit = internal_njit(**OPTIONS)


def llvm_function(builder, kind: ir.FunctionType, name: str):
    """Declare LLVM's function `name` ("llvm.fma.f32") in the module that `builder` writes to."""
    return cgutils.get_or_insert_function(builder.module, kind, name)


def has_feature(context, name: str) -> bool:
    """True when the processor that code is compiled for has a feature of LLVM's ("f16c")."""
    return f"+{name}" in context.codegen().magic_tuple()[2].split(",")
