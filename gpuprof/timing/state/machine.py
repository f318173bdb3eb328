"""The state of a simulated GPU: its tables (machine_tables) as they are at power-on and for each batch of grids.

A `Machine` holds what lasts from launch to launch: the clock, the L2, the DRAM channels and the instruction caches. The
rest is as new for each batch of grids. Row numbers in the tables: partition p of SM s is number s * partitions + p,
warp slot k of it is number (s * partitions + p) * warps_per_partition + k, block slot b of SM s is number s *
block_slots + b.
"""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

import numpy as np

from gpuprof.base.processes import n_threads
from gpuprof.chips import Chip
from gpuprof.chips.model import LINE_NBYTES
from gpuprof.emulate.trace_log.trace_entries import N_MBARRIERS
from gpuprof.errors import UsageError
from gpuprof.isa.families.control import N_BARRIERS
from gpuprof.isa.sleeps import clock_khz_of
from gpuprof.isa.stalls import N_REASONS
from gpuprof.tables.blocks import BLOCK_COUNTERS, WARP_COUNTERS
from gpuprof.tables.samples import SAMPLED_COUNTERS, WIDE
from gpuprof.timing.sampling.configuration import MODES, Sampling
from gpuprof.timing.sampling.filter import EVERY, Filter
from gpuprof.timing.sampling.triggers import CYCLES, NUMBER
from gpuprof.timing.state import layout
from gpuprof.timing.state.activity_bins import N_ACTIVITIES, bins_of
from gpuprof.timing.state.cached_tables import CachedTables, Programs
from gpuprof.timing.state.expansion import shares_fp64
from gpuprof.timing.state.latency_tables import N_KINDS, bypass_cycles, round_cycles
from gpuprof.timing.state.layout import N_BUCKETS, NEVER, PORT_FP64, QUANTUM, SECTOR_NBYTES, TICKS
from gpuprof.timing.state.machine_tables import (
    GROUPS,
    MACHINE,
    TABLES,
    WORD,
    Blame,
    Cell,
    Core,
    Draws,
    Fetch,
    Memory,
    Program,
)
from gpuprof.timing.state.occupancy import Occupancy
from gpuprof.timing.state.prepared import Prepared
from gpuprof.timing.state.stall_tables import ROW, WAITS, n_stall_rows
from gpuprof.timing.state.static_program import BULK, StaticProgram

CARVE_OUT_NBYTES = 8192  # shared memory is taken from the L1 in such steps (estimated)
SAMPLE_ROOM = 1 << 16  # records between two calls of the sink
SIGNAL_ROWS = 1 << 16
ROW_ROOM = 1 << 14  # rows of blocks, or of warps, between two calls


class State(NamedTuple):
    """All tables of TABLES, and the machine's record, which holds their addresses once `link` has put them
    there.
    """

    machine: np.ndarray  # MACHINE (threads,): the machine's own, and those of further views of it (state/views.py)
    program: Program
    core: Core
    fetch: Fetch
    memory: Memory
    cell: Cell
    causes: Blame
    draws: Draws

    def link(self, known: CachedTables) -> "State":
        """Writes the tables' addresses into the machine's record; returns the state itself, which keeps the tables
        alive.
        """
        self.machine.view(np.int64)[TABLE_INDEXES] = known.addresses(chain(*self[1:]))
        return self


class Constants(NamedTuple):
    """Tables that all batches of a GPU share: they follow only from the chip, and nothing writes to them. `words`,
    int64, are a MACHINE record with the chip's numbers and zeros; the others are as in `Core`.
    """

    words: np.ndarray
    round: np.ndarray
    bypass: np.ndarray


@dataclass
class Machine:
    """A GPU that is switched on. `cycle` is its clock; everything else belongs to the units."""

    chip: Chip
    constants: Constants
    programs: Programs
    tables: CachedTables
    prepared: Prepared
    cycle: int
    fetch: Fetch
    l2_tag: np.ndarray
    l2_use: np.ndarray
    l2_line: np.ndarray
    l2_ticket: np.ndarray
    l2_copy: np.ndarray
    tlb: np.ndarray  # layout.TRANSLATION (SMs, entries)
    tlb_hint: np.ndarray  # int32 (SMs, TLB_HINTS)
    l2_tlb: np.ndarray
    l2_uses: int
    slice_tick: np.ndarray
    channel_tick: np.ndarray
    slice_join: np.ndarray  # layout.JOINED (slices, l2_join_lines)
    slice_joins: np.ndarray
    channel_turn: np.ndarray
    channel_posted: np.ndarray
    write_queue: np.ndarray  # layout.WRITE_QUEUE (channels,)
    channel_activate: np.ndarray
    dram_row: np.ndarray  # layout.DRAM_ROW (banks of all channels, OPEN_ROWS)


