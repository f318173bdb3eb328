"""The work of a draw for the fixed-function units, in the form of the timing model."""

import numpy as np

from gpuprof.device.commands import Draw
from gpuprof.device.graphics_state.draw_state import FORMATS, Buffers
from gpuprof.graphics.sizes import BATCH_PRIMITIVES, BATCH_VERTICES, BLOCK, QUAD, QUADS_OF_TILE
from gpuprof.graphics.stages.depth_tests import nbytes_of, tests_of
from gpuprof.graphics.stages.index_fetch import topology_of
from gpuprof.graphics.stages.output_merger import LATE_PASSED, LATE_TESTED
from gpuprof.graphics.stages.raster import PASSED, TESTED, TILES, Quads, Scan
from gpuprof.graphics.stages.setup import Triangles
from gpuprof.graphics.stages.tessellate.cut import Cut
from gpuprof.graphics.stages.vertex_waves import Batches, Waves, waves_of
from gpuprof.run.drawing.draw_listener import DrawListener
from gpuprof.run.drawing.patches import Patches
from gpuprof.run.drawing.primitives import BlockPrimitives
from gpuprof.run.drawing.target_traffic import PixelTraffic, fetched
from gpuprof.run.drawing.touched_bytes import TouchedTargets
from gpuprof.run.drawing.vertices import Vertices
from gpuprof.timing.draw_tables import WORK, Accesses, DrawWork
from gpuprof.timing.state.layout import UNIT_ACCESS

QUADS_OF_WAVE = BLOCK // QUAD
TESTED_OF_ITEM = 4 * QUADS_OF_TILE  # quads, where none of them is left
LANES_OF = {"hull": "n_control_points", "domain": "n_tessellated"}  # what a lane of these stages is
SHARED = ("n_tiles", "n_samples", "depth_nbytes", "n_late_samples", "late_depth_nbytes")  # even over waves


