"""What whole programs cost: building one, calls, launches, copies."""

import resource
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).parent / "program.cu"
MANY = Path(__file__).parent / "many_launches.cu"
LINES = 500


class Costs(NamedTuple):
    """By the processor's time, without a recording or with one. Copies in MB/s, calls and repeated launches in
    microseconds.
    """

    copy_in: float
    copy_out: float
    call: float
    launch: float


def costs(folder: Path, command: str) -> Costs:
    """`command`: "run" or "collect". The program tells its own."""
    words = [sys.executable, "-m", "gpuprof", command, str(SOURCE)]
    words += ["-o", "program.gprec", "--force"] if command == "collect" else []
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    return Costs(*map(float, done.stderr.split()[-4:]))


def many_seconds(folder: Path) -> float:
    """Gives the seconds of the processor's time to collect a program of ten thousand launches that was built before."""
    gpuprof = [sys.executable, "-m", "gpuprof"]
    subprocess.run([*gpuprof, "run", str(MANY)], cwd=folder, check=True, capture_output=True)
    start = _children_seconds()
    collect = [*gpuprof, "collect", str(MANY), "-o", "many.gprec", "--force"]
    subprocess.run(collect, cwd=folder, check=True, capture_output=True)
    return _children_seconds() - start


def build_seconds(folder: Path) -> float:
    """Of the processor's time, for a program of LINES lines in C++ that has changed; its libraries were built before.
    The run is a part of it, in which one kernel is launched.
    """
    kernels = "".join(f"__global__ void k{i}(float *p) {{ p[threadIdx.x] *= {i}; }}\n" for i in range(LINES // 2))
    launches = "".join(f"        k{i}<<<1, 1>>>(nullptr);\n" for i in range(LINES // 2 - 10))
    head = "#include <algorithm>\n#include <iostream>\n#include <vector>\n"
    command = [sys.executable, "-m", "gpuprof", "run", "large.cu"]

    def seconds(number: int) -> float:
        main = f"int main(int argc, char **)\n{{\n    if (argc > {number})\n    {{\n{launches}"
        main += "    }\n    float *p;\n    cudaMalloc(&p, 4);\n    k1<<<1, 1>>>(p);\n"
        (folder / "large.cu").write_text(f'{head}{kernels}{main}    std::cout << "done\\n";\n}}\n')
        start = _children_seconds()
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        return _children_seconds() - start

    seconds(1)
    return min(seconds(number) for number in (2, 3, 4))


def _children_seconds() -> float:
    """What processes that have ended took of the processor."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
