"""The names of forwarding.json open in host code that includes nothing else first."""

import json
import subprocess

import pytest

from gpuprof.compile.host import host_toolchain
from gpuprof.cuda import FOLDER, FORWARDING
from gpuprof.errors import CompileError

FOLDERS = json.loads(FORWARDING.read_text())["roots"]
TARGETS = {  # opened file -> a name of it, as programs write it
    header["external-contents"]: f"{folder['name']}/{header['name']}".removeprefix("include/")
    for folder in FOLDERS
    for header in folder["contents"]
}


@pytest.mark.parametrize("target", TARGETS)
def test_a_name_opens_in_host_code(tmp_path, target):
    """clang looks for what a header includes next to its name: the headers of `include/gpuprof` are not there."""
    try:
        tools = host_toolchain()
    except CompileError as error:
        pytest.skip(str(error))
    assert (FOLDER / target).is_file()
    source = tmp_path / "host.cpp"
    source.write_text(f"#include <{TARGETS[target]}>\nint main() {{ return 0; }}\n")
    done = subprocess.run(
        [*tools.clang, *tools.host, *tools.cxx, "-fsyntax-only", str(source)], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
