"""Other projects' programs that open what we export: on the path, or in build/tools, where `make tools` puts them.
A test that lacks one says which, and skips.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.paths import ROOT

TOOLS = ROOT / "build" / "tools"  # node_modules of npm


def program(name: str) -> str:
    """Its path; skips the test where there is none."""
    found = shutil.which(name)
    if not found:
        pytest.skip(f"{name} is not installed")
    return found


def node_module(name: str) -> Path:
    """Its folder; skips the test where there is none."""
    program("node")
    folder = TOOLS / "node_modules" / name
    if not folder.is_dir():
        pytest.skip(f"npm's {name} is not in {TOOLS.relative_to(ROOT)}: make tools")
    return folder


def output(*command: str | Path, cwd: Path | None = None, stdin: bytes = b"") -> str:
    return subprocess.run(command, capture_output=True, check=True, cwd=cwd, input=stdin, timeout=120).stdout.decode()
