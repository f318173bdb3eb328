"""Runs the program as its users do."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.paths import ROOT
from tests.support import recordings

PROGRAM = [sys.executable, "-m", "gpuprof"]


def gpuprof(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the program in this process, which is quick."""
    code, out, error = recordings.gpuprof(folder, *arguments)
    return code, out, without_notice(error)


def without_notice(error: str) -> str:
    """stderr without what only the very first run on a machine says."""
    return "".join(
        line for line in error.splitlines(keepends=True) if not line.startswith("gpuprof: first run on this machine")
    )


def process(folder: Path, *arguments, timeout: float = 300, **environment: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the program in a process of its own."""
    done = subprocess.run(
        [*PROGRAM, *map(str, arguments)],
        cwd=folder, env=os.environ | environment, capture_output=True, timeout=timeout, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    out, error = (stream.decode(errors="surrogateescape") for stream in (done.stdout, done.stderr))
    return done.returncode, out, without_notice(error)


def python_prints(folder: Path, script: str) -> str:
    """What a script prints that Python itself runs, without `gpuprof collect`."""
    write_files(folder, {"script.py": script})
    command = [sys.executable, "-W", "ignore", "script.py"]
    done = subprocess.run(
        command, cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def masked(text: str) -> str:
    """The measured numbers as N: they are the model's, and not what the command line's tests are about."""
    return re.sub(
        r"[\d,]+ (cycles|warp instructions|sample)s?\b", lambda found: f"N {found[1].removesuffix('s')}s", text
    )


def names(folder: Path) -> list[str]:
    """Everything in a folder, hidden files too."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def write_files(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder
