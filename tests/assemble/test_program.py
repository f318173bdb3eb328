"""Whole kernels: the code that comes out, registers beside ptxas's, allocation checked by another method, spilling,
determinism.
"""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from gpuprof.assemble import assemble as assembler
from gpuprof.compile.cuda import compile_cuda
from gpuprof.errors import PtxError
from gpuprof.isa.encoding import decode
from gpuprof.isa.gpubin.reader import read_gpubin
from gpuprof.isa.program import Location, Param
from gpuprof.run.compile_file import build_ptx
from tests.paths import ROOT
from tests.references import allocation_check
from tests.support.gpubin_programs import assert_equal
from tests.support.nvidia_tools import needs_nvcc, needs_ptxas
from tests.support.ptx_support import PREAMBLE, assemble_text, ptx_module, ptxas_registers

SAMPLES = sorted((ROOT / "samples").glob("*.cu"))

SAXPY = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry saxpy(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y)
{
    .reg .pred %p<2>; .reg .f32 %f<5>; .reg .b32 %r<6>; .reg .b64 %rd<8>;
    .loc 1 4 1
    ld.param.u32 %r2, [n];
    ld.param.f32 %f1, [a];
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.s32 %r1, %r3, %r4, %r5;
    setp.ge.s32 %p1, %r1, %r2;
    @%p1 bra $L__BB0_2;
    .loc 1 5 2
    cvta.to.global.u64 %rd3, %rd2;
    cvta.to.global.u64 %rd4, %rd1;
    mul.wide.s32 %rd5, %r1, 4;
    add.s64 %rd6, %rd4, %rd5;
    ld.global.f32 %f2, [%rd6];
    add.s64 %rd7, %rd3, %rd5;
    ld.global.f32 %f3, [%rd7];
    fma.rn.f32 %f4, %f2, %f1, %f3;
    st.global.f32 [%rd7], %f4;
$L__BB0_2:
    ret;
}
.file 1 "saxpy.cu"
"""


def opcodes(program) -> list[str]:
    return [decode(row).op.name for row in program.code]


def test_saxpy_is_what_ptxas_makes_of_it():
    """The same fifteen instructions as ptxas 13.0 -arch=sm_80."""
    program = assemble_text(SAXPY)
    assert opcodes(program) == [
        "S2R", "S2R", "LOAD.SP", "IMAD", "ISETP.S32", "EXIT", "MOV", "LOAD.DESC", "IMAD.WIDE.S32", "IMAD.WIDE.S32",
        "LDG.32", "LDG.32",
        "FFMA", "STG.32", "EXIT",
    ]  # fmt: skip
    assert program.ptx_lines.tolist() == [12, 14, 12, 15, 16, 17, 22, 22, 22, 24, 23, 25, 26, 27, 29]
    at_4, at_5 = Location("saxpy.cu", 4, 1, "saxpy"), Location("saxpy.cu", 5, 2, "saxpy")
    assert list(program.locations) == [at_4] * 6 + [at_5] * 9
    function = program.functions[0]
    assert function.params == (
        Param("n", "u32", 0, 4, 4, is_written=False),
        Param("a", "f32", 4, 4, 4, is_written=False),
        Param("x", "u64", 8, 8, 8, True, "", True, False),
        Param("y", "u64", 16, 8, 8, True, "", True, True),
    )
    assert (function.registers, function.r_count, function.d_count, function.p_count) == (10, 8, 3, 1)


def test_parameter_types_from_the_compiler_win():
    module = replace(
        ptx_module(SAXPY), param_types={"saxpy": ("long", "float", "unsigned char *", "const double *__restrict__")}
    )
    params = assembler.assemble_program(module).functions[0].params
    assert [(p.is_pointer, p.element) for p in params] == [(False, ""), (False, ""), (True, "u8"), (True, "f64")]


@pytest.mark.parametrize("cpp_type, expected", [("__half", "f16"), ("const __nv_bfloat16", "bf16"), ("Pair", "b8")])
def test_half_by_value_is_a_number_not_a_structure(cpp_type, expected):
    text = SAXPY.replace(".param .u32 n", ".param .align 2 .b8 n[2]").replace("ld.param.u32 %r2, [n]", "mov.u32 %r2, 1")
    module = replace(ptx_module(text), param_types={"saxpy": (cpp_type, "float", "float *", "float *")})
    assert assembler.assemble_program(module).functions[0].params[0].type == expected


@pytest.mark.parametrize(
    "load, types, element",
    [
        ("ld.global.f32", (), ""),  # or an int taken as one
        ("ld.global.f32", ("int", "float", "const int *", "float *"), "s32"),
        # what a structure begins with is not what it is
        ("ld.global.f32", ("int", "float", "const P *", "float *"), ""),
    ],
)
def test_the_element_of_a_pointer_is_known_or_left_open(load, types, element):
    module = replace(ptx_module(SAXPY.replace("ld.global.f32", load)), param_types={"saxpy": types})
    assert assembler.assemble_program(module).functions[0].params[2].element == element


@pytest.fixture(scope="module")
def checked():
    """assemble_program whose every allocation is verified."""
    wrong = []
    original = assembler.fit

    def fit_and_check(body, limit, is_wanted):
        allocation = original(body, limit, is_wanted)
        wrong.extend(f"{body.name}: {text}" for text in allocation_check.check(body, allocation))
        return allocation

    def run(module, **options):
        wrong.clear()
        program = assembler.assemble_program(module, **options)
        assert wrong == []
        return program

    assembler.fit = fit_and_check
    yield run
    assembler.fit = original


@pytest.fixture(scope="module")
def sample_modules():
    return {path.stem: compile_cuda(path) for path in SAMPLES}


@pytest.mark.long
def test_allocation_of_the_samples(checked, sample_modules):
    for module in sample_modules.values():
        program = checked(module)
        for limit in (32, 24, 16):
            limited = checked(module, max_registers=limit)
            for function, free in zip(limited.functions, program.functions, strict=True):
                assert function.registers <= max(limit, 0) or function.registers <= free.registers
                assert function.registers <= limit


@pytest.mark.long
@needs_ptxas
def test_registers_are_near_those_of_ptxas(sample_modules, tmp_path):
    """ptxas keeps a few registers for itself (stack pointer, alignment to its banks); the sum over all samples must be
    close.
    """
    ours, theirs = 0, 0
    for module in sample_modules.values():
        wanted = ptxas_registers(tmp_path, module.ptx)
        for function in assembler.assemble_program(module).functions:
            if function.is_kernel:
                assert function.registers <= 1.2 * wanted[function.name] + 4, function.name
                ours, theirs = ours + function.registers, theirs + wanted[function.name]
    assert 0.75 * theirs <= ours <= 1.15 * theirs


def test_a_limit_that_cannot_be_met_is_an_error():
    with pytest.raises(PtxError, match=r"function saxpy does not fit into 3 registers; raise --max-registers"):
        assemble_text(SAXPY, max_registers=3)


LAUNCH_BOUNDS = PREAMBLE + ".visible .entry k()\n.reqntid 32, 4\n.minnctapersm 3\n{ bar.sync 2; ret; }\n"


def test_launch_bounds_and_barriers():
    function = assemble_text(LAUNCH_BOUNDS).functions[0]
    assert (function.max_threads, function.required_threads, function.min_blocks, function.barriers) == (
        128,
        (32, 4, 1),
        3,
        3,
    )


@pytest.mark.parametrize("extents, threads", [("1024", 1024), ("2097152, 2097152, 2097152", (1 << 63) - 1)])
def test_more_threads_than_any_block_has(extents, threads):
    program, image = build_ptx(ptx_module(f"{PREAMBLE}.visible .entry k() .maxntid {extents} {{ ret; }}"))
    assert program.functions[0].max_threads == threads
    assert_equal(read_gpubin(image, "k.gpubin"), program)


def test_the_code_that_takes_a_functions_arguments_has_its_first_line():
    text = PREAMBLE + (
        '.file 1 "f.cu"\n.func (.param .b32 result) f(.param .b32 n)\n{ .reg .b32 %r<4>; .reg .pred %p;\n.loc 1 7 '
        "1\nld.param.b32 %r1, [n];\n"
        "setp.eq.u32 %p, %r1, 0;\n@%p bra END;\n.loc 1 8 2\nadd.u32 %r2, %r1, -1;\n"
        "{ .param .b32 a; .param .b32 v; st.param.b32 [a], %r2; call (v), f, (a); ld.param.b32 %r3, [v]; }\n"
        "add.u32 %r1, %r1, %r3;\nEND: st.param.b32 [result], %r1; ret; }\n"
    )
    assert {location.line for location in assemble_text(text).locations} == {7, 8}


TIMED = (
    PREAMBLE
    + """\
