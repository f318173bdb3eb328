"""A record of a variable names a register only while that has its value."""

from gpuprof.compile.variables.overwritten_records import without_overwritten
from gpuprof.compile.variables.records import Record, Report

V_MET, V_MADE, V_LATER = (
    Record(0, 0, "", None, "%v", 0),  # %v begins where ways meet, in the block of this record
    Record(1, 0, "", None, "%w", 1),  # %w is computed in the block of this record
    Record(2, 1, "", None, "%v", None),  # %v is made in another block than this record's
)
RECORDS = [V_MET, V_MADE, V_LATER]


def places(*blocks: list) -> list[list[str]]:
    return [
        [item.place for item in block if isinstance(item, Report)] for block in without_overwritten(blocks, RECORDS)
    ]


def test_a_register_that_another_value_gets():
    loop = ["$L__BB0_1:", Report(0, "r1"), "\tadd.s32 \t%r2, %r1, 1;", Report(2, "r1"), "\trem.s32 \t%r1, %r2, 7;"]
    assert places(loop, [Report(2, "r1"), "\t@%p1 bra \t$L__BB0_1;"], ["\tret;"]) == [
        ["r1", "r1"],
        ["?"],
        [],
    ]


def test_the_value_that_a_block_makes():
    made = ["\tmov.b32 \t%r1, %r2;", Report(1, "r1 + 8"), "\tst.global.b32 \t[%rd1], %r1;", Report(1, "r1")]
    assert places([*made, "\tmov.b32 \t%r1, 0;", Report(1, "r1")]) == [["r1 + 8", "r1", "?"]]


def test_one_of_two_ways_writes_it():
    head = [Report(0, "r1"), "\t@%p1 bra \t$L__BB0_2;"]
    meet = ["$L__BB0_2:", Report(2, "r1"), "\tret;"]
    assert places(["\t@%p1 bra \t$L__BB0_2;"], ["\tmov.b32 \t%r1, 0;"], meet)[-1] == ["r1"]  # nothing else has it
    assert places(head, ["\tmov.b32 \t%r1, 0;", "\tmov.b32 \t%r1, 1;"], meet)[-1] == ["?"]
    assert places(head, ["\tmov.b32 \t%r2, 0;"], [*meet[:2], "\tmov.b32 \t%r1, 0;", "\tmov.b32 \t%r1, 1;"])[-1] == [
        "r1"
    ]


def test_numbers_stay():
    assert places([Report(0, "=5"), "\tmov.b32 \t%r1, 0;", "\tmov.b32 \t%r1, 1;", Report(2, "=5"), Report(2, "?")]) == [
        ["=5", "=5", "?"]
    ]
