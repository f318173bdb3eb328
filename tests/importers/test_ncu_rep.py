"""gpuprof import of Nsight Compute's reports: whole tables of one made by hand, what is refused, and hostile files."""

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from gpuprof.base.protobuf.decode import Malformed
from gpuprof.importers.disassembly import find_nvdisasm, parse as parse_disassembly
from gpuprof.importers.fill_database import write
from gpuprof.importers.imported_profile import Instruction, SourceLine
from gpuprof.importers.ncu_rep import profile_of, read
from gpuprof.importers.ncu_report import parse
from gpuprof.isa.stalls import INDEX
from tests.support.command import gpuprof
from tests.support.ncu_report import BASE, INSTANCES, SINGLE, SOURCE, STALLED, report, write_report
from tests.support.report_database import make_database

# Rows by hand: the kernel comes first in its module, the helper behind it.
KERNEL, AFTER = 0x1000, 0x1000 + 4 * 16
CODE = {
    "_Z4copyPf": {
        0: Instruction("MOV R1, R2", (SourceLine("copy.cu", 1),)),
        16: Instruction("LDG.E R2, [R2.64]", (SourceLine("lib.h", 3), SourceLine("copy.cu", 3))),
        32: Instruction("NOP"),
    }
}


def imported(folder: Path, disassemble=None, **changes) -> sqlite3.Connection:
    profile = read(write_report(folder / "r.ncu-rep", **changes), disassemble)
    write(profile, folder / "r.ncu-rep", folder / "r.gpudb")
    return sqlite3.connect(folder / "r.gpudb")


def test_a_report_as_a_database(tmp_path):
    with imported(tmp_path) as db:
        meta = dict(db.execute("SELECT key, value FROM meta"))
        assert (meta["measured_by"], meta["chip"], meta["period_cycles"]) == (
            "Nsight Compute 2023.1.1.0", "Card X", "1024",
        )  # fmt: skip
        assert meta["chip_json"] == (
            '{"clock_mhz": 1250.0, "name": "Card X", "partitions": 4, "sms": 4, "warp_slots": 48}'
        )
        assert meta["marks"] == "instructions and lines are not known: the machine code was not disassembled"
        assert db.execute("SELECT * FROM modules").fetchall() == [(0, "module 0", KERNEL, 5 * 16, "", "sm_80", "")]
        assert db.execute("SELECT * FROM sources").fetchall() == [(0, "copy.cu", SOURCE)]
        assert db.execute("SELECT name, display, is_kernel, first_pc, n_instructions FROM functions").fetchall() == [
            ("_Z4copyPf", "copy", 1, KERNEL, 4), ("helper", "helper", 0, AFTER, 1),
        ]  # fmt: skip
        assert db.execute("SELECT pc, function, text, source FROM instructions").fetchall() == [
            (KERNEL, 0, "?", None), (KERNEL + 16, 0, "?", None), (KERNEL + 48, 0, "?", None), (AFTER, 1, "?", None),
        ]  # fmt: skip
        assert db.execute("SELECT * FROM launches").fetchall() == [
            (0, 0, "copy", "2,1,1", "160,1,1", 64, 7, "", 0, 1000, 1000, 12, 12, 0, 0, 1)
        ]
        reasons = {number: name for name, number in INDEX.items()}
        samples = db.execute("SELECT pc, reason, samples, samples_not_issued, weight FROM samples").fetchall()
        assert [(pc, reasons[reason], *rest) for pc, reason, *rest in samples] == [
            (KERNEL, "selected", 1, None, None),
            (KERNEL + 16, "long_scoreboard", 6, 4, None),
            (KERNEL + 48, "drain", 2, None, None),
            (AFTER, "selected", 3, None, None),
        ]
        assert db.execute("SELECT * FROM counters").fetchall() == [
            (0, KERNEL, 5, 160, 0, 0, 0, 0, 0, 0, 0, 0),
            (0, KERNEL + 16, 5, 160, 0, 0, 0, 40, 20, 0, 0, 0),
            (0, KERNEL + 48, 5, 160, 0, 0, 0, 0, 0, 0, 0, 0),
            (0, AFTER, 5, 160, 0, 0, 0, 0, 0, 0, 0, 0),
        ]


