"""The message of a kernel's fault: the kernel, the source line, the thread and block, and the address."""

import numpy as np

from gpuprof.emulate.core.lanes import WARP, Lanes
from gpuprof.errors import KernelFault
from gpuprof.isa.program import Program


def place_of(program: Program, at: int) -> str:
    """The source position of an instruction, or its PTX line, or its index."""
    location = program.locations[at] if at < len(program.locations) else None
    if location is not None:
        return f"{location.file}:{location.line}"
    line = int(program.ptx_lines[at]) if at < len(program.ptx_lines) else 0
    return f"{program.name} (PTX line {line})" if line else f"{program.name}, instruction {at}"


def thread_of(chunk, warp: int, lane: int) -> str:
    """ "thread (x, y, z) of block (x, y, z)" of a lane of one of the chunk's warps."""
    bx, by, _ = chunk.launch.block
    gx, gy, _ = chunk.launch.grid
    thread = warp % chunk.warps_per_block * WARP + lane
    block = int(chunk.launch.grid_blocks(chunk.first_block + warp // chunk.warps_per_block))
    x, y, z = thread % bx, thread // bx % by, thread // (bx * by)
    return f"thread ({x}, {y}, {z}) of block ({block % gx}, {block // gx % gy}, {block // (gx * gy)})"


def fault(chunk, at: int, text: str, warp: int | None = None, lane: int = 0, kind: str = "launch") -> KernelFault:
    """KernelFault of a kind for instruction `at`; with a warp of the chunk and a lane, it names the thread."""
    thread = f", {thread_of(chunk, warp, lane)}" if warp is not None else ""
    return KernelFault(
        f"{chunk.launch.function.display}: {place_of(chunk.launch.module.program, at)}{thread}: {text}", kind
    )


def fault_of_element(lanes: Lanes, at: int, element: int, text: str, kind: str = "launch") -> KernelFault:
    """The KernelFault of `fault` at the lane of element `element` of the rows of `lanes`."""
    return fault(lanes.chunk, at, text, int(lanes.warps[element // WARP]), element % WARP, kind)


def first_active(lanes: Lanes, where: np.ndarray) -> int:
    """The first element for which `where` holds."""
    return int(np.flatnonzero(where)[0])
