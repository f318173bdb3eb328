"""Saves a command stream while it is carried out."""

from collections.abc import Callable
from hashlib import sha256
from typing import Any

from gpuprof.device import commands as cmd
from gpuprof.errors import GpuprofError
from gpuprof.records.command_stream.codec import (
    End,
    Failed,
    Header,
    SavedCopyIn,
    SavedDraw,
    SavedHostWrite,
    SavedLaunch,
    SavedLoad,
    SavedShader,
    line_of,
)
from gpuprof.records.command_stream.pieces import BLOCK_NBYTES, COMMANDS, LINES_NBYTES, pack


class StreamWriter:
    """`put(id, bytes)` takes the pieces, as `saved.pieces` says, in the order they come."""

    def __init__(self, put: Callable[[int, bytes], None], header: Header):
        self._put = put
        self._lines: list[bytes] = []
        self._lines_nbytes = 0
        self._blocks: dict[bytes, int] = {}  # by digest
        self._modules: dict[int, int] = {}  # id(module) -> its number
        self._ended = False
        self._line(header)

    def through(self, command: cmd.Command, carry_out: Callable[[cmd.Command], Any]) -> Any:
        """Saves a command and has it carried out. One that fails is saved as such: a script may continue after that."""
        if isinstance(command, cmd.Load):  # one that fails loads nothing
            module = carry_out(command)
            self._modules[id(module)] = len(self._modules)
            self._line(SavedLoad(module.load_base, command.placed))
            return module
        if command == cmd.SetSampler(()):  # a question
            return carry_out(command)
        self._line(self._saved(command))
        try:
            return carry_out(command)
        except GpuprofError:
            self._line(Failed())
            raise

    def end(self) -> None:
        """The stream is whole."""
        if not self._ended:
            self._line(End())
            self._flush()
            self._ended = True

    def _saved(self, command: cmd.Command) -> Any:
        if isinstance(command, cmd.CopyIn):
            blocks = self._blocks_of(command.data)
            how = (command.stream, command.is_pinned, command.is_waited)
            return SavedCopyIn(command.address, len(command.data), blocks, *how)
        if isinstance(command, cmd.HostWrite):
            return SavedHostWrite(command.address, len(command.data), self._blocks_of(command.data))
        if isinstance(command, cmd.Launch):
            return SavedLaunch(
                self._modules[id(command.module)],
                command.function.name,
                command.grid,
                command.block,
                command.dynamic_shared_nbytes,
                command.params,
                command.stream,
                command.name,
                command.cluster,
                command.dependent,
                command.is_timed,
                command.cache,
                command.repeat,
            )
        if isinstance(command, cmd.Draw):
            return SavedDraw(
                tuple(map(self._shader, command.shaders)),
                command.buffers,
                command.state,
                command.targets,
                command.name,
            )
        return command

    def _shader(self, shader: cmd.Shader) -> SavedShader:
        return SavedShader(self._modules[id(shader.module)], shader.function.name, shader.params, shader.interface)

    def _blocks_of(self, data: bytes | memoryview) -> tuple[int, ...]:
        return tuple(self._block(data[start : start + BLOCK_NBYTES]) for start in range(0, len(data), BLOCK_NBYTES))

    def _block(self, data: bytes | memoryview) -> int:
        """The number of a block of memory; a new one is written."""
        digest = sha256(data).digest()
        if digest not in self._blocks:
            self._blocks[digest] = len(self._blocks) + 1
            self._put(self._blocks[digest], pack(data))
        return self._blocks[digest]

    def _line(self, value: Any) -> None:
        line = line_of(value)
        if self._lines_nbytes + len(line) > LINES_NBYTES:
            self._flush()
        self._lines.append(line)
        self._lines_nbytes += len(line)

    def _flush(self) -> None:
        if self._lines:
            self._put(COMMANDS, pack(b"".join(self._lines)))
        self._lines, self._lines_nbytes = [], 0
