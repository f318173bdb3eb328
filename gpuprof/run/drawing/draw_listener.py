"""The stages of a draw, reported one after the other while it is carried out."""

import numpy as np

from gpuprof.device.graphics_state.draw_state import Buffers
from gpuprof.graphics.stages.raster import Quads, Scan
from gpuprof.graphics.stages.setup import Triangles
from gpuprof.graphics.stages.tessellate.cut import Cut
from gpuprof.graphics.stages.vertex_waves import Batches, Waves
from gpuprof.run.drawing.patches import Patches
from gpuprof.run.drawing.vertices import Vertices


class DrawListener:
    """Every report does nothing here: the listener of a draw that is not recorded. Reports come in the order of the
    stages.
    """

    wants_tested = False  # whether `tested` needs the quads that were tested

    def vertices(self, batches: Batches, buffers: Buffers) -> None:
        """Vertices of all instances are shaded next, one instance after the other."""

    def hull(self, given: Vertices, patches: Patches) -> None:
        """The hull shader has run on patches of the vertices given."""

    def domain(self, patches: Patches, made: Cut, shaded: Vertices) -> None:
        """The domain shader has shaded the vertices that the tessellator made."""

    def geometry(self, waves: Waves, shaded: Vertices) -> None:
        """The geometry shader has run."""

    def triangles(self, triangles: Triangles) -> None:
        """Primitives are clipped and set up."""

    def tested(self, progress: Scan) -> None:
        """The early tests of a piece have ended; `pixels` or `rest` follows."""

    def pixels(
        self,
        quads: Quads,
        triangles: Triangles,
        scanned: np.ndarray,
        late: np.ndarray,
        tested_late: np.ndarray | None = None,
    ) -> None:
        """Quads of a piece, as the tests have left them, and the counts so far of the scan and of the late tests.
        tested_late: uint16 (quads,), samples that reached the late tests.
        """

    def rest(self, triangles: Triangles, progress: Scan, late: np.ndarray) -> None:
        """No quad of a piece is left."""
