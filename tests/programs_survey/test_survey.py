"""The survey's own parts, on texts and folders made here; no suite is needed."""

import sys
from pathlib import Path

import pytest

from tests.programs_survey.__main__ import is_input
from tests.programs_survey.draw import drawn, folders, foreign_library, library_of
from tests.programs_survey.judge import Verdict, judge
from tests.programs_survey.limits import run_limited
from tests.programs_survey.makefile import Recipe, parse_recipe
from tests.programs_survey.teaching import include_dirs, is_program
from tests.programs_survey.twin import agrees, results, twin_of

TOLD = """\
nvcc  -std=c++17 -Xcompiler -Wall -arch=sm_60 -I../include -DN=64 -O3 -c main.cu -o main.o
g++ --std=gnu++14 -I ../include -D "NAME=a b" -c io.cpp \\
  -o io.o
nvcc -std=c++17 main.o io.o -lz -lcudart -o main ; echo built
./main 100 ../data/x.bmp
./main 200 other
"""


def test_a_recipe_is_what_make_would_do():
    assert parse_recipe(Path("p"), TOLD) == Recipe(
        Path("p"), ("main.cu", "io.cpp"), ("../include",), ("N=64", "NAME=a b"), "c++17", ("100", "../data/x.bmp"),
        libraries=("z",),
    )  # fmt: skip


@pytest.mark.parametrize(
    "flags, links_device",
    [
        ("-dc", True),
        ("-rdc=true", True),
        ("-rdc true", True),
        ("--relocatable-device-code=true", True),
        ("--device-c", True),
        ("-rdc=false", False),
        ("-I/opt-dc -c", False),
    ],
)
def test_device_code_is_linked_where_nvcc_would(flags, links_device):
    assert parse_recipe(Path("p"), f"nvcc {flags} main.cu -o main\n").links_device is links_device


@pytest.mark.parametrize(
    "output, code, verdict",
    [
        ("time 3 ms\nPASS\n", 0, Verdict("passes", "PASS")),
        ("PASS\nFAIL at 3\n", 0, Verdict("wrong", "FAIL at 3")),
        ("errors: 0\nTest passed\n", 0, Verdict("passes", "Test passed")),
        ("0 mismatches, failed: 0\n", 0, Verdict("nothing", "")),
        ("12 mismatches\n", 0, Verdict("wrong", "12 mismatches")),
        ("Results don't match!\n", 0, Verdict("wrong", "Results don't match!")),
        ("checksum 7\n", 0, Verdict("nothing", "")),
        ("PASS\n", 1, Verdict("wrong", "exit code 1")),
        ("Usage: ./main <repeat>\n", 1, Verdict("usage", "Usage: ./main <repeat>")),
        ("Usage: ./main [size]; taking 64\nPASS\n", 0, Verdict("passes", "PASS")),
        ("reads 3 numbers\n./main: usage: N M\n", 0, Verdict("usage", "./main: usage: N M")),
        ("memory usage: 3 MB\nPASS\n", 0, Verdict("passes", "PASS")),
        (
            "gpuprof: a.cu:3: cudaMalloc: out of device memory: 4000000000 bytes asked, 500000000 of 4294967296 bytes "
            "are in use\nerror: out of memory\n",
            1,
            Verdict("memory", "needs 4.5 GB of device memory"),
        ),
        (
            "cudaMalloc: out of device memory: 9000000000 bytes asked; 8589934592 bytes are shared\n",
            1,
            Verdict("memory", "needs 9.0 GB of device memory"),
        ),
        ("terminate: std::bad_alloc\n", 134, Verdict("memory", "needs more than the limit of 8 GiB")),
    ],
)
def test_verdicts(output, code, verdict):
    assert judge(output, code, 8) == verdict


def test_files_that_a_program_reads():
    arguments = ("100", "0.5", "../data/temp.bin", "output.txt", "../x/out_512.out")
    assert list(filter(is_input, arguments)) == ["../data/temp.bin"]


