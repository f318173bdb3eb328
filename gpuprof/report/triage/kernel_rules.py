"""Triage: what to look at first and why, in plain sentences. A rule is a function and a row of the table at the end.

Thresholds are Nsight Compute's, and its users' ("Sections and rules"): a line over 30 % of the stalled cycles is the
target, a reason over 50 % of a line is the cause, and so on; each is declared once, below.
"""

from collections.abc import Callable, Iterator
from functools import partial
from types import FunctionType
from typing import NamedTuple

from gpuprof.base.wording import base_name, percent0, plural
from gpuprof.correlate.advice import advice_rules as advice
from gpuprof.isa.opcodes import names_of_kinds
from gpuprof.isa.stalls import INDEX, NAMES
from gpuprof.isa.vocabularies import NCU, Vocabulary
from gpuprof.report.model import SELECTED, ChipFacts, Header, Kernel, ranked
from gpuprof.report.number_text import product
from gpuprof.report.sections import source_sections
from gpuprof.report.throughput import HIGH, throughput
from gpuprof.report.totals import totals
from gpuprof.report.triage.atomic_rules import atomics_of_a_slice
from gpuprof.report.triage.f64_rules import LEAST_SHARE as F64_SHARE, f64_unit, remedy
from gpuprof.report.triage.findings import Case, Finding, line_name, stalled
from gpuprof.report.triage.reason_advice import full_of_atomics
from gpuprof.report.triage.sample_rules import in_step, sampled_beside_exact, sampling, too_thin
from gpuprof.report.triage.waiting_rules import SIGNAL_SHARE, grid_barrier

MOST_MEASURED = 3  # pieces of advice
LINE_SHARE = 0.30
REASON_SHARE = 0.50
ASYNCHRONOUS_SHARE = 0.10  # ours
ASYNCHRONOUS_WAITS = names_of_kinds("copy_wait", "mbarrier_wait", "bulk_wait")
LONG_SCOREBOARD = INDEX["long_scoreboard"]
MIN_OCCUPANCY = 0.80
LOW_ISSUE, HIGH_ISSUE = 0.60, 0.80


def measured(case: Case) -> Iterator[Finding]:
    """Advice that `gpuprof advise` has measured."""
    for each in case.kernel.measured[:MOST_MEASURED]:
        text = (
            f"{each.place}: {each.speedup:.2f} times as fast, measured ({each.topic}): {each.evidence}. {each.change}"
        )
        yield Finding("measured", text, each.path, each.line, cost=1 - 1 / max(each.speedup, 1))


def target_line(case: Case) -> Iterator[Finding]:
    whole = stalled(case.kernel.cost.reasons)
    for path, row in case.worst(lambda row: stalled(row.cost.reasons)):
        share = stalled(row.cost.reasons) / whole
        if share <= LINE_SHARE:
            continue
        cause = next(reason for reason in ranked(row.cost.reasons) if reason != SELECTED)
        part = row.cost.reasons[cause] / sum(row.cost.reasons)
        cost = stalled(row.cost.reasons) / sum(case.kernel.cost.reasons)
        text = f"{line_name(path, row)} holds {percent0(share)} of the stalled cycles"
        if part > REASON_SHARE:
            label = case.vocabulary.label(cause)
            text += f", and {percent0(part)} of its cycles are {label}. {remedy(case, cause, row)}"
        else:
            text += (
                f"; its largest reason is {case.vocabulary.label(cause)} with {percent0(part)}. Look at its "
                f"instructions: --source-lines {row.number}."
            )
        yield Finding("target_line", text, path, row.number, NAMES[cause], cost)


def kernel_reason(case: Case) -> Iterator[Finding]:
    """One reason rules the kernel although no line stands out."""
    reasons = case.kernel.cost.reasons
    whole = stalled(reasons)
    if not whole or any(stalled(row.cost.reasons) > LINE_SHARE * whole for _, row in case.lines()):
        return
    cause = next(reason for reason in ranked(reasons) if reason != SELECTED)
    if reasons[cause] > REASON_SHARE * whole:
        text = (
            f"No single line stands out, but {percent0(reasons[cause] / whole)} of the stalled cycles are "
            f"{case.vocabulary.label(cause)}. "
        )
        yield Finding(
            "kernel_reason", text + remedy(case, cause), explain=NAMES[cause], cost=reasons[cause] / sum(reasons)
        )


