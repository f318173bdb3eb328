"""The timing model once more, to be read: plain objects, one cycle after another, nothing skipped, nothing compiled.

The same rules as gpuprof.timing, written independently of its code: it shares the chip file, the instruction table and
the trace. `time_launch` gives the ledger as {(instruction, reason): cycles}, the samples as tuples, and the counters.
"""

import itertools
import math
from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

from gpuprof.emulate.trace_log.trace_entries import MISSING_SHIFT, NEED_MASK, NEED_SHIFT, ON_CHIP, SECTOR_MASK
from gpuprof.isa.encoding import PT, RZ, decode, reads, writes
from gpuprof.isa.families.tensor import FORMS, NBITS
from gpuprof.isa.modifiers import FIELDS
from gpuprof.isa.program import basic_block_starts
from gpuprof.isa.sleeps import is_sleep_traced
from gpuprof.isa.slow_paths import slow_path_of
from gpuprof.isa.special import CONSTANTS_AT, LAUNCH_SERVICE
from gpuprof.isa.spin_loops import is_signal, polling_loads
from gpuprof.isa.stalls import NAMES
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.state.expansion import chain_cycles, generation_of, on_chip, slot_interval
from gpuprof.timing.state.machine import l1_sets, l2_sets
from gpuprof.timing.state.occupancy import occupancy
from tests.readable.blame import Blame, Cause, Level
from tests.readable.sampler import AllCells

QUANTUM = 64
PATIENCE = 1 << 16  # cycles without any issue until nobody polls any more
QUEUE = 64  # sectors that wait at a DRAM channel
STORE_QUEUE = 512  # stores that wait in front of a slice of the L2
TICK = Fraction(1, 64)  # ports keep time in these
DEPENDENCIES = ("wait", "long_scoreboard", "short_scoreboard", "imc_miss", "no_instructions", "branch_resolving")
LONG = ("memory", "atomic", "texture")
SHORT = ("shared", "atomic_shared", "constant", "xu", "conversion", "s2r", "shuffle")

TURNS = ("atom_", "red_", "mbar_")  # beginnings of semantics: lanes on one word take turns
BARRIERS = ("bar_sync", "bar_red", "bar_arrive")
CONTROL = ("branch", "branch_indirect", "call", "call_indirect", "return", "exit")


def pipe_of(op):
    """Textures and surfaces go through the queue of loads; barriers of the block need no unit."""
    if op.semantics in (*BARRIERS, "membar"):
        return "none"
    if op.kind == "special":
        return "lsu"
    return "lsu" if op.pipe == "tex" else op.pipe


def maker_of(op):
    """The unit as other units' waits know it: multiplications of which the upper half is taken are one of their own."""
    return "high" if op.latency == "imad_hi" else pipe_of(op)


def is_bulk(op):
    """Copies between global and shared memory that one lane asks for."""
    return op.space == "global" and op.semantics.startswith("bulk_")


def memory_order(instruction):
    """(order, scope) of an access or a fence."""
    return tuple(
        FIELDS[name].names[FIELDS[name].get(instruction.mods)] if name in instruction.op.fields else ""
        for name in ("sem", "scope")
    )


def empties_l1(instruction):
    """Fences, and accesses that acquire, unless they are only the block's."""
    order, scope = memory_order(instruction)
    if scope == "cta":
        return False
    if instruction.op.semantics == "membar":
        return order != "release"
    return instruction.op.space in ("global", "generic") and order in ("acquire", "acq_rel", "sc")


class Pending:
    """The cycle in which something is there. None: not known before the quantum's memory requests are served."""

    def __init__(self, cycle=None, reason="wait", pipe="", cause=None):
        self.cycle, self.reason, self.pipe, self.cause = cycle, reason, pipe, cause
        self.level = None  # where a request was served

    def after(self, t):
        return self.cycle is None or self.cycle > t


def registers_of(operand):
    """The 32-bit registers of an operand: those of a double are a pair."""
    width = 2 if operand.file == "D" else 1
    return range(operand.index * width, (operand.index + operand.count) * width)


def in_ticks(cycles):
    return round(cycles / TICK) * TICK


def hashed(line):
    return line ^ line >> 5 ^ line >> 11 ^ line >> 17 ^ line >> 23


@dataclass
class Port:
    occupant: Cause | None = None
    free: int = 0  # first cycle in which it takes an instruction
    issued: int = -1  # the last in which it took one
    time: Fraction = Fraction(0)


@dataclass
class Warp:
    block: "Block"
    number: int
    age: int
    start: int
    steps: list
    accesses: list
    registers: dict = field(default_factory=dict)
    pc: int = -1
    block_end: int = -1
    mask: int = 0
    slots_left: int = 0
    waits: list = field(default_factory=list)  # Pending
    state: str = "starting"  # waiting, holding
    hold_reason: str = ""
    hold_until: float = 0
    hold_stores: list = field(default_factory=list)
    hold_cause: Cause | None = None  # None: itself
    stalled: Counter = field(default_factory=Counter)  # cycles by reason since its last issue, or the end of a hold
    longest: tuple = (0, 0)  # stall since it arrived at a barrier, and at which instruction
    earliest: int = 0  # may not issue before
    line: int = -1
    stores: list = field(default_factory=list)
    groups: list = field(default_factory=lambda: [[]])  # of asynchronous copies, the open one last
    # of multiplications, the open one last: when they end, and which ends last
    products: list = field(default_factory=lambda: [(0, 0)])
    phase: int = -1  # key of the memory barrier it waits at
    issued: int = -1
    jumped: bool = False
    needs: list = field(default_factory=list)  # (sector, signals) that it waits for in a loop
    poll_next: float = math.inf

    def ready_from(self):
        """The first cycle in which its next instruction waits for nothing but a pipe and its turn."""
        return max([self.earliest, *(wait.cycle for wait in self.waits)])


@dataclass
class Block:
    index: int
    slot: int
    warps: list = field(default_factory=list)
    arrived: Counter = field(default_factory=Counter)
    begun: dict = field(default_factory=dict)  # when the first warp arrived, by barrier
    ended: Counter = field(default_factory=Counter)  # phases of memory barriers by key
    landed: Counter = field(default_factory=Counter)  # when the last of them ended
    lander: dict = field(default_factory=dict)  # and what ended it
    copies: int = 0  # bulk copies on their way


