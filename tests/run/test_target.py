"""FILE as launches, a script, a program or a stream, and arguments with which it cannot be run."""

from pathlib import Path

import pytest

from gpuprof.errors import UsageError
from gpuprof.run.compile_file import BuildOptions
from gpuprof.run.target import Launches, Program, Script, Stream, program_of, target_of

KERNEL = "__global__ void k(float *x) { x[threadIdx.x] = 1; }\n"
MAIN = "int main() { return 0; }\n"
LAUNCH = "k<<<1, 32>>>(x: f32[32]=a.npy)"
FILES = {
    "k.cu": f"// LAUNCH: {LAUNCH}\n{KERNEL}",
    "both.cu": f"// LAUNCH: {LAUNCH}\n{KERNEL}{MAIN}",
    "app.cu": KERNEL + MAIN,
    "io.cpp": "int f() { return 1; }\n",
    "s.py": "",
    "r.gprec": "",
    "k.ptx": "",
    "a.txt": "",
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)


@pytest.mark.parametrize(
    "file, others, arguments, launches, expected",
    [
        ("k.cu", (), (), (), Launches(Path("k.cu"))),
        ("both.cu", (), (), (), Launches(Path("both.cu"))),
        ("k.ptx", (), (), (LAUNCH,), Launches(Path("k.ptx"), (LAUNCH,))),
        ("app.cu", (), ("--size", "3"), (), Program((Path("app.cu"),), ("--size", "3"))),
        ("app.cu", ("io.cpp",), (), (), Program((Path("app.cu"), Path("io.cpp")))),
        ("io.cpp", (), (), (), Program((Path("io.cpp"),))),
        ("app.cu", (), (), (LAUNCH,), Launches(Path("app.cu"), (LAUNCH,))),
        ("s.py", ("one",), ("--two",), (), Script(Path("s.py"), ("one", "--two"))),
        ("r.gprec", (), (), (), Stream(Path("r.gprec"))),
    ],
)
def test_what_a_file_is(file, others, arguments, launches, expected):
    assert target_of(Path(file), others, arguments, launches, takes_streams=True) == expected


@pytest.mark.parametrize(
    "file, arguments, message",
    [
        ("none.cu", {}, "none.cu: there is no such file"),
        (".", {}, ".: is a folder"),
        ("a.txt", {}, "a.txt: unknown kind of file; expected .cu, .cuh, .ptx, .gpubin, .py"),
        ("r.gprec", {}, "r.gprec: unknown kind of file; expected .cu, .cuh, .ptx, .gpubin, .py"),
        ("s.py", {"launches": [LAUNCH]}, "s.py: a script launches its kernels itself; leave out --launch"),
        ("k.cu", {"others": ["b"]}, "'b': only a program or a .py script takes further arguments; leave it out"),
        ("app.cu", {"arguments": ["b"], "launches": [LAUNCH]}, "'b': only a program or a .py script takes further"),
        ("k.cu", {"options": BuildOptions(links_device=True)}, "--rdc is for whole programs; leave it out"),
        ("k.cu", {"options": BuildOptions(host_compiler="g++")}, "--host-compiler is for whole programs; leave it out"),
        ("k.cu", {"options": BuildOptions(libraries=("m",))}, "-l is for whole programs; leave it out"),
        ("k.cu", {"options": BuildOptions(library_dirs=("d",))}, "-L is for whole programs; leave it out"),
    ],
)
def test_what_cannot_be_run(file, arguments, message):
    with pytest.raises(UsageError) as error:
        target_of(Path(file), **arguments)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("file, launches, expected", [("k.cu", (), Launches), ("app.cu", (LAUNCH,), Launches)])
def test_kernels_run_where_programs_are_off(monkeypatch, file, launches, expected):
    monkeypatch.setenv("GPUPROF_PROGRAMS", "off")
    assert isinstance(target_of(Path(file), launches=launches), expected)


@pytest.mark.parametrize(
    "file, what", [("app.cu", "a whole program"), ("io.cpp", "a whole program"), ("s.py", "a script")]
)
def test_host_code_does_not_where_programs_are_off(monkeypatch, file, what):
    monkeypatch.setenv("GPUPROF_PROGRAMS", "off")
    with pytest.raises(UsageError, match=f"^{file}: is {what}, whose host code would run on this machine"):
        target_of(Path(file))


def test_the_files_that_a_target_reads():
    """Arrays of comments are in the file's folder, those of the command line in the working folder."""
    Path("sub").mkdir()
    Path("sub/k.cu").write_text(FILES["k.cu"])
    file = Path("sub/k.cu")
    assert list(target_of(file).inputs()) == [file, Path("sub/a.npy")]
    assert list(target_of(file, launches=[LAUNCH]).inputs()) == [file, Path("a.npy")]
    assert list(Script(Path("s.py"), ("data",)).inputs()) == [Path("s.py"), Path("data")]
    assert list(program_of([Path("app.cu")], ["in"]).inputs()) == [Path("app.cu"), Path("in")]
    with pytest.raises(UsageError, match="--launch"):
        list(target_of(file, launches=["k<<<"]).inputs())


def test_sources_of_a_program():
    with pytest.raises(
        UsageError, match=r"^s\.py: a program's sources are \.cu, .* files; its arguments come after --$"
    ):
        program_of([Path("s.py")], [])
