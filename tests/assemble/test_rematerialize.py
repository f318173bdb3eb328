"""Values that are computed again where they are read: at which limits, what becomes of the code, and that it computes
the same.
"""

import numpy as np
import pytest

from gpuprof.isa.opcodes import TABLE
from tests.support.ptx_support import PREAMBLE, assemble_text, run_kernel

N_VALUES = 24


def invariants(definition: str, *, late: str = "", pragma: str = '.pragma "nounroll";') -> str:
    """A loop that reads each of some words once a turn, each made in front of it: by `definition`, of the number I and
    %m, which is the parameter and the lane. `late`: a change of %m in the loop.
    """
    lines = ["ld.param.u64 %out, [out]; ld.param.u32 %n, [n]; mov.u32 %t, %tid.x; add.u32 %m, %n, %t;"]
    lines += ["mov.u32 %sum, 0; mov.u32 %turn, 0;"]
    lines += [definition.replace("%v", f"%v{number}").replace("I", str(7 * number + 3)) for number in range(N_VALUES)]
    lines += [f"LOOP: {pragma}"]
    lines += [f"xor.b32 %sum, %sum, %v{number}; mul.lo.u32 %sum, %sum, 5;" for number in range(N_VALUES)]
    lines += [late, "add.u32 %turn, %turn, 1; setp.lt.u32 %p, %turn, 9; @%p bra LOOP;"]
    lines += ["add.u32 %sum, %sum, %m; mul.wide.u32 %at, %t, 4; add.u64 %out, %out, %at; st.global.u32 [%out], %sum;"]
    body = "\n".join(lines)
    names = f".reg .u32 %n, %m, %t, %sum, %turn; .reg .u32 %v<{N_VALUES}>; .reg .u64 %out, %at; .reg .pred %p;"
    return f"{PREAMBLE}.visible .entry k(.param .u64 out, .param .u32 n)\n{{ {names}\n{body}\nret; }}\n"


def expected(values, n: int, threads: int, late: int = 0) -> np.ndarray:
    """`values(n, I)`: what the definitions compute. Shape (threads,), dtype uint32."""
    n = np.arange(threads, dtype=np.uint32) + np.uint32(n)
    made = [values(n, np.uint32(7 * number + 3)) for number in range(N_VALUES)]
    total = np.zeros_like(n)
    for _ in range(9):
        for value in made:
            total = (total ^ value) * np.uint32(5)
        n = n + np.uint32(late)
    return total + n


SUMS = "add.u32 %v, %m, I;"
PRODUCTS = "mad.lo.u32 %v, %m, I, 12;"
CHAINS = "mul.lo.u32 %v, %m, I; shl.b32 %v, %v, 1;"
LOADED = "add.u32 %v, %m, I; ld.shared.u32 %v, [%v];"


def code(text: str, limit: int) -> tuple[int, int, list[str]]:
    """Registers, bytes that are spilled and the instructions of the kernel `k`, by name."""
    program = assemble_text(text, max_registers=limit)
    function = program.functions[0]
    rows = program.code["opcode"][function.first : function.first + function.count]
    return function.registers, function.spill_nbytes, [TABLE[row].name for row in rows]


@pytest.mark.parametrize(("definition", "op"), [(SUMS, "IADD"), (PRODUCTS, "IMAD")])
def test_cheap_values_are_computed_again_and_not_spilled(definition, op):
    _, spilled, freely = code(invariants(definition), 64)
    registers, spilled_too, within = code(invariants(definition), 24)
    assert (spilled, spilled_too) == (0, 0)
    assert registers <= 24
    # What moved into the loop is no longer in front of it.
    assert within.count(op) == freely.count(op)


def test_a_loop_that_is_written_out_has_them_again_in_each_turn():
    _, spilled, freely = code(invariants(SUMS, pragma=""), 64)
    _, spilled_too, within = code(invariants(SUMS, pragma=""), 24)
    assert (spilled, spilled_too) == (0, 0)
    assert within.count("IADD") > freely.count("IADD") + N_VALUES


def test_loads_are_not_done_again():
    _, spilled, _ = code(invariants(LOADED), 24)
    assert spilled > 0


@pytest.mark.parametrize("pragma", ["", '.pragma "nounroll";'], ids=["written out", "a loop"])
@pytest.mark.parametrize("limit", [None, 32, 24, 18, 16])
@pytest.mark.parametrize(
    ("definition", "late", "values", "step"),
    [
        (SUMS, "", lambda n, i: n + i, 0),
        (PRODUCTS, "", lambda n, i: n * i + np.uint32(12), 0),
        (CHAINS, "", lambda n, i: n * i * np.uint32(2), 0),
        (SUMS, "add.u32 %m, %m, 11;", lambda n, i: n + i, 11),  # what they were made of is another value by then
    ],
    ids=["sums", "products", "chains", "changed"],
)
def test_the_same_is_computed(definition, late, values, step, limit, pragma):
    program = assemble_text(invariants(definition, late=late, pragma=pragma), max_registers=limit)
    out = run_kernel(program, "k", [np.zeros(96, np.uint32), 1000], block=96)[0]
    np.testing.assert_array_equal(np.frombuffer(out, np.uint32), expected(values, 1000, 96, step))
