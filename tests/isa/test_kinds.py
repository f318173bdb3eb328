"""The kind of each instruction, and that nobody asks for its name instead. The rule stands in isa/row.py."""

import subprocess
import sys

import pytest

from gpuprof.isa.kinds import KINDS, kinds_of
from gpuprof.isa.opcodes import BY_NAME, TABLE, by_number, numbers
from gpuprof.isa.row import row
from tests.support.opcode_names import findings, findings_in

# Kind -> the first parts of its opcodes' names. What is not here computes.
STEMS = {
    "special": "S2R",
    "hint": "BSSY LOAD NOP WARPGROUP YIELD",
    "meet": "BSYNC",
    "exit": "EXIT",
    "branch": "BRA",
    "branch_indirect": "BRX",
    "call": "CALL",
    "call_indirect": "CALL",
    "return": "RET",
    "stack_change": "ALLOCA STACKRESTORE",
    "stack_save": "STACKSAVE",
    "syscall": "SYSCALL",
    "trap": "TRAP",
    "breakpoint": "BRKPT",
    "sleep": "NANOSLEEP",
    "barrier": "BAR",
    "barrier_arrive": "BAR",
    "barrier_vote": "BAR",
    "cluster_barrier": "BAR",
    "warp_sync": "WARPSYNC",
    "grid_signal": "GRIDDEP",
    "grid_wait": "GRIDDEP",
    "fence": "MEMBAR",
    "load": "LD LDC LDG LDL LDP LDS",
    "store": "ST STG STL STS",
    "atomic": "ATOM ATOMG ATOMS",
    "reduction": "RED REDG REDS",
    "copy": "CP",
    "copy_commit": "CP",
    "copy_wait": "CP",
    "bulk_load": "BULK TMA",
    "bulk_store": "BULK TMA",
    "bulk_prefetch": "BULK TMA",
    "bulk_copy": "BULK",
    "bulk_reduction": "BULK TMA",
    "bulk_reduction_shared": "BULK",
    "bulk_commit": "BULK",
    "bulk_wait": "BULK",
    "bulk_wait_read": "BULK",
    "mbarrier": "MBAR",
    "mbarrier_wait": "MBAR",
    "fetch": "TEX TLD4",
    "query": "ISTYPEP SUQ TXQ",
    "surface_load": "SULD",
    "surface_store": "SUST",
    "surface_reduction": "SURED",
    "shuffle": "SHFL",
    "vote": "ACTIVEMASK VOTE",
    "elect": "ELECT",
    "match": "MATCH",
    "warp_reduction": "REDUX",
    "matrix": "BMMA DMMA HMMA IMMA QMMA",
    "matrix_async": "BGMMA HGMMA IGMMA QGMMA",
    "matrix_load": "LDM LDSM",
    "matrix_store": "STM STSM",
    "matrix_transpose": "MOVM",
    "matrix_commit": "WARPGROUP",
    "matrix_wait": "WARPGROUP",
}


def test_the_kind_of_every_opcode():
    found: dict[str, set[str]] = {}
    for op in TABLE:
        found.setdefault(op.kind, set()).add(op.name.split(".")[0])
    computes = found.pop("compute")
    assert {kind: " ".join(sorted(stems)) for kind, stems in found.items()} == STEMS
    assert computes.isdisjoint(stem for stems in found.values() for stem in stems)


def test_every_kind_has_an_opcode():
    assert {op.kind for op in TABLE} == set(KINDS)


def test_a_row_that_is_wrong_stops_the_import():
    with pytest.raises(AssertionError, match="PLANTED: unknown kind 'computes'"):
        row("PLANTED", "computes", "R=R", "alu", "alu", "planted", "b32")
    with pytest.raises(AssertionError, match="PLANTED: unknown pipe 'ula'"):
        row("PLANTED", "compute", "R=R", "ula", "alu", "planted", "b32")
    with pytest.raises(AssertionError, match="PLANTED: kind 'load' does not go with space ''"):
        row("PLANTED", "load", "R=A", "lsu", "memory", "planted", "b32")


@pytest.mark.parametrize(
    "wrong, module, message",
    [
        ({"semantics": "planted"}, "emulate.blocks", "PLANTED: nothing under gpuprof/emulate computes 'planted'"),
        ({"latency": "aul"}, "timing.state.static_program", "rows with an unknown latency class: {'PLANTED': 'aul'}"),
        (
            {"latency": "aul"},
            "assemble.registers.dependences",
            "rows with an unknown latency class: {'PLANTED': 'aul'}",
        ),
    ],
)
def test_what_a_room_does_not_know_stops_its_import(wrong, module, message):
    code = (
        "from gpuprof.isa.opcodes import BY_NAME, TABLE\n"
        f"TABLE.append(BY_NAME['BREV']._replace(number=len(TABLE), name='PLANTED', **{wrong}))\n"
        f"import gpuprof.{module}"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert process.stderr.splitlines()[-1] == f"AssertionError: {message}"


def test_names_are_checked():
    assert by_number({"MOV": "move"}) == {BY_NAME["MOV"].number: "move"}
    for check in (lambda: numbers("MOVE"), lambda: by_number({"MOVE": 1}), lambda: kinds_of("move")):
        with pytest.raises(KeyError):
            check()


def test_nobody_asks_an_instruction_for_its_name():
    assert findings() == []


@pytest.mark.parametrize(
    "code, found",
    [
        ('if inst.op.name == "BRA": pass', ["inst.op.name"]),
        ('jumps = last.op.name in ("BRA", "EXIT")', ["last.op.name"]),
        ('loads = inst.op.semantics.startswith("load")', ["inst.op.semantics"]),
        ("name = block.last.op.semantics", ["block.last.op.semantics"]),
        ("rule = RULES.get(inst.op.name)", ["inst.op.name"]),
        ("rule = RULES[inst.op.semantics]", ["inst.op.semantics"]),
        (
            'from gpuprof.isa.opcodes import TABLE\nloads = [row.number for row in TABLE if row.name[:2] == "LD"]',
            ["row.name"],
        ),
        (
            "from gpuprof.isa.opcodes import BY_NAME\nloads = [name for name, _ in BY_NAME.items()]",
            ["BY_NAME.items"],
        ),
        ('loads = inst.op.kind in ("load", "laod")', ["inst.op.kind in ('load', 'laod')"]),
        ('kind = inst.op.kind\nif kind == "brunch": pass', ["kind == 'brunch'"]),
        # What the rule allows.
        ('if inst.op.kind == "branch": pass', []),
        ("if inst.op is BRA or inst.op.number in SUMS: pass", []),
        ("shown = [row.name for row in rows]", []),  # of some other table
    ],
)
def test_the_finder(code, found):
    assert [line.split(": ", 1)[1] for line in findings_in("report/planted.py", code)] == found


def test_the_emulator_looks_up_what_an_instruction_computes():
    code = "function = VOTES[inst.op.semantics]\nhas = inst.op.semantics in VOTES\nname = VOTES.get(inst.op.semantics)"
    assert findings_in("emulate/planted.py", code) == [
        "emulate/planted.py:2: inst.op.semantics",
        "emulate/planted.py:3: inst.op.semantics",
    ]
