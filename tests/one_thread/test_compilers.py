"""Kernels that compilers made, by the emulator and one thread after the other: what generators are told of them."""

from pathlib import Path

import numpy as np
import pytest

from gpuprof.device.commands import Launch
from gpuprof.device.memory import AddressSpace
from gpuprof.run.launching import launcher
from tests.fuzz.random_kernels import random_source
from tests.one_thread.beside import differences
from tests.support.command import gpuprof as command
from tests.support.stored_ptx import FOLDER
from tests.whole.test_oracle_fuzz import by_clang, in_few_registers, inputs

# Their results do not depend on the order of threads, and the interpreter knows all of their instructions.
STORED = (
    "numba_local_array_sm80", "numba_histogram_sm80", "numba_reverse_sm80", "numba_saxpy_sm80", "triton_add_sm80",
    "triton_atomics_sm80", "triton_histogram_sm80", "triton_scans_sm80", "triton_scans_sm90",
)  # fmt: skip
N = 64


@pytest.fixture
def compared(monkeypatch) -> list[list[str]]:
    """The differences of each launch of a session."""
    found = []
    emulate = launcher.emulate

    def beside(launch: Launch, memory: AddressSpace, **options):
        found.append(differences(launch, memory))
        return emulate(launch, memory, **options)

    monkeypatch.setattr(launcher, "emulate", beside)
    return found


@pytest.mark.long
@pytest.mark.parametrize("name", STORED)
def test_a_stored_kernel(tmp_path, compared, name):
    code, _, error = command(tmp_path, "collect", str(FOLDER / f"{name}.ptx"), "-o", "it.gprec")
    assert code == 0, error
    assert compared == [[]]


@pytest.mark.long
@pytest.mark.parametrize("build", [by_clang, in_few_registers], ids=lambda build: build.__name__)
def test_random_cuda(tmp_path, compared, build):
    """Two kernels with nested control flow, calls, local arrays and all scalar types."""
    path = Path(tmp_path / "random.cu")
    path.write_text(random_source(7, 2))
    module = build(path)
    for kernel in ("k0", "k1"):
        arrays = [np.resize(array, array.size * N // 256) for array in inputs(7)]
        module[kernel][2, 32](*arrays)
    assert compared == [[], []]
