"""`.param` variables that several calls share: arguments are passed by value, at the call."""

import os
import re
import subprocess

import numpy as np
import pytest

from gpuprof.isa.encoding import decode
from tests.ptxas import sass_machine
from tests.ptxas.sass_slots import find_nvdisasm
from tests.support.call_sequences import N_LANES, ptx_of, sequence, sum_of
from tests.support.matrices import long_from
from tests.support.nvidia_tools import PTXAS, needs_ptxas
from tests.support.ptx_support import assemble_text, preamble, ptxas, run_kernel

N_SEQUENCES = 2000 if os.environ.get("GPUPROF_FUZZ") else 12


def stored(text: str) -> list[int]:
    (found,) = run_kernel(assemble_text(text), "k", [np.zeros(N_LANES, np.uint32)])
    return np.frombuffer(found, np.uint32).tolist()


def words(name: str, *pairs: tuple[int, int]) -> list:
    return [("store", name, word, factor, addend) for word, (factor, addend) in enumerate(pairs)]


A = words("a0", (1, 10), (2, 20), (3, 30), (4, 40))
B = words("a1", (5, 50), (6, 60), (7, 70), (8, 80))
SCALAR, ARRAY = [("load", "s0", 0)], [("load", "a0", word) for word in range(4)]
DECLARED = ("s0", "a0", "a1")
# Operations, and what lanes 0 and 1 compute. The values of all but the first are what ptxas 13.0's machine code
# stores; what it does with the first is below.
CASES = {
    "one variable, two arguments": ([*A, ("call", ("s0",), "g", ("a0", "a0"), False), *SCALAR], [720, 792]),
    "swapped": (
        [
            *A, *B, ("call", ("s0",), "g", ("a0", "a1"), False), *SCALAR,
            *A, *B, ("call", ("s0",), "g", ("a1", "a0"), False), *SCALAR,
        ],
        [43200, 47520],
    ),
    "result and argument": ([*A, *B, ("call", ("a0",), "m", ("a1", "a0"), False), *ARRAY], [5870506, 6457454]),
}  # fmt: skip


def case(name: str) -> list:
    return [("block", DECLARED, CASES[name][0])]


@pytest.mark.parametrize("name", long_from(1, CASES))
def test_shared_variables(name):
    found = stored(ptx_of(case(name)))
    assert found[:2] == CASES[name][1]
    assert found == [sum_of(case(name), lane) for lane in range(N_LANES)]


@needs_ptxas
@pytest.mark.skipif(find_nvdisasm() is None, reason="nvdisasm is not installed: ptxas' code cannot be read")
@pytest.mark.parametrize("name", list(CASES)[1:])
def test_machine_code_of_ptxas_stores_the_same(tmp_path, name):
    ptxas(tmp_path, ptx_of(case(name)), "sm_80", "-O1")
    kernel = sass_machine.disassemble(find_nvdisasm(), tmp_path / "k.cubin")["k"]
    memory, base = np.zeros(4 * N_LANES, np.uint8), 0x10000
    launch = sass_machine.Grid((1, 1, 1), (N_LANES, 1, 1), base.to_bytes(8, "little"), 0, 8192, memory, base, {})
    sass_machine.run(kernel, launch)
    assert memory.view(np.uint32)[:2].tolist() == CASES[name][1]


EXTERNAL = """\
.extern .func (.param .b32 q) g (.param .align 8 .b8 x[8], .param .align 8 .b8 y[8]);
.visible .entry k(.param .u64 out)
{ .param .b32 q; .param .align 8 .b8 a[8]; st.param.b64 [a], 17; call (q), g, (a, a); ret; }
"""


