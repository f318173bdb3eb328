"""Findings about performance: a kernel bent in one way gets the one that says so, with its exact cost."""

import sqlite3
from contextlib import closing

from gpuprof.correlate.advice.advice_rules import RULES, advise
from gpuprof.correlate.advice.kernel_costs import Measured, read_measured
from gpuprof.correlate.database import ensure_database
from gpuprof.correlate.findings import Found, read_findings
from gpuprof.isa.stalls import INDEX
from tests.support.command import gpuprof
from tests.support.report_database import BASE, make_database


def kernel_of(tmp_path) -> Measured:
    with closing(sqlite3.connect(make_database(tmp_path / "t.gpudb"))) as db:
        return read_measured(db, 0, [0, 1])


def bent(kernel: Measured, index: int, spill_nbytes: int = 0, **counters: int) -> Measured:
    """The kernel with other counters at one instruction."""
    instructions = list(kernel.facts.instructions)
    instructions[index] = instructions[index]._replace(counters=instructions[index].counters._replace(**counters))
    return Measured(kernel.facts._replace(instructions=tuple(instructions), spill_nbytes=spill_nbytes))


def told(kernel: Measured) -> dict:
    return {rule.name: each for rule in RULES for each in rule.look(kernel)}


def test_uncoalesced(tmp_path):
    """By hand: line 14 is instructions 20 and 21 (16 to 19 are of the header); its store asks for 16,384 sectors in
    each of two launches where 2,048 would do. The database has no causes, so that the cost is not known.
    """
    assert told(kernel_of(tmp_path)) == {
        "uncoalesced": (
            "Uncoalesced global access in transpose.cu:14: 32,768 sectors for 4,096, 8 times the ideal. Let "
            "neighbouring threads touch neighbouring addresses, or go through shared memory.",
            BASE + 16 * 21,
            2 * (16_384 - 2_048),
            None,
        )
    }


def test_repeated_work(tmp_path):
    """Instruction 15 loads, 21 stores, in 1,024 warps of 32 lanes. With a sector for each warp all lanes do the same. A
    broadcast alone is meant, and a sum that all lanes of a warp store was computed by all of them.
    """
    kernel = kernel_of(tmp_path)
    warps = kernel.facts.instructions[21].counters.inst_executed
    shared = bent(bent(kernel, 15, l2_sectors_global=warps), 21, l2_sectors_global=warps)
    found = told(shared)["repeated_work"]
    assert (found.pc, found.count, found.cost_cycles) == (BASE + 16 * 21, 31 * warps, round(kernel.cycles * 31 / 32))
    assert "repeated_work" not in told(bent(kernel, 15, l2_sectors_global=warps))
    assert "repeated_work" not in told(bent(kernel, 21, l2_sectors_global=warps))


def test_bank_conflicts(tmp_path):
    kernel = kernel_of(tmp_path)
    few = bent(kernel, 15, l1_wavefronts_shared=1000, l1_wavefronts_shared_ideal=920)
    assert "bank_conflicts" not in told(few)
    many = bent(kernel, 15, l1_wavefronts_shared=32_768, l1_wavefronts_shared_ideal=1024)
    assert told(many)["bank_conflicts"] == (
        "Bank conflicts in transpose.cu:13: 32,768 shared-memory wavefronts where 1,024 would do. Change which lanes "
        "touch which word.",
        BASE + 16 * 15,
        31_744,
        None,
    )


def test_local_memory(tmp_path):
    kernel = bent(kernel_of(tmp_path), 15, spill_nbytes=48, l2_sectors_local=36_864)
    assert told(kernel)["local_memory"] == (
        "Local memory is 50% of the memory sectors, most of it in transpose.cu:13. 48 bytes are register spills. "
        "Index arrays with constants, or give the kernel more registers.",
        BASE + 16 * 15,
        36_864,
        None,
    )


def test_divergence(tmp_path):
    kernel = kernel_of(tmp_path)
    # 32 blocks: the program is bent to split more warps than one of each, where its data ends
    found = told(bent(kernel, 21, thread_inst_executed=2048, divergent_branches=500))["divergence"]
    # STG with 2 lanes, IMAD.WIDE with 32: of 2 times 1,024 warps' 32 lanes, 30 times 1,024 idle
    assert found == (
        "transpose.cu:14 runs with 17.0 of 32 lanes. Let whole warps take one side of a branch, or give every lane "
        "the same amount of work.",
        BASE + 16 * 21,
        30_720,
        2 * (512 + 18_000 + 488 + 512 + 30_000 + 9_000 + 488),
    )
    # so few that it may be one warp of a block each time
    found = told(bent(kernel, 21, thread_inst_executed=2048, divergent_branches=33))["divergence"]
    assert "At most one warp of a block splits at a time" in found.text
    splits = 32 - kernel.counters.divergent_branches
    fewest = bent(kernel, 21, thread_inst_executed=2048, divergent_branches=splits)
    assert fewest.counters.divergent_branches == 32 and "divergence" not in told(fewest)