def test_a_draw_is_the_same_every_time():
    names = [f"p{index}" for index in range(50)]
    assert drawn(names, 5, 1) == drawn(list(reversed(names)), 5, 1) == ["p12", "p16", "p23", "p41", "p8"]
    assert drawn(names, 5, 2) != drawn(names, 5, 1)
    assert drawn(["b", "a"], 5, 1) == ["a", "b"]


def test_programs_with_foreign_libraries_are_left_out(tmp_path):
    for name, text in (("a-cuda", "#include <cublas_v2.h>\n"), ("b-cuda", '#include "my.h"\n'), ("c-omp", "")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "main.cu").write_text(text)
    found = folders(tmp_path)
    assert [(path.name, foreign_library(path)) for path in found] == [("a-cuda", "cuBLAS"), ("b-cuda", "")]
    assert library_of("hip/hip_runtime.h") == "HIP"


def test_limits(tmp_path):
    ended = run_limited([sys.executable, "-c", "print('out'); raise SystemExit(3)"], tmp_path, 20, 4)
    assert (ended.code, ended.output) == (3, "out\n")
    ended = run_limited([sys.executable, "-c", "while True: pass"], tmp_path, 1, 4)
    assert (ended.code, ended.output) == (None, "")
    ended = run_limited([sys.executable, "-c", "bytearray(8 << 30)"], tmp_path, 20, 4)
    assert ended.code == 1 and "MemoryError" in ended.output


OURS = """\
Device: gpuprof a100
Average kernel execution time: 12.5 (us)
sum of x = 1.00001e3, checksum: 0x1f
error 3 of 4
"""


@pytest.mark.parametrize(
    "other, same",
    [
        ("sum of x = 1000, checksum: 0x1f\nerror 3 of 4\n", True),
        ("Average kernel execution time: 99 (us)\nerror 3 of 4\n", True),
        ("sum of x = 1001, checksum: 0x1f\nerror 3 of 4\n", False),
        ("error 3 of 4\nerror 3 of 4\n", False),
        ("Average kernel execution time: 12.5 (us)\n", False),
    ],
    ids=["same", "less", "another sum", "one more", "no result"],
)
def test_results_of_a_twin(other, same):
    assert results(OURS) == {"sum of x = #, checksum: 0x1f": [1000.01], "error # of #": [3, 4]}
    assert agrees(OURS, other) is same


def test_twins_are_found(tmp_path):
    (tmp_path / "a-omp").mkdir()
    assert twin_of(tmp_path / "a-cuda") is None
    (tmp_path / "a-omp" / "Makefile").touch()
    assert twin_of(tmp_path / "a-cuda") == (tmp_path / "a-omp", "Makefile")
    (tmp_path / "a-omp" / "Makefile.aomp").touch()
    assert twin_of(tmp_path / "a-cuda") == (tmp_path / "a-omp", "Makefile.aomp")


def test_a_program_of_teaching_code(tmp_path):
    """It has a main and no foreign library; headers of its repository that are not beside it are found."""
    chapter = tmp_path / "chapter" / "one"
    chapter.mkdir(parents=True)
    (tmp_path / "include" / "own").mkdir(parents=True)
    (tmp_path / "include" / "own" / "check.h").touch()
    (chapter / "here.h").touch()
    main = chapter / "main.cu"
    main.write_text('#include <own/check.h>\n#include "here.h"\n#include <cstdio>\nint main() {}\n')
    (chapter / "part.cu").write_text("__global__ void k() {}\n")
    (chapter / "blas.cu").write_text("#include <cublas_v2.h>\nint main() {}\n")
    assert [is_program(chapter / name) for name in ("main.cu", "part.cu", "blas.cu")] == [True, False, False]
    assert include_dirs(main, tmp_path) == [tmp_path / "include"]
