"""What a person sees of findings: under `run` and `collect`, limits, exit codes, suppressions, the page."""

from types import SimpleNamespace

import pytest

from gpuprof.compile.host import host_toolchain
from gpuprof.errors import CompileError, UsageError
from gpuprof.trace.finding_report import Findings, place_of, text_of
from gpuprof.trace.suppressions import parse
from gpuprof.trace.tables import Finding
from tests.support.command import gpuprof, process

KERNELS = """\
__device__ __forceinline__ int get(const int *x, int i) { return x[i]; }
// LAUNCH: k<<<1, 100>>>(x: i32[100], 4)
// LAUNCH: k<<<1, 100>>>(x, 0)
__global__ void k(int *x, int ahead)
{
    x[threadIdx.x] = get(x, threadIdx.x + ahead);
}
"""
TOLD = (
    "gpuprof: out_of_bounds: k: k.cu:1, inlined at k.cu:6: thread (96, 0, 0) of block (0, 0, 0) reads 4 bytes of "
    "global memory at 0x700000190; 0x700000190 is just past the end of x, i32[100] (400 bytes at 0x700000000); "
    "4 times\n"
)
SUM = "gpuprof: 4 errors at 1 place\n"
APP = """\
#include <cstdio>
__global__ void k(int *x, int ahead)
{
    x[threadIdx.x + ahead] = 1;
    if (threadIdx.x == 0) printf("here\\n");
}
int main()
{
    int *x;
    cudaMalloc(&x, 400);
    k<<<1, 100>>>(x, 4);
    cudaDeviceSynchronize();
    printf("%d\\n", cudaGetLastError());
    cudaFree(x);
    printf("%d\\n", cudaFree(x));
    return 3;
}
"""
try:
    host_toolchain()
    WHY_NOT = ""
except CompileError as error:
    WHY_NOT = str(error)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "k.cu").write_text(KERNELS)
    return tmp_path


def test_collect_tells_and_records(folder):
    code, _, error = gpuprof(folder, "collect", "k.cu", "--trace", "memcheck")
    assert (code, error) == (0, TOLD + SUM)
    code, out, _ = gpuprof(folder, "report", "k.gprec", "--page", "findings", "--format", "csv")
    heads, row = (line.split(",") for line in out.splitlines()[:2])
    found = dict(zip(heads, row, strict=False))
    assert (found["kind"], found["severity"]) == ("out_of_bounds", "error")
    code, _, error = gpuprof(folder, "check", "k.gprec", "--require", "findings<=0")
    assert code == 3


def test_a_kernel_goes_on_in_every_pass(folder):
    code, _, error = gpuprof(folder, "collect", "k.cu", "--trace", "memcheck", "--passes", "2", "--period", "64")
    assert (code, error) == (0, TOLD + SUM)
    code, out, _ = gpuprof(folder, "report", "k.gprec", "--page", "findings", "--format", "csv")
    assert out.count("out_of_bounds") == 1


def test_an_exit_code_is_given_when_there_are_errors(folder):
    flags = ("collect", "k.cu", "--trace", "memcheck", "--error-exitcode", "9")
    assert gpuprof(folder, *flags)[0] == 9
    assert (folder / "k.gprec").is_file()
    launch = ("--launch", "k<<<1, 100>>>(x: i32[100], 0)")
    assert gpuprof(folder, *flags, *launch)[::2] == (0, "gpuprof: no errors\n")


def test_a_run_that_fails_before_a_launch_has_no_sum(folder):
    code, _, error = gpuprof(folder, "collect", "k.cu", "--trace", "memcheck", "--launch", "other<<<1, 1>>>()")
    assert code != 0
    assert "error" not in error


def test_what_is_known_is_left_out(folder):
    known = "# errors\nout_of_bounds:k.cu:6  the last threads read ahead\n*:kernel:other  is gone\n"
    (folder / "known.txt").write_text(known)
    flags = ("collect", "k.cu", "--trace", "memcheck", "--error-exitcode", "9", "--suppressions", "known.txt")
    code, _, error = gpuprof(folder, *flags)
    assert (code, error) == (
        0,
        "gpuprof: no errors\ngpuprof: 1 finding is suppressed\n"
        "gpuprof: suppression *:kernel:other (line 3) matched nothing; delete it\n",
    )
    assert "out_of_bounds" not in gpuprof(folder, "report", "k.gprec", "--page", "findings")[1]