def test_block_lanes(tmp_path):
    kernel = kernel_of(tmp_path)
    shapes = tuple(shape._replace(threads=33) for shape in kernel.facts.shapes)
    found = told(Measured(kernel.facts._replace(shapes=shapes)))["block_lanes"]
    # two warps for 33 threads, in 32 blocks
    assert found == (
        "A block of 33 threads fills 16.5 of the 32 lanes of a warp on average: make it a multiple of 32 threads.",
        None,
        32 * 31,
        None,
    )


def test_launches_without_a_ledger_have_none(tmp_path):
    with closing(sqlite3.connect(make_database(tmp_path / "t.gpudb", with_ledger=False))) as db:
        assert list(advise(db)) == []


STRIDED = """\
// LAUNCH: strided<<<16, 256>>>(x: f32[65536]=random, y: f32[16384])
// LAUNCH: strided<<<64, 256>>>(x, y)
__global__ void strided(const float *x, float *y) {
    int i = blockIdx.x * 256 + threadIdx.x;
    y[i] = x[i * 4];
}
"""
ASKED = "SELECT SUM(l2_sectors_global - l2_sectors_global_ideal) FROM counters WHERE pc = ?"
WAITED = "SELECT SUM(cycles) FROM causes WHERE cause_pc = ? AND conflict = 1 AND reason != ?"


def test_a_kernel_has_one_finding_for_all_its_launches(tmp_path):
    """The load, whose cost is that of all stalls that it ended, by a query of one's own. For one launch the report has
    what that launch cost.
    """
    (tmp_path / "k.cu").write_text(STRIDED)
    code, _, error = gpuprof(tmp_path, "collect", "k.cu")
    assert code == 0, error
    with closing(ensure_database(tmp_path / "k.gprec")) as db:
        (found,) = read_findings(db, {0, 1})
        (pc,) = db.execute("SELECT pc FROM instructions WHERE operation = 'load' AND space = 'global'").fetchone()
        (excess,) = db.execute(ASKED, (pc,)).fetchone()
        (waited,) = db.execute(WAITED, (pc, INDEX["selected"])).fetchone()
        of_each = [next(iter(advise(db, {launch}))) for launch in (0, 1)]
    assert excess == 3 * (16 + 64) * 256 * 4 // 32 and waited > 0
    nowhere = (None, None, None, None, None, "")
    # sectors of the line: the load's, and the store's, which are packed
    text = (
        "Uncoalesced global access in k.cu:5: 12,800 sectors for 5,120, 2.5 times the ideal. Let neighbouring "
        "threads touch neighbouring addresses, or go through shared memory."
    )
    assert found == Found(1, "", "uncoalesced", "advice", text, pc, *nowhere, excess, waited)
    assert [each.launch for each in of_each] == [0, 1]
    assert [each.count for each in of_each] == [excess // 5, excess // 5 * 4]
    assert sum(each.cost_cycles for each in of_each) == waited
    _, out, _ = gpuprof(tmp_path, "report", "k.gprec", "--page", "findings", "--launch", "0", "--format", "csv")
    assert out.splitlines()[1].endswith(f",{of_each[0].cost_cycles}")


def test_advice_of_a_generator_costs_the_stalls_that_its_instruction_ended(tmp_path):
    """Each thread loads its word twice: the second load is in a register already."""
    (tmp_path / "k.cu").write_text(
        "// LAUNCH: twice<<<4, 128>>>(x: f32[512]=random, y: f32[512])\n"
        "__global__ void twice(volatile float *x, float *y) {\n"
        "    int i = blockIdx.x * 128 + threadIdx.x;\n"
        "    y[i] = x[i] + x[i];\n"
        "}\n"
    )
    code, _, error = gpuprof(tmp_path, "collect", "k.cu", "--trace", "redundancy")
    assert code == 0, error
    with closing(ensure_database(tmp_path / "k.gprec")) as db:
        found = [each for each in read_findings(db, {0}) if each.generator]
        (waited,) = db.execute(
            "SELECT SUM(cycles) FROM causes WHERE cause_pc = ? AND reason != ?", (found[0].pc, INDEX["selected"])
        ).fetchone()
    assert [(each.kind, each.severity, each.count, each.cost_cycles) for each in found] == [
        ("redundant_load", "advice", 512, waited)
    ]


REQUIREMENTS = [
    # advice is no finding that breaks a build
    ("findings<=0", 0, "required   findings<=0: 0\n"),
    ("findings.uncoalesced<=0", 3, "broken     findings.uncoalesced<=0: 1\n"),
    ("findings.bank_conflicts<=0", 0, "required   findings.bank_conflicts<=0: 0\n"),
]


def test_ci_breaks_on_advice_only_where_it_is_asked_for(tmp_path):
    (tmp_path / "k.cu").write_text(STRIDED)
    assert gpuprof(tmp_path, "collect", "k.cu", "--trace", "dimensions")[0] == 0
    for text, code, out in REQUIREMENTS:
        assert gpuprof(tmp_path, "check", "k.gprec", "--require", text)[:2] == (code, out), text
    assert gpuprof(tmp_path, "collect", "k.cu", "-o", "plain.gprec")[0] == 0
    assert gpuprof(tmp_path, "check", "plain.gprec", "--require", "findings.uncoalesced<=0")[0] == 3
    code, _, error = gpuprof(tmp_path, "check", "plain.gprec", "--require", "findings<=0")
    assert code == 4 and "no trace generator has watched" in error