def test_metrics_have_both_names(tmp_path):
    with imported(tmp_path) as db:
        metrics = dict(db.execute("SELECT metric, value FROM launch_metrics WHERE launch = 0"))
    theirs = {name: number for name, number in SINGLE.items() if not name.startswith("device__")}
    assert metrics == theirs | {
        "registers": 24, "shared_nbytes": 512, "issue_slots": 20, "l2_sectors": 40, "l2_hits": 30,
        "dram_read_nbytes": 320, "blocks_per_sm": 10, "occupancy_limiter": "registers",
        "sm_active_cycles": 2000, "resident_warp_cycles": 5000,
    }  # fmt: skip


def test_machine_code_with_its_lines(tmp_path):
    with imported(tmp_path, lambda cubin: CODE if cubin == b"\x7fELF" else {}, cubin=b"\x7fELF") as db:
        assert db.execute("SELECT value FROM meta WHERE key = 'marks'").fetchone() == ("",)
        assert db.execute("SELECT path, text FROM sources ORDER BY source").fetchall() == [
            ("copy.cu", SOURCE), ("lib.h", None),
        ]  # fmt: skip
        assert db.execute(
            "SELECT pc, i.text, path, line FROM instructions i LEFT JOIN sources USING (source)"
        ).fetchall() == [
            (KERNEL, "MOV R1, R2", "copy.cu", 1),
            (KERNEL + 16, "LDG.E R2, [R2.64]", "lib.h", 3),
            (KERNEL + 32, "NOP", None, 0),
            (KERNEL + 48, "?", None, 0),
            (AFTER, "?", None, 0),
        ]
        assert db.execute("SELECT * FROM inline_frames").fetchall() == [(KERNEL + 16, 1, "(inlined)", 0, 3)]


def test_reports_that_do_not_say_where_functions_were_loaded(tmp_path):
    """Those before 2022: the lowest address is the kernel's first."""
    instances = {name: {pc: n for pc, n in each.items() if pc >= BASE} for name, each in INSTANCES.items()}
    with imported(tmp_path, addresses=False, instances=instances) as db:
        assert db.execute("SELECT pc, samples FROM samples").fetchall() == [
            (KERNEL, 1), (KERNEL + 16, 6), (KERNEL + 48, 2),
        ]  # fmt: skip


def test_launches_stand_one_behind_the_other(tmp_path):
    with imported(tmp_path, launches=3) as db:
        assert db.execute("SELECT launch, function, start_cycle, end_cycle FROM launches").fetchall() == [
            (0, 0, 0, 1000), (1, 0, 1000, 2000), (2, 0, 2000, 3000),
        ]  # fmt: skip


REPORT = """\
# measured   by Nsight Compute 2023.1.1.0, on Card X, not by gpuprof
# kernel     copy, 1 launch
# samples    12, period 1024 cycles, dropped 0, buffer full: no
# recording  complete
# note       instructions and lines are not known: the machine code was not disassembled

# copy
# time       0.8 us, 1,000 cycles at 1250 MHz
# launch     grid 2, block 160, 24 registers, 576 B shared
# occupancy  achieved 5.2%, theoretical 104.2% (limited by registers)
# issue      0.2% of the issue slots used
# stalls     long_scoreboard 50.0%, selected 33.3%, drain 16.7%
# memory     40 sectors, 2x ideal
# caches     L2 hits 75.0%
"""


