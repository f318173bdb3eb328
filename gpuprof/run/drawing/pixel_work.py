"""What a draw that is carried out asks of the fixed-function units, as the timing model wants it."""

import numpy as np

from gpuprof.device.commands import Draw
from gpuprof.device.graphics_state.draw_state import FORMATS, Buffers
from gpuprof.graphics.sizes import BATCH_PRIMITIVES, BATCH_VERTICES, BLOCK, QUAD, QUADS_OF_TILE
from gpuprof.graphics.stages.depth_tests import nbytes_of, tests_of
from gpuprof.graphics.stages.index_fetch import topology_of
from gpuprof.graphics.stages.output_merger import LATE_PASSED, LATE_TESTED
from gpuprof.graphics.stages.raster import PASSED, TESTED, TILES, Quads, Scan
from gpuprof.graphics.stages.setup import Triangles
from gpuprof.graphics.stages.vertex_waves import Batches, Waves
from gpuprof.run.drawing.primitives import BlockPrimitives
from gpuprof.run.drawing.target_traffic import PixelTraffic, fetched
from gpuprof.run.drawing.touched_bytes import TouchedTargets
from gpuprof.timing.draw_tables import WORK, Accesses, DrawWork
from gpuprof.timing.state.layout import UNIT_ACCESS

QUADS_OF_WAVE = BLOCK // QUAD
TESTED_OF_ITEM = 4 * QUADS_OF_TILE  # quads, where none of them is left
LANES_OF = {"hull": "n_control_points", "domain": "n_tessellated"}  # what a lane of these stages is
SHARED = ("n_tiles", "n_samples", "depth_nbytes", "n_late_samples", "late_depth_nbytes")  # even over waves


