"""The primitives of a draw that each block of its shaders works on: samples of the block belong to these."""

import numpy as np

from gpuprof.graphics.sizes import BLOCK
from gpuprof.tables.draws import PRIMITIVES


class BlockPrimitives:
    """`rows`: stage and PRIMITIVES.dtype (blocks,) of each launch, in the order of the launches of a stage."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, np.ndarray]] = []
        self._made_of = np.zeros(0, np.int64)  # of each primitive that is there now, the one of the draw

    def vertices(self, block_of: np.ndarray) -> None:
        """block_of: int64 (primitives,), ascending: the block that shades the vertices of each."""
        self._made_of = np.arange(len(block_of))
        self._add("vertex", self._made_of, np.flatnonzero(np.diff(block_of, prepend=-1)))

    def shaded(self, stage: str, sources: np.ndarray | None = None, of_block: int = BLOCK) -> None:
        """A block of a stage has so many items. sources: int64 (items,), the primitive of each; None: the primitives
        themselves.
        """
        primitives = self._made_of if sources is None else self._made_of[sources]
        self._add(stage, primitives, np.arange(0, len(primitives), of_block))

    def made(self, sources: np.ndarray) -> None:
        """A shader made others. sources: int64 (made,), the primitive that each is made of."""
        self._made_of = self._made_of[sources]

    def pixels(self, primitives: np.ndarray, first: np.ndarray) -> None:
        """int64 (quads,), the primitive of each quad of a launch; and the quads that blocks begin with."""
        self._add("pixel", self._made_of[primitives], first)

    def _add(self, stage: str, primitives: np.ndarray, first: np.ndarray) -> None:
        rows = np.zeros(len(first), PRIMITIVES.dtype)
        rows["block"] = np.arange(len(first))
        rows["first_primitive"] = np.minimum.reduceat(primitives, first)
        rows["last_primitive"] = np.maximum.reduceat(primitives, first)
        self.rows.append((stage, rows))