def test_the_commands_line_and_the_report(tmp_path):
    write_report(tmp_path / "r.ncu-rep")
    assert gpuprof(tmp_path, "import", "r.ncu-rep", "--no-code") == (
        0,
        "r.gpudb: 1 launch on Card X, by Nsight Compute 2023.1.1.0\n",
        "",
    )
    code, out, error = gpuprof(tmp_path, "report", "r.gpudb", "--page", "summary")
    assert (code, out[: len(REPORT)], error) == (0, REPORT, "")
    code, out, _ = gpuprof(tmp_path, "report", "r.gpudb", "--page", "blame")
    assert code == 0 and "# samples of a card do not say what ended a stall\n" in out


COMPARISON = """\
## copy

|  | Nsight Compute 2023.1.1.0, Card X | gpuprof 0.1.0, a100 | ratio |
|---|--:|--:|--:|
| cycles of a launch | 1,000 | 5,000 | 0.20 |
| registers | 24 | 24 | 1.00 |
| achieved occupancy | 5.208% | 18.04% | 0.29 |
| theoretical occupancy | 104.2% | 100% | 1.04 |
| issue slots used | 0.25% | 62.8% | 0.00 |
| L2 hits | 75% | 50% | 1.50 |
| DRAM read by a launch | 320 B | 65,536 B | 0.00 |

| stalls | Nsight Compute 2023.1.1.0, Card X | gpuprof 0.1.0, a100 | points |
|---|--:|--:|--:|
| long_scoreboard | 50.0% | 32.5% | +17.5 |
| selected | 33.3% | 21.8% | +11.6 |
| lg_throttle | 0.0% | 32.5% | -32.5 |
| drain | 16.7% | 4.9% | +11.8 |
| wait | 0.0% | 8.4% | -8.4 |
| **distance** |  |  | 0.409 |
"""


def test_a_card_beside_the_model(tmp_path):
    write_report(tmp_path / "r.ncu-rep")
    assert gpuprof(tmp_path, "import", "r.ncu-rep", "--no-code")[0] == 0
    make_database(tmp_path / "t.gpudb", kernel="copy")
    command = ("export", "r.gpudb", "--against", "t.gpudb", "-o", "c.comparison.md")
    assert gpuprof(tmp_path, *command) == (0, "", "")
    assert (tmp_path / "c.comparison.md").read_text().startswith(COMPARISON)
    make_database(tmp_path / "other.gpudb")
    error = "gpuprof: the files have no kernel in common: one has copy, the other transpose_naive\n"
    assert gpuprof(tmp_path, *command[:3], "other.gpudb", *command[4:]) == (4, "", error)


def test_a_check_takes_exact_numbers_alone(tmp_path):
    write_report(tmp_path / "r.ncu-rep")
    assert gpuprof(tmp_path, "import", "r.ncu-rep", "--no-code")[0] == 0
    assert gpuprof(tmp_path, "check", "r.gpudb", "--baseline", "b.txt", "--update") == (
        4,
        "",
        "gpuprof: r.gpudb: was measured on a card by Nsight Compute 2023.1.1.0, and a check compares exact numbers; "
        "see `gpuprof export --format comparison --against`\n",
    )