class WorkOfDraw:
    """Takes what each stage did, in the order of the stages; `whole` gives it as the timing model wants it."""

    def __init__(
        self, command: Draw, state_changes: int = 0, drains: bool = False, touched: TouchedTargets | None = None
    ):
        """`touched`: who is told of the bytes of targets, where somebody wants them."""
        self._command, self._state_changes, self._drains = command, state_changes, drains
        stages = [shader.interface.stage for shader in command.shaders]
        self._last = [stage for stage in stages if stage != "pixel"][-1]
        self._items: dict[str, np.ndarray] = {}
        self._group_of = np.zeros(0, np.int64)  # of each primitive: those that are assembled together
        self._waves = [np.zeros(0, WORK["pixel"])]
        self._told = dict.fromkeys(SHARED, 0)  # of the waves so far
        self.blocks, self._touched, self.traffic = BlockPrimitives(), touched, PixelTraffic(command)
        self._fetched = Accesses(np.zeros(0, np.int64), np.zeros(0, UNIT_ACCESS))

    def vertices(self, batches: Batches, buffers: Buffers) -> None:
        """Batches of all instances, one instance after the other."""
        batch_of = batches.corners[:, 0] // BATCH_VERTICES
        n_primitives = np.bincount(batch_of, minlength=len(batches.used))
        found = np.zeros(len(n_primitives), WORK["vertex"])
        found["needs"], found["is_shaded"] = -1, 1
        corners, shared = topology_of(self._command.state)
        found["n_indices"] = corners * n_primitives - shared * (n_primitives - 1)
        self._items["vertex"] = np.tile(found, buffers.instances)
        self._fetched = fetched(buffers, self._items["vertex"]["n_indices"])
        wave_of = np.concatenate([batch_of + k * len(found) for k in range(buffers.instances)])
        self.blocks.vertices(wave_of)
        self.primitives("vertex", wave_of)

    def stage(self, waves: Waves) -> None:
        """The warps of a shader behind that of the vertices, which have run."""
        found = np.zeros(len(waves.needs), WORK[waves.stage])
        found["needs"], found["is_shaded"] = waves.needs, 1
        if waves.stage == "geometry":
            found["n_emitted"] = waves.n_items * self._command.geometry.interface.most_vertices
        else:
            found[LANES_OF[waves.stage]] = waves.n_items
        self._items[waves.stage] = found

    def primitives(self, stage: str, wave_of: np.ndarray) -> None:
        """What a shader gives, which is assembled if no other takes it. wave_of: int64 (primitives,), ascending: the
        last warp that each needs.
        """
        if stage != self._last:
            return
        # Those of a warp follow each other; so many of them are assembled together at most.
        first = np.flatnonzero(np.diff(wave_of, prepend=-1))
        place = np.arange(len(wave_of)) - np.repeat(first, np.diff(first, append=len(wave_of)))
        begins = place % BATCH_PRIMITIVES == 0
        self._group_of = np.cumsum(begins) - 1
        groups = np.zeros(int(begins.sum()), WORK["primitive"])
        groups["needs"], groups["n_primitives"] = wave_of[begins], np.bincount(self._group_of)
        self._items["primitive"] = groups

    def triangles(self, found: Triangles) -> None:
        groups = self._items["primitive"]
        groups["n_accepted"] = np.bincount(self._group_of[found.sources], minlength=len(groups))

    def pixels(
        self,
        quads: Quads,
        found: Triangles,
        scanned: np.ndarray,
        late: np.ndarray,
        tested_late: np.ndarray | None = None,
    ) -> None:
        """Quads that came together, as the tests have left them, and what scan and late tests have counted so far.
        tested_late: uint16 (quads,), samples that came to the late tests. Tiles and samples are even over their waves:
        those of one wave are not known.
        """
        if self._touched:
            self._touched.pixels(quads)
        first = np.arange(0, len(quads.x), QUADS_OF_WAVE)
        last = np.minimum(first + QUADS_OF_WAVE, len(quads.x)) - 1
        waves = np.zeros(len(first), WORK["pixel"])
        waves["needs"] = self._group_of[found.sources[quads.triangles[last]]]
        waves["is_shaded"] = self._command.pixel is not None
        if self._command.pixel:
            self.blocks.pixels(found.sources[quads.triangles], first)
        waves["n_pixels"] = (last - first + 1) * QUAD
        self._share(waves, scanned, late)
        targets = self._command.targets
        if targets.colors and self._command.pixel:
            samples, pixels = _written(quads.masks, targets.samples)
            waves["n_written"] = len(targets.colors) * np.add.reduceat(pixels, first)
            output = self._command.state.output
            nbytes = sum(FORMATS[each] * (2 if output(k).blend else 1) for k, each in enumerate(targets.formats))
            waves["written_nbytes"] = nbytes * np.add.reduceat(samples, first)
        self.traffic.pixels(quads, last + 1, quads.masks if tested_late is None else tested_late)
        self._waves.append(waves)

    def rest(self, found: Triangles, progress: Scan, late: np.ndarray) -> None:
        """What scan and tests have counted since the last quads: items of their own, of which nothing is shaded."""
        items = np.zeros(max(1, -(-self.traffic.n_waiting // TESTED_OF_ITEM)), WORK["pixel"])
        if int(progress.counts[TILES]) > self._told["n_tiles"]:
            self._share(items, progress.counts, late)
            items["needs"] = self._group_of[found.sources[min(progress.at[0], len(found.sources) - 1)]]
            self._waves.append(items)
            self.traffic.rest(len(items))

    def _share(self, waves: np.ndarray, scanned: np.ndarray, late: np.ndarray) -> None:
        tests = tests_of(self._command.state, self._command.targets)
        n_early, n_late = int(scanned[TESTED]), int(late[LATE_TESTED])
        so_far = {
            "n_tiles": int(scanned[TILES]),
            "n_samples": n_early,
            "depth_nbytes": nbytes_of(tests, n_early, int(scanned[PASSED])) if n_early else 0,
            "n_late_samples": n_late,
            "late_depth_nbytes": nbytes_of(tests, n_late, int(late[LATE_PASSED])) if n_late else 0,
        }
        for name, number in so_far.items():
            waves[name] = _even(number - self._told[name], len(waves))
        self._told = so_far

    def whole(self) -> DrawWork:
        waves = np.concatenate(self._waves)
        items = self._items | ({"pixel": waves} if len(waves) else {})
        accesses = self.traffic.accesses() | ({"fetch": self._fetched} if len(self._fetched.lines) else {})
        return DrawWork(self._state_changes, self._drains, items, accesses)


def _even(total: int, parts: int) -> np.ndarray:
    """int64 (parts,) whose sum is the total."""
    return np.diff(np.arange(parts + 1) * total // parts)


def _written(masks: np.ndarray, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Of each quad, samples and pixels that are left."""
    of_pixel = (masks[:, None].astype(np.int64) >> (samples * np.arange(QUAD))) & ((1 << samples) - 1)
    n_samples = (masks[:, None].astype(np.int64) >> np.arange(samples * QUAD) & 1).sum(axis=1)
    return n_samples, (of_pixel != 0).sum(axis=1)