def power_on(chip: Chip) -> Machine:
    """A machine with cold caches at cycle 0."""
    l2_lines = l2_sets(chip) * chip.l2_ways
    partitions = chip.sms * chip.partitions
    l1, l15 = constant_caches(chip)
    fetch = Fetch(
        *(np.full((partitions, chip.l0i_lines), fill, np.int64) for fill in (-1, 0)),
        *(np.full((chip.sms, chip.l1i_lines), fill, np.int64) for fill in (-1, 0)),
        *(np.full((chip.sms, 2 * l1.sets * l1.ways), fill, np.int64) for fill in (-1, 0)),
        *(np.full((chip.sms, l15.sets * l15.ways), fill, np.int64) for fill in (-1, 0)),
    )
    machine = Machine(
        chip,
        constants_of(chip),
        Programs(chip),
        CachedTables(chip.sms),
        Prepared(),
        0,
        fetch,
        np.zeros(l2_lines, np.int64),
        np.zeros(l2_lines, np.int64),
        np.zeros(l2_lines, layout.L2_LINE),
        np.zeros(l2_lines, np.int64),
        np.zeros(2 * copy_sets(chip) * layout.COPY_WAYS, np.int64),
        np.zeros((chip.sms, chip.tlb_entries), layout.TRANSLATION),
        np.zeros((chip.sms, layout.TLB_HINTS), np.int32),
        np.zeros(chip.l2_tlb_entries, layout.TRANSLATION),
        0,
        np.zeros(chip.l2_slices, np.int64),
        np.zeros(chip.dram_channels, np.int64),
        np.zeros((chip.l2_slices, chip.l2_join_lines), layout.JOINED),
        np.zeros(chip.l2_slices, np.int64),
        np.zeros(chip.dram_channels, np.int64),
        np.zeros(chip.dram_channels, np.int64),
        np.zeros(chip.dram_channels, layout.WRITE_QUEUE),
        np.zeros(chip.dram_channels, np.int64),
        np.full(
            (chip.dram_channels * chip.dram_banks, layout.OPEN_ROWS),
            np.array((-1, layout.NOT_YET, layout.NOT_YET), layout.DRAM_ROW),
        ),
    )
    return machine


class Ways(NamedTuple):
    """The shape of a set-associative cache."""

    sets: int
    ways: int


def with_chip(machine: Machine, chip: Chip, programs: Programs) -> Machine:
    """A GPU in the state of another one, of a chip whose caches, channels and units are as many and as large."""
    copied = deepcopy(machine, {id(machine.chip): machine.chip})
    return replace(copied, chip=chip, constants=constants_of(chip), programs=programs, prepared=Prepared())


