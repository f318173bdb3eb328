"""Machine code in memory, and functions of Python that call it. Numba has no part in that: a start with nothing to
compile does without it.
"""

import builtins
import ctypes
import functools
import platform
import sys
from collections.abc import Sequence
from threading import RLock

import llvmlite.binding as llvm
import numpy as np

from gpuprof.jit.arguments import Tuple
from gpuprof.jit.processor import processor, target_machine

METH_FASTCALL = (
    0x80  # CPython, Include/methodobject.h: PyObject *function(PyObject *self, PyObject **args, Py_ssize_t n)
)
PYUFUNC_FROM_FUNC_AND_DATA = 1  # numpy, numpy/core/code_generators/numpy_api.py: place in the table of ufuncs
NO_IDENTITY = -1  # numpy, ufuncobject.h: PyUFunc_None
# Names of addresses that machine code asks for: the rest of the name says of what.
NDARRAY, ERROR = "gpuprof.ndarray", "gpuprof.error"
DTYPE, SCALAR, CLASS = "gpuprof.dtype.", "gpuprof.scalar.", "gpuprof.class."
WHOLE = {NDARRAY: np.ndarray, ERROR: RuntimeError}
_lock = RLock()
_kept: list = []  # what machine code points to


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def can_load() -> bool:
    """False for a Python whose objects begin otherwise than the machine code knows (free-threaded, with traces)."""
    return object.__basicsize__ == 16 and sys.implementation.name == "cpython"


@functools.cache
def _engine() -> llvm.ExecutionEngine:
    machine = target_machine(processor())
    # Numba's choice, too: only there may memory be too far apart.
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine, use_lmm=platform.machine() == "aarch64")


def _object_named(name: str):
    """The object that a name of ours stands for."""
    if name in WHOLE:
        return WHOLE[name]
    prefix = next(each for each in (DTYPE, SCALAR, CLASS) if name.startswith(each))
    of = name.removeprefix(prefix)
    if prefix == CLASS:
        return Tuple(of, ()).python_class()
    if of in ("True", "False"):
        return np.bool(of == "True")
    return np.dtype(of) if prefix == DTYPE else np.dtype(of).type


def _define(name: str) -> bool:
    """Makes sure that LLVM finds the address of a name; False when it is unknown."""
    if llvm.address_of_symbol(name) is not None:
        return True
    if name.startswith("gpuprof."):
        known = _object_named(name)
        _kept.append(known)
        llvm.add_symbol(name, id(known))
        return True
    if name.startswith("PyExc_"):  # in Numba's code, the class itself
        llvm.add_symbol(name, id(getattr(builtins, name.removeprefix("PyExc_"))))
        return True
    try:  # Python's own, and those of the C library
        place = ctypes.c_char.in_dll(ctypes.pythonapi, name)
    except ValueError:
        return False
    llvm.add_symbol(name, ctypes.addressof(place))
    return True


def address_of(code: bytes, entry: str, names: Sequence[str]) -> int:
    """The address of a function of an object file, which is loaded. names: those that the file asks for. Raises
    LookupError for a name that this process does not have; LLVM would end it.
    """
    with _lock:
        engine = _engine()
        if missing := [name for name in names if not _define(name)]:
            raise LookupError(f"{', '.join(missing)} is not there")
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        return engine.get_function_address(entry)


def function_at(address: int, name: str):
    """A builtin function of Python that calls what is at the address, with METH_FASTCALL."""
    definition = _MethodDef(name.encode(), address, METH_FASTCALL, None)
    _kept.append(definition)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.argtypes, make.restype = (ctypes.c_void_p,) * 3, ctypes.py_object
    return make(ctypes.addressof(definition), None, None)


def ufunc_at(address: int, name: str, dtypes: Sequence[np.dtype]) -> np.ufunc:
    """A ufunc with one loop, which is at the address. dtypes: of its arguments, and at last of its result."""
    capsule = ctypes.pythonapi.PyCapsule_GetPointer
    capsule.argtypes, capsule.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_void_p
    table = ctypes.cast(capsule(np._core._multiarray_umath._UFUNC_API, None), ctypes.POINTER(ctypes.c_void_p))
    text, number = ctypes.c_char_p, ctypes.c_int
    kind = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, text, number, number, number, number, text, text, number
    )
    loops, data = (ctypes.c_void_p * 1)(address), (ctypes.c_void_p * 1)(None)
    types, encoded = bytes(dtype.num for dtype in dtypes), name.encode()
    _kept.append((loops, data, types, encoded))
    make = kind(table[PYUFUNC_FROM_FUNC_AND_DATA])
    n_in = len(dtypes) - 1
    return make(ctypes.addressof(loops), ctypes.addressof(data), types, 1, n_in, 1, NO_IDENTITY, encoded, None, 0)
