"""Generic addresses: each lane's own decides whether it is global, shared or local memory, or a kernel's parameter."""

import numpy as np

from gpuprof.device.memory import LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_NBYTES
from gpuprof.emulate.core.faults import fault_of_element, first_active
from gpuprof.emulate.core.lanes import Lanes
from gpuprof.emulate.memory.access import Site, Touched, touch
from gpuprof.emulate.trace_log.trace import TraceLog
from gpuprof.emulate.trace_log.trace_entries import SECTOR_MASK

SPLIT_SPACES = frozenset(["generic"])
WINDOWS = (("shared", SHARED_WINDOW), ("local", LOCAL_WINDOW), ("param", PARAM_WINDOW))


def touch_generic(
    lanes: Lanes, site: Site, address: np.ndarray, active: np.ndarray | None
) -> list[tuple[object, Touched]]:
    """Does `access.touch` for each space that some active lane's address lies in."""
    spaces = lanes.chunk.spaces
    everyone = np.ones(lanes.n, np.bool_) if active is None else active
    parts = []
    rest = everyone
    for name, base in WINDOWS:
        inside = everyone & (address >= base) & (address < base + WINDOW_NBYTES)
        if inside.any():
            if name == "param" and site.verb != "read":
                element = first_active(lanes, inside)
                raise fault_of_element(
                    lanes,
                    site.at,
                    element,
                    f"{site.verb} at 0x{int(address[element]):x}: kernel parameters are read only",
                )
            parts.append((spaces[name], address - base, inside))
            rest = rest & ~inside
    if not parts:
        return [(spaces["global"], touch(lanes, site, spaces["global"], address, active, needs_records=False))]
    if rest.any():
        parts.append((spaces["global"], address, rest))
    if len(parts) == 1:
        space, offset, _ = parts[0]
        return [(space, touch(lanes, site, space, offset, active, needs_records=False))]
    return touch_mixed(lanes, site, parts)


def touch_mixed(lanes: Lanes, site: Site, space_parts: list) -> list[tuple[object, Touched]]:
    """Accesses of lanes to several spaces in one instruction: each space's part is traced separately, then every warp's
    parts become one record.
    """
    log = lanes.chunk.log
    parts, touched = [], []
    for space, offset, inside in space_parts:
        lanes.chunk.log = TraceLog(log.n_warps)
        try:
            touched.append((space, touch(lanes, site, space, offset, inside)))
            if not space.has_sectors:  # the record is one of global memory
                lanes.chunk.log.records["n_lookups"] = 0
            parts.append(lanes.chunk.log)
        finally:
            lanes.chunk.log = log
    append_merged(log, parts)
    return touched


def append_merged(log: TraceLog, parts: list[TraceLog]) -> None:
    """Adds up the records of the same warps in `parts` and merges their sectors, ascending."""
    records = [part.records for part in parts]
    merged = records[0].copy()
    for other in records[1:]:
        for name in ("n_sectors", "n_lookups", "wavefronts", "tag_passes", "lanes"):
            merged[name] += other[name]
        merged["conflicts"] = np.maximum(merged["conflicts"], other["conflicts"])
    merged["uniform"] = np.where(
        sum((record["lanes"] > 0).astype(int) for record in records) > 1, 0, merged["uniform"] | other["uniform"]
    )
    owner = np.concatenate([np.repeat(np.arange(len(record)), record["n_sectors"]) for record in records])
    sectors = np.concatenate([part.sectors.values for part in parts])
    ascending = sectors[np.lexsort((sectors & SECTOR_MASK, owner))]
    log.accesses(parts[0].access_warp.values, merged.view(np.uint64), ascending)
