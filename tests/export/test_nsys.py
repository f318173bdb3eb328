"""The reports of `nsys stats`, whole, of a program whose times were chosen; its CSV has the same columns."""

import json
import sqlite3
from contextlib import closing

import pytest

from gpuprof.correlate.correlate import correlate
from gpuprof.export import FORMATS
from gpuprof.export.tables.nsys_rows import NO_CALLS, NO_CLOCK, NO_KERNELS, NO_OPERATIONS
from tests.support.command import gpuprof
from tests.support.program_recording import write_program
from tests.support.recordings import write_saxpy

WHOLE = {
    "nsys-cuda-gpu-kern-sum": """\
Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name
100.0,13000,3,4333.3,2000.0,1000,10000,4932.9,saxpy
""",
    "nsys-cuda-gpu-mem-time-sum": """\
Time (%),Total Time (ns),Count,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Operation
44.9,4000,1,4000.0,4000.0,4000,4000,0.0,[CUDA memcpy Host-to-Device]
43.8,3900,1,3900.0,3900.0,3900,3900,0.0,[CUDA memcpy Device-to-Host]
5.6,500,1,500.0,500.0,500,500,0.0,[CUDA memcpy Device-to-Device]
5.6,500,1,500.0,500.0,500,500,0.0,[CUDA memset]
""",
    "nsys-cuda-gpu-mem-size-sum": """\
Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),StdDev (MB),Operation
0.400,1,0.400,0.400,0.400,0.400,0.000,[CUDA memcpy Device-to-Device]
0.100,1,0.100,0.100,0.100,0.100,0.000,[CUDA memcpy Host-to-Device]
0.050,1,0.050,0.050,0.050,0.050,0.000,[CUDA memcpy Device-to-Host]
0.004,1,0.004,0.004,0.004,0.004,0.000,[CUDA memset]
""",
    "nsys-cuda-api-sum": """\
Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name
62.1,23600,1,23600.0,23600.0,23600,23600,0.0,cudaMemcpy
13.2,5000,1,5000.0,5000.0,5000,5000,0.0,cudaMalloc
6.6,2500,1,2500.0,2500.0,2500,2500,0.0,cudaGraphLaunch
6.6,2500,1,2500.0,2500.0,2500,2500,0.0,cudaLaunchKernel
5.3,2000,1,2000.0,2000.0,2000,2000,0.0,cudaFree
2.6,1000,1,1000.0,1000.0,1000,1000,0.0,cudaMemcpyAsync
2.6,1000,1,1000.0,1000.0,1000,1000,0.0,cudaMemset
1.1,400,1,400.0,400.0,400,400,0.0,cudaLaunchHostFunc
""",
    "nsys-cuda-gpu-trace": """\
Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,\
StcSMem (MB),DymSMem (MB),Bytes (MB),Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name
6000,4000,1,,,,,,,,,,0.100,25000.000,Pinned,Device,a100 (0),1,,1,[CUDA memcpy Host-to-Device]
10000,500,3,,,,,,,,,,0.004,8192.000,Device,,a100 (0),1,,0,[CUDA memset]
10200,10000,5,2,1,1,64,1,1,12,0.000,0.000,,,,,a100 (0),1,,1,saxpy
22000,2000,7,2,1,1,64,1,1,12,0.000,0.000,,,,,a100 (0),1,,0,saxpy
24500,500,7,,,,,,,,,,0.400,800000.000,Device,Device,a100 (0),1,,0,[CUDA memcpy Device-to-Device]
25500,1000,7,2,1,1,64,1,1,12,0.000,0.000,,,,,a100 (0),1,,0,saxpy
30100,3900,13,,,,,,,,,,0.050,12820.513,Device,Pageable,a100 (0),1,,0,[CUDA memcpy Device-to-Host]
""",
    "nsys-cuda-kern-exec-trace": """\
API Start (ns),API Dur (ns),Queue Start (ns),Queue Dur (ns),Kernel Start (ns),\
Kernel Dur (ns),Total Dur (ns),PID,TID,DevId,API Function,GridXYZ,BlockXYZ,Kernel Name
7000,2500,9500,700,10200,10000,13200,1,1,0,cudaLaunchKernel,   2    1    1,  64    1    1,saxpy
9500,2500,12000,10000,22000,2000,14500,1,1,0,cudaGraphLaunch,   2    1    1,  64    1    1,saxpy
9500,2500,12000,13500,25500,1000,17000,1,1,0,cudaGraphLaunch,   2    1    1,  64    1    1,saxpy
""",
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("programs")
    write_program(made / "p.gprec")
    write_program(made / "old.gprec", is_timed=False, host=None)
    return made


@pytest.mark.parametrize("name", WHOLE)
def test_a_report_whole(folder, name):
    output = f"p{FORMATS[name].extension}"
    assert gpuprof(folder, "export", "p.gprec", "-o", output) == (0, "", "")
    assert (folder / output).read_text() == WHOLE[name]


def test_every_report_is_here():
    assert set(WHOLE) == {name for name in FORMATS if name.startswith("nsys-")}


def test_names_are_those_of_the_reports():
    """nsys stats has underscores."""
    for name in WHOLE:
        report = name.removeprefix("nsys-").replace("-", "_")
        assert FORMATS[name].extension == f".{report}.csv" and FORMATS[name].text.endswith(f"--report {report}`")


@pytest.mark.parametrize("name", WHOLE)
def test_a_recording_whose_host_had_another_clock(folder, name):
    """Kernels and calls have their times, each on its clock; copies have none, and calls do not precede kernels."""
    output = f"old{FORMATS[name].extension}"
    code, _, error = gpuprof(folder, "export", "old.gprec", "-o", output)
    out = (folder / output).read_text() if not code else ""
    if name in ("nsys-cuda-gpu-kern-sum", "nsys-cuda-api-sum"):
        assert (code, out) == (0, WHOLE[name])
    elif name == "nsys-cuda-gpu-trace":
        assert code == 0 and out.splitlines() == [line for line in WHOLE[name].splitlines() if "[CUDA" not in line]
    else:
        assert (code, out, error.splitlines()[-1]) == (4, "", f"gpuprof: {NO_OPERATIONS}")


def test_what_a_file_must_have(tmp_path):
    write_saxpy(tmp_path / "s.gprec")
    for name, why in (("nsys-cuda-api-sum", NO_CALLS), ("nsys-cuda-gpu-mem-time-sum", NO_OPERATIONS)):
        code, _, error = gpuprof(tmp_path, "export", "s.gprec", "-o", "s.csv", "--format", name)
        assert (code, error.splitlines()[-1]) == (4, f"gpuprof: {why}")
    assert gpuprof(tmp_path, "correlate", "s.gprec")[0] == 0
    for changes, why in (
        (("UPDATE launches SET complete = 0",), NO_KERNELS),
        (("UPDATE launches SET complete = 1", "UPDATE meta SET value = ? WHERE key = 'chip_json'"), NO_CLOCK),
    ):
        with closing(sqlite3.connect(tmp_path / "s.gpudb")) as db, db:
            for change in changes:
                db.execute(change, [json.dumps({"name": "a100"})] * change.count("?"))
        code, _, error = gpuprof(tmp_path, "export", "s.gpudb", "-o", "s.csv", "--format", "nsys-cuda-gpu-kern-sum")
        assert (code, error.splitlines()[-1]) == (4, f"gpuprof: {why}")


def test_managed_memory_has_its_own_rows_and_mapped_memory_none(folder, tmp_path):
    """nsys has mapped memory in the time of the kernels that touch it."""
    kinds = {"copy to device": "page faults", "copy to host": "prefetch", "copy within device": "mapped memory"}
    correlate(folder / "p.gprec", tmp_path / "p.gpudb")
    with closing(sqlite3.connect(tmp_path / "p.gpudb")) as database:
        for was, kind in kinds.items():
            database.execute("UPDATE tasks SET kind = ? WHERE kind = ?", (kind, was))
        database.commit()
    shown = {}
    for name in ("nsys-cuda-gpu-mem-time-sum", "nsys-cuda-gpu-trace"):
        output = f"p{FORMATS[name].extension}"
        assert gpuprof(tmp_path, "export", "p.gpudb", "-o", output) == (0, "", "")
        shown[name] = (tmp_path / output).read_text()
    assert (
        shown["nsys-cuda-gpu-mem-time-sum"]
        == """\
Time (%),Total Time (ns),Count,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Operation
47.6,4000,1,4000.0,4000.0,4000,4000,0.0,[CUDA Unified Memory memcpy Host-to-Device]
46.4,3900,1,3900.0,3900.0,3900,3900,0.0,[CUDA Unified Memory memcpy Device-to-Host]
6.0,500,1,500.0,500.0,500,500,0.0,[CUDA memset]
"""
    )
    assert [line for line in shown["nsys-cuda-gpu-trace"].splitlines() if "Unified" in line] == [
        "6000,4000,1,,,,,,,,,,0.100,25000.000,Managed,Managed,a100 (0),1,,1,"
        "[CUDA Unified Memory memcpy Host-to-Device]",
        "30100,3900,13,,,,,,,,,,0.050,12820.513,Managed,Managed,a100 (0),1,,0,"
        "[CUDA Unified Memory memcpy Device-to-Host]",
    ]
