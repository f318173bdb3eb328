"""Random kernels through the whole chain, bit for bit against the host. GPUPROF_FUZZ=1 (`make fuzz`) runs many more of
them.
"""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gpuprof.device.api import Module
from gpuprof.run.compile_file import BuildOptions
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from tests.fuzz.random_kernels import random_source
from tests.support.host_oracle import HostProgram, kernels, nvcc
from tests.support.matrices import long_from
from tests.support.nvidia_tools import needs_nvcc
from tests.whole.test_oracle_host import assert_same_bits, values

N = 256
KERNELS = 4  # in a file
SEEDS = range(100) if os.environ.get("GPUPROF_FUZZ") else range(2)
FEW_REGISTERS = 24  # so that most kernels spill


def inputs(seed: int) -> list[np.ndarray]:
    """The parameters of a random kernel: four inputs, three outputs."""
    rng = np.random.default_rng(seed)
    given = [values(np.dtype(kind), rng, N) for kind in ("u4", "i8", "f4", "f8")]
    return [*given, np.zeros(16 * N, np.uint64), np.zeros(2 * N, np.float32), np.zeros(2 * N)]


def by_clang(path: Path) -> Module:
    return open_device(Settings()).load(path)


def in_few_registers(path: Path) -> Module:
    return open_device(Settings(options=BuildOptions(max_registers=FEW_REGISTERS))).load(path)


def by_nvcc(path: Path) -> Module:
    return open_device(Settings()).load(nvcc(path, path.parent, "-O3", "-fmad=false"))


def by_nvcc_for_debugging(path: Path) -> Module:
    """Every variable in local memory, nothing inlined."""
    return open_device(Settings()).load(nvcc(path, path.parent, "-G", "-fmad=false"))


def check_seed(folder: Path, seed: int, build: Callable[[Path], Module]) -> None:
    source = random_source(seed, KERNELS)
    path = folder / f"random{seed}.cu"
    path.write_text(source)
    host, module = HostProgram(source), build(path)
    for kernel in kernels(source):
        expected, found = inputs(seed), inputs(seed)
        host.run(kernel.name, (4, 1, 1), (64, 1, 1), expected)
        module[kernel.name][4, 64](*found)
        for name, wanted, given in zip(("out", "fout", "dout"), expected[4:], found[4:], strict=True):
            try:
                assert_same_bits(given, wanted)
            except AssertionError as error:
                raise AssertionError(
                    f"seed {seed}, {build.__name__}, kernel {kernel.name}, array {name}: {error}\nsource: {path}"
                ) from None


@pytest.mark.parametrize("build", long_from(1, [by_clang, in_few_registers]), ids=lambda build: build.__name__)
@pytest.mark.parametrize("seed", SEEDS)
def test_fuzz_random_kernels(tmp_path, seed, build):
    check_seed(tmp_path, seed, build)


@needs_nvcc
@pytest.mark.parametrize("build", long_from(1, [by_nvcc, by_nvcc_for_debugging]), ids=lambda build: build.__name__)
@pytest.mark.parametrize("seed", SEEDS[: len(SEEDS) // 2])
def test_fuzz_random_kernels_of_nvcc(tmp_path, seed, build):
    check_seed(tmp_path, seed, build)
