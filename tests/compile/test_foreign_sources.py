"""Sources that make a compiler read, work or write for ever, and sources that would have a profile carry files that are
none of the program's.
"""

import os
import shutil
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

import pytest

from gpuprof.base.inputs import PTX
from gpuprof.compile import child, compile_cuda, read_ptx
from gpuprof.compile.child import LIMITS, MEMORY, OUTPUT, TIME, run_child
from gpuprof.compile.source import bounded_ptx
from gpuprof.errors import CompileError, UsageError
from gpuprof.run.compile_file import build_ptx
from tests.fuzz.line_markers import rounds
from tests.paths import DOCS
from tests.support.command import gpuprof, process, write_files

SECRET = "the text of a file that is none of the program's\n"
KERNEL = "__global__ void k(int *x) { x[0] = 1; }\n"


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GPUPROF_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


# Children.


@pytest.mark.long
def test_limits_of_children(monkeypatch, tmp_path):
    """Each limit ends a child of a few lines, with the whole group, and says which variable raises it."""
    for limit, value in ((MEMORY, "1"), (TIME, "1"), (OUTPUT, "1")):
        monkeypatch.setenv(limit.variable, value)

    def told(code: str) -> str:
        with pytest.raises(CompileError) as caught:
            run_child([sys.executable, "-c", code], "a.cu")
        return str(caught.value)

    assert told("bytearray(1 << 31)") == (
        "a.cu: the compiler was stopped at 1 GiB of memory; set GPUPROF_COMPILER_GB to more if the source needs it"
    )
    assert told("while True: pass") == (
        "a.cu: the compiler was stopped at 1 seconds of CPU time; set GPUPROF_COMPILER_SECONDS to more if the source "
        "needs it"
    )
    for write in ("print('x' * (3 << 20))", f"open({str(tmp_path / 'out')!r}, 'wb').write(bytes(3 << 20))"):
        assert told(write) == (
            "a.cu: the compiler was stopped at 1 MiB of output; set GPUPROF_COMPILER_OUTPUT_MB to more if the source "
            "needs it"
        )


@pytest.mark.long
def test_a_child_takes_its_own_children_along(monkeypatch, tmp_path):
    monkeypatch.setenv(TIME.variable, "1")
    monkeypatch.setattr(child, "WALL_FACTOR", 1)
    late = tmp_path / "late"
    with pytest.raises(CompileError):
        run_child(["/bin/sh", "-c", f"(sleep 3; touch {late}) & sleep 60"], "a.cu")
    run_child(["/bin/sh", "-c", f"(sleep 3; touch {late}) & exit 0"], "a.cu")
    time.sleep(4)
    assert not late.exists()


def test_a_child_within_its_limits():
    ended = run_child(["/bin/sh", "-c", "cat; echo said >&2; exit 3"], "a.cu", b"the source")
    assert ended == (3, b"the source", b"said\n")


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "many", "9" * 5000, "²"])
def test_a_limit_that_is_no_number(monkeypatch, text):
    monkeypatch.setenv(TIME.variable, text)
    with pytest.raises(UsageError) as caught:
        run_child(["/bin/true"], "a.cu")
    assert (
        str(caught.value)
        == f"{TIME.variable} is {text!r}; expected a number of seconds of CPU time, 1 to 1,073,741,824"
    )


def test_the_page_has_every_limit():
    page = (DOCS / "security.md").read_text()
    assert all(
        f"| {limit.usual or f'{limit.default:,} {limit.unit}'} | `{limit.variable}` |" in page for limit in LIMITS
    )


def test_ptx_that_is_too_long(monkeypatch):
    assert bounded_ptx("a.cu", "x" * 100) == "x" * 100
    with pytest.raises(CompileError, match=r"^a\.cu: has 67,108,865 bytes of PTX; the limit is 67,108,864$"):
        bounded_ptx("a.cu", "x" * (PTX.most_nbytes + 1))


# Includes.

BOMBS = {
    "macro": "".join(f"#define A{n + 1} A{n} A{n} A{n} A{n} A{n} A{n} A{n} A{n}\n" for n in range(12))
    + "#define A0 x x x x x x x x\n__global__ void k(int x) { A12; }\n",
    "template": "template <int N, int M> struct F { static const int v = F<N - 1, M>::v + F<N - 1, M + (1 << N)>::v; };"
    "\ntemplate <int M> struct F<0, M> { static const int v = M; };\n"
    "__global__ void k(int *x) { *x = F<28, 0>::v; }\n",
    "array": "__device__ char big[1u << 31] = {1};\n__global__ void k(int *x) { *x = big[3]; }\n",
    "computed include": '#define NAME "/dev/zero"\n#include NAME\n#include NAME\n' + KERNEL,
    "computed fifo": '#define NAME "fifo.h"\n#include NAME\n' + KERNEL,
    "self": '#include "self.cu"\n' + KERNEL,
    "embed": "__device__ unsigned char d[] = {\n#embed </dev/zero>\n};\n" + KERNEL,
    "depth": "__global__ void k(int *x) { *x = " + "(" * 100_000 + "1" + ")" * 100_000 + "; }\n",
    "incbin": '__asm__(".incbin \\"/etc/passwd\\"");\n' + KERNEL,
}


