"""Launches as they are known again in another profile: kernel and shape, and which of several."""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from gpuprof.base.wording import base_name, extent_of, launch_text
from gpuprof.isa.printing.printable import printable


class LaunchKey(NamedTuple):
    name: str  # "saxpy<<<64, 256>>>"
    ordinal: int  # 1 for the first launch of that name, 2 for the next, ...

    @property
    def kernel(self) -> str:
        return self.name.rpartition("<<<")[0]

    @property
    def shape(self) -> str:
        """Grid, block and dynamic shared memory: "<<<64, 256>>>"."""
        return "".join(self.name.rpartition("<<<")[1:])

    def __str__(self) -> str:
        return self.name if self.ordinal == 1 else f"{self.name} #{self.ordinal}"


class ShaderOf(NamedTuple):
    """The draw that a launch is a shader of."""

    draw: int
    name: str  # the draw's
    of_pass: int
    stage: str

    def __str__(self) -> str:
        return f"draw {self.draw}, {self.name}, pass {self.of_pass}, {self.stage}"


def title(key: LaunchKey, shader_of: ShaderOf | None) -> str:
    """ "transform<<<52, 32>>> (draw 2, teapot, pass 1, vertex)"."""
    return f"{key} ({shader_of})" if shader_of else str(key)


def shaders_of_draws(database: sqlite3.Connection) -> dict[int, ShaderOf]:
    """By launch."""
    rows = database.execute("SELECT launch, draw, name, pass, stage FROM draw_launches JOIN draws USING (draw)")
    return {launch: ShaderOf(draw, printable(name), *place) for launch, draw, name, *place in rows}


def launch_keys(database: sqlite3.Connection) -> Iterator[tuple[int, LaunchKey, str, int]]:
    """Each launch with its key, its module's name without folders, and its function, in the order they ran."""
    seen = Counter()
    for launch, kernel, grid, block, shared, module, function in database.execute(
        "SELECT launch, kernel, grid, block, dynamic_shared_nbytes, m.name, function FROM launches "
        "JOIN functions f USING (function) JOIN modules m USING (module) ORDER BY launch"
    ):
        name = printable(launch_text(kernel, extent_of(grid), extent_of(block), *([str(shared)] if shared else [])))
        seen[name] += 1
        yield launch, LaunchKey(name, seen[name]), printable(base_name(module)), function
