"""Runs the program in forks of one process that has imported it, as an ordinary user: hundreds of runs in a minute.

Started as root, the server becomes the user `nobody`, who may read everything (the interpreter may lie in root's home)
and write only what is his. A run has a limit of time and of memory.
"""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from gpuprof.cli.main import COMMANDS, main
from tests.paths import ROOT

NOBODY = 65534
READS_ALL = "-all,+dac_read_search"
AS_NOBODY = (
    "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", f"--inh-caps={READS_ALL}",
    f"--ambient-caps={READS_ALL}", f"--bounding-set={READS_ALL}",
)  # fmt: skip
MOST_SECONDS = 300  # the first command compiles the emulator and the timing model
MOST_MEMORY_NBYTES = 6 << 30
# What commands import when they work.
WORKING = (
    "gpuprof.run.session", "gpuprof.run.multipass", "gpuprof.run.script", "gpuprof.timing.engine", "gpuprof.compile",
    "gpuprof.assemble.assemble", "gpuprof.assemble.object.elf", "gpuprof.correlate.correlate", "gpuprof.check.compare",
    "gpuprof.report.render", "gpuprof.report.pages.summary", "gpuprof.sweep.run_sweep", "gpuprof.sweep.sweep_plot",
    "gpuprof.export.paths.folded",
)  # fmt: skip
TIMED_OUT = 124  # as timeout(1) has it


class Done(NamedTuple):
    code: int
    out: str
    error: str


class Server:
    """`folder`: whose owner it runs as, and where its caches are."""

    def __init__(self, folder: Path):
        user = AS_NOBODY if os.geteuid() == 0 else ()
        caches = {"HOME": folder, "GPUPROF_CACHE": folder / "cache", "NUMBA_CACHE_DIR": folder / "numba"}
        self.folder = folder
        give(folder)
        self._process = subprocess.Popen(
            [*user, sys.executable, "-m", "tests.support.forked"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            cwd=ROOT, env=os.environ | {name: str(path) for name, path in caches.items()} | {"TMPDIR": str(folder)},
            text=True,
        )  # fmt: skip

    def run(self, folder: Path, *arguments: str, **streams: str | None) -> Done:
        """`streams`: stdin, stdout and stderr as what they are opened on, or None where they are closed."""
        task = {"folder": str(folder), "arguments": arguments, "streams": streams}
        print(json.dumps(task), file=self._process.stdin, flush=True)
        return Done(*json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait(60)


def give(path: Path) -> None:
    """Make a folder or file the user's, and all in it."""
    if os.geteuid() != 0:
        return
    for each in (path, *path.rglob("*")):
        os.chown(each, NOBODY, NOBODY, follow_symlinks=False)


def serve() -> None:
    for name in (*(f"gpuprof.cli.{name}" for name in COMMANDS), *WORKING):
        import_module(name)
    for line in sys.stdin:
        task = json.loads(line)
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(_run(task, Path(folder))), flush=True)


def _run(task: dict, folder: Path) -> tuple[int, str, str]:
    names = {"stdin": os.devnull, "stdout": str(folder / "out"), "stderr": str(folder / "error")}
    child = os.fork()
    if not child:
        _child(task, names | task["streams"])
    code = _waited(child)
    texts = [folder / each for each in ("out", "error")]
    return code, *(path.read_bytes().decode(errors="surrogateescape") if path.exists() else "" for path in texts)


def _child(task: dict, streams: dict[str, str | None]) -> None:
    os.setsid()
    os.chdir(task["folder"])
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY_NBYTES, MOST_MEMORY_NBYTES))
    code = 70
    try:
        sys.argv = ["gpuprof", *task["arguments"]]
        _open_streams(streams)
        main()
    except SystemExit as ended:
        code = ended.code
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _open_streams(streams: dict[str, str | None]) -> None:
    """As a shell does it, and then as Python does at its start. "pipe": one that nobody reads."""
    for number, (name, place) in enumerate(streams.items()):
        os.close(number)
        if place == "pipe":
            reading, writing = os.pipe()
            if writing != number:
                os.dup2(writing, number)
                os.close(writing)
            if reading != number:
                os.close(reading)
        elif place is not None:
            opened = os.open(place, os.O_RDWR | os.O_CREAT, 0o600)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
        mode = "w" if number else "r"
        setattr(sys, name, os.fdopen(number, mode, closefd=False) if place is not None else None)
        setattr(sys, f"__{name}__", getattr(sys, name))


def _waited(child: int) -> int:
    """The exit code, also of a run that has to be ended."""
    end = time.monotonic() + MOST_SECONDS
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return TIMED_OUT


def usable() -> bool:
    """Whether there is an ordinary user to be."""
    if os.geteuid() != 0:
        return True
    return bool(shutil.which("setpriv")) and not subprocess.run([*AS_NOBODY, "true"], capture_output=True).returncode


if __name__ == "__main__":
    serve()
