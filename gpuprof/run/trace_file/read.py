"""Reads the traces of launches back. The modules are those of the recording; the rest is believed once it is checked.

Raises FileFormatError for a file that is damaged, foreign or of another version, and NotComparable for traces of
something other than what is requested.
"""

from collections.abc import Collection
from pathlib import Path
from typing import BinaryIO
from zlib import decompressobj, error as ZlibError

import numpy as np

from gpuprof.base.inputs import TRACES, is_regular, open_input
from gpuprof.base.processes import host_memory_nbytes
from gpuprof.chips import Chip
from gpuprof.device.launching.config import LaunchConfig, checked_launch
from gpuprof.device.load_map import PAGE_NBYTES
from gpuprof.device.memory import AddressSpace
from gpuprof.device.module import LoadedModule, load as placed
from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.errors import FileFormatError, GpuprofError, NotComparable
from gpuprof.isa.gpubin.reader import read_gpubin
from gpuprof.records.command_stream.codec import SavedLoad
from gpuprof.records.command_stream.read import SavedStream
from gpuprof.run.subject import Subject
from gpuprof.run.trace_file.chunk_reader import ChunkReader
from gpuprof.run.trace_file.layout import BATCH, END, HEAD, MAGIC, PIECE, SWEEP, TABLE, Batch, GridRow, Identity
from gpuprof.run.trace_file.pieces import checked_piece, header_of
from gpuprof.run.trace_file.tables import fault_of_tables
from gpuprof.timing.batch import Grid
from gpuprof.timing.state.machine import Machine, lasting_tables, power_on

MOST_COUNT = 1 << 53  # cycles, and requests of the L2


def holds_traces(path: Path) -> bool:
    """True for a file of traces, whole or not; False also where there is none. Raises UsageError for one that cannot be
    read.
    """
    if not is_regular(path):
        return False
    with open_input(path, TRACES) as file:
        return file.read(len(MAGIC)) == MAGIC


def read_traces(path: Path, identity: Identity, stream: SavedStream, chip: Chip) -> dict[int, Subject]:
    """The launches of a file by index, which must be of this identity."""
    with open_input(path, TRACES) as file:
        return _Reader(path, file, _Modules(path, stream), chip).subjects(identity)


class _Modules:
    """The modules of a recording, by where they lie."""

    def __init__(self, path: Path, stream: SavedStream):
        self._path, self._stream = path, stream
        loads = (command for command, _ in stream.commands() if isinstance(command, SavedLoad))
        self._numbers = {command.load_base: number for number, command in enumerate(loads)}
        self._loaded: dict[int, LoadedModule] = {}

    def at(self, load_base: int) -> LoadedModule:
        if load_base not in self._loaded:
            number = self._numbers.get(load_base, len(self._stream.modules))
            if number >= len(self._stream.modules) or load_base <= 0 or load_base % PAGE_NBYTES:
                raise FileFormatError(f"{self._path}: the recording has no module at 0x{load_base:x}")
            module = self._stream.modules[number]
            program = read_gpubin(module.image, f"{self._stream.path}: module {number}", remake="collect")
            # Only its code is timed: its variables need not lie where they lay.
            self._loaded[load_base] = placed(program, AddressSpace(host_memory_nbytes()), load_base)
        return self._loaded[load_base]


