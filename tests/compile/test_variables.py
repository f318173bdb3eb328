"""Comments on variables change no instruction of the code."""

import pytest

from gpuprof.assemble.assemble import assemble_program
from gpuprof.compile.cuda import compile_cuda
from gpuprof.compile.variables import SET, VARIABLES, number_variables
from tests.paths import ROOT, SAMPLES

FILES = [
    ROOT / "tests/debug/loops.cu",
    *(pytest.param(path, marks=pytest.mark.long) for path in sorted(SAMPLES.glob("*.cu"))),
]


@pytest.mark.parametrize("level", [pytest.param(1, marks=pytest.mark.long), 3])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_code_is_the_same(path, level):
    plain, told = (compile_cuda(path, optimize=level, for_debugger=debug) for debug in (False, True))
    assert assemble_program(told).code.tobytes() == assemble_program(plain).code.tobytes()
    assert SET not in plain.ptx and VARIABLES not in plain.ptx
    assert told.ptx.count(SET) > 2


RECORDS = """\
define void @k(i32 %n, i32 %m, ptr %out) !dbg !1 {
entry:
    #dbg_value(i32 %n, !2, !DIExpression(), !4)
    #dbg_value(i32 %m, !3, !DIExpression(), !4)
  store i32 %n, ptr %out
    #dbg_value(i32 %m, !2, !DIExpression(), !4)
  br label %next

next:
    #dbg_value(i32 %n, !2, !DIExpression(), !4)
  ret void
}
!1 = distinct !DISubprogram(name: "k")
!2 = !DILocalVariable(name: "n", arg: 1, scope: !1)
!3 = !DILocalVariable(name: "m", arg: 2, scope: !1)
!4 = !DILocation(line: 1, scope: !1)
"""


def test_a_variable_that_becomes_a_parameter_is_not_known_in_the_first_block():
    """LLVM would say so where the parameters are loaded, however far in front that is."""
    found = [line.partition(",")[0].strip() for line in number_variables(RECORDS).ir.split("\n") if "#dbg" in line]
    assert found == [f"#dbg_value(i32 {name}" for name in ("%n", "%m", "poison", "%n")]
