"""The one way to read files that others made: only regular files, and only up to the size that their kind has.

A FIFO or a device could keep a reader waiting or give bytes without end. Whoever may have written a file may also have
made it long, so its size is checked before it is read, and again while it is read: files in /proc say that they are
empty, others grow.
"""

import os
import stat
from pathlib import Path
from typing import BinaryIO, NamedTuple

from gpuprof.base.confinement import check_inside
from gpuprof.base.files import unreadable
from gpuprof.base.text_lines import decoded
from gpuprof.errors import UsageError

KIB, MIB, GIB, TIB = (1 << shift for shift in (10, 20, 30, 40))


class Kind(NamedTuple):
    """A kind of input. `why` says where the limit comes from, for docs/security.md."""

    name: str
    most_nbytes: int
    why: str


SOURCE = Kind("CUDA source", 16 * MIB, "a compiler takes many times the length of its source in memory")
HEADER = Kind("header", 16 * MIB, "as a source")
PTX = Kind("PTX", 64 * MIB, "the assembler takes many times the length of a text in memory")
EMBEDDED = Kind("source that line tables name", 16 * MIB, "as a source, since it goes into the recording whole")
GPUBIN = Kind("gpubin", 256 * MIB, "16 bytes an instruction, its tables, PTX and sources: four times the longest PTX")
RECORDING = Kind("recording", TIB, "it is read in chunks of at most 16 MiB; a TiB is 34,000 million samples")
DATABASE = Kind("database", 16 * GIB, "its rows are counts by instruction, a few hundred bytes each")
CHIP = Kind("chip file", 256 * KIB, "some 200 numbers with a source each, 12 KB")
HOST = Kind("host file", 256 * KIB, "some 40 numbers with a source each, 8 KB")
RULES = Kind("file of rules", 256 * KIB, "a rule is a line or two")
COSTS = Kind("table of costs", 256 * KIB, "a number of a chip is a line")
SUPPRESSIONS = Kind("file of suppressions", 1 * MIB, "a suppression is a line")
COMMANDS = Kind("script of the debugger", 1 * MIB, "a command is a line")
PROJECT = Kind("project file", 1 * MIB, "an entry has a few hundred bytes")
BASELINE = Kind("baseline", 64 * MIB, "a few hundred bytes for each costly line of each launch")
RUN_INPUT = Kind("file that a run read", TIB, "it is read in pieces, for a digest")
ARRAY = Kind("array", 16 * GIB, "a launch holds it in addition to the device's memory")
NUMBA_LINK = Kind("file to link", 64 * MIB, "as PTX")
NCU_REPORT = Kind("report of Nsight Compute", 256 * MIB, "it is read whole; a launch has a few hundred KiB")
NCU_CSV = Kind("CSV of Nsight Compute", 64 * MIB, "it is read whole; a launch has some 100 KiB")
CUPTI_SAMPLES = Kind("samples of CUPTI", 64 * MIB, "they are read whole; a line has some 200 bytes")
TRACES = Kind(
    "file of traces", 8 * GIB, "those of `whatif` stay in memory, 6 GiB at most; a sweep reads them by pieces"
)
CACHED = Kind("cached module", 256 * MIB, "a module's PTX and its sources as JSON")

KINDS = (
    *(SOURCE, HEADER, PTX, EMBEDDED, GPUBIN, RECORDING, DATABASE, CHIP, HOST, RULES, COSTS, SUPPRESSIONS, COMMANDS),
    *(PROJECT, BASELINE, RUN_INPUT, ARRAY, NUMBA_LINK, NCU_REPORT, NCU_CSV, CUPTI_SAMPLES, TRACES, CACHED),
)

NAMED_BY_FILES = (HEADER, ARRAY)  # by sources and launches: a run may be confined to the files of one folder

PIECE_NBYTES = MIB  # read at a time of a file whose size is not known
# the open of a FIFO waits for a writer otherwise, and that of a serial line for a carrier
NEVER_WAITS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)

FILE_TYPES = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def open_input(path: Path | str, kind: Kind) -> BinaryIO:
    """A regular file of the user's, open for reading.

    Raises UsageError for one that is not there, not regular, longer than its kind, or that the system does not let us
    read.
    """
    try:
        number = os.open(path, os.O_RDONLY | NEVER_WAITS)
    except (OSError, ValueError) as error:
        raise _refusal(path, error) from None
    try:
        check_input(path, kind, os.fstat(number))
    except UsageError:
        os.close(number)
        raise
    return open(number, "rb")


def check_input(path: Path | str, kind: Kind, status: os.stat_result | None = None) -> None:
    """Raise UsageError unless the file is regular, no longer than its kind, and where a confined run may read.
    `status`: what the system says of it, for a file that is open; another program opens the others.
    """
    if kind in NAMED_BY_FILES:
        check_inside(path)
    try:
        status = status or os.stat(path)
    except (OSError, ValueError) as error:
        raise _refusal(path, error) from None
    if not stat.S_ISREG(status.st_mode):
        what = next((word for is_such, word in FILE_TYPES if is_such(status.st_mode)), "no file")
        raise UsageError(f"{path}: is {what}; expected a regular file")
    if status.st_size > kind.most_nbytes:
        raise _too_long(path, kind, f"has {status.st_size:,} bytes")


def read_input(path: Path | str, kind: Kind) -> bytes:
    """The bytes of a user's file. Raises what `open_input` raises."""
    with open_input(path, kind) as file:
        try:
            nbytes = os.fstat(file.fileno()).st_size
            data = file.read(nbytes + 1)
            while len(data) > nbytes:  # it grows, or is one of those in /proc, which say that they are empty
                if len(data) > kind.most_nbytes:
                    raise _too_long(path, kind, "has more bytes")
                nbytes = len(data)
                data += file.read(PIECE_NBYTES)
        except OSError as error:
            raise _refusal(path, error) from None
        except MemoryError:
            raise UsageError(f"{path}: does not fit into this machine's memory") from None
    return data


def read_input_text(path: Path | str, kind: Kind, errors: str = "strict") -> str:
    """A user's text, UTF-8, each line ended by \\n. Raises UnicodeDecodeError where `errors` is "strict", UsageError
    for UTF-16, and what `read_input` raises.
    """
    return decoded(read_input(path, kind), path, errors)


def is_missing(path: Path | str) -> bool:
    """True when the system says that there is no such file; a file that it does not let us see may exist."""
    try:
        os.stat(path)
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        return False
    return False


def check_is_file(path: Path) -> None:
    """Raises UsageError for a path that is no regular file."""
    if not path.is_file():
        raise UsageError(f"{path}: {'is a folder' if path.is_dir() else 'there is no such file'}")


def is_regular(path: Path | str) -> bool:
    """True when there is a regular file of this name."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):  # a name with a zero byte is none
        return False


def _refusal(path: Path | str, error: OSError | ValueError) -> UsageError:
    if isinstance(error, OSError):
        return unreadable(path, error)
    return UsageError(f"{path}: is no file name: {error}")


def _too_long(path: Path | str, kind: Kind, how: str) -> UsageError:
    return UsageError(f"{path}: {how}; the limit for a {kind.name} is {kind.most_nbytes:,} bytes")
