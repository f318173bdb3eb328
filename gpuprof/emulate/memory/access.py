"""One memory instruction of a set of lanes: its address, the check that it is allowed, its trace and its counters."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gpuprof.emulate.core.faults import fault_of_element, first_active
from gpuprof.emulate.core.lanes import WARP, Lanes, pack_masks
from gpuprof.emulate.core.operands import U32, U64, source
from gpuprof.emulate.core.operation import Env, guard_reader
from gpuprof.emulate.core.spaces import NO_RANGES
from gpuprof.emulate.trace_log.trace_entries import ACCESS_DTYPE
from gpuprof.isa.encoding import Instruction
from gpuprof.isa.modifiers import unpack

if TYPE_CHECKING:
    from gpuprof.emulate.trace_log.coalesce import Totals


ATOMIC_VERBS = ("atomic operation", "mbarrier operation")


class Site(NamedTuple):
    """The facts of a memory instruction that are known before it runs. `verb` is for messages: "read", "write", one of
    ATOMIC_VERBS.
    """

    at: int
    space: str
    nbytes: int
    verb: str
    address: Callable[[Lanes], np.ndarray]  # int64 (n,)
    guard: Callable[[Lanes], np.ndarray] | None

    @property
    def is_atomic(self) -> bool:
        return self.verb in ATOMIC_VERBS


def make_site(inst: Instruction, env: Env, verb: str) -> Site:
    return Site(env.at, inst.op.space, inst.op.nbytes, verb, address_reader(inst, env), guard_reader(inst, env))


def address_reader(inst: Instruction, env: Env) -> Callable[[Lanes], np.ndarray]:
    """lanes -> int64 (n,): source a plus the signed offset, in 64 bits with addr64 and wrapped to 32 bits without."""
    wide = unpack(inst.mods, "addr64")
    kind, index = source(inst, "a", U64 if wide else U32, env.pool)
    offset = np.int64(inst.offset)

    def read(lanes: Lanes) -> np.ndarray:
        row = lanes.v[kind][index]
        if wide:
            address = row.view(np.int64)
            address = address + offset if offset else address
        else:
            address = row.astype(np.int64)
            address = (address + offset) & 0xFFFFFFFF if offset else address
        return address if address.ndim else np.full(lanes.n, address)

    return read


class Touched(NamedTuple):
    """The bytes of their space that an instruction's lanes access: `flat` int64 (n,), `active` bool (n,) or None for
    all.

    `contiguous`: all lanes are active and follow each other without a gap, from flat[0] on.
    """

    flat: np.ndarray
    active: np.ndarray | None
    contiguous: bool


def touch(
    lanes: Lanes,
    site: Site,
    space,
    address: np.ndarray,
    active: np.ndarray | None,
    unchecked: np.ndarray | None = None,
    needs_records: bool = True,
) -> Touched:
    """Checks, traces and counts the access of the active lanes to one space; `unchecked` lanes have been checked, and
    then the caller records reads in the footprint. Raises KernelFault.

    When no trace is needed, the access is only counted, and when no counts are needed, it is only checked, unless the
    caller `needs_records` of it, to add to them.
    """
    masks = lanes.masks if active is lanes.active else pack_masks(active)
    totals, same = observe(lanes, site, space, address, masks, needs_records)
    if (totals.hi >= 0 or totals.lo < 0) and unchecked is None:  # some lane takes part
        check(lanes, site, space, address, active, totals, same)
    elif unchecked is not None and (active & ~unchecked).any():
        check(lanes, site, space, address, active & ~unchecked, totals, False)
    if space.footprint is not None and unchecked is None:
        run = (totals.lo, totals.hi) if totals.contiguous else None
        space.footprint.access(site.verb, address, masks, site.nbytes, run)
    is_contiguous = bool(totals.contiguous) and space is lanes.chunk.spaces["global"]
    return Touched(space.flat(lanes, address), active, is_contiguous)


def observe(
    lanes: Lanes, site: Site, space, address: np.ndarray, masks: np.ndarray, needs_records: bool = True
) -> tuple["Totals", bool]:
    """Traces and counts the access of the lanes of `masks`, as `touch` does, without the check; and whether the totals
    are of `address` itself.
    """
    chunk = lanes.chunk
    look = inspected if needs_records or chunk.log.is_wanted else counted if chunk.tally.is_wanted else bounded
    traced = address if look is bounded else space.traced(lanes, address)
    totals = look(lanes, site, space, traced, masks)
    chunk.count_access(site, space, totals)
    chunk.count_pattern(site, space, traced, masks)
    return totals, traced is address


def inspected(lanes: Lanes, site: Site, space, traced: np.ndarray, masks: np.ndarray) -> "Totals":
    """Puts a record of each warp and its sectors in the log."""
    from gpuprof.emulate.trace_log.coalesce import Totals, inspect

    log = lanes.chunk.log
    pieces, stride = space.pieces(site.nbytes)
    records, sectors = log.reserve(len(masks), WARP * pieces * len(masks))
    store = site.verb == "write"
    totals = Totals(
        *inspect(
            traced,
            lanes.masks,
            masks,
            site.nbytes,
            pieces,
            stride,
            space.has_sectors,
            site.is_atomic,
            store,
            on_chip_of(space, site),
            records,
            sectors,
        )
    )
    if lanes.chunk.cluster > 1 and space is lanes.chunk.spaces["shared"]:
        space.mark_remote(lanes, traced, masks, records[: totals.n_accesses].view(ACCESS_DTYPE))
    log.commit(lanes.step_warps, totals.n_accesses, totals.n_sectors)
    return totals


def on_chip_of(space, site: Site) -> np.ndarray:
    """The ranges in which an access stays on the chip; atomics go to the L2 wherever they are."""
    return NO_RANGES if site.is_atomic else space.on_chip


def counted(lanes: Lanes, site: Site, space, traced: np.ndarray, masks: np.ndarray) -> "Totals":
    from gpuprof.emulate.trace_log.access_counts import count
    from gpuprof.emulate.trace_log.coalesce import Totals

    pieces, stride = space.pieces(site.nbytes)
    on_chip = on_chip_of(space, site)
    return Totals(*count(traced, masks, site.nbytes, pieces, stride, space.has_sectors, site.verb == "read", on_chip))


def bounded(lanes: Lanes, site: Site, space, address: np.ndarray, masks: np.ndarray) -> "Totals":
    """Computes only the bounds of an access."""
    from gpuprof.emulate.memory.bulk_access import bounds
    from gpuprof.emulate.trace_log.coalesce import Totals

    return Totals(0, 0, *bounds(address, masks, site.nbytes), 0, 0, 0, 0)


def is_allowed(site: Site, space, lo: int, hi: int, low_bits: int) -> bool:
    """True when addresses from `lo` up to `hi`, which or'ed are `low_bits`, are aligned and in one part of the
    space."""
    return not low_bits & (site.nbytes - 1) and space.holds(lo, hi)


def check(lanes: Lanes, site: Site, space, address: np.ndarray, active: np.ndarray | None, totals, same: bool) -> None:
    """Raises KernelFault for the first active lane whose address is not aligned or not inside the space."""
    if same:
        lo, hi, low_bits = totals.lo, totals.hi, totals.low_bits
    else:
        used = address if active is None else address[active]
        lo, hi, low_bits = int(used.min()), int(used.max()) + site.nbytes, int(np.bitwise_or.reduce(used))
    if is_allowed(site, space, lo, hi, low_bits):
        return
    everyone = np.ones(lanes.n, np.bool_) if active is None else active
    misaligned = everyone & (address & (site.nbytes - 1) != 0)
    outside = everyone & ~space.inside(lanes, address, site.nbytes)
    bad = misaligned | outside
    if not bad.any():
        return
    element = first_active(lanes, bad)
    value = int(address[element]) & 0xFFFFFFFFFFFFFFFF
    why = "misaligned" if misaligned[element] else "out of bounds"
    text = f"{why} {site.verb} of {site.nbytes} bytes in {site.space} memory at 0x{value:x}; {space.describe(value)}"
    raise fault_of_element(lanes, site.at, element, text, "alignment" if misaligned[element] else "address")