def asynchronous_copies(case: Case) -> Iterator[Finding]:
    """A finding where much of the waiting for memory is for copies that were started earlier: it needs another remedy
    than loads.
    """
    waits = [i for i in case.kernel.instructions if i.opcode.startswith(ASYNCHRONOUS_WAITS) and i.positions]
    waited = sum(i.cost.reasons[LONG_SCOREBOARD] for i in waits)
    if waited <= ASYNCHRONOUS_SHARE * sum(case.kernel.cost.reasons):
        return
    worst = max(waits, key=lambda i: (i.cost.reasons[LONG_SCOREBOARD], -i.pc))
    position = worst.positions[0]
    text = (
        f"{percent0(waited / sum(case.kernel.cost.reasons))} of the cycles wait for asynchronous copies, most of them "
        f"at {worst.opcode} in "
        f"{base_name(position.path)}:{position.line}. Start the copies earlier: keep more stages in flight while "
        "one is used, or give each stage more work."
    )
    cost = waited / sum(case.kernel.cost.reasons)
    yield Finding("asynchronous_copies", text, position.path, position.line, "long_scoreboard", cost)


def occupancy(case: Case) -> Iterator[Finding]:
    """Nothing of a grid that leaves SMs empty, which is what keeps the slots empty; nor where more warps would only
    wait for the same slice of the L2.
    """
    if any(small_grid(case)) or full_of_atomics(case):
        return
    theoretical, achieved = case.totals.theoretical_occupancy, case.totals.achieved_occupancy
    if theoretical is not None and theoretical < MIN_OCCUPANCY:
        limiter = (
            f" {LIMITERS.get(case.totals.limiter, case.totals.limiter)} set the limit." if case.totals.limiter else ""
        )
        yield Finding("occupancy", f"At most {percent0(theoretical)} of the warp slots can be filled.{limiter}")
    if theoretical and achieved is not None and achieved < MIN_OCCUPANCY * theoretical:
        yield Finding(
            "occupancy",
            f"Only {percent0(achieved)} of the warp slots were filled, where {percent0(theoretical)} could be: too few "
            "blocks, or uneven ones.",
        )


LIMITERS = {
    "warps": "The warps",
    "blocks": "The block slots",
    "registers": "The registers",
    "shared": "The shared memory",
}


def issue_slots(case: Case) -> Iterator[Finding]:
    used = case.totals.issue_utilisation
    if used is None:
        return
    if used > HIGH_ISSUE:
        yield Finding(
            "issue_slots",
            f"The schedulers issue in {percent0(used)} of the cycles: only fewer instructions make this kernel faster.",
            cost=used,
        )
    elif used < LOW_ISSUE and not computes(case):
        yield Finding(
            "issue_slots",
            f"The schedulers issue in {percent0(used)} of the cycles: in the others no warp is ready.",
        )


def computes(case: Case) -> bool:
    """True where arithmetic is near its peak: a pipe with few lanes is full before the issue slots are."""
    uses = case.used.uses
    return any(use.share >= HIGH for use in uses if use.resource.is_compute)


def small_grid(case: Case) -> Iterator[Finding]:
    if not case.chip.sms or not case.kernel.launches:
        return
    blocks = max(product(launch.grid) for launch in case.kernel.launches)
    if blocks < case.chip.sms:
        grid, sms = plural(blocks, "block", "blocks"), plural(case.chip.sms, "multiprocessor", "multiprocessors")
        idle = plural(case.chip.sms - blocks, "of them has", "of them have")
        cost = 1 - blocks / case.chip.sms
        yield Finding("small_grid", f"The grid has {grid} for {sms}: {idle} nothing to do.", cost=cost)


