"""Every rule says its whole sentence about a database that is made for it: the transpose of `report_database`, changed
by a line or two of SQL. test_rules.py has the limits of the rules.
"""

import sqlite3
from typing import NamedTuple

import pytest

from gpuprof.correlate.correlate import add_advice
from gpuprof.isa.causes import INDEX as CAUSE_INDEX
from gpuprof.isa.stalls import INDEX
from gpuprof.report.queries import read_report
from gpuprof.report.triage.kernel_rules import RULES, findings
from tests.support.report_database import BASE, make_database


class Made(NamedTuple):
    """A database, and the first finding of the rule about its kernel: place and whole text."""

    place: str
    text: str
    changes: tuple[str, ...] = ()


BRANCH, LOAD, STORE = (BASE + 16 * index for index in (9, 15, 21))  # lines 10, 13, 14
ONE_OF_EACH_LINE = ", ".join(str(BASE + 16 * index) for index in (0, 3, 6, 7, 14))
WAITS = INDEX["long_scoreboard"]

SAYS: dict[str, Made] = {
    "measured": Made(
        "samples/transpose.cu:14 ",
        "transpose.cu:14: 1.50 times as fast, measured (coalesce): 9 sectors where 3 would do. Pack them.",
        (
            "INSERT INTO advice SELECT launch, 1, 'coalesce', 'transpose.cu:14', 'samples/transpose.cu', 14, "
            "'9 sectors where 3 would do', 'Pack them.', '', '', 'packed', 3000, 2000 FROM launches",
        ),
    ),
    "f64_unit": Made(
        "samples/transpose.cu:13 tex_throttle",
        "57% of the cycles wait for the f64 unit, most of them in transpose.cu:13. Use f32 where it suffices, or "
        "compute less in f64.",
        (
            f"UPDATE instructions SET opcode = 'DFMA', text = 'DFMA D1, D2, D3, D1' WHERE pc = {LOAD}",
            f"INSERT INTO ledger SELECT launch, {LOAD}, {INDEX['tex_throttle']}, 120000 FROM launches",
        ),
    ),
    "target_line": Made(
        "samples/transpose.cu:14 lg_throttle",
        "transpose.cu:14 holds 80% of the stalled cycles, and 51% of its cycles are lg_throttle. The queue for "
        "local and global memory instructions is full. `gpuprof advise` measures what would shorten it.",
    ),
    "kernel_reason": Made(
        ":0 barrier",
        "No single line stands out, but 100% of the stalled cycles are barrier. Waiting at a barrier for the "
        "block's other warps. `gpuprof advise` measures what would shorten it.",
        (
            "DELETE FROM ledger",
            "DELETE FROM samples",
            f"INSERT INTO ledger SELECT launch, pc, {INDEX['barrier']}, 100 FROM launches, instructions "
            f"WHERE pc IN ({ONE_OF_EACH_LINE})",
        ),
    ),
    "asynchronous_copies": Made(
        "samples/transpose.cu:13 long_scoreboard",
        "40% of the cycles wait for asynchronous copies, most of them at CP.ASYNC.WAIT in transpose.cu:13. Start "
        "the copies earlier: keep more stages in flight while one is used, or give each stage more work.",
        (
            f"UPDATE instructions SET opcode = 'CP.ASYNC.WAIT', text = 'CP.ASYNC.WAIT 1' WHERE pc = {LOAD}",
            f"UPDATE ledger SET cycles = 60000 WHERE pc = {LOAD} AND reason = {WAITS}",
        ),
    ),
    "grid_barrier": Made(
        "samples/transpose.cu:13 long_scoreboard",
        "83% of the stalled cycles wait in a loop for other blocks, as at a barrier of the grid at transpose.cu:13; "
        "the last block to come ended the wait at transpose.cu:14. Blocks arrive one after the other, so fewer and "
        "larger blocks wait less; so do blocks with equal work. With many blocks a launch of its own for each step may "
        "be faster.",
        (
            f"INSERT OR IGNORE INTO cause_kinds VALUES ({CAUSE_INDEX['signal']}, 'signal', 'last signal', '')",
            "INSERT INTO causes (launch, pc, reason, cause_pc, kind, other_warp, other_launch, conflict, cycles, "
            f"stalls) SELECT launch, {LOAD}, {WAITS}, {STORE}, {CAUSE_INDEX['signal']}, 1, 0, 0, 60000, 10 "
            "FROM launches",
        ),
    ),
    "atomics_of_a_slice": Made(
        "samples/transpose.cu:14 long_scoreboard",
        "One slice of the L2 works on atomics in 80% of the cycles, most of them at transpose.cu:14; the 128 bytes "
        "from 0x700000080 take 75% of that. Atomics on neighbouring addresses go through one slice, one after the "
        "other: combine them in the warp or in shared memory first, or spread them over more addresses.",
        (
            "UPDATE meta SET value = json_set(value, '$.l2_slices', 80) WHERE key = 'chip_json'",
            f"UPDATE instructions SET opcode = 'RED.ADD.U32' WHERE pc = {STORE}",
            "INSERT INTO launch_metrics SELECT launch, 'l2_atomic_cycles', 0.8 * cycles FROM launches",
            f"INSERT INTO atomic_lines SELECT launch, {0x700000080}, 9, 0.6 * cycles FROM launches",
        ),
    ),
    "repeated_work": Made(
        "samples/transpose.cu:14 ",
        "The 32 lanes of a warp load the same words and store to one place in transpose.cu:14: all 128 threads of x "
        "compute the same. Give each thread a result of its own, or launch one thread for each result.",
        (
            f"UPDATE counters SET l2_sectors_global = inst_executed, l2_sectors_global_ideal = inst_executed "
            f"WHERE pc IN ({LOAD}, {STORE})",
        ),
    ),
    "uncoalesced": Made(
        "samples/transpose.cu:14 long_scoreboard",
        "Uncoalesced global access in transpose.cu:14: 32,768 sectors for 4,096, 8 times the ideal. Let "
        "neighbouring threads touch neighbouring addresses, or go through shared memory.",
    ),
    "bank_conflicts": Made(
        "samples/transpose.cu:14 short_scoreboard",
        "Bank conflicts in transpose.cu:14: 32,768 shared-memory wavefronts where 1,024 would do. Change which "
        "lanes touch which word.",
        (f"UPDATE counters SET l1_wavefronts_shared = 16384, l1_wavefronts_shared_ideal = 512 WHERE pc = {STORE}",),
    ),
    "local_memory": Made(
        "samples/transpose.cu:13 lg_throttle",
        "Local memory is 40% of the memory sectors, most of it in transpose.cu:13. 48 bytes are register spills. "
        "Index arrays with constants, or give the kernel more registers.",
        (
            f"UPDATE counters SET l2_sectors_local = 12288 WHERE pc = {LOAD}",
            "UPDATE functions SET spill_nbytes = 48",
        ),
    ),
    "block_lanes": Made(
        ":0 ",
        "A block of 10 threads fills 10 of the 32 lanes of a warp on average: make it a multiple of 32 threads.",
        ("UPDATE launches SET block = '10,1,1'",),
    ),
    "divergence": Made(
        "samples/transpose.cu:10 branch_resolving",
        "transpose.cu:10 runs with 22.0 of 32 lanes. Let whole warps take one side of a branch, or give every "
        "lane the same amount of work.",
        (f"UPDATE counters SET divergent_branches = 500, thread_inst_executed = 512 * 2 WHERE pc = {BRANCH}",),
    ),
    "occupancy": Made(
        ":0 ",
        "Only 18% of the warp slots were filled, where 100% could be: too few blocks, or uneven ones.",
        ("UPDATE launches SET grid = '108,1,1'",),
    ),
    "issue_slots": Made(
        ":0 ",
        "The schedulers issue in 95% of the cycles: only fewer instructions make this kernel faster.",
        ("UPDATE launch_metrics SET value = 30400 WHERE metric = 'issue_slots'",),
    ),
    "small_grid": Made(":0 ", "The grid has 16 blocks for 108 multiprocessors: 92 of them have nothing to do."),
    "sampling": Made(
        ":0 ",
        "10 samples were dropped, since a buffer was full; the rest favours the warps that came first: collect "
        "with a longer --period.",
        ("UPDATE launches SET samples_dropped = 5",),
    ),
    "sampled_beside_exact": Made(
        "samples/transpose.cu:14 ",
        "2% of the samples are at transpose.cu:14, but 64% of the warps' time is spent there: each sample is one "
        "warp of an SM, so nearly empty SMs count too much. The sampled column weighs them by the warps that they"
        " stand for: 64%. Use the exact column.",
        (
            "UPDATE samples SET samples = 1, samples_not_issued = 0 "
            "WHERE pc IN (SELECT pc FROM instructions WHERE line = 14)",
        ),
    ),
    "too_thin": Made(
        "samples/transpose.cu:9 ",
        "The samples are too few to rank 2 of the 3 lines of 5% and more: transpose.cu:9 (8-23%) and index.cuh:4 "
        "(3-14%) overlap. A period of 128 cycles would be enough. The exact column ranks them.",
        ("UPDATE sample_sizes SET effective = 40",),
    ),
    "in_step": Made(
        "samples/transpose.cu:9 ",
        "The samples in the loop at transpose.cu:9-14 are off by 11%, more than by chance: the period of 512 "
        "cycles is in step with its iterations of 162.6 cycles. More samples do not help; a period of 588 cycles "
        "does, or the exact column.",
        (f"UPDATE samples SET weight = 4 * weight WHERE pc = {LOAD}",),
    ),
}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_has_its_sentence(tmp_path, rule):
    path, place, text = make_database(tmp_path / "t.gpudb"), *SAYS[rule.name][:2]
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM findings")
        for change in SAYS[rule.name].changes:
            db.execute(change)
        add_advice(db, 0)
        report = read_report(db)
    kernel = report.kernels[0]
    first = next(each for each in findings(kernel, report.chip, report.header) if each.rule == rule.name)
    assert (f"{first.path}:{first.line} {first.explain}", first.text) == (place, text)


def test_the_table_has_no_other_rules():
    assert list(SAYS) == [rule.name for rule in RULES]
