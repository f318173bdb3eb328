"""Differences as sentences: "12.0 % slower (10,000 -> 11,200 cycles): line 38 waits 2.7 M warp-cycles more for bank
conflicts".
"""

from collections.abc import Iterator
from typing import NamedTuple

from gpuprof.base.wording import base_name, plural
from gpuprof.compare.changes import Change
from gpuprof.compare.difference import Difference, KernelDifference, KernelSide, Part, summed
from gpuprof.compare.kernels import CONTENT
from gpuprof.compare.lines import CHANGED, GONE, MOVED, NEW, SAME, Spot
from gpuprof.isa.causes import KINDS
from gpuprof.isa.printing.printable import printable
from gpuprof.isa.stalls import INDEX, NAMES
from gpuprof.report.differences.read_sides import Compared, Head
from gpuprof.report.number_text import duration, grouped

SELECTED = INDEX["selected"]
# What a warp waits for, by reason.
WAITS_FOR = {
    "not_selected": "the scheduler, which issues other warps",
    "wait": "results of arithmetic",
    "long_scoreboard": "data from global or local memory",
    "short_scoreboard": "shared memory or special functions",
    "barrier": "other warps at a barrier",
    "membar": "a memory fence",
    "mio_throttle": "the queue of shared memory and special functions",
    "lg_throttle": "the queue of global and local memory",
    "tex_throttle": "the queue of textures",
    "math_pipe_throttle": "a busy arithmetic pipe",
    "dispatch_stall": "the dispatcher",
    "imc_miss": "constants that were not in the cache",
    "no_instructions": "instructions that were not fetched",
    "branch_resolving": "jumps",
    "drain": "its last stores",
    "sleeping": "the end of a sleep",
    "warpgroup_arrive": "its warp group",
    "misc": "other reasons",
}
# The same, where how the stalls ended says more.
ENDED_BY = {
    "l1": "data from the L1",
    "pending": "data that is on its way to the L1",
    "l2": "data from the L2",
    "l2_far": "data from the other half of the L2",
    "dram": "data from DRAM",
    "atomic": "atomics",
    "shared": "data from shared memory",
    "signal": "a signal of another warp",
    "grid": "the grid before",
}
# The same, where the access that ended the stalls takes more passes or sectors than it needs.
BANK_CONFLICTS, UNCOALESCED = "bank conflicts", "uncoalesced accesses"
CONFLICTS = {
    "long_scoreboard": UNCOALESCED,
    "short_scoreboard": BANK_CONFLICTS,
    "mio_throttle": BANK_CONFLICTS,
    "lg_throttle": "a queue that conflicts of accesses fill",
    "drain": UNCOALESCED,
}
LABELS = {kind.name: kind.label for kind in KINDS}
POWERS = ((10**9, "G"), (10**6, "M"), (10**3, "K"))
LEAST_TIMES_PERCENT = 100  # of growth: from here on a sentence has a factor
LEAST_SHORT = 100_000  # from here on a sentence has three digits of a number, and a letter
ORIGINS = {
    "compiler": "the compiler differs",
    "gpuprof": "the versions of gpuprof differ",
    "model": "the versions of the timing model differ",
    "chip": "the chips differ",
    "chip_sha256": "the chip's numbers differ",
    "host": "the hosts differ",
}
KIND_WORDS = {SAME: "", CHANGED: "changed", MOVED: "moved", GONE: "gone", NEW: "new"}


class Group(NamedTuple):
    """Parts of a difference that a row shows together: a line, a reason, and how the stalls ended."""

    line: int
    reason: int
    kind: str
    conflict: bool


class Waits(NamedTuple):
    """Parts of a difference that a sentence names together: a line, and what it waits for; "" where it issues."""

    line: int
    waits_for: str


def waits_of(part: Part) -> Waits:
    return Waits(part.line, "" if part.reason == SELECTED else waits_for(group_of(part)))


def group_of(part: Part) -> Group:
    return Group(part.line, part.reason, part.kind, part.conflict)


def groups_of(kernel: KernelDifference) -> list[Change[Group, int]]:
    """The largest change of either sign first; those without a change are left out."""
    return [change for change in summed(kernel.parts, group_of) if change.delta]


def ending_words(group: Group) -> str:
    """How the stalls of a group ended: "shared memory, conflict"; "" where that is not known."""
    return ", ".join(filter(None, (LABELS.get(group.kind, ""), "conflict" if group.conflict else "")))


def amount(number: int) -> str:
    """ "4,096", "2.7 M"."""
    for power, letter in POWERS:
        if number >= max(power, LEAST_SHORT):
            return f"{number / power:.3g} {letter}"
    return grouped(number)


