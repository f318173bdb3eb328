"""Decorators for functions that only other compiled functions call: their code is optimised once, within their callers.

`internal_njit` is the general one. The timing model's inner loop has two of its own: every function takes the record
`machine` (see timing/state/table_rows.py), and nothing allocates, so Numba's reference counting is off. `inline_njit`
is inlined into its caller; `call_njit` marks a function that is called from several places, or seldom. `SCALAR` is the
option of a function that Python calls, whose loops are short and full of branches. `compiler` says what these do; plain
Numba (`PLAIN`) gives the same numbers without them.

Nothing is handed to Numba, which takes a while to import, before something that it is part of is compiled.
"""

import functools
from collections.abc import Callable

from gpuprof.jit import DISABLED, PLAIN

OPTIONS = {"nogil": True, "error_model": "numpy", "_nrt": False}
SCALAR = {} if PLAIN or DISABLED else {"is_scalar": True}


class Deferred:
    """Something that stands for its Numba counterpart in functions that are compiled; `make` makes that, once."""

    def __init__(self, make: Callable, py_func: Callable | None = None):
        self._make, self.py_func = make, py_func

    @functools.cached_property
    def made(self):
        return self._make()

    @functools.cached_property
    def _numba_type_(self):
        """Numba asks for it where compiled code names this object."""
        from gpuprof.jit.compiler import type_of

        return type_of(self.made)

    def __call__(self, *args):
        """Plain Numba and tests call it so."""
        return self.made(*args)


def deferred_names(load: Callable) -> Callable[[str], Deferred]:
    """The `__getattr__` of a module whose names are another's, which `load` imports when something is compiled."""

    @functools.cache
    def named(name: str) -> Deferred:
        if name.startswith("__"):
            raise AttributeError(name)
        return Deferred(lambda: getattr(load(), name))

    return named


def internal_njit(function=None, **options):
    """Decorates a function, with options of numba.njit or without."""
    if function is None:
        return functools.partial(internal_njit, **options)
    if DISABLED:
        return function
    return Deferred(functools.partial(_part, function, options), function)


def _part(function, options: dict):
    import numba

    if PLAIN:
        return numba.njit(**options)(function)
    from gpuprof.jit.compiler import PartCompiler

    # What Python has no way to call needs no wrappers.
    own = {"pipeline_class": PartCompiler, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return numba.njit(**own, **options)(function)


inline_njit = internal_njit(forceinline=True, **OPTIONS)
call_njit = internal_njit(**OPTIONS)


def intrinsic(function):
    """Decorates what writes LLVM's text itself, as numba.extending.intrinsic does. Its body imports what it needs of
    Numba.
    """

    def make():
        import numba.extending

        return numba.extending.intrinsic(function)

    return Deferred(make, function)


def llvm_function(builder, kind, name: str):
    """Declare LLVM's function `name` ("llvm.fma.f32") in the module that `builder` writes to. kind: ir.FunctionType."""
    from numba.core import cgutils

    return cgutils.get_or_insert_function(builder.module, kind, name)
