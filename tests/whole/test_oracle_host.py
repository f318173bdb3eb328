"""Kernels of every kind through the whole chain, bit for bit against the same source compiled for the host."""

from functools import cache

import numpy as np
import pytest

from gpuprof.run.compile_file import BuildOptions
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from tests.support.host_oracle import FOLDER, HostProgram, Kernel, Parameter, kernels
from tests.support.matrices import long_but_every

FILES = ("integer", "floating", "data", "control")
N = 1024  # threads, and elements of every input
OUT = 12 * N  # elements of every output; no kernel writes more for a thread
SHAPE = ((8, 1, 1), (128, 1, 1))
SHAPES = {"three_dimensions": ((2, 2, 2), (8, 4, 4))}
MIXED = np.array(
    (-7, 0.3, -1234, [3, 250, 17], 1e-3),
    np.dtype([("tag", "i1"), ("weight", "f8"), ("count", "i2"), ("flags", "u1", 3), ("scale", "f4")], align=True),
)
STRUCTURES = {"structure_by_value": MIXED.tobytes()}

TABLE = [(file, kernel) for file in FILES for kernel in kernels((FOLDER / f"{file}.cu").read_text())]


def values(dtype: np.dtype, rng: np.random.Generator, n: int = N) -> np.ndarray:
    """Corner cases, small numbers, and random bit patterns, shuffled."""
    if dtype.kind == "b":
        return rng.integers(0, 2, n).astype(bool)
    bits = rng.integers(0, 256, n * dtype.itemsize, np.uint8).view(dtype)
    small = rng.integers(-20 if dtype.kind != "u" else 0, 100, n).astype(dtype)
    corners = float_corners(dtype) if dtype.kind == "f" else integer_corners(dtype)
    kind = rng.integers(0, 3, n)
    return np.choose(kind, [rng.choice(corners, n), small, bits])


def float_corners(dtype: np.dtype) -> np.ndarray:
    info = np.finfo(dtype)
    magnitudes = [0, 0.5, 1, 1 + info.eps, 1.5, 2.5, 3, 0.1, 1e4, 1 << 24, (1 << 24) + 1, 2147483648.0, 1e18]
    magnitudes += [info.max, info.tiny, info.smallest_subnormal, info.tiny - info.smallest_subnormal, np.inf, np.nan]
    row = np.array(magnitudes, dtype)
    return np.concatenate([row, -row])


def integer_corners(dtype: np.dtype) -> np.ndarray:
    info = np.iinfo(dtype)
    near = [
        info.min,
        info.min + 1,
        info.max - 1,
        info.max,
        info.max // 2,
        info.max // 2 + 1,
        0,
        1,
        2,
        3,
        7,
        10,
        31,
        32,
        33,
        63,
        64,
    ]
    return np.array(near + [-each for each in (1, 2, 3, 10, 64) if info.min < 0], dtype)


def assert_same_bits(found: np.ndarray, expected: np.ndarray) -> None:
    """Equal to the last bit; any NaN equals any other, since hardware and C++ leave their bits open."""
    bits = np.dtype(f"u{found.dtype.itemsize}")
    differs = found.view(bits) != expected.view(bits)
    if found.dtype.kind == "f":
        differs &= ~(np.isnan(found) & np.isnan(expected))
    at = np.flatnonzero(differs)
    assert not len(at), f"{len(at)} differ; at {at[:5]}: {found[at[:5]]}, expected {expected[at[:5]]}"


def arguments(kernel: Kernel) -> list:
    """What both sides are given; arrays for outputs start as zeros."""
    rng = np.random.default_rng(len(kernel.name))
    return [argument(kernel.name, parameter, rng) for parameter in kernel.parameters]


def argument(name: str, parameter: Parameter, rng: np.random.Generator):
    if parameter.dtype is None:
        return STRUCTURES[name]
    if not parameter.is_pointer:
        return parameter.dtype.type(N)
    return values(parameter.dtype, rng) if parameter.is_input else np.zeros(OUT, parameter.dtype)


@cache
def host_program(file: str) -> HostProgram:
    return HostProgram((FOLDER / f"{file}.cu").read_text())


@cache
def device_module(path, optimize: int = 3):
    return open_device(Settings(options=BuildOptions(optimize=optimize))).load(path)


@cache
def expected(file: str, kernel: Kernel) -> list:
    """The arguments after the host ran the kernel."""
    given = arguments(kernel)
    host_program(file).run(kernel.name, *SHAPES.get(kernel.name, SHAPE), given)
    return given


def check(module, file: str, kernel: Kernel) -> None:
    given = arguments(kernel)
    module[kernel.name][SHAPES.get(kernel.name, SHAPE)](*given)
    for parameter, found, right in zip(kernel.parameters, given, expected(file, kernel), strict=True):
        if parameter.is_pointer and not parameter.is_input:
            assert_same_bits(found, right)
            assert right.view(np.uint8).any(), "the oracle wrote nothing"


@pytest.mark.parametrize("optimize", (3, pytest.param(0, marks=pytest.mark.long)))
@pytest.mark.parametrize("file, kernel", long_but_every(2, TABLE), ids=lambda value: getattr(value, "name", value))
def test_same_as_on_the_host(file, kernel, optimize):
    check(device_module(FOLDER / f"{file}.cu", optimize), file, kernel)
