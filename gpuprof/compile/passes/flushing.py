"""Subnormal numbers of single precision are zero: `-ftz=true`.

LLVM flushes in its own instructions, once clang's IR has the attribute for it. Intrinsics of PTX's instructions keep
what their names say, and nvcc 13.0 flushes there, too:

    call float @llvm.nvvm.sin.approx.f(float %x)    ->    call float @llvm.nvvm.sin.approx.ftz.f(float %x)
"""

import re

_ARITHMETIC = re.compile(
    r"(@llvm\.nvvm\.(?:(?:add|mul|fma|div|rcp|sqrt)\.r[nzpm]|(?:div|rsqrt|sin|cos|lg2|ex2)\.approx|saturate))"
    r"(\.f(?:32)?\()"
)
_CONVERSION = re.compile(r"(@llvm\.nvvm\.(?:f2u?i|f2u?ll|d2f)\.r[nzpm])(?=\()")


def flush_in_intrinsics(ir: str) -> str:
    return _CONVERSION.sub(r"\1.ftz", _ARITHMETIC.sub(r"\1.ftz\2", ir))
