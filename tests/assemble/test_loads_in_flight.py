"""How many loads stand in front of the first use of one: plain ones, and those that a guard keeps inside their bounds.

ptxas 13.0 for sm_80 issues all of them first, as far as the next occupancy step leaves them registers: with forty
values kept, it stops at 56 registers.
"""

import re
import subprocess

import pytest

from gpuprof.isa.encoding import decode
from tests.ptxas.sass_slots import find_nvdisasm
from tests.support.matrices import long_from
from tests.support.nvidia_tools import PTXAS
from tests.support.ptx_support import assemble_text, kernel_text, ptxas

FORTY_KEPT = 56  # registers
START = """\
.reg .f32 %v<17>; .reg .pred %q<17>; .reg .b64 %a<17>;
mov.u32 %r0, %tid.x;
mov.u32 %r1, sarr;
shl.b32 %r2, %r0, 7;
add.u32 %r3, %r1, %r2;
ld.param.u64 %rd0, [p0];
ld.param.u32 %r5, [p1];
mul.wide.u32 %rd1, %r0, 4;
add.u64 %rd2, %rd0, %rd1;
"""


def plain(k: int) -> str:
    return f"add.s64 %a{k}, %rd2, {4096 * k}; ld.global.f32 %v{k}, [%a{k}]; st.shared.f32 [%r3+{4 * k}], %v{k};\n"


def guarded(k: int) -> str:
    """As compilers write a tile that may reach over its matrix: zero, or what is there."""
    return (
        f"mov.f32 %v{k}, 0f00000000; add.s32 %r6, %r0, {32 * k}; setp.ge.s32 %q{k}, %r6, %r5; @%q{k} bra L{k};\n"
        f"add.s64 %a{k}, %rd2, {4096 * k}; ld.global.f32 %v{k}, [%a{k}];\n"
        f"L{k}: st.shared.f32 [%r3+{4 * k}], %v{k};\n"
    )


KEPT = range(40)
TURNS = """\
.reg .b32 %k<40>;
mov.u32 %r7, 0;
{name}: .pragma "nounroll";
{turn}
add.s32 %r7, %r7, 1; setp.lt.s32 %p1, %r7, %r5; @%p1 bra {name};
"""


def between_loops(body: str) -> str:
    """The body while forty values wait that a loop in front of it makes and one behind it reads."""
    made = "".join(f"mov.u32 %k{k}, {k};" for k in KEPT)
    adds, mixes = ("".join(f"{op} %k{k}, %k{k}, %r{r};" for k in KEPT) for op, r in (("add.s32", 0), ("xor.b32", 7)))
    stores = "".join(f"st.global.u32 [%rd2+{4 * k}], %k{k};" for k in KEPT)
    before = TURNS.format(name="BEFORE", turn=adds).replace(";\nmov", f";\n{made}mov", 1)
    return before + body + TURNS.format(name="BEHIND", turn=mixes).partition("\n")[2] + stores


def text_of(form, n: int, around=str) -> str:
    return kernel_text(START + around("".join(form(k) for k in range(n))))


def loads_before_a_store(names: list[str]) -> int:
    first = next(place for place, name in enumerate(names) if name.startswith("STS"))
    return sum(name.startswith("LDG") for name in names[:first])


# (loads, what is around them): all of these are issued first
ALL_FIRST = [*((n, str) for n in (1, 2, 4, 8, 16)), *((n, between_loops) for n in (1, 2, 4, 8))]


@pytest.mark.parametrize("form", [plain, guarded])
@pytest.mark.parametrize("n, around", ALL_FIRST)
def test_all_loads_stand_in_front_of_the_first_use(form, n, around):
    names = [decode(row).op.name for row in assemble_text(text_of(form, n, around)).code]
    assert loads_before_a_store(names) == n


@pytest.mark.parametrize("form", [plain, guarded])
def test_loads_stop_at_the_occupancy_step(form):
    program = assemble_text(text_of(form, 16, between_loops))
    assert program.functions[0].registers == FORTY_KEPT
    assert loads_before_a_store([decode(row).op.name for row in program.code]) == 10


def in_ptxas(folder, text: str) -> tuple[int, int]:
    """Loads in front of the first store, and registers."""
    said = ptxas(folder, text.replace("sm_90", "sm_80"), "sm_80")
    shown = subprocess.run([find_nvdisasm(), "-c", folder / "k.cubin"], capture_output=True, text=True, check=True)
    names = re.findall(r"(?:LDG|STS)[.\w]*", shown.stdout)
    return loads_before_a_store(names), int(re.search(r"Used (\d+) registers", said)[1])


needs_both = pytest.mark.skipif(not (PTXAS and find_nvdisasm()), reason="ptxas or nvdisasm is not installed")


@needs_both
@pytest.mark.parametrize("form", [plain, guarded])
@pytest.mark.parametrize("n, around", long_from(2, ALL_FIRST))
def test_ptxas_issues_all_first(form, n, around, tmp_path):
    assert in_ptxas(tmp_path, text_of(form, n, around))[0] == n


@needs_both
@pytest.mark.parametrize("form", [plain, guarded])
def test_ptxas_stops_at_the_occupancy_step(form, tmp_path):
    loads, registers = in_ptxas(tmp_path, text_of(form, 16, between_loops))
    assert registers == FORTY_KEPT and 7 <= loads <= 10
