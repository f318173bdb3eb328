"""A recording whose programs are of another instruction set: the reader says so, and what to do."""

import pytest

from gpuprof.correlate.database import ensure_database
from gpuprof.errors import FileFormatError
from gpuprof.isa.opcodes import ISA_VERSION
from tests.support.command import gpuprof

KERNEL = """\
// LAUNCH: one<<<1, 32>>>(x: f32[32])
__global__ void one(float *x) { x[threadIdx.x] = 2; }
"""
CHANGES = {
    1: f"instruction set version {ISA_VERSION}, older than the {ISA_VERSION + 1} this gpuprof reads; collect it again",
    -1: f"instruction set version {ISA_VERSION}, newer than the {ISA_VERSION - 1} this gpuprof knows; "
    "update gpuprof or collect it again",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_recording_of_another_instruction_set(tmp_path, monkeypatch, change):
    (tmp_path / "k.cu").write_text(KERNEL)
    code, _, error = gpuprof(tmp_path, "collect", "k.cu")
    assert code == 0, error
    monkeypatch.setattr("gpuprof.isa.gpubin.reader.ISA_VERSION", ISA_VERSION + change)
    with pytest.raises(FileFormatError) as caught:
        ensure_database(tmp_path / "k.gprec")
    assert "k.gprec" in str(caught.value) and CHANGES[change] in str(caught.value)
