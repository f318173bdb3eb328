"""Tools of other projects that the tests use where they are installed: Python modules, programs on the path, npm's
modules in build/tools. A test that lacks one says which `make` target installs it, and skips.

The targets that were installed are in $GPUPROF_REQUIRE (`make test REQUIRE="chromium mesa"`). A tool that one of them
installs must be there: without it the test fails.
"""

import importlib
import os
import shutil
import subprocess
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import pytest

from tests.paths import ROOT

NODE_MODULES = ROOT / "build" / "tools" / "node_modules"
REQUIRED = frozenset(os.environ.get("GPUPROF_REQUIRE", "").split())


def lacking(tool: str, target: str = "", why: str = "is not installed") -> NoReturn:
    """Skips the test, or the module that is being imported; fails it where the target was installed."""
    if target in REQUIRED:
        pytest.fail(f"{tool} {why}, but `make {target}` was done")
    pytest.skip(f"{tool} {why}" + (f" (make {target} installs it)" if target else ""), allow_module_level=True)


def module(name: str, target: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError:
        lacking(name.partition(".")[0], target)


def program(*names: str, target: str = "") -> str:
    """The path of the first of them that is installed."""
    path = next(filter(None, map(shutil.which, names)), None)
    return path or lacking(names[0], target)


def node_module(name: str) -> Path:
    """Its folder."""
    folder = NODE_MODULES / name
    return folder if folder.is_dir() else lacking(f"npm's {name}", "tools-npm")


def output(*command: str | Path, cwd: Path | None = None, stdin: bytes = b"") -> str:
    return subprocess.run(command, capture_output=True, check=True, cwd=cwd, input=stdin, timeout=120).stdout.decode()
