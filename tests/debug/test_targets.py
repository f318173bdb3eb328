"""Everything that can be debugged: PTX, a fault, optimized code, a script, a saved stream, a program, launches of
launches.
"""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from gpuprof.assemble.assemble import assemble_program
from gpuprof.assemble.object.elf import write_gpubin
from gpuprof.compile.ptxfile import read_ptx
from gpuprof.debug.commands.command_table import run_line
from gpuprof.debug.debugger import Debugger
from gpuprof.debug.thread import Focus
from gpuprof.errors import DebugError, FileFormatError, UsageError
from gpuprof.isa.facts import Facts, Setting, VariableFacts
from gpuprof.run.compile_file import BuildOptions
from gpuprof.run.run_settings import Observer
from tests.paths import ROOT
from tests.support.command import gpuprof, process

PAST_THE_END = """\
// LAUNCH: past<<<1, 64>>>(u32[16])
.version 8.0
.target sm_80
.address_size 64
.visible .entry past(.param .u64 out)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd0, [out];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %rd1, %r0, 4;
    add.s64 %rd2, %rd0, %rd1;
    st.global.b32 [%rd2], %r0;
    ret;
}
"""


def printed(debugger: Debugger, line: str) -> list[str]:
    return list(run_line(debugger, line))


def test_a_fault_stops_in_front_of_the_instruction_and_one_can_go_back(tmp_path):
    """PTX by its lines, registers of optimized code, and where a thread was before it went wrong."""
    file = tmp_path / "past.ptx"
    file.write_text(PAST_THE_END)
    with Debugger(file) as debugger:
        debugger.break_at("ptx:13")
        stop = debugger.run()
        assert (stop.reason, stop.focus) == ("breakpoint", Focus(0, 0))
        debugger.focus = Focus(0, 20)
        assert debugger.evaluate("$R3").number == 20
        assert printed(debugger, "info args") == ["out = 30064771072"]
        assert printed(debugger, "info locals") == [
            "Variables are <optimized out>: the code was not compiled for a debugger."
        ]
        assert printed(debugger, "list ptx:13")[5] == "13\t    st.global.b32 [%rd2], %r0;"
        stop = debugger.cont()
        assert stop.reason == "fault"
        assert "thread (16, 0, 0) of block (0, 0, 0): out of bounds write of 4 bytes" in stop.text[0]
        assert printed(debugger, "x/i $pc")[0].endswith("STG.32 [D2], R3")
        debugger.reverse_step("stepi")
        assert printed(debugger, "x/i $pc")[0].endswith("IMAD.WIDE.U32 D2, R3, R0, c[0x0]")
        assert debugger.cont().reason == "breakpoint"
        assert debugger.cont().reason == "fault"
        end = debugger.cont()
        assert (end.reason, end.exit_code) == ("error", 1)


def test_the_command_says_what_the_program_and_it_have_to_say():
    """Commands that nobody can carry out are answered, and the last one goes on."""
    asked = [f"-ex={line}" for line in ("info breakpoints", "break *0", "break mix if a == 9", "run", "info args")]
    code, out, error = gpuprof(ROOT / "tests/debug", "debug", "walk.cu", *asked, "--batch")
    assert (code, error) == (0, "")
    assert "Breakpoint 1 (*0x0) pending.\n" in out
    assert out.endswith("a = 9\npair = {low = 3, scale = 0.5}\n")


UNDEFINED = 'Undefined command: "nobody".  Try "help".\n'


@pytest.mark.parametrize(
    "asked, told",
    [
        (["-ex=nobody", "-ex=info breakpoints"], (0, "No breakpoints or watchpoints.\n", UNDEFINED)),
        (["-ex=info breakpoints", "-ex=nobody"], (1, "No breakpoints or watchpoints.\n", UNDEFINED)),
        (["-x", "script", "-ex=info breakpoints"], (0, "No breakpoints or watchpoints.\n", UNDEFINED)),
    ],
)
def test_a_batch_goes_on_behind_what_fails_and_its_last_command_decides(asked, told, tmp_path):
    """A script ends where one of its lines fails; the next command is carried out all the same."""
    (tmp_path / "k.ptx").write_text(PAST_THE_END)
    (tmp_path / "script").write_text("nobody\nbreak past\n")
    assert gpuprof(tmp_path, "debug", "k.ptx", *asked, "--batch") == told


