"""Blocks per SM, by hand and by cuda_occupancy.h where a C compiler and the header are at hand."""

import shutil
import subprocess
from pathlib import Path

import pytest

from gpuprof.chips import load_chip
from gpuprof.errors import UsageError
from gpuprof.isa.program import Function
from gpuprof.timing.state.occupancy import occupancy


def kernel(registers=16, shared=0, **more):
    return Function("k", "k", 0, 1, True, registers=registers, shared_nbytes=shared, **more)


@pytest.mark.parametrize(
    ("chip", "registers", "shared", "threads", "blocks", "limiter"),
    [
        ("a100", 16, 0, 256, 8, "warps"),  # 64 warp slots / 8
        ("a100", 16, 0, 32, 32, "blocks"),
        ("a100", 64, 0, 256, 4, "registers"),  # 65536 / (64 * 256)
        ("a100", 65, 0, 256, 3, "registers"),  # allocated as 72: 7 warps a partition, 28 / 8
        ("a100", 16, 40000, 128, 4, "shared"),  # 167936 // 41088: 40000 + 1024 in steps of 128
        ("v100", 16, 40000, 128, 2, "shared"),  # 98304 // 40192
        ("ppu15", 16, 0, 64, 16, "blocks"),
        ("rtx5090", 16, 0, 256, 6, "warps"),  # 48 warp slots / 8
        ("rtx5090", 16, 0, 32, 24, "blocks"),
        ("rtx5090", 48, 0, 256, 5, "registers"),  # 65536 / (48 * 256) = 5.3
        ("rtx5090", 16, 40000, 128, 2, "shared"),  # 102400 // 41088
        ("a100", 255, 0, 256, 1, "registers"),  # 256 a thread: 8 warps in all
    ],
)
def test_by_hand(chip, registers, shared, threads, blocks, limiter):
    found = occupancy(load_chip(chip), kernel(registers, shared), threads)
    assert (found.blocks_per_sm, found.limiter) == (blocks, limiter)


@pytest.mark.parametrize(
    ("function", "threads", "dynamic", "message"),
    [
        (kernel(), 0, 0, "kernel k: a block needs at least one thread, not 0"),
        (kernel(), 1025, 0, "kernel k: a block of 1025 threads; a100 allows 1024"),
        (kernel(max_threads=128), 256, 0, "kernel k: a block of 256 threads; its launch bounds allow 128"),
        (kernel(shared=100000), 32, 100000, "kernel k: 200000 bytes of shared memory a block; a100 allows 166912"),
        (
            kernel(registers=128),
            1024,
            0,
            "kernel k: a block of 1024 threads with 128 registers a thread does not fit an SM of a100",
        ),
        (kernel(registers=256), 32, 0, "kernel k: 256 registers a thread; a100 has 255"),
    ],
)
def test_impossible_launches(function, threads, dynamic, message):
    with pytest.raises(UsageError, match=message):
        occupancy(load_chip("a100"), function, threads, dynamic)


HEADERS = sorted(Path("/usr/local").glob("cuda*/include/cuda_occupancy.h"))
PROGRAM = """
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "cuda_occupancy.h"
int main() {
    cudaOccDeviceProp p; memset(&p, 0, sizeof p);
    p.computeMajor = MAJOR; p.computeMinor = MINOR; p.maxThreadsPerBlock = 1024; p.maxThreadsPerMultiprocessor = THREADS;
    p.regsPerBlock = 65536; p.regsPerMultiprocessor = 65536; p.warpSize = 32; p.numSms = 1;
    p.sharedMemPerBlock = 49152; p.sharedMemPerMultiprocessor = SHARED; p.sharedMemPerBlockOptin = OPTIN; p.reservedSharedMemPerBlock = RESERVED;
    for (int regs = 16; regs <= 255; regs += 13)
        for (int threads = 32; threads <= 1024; threads += 96)
            for (int shared = 0; shared <= OPTIN; shared += 9999) {
                cudaOccFuncAttributes a; memset(&a, 0, sizeof a);
                a.maxThreadsPerBlock = 1024; a.numRegs = regs; a.sharedSizeBytes = 0;
                a.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN; a.maxDynamicSharedSizeBytes = OPTIN;
                cudaOccDeviceState s; memset(&s, 0, sizeof s); s.carveoutConfig = 100;
                cudaOccResult r; memset(&r, 0, sizeof r);
                int error = cudaOccMaxActiveBlocksPerMultiprocessor(&r, &p, &a, &s, threads, shared);
                printf("%d %d %d %d\\n", regs, threads, shared, error ? -1 : r.activeBlocksPerMultiprocessor);
            }
}
"""  # noqa: E501


@pytest.mark.skipif(not HEADERS, reason="no cuda_occupancy.h on this machine")
@pytest.mark.skipif(not shutil.which("g++"), reason="no g++ on this machine")
@pytest.mark.parametrize("name", ["v100", "t4", "a100", "rtx3090", "rtx4090", "h100", "h200", "b200", "rtx5090"])
def test_against_cuda_occupancy(tmp_path, name):
    chip = load_chip(name)
    source = tmp_path / "occupancy.cpp"
    source.write_text(PROGRAM)
    major, minor = divmod(int(chip.arch.removeprefix("sm_")), 10)
    defines = {
        "MAJOR": major,
        "MINOR": minor,
        "THREADS": 32 * chip.warp_slots,
        "SHARED": chip.shared_nbytes,
        "OPTIN": chip.max_shared_nbytes_per_block,
        "RESERVED": chip.shared_reserved_nbytes,
    }
    command = [
        "g++",
        "-w",
        f"-I{HEADERS[0].parent}",
        *(f"-D{k}={v}" for k, v in defines.items()),
        str(source),
        "-o",
        str(tmp_path / "a"),
    ]
    subprocess.run(command, check=True)
    lines = subprocess.run([str(tmp_path / "a")], check=True, capture_output=True, text=True).stdout.split("\n")
    assert len(lines) > 1000
    for line in filter(None, lines):
        registers, threads, shared, blocks = map(int, line.split())
        try:
            ours = occupancy(chip, kernel(registers), threads, shared).blocks_per_sm
        except UsageError:
            ours = 0
        assert ours == blocks, line
