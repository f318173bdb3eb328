"""Copies, fills, functions of the host, and memory that moves when it is touched: what each needs of a link or of the
DRAM.
"""

from collections.abc import Iterator
from typing import NamedTuple

from gpuprof.chips import Chip
from gpuprof.device import commands as cmd
from gpuprof.hosts import Host
from gpuprof.relate.task_kinds import IS_NODE, IS_PINNED, MAPPED_MEMORY, PAGE_FAULTS
from gpuprof.run.launching.host_memory import LaunchTouches, Moved
from gpuprof.tables.engines import ENGINE_HOST, ENGINE_IN, ENGINE_MEMORY, ENGINE_OUT

# Bytes that the DRAM moves for each that is copied within the device: one is read and one is written.
DRAM_SHARE_OF_COPY = 2


class Cost(NamedTuple):
    """The engine that carries a command out, and how long that takes. `host_ns`: in which the host stages bytes
    before.
    """

    engine: int
    nbytes: int
    latency_ns: float
    transfer_ns: float
    is_pinned: bool = False
    host_ns: float = 0


def cost_of(command: cmd.Command, host: Host, chip: Chip) -> Cost:
    """The cost of a copy, a fill or a function of the host."""
    if isinstance(command, cmd.CopyIn):
        nbytes = len(command.data)
        return _over_the_link("in", nbytes, host) if command.is_pinned else _staged("in", nbytes, host)
    if isinstance(command, cmd.CopyOut):
        nbytes = command.nbytes
        return _over_the_link("out", nbytes, host) if command.is_pinned else _staged("out", nbytes, host)
    if isinstance(command, cmd.HostFunction):
        return Cost(ENGINE_HOST, 0, host.host_function_ns, 0)
    if isinstance(command, cmd.Fill):
        return Cost(ENGINE_MEMORY, command.nbytes, host.fill_latency_ns, command.nbytes / chip.dram_gbytes_per_s)
    if command.direction in ("in", "out"):
        return _over_the_link(command.direction, command.nbytes, host)
    if command.direction == "host":
        return Cost(ENGINE_HOST, command.nbytes, host.copy_latency_ns, command.nbytes / host.staging_gbytes_per_s, True)
    moved = DRAM_SHARE_OF_COPY * command.nbytes
    return Cost(ENGINE_MEMORY, command.nbytes, host.copy_latency_ns, moved / chip.dram_gbytes_per_s)


def cost_of_prefetch(moved: Moved, to_host: bool, host: Host) -> Cost:
    """Pages move as a copy of page-locked memory does, in one piece."""
    return _over_the_link("out" if to_host else "in", moved.nbytes, host)._replace(is_pinned=False)


def cost_of_host_faults(moved: Moved, n_groups: int, host: Host) -> Cost:
    """The host touches pages that the GPU has: groups of neighbours come one after the other, while it waits."""
    return Cost(ENGINE_OUT, moved.nbytes, n_groups * host.fault_group_ns, moved.nbytes / host.migrate_gbytes_per_s)


def costs_of_touches(touches: LaunchTouches, n_blocks: int, host: Host, chip: Chip) -> Iterator[tuple[int, str, Cost]]:
    """The costs of what a launch of so many blocks touches of the host's memory: a kind of relate.task_kinds, the name
    of an allocation, a cost.

    The driver serves faults in groups, one after the other. An SM waits at its first fault, so that a group has one
    page of each SM with blocks: with V100, 64 pages that one block touches take 64 groups, and 2048 pages of 8 blocks
    256 (passlab/CUDAMicroBench:UniMem). The pages of a group move while the driver serves the next.
    """
    faults = touches.faults
    if faults.n_pages:
        groups_ns = -(-faults.n_pages // min(n_blocks, chip.sms)) * host.fault_group_ns
        transfer_ns = faults.nbytes / host.migrate_gbytes_per_s
        latency_ns = max(host.fault_group_ns, groups_ns - transfer_ns)
        yield PAGE_FAULTS, faults.name, Cost(ENGINE_IN, faults.nbytes, latency_ns, transfer_ns)
    read, written = touches.read_nbytes, touches.written_nbytes
    if read + written:
        # One after the other: GH200 reads at 342 GB/s, and reads and writes at 335 together.
        transfer_ns = read / host.mapped_read_gbytes_per_s + written / host.mapped_write_gbytes_per_s
        engine = ENGINE_IN if read >= written else ENGINE_OUT
        yield MAPPED_MEMORY, touches.name, Cost(engine, read + written, 0, transfer_ns, True)


def _rate(direction: str, host: Host) -> float:
    """The rate of the link, in bytes per nanosecond."""
    return host.link_in_gbytes_per_s if direction == "in" else host.link_out_gbytes_per_s


def _engine(direction: str) -> int:
    return ENGINE_IN if direction == "in" else ENGINE_OUT


def _over_the_link(direction: str, nbytes: int, host: Host) -> Cost:
    return Cost(_engine(direction), nbytes, host.copy_latency_ns, nbytes / _rate(direction, host), True)


def _staged(direction: str, nbytes: int, host: Host) -> Cost:
    """Between the GPU and memory that is not page-locked, by way of memory of the driver's that is. A short copy to the
    GPU leaves once the host has staged it; a long one, either way, is staged in pieces while others are on the link.
    """
    if nbytes > host.staged_nbytes:
        return Cost(_engine(direction), nbytes, host.copy_latency_ns, _in_pieces_ns(direction, nbytes, host))
    staged_ns = nbytes / host.staging_gbytes_per_s if direction == "in" else 0
    return _over_the_link(direction, nbytes, host)._replace(is_pinned=False, host_ns=staged_ns)


def _in_pieces_ns(direction: str, nbytes: int, host: Host) -> float:
    """The first bytes are in the caches of the host's CPU, and faster than the rest."""
    near = min(nbytes, host.pageable_near_nbytes)
    return (near / host.pageable_share + (nbytes - near) / host.pageable_far_share) / _rate(direction, host)


def flags_of(cost: Cost, is_node: bool) -> int:
    """The flags of relate.task_kinds."""
    return IS_PINNED * cost.is_pinned | IS_NODE * is_node