class _Reader:
    def __init__(self, path: Path, file: BinaryIO, modules: _Modules, chip: Chip):
        self._reader, self._modules, self._chip = ChunkReader(path, file), modules, chip
        self._chunk, self._object, self._damaged = self._reader.chunk, self._reader.object, self._reader.damaged

    def subjects(self, identity: Identity) -> dict[int, Subject]:
        self._reader.check_header()
        type_, head = self._chunk()
        if type_ == SWEEP:
            raise self._reader.other("a sweep, which times launches from power-on")
        if type_ != HEAD:
            raise self._damaged("its first chunk is no HEAD")
        self._check_identity(self._object(Identity, head), identity)
        found: dict[int, Subject] = {}
        type_, payload = self._chunk()
        while type_ == BATCH:
            batch = self._object(Batch, payload)
            machine, grids = self._machine(batch), self._grids(batch)
            traces: list[list[TracePiece]] = [[] for _ in grids]
            for type_, payload in iter(self._chunk, None):
                if type_ != PIECE:
                    break
                self._add_piece(payload, grids, traces, machine)
            self._check_blocks(grids, traces)
            for number, row in enumerate(batch.grids):
                if row.wanted:
                    found[row.index] = Subject(tuple(grids), tuple(map(tuple, traces)), number, machine)
        if type_ != END or self._reader.left_nbytes:
            raise self._damaged("it does not end with its ENDF")
        return found

    def _check_identity(self, found: Identity, wanted: Identity) -> None:
        if found.model != wanted.model or found.instruction_set != wanted.instruction_set:
            raise self._reader.other(f"version {found.model[:40]} of the timing model, and this is {wanted.model}")
        if (found.chip, found.chip_digest) != (wanted.chip, wanted.chip_digest):
            now = f"another {wanted.chip}" if found.chip == wanted.chip else wanted.chip
            raise self._reader.other(f"chip {found.chip[:40]}, and this is {now}")
        if found.stream != wanted.stream:
            raise self._reader.other("another program, or of other launches or data")

    def _machine(self, batch: Batch) -> Machine:
        machine = power_on(self._chip)
        if not (0 <= batch.cycle < MOST_COUNT and 0 <= batch.l2_uses < MOST_COUNT):
            raise self._damaged("a clock out of range")
        machine.cycle, machine.l2_uses = batch.cycle, batch.l2_uses
        for name, table in lasting_tables(machine):
            type_, payload = self._chunk()
            if type_ != TABLE:
                raise self._damaged(f"the table {name} is missing")
            table[...] = self._table(payload, table)
        if fault := fault_of_tables(machine):
            raise self._damaged(fault)
        return machine

    def _table(self, payload: bytes, like: np.ndarray) -> np.ndarray:
        unpacker = decompressobj()
        try:
            data = unpacker.decompress(payload, like.nbytes + 1)
        except ZlibError:
            raise self._damaged("a table cannot be decompressed") from None
        if len(data) != like.nbytes or not unpacker.eof:
            raise self._damaged(f"a table of another length than {like.nbytes} bytes")
        return np.frombuffer(data, like.dtype).reshape(like.shape)

    def _grids(self, batch: Batch) -> list[Grid]:
        return [self._grid(number, row) for number, row in enumerate(batch.grids)]

    def _grid(self, number: int, row: GridRow) -> Grid:
        earlier = range(number)
        times = (row.launch_cycles, row.arrival, row.index, abs(row.priority))
        if not all(0 <= each < MOST_COUNT for each in times):
            raise self._damaged(f"launch {row.index} at an impossible time")
        if not {*row.after, *row.after_signal} <= set(earlier):
            raise self._damaged(f"launch {row.index} waits for what does not come before it")
        module = self._modules.at(row.load_base)
        function = next((each for each in module.program.functions if each.name == row.symbol and each.is_kernel), None)
        if function is None:
            raise self._damaged(f"there is no kernel {row.symbol[:80]!r}")
        config = LaunchConfig(row.grid, row.block, row.dynamic_shared_nbytes, 0, row.cluster, row.dependent)
        try:
            launch = checked_launch(self._chip, row.index, module, function, config, b"", row.name)
        except GpuprofError as error:
            raise self._damaged(str(error)) from None
        return Grid(
            launch,
            iter(()),
            row.after,
            row.after_signal,
            row.priority,
            row.launch_cycles,
            arrival=row.arrival,
        )

    def _add_piece(self, payload: bytes, grids: list[Grid], traces: list[list[TracePiece]], machine: Machine) -> None:
        header = header_of(self._reader, payload)
        if header.grid >= len(grids):
            raise self._damaged(f"a piece of launch {header.grid} of a batch of {len(grids)}")
        launch, trace = grids[header.grid].launch, traces[header.grid]
        due = trace[-1].first_block + trace[-1].n_blocks if trace else 0
        program = machine.programs.of(launch.module)
        trace.append(checked_piece(self._reader, header, payload, due, launch, program, self._chip))

    def _check_blocks(self, grids: list[Grid], traces: list[list[TracePiece]]) -> None:
        for grid, trace in zip(grids, traces, strict=True):
            if sum(piece.n_blocks for piece in trace) != grid.launch.n_blocks:
                raise self._damaged(f"it has not all blocks of {grid.launch.function.display}")


def wanted_of(path: Path, found: dict[int, Subject], wanted: Collection[int]) -> dict[int, Subject]:
    """Gives those of some launches. Raises NotComparable for one that the file has not."""
    if missing := sorted(set(wanted) - found.keys()):
        raise NotComparable(f"{path}: launch {missing[0]} is not in it; give another name, or remove it")
    return {index: found[index] for index in wanted}
