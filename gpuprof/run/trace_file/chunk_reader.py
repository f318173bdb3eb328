"""Reads a file of traces chunk by chunk. Raises FileFormatError for one that is damaged, foreign or of another
version.
"""

from pathlib import Path
from typing import BinaryIO, TypeVar
from zlib import crc32

from gpuprof.errors import FileFormatError, NotComparable
from gpuprof.records.command_stream.codec import object_of
from gpuprof.run.trace_file.layout import CHUNK_HEADER, FILE_HEADER, MAGIC, MOST_OBJECT_NBYTES, VERSION

T = TypeVar("T")


class ChunkReader:
    """`file`: open from its start, of the path that errors name."""

    def __init__(self, path: Path, file: BinaryIO):
        self.path, self._file = path, file
        self.left_nbytes = self._nbytes = file.seek(0, 2)
        file.seek(0)

    @property
    def offset(self) -> int:
        """The place at which the next chunk begins."""
        return self._nbytes - self.left_nbytes

    def damaged(self, what: str) -> FileFormatError:
        return FileFormatError(f"{self.path}: is damaged: {what}; remove it, and it is written again")

    def other(self, what: str) -> NotComparable:
        return NotComparable(f"{self.path}: its traces are of {what}; give another name, or remove it")

    def check_header(self) -> None:
        if self.left_nbytes < FILE_HEADER.size:
            raise FileFormatError(f"{self.path}: is no file of traces (.gptrace)")
        magic, version, zero = FILE_HEADER.unpack(self._read(FILE_HEADER.size))
        if magic != MAGIC:
            raise FileFormatError(f"{self.path}: is no file of traces (.gptrace)")
        if version != VERSION or zero:
            raise FileFormatError(
                f"{self.path}: has format version {version}, and this gpuprof reads {VERSION}: remove it, and it is "
                "written again"
            )

    def go_to(self, offset: int) -> None:
        self._file.seek(offset)
        self.left_nbytes = self._nbytes - offset

    def some(self, nbytes: int) -> bytes:
        """The first bytes of a payload, which are not checked."""
        return self._read(nbytes)

    def begin(self) -> tuple[bytes, int, int]:
        """The header of the next chunk, which is then read or skipped: its type, its CRC, its payload's length."""
        type_, crc, nbytes = CHUNK_HEADER.unpack(self._read(CHUNK_HEADER.size))
        if nbytes > self.left_nbytes:
            raise self.damaged(f"it ends {nbytes - self.left_nbytes} bytes too soon")
        return type_, crc, nbytes

    def payload(self, crc: int, nbytes: int) -> bytes:
        payload = self._read(nbytes)
        if crc32(payload) != crc:
            raise self.damaged(f"the CRC of a chunk of {nbytes} bytes is wrong")
        return payload

    def chunk(self) -> tuple[bytes, bytes]:
        """The next chunk: its type and its payload."""
        type_, crc, nbytes = self.begin()
        return type_, self.payload(crc, nbytes)

    def object(self, kind: type[T], payload: bytes) -> T:
        if len(payload) > MOST_OBJECT_NBYTES:
            raise self.damaged(f"an object of {len(payload)} bytes")
        try:
            return object_of(kind, payload)
        except ValueError as error:
            raise self.damaged(str(error)) from None

    def _read(self, nbytes: int) -> bytes:
        if nbytes > self.left_nbytes:
            raise self.damaged(f"it ends {nbytes - self.left_nbytes} bytes too soon")
        self.left_nbytes -= nbytes
        data = self._file.read(nbytes)
        if len(data) != nbytes:
            raise self.damaged("it has become shorter")
        return data