@pytest.mark.parametrize(
    "changes, why",
    [
        ({"version": 8}, "it has file version 8, and this gpuprof reads version 7 (2020.2 to 2026.2)"),
        ({"launches": 0}, "it has no launch"),
        (
            {"instances": {f"{STALLED}new_thing": {BASE: 1}}},
            "it has the stall reason 'new_thing', which this gpuprof does not know",
        ),
        (
            {"single": {"launch__registers_per_thread": 8.0}},
            "_Z4copyPf has none of the metrics sm__cycles_elapsed.max, gpc__cycles_elapsed.max, sm__cycles_active.avg",
        ),
        (
            {"instances": {"inst_executed": {BASE + 8: 1}}},
            "_Z4copyPf has a sample or a count at 0x7f0000001008, where it has no instruction",
        ),
        (
            {"instances": {"inst_executed": {16: 1}}},
            "_Z4copyPf has a sample or a count at 0x10, where it has no instruction",
        ),
        ({"instances": {"inst_executed": {BASE: 1 << 63}}}, f"inst_executed has {1 << 63} at {BASE}"),
        ({"grid": (0, 1, 1)}, "launches.grid is '0,1,1' at launch 0; expected x,y,z"),
        ({"symbol": ""}, "a launch has no kernel"),
    ],
)
def test_what_is_refused_by_name(tmp_path, changes, why):
    write_report(tmp_path / "r.ncu-rep", **changes)
    assert gpuprof(tmp_path, "import", "r.ncu-rep", "--no-code") == (
        1, "", f"gpuprof: r.ncu-rep: cannot be imported: {why}\n",
    )  # fmt: skip
    assert not (tmp_path / "r.gpudb").exists()


def test_files_of_another_kind(tmp_path):
    for name, content, why in (
        ("a.ncu-rep", b"", "it is no report of Nsight Compute"),
        ("b.ncu-rep", b"NVR\0\xff\xff\xff\xff", "it ends in the middle of a message"),
    ):
        (tmp_path / name).write_bytes(content)
        assert gpuprof(tmp_path, "import", name) == (1, "", f"gpuprof: {name}: cannot be imported: {why}\n")
    assert gpuprof(tmp_path, "import", "c.txt")[0] == 2


WHOLE = report()


def test_every_part_of_a_report_is_refused_or_read():
    """A report that is cut off ends in a message, a size or a block, but for the ends of its two blocks."""
    whole = []
    for nbytes in range(len(WHOLE)):
        try:
            profile_of(parse(WHOLE[:nbytes]), None)
        except Malformed:
            continue
        whole.append(nbytes)
    assert whole == []


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_changed_bytes_are_refused_or_read(tmp_path_factory, data):
    changed = bytearray(WHOLE)
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    try:
        profile = profile_of(parse(bytes(changed)), None)
    except Malformed:
        return
    assert profile.launches


DISASSEMBLY = """\
	.section	.text._Z1kPf,"ax",@progbits
.text._Z1kPf:
	//## File "il.cu", line 4
        /*0000*/                   MOV R1, c[0x0][0x28] ;
        /*0010*/                   S2R R2, SR_TID.X ;
	//## File "lib.h", line 1 inlined at "il.cu", line 3
	//## File "il.cu", line 3 inlined at "il.cu", line 5
	//## File "il.cu", line 5
        /*0020*/               @P0 BRA `(.L_x_1) ;
.L_x_1:
        /*0030*/                   EXIT ;
	.section	.text.other,"ax",@progbits
        /*0000*/                   RET ;
"""


def test_what_nvdisasm_prints():
    inlined = (SourceLine("lib.h", 1), SourceLine("il.cu", 3), SourceLine("il.cu", 5))
    assert parse_disassembly(DISASSEMBLY) == {
        "_Z1kPf": {
            0: Instruction("MOV R1, c[0x0][0x28]", (SourceLine("il.cu", 4),)),
            16: Instruction("S2R R2, SR_TID.X", (SourceLine("il.cu", 4),)),
            32: Instruction("@P0 BRA `(.L_x_1)", inlined),
            48: Instruction("EXIT", inlined),
        },
        "other": {0: Instruction("RET")},
    }


def test_a_cubin_that_is_none(tmp_path):
    """nvdisasm refuses it, and the report is read without its code."""
    if not find_nvdisasm():
        pytest.skip("nvdisasm is not installed")
    write_report(tmp_path / "r.ncu-rep", cubin=b"\x7fELF nonsense")
    code, out, error = gpuprof(tmp_path, "import", "r.ncu-rep")
    assert (code, out, error) == (0, "r.gpudb: 1 launch on Card X, by Nsight Compute 2023.1.1.0\n", "")
