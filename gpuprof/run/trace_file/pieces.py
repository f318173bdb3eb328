"""The payload of a PIEC as a piece of a trace, once it is checked."""

import math

import numpy as np

from gpuprof.chips import Chip
from gpuprof.device.commands import Launch
from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.run.trace_file.chunk_reader import ChunkReader
from gpuprof.run.trace_file.layout import ARRAYS, PIECE_HEADER, PieceHeader
from gpuprof.run.trace_file.sound import fault_of
from gpuprof.timing.state.static_program import StaticProgram


def header_of(reader: ChunkReader, payload: bytes) -> PieceHeader:
    """The header of a payload. Raises FileFormatError for one of another length than it says."""
    if len(payload) < PIECE_HEADER.size:
        raise reader.damaged("a piece without its header")
    header = PieceHeader(*PIECE_HEADER.unpack_from(payload))
    if header.nbytes != len(payload):
        raise reader.damaged(f"a piece of {len(payload)} bytes claims {header.nbytes}")
    return header


def checked_piece(
    reader: ChunkReader,
    header: PieceHeader,
    payload: bytes,
    due: int,
    launch: Launch,
    program: StaticProgram,
    chip: Chip,
) -> TracePiece:
    """The piece of a launch whose first block is to be `due`. Raises FileFormatError for one that compiled code must
    not follow.
    """
    n_warps = -(-math.prod(launch.block) // chip.warp_lanes)
    if (header.first_block, header.warps_per_block) != (due, n_warps) or not header.n_blocks:
        raise reader.damaged(f"a piece from block {header.first_block} on, where {due} is due")
    if header.first_block + header.n_blocks > launch.n_blocks:
        raise reader.damaged(f"a piece of more blocks than {launch.function.display} has")
    piece = _piece(header, payload)
    if fault := fault_of(piece, program, chip):
        raise reader.damaged(f"the trace of {launch.function.display} has {fault}")
    return piece


def _piece(header: PieceHeader, payload: bytes) -> TracePiece:
    arrays, offset = {}, PIECE_HEADER.size
    for (name, dtype, _), count in zip(ARRAYS, header.rows, strict=True):
        arrays[name] = np.frombuffer(payload, dtype, count, offset)
        offset += count * dtype.itemsize
    final = np.ones(header.n_blocks * header.warps_per_block, np.bool_)
    return TracePiece(header.first_block, header.n_blocks, header.warps_per_block, **arrays, final=final)