def test_what_does_not_compile_is_told_on_standard_error(tmp_path):
    (tmp_path / "k.ptx").write_text(PAST_THE_END.replace("mul.wide", "nul.wide"))
    code, out, error = gpuprof(tmp_path, "debug", "k.ptx", "-ex=run", "--batch")
    assert (code, out) == (1, "Starting program: k.ptx\n")
    assert "nul.wide" in error and error.endswith("\n[Program ended by an error]\n")


DAMAGED = (
    VariableFacts((), (), {"types": {}}),
    VariableFacts((Setting(10, 0, "rd1 + "), Setting(10, 0, "=x")), (), {"types": {}, "places": []}),
)


def test_damaged_facts_about_variables(tmp_path):
    (tmp_path / "k.ptx").write_text(PAST_THE_END)
    for damage in DAMAGED:
        module = replace(read_ptx(tmp_path / "k.ptx"), facts=Facts(variables=damage))
        (tmp_path / "k.gpubin").write_bytes(write_gpubin(assemble_program(module)))
        with Debugger(tmp_path / "k.gpubin", launches=["past<<<1, 64>>>(u32[16])"]) as debugger:
            debugger.start()
            with pytest.raises(FileFormatError, match="facts about variables are damaged"):
                printed(debugger, "info locals")


HOSTILE = {
    "cuda kernel ()": "'()' is not a kernel",
    "cuda warp 1 lane 31": "Request cannot be satisfied. CUDA focus unchanged.",
    "x 1.5": "a double is not an address",
    "continue \u00b2": "'\u00b2' is not a count",
    f"continue {'9' * 5000}": f"'continue {'9' * 50}: ValueError",
    "info registers Z1": "Invalid register `Z1'",
}


def test_what_commands_cannot_do():
    with Debugger(ROOT / "tests/debug/walk.cu") as debugger:
        assert printed(debugger, "list walk.cu:8")[5] == "8\t__device__ int offsets[4] = {1, 2, 3, 4};"
        with pytest.raises(DebugError, match=r"no source of none\.cu is known"):
            printed(debugger, "list none.cu:8")
        debugger.start()
        for line, message in HOSTILE.items():
            with pytest.raises(DebugError) as error:
                printed(debugger, line)
            assert str(error.value) == message
        assert printed(debugger, "x/s 0x700000000")[0] == '0x700000000:\t"\\001"'
        assert len(printed(debugger, "info registers")) > 10


