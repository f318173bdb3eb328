"""Functions that only other compiled functions call: their code is optimised once, within what calls them.

`part` decorates such a function. `scalar` is the jit option of a function that Python calls, whose loops are short and
full of branches. `compiler` says what both do; plain Numba (`plain`) gives the same numbers without them.
"""

import functools

import numba

from gpuprof.compiled.plain import PLAIN

if PLAIN:
    part, scalar = numba.njit, {}
else:
    from gpuprof.compiled.compiler import PartCompiler, ScalarCompiler

    part = functools.partial(numba.njit, pipeline_class=PartCompiler, no_cpython_wrapper=True, no_cfunc_wrapper=True)
    scalar = {"pipeline_class": ScalarCompiler}
