"""Float arithmetic that numpy cannot do in one pass, as Numba ufuncs: fused multiply-add, and single precision with the
GPU's NaN.

Every single-precision NaN result is 0x7fffffff, the GPU's canonical one (CUDA C++ Programming Guide, compute
capabilities). A double-precision one is the first NaN among the operands, made quiet, or without any CUDART_NAN of
CUDA's math_constants.h: PTX leaves it open, and what the host would give depends on how its compiler ordered the
operands. Imported when first needed.
"""

import numpy as np
from llvmlite import ir
from numba.extending import intrinsic

from gpuprof.compiled.intrinsics import llvm_function
from gpuprof.compiled.kept import kept_ufunc
from gpuprof.compiled.parts import part


@intrinsic
def _fma(typingctx, a, b, c):
    """llvm.fma of three floats of one type: a * b + c, rounded once."""

    def generate(context, builder, signature, args):
        kind = context.get_value_type(signature.return_type)
        name = f"llvm.fma.{ {32: 'f32', 64: 'f64'}[signature.return_type.bitwidth] }"
        function = llvm_function(builder, ir.FunctionType(kind, [kind] * 3), name)
        return builder.call(function, args)

    return a(a, b, c), generate


NAN32 = np.uint32(0x7FFFFFFF).view(np.float32)


@kept_ufunc("float32(float32, float32)")
def add32(a, b):
    r = a + b
    return r if r == r else NAN32


@kept_ufunc("float32(float32, float32)")
def multiply32(a, b):
    r = a * b
    return r if r == r else NAN32


@kept_ufunc("float32(float32, float32, float32)")
def fma32(a, b, c):
    r = _fma(a, b, c)
    return r if r == r else NAN32


QUIET64 = np.uint64(1 << 51)
DEFAULT64 = np.uint64(0xFFF8 << 48)


@part
def nan64(a, b, c):
    """The NaN that three operands make."""
    given = a if a != a else (b if b != b else c)
    return np.uint64(np.float64(given).view(np.uint64) | QUIET64 if given != given else DEFAULT64).view(np.float64)


@kept_ufunc("float64(float64, float64)")
def add64(a, b):
    r = a + b
    return r if r == r else nan64(a, b, b)


@kept_ufunc("float64(float64, float64)")
def multiply64(a, b):
    r = a * b
    return r if r == r else nan64(a, b, b)


@kept_ufunc("float64(float64, float64, float64)")
def fma64(a, b, c):
    r = _fma(a, b, c)
    return r if r == r else nan64(a, b, c)


@kept_ufunc("float64(float64, float64, float64)")
def settled64(result, a, b):
    """`result` of operands a and b, with the NaN that they make where it is one."""
    return result if result == result else nan64(a, b, b)
