"""A label that no jump names begins no block: Triton and numba write one wherever the line of the source changes."""

from gpuprof.isa.encoding import decode
from tests.support.ptx_support import assemble_text, kernel_text

LINES = (
    "mov.u32 %r0, %tid.x;",
    "ld.param.u64 %rd0, [p0];",
    "mul.wide.u32 %rd1, %r0, 16;",
    "add.u64 %rd2, %rd0, %rd1;",
    "ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd2];",
    "mul.f32 %f4, %f1, %f1;",
    "mul.f32 %f5, %f3, %f3;",
    "fma.rn.f32 %f6, %f0, %f0, %f4;",
    "fma.rn.f32 %f7, %f2, %f2, %f5;",
    "add.f32 %f6, %f6, %f7;",
    "st.global.f32 [%rd2], %f6;",
)


def instructions(lines: tuple[str, ...]) -> list[tuple]:
    code = assemble_text(kernel_text("\n".join(lines))).code
    return [(inst.op.name, inst.dst, inst.a, inst.b, inst.c) for inst in map(decode, code)]


def test_labels_that_nothing_jumps_to_change_no_code():
    labelled = tuple(f"$L__tmp{number}:\n{line}" for number, line in enumerate(LINES))
    assert instructions(labelled) == instructions(LINES)


def test_what_follows_a_jump_is_still_dropped():
    after = ("bra.uni END;", "$L__tmp0:", "st.global.f32 [%rd2], %f1;", "END:")
    assert instructions((*LINES, *after)) == instructions(LINES)


def test_a_loop_keeps_its_head():
    loop = ("mov.u32 %r1, %r0;", "HEAD:", "add.u32 %r1, %r1, 1;", "$L__tmp0:", "setp.lt.u32 %p0, %r1, 100;",
            "@%p0 bra HEAD;", "st.global.u32 [%rd2], %r1;")  # fmt: skip
    names = [name for name, *_ in instructions((*LINES, *loop))]
    without = tuple(line for line in loop if not line.startswith("$"))
    assert names == [name for name, *_ in instructions((*LINES, *without))]
