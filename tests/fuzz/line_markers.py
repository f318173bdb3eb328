"""Sources and PTX whose line markers lie: any file, any line, any column. `python -m tests.fuzz.line_markers SECONDS
[SEED]` runs as long as it is told.

What comes of it is assembled and listed, with every source line, and holds no text of a file that was not opened.
"""

import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from gpuprof.compile import compile_cuda, read_ptx
from gpuprof.errors import GpuprofError
from gpuprof.isa.gpubin.reader import read_gpubin
from gpuprof.isa.printing.listing import listing
from gpuprof.report.sections import numbers_shown
from gpuprof.run.compile_file import build_ptx

SECRET = "ff1ce5ecre7"
LINES = (0, 1, 2, 7, 999_999_999, 10**9, 10**9 + 1, 2**31 - 2, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**64, -1)
INCLUDES = ("near.cuh", "./near.cuh", "/dev/null", "fifo", "k.cu", "gone.h", "../near.cuh", "folder")


def write_files(folder: Path) -> None:
    (folder / "secret.h").write_text(f"// {SECRET}\n")
    (folder / "near.cuh").write_text("#pragma once\n__device__ inline int f(int a) { return a * 5 + 1; }\n")
    (folder / "folder").mkdir(exist_ok=True)


def names(folder: Path) -> tuple[str, ...]:
    above = "../" * 15
    return (
        "secret.h", "./secret.h", f"{folder}/secret.h", f"<ziglang>/{above}{folder.relative_to('/')}/secret.h",
        f"<gpuprof>/{above}{folder.relative_to('/')}/secret.h", "k.cu", "near.cuh", "", "/dev/zero", "a\\\"b", "é", "/",
        "<command line>", "<built-in>", "x" * 3000,
    )  # fmt: skip


def any_source(folder: Path, rng: random.Random) -> str:
    lines = ['#include "near.cuh"', "__global__ void k(int *x)", "{"]
    lines += [f"    x[{n}] = f(x[{n + 9}]);" for n in range(6)] + ["}"]
    for _ in range(rng.choice((1, 2, 4))):
        line, name = rng.choice(LINES), rng.choice(names(folder))
        marker = rng.choice((f'#line {line} "{name}"', f"#line {line}", f'# {line} "{name}"', f'# {line} "{name}" 1 3'))
        lines.insert(rng.randrange(len(lines) + 1), marker)
    if rng.random() < 0.2:
        lines.insert(rng.randrange(len(lines) + 1), f'#include "{rng.choice(INCLUDES)}"')
    return "\n".join(lines) + "\n"


def any_ptx(ptx: str, folder: Path, rng: random.Random) -> str:
    """PTX with other names of files and other positions."""
    lines = ptx.splitlines()
    for at, line in enumerate(lines):
        words = line.split()
        if line.lstrip().startswith(".file") and rng.random() < 0.5:
            lines[at] = f'.file {rng.choice((words[1], "0", "1", "9" * 30))} "{rng.choice(names(folder))}"'
        elif line.lstrip().startswith(".loc") and rng.random() < 0.3:
            place = rng.choice((1, 2, 99, *LINES)), rng.choice(LINES), rng.choice(LINES)
            inlined = rng.choice(("", "", f", function_name $L0, inlined_at 1 {rng.choice(LINES)} {rng.choice(LINES)}"))
            lines[at] = f"\t.loc\t{place[0]} {place[1]} {place[2]}{inlined}"
    return "\n".join(lines) + "\n"


def judge(module) -> str:
    program, image = build_ptx(module)
    assert SECRET.encode() not in image, "the profile carries another file"
    program = read_gpubin(image, "k.gpubin")
    for function in program.functions:
        assert len(list(listing(program, function, source=True, ptx=True))) < 5_000
    own = [place.line for place in program.locations if place]
    assert len(numbers_shown(min(own, default=1), max(own, default=1), 20, own)) < 1_000
    return "assembled"


def outcome(make) -> str:
    try:
        return judge(make())
    except GpuprofError as error:
        assert str(error) and SECRET not in str(error) + getattr(error, "diagnostics", ""), error
        return "refused"


def rounds(folder: Path, seed: int) -> Iterator[str]:
    """One outcome after the other: a source, then PTX made of what it compiled to, four times."""
    write_files(folder)
    (folder / "k.cu").write_text('#include "near.cuh"\n__global__ void k(int *x)\n{\n    x[0] = f(x[1]);\n}\n')
    good = compile_cuda("k.cu").ptx
    number = 0
    while True:
        rng = random.Random(f"{seed}:{number}")
        if number % 5 == 0:
            (folder / "k.cu").write_text(any_source(folder, rng))
            yield outcome(lambda: compile_cuda("k.cu"))
        else:
            (folder / "sub").mkdir(exist_ok=True)
            (folder / "sub/k.ptx").write_text(any_ptx(good, folder, rng))
            yield outcome(lambda: read_ptx("sub/k.ptx"))
        number += 1


def main(seconds: float, seed: int) -> None:
    """The folder is the present one while it runs. The first finding ends it, with its traceback."""
    import contextlib

    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))  # what wants more gets MemoryError, which is a finding
    counts: dict[str, int] = {}
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for what in rounds(Path(folder), seed):
            counts[what] = counts.get(what, 0) + 1
            if time.monotonic() > end:
                break
    print(f"{sum(counts.values())} sources and PTX texts: {counts}")


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
