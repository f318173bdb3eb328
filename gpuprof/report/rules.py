"""Triage: what to look at first and why, in plain sentences. A rule is a function and a row of the table at the end.

Thresholds are Nsight Compute's, and its users' ("Sections and rules"): a line over 30 % of the stalled cycles is the target, a
reason over 50 % of a line is the cause, and so on; each stands once, below.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from gpuprof.isa.stalls import INDEX, NAMES, REASONS
from gpuprof.isa.vocabularies import NCU, Vocabulary
from gpuprof.report.bars import ranked
from gpuprof.report.estimates import Estimate, scale_of
from gpuprof.report.figures import base_name, grouped, product
from gpuprof.report.intervals import wilson
from gpuprof.report.listing import source_sections
from gpuprof.report.model import SELECTED, ChipFacts, Header, Kernel, Row, Section
from gpuprof.report.ranking import Overlap, overlaps
from gpuprof.report.resonance import resonances
from gpuprof.report.totals import Totals, totals

LINE_SHARE = 0.30
REASON_SHARE = 0.50
SECTOR_RATIO = 2.0
BANK_CONFLICT_SHARE = 0.10
LOCAL_SHARE = 0.10
MIN_LANES = 24
ASYNCHRONOUS_SHARE = 0.10  # ours
ASYNCHRONOUS_WAITS = ("CP.ASYNC.WAIT", "MBAR.TEST_WAIT", "MBAR.TRY_WAIT", "BULK.WAIT")
LONG_SCOREBOARD = INDEX["long_scoreboard"]
MIN_OCCUPANCY = 0.80
LOW_ISSUE, HIGH_ISSUE = 0.60, 0.80
MIN_SAMPLES = 1000
MISLEADING_SHARE = 0.05  # ours: that far apart, two lines may change places
LINES_PER_RULE = 2
RANKED_SHARE = 0.05  # ours: below it a line's place among the others is not worth a sentence
LINE_LEAST_COST = 0.01  # a line below this share of the kernel is not worth a sentence


class Finding(NamedTuple):
    rule: str
    text: str
    path: str = ""  # "" and 0: the whole kernel
    line: int = 0
    explain: str = ""  # a stall reason to read about


class Case(NamedTuple):
    """What a rule looks at."""

    kernel: Kernel
    sections: tuple[Section, ...]
    totals: Totals
    chip: ChipFacts
    header: Header
    vocabulary: Vocabulary = NCU

    def lines(self) -> Iterator[tuple[str, Row]]:
        for section in self.sections:
            for row in section.rows:
                if row.number:
                    yield section.path, row

    def worst(self, weight: Callable[[Row], float]) -> list[tuple[str, Row]]:
        """The lines with the largest positive weight, largest first, cheap lines left out."""
        least = LINE_LEAST_COST * sum(self.kernel.cost.reasons)
        lines = [(path, row) for path, row in self.lines() if weight(row) > 0 and sum(row.cost.reasons) >= least]
        lines.sort(key=lambda item: (-weight(item[1]), item[0], item[1].number))
        return lines[:LINES_PER_RULE]


def stalled(reasons: tuple[int, ...]) -> int:
    return sum(reasons) - reasons[SELECTED]


def place(path: str, row: Row) -> str:
    return f"{base_name(path)}:{row.number}"


def percent0(value: float) -> str:
    return f"{100 * value:.0f}%"


def target_line(case: Case) -> Iterator[Finding]:
    whole = stalled(case.kernel.cost.reasons)
    for path, row in case.worst(lambda row: stalled(row.cost.reasons)):
        share = stalled(row.cost.reasons) / whole
        if share <= LINE_SHARE:
            continue
        cause = next(reason for reason in ranked(row.cost.reasons) if reason != SELECTED)
        part = row.cost.reasons[cause] / sum(row.cost.reasons)
        text = f"{place(path, row)} holds {percent0(share)} of the stalled cycles"
        if part > REASON_SHARE:
            text += f", and {percent0(part)} of its cycles are {case.vocabulary.told(cause)}. {REASONS[cause].text} {REASONS[cause].advice}"
        else:
            text += f"; its largest reason is {case.vocabulary.told(cause)} with {percent0(part)}. Look at its instructions: --source-lines {row.number}."
        yield Finding("target_line", text, path, row.number, NAMES[cause])


def kernel_reason(case: Case) -> Iterator[Finding]:
    """One reason rules the kernel although no line stands out."""
    reasons = case.kernel.cost.reasons
    whole = stalled(reasons)
    if not whole or any(stalled(row.cost.reasons) > LINE_SHARE * whole for _, row in case.lines()):
        return
    cause = next(reason for reason in ranked(reasons) if reason != SELECTED)
    if reasons[cause] > REASON_SHARE * whole:
        text = (
            f"No single line stands out, but {percent0(reasons[cause] / whole)} of the stalled cycles are {case.vocabulary.told(cause)}. "
        )
        yield Finding("kernel_reason", text + f"{REASONS[cause].text} {REASONS[cause].advice}", explain=NAMES[cause])


def asynchronous_copies(case: Case) -> Iterator[Finding]:
    """Much of the waiting for memory is for copies that were started earlier: the cure is another one than for loads."""
    waits = [i for i in case.kernel.instructions if i.opcode.startswith(ASYNCHRONOUS_WAITS) and i.positions]
    waited = sum(i.cost.reasons[LONG_SCOREBOARD] for i in waits)
    if waited <= ASYNCHRONOUS_SHARE * sum(case.kernel.cost.reasons):
        return
    worst = max(waits, key=lambda i: (i.cost.reasons[LONG_SCOREBOARD], -i.pc))
    position = worst.positions[0]
    text = (
        f"{percent0(waited / sum(case.kernel.cost.reasons))} of the cycles wait for asynchronous copies, most of them at {worst.opcode} in "
        f"{base_name(position.path)}:{position.line}. Start the copies earlier: keep more stages on their way while one is used, or give each stage more work."
    )
    yield Finding("asynchronous_copies", text, position.path, position.line, "long_scoreboard")


def uncoalesced(case: Case) -> Iterator[Finding]:
    for path, row in case.worst(lambda row: row.cost.counters.l2_sectors_global_excess):
        counters = row.cost.counters
        asked, ideal = counters.l2_sectors_global, counters.l2_sectors_global_ideal
        times = f"{asked / ideal:.3g} times the ideal" if ideal else "none would do"
        strength = "Uncoalesced" if asked >= SECTOR_RATIO * ideal else "Partly uncoalesced"
        text = (
            f"{strength} global access in {place(path, row)}: {grouped(asked)} sectors for {grouped(ideal)}, {times}. "
            "Let neighbouring threads touch neighbouring addresses, or go through shared memory."
        )
        yield Finding("uncoalesced", text, path, row.number, "long_scoreboard")


def bank_conflicts(case: Case) -> Iterator[Finding]:
    counters = case.kernel.cost.counters
    excess = counters.l1_wavefronts_shared_excess
    if excess <= BANK_CONFLICT_SHARE * counters.l1_wavefronts_shared:
        return
    for path, row in case.worst(lambda row: row.cost.counters.l1_wavefronts_shared_excess):
        used, ideal = row.cost.counters.l1_wavefronts_shared, row.cost.counters.l1_wavefronts_shared_ideal
        text = (
            f"Bank conflicts in {place(path, row)}: {grouped(used)} shared-memory wavefronts where {grouped(ideal)} would do. "
            "Pad the array's row by one element, or change which lanes touch which word."
        )
        yield Finding("bank_conflicts", text, path, row.number, "short_scoreboard")


def local_memory(case: Case) -> Iterator[Finding]:
    counters = case.kernel.cost.counters
    sectors = counters.l2_sectors_local + counters.l2_sectors_global
    if counters.l2_sectors_local <= LOCAL_SHARE * sectors:
        return
    spills = f" {case.kernel.spill_nbytes} bytes are register spills." if case.kernel.spill_nbytes else ""
    for path, row in case.worst(lambda row: row.cost.counters.l2_sectors_local)[:1]:
        text = (
            f"Local memory is {percent0(counters.l2_sectors_local / sectors)} of the memory sectors, most of it in {place(path, row)}.{spills} "
            "Index arrays with constants, or give the kernel more registers."
        )
        yield Finding("local_memory", text, path, row.number, "lg_throttle")


def divergence(case: Case) -> Iterator[Finding]:
    def lost(row: Row) -> float:
        counters = row.cost.counters
        mean = counters.thread_inst_executed / counters.inst_executed if counters.inst_executed else case.chip.lanes
        return case.chip.lanes * counters.inst_executed - counters.thread_inst_executed if mean < MIN_LANES else 0

    for path, row in case.worst(lost)[:1]:
        mean = row.cost.counters.thread_inst_executed / row.cost.counters.inst_executed
        text = (
            f"{place(path, row)} runs with {mean:.1f} of {case.chip.lanes} lanes. "
            "Let whole warps take one side of a branch, or give every lane the same amount of work."
        )
        yield Finding("divergence", text, path, row.number, "branch_resolving")


def occupancy(case: Case) -> Iterator[Finding]:
    theoretical, achieved = case.totals.theoretical_occupancy, case.totals.achieved_occupancy
    if theoretical is not None and theoretical < MIN_OCCUPANCY:
        limiter = f" {LIMITERS.get(case.totals.limiter, case.totals.limiter)} set the limit." if case.totals.limiter else ""
        yield Finding("occupancy", f"At most {percent0(theoretical)} of the warp slots can be filled.{limiter}")
    if theoretical and achieved is not None and achieved < MIN_OCCUPANCY * theoretical:
        yield Finding(
            "occupancy",
            f"Only {percent0(achieved)} of the warp slots were filled, where {percent0(theoretical)} could be: too few blocks, or uneven ones.",
        )


LIMITERS = {"warps": "The warps", "blocks": "The block slots", "registers": "The registers", "shared": "The shared memory"}


def issue_slots(case: Case) -> Iterator[Finding]:
    used = case.totals.issue_utilisation
    if used is None:
        return
    if used > HIGH_ISSUE:
        yield Finding(
            "issue_slots", f"The schedulers issue in {percent0(used)} of the cycles: only fewer instructions make this kernel faster."
        )
    elif used < LOW_ISSUE:
        yield Finding("issue_slots", f"The schedulers issue in {percent0(used)} of the cycles: the kernel waits, it does not compute.")


def small_grid(case: Case) -> Iterator[Finding]:
    if not case.chip.sms or not case.kernel.launches:
        return
    blocks = max(product(launch.grid) for launch in case.kernel.launches)
    if blocks < case.chip.sms:
        yield Finding(
            "small_grid",
            f"The grid has {blocks} blocks for {case.chip.sms} multiprocessors: {case.chip.sms - blocks} of them have nothing to do.",
        )


def sampling(case: Case) -> Iterator[Finding]:
    launches = case.kernel.launches
    kept, dropped = sum(launch.samples_kept for launch in launches), sum(launch.samples_dropped for launch in launches)
    if dropped:
        full, remedy = FULL[any(fifo for _, fifo, _ in case.header.losses), any(buffer for _, _, buffer in case.header.losses)]
        yield Finding(
            "sampling",
            f"{grouped(dropped)} samples were dropped, since {full} full; what is left leans to the warps that came first: collect with {remedy}.",
        )
    if case.header.period_cycles and 0 < kept < MIN_SAMPLES:
        sure = "; the exact column is sure" if case.kernel.cost.warp_cycles else ""
        yield Finding("sampling", f"{grouped(kept)} samples are few: shares are sure to within the interval shown{sure}.")


FULL = {  # by whether FIFOs dropped samples, and whether the event buffer did: what was full, and what helps; old recordings do not tell
    (False, False): ("a buffer was", "a longer --period"),
    (True, False): ("FIFOs were", "a longer --period or a larger --fifo"),
    (False, True): ("the event buffer was", "a longer --period, a larger --buffer or a shorter --poll"),
    (True, True): ("FIFOs and the event buffer were", "a longer --period, or a larger --fifo and a larger --buffer or a shorter --poll"),
}


def sampled_beside_exact(case: Case) -> Iterator[Finding]:
    """Where the sampler's share of a costly line leaves the exact one outside its interval by enough to mislead, and weighing cures it."""
    whole, scale = case.kernel.cost, scale_of(case.kernel)
    if not whole.n_samples or not whole.warp_cycles or case.header.mode != "random" or not case.header.samples_time:
        return
    for path, row in case.worst(lambda row: row.cost.warp_cycles):
        exact, sampled = row.cost.warp_cycles / whole.warp_cycles, row.cost.n_samples / whole.n_samples
        low, high = wilson(row.cost.n_samples, whole.n_samples)
        if abs(sampled - exact) >= MISLEADING_SHARE and not low <= exact <= high and (scale.estimate(row.cost).holds or not scale.weighted):
            yield Finding(
                "sampled_beside_exact",
                f"A sampler sees {percent0(sampled)} at {place(path, row)}, where {percent0(exact)} of the warps' time goes: it takes one warp "
                "of each SM, however many are there, so SMs that are nearly empty count too much. Go by the exact column.",
                path,
                row.number,
            )
            return


