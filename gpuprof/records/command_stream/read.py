"""The command stream that a recording has saved: what it needs in memory is a list of where its pieces are."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from gpuprof.base.compared_results import Result
from gpuprof.errors import FileFormatError, NotComparable, UsageError
from gpuprof.records.chunk_stream import open_file, read_chunks
from gpuprof.records.command_stream.codec import End, Failed, Header, NewerStream, value_of
from gpuprof.records.command_stream.pieces import COMMANDS, unpack
from gpuprof.records.encoding import Piece
from gpuprof.records.reader import Builder, Module, Recording, leave


class Place(NamedTuple):
    offset: int
    nbytes: int


@dataclass
class SavedStream:
    """A recording's stream. `modules` are in the order loaded; `results` are those of the launches."""

    path: Path
    meta: dict[str, Any] = field(default_factory=dict)
    chip: dict[str, Any] = field(default_factory=dict)
    modules: list[Module] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    lines: list[Place] = field(default_factory=list)
    blocks: dict[int, Place] = field(default_factory=dict)
    header: Header | None = None

    def commands(self) -> Iterator[tuple[Any, bool]]:
        """Each command as it was saved, and whether it failed. Raises FileFormatError for what is none, when it comes
        to it.
        """
        values = self._values()
        next(values)
        command = next(values, None)
        while not isinstance(command, End):
            if command is None or isinstance(command, Failed | Header):
                raise self.damaged("a line is out of place")
            following = next(values, None)
            failed = isinstance(following, Failed)
            yield command, failed
            command = next(values, None) if failed else following

    def content(self, blocks: tuple[int, ...], nbytes: int) -> bytes:
        """`nbytes` bytes of initial memory. Raises FileFormatError when the blocks hold more or fewer."""
        content = bytearray()
        with open_file(self.path) as file:
            for number in blocks:
                if number not in self.blocks:
                    raise self.damaged(f"there is no block {number}")
                content += self._piece(file, self.blocks[number])
                if len(content) > nbytes:
                    break
        if len(content) != nbytes:
            raise self.damaged(f"a copy of {nbytes} bytes has another length")
        return bytes(content)

    def digest(self) -> str:
        """SHA-256 of all that the run follows from, in hexadecimal: the commands, the initial memory, the modules."""
        found = hashlib.sha256()
        with open_file(self.path) as file:
            for place in (*self.lines, *(self.blocks[number] for number in sorted(self.blocks))):
                found.update(hashlib.sha256(self._piece(file, place)).digest())
        for module in self.modules:
            found.update(hashlib.sha256(module.image).digest())
        return found.hexdigest()

    def damaged(self, what: str) -> FileFormatError:
        return FileFormatError(f"{self.path}: its command stream is damaged: {what}")

    def stopped(self) -> FileFormatError:
        return FileFormatError(f"{self.path}: its command stream has no end: the run was stopped; collect it again")

    def check(self) -> None:
        """Reads the header; raises FileFormatError unless the stream begins and ends as one does."""
        try:
            self.header = next(self._values())
        except StopIteration:
            raise self.damaged("it is empty") from None
        if not isinstance(self.header, Header):
            raise self.damaged("its first line is not its header")
        with open_file(self.path) as file:
            last = self._piece(file, self.lines[-1])
        if not isinstance(self._value(last.splitlines()[-1]), End):
            raise self.stopped()

    def _values(self) -> Iterator[Any]:
        with open_file(self.path) as file:
            for place in self.lines:
                for line in self._piece(file, place).splitlines():
                    yield self._value(line)

    def _value(self, line: bytes) -> Any:
        try:
            return value_of(line)
        except NewerStream as error:
            raise FileFormatError(f"{self.path}: its command stream {error}: use a newer gpuprof") from None
        except (ValueError, UsageError) as error:  # a setting that no sampler has is a UsageError
            raise self.damaged(str(error)) from None

    def _piece(self, file, place: Place) -> bytes:
        file.seek(place.offset)
        try:
            data = unpack(file.read(place.nbytes))
        except ValueError as error:
            raise self.damaged(str(error)) from None
        if not data:
            raise self.damaged("a piece is empty")
        return data


def read_stream(path: Path | str) -> SavedStream:
    """The stream that `collect --save-stream` has put into a recording.

    Raises UsageError for a file that is not there, FileFormatError for one that is damaged or no recording,
    NotComparable for one without a stream.
    """
    chunks = read_chunks(path)
    stream, recording = SavedStream(chunks.path), Recording(chunks.path)
    builder = Builder(recording, sample_sink=leave, row_sink=leave)
    for chunk, payload in chunks:
        builder.add(chunk, payload)
        if chunk.type == b"STRM" and isinstance(payload, Piece):
            place = Place(chunks.position - len(payload.data), len(payload.data))
            if payload.id == COMMANDS:
                stream.lines.append(place)
            else:
                stream.blocks[payload.id] = place
    builder.finish()
    stream.meta, stream.chip, stream.modules = recording.meta, recording.chip, list(recording.modules.values())
    stream.results = recording.results
    if chunks.damage:
        raise FileFormatError(f"{path}: {chunks.damage}")
    if stream.blocks and not stream.lines:
        raise stream.stopped()
    if not stream.lines:
        why = "collect with --save-stream" if chunks.complete else "the run was cut off"
        raise NotComparable(f"{path}: no command stream is saved in it: {why}")
    stream.check()
    return stream
