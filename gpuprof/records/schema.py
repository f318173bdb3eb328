"""The record stream, NAME.gprec, declared once: reader, writer, dump and docs come from here.

    file  = magic "GPREC\\x1a\\r\\n", u32 format version, u32 zero, chunk*
    chunk = u32 type (four ASCII letters), u32 payload bytes, u32 CRC-32 of type + payload bytes + payload, payload

All numbers are little-endian. A chunk whose payload is "json" is canonical JSON (UTF-8, sorted keys, no spaces); one that is an
array is rows of the dtype given, after a u32 launch index and a u32 row count. A reader skips a chunk type it does not know
and refuses a file of a newer version. What was recorded is complete only when the file ends in an END chunk.

Version history: 1 the first.
"""

from typing import NamedTuple

import numpy as np

MAGIC = b"GPREC\x1a\r\n"
VERSION = 1

# The stall word: bit r is set when reason r (isa.stalls order) held in that cycle, bits 22..31 are the SM.
SM_SHIFT = 22
STALL_MASK = (1 << SM_SHIFT) - 1
MAX_SMS = 1 << (32 - SM_SHIFT)

COMPACT_DTYPE = np.dtype([("pc", "<u4"), ("stall_sm", "<u4")])

# flags: bit 0 the warp issued in this cycle; bit 1 its scheduler issued (this warp or another).
WIDE_DTYPE = np.dtype(
    [
        ("pc", "<u4"),  # code address: load base + 16 * instruction
        ("stall_sm", "<u4"),
        ("cycle", "<u8"),  # GPU cycle, from power-on
        ("launch", "<u4"),  # launch index
        ("block", "<u4"),  # linear block index in the grid
        ("mask", "<u4"),  # active lanes
        ("warp_slot", "u1"),  # in the SM
        ("flags", "u1"),
        ("warp", "<u2"),  # in the block
    ]
)
assert COMPACT_DTYPE.itemsize == 8 and WIDE_DTYPE.itemsize == 32
ISSUED, SCHEDULER_ISSUED = 1, 2

# Exact, not sampled. The ledger is sparse: rows with zero cycles are left out. Rows ascend by (pc, reason).
LEDGER_DTYPE = np.dtype([("pc", "<u4"), ("reason", "<u4"), ("cycles", "<u8")])

COUNTERS_DTYPE = np.dtype(
    [
        ("pc", "<u4"),
        ("reserved", "<u4"),
        ("inst_executed", "<u8"),  # warp-level
        ("thread_inst_executed", "<u8"),
        ("thread_inst_executed_pred_on", "<u8"),
        ("divergent_branches", "<u8"),
        ("l1_tag_requests_global", "<u8"),
        ("l2_sectors_global", "<u8"),
        ("l2_sectors_global_ideal", "<u8"),
        ("l2_sectors_local", "<u8"),
        ("l1_wavefronts_shared", "<u8"),
        ("l1_wavefronts_shared_ideal", "<u8"),
    ]
)


class Chunk(NamedTuple):
    type: bytes
    kind: str  # "json", "array", or "bytes" (a u32 id and then raw bytes)
    dtype: np.dtype | None
    text: str


CHUNKS = (
    Chunk(b"META", "json", None, "first chunk: tool, tool_version, model_version, command, sampling {period_cycles, mode, seed, record}, chip (name)"),
    Chunk(b"CHIP", "json", None, "the chip description, as loaded"),
    Chunk(b"MODL", "json", None, "load map entry: id, name, load_base, code_nbytes, compiler, arch; the image follows in IMAG"),
    Chunk(b"IMAG", "bytes", None, "the ELF of module `id`"),
    Chunk(b"SRCF", "json", None, "a source file as it was when collecting: path, text"),
    Chunk(b"LNCH", "json", None, "a launch begins: launch, module, kernel, symbol, grid, block, dynamic_shared_nbytes, stream, registers, shared_nbytes, local_nbytes, text"),
    Chunk(b"SMPC", "array", COMPACT_DTYPE, "samples, compact"),
    Chunk(b"SMPW", "array", WIDE_DTYPE, "samples, wide"),
    Chunk(b"LEDG", "array", LEDGER_DTYPE, "the launch's exact stall ledger"),
    Chunk(b"CNTR", "array", COUNTERS_DTYPE, "the launch's exact counters per instruction"),
    Chunk(b"LEND", "json", None, "a launch ended: launch, start_cycle, end_cycle, cycles, samples_due, samples_kept, samples_dropped, buffer_full and all other fields of LaunchTiming that are plain numbers, under `counters`"),
    Chunk(b"MARK", "json", None, "a note in the stream: text, cycle (an interrupt, a kernel fault)"),
    Chunk(b"ENDF", "json", None, "the file is complete: launches, records"),
)  # fmt: skip
BY_TYPE = {chunk.type: chunk for chunk in CHUNKS}