def speed(cycles: Change) -> str:
    """ "12.0 % slower (10,000 -> 11,200 cycles)"."""
    both = f"({grouped(cycles.old or 0)} -> {grouped(cycles.new or 0)} cycles)"
    if not cycles.delta:
        return f"as fast as before ({grouped(cycles.new or 0)} cycles)"
    if cycles.percent is None:
        return f"{'slower' if cycles.delta > 0 else 'faster'} {both}"
    if cycles.percent >= LEAST_TIMES_PERCENT:
        return f"{1 + cycles.percent / 100:,.1f} times as long as before {both}"
    # more digits where the change is small, never 0.0
    digits = 1 if abs(cycles.percent) >= 0.1 else 3
    return f"{abs(cycles.percent):.{digits}f} % {'slower' if cycles.delta > 0 else 'faster'} {both}"


def place_of(kernel: KernelDifference, line: int) -> str:
    """ "blur.cu:38", on the new side where that has the line."""
    side, spot = _place(kernel, line)
    path, number = base_name(side.passages[spot.passage].path), side.line(spot).number
    return printable(f"{path}:{number}" if number else path or "no line")


def is_line(kernel: KernelDifference, line: int) -> bool:
    """False for code that no line is known for."""
    side, spot = _place(kernel, line)
    return bool(side.line(spot).number)


def was_place_of(kernel: KernelDifference, line: int) -> str:
    """The old place of a line, where it is another one: "35", or "math.cuh:35" where it has moved to another file."""
    pair = kernel.lines[line]
    if not (pair.old and pair.new):
        return ""
    (old_path, old), (new_path, new) = (
        (base_name(side.passages[spot.passage].path), side.line(spot).number)
        for side, spot in ((kernel.old, pair.old), (kernel.new, pair.new))
    )
    if pair.kind == MOVED and old_path != new_path:
        return printable(f"{old_path}:{old}")
    return str(old) if old != new else ""


def note_of(kernel: KernelDifference, line: int) -> str:
    """ "new", "changed, was 35"."""
    was = was_place_of(kernel, line)
    return ", ".join(filter(None, (KIND_WORDS[kernel.lines[line].kind], f"was {was}" if was else "")))


def text_of(kernel: KernelDifference, line: int) -> str:
    side, spot = _place(kernel, line)
    return printable(" ".join(side.line(spot).text.split()))


def _place(kernel: KernelDifference, line: int) -> tuple[KernelSide, Spot]:
    """A line on the new side, or on the old side where it is gone."""
    pair = kernel.lines[line]
    if pair.new is not None:
        return kernel.new, pair.new
    assert pair.old is not None
    return kernel.old, pair.old


def line_words(kernel: KernelDifference, line: int) -> str:
    """ "line 38" in the kernel's own file, "math.cuh:38" in another one."""
    side, spot = _place(kernel, line)
    number, own = side.line(spot).number, side.passages[0].path
    if not number:
        return "code without a line"
    return f"line {number}" if side.passages[spot.passage].path == own else place_of(kernel, line)


def waits_for(group: Group) -> str:
    reason = NAMES[group.reason]
    if group.conflict and reason in CONFLICTS:
        return CONFLICTS[reason]
    return ENDED_BY.get(group.kind) or WAITS_FOR[reason]


def change_words(kernel: KernelDifference, change: Change[Waits, int], unit: str) -> str:
    """ "line 38 waits 2.7 M warp-cycles more for bank conflicts"."""
    line, waits = change.name
    kind, where = kernel.lines[line].kind, line_words(kernel, line)
    number = f"{amount(abs(change.delta))} {unit}"
    if kind in (GONE, NEW):
        before = f"{where} is gone, which" if kind == GONE else f"{where} is new, and"
        verb = {GONE: ("waited", "issued"), NEW: ("waits", "issues")}[kind]
        return f"{before} {verb[0]} {number} for {waits}" if waits else f"{before} {verb[1]} for {number}"
    more = "more" if change.delta > 0 else "less"
    return f"{where} waits {number} {more} for {waits}" if waits else f"{where} issues for {number} {more}"


def headline(kernel: KernelDifference, unit: str) -> str:
    """How much slower or faster, and the largest part of it: of the same sign, where the time changed."""
    found = summed(kernel.parts, waits_of)
    sign = kernel.cycles.delta or kernel.cost.delta
    of_sign = [change for change in found if change.delta * sign > 0] or [change for change in found if change.delta]
    most = f": {change_words(kernel, of_sign[0], unit)}" if of_sign else ""
    return f"{speed(kernel.cycles)}{most}"


