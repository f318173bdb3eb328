"""The same bytes from every run: recordings and databases, whatever the process, its folder, its cores and its caches
are.

Every variation is one run of one chain (collect, correlate) in its own folder, compared byte by byte with a plain run.
"""

import os
import shutil
import subprocess
import sys

import pytest

from tests.paths import SAMPLES
from tests.support.command import PROGRAM, gpuprof, process, write_files

KERNELS = """\
// LAUNCH: histogram<<<40, 128>>>(data: u32[5000]=random, 5000, bins: u32[64])
// LAUNCH: scaled<3><<<20, 96>>>(x: f32[1900]=random, 1900)
// LAUNCH: histogram<<<40, 128>>>(data, 5000, bins)
#include "scale.h"
__global__ void histogram(const unsigned *data, int n, unsigned *bins)
{
    __shared__ unsigned counts[64];
    if (threadIdx.x < 64) counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&counts[data[i] % 64], 1u);
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
"""
HEADER = """\
template <int N> __global__ void scaled(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = N * sinf(x[i]);
}
"""
SOURCES = {"kernels.cu": KERNELS, "include/scale.h": HEADER}


def chain(folder, prefix: list[str] | None = None, **environment: str) -> tuple[bytes, bytes]:
    """The recording and the database of KERNELS, made in a folder by processes of their own."""
    write_files(folder, SOURCES)
    for arguments in (["collect", "kernels.cu", "-I", "include"], ["correlate", "kernels.gprec"]):
        command = [*(prefix or []), *PROGRAM, *arguments]
        subprocess.run(command, cwd=folder, env=os.environ | environment, check=True, capture_output=True, timeout=300)
    return (folder / "kernels.gprec").read_bytes(), (folder / "kernels.gpudb").read_bytes()


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return chain(tmp_path_factory.mktemp("plain"))


@pytest.mark.long
def test_another_hash_seed_another_folder(tmp_path, plain):
    folder = tmp_path / "another folder"
    folder.mkdir()
    assert chain(folder, PYTHONHASHSEED="4711") == plain


@pytest.mark.long
def test_a_cold_compile_cache_another_temporary_folder_another_locale(tmp_path, plain):
    (tmp_path / "temporary").mkdir()
    (tmp_path / "here").mkdir()
    found = chain(
        tmp_path / "here",
        GPUPROF_CACHE=str(tmp_path / "cache"),
        TMPDIR=str(tmp_path / "temporary"),
        LC_ALL="C",
        TZ="Asia/Kolkata",
        COLUMNS="40",
    )
    assert list((tmp_path / "cache").rglob("*")), "the cache was not used"
    assert found == plain


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("taskset"), reason="needs taskset")
def test_one_core(tmp_path, plain):
    core = min(os.sched_getaffinity(0))
    assert chain(tmp_path, prefix=["taskset", "-c", str(core)], NUMBA_NUM_THREADS="1", OMP_NUM_THREADS="1") == plain


FORMS = {
    "compact": ("--record", "compact", "--period", "32"),
    "counters of every warp": ("--record", "wide+counters", "--mode", "all", "--period", "32"),
}


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("taskset"), reason="needs taskset")
@pytest.mark.parametrize("form", FORMS)
def test_one_core_in_every_form_of_records(tmp_path, form):
    """In this process on all cores, and in one of its own on one core with another seed for hashes."""
    arguments = ("collect", str(SAMPLES / "saxpy.cu"), *FORMS[form])
    for folder in ("all", "one"):
        (tmp_path / folder).mkdir()
    assert gpuprof(tmp_path / "all", *arguments)[0] == 0
    core = str(min(os.sched_getaffinity(0)))
    command = ["taskset", "-c", core, *PROGRAM, *arguments]
    subprocess.run(
        command,
        cwd=tmp_path / "one",
        env=os.environ | {"PYTHONHASHSEED": "12"},
        check=True,
        capture_output=True,
        timeout=300,
    )
    found = [(tmp_path / folder / "saxpy.gprec").read_bytes() for folder in ("all", "one")]
    assert found[0] == found[1]


@pytest.mark.long
def test_files_made_in_another_order(tmp_path, plain):
    """Other names around, made earlier and later: nothing reads a folder's listing."""
    write_files(tmp_path, {"zebra.h": "", "include/aardvark.h": "", "a.cu": ""})
    assert chain(tmp_path) == plain


def test_a_script(tmp_path):
    """Twice in one process each, the second with another seed for hashes: Python objects' addresses and sets leave no
    trace.
    """
    shutil.copy(SAMPLES / "normalise.cu", tmp_path)
    shutil.copy(SAMPLES / "normalise.py", tmp_path)
    found = []
    for seed in ("0", "99"):
        assert process(tmp_path, "collect", "normalise.py", "--", "3000", PYTHONHASHSEED=seed)[0] == 0
        found.append((tmp_path / "normalise.gprec").read_bytes())
    assert found[0] == found[1]


def test_the_recording_names_no_folder_of_this_machine(tmp_path, plain):
    """What was given relative stays relative, so that two checkouts make the same bytes."""
    for data in plain:
        for path in (str(tmp_path.parent), os.path.expanduser("~") + "/", sys.prefix):
            assert path.encode() not in data


def test_the_report_of_both_is_one_text(tmp_path, plain):
    for name, data in zip(("kernels.gprec", "kernels.gpudb"), plain, strict=True):
        (tmp_path / name).write_bytes(data)
    reports = [
        process(tmp_path, "report", name, PYTHONHASHSEED=seed)
        for name, seed in (("kernels.gprec", "1"), ("kernels.gpudb", "2"))
    ]
    assert reports[0] == reports[1]
    assert reports[0][0] == 0