@needs_ptxas
@pytest.mark.skipif(find_nvdisasm() is None, reason="nvdisasm is not installed: ptxas' code cannot be read")
def test_ptxas_passes_one_variable_as_both_arguments(tmp_path):
    """In R4, R5 and in R6, R7. (Its inliner forgets the second.)"""
    path = tmp_path / "k.ptx"
    path.write_text(preamble("sm_80") + EXTERNAL)
    subprocess.run([PTXAS, "-arch=sm_80", "-O0", "-c", path, "-o", tmp_path / "k.o"], check=True, capture_output=True)
    code = subprocess.run([find_nvdisasm(), "-c", tmp_path / "k.o"], check=True, capture_output=True, text=True).stdout
    before = code[code.index(".text.k:") : code.index("CALL.")]
    given = re.findall(r"MOV (R[4-7]), (0x11|RZ)", before)
    assert given == [("R4", "0x11"), ("R5", "RZ"), ("R6", "0x11"), ("R7", "RZ")]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_fuzz_sequences_of_calls(seed):
    for number in range(N_SEQUENCES // 2):
        operations = sequence(seed * 1_000_000 + number)
        text = ptx_of(operations)
        assert stored(text) == [sum_of(operations, lane) for lane in range(N_LANES)], text


STRUCTS = """\
.func g(.param .align 8 .b8 x[8], .param .align 8 .b8 y[8]) { ret; }
.visible .entry k()
{ .param .align 8 .b8 a[8]; .param .align 8 .b8 b[8]; st.param.b64 [a], 17; st.param.b64 [b], 18; call g, ARGUMENTS;
ret; }
"""


@pytest.mark.parametrize(("arguments", "stores"), [("(a, b)", 2), ("(a, a)", 4)])
def test_a_struct_of_one_call_is_stored_where_the_callee_reads_it(arguments, stores):
    """And not copied: this is what compilers write for every call with a struct."""
    program = assemble_text(preamble("sm_80") + STRUCTS.replace("ARGUMENTS", arguments))
    kernel = program.functions[-1]
    code = map(decode, program.code[kernel.first : kernel.first + kernel.count])
    assert sum(inst.op.name == "STL.64" for inst in code) == stores


RESULT = """\
.func (.param .b32 r) f(.param .b32 x) { .reg .b32 t; ld.param.b32 t, [x]; add.u32 t, t, 5; st.param.b32 [r], t; ret; }
.func (.reg .b32 r) g(.reg .b32 x) { CALL ret; }
.visible .entry k(.param .u64 out)
{ .reg .b32 %lane, %v; .reg .b64 %out; mov.u32 %lane, %tid.x; call (%v), g, (%lane);
ld.param.u64 %out, [out]; mad.wide.u32 %out, %lane, 4, %out; st.global.u32 [%out], %v; ret; }
"""


@pytest.mark.parametrize(
    ("call", "added"),
    [
        ("call (r), f, (x);", 5),
        ("mov.b32 r, x; call (r), f, (r);", 5),
        ("mov.b32 r, x; call (x), f, (r); add.u32 r, r, x;", None),
        ("call (x), f, (x); call (r), f, (x);", 10),
        ("mov.b32 r, x; call (_), f, (r);", 0),
    ],
)
def test_own_register_results_are_arguments_and_results_of_calls(call, added):
    found = stored(preamble("sm_80") + RESULT.replace("CALL", call))
    assert found == [2 * lane + 5 if added is None else lane + added for lane in range(N_LANES)]


LOOP = """\
.func (.param .b64 r) f(.param .b64 x)
{ .reg .b64 t; ld.param.b64 t, [x]; mul.lo.u64 t, t, 3; st.param.b64 [r], t; ret; }
.visible .entry k(.param .u64 out)
{ .reg .b32 %lane, %n; .reg .b64 %x, %out; .reg .pred %p; .param .b64 x; .param .b64 first; .param .b64 last;
mov.u32 %lane, %tid.x; cvt.u64.u32 %x, %lane; st.param.b64 [x], %x; mov.u32 %n, 0;
again: call (first), f, (x); call (x), f, (x); call (_), f, (x);
add.u32 %n, %n, 1; setp.lt.u32 %p, %n, 2; @%p bra again;
ld.param.b64 %x, [first]; cvt.u32.u64 %n, %x;
ld.param.u64 %out, [out]; mad.wide.u32 %out, %lane, 4, %out; st.global.u32 [%out], %n; ret; }
"""


def test_a_result_is_fetched_before_the_next_call():
    """It is needed behind the loop only, and was moved there, past another call that leaves its result in the same
    register.
    """
    assert stored(preamble("sm_80") + LOOP) == [9 * lane for lane in range(N_LANES)]
