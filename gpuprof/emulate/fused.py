"""Float arithmetic that numpy cannot do in one pass, as Numba ufuncs: fused multiply-add, and single precision with the GPU's NaN.

Every single-precision NaN result is 0x7fffffff, the GPU's canonical one (CUDA C++ Programming Guide, compute capabilities);
double precision keeps IEEE payloads as x86 and the GPU both do. Imported when first needed.
"""

import numpy as np
from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic

from gpuprof.kept import kept_ufunc


@intrinsic
def _fma(typingctx, a, b, c):
    """llvm.fma of three floats of one type: a * b + c, rounded once."""

    def generate(context, builder, signature, args):
        kind = context.get_value_type(signature.return_type)
        name = f"llvm.fma.{ {32: 'f32', 64: 'f64'}[signature.return_type.bitwidth] }"
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, [kind] * 3), name)
        return builder.call(function, args)

    return a(a, b, c), generate


NAN32 = np.uint32(0x7FFFFFFF).view(np.float32)


@kept_ufunc(["float32(float32, float32)"])
def add32(a, b):
    r = a + b
    return r if r == r else NAN32


@kept_ufunc(["float32(float32, float32)"])
def multiply32(a, b):
    r = a * b
    return r if r == r else NAN32


@kept_ufunc(["float32(float32, float32, float32)"])
def fma32(a, b, c):
    r = _fma(a, b, c)
    return r if r == r else NAN32


@kept_ufunc(["float64(float64, float64, float64)"])
def fma64(a, b, c):
    return _fma(a, b, c)
