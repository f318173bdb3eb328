"""The programs of the modules that a GPU has run, each worked out once: a kernel is often launched many times."""

from typing import TYPE_CHECKING

from gpuprof.chips import Chip
from gpuprof.timing.state.static_program import StaticProgram, static_program

if TYPE_CHECKING:
    from gpuprof.device.module import LoadedModule


class Programs:
    """They live as long as the GPU, as its modules do."""

    def __init__(self, chip: Chip):
        self._chip = chip
        # By id, of modules that are kept here, so that no other gets the id of one.
        self._made: dict[int, tuple[LoadedModule, StaticProgram]] = {}

    def of(self, module: "LoadedModule") -> StaticProgram:
        """The program of a loaded module."""
        if id(module) not in self._made:
            self._made[id(module)] = (
                module,
                static_program(module.code, module.program.functions, self._chip, module.load_base),
            )
        return self._made[id(module)][1]

    def __deepcopy__(self, memo: dict) -> "Programs":
        """A copy of the GPU runs the same modules."""
        return self
