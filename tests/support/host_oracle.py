"""The same CUDA C++ kernel compiled for the host, one thread after the other: an oracle for compiler, assembler and
emulator together.

clang of the ziglang wheel parses the file with `oracle/host.h` in place of the device's headers, and LLVM's JIT runs
it. No system compiler, no linker. For kernels without barriers and without communication between threads.
"""

import ctypes
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import llvmlite.binding as llvm
import numpy as np

from tests.paths import TESTS

FOLDER = TESTS / "oracle"
FLAGS = (
    "-x", "c++", "-std=c++20", "-O1", "-ffp-contract=off", "-fno-strict-aliasing", "-fsigned-char", "-fno-exceptions",
    "-fno-rtti",
    "-fno-threadsafe-statics", "-fno-math-errno", "-nostdinc", "-nostdinc++", "-w", "-include", str(FOLDER / "host.h"),
    "-S", "-emit-llvm", "-o", "-", "-",
)  # fmt: skip

KERNEL = re.compile(r'extern "C" __global__ void (?:__launch_bounds__\([^)]*\) )?(\w+)\(([^)]*)\)')
# What a parameter is called in C++ -> its numpy type.
SCALARS = {
    "bool": "?", "char": "i1", "signed char": "i1", "unsigned char": "u1", "short": "i2", "unsigned short": "u2",
    "int": "i4", "unsigned": "u4",
    "long long": "i8", "unsigned long long": "u8", "float": "f4", "double": "f8",
}  # fmt: skip


class Parameter(NamedTuple):
    """`dtype` is None for a structure."""

    name: str
    dtype: np.dtype | None
    is_pointer: bool
    is_input: bool


class Kernel(NamedTuple):
    name: str
    parameters: tuple[Parameter, ...]


def kernels(source: str) -> list[Kernel]:
    """The kernels of a file, by their signatures: `extern "C" __global__ void name(const T *in, T *out, T scalar)`."""
    return [Kernel(name, tuple(_parameter(each) for each in text.split(","))) for name, text in KERNEL.findall(source)]


def _parameter(text: str) -> Parameter:
    words = text.replace("*", " * ").split()
    is_pointer, is_constant = "*" in words, words[0] == "const"
    type_name = " ".join(word for word in words[:-1] if word not in ("const", "*"))
    dtype = np.dtype(SCALARS[type_name]) if type_name in SCALARS else None
    return Parameter(words[-1], dtype, is_pointer, is_constant or not is_pointer)


class HostProgram:
    """A kernel file on the host: `program.run("k", (grid x, y, z), (block x, y, z), arguments)`.

    Arguments are C-contiguous numpy arrays (for pointers; written in place), numpy scalars, or bytes (structures).
    """

    def __init__(self, source: str):
        names = [kernel.name for kernel in kernels(source)]
        entries = "".join(
            f'\nextern "C" void oracle_{name}(const unsigned *shape, void **arguments) {{ oracle_launch({name}, shape, '
            f"arguments); }}"
            for name in names
        )
        self._engine = _jit(_host_ir(source + entries))

    def run(self, name: str, grid: Sequence[int], block: Sequence[int], arguments: Sequence) -> None:
        shape = np.array([*grid, *block], np.uint32)
        held = [_storage(each) for each in arguments]
        pointers = (ctypes.c_void_p * len(held))(*(each.ctypes.data for each in held))
        entry = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(
            self._engine.get_function_address(f"oracle_{name}")
        )
        entry(shape.ctypes.data, ctypes.addressof(pointers))


def _storage(argument) -> np.ndarray:
    """The parameter's own bytes, 16-byte aligned as a structure may ask for."""
    if isinstance(argument, np.ndarray):
        data = np.uint64(argument.ctypes.data).tobytes()
    else:
        data = argument if isinstance(argument, bytes) else argument.tobytes()
    room = np.zeros(len(data) + 16, np.uint8)
    start = -room.ctypes.data % 16
    place = room[start : start + len(data)]
    place[:] = np.frombuffer(data, np.uint8)
    return place


def _host_ir(source: str) -> str:
    target = f"--target={llvm.get_process_triple()}"
    done = subprocess.run(
        [sys.executable, "-m", "ziglang", "clang", target, *FLAGS], input=source, capture_output=True, text=True
    )
    if done.returncode:
        raise AssertionError(f"the host's compiler refuses the kernel:\n{done.stderr}")
    return done.stdout


@cache
def _target_machine():
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_triple(llvm.get_process_triple())


def _jit(ir: str):
    module = llvm.parse_assembly(ir)
    module.verify()
    engine = llvm.create_mcjit_compiler(
        module, _target_machine().create_target_machine(codemodel="jitdefault", jit=True)
    )
    engine.finalize_object()
    engine.run_static_constructors()
    return engine


def nvcc(source: Path, folder: Path, *flags: str, arch: str = "sm_80") -> Path:
    """The PTX that nvcc makes of a file, under the file's own name in `folder`."""
    ptx = folder / f"{source.stem}.ptx"
    lines = () if "-G" in flags else ("-lineinfo",)  # debugging has lines of its own
    command = ["nvcc", "-ptx", *lines, f"-arch={arch}", "-std=c++20", *flags, "-o", str(ptx), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return ptx