@pytest.mark.long
@pytest.mark.parametrize("what", BOMBS)
def test_bombs(tmp_path, what):
    """A result or an error, in the time and the memory that the limits leave. The command itself has 2 GB."""
    name = f"{what.split()[0]}.cu"
    write_files(tmp_path, {name: BOMBS[what]})
    os.mkfifo(tmp_path / "fifo.h")
    limits = {MEMORY.variable: "2", TIME.variable: "8", OUTPUT.variable: "64"}
    code, _, error = process(tmp_path, "compile", name, **limits)
    assert code in (0, 1, 2) and "Traceback" not in error
    assert code == 0 or error.splitlines()[-1].startswith(f"gpuprof: {name}")


def test_what_no_compiler_should_open(tmp_path):
    os.mkfifo(tmp_path / "fifo.h")
    (tmp_path / "long.h").write_bytes(b"")
    os.truncate(tmp_path / "long.h", 1 << 30)
    refused = {
        '#include "/dev/zero"\n': "k.cu:1: cannot be included: /dev/zero: is a device; expected a regular file",
        "\n\n  #  include <fifo.h>\n": "k.cu:3: cannot be included: ./fifo.h: is a FIFO; expected a regular file",
        '#include "near.h"\n': "near.h:2: cannot be included: fifo.h: is a FIFO; expected a regular file",
        '#embed "/dev/zero"\n': "k.cu:1: cannot be included: /dev/zero: is a device; expected a regular file",
        '#include "long.h"\n': "k.cu:1: cannot be included: long.h: has 1,073,741,824 bytes; the limit for a header is "
        "16,777,216 bytes",
    }
    write_files(tmp_path, {"near.h": '#pragma once\n#include "fifo.h"\n#include "near.h"\n'})
    for text, why in refused.items():
        write_files(tmp_path, {"k.cu": text + KERNEL})
        with pytest.raises(UsageError) as caught:
            compile_cuda("k.cu", include_dirs=["."])
        assert str(caught.value).replace(": ./fifo.h", ": ./fifo.h") == why.replace("./fifo.h", "fifo.h")


# What a profile carries.


def test_line_markers_name_files_and_carry_none(tmp_path):
    """The markers' files are named, and their text is nowhere in the module, its gpubin or its PTX."""
    (tmp_path / "secret.h").write_text(SECRET)
    (tmp_path / "opened.cuh").write_text("__device__ inline int f(int a) { return a * 3; }\n")
    escape = f"<ziglang>/{'../' * 12}{tmp_path.relative_to('/')}/secret.h"
    source = (
        '#include "opened.cuh"\n__global__ void k(int *x)\n{\n'
        f'#line 1 "{tmp_path}/secret.h"\n    x[0] = f(x[9]);\n#line 1 "secret.h"\n    x[1] = f(x[8]);\n'
        f'# 1 "./secret.h"\n    x[2] = f(x[7]);\n#line 1 "{escape}"\n    x[3] = f(x[6]);\n}}\n'
    )
    (tmp_path / "k.cu").write_text(source)
    module = compile_cuda("k.cu")
    assert module.sources == {"k.cu": source, "./opened.cuh": (tmp_path / "opened.cuh").read_text()}
    named = {line.split('"')[1] for line in module.ptx.splitlines() if line.lstrip().startswith(".file")}
    assert named == {f"{tmp_path}/secret.h", "secret.h", "./secret.h", escape, "k.cu", "./opened.cuh"}
    assert SECRET.encode() not in build_ptx(module)[1] and SECRET not in module.ptx
    assert compile_cuda("k.cu") == module  # out of the cache


def test_far_lines(tmp_path):
    """`#line` goes up to 2^31 - 1, and lines count on from there. No page nor listing stumbles, or shows what is
    between.
    """
    source = (
        "// LAUNCH: k<<<1, 32>>>(x: i32[64])\n__global__ void k(int *x)\n{\n    x[0] = 1;\n"
        "#line 2147483647\n    x[1] += 2;\n    x[2] += 3;\n}\n"
        "#line 2147483640\n__global__ void far(int *x)\n{\n    x[3] = 4;\n}\n"
        "#line 1000000001\n__global__ void label(int *x)\n{\n    x[3] = 4;\n}\n"
    )
    (tmp_path / "k.cu").write_text(source)
    module = compile_cuda("k.cu")
    lines = {line.split()[2] for line in module.ptx.splitlines() if line.startswith("\t.loc")}
    assert {"4", "2147483647", "2147483648", "2147483642", "1000000003"} <= lines
    program, _ = build_ptx(module)
    assert {2147483647, 2147483648} <= {place.line for place in program.locations if place}