def constant_caches(chip: Chip) -> tuple[Ways, Ways]:
    """The constant cache (there are two alike, of operands and of loads) and the one after it."""
    numbers = (
        (chip.constant_lines, chip.constant_ways),
        (chip.constant_l15_lines, chip.constant_l15_ways),
    )
    first, second = (Ways(max(1, lines // ways), min(ways, lines)) for lines, ways in numbers)
    return first, second


def lasting_tables(machine: Machine) -> Iterator[tuple[str, np.ndarray]]:
    """The tables that last from launch to launch, by name."""
    for name, table in (*machine.fetch._asdict().items(), *vars(machine).items()):
        if name in TABLES:
            yield name, table


def empty_caches(machine: Machine) -> None:
    """Leaves all as it is at power-on, but for the clock: caches and TLBs empty, no row of the DRAM open, nothing under
    way. So a launch takes as long as it does as the first.
    """
    if (machine.fetch.l0_tag < 0).all():
        return  # no instruction has been fetched yet
    fresh = power_on(machine.chip)
    for (_, table), (_, empty) in zip(lasting_tables(machine), lasting_tables(fresh), strict=True):
        table[...] = empty  # in place: the engine knows where it is
    machine.l2_uses = fresh.l2_uses


def l2_sets(chip: Chip) -> int:
    return max(1, chip.l2_nbytes // LINE_NBYTES // chip.l2_ways)


def carve_out(chip: Chip, occupancy: Occupancy) -> int:
    """Bytes of shared memory that an SM full of such blocks is given."""
    if not chip.l1_shared_pool:
        return chip.shared_nbytes
    need = occupancy.blocks_per_sm * occupancy.shared_nbytes_per_block
    return min(chip.shared_nbytes, -(-need // CARVE_OUT_NBYTES) * CARVE_OUT_NBYTES)


def copy_sets(chip: Chip) -> int:
    """Sets in the table of lines that a half of the L2 keeps: as many lines as the half holds."""
    return max(1, chip.l2_nbytes // LINE_NBYTES // 2 // layout.COPY_WAYS)


def page_bits(nbytes: int) -> int:
    """Bits of a line's number that say where in its page it is."""
    return (nbytes // LINE_NBYTES).bit_length() - 1


def l1_sets(chip: Chip, occupancy: Occupancy) -> int:
    """Sets of the L1 that remain besides the shared memory that a full SM needs."""
    return sets_of_l1(chip.l1_nbytes, chip.l1_shared_pool, carve_out(chip, occupancy), chip.l1_ways)


def sets_of_l1(l1_nbytes, l1_shared_pool, shared_nbytes, l1_ways):
    """Sets of the L1 that remain besides so much shared memory; in compiled code, too."""
    return max(1, (l1_nbytes - l1_shared_pool * shared_nbytes) // LINE_NBYTES // l1_ways)


def most_l1_lines(chip: Chip, occupancies: list[Occupancy]) -> int:
    """Lines that the L1 of an SM has at most."""
    return max(l1_sets(chip, fit) for fit in occupancies) * chip.l1_ways


def block_slots(chip: Chip, has_draws: bool) -> int:
    """Places for blocks on an SM. A warp of a draw is a block here, and none on the GPU: warps are its limit."""
    return chip.warp_slots if has_draws else chip.max_blocks


class Rooms(NamedTuple):
    """The most rows that a quantum takes in its lists."""

    requests: int
    loads: int
    blocked: int
    effects: int


def rooms_of(chip: Chip, program: StaticProgram) -> Rooms:
    # A partition issues at most as many memory instructions in a quantum as its queue takes and its address unit passes
    # on.
    accesses = (
        chip.sms
        * chip.partitions
        * min(QUANTUM * chip.dispatch_units, chip.queue_depth + QUANTUM // chip.address_cycles + 1)
    )
    warps = chip.sms * chip.warp_slots
    # A sample record of each SM a cycle, a poll of each warp, and the request of units that belong to no SM.
    requests = 2 * accesses * chip.warp_lanes + chip.sms * QUANTUM + warps + 1
    if (program.inst["kind"] == BULK).any():
        requests += chip.sms * layout.BULK_ROOM
    # Each block signals and ends once, each warp ends or polls once; the rest are launches.
    slots = chip.sms * max(block_slots(chip, has_draws) for has_draws in (False, True))
    effects = 2 * slots + 2 * warps + chip.sms * chip.partitions * QUANTUM * chip.dispatch_units
    return Rooms(requests, accesses, warps, effects)


def new_core(
    machine: Machine,
    program: StaticProgram,
    grids: np.ndarray,
    edges: np.ndarray,
    operations: np.ndarray,
    engines: np.ndarray,
    has_draws: bool,
    rooms: Rooms,
    n_views: int,
) -> Core:
    chip = machine.chip
    partitions, warps = chip.sms * chip.partitions, chip.sms * chip.warp_slots
    slots = chip.sms * block_slots(chip, has_draws)
    tables, n = machine.tables, len(program.inst)
    of_sms, rebuilt, scratch, filled = tables.of_sms, tables.rebuilt, tables.scratch, tables.filled
    return Core(
        grid=grids,
        edge=edges,
        operation=operations,
        engine=engines,
        presence=filled("presence", (len(grids), chip.sms), layout.PRESENCE),
        loss=filled("loss", (len(grids), chip.sms), layout.LOSS),
        atomic_time=filled("atomic_time", (len(grids), chip.l2_slices), np.int64),
        hot_line=filled("hot_line", (len(grids), layout.HOT_LINES), layout.HOT_LINE),
        # the last is no warp: stores of sample records report to it
        warp=of_sms("warp", (warps + 1,), layout.WARP, last=-1),
        board=of_sms("board", (warps, program.n_registers), layout.BOARD),
        second=of_sms("second", (warps, program.n_registers), layout.BOARD),
        part=rebuilt("part", lambda: new_partitions(chip)),
        lane=of_sms("lane", (partitions, chip.warps_per_partition), layout.LANE, age=-1),
        wake=of_sms("wake", (partitions, chip.warps_per_partition), WORD, value=NEVER),
        port=of_sms("port", (partitions, layout.N_PORTS), layout.PORT, issued=-1),
        queue=of_sms("queue", (partitions, chip.queue_depth), layout.QUEUE_PLACE),
        l1_queue=of_sms("l1_queue", (partitions, chip.l1_queue_depth), np.int64),
        mio_queue=of_sms("mio_queue", (partitions, chip.mio_queue_depth), np.int64),
        fp64_queue=of_sms("fp64_queue", (partitions, chip.fp64_queue_depth), np.int64),
        sm=rebuilt("sm", lambda: new_sms(chip)),
        running=scratch("running", (chip.sms,), np.int64),
        block=of_sms("block", (slots,), layout.BLOCK, grid=-1),
        arrived=of_sms("arrived", (slots, N_BARRIERS), np.int32),
        begun=of_sms("begun", (slots, N_BARRIERS), np.int64),
        round=machine.constants.round,
        bypass=machine.constants.bypass,
        ended=of_sms("ended", (slots, N_MBARRIERS), np.int32),
        landed=of_sms("landed", (slots, N_MBARRIERS), np.int64),
        lander=of_sms("lander", (slots, N_MBARRIERS), np.int64),
        handout=np.zeros(1, layout.HANDOUT),
        effect=scratch("effect", (n_views * rooms.effects,), layout.EFFECT),
        blocked=scratch("blocked", (n_views * rooms.blocked,), np.int64),
        poller=scratch("poller", (warps,), np.int64),
        signal=filled("signal", (n_signal_rows(program),), layout.SIGNALS),
        ledger=filled("ledger", (n, N_REASONS), np.int64),
        activity=scratch("activity", (len(grids) * bins_of(len(grids)), N_ACTIVITIES), layout.ACTIVITY),
        stall_row=filled("stall_row", (n, N_REASONS), np.int32),
        stalls=scratch("stalls", (n_stall_rows(n), ROW), np.int64),  # stall_tables.forget clears what was used
    )


def n_signal_rows(program: StaticProgram) -> int:
    """Places for sectors that signals go to, if any loop of the program waits for signals: a power of two."""
    return SIGNAL_ROWS if program.inst["polls"].any() else 1


def new_partitions(chip: Chip) -> np.ndarray:
    part = np.zeros(chip.sms * chip.partitions, layout.PARTITION)
    part["next_event"] = part["next_wake"] = NEVER
    part["issued"] = part["current"] = -1
    part["sm"] = np.repeat(np.arange(chip.sms), chip.partitions)
    return part


def new_sms(chip: Chip) -> np.ndarray:
    sm = np.zeros(chip.sms, layout.SM)
    sm["next_event"] = sm["next_sample"] = sm["next_store"] = NEVER
    sm["block_free"] = NEVER
    sm["carve_out"] = sm["counted_cycle"] = -1
    sm["half"] = np.arange(chip.sms) * 2 // chip.sms
    return sm


def new_memory(machine: Machine, occupancies: list[Occupancy], rooms: Rooms, n_views: int) -> Memory:
    chip = machine.chip
    lines = most_l1_lines(chip, occupancies)
    tables = machine.tables
    of_sms, scratch = tables.of_sms, tables.scratch
    return Memory(
        l1_tag=of_sms("l1_tag", (chip.sms * lines,), np.int64),
        l1_use=of_sms("l1_use", (chip.sms * lines,), np.int64),
        l1_line=of_sms("l1_line", (chip.sms * lines,), layout.L1_LINE),
        miss_free=of_sms("miss_free", (chip.sms, chip.l1_mshrs), np.int64),
        l2_tag=machine.l2_tag,
        l2_use=machine.l2_use,
        l2_line=machine.l2_line,
        l2_ticket=machine.l2_ticket,
        l2_copy=machine.l2_copy,
        tlb=machine.tlb,
        tlb_hint=machine.tlb_hint,
        l2_tlb=machine.l2_tlb,
        slice_tick=machine.slice_tick,
        channel_tick=machine.channel_tick,
        slice_join=machine.slice_join,
        slice_joins=machine.slice_joins,
        channel_turn=machine.channel_turn,
        channel_posted=machine.channel_posted,
        write_queue=machine.write_queue,
        channel_activate=machine.channel_activate,
        dram_row=machine.dram_row,
        request=scratch("request", (n_views * rooms.requests,), layout.REQUEST),
        load=scratch("load", (n_views * rooms.loads,), layout.LOAD_RECORD),
        bucket=tables.filled("bucket", (N_BUCKETS,), np.int32, 255),
    )


def new_cell(machine: Machine, sampling: Sampling, filters: list[Filter], has_draws: bool) -> Cell:
    """Makes the tables of the trace cells for a batch. `filters`: of each grid."""
    chip, scratch = machine.chip, machine.tables.scratch
    warps, slots = chip.sms * chip.warp_slots, chip.sms * block_slots(chip, has_draws)
    capacity = sample_room(chip, sampling) + most_samples(chip, sampling)
    if sampling.partition >= chip.partitions:
        raise UsageError(
            f"sampling of partition {sampling.partition}: an SM of {chip.name} has {chip.partitions}, from 0 on"
        )
    return Cell(
        record=scratch("record", (capacity,), WIDE.dtype),
        counted=scratch("counted", (capacity if sampling.sampled_counters else 1,), SAMPLED_COUNTERS.dtype),
        leaves=scratch("leaves", (capacity,), np.int64),
        # The outlet renumbers the places of all SMs.
        fifo=machine.tables.filled("fifo", (chip.sms, sampling.fifo_depth), layout.FIFO_PLACE),
        waited=scratch("waited", (warps if sampling.counts_warps else 1, len(WAITS)), np.int64),
        # In a quantum each slot is left once, at most.
        block_row=scratch("block_row", (ROW_ROOM + slots if sampling.counts_blocks else 1,), BLOCK_COUNTERS.dtype),
        warp_row=scratch("warp_row", (ROW_ROOM + warps if sampling.counts_warps else 1,), WARP_COUNTERS.dtype),
        **machine.prepared.once(_gates, (), tuple(filters), filters, chip.sms),
    )


def _gates(filters: list[Filter], sms: int) -> dict[str, np.ndarray]:
    return {
        "gate": np.array([gate_row(filter) for filter in filters], layout.GATE),
        "watched": np.array([filter.sms(sms) for filter in filters], np.int32),
    }


def gate_row(filter: Filter) -> tuple[int, ...]:
    """A row of layout.GATE from a filter."""
    return tuple(
        end
        for ranges in (filter.block, filter.warp, filter.cycles, filter.launch_cycles)
        for end in (ranges or (EVERY,))[0]
    )


def sample_room(chip: Chip, sampling: Sampling) -> int:
    """Records with which a quantum may still start: those to be handed over, and those that are in the FIFOs."""
    return SAMPLE_ROOM + chip.sms * sampling.fifo_depth


def most_samples(chip: Chip, sampling: Sampling) -> int:
    """Records that one quantum can bring, at most."""
    per_sm = 1 + (QUANTUM if sampling.trigger != CYCLES else QUANTUM // max(1, sampling.period_cycles))
    return chip.sms * per_sm * {"all": chip.warp_slots, "stalled": chip.partitions}.get(sampling.mode, 1)


def constants_of(chip: Chip) -> Constants:
    words = np.zeros(len(MACHINE_INDEX), np.int64)
    enter(words, _chip_numbers(chip))
    return Constants(words, round_cycles(chip), bypass_cycles(chip))


MACHINE_INDEX = {name: index for index, name in enumerate(MACHINE.names)}
assert MACHINE.itemsize == 8 * len(MACHINE_INDEX)
# The fields of MACHINE with the addresses of the tables.
TABLE_INDEXES = np.array([MACHINE_INDEX[f"{name}_table"] for group in GROUPS for name in group._fields])


def enter(words: np.ndarray, numbers: dict[str, int]) -> None:
    """Writes numbers into the words of a MACHINE record: numpy is slow to look up, and to copy, many fields."""
    words[[MACHINE_INDEX[name] for name in numbers]] = list(numbers.values())


def _chip_numbers(chip: Chip) -> dict[str, int]:
    dram_nbytes_per_cycle = chip.dram_gbytes_per_s * 1000 / chip.clock_mhz / chip.dram_channels
    l1, l15 = constant_caches(chip)
    return {name: chip.values[name] for name in layout.CHIP_NUMBERS} | {
        "warps_per_partition": chip.warps_per_partition,
        "shared_port": PORT_FP64 if shares_fp64(chip) else -1,
        "constant_sets": l1.sets,
        "constant_set_ways": l1.ways,
        "constant_places": 2 * l1.sets * l1.ways,
        "constant_l15_sets": l15.sets,
        "constant_l15_set_ways": l15.ways,
        "constant_l15_places": l15.sets * l15.ways,
        "lsu_ticks": round(chip.lsu_cycles * TICKS),
        "barrier_ticks": round(chip.barrier_lsu_cycles * TICKS),
        "clock_khz": clock_khz_of(chip.clock_mhz),
        "shared_ticks": round(chip.shared_cycles * TICKS),
        "attribute_cycles": chip.latency["shared"],
        "tag_pass_ticks": round(chip.tag_pass_cycles * TICKS),
        "tag_lookup_ticks": round(chip.tag_lookup_cycles * TICKS),
        "cluster_ticks": round(4 * TICKS / chip.cluster_nbytes_per_cycle),
        "noc_ticks": sector_ticks(chip.noc_nbytes_per_cycle),
        "l2_sets": l2_sets(chip),
        "copy_sets": copy_sets(chip),
        "tlb_page_bits": page_bits(chip.tlb_page_nbytes),
        "l2_tlb_page_bits": page_bits(chip.l2_tlb_page_nbytes),
        # a compare, and the branch that it decides
        "poll_cycles": chip.latency["alu"] + chip.guard_cycles + chip.branch_cycles,
        "l2_interleave_bits": page_bits(chip.l2_interleave_nbytes),
        "l2_way_cycles": (chip.l2_far_cycles - chip.l2_near_cycles) // 2,
        "slice_ticks": sector_ticks(chip.l2_slice_nbytes_per_cycle),
        "slice_queue_ticks": layout.STORE_QUEUE
        * (round(chip.l2_partial_request_cycles * TICKS) + 4 * round(chip.l2_partial_sector_cycles * TICKS)),
        "partial_request_ticks": round(chip.l2_partial_request_cycles * TICKS),
        "partial_sector_ticks": max(
            0, round(chip.l2_partial_sector_cycles * TICKS) - sector_ticks(chip.l2_slice_nbytes_per_cycle)
        ),
        "fill_ticks": round(chip.l2_fill_cycles * TICKS),
        "fetch_sectors": chip.l2_fetch_nbytes // SECTOR_NBYTES,
        "atomic_sector_ticks": max(1, round(chip.atomic_sector_cycles * TICKS)),
        "poll_ticks": max(1, round(chip.poll_cycles * TICKS)),
        "atomic_extra_cycles": max(0, chip.latency["atomic"] - chip.l2_near_cycles),
        "dram_ticks": sector_ticks(dram_nbytes_per_cycle),
        "dram_mask_ticks": round(chip.dram_masked_line_sectors * sector_ticks(dram_nbytes_per_cycle)),
        "dram_interleave_bits": page_bits(chip.dram_interleave_nbytes),
        "dram_row_span": chip.dram_channels * max(1, chip.dram_row_nbytes // LINE_NBYTES),
        "dram_row_cycle_ticks": ns_ticks(chip, chip.dram_row_cycle_ns),
        "dram_activate_ticks": ns_ticks(chip, chip.dram_activate_ns),
        "dram_row_turn_ticks": max(
            ns_ticks(chip, chip.dram_activate_ns), ns_ticks(chip, chip.dram_row_cycle_ns) // chip.dram_banks
        ),
        "dram_hit_ticks": chip.dram_cycles * TICKS - ns_ticks(chip, chip.dram_row_open_ns),
        "dram_miss_ticks": chip.dram_cycles * TICKS,
        "dram_queue_ticks": layout.QUEUE * sector_ticks(dram_nbytes_per_cycle),
        "dram_posted_ticks": chip.dram_posted_sectors * sector_ticks(dram_nbytes_per_cycle),
        "dram_turn_ticks": ns_ticks(chip, chip.dram_turn_ns),
        "distributor_ticks": round(chip.distributor_cycles * TICKS),
        "n_classes": layout.N_CLASSES,
        "n_ports": layout.N_PORTS,
        "n_kinds": N_KINDS,
        "n_reasons": N_REASONS,
        "n_barriers": N_BARRIERS,
        "n_mbarriers": N_MBARRIERS,
        "n_open_rows": layout.OPEN_ROWS,
        "n_tlb_hints": layout.TLB_HINTS,
        "n_waits": len(WAITS),
        "n_hot_lines": layout.HOT_LINES,
        "n_activities": N_ACTIVITIES,
        "n_series": layout.N_SERIES,
        "n_columns": layout.N_COLUMNS,
        "n_asking": layout.N_ASKING,
    }


def machine_record(
    machine: Machine, program: StaticProgram, occupancies: list[Occupancy], sampling: Sampling, record_nbytes: int
) -> np.ndarray:
    """MACHINE records, one for each thread. The first has the numbers of chip and batch that the inner loop reads, and
    counters at zero; the others are empty.
    """
    given = (machine, program, occupancies, sampling, record_nbytes)
    if len(occupancies) > 1:  # their joined program is new each time
        words = _machine_words(*given)
    else:
        words = machine.prepared.once(_machine_words, (program, *occupancies, sampling), (record_nbytes,), *given)
    views = np.zeros((min(n_threads(), machine.chip.sms), len(words)), np.int64)
    views[0] = words
    return views.view(MACHINE).reshape(-1)


def _machine_words(
    machine: Machine, program: StaticProgram, occupancies: list[Occupancy], sampling: Sampling, record_nbytes: int
) -> np.ndarray:
    """The first record as int64."""
    chip = machine.chip
    numbers = {
        "period_cycles": sampling.period_cycles,
        "phase_cycles": sampling.phase_cycles,
        "trigger": NUMBER[sampling.trigger],
        "every": max(1, sampling.every),
        "mode": MODES.index(sampling.mode),
        "first_partition": max(0, sampling.partition),
        "partitions_in_scope": chip.partitions if sampling.partition < 0 else 1,
        "with_counters": len(sampling.sampled_counters) > 0,
        "counts_blocks": sampling.counts_blocks,
        "counts_warps": sampling.counts_warps,
        "row_room": ROW_ROOM,
        "asker": -1,
        "stall_index": sampling.stall == "index",
        "seed": sampling.seed & (1 << 63) - 1,
        "fifo_depth": sampling.fifo_depth,
        "drain_cycles": sampling.drain_cycles or chip.sampler_drain_cycles,
        "through_lsu": sampling.stream == "lsu",
        "record_nbytes": record_nbytes,
        "record_sectors": -(-record_nbytes // SECTOR_NBYTES),
        "record_stride": 1 << (record_nbytes - 1).bit_length(),
        "buffer_lines": max(1, sampling.buffer_nbytes // chip.sms // LINE_NBYTES),
        "sample_room": sample_room(chip, sampling),
        "n_grids": len(occupancies),
        "activity_bins": bins_of(len(occupancies)),
        "n_views": 1,
        "lookahead_nbytes": layout.STEP_NBYTES * steps_of_quantum(program, chip.dispatch_units),
        "l1_lines": most_l1_lines(chip, occupancies),
        "signal_mask": n_signal_rows(program) - 1,
        "n_registers": program.n_registers,
        "first_group": program.first_group,
        "first_product": program.first_product,
    }
    words = machine.constants.words.copy()
    enter(words, numbers)
    return words


def ns_ticks(chip: Chip, nanoseconds: float) -> int:
    return round(nanoseconds * chip.clock_mhz / 1000 * TICKS)


def steps_of_quantum(program: StaticProgram, dispatch_units: int) -> int:
    """Steps that a warp may take in a quantum, at most: each either has an instruction that is issued, or comes between
    two that are.
    """
    return (QUANTUM + 1) * dispatch_units * (1 + program.n_blocks_without_issue)


def sector_ticks(nbytes_per_cycle: float) -> int:
    return max(1, round(SECTOR_NBYTES * TICKS / nbytes_per_cycle))


def most_causes(chip: Chip) -> int:
    """The most rows of causes that one quantum can add. Each issue may add those of its dependencies, of its turn and
    of a hold.
    """
    issues = chip.sms * chip.partitions * QUANTUM * chip.dispatch_units
    return issues * (layout.N_CLASSES + 3) + chip.sms * chip.warp_slots
