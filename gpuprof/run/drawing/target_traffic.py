"""Lines of memory that the fixed-function units access for a draw's items: indices, depths, stencils and colors."""

import numpy as np

from gpuprof.device.commands import Draw
from gpuprof.device.graphics_state.draw_state import (
    ALL_CHANNELS,
    DEPTH_NBYTES,
    FORMATS,
    STENCIL_NBYTES,
    Buffers,
    DrawState,
    Targets,
)
from gpuprof.graphics.stages.depth_tests import Tests, are_early, reads_depth, tests_of, writes_stencil
from gpuprof.graphics.stages.raster import Quads, TestedQuads
from gpuprof.graphics.stages.sectors import (
    LINE_NBYTES,
    NOT,
    SECTOR_NBYTES,
    Lines,
    Surface,
    lines_of_quads,
)
from gpuprof.timing.draw_tables import Accesses
from gpuprof.timing.state.layout import UNIT_ACCESS

SECTORS_OF_LINE = LINE_NBYTES // SECTOR_NBYTES
TESTED, PASSED = 0, 1  # of the masks of quads that were tested
WRITTEN, TESTED_LATE = 0, 1  # of those that were shaded
NONE = TestedQuads(*(np.zeros(0, dtype) for dtype in (np.int32, np.int32, np.uint16, np.uint16, np.int64)))


class PixelTraffic:
    """The bytes that waves of pixels read and write: those of their own quads, and of the quads that were tested until
    the wave was full.
    """

    def __init__(self, command: Draw):
        self._targets, state = command.targets, command.state
        tests, shader = tests_of(state, self._targets), command.pixel
        is_early = shader is None or are_early(state, self._targets, shader.interface.abilities)
        self._early = _of_tests(tests, self._targets, TESTED, PASSED) if is_early else []
        self._shaded = [] if is_early else _of_tests(tests, self._targets, TESTED_LATE, WRITTEN)
        if shader:
            self._shaded += _of_colors(state, self._targets)
        self._waiting = NONE  # tested, and of no wave yet
        self._accesses: dict[str, list[Accesses]] = {"depth": [], "write": []}

    @property
    def wants_tested(self) -> bool:
        return len(self._early) > 0

    @property
    def n_waiting(self) -> int:
        return len(self._waiting.x)

    def tested(self, quads: TestedQuads) -> None:
        """The quads of a piece were tested. `pixels` follows with those that are left, or `rest` if none is."""
        self._waiting = quads

    def pixels(self, quads: Quads, last: np.ndarray, tested_late: np.ndarray) -> None:
        """The waves of a piece. last: int64 (waves,), the end of each one's quads. tested_late: uint16 (quads,), the
        samples tested after the shader.
        """
        wave = np.minimum(np.searchsorted(last, self._waiting.place, side="right"), len(last) - 1)
        self._add("depth", self._tests(np.searchsorted(wave, np.arange(len(last)), side="right")))
        masks = (quads.masks, tested_late)
        self._add("write", self._lines(quads.x, quads.y, masks, last, self._shaded))

    def rest(self, n_items: int) -> None:
        """Items for what was tested since the last wave."""
        self._add("depth", self._tests(self.n_waiting * np.arange(1, n_items + 1) // n_items))
        self._add("write", Accesses(np.zeros(n_items, np.int64), np.zeros(0, UNIT_ACCESS)))

    def accesses(self) -> dict[str, Accesses]:
        """By unit, of those that access memory at all."""
        joined = {unit: _joined(some) for unit, some in self._accesses.items()}
        return {unit: accesses for unit, accesses in joined.items() if len(accesses.lines)}

    def _tests(self, ends: np.ndarray) -> Accesses:
        """The accesses of items. `ends`: the end of each one's quads among those that wait."""
        (x, y, covered, passed, _), self._waiting = self._waiting, NONE
        return self._lines(x, y, (covered, passed), ends, self._early)

    def _lines(
        self,
        x: np.ndarray,
        y: np.ndarray,
        masks: tuple[np.ndarray, np.ndarray],
        last: np.ndarray,
        surfaces: list[Surface],
    ) -> Accesses:
        return _accesses(lines_of_quads(x, y, masks, last, surfaces, self._targets.width, self._targets.samples))

    def _add(self, unit: str, accesses: Accesses) -> None:
        self._accesses[unit].append(accesses)


def _of_tests(tests: Tests, targets: Targets, tested: int, passed: int) -> list[Surface]:
    """`tested`, `passed`: the numbers of the masks of quads."""
    surfaces = []
    if tests.has_depth:
        reads, writes = tested if reads_depth(tests) else NOT, passed if tests.writes_depth else NOT
        surfaces.append(Surface(targets.depth, DEPTH_NBYTES, reads, writes))
    if tests.has_stencil:
        surfaces.append(Surface(targets.stencil, STENCIL_NBYTES, tested, tested if writes_stencil(tests) else NOT))
    return surfaces


def _of_colors(state: DrawState, targets: Targets) -> list[Surface]:
    surfaces = []
    for number, (address, format) in enumerate(zip(targets.colors, targets.formats, strict=True)):
        output = state.output(number)
        if output.color_mask:
            reads, is_partial = WRITTEN if output.blend else NOT, output.color_mask != ALL_CHANNELS
            surfaces.append(Surface(address, FORMATS[format], reads, WRITTEN, is_partial))
    return surfaces


def _accesses(lines: Lines) -> Accesses:
    rows = np.zeros(len(lines.line), UNIT_ACCESS)
    for name in UNIT_ACCESS.names:
        rows[name] = getattr(lines, name)
    return Accesses(lines.n_lines, rows)


def _joined(some: list[Accesses]) -> Accesses:
    n_lines = [np.zeros(0, np.int64), *(accesses.n_lines for accesses in some)]
    lines = [np.zeros(0, UNIT_ACCESS), *(accesses.lines for accesses in some)]
    return Accesses(np.concatenate(n_lines), np.concatenate(lines))


def fetched(buffers: Buffers, n_indices: np.ndarray) -> Accesses:
    """The accesses of batches of one instance after the other; `n_indices`, int64 (batches,), of each. The sectors of
    an instance's indices are fetched once, in their order. Indices without a primitive, such as those that begin a
    new strip, are spread evenly.
    """
    if not buffers.indices:
        return Accesses(np.zeros(len(n_indices), np.int64), np.zeros(0, UNIT_ACCESS))
    of_instance = n_indices[: len(n_indices) // buffers.instances]
    total = np.cumsum(of_instance)
    ends = buffers.indices + total * buffers.n_indices // max(total[-1], 1) * buffers.index_nbytes
    sector_ends = -(-ends // SECTOR_NBYTES)
    first = np.concatenate([[buffers.indices // SECTOR_NBYTES], sector_ends[:-1]])
    n_sectors = sector_ends - first
    sectors = np.repeat(first - np.cumsum(n_sectors) + n_sectors, n_sectors) + np.arange(n_sectors.sum())
    batch, line = np.repeat(np.arange(len(of_instance)), n_sectors), sectors // SECTORS_OF_LINE
    begins = np.flatnonzero((np.diff(batch, prepend=-1) != 0) | (np.diff(line, prepend=-1) != 0))
    rows = np.zeros(len(begins), UNIT_ACCESS)
    rows["line"] = line[begins]
    if len(begins):
        rows["reads"] = np.bitwise_or.reduceat(1 << sectors % SECTORS_OF_LINE, begins)
    n_lines = np.bincount(batch[begins], minlength=len(of_instance))
    return Accesses(np.tile(n_lines, buffers.instances), np.tile(rows, buffers.instances))