def too_thin(case: Case) -> Iterator[Finding]:
    """Lines that the samples cannot put in order."""
    scale = scale_of(case.kernel)
    if not scale.whole or not case.header.samples_time or resonances(case.kernel, case.header.period_cycles):
        return
    lines = {place(path, row): scale.estimate(row.cost) for path, row in case.lines()}
    worth = [(name, found) for name, found in lines.items() if max(found.share, found.exact or 0) >= RANKED_SHARE]
    found = overlaps(worth, scale.effective, case.header.period_cycles)
    if not found:
        return
    unsure = len({name for each in found for name in (each.upper, each.lower)})
    first = found[0]
    text = f"The samples are too few to rank {unsure} of the {len(worth)} lines of 5% and more: {named(first.upper, first.upper_estimate)} and "
    text += f"{named(first.lower, first.lower_estimate)} overlap. {enough_for(found)}"
    yield Finding("too_thin", text + (" The exact column ranks them." if scale.warp_cycles else ""), *place_of(case, first.upper))


def named(name: str, estimate: Estimate) -> str:
    return f"{name} ({100 * estimate.low:.0f}-{100 * estimate.high:.0f}%)"


def enough_for(found: list[Overlap]) -> str:
    """Which period would part the first two, and all."""
    periods = [each.enough_cycles for each in found]
    least = min((period for period in periods if period), default=None)
    if periods[0] is None:
        text = "No period parts these two"
        return f"{text}; one of {grouped(least)} cycles parts all that can be." if least else f"{text}."
    if None in periods or least != periods[0]:
        rest = "all that can be parted" if None in periods else "all"
        return f"A period of {grouped(periods[0])} cycles would be enough for these two, of {grouped(least)} for {rest}."
    return f"A period of {grouped(least)} cycles would be enough."