@pytest.mark.parametrize(
    "name, arguments, message",
    [
        ("none.cu", {}, "none.cu: there is no such file"),
        ("a.txt", {}, "a.txt: unknown kind of file; expected .cu, .cuh, .ptx, .gpubin, .py, .gprec"),
        ("a.py", {"launches": ["k<<<1, 1>>>()"]}, "a.py: a script launches its kernels itself; leave out --launch"),
        ("a.gprec", {"launches": ["k<<<1, 1>>>()"]}, "a.gprec: a saved stream has its launches; leave out --launch"),
        ("a.ptx", {"arguments": ["x"]}, "'x': only a program or a .py script takes further arguments; leave it out"),
    ],
)
def test_what_cannot_be_run(name, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for each in ("a.txt", "a.py", "a.gprec", "a.ptx"):
        (tmp_path / each).touch()
    with pytest.raises(UsageError) as error:
        Debugger(name, **arguments)
    assert str(error.value) == message


INLINED = """\
// LAUNCH: k<<<1, 32>>>(u32[32]=arange, u32[32])
__device__ unsigned twice(unsigned x) {
    return x * 2 + 1;
}
__global__ void k(const unsigned *in, unsigned *out) {
    out[threadIdx.x] = twice(in[threadIdx.x]);
}
"""


@pytest.mark.long
def test_optimized_code_shows_inlined_frames_and_no_wrong_variables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cu").write_text(INLINED)
    with Debugger("k.cu", options=BuildOptions(optimize=3)) as debugger:
        debugger.break_at("twice")
        debugger.run()
        inner, outer = printed(debugger, "backtrace")
        assert inner == "#0  twice () at k.cu:3"
        assert outer.startswith("#1  k<<<(1,1,1),(32,1,1)>>> (param_0=0x700000000, param_1=0x7")
        assert outer.endswith(" at k.cu:6")
        assert printed(debugger, "info locals") == ["Variables of inlined functions are <optimized out>."]
        assert printed(debugger, "up")[1] == "6\t    out[threadIdx.x] = twice(in[threadIdx.x]);"
        assert printed(debugger, "print param_0 == 0x700000000") == ["$1 = true"]
        assert debugger.cont().reason == "exit"


PROGRAM = """\
#include <cstdio>
#include <cuda_runtime.h>
__global__ void fill(int *out, int base) {
    int i = threadIdx.x;
    out[i] = base + i * i;
}
int main(int argc, char **argv) {
    int *d, h[32];
    cudaMalloc(&d, sizeof h);
    for (int k = 0; k < 3; k++)
        fill<<<1, 32>>>(d, k);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %d\\n", h[0], h[5]);
    return argc;
}
"""


@pytest.mark.long
def test_a_program_goes_back_through_its_launches_and_ends_as_ever(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app.cu").write_text(PROGRAM)
    with Debugger("app.cu", arguments=["one", "two"]) as debugger:
        debugger.break_at("app.cu:5", "i == 5")
        bases = [(debugger.run() and debugger.evaluate("base").number)]
        bases += [debugger.cont() and debugger.evaluate("base").number for _ in range(2)]
        back = [debugger.reverse_continue() and debugger.evaluate("base").number for _ in range(2)]
        assert (bases, back) == ([0, 1, 2], [1, 0])
        writer = debugger.last_write("out[5]")
        assert writer is None
        debugger.points.remove(1)
        end = debugger.cont()
        assert (end.reason, end.exit_code) == ("exit", 3)
    assert capfd.readouterr().out == "2 27\n"


MEASURES = """\
#include <cstdio>
#include <cuda_runtime.h>
__global__ void idle() {}
int main() {
    cudaEvent_t begin, end;
    float ms = -1;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaEventRecord(begin);
    idle<<<1, 32>>>();
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    for (int i = 0; i < 2; i++)
        cudaEventElapsedTime(&ms, begin, end);
    std::printf("%g ms\\n", ms);
}
"""


@pytest.mark.long
def test_a_program_that_measures_is_told_once_that_launches_take_no_time(tmp_path):
    (tmp_path / "app.cu").write_text(MEASURES)
    code, out, error = process(tmp_path, "debug", "app.cu", "-ex=run", "--batch")
    told = "launches take no time in the debugger: the time between events is 0; gpuprof run --timed models it"
    assert (code, out.count("0 ms\n"), (out + error).count(f"gpuprof: {told}\n")) == (0, 1, 1)


SCRIPT = """\
import sys
import numpy as np
import gpuprof
gpu = gpuprof.Device("a100")
module = gpu.load("k.cu")
out = gpu.to_device(np.zeros(32, np.uint32))
module.k[1, 32](gpu.to_device(np.arange(32, dtype=np.uint32)), out)
print(sys.argv[1], out.copy_to_host()[3])
"""


@pytest.mark.long
def test_a_script_and_a_saved_stream(tmp_path, monkeypatch, capfd):
    """A stream has the code that was recorded: lines, and no variables."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cu").write_text(INLINED)
    (tmp_path / "host.py").write_text(SCRIPT)
    with Debugger("host.py", arguments=["word"]) as debugger:
        debugger.break_at("k.cu:6", "threadIdx.x == 3")
        debugger.run()
        assert debugger.evaluate("in[threadIdx.x]").number == 3
        assert debugger.cont().reason == "exit"
    assert capfd.readouterr().out == "word 7\n"
    command = [sys.executable, "-m", "gpuprof", "collect", "k.cu", "--save-stream"]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True)
    with Debugger("k.gprec") as debugger:
        debugger.break_at("k.cu:3")
        assert debugger.run().reason == "breakpoint"
        assert printed(debugger, "list 3")[2] == "3\t    return x * 2 + 1;"
        assert debugger.cont().reason == "exit"


SHADERS = """\
#include <gpuprof/graphics.h>
struct Vertex { float4 position; };
struct Varyings { float2 uv; };
__global__ void corner(VertexStage<Vertex, Varyings> stage) {
    Vertex in = stage.in();
    stage.out(in.position, {make_float2(in.position.x, in.position.y)});
}
SHADER(corner)
__global__ void paint(PixelStage<Varyings> stage) {
    float4 place = stage.place();
    float red = stage.in().uv.x > 0 ? 1.0f : 0.5f;
    stage.color(make_float4(red, place.x, place.z, 1.0f));
}
SHADER(paint)
"""
DRAWING = """\
import numpy as np
import gpuprof
from gpuprof.graphics.frame import Frame
from gpuprof.graphics.pipeline import Pipeline
gpu = gpuprof.Device("rtx3090")
shaders = gpu.load("draw.cu")
frame = Frame(gpu, 16, 16, depth=False)
corners = np.array([[-1, -1, 0, 1], [1, -1, 0, 1], [-1, 1, 0, 1]], np.float32)
frame.draw(Pipeline(shaders.corner, shaders.paint), corners)
"""


@pytest.mark.long
def test_a_pixel_of_a_draw(tmp_path, monkeypatch):
    """A line that begins with an inlined function is tested in the function that it belongs to."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "draw.cu").write_text(SHADERS)
    (tmp_path / "draw.py").write_text(DRAWING)
    lane = "stage.places[blockIdx.x * blockDim.x + threadIdx.x]"
    with Debugger("draw.py") as debugger:
        debugger.break_at("draw.cu:10", condition=f"{lane}.x == 3.5f && {lane}.y == 15.5f", is_temporary=True)
        assert debugger.run().reason == "breakpoint"
        assert printed(debugger, "up")[1] == "10\t    float4 place = stage.place();"
        assert printed(debugger, f"p {lane}") == ["$1 = {x = 3.5, y = 15.5, z = 0, w = 1}"]
        debugger.break_at("draw.cu:12", condition="place.x == 7.5f")
        assert debugger.cont().reason == "breakpoint"
        assert printed(debugger, "info locals")[0] == "red = 0.5"
        debugger.points.remove(2)
        kernels = [line.split()[-1] for line in printed(debugger, "info cuda kernels")[1:]]
        assert kernels == ["corner<<<(1,1,1),(32,1,1)>>>", "paint<<<(5,1,1),(32,1,1)>>>"]
        debugger.break_at("corner")
        assert debugger.reverse_continue().launch == 0
        debugger.points.remove(3)
        assert debugger.cont().reason == "exit"


class Heard(Observer):
    def __init__(self):
        self.texts = []

    def output(self, text: str) -> None:
        self.texts.append(text)


NESTED = """\
// LAUNCH: parent<<<1, 32>>>(u32[32])
#include <cstdio>
__global__ void child(unsigned *out, unsigned by) {
    out[threadIdx.x] += by;
}
__global__ void parent(unsigned *out) {
    out[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        printf("parent %u\\n", out[7]);
        child<<<1, 32>>>(out, 100);
        child<<<1, 32>>>(out, 1000);
    }
}
"""


@pytest.mark.long
def test_launches_of_launches_run_once_more_and_print_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nested.cu").write_text(NESTED)
    heard = Heard()
    with Debugger("nested.cu", observer=heard) as debugger:
        debugger.break_at("child")
        seen = [(debugger.run() and debugger.evaluate("out[7]").number)]
        seen.append(debugger.cont() and debugger.evaluate("out[7]").number)
        seen.append(debugger.reverse_continue() and debugger.evaluate("out[7]").number)
        writer = debugger.last_write("out[7]")
        assert (writer.launch, writer.focus) == (0, Focus(0, 7))
        seen.append(debugger.cont() and debugger.evaluate("out[7]").number)
        assert seen == [7, 107, 7, 107]
        assert debugger.cont().reason == "exit"
    assert "".join(heard.texts) == "parent 7\n"


@pytest.mark.long
def test_ctrl_c_stops_a_kernel_and_a_pipe_is_a_script(tmp_path):
    (tmp_path / "spin.cu").write_text(
        "// LAUNCH: spin<<<1, 32>>>(u32[32])\n"
        "__global__ void spin(unsigned *out) {\n"
        "    unsigned x = threadIdx.x;\n"
        "    for (int k = 0; k < 1000000; k++)\n"
        "        x = x * 3 + 1;\n"
        "    out[threadIdx.x] = x;\n"
        "}\n"
    )
    command = [sys.executable, "-m", "gpuprof", "debug", "spin.cu"]
    child = subprocess.Popen(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    child.stdin.write("tbreak 5 if threadIdx.x == 3\nrun\ncontinue\nprint k > 0\nnobody\n")
    child.stdin.flush()
    lines = []
    while not lines or lines[-1] != "Continuing.\n":
        lines.append(child.stdout.readline())
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=120)
    assert child.returncode == 0, err
    assert "Program received signal SIGINT, Interrupt.\n" in out
    assert out.endswith("(gpuprof) print k > 0\n$1 = true\n(gpuprof) nobody\n")
    assert err == 'Undefined command: "nobody".  Try "help".\n'
