"""Triage of double precision on chips whose partitions share one f64 unit. Its full queue is charged as tex_throttle
and its results as short_scoreboard, as on cards; but textures have nothing to do with it.
"""

from collections.abc import Iterator

from gpuprof.base.wording import base_name, percent0, plural
from gpuprof.chips.peaks import FUSED
from gpuprof.isa.opcodes import named
from gpuprof.isa.stalls import INDEX, REASONS
from gpuprof.report.model import ChipFacts, Instruction, Row
from gpuprof.report.triage.findings import Case, Finding
from gpuprof.report.triage.reason_advice import advice_on

LEAST_SHARE = 0.30  # of the kernel's cycles, as for a line
TEX_THROTTLE, SHORT_SCOREBOARD = INDEX["tex_throttle"], INDEX["short_scoreboard"]


def _computes_f64(opcode: str) -> bool:
    """True for what such a unit does: arithmetic of f64, and conversions from and to 64 bits."""
    op = named(opcode)
    if op is None:
        return False
    converts = op.latency == "conversion" and any(of.endswith("64") for of in op.types)
    return op.pipe == "fp64" or op.latency == "tensor64" or converts


def _fetches(opcode: str) -> bool:
    op = named(opcode)
    return op is not None and op.pipe == "tex"


def f64_unit(case: Case) -> Iterator[Finding]:
    """A finding where warps wait for the unit: for a place in its queue, or for its results."""
    waited = waits_by_instruction(case)
    total = sum(waited.values())
    if not total or total <= LEAST_SHARE * sum(case.kernel.cost.reasons):
        return
    by_line: dict[tuple[str, int], int] = {}
    for pc, cycles in waited.items():
        if position := case.kernel.positions.get(pc):
            by_line[position.path, position.line] = by_line.get((position.path, position.line), 0) + cycles
    path, line = max(by_line, key=lambda at: (by_line[at], at), default=("", 0))
    most = f", most of them in {base_name(path)}:{line}" if line else ""
    share = percent0(total / sum(case.kernel.cost.reasons))
    text = f"{share} of the cycles wait for {unit_of(case.chip)}{most}. {REMEDY}"
    yield Finding("f64_unit", text, path, line, "tex_throttle", total / sum(case.kernel.cost.reasons))


REMEDY = "Use f32 where it suffices, or compute less in f64."


def waits_by_instruction(case: Case) -> dict[int, int]:
    """Warp-cycles by the f64 instruction that waits for the queue, or whose result is waited for; none where the
    partitions have units of their own, which have no queue.
    """
    opcodes = {i.pc: i.opcode for i in case.kernel.instructions}
    waited = {i.pc: i.cost.reasons[TEX_THROTTLE] for i in case.kernel.instructions if _computes_f64(i.opcode)}
    if not any(waited.values()):
        return {}
    for blame in case.kernel.blames:
        if blame.reason == SHORT_SCOREBOARD and _computes_f64(opcodes.get(blame.cause_pc, "")):
            waited[blame.cause_pc] += blame.cycles
    return {pc: cycles for pc, cycles in waited.items() if cycles}


def unit_of(chip: ChipFacts) -> str:
    """ "the f64 unit: 2 lanes an SM on this chip"."""
    peak = chip.peaks.get("f64")
    if peak is None or not chip.sms:
        return "the f64 unit"
    return f"the f64 unit: {plural(round(peak.per_cycle / FUSED / chip.sms), 'lane', 'lanes')} an SM on this chip"


def remedy(case: Case, reason: int, row: Row | None = None) -> str:
    """Says what a stall reason means and what helps, where it rules the line of `row`, or else the kernel."""
    if reason == TEX_THROTTLE and not waits_for_textures(case, row):
        return f"The queue is full of {unit_of(case.chip)}. {REMEDY}"
    return f"{REASONS[reason].text} {advice_on(reason, case, row)}"


def waits_for_textures(case: Case, row: Row | None) -> bool:
    """True where most cycles of tex_throttle are at accesses to textures or surfaces."""

    def is_meant(instruction: Instruction) -> bool:
        return row is None or any(position.line == row.number for position in instruction.positions)

    waiting = [i for i in case.kernel.instructions if i.cost.reasons[TEX_THROTTLE] and is_meant(i)]
    at_textures = sum(i.cost.reasons[TEX_THROTTLE] for i in waiting if _fetches(i.opcode))
    return 2 * at_textures >= sum(i.cost.reasons[TEX_THROTTLE] for i in waiting)
