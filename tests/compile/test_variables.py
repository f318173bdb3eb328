"""Facts about variables change no instruction of the code."""

import pytest

from gpuprof.assemble.assemble import assemble_program
from gpuprof.compile.cuda import compile_cuda
from gpuprof.compile.variables.numbering import number_variables
from gpuprof.compile.variables.records import Record, Report, in_order
from tests.paths import ROOT, SAMPLES

FILES = [
    ROOT / "tests/debug/loops.cu",
    *(pytest.param(path, marks=pytest.mark.long) for path in sorted(SAMPLES.glob("*.cu"))),
]


def instructions(ptx: str) -> list[str]:
    """The lines of PTX without `.loc`: a debug record ends LLVM's run of equal positions, which repeats one."""
    return [line for line in ptx.split("\n") if not line.startswith("\t.loc\t")]


@pytest.mark.parametrize("level", [pytest.param(1, marks=pytest.mark.long), 3])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_code_is_the_same(path, level):
    plain, told = (compile_cuda(path, optimize=level, for_debugger=debug) for debug in (False, True))
    assert assemble_program(told).code.tobytes() == assemble_program(plain).code.tobytes()
    assert instructions(told.ptx) == instructions(plain.ptx)
    assert plain.facts.variables is None
    assert len(told.facts.variables.settings) > 2


RECORDS = """\
define void @k(i32 %n, ptr %out) !dbg !1 {
entry:
    #dbg_value(i32 %n, !2, !DIExpression(), !4)
    #dbg_value(i32 %sum, !3, !DIExpression(), !4)
  %sum = add i32 %n, 1
    #dbg_value(i32 %sum, !3, !DIExpression(), !4)
  br i1 true, label %one, label %other

one:
  %more = add i32 %sum, 1
  br label %other

other:
    #dbg_value(i32 %more, !2, !DIExpression(DW_OP_LLVM_fragment, 0, 32), !4)
    #dbg_value(i32 %sum, !2, !DIExpression(), !4)
  ret void
}
!1 = distinct !DISubprogram(name: "k")
!2 = !DILocalVariable(name: "n", arg: 1, scope: !1)
!3 = !DILocalVariable(name: "m", scope: !1)
!4 = !DILocation(line: 1, scope: !1)
"""


def test_each_record_has_a_name_and_values_that_are_not_there_are_none():
    """A pass that moves an instruction down leaves the records of its value where they are."""
    numbered = number_variables(RECORDS)
    lines = [line for line in numbered.ir.split("\n") if "#dbg" in line]
    assert [line.partition(",")[0].strip() for line in lines] == [
        f"#dbg_value(i32 {name}" for name in ("%n", "poison", "%sum", "poison", "%sum")
    ]
    assert numbered.records == [
        Record(0, 0, "", None, "%n", 1),
        Record(1, 0, "", None, "%sum", 1),
        Record(1, 0, "", None, "%sum", 1),
        Record(0, 2, " @0:32", None, "%more"),
        Record(0, 2, "", None, "%sum"),
    ]


def count_order(told: list[str | Report], records: list[Record]) -> list[str]:
    found = in_order(told, records, set(), lambda line, place: line == f"change {place}")
    return [item if isinstance(item, str) else f"set {item.text}" for item in found]


def test_what_is_told_counts_when_all_in_front_of_it_are_told():
    """Variable 6 tells positions; 1 and 2 are the program's."""
    records = [Record(6, 0, "", 3), Record(1, 0, "", None), Record(6, 0, "", 4), Record(2, 0, "", None)]
    assert count_order(
        ["a", Report(0, "=3"), Report(3, "r9"), "b", Report(1, "r5"), "c", Report(2, "=4"), "d"], records
    ) == [
        "a",
        "set 6 =3",
        "set 1 ?",
        "set 2 ?",
        "set 6 | 4",
        "b",
        "set 1 r5",
        "set 2 ?",
        "set 6 | 4",
        "c",
        "set 6 =4",
        "set 2 r9",
        "d",
    ]


def test_what_changes_before_it_counts_and_what_is_never_told_is_nowhere():
    records = [Record(1, 0, "", None), Record(2, 0, "", None), Record(3, 0, " @8:8", None), Record(4, 0, "", None)]
    assert count_order([Report(1, "r9"), "change r9", Report(0, "r5"), Report(3, "r7")], records) == [
        "set 1 ?",
        "set 2 ?",
        "change r9",
        "set 1 r5",
        "set 2 ?",
        "set 3 ? @8:8",
        "set 4 r7",
    ]
