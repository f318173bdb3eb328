"""An output file that is appended to chunk by chunk, keeps the file it replaces, and can be taken back.

At every moment what is on disk is whole chunks and at most a part of one more. Whoever is killed leaves that, and a
reader takes the whole ones. Chunks that follow each other closely, as those of a short launch, are written together.
"""

import os
from pathlib import Path
from typing import BinaryIO

from gpuprof.base.files import move_aside, old_name
from gpuprof.base.interrupts import uninterrupted
from gpuprof.base.output_targets import target_of
from gpuprof.errors import GpuprofError

MOST_HELD_NBYTES = 1 << 16


class ChunkFile:
    """Nothing touches the disk before `create`; what was appended earlier is held in memory until then.

    A previous file is renamed to NAME.old. A target that is no file, such as stdout, is written to directly. A link
    stays one.
    Raises UsageError when the path is a folder, or in none, or a device, GpuprofError when the disk refuses.
    """

    def __init__(self, path: Path):
        self.path = path
        self._target = target_of(path)
        self._held: list[bytes | memoryview] = []  # whole chunks that are not written yet
        self._held_nbytes = 0
        self._file: BinaryIO | None = None
        self._moved_aside = False
        self._whole_nbytes = 0  # end of the last whole chunk
        # why the disk took no more of a file that had begun well: nothing is written after a part
        self.refused: GpuprofError | None = None

    @property
    def created(self) -> bool:
        return self._file is not None

    @property
    def _open_file(self) -> BinaryIO:
        assert self._file is not None
        return self._file

    @property
    def _path(self) -> Path:
        """The path of a regular file."""
        assert self._target.path is not None
        return self._target.path

    def create(self) -> None:
        """Move a previous file aside, the first time, and write what was held back."""
        if self.created:
            self._write_more()
            return
        try:
            self._file = self._opened()
        except OSError as error:
            self._put_back()
            raise self._disk_error(error) from None
        self._write_held()

    def _opened(self) -> BinaryIO:
        if not self._is_regular:
            return self._target.open()
        self._moved_aside = self._path.exists()  # first, since an interrupt may come in between
        move_aside(self._path)
        return open(self._path, "xb", buffering=0)  # a file that has got the name meanwhile is not ours

    def append(self, chunk: bytes | memoryview) -> None:
        """A whole chunk. Short ones are held until there is more, or `create` asks for all."""
        if self.refused:
            raise self.refused
        nbytes, is_created = len(chunk), self._file is not None
        is_written = is_created and nbytes > MOST_HELD_NBYTES
        self._held.append(chunk if is_written else bytes(chunk))  # a copy: the rows of a sample chunk are filled again
        self._held_nbytes += nbytes
        if is_created and self._held_nbytes > MOST_HELD_NBYTES:
            self._write_more()

    def extend(self, chunks: list[bytes]) -> None:
        """Several whole chunks."""
        if self.refused:
            raise self.refused
        self._held += chunks
        self._held_nbytes += sum(map(len, chunks))
        if self._file is not None and self._held_nbytes > MOST_HELD_NBYTES:
            self._write_more()

    def _write_more(self) -> None:
        """Writes what is held to a file that had begun well."""
        if self.refused:
            raise self.refused
        try:
            self._write_held()
        except GpuprofError as error:
            self.refused = error
            raise

    def _write_held(self) -> None:
        """In one write call as long as the system takes it."""
        chunks = self._held[0] if len(self._held) == 1 else b"".join(self._held)
        rest = memoryview(chunks)
        try:
            while rest:  # a full disk can take a part before it refuses the rest
                rest = rest[self._open_file.write(rest) :]
        except OSError as error:
            self._count_whole(len(chunks) - len(rest))
            raise self._disk_error(error) from None
        with uninterrupted():  # or they would be written twice
            self._whole_nbytes += len(chunks)
            self._held, self._held_nbytes = [], 0

    def _count_whole(self, nbytes: int) -> None:
        """Counts the chunks that are whole in the first so many bytes of those that were held."""
        while self._held and len(self._held[0]) <= nbytes:
            nbytes -= len(self._held[0])
            self._whole_nbytes += len(self._held.pop(0))

    def drop_partial_chunk(self) -> None:
        """Cut off what an interrupt inside a write left, so that more can follow: what was held is whole again."""
        if self.created and self._is_regular:
            self._open_file.truncate(self._whole_nbytes)
            self._open_file.seek(self._whole_nbytes)

    def close(self) -> None:
        if not self.refused:
            self._write_held()
        try:
            self._open_file.close()
        except OSError as error:
            raise self._disk_error(error) from None

    def discard(self) -> None:
        """Leave no file, and a previous one with its name again. A file that another run put in its place meanwhile
        stays.
        """
        if self.created:
            is_ours = self._is_regular and self._has_the_name()
            self._open_file.close()
            if is_ours:
                self._path.unlink()
        self._put_back()

    def _put_back(self) -> None:
        old = old_name(self._path) if self._moved_aside else None
        if old and old.exists() and not self._path.exists():
            os.replace(old, self._path)

    @property
    def _is_regular(self) -> bool:
        return self._target.path is not None

    def _has_the_name(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._open_file.fileno()), os.lstat(self._path))
        except FileNotFoundError:
            return False

    def _disk_error(self, error: OSError) -> GpuprofError:
        return GpuprofError(f"{self.path}: cannot write the recording: {error.strerror}")
