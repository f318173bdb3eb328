"""The chunks of NAME.gprec, one at a time in bounded memory: the framing, and where it is damaged."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO

from gpuprof.base.inputs import RECORDING, open_input
from gpuprof.base.stages import Stage, stage
from gpuprof.errors import FileFormatError
from gpuprof.records.encoding import CHUNK_HEADER, FILE_HEADER, MalformedPayload, Payload, checksum, decode
from gpuprof.records.schema import BY_TYPE, MAGIC, MAX_PAYLOAD_NBYTES, VERSION, Chunk

KB = 1000
SAMPLE_CHUNKS = (b"SMPC", b"SMPW")


class ChunkStream:
    """The chunks of a file in order, one at a time: iterating gives (Chunk, payload) pairs, payload as
    `encoding.decode` gives it.

    Once the iteration is over, `complete` says whether the ENDF chunk was there, and `damage` what is wrong and at
    which byte, or None. A recording that was stopped and says so in its last chunk is not complete, but not damaged
    either. Raises UsageError for a file that is not there, FileFormatError for one that is no recording or of a newer
    version.
    """

    def __init__(self, path: Path | str):
        self.path = Path(path)
        self.complete = False
        self.damage: str | None = None
        self.version = VERSION  # the file's, once the iteration has begun
        self._position = 0
        self.start = 0  # of the chunk that the iteration gave last

    @property
    def position(self) -> int:
        """The byte after the chunk that the iteration gave last."""
        return self._position

    def __iter__(self) -> Iterator[tuple[Chunk, Payload]]:
        with open_file(self.path) as file, self._stage(file):
            self.version = check_header(self.path, file.read(FILE_HEADER.size))
            self._position = FILE_HEADER.size
            last = b""
            while (framed := self._next(file)) is not None:
                last, payload = framed
                if last in BY_TYPE:  # an older reader skips what a newer writer adds
                    chunk = BY_TYPE[last]
                    try:
                        value = decode(chunk, payload, self.version)
                    except MalformedPayload as error:
                        self.damage = f"the {last.decode()} chunk before byte {self._position} {error}"
                        return
                    yield chunk, value
                if last == b"ENDF":
                    self._check_end(file)
                    return
            if self.damage is None and last != b"MARK":
                self.damage = f"it ends at byte {self._position} without an ENDF chunk: the recording was cut off"

    def _stage(self, file: BinaryIO) -> AbstractContextManager[Stage]:
        def look(shown: Stage) -> None:
            shown.done = self._position // KB

        return stage(f"reading {self.path.name}", "kB", os.fstat(file.fileno()).st_size // KB, look=look)

    def _next(self, file: BinaryIO) -> tuple[bytes, bytes] | None:
        """Type and payload of the next chunk; None at the end of the file or at damage."""
        header = file.read(CHUNK_HEADER.size)
        if not header:
            return None
        if len(header) < CHUNK_HEADER.size:
            return self._damaged(
                f"a chunk's header ends after {len(header)} of {CHUNK_HEADER.size} bytes: the recording was cut off"
            )
        type_, nbytes, crc = CHUNK_HEADER.unpack(header)
        if nbytes > MAX_PAYLOAD_NBYTES:
            return self._damaged(f"a chunk claims {nbytes} bytes; the limit is {MAX_PAYLOAD_NBYTES}")
        payload = file.read(nbytes)
        if len(payload) < nbytes:
            return self._damaged(f"a chunk of {nbytes} bytes ends after {len(payload)}: the recording was cut off")
        if checksum(type_, payload) != crc:
            return self._damaged("a chunk's CRC is wrong")
        self.start = self._position
        self._position += CHUNK_HEADER.size + nbytes
        return type_, payload

    def _damaged(self, what: str) -> None:
        self.damage = f"at byte {self._position} {what}"

    def _check_end(self, file: BinaryIO) -> None:
        self.complete = True
        if file.read(1):
            self.damage = f"more bytes follow its last chunk, which ends at byte {self._position}"


def read_chunks(path: Path | str) -> ChunkStream:
    """The chunks of a recording; see `ChunkStream`."""
    return ChunkStream(path)


def open_file(path: Path) -> BinaryIO:
    """Raises UsageError for a file that cannot be opened."""
    return open_input(path, RECORDING)


def check_header(path: Path, header: bytes) -> int:
    """The format version in the file's first 16 bytes. Raises FileFormatError unless they are those of a recording that
    this reader knows.
    """
    if not header:
        raise FileFormatError(f"{path}: is empty, not a gpuprof recording")
    if not header.startswith(MAGIC):
        cut = len(header) < len(MAGIC) and MAGIC.startswith(header)
        raise FileFormatError(
            f"{path}: " + ("is cut off inside its header" if cut else "is not a gpuprof recording (.gprec)")
        )
    if len(header) < FILE_HEADER.size:
        raise FileFormatError(f"{path}: is cut off inside its header")
    _, version, zero = FILE_HEADER.unpack(header)
    if version > VERSION:
        raise FileFormatError(
            f"{path}: has format version {version}, and this gpuprof reads up to {VERSION}: use a newer gpuprof"
        )
    if version == 0 or zero != 0:
        raise FileFormatError(f"{path}: its header is damaged (version {version}, reserved word {zero})")
    return version
