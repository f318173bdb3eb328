"""Programs with the libraries of either host compiler, and compilers that cannot be one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gpuprof.compile import libraries
from gpuprof.errors import CompileError, UsageError
from tests.program.hosts import WHY_NOT

SOURCES = Path(__file__).parent / "sources"
HOSTS = SOURCES / "hosts"
NEEDS_BUILD = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
NEEDS_GXX = pytest.mark.skipif(not shutil.which("g++"), reason="g++ is not installed")
EITHER = pytest.mark.parametrize("host", ["zig", pytest.param("g++", marks=NEEDS_GXX)])


def gpuprof(*words, folder, environment=None):
    command = [sys.executable, "-m", "gpuprof", *map(str, words)]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=600, env={**os.environ, **(environment or {})}
    )


HOST = """\
begun before main
129
thrown
6 ms, 1767225600 1767225600
other numbers, 2470749798
one 7
7 n 5
driver: 1 0
addresses: {}
{}at exit
ended after main
"""
GLIBC = "glibc: 1804289383, 1, cos 1\n"  # the first number of glibc's rand


@pytest.mark.long
@NEEDS_BUILD
@EITHER
def test_a_program_has_what_it_expects_of_its_host(host):
    """Twice: threads, clocks, random numbers and addresses are the same in every run."""
    first, second = (gpuprof("run", "host.cu", "--host-compiler", host, "--", "-n", "5", folder=HOSTS) for _ in "ab")
    assert first.stdout == second.stdout
    addresses = first.stdout.partition("addresses: ")[2].partition("\n")[0]
    assert first.stdout == HOST.format(addresses, GLIBC if host == "g++" else ""), first.stderr
    assert first.returncode == 0


@pytest.mark.long
@NEEDS_BUILD
@EITHER
def test_managed_variables_have_the_devices_addresses(host, tmp_path):
    """Replayed, the same launches read and write the same."""
    recording, again = tmp_path / "a.gprec", tmp_path / "b.gprec"
    words = ("managed.cu", "--host-compiler", host, "--save-stream", "-o", recording)
    first = gpuprof("collect", *words, folder=HOSTS)
    launches = [line for line in first.stdout.splitlines() if line.startswith("sum<<<")]
    program = [line for line in first.stdout.splitlines() if "<<<" not in line][:3]
    assert program == ["17 12 3", "1114 1107 6", "8, address 1, type 3, cudaSuccess"], first.stderr
    assert len(launches) == 2
    second = gpuprof("replay", recording, "-o", again, folder=tmp_path)
    assert [line for line in second.stdout.splitlines() if line.startswith("sum<<<")] == launches


@pytest.mark.long
@NEEDS_BUILD
@EITHER
def test_several_files_and_errors_of_the_linker(host, tmp_path):
    (tmp_path / "missing.cu").write_text("int nobody();\nint main() { return nobody(); }\n")
    (tmp_path / "call.cu").write_text('extern "C" int cuLinkCreate();\nint main() { return cuLinkCreate(); }\n')
    sources = ("parts/main.cpp", "parts/sum.cu", "parts/twice.c")
    whole = gpuprof("run", *sources, "--host-compiler", host, "--", "-x", folder=SOURCES)
    assert (whole.stdout, whole.returncode) == (" -x 5050 10100\ncaught\n", 3), whole.stderr
    missing, call = (
        gpuprof("run", name, "--host-compiler", host, folder=tmp_path) for name in ("missing.cu", "call.cu")
    )
    assert missing.returncode == call.returncode == 1
    assert "undefined" in missing.stderr and "nobody" in missing.stderr
    assert call.stderr.splitlines()[-1].startswith("gpuprof: the program does not link: gpuprof does not have cuLink")


@pytest.mark.long
@NEEDS_BUILD
@NEEDS_GXX
def test_libraries_of_the_users_are_linked(tmp_path):
    """In a folder whose name has a space; the program is linked again when one of them changes."""
    folder = tmp_path / "my libraries"
    folder.mkdir()
    (tmp_path / "main.cu").write_text(
        '#include <cstdio>\nextern "C" int three();\nint main() { printf("%d\\n", three()); return 0; }\n'
    )
    printed = []
    for number in (3, 33):
        (tmp_path / "three.c").write_text(f"int three(void) {{ return {number}; }}\n")
        subprocess.run(
            ["g++", "-x", "c", "-shared", "-fPIC", "three.c", "-o", folder / "libthree.so"], cwd=tmp_path, check=True
        )
        words = ("main.cu", "--host-compiler", "g++", "-L", folder, "-l", "three", "-l", "m", "-lpthread")
        done = gpuprof("run", *words, folder=tmp_path, environment={"LD_LIBRARY_PATH": str(folder)})
        printed.append((done.stdout, done.returncode))
    assert printed == [("3\n", 0), ("33\n", 0)], done.stderr


def compiler(folder: Path, text: str) -> str:
    path = folder / "cxx"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


HERE = """\
case "$1" in
-dumpmachine) echo $(uname -m)-linux-gnu ;;
--version) echo 1.0 ;;
-print-file-name=include) echo /own/include ;;
-E) printf '#include <...> search starts here:\\n%b /usr/include\\nEnd of search list.\\n' "$HEADERS" >&2 ;;
*) echo "ld: error: no linker here" >&2; exit 1 ;;
esac"""
# what the compiler does -> why it cannot be the host's
BROKEN = {
    "exit 1": "it compiles for no machine that it names, and this is ",
    "echo avr": "it compiles for avr, and this is ",
    HERE: "it has no headers of C++'s library; install them (libstdc++-dev)",
}


@NEEDS_BUILD
@pytest.mark.parametrize("text", BROKEN)
def test_a_compiler_that_cannot_be_the_hosts(text, tmp_path):
    name = compiler(tmp_path, text)
    with pytest.raises(CompileError) as caught:
        libraries.of_host(name)
    assert str(caught.value).startswith(f"--host-compiler {name}: {BROKEN[text]}")


@NEEDS_BUILD
def test_a_compiler_that_builds_nothing(tmp_path):
    """Its own words are shown; it would be asked again only if it changed."""
    text = HERE.replace('"$HEADERS"', '"$(case $4 in c++) echo " /usr/include/no c++\\n";; esac)"')
    name = compiler(tmp_path, text)
    with pytest.raises(CompileError) as caught:
        libraries.of_host(name)
    assert str(caught.value).startswith(f"--host-compiler {name}: it cannot build a C++ program here: ")
    assert "fatal error: 'algorithm' file not found" in str(caught.value)


@NEEDS_BUILD
def test_a_compiler_that_is_not_there():
    with pytest.raises(UsageError) as caught:
        libraries.of_host("./absent/g++")
    assert str(caught.value) == (
        "--host-compiler ./absent/g++: no such program; name a g++ or clang++, or zig for gpuprof's own"
    )


@NEEDS_BUILD
def test_without_a_compiler_that_works_auto_is_zig(tmp_path, monkeypatch):
    (tmp_path / "g++").symlink_to(compiler(tmp_path, "exit 1"))
    monkeypatch.setenv("PATH", str(tmp_path))
    libraries.of_host.cache_clear()
    try:
        assert libraries.of_host("auto") is None
    finally:
        libraries.of_host.cache_clear()


@NEEDS_BUILD
@NEEDS_GXX
def test_auto_is_the_users_compiler():
    found = libraries.of_host("auto")
    assert found == libraries.of_host("g++")
    assert "gnu" in found.triple or "musl" in found.triple
    assert (Path(found.linker).name, Path(found.names["<c++>"], "vector").is_file()) == ("g++", True)