def place_of(case: Case, name: str) -> tuple[str, int]:
    return next((path, row.number) for path, row in case.lines() if place(path, row) == name)


def in_step(case: Case) -> Iterator[Finding]:
    """The sampling period resonates with a loop."""
    if sum(launch.samples_dropped for launch in case.kernel.launches) or case.header.filter:
        return  # what was lost, or not wanted, is off by itself
    for found in resonances(case.kernel, case.header.period_cycles)[:LINES_PER_RULE]:
        where = f"the loop at {base_name(found.path)}:{found.first_line}-{found.last_line}" if found.path else "a loop"
        yield Finding(
            "in_step",
            f"The samples in {where} are off by {percent0(found.distance)}, more than chance does: the period of "
            f"{grouped(case.header.period_cycles)} cycles is in step with its iterations of {found.iteration_cycles:.4g} cycles. "
            f"More samples do not help; a period of {grouped(found.better_period)} cycles does, or the exact column.",
            found.path,
            found.first_line,
        )


RULES: tuple[Callable[[Case], Iterator[Finding]], ...] = (
    target_line, kernel_reason, asynchronous_copies, uncoalesced, bank_conflicts, local_memory, divergence, occupancy, issue_slots, small_grid, sampling,
    sampled_beside_exact, too_thin, in_step,
)  # fmt: skip


def findings(kernel: Kernel, chip: ChipFacts, header: Header, vocabulary: Vocabulary = NCU) -> tuple[Finding, ...]:
    """What the rules have to say about a kernel, most telling first."""
    case = Case(kernel, source_sections(kernel), totals(kernel, chip), chip, header, vocabulary)
    return tuple(finding for rule in RULES for finding in rule(case))
