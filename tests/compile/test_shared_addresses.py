"""Addresses that several guarded blocks need: where our front end and nvcc compute them."""

import re
import subprocess

import pytest

from gpuprof.compile import compile_cuda
from gpuprof.compile.passes.addresses import share_addresses
from tests.support.nvidia_tools import NVCC, needs_nvcc

HEAD = ".visible .entry k()\n{\n\t.reg .b64 \t%rd<9>;\n"
SUM_5, SUM_6 = "\tadd.s64 \t%rd5, %rd1, %rd7;\n", "\tadd.s64 \t%rd6, %rd1, %rd7;\n"
STORE_5, STORE_6 = "\tst.global.b32 \t[%rd5], %r2;\n", "\tst.global.b32 \t[%rd6+12], %r2;\n"
SHARED = "\tst.global.b32 \t[%rd5+12], %r2;\n"
GUARD_2, GUARD_4 = "\t@%p1 bra \t$L__BB0_2;\n", "\t@%p2 bra \t$L__BB0_4;\n"
LABEL_2, LABEL_4 = "$L__BB0_2:\n", "$L__BB0_4:\n"
END = "\tret;\n\n}\n"
LOC_3, LOC_4 = "\t.loc\t1 3 5\n", "\t.loc\t1 4 5\n"


def text(*lines: str) -> str:
    return HEAD + "".join(lines) + END


@pytest.mark.parametrize(
    "before, after",
    [
        (
            text(GUARD_2, SUM_5, STORE_5, LABEL_2, GUARD_4, SUM_6, STORE_6, LABEL_4),
            text(SUM_5, GUARD_2, STORE_5, LABEL_2, GUARD_4, SHARED, LABEL_4),
        ),
        # Each line of the source keeps its instructions.
        (
            text(LOC_3, GUARD_2, LOC_4, SUM_5, STORE_5, LABEL_2, GUARD_4, SUM_6, STORE_6, LABEL_4),
            text(LOC_3, LOC_4, SUM_5, LOC_3, GUARD_2, LOC_4, STORE_5, LABEL_2, GUARD_4, SHARED, LABEL_4),
        ),
        # The block that leads to both goes on without a branch.
        (
            text(GUARD_4, LABEL_2, GUARD_2.replace("_2", "_3"), SUM_5, STORE_5, "\tbra.uni \t$L__BB0_4;\n",
                 "$L__BB0_3:\n", SUM_6, STORE_6, LABEL_4),
            text(GUARD_4, LABEL_2, SUM_5, GUARD_2.replace("_2", "_3"), STORE_5, "\tbra.uni \t$L__BB0_4;\n",
                 "$L__BB0_3:\n", SHARED, LABEL_4),
        ),
        # A sum of a sum that is shared is shared, too.
        (
            text(GUARD_2, "\tmul.wide.u32 \t%rd7, %r1, 4;\n", SUM_5, STORE_5, LABEL_2, GUARD_4,
                 "\tmul.wide.u32 \t%rd8, %r1, 4;\n", SUM_6.replace("7", "8"), STORE_6, LABEL_4),
            text("\tmul.wide.u32 \t%rd7, %r1, 4;\n", SUM_5, GUARD_2, STORE_5, LABEL_2, GUARD_4, SHARED, LABEL_4),
        ),
        # The index has 64 bits.
        (
            text(GUARD_2, "\tshl.b64 \t%rd7, %rd2, 2;\n", SUM_5, STORE_5, LABEL_2, GUARD_4,
                 "\tshl.b64 \t%rd8, %rd2, 2;\n", SUM_6.replace("7", "8"), STORE_6, LABEL_4),
            text("\tshl.b64 \t%rd7, %rd2, 2;\n", SUM_5, GUARD_2, STORE_5, LABEL_2, GUARD_4, SHARED, LABEL_4),
        ),
    ],
)  # fmt: skip
def test_equal_sums_are_one(before, after):
    assert share_addresses(before) == after


@pytest.mark.parametrize(
    "ptx",
    [
        text(GUARD_2, SUM_5, STORE_5, LABEL_2),  # one alone
        # a source is written in between
        text("\tmov.b64 \t%rd7, 0;\n", GUARD_2, SUM_5, STORE_5, LABEL_2, "\tmov.b64 \t%rd7, 4;\n", GUARD_4, SUM_6,
             STORE_6, LABEL_4),
        # in a loop, and behind it
        text(LABEL_2, "\t@%p3 bra \t$L__BB0_3;\n", SUM_5, STORE_5, "$L__BB0_3:\n", GUARD_2, GUARD_4, SUM_6, STORE_6,
             LABEL_4),
        # inline assembly may write the source, or jump
        text(GUARD_2, SUM_5, STORE_5, LABEL_2, "\t// begin inline asm\n\tmov.b64 %rd7, 4;\n\t// end inline asm\n",
             GUARD_4, SUM_6, STORE_6, LABEL_4),
        text("\t// begin inline asm\n\tL:\n\t// end inline asm\n", GUARD_2, SUM_5, STORE_5, LABEL_2, GUARD_4, SUM_6,
             STORE_6, LABEL_4),
    ],
)  # fmt: skip
def test_other_sums_stay(ptx):
    assert share_addresses(ptx) == ptx


# Body of a kernel -> its address sums, branches, loads and stores in order, as nvcc 13.0 has them for sm_80.
BODIES = {
    "int i = threadIdx.x + n; if (i < 9) x[i] = 1; if (n > 3) x[i + 3] = 2;": "add bra st bra st",
    "int i = threadIdx.x + n; if (i < 9) x[i] = 1;": "bra add st",
}
SHOWN = re.compile(r"\t(?:@\S+ )?(add\.s64|bra|st\.global)\S* ")


def shown(ptx: str) -> str:
    return " ".join(found.split(".")[0] for found in SHOWN.findall(ptx))


def source(tmp_path, body: str):
    path = tmp_path / "k.cu"
    path.write_text(f"__global__ void k(float *x, int n)\n{{\n{body}\n}}\n")
    return path


@pytest.mark.parametrize("body", BODIES)
def test_where_addresses_stand(tmp_path, body):
    assert shown(compile_cuda(source(tmp_path, body)).ptx) == BODIES[body]


@needs_nvcc
@pytest.mark.parametrize("body", BODIES)
def test_nvcc_has_them_there(tmp_path, body):
    source(tmp_path, body)
    subprocess.run([NVCC, "-arch=sm_80", "-ptx", "k.cu", "-o", "k.ptx"], check=True, cwd=tmp_path)
    assert shown((tmp_path / "k.ptx").read_text()) == BODIES[body]
