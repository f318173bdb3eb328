"""The bytes of its targets that a draw reads and writes, in addition to those that its shaders access."""

from collections.abc import Callable

import numpy as np

from gpuprof.device.commands import Draw
from gpuprof.device.graphics_state.draw_state import ALL_CHANNELS, DEPTH_NBYTES, FORMATS, STENCIL_NBYTES
from gpuprof.emulate.watch.footprint import Bytes
from gpuprof.graphics.draw_counts import DrawCounts
from gpuprof.graphics.sizes import QUAD
from gpuprof.graphics.stages.depth_tests import NEVER, tests_of
from gpuprof.graphics.stages.raster import Quads
from gpuprof.relate.task_kinds import APPROXIMATE, WRITES
from gpuprof.run.drawing.indirect import record_nbytes

Note = Callable[[int, Bytes], None]  # flags of relate.task_kinds, and addresses, for the shader that was launched last


class TouchedTargets:
    """Depths and colors are written exactly where samples have passed. Tests may read anywhere in their targets."""

    def __init__(self, command: Draw, note: Note):
        self._command, self._note = command, note
        self._tests = tests_of(command.state, command.targets)
        self._has_tested = False

    def indices(self) -> None:
        """The fetch of indices, and of the record that says how many there are."""
        buffers = self._command.buffers
        if buffers.indirect:
            self._whole(0, buffers.indirect, record_nbytes(buffers.indices != 0))
        if buffers.indices and buffers.n_indices:
            self._whole(0, buffers.indices, buffers.n_indices * buffers.index_nbytes)

    def pixels(self, quads: Quads) -> None:
        """Samples of quads that are left by all tests."""
        self._test()
        targets, state = self._command.targets, self._command.state
        samples = sample_ranges(quads, targets.width, targets.samples)
        if self._tests.writes_depth and targets.depth:
            self._samples(WRITES, samples, targets.depth, DEPTH_NBYTES)
        if self._command.pixel is None:
            return
        for number, (address, format) in enumerate(zip(targets.colors, targets.formats, strict=True)):
            output = state.output(number)
            if not output.color_mask:
                continue
            if output.blend:
                self._samples(0, samples, address, FORMATS[format])
            partly = APPROXIMATE if output.color_mask != ALL_CHANNELS else 0
            self._samples(WRITES | partly, samples, address, FORMATS[format])

    def finish(self, counts: DrawCounts) -> None:
        """No sample may have been left by the tests."""
        if counts.tested and not self._has_tested:
            self._test()

    def _test(self) -> None:
        self._has_tested = True
        targets = self._command.targets
        samples = targets.width * targets.height * targets.samples
        if self._tests.has_depth and self._tests.compare != NEVER:
            self._whole(APPROXIMATE, targets.depth, samples * DEPTH_NBYTES)
        if self._tests.has_stencil:
            self._whole(APPROXIMATE, targets.stencil, samples * STENCIL_NBYTES)
            self._whole(WRITES | APPROXIMATE, targets.stencil, samples * STENCIL_NBYTES)

    def _whole(self, flags: int, address: int, nbytes: int) -> None:
        self._note(flags, Bytes(np.array([address], np.int64), np.array([address + nbytes], np.int64)))

    def _samples(self, flags: int, samples: Bytes, address: int, nbytes: int) -> None:
        if len(samples.start):
            self._note(flags, Bytes(address + nbytes * samples.start, address + nbytes * samples.end))


def sample_ranges(quads: Quads, width: int, samples: int) -> Bytes:
    """Samples of the masks by their index in a target `width` pixels wide, as ascending ranges with gaps between."""
    pixel, left = np.arange(QUAD), []
    rows = quads.y[:, None].astype(np.int64) + (pixel >> 1)
    pixels = (rows * width + quads.x[:, None] + (pixel & 1)) * samples
    for sample in range(samples):
        is_left = quads.masks[:, None].astype(np.int64) >> (pixel * samples + sample) & 1 != 0
        left.append(pixels[is_left] + sample)
    numbers = np.unique(np.concatenate(left))
    begins, ends = np.diff(numbers, prepend=-2) != 1, np.diff(numbers, append=-2) != 1
    return Bytes(numbers[begins], numbers[ends] + 1)