@pytest.mark.long
def test_far_lines_on_every_page(tmp_path):
    write_files(tmp_path, {"k.cu": "// LAUNCH: k<<<1, 32>>>(x: i32[64])\n__global__ void k(int *x)\n{\n    x[0] = 1;\n"
                           "#line 2147483647\n    x[1] += 2;\n    x[2] += 3;\n}\n"})  # fmt: skip
    assert gpuprof(tmp_path, "collect", "k.cu")[0] == 0
    assert gpuprof(tmp_path, "compile", "k.cu")[0] == 0
    assert "k.cu:2147483648" in gpuprof(tmp_path, "disasm", "--source", "k.gpubin")[1]
    for page in ("summary", "source", "ptx", "isa", "blame", "stalls", "launches", "samples"):
        for form in ("text", "csv", "json"):
            code, out, error = gpuprof(tmp_path, "report", "k.gprec", "--page", page, "--format", form)
            assert (code, error) == (0, "") and len(out) < 100_000, (page, form)


N_MARKED = 5_000 if os.environ.get("GPUPROF_FUZZ") else 10


@pytest.mark.long
def test_fuzz_line_markers(tmp_path):
    """Markers that lie, in sources and in PTX: refused, or assembled without the text of what they name."""
    outcomes = [*islice(rounds(tmp_path, 5), N_MARKED)]
    assert set(outcomes) == {"assembled", "refused"}


def ptx_naming(*names: str) -> str:
    files = "".join(f'.file {number} "{name}"\n' for number, name in enumerate(names, 1))
    return f".version 8.0\n.target sm_80\n.address_size 64\n{files}"


def test_sources_of_a_ptx_file(tmp_path):
    """Those that lie where its sources evidently lie, and have a source's suffix, are shown. Others are only named."""
    write_files(
        tmp_path,
        {
            "here/a.cu": "beside\n", "here/below/b.cuh": "below\n", "c.cu": SECRET, "here/d.txt": SECRET,
            "here/.netrc": SECRET, "here/e.cu": b"\0\1binary", "lib/f.h": "of -I\n", "here/g.cu/inside": "",
        },
    )  # fmt: skip
    (tmp_path / "here/link.cu").symlink_to(tmp_path / "c.cu")
    (tmp_path / "here/known.cu").symlink_to("a.cu")
    os.mkfifo(tmp_path / "here/fifo.cu")
    (tmp_path / "here/long.cu").touch()
    os.truncate(tmp_path / "here/long.cu", 1 << 30)
    names = (
        "a.cu", f"{tmp_path}/here/a.cu", "below/b.cuh", "../c.cu", f"{tmp_path}/c.cu", "below/../../c.cu", "d.txt",
        ".netrc", "e.cu", "link.cu", "known.cu", "fifo.cu", "long.cu", "g.cu", f"{tmp_path}/lib/f.h", "/etc/passwd",
        "/dev/zero", "x" * 5000 + ".cu", "",
    )  # fmt: skip
    (tmp_path / "here/k.ptx").write_text(ptx_naming(*names))
    shown = {"a.cu": "beside\n", f"{tmp_path}/here/a.cu": "beside\n", "below/b.cuh": "below\n", "known.cu": "beside\n"}
    assert read_ptx(tmp_path / "here/k.ptx").sources == shown
    assert read_ptx("here/k.ptx").sources == shown
    assert read_ptx("here/k.ptx", ["lib"]).sources == shown | {f"{tmp_path}/lib/f.h": "of -I\n"}


NVCC = shutil.which("nvcc") or ("/usr/local/cuda/bin/nvcc" if Path("/usr/local/cuda/bin/nvcc").exists() else None)


@pytest.mark.skipif(NVCC is None, reason="needs nvcc")
def test_line_markers_with_nvcc(tmp_path):
    from gpuprof.compile import compile_nvcc

    (tmp_path / "secret.h").write_text(SECRET)
    (tmp_path / "opened.cuh").write_text("__device__ inline int f(int a) { return a * 3; }\n")
    source = (
        '#include "opened.cuh"\n__global__ void k(int *x)\n{\n    x[2] = f(x[3]);\n'
        f'#line 1 "{tmp_path}/secret.h"\n    x[0] = f(x[9]);\n#line 2147483647\n    x[1] = 3;\n}}\n'
    )
    (tmp_path / "k.cu").write_text(source)
    module = compile_nvcc("k.cu", arch="sm_80", nvcc=NVCC)
    assert SECRET not in str(module.sources) and module.sources["k.cu"] == source
    assert set(module.sources) == {"k.cu", "opened.cuh"}
    assert (tmp_path / "secret.h").name in module.ptx


@pytest.mark.skipif(NVCC is None, reason="needs nvcc")
def test_ptx_of_nvcc_shows_its_source(tmp_path):
    (tmp_path / "k.cu").write_text(KERNEL)
    subprocess.run([NVCC, "-ptx", "-lineinfo", "-arch=sm_80", "k.cu"], cwd=tmp_path, check=True)
    assert read_ptx(tmp_path / "k.ptx").sources == {f"{tmp_path}/k.cu": KERNEL}
