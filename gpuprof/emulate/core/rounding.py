"""Directed rounding: the host's own floating-point unit is switched over for the length of one array operation.

numpy's loops and Numba's compile to plain machine arithmetic, which obeys the unit's rounding mode, so add, multiply,
fused multiply-add, divide, square root and the conversion from double to single come out exact in every mode,
subnormals included.
"""

import ctypes
import platform
import sys
from collections.abc import Callable
from functools import cache

import numpy as np

# <fenv.h>: x86-64 System V ABI, and AArch64. Order: to nearest, toward zero, down, up.
FENV_MODES = {
    "x86_64": {"rn": 0x000, "rz": 0xC00, "rm": 0x400, "rp": 0x800},
    "AMD64": {"rn": 0x000, "rz": 0xC00, "rm": 0x400, "rp": 0x800},
    "aarch64": {"rn": 0x000000, "rz": 0xC00000, "rm": 0x800000, "rp": 0x400000},
    "arm64": {"rn": 0x000000, "rz": 0xC00000, "rm": 0x800000, "rp": 0x400000},
}


FE_DFL_ENV = ctypes.c_void_p(-1)  # <fenv.h> of glibc and of musl
Environment = ctypes.c_char * 64  # more than any fenv_t
IS_LINUX = sys.platform == "linux"


@cache
def _library() -> ctypes.CDLL:
    return ctypes.PyDLL(None)  # keeps the interpreter lock: the calls are shorter than giving it to another thread


class usual_floats:
    """Within it: rounds to nearest and keeps subnormals. A library compiled with -ffast-math turns subnormals off for
    the process that loads it, and so would change results.
    """

    def __enter__(self) -> None:
        if IS_LINUX:
            self._before = Environment()
            _library().fegetenv(self._before)
            _library().fesetenv(FE_DFL_ENV)

    def __exit__(self, *_) -> None:
        if IS_LINUX:
            _library().fesetenv(self._before)


def rounded(mode: str, function: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """`function`, computed in rounding mode rn, rz, rm or rp."""
    if mode == "rn":
        return function
    modes = FENV_MODES[platform.machine()]

    def directed(*rows):
        if _library().fesetround(modes[mode]) != 0:
            raise OSError(f"the C library does not set rounding mode {mode}")
        try:
            return function(*rows)
        finally:
            _library().fesetround(modes["rn"])

    return directed
