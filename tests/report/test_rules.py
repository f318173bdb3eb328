"""Triage: a kernel bent in one way gets the one sentence that says so."""

import sqlite3
from dataclasses import replace

from gpuprof.chips import load_chip
from gpuprof.chips.peaks import peaks_of
from gpuprof.correlate.counts import Counters
from gpuprof.isa.stalls import INDEX
from gpuprof.report.model import ZEROS, ChipFacts
from gpuprof.report.queries import read_report
from gpuprof.report.triage.f64_rules import unit_of
from gpuprof.report.triage.findings import Finding
from gpuprof.report.triage.kernel_rules import by_cost, findings
from tests.support.report_database import make_database


def report_of(tmp_path, **bend):
    with sqlite3.connect(make_database(tmp_path / "t.gpudb", **bend)) as db:
        return read_report(db)


def told(report, kernel=None):
    kernel = kernel or report.kernels[0]
    return {finding.rule: finding for finding in findings(kernel, report.chip, report.header)}


def test_the_fixture(tmp_path):
    report = report_of(tmp_path)
    assert [(f.rule, f.line, f.explain) for f in findings(report.kernels[0], report.chip, report.header)] == [
        ("small_grid", 0, ""),
        ("target_line", 14, "lg_throttle"),
        ("uncoalesced", 14, "long_scoreboard"),
    ]
    found = told(report)
    # By hand: of the cycles that are not `selected`, 18000 + 488 + 39488 + 4 * 0 stand at line 14, 72264 in the whole
    # kernel.
    assert found["target_line"].text.startswith(
        "transpose.cu:14 holds 80% of the stalled cycles, and 51% of its cycles are lg_throttle."
    )
    assert found["uncoalesced"].text.startswith(
        "Uncoalesced global access in transpose.cu:14: 32,768 sectors for 4,096, 8 times the ideal."
    )
    assert found["small_grid"].text == "The grid has 16 blocks for 108 multiprocessors: 92 of them have nothing to do."


def test_asynchronous_copies(tmp_path):
    report = report_of(tmp_path)
    kernel = report.kernels[0]
    assert "asynchronous_copies" not in told(report)
    instructions = list(kernel.instructions)
    old = instructions[15]
    waiting = tuple(90_000 if index == INDEX["long_scoreboard"] else 0 for index in range(len(old.cost.cycles)))
    instructions[15] = replace(
        old, text="CP.ASYNC.WAIT 1", opcode="CP.ASYNC.WAIT", cost=replace(old.cost, cycles=waiting)
    )
    finding = told(report, replace(kernel, instructions=tuple(instructions)))["asynchronous_copies"]
    assert "wait for asynchronous copies, most of them at CP.ASYNC.WAIT in transpose.cu:13." in finding.text
    assert (finding.line, finding.explain) == (13, "long_scoreboard")
    instructions[15] = replace(instructions[15], opcode="LDG.32")
    assert "asynchronous_copies" not in told(report, replace(kernel, instructions=tuple(instructions)))


def test_the_f64_unit_of_a_chip():
    chip = load_chip("t4")
    assert unit_of(ChipFacts("t4")) == "the f64 unit"
    facts = ChipFacts("t4", sms=chip.sms, peaks=peaks_of(chip.describe()))
    assert unit_of(facts) == "the f64 unit: 2 lanes an SM on this chip"


def test_issue_and_occupancy_limits(tmp_path):
    report = report_of(tmp_path)
    kernel = report.kernels[0]
    busy = tuple(
        replace(
            launch,
            metrics=launch.metrics | {"issue_slots": 8000 * 4, "blocks_per_sm": 2, "occupancy_limiter": "registers"},
        )
        for launch in kernel.launches
    )
    chip = replace(report.chip, sms=16)  # as many as blocks

    def said(launches) -> list[str]:
        found = findings(replace(kernel, launches=launches), chip, report.header)
        return [f.text for f in found if f.rule in ("issue_slots", "occupancy")]

    assert said(busy) == [
        "The schedulers issue in 100% of the cycles: only fewer instructions make this kernel faster.",
        "At most 25% of the warp slots can be filled. The registers set the limit.",
        "Only 18% of the warp slots were filled, where 25% could be: too few blocks, or uneven ones.",
    ]


