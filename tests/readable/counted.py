"""The readable twin of `run.trace_counts`: one access after the other, and reuse distances by their definition."""

from collections import Counter, defaultdict
from typing import NamedTuple

from gpuprof.emulate.trace_log.trace_entries import MISSING_SHIFT, SECTOR_MASK
from gpuprof.isa.opcodes import TABLE
from gpuprof.isa.program import basic_block_starts


class Line(NamedTuple):
    """A line that an access touches once. `place`: the number of its access among its warp's in the piece."""

    place: int
    block: int
    line: int
    sectors: int
    is_store: bool


class Counts:
    """Of one launch on a GPU that nothing has used before. `reuse`: by scope and distance, lines, sectors and written
    sectors.
    """

    def __init__(self, code, with_record, stride):
        """`with_record`: numbers of the instructions that write records."""
        self.code, self.with_record, self.stride = code, with_record, stride
        self.starts = [*basic_block_starts(code).tolist(), len(code)]
        self.sums = defaultdict(Counter)  # by instruction
        self.reuse = defaultdict(lambda: [0, 0, 0])
        self.streams = defaultdict(list)  # lines, that of the last access last: by block, and of the GPU

    def add(self, piece):
        lines = [line for warp in range(len(piece.step_start) - 1) for line in self.lines_of(piece, warp)]
        lines.sort(key=lambda line: line.place)  # warps take turns; Python's sort keeps the order of equal ones
        for line in lines:
            self.put("device", "device", line, 1)
        for line in lines:
            if line.block % self.stride == 0 and not line.is_store:
                self.put("block", line.block, line, self.stride)

    def lines_of(self, piece, warp):
        block = piece.first_block + warp // piece.warps_per_block
        at, sector = int(piece.access_start[warp]), int(piece.sector_start[warp])
        for step in piece.steps[piece.step_start[warp] : piece.step_start[warp + 1]]:
            for instruction in range(self.starts[step["block"]], self.starts[step["block"] + 1]):
                if instruction in self.with_record:
                    record = piece.accesses[at]
                    n_sectors = int(record["n_sectors"]) + 256 * int(record["more_sectors"])
                    sectors = piece.sectors[sector : sector + n_sectors].tolist()
                    place = at - int(piece.access_start[warp])
                    yield from self.access(instruction, record, sectors, place, block)
                    at, sector = at + 1, sector + n_sectors

    def access(self, instruction, record, sectors, place, block):
        row, sums = TABLE[self.code["opcode"][instruction]], self.sums[instruction]
        if record["lanes"] and row.space not in ("", "barrier"):
            sums["accesses"] += 1
            sums["sectors"] += len(sectors)
            sums["tag_lookups"] += int(record["n_lookups"])
            for name in ("lanes", "wavefronts", "tag_passes", "conflicts"):
                sums[name] += int(record[name])
        if row.space not in ("global", "local", "generic"):
            return
        by_line = defaultdict(list)
        for sector in sectors:
            by_line[(sector & SECTOR_MASK) >> 2].append(sector >> MISSING_SHIFT != 0)
        for line, partial in by_line.items():
            sums["lines"] += 1
            sums["partial_sectors"] += sum(partial)
            sums["partial_requests"] += any(partial)
            yield Line(place, block, line, len(partial), row.kind in ("store", "atomic", "reduction"))

    def put(self, scope, stream, line, times):
        known = self.streams[stream]
        distance = -1
        if line.line in known:
            distance = len(known) - 1 - known.index(line.line)
            known.remove(line.line)
        known.append(line.line)
        counts = self.reuse[scope, distance]
        for column, count in enumerate((1, line.sectors, line.sectors * line.is_store)):
            counts[column] += times * count
