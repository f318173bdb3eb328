"""Samples and whole programs whose launches are emulated on several processes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpuprof.device.launching.launch_requests import comment_requests
from gpuprof.device.launching.launch_text import kernel_names
from gpuprof.device.memory import AddressSpace
from gpuprof.device.requests import run_requests
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from tests.paths import ROOT
from tests.support.command import gpuprof
from tests.support.spreading import spread_over

SPREAD = ROOT / "tests" / "program" / "sources" / "spread.cu"
# Chunks of all launches of a sample that helpers carry out when there are two or more processes.
SAMPLES = {
    "histogram": 0,  # all blocks add to the same bins
    "mandelbrot": 7,
    "matmul": 24,
    "reduction": 28,
    "saxpy": 7,
    "spmv": 15,
    "stencil3d": 7,
    "transpose": 21,
}


def checksum(rounds: int) -> int:
    """Computes the number that spread.cu prints."""
    total = 0
    for x in range(512 * 256):
        for _ in range(rounds):
            x = (x * 1664525 + 1013904223) & 0xFFFFFFFF
        total = (total * 31 + x) & 0xFFFFFFFF
    return total


def test_a_program_whose_memory_is_shared(tmp_path, capfd):
    """The helpers' writes are not seen by the program, nor by each other, before they count."""
    for n in (1, 2, 3):
        with spread_over(n) as spread:
            code, _, error = gpuprof(tmp_path, "run", str(SPREAD), "--threads", str(n), "--", "2")
        assert (code, capfd.readouterr().out, error) == (0, f"begun\n{checksum(2)}\n", "")
        assert spread == ([0, 1, 2, 3] if n > 1 else [], [])


@pytest.mark.parametrize("name", SAMPLES)
def test_samples(name):
    path = ROOT / "samples" / f"{name}.cu"
    requests, found = comment_requests(path), []
    for n in (1, 2, 3, 4):
        memory = AddressSpace()
        device = open_device(Settings(is_timed=False), memory=memory)
        module = device.load(path, instantiate=kernel_names(requests))
        with spread_over(n, chunk_lanes=8192) as spread:
            run_requests(device, module, requests, seed=0, folder=path.parent)
        found.append(memory.arena.tobytes())
        assert (len(spread.helped), spread.again) == (SAMPLES[name] if n > 1 else 0, [])
    assert found == found[:1] * 4


def test_a_recording_of_a_part_of_the_blocks(tmp_path):
    """The blocks that are not timed are spread, while another thread times, and are counted: the recording has the same
    bytes."""
    (tmp_path / "small.toml").write_text('inherits = "a100"\nsms = 2\ndram_channels = 1\n')
    launch = "coalesced<<<(32, 32), (32, 8)>>>(out: f32[1024,1024], in: f32[1024,1024]=random, 1024)"
    words = ["collect", str(ROOT / "samples" / "transpose.cu"), "--sample-blocks", "--chip", "small.toml"]
    found = []
    for n in (1, 2, 3):
        with spread_over(n) as spread:
            done = gpuprof(tmp_path, *words, "--launch", launch, "--threads", str(n), "-o", "k.gprec", "--force")
        assert done[0] == 0, done
        assert (len(spread.helped) > 1, spread.again) == (n > 1, [])
        found.append((tmp_path / "k.gprec").read_bytes())
    assert found == found[:1] * 3


def children_of(process: int) -> list[int]:
    """All that it has, and those have."""
    tasks = Path(f"/proc/{process}/task")
    found = [int(word) for task in tasks.glob("*/children") for word in task.read_text().split()]
    return found + [each for child in found for each in children_of(child)]


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_ctrl_c_ends_helpers_too(tmp_path):
    """All processes get the signal, as from a terminal. The launch takes half a minute or more."""
    command = [sys.executable, "-m", "gpuprof", "run", str(SPREAD), "--threads", "3", "--", "3000000"]
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, start_new_session=True
    )
    try:
        assert running.stdout.readline() == "begun\n"
        end = time.monotonic() + 120
        while len(children := children_of(running.pid)) < 3 and time.monotonic() < end:
            time.sleep(0.05)
        assert len(children) == 3  # the program, two helpers
        os.killpg(running.pid, signal.SIGINT)
        _, error = running.communicate(timeout=60)
    finally:
        running.kill()
    assert running.returncode == 130
    assert "Traceback" not in error and error.count("interrupted") == 1
    for _ in range(100):  # a machine under load takes its time to end a process
        left = [child for child in children if os.path.exists(f"/proc/{child}")]
        if not left:
            break
        time.sleep(0.1)
    assert left == []