class Partition:
    def __init__(self, chip):
        self.lanes = [None] * (chip.warp_slots // chip.partitions)
        self.current = None
        self.ports = {}
        self.queue = []  # when each memory instruction so far left the queue
        self.queued = []  # and what it is
        self.l1_queue, self.mio_queue = [], []  # when each access to global memory so far, and each other, was served
        self.last = None  # what it issued last
        self.address_free = 0
        self.fp64_queue = []  # when each instruction so far for a shared fp64 unit was served
        self.bank_free = [0, 0]  # from when on the banks of even and odd registers have nothing to read
        self.register_free = 0  # from when on the register file takes the next instruction
        self.holder = None  # what held it up last
        self.kept = set()  # (operand's place, register) that the reuse cache has
        self.l0 = {}  # place -> (line, ready)
        self.issued = -1

    def port(self, name):
        return self.ports.setdefault(name, Port())


class Multiprocessor:
    def __init__(self, number, chip, start):
        self.number = number
        self.partitions = [Partition(chip) for _ in range(chip.partitions)]
        self.slots_free = {}  # block slot -> cycle it was freed
        self.blocks = 0
        self.lsu = Fraction(0)
        self.operands = Fraction(0)  # when shared memory has given the operands of all wgmma that are under way
        self.lsu_occupant = self.constant_occupant = None
        self.constant_free = 0
        self.fp64 = Fraction(0)  # from when on the fp64 unit that the partitions share takes the next one
        self.link = self.cluster_port = Fraction(0)
        self.l1, self.l1i, self.constants, self.constants_l15 = {}, {}, {}, {}
        self.miss_registers, self.misses = {}, 0
        self.half = 0
        self.returned = 0  # when the last miss of its L1 comes back

    def take_turn(self, arrival, passes, occupant):
        """The load/store unit is busy for `passes`, from when it is free. Operands of wgmma wait for that."""
        begin = max(Fraction(arrival), self.lsu)
        self.lsu, self.lsu_occupant = begin + passes, occupant
        if self.operands > arrival:
            self.operands += passes
        return begin

    def warps(self):
        return [(p, k, w) for p in self.partitions for k, w in enumerate(p.lanes) if w]


@dataclass
class Line:
    valid: int = 0
    pending: int = 0
    pending_until: Pending = None
    dirty: int = 0
    ticket: Fraction = Fraction(0)  # of the L2: what its channel had queued to write when it was queued; 0: it is not
    words: list = field(default_factory=lambda: [0, 0, 0, 0])  # of the L2: those of each sector that it has


@dataclass
class Request:
    arrival: int
    order: int
    sm: Multiprocessor
    line: int
    sectors: int
    kind: str
    result: Pending  # its completion
    busy: Fraction = Fraction(0)  # of an atomic, in its slice
    missing: int = 0  # words that a store leaves out
    asked_by: tuple = ()  # warp, pc
    grid: int = 0  # whose counters have it
    pc: int = -1
    watch: str = ""  # "signal" or "poll" of a loop that waits for other warps


class Load:
    """A load's result is there when all its parts are. `landing`: what a bulk copy reports to, (block, key, phases it
    ends).
    """

    def __init__(self, result, done, landing=None):
        self.result, self.parts, self.landing = result, [Level(Pending(done), "l1")], landing

    def settle(self):
        self.result.cycle = max(level.part.cycle for level in self.parts)

    def level(self):
        last = max(self.parts, key=Level.when)
        return last.name or last.part.level


class Gpu:
    def __init__(  # noqa: PLR0913  # a case for each kind of instruction
        self,
        chip,
        code,
        load_base,
        function,
        block_threads,
        warps,
        period=0,
        every_warp=False,
        fifo_depth=16,
        drain=1,
        cluster=1,
        samplings=None,
        record_nbytes=32,
    ):
        self.chip = chip
        self.instructions = [on_chip(decode(row), chip) for row in code]
        self.load_base = load_base
        self.starts = [*basic_block_starts(code).tolist(), len(code)]
        self.parts = self.parts_of_multiplications()
        self.has_phases = any(instruction.op.semantics == "mbar_wait" for instruction in self.instructions)
        self.function = function
        fit = occupancy(chip, function, block_threads)
        self.warps_per_block, self.blocks_per_sm = fit.warps_per_block, fit.blocks_per_sm
        self.cluster = min(cluster, chip.sms * fit.blocks_per_sm)
        self.l1_sets, self.l2_sets = l1_sets(chip, fit), l2_sets(chip)
        self.traces = warps
        self.total = len(warps) // self.warps_per_block
        self.next_block, self.ages, self.distributor = 0, 0, Fraction(0)
        self.sms = [Multiprocessor(n, chip, 0) for n in range(chip.sms)]
        for sm in self.sms:
            sm.slots_free = dict.fromkeys(range(self.blocks_per_sm), 0)
            sm.half = sm.number * 2 // chip.sms
        self.l2, self.slices, self.channels = {}, Counter(), Counter()
        self.atomics_of_slice, self.atomics_of_line = Counter(), Counter()  # cycles
        self.written, self.read_since = Counter(), set()  # by channel, since its bus turned
        self.banks, self.copies = {}, {}
        self.activates = Counter()  # by channel: from when on it may open another row
        self.posted = Counter()  # by channel: when all is done that no warp waits for
        self.queued, self.drained = Counter(), Counter()  # by channel: time to write what was queued so far, and done
        self.queued_sectors = Counter()  # by channel: not written yet
        self.joined = {}  # by slice: line -> the words that stores have written, by sector, and what these owe
        self.tlbs, self.l2_tlb = {}, OrderedDict()  # by SM: page -> when its translation is there
        self.requests, self.loads = [], []
        self.polls = polling_loads(code)
        self.pollers, self.signals = [], {}  # by grid and sector: how many, and the last as a cause
        self.origin = 0  # where the first quantum begins
        self.ledger = Counter()
        self.spent = Counter()  # (cycle, grid, reason, or "SMs"): warp-cycles, or SMs that have warps of the grid
        self.blame = Blame()
        self.history = {}  # what each warp did, by age: (instruction, reason) of each of its cycles
        plain = Sampling(period, "all" if every_warp else "random", fifo_depth=fifo_depth, drain_cycles=drain)
        self.cells = AllCells(self, samplings or [plain], record_nbytes)
        self.asking = None  # the warp that issues, and where
        self.grid = 0  # and its grid
        self.end = 0
        self.counts = Counter()

    def parts_of_multiplications(self):
        """First row of each wgmma -> its rows, each with the next 8 columns of the result; all rows but the first ->
        nothing.
        """
        found, first = {}, None
        for index, instruction in enumerate(self.instructions):
            first = None if index in self.starts else first
            if instruction.op.semantics == "mma_group":
                if (
                    first is not None
                    and instruction.imm == len(found[first])
                    and instruction.op == self.instructions[first].op
                ):
                    found[first].append(instruction)
                    found[index] = []
                else:
                    first, found[index] = index, [instruction]
        return found

    @property
    def samples(self):
        return self.cells.of[0].samples

    @property
    def dropped(self):
        return self.cells.of[0].dropped

    # ---- time ------------------------------------------------------------------------------------

    def run(self):
        t = 0
        while True:
            if t % QUANTUM == 0:
                self.serve(t - QUANTUM)
                self.start_blocks(t)
                if self.next_block == self.total and not any(sm.warps() for sm in self.sms) and not self.cells.waits():
                    for channel in range(self.chip.dram_channels):
                        self.catch_up(channel, self.end)
                    return self
            for sm in self.sms:
                self.cycle(sm, t)
            t += 1

    def cycle(self, sm, t):
        self.cells.drain(sm, t)
        for partition, lane, warp in sm.warps():
            if warp.state == "starting" and warp.start <= t:
                assert warp.start == t, f"a warp that would have started at cycle {warp.start} is seen at {t}"
                self.proceed(sm, partition, lane, warp, t)
            elif warp.state == "holding" and self.hold_end(warp) <= t:
                self.account(partition, warp)
                if warp.hold_reason == "drain":
                    self.release(sm, partition, lane, warp, t)
                elif warp.hold_reason in ("wait", "branch_resolving"):
                    self.leave(sm, partition, lane, warp, t)
                else:
                    if warp.hold_reason == "membar" and empties_l1(self.instructions[warp.pc]):
                        sm.l1.clear()
                    self.proceed(sm, partition, lane, warp, t)
        seen = [(p, k, w, self.reasons(p, w, t), w.pc, w.mask) for p, k, w in sm.warps() if w.state != "starting"]
        for partition in sm.partitions:
            self.schedule(sm, partition, t)
        for _, _, warp, reasons, pc, _ in seen:
            charged = pc, "selected" if warp.issued == t else reasons[0]
            self.ledger[charged] += 1
            self.spent[t, self.grid_of(warp), charged[1]] += 1
            if charged[1] != "selected":
                warp.stalled[charged[1]] += 1
            self.history.setdefault(warp.age, []).append(charged)
        for grid in {self.grid_of(warp) for _, _, warp, *_ in seen}:
            self.spent[t, grid, "SMs"] += 1
        self.cells.cycle(sm, seen, t)

    def account(self, partition, warp):
        """The warp issues, or a hold of it has ended: what ended the stalls before?"""
        throttle = self.throttle(self.instructions[warp.pc].op)
        for reason in sorted(
            warp.stalled, key=lambda name: (*DEPENDENCIES, "dispatch_stall", throttle, "not_selected", name).index(name)
        ):
            cycles = warp.stalled.pop(reason)
            if warp.state == "holding":
                cause = self.cause_of_hold(warp)
            elif reason == "not_selected":
                cause = partition.last
            elif reason == "dispatch_stall":
                cause = partition.holder
            elif reason in DEPENDENCIES:
                waits = [wait for wait in warp.waits if wait.reason == reason]
                cause = max(waits, key=lambda wait: (wait.cycle, wait.cause.rank(warp))).cause
            elif self.port_name(warp) == "lsu":
                cause = partition.queued[-self.chip.queue_depth]
            else:
                cause = partition.port(self.port_name(warp)).occupant
            self.blame.charge(warp, reason, cause, cycles)
            if cycles > warp.longest[0] and reason != "barrier":
                warp.longest = cycles, warp.pc

    def cause_of_hold(self, warp):
        """Stores count if they are acknowledged after all else that the warp waits for."""
        ends = [(self.until(warp, store), store) for store in warp.hold_stores]
        stores = [(end, store.cause.rank(warp), store.cause) for end, store in ends if end > warp.hold_until]
        if stores:
            return max(stores)[-1]
        return warp.hold_cause or Cause("self", warp.pc)

    def latecomer(self, warp):
        """The cause that the last warp at a barrier is: where it stood for longest since the barrier before."""
        return Cause("barrier", warp.longest[1] if warp.longest[0] else warp.pc, False, warp)

    def reasons(self, partition, warp, t):
        """All that holds in cycle t, in order of priority."""
        if warp.state == "holding":
            return [warp.hold_reason]
        holding = [name for name in DEPENDENCIES if any(p.reason == name and p.after(t) for p in warp.waits)]
        if holding:
            return holding
        if partition.register_free > t:
            return ["dispatch_stall"]
        if partition.port(self.port_name(warp)).free > t:
            return [self.throttle(self.instructions[warp.pc].op)]
        return ["not_selected"]

    # ---- issue -----------------------------------------------------------------------------------

    def schedule(self, sm, partition, t):
        for unit in range(self.chip.dispatch_units):
            ready = [k for k, w in enumerate(partition.lanes) if w and self.can_issue(partition, w, t)]
            waits = [k for k in ready if self.in_order(partition.lanes[k])]
            if partition.current in ready and (unit or partition.current not in waits):
                lane = partition.current
            elif ready and unit == 0:
                lane = self.pick(partition, waits, [k for k in ready if k not in waits])
            else:
                return
            follows, partition.current = partition.current == lane, lane
            self.issue(sm, partition, lane, partition.lanes[lane], follows, t)

    def in_order(self, warp):
        """Queues of memory and of a shared fp64 unit take the warp that has waited for longest."""
        name = self.port_name(warp)
        return name == "lsu" or (name == "fp64" and self.chip.lanes["fp64"] < 1)

    @staticmethod
    def pick(partition, waits, others):
        """The lane that goes first, of those whose next instruction goes to a queue and of the others."""
        lanes = partition.lanes
        first = min(waits, key=lambda k: (lanes[k].ready_from(), -lanes[k].age), default=None)
        best = max(others, key=lambda k: (lanes[k].ready_from(), lanes[k].age), default=None)
        if first is None or best is None:
            return best if first is None else first
        return first if lanes[first].age > lanes[best].age else best

    def can_issue(self, partition, warp, t):
        return warp.state == "waiting" and warp.earliest <= t and self.reasons(partition, warp, t) == ["not_selected"]

    def occupied(self, op, name):
        """Cycles in which the pipe takes nothing else."""
        if name == "tensor":
            form = FORMS[op.name]
            slower = self.chip.f32_sum_share if form.unit in ("f16", "f8") and "f32" in (form.c, form.d) else 1
            return form.products / (
                self.chip.tensor[form.unit]
                * (1 if form.wgmma or form.unit in ("f64", "s4") else self.chip.mma_share)
                * slower
            )
        if self.shares_fp64(op):
            work = FORMS[op.name].products if op.name in FORMS else 32
            return work / Fraction(self.chip.lanes["fp64"] * self.chip.partitions)
        passes = 2 if op.name in ("FADD2", "FMUL2", "FFMA2") else 1
        return 32 * passes / Fraction(self.chip.lanes["imad" if op.latency in ("imad", "imad_hi") else name])

    def port_name(self, warp):
        op = self.instructions[warp.pc].op
        if op.space in ("const", "param"):
            return "none"
        if op.semantics == "mma_group" or (warp.slots_left > 1 and pipe_of(op) == "lsu"):
            return "none"
        if (op.slots - warp.slots_left) % slot_interval(op):
            return "none"
        return pipe_of(op)

    def shares_fp64(self, op):
        """Less than a lane a partition is a unit for all of them, behind a queue."""
        return op.pipe == "fp64" and self.chip.lanes["fp64"] < 1

    def throttle(self, op):
        if self.shares_fp64(op):
            return "tex_throttle"
        if op.pipe == "lsu":
            return "lg_throttle" if op.space in ("global", "local", "generic") else "mio_throttle"
        return {"tex": "tex_throttle", "xu": "mio_throttle"}.get(op.pipe, "math_pipe_throttle")

    def function_of(self, warp):
        return self.function

    def read_registers(self, partition, warp, follows, t):
        """Each bank reads a word a cycle. What an operand's place read for the instruction before, it has."""
        instruction = self.instructions[warp.pc]
        words = set()
        pipes = ("alu", "fma", "half") if self.chip.lanes["fp64"] < 1 else ("alu", "fma", "half", "fp64")
        if instruction.op.pipe in pipes and instruction.op.slots == 1:
            for place in "abce":
                for operand in reads(instruction):
                    if operand.file != "P" and operand.index == getattr(instruction, place):
                        words |= {(place, word) for word in registers_of(operand)}
        function = self.function_of(warp)
        if function.uniform_words:  # these are numbered behind the threads' registers, and in no bank of theirs
            words = {(place, word) for place, word in words if word < function.thread_words}
        kept = partition.kept if follows and warp.pc not in self.starts else set()
        partition.kept = words
        if not self.chip.register_word_cycles:
            return
        for bank in (0, 1):
            n = len({word for _, word in words - kept if word % 2 == bank})
            if n:
                begin = max(partition.bank_free[bank], t)
                partition.bank_free[bank] = begin + n * self.chip.register_word_cycles
        free = max(partition.bank_free) + 1 - self.chip.register_window_cycles
        if free > t + 1:
            partition.register_free, partition.holder = free, Cause("pipe", warp.pc, False, warp)

    def issue(self, sm, partition, lane, warp, follows, t):
        chip, instruction, lanes = self.chip, self.instructions[warp.pc], warp.mask
        op = instruction.op
        self.account(partition, warp)
        self.read_registers(partition, warp, follows, t)
        name = self.port_name(warp)
        port = partition.port(name)
        partition.last = Cause("scheduler", warp.pc, False, warp)
        served = t
        if name == "fp64" and self.shares_fp64(op):
            served = self.enter_fp64(sm, partition, op, t)
            port.occupant = Cause("pipe", warp.pc, False, warp)
        elif name not in ("lsu", "none"):
            port.time = max(port.time, t) + in_ticks(self.occupied(op, name))
            port.free = math.floor(port.time)
            port.occupant = Cause("pipe", warp.pc, False, warp)
        elif name == "none":
            port.free = t
        warp.issued = partition.issued = port.issued = t
        self.counts["issue_slots"] += 1
        warp.earliest = t + (1 if chip.dispatch_units == 1 else 0)
        if warp.slots_left > 1:
            warp.slots_left -= 1
            warp.waits = [Pending(served + chain_cycles(op, chip), cause=Cause("slot", warp.pc))]
            self.cells.issued(sm, warp, instruction, False, lanes, t)
            return
        self.asking, self.grid = (warp, warp.pc), self.grid_of(warp)
        misses = self.counts["l1_sectors"] - self.counts["l1_hits"]
        self.execute(sm, partition, warp, t, served)
        self.cells.count(sm, "l1_miss", self.counts["l1_sectors"] - self.counts["l1_hits"] - misses, t, warp)
        if warp.state != "holding":
            self.proceed(sm, partition, lane, warp, warp.earliest)
        self.cells.issued(sm, warp, instruction, True, lanes, t)

    def enter_fp64(self, sm, partition, op, t):
        """The unit serves the four queues in the order of issue. An instruction leaves its queue when it is served."""
        sm.fp64 = max(sm.fp64, Fraction(t))
        served = math.ceil(sm.fp64)
        sm.fp64 += in_ticks(self.occupied(op, "fp64"))
        partition.fp64_queue.append(served)
        depth = self.chip.fp64_queue_depth
        oldest = partition.fp64_queue[-depth] if len(partition.fp64_queue) >= depth else 0
        partition.port("fp64").free = max(t + 1, oldest)
        return served

    def execute(self, sm, partition, warp, t, served):  # noqa: C901  # a case for each kind of instruction
        instruction = self.instructions[warp.pc]
        op, chip = instruction.op, self.chip
        if op.semantics == "mbar_wait":
            start = self.enter(sm, partition, warp, t, Fraction(1))
            self.write_served(warp, instruction, t, start, start + chip.latency.get(op.latency, 1), "shared")
            self.wait_for_phase(warp, t)
        elif op.semantics == "mma_group":
            self.multiply(sm, partition, warp, instruction, t)
        elif is_bulk(op):
            self.bulk(sm, partition, warp, instruction, t)
        elif op.space in ("global", "local", "shared", "generic", "const", "param", "texture", "surface"):
            self.memory(sm, partition, warp, instruction, t)
        elif pipe_of(op) == "lsu":
            start = self.enter(sm, partition, warp, t, Fraction(1))
            self.write_served(warp, instruction, t, start, start + chip.latency.get(op.latency, 1), "unit")
        else:
            scored = op.latency in (*LONG, *SHORT) or self.shares_fp64(op)
            kind = "unit" if scored else "result"
            self.write(warp, instruction, served + chip.latency.get(op.latency, 1), Cause(kind, warp.pc))
        if op.semantics in BARRIERS:
            self.arrive(sm, warp, instruction, t)
        elif op.semantics == "membar":
            if memory_order(instruction)[1] == "cta":
                self.hold(warp, "membar", t + chip.membar_cycles)
            else:
                self.hold(warp, "membar", t + chip.membar_l2_cycles, warp.stores)
        elif op.semantics == "copy_commit":
            warp.groups.append([])
        elif op.semantics == "group_commit":
            warp.products.append(warp.products[-1])
        elif op.semantics == "group_wait":  # at most six groups may be on their way
            ended = warp.products[: max(0, len(warp.products) - 1 - min(instruction.imm, 6))]
            end, which = ended[-1] if ended else (0, 0)
            self.hold(warp, "warpgroup_arrive", max(t + 1, end), cause=Cause("product", which) if end > t + 1 else None)
        elif op.semantics == "grid_launch":
            self.signal(warp.block, t)
        elif op.semantics == "grid_wait":
            self.wait_for_grids(warp, t)
        elif op.semantics == "syscall" and instruction.imm == LAUNCH_SERVICE:
            self.launch(warp, t)
        elif op.semantics == "bulk_wait":
            self.hold(warp, "long_scoreboard", t + 1, warp.stores)
        elif op.semantics == "nanosleep":
            asked = instruction.imm
            if is_sleep_traced(instruction):
                (_, low, middle, high, _, _, _, _), _ = warp.accesses.pop(0)
                asked = low + 256 * middle + 65536 * high
            cycles = Fraction(round(chip.clock_mhz * 1000) * min(asked, 10**6), 10**6)
            self.hold(warp, "sleeping", t + max(1, math.floor(cycles + Fraction(1, 2))))

    def write_served(self, warp, instruction, t, start, done, kind, conflict=False, reason=""):
        """What issued at t and was served at `start` is done: if the first took longer, because of an access before it,
        that is the cause.
        """
        late = self.behind and start - t > done - start
        self.write(warp, instruction, done, self.behind if late else Cause(kind, warp.pc, conflict), reason)

    def write(self, warp, instruction, result, cause, reason=""):
        op = instruction.op
        short = op.latency in SHORT or self.shares_fp64(op)
        reason = reason or ("long_scoreboard" if op.latency in LONG else "short_scoreboard" if short else "wait")
        if not isinstance(result, Pending):
            result = Pending(result)
        result.reason, result.pipe, result.cause = reason, maker_of(op), cause
        for part in self.parts.get(warp.pc, [instruction]):
            for operand in writes(part):
                for k in range(operand.count):
                    warp.registers[operand.file, operand.index + k] = [result]

    def multiply(self, sm, partition, warp, instruction, t):
        """A wgmma begins when the pipe is free and ends when its products are done and shared memory has given the
        operands.
        """
        form, rows, port = FORMS[instruction.op.name], len(self.parts[warp.pc]), partition.port("tensor")
        begin = max(port.time, Fraction(t))
        nbytes_of_k = form.k * NBITS[form.unit] // 8
        operands = rows * 8 * nbytes_of_k / 4 + (16 * nbytes_of_k if form.wgmma == "SS" else 0)
        port.time = begin + rows * in_ticks(self.occupied(instruction.op, "tensor"))
        if operands:
            sm.operands = max(sm.operands, sm.lsu, Fraction(t)) + in_ticks(Fraction(operands) / 128)
            port.time = max(port.time, sm.operands)
        port.free = max(port.free, t + 1, math.floor(port.time))
        port.occupant = Cause("pipe", warp.pc, False, warp)
        done = max(math.floor(begin) + self.chip.latency[instruction.op.latency], math.floor(port.time))
        self.write(warp, instruction, done, Cause("product", warp.pc))
        if done >= warp.products[-1][0]:
            warp.products[-1] = done, warp.pc

    # ---- from one instruction to the next
    # ------------------------------------------------------------------------------------------

    def signal(self, block, t):
        """Nobody depends on a grid that is alone (see readable_grids)."""

    def wait_for_grids(self, warp, t):
        self.hold(warp, "membar", t + 1)

    def launch(self, warp, t):
        """So is what it launches."""

    def hold(self, warp, reason, until, stores=(), cause=None):
        warp.state, warp.hold_reason, warp.hold_until, warp.hold_stores = "holding", reason, until, list(stores)
        warp.hold_cause = cause

    def hold_end(self, warp):
        return max([warp.hold_until, *(self.until(warp, store) for store in warp.hold_stores)])

    def until(self, warp, store):
        """A warp that ends need not hear of its stores, only see them go."""
        if store.cycle is None:
            return math.inf
        return store.gone if warp.hold_reason == "drain" else store.cycle

    def proceed(self, sm, partition, lane, warp, earliest):
        """On to the next instruction, which may issue from `earliest` on."""
        last = warp.pc
        before = earliest - 1 if warp.state != "waiting" else warp.issued
        jumped = False
        while True:
            where = warp.pc
            if warp.pc + 1 < warp.block_end:
                warp.pc += 1
            elif warp.steps:
                block, warp.mask = warp.steps.pop(0)
                warp.pc, warp.block_end = self.starts[block], self.starts[block + 1]
            else:
                warp.pc = last
                self.finish(sm, partition, lane, warp, before + 1)
                return
            jumped = jumped or (last >= 0 and warp.pc != where + 1)
            instruction = self.instructions[warp.pc]
            if self.parts.get(warp.pc) == []:
                continue
            if instruction.op.slots:
                break
            self.fold(warp, instruction)
        warp.state, warp.earliest, warp.slots_left = "waiting", earliest, instruction.op.slots
        if slow_path_of(instruction):
            (_, _, _, _, _, slots, _, _), _ = warp.accesses.pop(0)
            warp.slots_left += slots
        warp.waits = self.register_waits(warp, instruction)
        if last >= 0:
            warp.waits += self.gap_waits(warp, last, before, jumped)
        asked = before + 1
        if jumped:
            asked = before + self.chip.branch_cycles
            warp.waits.append(Pending(asked, "branch_resolving", cause=Cause("branch", last)))
        line = self.address(warp.pc) // self.chip.instruction_line_nbytes
        if line != warp.line:
            warp.line = line
            ready, missed = self.fetch(sm, partition, line, asked, self.end_of_program(warp))
            warp.waits.append(Pending(ready, "no_instructions", cause=Cause(missed, warp.pc)))
        if instruction.reads_constant_bank:
            cause = Cause("constant_miss", warp.pc)
            warp.waits.append(
                Pending(self.constant(sm, warp, instruction.imm // 64, asked, "operands"), "imc_miss", cause=cause)
            )

    def gap_waits(self, warp, last, issued, jumped):
        """What the instruction before, issued or let go at `issued`, makes the next one wait for."""
        chip, op = self.chip, self.instructions[last].op
        found = []
        port = self.port_name(warp)
        if port != "none" and port == self.last_port(op) and self.again(op) > 1:
            found.append(Pending(issued + self.again(op), cause=Cause("pipe", last)))
        if not jumped and (op.semantics in CONTROL or op.name == "BSYNC"):
            found.append(Pending(issued + chip.control_cycles, cause=Cause("branch", last)))
        if op.name == "BSYNC":
            found.append(Pending(issued + chip.meet_cycles, "branch_resolving", cause=Cause("branch", last)))
        return found

    def last_port(self, op):
        """The port that the last slot of an instruction takes."""
        if op.space in ("const", "param") or op.semantics == "mma_group" or (op.slots - 1) % slot_interval(op):
            return "none"
        return pipe_of(op)

    def again(self, op):
        """Cycles in which the port takes nothing more from the same warp, unless the warp has stood still since."""
        if self.shares_fp64(op):
            return 0
        if pipe_of(op) != "lsu":
            return math.floor(in_ticks(self.occupied(op, pipe_of(op))))
        return 0 if op.semantics == "mbar_wait" else self.chip.mio_gap_cycles

    def register_waits(self, warp, instruction):
        op = instruction.op
        reader = maker_of(op)
        found = []
        for operand in [
            operand for part in self.parts.get(warp.pc, [instruction]) for operand in (*reads(part), *writes(part))
        ]:
            for k in range(operand.count):
                for result in warp.registers.get((operand.file, operand.index + k), ()):
                    if op.semantics == "mma_group" and result.reason == "wait" and result.pipe == "tensor":
                        continue  # accumulators stay in the pipe
                    if result.reason == "wait" and result.cycle is not None:
                        found.append(Pending(result.cycle + self.bypass(result.pipe, reader), cause=result.cause))
                    else:
                        found.append(result)
        for result in warp.registers.get(self.deciding_predicate(instruction), ()):
            if result.reason == "wait":
                found.append(Pending(result.cycle + self.chip.guard_cycles, cause=result.cause))
        if op.semantics == "copy_wait":  # at most seven groups may be on their way
            landed = warp.groups[: max(0, len(warp.groups) - 1 - min(instruction.imm, 7))]
            found += [result for group in landed for result in group]
        return found

    def bypass(self, maker, reader):
        """Cycles beyond its latency until a fixed-latency result of one unit reaches another."""
        extra = self.chip.bypass
        if maker == reader:
            return extra[f"{maker}_to_{maker}"] if maker in ("half", "high") else 0
        if {maker, reader} == {"fma", "high"}:
            return 0
        if maker in ("half", "fp64") and reader == "tensor":
            return extra["tensor"]
        if maker in ("half", "fp64", "tensor"):
            place = {"lsu": "memory", "xu": "xu"}.get(reader, "math")
            return extra.get(f"{maker}_to_{place}", extra[f"{maker}_to_math"])
        return extra[{"lsu": "memory"}.get(reader, reader if reader in ("half", "fp64", "xu", "tensor") else "math")]

    def deciding_predicate(self, instruction):
        predicates = [("P", operand.index) for operand in reads(instruction) if operand.file == "P"]
        if instruction.op.semantics.startswith(("vote_", "bar_red")):
            return predicates[-1] if predicates else None
        return predicates[0] if instruction.guard & 0x7F != PT else None

    def fold(self, warp, instruction):
        sources = [
            r for o in reads(instruction) for k in range(o.count) for r in warp.registers.get((o.file, o.index + k), ())
        ]
        for operand in writes(instruction):
            for k in range(operand.count):
                warp.registers[operand.file, operand.index + k] = sources

    def end_of_program(self, warp):
        return len(self.instructions)

    def grid_of(self, warp):
        return 0

    def address(self, pc):
        return self.load_base + 16 * pc

    def count_for_grid(self, name, n, *where):
        """A counter of the launch, or of one of its SMs, and of all."""
        self.counts[name] += n
        self.counts[name, self.grid, *where] += n

    def fetch(self, sm, partition, line, t, end):
        ready = self.fetch_line(sm, partition, line, t)
        last = self.address(end - 1) // self.chip.instruction_line_nbytes
        for ahead in range(line + 1, min(line + self.chip.prefetch_lines, last) + 1):
            self.fetch_line(sm, partition, ahead, t)
        return ready

    def fetch_line(self, sm, partition, line, t):
        place = line % self.chip.l0i_lines
        if partition.l0.get(place, (-1, 0, ""))[0] == line:
            return partition.l0[place][1:]
        place_1 = line % self.chip.l1i_lines
        if sm.l1i.get(place_1, (-1, 0))[0] != line:
            sm.l1i[place_1] = (line, t + self.chip.l1i_miss_cycles)
        there = sm.l1i[place_1][1]
        partition.l0[place] = (line, max(t, there) + self.chip.l0i_miss_cycles, "l1i_miss" if there > t else "l0_miss")
        return partition.l0[place][1:]

    def constant(self, sm, warp, line, t, of):
        """Each grid has constants of its own. The launch brings its parameters; constant memory is farther away."""
        chip, loads = self.chip, of == "loads"
        cold = chip.constant_segment_cycles if loads or 64 * line >= CONSTANTS_AT else chip.constant_cold_cycles
        hit = t + (chip.constant_load_miss_cycles if loads else chip.constant_miss_cycles)
        lines, whose = chip.constant_lines, (self.grid_of(warp), line)
        cache = self.ways(sm.constants, (of, line % max(1, lines // chip.constant_ways)))
        if not self.use(cache, whose, min(chip.constant_ways, lines)):
            cache[whose] = self.constant_l15(sm, warp, line, t, hit, t + cold)
        return cache[whose]

    def constant_l15(self, sm, warp, line, t, hit, cold):
        """What the constant cache lacks comes from the one behind it, or from beyond."""
        line, lines = 64 * line // self.chip.constant_l15_line_nbytes, self.chip.constant_l15_lines
        ways, whose = self.chip.constant_l15_ways, (self.grid_of(warp), line)
        cache = self.ways(sm.constants_l15, (line ^ line >> 5) % max(1, lines // ways))
        if not self.use(cache, whose, min(ways, lines)):
            cache[whose] = cold
        return max(hit, cache[whose])

    @staticmethod
    def ways(sets, place):
        return sets.setdefault(place, OrderedDict())

    @staticmethod
    def use(cache, whose, ways):
        """Whether a set has it; if not, the one used longest ago makes room."""
        if whose in cache:
            cache.move_to_end(whose)
            return True
        if len(cache) == ways:
            cache.popitem(last=False)
        return False

    # ---- barriers, the end of a warp, blocks
    # ----------------------------------------------------------------------------------------

    def arrive(self, sm, warp, instruction, t):
        block, waits = warp.block, instruction.op.semantics != "bar_arrive"
        barrier, threads = instruction.imm & 15, instruction.imm >> 16
        if instruction.a != RZ or instruction.b != RZ:  # the trace knows what is in the registers
            (_, _, _, _, lanes, barrier, warps, _), _ = warp.accesses.pop(0)
            threads = 32 * warps
            if lanes == 0:
                if waits:
                    self.hold(warp, "barrier", t + 1)
                return
        if waits:
            self.hold(warp, "barrier", math.inf)
        turn = sm.take_turn(t, in_ticks(self.chip.barrier_lsu_cycles), Cause("queued", warp.pc, False, warp))
        t = math.ceil(turn)
        cause = self.latecomer(warp)
        warp.longest = 0, 0
        if block.arrived[barrier] == 0:
            block.begun[barrier] = t
        block.arrived[barrier] += 1
        warp.barrier = barrier
        wanted = min(len(block.warps), -(-threads // 32)) if threads else len(block.warps)
        if block.arrived[barrier] >= wanted:
            turn = block.begun[barrier] + self.round(block.arrived[barrier])
            self.open(block, barrier, max(t + self.chip.barrier_cycles, turn), cause)
        else:
            self.open_if_all_wait(block, t, cause)

    def waiting(self, block):
        return [
            w for w in block.warps if w.state == "holding" and w.hold_reason == "barrier" and w.hold_until == math.inf
        ]

    def round(self, warps):
        """Cycles of a barrier from its first arrival on, when so many warps come."""
        known = {int(name.split("_")[1]): cycles for name, cycles in self.chip.barrier.items()}
        if warps in known or warps > max(known):
            return round(known[min(warps, max(known))])
        below, above = max(n for n in known if n < warps), min(n for n in known if n > warps)
        return round(known[below] + (known[above] - known[below]) * (warps - below) / (above - below))

    def open(self, block, barrier, ready, cause):
        block.arrived[barrier] = 0
        self.let_go([warp for warp in self.waiting(block) if warp.barrier == barrier], ready, cause)

    def let_go(self, warps, ready, cause):
        """The warp that lets the others go has itself waited for nobody."""
        for warp in warps:
            warp.hold_until = ready
            if cause.other(warp):
                warp.hold_cause = cause

    def waiting_for_phases(self, block):
        return [w for w in block.warps if w.state == "holding" and w.phase >= 0 and w.hold_until == math.inf]

    def open_if_all_wait(self, block, t, cause):
        waiting, others = self.waiting(block), self.waiting_for_phases(block)
        if not waiting + others or len(waiting + others) < len(block.warps):
            return
        if self.has_phases and (block.copies or others):
            for key in {} if block.copies else {warp.phase for warp in others}:
                self.end_phases(block, key, 1, t, cause)
            return
        block.arrived.clear()
        self.let_go(waiting, t + self.chip.barrier_cycles, cause)

    def wait_for_phase(self, warp, t):
        (_, _, _, _, lanes, key, needed, _), _ = warp.accesses.pop(0)
        block = warp.block
        ahead = (block.ended[key] - needed) & 0xFF
        if lanes and ahead >= 128:
            warp.phase = key
            self.hold(warp, "long_scoreboard", math.inf)
            self.open_if_all_wait(block, t, self.latecomer(warp))
        else:
            landed = block.landed[key] if lanes and ahead == 0 else 0
            self.hold(warp, "long_scoreboard", max(t + 1, landed), cause=block.lander[key] if landed > t + 1 else None)

    def end_phases(self, block, key, count, t, cause):
        block.ended[key] += count
        if t >= block.landed[key]:
            block.landed[key], block.lander[key] = t, cause
        for warp in self.waiting_for_phases(block):
            if warp.phase == key:
                warp.phase, warp.hold_until, warp.hold_cause = -1, t + 1, cause

    def finish(self, sm, partition, lane, warp, t):
        """Behind an exit a warp waits as behind a branch, and for it."""
        if warp.pc >= 0 and self.instructions[warp.pc].op.kind in ("exit", "trap") and self.chip.exit_cycles > 1:
            self.hold(warp, "wait", t - 1 + min(self.chip.control_cycles, self.chip.exit_cycles))
        else:
            self.drain(sm, partition, lane, warp, t)

    def leave(self, sm, partition, lane, warp, t):
        more = self.chip.exit_cycles - self.chip.control_cycles
        if warp.hold_reason == "wait" and more > 0:
            self.hold(warp, "branch_resolving", t + more)
        else:
            self.drain(sm, partition, lane, warp, t)

    def drain(self, sm, partition, lane, warp, t):
        if any(s.cycle is None or s.gone > t for s in warp.stores):
            self.hold(warp, "drain", t, warp.stores)
        else:
            self.release(sm, partition, lane, warp, t)

    def release(self, sm, partition, lane, warp, t):
        self.end = max(self.end, t)
        partition.lanes[lane] = None
        if partition.current == lane:
            partition.current = None
        warp.state = "gone"
        block = warp.block
        block.warps.remove(warp)
        if not block.warps:
            sm.slots_free[block.slot] = t
            sm.blocks -= 1
            return
        if self.waiting(block) or self.waiting_for_phases(block):
            for barrier in range(16):
                if block.arrived[barrier] >= len(block.warps):
                    self.open(block, barrier, t + self.chip.barrier_cycles, self.latecomer(warp))
            self.open_if_all_wait(block, t, self.latecomer(warp))

    def start_blocks(self, t):
        while self.next_block < self.total:
            free = [sm for sm in self.sms if sm.slots_free]
            if not free:
                return
            if self.next_block % self.cluster == 0:
                frees = sorted(free for sm in self.sms for free in sm.slots_free.values())
                if len(frees) < self.cluster:
                    return
                whole = frees[self.cluster - 1]  # no block of a cluster comes before there is room for the last
            sm = min(free, key=lambda sm: (min(sm.slots_free.values()), sm.blocks, sm.number))
            slot = min(sm.slots_free, key=lambda k: (sm.slots_free[k], k))
            since = max(sm.slots_free.pop(slot), whole)
            begin = max(Fraction(since + self.chip.block_launch_cycles), Fraction(t), self.distributor)
            self.distributor = begin + in_ticks(self.chip.distributor_cycles)
            block = Block(self.next_block, slot)
            sm.blocks += 1
            for number in range(self.warps_per_block):
                blocks, accesses, masks = self.traces[self.next_block * self.warps_per_block + number]
                warp = Warp(
                    block, number, self.ages, math.floor(begin), list(zip(blocks, masks, strict=True)), list(accesses)
                )
                self.ages += 1
                block.warps.append(warp)
                partition = max(sm.partitions, key=lambda p: (p.lanes.count(None), -sm.partitions.index(p)))
                partition.lanes[partition.lanes.index(None)] = warp
            self.next_block += 1

    # ---- memory ----------------------------------------------------------------------------------

    def enter(self, sm, partition, warp, t, cycles, conflict=False, is_global=False):
        """When the load/store unit serves what the warp issues at t; `behind` is then what it had to wait for there."""
        chip = self.chip
        address = max(t, partition.address_free)
        behind = partition.l1_queue if is_global else partition.mio_queue
        depth = chip.l1_queue_depth if is_global else chip.mio_queue_depth
        if len(behind) >= depth:
            address = max(address, behind[-depth])
        partition.address_free = address + chip.address_cycles
        self.behind = sm.lsu_occupant if sm.lsu > address else None
        begin = sm.take_turn(address, cycles, Cause("queued", warp.pc, conflict, warp))
        partition.queued.append(Cause("queue", warp.pc, conflict, warp))
        start = math.ceil(begin)
        behind.append(start)
        partition.queue.append(address + chip.queue_hold_cycles)
        full = partition.queue[-chip.queue_depth] if len(partition.queue) >= chip.queue_depth else 0
        partition.port("lsu").free = max(t + 1, full)
        return start

    def reach_others(self, sm, partition, start, words, t):
        """How long an access waits for its SM's port to other blocks' shared memory, in its partition's queue."""
        chip = self.chip
        begin = max(Fraction(start), sm.cluster_port)
        sm.cluster_port = begin + words * in_ticks(4 / chip.cluster_nbytes_per_cycle)
        partition.queue[-1] = math.ceil(begin) + chip.queue_hold_cycles
        full = partition.queue[-chip.queue_depth] if len(partition.queue) >= chip.queue_depth else 0
        partition.port("lsu").free = max(t + 1, full)
        return math.ceil(begin) - start

    def bulk(self, sm, partition, warp, instruction, t):
        """A line a cycle goes to the L2; what a copy brings is reported to its memory barrier when it has landed."""
        op, block = instruction.op, warp.block
        (_, _, wavefronts, _, lanes, key, ends, _), sectors = warp.accesses.pop(0)
        if lanes == 0:
            self.enter(sm, partition, warp, t, Fraction(1))
            return
        start = self.enter(sm, partition, warp, t, Fraction(max(wavefronts, 1)))
        masks = OrderedDict()
        for sector in sectors:
            masks[sector >> 2] = masks.get(sector >> 2, 0) | 1 << (sector & 3)
        kind = "write" if "store" in op.semantics else "atomic" if "red" in op.semantics else "read"
        if kind != "read":
            self.asking = (warp, None)  # nobody remembers where
        parts = [
            self.request(
                sm, start + n, line, mask, kind, t, mask.bit_count() * in_ticks(self.chip.atomic_sector_cycles)
            )
            for n, (line, mask) in enumerate(masks.items())
        ]
        if kind == "read":
            load = Load(Pending(), 0, (block, key, ends, Cause("copy", warp.pc, False, warp)))
            load.parts += map(Level, parts)
            self.loads.append(load)
            block.copies += 1
        else:
            self.stored(warp, parts, False)

    def stored(self, warp, parts, conflict):
        for part in parts:
            part.cause = Cause("store", warp.pc, conflict)
        warp.stores += parts

    def conflicts(self, op, n_sectors, lanes, wavefronts, conflicts, shared):
        """Whether an access takes more passes through the banks than a full warp's need, or more sectors than its
        lanes' bytes.
        """
        matrix = op.semantics in ("load_matrix", "store_matrix")
        width = max(1, op.nbytes // 4)
        least = int(op.name.split(".")[-1]) if matrix else width if op.semantics in ("load", "store") else 1
        if shared:
            return (max(wavefronts, conflicts) if op.semantics.startswith(TURNS) else wavefronts) > least
        if matrix or op.space in ("texture", "surface"):
            return False
        return n_sectors > -(-lanes * op.nbytes // 32) or conflicts > (width if op.semantics == "copy_async" else 1)

    def memory(self, sm, partition, warp, instruction, t):
        op, chip = instruction.op, self.chip
        (n_sectors, lookups, wavefronts, tag_passes, lanes, conflicts, ends, _), sectors = warp.accesses.pop(0)
        latency = chip.latency.get(op.latency, 1)
        shared = op.space == "shared" or (op.space == "generic" and n_sectors == 0 and wavefronts > 0)
        of_draw = op.space in ("global", "generic") and op.semantics in ("load", "store")
        if of_draw := of_draw and n_sectors == 0 and ends & ON_CHIP:
            # from stage to stage of a draw, through the memory that is shared memory, too
            shared, latency = True, chip.latency["shared"]
        atomic = op.semantics.startswith(TURNS)
        width = max(1, op.nbytes // 4) if op.semantics in ("load", "store") else 1
        if op.semantics == "red_count" and generation_of(chip.arch) >= 80:
            conflicts = min(conflicts, 1)  # lanes on one word are counted, and do not take turns
        conflict = self.conflicts(op, n_sectors, lanes, wavefronts, conflicts, shared)
        if lanes == 0:
            start = self.enter(sm, partition, warp, t, Fraction(1))
            self.write_served(warp, instruction, t, start, start + 1, "unit")
        elif shared:
            passes = max(wavefronts, conflicts) * self.atomic_passes(op) if atomic else wavefronts
            least = int(op.name[-1]) if "matrix" in op.semantics else width
            self.cells.count(sm, "bank_conflict", max(0, passes - least), t, warp)
            start = self.enter(sm, partition, warp, t, max(Fraction(passes), in_ticks(chip.shared_cycles)), conflict)
            loop = (
                (conflicts - 1) * op.slots * chip.chain.get(op.latency, chip.chain["other"])
                if atomic and op.slots > 1
                else 0
            )
            wide = chip.shared_wide_cycles if width >= 4 else 0
            done = start + latency + loop + wide + max(0, passes - width) * chip.shared_wavefront_cycles
            if lookups and chip.cluster_shared_cycles:  # so many lanes go to another block
                done += (
                    self.reach_others(sm, partition, start, lookups * width, t) + chip.cluster_shared_cycles - latency
                )
            self.write_served(
                warp, instruction, t, start, done, "shared", conflict, "short_scoreboard" if of_draw else ""
            )
            if op.semantics.startswith("mbar_") and ends:
                self.end_phases(warp.block, tag_passes, ends, t, Cause("arrival", warp.pc, False, warp))
        elif op.space in ("const", "param"):
            n = max(1, n_sectors)
            start = max(t, sm.constant_free)
            self.behind = sm.constant_occupant if start > t else None
            sm.constant_free, sm.constant_occupant = start + n, Cause("queued", warp.pc, False, warp)
            ready = max([start, *(self.constant(sm, warp, 1024 + (sector >> 1), start, "loads") for sector in sectors)])
            kind = "constant_miss" if ready > start else "constant"
            self.write_served(warp, instruction, t, start, ready + latency + n - 1, kind)
        else:
            tags = max(in_ticks(chip.tag_pass_cycles) * tag_passes, in_ticks(chip.tag_lookup_cycles) * lookups)
            latency += chip.copy_cycles if op.semantics == "copy_async" else 0
            passes = max(wavefronts, conflicts) if op.semantics == "copy_async" else wavefronts
            start = self.enter(
                sm,
                partition,
                warp,
                t,
                max(width * in_ticks(chip.lsu_cycles), Fraction(passes), tags),
                conflict,
                is_global=True,
            )
            if empties_l1(instruction):
                sm.l1.clear()
            masks, missing = OrderedDict(), Counter()
            for sector in sectors:
                line, place = (sector & SECTOR_MASK) >> 2, sector & 3
                masks[line] = masks.get(line, 0) | 1 << place
                missing[line] |= sector >> MISSING_SHIFT << 8 * place
            if warp.pc in self.polls and sectors and self.polls_first(warp, sectors, start):
                self.write(warp, instruction, start, Cause("unit", warp.pc))
            elif op.semantics in ("load", "load_matrix", "copy_async", "texture", "gather", "surface_load"):
                self.load(
                    sm,
                    warp,
                    instruction,
                    masks,
                    start,
                    start + latency + (wavefronts - 1) * chip.l1_wavefront_cycles,
                    t,
                    conflict,
                )
            else:
                self.store_or_atomic(sm, warp, instruction, masks, missing, start, (lanes, conflicts), conflict)

    def atomic_time(self, op, n, total, lanes, conflicts):
        """For `n` sectors of a line, of an access's `total`: they have as many of its lanes as others. A pass has the
        lanes that a sector has words for, of one word one each.
        """
        chip = self.chip
        is_float = any("F" in kind for kind in op.name.split(".")[2:])
        sector = in_ticks(chip.atomic_sector_cycles)
        nbytes = op.nbytes if op.space != "surface" else 0  # a surface's sectors do not tell of its lanes
        share = math.floor(lanes * nbytes * n * sector / TICK / (32 * total)) * TICK
        turns = conflicts * in_ticks(chip.atomic_float_cycles if is_float else chip.atomic_cycles)
        return max(n * sector, share, turns) * self.atomic_passes(op)

    def atomic_passes(self, op):
        return self.chip.cas_passes if op.semantics == "atom_cas" else 1

    def load(self, sm, warp, instruction, masks, start, done, t, conflict):
        load = Load(Pending(), done)
        fields = instruction.op.fields
        cache, order, scope = (
            FIELDS[n].names[FIELDS[n].get(instruction.mods)] if n in fields else "" for n in ("cache", "sem", "scope")
        )
        coherent = order in ("volatile", "relaxed", "acquire", "sc") and scope != "cta"
        bypass = instruction.op.space != "local" and (cache in ("cg", "cv") or coherent)
        for line, mask in masks.items():
            if bypass:
                load.parts.append(Level(self.request(sm, start, line, mask, "read", t)))
            else:
                load.parts += self.look_up_l1(sm, line, mask, start, t)
        self.count_for_grid("l1_sectors", sum(mask.bit_count() for mask in masks.values()), sm.number)
        if all(level.part.cycle is not None for level in load.parts):
            load.settle()
            if instruction.op.semantics == "copy_async":
                self.write(warp, instruction, load.result, Cause(load.level(), warp.pc, conflict))
            else:
                self.write_served(warp, instruction, t, start, load.result.cycle, load.level(), conflict)
        else:
            self.loads.append(load)
            self.write(warp, instruction, load.result, Cause("l1", warp.pc, conflict))
        if instruction.op.semantics == "copy_async":
            warp.groups[-1].append(load.result)

    def polls_first(self, warp, sectors, start):
        """Whether a waiting loop's load has to poll, from `start` on."""
        warp.needs = [(sector & SECTOR_MASK, sector >> NEED_SHIFT) for sector in sectors]
        if self.unseen(warp):
            warp.poll_next = start
            self.pollers.append(warp)
            self.hold(warp, "long_scoreboard", math.inf)
        return warp.state == "holding"

    def unseen(self, warp):
        """The sectors that have had fewer signals than the emulator saw: counts are modulo NEED_MASK + 1."""
        grid = self.grid_of(warp)
        counts = [(sector, self.signals.get((grid, sector), (0, None))[0] - need) for sector, need in warp.needs]
        return [sector for sector, ahead in counts if ahead & NEED_MASK > NEED_MASK // 2]

    def ask_again(self, quantum_start):
        asking = [warp for warp in self.pollers if warp.poll_next < quantum_start + QUANTUM]
        for warp in asking:
            sector = (self.unseen(warp) or [warp.needs[0][0]])[0]
            self.asking, self.grid = (warp, None), self.grid_of(warp)
            sm = next(sm for sm in self.sms if any(w is warp for _, _, w in sm.warps()))
            arrival = max(quantum_start, warp.poll_next)
            self.request(sm, arrival, sector >> 2, 1 << (sector & 3), "read", quantum_start)
            self.requests[-1].watch = "poll"
            warp.poll_next = math.inf
        issued = max(partition.issued for sm in self.sms for partition in sm.partitions)
        if asking and issued <= quantum_start - PATIENCE:
            for warp in self.pollers:
                warp.hold_until = quantum_start + QUANTUM
            self.pollers = []

    def watch(self, r):
        """A signal counts when its slice takes it; a poll is back, and its warp goes on or polls again."""
        warp, _ = r.asked_by
        sector = r.line * 4 + (r.sectors & -r.sectors).bit_length() - 1
        if r.watch == "signal":
            count, _ = self.signals.get((r.grid, sector), (0, None))
            self.signals[r.grid, sector] = count + 1, Cause("signal", r.pc, False, warp)
        elif r.watch == "poll" and warp in self.pollers:
            if self.unseen(warp):
                chip = self.chip
                warp.poll_next = r.result.cycle + chip.latency["alu"] + chip.guard_cycles + chip.branch_cycles
                return
            self.pollers.remove(warp)
            warp.hold_until = r.result.cycle
            _, cause = self.signals.get((r.grid, sector), (0, None))
            warp.hold_cause = cause

    def look_up_l1(self, sm, line, mask, start, t):
        """The parts that a load has to wait for: sectors on their way, and a request for those that miss."""
        entry = self.cache_line(sm.l1, hashed(line) % self.l1_sets, self.chip.l1_ways, line)
        if entry.pending_until is None or not entry.pending_until.after(start):
            entry.pending = 0
        parts = [Level(entry.pending_until, "pending")] if entry.pending & mask else []
        missing = mask & ~entry.valid
        self.count_for_grid("l1_hits", (mask & entry.valid).bit_count(), sm.number)
        if missing:
            result = self.request(sm, start, line, missing, "read", t)
            entry.pending_until = result
            entry.valid |= missing
            entry.pending |= missing
            parts.append(Level(result))
        return parts

    def cache_line(self, sets, number, ways, line, evict=lambda line, entry: None):
        lines = sets.setdefault(number, OrderedDict())
        if line not in lines:
            if len(lines) == ways:
                evict(*lines.popitem(last=False))
            lines[line] = Line()
        lines.move_to_end(line)
        return lines[line]

    def request(self, sm, arrival, line, sectors, kind, t, busy=Fraction(0), missing=0):
        result = Pending()
        if kind == "read":
            slot = sm.misses % self.chip.l1_mshrs
            sm.misses += 1
            users = sm.miss_registers.setdefault(slot, [])
            if any(user.cycle is None for user in users):  # taken in this very quantum
                arrival = max(arrival, t + QUANTUM - (t - self.origin) % QUANTUM)
            else:
                arrival = max([arrival, *(user.cycle for user in users)])
                users.clear()
            users.append(result)
        who = self.asking, self.grid
        self.requests.append(Request(arrival, len(self.requests), sm, line, sectors, kind, result, busy, missing, *who))
        return result

    def store_or_atomic(self, sm, warp, instruction, masks, missing, start, lanes, conflict):
        op = instruction.op
        kind = "write" if op.semantics in ("store", "store_matrix", "surface_store") else "atomic"
        total = sum(mask.bit_count() for mask in masks.values())
        if not op.semantics.startswith("atom_"):
            self.asking = (warp, None)
        parts = [
            self.request(
                sm, start, line, mask, kind, start, self.atomic_time(op, mask.bit_count(), total, *lanes), missing[line]
            )
            for line, mask in masks.items()
        ]
        if self.polls and lanes[0] == 1 and total == 1 and is_signal(instruction):
            self.requests[-1].watch, self.requests[-1].pc = "signal", warp.pc
        if op.semantics.startswith("atom_"):
            load = Load(Pending(), 0)
            load.parts += map(Level, parts)
            self.loads.append(load)
            self.write(warp, instruction, load.result, Cause("atomic", warp.pc, conflict))
        else:
            self.stored(warp, parts, conflict)

    def serve(self, quantum_start):
        """The L2 and DRAM serve what the quantum's instructions asked for."""
        self.served = quantum_start
        self.ask_again(quantum_start)
        for _, serve in sorted(self.arrivals(quantum_start), key=lambda arrival: arrival[0]):
            serve()
        for load in self.loads:
            load.settle()
            if load.result.cause:
                load.result.cause = load.result.cause._replace(kind=load.level())
            if load.landing:
                self.land(*load.landing, max(load.result.cycle, quantum_start + QUANTUM))
        self.requests, self.loads = [], []

    def arrivals(self, quantum_start):
        """What is asked for in a quantum: its place in the order, and what serves it."""
        for r in self.requests:
            number = len(self.sms) if r.watch == "poll" else r.sm.number  # polls come behind what SMs issue
            yield (min(r.arrival, quantum_start + 4095), number, r.order), partial(self.serve_one, r)

    def serve_one(self, r):
        self.grid = r.grid
        r.result.cycle = self.complete(r)
        if r.kind == "read":
            r.result.cycle = r.sm.returned = max(r.sm.returned, r.result.cycle)
        if r.watch:
            self.watch(r)

    def land(self, block, key, ends, cause, t):
        block.copies -= 1
        if ends:
            self.end_phases(block, key, ends, t, cause)
        if block.copies == 0 and block.warps:
            self.open_if_all_wait(block, t, cause)

    def complete(self, r):
        chip, n = self.chip, r.sectors.bit_count()
        time = max(Fraction(r.arrival), r.sm.link)
        r.sm.link = time + n * in_ticks(Fraction(32, chip.noc_nbytes_per_cycle))
        late = max(0, self.translated(r.sm, r.line, r.arrival) - math.floor(time))
        number = self.slice_of(r.line)
        time = max(time, self.slices[number])
        busy = r.busy if r.kind == "atomic" else self.busy_in_slice(r)
        self.slices[number] = time + busy
        if r.kind == "atomic":
            self.atomics_of_slice[number] += busy
            self.atomics_of_line[r.line] += busy
        self.taken = math.floor(time)
        if r.kind == "write":
            longest = in_ticks(chip.l2_partial_request_cycles) + 4 * in_ticks(chip.l2_partial_sector_cycles)
            r.sm.lsu = max(r.sm.lsu, time - STORE_QUEUE * longest)
        late += self.further(r.sm.number)
        home = number * 2 // chip.l2_slices
        own, held = self.held_sectors(r, home)
        latency = chip.l2_near_cycles if r.sm.half == home or not r.sectors & ~own else chip.l2_far_cycles
        way = (chip.l2_far_cycles - chip.l2_near_cycles) // 2  # to the far half's channels, more than on average
        arrives = self.touch_l2(r, n, time, way if r.sm.half != home else -way, held)
        r.result.gone = self.taken + chip.store_drain_cycles
        if r.kind == "write":
            return self.taken + latency - chip.l2_near_cycles + chip.l2_store_cycles + late
        done = max(math.floor(time) + latency, arrives) + late
        r.result.level = "l2" if latency == chip.l2_near_cycles else "l2_far"
        if arrives > math.floor(time) + latency:
            r.result.level = "dram"
        if r.kind == "atomic":
            r.result.level = "atomic"
        return done + (
            math.floor(busy) + max(0, chip.latency["atomic"] - chip.l2_near_cycles) if r.kind == "atomic" else 0
        )

    def slice_of(self, line):
        return hashed(line * 128 // self.chip.l2_interleave_nbytes) % self.chip.l2_slices

    def busy_in_slice(self, r):
        """How long a read or a write takes its slice."""
        if r.watch == "poll":
            return r.sectors.bit_count() * in_ticks(self.chip.poll_cycles)
        busy = r.sectors.bit_count() * in_ticks(32 / self.chip.l2_slice_nbytes_per_cycle)
        return busy + self.join(r) if r.missing else busy

    def join(self, r):
        """A store writes sectors in part: how long its slice takes for the line whose place among the joined ones it
        takes.
        """
        chip, busy = self.chip, 0
        joined = self.joined.setdefault(self.slice_of(r.line), OrderedDict())
        if r.line not in joined:
            if len(joined) == chip.l2_join_lines:
                _, (first, owed) = joined.popitem(last=False)
                busy = owed if any(words != 0xFF for words in first.values()) else 0
            joined[r.line] = Counter(), 0
        words, owed = joined[r.line]
        for place in range(4):
            if r.sectors >> place & 1:
                words[place] |= 0xFF & ~(r.missing >> 8 * place)
        in_part = sum(r.missing >> 8 * place & 0xFF != 0 for place in range(4))
        sector = in_ticks(chip.l2_partial_sector_cycles) - in_ticks(32 / chip.l2_slice_nbytes_per_cycle)
        joined[r.line] = words, owed + in_ticks(chip.l2_partial_request_cycles) + in_part * max(0, sector)
        return busy

    def further(self, sm):
        """Cycles that an SM is further from the L2 than SMs are on average."""
        place = (sm * 40503 + 32768) % 65536 - 32768  # of -1/2 to 1/2 in parts of 65536
        return math.floor(Fraction(place * self.chip.l2_spread_cycles + 32768, 65536))

    def translated(self, sm, line, t):
        """When the address of a request that arrives at `t` is known: at once, when its SM has the page's
        translation.
        """
        chip = self.chip
        if not chip.tlb_entries:
            return 0
        known = self.tlbs.setdefault(sm.number, OrderedDict())
        page, big_page = line * 128 // chip.tlb_page_nbytes, line * 128 // chip.l2_tlb_page_nbytes
        if page not in known:
            ready = t
            if chip.l2_tlb_entries:
                if big_page not in self.l2_tlb:
                    self.remember(self.l2_tlb, chip.l2_tlb_entries, big_page, t + chip.l2_tlb_miss_cycles)
                self.l2_tlb.move_to_end(big_page)
                ready = max(t, self.l2_tlb[big_page])
            self.remember(known, chip.tlb_entries, page, ready + chip.tlb_miss_cycles)
        known.move_to_end(page)
        return known[page]

    def remember(self, translations, room, page, ready):
        if len(translations) == room:
            translations.popitem(last=False)
        translations[page] = ready

    def copies_of(self, half, line, sectors, there):
        """The sectors of a line that a half of the L2 had. From now on it has these, too, or no longer."""
        unit = self.chip.l2_interleave_nbytes // 128
        turn, place = divmod(hashed(line), self.chip.l2_slices * unit)  # the how manieth line of its slice
        of_half = math.ceil(self.chip.l2_slices * unit / 2)
        number = turn * of_half + place % of_half
        lines = self.copies.setdefault((half, number % max(1, self.chip.l2_nbytes // 128 // 16)), OrderedDict())
        had = lines.get(line, 0)
        if there:
            if line not in lines and len(lines) == 8:
                lines.popitem(last=False)
            lines[line] = had | sectors
            lines.move_to_end(line)
        elif line in lines:
            lines[line] = had & ~sectors
        return had

    def held_sectors(self, r, home):
        """The sectors that the asking half has, and those that it or the home half has. A half has what it has read,
        what is written lies in its home, and what is fetched comes through there.
        """
        if self.chip.l2_near_cycles == self.chip.l2_far_cycles:
            return 15, 15
        if r.kind != "read":
            self.copies_of(1 - home, r.line, r.sectors, False)
            return 0, self.copies_of(home, r.line, r.sectors, True)
        own = held = self.copies_of(r.sm.half, r.line, r.sectors, True)
        if r.sm.half != home and r.sectors & ~own:
            held |= self.copies_of(home, r.line, r.sectors & ~own, True)
        if r.sectors & ~held:
            self.copies_of(home, r.line, self.fetched_with(r.sectors & ~held), True)
        return own, held

    def fetched_with(self, missing):
        """The sectors of the aligned groups that are fetched."""
        count = self.chip.l2_fetch_nbytes // 32
        groups = [((1 << count) - 1) << first for first in range(0, 4, count)]
        return sum(group for group in groups if group & missing)

    def touch_l2(self, r, n, time, way, held):
        def write_back(line, entry):
            nonlocal time
            if entry.ticket:
                time = self.wait_for_dram(r.line, time, self.written_out(line, entry.ticket, time))
            elif entry.dirty:
                partial = entry.dirty & ~entry.valid
                if partial and not self.chip.dram_masks_writes:
                    self.dram(line, partial.bit_count(), time)
                    self.post(line, partial.bit_count() * self.sector_time(), time)
                    self.slices[self.slice_of(line)] += in_ticks(self.chip.l2_fill_cycles)
                    self.count_for_grid("dram_read_sectors", partial.bit_count())
                    partial = 0
                masked = partial != 0
                self.written_back = self.dram(line, entry.dirty.bit_count(), time, masked, writes=True)
                self.count_for_grid("dram_write_sectors", entry.dirty.bit_count())
                time = self.wait_for_dram(r.line, time, self.slice_room)

        entry = self.cache_line(self.l2, hashed(r.line) % self.l2_sets, self.chip.l2_ways, r.line, write_back)
        before = entry.pending_until or 0
        needs = r.kind != "write" and not self.is_there(r)
        valid = entry.valid & held
        missing = r.sectors & ~valid if needs else 0
        arrives = before if valid & r.sectors and needs else 0
        self.count_for_grid("l2_sectors", n)
        self.count_for_grid("l2_hits", n - missing.bit_count())
        if missing:
            quantum = self.served + QUANTUM
            warp, pc = r.asked_by
            if warp:  # an SM asked
                self.cells.count(r.sm, "l2_miss", missing.bit_count(), quantum, warp, pc)
            fetched = self.fetched_with(missing) & ~valid
            self.count_for_grid("dram_read_sectors", fetched.bit_count())
            arrives = max(arrives, math.floor(self.dram(r.line, fetched.bit_count(), time)) + way)
            if r.kind == "atomic":
                self.wait_for_dram(r.line, time, self.post(r.line, fetched.bit_count() * self.sector_time(), time))
            entry.pending_until = max(before, arrives)
            entry.valid |= fetched
        for place in range(4):
            if r.sectors >> place & 1:
                entry.words[place] |= 0xFF & ~(r.missing >> 8 * place)
                if entry.words[place] == 0xFF:
                    entry.valid |= 1 << place
        if r.kind != "read":
            self.mark_changed(r.line, entry, r.sectors, time)
        return arrives

    def is_there(self, r):
        """Whether the L2 is to have what a request reads, as a what-if says (readable.whatif)."""
        return False

    def wait_for_dram(self, line, time, room):
        """A line's slice has to wait for room in a channel's queue; returns when it goes on."""
        if room > time:
            self.slices[self.slice_of(line)] += room - time
            self.taken = math.floor(room)
        return max(time, room)

    def mark_changed(self, line, entry, sectors, time):
        """Stores change sectors of a line. A set keeps some lines that are changed as a whole; the oldest is queued."""
        channel = self.channel_of(line)
        self.catch_up(channel, time)
        if entry.ticket <= self.drained[channel]:
            entry.ticket = Fraction(0)
        if entry.ticket:
            return
        if entry.dirty | sectors == 15 and entry.dirty != 15:
            lines = self.l2[hashed(line) % self.l2_sets]  # the one used longest ago first
            whole = [each for each, known in lines.items() if known.dirty == known.valid == 15]
            if len(whole) >= self.chip.l2_dirty_ways and whole:
                lines[whole[0]].dirty = 0
                lines[whole[0]].ticket = self.queue(whole[0], time)
        entry.dirty |= sectors

    def queue(self, line, time):
        channel, busy = self.channel_of(line), 4 * self.sector_time()
        self.catch_up(channel, time)
        self.queued_sectors[channel] += 4
        busy += self.turn(channel, 4)
        self.row(channel, line, max(time, self.channels[channel]), QUEUE * self.sector_time())
        self.queued[channel] += max(busy, self.row_turn())
        return self.queued[channel]

    def catch_up(self, channel, time):
        """A channel that has nothing else to do writes what is queued."""
        done = min(self.queued[channel] - self.drained[channel], time - self.channels[channel])
        if done > 0:
            self.write_queued(channel, done)
            self.channels[channel] += done

    def write_queued(self, channel, time):
        """Works on a channel's queue. On average its sectors take the same."""
        left = self.queued[channel] - self.drained[channel]
        sectors = math.floor(self.queued_sectors[channel] * time / left) if left else 0
        self.drained[channel] += time
        self.queued_sectors[channel] -= sectors
        self.count_for_grid("dram_write_sectors", sectors)

    def written_out(self, line, ticket, time):
        """When a queued line's place is free: now, or when its channel has written all up to it, which it does next."""
        channel = self.channel_of(line)
        self.catch_up(channel, time)
        if ticket <= self.drained[channel]:
            return time
        self.channels[channel] = self.written_back = max(self.channels[channel], time) + ticket - self.drained[channel]
        self.write_queued(channel, ticket - self.drained[channel])
        return self.channels[channel] - self.chip.dram_posted_sectors * self.sector_time()

    def channel_of(self, line):
        near = line * 128 // self.chip.dram_interleave_nbytes  # lines of one channel
        return (near * 0x9E3779B1 >> 16 & 0xFFFF) % self.chip.dram_channels

    def sector_time(self):
        chip = self.chip
        return in_ticks(32 / (chip.dram_gbytes_per_s * 1000 / chip.clock_mhz / chip.dram_channels))

    def row_turn(self):
        """The time that the last access took its channel's rows: none if its row was open."""
        chip = self.chip
        row_cycle = in_ticks(chip.dram_row_cycle_ns * chip.clock_mhz / 1000)
        in_turn = math.floor(row_cycle / TICK / chip.dram_banks) * TICK
        return max(in_turn, in_ticks(chip.dram_activate_ns * chip.clock_mhz / 1000)) if self.opens_row else 0

    def post(self, line, busy, time):
        """When the queue of a channel has room for the access that was the last one, for which no warp waits."""
        channel = self.channel_of(line)
        self.posted[channel] = max(self.posted[channel], time) + max(busy, self.row_turn()) + self.share
        return self.posted[channel] - self.chip.dram_posted_sectors * self.sector_time()

    def dram(self, line, n, time, masked=False, writes=False):
        chip, channel, sector = self.chip, self.channel_of(line), self.sector_time()
        self.catch_up(channel, time)
        asked, time = time, max(time, self.channels[channel])
        busy = n * sector + (in_ticks(chip.dram_masked_line_sectors * sector) if masked else 0)
        self.share = 0
        if writes:
            busy += self.turn(channel, n)
        self.channels[channel] = time + busy
        if not writes:
            self.share = min(busy, self.queued[channel] - self.drained[channel])
            self.write_queued(channel, self.share)
            self.channels[channel] += self.share
            self.read_since.add(channel)
        hit = time + chip.dram_cycles - in_ticks(chip.dram_row_open_ns * chip.clock_mhz / 1000)
        there = max(hit, self.row(channel, line, time, QUEUE * sector) + chip.dram_cycles)
        if writes:
            self.slice_room = self.post(line, busy, asked)
        return there

    def turn(self, channel, n):
        """The time to turn a channel's bus for a write, which happens once a full queue of sectors."""
        self.written[channel] += n
        if self.written[channel] < QUEUE:
            return 0
        self.written[channel] = 0
        read = channel in self.read_since
        self.read_since.discard(channel)
        return in_ticks(self.chip.dram_turn_ns * self.chip.clock_mhz / 1000) if read else 0

    def row(self, channel, line, time, queue):
        """When a line's row was opened, or will be. A bank knows its last four rows; the newest is open, others while
        they are asked for.
        """
        number = line // (self.chip.dram_row_nbytes // 128 * self.chip.dram_channels)  # a row holds whole lines
        bank = self.banks.setdefault((channel, hashed(number) % self.chip.dram_banks), {})  # number -> [opened, used]
        newest = max((opened for opened, _ in bank.values()), default=-math.inf)
        self.opens_row = number not in bank or (bank[number][0] != newest and time - bank[number][1] > queue)
        if self.opens_row:
            if number not in bank and len(bank) == 4:
                del bank[min(bank, key=lambda known: bank[known][0])]
            chip, opens = self.chip, max(time, self.activates[channel])
            self.activates[channel] = opens + in_ticks(chip.dram_activate_ns * chip.clock_mhz / 1000)
            cycle = in_ticks(chip.dram_row_cycle_ns * chip.clock_mhz / 1000)
            bank[number] = [max(opens, newest + cycle), time]
        bank[number][1] = time
        return bank[number][0]


def time_launch(*args, **more) -> Gpu:
    """Runs a launch to its end; `ledger`, `samples`, `dropped`, `end` and `counts` of the result tell what came out."""
    return Gpu(*args, **more).run()


def stalls_of(gpu: Gpu) -> dict:
    """(instruction, reason): the longest stall, and how many have 1, 2 to 3, 4 to 7, ... cycles, as {1: n, 2: n, 4: n,
    ...}.

    A warp's cycles of one kind between two of its issues are one stall.
    """
    lengths = {}
    for cycles in gpu.history.values():
        for issued, between in itertools.groupby(cycles, lambda charged: charged[1] == "selected"):
            for charged, length in Counter(() if issued else between).items():
                lengths.setdefault(charged, []).append(length)
    return {
        charged: (max(some), dict(Counter(1 << n.bit_length() - 1 for n in some))) for charged, some in lengths.items()
    }


def recorded_stalls(*timings) -> dict:
    """The stalls of LaunchTimings, whose instructions follow each other, in the same form."""
    found, first = {}, 0
    for timing in timings:
        for row in timing.stalls:
            bins = {1 << place: int(n) for place, n in enumerate(row["bins"]) if n}
            found[first + int(row["instruction"]), NAMES[row["reason"]]] = int(row["longest_cycles"]), bins
        first += len(timing.ledger)
    return found


def ledger_of(timing) -> dict:
    """A LaunchTiming's ledger in the same form."""
    return {(pc, NAMES[k]): int(n) for pc, row in enumerate(timing.ledger) for k, n in enumerate(row) if n}