def advised(rule: advice.Rule, case: Case) -> Iterator[Finding]:
    """A finding of this rule of `correlate`, with its count and cycles, if the kernel has one."""
    for stored in case.kernel.advice:
        if stored.kind == rule.name:
            position = case.kernel.positions.get(stored.pc)
            path, line = (position.path, position.line) if position else ("", 0)
            cost = None if stored.cost_cycles is None else stored.cost_cycles / max(sum(case.kernel.cost.reasons), 1)
            yield Finding(rule.name, stored.text, path, line, rule.explain, cost)


class Rule(NamedTuple):
    """A rule, with a text about what it looks for, for `gpuprof explain`; its findings have its name."""

    name: str
    look: Callable[[Case], Iterator[Finding]]
    text: str


def _own(look: FunctionType, text: str) -> Rule:
    return Rule(look.__name__, look, text)


RULES = (
    _own(measured, f"The first {MOST_MEASURED} pieces of `gpuprof advise`, where the database has them: they take the "
         "place of what rules suppose."),
    _own(f64_unit, f"More than {percent0(F64_SHARE)} of the cycles wait for an f64 unit that the partitions of an SM "
         "share."),
    _own(target_line, f"A line with more than {percent0(LINE_SHARE)} of the kernel's stalled cycles, and its reason."),
    _own(kernel_reason, f"A reason with more than {percent0(REASON_SHARE)} of the stalled cycles, where no line has "
         "so many."),
    _own(asynchronous_copies, f"More than {percent0(ASYNCHRONOUS_SHARE)} of the cycles wait for copies that were "
         "started earlier."),
    _own(grid_barrier, f"More than {percent0(SIGNAL_SHARE)} of the stalled cycles wait in a loop for other blocks."),
    _own(atomics_of_a_slice, f"A slice of the L2 that works on atomics in more than {percent0(HIGH)} of the cycles."),
    *(Rule(rule.name, partial(advised, rule), rule.text) for rule in advice.RULES),
    _own(occupancy, f"Less than {percent0(MIN_OCCUPANCY)} of the warp slots can be, or were, filled."),
    _own(issue_slots, f"Schedulers that issue in less than {percent0(LOW_ISSUE)}, or more than {percent0(HIGH_ISSUE)}, "
         "of the cycles."),
    _own(small_grid, "A grid with fewer blocks than the chip has multiprocessors."),
    _own(sampling, "Samples that were dropped, or are few."),
    _own(sampled_beside_exact, "A line whose number of samples misleads, since each stands for another number of "
         "warps."),
    _own(too_thin, "Lines that the samples cannot put in order, and the period that could."),
    _own(in_step, "A sampling period that beats in step with a loop."),
)  # fmt: skip


# Statements about a reason; rules about causes say more.
GENERAL = (target_line.__name__, kernel_reason.__name__, issue_slots.__name__)
CAUSES = (
    *(look.__name__ for look in (asynchronous_copies, f64_unit, grid_barrier, atomics_of_a_slice)),
    *(rule.name for rule in advice.RULES),
)
OF_SAMPLES = tuple(look.__name__ for look in (sampling, sampled_beside_exact, too_thin, in_step))


def findings(kernel: Kernel, chip: ChipFacts, header: Header, vocabulary: Vocabulary = NCU) -> tuple[Finding, ...]:
    """The findings of all rules about a kernel, see `by_cost`. Rules keep their order among equals."""
    used = throughput(kernel.launches, chip)
    case = Case(kernel, source_sections(kernel), totals(kernel, chip), used, chip, header, vocabulary)
    return by_cost(tuple(finding for rule in RULES for finding in rule.look(case)))


def by_cost(found: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Costliest first, then those without a cost; what is about samples comes last. A cost that rules about causes
    explain is theirs, so that the remedy comes before the reason. Measured advice takes the place of both.
    """
    if any(each.rule == measured.__name__ for each in found):
        found = tuple(each for each in found if each.rule not in (*GENERAL, *CAUSES))
    explained = sum(each.cost or 0 for each in found if each.rule in CAUSES)

    def rank(finding: Finding) -> float:
        if finding.cost is None:
            return -1
        return max(finding.cost - explained, 0) if finding.rule in GENERAL else finding.cost

    is_measured = measured.__name__
    return tuple(sorted(found, key=lambda each: (each.rule in OF_SAMPLES, each.rule != is_measured, -rank(each))))