@pytest.mark.parametrize("name", ["k", "k<1>", "n::k<1, 2>", "k<V<int, 2>, V<V<int>>>", "k<V<int> >", "_Z1kPi"])
def test_a_kernel_is_named_with_its_template_arguments(name):
    (known,) = parse(f"*:kernel:{name} is 1 > 0, why\n", "f.txt")
    assert (known.kernel, known.text) == (name, f"*:kernel:{name}")


HOST = """\
import numpy as np
import gpuprof
from gpuprof.device import commands as cmd
from gpuprof.errors import DeviceMemoryError
gpu = gpuprof.Device()
module = gpu.load("k.cu")
x = gpu.to_device(np.zeros(100, np.int32))
def wrong(command):
    try:
        gpu.submit(command)
    except DeviceMemoryError:
        pass
wrong(cmd.Free(16))
module.k[1, 100](x, 0)
wrong(cmd.CopyIn(x.address + 4, bytes(400)))
wrong(cmd.CopyOut(x.address, -8))
module.k[1, 100](x, 0)
x.free()
wrong(cmd.Free(x.address))
"""


def test_errors_of_the_host_are_recorded(folder):
    """One before the first launch belongs to none, and is told alone."""
    (folder / "host.py").write_text(HOST)
    code, _, error = gpuprof(folder, "collect", "host.py", "--trace", "memcheck", "--limit", "3")
    told = [line.split(":")[1].strip() for line in error.splitlines()]
    assert (code, told[:3]) == (0, ["invalid_free", "copy_out_of_bounds", "negative_size"])
    assert error.splitlines()[-1] == "gpuprof: 4 errors at 4 places; 1 place is not shown"
    _, out, _ = gpuprof(folder, "report", "host.gprec", "--page", "findings", "--format", "csv")
    heads, *rows = (dict(enumerate(line.split(","))) for line in out.splitlines())
    places = {name: place for place, name in heads.items()}
    found = [(row[places["kind"]], row[places["launch"]]) for row in rows if row[places["severity"]] == "error"]
    assert found == [("copy_out_of_bounds", "0"), ("negative_size", "0"), ("double_free", "1")]


ONE_WAY = """\
// LAUNCH: one_way<<<1, 32>>>(y: i32[32])
__global__ void one_way(int *y)
{
    int value;
    if (threadIdx.x < 20) value = 3;
    y[threadIdx.x] = value;
}
"""


@pytest.mark.long
def test_what_optimisation_hides(folder):
    (folder / "one_way.cu").write_text(ONE_WAY)
    hidden = gpuprof(folder, "collect", "one_way.cu", "--trace", "initcheck")[2]
    assert hidden == "gpuprof: no errors\n"
    told = gpuprof(folder, "collect", "one_way.cu", "--trace", "initcheck", "-O0")[2]
    assert "uninitialised_store: one_way: one_way.cu:6: thread (20, 0, 0)" in told
    assert told.endswith("; 12 times\ngpuprof: 12 errors at 1 place\n")


def test_an_address_without_a_line_names_the_way_to_more_lines():
    plain, known = (SimpleNamespace(pc=16 * k, frames=[], location=k or None) for k in range(2))
    assert place_of(SimpleNamespace(instructions=(plain,)), 0) == "0x0"
    assert place_of(SimpleNamespace(instructions=(plain, known)), 0) == (
        "0x0 (an instruction without a line: -O0 keeps more of them)"
    )


def test_what_has_no_place_is_told_without_one():
    kernel = SimpleNamespace(name="k", instructions=())
    lost = Finding("more_races", "error", "are only counted", pc=-1, count=5)
    assert text_of(kernel, lost) == "more_races: k: are only counted; 5 times"


