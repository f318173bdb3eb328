"""Everything that knows Numba's insides: functions kept on disk (`kept`), functions compiled once within their callers
(`parts`), the options of the timing model's inner loop (`options`), LLVM's own functions (`intrinsics`), and compiling
as a stage that can be seen (`seen`).
"""
