"""What a draw that is carried out asks of the fixed-function units, as the timing model wants it."""

import numpy as np

from gpuprof.device.commands import Draw
from gpuprof.device.drawing.state import FORMATS, Buffers
from gpuprof.graphics.sizes import BATCH_VERTICES, BLOCK, QUAD
from gpuprof.graphics.stages.merge import LATE_TESTED
from gpuprof.graphics.stages.raster import TESTED, TILES, Quads
from gpuprof.graphics.stages.reuse import Batches
from gpuprof.graphics.stages.setup import Triangles
from gpuprof.timing.draws import BATCH, WAVE, DrawWork

QUADS_OF_WAVE = BLOCK // QUAD


class WorkOfDraw:
    """Takes what each stage did, in the order of the stages; `whole` gives it as the timing model wants it."""

    def __init__(self, command: Draw, state_changes: int = 0, drains: bool = False):
        self._command, self._state_changes, self._drains = command, state_changes, drains
        self._batches = np.zeros(0, BATCH)
        self._batch_of = np.zeros(0, np.int64)  # of each primitive
        self._waves = [np.zeros(0, WAVE)]
        self._told = np.zeros(3, np.int64)  # tiles, samples and late samples of the waves so far

    @property
    def n_waves(self) -> int:
        return sum(map(len, self._waves))

    def vertices(self, batches: Batches, buffers: Buffers) -> None:
        """Batches of all instances, one instance after the other."""
        batch_of = batches.corners[:, 0] // BATCH_VERTICES
        n_primitives = np.bincount(batch_of, minlength=len(batches.used))
        found = np.zeros(len(n_primitives), BATCH)
        # A strip's triangle takes one index beside those of the one before.
        indices = 3 * n_primitives if self._command.state.topology == "triangles" else n_primitives + 2
        found["n_indices"], found["n_primitives"] = indices, n_primitives
        self._batches = np.tile(found, buffers.instances)
        self._batch_of = np.concatenate([batch_of + k * len(found) for k in range(buffers.instances)])

    def triangles(self, found: Triangles) -> None:
        of_batch = self._batch_of[found.sources]
        self._batches["n_accepted"] = np.bincount(of_batch, minlength=len(self._batches))

    def pixels(self, quads: Quads, found: Triangles, scanned: np.ndarray, late: np.ndarray) -> None:
        """Quads that came together, as the tests have left them, and what scan and late tests have counted so far.
        Tiles and samples are even over their waves: those of one wave are not known.
        """
        if not len(quads.x):
            return
        so_far = np.array([scanned[TILES], scanned[TESTED], late[LATE_TESTED]])
        new, self._told = so_far - self._told, so_far
        first = np.arange(0, len(quads.x), QUADS_OF_WAVE)
        last = np.minimum(first + QUADS_OF_WAVE, len(quads.x)) - 1
        waves = np.zeros(len(first), WAVE)
        waves["batch"] = self._batch_of[found.sources[quads.triangles[last]]]
        waves["n_pixels"] = (last - first + 1) * QUAD
        for name, total in zip(("n_tiles", "n_samples", "n_late_samples"), new.tolist(), strict=True):
            waves[name] = _even(total, len(waves))
        targets = self._command.targets
        if targets.colors and self._command.pixel:
            samples, pixels = _written(quads.masks, targets.samples)
            waves["n_written"] = len(targets.colors) * np.add.reduceat(pixels, first)
            nbytes = sum(FORMATS[format] for format in targets.formats) * (2 if self._command.state.blend else 1)
            waves["written_nbytes"] = nbytes * np.add.reduceat(samples, first)
        self._waves.append(waves)

    def whole(self) -> DrawWork:
        waves = np.concatenate(self._waves)
        return DrawWork(self._state_changes, self._drains, self._batches, waves, self._command.pixel is not None)


def _even(total: int, parts: int) -> np.ndarray:
    """int64 (parts,) whose sum is the total."""
    return np.diff(np.arange(parts + 1) * total // parts)


def _written(masks: np.ndarray, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Of each quad, samples and pixels that are left."""
    of_pixel = (masks[:, None].astype(np.int64) >> (samples * np.arange(QUAD))) & ((1 << samples) - 1)
    n_samples = (masks[:, None].astype(np.int64) >> np.arange(samples * QUAD) & 1).sum(axis=1)
    return n_samples, (of_pixel != 0).sum(axis=1)
