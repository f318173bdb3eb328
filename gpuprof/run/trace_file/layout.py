"""The bytes of NAME.gptrace: a header, then chunks. Numbers are little-endian, in headers unsigned.

    0             8         12
    +-------------+---------+----------+
    | "GPTRACE\\n" | version | 0        |      the header
    +-------------+---------+----------+

    0        4         8                16
    +--------+---------+----------------+---------+
    | type   | CRC-32  | nbytes         | payload |      a chunk: the CRC is of the payload
    +--------+---------+----------------+---------+

A file of launches of a recording, for `whatif` and `advise`: HEAD comes first, then the batches: of
each its BTCH, its TABLs in the order in which `timing.state.machine.lasting_tables` has them, its
PIECs by grid and first block. ENDF is last.

A file of a sweep: SWEP comes first, then the programs, whose launches are timed from power-on: of
each its PROG, then of each launch its PIECs by first block, its LNCH and, right after that, its
CNTR. Chunks of several launches of a program may lie between each other. ENDF is last.

Objects are JSON in ASCII. The header of a piece has four numbers of 4 bytes, then three of 8.
"""

import struct
from typing import NamedTuple

import numpy as np

from gpuprof.emulate.trace_log.launch_counters import COUNTER_NAMES
from gpuprof.emulate.trace_log.trace_entries import ACCESS_DTYPE, STEP_DTYPE

MAGIC = b"GPTRACE\n"
VERSION = 3  # 1: the first; 2: files of a sweep; 3: how long warps sleep
FILE_HEADER = struct.Struct("<8sII")
CHUNK_HEADER = struct.Struct("<4sIQ")
PIECE_HEADER = struct.Struct("<IIIIQQQ")  # PieceHeader
HEAD, BATCH, TABLE, PIECE, END = b"HEAD", b"BTCH", b"TABL", b"PIEC", b"ENDF"
SWEEP, PROGRAM, LAUNCH, COUNTERS = b"SWEP", b"PROG", b"LNCH", b"CNTR"
MOST_OBJECT_NBYTES = 1 << 24

CHUNKS = {
    HEAD: "what the traces are of: an object (`Identity`)",
    BATCH: "launches that ran together, and the GPU before them: an object (`Batch`)",
    TABLE: "a table of the GPU before the batch, compressed by zlib: what its caches and its memory hold",
    SWEEP: "that the file is of a sweep: an object (`Versions`)",
    PROGRAM: "what the launches up to the next PROG are of: an object (`SweptProgram`)",
    PIECE: "the traces of blocks that follow each other: the header (`PieceHeader`), then the arrays in `ARRAYS`",
    LAUNCH: "a launch that has ended: an object (`SweptLaunch`)",
    COUNTERS: "its counters: " + ", ".join(f"`{name}`" for name in COUNTER_NAMES) + ", each uint64 (n_instructions,)",
    END: "nothing: the file is whole",
}
# Of a piece, in this order: the dtype, and the number of the rows by the piece's header.
ARRAYS = (
    ("step_start", np.dtype("<i8"), "n_warps + 1"),
    ("access_start", np.dtype("<i8"), "n_warps + 1"),
    ("sector_start", np.dtype("<i8"), "n_warps + 1"),
    ("steps", STEP_DTYPE, "n_steps"),
    ("accesses", ACCESS_DTYPE, "n_accesses"),
    ("sectors", np.dtype("<i8"), "n_sectors"),
)


class PieceHeader(NamedTuple):
    """The header of a PIEC. grid: the number in its batch; in a file of a sweep, the launch's number."""

    grid: int
    first_block: int
    n_blocks: int
    warps_per_block: int
    n_steps: int
    n_accesses: int
    n_sectors: int

    @property
    def rows(self) -> tuple[int, ...]:
        """The rows of each of ARRAYS."""
        n_starts = self.n_blocks * self.warps_per_block + 1
        return n_starts, n_starts, n_starts, self.n_steps, self.n_accesses, self.n_sectors

    @property
    def nbytes(self) -> int:
        """The length of the whole payload."""
        sizes = (dtype.itemsize for _, dtype, _ in ARRAYS)
        return PIECE_HEADER.size + sum(n * size for n, size in zip(self.rows, sizes, strict=True))


class Identity(NamedTuple):
    """stream: the SHA-256 of the command stream, with its memory and modules (`SavedStream.digest`). chip: its name;
    chip_digest: the SHA-256 of its numbers. model, instruction_set: versions.
    """

    stream: str
    chip: str
    chip_digest: str
    model: str
    instruction_set: int


class GridRow(NamedTuple):
    """A launch of a batch. load_base: where its module lies. after and after_signal: numbers of earlier grids of the
    batch (`timing.batch.Grid`). wanted: it was requested, and is no mere neighbour.
    """

    index: int
    load_base: int
    symbol: str
    name: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    dynamic_shared_nbytes: int
    dependent: bool
    after: tuple[int, ...]
    after_signal: tuple[int, ...]
    priority: int
    launch_cycles: int
    arrival: int
    wanted: bool


class Batch(NamedTuple):
    """cycle: the GPU's clock; l2_uses: requests that its L2 has had."""

    cycle: int
    l2_uses: int
    grids: tuple[GridRow, ...]


class Versions(NamedTuple):
    """The versions of gpuprof, of the timing model and of the instruction set."""

    gpuprof: str
    model: str
    instruction_set: int


class SweptProgram(NamedTuple):
    """digest: the SHA-256 of the compiled kernels, their launches, data and limits. chip_numbers: names and values of
    the numbers of the chip on which the traces depend (`emulate.chip_numbers`), by name.
    """

    digest: str
    chip_numbers: tuple[tuple[str, int], ...]


class SweptLaunch(NamedTuple):
    """number: of the launch in its program. slow_slots: by instruction, as `LaunchCounters` has them."""

    number: int
    n_instructions: int
    slow_slots: tuple[tuple[int, int], ...]