def summary(difference: Difference) -> str:
    """One sentence on all kernels."""
    n_launches = sum(len(kernel.new.launches) for kernel in difference.kernels)
    of = f"{plural(n_launches, 'launch', 'launches')} of {plural(len(difference.kernels), 'kernel', 'kernels')}"
    if not difference.is_changed:
        return f"nothing changed: {of} with the same code, cycles and numbers"
    slower = sum(kernel.cycles.delta > 0 for kernel in difference.kernels)
    faster = sum(kernel.cycles.delta < 0 for kernel in difference.kernels)
    same = len(difference.kernels) - slower - faster
    counts = [f"{n} {word}" for n, word in ((slower, "slower"), (faster, "faster"), (same, "as fast")) if n]
    counts += [
        plural(len(some), f"launch {word}", f"launches {word}")
        for some, word in ((difference.gone, "gone"), (difference.new, "new"))
        if some
    ]
    return f"{speed(difference.compared_cycles)}, {of} compared: {', '.join(counts)}"


def cautions(compared: Compared) -> Iterator[str]:
    """Causes of a difference other than the kernels: the widest first."""
    for name, old, new in compared.origins:
        yield f"{ORIGINS[name]}: {old} -> {new}"
    yield from _clocks(compared)
    different = [] if compared.has_card else _cache_changes(compared)
    if different:
        (text, old, new), n_more = different[0], len(different) - 1
        more = f" and {plural(n_more, 'more launch', 'more launches')}" if n_more else ""
        yield f"the caches were filled in another way: {old} -> {new} ({text}{more})"
    for head in (compared.old, compared.new):
        yield from _of_side(head)


def _clocks(compared: Compared) -> Iterator[str]:
    """Cycles of two clocks are not of one length."""
    old, new, cycles = compared.old.clock_mhz, compared.new.clock_mhz, compared.difference.cycles
    if old and new and old != new:
        times = f"{duration(cycles.old or 0, old)} -> {duration(cycles.new or 0, new)}"
        yield f"the clocks differ: {old:,.0f} -> {new:,.0f} MHz, all launches take {times}"


def _cache_changes(compared: Compared) -> list[tuple[str, str, str]]:
    found = []
    for kernel in compared.difference.kernels:
        for old, new in zip(kernel.old.launches, kernel.new.launches, strict=True):
            both = compared.old.cache(old.launch), compared.new.cache(new.launch)
            if both[0] != both[1]:
                found.append((new.text, *both))
    return found


def _of_side(head: Head) -> Iterator[str]:
    name = printable(head.name)
    if not head.is_complete:
        yield f"{name} is not complete: its numbers cover the part before it was cut off"
    if head.n_cut_off:
        yield f"{name}: {plural(head.n_cut_off, 'launch', 'launches')} did not end, and the comparison leaves them out"
    if head.disturbance_cycles:
        yield f"{name}: sampling cost {grouped(head.disturbance_cycles)} cycles (--stream lsu)"
    yield from (f"{name}: {note}" for note in head.notes)


def kernel_notes(kernel: KernelDifference) -> Iterator[str]:
    """Facts that the numbers of a kernel do not say: how it was found, whether its code is the same, and launches of
    other shapes.
    """
    if kernel.pair.by == CONTENT:
        yield "paired by its instructions, which are the most alike"
    if not kernel.is_code_changed:
        yield "its instructions are the same"
    shapes = [
        (old, new) for old, new in zip(kernel.old.launches, kernel.new.launches, strict=True) if old.shape != new.shape
    ]
    if shapes:
        old, new = shapes[0]
        more = f", and of {plural(len(shapes) - 1, 'more launch', 'more launches')}" if len(shapes) > 1 else ""
        yield f"shape changed from {old.shape} to {new.shape}{more}"


def reason_words(kernel: KernelDifference) -> list[str]:
    """ "barrier +14,080", the largest change first."""
    return [f"{NAMES[change.name]} {change.delta:+,}" for change in kernel.by_reason if change.delta]


def code_words(kernel: KernelDifference) -> str:
    """ "43 instructions -> 44: 5 with other operands, 3 gone, 4 new"; "" where the code is the same."""
    if not kernel.is_code_changed:
        return ""
    pairs = kernel.instructions
    gone, new = sum(b < 0 for _, b in pairs), sum(a < 0 for a, _ in pairs)
    other = sum(a >= 0 and b >= 0 and kernel.old_code[a].text != kernel.new_code[b].text for a, b in pairs)
    counts = [f"{n} {word}" for n, word in ((other, "with other operands"), (gone, "gone"), (new, "new")) if n]
    return f"{len(kernel.old_code)} instructions -> {len(kernel.new_code)}: {', '.join(counts) or 'in another order'}"
