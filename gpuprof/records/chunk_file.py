"""An output file that is appended to chunk by chunk, keeps the file it replaces, and can be taken back.

At every moment what is on disk is whole chunks and at most a part of one more. Whoever is killed leaves that, and a
reader takes the whole ones.
"""

import os
import stat
from pathlib import Path

from gpuprof.base.files import old_name
from gpuprof.errors import GpuprofError, UsageError


class ChunkFile:
    """Nothing touches the disk before `create`; what was appended earlier is held in memory until then.

    A previous regular file is kept as NAME.old. Devices and pipes are written to as they are.
    Raises UsageError when the path is a folder or in none, GpuprofError when the disk refuses.
    """

    def __init__(self, path: Path):
        self.path = path
        self.old_path = old_name(path)
        if path.is_dir():
            raise UsageError(f"{path}: is a folder; give a file name to write the recording to")
        if not self.path.absolute().parent.is_dir():
            raise UsageError(f"{path}: there is no folder {self.path.absolute().parent}")
        self._held: list[bytes] = []
        self._file = None
        self._moved_aside = False
        self._whole_nbytes = 0  # end of the last whole chunk
        # why the disk took no more of a file that had begun well: nothing goes behind a part
        self.refused: GpuprofError | None = None

    @property
    def created(self) -> bool:
        return self._file is not None

    def create(self) -> None:
        """Move a previous file aside and write what was held back; later calls do nothing."""
        if self.created:
            return
        try:
            if self._is_regular():
                self._moved_aside = True
                os.replace(self.path, self.old_path)
            self._file = open(self.path, "wb", buffering=0)  # noqa: SIM115  (closed by close or discard)
        except OSError as error:
            self._put_back()
            raise self._disk_error(error) from None
        held, self._held = self._held, []
        for chunk in held:
            self._write(chunk)

    def append(self, chunk: bytes | memoryview) -> None:
        """A whole chunk, in one write call as long as the system takes it."""
        if not self.created:
            self._held.append(bytes(chunk))
            return
        if self.refused:
            raise self.refused
        try:
            self._write(chunk)
        except GpuprofError as error:
            self.refused = error
            raise

    def _write(self, chunk: bytes | memoryview) -> None:
        rest = memoryview(chunk)
        try:
            while rest:  # a full disk can take part of a chunk before it refuses the rest
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            raise self._disk_error(error) from None
        self._whole_nbytes += len(chunk)

    def drop_partial_chunk(self) -> None:
        """Cut off what an interrupt inside `append` left, so that more can follow."""
        if self.created and self._is_regular():
            self._file.truncate(self._whole_nbytes)
            self._file.seek(self._whole_nbytes)

    def close(self) -> None:
        try:
            self._file.close()
        except OSError as error:
            raise self._disk_error(error) from None

    def discard(self) -> None:
        """Leave no file, and a previous one with its name again. A file that another run put in its place meanwhile
        stays.
        """
        if self.created:
            is_ours = self._is_regular() and os.path.samestat(os.fstat(self._file.fileno()), self.path.stat())
            self._file.close()
            if is_ours:
                self.path.unlink()
        self._put_back()

    def _put_back(self) -> None:
        if self._moved_aside and not self.path.exists() and self.old_path.exists():
            os.replace(self.old_path, self.path)

    def _is_regular(self) -> bool:
        return self.path.exists() and stat.S_ISREG(self.path.stat().st_mode)

    def _disk_error(self, error: OSError) -> GpuprofError:
        return GpuprofError(f"{self.path}: cannot write the recording: {error.strerror}")