.visible .entry k(.param .u64 out)
{ .reg .b32 %r<4>; .reg .f32 %f<3>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f1, %r1;
  mov.u32 %r2, %clock; fma.rn.f32 %f2, %f1, %f1, %f1; mov.u32 %r3, %clock;
  sub.u32 %r3, %r3, %r2; st.global.f32 [%rd1], %f2; st.global.u32 [%rd1+4], %r3; ret; }
"""
)


def test_what_stands_between_two_clocks_stays_there():
    names = [decode(row).op.name for row in assemble_text(TIMED).code]
    first = names.index("FFMA")
    assert names[first - 1 : first + 2] == ["S2R", "FFMA", "S2R"]


SHARED = (
    PREAMBLE
    + """\
.shared .align 4 .b8 both[12];
.extern .shared .align 16 .b8 dynamic[];
.func helper() { .reg .b32 %r; mov.u32 %r, both; st.shared.u32 [%r], %r; ret; }
.visible .entry one() { .shared .align 8 .b8 own[8]; .reg .b32 %r<3>; mov.u32 %r1, own; mov.u32 %r2, dynamic; st.shared.u32 [%r1+4], %r2; call helper; ret; }
.visible .entry two() { .shared .align 8 .b8 own[8]; .reg .b32 %r<3>; mov.u32 %r1, own; st.shared.u32 [%r1+4], %r1; ret; }
"""  # noqa: E501
)


def test_shared_memory_is_laid_out_per_kernel():
    """`both` is first wherever the helper can run, `own` behind it; dynamic memory starts behind that, aligned."""
    program = assemble_text(SHARED)
    assert [(f.name, f.shared_nbytes) for f in program.functions] == [("helper", 12), ("one", 32), ("two", 8)]
    stores = [(decode(row).imm, row["b"]) for row in program.code if decode(row).op.name == "STS.32"]
    assert [imm for imm, _ in stores] == [0, 20, 4]


def test_variables_and_relocations():
    text = PREAMBLE + (
        ".global .align 4 .f32 table[3] = {0f3F800000, 0f40000000};\n.global .u8 flag = 7;\n.const .align 8 .u16 "
        "small[2] = {1, 65535};\n"
        ".visible .entry k() { .reg .b64 %rd; .reg .b32 %r; mov.u64 %rd, table+8; ld.global.u32 %r, [%rd]; "
        "st.global.u8 [flag], %r; ret; }\n"
    )
    program = assemble_text(text)
    assert [(v.name, v.space, v.offset, v.nbytes, v.align, v.image.hex()) for v in program.variables] == [
        ("table", "global", 0, 12, 4, "0000803f0000004000000000"),
        ("flag", "global", 12, 1, 1, "07"),
        ("small", "const", 0, 4, 8, "0100ffff"),
    ]
    assert [(decode(program.code[r.index]).op.name, r.symbol, r.kind, r.addend) for r in program.relocations] == [
        ("MOVI.64", "table", "abs64", 8),
        ("MOVI.64", "flag", "abs64", 0),
    ]


DETERMINISM = """\
import hashlib, sys
from pathlib import Path
from gpuprof.assemble.assemble import assemble_program
from gpuprof.compile.ptxfile import read_ptx
program = assemble_program(read_ptx(Path(sys.argv[1])), max_registers=20)
print(hashlib.sha256(program.code.tobytes() + repr((program.functions, program.locations)).encode()).hexdigest())
"""


@pytest.mark.long
def test_the_same_bytes_with_any_hash_seed(sample_modules, tmp_path):
    path = tmp_path / "matmul.ptx"
    path.write_text(sample_modules["matmul"].ptx)
    digests = {
        subprocess.run(
            [sys.executable, "-c", DETERMINISM, str(path)],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(digests) == 1


@pytest.mark.long
@needs_nvcc
def test_what_nvcc_writes_for_the_samples(checked, tmp_path):
    for path in SAMPLES:
        out = tmp_path / f"{path.stem}.ptx"
        subprocess.run(
            ["nvcc", "-ptx", "-lineinfo", "-arch=sm_80", str(path), "-o", str(out)], check=True, capture_output=True
        )
        program = checked(ptx_module(out.read_text(), name=out.name))
        assert np.count_nonzero(program.ptx_lines) == len(program.code)
