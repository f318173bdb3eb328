"""`gpuprof compile` and `gpuprof disasm`, as a user runs them: what is printed, what is written, exit codes."""

import io
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from gpuprof.assemble.object.elf import write_gpubin
from gpuprof.cli.main import main
from gpuprof.isa.gpubin.reader import read_gpubin
from gpuprof.isa.program import Location
from tests.support.gpubin_programs import small_program

KERNEL = """\
#include "scale.h"

template <int N>
__global__ void scale(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = times<N>(x[i]);
}
"""
HEADER = "template <int N>\n__device__ inline float times(float v) { return v * N * FACTOR; }\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "scale.h").write_text(HEADER)
    (tmp_path / "scale.cu").write_text(KERNEL)
    (tmp_path / "small.gpubin").write_bytes(write_gpubin(small_program()))
    return tmp_path


def run(monkeypatch, capsys, *arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout, stderr."""
    monkeypatch.setattr(sys, "argv", ["gpuprof", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    out, err = capsys.readouterr()
    return end.value.code, out, err


COMPILE = ("compile", "scale.cu", "-I", "include", "-D", "FACTOR=3.0f", "--kernel", "scale<4>")


def test_compile_a_template(folder, monkeypatch, capsys):
    code, out, err = run(monkeypatch, capsys, *COMPILE)
    assert (code, err) == (0, "")
    data = Path("scale.gpubin").read_bytes()
    program = read_gpubin(data, "scale.gpubin")
    (kernel,) = program.functions
    assert out == (
        f"scale<4>: {kernel.registers} registers, 0 bytes local (0 spilled), 0 bytes shared, "
        f"{kernel.count} instructions -> scale.gpubin\n"
    )
    code, out, err = run(monkeypatch, capsys, *COMPILE, "--format", "json")
    assert (code, err) == (0, "")
    assert json.loads(out) == {
        "output": "scale.gpubin",
        "arch": program.arch,
        "compiler": program.compiler,
        "kernels": [
            {
                "name": "scale<4>",
                "symbol": kernel.name,
                "registers": kernel.registers,
                "local_nbytes": 0,
                "spill_nbytes": 0,
                "shared_nbytes": 0,
                "instructions": kernel.count,
            }
        ],
    }
    assert [(p.type, p.offset, p.nbytes) for p in kernel.params] == [("u64", 0, 8), ("u32", 8, 4)]
    assert program.sources["scale.cu"] == KERNEL
    assert sorted(p.name for p in folder.iterdir()) == ["include", "scale.cu", "scale.gpubin", "small.gpubin"]


def test_inlined_code_reaches_dwarf_and_the_listing(folder, monkeypatch, capsys):
    assert run(monkeypatch, capsys, *COMPILE)[0] == 0
    dwarf = ELFFile(io.BytesIO(Path("scale.gpubin").read_bytes())).get_dwarf_info()
    dies = [die for die in next(dwarf.iter_CUs()).iter_DIEs() if die.tag == "DW_TAG_inlined_subroutine"]
    assert [die.attributes["DW_AT_call_line"].value for die in dies] == [6]
    _, out, _ = run(monkeypatch, capsys, "disasm", "scale.gpubin", "--source")
    lines = out.splitlines()
    inlined = next(i for i, line in enumerate(lines) if "scale.h:2" in line)
    assert lines[inlined].endswith(": __device__ inline float times(float v) { return v * N * FACTOR; }")
    assert lines[inlined + 1] == "// inlined at scale.cu:6: if (i < n) x[i] = times<N>(x[i]);"
    assert any("FMUL" in line for line in lines[inlined:])


def test_the_listing_knows_which_immediates_are_numbers(folder, monkeypatch, capsys):
    Path("mixed.cu").write_text("__global__ void mixed(float *x) { __nanosleep(100); x[0] *= 1.5f; }\n")
    assert run(monkeypatch, capsys, "compile", "mixed.cu")[0] == 0
    _, out, _ = run(monkeypatch, capsys, "disasm", "mixed.gpubin")
    found = [line.split(None, 1)[1] for line in out.splitlines() if "NANOSLEEP" in line or "FMUL" in line]
    assert found == ["NANOSLEEP 0x64", "FMUL R5, R0, 0x3fc00000  // 1.5"]


def test_two_compilations_are_the_same(folder, monkeypatch, capsys):
    assert run(monkeypatch, capsys, *COMPILE, "-o", "a.gpubin")[0] == 0
    assert run(monkeypatch, capsys, *COMPILE, "-o", "b.gpubin")[0] == 0
    assert Path("a.gpubin").read_bytes() == Path("b.gpubin").read_bytes()


def test_ptx_out_and_in_again(folder, monkeypatch, capsys):
    code, out, _ = run(monkeypatch, capsys, *COMPILE, "--emit", "ptx", "--chip", "h200")
    assert (code, out) == (0, "scale.ptx: PTX for sm_90\n")
    assert ".target sm_90" in Path("scale.ptx").read_text()
    code, out, _ = run(monkeypatch, capsys, "compile", "scale.ptx", "-o", "again.gpubin")
    assert code == 0
    assert out.endswith(" -> again.gpubin\n")


@pytest.mark.parametrize(
    "arguments, exit_code, message",
    [
        (["compile", "none.cu"], 2, "gpuprof: none.cu: there is no such file\n"),
        (["compile", "include"], 2, "gpuprof: include: is a folder\n"),
        (["compile", "small.gpubin"], 2, "gpuprof: small.gpubin: expected a .cu, .cuh or .ptx file\n"),
        (["compile", "bad.ptx", "--emit", "ptx"], 2, "gpuprof: bad.ptx: is read by this command; give another name\n"),
        (["compile", "bad.ptx"], 1, "gpuprof: bad.ptx: no `.target` directive: this is not a PTX file\n"),
        (["compile", "bad.ptx", "-o", "x", "--kernel", "f<1>", "-D", "A"], 2,
         "gpuprof: bad.ptx: a .ptx file is already compiled; leave out --kernel, -D\n"),
        (["compile", "scale.cu", "--emit", "ptx", "--max-registers", "32"], 2,
         "gpuprof: --emit ptx: registers are allocated after PTX; leave out --max-registers\n"),
        (["disasm", "none.gpubin"], 2, "gpuprof: none.gpubin: there is no such file\n"),
        (["disasm", "small.gpubin", "--kernel", "("], 2,
         "gpuprof: --kernel '(' is not a regular expression: missing ), unterminated subpattern at position 0\n"),
        (["disasm", "small.gpubin", "--kernel", "xyz"], 2, "gpuprof: --kernel 'xyz': no function matches; there are: "
            "scan<256>, twice\n"),
        (["disasm", "scale.cu"], 1,
         "gpuprof: scale.cu: not a gpubin: it starts with b'#inc', not with a 64-bit ELF header; `gpuprof compile` "
             "makes gpubin files\n"),
    ],
)  # fmt: skip
def test_wrong_use(folder, monkeypatch, capsys, arguments, exit_code, message):
    (folder / "bad.ptx").write_text("hello")
    before = sorted(folder.iterdir())
    assert run(monkeypatch, capsys, *arguments) == (exit_code, "", message)
    assert sorted(folder.iterdir()) == before


def test_a_compile_error_leaves_no_file(folder, monkeypatch, capsys):
    (folder / "wrong.cu").write_text("__global__ void k() { undefined_name = 1; }\n")
    code, out, err = run(monkeypatch, capsys, "compile", "wrong.cu")
    assert (code, out) == (1, "")
    assert "wrong.cu:1:23: error: use of undeclared identifier 'undefined_name'" in err
    assert not Path("wrong.gpubin").exists()


def test_disasm(folder, monkeypatch, capsys):
    assert run(monkeypatch, capsys, "disasm", "small.gpubin") == (0, DISASM, "")


DISASM = """\
dir/a b.cu: sm_90, compiled by clang 22

kernel scan<256>(f32* out, s32 n)
  symbol _Z4scanILi256EEvPfi
  6 registers, 1 predicates
  1024 bytes shared, 16 bytes local, 8 bytes spilled, 1 barriers, 7 instructions
  launch bounds: exactly 16 x 16 x 1 threads, at most 256 threads, at least 2 blocks per multiprocessor
  0x0000  S2R R0, tid.x
  0x0010  MOVI.64 D1, 0x0  // table+0x4
  0x0020  ISETP.U32.GE.AND P0, PT, R0, c[0x10], PT
  0x0030  @P0 BRA L0
  0x0040  CALL twice, frame=0x10
  0x0050  STG.32 [D1], R0
L0:
  0x0060  EXIT

function twice()
  0 registers, 0 predicates
  0 bytes shared, 0 bytes local, 0 bytes spilled, 0 barriers, 2 instructions
  0x0070  FMUL.FTZ R0, R0, -0x3fc00000  // 1.5
  0x0080  RET  // elsewhere-0x8
"""


def test_disasm_with_source_and_ptx(folder, monkeypatch, capsys):
    source = "\n" * 9 + "  if (i >= n)\n\treturn help(\x1b[31mi);\n"
    program = replace(small_program(), sources={"dir/a b.cu": source}, ptx="// 1\n mov.u32 %r1, %tid.x;\n")
    Path("small.gpubin").write_bytes(write_gpubin(program))
    code, out, _ = run(monkeypatch, capsys, "disasm", "small.gpubin", "--source", "--ptx", "--kernel", "^scan")
    assert (code, out.partition("multiprocessor\n")[2]) == (0, DISASM_SOURCE)


DISASM_SOURCE = """\
// dir/a b.cu:10: if (i >= n)
  // PTX 2: mov.u32 %r1, %tid.x;
  0x0000  S2R R0, tid.x
// helper.h:3 in help
// inlined at dir/a b.cu:11: return help(\\x1b[31mi);
  0x0010  MOVI.64 D1, 0x0  // table+0x4
// helper.h:90 in deeper
// inlined at helper.h:3 in help
// inlined at dir/a b.cu:11: return help(\\x1b[31mi);
  // PTX 3:
  0x0020  ISETP.U32.GE.AND P0, PT, R0, c[0x10], PT
  // PTX 4:
  0x0030  @P0 BRA L0
// helper.h:3 in help
// inlined at dir/a b.cu:11: return help(\\x1b[31mi);
  // PTX 5:
  0x0040  CALL twice, frame=0x10
// dir/a b.cu:10: if (i >= n)
  // PTX 6:
  0x0050  STG.32 [D1], R0
L0:
  // PTX 7:
  0x0060  EXIT
"""


def test_names_cannot_carry_escapes(folder, monkeypatch, capsys):
    program = small_program()
    evil = "k\x1b]0;owned\x07\u202e\n"
    functions = (replace(program.functions[0], name=evil, display=evil), *program.functions[1:])
    places = (Location(evil, 1, 1, evil),) * len(program.code)
    hostile = replace(
        program, name=evil, compiler=evil, functions=functions, locations=places, sources={evil: evil}, ptx=evil * 5
    )
    Path("evil.gpubin").write_bytes(write_gpubin(hostile))
    code, out, _ = run(monkeypatch, capsys, "disasm", "evil.gpubin", "--source", "--ptx")
    assert code == 0
    assert set(out) & set("\x1b\x07\u202e") == set()
    assert "kernel k\\x1b]0;owned\\x07\\u202e\\x0a(f32* out, s32 n)\n" in out
