"""Comparisons of constants: readers get the answer, and a first multiplication by wgmma reads no accumulators."""

import pytest

from gpuprof.isa.printing.listing import listing
from tests.support.ptx_support import PREAMBLE, assemble_text, preamble

COMPARED = """\
.visible .entry k(.param .u64 out, .param .u32 n)
{{
    .reg .pred %p, %q; .reg .u32 %n, %r, %a, %b; .reg .u64 %out;
    ld.param.u64 %out, [out]; ld.param.u32 %n, [n];
    mov.u32 %a, {a}; mov.u32 %b, {b};
    setp.{comparison} %p, %a, %b;
    selp.u32 %r, %n, 7, %p;
    st.global.u32 [%out], %r;
    ret;
}}
"""


def lines_of(text: str, *names: str) -> list[str]:
    """The instructions of some operations, without their addresses."""
    program = assemble_text(text)
    lines = [
        line.text.split(None, 1)[1] for line in listing(program, program.functions[0]) if line.kind == "instruction"
    ]
    return [line for line in lines if line.startswith(names)]


@pytest.mark.parametrize(
    ("comparison", "a", "b", "answer"),
    [
        ("ne.s32", 0, 0, False),
        ("eq.u32", 4, 4, True),
        ("lt.s32", -1, 0, True),
        ("lt.u32", -1, 0, False),
        ("ge.s32", -5, -6, True),
        ("hi.u32", -1, 3, True),
    ],
)
def test_readers_get_the_answer(comparison, a, b, answer):
    text = PREAMBLE + COMPARED.format(comparison=comparison, a=a, b=b)
    (select,) = lines_of(text, "ISETP", "SEL")
    assert select.split(", ")[-1] == ("PT" if answer else "!PT")


@pytest.mark.parametrize("comparison", ["ne.s32"])
def test_a_comparison_of_what_is_not_known_stays(comparison):
    text = PREAMBLE + COMPARED.format(comparison=comparison, a="%tid.x", b=3)
    assert [line.split()[0] for line in lines_of(text, "ISETP", "SEL")] == ["ISETP.S32.NE", "SEL"]


MULTIPLIED = """\
.visible .entry k(.param .u64 out) .maxntid 128
{{
    .reg .pred %p; .reg .u64 %a, %b, %out; .reg .u32 %t; .reg .f32 %d<4>;
    ld.param.u64 %out, [out]; mov.u64 %a, 4096; mov.u64 %b, 8192; mov.u32 %t, %tid.x;
    {before}
    wgmma.fence.sync.aligned;
    setp.ne.b32 %p, {adds}, 0;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%d0, %d1, %d2, %d3}}, %a, %b, %p, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
    st.global.v4.f32 [%out], {{%d0, %d1, %d2, %d3}};
    ret;
}}
"""


@pytest.mark.parametrize(("adds", "sources"), [(0, ("RZ", "!PT")), (1, ("R4", "PT"))])
def test_what_a_first_multiplication_reads(adds, sources):
    zeros = "".join(f"mov.f32 %d{i}, 0f00000000; " for i in range(4))
    (line,) = lines_of(preamble("sm_90a", "8.0") + MULTIPLIED.format(adds=adds, before=zeros), "HGMMA")
    _, _, _, added, predicate, _ = line.split(", ")
    assert (added, predicate) == sources


def kept(n_values: int, raised: str) -> str:
    """Values that all live at once in a kernel of blocks of 384 threads."""
    names = [f"%v{number}" for number in range(n_values)]
    lines = ["ld.param.u64 %out, [out];", raised]
    lines += [f"ld.global.u32 {name}, [%out+{4 * number}];" for number, name in enumerate(names)]
    lines += ["bar.sync 0;"]
    lines += [f"st.global.u32 [%out+{4 * number}], {name};" for number, name in enumerate(reversed(names))]
    body = "\n".join(lines)
    return (
        f"{preamble('sm_90a', '8.0')}.visible .entry k(.param .u64 out) .maxntid 384\n"
        f"{{ .reg .u64 %out; .reg .u32 %v<{n_values}>;\n{body}\nret; }}\n"
    )


@pytest.mark.parametrize(
    ("raised", "registers", "raised_registers", "spills"),
    [
        ("", 168, 0, True),
        ("setmaxnreg.inc.sync.aligned.u32 240;", 168, 240, False),
        ("setmaxnreg.dec.sync.aligned.u32 24;", 168, 0, True),
    ],
)
def test_registers_after_setmaxnreg(raised, registers, raised_registers, spills):
    function = assemble_text(kept(200, raised)).functions[0]
    assert (function.registers, function.raised_registers) == (registers, raised_registers)
    assert (function.spill_nbytes > 0) == spills