class WorkOfDraw(DrawListener):
    """Collects the work of each stage; `complete` gives it to the timing model."""

    def __init__(
        self, command: Draw, state_changes: int = 0, drains: bool = False, touched: TouchedTargets | None = None
    ):
        """`touched` records the bytes of targets; None if they are not recorded."""
        self._command, self._state_changes, self._drains = command, state_changes, drains
        stages = [shader.interface.stage for shader in command.shaders]
        self._last = [stage for stage in stages if stage != "pixel"][-1]
        self._items: dict[str, np.ndarray] = {}
        self._group_of = np.zeros(0, np.int64)  # of each primitive: those that are assembled together
        self._waves = [np.zeros(0, WORK["pixel"])]
        self._shared = dict.fromkeys(SHARED, 0)  # among the waves so far
        self.blocks, self._touched, self._traffic = BlockPrimitives(), touched, PixelTraffic(command)
        self._fetched = Accesses(np.zeros(0, np.int64), np.zeros(0, UNIT_ACCESS))

    def vertices(self, batches: Batches, buffers: Buffers) -> None:
        batch_of = batches.corners[:, 0] // BATCH_VERTICES
        n_primitives = np.bincount(batch_of, minlength=len(batches.used))
        items = np.zeros(len(n_primitives), WORK["vertex"])
        items["needs"], items["is_shaded"] = -1, 1
        corners, shared = topology_of(self._command.state)
        items["n_indices"] = corners * n_primitives - shared * (n_primitives - 1)
        self._items["vertex"] = np.tile(items, buffers.instances)
        self._fetched = fetched(buffers, self._items["vertex"]["n_indices"])
        wave_of = np.concatenate([batch_of + k * len(items) for k in range(buffers.instances)])
        self.blocks.vertices(wave_of)
        self._primitives("vertex", wave_of)

    def hull(self, given: Vertices, patches: Patches) -> None:
        rows = patches.rows
        self._stage(waves_of("hull", given.waves(), rows.of_warp, rows.points))
        self.blocks.shaded("hull", of_block=rows.of_warp)

    def domain(self, patches: Patches, made: Cut, shaded: Vertices) -> None:
        self._stage(waves_of("domain", patches.rows.wave_of(made.patches.astype(np.int64))))
        self.blocks.shaded("domain", made.patches)
        self.blocks.made(made.patches[made.corners[:, 0]])
        self._primitives("domain", shaded.waves())

    def geometry(self, waves: Waves, shaded: Vertices) -> None:
        most_vertices = self._command.geometry.interface.most_vertices
        self._stage(waves)
        self.blocks.shaded("geometry")
        self.blocks.made(shaded.corners[:, 0] // most_vertices)
        self._primitives("geometry", shaded.waves(most_vertices))

    def _stage(self, waves: Waves) -> None:
        """The warps of a shader after that of the vertices have run."""
        items = np.zeros(len(waves.needs), WORK[waves.stage])
        items["needs"], items["is_shaded"] = waves.needs, 1
        if waves.stage == "geometry":
            items["n_emitted"] = waves.n_items * self._command.geometry.interface.most_vertices
        else:
            items[LANES_OF[waves.stage]] = waves.n_items
        self._items[waves.stage] = items

    def _primitives(self, stage: str, wave_of: np.ndarray) -> None:
        """The primitives of a shader are assembled if no later shader takes them. wave_of: int64 (primitives,),
        ascending: the last warp that each needs.
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

    def triangles(self, triangles: Triangles) -> None:
        groups = self._items["primitive"]
        groups["n_accepted"] = np.bincount(self._group_of[triangles.sources], minlength=len(groups))

    @property
    def wants_tested(self) -> bool:
        return self._traffic.wants_tested

    def tested(self, progress: Scan) -> None:
        self._traffic.tested(progress.last_tested())

    def pixels(
        self,
        quads: Quads,
        triangles: Triangles,
        scanned: np.ndarray,
        late: np.ndarray,
        tested_late: np.ndarray | None = None,
    ) -> None:
        """Tiles and samples are spread evenly over the waves of the quads: those of one wave are not known."""
        if self._touched:
            self._touched.pixels(quads)
        first = np.arange(0, len(quads.x), QUADS_OF_WAVE)
        last = np.minimum(first + QUADS_OF_WAVE, len(quads.x)) - 1
        waves = np.zeros(len(first), WORK["pixel"])
        waves["needs"] = self._group_of[triangles.sources[quads.triangles[last]]]
        waves["is_shaded"] = self._command.pixel is not None
        if self._command.pixel:
            self.blocks.pixels(triangles.sources[quads.triangles], first)
        waves["n_pixels"] = (last - first + 1) * QUAD
        self._share(waves, scanned, late)
        targets = self._command.targets
        if targets.colors and self._command.pixel:
            samples, pixels = _written(quads.masks, targets.samples)
            waves["n_written"] = len(targets.colors) * np.add.reduceat(pixels, first)
            output = self._command.state.output
            nbytes = sum(FORMATS[name] * (2 if output(k).blend else 1) for k, name in enumerate(targets.formats))
            waves["written_nbytes"] = nbytes * np.add.reduceat(samples, first)
        self._traffic.pixels(quads, last + 1, quads.masks if tested_late is None else tested_late)
        self._waves.append(waves)

    def rest(self, triangles: Triangles, progress: Scan, late: np.ndarray) -> None:
        """The counts of scan and tests since the last quads are items of their own, without a shader."""
        items = np.zeros(max(1, -(-self._traffic.n_waiting // TESTED_OF_ITEM)), WORK["pixel"])
        if int(progress.counts[TILES]) > self._shared["n_tiles"]:
            self._share(items, progress.counts, late)
            items["needs"] = self._group_of[triangles.sources[min(progress.at[0], len(triangles.sources) - 1)]]
            self._waves.append(items)
            self._traffic.rest(len(items))

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
            waves[name] = _even(number - self._shared[name], len(waves))
        self._shared = so_far

    def complete(self) -> DrawWork:
        waves = np.concatenate(self._waves)
        items = self._items | ({"pixel": waves} if len(waves) else {})
        accesses = self._traffic.accesses() | ({"fetch": self._fetched} if len(self._fetched.lines) else {})
        return DrawWork(self._state_changes, self._drains, items, accesses)


def _even(total: int, parts: int) -> np.ndarray:
    """int64 (parts,) whose sum is the total."""
    return np.diff(np.arange(parts + 1) * total // parts)


def _written(masks: np.ndarray, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """The samples and pixels of each quad that are left."""
    of_pixel = (masks[:, None].astype(np.int64) >> (samples * np.arange(QUAD))) & ((1 << samples) - 1)
    n_samples = (masks[:, None].astype(np.int64) >> np.arange(samples * QUAD) & 1).sum(axis=1)
    return n_samples, (of_pixel != 0).sum(axis=1)
