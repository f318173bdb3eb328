"""Random kernels through the whole chain, bit for bit against the host. GPUPROF_FUZZ=1 (`make fuzz`) runs many more of them."""

import os

import numpy as np
import pytest

from gpuprof.session import Settings, open_device
from tests.host_oracle import HostProgram, kernels
from tests.random_kernels import random_source
from tests.test_oracle_host import assert_same_bits, values

N = 256
KERNELS = 6  # in a file
SEEDS = range(200) if os.environ.get("GPUPROF_FUZZ") else range(4)


def inputs(seed: int) -> list[np.ndarray]:
    """The parameters of a random kernel: four inputs, three outputs."""
    rng = np.random.default_rng(seed)
    given = [values(np.dtype(kind), rng, N) for kind in ("u4", "i8", "f4", "f8")]
    return [*given, np.zeros(16 * N, np.uint64), np.zeros(2 * N, np.float32), np.zeros(2 * N)]


def check_seed(folder, seed: int) -> None:
    source = random_source(seed, KERNELS)
    path = folder / f"random{seed}.cu"
    path.write_text(source)
    host, device = HostProgram(source), open_device(Settings()).load(path)
    for kernel in kernels(source):
        expected, found = inputs(seed), inputs(seed)
        host.run(kernel.name, (4, 1, 1), (64, 1, 1), expected)
        device[kernel.name][4, 64](*found)
        for name, wanted, given in zip(("out", "fout", "dout"), expected[4:], found[4:], strict=True):
            try:
                assert_same_bits(given, wanted)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}, kernel {kernel.name}, array {name}: {error}\nsource: {path}") from None


@pytest.mark.parametrize("seed", SEEDS)
def test_fuzz_random_kernels(tmp_path, seed):
    check_seed(tmp_path, seed)
