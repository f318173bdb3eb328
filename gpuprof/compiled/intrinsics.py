"""For functions that are written as LLVM's text: LLVM's own."""

from llvmlite import ir
from numba.core import cgutils


def llvm_function(builder, kind: ir.FunctionType, name: str):
    """LLVM's function `name` ("llvm.fma.f32"), to be called by what is being built."""
    return cgutils.get_or_insert_function(builder.module, kind, name)
