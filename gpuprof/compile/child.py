"""Compilers as child processes with limits, since a source of a few lines can make one work, grow or write for ever.

Standard input, output and errors are temporary files: the limit on a file's size holds for them as for what a compiler
writes elsewhere. The child leads a process group of its own, and the whole group ends with it: nvcc starts others.

Threads may run compilers at the same time (`compilers`).
"""

import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import BinaryIO, NamedTuple

from gpuprof.base.processes import ending_with_this, host_memory_nbytes
from gpuprof.errors import CompileError, UsageError

MIB, GIB = 1 << 20, 1 << 30


class Limit(NamedTuple):
    """`variable` raises it; `default` is in its unit, `usual` the same in words where machines differ."""

    variable: str
    default: int
    unit: str
    usual: str = ""


MEMORY = Limit(
    "GPUPROF_COMPILER_GB",
    max(4, host_memory_nbytes() // 2 // GIB),
    "GiB of memory",
    "half of the host's memory, at least 4 GiB",
)
TIME = Limit("GPUPROF_COMPILER_SECONDS", 300, "seconds of CPU time")
WALL_FACTOR = 10  # how much longer a compiler may take on a busy machine
OUTPUT = Limit("GPUPROF_COMPILER_OUTPUT_MB", 512, "MiB of output")
LIMITS = (MEMORY, TIME, OUTPUT)
MOST = 1 << 30  # of a limit, in its unit

# What compilers, C++'s library and Python say when they get no more memory. A linker names std::bad_alloc as a symbol.
NO_MEMORY = re.compile(
    rb"out of memory|(instance of '|of type |what\(\): +)std::bad_alloc|MemoryError|cannot allocate memory"
    rb"|unable to allocate",
    re.IGNORECASE,
)
TOO_LARGE = re.compile(rb"file too large", re.IGNORECASE)
# A shell sets the limits and becomes the compiler. What a system does not know it leaves as it is: macOS has no -v.
SHELL = """\
ulimit -v "$1" 2>/dev/null
ulimit -f "$2" 2>/dev/null
ulimit -S -t "$3" 2>/dev/null
ulimit -c 0
shift 3
exec "$@"
"""
FILE_BLOCK_NBYTES = 512  # the unit of `ulimit -f`; bash's is twice that
END_SECONDS = 0.02  # between two looks at whether all compilers have ended

_running: set[subprocess.Popen] = set()


class Ended(NamedTuple):
    """How a child ended; `code` is negative for a signal."""

    code: int
    out: bytes
    errors: bytes


def run_child(command: Sequence[str], what: str, source: bytes = b"", env: dict[str, str] | None = None) -> Ended:
    """Runs a compiler on `source`, its standard input. `what` is compiled, for messages.

    Raises CompileError when it exceeds a limit, or was ended by a signal that it did not raise itself; UsageError for a
    limit that is no number.
    """
    memory_gb, seconds, output_mb = (value_of(limit) for limit in LIMITS)
    with tempfile.TemporaryFile() as read, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        read.write(source)
        read.seek(0)
        code = _run(_limited(command, memory_gb, seconds, output_mb), seconds, (read, out, errors), env)
        output, messages = (_content(file, output_mb * MIB) for file in (out, errors))
    if code is None:
        raise _exceeded(what, TIME)
    exceeded = _limit_of(code, output, messages, output_mb * MIB)
    if exceeded:
        raise _exceeded(what, exceeded)
    return Ended(code, output, messages)


def diagnostics_of(ended: Ended) -> str:
    """The compiler's messages; or how it ended, if it printed none."""
    text = ended.errors.decode("utf-8", "replace")
    if ended.code >= 0 or text.strip():
        return text
    return f"the compiler ended by signal {-ended.code} ({signal.Signals(-ended.code).name}) without a message"


def value_of(limit: Limit) -> int:
    """The limit in force. Raises UsageError for a variable that holds no such number."""
    text = os.environ.get(limit.variable)
    if text is None:
        return limit.default
    if not (text.isascii() and text.isdecimal() and 0 < int(text[:10]) <= MOST):
        raise UsageError(f"{limit.variable} is {text!r}; expected a number of {limit.unit}, 1 to {MOST:,}")
    return int(text)


def _limited(command: Sequence[str], memory_gb: int, seconds: int, output_mb: int) -> list[str]:
    if os.name != "posix":
        return list(command)
    limits = (memory_gb * GIB // 1024, output_mb * MIB // FILE_BLOCK_NBYTES, seconds)
    return ["/bin/sh", "-c", SHELL, "sh", *map(str, limits), *command]


def _run(command: list[str], seconds: int, files: tuple[BinaryIO, ...], env: dict[str, str] | None) -> int | None:
    """The exit code; None when time is up."""
    read, out, errors = files
    child = subprocess.Popen(
        command, stdin=read, stdout=out, stderr=errors, env=env, process_group=0, preexec_fn=ending_with_this()
    )
    _running.add(child)
    try:
        return child.wait(seconds * WALL_FACTOR)
    except subprocess.TimeoutExpired:
        return None
    finally:  # Ctrl-C, too
        _end_group(child)
        _running.discard(child)


@contextmanager
def compilers() -> Iterator[Callable[..., Future]]:
    """Gives a function that starts work on a thread of its own: `start(function, *arguments)`. An error in the block,
    or a signal, ends the compilers that run there.
    """
    started: list[Future] = []
    with ThreadPoolExecutor(max(2, os.cpu_count() or 1), thread_name_prefix="compiler") as pool:

        def start(function: Callable, *arguments, **named) -> Future:
            started.append(pool.submit(function, *arguments, **named))
            return started[-1]

        try:
            yield start
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            while not all(each.done() for each in started):  # one may start another compiler first
                for child in tuple(_running):
                    _kill_group(child)
                time.sleep(END_SECONDS)
            raise


def _end_group(child: subprocess.Popen) -> None:
    """Ends whatever the child has started and left."""
    _kill_group(child)
    child.wait()


def _kill_group(child: subprocess.Popen) -> None:
    with suppress(ProcessLookupError, PermissionError):  # none is left (macOS says so by EPERM)
        os.killpg(child.pid, signal.SIGKILL)


def _content(file: BinaryIO, most_nbytes: int) -> bytes:
    file.seek(0)
    return file.read(most_nbytes)


def _limit_of(code: int, out: bytes, errors: bytes, most_nbytes: int) -> Limit | None:
    """The limit that ended a child, as far as its end shows."""
    if code == 0:
        return None
    if code == -signal.SIGXCPU:
        return TIME
    if code == -signal.SIGXFSZ or len(out) >= most_nbytes or TOO_LARGE.search(errors):
        return OUTPUT
    return MEMORY if NO_MEMORY.search(errors) else None


def _exceeded(what: str, limit: Limit) -> CompileError:
    value = value_of(limit)
    return CompileError(
        f"{what}: the compiler was stopped at {value:,} {limit.unit}; set {limit.variable} to more if the source needs "
        "it"
    )
