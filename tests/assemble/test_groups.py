"""Groups of registers that several matrix instructions read: made once, and still right when registers are few."""

import numpy as np
import pytest

from gpuprof.isa.encoding import decode
from tests.support.ptx_support import assemble_text, preamble, run_kernel

TILES = 6


def text() -> str:
    """One fragment of A meets TILES fragments of B; everything is live at once."""
    b = [f"%b{i}" for i in range(2 * TILES)]
    d = [f"%d{i}" for i in range(4 * TILES)]
    lines = [f"ld.global.b32 {name}, [%x1+{128 * i}];" for i, name in enumerate(["%a0", "%a1", "%a2", "%a3", *b])]
    lines += [f"mov.f32 {name}, 0f00000000;" for name in d]
    for _ in range(2):
        for t in range(TILES):
            acc = ", ".join(d[4 * t : 4 * t + 4])
            lines.append(
                f"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{{acc}}}, {{%a0, %a1, %a2, %a3}}, {{{b[2 * t]}, "
                f"{b[2 * t + 1]}}}, {{{acc}}};"
            )
    lines += [f"st.global.f32 [%x0+{128 * i}], {name};" for i, name in enumerate(d)]
    newline = "\n"
    return f"""{preamble("sm_80")}.visible .entry k(.param .u64 p0, .param .u64 p1) {{
.reg .b64 %x<4>; .reg .b32 %r<4>; .reg .b32 %a<4>; .reg .b32 %b<{2 * TILES}>; .reg .f32 %d<{4 * TILES}>;
mov.u32 %r0, %tid.x; mul.wide.u32 %x2, %r0, 4; ld.param.u64 %x0, [p0]; ld.param.u64 %x1, [p1]; add.u64 %x0, %x0, %x2; add.u64 %x1, %x1, %x2;
{newline.join(lines)}
ret;
}}
"""  # noqa: E501


def run(program) -> np.ndarray:
    values = np.random.default_rng(1).standard_normal((4 + 2 * TILES, 32, 2)).astype(np.float16)
    return np.frombuffer(run_kernel(program, "k", [np.zeros((4 * TILES, 32), np.float32), values])[0], np.float32)


def names(program) -> list[str]:
    return [decode(row).op.name for row in program.code]


def test_no_copies_between_fragments():
    program = assemble_text(text())
    assert names(program).count("HMMA.16816.F32") == 2 * TILES
    # Accumulators begin as zero; nothing else is moved.
    assert names(program).count("MOV") <= 4 * TILES


def test_fragments_of_constants_are_made_once():
    program = assemble_text(text().replace("ld.global.b32 %a", "mov.b32 %a").replace(", [%x1+0];",
        ", 1;").replace(", [%x1+128];", ", 2;")
                            .replace(", [%x1+256];", ", 1;").replace(", [%x1+384];", ", 2;"))  # fmt: skip
    assert names(program).count("MOV") <= 4 * TILES + 4


def test_a_fragment_that_changes_is_made_again():
    """Between two multiplications an element of A is replaced."""
    once = text()
    last = once.rindex("mma.sync")
    changed = once[:last] + "mov.b32 %a1, 0;\n" + once[last:]
    kept, found = run(assemble_text(once)).reshape(TILES, 4, 32), run(assemble_text(changed)).reshape(TILES, 4, 32)
    np.testing.assert_array_equal(found[:-1], kept[:-1])
    np.testing.assert_array_equal(found[-1, :2], kept[-1, :2])  # rows above
    assert (found[-1, 2:] != kept[-1, 2:]).any()


@pytest.mark.parametrize("limit", [48, 32, 24])
def test_spilled_groups(limit):
    """All that the fragments hold is 40 registers."""
    program, tight = assemble_text(text()), assemble_text(text(), max_registers=limit)
    assert tight.functions[0].registers <= limit
    assert (tight.functions[0].spill_nbytes > 0) == (limit < 40)
    np.testing.assert_array_equal(run(tight), run(program))
    assert np.count_nonzero(run(program)) == 4 * TILES * 32