BAD_LINES = {
    "no reason": "out_of_bounds:k.cu:6",
    "no kind": "k.cu:6 why",
    "capitals": "Kind:k.cu:6 why",
    "no number": "misaligned:k.cu:x why",
    "long": f"misaligned:k.cu:{'9' * 5000} why",
    "no template": "*:kernel:k<1, 2 why",
}


@pytest.mark.parametrize("line", BAD_LINES.values(), ids=BAD_LINES)
def test_a_line_that_suppresses_nothing_is_refused(line):
    with pytest.raises(UsageError, match=r"f\.txt:2: expected KIND:PATH:LINE REASON or KIND:kernel:NAME REASON"):
        parse(f"# known\n{line}\n", "f.txt")


def test_no_more_than_the_limit_is_told():
    kernel = SimpleNamespace(name="k", instructions=())
    findings = Findings((), 2)
    errors = [Finding("leak", "error", f"text {k}", pc=16 * k, count=5) for k in range(4)]
    warning = Finding("first_nan", "warning", "not an error")
    assert list(findings.reports(kernel, [warning, *errors])) == [
        "leak: k: 0x0: text 0; 5 times",
        "leak: k: 0x10: text 1; 5 times",
    ]
    assert list(findings.summary()) == ["20 errors at 4 places; 2 places are not shown"]


@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
@pytest.mark.long
def test_run_goes_on_and_tells(tmp_path):
    (tmp_path / "app.cu").write_text(APP)
    code, out, error = process(tmp_path, "run", "app.cu", "--trace", "memcheck:leaks=yes")
    assert (code, out) == (3, "here\n0\n1\n")
    first, second, *rest, last = error.splitlines()
    assert rest == []
    assert first.startswith("gpuprof: out_of_bounds: k: app.cu:4: thread (96, 0, 0) of block (0, 0, 0) writes 4 bytes")
    assert second == (
        "gpuprof: double_free: app.cu:15: cudaFree: cannot free 0x700000000: cudaMalloc 1 (400 bytes at 0x700000000) "
        "was freed before"
    )
    assert last == "gpuprof: 5 errors at 2 places"
    assert process(tmp_path, "run", "app.cu", "--trace", "memcheck", "--error-exitcode", "9")[0] == 9


HALF = """\
__global__ void scale(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i];
}
int main()
{
    float *x, *y, *both, host[64] = {};
    cudaMalloc(&x, 256);
    cudaMalloc(&y, 256);
    cudaMallocManaged(&both, 256);
    cudaMemcpy(x, host, 192, cudaMemcpyHostToDevice);
    scale<<<2, 32>>>(x, y, 64);
    cudaMemcpy(x, y, 256, cudaMemcpyDeviceToDevice);
    scale<<<2, 32>>>(x, y, 64);
    scale<<<2, 32>>>(both, y, 64);
    cudaMemset(x, 0, 256);
    scale<<<2, 32>>>(x, y, 64);
    cudaMemcpy(host, y, 256, cudaMemcpyDeviceToHost);
}
"""


@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
@pytest.mark.long
def test_undefined_values_of_a_program(tmp_path):
    """They are found in the run, in a profile of it, and when its commands are carried out again."""
    (tmp_path / "half.cu").write_text(HALF)
    for command in ("run half.cu", "collect half.cu --save-stream", "replay half.gprec"):
        code, _, error = process(tmp_path, *command.split(), "--trace", "initcheck")
        told = [line for line in error.splitlines() if "uninitialised" in line or " errors at " in line]
        assert (code, len(told)) == (0, 3)
        for line, source in zip(told, ("was never written: 0x7", "was never written: 0x7"), strict=False):
            assert line.startswith(
                "gpuprof: uninitialised_store: scale: half.cu:5: thread (16, 0, 0) of block (1, 0, 0) writes 4 bytes of"
            )
            assert source in line
            assert line.endswith(
                " is byte 192 of cudaMalloc 1 (256 bytes at 0x700000000) (the other access: half.cu:5); 16 times"
            )
        assert told[2] == "gpuprof: 32 errors at 2 places"