def test_where_sms_have_no_block_the_slots_of_the_others_do_not_matter(tmp_path):
    found = told(report_of(tmp_path))
    assert "small_grid" in found and "occupancy" not in found


def test_costliest_first_and_the_remedy_before_the_reason():
    """Costs that rules explain are theirs; samples come last, whatever the others cost."""
    found = (
        Finding("target_line", "the line", cost=0.8),
        Finding("uncoalesced", "the load", cost=0.5),
        Finding("occupancy", "the slots"),
        Finding("small_grid", "the grid", cost=0.6),
        Finding("sampling", "the samples"),
        Finding("local_memory", "the spills", cost=0.1),
    )
    assert [each.text for each in by_cost(found)] == [
        "the grid", "the load", "the line", "the spills", "the slots", "the samples",
    ]  # fmt: skip


def test_no_line_stands_out(tmp_path):
    report = report_of(tmp_path)
    at_barrier = tuple(100 if reason == INDEX["barrier"] else 0 for reason in range(len(ZEROS)))
    spread = {}  # one instruction of each line: five lines, a fifth each
    for instruction in report.kernels[0].instructions:
        spread[instruction.positions[0]] = replace(
            instruction, cost=replace(instruction.cost, cycles=at_barrier, counters=Counters())
        )
    finding = told(report, replace(report.kernels[0], instructions=tuple(spread.values())))["kernel_reason"]
    assert finding.text.startswith("No single line stands out, but 100% of the stalled cycles are barrier.")
    assert finding.explain == "barrier"


BOTH = "a longer --period, or a larger --fifo and a larger --buffer or a shorter --poll"


def test_dropped_and_few_samples(tmp_path):
    report = report_of(tmp_path, dropped=5)
    for losses, full, remedy in (
        ((), "a buffer was", "a longer --period"),
        (((0, 10, 0),), "FIFOs were", "a longer --period or a larger --fifo"),
        (((3, 0, 10),), "the event buffer was", "a longer --period, a larger --buffer or a shorter --poll"),
        (((3, 0, 6), (1, 4, 0)), "FIFOs and the event buffer were", BOTH),
    ):
        found = findings(report.kernels[0], report.chip, replace(report.header, losses=losses))
        texts = [finding.text for finding in found if finding.rule == "sampling"]
        assert texts == [
            f"10 samples were dropped, since {full} full; the rest favours the warps that came first: collect "
            f"with {remedy}."
        ]


def test_metrics_that_are_missing_say_nothing(tmp_path):
    report = report_of(tmp_path)
    kernel = replace(
        report.kernels[0], launches=tuple(replace(launch, metrics={}) for launch in report.kernels[0].launches)
    )
    assert set(told(report, kernel)) == {"target_line", "uncoalesced", "small_grid"}


def test_sampled_beside_exact(tmp_path):
    report = report_of(tmp_path)
    kernel = report.kernels[0]
    assert told(report).get("sampled_beside_exact") is None
    # Line 14's samples taken away: the ledger keeps its cycles there, and no interval of few samples reaches up to
    # them.
    instructions = tuple(
        replace(each, cost=replace(each.cost, samples=ZEROS, not_issued=ZEROS))
        if each.positions[0].line == 14
        else each
        for each in kernel.instructions
    )
    finding = told(report, replace(kernel, instructions=instructions))["sampled_beside_exact"]
    exact = (
        sum(sum(each.cost.cycles) for each in kernel.instructions if each.positions[0].line == 14)
        / kernel.cost.warp_cycles
    )
    assert finding.text == (
        f"0% of the samples are at transpose.cu:14, but {100 * exact:.0f}% of the warps' time is spent there: each "
        "sample is one warp of an SM, so nearly empty SMs count too much. The sampled column weighs them by the warps "
        "that they stand for: 64%. Use the exact column."
    )
    assert (
        told(
            replace(report, header=replace(report.header, mode="all")), replace(kernel, instructions=instructions)
        ).get("sampled_beside_exact")
        is None
    )
